//! How the tests of the checks examine a text and mend it.

use curtail_core::checks::{Inspection, Levels, Profile, Table, Verdicts};
use curtail_core::dialects::{Reading, detect_framing};

/// Reads `text` in the framing that is detected.
pub fn detected(text: &str) -> Reading {
    Reading::new(detect_framing(text, None), None, None).expect("no dialect is named")
}

/// An inspection by the requirements of `provider`, or by those of the format of a text.
pub fn inspection(provider: &str) -> Inspection {
    Inspection { profile: Profile::of_provider(provider), ..Inspection::default() }
}

/// The levels of the rules where a table sets them.
pub fn verdicts(table: &Table) -> Verdicts {
    Levels::new(table, &Table::default()).expect("the rules are known").for_path("")
}

/// The levels of the rules where these warn.
pub fn warned(rules: &[&str]) -> Verdicts {
    verdicts(&Table { warn: rules.iter().map(|rule| (*rule).to_owned()).collect(), ..Table::default() })
}

/// `text` with what can be mended of it, `unsafely` or without mends after which the transcript says something else.
pub fn mended(provider: &str, warn: &[&str], text: &str, unsafely: bool) -> Option<String> {
    inspection(provider).mend(&detected(text), &warned(warn), text, unsafely).expect("it is read")
}
