//! Messages in, findings out: what a rule is, which rules run, and where a finding is. The rules are in `rules/`, in one file for
//! each subject.

mod answers;
mod constraints;
mod context;
mod edits;
mod examination;
mod finding;
mod inspection;
mod levels;
mod lines;
mod matched;
mod mending;
mod rules;

use std::fmt::{self, Write as _};

pub use answers::{Answer, Diagnosis};
pub use constraints::{Constraint, constraints};
pub use context::RuleContext;
use examination::readable;
pub use examination::{Examination, REBUILT};
pub use finding::Finding;
pub use inspection::{Budget, Detection, Inspection, Profile, TokenCounts};
pub use levels::{Level, Levels, LevelsError, PathTable, Table, Verdicts};
pub use lines::{Excerpt, FindingPlace, LineIndex};
use matched::member_first;
pub use matched::{Match, Mend, Mending};
pub use rules::{ALL, DUPLICATE_TRANSCRIPT, INVALID_JSON};

use crate::dialects;
use crate::suggest::closest;
use crate::transcript::FaultKind;

/// A fault that a transcript can have, with its documentation.
#[derive(Debug)]
pub struct Rule {
    /// The rule's code: the letter of its group and a number that never changes.
    pub code: &'static str,
    /// The name of the fault, so that "allow orphan-result" reads as a sentence.
    pub name: &'static str,
    /// The level of a finding unless flags or a configuration change it.
    pub level: Level,
    /// What is wrong, in one sentence.
    pub summary: &'static str,
    /// Why it matters, in Markdown.
    pub why: &'static str,
    /// What to do about it; reads after "help: ".
    pub help: &'static str,
    /// Whether `check --fix` mends it.
    pub fix: Fix,
    /// A command that mends it where `check --fix` does not, with `FILE` for the file; empty if there is none.
    pub command: &'static str,
    /// The flags with which `check` reports the bad example, for a rule that is off or needs a number.
    pub flags: &'static str,
    /// A file in which this rule, and no other, has a finding.
    pub bad: &'static str,
    /// The same file without the fault: no rule has a finding in it.
    pub good: &'static str,
    /// What detects the fault.
    pub detector: Detector,
}

/// Whether and how a fault can be mended by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fix {
    /// A person has to.
    No,
    /// The repair of pairs mends it, as faults of this kind; without a kind, as those of several.
    Pairs(Option<FaultKind>),
    /// In the part alone, and nothing is invented.
    Part,
    /// In the part alone, but the transcript says something else then.
    Unsafe,
}

/// What a rule looks at.
#[derive(Debug, Clone, Copy)]
pub enum Detector {
    /// One transcript, with this function.
    Transcript(for<'c, 'a> fn(&RuleContext<'c, 'a>) -> Vec<Match<'a>>),
    /// One transcript, its tokens and the number that it may have. Without that number, the rule does not run.
    Budget(for<'c, 'a> fn(&RuleContext<'c, 'a>, &TokenCounts, usize) -> Vec<Match<'a>>),
    /// Text that cannot be read, so that there is no transcript yet.
    Text,
    /// All transcripts of a run, compared with each other.
    Dataset,
}

/// What kind of fault a rule detects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Group {
    /// Tool calls and their results (`P…`).
    Pairing,
    /// A single message, or its parts (`S…`).
    Shape,
    /// Which roles have messages, and in which order (`T…`).
    Turn,
    /// A transcript as one of many (`D…`).
    Dataset,
}

impl Group {
    /// Every group, in the order of the rules.
    pub const ALL: &'static [Self] = &[Self::Pairing, Self::Shape, Self::Turn, Self::Dataset];

    /// The name of the group, as flags and configurations write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pairing => "pairing",
            Self::Shape => "shape",
            Self::Turn => "turn",
            Self::Dataset => "dataset",
        }
    }

    /// The group called `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|group| group.name() == name)
    }
}

/// A key that is neither the code nor the name of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownRule {
    /// The key.
    pub key: String,
    /// The name that the user probably meant.
    pub suggestion: Option<&'static str>,
}

impl fmt::Display for UnknownRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.suggestion {
            Some(name) => write!(f, "unknown rule `{}`; did you mean `{name}`?", self.key),
            None => write!(f, "unknown rule `{}`; `curtail rule` lists all rules", self.key),
        }
    }
}

impl std::error::Error for UnknownRule {}

/// The rule with this code (in upper or lower case) or name.
///
/// # Errors
/// No rule has it: the key, and the name that is closest to it.
///
/// ```
/// use curtail_core::checks::rule_named;
///
/// assert_eq!(rule_named("P001").unwrap().name, "orphan-result");
/// assert_eq!(rule_named("orphan-reslt").unwrap_err().suggestion, Some("orphan-result"));
/// assert_eq!(rule_named("P1").unwrap_err().suggestion, Some("P001"));
/// ```
pub fn rule_named(key: &str) -> Result<&'static Rule, UnknownRule> {
    let found = ALL.iter().copied().find(|rule| rule.name == key || rule.code.eq_ignore_ascii_case(key));
    found.ok_or_else(|| {
        let suggestion = short_code(key).or_else(|| closest(key, ALL.iter().map(|rule| rule.name)));
        UnknownRule { key: key.to_owned(), suggestion }
    })
}

/// The first of `keys` that names a rule which runs only with a token limit. Groups and `all` name no rule.
#[must_use]
pub fn first_that_needs_budget(keys: &[String]) -> Option<&str> {
    keys.iter().map(String::as_str).find(|key| rule_named(key).is_ok_and(Rule::needs_budget))
}

/// The code that `key` abbreviates, such as `P1` for `P001`.
fn short_code(key: &str) -> Option<&'static str> {
    let digits = key.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let number: u16 = digits.parse().ok()?;
    let code = format!("{}{number:03}", &key[..key.len() - digits.len()]);
    ALL.iter().map(|rule| rule.code).find(|known| known.eq_ignore_ascii_case(&code))
}

impl Rule {
    /// The rule's position in [`ALL`].
    #[must_use]
    pub fn index(&self) -> usize {
        ALL.iter().position(|rule| rule.code == self.code).unwrap_or(ALL.len())
    }

    /// Whether the rule runs only with a number of tokens that a transcript may have.
    #[must_use]
    pub const fn needs_budget(&self) -> bool {
        matches!(self.detector, Detector::Budget(_))
    }

    /// The group that the rule belongs to.
    #[must_use]
    pub fn group(&self) -> Group {
        match self.code.as_bytes() {
            [b'P', ..] => Group::Pairing,
            [b'S', ..] => Group::Shape,
            [b'T', ..] => Group::Turn,
            _ => Group::Dataset,
        }
    }

    /// What providers demand that the rule finds violated, and how they say so.
    pub fn constraints(&self) -> impl Iterator<Item = &'static Constraint> {
        constraints().iter().filter(|row| row.rule == Some(self.code))
    }

    /// What the provider called `name` answers, where it is known: about `what`, if it says several things.
    #[must_use]
    pub fn answer_of(&self, name: &str, what: &str) -> Option<&'static str> {
        // A finding is about messages; of an empty list, nothing is found.
        let mut rows = self.constraints().filter(|row| row.provider == name && row.what != "no messages");
        let first = rows.next()?;
        let exact = if first.what == what { None } else { rows.find(|row| row.what == what) };
        Some(exact.unwrap_or(first).words)
    }

    /// What fixes it, as its page says.
    const fn fixed_by(&self) -> &'static str {
        match self.fix {
            Fix::No => "hand",
            Fix::Pairs(_) | Fix::Part => "`check --fix`",
            Fix::Unsafe => "`check --fix --unsafe-fixes`",
        }
    }

    /// Whether `--fix` mends it.
    const fn is_fixed(&self) -> bool {
        !matches!(self.fix, Fix::No)
    }

    /// The rule's page in Markdown: `docs/rules/` contains it and `curtail rule` prints it.
    #[must_use]
    pub fn page(&self) -> String {
        let mut page = format!("# {} ({})\n\n{}\n\n", self.name, self.code, self.summary);
        // Writing to a string cannot fail.
        let _ = writeln!(
            page,
            "Level: {} by default. Group: {}. Fixed by {}.\n\n{}\n",
            self.level.name(),
            self.group().name(),
            self.fixed_by(),
            self.why
        );
        let _ = writeln!(page, "Help: {}.\n", self.help);
        if self.is_fixed() {
            let only_read = dialects::ALL.iter().filter(|dialect| dialect.writer().is_none());
            let names: Vec<String> = only_read.map(|dialect| format!("`{}`", dialect.name())).collect();
            if let Some((last, others)) = names.split_last() {
                let others = others.join(", ");
                let _ = writeln!(page, "`--fix` does not write {others} and {last}, which are read-only.\n");
            }
        }
        let answers = self.answers();
        if !answers.is_empty() {
            let _ =
                writeln!(page, "## What providers answer\n\n| provider | answer |\n|---|---|\n{}", answers.concat());
        }
        let flags = if self.flags.is_empty() { String::new() } else { format!(" {}", self.flags) };
        let _ =
            write!(page, "## Bad\n\n`curtail check{flags}` reports this transcript:\n\n```jsonl\n{}```\n\n", self.bad);
        let _ = write!(page, "## Good\n\n```jsonl\n{}```\n", self.good);
        page
    }

    /// The rows of a table of what providers answer, each once. What no provider was seen to answer is called inferred.
    fn answers(&self) -> Vec<String> {
        let mut rows = Vec::new();
        for Constraint { provider, words, how, .. } in self.constraints() {
            let inferred = if *how == "inferred" { " (inferred)" } else { "" };
            let row = format!("| {provider}{inferred} | {} |\n", words.replace('|', "\\|").replace('<', "&lt;"));
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
        rows
    }
}
