//! Finds a rule by its code or its name.

use std::fmt;

use super::rule::Rule;
use super::rules::ALL;
use crate::suggest::closest;

impl Rule {
    /// The rule's position in [`ALL`].
    #[must_use]
    pub fn index(&self) -> usize {
        ALL.iter().position(|rule| rule.code == self.code).unwrap_or(ALL.len())
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
