//! The checker of the library: which provider and which levels apply is said once, and then texts are checked.

use std::sync::Arc;

use super::Error;
use super::reading::TextReader;
use crate::checks::{Budget, Finding, Inspection, Levels, Profile, Table, Verdicts, first_that_needs_budget};
use crate::counting::Tokenizer;
use crate::dialects::Framing;
use crate::processors::Counting;

/// What is wrong with the transcripts of `text`, in the order of the text, by the requirements of their own format and with the
/// default levels of the rules. A text that cannot be read has a finding that says so, and a blank one has none. `curtail
/// check` finds the same, but says of a blank text that there is nothing to check.
///
/// ```
/// use curtail_core::{Level, check};
///
/// let chat = concat!(
///     "{\"role\":\"user\",\"content\":\"When does it leave?\"}\n",
///     "{\"role\":\"tool\",\"tool_call_id\":\"call-1\",\"content\":\"05:12\"}\n",
///     "{\"role\":\"assistant\",\"content\":\"At 05:12.\"}\n",
/// );
/// let findings = check(chat);
/// let orphan = &findings[0];
/// assert_eq!((orphan.rule.name, orphan.rule.code), ("orphan-result", "P001"));
/// assert_eq!((orphan.at.line, orphan.at.message, orphan.level), (2, Some(1), Level::Deny));
/// assert_eq!(orphan.at.pointer.as_deref(), Some(""));
/// assert_eq!(check("[")[0].rule.name, "invalid-json");
/// ```
#[must_use]
pub fn check(text: &str) -> Vec<Finding> {
    let verdicts = Levels::default().for_path("");
    Checker { reader: TextReader::default(), inspection: Inspection::default(), verdicts }.check(text)
}

/// Checks transcripts by the requirements of a provider, and with levels of your own.
///
/// ```
/// use curtail_core::{Checker, Level};
///
/// let chat = concat!(
///     "{\"role\":\"user\",\"content\":\"When does it leave?\"}\n",
///     "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"1\",\"type\":\"function\",\"function\":{\"name\":\"timetable\",\"arguments\":\"{}\"}}]}\n",
/// );
/// let checker = Checker::builder().profile("bedrock").deny("pending-call").build()?;
/// let levels = checker.check(chat).into_iter().map(|finding| (finding.rule.name, finding.level));
/// assert!(levels.into_iter().any(|found| found == ("pending-call", Level::Deny)));
/// # Ok::<(), curtail_core::Error>(())
/// ```
pub struct Checker {
    reader: TextReader,
    inspection: Inspection,
    verdicts: Verdicts,
}

impl Checker {
    /// A builder of the checker that [`check`] uses.
    pub fn builder() -> CheckerBuilder {
        CheckerBuilder::default()
    }

    /// What is wrong with the transcripts of `text`, in the order of the text.
    #[must_use]
    pub fn check(&self, text: &str) -> Vec<Finding> {
        self.inspection.examine_all(&self.reader.reading(text), &self.verdicts, text)
    }
}

/// Makes a [`Checker`]: how texts are read, and what is a finding.
#[derive(Default)]
#[must_use]
pub struct CheckerBuilder {
    framing: Option<Framing>,
    dialect: Option<String>,
    messages_key: Option<String>,
    profile: Option<String>,
    levels: Table,
    budget: Option<Budget>,
}

impl CheckerBuilder {
    /// How transcripts are laid out in a text. By default, it is detected.
    pub fn framing(self, framing: Framing) -> Self {
        Self { framing: Some(framing), ..self }
    }

    /// The name of the dialect of all messages, such as `openai`. By default, it is detected.
    pub fn dialect(self, name: impl Into<String>) -> Self {
        Self { dialect: Some(name.into()), ..self }
    }

    /// The key under which records keep their messages, as keys joined by dots. By default, the usual keys are tried.
    pub fn messages_key(self, key: impl Into<String>) -> Self {
        Self { messages_key: Some(key.into()), ..self }
    }

    /// The provider whose requirements apply, such as `mistral`, or the dialect that it accepts. By default, those of the
    /// transcript's own format apply.
    pub fn profile(self, name: impl Into<String>) -> Self {
        Self { profile: Some(name.into()), ..self }
    }

    /// Findings of a rule or of a group of rules, named or by code, are denied.
    pub fn deny(mut self, rules: impl Into<String>) -> Self {
        self.levels.deny.push(rules.into());
        self
    }

    /// They are warnings.
    pub fn warn(mut self, rules: impl Into<String>) -> Self {
        self.levels.warn.push(rules.into());
        self
    }

    /// They are no findings.
    pub fn allow(mut self, rules: impl Into<String>) -> Self {
        self.levels.allow.push(rules.into());
        self
    }

    /// The number of tokens that a transcript may have, for the rules about it.
    pub fn max_tokens(self, max_tokens: usize, tokenizer: impl Tokenizer + 'static) -> Self {
        Self { budget: Some(Budget { max_tokens, counting: Counting::new(Arc::new(tokenizer)) }), ..self }
    }

    /// The checker.
    ///
    /// # Errors
    /// No dialect, profile or rule has a name that was given, or a rule needs a number of tokens that was not given.
    pub fn build(self) -> Result<Checker, Error> {
        let needs_budget =
            [&self.levels.deny, &self.levels.warn].into_iter().find_map(|rules| first_that_needs_budget(rules));
        if let (Some(rule), None) = (needs_budget, &self.budget) {
            return Err(Error::InvalidRule {
                what: format!("{rule} needs the number of tokens that a transcript may have"),
            });
        }
        let levels = Levels::new(&Table::default(), &self.levels)
            .map_err(|error| Error::InvalidRule { what: error.to_string() })?;
        let profile = self.profile.as_deref().map(Profile::named).transpose();
        let profile = profile.map_err(|error| Error::UnknownDialect { what: error.to_string() })?;
        Ok(Checker {
            reader: TextReader::new(self.framing, self.dialect.as_deref(), self.messages_key)?,
            inspection: Inspection { profile, budget: self.budget, ..Inspection::default() },
            verdicts: levels.for_path(""),
        })
    }
}
