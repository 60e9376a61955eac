//! `run` with one processor is that processor's command, byte for byte, on every fixture.

use super::{curtail, fixtures, folder};

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
    (&["memory", "recall", "--read-only"], "type = 'memory'\nread-only = true"),
];

#[test]
fn run_with_one_processor_is_its_command() {
    let fixtures = fixtures();
    assert!(fixtures.len() > 20, "where are the fixtures?");
    for (flags, keys) in SAME {
        let folder = folder(&format!("[[history.processors]]\n{keys}\n"));
        std::fs::write(folder.path().join("state.json"), "{\"likes\":\"tea\"}").expect("a file");
        for fixture in &fixtures {
            let said = |args: &[&str]| {
                let output = curtail(folder.path(), args).arg(fixture).output().expect("curtail runs");
                let notes = String::from_utf8_lossy(&output.stderr).replace(" at history", "");
                (String::from_utf8_lossy(&output.stdout).into_owned(), notes, output.status.code())
            };
            assert_eq!(said(&["run"]), said(flags), "{flags:?} on {}", fixture.display());
        }
    }
}
