//! What a provider answered, as somebody quotes it: which rule finds the cause in a transcript, and where it is there.

mod places;
mod quoted;
mod request;

use std::ops::Range;

use self::places::{Mention, mention, shortened};
use self::quoted::Quoted;
use self::request::{Sent, Wire, parts_with, range, readings};
use super::constraints::Constraint;
use super::examination::salvage;
use super::{Finding, Inspection, Level, Levels, LineIndex, Profile, Rule, Table, rule_named};
use crate::dialects::{ALL, Dialect, ReadError, Reading};
use crate::json::Value;
use crate::transcript::{Content, Message, ProviderRules, Role, Transcript, Turns};

/// The answer of a provider, as it was quoted.
///
/// ```
/// use curtail_core::checks::{Answer, Diagnosis};
/// use curtail_core::dialects::{Framing, Reading};
///
/// let answer = Answer::read("400 {\"error\":{\"message\":\"No tool call found for function call output with call_id call_7.\"}}");
/// let input = concat!(
///     "{\"type\":\"message\",\"role\":\"user\",\"content\":\"When does it leave?\"}\n",
///     "{\"type\":\"function_call_output\",\"call_id\":\"call_7\",\"output\":\"05:12\"}\n",
/// );
/// let diagnosis = answer.diagnose(&Reading::new(Framing::Lines, None, None)?, input)?;
/// let Diagnosis::Found { findings, .. } = diagnosis else { unreachable!() };
/// assert_eq!((findings[0].rule.name, findings[0].at.line), ("orphan-result", 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Answer {
    quoted: Quoted,
    /// The rows of the table whose words it contains.
    rows: Vec<&'static Constraint>,
    mention: Option<Mention>,
}

/// What an answer says of a transcript.
#[derive(Debug, Clone)]
pub enum Diagnosis {
    /// The answer is about something else, such as the account.
    Unrelated(&'static Constraint),
    /// No known answer has these words; the nearest ones.
    Unknown(Vec<&'static Constraint>),
    /// The answer is about this, and the transcript has no such fault.
    Absent(&'static Constraint),
    /// The places that it means, in order.
    Found {
        /// What the provider demands.
        constraint: &'static Constraint,
        /// The fault at each place.
        findings: Vec<Finding>,
        /// Whether the answer names the place; otherwise the transcript was searched.
        is_named: bool,
        /// The provider, if it is another than the one that the format of the transcript is for.
        profile: Option<&'static str>,
    },
}

impl Answer {
    /// Reads what somebody quoted: a sentence, an error of a program, or the JSON of an answer, however often it is wrapped.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let quoted = Quoted::new(text);
        let rows = quoted.rows();
        let words = rows.first().map_or("", |row| row.words);
        let mention = mention(&quoted.tight, words);
        Self { quoted, rows, mention }
    }

    /// Whether it is about transcripts at all. If not, no file is needed.
    #[must_use]
    pub fn unrelated(&self) -> Option<Diagnosis> {
        match self.rows.first() {
            Some(row) if self.rows.iter().all(|row| row.rule.is_none()) => Some(Diagnosis::Unrelated(row)),
            None if self.mention.is_none() => Some(self.unknown()),
            _ => None,
        }
    }

    fn unknown(&self) -> Diagnosis {
        Diagnosis::Unknown(self.quoted.nearest(3))
    }

    /// Finds what it means in `text`, a transcript or a log.
    ///
    /// # Errors
    /// Something is not a transcript.
    pub fn diagnose(&self, reading: &Reading, text: &str) -> Result<Diagnosis, ReadError> {
        if let Some(diagnosis) = self.unrelated() {
            return Ok(diagnosis);
        }
        let Some(constraint) = self.rows.iter().copied().find(|row| row.rule.is_some()) else {
            return Ok(self.unknown());
        };
        let wire = wire_of(constraint.provider);
        let reading = settled(reading, wire, text);
        let findings = self.faults(&reading, text, constraint.provider, wire)?;
        let own = own_provider(&reading, text);
        let profile = Some(constraint.provider).filter(|provider| own.is_some_and(|own| own != *provider));
        let search = Search { answer: self, constraint, wire, text, findings, profile };
        search.run(&reading)
    }

    /// What the rules that the answer may mean find, all of it denied.
    fn faults(
        &self,
        reading: &Reading,
        text: &str,
        provider: &'static str,
        wire: &dyn Dialect,
    ) -> Result<Vec<Finding>, ReadError> {
        let profile = Profile::of_dialect(wire);
        let asks_for = |code| self.rows.iter().any(|row| row.rule == Some(code));
        // What the answer demands applies, whether or not the format demands it.
        let rules = profile.provider_rules;
        let provider_rules = ProviderRules {
            provider,
            turns: if asks_for("T003") { Turns::Alternate } else { rules.turns },
            first_speaker: if asks_for("T002") { Some(Role::User) } else { rules.first_speaker },
            system_anywhere: rules.system_anywhere && !asks_for("T005"),
            ..rules
        };
        let profile = Some(Profile { provider_rules, ..profile });
        let inspection = Inspection { profile, live: true, ..Inspection::default() };
        let all = Table { deny: vec![String::from("all")], ..Table::default() };
        let verdicts = Levels::new(&all, &Table::default()).unwrap_or_default().for_path("");
        let mut findings = inspection.examine(reading, &verdicts, text)?.findings;
        findings.retain(|finding| self.rows.iter().any(|row| row.rule == Some(finding.rule.code)));
        Ok(findings)
    }
}

/// The format that a provider accepts; that of OpenAI, if it has none of its own.
fn wire_of(provider: &str) -> &'static dyn Dialect {
    let accepts = |name: &str| ALL.iter().copied().find(|dialect| !dialect.is_log() && dialect.name() == name);
    accepts(provider).or_else(|| accepts("openai")).unwrap_or(ALL[0])
}

/// The reading in the dialect of `wire`, if the text is all in it and not all in the one that was detected.
fn settled(reading: &Reading, wire: &'static dyn Dialect, text: &str) -> Reading {
    let as_wire = Reading { dialect: Some(wire), named: true, ..reading.clone() };
    if reading.named || unknown_in(&as_wire, text) != Some(0) {
        return reading.clone();
    }
    match unknown_in(reading, text) {
        Some(0) => reading.clone(),
        _ => as_wire,
    }
}

/// The provider that the format of the first transcript of `text` is for.
fn own_provider(reading: &Reading, text: &str) -> Option<&'static str> {
    let document = reading.parse(text).ok()?;
    let transcripts = reading.transcripts_or_none(&document).ok()?;
    transcripts.first().map(|(dialect, _)| dialect.provider_rules().provider)
}

/// How many items and parts of `text` are of no known type; `None` if it cannot be read.
fn unknown_in(reading: &Reading, text: &str) -> Option<usize> {
    let document = reading.parse(text).ok()?;
    let transcripts = reading.transcripts_or_none(&document).ok()?;
    let count = transcripts.iter().map(|(_, transcript)| {
        let items = transcript.layout.non_messages.iter().filter(|item| item.unknown.is_some()).count();
        let parts = transcript.messages.iter().flat_map(|message| &message.parts);
        items + parts.filter(|part| matches!(part.content, Content::Unknown(_))).count()
    });
    Some(count.sum())
}

/// A search for the places that an answer means.
struct Search<'s> {
    answer: &'s Answer,
    constraint: &'static Constraint,
    wire: &'static dyn Dialect,
    text: &'s str,
    /// What the rules found.
    findings: Vec<Finding>,
    /// The provider, if the transcript is not in its form.
    profile: Option<&'static str>,
}

impl Search<'_> {
    fn run(self, reading: &Reading) -> Result<Diagnosis, ReadError> {
        let whole = reading.parse(self.text).ok().filter(|document| document.incomplete_end().is_none());
        let rest = match &whole {
            Some(_) => None,
            None => salvage(reading, self.text, ReadError { offset: 0, what: String::new() }).1,
        };
        let rest = rest.as_ref().and_then(|rest| reading.parse(rest).ok());
        let Some(document) = whole.or(rest) else { return Ok(self.searched()) };
        let mut transcripts = reading.transcripts_or_none(&document)?;
        for (dialect, transcript) in &mut transcripts {
            transcript.keep_live();
            let places = self.named_places(*dialect, transcript);
            let Some(places) = places else { continue };
            return Ok(self.at(&places));
        }
        Ok(self.searched())
    }

    /// The places that the answer names, the likeliest reading first; `None` if it names none of this transcript.
    fn named_places<'a>(&self, dialect: &dyn Dialect, transcript: &Transcript<'a>) -> Option<Vec<NamedPlace<'a>>> {
        let by_id = self.parts_by_id(&transcript.messages);
        let by_index = self.messages_by_index(dialect, transcript);
        let mut places = Vec::new();
        if !by_id.is_empty() {
            // An id says more than a number, unless several parts have it.
            let exact = by_index
                .iter()
                .flat_map(|place| &place.spans)
                .filter(|span| by_id.iter().any(|value| overlap(span, &range(*value))));
            let narrowed: Vec<Range<usize>> = exact.cloned().collect();
            let spans = by_id.iter().map(|value| range(*value)).collect();
            let block = by_id.iter().copied().find(|value| narrowed.contains(&range(*value)));
            places.push(NamedPlace { value: block.or(by_id.first().copied()), block, spans, is_certain: true });
        }
        places.extend(by_index);
        (!places.is_empty()).then_some(places)
    }

    fn parts_by_id<'a>(&self, messages: &[Message<'a>]) -> Vec<Value<'a>> {
        let tight = &self.answer.quoted.tight;
        let ends = shortened(tight);
        let is_named = |id: &str| {
            let id: String = id.chars().filter(|c| !c.is_whitespace()).collect();
            id.len() >= 4 && (tight.contains(&id) || ends.iter().any(|ends| is_shortened(&id, *ends)))
        };
        let has = |message: &Message<'a>, content: &Content<'a>| {
            let own = message.id.as_ref().filter(|_| message.parts.len() == 1);
            content.tool_id().into_iter().chain(own).any(|id| is_named(&id.decode()))
                || matches!(content, Content::Reasoning(_))
                    && !ends.is_empty()
                    && message.value().is_some_and(|item| holds_shortened(item, &ends))
        };
        parts_with(messages, has)
    }

    fn messages_by_index<'a>(&self, dialect: &dyn Dialect, transcript: &Transcript<'a>) -> Vec<NamedPlace<'a>> {
        let Some(mention) = &self.answer.mention else { return Vec::new() };
        let is_native = !dialect.provider_rules().log && dialect.name() == self.wire.name();
        let wire = Wire::of(self.wire.pairing_rules().results, &self.wire.provider_rules());
        let requests = readings(transcript, wire, is_native);
        let bases = if mention.from_one { [1, 0] } else { [0, 1] };
        let numbers = bases.into_iter().filter_map(|base| mention.index.checked_sub(base));
        let chosen = numbers.flat_map(|number| requests.iter().filter_map(move |sent| sent.get(number)));
        chosen.map(|sent| NamedPlace { is_certain: is_native, ..NamedPlace::of(sent, mention) }).collect()
    }

    /// The findings at `places`; at the likeliest one, if there is none.
    fn at(self, places: &[NamedPlace<'_>]) -> Diagnosis {
        let exact = places.iter().filter_map(|place| Some((place, range(place.block?))));
        let exact = exact.map(|(_, block)| vec![block]);
        let around = places.iter().map(|place| place.spans.clone());
        for spans in exact.chain(around) {
            let found = self.findings.iter().filter(|finding| finding.is_within(&spans)).cloned().collect::<Vec<_>>();
            if !found.is_empty() {
                return self.found(found, true);
            }
        }
        let Some(place) = places.iter().find(|place| place.value.is_some()) else { return self.searched() };
        // How the messages of a log were sent is not known for certain, and what a rule finds is.
        if !place.is_certain && !self.findings.is_empty() {
            return self.searched();
        }
        match (place.block.or(place.value), self.rule()) {
            (Some(value), Some(rule)) => {
                let lines = LineIndex::new(self.text);
                let message = String::from("the provider names this place");
                let finding = Finding::at_value(rule, &lines, value, message);
                self.found(vec![finding], true)
            }
            _ => self.searched(),
        }
    }

    fn rule(&self) -> Option<&'static Rule> {
        rule_named(self.constraint.rule?).ok()
    }

    /// Everything that the rules found: the answer names no place.
    fn searched(self) -> Diagnosis {
        let about: Vec<Finding> = self.findings.iter().filter(|finding| self.is_about(finding)).cloned().collect();
        let findings = if about.is_empty() { self.findings.clone() } else { about };
        if findings.is_empty() { Diagnosis::Absent(self.constraint) } else { self.found(findings, false) }
    }

    /// Whether a finding is of what the answer is about: the same limit, or a tool that it names.
    fn is_about(&self, finding: &Finding) -> bool {
        self.answer.rows.iter().any(|row| row.rule == Some(finding.rule.code) && row.what == finding.what)
    }

    fn found(&self, findings: Vec<Finding>, is_named: bool) -> Diagnosis {
        let denied = |finding: Finding| Finding { level: Level::Deny, ..finding };
        let findings: Vec<Finding> = findings.into_iter().map(denied).collect();
        let first = findings.first().map(|finding| finding.rule.code);
        let constraint = self.answer.rows.iter().copied().find(|row| row.rule.is_some() && row.rule == first);
        Diagnosis::Found {
            constraint: constraint.unwrap_or(self.constraint),
            findings,
            is_named,
            profile: self.profile,
        }
    }
}

/// A place that an answer names.
struct NamedPlace<'a> {
    /// What to show.
    value: Option<Value<'a>>,
    /// The block inside the message, if it is named.
    block: Option<Value<'a>>,
    /// The bytes that belong to it.
    spans: Vec<Range<usize>>,
    /// Whether it is certain that the provider received it under this number.
    is_certain: bool,
}

impl<'a> NamedPlace<'a> {
    fn of(sent: &Sent<'a>, mention: &Mention) -> Self {
        Self { value: sent.value(), block: sent.block(mention), spans: sent.spans().collect(), is_certain: false }
    }
}

fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

/// Whether `id` begins as the text before the gap ends, and ends as the text after it begins.
fn is_shortened(id: &str, [head, tail]: [&str; 2]) -> bool {
    const LEAST: usize = 3;
    let ends = |least: usize| id.get(..least).is_some_and(|begin| head.ends_with(begin));
    let begins = |least: usize| id.get(id.len().saturating_sub(least)..).is_some_and(|end| tail.starts_with(end));
    (LEAST..=id.len().min(12)).any(ends) && (LEAST..=id.len().min(12)).any(begins)
}

/// Whether a string of `item` is shortened to one of `ends`.
fn holds_shortened(item: Value<'_>, ends: &[[&str; 2]]) -> bool {
    let mut strings = item.members().filter_map(|member| member.value.text());
    strings.any(|text| ends.iter().any(|ends| is_shortened(&text.decode(), *ends)))
}
