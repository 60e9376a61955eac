//! What the filters of the page find a message by: who wrote it, its tools, failed calls and edits; and the messages that the
//! script builds when they come into view, of which the filters know as much.

use std::collections::{BTreeSet, HashSet};

use maud::html;

use super::{Chat, begin_later};
use crate::visible::Shown;
use curtail_core::transcript::PartRef;

/// The numbers of failed calls and of edits.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) failures: usize,
    pub(super) edits: usize,
}

impl Chat<'_, '_> {
    /// Message `at` and those of the sub-agents that it started.
    fn with_agents(&self, at: usize) -> Vec<usize> {
        let mut all = vec![at];
        let mut next = 0;
        while let Some(&at) = all.get(next) {
            let sides = self.calls_of(at).filter_map(|call| self.started.get(&call)).flatten();
            all.extend(sides.flat_map(|side| &side.messages));
            next += 1;
        }
        if let Some(side) = self.loose.get(&at) {
            all.extend(side.messages.iter().filter(|other| **other != at));
        }
        all
    }

    /// The numbers of failed calls and of edits in messages and their sub-agents.
    pub(super) fn tally(&self, messages: &[usize]) -> Tally {
        let mut tally = Tally::default();
        let all = messages.iter().flat_map(|at| self.with_agents(*at));
        for call in all.flat_map(|at| self.calls_of(at)) {
            if self.conversation.is_failed(call) {
                tally.failures += 1;
            } else if self.calls.get(&call).is_some_and(|sketch| sketch.is_edit) {
                tally.edits += 1;
            }
        }
        tally
    }

    /// The names of the tools that a message calls or that answer in it, separated by line breaks.
    fn tools(&self, at: usize) -> Option<String> {
        let message = &self.conversation.messages[at];
        let used = message.parts.iter().enumerate().filter(|(_, part)| part.content.is_tool());
        let mut names: Vec<String> =
            used.map(|(nth, _)| self.conversation.tool(PartRef { message: at, part: nth })).collect();
        names.sort_unstable();
        names.dedup();
        (!names.is_empty()).then(|| names.join("\n"))
    }

    /// Who wrote a message and those of its sub-agents; the results inside its calls are by tools.
    pub(super) fn writers_with_agents(&self, at: usize) -> String {
        let messages = self.with_agents(at);
        let answers = self.calls_of(at).filter_map(|call| self.counterpart(call)).map(|_| "tool");
        distinct_lines(messages.iter().map(|at| self.conversation.writer(*at)).chain(answers))
    }

    /// The tools of a message and of its sub-agents.
    pub(super) fn tools_with_agents(&self, at: usize) -> Option<String> {
        let tools = distinct_lines(self.with_agents(at).iter().filter_map(|at| self.tools(*at)));
        Some(tools).filter(|tools| !tools.is_empty())
    }

    /// Opens an element with these messages and those of their sub-agents, which the script builds when they come into view:
    /// parsing all of a long conversation takes seconds. Without JavaScript, the page shows them immediately.
    pub(super) fn open_later(&self, rows: &[usize], out: &mut String) {
        let conversation = self.conversation;
        let shown: BTreeSet<usize> = rows.iter().flat_map(|at| self.with_agents(*at)).collect();
        let answers = shown.iter().flat_map(|at| self.calls_of(*at)).filter_map(|call| self.counterpart(call));
        let folded = answers.map(|result| result.message).filter(|at| self.is_folded(*at));
        let shown: BTreeSet<usize> = folded.chain(shown.iter().copied()).collect();
        let states = shown.iter().filter_map(|at| Some(conversation.fate(*at)?.state.name()));
        let dropped = shown.iter().filter(|at| conversation.is_dropped(**at)).count();
        let writers = distinct_lines(rows.iter().map(|at| self.writers_with_agents(*at)));
        let tools = distinct_lines(rows.iter().filter_map(|at| self.tools_with_agents(*at)));
        let prompts = rows.iter().filter(|at| conversation.story.is_prompt(**at)).count();
        let tally = self.tally(rows);
        let element = html! {
            div class="later" data-first=(rows[0]) data-rows=(rows.len()) data-prompts=(prompts) data-failures=(tally.failures)
                data-edits=(tally.edits) data-dropped=(dropped) data-by=(writers)
                data-states=(distinct_lines(states)) data-tools=(Shown(&tools))
                style={ "--rows:" (rows.len()) } {}
        };
        begin_later(&element, out);
    }
}

/// The distinct lines of some texts, in the order in which they come first.
pub(super) fn distinct_lines<S: AsRef<str>>(texts: impl Iterator<Item = S>) -> String {
    let mut seen = HashSet::new();
    let mut distinct: Vec<String> = Vec::new();
    for text in texts {
        let new = text.as_ref().lines().filter(|line| seen.insert((*line).to_owned()));
        distinct.extend(new.map(str::to_owned));
    }
    distinct.join("\n")
}
