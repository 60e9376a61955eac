//! The laws on every fixture, and on real transcripts where they are at hand.

use std::path::Path;

use curtail_core::dialects::{Framing, Reading};
use curtail_core::json::Document;

use super::cases::CASES;
use super::check::check_laws;
use crate::dialects::files::{folder, paths, pieces, real_data};

/// The dialect that a piece is sniffed as, if it is written.
pub fn dialect_of(framing: Framing, piece: &str) -> Option<&'static str> {
    let document = Document::parse_log(piece).ok()?;
    let reading = Reading { framing, dialect: None, named: false, messages_key: None };
    reading.writable_transcripts(&document).ok()?.first().map(|(dialect, _)| dialect.name())
}

/// Every `step`th piece of every file of `folder` under every case; what no dialect recognizes is left to other tests.
fn hold_laws(folder: &Path, step: usize) -> usize {
    let mut tried = 0;
    for file in paths(folder) {
        let text = std::fs::read_to_string(&file).expect("fixtures are UTF-8");
        let (framing, pieces) = pieces(&text);
        for piece in pieces.iter().step_by(step) {
            let Some(dialect) = dialect_of(framing, piece) else { continue };
            for case in CASES {
                let kept = check_laws(case, Some(dialect), framing, piece);
                kept.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
                tried += 1;
            }
        }
    }
    tried
}

#[test]
fn fixtures_keep_the_laws() {
    let tried = hold_laws(&folder(), 1);
    assert!(tried > 0, "there are fixtures");
}

#[test]
fn real_transcripts_keep_the_laws() {
    let Some(data) = real_data() else { return println!("no real transcripts at hand: CURTAIL_DATA names none") };
    assert!(hold_laws(&data, 10) > 0, "there are transcripts in {}", data.display());
}
