//! `curtail memory apply`: the updates in a transcript become the state.

use std::io::Read as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, anyhow};

use super::flags::{Format, LoadedRules, Output, RuleFlags, Whose, state};
use crate::batch::Reading;
use crate::cli::input::{ExplainFlag, Input};
use crate::cli::out::print;
use crate::dialects::{Framing, detect};
use crate::json::Document;
use crate::memory::{Outcome, Replayed, State, Update, replay};
use crate::processors::updates;

/// Apply the updates in a transcript, and write the state
///
/// With --thread or --resource the state in the store is updated; updates that were applied before change nothing.
/// Without them nothing is kept.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The state to begin with: text, or a JSON object
    #[arg(long, value_name = "FILE", conflicts_with_all = ["store", "thread", "resource", "scope"])]
    state: Option<PathBuf>,

    #[command(flatten)]
    whose: Whose,

    #[command(flatten)]
    rules: RuleFlags,

    #[command(flatten)]
    output: Output,

    /// Say on standard error what became of every update
    #[arg(long, value_enum, value_name = "FORMAT", num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    explain: Option<ExplainFlag>,

    #[command(flatten)]
    input: Input,
}

/// An update and where it stands.
struct Found {
    line: usize,
    call_id: String,
    arguments: String,
}

impl Args {
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let rules = self.rules.load()?;
        let kept = self.whose.is_given();
        if kept {
            self.whose.owner().key()?;
        }
        let start = self.state.as_deref().map(|path| state(path, rules.schema.as_ref())).transpose()?;
        let start = start.unwrap_or_else(|| rules.rules().initial());
        let (name, text) = self.read()?;
        let transcripts = self.transcripts(&name, &text)?;
        if kept {
            self.keep(&rules, &name, &transcripts)?;
        } else {
            let one = transcripts.len() == 1;
            let format = if one { self.output.output_format } else { Format::Json };
            for found in &transcripts {
                let mut scratchpad = rules.rules().scratchpad(start.clone());
                let outcomes: Vec<Outcome> = found.iter().map(|found| scratchpad.apply(found.update())).collect();
                self.report(&name, found, &outcomes);
                print(&format.write(scratchpad.state()))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn keep(&self, loaded: &LoadedRules, name: &str, transcripts: &[Vec<Found>]) -> anyhow::Result<()> {
        let (rules, owner) = (loaded.rules(), self.whose.owner());
        let mut last: Option<State> = None;
        let mut store = self.whose.place.open()?;
        for found in transcripts {
            let updates: Vec<Update<'_>> = found.iter().map(Found::update).collect();
            let Replayed { state, outcomes, set_aside } = replay(&mut store, owner, rules, &updates)?;
            if let Some(reason) = set_aside {
                anstream::eprintln!("curtail: {}", set_aside_words(&reason));
            }
            self.report(name, found, &outcomes);
            last = Some(state);
        }
        last.map_or(Ok(()), |state| print(&self.output.output_format.write(&state)))
    }

    fn read(&self) -> anyhow::Result<(String, String)> {
        if let Some(path) = self.input.paths.first().filter(|path| path.as_os_str() != "-") {
            let name = path.display().to_string();
            let text = std::fs::read_to_string(path).with_context(|| name.clone())?;
            return Ok((name, text));
        }
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        Ok((self.input.stdin_filename.clone().unwrap_or_else(|| String::from("stdin")), text))
    }

    /// The updates of each transcript in `text`.
    fn transcripts(&self, name: &str, text: &str) -> anyhow::Result<Vec<Vec<Found>>> {
        let key = self.input.messages_key.clone();
        let framing = self.input.framing.framing().unwrap_or_else(|| detect(text, key.as_deref()));
        let dialect = Some(self.input.dialect.clone()).filter(|name| name != "auto");
        let reading = Reading { framing, dialect, messages_key: key };
        let mut transcripts = Vec::new();
        let mut before = 0;
        let pieces: Vec<&str> =
            if framing == Framing::Records { text.split_inclusive('\n').collect() } else { vec![text] };
        for piece in pieces {
            let line = |offset: usize| before + 1 + lines(piece.as_bytes().get(..offset).unwrap_or_default());
            let found = found(&reading, piece, &line);
            transcripts.extend(found.map_err(|(offset, what)| anyhow!("{name}:{}: {what}", line(offset)))?);
            before += lines(piece.as_bytes());
        }
        Ok(transcripts)
    }

    fn report(&self, name: &str, found: &[Found], outcomes: &[Outcome]) {
        for (found, outcome) in found.iter().zip(outcomes) {
            let (word, reason) = outcome.words();
            let Found { line, call_id, .. } = found;
            let colon = if reason.is_some() { ": " } else { "" };
            let because = reason.unwrap_or_default();
            match self.explain {
                Some(ExplainFlag::Text) => {
                    anstream::eprintln!("{name}:{line}: call {call_id:?}: {word}{colon}{because}");
                }
                Some(ExplainFlag::Json) => {
                    let json = serde_json::json!({"file": name, "line": line, "call_id": call_id, "outcome": word, "reason": reason});
                    anstream::eprintln!("{json}");
                }
                None if outcome.is_fault() => {
                    anstream::eprintln!("curtail: {name}:{line}: call {call_id:?}: the update is {word}: {because}");
                }
                None => {}
            }
        }
    }
}

impl Found {
    fn update(&self) -> Update<'_> {
        Update { call_id: &self.call_id, arguments: &self.arguments }
    }
}

/// The updates of each transcript in one document, or what is wrong with it and where.
fn found(reading: &Reading, text: &str, line: &dyn Fn(usize) -> usize) -> Result<Vec<Vec<Found>>, (usize, String)> {
    let read = if reading.framing == Framing::Lines { Document::read_all(text) } else { Document::read(text) };
    let document = read.map_err(|fault| (fault.offset, fault.what.to_owned()))?;
    let transcripts = reading.transcripts(&document).map_err(|trouble| (trouble.offset, trouble.what))?;
    let found = transcripts.iter().map(|(_, transcript)| {
        let messages = &transcript.messages;
        let offset =
            |at: usize| messages.get(at).and_then(|message| message.value).map_or(0, |value| value.span().start);
        let found = updates(messages).into_iter().map(|found| Found {
            line: line(offset(found.message) as usize),
            call_id: found.call_id.into_owned(),
            arguments: found.arguments.into_owned(),
        });
        found.collect()
    });
    Ok(found.collect())
}

fn lines(bytes: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', bytes).count()
}

/// What to tell the user of a state that could not be used.
pub(super) fn set_aside_words(reason: &str) -> String {
    format!("what was kept cannot be used and is set aside (`memory show --set-aside`): {reason}")
}
