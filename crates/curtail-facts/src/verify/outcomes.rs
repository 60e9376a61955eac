//! How a sentence says that a check passed or failed.

use std::sync::LazyLock;

use regex::Regex;

use super::languages::{LANGUAGES, is_small, lowered};
use super::negation::{is_done, negates};
use super::tokens::{Class, Token, tokens};
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

    /// Those that a text names.
    fn in_text(text: &str) -> Vec<Self> {
        Self::ALL.into_iter().filter(|family| family.is_in(text)).collect()
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
        let each = outcome_parts(text).into_iter().filter_map(|(start, end)| Self::of(&text[start..end]));
        let each: Vec<Self> = each.filter(|part| part.outcome.is_some()).collect();
        if each.len() > 1 { each } else { Self::but_excepted(text).into_iter().chain(Self::of(text)).collect() }
    }

    fn of(text: &str) -> Option<Self> {
        if text.contains(['?', '？']) {
            return None;
        }
        let mut families = Family::in_text(text);
        let mut outcome = outcome_in(text);
        let says = outcome.is_some() || is_vague(text);
        if families.is_empty() && LANGUAGES.all_checks.are_in(text) {
            families = Family::ALL.to_vec();
            // Which of them failed is not said.
            outcome = outcome.filter(|outcome| *outcome == Outcome::Passed);
        }
        let is_for_every = LANGUAGES.every.are_in(text);
        (says && !families.is_empty()).then(|| Self { families, outcome, is_for_every, text: text.to_owned() })
    }

    /// What a sentence says of the checks of other kinds than those that it excepts: `all checks pass except clippy`.
    fn but_excepted(text: &str) -> Option<Self> {
        let (before, after) = text.split_at(LANGUAGES.except.first_in(text)?);
        let excepted = Family::in_text(after);
        let mut general = Self::of(before).filter(|_| !excepted.is_empty())?;
        general.families.retain(|family| !excepted.contains(family));
        Some(Self { text: text.to_owned(), ..general })
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
    LANGUAGES.vague.are_in(text) || excepts(text) || LANGUAGES.fail.are_in(text) && says_mended(text)
}

/// Whether a part of a sentence says that something was mended: not that it will be, or was not.
pub(super) fn says_mended(text: &str) -> bool {
    let mut parts = text.split([',', ';', ':', '，', '；', '：']);
    parts.any(|part| is_done(part, &LANGUAGES.mended) && !negates(part))
}

/// Whether a sentence says something of all but a few, or that something passes but for a few. Alone, such a word may be a keyword:
/// `the except clause`.
fn excepts(text: &str) -> bool {
    let Some((start, _)) = LANGUAGES.except.places(text).first().copied() else { return false };
    let passed = LANGUAGES.pass.places(&text[..start]).last().map(|(_, end)| tokens(&text[*end..start]).len());
    LANGUAGES.every.are_in(text) || passed == Some(0) && !text[start..].starts_with("but")
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
    let mut words = outcome_words(text);
    words.retain(|((start, end), _)| {
        !is_past(&text[*end..]) && !is_wanted(last_words(&text[..*start]), &text[*start..*end])
    });
    let has_failed = words.iter().any(|(_, outcome)| *outcome == Outcome::Failed);
    let mut last_first = words.into_iter().rev();
    let ((start, _), outcome) = last_first
        .find(|((start, _), outcome)| !(has_failed && *outcome == Outcome::Passed && is_of_others(text, *start)))?;
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

/// Whether a verb at a place is said of the others beside a failure: `a fails, the rest passes`, or of a number of them that is not all
/// of them now.
fn is_of_others(text: &str, verb: usize) -> bool {
    let subject = last_words(&text[..verb]);
    let told = &text[verb - subject.len()..];
    let counts = tokens(subject).iter().any(is_number);
    LANGUAGES.others.are_in(subject)
        || counts && !LANGUAGES.every.are_in(subject) && !LANGUAGES.since.are_in(told) && names_no_other(subject)
}

/// Whether a text before a verb has only numbers, small words and words for checks.
fn names_no_other(subject: &str) -> bool {
    tokens(subject)
        .iter()
        .all(|token| is_number(token) || is_small(token.text) || !Family::in_text(token.text).is_empty())
}

fn is_number(token: &Token<'_>) -> bool {
    token.text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The outcome that numbers of failures give: one above 0 is enough, as in `2 failures, 0 errors`; or how many of all passed.
fn counted_outcome(text: &str) -> Option<Outcome> {
    let counts =
        FAILURES.as_ref()?.captures_iter(text).map(|count| count[1].bytes().any(|byte| (b'1'..=b'9').contains(&byte)));
    let counts: Vec<bool> = counts.collect();
    if counts.contains(&true) {
        return Some(Outcome::Failed);
    }
    passed_of_all(text).or_else(|| (!counts.is_empty()).then_some(Outcome::Passed))
}

/// How many of how many.
static RATIO: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:^|[^\w./])(\d+) ?(?:/|(?:out )?of|von|sur|de|из) ?(\d+)\b").ok());

/// The outcome of a text such as `3 of 4 tests pass`. Of those that were left out, nobody knows.
fn passed_of_all(text: &str) -> Option<Outcome> {
    let ratio = RATIO.as_ref()?.captures(text)?;
    let rest = &text[ratio.get(0)?.end()..];
    let between = &rest[..LANGUAGES.pass.first_in(rest)?];
    if between.contains([',', ';', ':', '.']) || !names_no_other(between) {
        return None;
    }
    let (passed, all): (usize, usize) = (ratio[1].parse().ok()?, ratio[2].parse().ok()?);
    (!LANGUAGES.left_out.are_in(text)).then_some(if passed < all { Outcome::Failed } else { Outcome::Passed })
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

/// The parts of a sentence that say how checks ended: what only lists them belongs to the part behind it, as in `tests and types pass`.
fn outcome_parts(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut listed = None;
    for (start, end) in parts(text) {
        let start = listed.take().unwrap_or(start);
        if lists_checks(&text[start..end]) && end < text.len() {
            listed = Some(start);
        } else {
            found.push((start, end));
        }
    }
    found
}

/// Whether a part of a sentence has commands, names and words for checks, and says nothing of them.
fn lists_checks(part: &str) -> bool {
    let outside: String = part.split('`').step_by(2).collect();
    let is_listed = part.contains('`') || !Family::in_text(part).is_empty();
    let mut tokens = tokens(&outside).into_iter().filter(|token| token.class != Class::Name);
    is_listed
        && outcome_in(part).is_none()
        && !LANGUAGES.reported.are_in(part)
        && tokens.all(|token| LANGUAGES.every.are_in(token.text) || names_no_other(token.text))
}

/// The part of a sentence about a check: from its command, or else its name or its target, to the next part that names something else.
pub(super) fn part_about<'t>(text: &'t str, command: &str, targets: &[String]) -> &'t str {
    let mut words = command.split(' ').filter(|word| !word.starts_with('-'));
    // Several checks may have one program.
    let program = [words.next().unwrap_or_default().to_lowercase()];
    let names = targets.iter().flat_map(|target| [target.as_str(), paths::name(target)]).chain(words);
    let names = names.filter(|name| name.len() > 2).map(str::to_lowercase);
    let names: Vec<String> = names.flat_map(|name| [format!("{name}s"), name]).collect();
    let parts = outcome_parts(text);
    let with_command = first_about(text, &parts, &[command.to_lowercase()]);
    let mut about = [names.as_slice(), &program].into_iter().filter_map(|names| first_about(text, &parts, names));
    let Some(at) = with_command.or_else(|| about.next()) else { return text };
    let is_of_several = !is_test(command);
    let rest = parts[at + 1..].iter().take_while(|(start, end)| goes_on(&text[*start..*end], is_of_several));
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

/// Whether a part of a sentence says more of what the part before it is about: it has an outcome and names nothing before that, or, if
/// that is a check of several tests, one of them that failed.
fn goes_on(part: &str, is_of_several: bool) -> bool {
    let [passes, fails] = [&LANGUAGES.pass, &LANGUAGES.fail].map(|words| words.first_in(part).unwrap_or(part.len()));
    let subject = &part[..passes.min(fails)];
    if subject.len() == part.len() {
        // The conjunction between two joints is no part.
        let is_joint = CONJUNCTIONS.iter().any(|word| word.trim() == part.trim());
        return is_joint || part.trim().len() <= 4 && LANGUAGES.and.are_in(part);
    }
    let tokens = tokens(subject);
    let names = tokens.iter().filter(|token| token.class == Class::Name && token.text.contains(char::is_alphabetic));
    let is_same = match names.collect::<Vec<_>>().as_slice() {
        [] => tokens.last().is_none_or(|last| {
            let tables = [&LANGUAGES.every, &LANGUAGES.since];
            last.class == Class::Han || tables.iter().any(|words| words.are_in(last.text)) || names_no_other(last.text)
        }),
        names => is_of_several && fails < passes && names.iter().all(|name| is_test(name.text)),
    };
    is_same && !LANGUAGES.others.are_in(subject) && Family::in_text(subject).is_empty()
}

/// Whether a name is that of a test, such as `test_login` and `cart::tests::adds`, and no path.
fn is_test(name: &str) -> bool {
    !name.contains(' ')
        && (name.contains("::") || !name.contains(['/', '.']))
        && name_words(name).iter().any(|word| word == "test" || word == "tests")
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
