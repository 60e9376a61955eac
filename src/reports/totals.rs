//! `--stats`: totals before and after the cut, and the time it took.

use std::time::Duration;

use serde::Serialize;

use crate::reports::screen::Screen;
use crate::reports::table::{Kind, Table};
use crate::works::output::CutOutput;
use curtail_core::numbers::{counted, figure};
use curtail_core::pipeline::{Chain, StageCount, Totals};

/// Sums over a batch.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Sums {
    /// Files that were read to their end.
    pub(crate) files: usize,
    /// Files that failed.
    pub(crate) failed_files: usize,
    /// Records that failed and were dropped or kept unchanged.
    pub(crate) failed_records: usize,
    /// Records that were dropped because of findings.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) dropped_records: usize,
    /// Files that an earlier run had finished.
    pub(crate) finished_before: usize,
    /// Transcripts, messages, tokens.
    #[serde(flatten)]
    pub(crate) totals: Totals,
    /// Messages and tokens after every stage.
    #[serde(skip)]
    pub(crate) stages: Vec<StageCount>,
    /// Bytes of text that were read.
    #[serde(skip)]
    pub(crate) bytes: u64,
}

/// A stage of the chain, and the messages and tokens after it.
#[derive(Serialize)]
struct StageRow<'r> {
    #[serde(skip_serializing_if = "str::is_empty")]
    level: &'r str,
    processor: &'r str,
    #[serde(flatten)]
    remaining: StageCount,
}

/// What `--stats=json` writes.
#[derive(Serialize)]
struct StatsReport<'r> {
    #[serde(flatten)]
    sums: &'r Sums,
    stages: Vec<StageRow<'r>>,
    tokenizer: &'r str,
    bytes: u64,
    seconds: f64,
    bytes_per_second: f64,
}

impl Sums {
    /// Adds a block.
    pub(crate) fn add(&mut self, output: &CutOutput) {
        self.totals.add(output.totals);
        StageCount::add(&mut self.stages, &output.stages);
        self.bytes += output.bytes;
    }

    /// One JSON object.
    pub(crate) fn json(&self, chain: &Chain, tokenizer: &str, took: Duration) -> String {
        let report = StatsReport {
            sums: self,
            stages: self.after(chain).collect(),
            tokenizer,
            bytes: self.bytes,
            seconds: took.as_secs_f64(),
            bytes_per_second: self.rate(took),
        };
        // Numbers and a name cannot fail to be written as JSON.
        serde_json::to_string(&report).unwrap_or_default()
    }

    /// A table for people.
    pub(crate) fn table(&self, chain: &Chain, tokenizer: &str, took: Duration, screen: Screen) -> String {
        let totals = self.totals;
        let changed = format!("{} changed", figure(totals.changed));
        let mut rows = vec![
            row("files", self.files + self.failed_files, self.files),
            ["transcripts".to_owned(), figure(totals.transcripts), changed],
        ];
        if totals.windows > 0 {
            rows.push(["windows".to_owned(), String::new(), figure(totals.windows)]);
        }
        rows.push(row("messages", totals.messages_before, totals.messages_after));
        rows.push(row(&format!("tokens ({tokenizer})"), totals.tokens_before, totals.tokens_after));
        if chain.stages.len() > 1 {
            for (nth, StageRow { level, processor, remaining }) in self.after(chain).enumerate() {
                let stage = if level.is_empty() { processor.to_owned() } else { format!("{processor} at {level}") };
                let messages = counted(remaining.messages, "message");
                rows.push([format!("after {}. {stage}", nth + 1), messages, counted(remaining.tokens, "token")]);
            }
        }
        rows.push(row("pairing faults", totals.faults, totals.faults_after));
        let columns = [("", Kind::Name), ("before", Kind::Count), ("after", Kind::Count)];
        let rows = rows.into_iter().map(|[name, before, after]| [name, screen.cell(before), screen.cell(after)]);
        let table = Table::new(columns).with(rows).text(screen);
        let rate = self.rate(took) / 1e6;
        let mut text = format!("{:.2} s, {rate:.1} MB/s", took.as_secs_f64());
        for (count, one, more) in [
            (self.failed_files, "file failed", "files failed"),
            (self.failed_records, "record failed", "records failed"),
            (self.dropped_records, "record dropped", "records dropped"),
            (self.finished_before, "file was finished before", "files were finished before"),
            (totals.figures_reset, "usage count reset", "usage counts reset"),
        ] {
            if count > 0 {
                text.push_str(&format!(", {count} {}", if count == 1 { one } else { more }));
            }
        }
        table + &screen.note(&text)
    }

    fn after<'c>(&self, chain: &'c Chain) -> impl Iterator<Item = StageRow<'c>> {
        let stages = chain.stages.iter().zip(self.stages.iter().copied());
        stages.map(|(stage, remaining)| StageRow { level: &stage.level, processor: stage.processor.name(), remaining })
    }

    #[expect(clippy::cast_precision_loss, reason = "a rate, exact to 53 bits")]
    fn rate(&self, took: Duration) -> f64 {
        self.bytes as f64 / took.as_secs_f64().max(1e-9)
    }
}

fn row(label: &str, before: usize, after: usize) -> [String; 3] {
    [label.to_owned(), figure(before), figure(after)]
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(count: &usize) -> bool {
    *count == 0
}
