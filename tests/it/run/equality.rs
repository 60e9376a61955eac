//! `run` with one processor is that processor's command, byte for byte, on every fixture.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use curtail_io::MANIFEST;

use super::{curtail, folder, root};

/// Flags of a command, and the same as keys.
const SAME: &[(&[&str], &str)] = &[
    (&["window", "-n", "3"], "type = 'window'\nsize = 3"),
    (
        &["window", "-n", "4", "--strategy", "sliding", "--no-preserve-system", "--keep-first", "1"],
        "type = 'window'\nsize = 4\nstrategy = 'sliding'\npreserve-system = false\nkeep-first = 1",
    ),
    (
        &["window", "--size=1", "--unit=turns", "--max-expansion=2", "--cap-in-flight", "--start-on=user"],
        "type = 'window'\nsize = 1\nunit = 'turns'\nmax-expansion = 2\ncap-in-flight = true\nstart-on = 'user'",
    ),
    (&["filter"], "type = 'filter'"),
    (&["filter", "-x", "get_*", "-x", "search"], "type = 'filter'\nexclude = ['get_*', 'search']"),
    (
        &["filter", "-k", "search", "--persist-results"],
        "type = 'filter'\ninclude-tool = 'search'\npersist-results = true",
    ),
    (
        &["filter", "--strip", "reasoning,media", "--role", "user,assistant"],
        "type = 'filter'\nstrip = ['reasoning', 'media']\nrole = ['user', 'assistant']",
    ),
    (
        &["filter", "--keep-last-results", "1", "--placeholder", "", "--exempt-tool", "search"],
        "type = 'filter'\nkeep-last-results = 1\nplaceholder = ''\nexempt-tool = ['search']",
    ),
    (
        &["filter", "--supersede-reads", "--read-tool", "get_*", "--dedupe-results", "--exempt-tool", "search"],
        "type = 'filter'\nsupersede-reads = true\nread-tool = 'get_*'\ndedupe-results = true\nexempt-tool = ['search']",
    ),
    (
        &["filter", "--keep-last-results", "2", "--step", "2", "--clear-tool", "get_*", "--trigger", "20"],
        "type = 'filter'\nkeep-last-results = 2\nstep = 2\nclear-tool = 'get_*'\ntrigger = 20",
    ),
    (
        &["filter", "--keep-last-results", "1", "--clear-inputs"],
        "type = 'filter'\nkeep-last-results = 1\nclear-inputs = true",
    ),
    (
        &["filter", "--role", "assistant", "--pin", "system,first-user"],
        "type = 'filter'\nrole = 'assistant'\npin = ['system', 'first-user']",
    ),
    (
        &["filter", "--protect-tokens", "0.01k", "--clear-at-least", "5"],
        "type = 'filter'\nprotect-tokens = '0.01k'\nclear-at-least = 5",
    ),
    (
        &["filter", "--cap-result", "40", "--cap-tool", "search=32", "--cap-keep", "tail"],
        "type = 'filter'\ncap-result = 40\ncap-tool = ['search=32']\ncap-keep = 'tail'",
    ),
    (&["filter", "--range", "1..6"], "type = 'filter'\nrange = '1..6'"),
    (&["limit", "-t", "60"], "type = 'limit'\nmax-tokens = 60"),
    (
        &["limit", "-t", "0.04k", "--on-overflow", "keep-newest", "--tokenizer", "approx", "--no-preserve-system"],
        "type = 'limit'\nmax-tokens = '0.04k'\non-overflow = 'keep-newest'\ntokenizer = 'approx'\nno-preserve-system = true",
    ),
    (
        &["limit", "-t", "90", "--trigger", "120", "--overhead", "openai", "--reserve", "20", "--model", "gpt-4"],
        "type = 'limit'\nmax-tokens = 90\ntrigger = 120\noverhead = 'openai'\nreserve = 20\nmodel = 'gpt-4'",
    ),
    (&["limit", "-t", "30", "--on-overflow", "truncate"], "type = 'limit'\nmax-tokens = 30\non-overflow = 'truncate'"),
    (&["repair", "--mode", "stub", "--pending"], "type = 'repair'\nmode = 'stub'\npending = true"),
    (&["repair", "--mode", "move"], "type = 'repair'\nmode = 'move'"),
    (
        &["memory", "recall", "--state", "state.json", "--budget", "300"],
        "type = 'memory'\nstate = 'state.json'\nbudget = 300",
    ),
    (&["summarize", "-n", "2"], "type = 'summarize'\nwindow = 2"),
    (
        &["summarize", "--window", "1", "--max-summaries", "2", "--unit", "exchange", "--summary-tokens", "60"],
        "type = 'summarize'\nwindow = 1\nmax-summaries = 2\nunit = 'exchange'\nsummary-tokens = 60",
    ),
    (&["memory", "recall", "--read-only"], "type = 'memory'\nread-only = true"),
];

/// What a command writes below `to`, what it prints, and its status.
fn written(folder: &Path, to: &str, args: &[&str]) -> (BTreeMap<PathBuf, Vec<u8>>, String, Option<i32>) {
    let fixtures = root().join("fixtures");
    let output = curtail(folder, args).args(["-O", to]).arg(&fixtures).output().expect("curtail runs");
    let folder = folder.join(to);
    let walk = ignore::WalkBuilder::new(&folder).standard_filters(false).build();
    let paths = walk.map(|entry| entry.expect("outputs can be read").into_path());
    let transcripts = paths.filter(|path| path.extension().is_some_and(|kind| kind == "jsonl" || kind == "json"));
    let bytes = transcripts.filter(|path| path.is_file() && !path.ends_with(MANIFEST)).map(|path| {
        let bytes = std::fs::read(&path).expect("an output");
        (path.strip_prefix(&folder).expect("below").to_owned(), bytes)
    });
    (bytes.collect(), String::from_utf8_lossy(&output.stderr).replace(" at history", ""), output.status.code())
}

#[test]
fn run_with_one_processor_is_its_command() {
    for (flags, keys) in SAME {
        let folder = folder(&format!("[[history.processors]]\n{keys}\n"));
        std::fs::write(folder.path().join("state.json"), "{\"likes\":\"tea\"}").expect("a file");
        let run = written(folder.path(), "run", &["run", "--trust"]);
        assert!(run.0.len() > 20, "{flags:?}: {}", run.1);
        assert_eq!(run, written(folder.path(), "own", flags), "{flags:?}");
    }
}
