//! The fuzz targets without a fuzzer: every file of the corpus, and seeds from the fixtures.

use std::fs;
use std::path::{Path, PathBuf};

use curtail_core::dialects::ALL;
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

/// The texts of the fixtures of every dialect that is written, with the index of their dialect.
fn fixtures() -> Vec<(u8, String)> {
    let mut texts = Vec::new();
    for (nth, dialect) in (0..).zip(ALL.iter()).filter(|(_, dialect)| dialect.writer().is_some()) {
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
    for (nth, (dialect, text)) in (0..=u8::MAX).cycle().zip(fixtures()) {
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

/// A fixture with lines lost, repeated and swapped, objects that run into each other, and bites out of a line.
fn damaged() -> impl Strategy<Value = (u8, String)> {
    let damage = prop::collection::vec((0..8_u8, any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..6);
    let small: Vec<(u8, String)> = fixtures().into_iter().filter(|(_, text)| text.len() < 6_000).collect();
    (prop::sample::select(small), damage).prop_map(|((dialect, text), damage)| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for (how, a, b) in damage.into_iter().filter(|_| !text.is_empty()) {
            let (line, other) = (a.index(lines.len().max(1)), b.index(lines.len().max(1)));
            match how {
                _ if lines.is_empty() => {}
                0 => drop(lines.remove(line)),
                1 => lines.insert(other, lines[line].clone()),
                2 => lines.swap(line, other),
                3 => lines[line] = lines[line].replacen("\"id\"", "\"no\"", 1),
                4 => lines[line] = bitten(&lines[line], b),
                5 => lines[line] = joined(&lines[line], b),
                6 if line + 1 < lines.len() => {
                    let next = lines.remove(line + 1);
                    lines[line] = run_into(&lines[line], &next);
                }
                _ => lines[line] = run_into(&lines[line], &lines[other]),
            }
        }
        (dialect, lines.iter().map(|line| format!("{line}\n")).collect())
    })
}

/// The line with another letter in one of its strings, such as a key or a type.
fn bitten(line: &str, place: prop::sample::Index) -> String {
    let starts: Vec<usize> = line.match_indices('"').map(|(at, _)| at + 1).collect();
    let starts: Vec<usize> =
        starts.into_iter().filter(|&at| line[at..].starts_with(|c: char| c.is_ascii_lowercase())).collect();
    let mut line = line.to_owned();
    if !starts.is_empty() {
        let start = starts[place.index(starts.len())];
        line.replace_range(start..=start, "z");
    }
    line
}

/// The line with two neighboring objects of a list in one.
fn joined(line: &str, place: prop::sample::Index) -> String {
    let seams: Vec<usize> = line.match_indices("},{").map(|(at, _)| at).collect();
    let mut line = line.to_owned();
    if !seams.is_empty() {
        let seam = seams[place.index(seams.len())];
        line.replace_range(seam..seam + 3, ",");
    }
    line
}

/// The members of both lines in one object.
fn run_into(line: &str, next: &str) -> String {
    match (line.strip_suffix('}'), next.strip_prefix('{')) {
        (Some(line), Some(next)) => format!("{line},{next}"),
        _ => line.to_owned(),
    }
}

proptest! {
    #![proptest_config(crate::properties::property(96))]

    #[test]
    fn a_damaged_fixture_is_repaired((dialect, text) in damaged(), framing in 0..3_u8, mode in 0..3_u8) {
        bodies::repair(&[&[dialect, framing, mode], text.as_bytes()].concat());
    }

    #[test]
    fn a_damaged_fixture_keeps_the_laws((dialect, text) in damaged(), framing in 0..3_u8, case in any::<u8>()) {
        bodies::laws(&[&[dialect, framing, case], text.as_bytes()].concat());
    }
}
