//! The laws on every fixture, and on real transcripts where they are at hand.

use std::path::{Path, PathBuf};

use curtail_core::dialects::{Framing, Reading, detect_framing};
use curtail_core::json::Document;
use curtail_core::pipeline::Chain;
use curtail_core::processors::{Keep, Overflow, SlidingWindow, ToolFilter, ToolGlobs, WindowUnit};

use super::cases::{CASES, globs, history, limit};
use super::check::{check_laws, cut_with};

/// The folder with real transcripts, which `CURTAIL_DATA` names.
pub fn real_data() -> Option<PathBuf> {
    std::env::var_os("CURTAIL_DATA").map(PathBuf::from).filter(|folder| folder.is_dir())
}

pub fn files(folder: &Path) -> Vec<PathBuf> {
    let walk = ignore::WalkBuilder::new(folder).standard_filters(false).sort_by_file_path(Path::cmp).build();
    let files = walk.map(|entry| entry.expect("the folder can be read").into_path());
    let transcript = |path: &PathBuf| path.extension().is_some_and(|kind| kind == "jsonl" || kind == "json");
    files.filter(|path| path.is_file() && transcript(path)).collect()
}

/// The pieces of a file that are cut one by one: its records, or the whole.
pub fn pieces(text: &str) -> (Framing, Vec<&str>) {
    let framing = detect_framing(text, None);
    match framing {
        Framing::Records => (framing, text.split_inclusive('\n').collect()),
        Framing::Lines | Framing::Document => (framing, vec![text]),
    }
}

/// The dialect that a piece is sniffed as, if it is written.
pub fn dialect_of(framing: Framing, piece: &str) -> Option<&'static str> {
    let document = Document::parse_log(piece).ok()?;
    let reading = Reading { framing, dialect: None, named: false, messages_key: None };
    reading.writable_transcripts(&document).ok()?.first().map(|(dialect, _)| dialect.name())
}

/// Every `step`th piece of every file of `folder` under every case; what no dialect recognizes is left to other tests.
fn hold_laws(folder: &Path, step: usize) -> usize {
    let mut tried = 0;
    for file in files(folder) {
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

fn idle() -> [Chain; 4] {
    [
        Chain::default().then(history(100_000, WindowUnit::Items, Keep::default())),
        Chain::default().then(SlidingWindow { size: 100_000, unit: WindowUnit::Turns, keep: Keep::default(), step: 1 }),
        Chain::default().then(limit(100_000_000, Overflow::Error)),
        Chain::default().then(ToolFilter {
            tools: ToolGlobs::Exclude(globs(&["no-such-tool"])),
            persist_results: true,
            dropped: None,
        }),
    ]
}

#[test]
fn fixtures_keep_the_laws() {
    let tried = hold_laws(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/dialects"), 1);
    assert!(tried > 0, "there are fixtures");
}

#[test]
fn real_transcripts_keep_the_laws() {
    let Some(data) = real_data() else { return println!("no real transcripts at hand: CURTAIL_DATA names none") };
    assert!(hold_laws(&data, 10) > 0, "there are transcripts in {}", data.display());
}

#[test]
fn nothing_to_do_is_the_identity_on_real_transcripts() {
    let Some(data) = real_data() else { return println!("no real transcripts at hand: CURTAIL_DATA names none") };
    for file in files(&data) {
        let text = std::fs::read_to_string(&file).expect("transcripts are UTF-8");
        let (framing, pieces) = pieces(&text);
        for piece in pieces {
            if dialect_of(framing, piece).is_none() {
                continue;
            }
            for chain in idle() {
                let cut = cut_with(chain, None, framing, piece).expect("what changes nothing cuts everything");
                assert!(cut == piece, "{} changed", file.display());
            }
        }
    }
}
