//! Drops tool calls with their results, all or by tool name.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use foldhash::{HashMap, HashSet};

use super::name_globs::NameGlobs;
use super::{Decision, DropSet, Insert, Insertion, Plan, Processor, ProcessorError, Reason, Traits, View};
use crate::numbers::number_of;
use crate::transcript::{Draft, Fault, FaultKind, Message, Pairs, PartRef, Role, in_flight, last_rounds};

/// The tools whose calls and results are dropped.
#[derive(Debug, Clone, Default)]
pub enum ToolGlobs {
    /// All tools.
    #[default]
    All,
    /// Tools whose name matches.
    Exclude(NameGlobs),
    /// Tools whose name does not match.
    Include(NameGlobs),
}

impl ToolGlobs {
    const fn names(&self) -> Option<&NameGlobs> {
        match self {
            Self::All => None,
            Self::Exclude(names) | Self::Include(names) => Some(names),
        }
    }

    fn drops(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Exclude(names) => names.is_match(name),
            Self::Include(names) => !names.is_match(name),
        }
    }
}

/// Drops the calls of the tools that `tools` selects, with their results.
#[derive(Debug, Clone, Default)]
pub struct ToolFilter {
    /// The tools to drop; all by default.
    pub tools: ToolGlobs,
    /// Whether a note such as `Used search tool` replaces dropped calls.
    pub persist_results: bool,
    /// Counts the dropped calls, which a remark then tells: for a user who did not say what to drop.
    pub dropped: Option<Arc<AtomicUsize>>,
}

impl Processor for ToolFilter {
    fn name(&self) -> &'static str {
        "filter"
    }

    fn traits(&self) -> Traits {
        let may_empty = !matches!(self.tools, ToolGlobs::All);
        Traits { writes: self.persist_results, may_empty, ..Traits::default() }
    }

    fn remarks(&self) -> Vec<String> {
        let dropped = self.dropped.as_ref().map(|dropped| number_of(dropped.load(Ordering::Relaxed), "call"));
        let dropped =
            dropped.map(|calls| format!("dropped all tool calls: {calls}; -x GLOB drops those of some tools"));
        dropped.into_iter().chain(self.tools.names().into_iter().flat_map(NameGlobs::remarks)).collect()
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        let pairs = Pairs::from_messages(view.messages);
        if let Some(names) = self.tools.names() {
            names.see(pairs.tool_names(view.messages));
        }
        let mut drops = DropSet::none(view, &pairs);
        let mut used: Vec<Vec<String>> = vec![Vec::new(); view.messages.len()];
        let mut known: HashSet<(usize, Cow<'_, str>)> = HashSet::default();
        for &call in pairs.calls() {
            let Some(content) = call.part_in(view.messages).content.call() else { continue };
            let name = content.name.decode();
            if self.tools.drops(&name) {
                drops.drop_part(call, Reason::Owned(format!("calls tool \"{name}\"")));
                // A call whose answer can still come stays.
                if drops.is_part_gone(call) && known.insert((call.message, name.clone())) {
                    used[call.message].push(name.into_owned());
                }
            }
        }
        for &result in pairs.results() {
            self.drop_unpaired(view, &pairs, result, &mut drops);
        }
        drop_stranded(view, &pairs, &mut drops);
        if let Some(dropped) = &self.dropped {
            let calls = pairs.calls().iter().filter(|call| drops.is_part_gone(**call));
            dropped.fetch_add(calls.count(), Ordering::Relaxed);
        }
        let mut plan = drops.into_plan();
        if self.persist_results {
            insert_notes(view, &pairs, &used, &mut plan);
        }
        Ok(plan)
    }
}

impl ToolFilter {
    /// A result without a call is selected by its own tool name; without a name it is dropped only with all tools.
    fn drop_unpaired(&self, view: &View<'_, '_>, pairs: &Pairs, result: PartRef, drops: &mut DropSet<'_, '_>) {
        let content = result.part_in(view.messages).content.result();
        let (None, Some(content)) = (pairs.counterpart(result), content) else { return };
        let is_dropped = match &content.name {
            Some(name) => self.tools.drops(&name.decode()),
            None => matches!(self.tools, ToolGlobs::All),
        };
        if is_dropped {
            drops.drop_part(result, Reason::Borrowed("result of a filtered tool"));
        }
    }
}

/// Drops pending calls whose round ends because other calls of it are dropped: no result can follow them any more.
///
/// ```text
/// 1 assistant calls a (pending)   2 assistant "One moment", calls b   3 result of b
/// ```
///
/// Nothing but calls and results follows `a`, so `a` may still be answered. Without `b`, message 2 is text alone: the round
/// ends before it, and `a` would be an unanswered call. Each drop can strand further calls, so the loop repeats until none is.
fn drop_stranded(view: &View<'_, '_>, pairs: &Pairs, drops: &mut DropSet<'_, '_>) {
    const STRANDED: Reason = Reason::Borrowed("pending call whose round ended with the dropped calls");
    let View { messages, rules, .. } = *view;
    let mut faults = Fault::find_every(messages, pairs, rules.pairing);
    faults.retain(|fault| fault.kind == FaultKind::PendingCall);
    let mut pending: Vec<PartRef> = faults.into_iter().map(|fault| fault.at).collect();
    pending.retain(|call| !messages[call.message].standing.is_rolled_back());
    loop {
        pending.retain(|call| !drops.is_part_gone(*call));
        let rounds = last_rounds(
            messages,
            pending.iter().map(|call| messages[call.message].thread),
            |message| !message.standing.is_rolled_back(),
            rules.pairing,
            |part| !drops.is_part_gone(part),
        );
        let stranded = pending.extract_if(.., |call| {
            rounds.get(&messages[call.message].thread).is_none_or(|round| *round > call.message)
        });
        let stranded: Vec<PartRef> = stranded.collect();
        if stranded.is_empty() {
            return;
        }
        for call in stranded {
            drops.drop_part(call, STRANDED);
        }
    }
}

/// Writes `Used … tool` where calls of a reply are dropped: before a reply that keeps other calls, in place of its first
/// message that is dropped, or after one that keeps only its text. So no result is separated from its call, and pending calls
/// stay last.
fn insert_notes(view: &View<'_, '_>, pairs: &Pairs, used: &[Vec<String>], plan: &mut Plan) {
    let cuts = plan.cuts();
    let pending = first_pending(view, pairs, plan, &cuts);
    for reply in replies(view.messages) {
        let mut names: Vec<&String> = Vec::new();
        for name in reply.iter().flat_map(|&at| &used[at]) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let Some(&first) = reply.iter().find(|&&at| !used[at].is_empty()) else { continue };
        let draft = Draft::tools_used(&joined(&names), names.len());
        let reason = Reason::Owned(format!("note about dropped calls of {}", joined(&names)));
        let mut calls =
            reply.iter().flat_map(|&at| view.messages[at].calls().map(move |(part, _)| PartRef { message: at, part }));
        let keeps_calls = calls.any(|call| keeps(plan, &cuts, call));
        let (about, before) = match &plan.decisions[first] {
            _ if keeps_calls => (reply[0], reply[0]),
            Decision::Drop(_) if first <= pending => {
                plan.decisions[first] = Decision::Replace(Box::new(draft), reason);
                continue;
            }
            Decision::Drop(_) => (first, first),
            _ => (first, first + 1),
        };
        let before = before.min(pending);
        plan.inserts.push(Insert { before, insertion: Insertion::Note(about.min(before), draft), reason });
    }
    plan.inserts.sort_by_key(|insert| insert.before);
}

/// Whether `plan`, which cuts these parts, keeps a call.
fn keeps(plan: &Plan, cuts: &HashSet<PartRef>, call: PartRef) -> bool {
    !matches!(plan.decisions[call.message], Decision::Drop(_) | Decision::Replace(..)) && !cuts.contains(&call)
}

/// The replies of the model: each message of the assistant, with those that follow it under the same id. Only results and other
/// conversations may be between them.
fn replies(messages: &[Message<'_>]) -> Vec<Vec<usize>> {
    let mut replies: Vec<Vec<usize>> = Vec::new();
    let mut open: HashMap<u32, usize> = HashMap::default();
    for (at, message) in messages.iter().enumerate() {
        if message.role == Role::Assistant {
            let reply = open.get(&message.thread).map(|&nth| &mut replies[nth]);
            match reply.filter(|reply| message.id.is_some() && messages[reply[0]].id == message.id) {
                Some(reply) => reply.push(at),
                None => {
                    open.insert(message.thread, replies.len());
                    replies.push(vec![at]);
                }
            }
        } else if message.results().next().is_none() {
            open.remove(&message.thread);
        }
    }
    replies
}

/// The first in-flight message that keeps a call without a result; the number of messages if there is none.
fn first_pending(view: &View<'_, '_>, pairs: &Pairs, plan: &Plan, cuts: &HashSet<PartRef>) -> usize {
    let flight = in_flight(view.messages);
    let mut open = pairs.calls().iter().filter(|call| call.message >= flight && pairs.counterpart(**call).is_none());
    open.find(|call| keeps(plan, cuts, **call)).map_or(view.messages.len(), |call| call.message)
}

fn joined(names: &[&String]) -> String {
    names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ")
}
