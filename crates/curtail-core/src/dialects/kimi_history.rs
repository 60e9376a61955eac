//! What later lines of a log of the Kimi CLI leave of its context: they compact it, clear it, or undo its last turns, and count
//! its messages.

use std::ops::Range;

use super::{HistoryChange, Item, Patch, Remaining, blocks};
use crate::json::{Text, Value};
use crate::steps;
use crate::transcript::{Layout, Role, Standing};

/// Marks the messages that the program no longer sends, and those that the last compaction kept.
pub(super) fn mark(items: &[Value<'_>], read: &mut [Item<'_>]) {
    let mut kept = Vec::new();
    let mut cleared = 0;
    for_each_change(items, &[], |at, change, _| match change {
        Change::Compaction(compaction) => kept = ranges(&compaction.kept),
        Change::Clear => {
            kept = Vec::new();
            clear(cleared..at, read);
            cleared = at;
        }
        Change::Undo(Undo { undone, .. }) => undo(at, &undone, read),
        Change::Clearing => {}
    });
    blocks::preserve(read, kept);
}

/// The compactions and rollbacks of a log.
pub(super) fn history(items: &[Value<'_>]) -> Vec<HistoryChange> {
    let mut history = Vec::new();
    for_each_change(items, &[], |at, change, _| {
        history.extend(match change {
            Change::Compaction(compaction) => Some(HistoryChange::compaction(at, ranges(&compaction.kept))),
            Change::Clear => Some(HistoryChange::rollback(at, 0)),
            Change::Undo(Undo { left: Some(left), .. }) => Some(HistoryChange::compaction(at, left)),
            Change::Undo(Undo { undone, .. }) => Some(HistoryChange::rollback(at, undone[0].first())),
            Change::Clearing => None,
        });
    });
    history
}

/// Corrects the numbers of messages in compactions, clearings and undos, if only some of the messages are written, or others are new.
pub(super) fn recount(layout: &Layout<'_>, remaining: &Remaining<'_>) -> Vec<Patch> {
    if !layout.has_references(is_change) {
        return Vec::new();
    }
    let stays = layout.stays(remaining.kept);
    let mut patches = Vec::new();
    // What stays without the compaction that replaced it, and so is replaced by the next one.
    let mut returned = 0;
    for_each_change(&layout.elements, &drafts(layout, remaining), |at, change, context| {
        let item = layout.elements[at];
        match change {
            Change::Compaction(Compaction { replaced, .. }) if !stays[at] => {
                returned += replaced.iter().filter(|entry| entry.is_written(&stays)).count();
            }
            Change::Compaction(Compaction { replaced, kept, head }) => {
                let compacted = if keeps_prompts(item) { [replaced, kept.clone()].concat() } else { replaced };
                patches.extend(renumber(compacted_count(item), &compacted, returned, &stays));
                patches.extend(renumber(item.get("keptUserMessageCount"), &kept, 0, &stays));
                patches.extend(renumber(item.get("keptHeadUserMessageCount"), &kept[..head], 0, &stays));
                returned = 0;
            }
            Change::Clear => returned = 0,
            Change::Undo(Undo { mut undone, .. }) => {
                undone.retain(|entry| entry.kind == EntryKind::Prompt);
                patches.extend(renumber(item.get("count"), &undone, 0, &stays));
            }
            Change::Clearing => patches.extend(item.get("cutoff").and_then(|cutoff| {
                let count: usize = cutoff.raw().parse().ok()?;
                let counts = context.counts_before(count, &stays);
                let now = count + returned + counts.written - counts.read;
                (now != count).then(|| Patch { span: cutoff.span(), text: now.to_string() })
            })),
        }
    });
    patches
}

/// The patch of a number of messages that counts `entries`, and from now on as many more as `returned`.
fn renumber(number: Option<Value<'_>>, entries: &[Entry], returned: usize, stays: &[bool]) -> Option<Patch> {
    let number = number?;
    let count: usize = number.raw().parse().ok()?;
    let new = returned + entries.iter().filter(|entry| entry.is_draft).count();
    let gone = entries.iter().filter(|entry| !entry.is_written(stays)).count();
    let now = (count + new).saturating_sub(gone);
    (now != count).then(|| Patch { span: number.span(), text: now.to_string() })
}

/// The `cleared` lines are no longer sent. The line behind them stays, and so nothing of them is sent again.
fn clear(cleared: Range<usize>, read: &mut [Item<'_>]) {
    let at = cleared.end;
    for message in read[cleared].iter_mut().filter_map(Item::message_mut) {
        message.roll_back(Standing::RolledBack);
    }
    read[at] = Item::Pinned;
}

/// The messages of `undone` turns are no longer sent. What follows the first prompt of a turn is dropped with it, and so are
/// later turns and the line `at` with the first one: they would be sent again, or earlier ones would not.
fn undo(at: usize, undone: &[Entry], read: &mut [Item<'_>]) {
    let first = undone[0].first();
    let mut turn = first;
    for entry in undone {
        let is_prompt = entry.kind == EntryKind::Prompt;
        for &item in &entry.items {
            let Item::Message(message) = &mut read[item] else { continue };
            let leader = if is_prompt { first } else { turn };
            message.dropped_with = u32::try_from(leader).ok().filter(|_| item > first);
            message.roll_back(Standing::RolledBack);
        }
        if is_prompt {
            turn = entry.first();
        }
    }
    read[at] = Item::With(first);
}

/// A message of the context, as the program counts them.
#[derive(Clone)]
struct Entry {
    /// Indices of the items that it was read from, in order: one line, or the pieces of a step. A draft has the item before it.
    items: Vec<usize>,
    kind: EntryKind,
    is_draft: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum EntryKind {
    /// What the user typed; an undo counts these.
    Prompt,
    /// What the user typed while the model worked: a part of the turn that goes on.
    Steer,
    Other,
}

impl Entry {
    fn line(at: usize, kind: EntryKind) -> Self {
        Self { items: vec![at], kind, is_draft: false }
    }

    fn first(&self) -> usize {
        self.items[0]
    }

    fn is_written(&self, stays: &[bool]) -> bool {
        self.is_draft || self.items.iter().any(|at| stays[*at])
    }

    /// Whether a compaction keeps it.
    fn is_typed(&self) -> bool {
        matches!(self.kind, EntryKind::Prompt | EntryKind::Steer)
    }

    /// Whether the numbers in a compaction count it among what the user typed.
    fn is_counted(&self) -> bool {
        self.is_typed() && !self.is_draft
    }
}

/// What an item does to the context before it.
enum Change {
    Compaction(Compaction),
    Clear,
    Undo(Undo),
    /// Results among the first entries of the context are sent as a mark that they were cleared.
    Clearing,
}

struct Undo {
    /// What it took back, from a prompt on.
    undone: Vec<Entry>,
    /// The items that are left of the context, if that prompt is older than the last compaction: to go back to what was sent before
    /// it would undo the compaction.
    left: Option<Vec<Range<usize>>>,
}

struct Compaction {
    /// What its summary replaced.
    replaced: Vec<Entry>,
    /// What it kept.
    kept: Vec<Entry>,
    /// How many of those are of the beginning of the conversation.
    head: usize,
}

/// Hands over the changes of the context of a log, in order, each with the index of its item and the context after it. `drafts`
/// are entries that are written among the items.
fn for_each_change(items: &[Value<'_>], drafts: &[Entry], mut hand_over: impl FnMut(usize, Change, &mut Context<'_>)) {
    steps::count(items.len());
    if !items.iter().any(|item| is_change(*item)) {
        return;
    }
    let mut context = Context::default();
    let mut drafts = drafts.iter().peekable();
    for (at, &item) in items.iter().enumerate() {
        while let Some(draft) = drafts.next_if(|draft| draft.first() < at) {
            context.push(draft.clone());
        }
        if !is_change(item) {
            context.add(at, item);
        } else if let Some(change) = context.change(at, item) {
            hand_over(at, change, &mut context);
        }
    }
}

/// The context while its log is read.
#[derive(Default)]
struct Context<'a> {
    entries: Vec<Entry>,
    /// Indices of the entries that an undo can take back: what the user typed behind the summary of the last compaction.
    prompts: Vec<usize>,
    /// The index of the item that compacted last.
    compacted: usize,
    /// The id of the last step, and the index of its entry.
    step: Option<(Text<'a>, usize)>,
    /// How many of the first entries were read, and how many are written: one count for each entry, as far as a clearing asked.
    counts: Vec<Counts>,
}

/// Up to an entry of the context, and with it.
#[derive(Clone, Copy, Default)]
struct Counts {
    read: usize,
    written: usize,
}

impl<'a> Context<'a> {
    /// Adds what an item appends.
    fn add(&mut self, at: usize, item: Value<'a>) {
        if let Some(message) = item.get("message").filter(|_| item.member_is("type", "context.append_message")) {
            return self.push(Entry::line(at, kind_of(message)));
        }
        let Some(event) = item.get("event") else { return };
        match &*event.word("type") {
            "tool.result" => self.entries.push(Entry::line(at, EntryKind::Other)),
            "content.part" | "tool.call" => self.add_piece(at, event.get_text("stepUuid")),
            _ => {}
        }
    }

    fn push(&mut self, entry: Entry) {
        if entry.kind == EntryKind::Prompt && !entry.is_draft {
            self.prompts.push(self.entries.len());
        }
        self.entries.push(entry);
    }

    fn add_piece(&mut self, at: usize, step: Option<Text<'a>>) {
        if let (Some(step), Some((open, entry))) = (&step, &self.step)
            && step == open
        {
            self.counts.truncate(*entry);
            return self.entries[*entry].items.push(at);
        }
        self.step = step.map(|step| (step, self.entries.len()));
        self.entries.push(Entry::line(at, EntryKind::Other));
    }

    /// Does what a line says that compacts, clears, undoes or clears results. `None` if the program ignores the line.
    fn change(&mut self, at: usize, item: Value<'_>) -> Option<Change> {
        let change = match &*item.word("type") {
            "context.clear" => {
                *self = Self { compacted: self.compacted, ..Self::default() };
                Change::Clear
            }
            "context.undo" => Change::Undo(self.undo(item)?),
            CLEARING => return Some(Change::Clearing),
            _ => Change::Compaction(self.compact(at, item)),
        };
        self.step = None;
        Some(change)
    }

    fn compact(&mut self, at: usize, item: Value<'_>) -> Compaction {
        steps::count(self.entries.len());
        let entries = std::mem::take(&mut self.entries);
        self.prompts.clear();
        self.counts.clear();
        self.compacted = at;
        let summary = Entry::line(at, EntryKind::Other);
        if keeps_prompts(item) {
            let compaction = keep_prompts(entries, item);
            self.entries = compaction.kept.iter().cloned().chain([summary]).collect();
            return compaction;
        }
        let mut replaced = entries;
        let kept = replaced.split_off(end_of_compacted(&replaced, item));
        std::iter::once(summary).chain(kept.iter().cloned()).for_each(|entry| self.push(entry));
        Compaction { replaced, kept, head: 0 }
    }

    /// Takes back as many turns as the line says. The program takes back none if there are fewer since the last compaction.
    fn undo(&mut self, item: Value<'_>) -> Option<Undo> {
        let count: usize = item.get("count")?.raw().parse().ok()?;
        let first = self.prompts.len().checked_sub(count).filter(|_| count > 0)?;
        let undone = self.entries.split_off(self.prompts[first]);
        self.prompts.truncate(first);
        self.counts.truncate(self.entries.len());
        steps::count(undone.len());
        let left = (undone[0].first() < self.compacted).then(|| ranges(&self.entries));
        Some(Undo { undone, left })
    }

    /// How many entries were read before the one with the number `count`, and how many of them are written, with the drafts there.
    fn counts_before(&mut self, count: usize, stays: &[bool]) -> Counts {
        let mut counts = self.counts.last().copied().unwrap_or_default();
        steps::count(self.entries.len() - self.counts.len());
        for entry in &self.entries[self.counts.len()..] {
            counts.read += usize::from(!entry.is_draft);
            counts.written += usize::from(entry.is_written(stays));
            self.counts.push(counts);
        }
        let end = self.counts.partition_point(|counts| counts.read <= count);
        self.counts[..end].last().copied().unwrap_or_default()
    }
}

/// The type of the lines from which on old results are not sent.
const CLEARING: &str = "micro_compaction.apply";

/// Whether a line changes what was in the context before it, or how that is sent.
fn is_change(item: Value<'_>) -> bool {
    matches!(&*item.word("type"), "context.apply_compaction" | "context.clear" | "context.undo" | CLEARING)
}

/// Whether a compaction keeps what the user typed. Older versions of the program kept the last messages instead.
fn keeps_prompts(compaction: Value<'_>) -> bool {
    compaction.has("keptUserMessageCount") && !compaction.is_true("legacyTail")
}

/// The number of messages that a compaction of an older version replaced.
fn compacted_count(compaction: Value<'_>) -> Option<Value<'_>> {
    compaction.get("compactedCount").or_else(|| compaction.get("count"))
}

/// The number of `entries` that a compaction of an older version replaced, with the drafts among them.
fn end_of_compacted(entries: &[Entry], compaction: Value<'_>) -> usize {
    let count = compacted_count(compaction).and_then(|count| count.raw().parse().ok()).unwrap_or(usize::MAX);
    let mut read = entries.iter().enumerate().filter(|(_, entry)| !entry.is_draft);
    read.nth(count).map_or(entries.len(), |(at, _)| at)
}

/// A compaction that keeps what the user typed first and last, by the numbers in it, and drafts among that.
fn keep_prompts(entries: Vec<Entry>, compaction: Value<'_>) -> Compaction {
    let [head, kept] = ["keptHeadUserMessageCount", "keptUserMessageCount"]
        .map(|key| usize::try_from(compaction.number(key)).unwrap_or(usize::MAX));
    let tail = kept.saturating_sub(head);
    let all = entries.iter().filter(|entry| entry.is_counted()).count();
    let mut nth = 0;
    let (kept, replaced): (Vec<Entry>, Vec<Entry>) = entries.into_iter().partition(|entry| {
        let is_kept = nth < head || tail >= all - nth;
        nth += usize::from(entry.is_counted());
        entry.is_typed() && is_kept
    });
    let read = kept.iter().enumerate().filter(|(_, entry)| !entry.is_draft);
    let head = read.take(head).last().map_or(0, |(at, _)| at + 1);
    Compaction { replaced, kept, head }
}

/// What a message is to an undo or a compaction.
fn kind_of(message: Value<'_>) -> EntryKind {
    if !message.member_is("role", "user") || !is_typed(message) {
        return EntryKind::Other;
    }
    let joins_turn = message.some("origin").is_some_and(|origin| origin.is_true("inTurn"));
    if joins_turn { EntryKind::Steer } else { EntryKind::Prompt }
}

/// Whether the user typed a message with the role of the user.
pub(super) fn is_typed(message: Value<'_>) -> bool {
    let Some(origin) = message.some("origin") else { return true };
    match &*origin.word("kind") {
        "user" => true,
        "skill_activation" | "plugin_command" => origin.member_is("trigger", "user-slash"),
        _ => false,
    }
}

/// The drafts as entries, in order.
fn drafts(layout: &Layout<'_>, remaining: &Remaining<'_>) -> Vec<Entry> {
    let mut drafts = Vec::new();
    for (written, before) in remaining.written.iter().zip(remaining.elements_before(layout)) {
        let kind = if written.draft.role == Role::User { EntryKind::Prompt } else { EntryKind::Other };
        drafts.push(Entry { items: vec![before.unwrap_or(0)], kind, is_draft: true });
    }
    drafts.sort_by_key(Entry::first);
    drafts
}

/// The indices of the items of `entries`, as ascending ranges.
fn ranges(entries: &[Entry]) -> Vec<Range<usize>> {
    let mut items: Vec<usize> = entries.iter().flat_map(|entry| &entry.items).copied().collect();
    items.sort_unstable();
    items.chunk_by(|one, next| next - one == 1).map(|run| run[0]..run[run.len() - 1] + 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;

    #[test]
    fn a_draft_at_the_beginning_is_of_the_beginning_that_is_kept() {
        let document = Document::parse(r#"{"keptUserMessageCount":3,"keptHeadUserMessageCount":2}"#).unwrap();
        let mut entries: Vec<Entry> = (0..6).map(|at| Entry::line(at, EntryKind::Prompt)).collect();
        entries[0].is_draft = true;
        let Compaction { replaced, kept, head } = keep_prompts(entries, document.roots().next().unwrap());
        let items = |entries: &[Entry]| entries.iter().map(Entry::first).collect::<Vec<_>>();
        assert_eq!((items(&replaced), items(&kept), head), (vec![3, 4], vec![0, 1, 2, 5], 3));
    }
}
