//! What providers demand of transcripts, as a table: limits, patterns, and the words in which they refuse. Rules, findings, pages
//! and the search for the cause of an answer read it, and nothing else knows a provider's words.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use foldhash::HashMap;

/// The table, as tab-separated values.
const TABLE: &str = include_str!("constraints.tsv");

/// One demand of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constraint {
    /// The provider, as [`ProviderRules`](crate::transcript::ProviderRules) names it, or one without a format of its own.
    pub provider: &'static str,
    /// The code of the rule that finds what violates it; `None` if the answer is not about the transcript.
    pub rule: Option<&'static str>,
    /// What is limited; without a rule, what the answer is about.
    pub what: &'static str,
    /// A number or a pattern; empty if there is neither.
    pub limit: &'static str,
    /// What the provider answers: `N` and `M` stand for numbers and `…` for anything.
    pub words: &'static str,
    /// Where this is known from.
    pub source: &'static str,
    /// The date or the version that the source gives.
    pub date: &'static str,
    /// How it is known: documented, sdk, validator, reported or inferred.
    pub how: &'static str,
}

impl Constraint {
    fn from_row(row: &'static str) -> Option<Self> {
        let columns: Vec<&str> = row.split('\t').collect();
        let [provider, rule, what, limit, words, source, date, how]: [&str; 8] = columns.try_into().ok()?;
        Some(Self { provider, rule: Some(rule).filter(|code| *code != "-"), what, limit, words, source, date, how })
    }
}

static ROWS: LazyLock<Vec<Constraint>> = LazyLock::new(|| {
    let rows = TABLE.lines().filter(|line| !line.starts_with('#')).skip(1);
    rows.filter_map(Constraint::from_row).collect()
});

/// Every constraint, in the order of the rules; answers that are not about the transcript come last.
#[must_use]
pub fn constraints() -> &'static [Constraint] {
    &ROWS
}

/// The constraints by provider and by what they are about: rules ask for them in every transcript.
static BY_SUBJECT: LazyLock<HashMap<(&str, &str), Vec<&Constraint>>> = LazyLock::new(|| {
    let mut rows: HashMap<(&str, &str), Vec<&Constraint>> = HashMap::default();
    for row in constraints() {
        rows.entry((row.provider, row.what)).or_default().push(row);
    }
    rows
});

/// The first limit that `provider` sets to `what`.
fn limit(provider: &str, what: &str) -> Option<&'static str> {
    let rows = BY_SUBJECT.get(&(provider, what))?;
    rows.iter().find(|row| !row.limit.is_empty()).map(|row| row.limit)
}

/// Whether `provider` demands anything of `what`.
pub(super) fn states(provider: &str, what: &str) -> bool {
    BY_SUBJECT.contains_key(&(provider, what))
}

/// The number that `provider` sets as the most of `what`.
pub(super) fn most(provider: &str, what: &str) -> Option<usize> {
    limit(provider, what)?.parse().ok()
}

/// The names that `provider` accepts as `what`.
pub(super) fn names(provider: &str, what: &str) -> Option<impl Iterator<Item = &'static str> + Clone> {
    Some(limit(provider, what)?.split(' '))
}

/// The pattern that `provider` requires of `what`.
pub(super) fn pattern(provider: &str, what: &str) -> Option<Pattern> {
    limit(provider, what).and_then(Pattern::parse)
}

/// A form of ids and names: `prefix[characters]{least,most}`, in which a blank follows no other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    /// What they begin with.
    pub(super) prefix: &'static str,
    /// The punctuation that they may contain beside ASCII letters and digits; `None` if they may contain anything.
    pub(super) symbols: Option<&'static str>,
    /// How many characters they may have.
    pub(super) length: RangeInclusive<usize>,
}

impl Pattern {
    fn parse(text: &'static str) -> Option<Self> {
        let (head, length) = text.strip_suffix('}')?.rsplit_once('{')?;
        let (least, most) = length.split_once(',')?;
        let most = if most.is_empty() { usize::MAX } else { most.parse().ok()? };
        let (prefix, class) = head.split_once('[').unwrap_or((head, ""));
        let symbols = class.strip_suffix(']').and_then(|class| class.strip_prefix("a-zA-Z0-9"));
        Some(Self { prefix, symbols, length: least.parse().ok()?..=most })
    }

    /// What is wrong with `text`; `None` if it has the form.
    pub(super) fn fault(&self, text: &str) -> Option<String> {
        let count = text.chars().count();
        if text.is_empty() {
            return Some(String::from("is empty"));
        }
        if !text.starts_with(self.prefix) {
            return Some(format!("must begin with `{}`", self.prefix));
        }
        if let Some(symbols) = self.symbols.filter(|_| !text.chars().all(|c| self.allows(c))) {
            return Some(
                format!("may contain only ASCII letters, digits and any of `{symbols}`").replace(" and any of ``", ""),
            );
        }
        if self.symbols.is_some() && text.contains("  ") {
            return Some(String::from("has two blanks in a row"));
        }
        let (least, most) = self.length.clone().into_inner();
        if self.length.contains(&count) {
            None
        } else if least == most {
            Some(format!("has {count} characters instead of {most}"))
        } else if count < least {
            Some(format!("has {count} characters, and at least {least} are accepted"))
        } else {
            Some(format!("has {count} characters, and {most} are accepted"))
        }
    }

    /// Whether they may contain this character.
    fn allows(&self, c: char) -> bool {
        self.symbols.is_none_or(|symbols| c.is_ascii_alphanumeric() || symbols.contains(c))
    }

    /// `text` in this form: other characters become `_` or `-`, of several blanks one stays, and what is too long ends with a digest
    /// of all of it.
    pub(super) fn mended(&self, text: &str) -> String {
        let symbol = ['_', '-'].into_iter().find(|symbol| self.allows(*symbol));
        let body = text.strip_prefix(self.prefix).unwrap_or(text);
        let mut name = self.prefix.to_owned();
        for c in body.chars().filter_map(|c| if self.allows(c) { Some(c) } else { symbol }) {
            if c != ' ' || !name.ends_with(' ') {
                name.push(c);
            }
        }
        let digest = format!("{:016x}", crate::digest::fnv1a_64(text.bytes()));
        let least = *self.length.start();
        let most = *self.length.end();
        let is_short = name.chars().count() < least || name.len() == self.prefix.len();
        if is_short || name.chars().count() > most {
            let room = most.saturating_sub(self.prefix.len());
            let tail: String = digest.chars().take(room.min(8)).collect();
            let kept: String = name[self.prefix.len()..].chars().take(room - tail.len()).collect();
            let padding = least.saturating_sub(self.prefix.len() + kept.chars().count() + tail.len());
            let padding: String = digest.chars().skip(8).take(padding).collect();
            name = format!("{}{kept}{tail}{padding}", self.prefix);
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_complete_and_every_limit_is_read() {
        let lines = TABLE.lines().filter(|line| !line.starts_with('#')).count() - 1;
        assert_eq!(constraints().len(), lines);
        for row in constraints() {
            assert!(!row.provider.is_empty() && !row.what.is_empty() && !row.words.is_empty(), "{row:?}");
            assert!(["documented", "sdk", "validator", "reported", "inferred"].contains(&row.how), "{row:?}");
            let is_pattern = row.limit.contains('{');
            assert_eq!(Pattern::parse(row.limit).is_some(), is_pattern, "{row:?}");
        }
    }

    #[test]
    fn what_is_too_short_or_too_long_lacks_the_form() {
        for (form, is_short, is_long) in [("[a-zA-Z0-9]{3,4}", true, true), ("[a-zA-Z0-9]{1,}", false, false)] {
            let pattern = Pattern::parse(form).unwrap();
            assert_eq!(
                (pattern.fault("ab").is_some(), pattern.fault("abcde").is_some()),
                (is_short, is_long),
                "{form}"
            );
        }
    }

    #[test]
    fn what_is_mended_has_the_form() {
        for (provider, what) in
            [("anthropic", "call id"), ("openai", "call id"), ("mistral", "call id"), ("bedrock", "document name")]
        {
            let pattern = pattern(provider, what).unwrap();
            for text in ["call 1|weather", "", "ok_1", "a.b c", "a:  b   c", "é", &"long-".repeat(40)] {
                let mended = pattern.mended(text);
                assert_eq!(pattern.fault(&mended), None, "{provider} {what}: {text:?} became {mended:?}");
                assert_eq!(pattern.mended(&mended), mended);
            }
        }
    }
}
