//! Nothing to do is the identity, byte for byte.

use curtail_core::dialects::{ReadError, Reading, detect_framing, dialect_named};
use curtail_core::pipeline::{Chain, TextCutter};
use curtail_core::processors::{HistoryWindow, Keep, NameGlobs, ToolFilter, ToolGlobs, WindowUnit};

use super::files::{File, fixtures, pieces};

/// Says so if a command with nothing to do fails on `file` or changes it.
pub(crate) fn complaint(file: &File) -> Option<String> {
    let chains = [wide_window(), no_such_tool()];
    chains.into_iter().find_map(|chain| {
        let framing = detect_framing(&file.text, None);
        let reading = Reading { framing, dialect: None, named: false, messages_key: None };
        let cutter = TextCutter { chain, explain: false, counting: None };
        pieces(&file.text, framing).into_iter().find_map(|piece| {
            let mut text = String::new();
            match cutter.cut(&reading, piece, &mut text).map_err(ReadError::from) {
                Err(error) => Some(format!("{}: {}: {}", file.name, error.offset, error.what)),
                Ok(_) => Some(text).filter(|text| text != piece).map(|text| format!("{}: became {text}", file.name)),
            }
        })
    })
}

fn wide_window() -> Chain {
    Chain::default().then(HistoryWindow {
        size: 100_000,
        unit: WindowUnit::Items,
        max_expansion: None,
        cap_in_flight: false,
        keep: Keep::default(),
        step: 1,
    })
}

fn no_such_tool() -> Chain {
    let tools = NameGlobs::compile(&[String::from("no-such-tool")]).expect("the pattern compiles");
    Chain::default().then(ToolFilter { tools: ToolGlobs::Exclude(tools), persist_results: false, dropped: None })
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
