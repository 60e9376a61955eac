//! Calls that stay open on purpose in every format: those with a result that says only that the answer is to come.
//!
//! What else leaves a call open, such as a request for approval, is known to its dialect alone.

use std::borrow::Cow;

use foldhash::HashSet;

use super::Item;
use crate::json::Document;
use crate::transcript::{Content, ToolCall, ToolResult};

/// Marks results that are tasks of MCP which go on, and the calls that have an interim result.
pub(super) fn connect(read: &mut [Item<'_>]) {
    let mut waiting: HashSet<String> = HashSet::default();
    for part in read.iter_mut().filter_map(Item::message_mut).flat_map(|message| &mut message.parts) {
        if let Content::ToolResult(result) = &mut part.content {
            result.interim |= result.id.is_some() && is_task_that_goes_on(result);
            waiting.extend(result.id.as_ref().filter(|_| result.interim).map(|id| id.decode().into_owned()));
        }
    }
    if !waiting.is_empty() {
        wait(read, |id| waiting.contains(id));
    }
}

/// Marks the calls with these ids as left open on purpose.
pub(super) fn wait(read: &mut [Item<'_>], waits: impl Fn(&str) -> bool) {
    #[expect(clippy::redundant_closure_for_method_calls, reason = "the method is of one lifetime only")]
    mark(read, waits, |call| call.wait());
}

/// Marks the calls with these ids as deferred.
pub(super) fn defer(read: &mut [Item<'_>], is_deferred: impl Fn(&str) -> bool) {
    mark(read, is_deferred, |call| call.deferred = true);
}

fn mark(read: &mut [Item<'_>], is_one: impl Fn(&str) -> bool, mark: impl Fn(&mut ToolCall<'_>)) {
    for part in read.iter_mut().filter_map(Item::message_mut).flat_map(|message| &mut message.parts) {
        if let Content::ToolCall(call) = &mut part.content
            && call.id.as_ref().is_some_and(|id| is_one(&id.decode()))
        {
            mark(call);
        }
    }
}

/// The longest result that is looked at: a task has an id, a state and times.
const LONGEST: usize = 2_000;

/// Whether a result is the `CreateTaskResult` of the Model Context Protocol, of a task that has not ended.
fn is_task_that_goes_on(result: &ToolResult<'_>) -> bool {
    let [text] = result.content.as_slice() else { return false };
    let is_object = text.characters().find(|one| !one.is_whitespace()) == Some('{');
    if !is_object || text.len_bound() > LONGEST || !text.may_contain("taskId") {
        return false;
    }
    let text: Cow<'_, str> = text.decode();
    let Ok(document) = Document::parse(&text) else { return false };
    let mut tasks =
        document.roots().filter_map(|root| root.some("task").or_else(|| root.some("structuredContent")?.some("task")));
    tasks.any(|task| task.has("taskId") && matches!(&*task.word("status"), "working" | "input_required"))
}
