//! Figures that a cut makes wrong: behind the first change they are 0 or gone, before it nothing happens to them.

use curtail_core::dialects::{Dialect, Framing, SizeFigures};
use curtail_core::figures::StaleFigures;
use curtail_core::json::{Document, Value};
use curtail_core::pipeline::Chain;
use curtail_core::transcript::SlotKind;
use proptest::prelude::*;

use super::bytes::{Written, figures_of};
use super::cases::CASES;
use super::check::{cut_with, reading};
use super::fixtures::dialect_of;
use super::generated::{frame, framings, serializer};
use crate::dialects::files::{folder, paths, pieces};
use crate::properties::{drawn, tried};
use crate::serializers::broken_script;

/// An element of a text.
#[derive(Debug, Clone)]
struct Element {
    /// Its bytes, with 0 for figures.
    text: String,
    /// Whether a figure in it is not 0, or it is nothing but figures.
    is_told: bool,
    /// Whether it is nothing but figures.
    is_figure: bool,
    /// The message that it is, with `null` for its links and 0 for its figures.
    message: Option<String>,
    /// The reply that it belongs to.
    reply: Option<String>,
}

fn element(dialect: &dyn Dialect, item: Value<'_>, message: Option<String>) -> Element {
    let start = item.span().start as usize;
    let mut text = item.raw().to_owned();
    let mut figures = figures_of(dialect, item);
    figures.sort_by_key(|figure| figure.start);
    let is_zero = |figure: &str| figure.parse::<f64>().is_ok_and(|number| number == 0.0);
    let mut is_told = false;
    for figure in figures.iter().rev() {
        let place = figure.start - start..figure.end - start;
        is_told |= !is_zero(&text[place.clone()]);
        text.replace_range(place, "0");
    }
    let is_figure = dialect.log().size_figures(item) == Some(SizeFigures::Item);
    let reply = dialect.log().reply_id(item).map(|id| id.decode().into_owned());
    Element { text, is_told: is_told || is_figure, is_figure, message, reply }
}

/// The elements of a text that is one transcript.
fn elements(dialect: Option<&str>, framing: Framing, text: &str) -> Vec<Element> {
    let document = Document::parse_log(text).expect("it is JSON");
    let transcripts = reading(dialect, framing).transcripts_or_none(&document).expect("it is a transcript");
    let mut elements = Vec::new();
    for (dialect, transcript) in &transcripts {
        for (slot, item) in transcript.layout.slotted_elements() {
            let at = if let SlotKind::Message(at) = slot.kind { transcript.messages.get(at) } else { None };
            let written = at.and_then(|message| Written::among(*dialect, message, &transcript.messages));
            elements.push(element(*dialect, item, written.map(|written| written.text)));
        }
    }
    elements
}

/// The place of the first element that was changed: of the first message that differs, or of its reply. Their number, if none is.
fn first_change(before: &[Element], after: &[Element]) -> usize {
    let messages = |all: &[Element]| -> Vec<String> { all.iter().filter_map(|one| one.message.clone()).collect() };
    let (old, new) = (messages(before), messages(after));
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    if same == old.len() && same == new.len() {
        return before.len();
    }
    let mut places = before.iter().enumerate().filter(|(_, one)| one.message.is_some());
    let Some((at, changed)) = places.nth(same) else { return before.len() };
    let of_reply = |one: &Element| one.reply.is_some() && one.reply == changed.reply;
    before[..at].iter().position(of_reply).unwrap_or(at)
}

fn check_figures(
    chain: &dyn Fn() -> Chain,
    name: &str,
    framing: Framing,
    input: (&str, &str),
) -> Result<(), TestCaseError> {
    let (dialect, text) = (Some(input.0), input.1);
    let cut = |figures| cut_with(Chain { figures, ..chain() }, dialect, framing, text);
    // A budget below what must stay is refused, and nothing is written.
    let (Ok(kept), Ok(reset)) = (cut(StaleFigures::Keep), cut(StaleFigures::Reset)) else { return Ok(()) };
    prop_assert!(reset.len() <= kept.len(), "{}: bigger", name);
    if kept == text {
        prop_assert_eq!(&reset, &kept, "{}: nothing was cut", name);
        return Ok(());
    }
    let [before, kept, reset] = [text, &kept, &reset].map(|text| elements(dialect, framing, text));
    let texts = |all: &[Element]| -> Vec<String> {
        all.iter().filter(|one| !one.is_figure).map(|one| one.text.clone()).collect()
    };
    prop_assert_eq!(texts(&kept), texts(&reset), "{}: more than figures differs", name);
    // Of what stood before the change, nothing that is kept was touched.
    let first = first_change(&before, &kept);
    let mut before = before[..first].iter().filter(|one| one.is_told);
    let untouched = kept.iter().filter(|one| one.is_told && before.any(|old| old.text == one.text)).count();
    let left = reset.iter().filter(|one| one.is_told).count();
    let expected = match input.0 {
        // Its figures count the whole session.
        "goose" => left == 0,
        // A record repeats the result of its call, which is behind its figures.
        "gemini" => left == untouched || left == untouched + 1,
        _ => left == untouched,
    };
    prop_assert!(expected, "{name}: {left} figures are left, and {untouched} stood before the first change\nin {text}");
    Ok(())
}

proptest! {
    #![proptest_config(crate::properties::property(16))]

    #[test]
    fn figures_behind_a_change_are_reset(script in broken_script(), serializer in serializer(), framing in framings(), seed in any::<u64>(), drawn in drawn()) {
        let text = frame(&(serializer.1)(&script), framing, seed);
        for case in tried(CASES, drawn) {
            check_figures(&case.chain, case.name, framing, (serializer.0, &text))?;
        }
    }
}

#[test]
fn figures_of_fixtures_are_reset() {
    let mut reset = 0;
    for file in paths(&folder()) {
        let text = std::fs::read_to_string(&file).expect("fixtures are UTF-8");
        let (framing, pieces) = pieces(&text);
        for piece in pieces {
            let Some(dialect) = dialect_of(framing, piece) else { continue };
            reset += elements(Some(dialect), framing, piece).iter().filter(|one| one.is_told).count();
            for case in CASES {
                let checked = check_figures(&case.chain, case.name, framing, (dialect, piece));
                checked.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            }
        }
    }
    assert!(reset > 0, "some fixtures have figures");
}
