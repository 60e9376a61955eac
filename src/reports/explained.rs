//! `--explain`: a row for each decision below one header for each file, and the sum of the reasons; or a line of JSON for each.

use std::collections::HashMap;

use serde::Serialize;

use crate::options::choices::TextOrJson;
use crate::reports::screen::{COUNT, DIM, PATH, Screen, painted};
use crate::reports::table::{Kind, Table};
use crate::works::explained::DecisionAt;
use curtail_core::explain::Explained;
use curtail_core::numbers::{counted, figure};
use curtail_core::pipeline::Decider;
use curtail_core::visible::{self, one_line};

/// Reasons in the sum at the end; the most frequent are shown.
const MAX_REASONS: usize = 12;

/// Writes decisions, and adds up their reasons.
#[derive(Debug, Default)]
pub(crate) struct DecisionReporter {
    /// The file whose header was written last.
    file: String,
    /// How often each outcome was reached.
    outcomes: HashMap<String, usize>,
}

impl DecisionReporter {
    /// The decisions about a block of the input `file`.
    pub(crate) fn block(&mut self, file: &str, decisions: &[DecisionAt], format: TextOrJson) -> String {
        match format {
            TextOrJson::Json => decisions.iter().map(|decision| json_line(file, decision)).collect(),
            TextOrJson::Text => self.rows(file, decisions, Screen::of_stderr()),
        }
    }

    fn rows(&mut self, file: &str, decisions: &[DecisionAt], screen: Screen) -> String {
        if decisions.is_empty() {
            return String::new();
        }
        let is_headed = std::mem::replace(&mut self.file, file.to_owned()) == file;
        let titles = if is_headed { [""; 4] } else { ["line", "#", "message", "decision"] };
        let kinds = [Kind::Count, Kind::Count, Kind::Text, Kind::Text];
        let table = Table::new(titles.into_iter().zip(kinds)).with(decisions.iter().map(row)).text(screen);
        for decision in decisions {
            *self.outcomes.entry(decision.decision.outcome()).or_default() += 1;
        }
        if is_headed { table } else { format!("{}\n{table}", painted(PATH, &one_line(file))) }
    }

    /// How often each reason applied, the most frequent first.
    pub(crate) fn sum(&self) -> String {
        let all: usize = self.outcomes.values().sum();
        if all == 0 {
            return String::new();
        }
        let mut outcomes: Vec<(&String, usize)> = self.outcomes.iter().map(|(text, count)| (text, *count)).collect();
        outcomes.sort_by(|(text, count), (other, times)| times.cmp(count).then_with(|| text.cmp(other)));
        let screen = Screen::of_stderr();
        let shown = outcomes.iter().take(MAX_REASONS).map(|(text, count)| [screen.number(*count), (*text).clone()]);
        let mut text = Table::new([("", Kind::Count), ("", Kind::Prose)]).with(shown).text(screen);
        let more = outcomes.len().saturating_sub(MAX_REASONS);
        if more > 0 {
            text += &format!("{}\n", painted(DIM, &format!("and {}", counted(more, "other reason"))));
        }
        format!("{} {}:\n{text}", painted(COUNT, &figure(all)), if all == 1 { "decision" } else { "decisions" })
    }
}

/// The line, the number of the message, the message in words, and what was decided why.
fn row(DecisionAt { line, decider, decision }: &DecisionAt) -> [String; 4] {
    let number = decision.message.map_or_else(|| String::from("-"), |number| number.to_string());
    let message = decision.subject.as_ref().map_or_else(
        || String::from("usage"),
        |subject| match subject.begins.as_str() {
            "" => subject.to_string(),
            begins => format!("{subject}: {begins}"),
        },
    );
    let mut outcome = decision.outcome();
    if !decider.level.is_empty() {
        outcome += &format!(" [{} at {}]", decider.processor, decider.level);
    }
    [line.to_string(), number, message, outcome]
}

#[derive(Serialize)]
struct DecisionLine<'t> {
    file: &'t str,
    line: usize,
    #[serde(flatten)]
    decision: &'t Explained,
    #[serde(flatten)]
    decider: &'t Decider,
}

fn json_line(file: &str, DecisionAt { line, decider, decision }: &DecisionAt) -> String {
    let described = DecisionLine { file, line: *line, decision, decider };
    // Strings and numbers cannot fail to be written as JSON.
    format!("{}\n", visible::json(&serde_json::to_string(&described).unwrap_or_default()))
}
