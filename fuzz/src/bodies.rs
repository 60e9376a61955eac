//! One function for each fuzz target. The integration tests call the same functions with the corpus and the fixtures.

use std::io::Cursor;

use curtail_core::dialects::{ALL, Framing, Reading};
use curtail_core::json::{Document, Value};
use curtail_core::pipeline::{Chain, TextCutter};
use curtail_core::processors::{Repair, RepairMode};
use curtail_memory::store::{Clash, Export, Store, StoreError};

use crate::laws::cases::CASES;
use crate::laws::check::{check_laws, cut_unless_refused, cut_with, read_seen};

/// The JSON reader accepts what `serde_json` accepts, and finds the same values. It also reads a lone surrogate, as U+FFFD.
pub fn json(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match (Document::parse(text), reference(text)) {
        (Ok(document), Ok(reference)) => document.roots().for_each(|root| same(root, &reference)),
        (Err(_), Err(_)) => {}
        (Ok(document), Err(_)) => match reference(&with_replaced_surrogates(text)) {
            Ok(reference) => document.roots().for_each(|root| same(root, &reference)),
            // Only `serde_json` limits the depth of nesting and the range of numbers.
            Err(error) => {
                let message = error.to_string();
                let is_limit = message.contains("recursion limit") || message.contains("number out of range");
                assert!(is_limit, "{message}: {text}");
            }
        },
        (Err(error), Ok(_)) => panic!("{error:?}: {text}"),
    }
}

fn reference(text: &str) -> serde_json::Result<serde_json::Value> {
    serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// `text` with every escape of a lone surrogate replaced by that of U+FFFD.
fn with_replaced_surrogates(text: &str) -> String {
    let (mut out, mut from) = (String::new(), 0);
    while let Some(at) = text[from..].find('\\').map(|at| from + at) {
        out.push_str(&text[from..at]);
        let (escape, end) = match (escaped_unit(text, at), escaped_unit(text, at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => (&text[at..at + 12], at + 12),
            (Some(0xd800..=0xdfff), _) => ("\\ufffd", at + 6),
            (Some(_), _) => (&text[at..at + 6], at + 6),
            (None, _) => {
                let end = text[at + 1..].chars().next().map_or(text.len(), |c| at + 1 + c.len_utf8());
                (&text[at..end], end)
            }
        };
        out.push_str(escape);
        from = end;
    }
    out + &text[from..]
}

/// The UTF-16 code unit of the escape at `at`.
fn escaped_unit(text: &str, at: usize) -> Option<u16> {
    let hex = text.get(at..)?.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(hex, 16).ok()
}

fn same(value: Value<'_>, reference: &serde_json::Value) {
    match reference {
        serde_json::Value::String(text) => assert!(value.is(text), "{}", value.raw()),
        serde_json::Value::Array(items) => {
            assert_eq!(value.items().count(), items.len());
            value.items().zip(items).for_each(|(value, item)| same(value, item));
        }
        serde_json::Value::Object(members) => {
            for (key, member) in members {
                same(value.get(key).unwrap_or_else(|| panic!("no {key} in {}", value.raw())), member);
            }
        }
        other => assert_eq!(&serde_json::from_str::<serde_json::Value>(value.raw()).unwrap_or_default(), other),
    }
}

/// The first three bytes choose dialect, framing and case; the rest is the text.
fn chosen(data: &[u8]) -> Option<(Option<&'static str>, Framing, usize, &str)> {
    let [dialect, framing, case, text @ ..] = data else { return None };
    let dialect = ALL.get(usize::from(*dialect)).map(|dialect| dialect.name());
    let framing = [Framing::Lines, Framing::Records, Framing::Document][usize::from(*framing) % 3];
    Some((dialect, framing, usize::from(*case), std::str::from_utf8(text).ok()?))
}

/// The dialect of `text`, if it can be read. Checks that an empty chain writes the text back byte for byte.
///
/// The laws are checked in this dialect, because the rest of a damaged transcript can look like another one.
fn read_dialect(dialect: Option<&str>, framing: Framing, text: &str) -> Option<&'static str> {
    let reading = Reading::new(framing, dialect, None).ok()?;
    let mut out = String::new();
    let cut = TextCutter { chain: Chain::default(), explain: false, counting: None }.cut(&reading, text, &mut out);
    assert!(cut.is_err() || out == text, "nothing to do is not the identity: {text}");
    cut.ok()?;
    let document = Document::parse_log(text).ok().filter(|document| document.incomplete_end().is_none())?;
    let detected = reading.transcripts(&document).ok()?.first()?.0.name();
    let named = Reading::new(framing, Some(detected), None).ok()?;
    named.transcripts(&document).is_ok().then_some(detected)
}

/// Reading never panics, and the laws hold for transcripts that can be read.
pub fn laws(data: &[u8]) {
    let Some((dialect, framing, case, text)) = chosen(data) else { return };
    let Some(dialect) = read_dialect(dialect, framing, text) else { return };
    let case = &CASES[case % CASES.len()];
    check_laws(case, Some(dialect), framing, text).unwrap_or_else(|error| panic!("{dialect}: {error}"));
}

/// A repaired transcript has no fault, and repairing it again changes nothing.
pub fn repair(data: &[u8]) {
    let Some((dialect, framing, mode, text)) = chosen(data) else { return };
    let dialect = read_dialect(dialect, framing, text);
    if dialect.is_none() {
        return;
    }
    let once = cut_unless_refused(repairs(mode), dialect, framing, text).unwrap_or_else(|error| panic!("{error}"));
    let Some(once) = once else { return };
    let faults = read_seen(dialect, framing, &once).faults;
    assert!(faults.is_empty(), "{dialect:?}: {faults:?} left\nin  {text}\nout {once}");
    let twice = cut_with(repairs(mode), dialect, framing, &once).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(once, twice, "{dialect:?}: repairing twice");
}

fn repairs(mode: usize) -> Chain {
    let drop = Repair { mode: RepairMode::Drop, pending: true };
    match mode % 3 {
        0 => Chain::default().then(drop),
        1 => Chain::default().then(Repair { mode: RepairMode::Stub, pending: true }).then(drop),
        _ => Chain::default().then(Repair { mode: RepairMode::Move, pending: true }).then(drop),
    }
}

/// A configuration is read or rejected, and each of its chains is built or rejected, without a panic and always the
/// same way.
pub fn config(data: &[u8]) {
    let Ok(folder) = tempfile::tempdir() else { return };
    let path = folder.path().join("curtail.toml");
    if std::fs::write(&path, data).is_err() {
        return;
    }
    let first = curtail::reads_configuration(&path);
    assert_eq!(first, curtail::reads_configuration(&path), "a configuration is read the same way twice");
}

/// A store imports or rejects any data, and exports what it imported.
pub fn import(data: &[u8]) {
    let Ok(folder) = tempfile::tempdir() else { return };
    let [mut store, mut copy] =
        ["one", "two"].map(|name| Store::open(&folder.path().join(name)).unwrap_or_else(|error| panic!("{error}")));
    if read_and_import(&mut store, data).is_err() {
        return;
    }
    let exported = exported(&store);
    read_and_import(&mut copy, &exported).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(self::exported(&copy), exported);
}

fn read_and_import(store: &mut Store, data: &[u8]) -> Result<usize, StoreError> {
    store.import(&Export::read(&mut Cursor::new(data))?, Clash::Replace)
}

fn exported(store: &Store) -> Vec<u8> {
    let mut out = Vec::new();
    store.export(&mut out).unwrap_or_else(|error| panic!("{error}"));
    out
}
