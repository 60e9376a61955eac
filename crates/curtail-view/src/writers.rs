//! Who wrote each message of a transcript: a person, the model, a tool or a program.

use std::collections::HashSet;

use curtail_core::dialects::{ChangeKind, Dialect};
use curtail_core::transcript::{Layout, Message, Role, writer_named};

/// Which messages a person did not write, although their role is user.
pub(super) struct Writers {
    /// Whether each message is a demonstration or the summary of a compaction: a program wrote it.
    by_program: Vec<bool>,
    /// Whether each message answers an action that the model wrote as text: a tool wrote it.
    by_tool: Vec<bool>,
}

impl Writers {
    pub(super) fn new(dialect: &'static dyn Dialect, layout: &Layout<'_>, messages: &[Message<'_>]) -> Self {
        Self { by_program: by_program(dialect, layout, messages), by_tool: by_tool(dialect, messages) }
    }

    /// Who wrote `message`, which has this index; also the name of its color.
    pub(super) fn of(&self, index: usize, message: &Message<'_>) -> &'static str {
        match writer(message) {
            "person" if self.by_program[index] => "program",
            "person" if self.by_tool[index] => "tool",
            writer => writer,
        }
    }

    /// Whether a message is of whom its role says.
    pub(super) fn is_own(&self, index: usize) -> bool {
        !self.by_program[index] && !self.by_tool[index]
    }
}

/// Who wrote a message, by its role.
pub(super) fn writer(message: &Message<'_>) -> &'static str {
    writer_named(message.writer())
}

/// Whether each message is a demonstration of SWE-agent or the summary of a compaction.
fn by_program(dialect: &'static dyn Dialect, layout: &Layout<'_>, messages: &[Message<'_>]) -> Vec<bool> {
    let changes = dialect.log().history(&layout.elements).into_iter();
    let compactions = changes.filter(|change| matches!(change.kind, ChangeKind::Compaction { .. }));
    let compactions: HashSet<u32> = compactions.map(|change| layout.elements[change.at].span().start).collect();
    let has_demos = knows(dialect, "is_demo");
    let written = messages.iter().map(|message| {
        let Some(value) = message.value() else { return false };
        let is_demo = has_demos && value.get("is_demo").is_some_and(|flag| flag.raw() == "true");
        is_demo || compactions.contains(&value.span().start)
    });
    written.collect()
}

/// Whether each message answers an action that the model wrote as text, as in logs of SWE-agent.
fn by_tool(dialect: &dyn Dialect, messages: &[Message<'_>]) -> Vec<bool> {
    if !knows(dialect, "action") {
        return vec![false; messages.len()];
    }
    let follow = messages
        .windows(2)
        .map(|pair| pair[0].role == Role::Assistant && has_action(&pair[0]) && !has_action(&pair[1]));
    std::iter::once(false).chain(follow).take(messages.len()).collect()
}

/// Whether messages of a dialect may have this key: another format may mean something else by it.
fn knows(dialect: &dyn Dialect, key: &str) -> bool {
    dialect.format().known.contains(&key)
}

fn has_action(message: &Message<'_>) -> bool {
    message.value().is_some_and(|value| value.get_text("action").is_some())
}
