//! Where in a text the fault is that an answer means: the rules say what is wrong, and the answer where to look.

use std::collections::HashSet;
use std::ops::Range;

use super::diagnosis::Diagnosis;
use super::naming::Naming;
use super::request::{NamedPlace, Wire, parts_with, range, requests};
use crate::checks::{
    Constraint, Finding, Inspection, Level, Levels, LineIndex, Profile, Rule, Table, Verdicts, readable, rule_named,
};
use crate::dialects::media::{Medium, media};
use crate::dialects::{ALL, Dialect, ReadError, Reading, dialect_named};
use crate::json::Value;
use crate::transcript::{Content, Message, ProviderRules, Role, Transcript, Turns};

/// A search in one text.
pub(super) struct Search<'s> {
    /// The rows of the table whose words the answer contains; none, if nobody has described it.
    rows: &'s [&'static Constraint],
    /// The first of them that has a rule.
    constraint: Option<&'static Constraint>,
    naming: &'s Naming,
    /// Who answered.
    provider: &'static str,
    /// The format that the provider accepts.
    wire: &'static dyn Dialect,
    subject: Subject,
    text: &'s str,
}

/// How the text is read, and what of it.
struct Subject {
    reading: Reading,
    /// The provider that the format of the first transcript is for.
    own: Option<&'static str>,
    /// How many items and parts are of no known type; `None` if the text cannot be read.
    unknown: Option<usize>,
}

impl<'s> Search<'s> {
    pub(super) fn new(rows: &'s [&'static Constraint], naming: &'s Naming, reading: &Reading, text: &'s str) -> Self {
        // Who sells the models of another repeats its words: the format of the transcript says who answered.
        let subject = Subject::read(reading.clone(), text);
        let own = subject.own;
        let mut described = rows.iter().copied().filter(|row| row.rule.is_some());
        let native = described.clone().find(|row| own == Some(row.provider));
        let constraint = native.or_else(|| described.next());
        let provider = match (constraint, naming.message.as_ref().map(|mention| mention.list)) {
            (Some(row), _) => row.provider,
            (None, Some("contents")) => "gemini",
            (None, Some("input")) => "responses",
            (None, _) => own.unwrap_or_default(),
        };
        let wire = wire_of(provider);
        Self {
            rows,
            constraint,
            naming,
            provider,
            wire,
            subject: subject.settled(wire, constraint.is_some(), text),
            text,
        }
    }

    /// Finds the faults of the text, and those of them that the answer means. `None` if nobody has described the answer, and it
    /// names no fault.
    pub(super) fn run(&self) -> Result<Option<Diagnosis>, ReadError> {
        let findings = self.findings()?;
        let places = self.named_places()?;
        let at_places = self.at_places(&places, &findings);
        Ok(at_places.or_else(|| self.constraint.map(|_| self.anywhere(&findings))))
    }

    /// What the rules that the answer may mean find. What the answer demands applies, whether or not the format demands it.
    fn findings(&self) -> Result<Vec<Finding>, ReadError> {
        let profile = Profile::of_dialect(self.wire);
        let rules = profile.provider_rules;
        let provider_rules = ProviderRules {
            provider: self.provider,
            turns: if self.means("T003") { Turns::Alternate } else { rules.turns },
            first_speaker: if self.means("T002") { Some(Role::User) } else { rules.first_speaker },
            system_anywhere: rules.system_anywhere && !self.means("T005"),
            ..rules
        };
        let profile = Some(Profile { provider_rules, ..profile });
        let refused_above = self.naming.limit.filter(|_| self.rows.iter().any(|row| row.what == "number of images"));
        let inspection = Inspection { profile, live: true, is_refused: true, refused_above, ..Inspection::default() };
        let all = Table { deny: vec![String::from("all")], ..Table::default() };
        let verdicts = Levels::new(&all, &Table::default()).unwrap_or_default().for_path("");
        let mut findings = inspection.examine(&self.subject.reading, &verdicts, self.text)?.findings;
        findings.retain(|finding| self.means(finding.rule.code) || self.rows.is_empty() && self.may_be_meant(finding));
        let alone = if findings.is_empty() { HashSet::new() } else { self.found_alone(&verdicts, false)? };
        let mut others = findings.iter_mut().filter(|finding| !alone.contains(&place_of(finding))).peekable();
        let refused = if others.peek().is_none() { HashSet::new() } else { self.found_alone(&verdicts, true)? };
        for finding in others {
            match refused.contains(&place_of(finding)) {
                true => finding.only_refused = true,
                false => *finding = finding.clone().not_fixed(),
            }
        }
        if self.rows.is_empty() {
            // What is refused everywhere says more than what only some refuse.
            findings.sort_by_key(|finding| std::cmp::Reverse(finding.rule.level));
        }
        Ok(findings)
    }

    /// The places of what the rules find without the answer, so that `--fix` can mend it.
    fn found_alone(&self, verdicts: &Verdicts, is_refused: bool) -> Result<HashSet<(&'static str, usize)>, ReadError> {
        let is_other = self.subject.own != Some(self.provider);
        let profile = if is_other { Profile::of_provider(self.provider) } else { None };
        let inspection = Inspection { profile, is_refused, ..Inspection::default() };
        Ok(inspection.examine(&self.subject.reading, verdicts, self.text)?.findings.iter().map(place_of).collect())
    }

    /// Whether an answer that nobody has described can mean `finding`: what few refuse is meant only if it is named.
    fn may_be_meant(&self, finding: &Finding) -> bool {
        finding.rule.level > Level::Allow || self.names_member_of(finding)
    }

    /// Whether the answer is one that the rule with this code explains.
    fn means(&self, code: &str) -> bool {
        self.rows.iter().any(|row| row.rule == Some(code))
    }

    /// The places that the answer names, the likeliest reading first.
    fn named_places(&self) -> Result<Vec<Place>, ReadError> {
        let reading = &self.subject.reading;
        let Some(readable) = readable(reading, self.text) else { return Ok(Vec::new()) };
        let Ok(document) = reading.parse(&readable) else { return Ok(Vec::new()) };
        for (dialect, mut transcript) in reading.transcripts_or_none(&document)? {
            transcript.keep_live();
            let places = self.places_in(dialect, &transcript);
            if !places.is_empty() {
                let lines = LineIndex::new(self.text);
                let rule = self.rule();
                return Ok(places.iter().map(|place| Place::of(place, rule, &lines)).collect());
            }
        }
        Ok(Vec::new())
    }

    /// An id says more than a number, unless several parts have it; a role only matters where there is neither.
    fn places_in<'a>(&self, dialect: &dyn Dialect, transcript: &Transcript<'a>) -> Vec<NamedPlace<'a>> {
        let by_id = self.parts_by_id(&transcript.messages);
        let by_index = self.messages_by_index(dialect, transcript);
        let mut places = Vec::new();
        if !by_id.is_empty() {
            places.push(NamedPlace::of_parts(&by_id, &by_index));
        }
        places.extend(by_index);
        if places.is_empty() && self.means("S002") {
            places.extend(self.messages_by_role(transcript));
        }
        places
    }

    fn parts_by_id<'a>(&self, messages: &[Message<'a>]) -> Vec<Value<'a>> {
        parts_with(messages, |message, part| {
            let content = &part.content;
            let own = message.id.as_ref().filter(|_| message.parts.len() == 1);
            content.tool_id().into_iter().chain(own).any(|id| self.naming.has_id(&id.decode()))
                || content.reasoning().is_some() && message.value().is_some_and(|item| self.shortens_text_of(item))
                || self.means("S022") && media(part).iter().any(|medium| self.names_type_of(medium))
        })
    }

    /// Whether the answer has a text of an item with a gap, such as sealed reasoning.
    fn shortens_text_of(&self, item: Value<'_>) -> bool {
        let mut texts = item.get("payload").unwrap_or(item).members().filter_map(|member| member.value.text());
        texts.any(|text| self.naming.has_shortened(&text.decode()))
    }

    /// Whether the answer names the type of a medium, such as `image/bmp`.
    fn names_type_of(&self, medium: &Medium<'_>) -> bool {
        medium.named_type().is_some_and(|named| named.contains('/') && self.naming.has_id(&named))
    }

    fn messages_by_index<'a>(&self, dialect: &dyn Dialect, transcript: &Transcript<'a>) -> Vec<NamedPlace<'a>> {
        let Some(mention) = &self.naming.message else { return Vec::new() };
        let is_native = !dialect.provider_rules().log && dialect.name() == self.wire.name();
        let wire = Wire::of(self.wire.pairing_rules().results, &self.wire.provider_rules());
        let requests = requests(transcript, wire, is_native);
        let bases = if mention.from_one { [1, 0] } else { [0, 1] };
        let numbers = bases.into_iter().filter_map(|base| mention.index.checked_sub(base));
        let chosen = numbers.flat_map(|number| requests.iter().filter_map(move |request| request.get(number)));
        chosen.map(|sent| NamedPlace::of_sent(sent, mention, is_native)).collect()
    }

    /// The messages whose role the answer refuses.
    fn messages_by_role<'a>(&self, transcript: &Transcript<'a>) -> Vec<NamedPlace<'a>> {
        let refused = transcript.layout.elements.iter().copied().filter(|item| {
            let role = item.get_text("role");
            role.is_some_and(|role| self.naming.refuses_role(&role.decode()))
        });
        refused.map(NamedPlace::of_item).collect()
    }

    /// The faults at `places`; at the likeliest one, if there is none. `None` if they say nothing.
    fn at_places(&self, places: &[Place], findings: &[Finding]) -> Option<Diagnosis> {
        // Of an answer that nobody has described, only the likeliest reading says enough.
        let places = if self.rows.is_empty() { &places[..places.len().min(1)] } else { places };
        let exact = places.iter().filter_map(|place| place.block.as_ref()).map(std::slice::from_ref);
        let around = places.iter().map(|place| place.spans.as_slice());
        let at = exact.chain(around).map(|spans| findings.iter().filter(|found| found.is_within(spans)).collect());
        if let Some(found) = at.into_iter().find(|found: &Vec<&Finding>| !found.is_empty()) {
            return self.found(self.about_members(self.likeliest(found)), true);
        }
        // Rules find every broken pair: without a finding, it was mended since, or the number is that of the message beside it.
        // Ids belong to other items as well.
        self.constraint?;
        let is_pair = self.rows.iter().any(|row| row.rule.is_some_and(|code| code.starts_with('P') && code != "P009"));
        let place = places.iter().find(|place| place.shown.is_some()).filter(|_| !is_pair)?;
        // How the messages of a log were sent is not known for certain, and what a rule finds is.
        let is_doubtful = !place.is_certain && !findings.is_empty();
        place.shown.clone().filter(|_| !is_doubtful).map(Diagnosis::Named)
    }

    /// Of members that a provider does not know, those that the answer names.
    fn about_members<'f>(&self, found: Vec<&'f Finding>) -> Vec<&'f Finding> {
        let named: Vec<&Finding> = found.iter().copied().filter(|finding| self.names_member_of(finding)).collect();
        if named.is_empty() { found } else { named }
    }

    /// Whether the answer names the member that a finding is about.
    fn names_member_of(&self, finding: &Finding) -> bool {
        // The finding is at the member.
        let key = finding.at.pointer.as_deref().and_then(|pointer| pointer.rsplit('/').next());
        let key = key.filter(|_| finding.what == "members");
        key.is_some_and(|key| self.naming.has_member(&key.replace("~1", "/").replace("~0", "~")))
    }

    /// What an answer means that nobody has described: the faults at its place that more providers refuse than any other.
    fn likeliest<'f>(&self, mut found: Vec<&'f Finding>) -> Vec<&'f Finding> {
        let level = found.first().map(|finding| finding.rule.level).filter(|_| self.rows.is_empty());
        found.retain(|finding| level.is_none_or(|level| finding.rule.level == level));
        found
    }

    /// Everything that the rules find: the answer names no place.
    fn anywhere(&self, findings: &[Finding]) -> Diagnosis {
        let about = findings.iter().filter(|finding| {
            self.rows.iter().any(|row| row.rule == Some(finding.rule.code) && row.what == finding.what)
        });
        let about: Vec<&Finding> = about.collect();
        let meant = if about.is_empty() { findings.iter().collect() } else { about };
        let described = self.rows.iter().copied().filter(|row| row.rule.is_some());
        self.found(self.about_members(meant), false).unwrap_or_else(|| Diagnosis::Absent(described.collect()))
    }

    /// `None` if there are no findings.
    fn found(&self, findings: Vec<&Finding>, is_named: bool) -> Option<Diagnosis> {
        let findings = findings.into_iter().map(|finding| Finding { level: Level::Deny, ..finding.clone() });
        let findings: Vec<Finding> = findings.collect();
        let rule = findings.first()?.rule;
        let described = self.rows.iter().copied().find(|row| row.rule == Some(rule.code));
        let constraint = described.or(self.constraint).or_else(|| rule.constraints().next());
        // The transcript may not be in the form of the provider.
        let profile = self.subject.own.filter(|own| *own != self.provider).map(|_| self.provider);
        Some(Diagnosis::Found { constraint: constraint?, findings, is_named, profile })
    }

    fn rule(&self) -> Option<&'static Rule> {
        rule_named(self.constraint?.rule?).ok()
    }
}

impl Subject {
    fn read(reading: Reading, text: &str) -> Self {
        let (own, unknown) = facts_of(&reading, text).unwrap_or_default();
        Self { reading, own, unknown }
    }

    /// The text in the dialect of the provider, if it is all in it and not all in the one that was detected.
    fn settled(self, wire: &'static dyn Dialect, is_described: bool, text: &str) -> Self {
        if self.reading.named || self.unknown == Some(0) {
            return self;
        }
        let as_wire = Self::read(Reading { dialect: Some(wire), named: true, ..self.reading.clone() }, text);
        // What cannot be detected, as a block of another provider among the messages, is what the provider was sent.
        let fits = match as_wire.unknown {
            Some(0) => true,
            Some(_) => self.unknown.is_none() && is_described,
            None => false,
        };
        if fits { as_wire } else { self }
    }
}

/// The provider that the first transcript of `text` is for, and how many of its items and parts are of no known type.
fn facts_of(reading: &Reading, text: &str) -> Option<(Option<&'static str>, Option<usize>)> {
    let document = reading.parse(text).ok()?;
    let transcripts = reading.transcripts_or_none(&document).ok()?;
    let own = transcripts.first().map(|(dialect, _)| dialect.provider_rules().provider);
    let unknown = transcripts.iter().map(|(_, transcript)| {
        let items = transcript.layout.non_messages.iter().filter(|item| item.unknown.is_some()).count();
        let parts = transcript.messages.iter().flat_map(|message| &message.parts);
        items + parts.filter(|part| matches!(part.content, Content::Unknown(_))).count()
    });
    Some((own, Some(unknown.sum())))
}

/// A place that an answer names, in bytes of the text.
struct Place {
    /// The finding that only says where it is.
    shown: Option<Finding>,
    /// The block inside the message, if it is named.
    block: Option<Range<usize>>,
    /// The bytes that belong to it.
    spans: Vec<Range<usize>>,
    /// Whether it is certain that the provider received it under this number.
    is_certain: bool,
}

impl Place {
    fn of(place: &NamedPlace<'_>, rule: Option<&'static Rule>, lines: &LineIndex<'_>) -> Self {
        let message = "the provider names this place, where no rule finds the fault";
        let shown = place.block.or(place.value).zip(rule);
        Self {
            shown: shown.map(|(value, rule)| Finding::at_value(rule, lines, value, String::from(message))),
            block: place.block.map(range),
            spans: place.spans.clone(),
            is_certain: place.is_certain,
        }
    }
}

/// The rule of a finding, and where it is.
const fn place_of(finding: &Finding) -> (&'static str, usize) {
    (finding.rule.code, finding.at.offset)
}

/// The format that a provider accepts; that of OpenAI, if it has none of its own.
fn wire_of(provider: &str) -> &'static dyn Dialect {
    let mut accepted = [provider, "openai"].into_iter().filter_map(dialect_named);
    accepted.find(|dialect| !dialect.is_log()).unwrap_or(ALL[0])
}
