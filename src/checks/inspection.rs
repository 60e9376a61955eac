//! All rules over one transcript: which run, at what level, and by whose demands.

use super::{ALL, Excerpt, Finding, Level, LineIndex, Match, Rule, RuleContext, Verdicts};
use crate::json::Span;
use crate::transcript::{Fault, PairingRules, Pairs, ProviderRules, ResultPlace, Transcript, Turns};

/// How transcripts are examined.
#[derive(Debug, Clone, Default)]
pub struct Inspection {
    /// Whose demands count instead of those of the transcript's own format.
    pub profile: Option<Profile>,
    /// Whether the provider holds earlier items.
    pub stateful: bool,
    /// How many tokens a transcript may have.
    pub max_tokens: Option<usize>,
}

/// What a provider wants of the transcripts that it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    /// How it wants pairs.
    pub pairing_rules: PairingRules,
    /// What it refuses besides.
    pub provider_rules: ProviderRules,
}

/// What a rule saw, and what is made of it.
#[derive(Debug, Clone)]
pub struct Seen<'a> {
    rule: &'static Rule,
    level: Level,
    answer: Option<&'static str>,
    hit: Match<'a>,
}

impl Inspection {
    /// Examines `transcript`, whose format demands `demands`; `tokens` counts it, where that was asked for. What is seen comes in
    /// the order of the text.
    #[must_use]
    pub fn examine<'a>(
        &self,
        transcript: &Transcript<'a>,
        provider_rules: ProviderRules,
        verdicts: &Verdicts,
        tokens: impl FnOnce() -> usize,
    ) -> Vec<Seen<'a>> {
        let own = Profile { pairing_rules: transcript.pairing_rules, provider_rules };
        let Profile { pairing_rules, provider_rules } = self.profile.map_or(own, |profile| profile.over(own));
        let pairs = Pairs::find(&transcript.messages);
        let faults = Fault::find(&transcript.messages, &pairs, pairing_rules);
        let context = RuleContext {
            messages: &transcript.messages,
            non_messages: &transcript.non_messages,
            pairs: &pairs,
            faults: &faults,
            pairing_rules,
            provider_rules,
            stateful: self.stateful,
            tokens: self.max_tokens.map(|limit| (tokens(), limit)),
        };
        let mut seen: Vec<Seen<'a>> = Vec::new();
        for (rule, level) in ALL.iter().zip(verdicts.levels()).filter(|(_, level)| *level > Level::Allow) {
            let answer = rule.answer_of(provider_rules.provider);
            let made = |hit: Match<'a>| Seen {
                rule,
                level: if hit.mild { level.min(Level::Warn) } else { level },
                answer,
                hit,
            };
            seen.extend((rule.find)(&context).into_iter().map(made));
        }
        // Rules run by code; the sort is stable, so that two findings at one place keep that order.
        seen.sort_by_key(Seen::start);
        seen
    }
}

impl Profile {
    /// The same demands on a transcript whose own format has the manners and demands `own`.
    #[must_use]
    pub fn over(self, own: Self) -> Self {
        use ResultPlace::{Anywhere, NextMessage, NextMessageFirst, RightAfter, RightAfterTurn};
        let results = match (own.pairing_rules.results, self.pairing_rules.results) {
            // Items in a row become one message when they are sent to a format that has messages.
            (Anywhere, RightAfter) => RightAfterTurn,
            (NextMessage | NextMessageFirst, RightAfter) => NextMessage,
            (_, wanted) => wanted,
        };
        let inside = matches!(own.pairing_rules.results, NextMessage | NextMessageFirst);
        // Ids are what the transcript has, whoever is to read it; so is the spelling of the proof of a thought.
        let pairing_rules = PairingRules { results, ids: own.pairing_rules.ids, ..self.pairing_rules };
        let provider_rules = ProviderRules {
            log: own.provider_rules.log,
            signatures: own.provider_rules.signatures,
            call_signatures: own.provider_rules.call_signatures,
            results_together: self.provider_rules.results_together && inside,
            turns: if own.pairing_rules.results == Anywhere { Turns::Free } else { self.provider_rules.turns },
            ..self.provider_rules
        };
        Self { pairing_rules, provider_rules }
    }
}

impl Seen<'_> {
    fn start(&self) -> u32 {
        self.hit.at.map_or(0, |value| value.span().start)
    }

    /// The finding, with its place in the text that `lines` are of; what stands nowhere is put at `start`.
    #[must_use]
    pub fn locate(self, lines: &LineIndex<'_>, start: u32) -> Finding {
        let Match { at, message, words, other, .. } = self.hit;
        let place = match at {
            Some(value) => lines.place_of(value, message),
            None => lines.place(Span::new(start, start), None, message),
        };
        let other = other.and_then(|(message, value)| value.map(|value| lines.place_of(value, Some(message))));
        let excerpt = lines.excerpt(&place);
        Finding { rule: self.rule, level: self.level, words, answer: self.answer, at: place, other, excerpt }
    }
}

impl Finding {
    /// A finding about a text that is no transcript: `words` at byte `offset`.
    #[must_use]
    pub fn of_text(rule: &'static Rule, level: Level, lines: &LineIndex<'_>, offset: u32, words: String) -> Self {
        let at = lines.place(Span::new(offset, offset), None, None);
        let excerpt: Excerpt = lines.excerpt(&at);
        Self { rule, level, words, answer: None, at, other: None, excerpt }
    }
}
