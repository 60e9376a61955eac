//! Nothing to do is the identity, byte for byte.

use curtail_core::dialects::{ReadError, Reading, dialect_named};
use curtail_core::pipeline::TextCutter;

use super::files::{File, fixtures, pieces};
use crate::laws::cases::IDLE;

/// Says so if a command with nothing to do fails on `file` or changes it.
pub(crate) fn complaint(file: &File) -> Option<String> {
    let (framing, pieces) = pieces(&file.text);
    let reading = Reading { framing, dialect: None, named: false, messages_key: None };
    IDLE.into_iter().find_map(|idle| {
        let cutter = TextCutter { chain: idle(), explain: false, counting: None };
        pieces.iter().find_map(|piece| {
            let mut text = String::new();
            match cutter.cut(&reading, piece, &mut text).map_err(ReadError::from) {
                Err(error) => Some(format!("{}: {}: {}", file.name, error.offset, error.what)),
                Ok(_) => Some(text).filter(|text| text != *piece).map(|text| format!("{}: became {text}", file.name)),
            }
        })
    })
}

#[test]
fn every_fixture_stays_as_it_is() {
    let writable = |file: &File| {
        let folder = file.name.split('/').next().and_then(dialect_named);
        folder.expect("the folder has the name of a dialect").writer().is_some()
    };
    let complaints: Vec<String> = fixtures().iter().filter(|file| writable(file)).filter_map(complaint).collect();
    assert!(complaints.is_empty(), "{complaints:#?}");
}
