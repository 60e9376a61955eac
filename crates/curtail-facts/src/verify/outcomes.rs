//! How a sentence says that a check passed or failed.

use std::sync::LazyLock;

use regex::Regex;

use super::languages::{LANGUAGES, lowered};
use super::negation::negates;
use super::tokens::{Class, tokens};
use crate::paths;
use crate::words::{has_whole, name_words};

/// How a check ended, as a sentence says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Passed,
    Failed,
}

/// What kind of check it is, as people call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Family {
    Tests,
    Lint,
    Types,
    Build,
}

impl Family {
    pub(super) const ALL: [Self; 4] = [Self::Tests, Self::Lint, Self::Types, Self::Build];

    /// The family of a command: that of its first word that names one.
    pub(crate) fn of(command: &str) -> Self {
        let words = name_words(command);
        let mut named = words.iter().filter_map(|word| {
            Self::ALL.into_iter().find(|family| family.programs().contains(&word.as_str()) || family.is_in(word))
        });
        named.next().unwrap_or(Self::Build)
    }

    /// Programs of it that are not called by a word for it.
    const fn programs(self) -> &'static [&'static str] {
        match self {
            Self::Tests => &[
                "pytest", "unittest", "runtests", "nextest", "ctest", "vitest", "jest", "mocha", "rspec", "phpunit",
                "tox", "nox", "prove", "bats", "ava", "pest", "playwright", "cypress", "mvn", "mvnw", "gradle",
                "gradlew",
            ],
            Self::Lint => &["pylint", "stylelint", "shellcheck", "biome", "vet"],
            Self::Types => &["typecheck"],
            Self::Build => &[],
        }
    }

    /// Whether a sentence names it.
    pub(super) fn is_in(self, text: &str) -> bool {
        let words = match self {
            Self::Tests => &LANGUAGES.tests,
            Self::Lint => &LANGUAGES.lint,
            Self::Types => &LANGUAGES.types,
            Self::Build => &LANGUAGES.build,
        };
        words.are_in(text)
    }
}

/// A sentence about all checks of a family.
#[derive(Debug, Clone)]
pub(super) struct General {
    pub(super) families: Vec<Family>,
    /// The outcome; `None` if it only says that something is wrong.
    pub(super) outcome: Option<Outcome>,
    /// Whether it says so of every check.
    pub(super) is_for_every: bool,
    pub(super) text: String,
}

/// The longest sentence about all checks of a family, in bytes.
const LONGEST_GENERAL: usize = 200;

impl General {
    /// What a sentence says of all checks: of each kind, if its parts say how different ones ended.
    pub(super) fn all_in(text: &str) -> Vec<Self> {
        if text.len() > LONGEST_GENERAL {
            return Vec::new();
        }
        let each = parts(text).into_iter().filter_map(|(start, end)| Self::of(&text[start..end]));
        let each: Vec<Self> = each.filter(|part| part.outcome.is_some()).collect();
        if each.len() > 1 { each } else { Self::of(text).into_iter().collect() }
    }

    fn of(text: &str) -> Option<Self> {
        if text.contains(['?', '？']) {
            return None;
        }
        let families: Vec<Family> = Family::ALL.into_iter().filter(|family| family.is_in(text)).collect();
        if families.is_empty() {
            return None;
        }
        let outcome = outcome_in(text);
        let says = outcome.is_some() || is_vague(text);
        says.then(|| Self { families, outcome, is_for_every: LANGUAGES.every.are_in(text), text: text.to_owned() })
    }
}

/// Numbers of failures.
static FAILURES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(\d(?:[\d,.]*\d)?|\b(?:no|zero|keine|aucun|sin)) (?:tests? |cases? )?(?:are |is )?(?:failed|failing|failures?|errors?|Fehler|échecs?|fallos?)\b").ok()
});

/// How many bytes behind an outcome a word for an earlier time may begin.
const EARLIER_BEGINS: usize = 12;

/// How many bytes behind an outcome are searched for such a word, so that one that begins in time is whole.
const EARLIER_ENDS: usize = 24;

/// How many bytes before an outcome a negation of it may begin.
const NEGATION_REACH: usize = 20;

/// Whether a sentence says that something is wrong, or of what something is not so, and leaves open what; or that a failure was mended,
/// and not how the check ended since.
pub(super) fn is_vague(text: &str) -> bool {
    LANGUAGES.vague.are_in(text) || excepts(text) || LANGUAGES.fail.are_in(text) && LANGUAGES.mended.are_in(text)
}

/// Whether a sentence says something of all but a few. Alone, such a word may be a keyword: `the except clause`.
fn excepts(text: &str) -> bool {
    LANGUAGES.every.are_in(text) && LANGUAGES.except.are_in(text)
}

/// The outcome that a sentence gives: of several, the last one that is not said of an earlier time. What it excepts may be the check
/// that is asked about.
pub(super) fn outcome_in(text: &str) -> Option<Outcome> {
    if excepts(text) {
        return None;
    }
    if let Some(counted) = counted_outcome(text) {
        return Some(counted);
    }
    let words = outcome_words(text);
    let mut last_first = words.into_iter().rev();
    let ((start, _), outcome) = last_first.find(|((start, end), _)| {
        !is_past(&text[*end..]) && !is_wanted(last_words(&text[..*start]), &text[*start..*end])
    })?;
    let before = &text[..start];
    // `Fixed the failing tests` does not say how they end now.
    if outcome == Outcome::Failed && LANGUAGES.mended.are_in(last_words(before)) {
        return None;
    }
    let near = before.ceil_char_boundary(before.len().saturating_sub(NEGATION_REACH));
    match outcome {
        outcome if !negates(last_words(&before[near..])) => Some(outcome),
        Outcome::Passed => Some(Outcome::Failed),
        Outcome::Failed => Some(Outcome::Passed),
    }
}

/// Whether an outcome before `rest` is one of an earlier time.
fn is_past(rest: &str) -> bool {
    let near = &rest[..rest.floor_char_boundary(EARLIER_ENDS)];
    LANGUAGES.earlier.first_in(near).is_some_and(|at| at < EARLIER_BEGINS)
}

/// Whether a verb after these words gives an outcome that is wanted: `make the tests pass`.
fn is_wanted(before: &str, verb: &str) -> bool {
    let is_bare = !verb.ends_with(['s', 'd']) && !verb.ends_with("ing") || verb.ends_with("ss");
    LANGUAGES.wish.are_in(before) || is_bare && LANGUAGES.causing.are_in(before)
}

/// The outcome that numbers of failures give: one above 0 is enough, as in `2 failures, 0 errors`.
fn counted_outcome(text: &str) -> Option<Outcome> {
    let mut counts = FAILURES.as_ref()?.captures_iter(text).peekable();
    counts.peek()?;
    let has_failed = counts.any(|count| count[1].bytes().any(|byte| (b'1'..=b'9').contains(&byte)));
    Some(if has_failed { Outcome::Failed } else { Outcome::Passed })
}

/// The words of a text that give an outcome, each with its first and last byte.
fn outcome_words(text: &str) -> Vec<((usize, usize), Outcome)> {
    let tables = [
        (&LANGUAGES.pass, Some(Outcome::Passed)),
        (&LANGUAGES.fail, Some(Outcome::Failed)),
        (&LANGUAGES.other_sense, None),
    ];
    let mut words: Vec<((usize, usize), Option<Outcome>)> = Vec::new();
    for (table, outcome) in tables {
        words.extend(table.places(text).into_iter().map(|place| (place, outcome)));
    }
    words.sort_by_key(|((start, end), _)| (*start, std::cmp::Reverse(*end)));
    // A longer word contains the other: `未通过` is in the table of failures.
    let mut reached = 0;
    let mut found = Vec::new();
    for ((start, end), outcome) in words {
        if end > reached {
            reached = end;
            found.extend(outcome.map(|outcome| ((start, end), outcome)));
        }
    }
    let is_loose =
        |&((start, end), _): &((usize, usize), Outcome)| LANGUAGES.loose_outcome.are_all_of(&text[start..end]);
    if !found.iter().all(is_loose) {
        found.retain(|word| !is_loose(word));
    }
    found
}

/// What follows the last comma of a text.
fn last_words(text: &str) -> &str {
    text.rsplit([',', ';', '，', '.']).next().unwrap_or(text)
}

/// Words between parts of a sentence that say different things.
pub(super) const CONJUNCTIONS: &[&str] = &[
    " but ", " and ", " while ", " whereas ", " aber ", " und ", " während ", " mais ", " et ", " pero ", " y ",
    " mientras ",
];

/// Marks between such parts.
const MARKS: &[&str] = &[", ", "; ", "，", "；", "、"];

/// Where the parts of a sentence begin and end.
pub(super) fn parts(text: &str) -> Vec<(usize, usize)> {
    let joints = MARKS.iter().chain(CONJUNCTIONS);
    let mut cuts: Vec<usize> =
        joints.flat_map(|joint| text.match_indices(joint).map(|(at, joint)| at + joint.len())).collect();
    cuts.sort_unstable();
    cuts.insert(0, 0);
    cuts.push(text.len());
    cuts.dedup();
    cuts.windows(2).map(|pair| (pair[0], pair[1])).collect()
}

/// The part of a sentence about a check: from its command, or else its name or its target, to the next part that names something else.
pub(super) fn part_about<'t>(text: &'t str, command: &str, targets: &[String]) -> &'t str {
    let words = command.split(' ').filter(|word| !word.starts_with('-'));
    let names = targets.iter().flat_map(|target| [target.as_str(), paths::name(target)]).chain(words);
    let names = names.filter(|name| name.len() > 2).map(str::to_lowercase);
    let names: Vec<String> = names.flat_map(|name| [format!("{name}s"), name]).collect();
    let parts = parts(text);
    let with_command = first_about(text, &parts, &[command.to_lowercase()]);
    let Some(at) = with_command.or_else(|| first_about(text, &parts, &names)) else { return text };
    let rest = parts[at + 1..].iter().take_while(|(start, end)| goes_on(&text[*start..*end]));
    let (start, end) = parts[at];
    &text[start..rest.last().map_or(end, |(_, end)| *end)]
}

/// The first part that has one of these names, in lower case, and an outcome.
fn first_about(text: &str, parts: &[(usize, usize)], names: &[String]) -> Option<usize> {
    parts.iter().position(|(start, end)| {
        let part = &text[*start..*end];
        let lower = lowered(part);
        names.iter().any(|name| has_whole(&lower, name)) && outcome_in(part).is_some()
    })
}

/// Whether a part of a sentence says more of what the part before it is about: it has an outcome and names nothing before that.
fn goes_on(part: &str) -> bool {
    let places = [&LANGUAGES.pass, &LANGUAGES.fail].into_iter().filter_map(|words| words.first_in(part));
    // The conjunction between two joints is no part.
    let Some(outcome) = places.min() else { return part.trim().len() <= 4 && LANGUAGES.and.are_in(part) };
    let subject = &part[..outcome];
    let mut names = tokens(subject).into_iter().filter(|token| token.class == Class::Name);
    !Family::ALL.iter().any(|family| family.is_in(subject))
        && !names.any(|name| name.text.contains(char::is_alphabetic))
}

#[cfg(test)]
mod tests {
    use super::{Family, Outcome, outcome_in};

    #[test]
    fn a_command_is_of_the_family_that_its_first_word_names() {
        for (command, family) in [
            ("cargo test -p lint-rules", Family::Tests),
            ("npm run testUnit", Family::Tests),
            ("pytest tests/types", Family::Tests),
            ("cargo nextest run", Family::Tests),
            ("./gradlew check", Family::Tests),
            ("cargo build -p latest-inspector", Family::Build),
            ("make splinter", Family::Build),
            ("cargo build --tests", Family::Build),
            ("npm run eslint", Family::Lint),
            ("golangci-lint run ./tests", Family::Lint),
            ("ruff check tests", Family::Lint),
            ("npx tsc -p tests", Family::Types),
        ] {
            assert_eq!(Family::of(command), family, "{command}");
        }
    }

    #[test]
    fn outcomes_of_sentences() {
        for text in [
            "pytest passes",
            "0 failed",
            "no failures",
            "it failed earlier but passes now",
            "passes; it failed before",
            "it failed, and passes now",
            "测试通过",
            "bestanden",
            "does not fail",
            "npm test pasa en la red local",
            "10 runs, 20 assertions, 0 failures, 0 errors, 0 skips.",
            "All tests pass on Node 20, errors are gone.",
        ] {
            assert_eq!(outcome_in(text), Some(Outcome::Passed), "{text}");
        }
        for text in [
            "3 failed, 39 passed",
            "it does not pass",
            "npm test 失败",
            "échoue toujours",
            "tests are red",
            "pytest fails: the except clause is wrong",
            "测试未通过",
            "10 runs, 20 assertions, 2 failures, 0 errors, 0 skips.",
            "Tests: 7 run, 2 failures, 0 errors.",
            "All tests: **2 failures**, 0 errors.",
            "The tests had 3 errors and 0 failures.",
            "python -m unittest: 7 tests, 1 failure, 0 errors, 2 skipped.",
            "1 failed, 39 passed, 0 errors",
            "0 failures before, 2 failures, 0 errors after",
            "1,000 tests failed",
            "3 failed, 1,234 passed, 0 errors",
            "We have failing tests.",
            "The parser is fixed, but the tests are failing",
        ] {
            assert_eq!(outcome_in(text), Some(Outcome::Failed), "{text}");
        }
        for text in [
            "Run pytest and pass the flag",
            "Clippy was run",
            "Run make clean before the tests",
            "The tests are there against bit rot",
            "Now make the tests pass",
            "go on until it fails",
            "All tests pass except those of the parser",
            "让测试通过",
            "I fixed all failing tests",
        ] {
            assert_eq!(outcome_in(text), None, "{text}");
        }
    }
}
