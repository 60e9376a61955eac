//! One function for each fuzz target. The integration tests call the same functions with the corpus and the fixtures.

use std::io::Cursor;

use curtail::dialects::{ALL, Framing, Reading};
use curtail::json::{Document, Value};
use curtail::pipeline::{Chain, Cutter};
use curtail::processors::{Repair, RepairMode};
use curtail::store::{Clash, Store};

use crate::laws::cases::CASES;
use crate::laws::check::{check_laws, cut_with, read_seen};

/// The JSON reader accepts what `serde_json` accepts, and finds the same values.
pub fn json(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let reference: Result<serde_json::Value, _> = serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(text));
    match (Document::parse(text), reference) {
        (Ok(document), Ok(reference)) => document.roots().for_each(|root| same(root, &reference)),
        (Err(_), Err(_)) => {}
        // Deep nesting and numbers past the range of a double are limits of one side only.
        (Ok(_), Err(error)) => {
            let words = error.to_string();
            assert!(words.contains("recursion limit") || words.contains("number out of range"), "{words}: {text}");
        }
        (Err(error), Ok(_)) => panic!("{error:?}: {text}"),
    }
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

/// The first bytes choose dialect, framing and case; the rest is the text.
fn chosen(data: &[u8]) -> Option<(Option<&'static str>, Framing, usize, &str)> {
    let [dialect, framing, case, text @ ..] = data else { return None };
    let dialect = ALL.get(usize::from(*dialect)).map(|dialect| dialect.name());
    let framing = [Framing::Lines, Framing::Records, Framing::Document][usize::from(*framing) % 3];
    Some((dialect, framing, usize::from(*case), std::str::from_utf8(text).ok()?))
}

/// Whether `text` is read, and written back byte for byte if there is nothing to do.
fn is_read(dialect: Option<&str>, framing: Framing, text: &str) -> bool {
    let Ok(reading) = Reading::new(framing, dialect, None) else { return false };
    let mut out = String::new();
    let cut = Cutter { chain: Chain::default(), explain: false, counting: None }.cut(&reading, text, &mut out);
    assert!(cut.is_err() || out == text, "nothing to do is not the identity: {text}");
    cut.is_ok() && Document::parse_log(text).is_ok_and(|document| document.torn().is_none())
}

/// Reading never panics, and what is read keeps the laws.
pub fn laws(data: &[u8]) {
    let Some((dialect, framing, case, text)) = chosen(data) else { return };
    if is_read(dialect, framing, text) {
        check_laws(&CASES[case % CASES.len()], dialect, framing, text).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// A repaired transcript has no fault, and repairing it again changes nothing.
pub fn repair(data: &[u8]) {
    let Some((dialect, framing, mode, text)) = chosen(data) else { return };
    if !is_read(dialect, framing, text) {
        return;
    }
    let chain = || {
        let drop = Repair { mode: RepairMode::Drop, pending: true };
        match mode % 3 {
            0 => Chain::default().then(drop),
            1 => Chain::default().then(Repair { mode: RepairMode::Stub, pending: true }).then(drop),
            _ => Chain::default().then(Repair { mode: RepairMode::Move, pending: true }).then(drop),
        }
    };
    let once = cut_with(chain(), dialect, framing, text).unwrap_or_else(|error| panic!("{error}"));
    let faults = read_seen(dialect, framing, &once).faults;
    assert!(faults.is_empty(), "{faults:?} left\nin  {text}\nout {once}");
    let twice = cut_with(chain(), dialect, framing, &once).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(once, twice, "repairing twice");
}

/// A configuration is read or refused with a place; every chain of it is built or refused.
pub fn config(data: &[u8]) {
    let Ok(folder) = tempfile::tempdir() else { return };
    let path = folder.path().join("curtail.toml");
    if std::fs::write(&path, data).is_err() {
        return;
    }
    let first = curtail::reads_configuration(&path);
    assert_eq!(first, curtail::reads_configuration(&path), "a configuration is read the same way twice");
}

/// A store imports what it can read, refuses the rest, and exports what it imported.
pub fn import(data: &[u8]) {
    let Ok(folder) = tempfile::tempdir() else { return };
    let open = |name: &str| Store::open(&folder.path().join(name)).unwrap_or_else(|error| panic!("{error}"));
    let export = |store: &Store| {
        let mut out = Vec::new();
        store.export(&mut out).unwrap_or_else(|error| panic!("{error}"));
        out
    };
    let mut store = open("one");
    if store.import(&mut Cursor::new(data), Clash::Replace).is_err() {
        return;
    }
    let exported = export(&store);
    let mut copy = open("two");
    copy.import(&mut Cursor::new(&exported), Clash::Replace).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(export(&copy), exported);
}
