//! Runs all rules on one transcript: which of them, at what level, and by the requirements of which provider.

use std::fmt;

use super::budget::{Budget, TokenCounts};
use super::{ALL, Detector, Finding, Fix, Level, LineIndex, Match, Mend, Rule, RuleContext, Verdicts, constraints};
use crate::dialects::{self, Dialect, dialect_named};
use crate::json::{Span, Value};
use crate::suggest;
use crate::transcript::{Fault, PairingRules, Pairs, ProviderRules, ResultPlace, Transcript, Turns};

/// How transcripts are examined. By default, by the requirements of their own format.
///
/// ```
/// use curtail_core::checks::{Inspection, Levels};
/// use curtail_core::dialects::{Framing, Reading};
///
/// let chat = concat!(
///     "{\"role\":\"user\",\"content\":\"When does it leave?\"}\n",
///     "{\"role\":\"tool\",\"tool_call_id\":\"call-1\",\"content\":\"05:12\"}\n",
///     "{\"role\":\"assistant\",\"content\":\"At 05:12.\"}\n",
/// );
/// let reading = Reading::new(Framing::Lines, None, None)?;
/// let verdicts = Levels::default().for_path("chat.jsonl");
/// let examination = Inspection::default().examine(&reading, &verdicts, chat)?;
/// assert_eq!(examination.findings[0].rule.name, "orphan-result");
/// assert_eq!(examination.findings[0].at.line, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct Inspection {
    /// The provider whose requirements apply instead of those of the transcript's own format.
    pub profile: Option<Profile>,
    /// Whether the provider stores earlier items, so that results may answer calls outside the transcript.
    pub stateful: bool,
    /// Whether only what the model still reads is examined.
    pub live: bool,
    /// The tokens that a transcript may have; without them, the rules that need a budget do not run.
    pub budget: Option<Budget>,
    /// Whether a provider has refused the transcript: what depends on the model, or on how much else is sent, applies.
    pub is_refused: bool,
    /// The most that the provider accepts of what it counted, if its answer says so.
    pub refused_above: Option<usize>,
}

/// What a provider requires of the transcripts that it accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    /// How it requires pairs.
    pub pairing_rules: PairingRules,
    /// Its further constraints.
    pub provider_rules: ProviderRules,
}

/// What a rule detected, with the level that applies.
#[derive(Debug, Clone)]
pub struct Detection<'a> {
    rule: &'static Rule,
    level: Level,
    answer: Option<&'static str>,
    found: Match<'a>,
}

impl<'a> Detection<'a> {
    /// How it is mended in the part alone, if its rule says that it can be.
    pub(super) fn mend(&self, with_unsafe: bool) -> Option<&Mend<'a>> {
        let is_mended = self.fix() == Fix::Part || with_unsafe && self.fix() == Fix::Unsafe;
        self.found.mending.as_ref().filter(|_| is_mended).map(|mending| &mending.mend)
    }

    /// Where it is.
    pub(super) const fn at(&self) -> Option<Value<'a>> {
        self.found.at
    }

    /// Whether and how it is mended.
    pub(super) fn fix(&self) -> Fix {
        match (self.rule.fix, &self.found.mending) {
            (Fix::Part | Fix::Unsafe, None) => Fix::No,
            (Fix::Part, Some(mending)) if !mending.is_safe => Fix::Unsafe,
            (fix, _) => fix,
        }
    }
}

impl Inspection {
    /// What the rules detect in `transcript`, whose own format has `provider_rules`, in the order of its text. `stateful` says
    /// whether it continues what the provider stored, and `budget` has its tokens and how many it may have.
    pub(super) fn detect<'a>(
        &self,
        transcript: &Transcript<'a>,
        provider_rules: ProviderRules,
        stateful: bool,
        verdicts: &Verdicts,
        budget: Option<(&TokenCounts, usize)>,
    ) -> Vec<Detection<'a>> {
        let format = Profile { pairing_rules: transcript.layout.rules.pairing, provider_rules };
        let Profile { pairing_rules, provider_rules } = self.profile.map_or(format, |profile| profile.over(format));
        let pairs = Pairs::from_messages(&transcript.messages);
        let faults = Fault::find_all(&transcript.messages, &pairs, pairing_rules);
        let record = match transcript.messages.first() {
            Some(first) => first.value().and_then(Value::parent).and_then(Value::parent),
            None => transcript.layout.record_value,
        };
        let context = RuleContext {
            record: record.filter(|record| record.is_object()),
            is_refused: self.is_refused,
            refused_above: self.refused_above,
            messages: &transcript.messages,
            non_messages: &transcript.layout.non_messages,
            pairs: &pairs,
            faults: &faults,
            pairing_rules,
            provider_rules,
            stateful,
        };
        let mut detections: Vec<Detection<'a>> = Vec::new();
        for (rule, level) in ALL.iter().zip(verdicts.levels()).filter(|(_, level)| *level > Level::Allow) {
            let matches = match (rule.detector, budget) {
                (Detector::Transcript(detect), _) => detect(&context),
                (Detector::Budget(detect), Some((tokens, limit))) => detect(&context, tokens, limit),
                _ => continue,
            };
            detections.extend(matches.into_iter().map(|found| Detection {
                rule,
                level: if found.only_warns { verdicts.of_warning(level) } else { level },
                answer: rule.answer_of(provider_rules.provider, found.what),
                found,
            }));
        }
        // The sort is stable: findings at the same place stay in the order of the rules.
        detections.sort_by_key(|detection| detection.found.at.map_or(0, |value| value.span().start));
        detections
    }
}

impl Profile {
    /// The requirements of the provider that accepts `dialect`.
    #[must_use]
    pub fn of_dialect(dialect: &dyn Dialect) -> Self {
        Self { pairing_rules: dialect.pairing_rules(), provider_rules: dialect.provider_rules() }
    }

    /// The requirements of the provider called `name`: of one that has a format of its own, or of one that accepts OpenAI's
    /// and whose limits are known.
    #[must_use]
    pub fn of_provider(name: &str) -> Option<Self> {
        if let Some(dialect) = dialect_named(name) {
            return Some(Self::of_dialect(dialect));
        }
        let provider = constraints().iter().find(|row| row.provider == name && row.rule.is_some())?.provider;
        let chat = Self::of_dialect(dialect_named("openai")?);
        Some(Self { provider_rules: ProviderRules { provider, ..chat.provider_rules }, ..chat })
    }

    /// As [`of_provider`](Self::of_provider), for a name that a user gave.
    ///
    /// # Errors
    /// No provider has that name.
    pub fn named(name: &str) -> Result<Self, UnknownProfile> {
        Self::of_provider(name).ok_or_else(|| UnknownProfile { name: name.to_owned() })
    }

    /// The same requirements for a transcript whose format has the requirements `format`.
    #[must_use]
    pub fn over(self, format: Self) -> Self {
        use ResultPlace::{Anywhere, NextMessage, NextMessageFirst, SameMessage};
        let inside = matches!(format.pairing_rules.results, NextMessage | NextMessageFirst);
        let pairing_rules = self.pairing_rules.over(format.pairing_rules);
        // Where signatures are depends on the transcript and not on the provider.
        let provider_rules = ProviderRules {
            log: format.provider_rules.log,
            converts: format.provider_rules.converts,
            signatures: format.provider_rules.signatures,
            call_signatures: format.provider_rules.call_signatures,
            results_together: self.provider_rules.results_together && inside,
            turns: if matches!(format.pairing_rules.results, Anywhere | SameMessage) {
                Turns::Free
            } else {
                self.provider_rules.turns
            },
            ..self.provider_rules
        };
        Self { pairing_rules, provider_rules }
    }
}

/// No provider has the name that the user gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownProfile {
    /// The name.
    pub name: String,
}

impl fmt::Display for UnknownProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names: Vec<&str> = dialects::ALL.iter().map(|dialect| dialect.name()).collect();
        for row in constraints().iter().filter(|row| row.rule.is_some()) {
            if !names.contains(&row.provider) {
                names.push(row.provider);
            }
        }
        f.write_str(&suggest::unknown("there is no profile", &self.name, &names))
    }
}

impl std::error::Error for UnknownProfile {}

impl Detection<'_> {
    /// The finding, with its place in the text that `lines` indexes; a detection without a value is placed at `start`.
    #[must_use]
    pub fn locate(self, lines: &LineIndex<'_>, start: u32) -> Finding {
        let fix = self.fix();
        let Match { at, message_index, message, other, what, .. } = self.found;
        let place = match at {
            Some(value) => lines.place_of(value, message_index),
            None => lines.place(Span::new(start, start), None, message_index),
        };
        let other = other.map(|(index, value)| lines.place_of(value, Some(index)));
        let content = at.map(content_of).filter(|content| at != Some(*content));
        let shown = content.map(|content| lines.place(content.span(), None, None));
        let excerpt = lines.excerpt(shown.as_ref().filter(|shown| shown.line == place.line).unwrap_or(&place));
        let help = self.rule.help.into();
        let finding = Finding {
            rule: self.rule,
            level: self.level,
            message,
            help,
            answer: self.answer,
            at: place,
            other,
            excerpt,
            what,
            fix,
            only_refused: false,
            command: self.rule.command,
        };
        if fix == Fix::No { finding.not_fixed() } else { finding }
    }
}

/// The part of a value that says what it is: of a record in a log, the member beside which all others are few bytes, such as its
/// time and its id.
fn content_of(item: Value<'_>) -> Value<'_> {
    let mut content = item;
    while item.parent().is_none()
        && content.raw().len() > SHORT
        && let Some(largest) = content.members().map(|member| member.value).max_by_key(|value| value.raw().len())
        && largest.is_object()
        && largest.raw().len() > content.raw().len() / 2
    {
        content = largest;
    }
    content
}

/// The length in bytes of an item that an excerpt shows whole.
const SHORT: usize = 72;
