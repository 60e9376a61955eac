//! Tool calls and results go, all or by name, and may leave a note.

use globset::{Glob, GlobSet, GlobSetBuilder};

use std::collections::{BTreeMap, BTreeSet};

use super::planning::DropSet;
use super::{Change, Decision, Insert, Insertion, Plan, Processor, Reason, View};
use crate::transcript::{Draft, Pairs, PartRef, Role, in_flight, last_round};

/// Which tools go.
#[derive(Debug, Clone)]
pub enum ToolGlobs {
    /// All of them.
    All,
    /// Those whose name matches.
    Exclude(GlobSet),
    /// Those whose name does not match.
    Include(GlobSet),
}

impl ToolGlobs {
    /// Compiles patterns in the syntax of globs: `*`, `?`, `[…]`, `{a,b}`.
    ///
    /// # Errors
    /// The words of the pattern compiler for a pattern that is none.
    pub fn compile(patterns: &[String]) -> Result<GlobSet, String> {
        let mut set = GlobSetBuilder::new();
        for pattern in patterns {
            set.add(Glob::new(pattern).map_err(|error| error.to_string())?);
        }
        set.build().map_err(|error| error.to_string())
    }

    fn goes(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Exclude(names) => names.is_match(name),
            Self::Include(names) => !names.is_match(name),
        }
    }
}

/// Drops the calls of the tools that `tools` names, with their results.
#[derive(Debug, Clone)]
pub struct ToolFilter {
    /// Which tools go.
    pub tools: ToolGlobs,
    /// Whether an assistant text says which tools were used where calls were dropped.
    pub persist_results: bool,
}

impl Processor for ToolFilter {
    fn name(&self) -> &'static str {
        "filter"
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, String> {
        let pairs = Pairs::find(view.messages);
        let mut drops = DropSet::none(view, &pairs);
        let mut used: Vec<Vec<String>> = vec![Vec::new(); view.messages.len()];
        for &call in pairs.calls() {
            let Some(content) = view.messages[call.message].parts[call.part].content.call() else { continue };
            let name = content.name.decode();
            if self.tools.goes(&name) {
                drops.drop_part(call, Reason::Owned(format!("calls tool {name}")));
                if !used[call.message].iter().any(|known| *known == name) {
                    used[call.message].push(name.into_owned());
                }
            }
        }
        for &result in pairs.results() {
            self.drop_lonely(view, &pairs, result, &mut drops);
        }
        drop_stranded(view, &pairs, &mut drops);
        let mut plan = drops.into_plan();
        if self.persist_results {
            leave_notes(view, &pairs, &used, &mut plan);
        }
        Ok(plan)
    }
}

impl ToolFilter {
    /// A result without a call goes by the name it has itself; without one only where all tools go.
    fn drop_lonely(&self, view: &View<'_, '_>, pairs: &Pairs, result: PartRef, drops: &mut DropSet<'_, '_>) {
        let content = view.messages[result.message].parts[result.part].content.result();
        let (None, Some(content)) = (pairs.other_half(result), content) else { return };
        let goes = match &content.name {
            Some(name) => self.tools.goes(&name.decode()),
            None => matches!(self.tools, ToolGlobs::All),
        };
        if goes {
            drops.drop_part(result, Reason::Borrowed("answers a tool that was filtered"));
        }
    }
}

/// Drops the pending calls whose round is over without the calls that left: nobody waits for their results any more.
fn drop_stranded(view: &View<'_, '_>, pairs: &Pairs, drops: &mut DropSet<'_, '_>) {
    const STRANDED: Reason = Reason::Borrowed("its round is over without the calls that left");
    let thread = |call: &PartRef| view.messages[call.message].thread;
    let is_hosted =
        |call: &PartRef| view.messages[call.message].parts[call.part].content.call().is_some_and(|call| call.hosted);
    let open = pairs.calls().iter().filter(|call| pairs.other_half(**call).is_none() && !is_hosted(call));
    let mut pending: Vec<PartRef> = open.copied().collect();
    let threads: BTreeSet<u32> = pending.iter().map(thread).collect();
    let rounds = |left: &dyn Fn(PartRef) -> bool| -> BTreeMap<u32, usize> {
        threads.iter().map(|&thread| (thread, last_round(view.messages, thread, view.pairing_rules, left))).collect()
    };
    let before = rounds(&|_| true);
    pending.retain(|call| call.message >= before[&thread(call)]);
    loop {
        let after = rounds(&|part| !drops.is_part_gone(part));
        let is_stranded = |call: &&PartRef| !drops.is_part_gone(**call) && call.message < after[&thread(call)];
        let stranded: Vec<PartRef> = pending.iter().filter(is_stranded).copied().collect();
        if stranded.is_empty() {
            return;
        }
        stranded.into_iter().for_each(|call| drops.drop_part(call, STRANDED));
    }
}

/// Puts `Used … tool` where calls were dropped: in the place of a message that went, after one that kept only its text,
/// before one that still calls, so that no result is parted from its call and no pending call loses its place at the end.
fn leave_notes(view: &View<'_, '_>, pairs: &Pairs, used: &[Vec<String>], plan: &mut Plan) {
    let pending = first_pending(view, pairs, plan);
    for (at, names) in used.iter().enumerate().filter(|(_, names)| !names.is_empty()) {
        let draft = Draft::text(Role::Assistant, note(names));
        let reason = Reason::Owned(format!("called {}", names.join(", ")));
        match &plan.decisions[at] {
            Decision::Drop(_) if at > pending => {
                plan.inserts.push(Insert { before: pending, what: Insertion::Draft(draft), reason });
            }
            Decision::Drop(_) => plan.decisions[at] = Decision::Replace(draft, reason),
            Decision::Change(changes, _) => {
                let cut = |nth: usize| changes.contains(&Change::Cut(nth));
                let still_calls = view.messages[at].calls().any(|(nth, _)| !cut(nth));
                let before = if still_calls { at } else { at + 1 }.min(pending);
                plan.inserts.push(Insert { before, what: Insertion::Draft(draft), reason });
            }
            Decision::Keep | Decision::Replace(..) => {}
        }
    }
    plan.inserts.sort_by_key(|insert| insert.before);
}

/// The first message in flight that keeps a call without a result; the number of messages if none does.
fn first_pending(view: &View<'_, '_>, pairs: &Pairs, plan: &Plan) -> usize {
    let stays = |call: &PartRef| match &plan.decisions[call.message] {
        Decision::Keep => true,
        Decision::Change(changes, _) => !changes.contains(&Change::Cut(call.part)),
        Decision::Drop(_) | Decision::Replace(..) => false,
    };
    let flight = in_flight(view.messages);
    let mut open = pairs.calls().iter().filter(|call| call.message >= flight && pairs.other_half(**call).is_none());
    open.find(|call| stays(call)).map_or(view.messages.len(), |call| call.message)
}

fn note(names: &[String]) -> String {
    match names {
        [only] => format!("Used {only} tool"),
        many => format!("Used tools: {}", many.join(", ")),
    }
}
