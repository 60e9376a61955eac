//! Places results next to their calls: those that are elsewhere, and stubs for those that never came.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::exempt::is_unanswered;
use super::plan::{Change, Decision, Insert, Insertion, Plan, Prepend, Reason};
use super::view::View;
use crate::json::Value;
use crate::transcript::{
    DraftPart, DraftResult, Family, Fault, FaultKind, Message, PairingRules, Pairs, PartRef, ResultPlace, Role,
};

/// The text of a stub result.
const INTERRUPTED: &str = "[interrupted: this tool call was never answered]";

/// Places results next to their calls.
pub(super) struct AnswerPlacer<'v, 'a> {
    view: &'v View<'v, 'a>,
    /// Message and tool of every answered call without an id.
    answered: HashSet<(usize, Cow<'v, str>)>,
    /// Messages that contain only results of calls of one message.
    single: HashSet<usize>,
    /// The results that come before their call and can be moved after it.
    early: &'v HashMap<PartRef, PartRef>,
    /// The programs that made calls of their own.
    programs: HashSet<PartRef>,
    /// Results that are written inside a call.
    in_call: HashSet<PartRef>,
    /// For each message: where results for its calls are inserted, and the next message of its thread after that place.
    behind: Vec<(usize, Option<usize>)>,
}

impl<'v, 'a> AnswerPlacer<'v, 'a> {
    /// A placer for `rules`; `early` are the results that come before their call.
    pub(super) fn new(
        view: &'v View<'v, 'a>,
        rules: PairingRules,
        pairs: &'v Pairs,
        early: &'v HashMap<PartRef, PartRef>,
    ) -> Self {
        let answered =
            pairs.pairs().filter_map(|(at, _)| Some((at.message, at.part_in(view.messages).content.call()?)));
        let nameless = answered.filter(|(_, call)| call.id.is_none());
        let answered = nameless.map(|(at, call)| (at, call.name.decode())).collect();
        let single = (0..view.messages.len()).filter(|&message| {
            let parts = (0..view.messages[message].parts.len()).map(|part| PartRef { message, part });
            let mut callers = parts.map(|at| Some(pairs.counterpart(at).or_else(|| early.get(&at).copied())?.message));
            let first = callers.next().flatten();
            first.is_some() && callers.all(|caller| caller == first)
        });
        let single = single.collect();
        let programs = pairs.callers().map(|(_, program)| program);
        let programs = programs
            .filter(|at| at.part_in(view.messages).content.call().is_some_and(|call| call.family == Family::Program));
        let programs = programs.collect();
        Self { view, answered, single, early, programs, in_call: in_call(view), behind: behind(view, rules) }
    }

    fn message(&self, part: PartRef) -> &'v Message<'a> {
        &self.view.messages[part.message]
    }

    /// Whether the format writes results inside messages.
    pub(super) fn is_inside(&self) -> bool {
        use ResultPlace::{NextMessage, NextMessageFirst, SameMessage};
        matches!(self.view.rules.pairing.results, NextMessage | NextMessageFirst | SameMessage)
    }

    /// Whether a stub would pair with this call and no other. A call with invalid arguments is dropped instead: no tool could
    /// have accepted it. So is a program that made calls, because its result comes after theirs, a call of a computer, because its
    /// result is a picture, and a call without an id in a format with ids, because no result can name it. In formats without ids,
    /// results pair by name and order, so a stub next to a result of the same tool could pair with the wrong call.
    pub(super) fn can_answer(&self, fault: &Fault) -> bool {
        let call = self.message(fault.at).parts[fault.at.part].content.call();
        let Some(call) = call.filter(|call| is_unanswered(fault) && call.argument_fault().is_none()) else {
            return false;
        };
        if self.programs.contains(&fault.at) || call.family == Family::Computer {
            return false;
        }
        match &call.id {
            Some(id) => id.len_bound() > 0,
            None => {
                let needs_id =
                    self.view.rules.pairing.ids && !matches!(call.family, Family::Positional | Family::ToolSearch);
                !needs_id && !self.answered.contains(&(fault.at.message, call.name.decode()))
            }
        }
    }

    /// Whether the result can be moved to its call: as a part if the format stores results inside messages; otherwise as a
    /// message that contains only results of the same calling message.
    pub(super) fn can_move(&self, fault: &Fault) -> bool {
        let message = self.message(fault.at);
        let hosted = message.parts[fault.at.part].content.result().is_none_or(|result| result.same_message);
        (fault.kind == FaultKind::DetachedResult || self.early.contains_key(&fault.at))
            && !hosted
            && !self.in_call.contains(&fault.at)
            && (self.is_inside() || self.single.contains(&fault.at.message))
    }

    /// Places moved results and stubs where the format expects them.
    pub(super) fn answer(&self, faults: &[Fault]) -> Plan {
        let mut plan = Plan::keep(self.view.messages.len());
        let mut by_call: BTreeMap<usize, Vec<(PartRef, Prepend)>> = BTreeMap::new();
        let (inside, beside): (Vec<&Fault>, Vec<&Fault>) = faults.iter().partition(|fault| self.holds_result(fault));
        for fault in inside {
            let answer = Change::Answer(fault.at.part, INTERRUPTED.to_owned());
            plan.change(fault.at.message, [answer], Reason::Borrowed(fault.kind.name()));
        }
        for fault in beside {
            let (call, answer) = match fault.other.filter(|_| !is_unanswered(fault)) {
                Some(call) => (call, Some(Prepend::Moved(fault.at))),
                None => (fault.at, self.stub(fault.at).map(Prepend::Draft)),
            };
            by_call.entry(call.message).or_default().extend(answer.map(|answer| (call, answer)));
        }
        let moved: BTreeSet<PartRef> =
            faults.iter().filter(|fault| !is_unanswered(fault)).map(|fault| fault.at).collect();
        self.cut_moved(&moved, &mut plan);
        for (call, mut answers) in by_call {
            answers.sort_by_key(|(call, _)| *call);
            self.place(call, answers.into_iter().map(|(_, answer)| answer).collect(), &mut plan);
        }
        plan.inserts.sort_by_key(|insert| insert.before);
        plan
    }

    /// Whether the fault is a call whose result the format stores inside the call.
    fn holds_result(&self, fault: &Fault) -> bool {
        let part = &self.message(fault.at).parts[fault.at.part];
        part.content.call().is_some() && part.place().is_some_and(|place| place.rewrite.is_some())
    }

    fn stub(&self, at: PartRef) -> Option<DraftPart> {
        let call = self.message(at).parts[at.part].content.call()?;
        Some(DraftPart::ToolResult(DraftResult {
            id: call.id.as_ref().map(|id| id.decode().into_owned()),
            name: call.name.decode().into_owned(),
            text: INTERRUPTED.to_owned(),
            family: call.family,
            key: None,
        }))
    }

    /// Cuts the moved parts out of their messages; drops messages that lose all parts.
    fn cut_moved(&self, moved: &BTreeSet<PartRef>, plan: &mut Plan) {
        const MOVED: Reason = Reason::Borrowed("moved to its tool call");
        let mut counts: HashMap<usize, usize> = HashMap::new();
        moved.iter().for_each(|part| *counts.entry(part.message).or_default() += 1);
        for part in moved {
            if !self.is_inside() || counts.get(&part.message) == Some(&self.message(*part).parts.len()) {
                plan.decisions[part.message] = Decision::Drop(MOVED);
            } else {
                plan.change(part.message, [Change::Cut(part.part)], MOVED);
            }
        }
    }

    /// Inserts `answers` after the message `call`. For parallel calls in message 1 whose results must be in the next message:
    ///
    /// ```text
    /// 1 assistant calls a, b   2 user result of a   3 user "…"   4 user result of b (detached)
    /// ```
    ///
    /// Message 2 follows the assistant's turn and accepts results, so the result of `b` is prepended to it and message 4 is
    /// dropped. If the transcript ended with the turn, a new message with the result would be inserted after it. In formats
    /// with one message per result, message 4 itself is moved after the results that follow the calls.
    fn place(&self, call: usize, answers: Vec<Prepend>, plan: &mut Plan) {
        const ANSWERS: Reason = Reason::Borrowed("result placed where the format expects it");
        let (before, accepts) = self.after(call);
        if accepts && plan.keeps(before) {
            let taken = if before == call { Change::Append(answers) } else { Change::Prepend(answers) };
            return plan.change(before, [taken], ANSWERS);
        }
        if self.is_inside() {
            // If user and assistant must alternate, the results for several messages in a row are one message.
            let joins = self.view.rules.context.joins;
            let last = plan.inserts.last_mut().filter(|insert| joins && insert.before == before);
            match last.map(|insert| &mut insert.insertion) {
                Some(Insertion::Results(results)) => results.extend(answers),
                _ => plan.inserts.push(Insert { before, insertion: Insertion::Results(answers), reason: ANSWERS }),
            }
            return;
        }
        let mut moved = HashSet::new();
        for answer in answers {
            let insertion = match answer {
                Prepend::Moved(part) if !moved.insert(part.message) => continue,
                Prepend::Moved(part) => Insertion::Moved(part.message),
                Prepend::Draft(_) | Prepend::Block(_) => Insertion::Results(vec![answer]),
            };
            plan.inserts.push(Insert { before, insertion, reason: ANSWERS });
        }
    }

    /// Index of the message before which results of `call` are inserted, and whether that message can contain them itself.
    fn after(&self, call: usize) -> (usize, bool) {
        if self.view.rules.pairing.results == ResultPlace::SameMessage {
            return (call, true);
        }
        let (before, next) = self.behind[call];
        match next {
            Some(next) if self.accepts(&self.view.messages[next]) => (next, true),
            _ => (before, false),
        }
    }

    /// Whether results can be written into a message that follows their calls. One without parts has no list to insert into, and a
    /// new message is written only once.
    fn accepts(&self, next: &Message<'_>) -> bool {
        // An exchange has a list of results only if it has one.
        let answers = match next.is_exchange() {
            true => next.results().next().is_some(),
            false => matches!(next.role, Role::User | Role::Tool),
        };
        self.is_inside() && answers && !next.closes_calls() && !next.is_draft() && !next.parts.is_empty()
    }
}

/// The results that share their bytes with a call.
fn in_call(view: &View<'_, '_>) -> HashSet<PartRef> {
    let mut found = HashSet::new();
    for (at, message) in view.messages.iter().enumerate() {
        let elements: Vec<Option<Value<'_>>> =
            message.parts.iter().map(|part| part.place().map(|place| place.element)).collect();
        let calls: HashSet<Value<'_>> = message.calls().filter_map(|(nth, _)| elements[nth]).collect();
        let inside =
            message.results().filter(|(nth, _)| elements[*nth].is_some_and(|element| calls.contains(&element)));
        found.extend(inside.map(|(part, _)| PartRef { message: at, part }));
    }
    found
}

/// For each message: the index before which results of its calls are inserted, and the next message of its thread from there.
fn behind(view: &View<'_, '_>, rules: PairingRules) -> Vec<(usize, Option<usize>)> {
    let messages = view.messages;
    let passed = match rules.results {
        ResultPlace::Anywhere | ResultPlace::SameMessage => {
            return (0..messages.len()).map(|at| (at + 1, None)).collect();
        }
        ResultPlace::RightAfter => Role::Tool,
        ResultPlace::RightAfterTurn | ResultPlace::NextMessage | ResultPlace::NextMessageFirst => Role::Assistant,
    };
    let mut behind = vec![(0, None); messages.len()];
    // For each thread: the next message, and what comes after a run of messages that are passed.
    let mut threads: HashMap<u32, (usize, (usize, Option<usize>))> = HashMap::new();
    for (at, message) in messages.iter().enumerate().rev() {
        let next = threads.get(&message.thread).copied();
        // Where results pair by position, they pair with the nearest calling message: no other may come between.
        let joins = passed == Role::Tool || rules.ids && message.calls().all(|(_, call)| call.id.is_some());
        let here = (at + 1, next.map(|(next, _)| next));
        let run = match next {
            Some((next, run)) if is_passed(&messages[next], passed) => run,
            _ => here,
        };
        behind[at] = if joins { run } else { here };
        threads.insert(message.thread, (at, run));
    }
    behind
}

/// Whether results are placed behind a message of the role `passed` as well, and not before it.
fn is_passed(message: &Message<'_>, passed: Role) -> bool {
    // A result after a boundary answers no call before it.
    message.role == passed && !message.is_exchange() && !message.is_boundary()
}
