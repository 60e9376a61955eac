//! The facts of a side: what a model that reads it knows, by kind, each with its words and its place.

use foldhash::{HashMap, HashSet, HashSetExt as _};

use super::Side;
use super::identifiers::Identifiers;
use super::statements::Statements;
use super::told::Told;
use super::voices::{Spoken, digest, digest_of_text, each_spoken, read_messages};
use super::work;
use curtail_core::transcript::PartRef;

/// What kind of fact it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A standing rule: an instruction that says always, never, must.
    Rule,
    /// What the user wants now.
    Task,
    /// The last instruction of the user.
    Instruction,
    /// What is to be done.
    Todo,
    /// A file that was changed, created, removed or read.
    File,
    /// A command that was run or is to be run.
    Command,
    /// A check, with its last outcome.
    Check,
    /// An error that is not resolved.
    Error,
    /// A decision.
    Decision,
    /// A path, a symbol, a number, a hash, a URL, a port or a version.
    Identifier,
}

impl Kind {
    /// Every kind, in the order in which they are reported.
    pub const ALL: [Self; 10] = [
        Self::Rule,
        Self::Task,
        Self::Instruction,
        Self::Todo,
        Self::File,
        Self::Command,
        Self::Check,
        Self::Error,
        Self::Decision,
        Self::Identifier,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Task => "task",
            Self::Instruction => "instruction",
            Self::Todo => "todo",
            Self::File => "file",
            Self::Command => "command",
            Self::Check => "check",
            Self::Error => "error",
            Self::Decision => "decision",
            Self::Identifier => "identifier",
        }
    }

    /// Its name for several.
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Rule => "rules",
            Self::Task => "task",
            Self::Instruction => "last instruction",
            Self::Todo => "open to-dos",
            Self::File => "files",
            Self::Command => "commands",
            Self::Check => "checks",
            Self::Error => "open errors",
            Self::Decision => "decisions",
            Self::Identifier => "identifiers",
        }
    }
}

/// The state of a fact that has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// A check passed.
    Passed,
    /// A check failed.
    Failed,
    /// A to-do, or an error, is open.
    Open,
    /// A to-do is done.
    Done,
    /// An error is resolved.
    Resolved,
    /// A file was changed or created.
    Changed,
    /// A file was removed.
    Removed,
    /// A file got another name.
    Renamed,
    /// A file was only read.
    Read,
}

impl State {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Open => "open",
            Self::Done => "done",
            Self::Resolved => "resolved",
            Self::Changed => "changed",
            Self::Removed => "removed",
            Self::Renamed => "renamed",
            Self::Read => "read",
        }
    }
}

/// A fact of a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Its kind.
    pub kind: Kind,
    /// Its words, as the transcript has them.
    pub text: String,
    /// Its state, if it has one.
    pub state: Option<State>,
    /// Index of the message that says it last; `None` outside of the messages.
    pub message: Option<usize>,
    /// Whether somebody who goes on needs it.
    pub important: bool,
    /// Whether a later message overtook it, so that it cannot be lost.
    pub overtaken: bool,
    /// How much it is needed: the larger, the more.
    pub need: u32,
    /// Digests of the messages that say it.
    pub(super) sources: Vec<u64>,
    /// The targets of a check.
    pub(super) targets: Vec<String>,
}

impl Fact {
    pub(super) fn new(kind: Kind, text: impl Into<String>, message: Option<usize>) -> Self {
        Self {
            kind,
            text: text.into(),
            state: None,
            message,
            important: true,
            overtaken: false,
            need: 0,
            sources: Vec::new(),
            targets: Vec::new(),
        }
    }

    /// Its words, with its state if it has one.
    pub fn described(&self) -> String {
        self.state.map_or_else(|| self.text.clone(), |state| format!("{}: {}", self.text, state.name()))
    }

    pub(super) fn in_state(self, state: State) -> Self {
        Self { state: Some(state), ..self }
    }

    /// With another rank among the kinds.
    pub(super) fn ranked(self, need: u32) -> Self {
        Self { need, ..self }
    }

    pub(super) fn overtaken(self) -> Self {
        Self { overtaken: true, ..self }
    }

    pub(super) fn important_if(self, important: bool) -> Self {
        Self { important, ..self }
    }
}

/// The facts of a side.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// The facts, by kind and in the order of the messages.
    pub(super) facts: Vec<Fact>,
    /// How many names were printed and not used.
    pub(super) printed: usize,
}

/// The facts of `side`.
pub(super) fn facts_of(side: &Side<'_, '_>) -> Facts {
    let by_message: HashMap<usize, u64> = read_messages(side).map(|(at, message)| (at, digest(message))).collect();
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
    let last = side.messages.len().max(1);
    for fact in &mut facts {
        fact.sources = sources(side, fact, &by_message);
        fact.need = need(fact, last);
    }
    facts.sort_by_key(|fact| (fact.kind, fact.message));
    Facts { facts, printed }
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

/// The digests of the messages that say a fact: its own, and those of the results of its calls.
fn sources(side: &Side<'_, '_>, fact: &Fact, digests: &HashMap<usize, u64>) -> Vec<u64> {
    let Some(at) = fact.message else { return side.outside.iter().map(|text| digest_of_text(text)).collect() };
    let mut sources: Vec<u64> = digests.get(&at).copied().into_iter().collect();
    let is_outcome = matches!(fact.kind, Kind::Check | Kind::Error | Kind::Todo | Kind::File);
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
