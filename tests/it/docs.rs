//! Every console block of the README and of docs/ runs, and prints the output that it shows.
//!
//! A block is a shell session: a line that begins with `$ ` is a command, what follows is all that it prints, and `? N` is
//! its exit status if that is not 0. `[..]` stands for anything within a line, `...` for any number of lines. A file's blocks
//! share a folder of their own with a copy of `fixtures/`, of whose dialects it has those that the page names. `CURTAIL_BLESS=1`
//! writes what is printed into the pages.

use std::path::{Path, PathBuf};

use crate::program::{root, shell};

struct Step {
    command: String,
    expected: Vec<String>,
}

fn pages() -> Vec<PathBuf> {
    let walk =
        ignore::WalkBuilder::new(root().join("docs")).standard_filters(false).sort_by_file_path(Path::cmp).build();
    let paths = walk.map(|entry| entry.expect("docs can be read").into_path());
    let pages = paths.filter(|path| path.extension().is_some_and(|kind| kind == "md"));
    std::iter::once(root().join("README.md")).chain(pages).collect()
}

fn copy_fixtures(page: &str, to: &Path) {
    let named = page.to_owned();
    let is_wanted = move |entry: &ignore::DirEntry| {
        let dialect =
            entry.path().strip_prefix(root().join("fixtures/dialects")).ok().and_then(|path| path.iter().next());
        dialect.is_none_or(|dialect| named.contains(&format!("fixtures/dialects/{}", dialect.display())))
    };
    for entry in
        ignore::WalkBuilder::new(root().join("fixtures")).standard_filters(false).filter_entry(is_wanted).build()
    {
        let path = entry.expect("fixtures can be read").into_path();
        let target = to.join(path.strip_prefix(root()).expect("below the root"));
        if path.is_dir() {
            std::fs::create_dir_all(target).expect("a folder");
        } else {
            std::fs::copy(path, target).expect("a copy");
        }
    }
}

fn steps(block: &[&str]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in block {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => steps.push(Step { command: command.to_owned(), expected: Vec::new() }),
            // A command with a backslash at the end of a line continues on the next one, as in a shell.
            (None, Some(step)) if step.command.ends_with('\\') && step.expected.is_empty() => {
                step.command = format!("{}\n{line}", step.command);
            }
            (None, Some(step)) => step.expected.push((*line).to_owned()),
            (None, None) => panic!("a console block begins with `$ `, not with {line:?}"),
        }
    }
    steps
}

/// What a command prints, and its status as a last line if it is not 0.
fn run(step: &Step, folder: &Path) -> Vec<String> {
    let line = format!("exec 2>&1\n{}", step.command);
    let output = shell(&line, folder).env("COLUMNS", "100").output().expect("a shell");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let status = output.status.code().filter(|code| *code != 0).map(|code| format!("? {code}"));
    text.lines().map(str::to_owned).chain(status).collect()
}

fn matches(expected: &[String], printed: &[String]) -> bool {
    match expected.split_first() {
        None => printed.is_empty(),
        Some((line, rest)) if line == "..." => (0..=printed.len()).any(|skip| matches(rest, &printed[skip..])),
        Some((line, rest)) => {
            printed.split_first().is_some_and(|(first, others)| line_matches(line, first) && matches(rest, others))
        }
    }
}

fn line_matches(expected: &str, printed: &str) -> bool {
    match expected.split_once("[..]") {
        None => expected == printed,
        Some((before, after)) => printed.strip_prefix(before).is_some_and(|rest| {
            (0..=rest.len()).filter(|at| rest.is_char_boundary(*at)).any(|at| line_matches(after, &rest[at..]))
        }),
    }
}

/// Runs a page; returns what is wrong with it, and the page as it would be right.
fn try_page(page: &Path) -> (Vec<String>, String) {
    let text = std::fs::read_to_string(page).expect("a page");
    let folder = tempfile::tempdir().expect("a folder");
    if text.contains("```console") {
        copy_fixtures(&text, folder.path());
    }
    let (mut wrong, mut right) = (Vec::new(), Vec::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        right.push(line.to_owned());
        if line.trim_start() != "```console" {
            continue;
        }
        let block: Vec<&str> = lines.by_ref().take_while(|line| line.trim_start() != "```").collect();
        for step in steps(&block) {
            let printed = run(&step, folder.path());
            right.push(format!("$ {}", step.command));
            let fits = matches(&step.expected, &printed);
            right.extend(if fits { step.expected.clone() } else { printed.clone() });
            if !fits {
                wrong.push(format!("{}: $ {}\n{}", page.display(), step.command, printed.join("\n")));
            }
        }
        right.push(String::from("```"));
    }
    (wrong, right.join("\n") + "\n")
}

/// A page about a feature needs a program that has it.
fn needs_parquet(page: &Path) -> bool {
    std::fs::read_to_string(page).expect("a page").contains("<!-- feature: parquet -->")
}

fn try_pages(pages: impl Iterator<Item = PathBuf>) {
    let mut wrong = Vec::new();
    for page in pages {
        let (faults, right) = try_page(&page);
        if !faults.is_empty() && std::env::var_os("CURTAIL_BLESS").is_some() {
            std::fs::write(&page, right).expect("the page can be written");
        }
        wrong.extend(faults);
    }
    assert!(wrong.is_empty(), "these print something else now:\n\n{}", wrong.join("\n\n"));
}

#[test]
fn every_console_block_prints_what_it_says() {
    try_pages(pages().into_iter().filter(|page| !needs_parquet(page)));
}

#[cfg(feature = "parquet")]
#[test]
fn blocks_about_parquet_print_what_they_say() {
    try_pages(pages().into_iter().filter(|page| needs_parquet(page)));
}

/// A name of a file in prose is a promise that it is there.
#[test]
fn files_that_prose_names_exist() {
    let mut missing = Vec::new();
    for page in pages() {
        let text = std::fs::read_to_string(&page).expect("a page");
        let names = text.split('`').skip(1).step_by(2).filter(|name| !name.contains(char::is_whitespace));
        let paths = names.filter(|name| {
            ["src/", "tests/", "fixtures/", "docs/", "benches/"].iter().any(|top| name.starts_with(top))
        });
        let missing_paths = paths.filter(|name| !name.contains(['<', '*', '{']) && !root().join(name).exists());
        missing.extend(missing_paths.map(|name| format!("{}: {name}", page.display())));
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn the_list_of_descriptions_is_where_the_pages_say() {
    let list = "described/texts.rs";
    let text = std::fs::read_to_string(root().join("crates/curtail-core/src/dialects").join(list)).unwrap();
    assert!(text.contains(" BUILT_IN: &["), "{list} has no list");
    for page in ["CONTRIBUTING.md", "docs/architecture.md"] {
        let text = std::fs::read_to_string(root().join(page)).unwrap();
        assert!(
            text.contains(&format!("list in `{list}`")) || text.contains(&format!("list it in `{list}`")),
            "{page}"
        );
    }
}

#[test]
fn the_number_of_dialects_is_true() {
    let count = format!("{} dialects", curtail_core::dialects::ALL.len());
    for page in ["README.md", "CHANGELOG.md"] {
        let text = std::fs::read_to_string(root().join(page)).unwrap();
        assert!(text.replace("[dialects]", "dialects").contains(&count), "{page} does not say {count}");
    }
}
