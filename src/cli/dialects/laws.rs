//! The laws of cutting, on transcripts made of samples: their items in other orders, some missing, some twice.

use curtail_core::dialects::{Framing, Reading, detect_framing};
use curtail_core::json::Document;
use curtail_core::numbers::counted;
use curtail_core::pipeline::{Chain, TextCutter};
use curtail_core::processors::{
    HistoryWindow, Keep, NameGlobs, Repair, RepairMode, SlidingWindow, ToolFilter, ToolGlobs, WindowUnit,
};
use curtail_core::transcript::{Fault, FaultKind, Pairs, Transcript};

use super::reading_of;

/// How many transcripts are made.
const MADE: usize = 200;

/// The longest that is made, in items.
const LONGEST: usize = 24;

/// A cut, with its name in messages.
type Cut = (&'static str, fn() -> Chain);

const CUTS: [Cut; 6] = [
    ("window -n 4", || {
        Chain::default().then(HistoryWindow {
            size: 4,
            unit: WindowUnit::Items,
            max_expansion: None,
            cap_in_flight: false,
            keep: Keep::default(),
            step: 1,
        })
    }),
    ("window --strategy sliding --unit turns -n 2", || {
        Chain::default().then(SlidingWindow { size: 2, unit: WindowUnit::Turns, keep: Keep::default(), step: 1 })
    }),
    ("filter -x '*'", || {
        let tools = NameGlobs::compile(&[String::from("*")]).map(ToolGlobs::Exclude);
        tools.map_or_else(
            |_| Chain::default(),
            |tools| Chain::default().then(ToolFilter { tools, persist_results: false, dropped: None }),
        )
    }),
    ("repair --mode drop --pending", || repair(RepairMode::Drop)),
    ("repair --mode stub --pending", || {
        repair(RepairMode::Stub).then(Repair { mode: RepairMode::Drop, pending: true })
    }),
    ("repair --mode move --pending", || {
        repair(RepairMode::Move).then(Repair { mode: RepairMode::Drop, pending: true })
    }),
];

fn repair(mode: RepairMode) -> Chain {
    Chain::default().then(Repair { mode, pending: true })
}

/// Holds the laws on transcripts made of `samples`.
///
/// # Errors
/// The first law that is broken, with the transcript.
pub(super) fn hold(name: &str, samples: &[String]) -> Result<String, String> {
    let pools: Vec<Vec<String>> =
        samples.iter().map(|sample| items_of(name, sample)).filter(|pool| !pool.is_empty()).collect();
    if pools.is_empty() {
        return Err(String::from("no item to make transcripts of"));
    }
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let reading = reading_of(name, Framing::Document);
    let reversed = pools.iter().map(|pool| text_of(&pool.iter().rev().cloned().collect::<Vec<_>>()));
    let is_ordered = reversed.map(|text| faults(&reading, &text)).any(|read| read.is_err());
    let mut read = 0;
    for made in 0..MADE {
        let items = shuffled(&pools[made % pools.len()], is_ordered, &mut random);
        // The dialect may refuse what no program writes.
        let Ok(Some(_)) = faults(&reading, &text_of(&items)) else { continue };
        read += 1;
        for cut in CUTS {
            hold_one(name, cut, &items).map_err(|broken| smallest(name, cut, items.clone()).unwrap_or(broken))?;
        }
    }
    if read == 0 {
        return Err(format!("none of {} made of the samples is read", counted(MADE, "transcript")));
    }
    let cuts: Vec<&str> = CUTS.iter().map(|(name, _)| *name).collect();
    Ok(format!("the laws hold on {} made of the samples, each after {}", counted(read, "transcript"), cuts.join(", ")))
}

/// The items of a sample, as JSON.
fn items_of(name: &str, sample: &str) -> Vec<String> {
    let framing = detect_framing(sample, None);
    let reading = reading_of(name, framing);
    let pieces: Vec<&str> = if framing == Framing::Records { sample.lines().collect() } else { vec![sample] };
    let mut items = Vec::new();
    for piece in pieces {
        let Ok(document) = reading.parse(piece) else { continue };
        for (_, transcript) in reading.transcripts(&document).unwrap_or_default() {
            items.extend(transcript.layout.elements.iter().map(|element| element.raw().to_owned()));
        }
    }
    items
}

/// Runs of items of a pool, one after another: pairs are whole, broken, or there twice. Items of a dialect that refuses another
/// order stay in theirs.
fn shuffled(pool: &[String], is_ordered: bool, random: &mut Random) -> Vec<String> {
    let mut items = Vec::new();
    while items.len() < LONGEST && !(items.len() > 4 && random.below(4) == 0) {
        let start = random.below(pool.len());
        let length = 1 + random.below(pool.len().min(8));
        let run = (start..pool.len()).take(length);
        items.extend(run.filter(|_| random.below(8) > 0));
    }
    if is_ordered {
        items.sort_unstable();
    }
    items.into_iter().map(|at| pool[at].clone()).collect()
}

/// The law that is broken without the items that do not matter for it; `None` if it holds.
fn smallest(name: &str, cut: Cut, mut items: Vec<String>) -> Option<String> {
    let mut broken = None;
    let mut at = 0;
    while at < items.len() {
        let item = items.remove(at);
        match hold_one(name, cut, &items) {
            Err(found) => broken = Some(found),
            Ok(()) => {
                items.insert(at, item);
                at += 1;
            }
        }
    }
    broken
}

/// The text of a transcript with these items.
fn text_of(items: &[String]) -> String {
    format!("[{}]", items.join(", "))
}

/// Holds the laws for one cut of one transcript. One that is not read, or without a message, breaks none.
fn hold_one(name: &str, (cut, chain): Cut, items: &[String]) -> Result<(), String> {
    let text = text_of(items);
    let text = text.as_str();
    let reading = reading_of(name, Framing::Document);
    let Ok(Some(before)) = faults(&reading, text) else { return Ok(()) };
    let broken = |law: &str, out: &str| format!("{cut} breaks a law: {law}\n    in:  {text}\n    out: {out}");
    // A refusal breaks nothing.
    let Ok(out) = apply(&reading, chain(), text) else { return Ok(()) };
    let after =
        faults(&reading, &out).map_err(|error| broken(&format!("what was written is not read: {error}"), &out))?;
    let repairs = cut.starts_with("repair");
    if !repairs && out.len() > text.len() {
        return Err(broken("it grows the transcript", &out));
    }
    let Some(after) = after else { return Ok(()) };
    if repairs && !after.is_empty() {
        return Err(broken("a fault is left", &out));
    }
    if !repairs && after.iter().any(|fault| !before.contains(fault)) {
        return Err(broken("it breaks a pair", &out));
    }
    let again = apply(&reading, chain(), &out).map_err(|error| broken(&error, &out))?;
    match again == out {
        true => Ok(()),
        false => Err(broken(&format!("a second run changes it again, to {again}"), &out)),
    }
}

/// The text after a cut.
fn apply(reading: &Reading, chain: Chain, text: &str) -> Result<String, String> {
    let mut out = String::new();
    match (TextCutter { chain, ..TextCutter::default() }).cut(reading, text, &mut out) {
        Ok(_) => Ok(out),
        Err(error) => Err(error.to_string()),
    }
}

/// The faults of a text: each as its kind and the JSON of the part; `None` if it has no message. A call that is unanswered becomes
/// pending once no other message follows it, so that the two count as one.
fn faults(reading: &Reading, text: &str) -> Result<Option<Vec<String>>, String> {
    let document: Document<'_> = reading.parse(text).map_err(|error| error.what)?;
    let transcripts = reading.transcripts_or_none(&document).map_err(|error| error.what)?;
    let has_messages = transcripts.iter().any(|(_, transcript)| !transcript.messages.is_empty());
    Ok(has_messages.then(|| transcripts.iter().flat_map(|(_, transcript)| faults_of(transcript)).collect()))
}

fn faults_of(transcript: &Transcript<'_>) -> Vec<String> {
    let pairs = Pairs::from_messages(&transcript.messages);
    let found = Fault::find_all(&transcript.messages, &pairs, transcript.layout.rules.pairing);
    let named = found.iter().map(|fault| {
        let part = fault.at.part_in(&transcript.messages);
        let kind = if fault.kind == FaultKind::PendingCall { FaultKind::UnansweredCall } else { fault.kind };
        format!("{} {}", kind.name(), part.place().map_or("", |place| place.element.raw()))
    });
    named.collect()
}

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or_default() % end.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::hold;

    /// Where several messages of the assistant are one round, a cut can make an unanswered call one that waits for its result.
    #[test]
    fn a_call_that_becomes_pending_breaks_no_law() {
        let sample = include_str!("../../../fixtures/dialects/otel/in-flight.jsonl");
        assert!(hold("otel", &[sample.to_owned()]).is_ok());
    }
}
