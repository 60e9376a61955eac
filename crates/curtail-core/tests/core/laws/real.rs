//! Thoughts on real transcripts, if `CURTAIL_DATA` names a folder of them: what every command leaves.

use std::collections::HashMap;

use curtail_core::dialects::Framing;
use curtail_core::json::Document;
use curtail_core::pipeline::Chain;
use curtail_core::processors::{
    ClearResults, Keep, Overflow, SlidingWindow, StaleResults, Thinking, ToolFilter, ToolGlobs, WindowUnit,
};
use curtail_core::transcript::{Message, Transcript};
use curtail_memory::rolling::Counted;

use super::cases::{Change, LawCase, globs, history, limit, rolling, tokenizer};
use super::check::{cut_with, reading};
use super::fixtures::dialect_of;
use crate::dialects::files::{paths, pieces, real_data};

pub const COMMANDS: &[LawCase] = &[
    LawCase {
        name: "window -n 5",
        chain: || Chain::default().then(history(5, WindowUnit::Items, Keep::default())),
        change: Change::Cuts,
    },
    LawCase {
        name: "window -n 40",
        chain: || Chain::default().then(history(40, WindowUnit::Items, Keep::default())),
        change: Change::Cuts,
    },
    LawCase {
        name: "window -n 10 --strategy sliding",
        chain: || {
            Chain::default().then(SlidingWindow { size: 10, unit: WindowUnit::Items, keep: Keep::default(), step: 1 })
        },
        change: Change::Cuts,
    },
    LawCase {
        name: "limit -t 8k",
        chain: || {
            let limit = limit(8000, Overflow::Empty);
            Chain::default().then(curtail_core::processors::TokenLimit { preserve_system: true, ..limit })
        },
        change: Change::Cuts,
    },
    LawCase {
        name: "filter -x '*ash*'",
        chain: || {
            let tools = ToolGlobs::Exclude(globs(&["*ash*"]));
            Chain::default().then(ToolFilter { tools, persist_results: false, dropped: None })
        },
        change: Change::Cuts,
    },
    LawCase {
        name: "filter --keep-last-results 3",
        chain: || Chain::default().then(ClearResults::new(StaleResults::AllButLast(3), tokenizer())),
        change: Change::Cuts,
    },
    LawCase {
        name: "summarize",
        chain: || Chain::default().then(rolling(21, 3, Counted::Message)),
        change: Change::Writes,
    },
];

/// A model that checks its thoughts.
const CHECKING: &str = "claude-opus-5-5";

/// What a model reads before a signed thought of a transcript.
#[derive(Debug, Clone, PartialEq)]
struct Before {
    digest: u64,
    /// The thought before it in the conversation.
    last: Option<String>,
}

/// Every thought of `text` that a model reads and its provider may check, in order, with what is before it.
fn thoughts(dialect: &str, framing: Framing, text: &str) -> Vec<(String, Before)> {
    let document = Document::parse_log(text).expect("JSON");
    let transcripts = reading(Some(dialect), framing).transcripts(&document).expect("transcripts");
    transcripts.iter().flat_map(|(_, transcript)| of_transcript(transcript)).collect()
}

fn of_transcript(transcript: &Transcript<'_>) -> Vec<(String, Before)> {
    let mut threads: HashMap<u32, Before> = HashMap::new();
    let mut found = Vec::new();
    let read = |message: &&Message<'_>| message.standing.is_read();
    for message in transcript.messages.iter().filter(read) {
        let thread = threads.entry(message.thread).or_insert(Before { digest: 7, last: None });
        for part in &message.parts {
            if part.is_prefix_bound() {
                let thought = part.place().map_or_else(String::new, |place| place.element.raw().to_owned());
                found.push((thought.clone(), thread.clone()));
                thread.last = Some(thought);
            } else {
                let part_text = format!("{:?} {:?}", message.role, part.content);
                thread.digest = part_text
                    .bytes()
                    .fold(thread.digest, |digest, byte| (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
            }
        }
    }
    found
}

#[derive(Default)]
struct Tally {
    pieces: usize,
    before: usize,
    kept: usize,
    behind: usize,
}

impl Tally {
    /// Compares the thoughts of a text before and after a cut. Only the first ones may be missing before one that holds.
    fn add(&mut self, before: &[(String, Before)], after: &[(String, Before)]) {
        self.pieces += 1;
        self.before += before.len();
        self.kept += after.len();
        let mut old = before.iter();
        for (thought, now) in after {
            let then = old.find(|(other, _)| other == thought).map(|(_, then)| then);
            let holds =
                then.is_some_and(|then| then.digest == now.digest && (now.last.is_none() || then.last == now.last));
            self.behind += usize::from(!holds);
        }
    }
}

/// `text` with every model replaced by `model`.
fn renamed(text: &str, model: &str) -> String {
    ["\"model\":\"", "\"modelID\":\"", "\"modelID\": \""].iter().fold(text.to_owned(), |text, key| {
        let mut pieces = text.split(key);
        let first = pieces.next().unwrap_or_default().to_owned();
        pieces.fold(first, |out, piece| format!("{out}{key}{model}{}", piece.find('"').map_or("", |end| &piece[end..])))
    })
}

/// The texts of all files that contain signed thoughts, piece by piece.
fn signed_pieces(model: Option<&str>) -> Vec<(&'static str, Framing, String)> {
    let Some(data) = real_data() else { return Vec::new() };
    let mut found = Vec::new();
    for file in paths(&data) {
        let text = std::fs::read_to_string(&file).expect("transcripts are UTF-8");
        if !["ignature\"", "redacted", "encrypted"].iter().any(|sign| text.contains(sign)) {
            continue;
        }
        let text = model.map_or_else(|| text.clone(), |model| renamed(&text, model));
        let (framing, pieces) = pieces(&text);
        for piece in pieces {
            let Some(dialect) = dialect_of(framing, piece) else { continue };
            if !thoughts(dialect, framing, piece).is_empty() {
                found.push((dialect, framing, piece.to_owned()));
            }
        }
    }
    found
}

fn tally(case: &LawCase, thinking: Thinking, pieces: &[(&'static str, Framing, String)]) -> Tally {
    let mut tally = Tally::default();
    for (dialect, framing, piece) in pieces {
        let mut chain = (case.chain)();
        chain.thinking = thinking;
        let cut = cut_with(chain, Some(dialect), *framing, piece).expect("it can be cut");
        tally.add(&thoughts(dialect, *framing, piece), &thoughts(dialect, *framing, &cut));
    }
    tally
}

#[test]
fn no_thought_of_real_transcripts_is_left_behind_a_change() {
    let checked = signed_pieces(Some(CHECKING));
    if checked.is_empty() {
        return println!("no real transcripts at hand: CURTAIL_DATA names none");
    }
    let named = signed_pieces(None);
    println!(
        "command | models | texts | thoughts | kept with auto | behind a change | kept with keep | behind a change"
    );
    for case in COMMANDS {
        for (models, pieces) in [("as recorded", &named), (CHECKING, &checked)] {
            let (auto, keep) = (tally(case, Thinking::Auto, pieces), tally(case, Thinking::Keep, pieces));
            println!(
                "{} | {models} | {} | {} | {} | {} | {} | {}",
                case.name, auto.pieces, auto.before, auto.kept, auto.behind, keep.kept, keep.behind
            );
            if models == CHECKING {
                assert_eq!(auto.behind, 0, "{}", case.name);
                // What `auto` drops in addition to the cut is what a checking model would reject.
                assert_eq!(auto.kept, keep.kept - keep.behind, "{}", case.name);
            }
        }
    }
}
