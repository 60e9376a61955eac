//! The fuzz targets without a fuzzer: every file of the corpus, and seeds from the fixtures.

use std::fs;
use std::path::{Path, PathBuf};

use curtail::dialects::ALL;
use proptest::prelude::*;

#[path = "../../fuzz/src/bodies.rs"]
mod bodies;

fn root(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The files below `folder` in the order of their names; none where there is no folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let walk = ignore::WalkBuilder::new(folder).standard_filters(false).sort_by_file_path(Path::cmp).build();
    walk.filter_map(Result::ok).map(ignore::DirEntry::into_path).filter(|path| path.is_file()).collect()
}

fn replay(target: &str, body: fn(&[u8])) -> usize {
    let corpus = files(&root("fuzz/corpus").join(target));
    for path in &corpus {
        println!("{}", path.display());
        body(&fs::read(path).unwrap());
    }
    corpus.len()
}

/// The texts of the fixtures of every dialect, with the index of their dialect.
fn fixtures() -> Vec<(u8, String)> {
    let mut texts = Vec::new();
    for (nth, dialect) in (0..).zip(ALL) {
        for path in files(&root("fixtures/dialects").join(dialect.name())) {
            let text = fs::read_to_string(&path).unwrap();
            if text.len() < 20_000 && path.extension().is_some_and(|kind| kind == "json" || kind == "jsonl") {
                texts.push((nth, text));
            }
        }
    }
    texts
}

#[test]
fn the_corpus_of_the_json_reader() {
    let fixtures = fixtures();
    for line in fixtures.iter().flat_map(|(_, text)| text.lines()) {
        bodies::json(line.as_bytes());
    }
    assert!(replay("json", bodies::json) + fixtures.len() > 0);
}

#[test]
fn the_corpus_of_the_laws() {
    for (nth, (dialect, text)) in (0_u8..).zip(fixtures()) {
        for framing in 0..3 {
            bodies::laws(&[&[dialect, framing, nth], text.as_bytes()].concat());
        }
    }
    replay("laws", bodies::laws);
}

#[test]
fn the_corpus_of_repair() {
    for (dialect, text) in fixtures() {
        for mode in 0..3 {
            bodies::repair(&[&[dialect, mode, mode], text.as_bytes()].concat());
        }
    }
    replay("repair", bodies::repair);
}

#[test]
fn the_corpus_of_the_configuration() {
    bodies::config(include_bytes!("../../src/cli/init.toml"));
    replay("config", bodies::config);
}

#[test]
fn the_corpus_of_the_import() {
    let store = "{\"curtail-store\":1}\n";
    bodies::import(store.as_bytes());
    replay("import", bodies::import);
}

/// A fixture with lines lost, repeated and swapped, and a bite out of one of them.
fn damaged() -> impl Strategy<Value = (u8, String)> {
    let damage = prop::collection::vec((0..4_u8, any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..6);
    let small: Vec<(u8, String)> = fixtures().into_iter().filter(|(_, text)| text.len() < 6_000).collect();
    (prop::sample::select(small), damage).prop_map(|((dialect, text), damage)| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for (how, a, b) in damage.into_iter().filter(|_| !text.is_empty()) {
            let (a, b) = (a.index(lines.len().max(1)), b.index(lines.len().max(1)));
            match how {
                _ if lines.is_empty() => {}
                0 => drop(lines.remove(a)),
                1 => lines.insert(b, lines[a].clone()),
                2 => lines.swap(a, b),
                _ => lines[a] = lines[a].replacen("\"id\"", "\"no\"", 1),
            }
        }
        (dialect, lines.iter().map(|line| format!("{line}\n")).collect())
    })
}

proptest! {
    #![proptest_config(crate::properties::property(96))]

    #[test]
    fn a_damaged_fixture_is_repaired((dialect, text) in damaged(), mode in 0..3_u8) {
        bodies::repair(&[&[dialect, 0, mode], text.as_bytes()].concat());
    }

    #[test]
    fn a_damaged_fixture_keeps_the_laws((dialect, text) in damaged(), case in any::<u8>()) {
        bodies::laws(&[&[dialect, 0, case], text.as_bytes()].concat());
    }
}
