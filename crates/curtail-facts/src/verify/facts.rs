//! The facts of a side: what a model that reads it knows, by kind, each with its words and its place.

use foldhash::{HashMap, HashSet, HashSetExt as _};

use super::Side;
use super::digests::digest;
use super::fact::{Fact, Kind, State};
use super::fact_grammars::find_grammars;
use super::identifiers::Identifiers;
use super::statements::Statements;
use super::told::Told;
use super::voices::{Spoken, each_spoken, read_messages};
use super::work;
use crate::references;
use curtail_core::transcript::PartRef;

/// The facts of a side.
#[derive(Debug, Default)]
pub(super) struct SideFacts {
    /// The facts, by kind and in the order of the messages.
    pub(super) facts: Vec<Fact>,
    /// How many names were printed and not used.
    pub(super) printed: usize,
}

/// The facts of `side`.
pub(super) fn facts_of(side: &Side<'_, '_>) -> SideFacts {
    let by_message: HashMap<usize, u64> = read_messages(side).map(|(at, message)| (at, digest(message))).collect();
    let outside: Vec<u64> = side.outside.iter().map(|text| references::digest(text)).collect();
    let mut statements = Statements::default();
    let mut identifiers = Identifiers::default();
    let mut told = Told::default();
    each_spoken(side, &mut |spoken: &Spoken| {
        statements.hear(spoken);
        identifiers.hear(spoken);
        told.hear(spoken);
    });
    let mut facts = statements.finish();
    facts.extend(work::facts(side));
    facts.extend(told.finish());
    let files: HashSet<String> =
        facts.iter().filter(|fact| fact.kind == Kind::File).map(|fact| fact.text.clone()).collect();
    let printed = identifiers.printed();
    facts.extend(identifiers.finish(&files));
    distinct(&mut facts);
    find_grammars([&mut facts]);
    let last = side.messages.len().max(1);
    for fact in &mut facts {
        fact.sources = fact.message.map_or_else(|| outside.clone(), |at| sources(side, fact.kind, at, &by_message));
        fact.need = need(fact, last);
    }
    facts.sort_by_key(|fact| (fact.kind, fact.message));
    SideFacts { facts, printed }
}

/// Leaves out a fact that is there twice: the last one stays.
fn distinct(facts: &mut Vec<Fact>) {
    let mut seen = HashSet::new();
    facts.reverse();
    facts.retain(|fact| seen.insert((fact.kind, fact.text.to_lowercase(), fact.state, fact.overtaken)));
    // What still holds somewhere is not overtaken in the same state.
    let holds: HashSet<(Kind, String, Option<State>)> = facts
        .iter()
        .filter(|fact| !fact.overtaken)
        .map(|fact| (fact.kind, fact.text.to_lowercase(), fact.state))
        .collect();
    facts.retain(|fact| !fact.overtaken || !holds.contains(&(fact.kind, fact.text.to_lowercase(), fact.state)));
    facts.reverse();
}

/// The digests of the messages that say a fact: the one at `at`, and those of the results of its calls.
fn sources(side: &Side<'_, '_>, kind: Kind, at: usize, digests: &HashMap<usize, u64>) -> Vec<u64> {
    let mut sources: Vec<u64> = digests.get(&at).copied().into_iter().collect();
    let is_outcome = matches!(kind, Kind::Check | Kind::Error | Kind::Todo | Kind::File);
    for (part, _) in side.messages[at].calls().filter(|_| is_outcome) {
        let result = side.pairs.counterpart(PartRef { message: at, part });
        sources.extend(result.and_then(|result| digests.get(&result.message)));
    }
    sources
}

/// How much a fact is needed: by its rank first, which is that of its kind and state unless it has its own, then by how late it
/// was said. Of what real sessions lost, the model came back to commands and to failed checks first, and to names last.
fn need(fact: &Fact, messages: usize) -> u32 {
    let kind = match (fact.kind, fact.state) {
        _ if fact.need > 0 => fact.need,
        (Kind::Task, _) => 100,
        (Kind::Instruction, _) => 98,
        (Kind::Rule, _) => 95,
        (Kind::Check, Some(State::Failed)) => 90,
        (Kind::Todo, _) => 85,
        // An error that nobody came back to for long is seldom needed.
        (Kind::Error, _) if fact.message.is_some_and(|at| at < messages / 2) => 55,
        (Kind::Error, _) => 80,
        (Kind::Command, _) => 78,
        (Kind::Check, _) => 75,
        (Kind::Decision, _) => 70,
        (Kind::File, _) => 60,
        (Kind::Identifier, _) => 40,
    };
    let late = fact.message.map_or(0, |at| (at + 1) * 900 / messages);
    kind * 1000 + u32::try_from(late.min(999)).unwrap_or(0)
}
