//! Conversations of sub-agents inside a log, and the calls that start sub-agents.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use curtail_core::json::{Document, Text, Value};
use curtail_core::transcript::{Message, Pairs, PartRef, Role, main_thread};
use curtail_facts::name_words;

/// Longer arguments, in bytes, are no task of a sub-agent.
const MAX_ARGUMENTS: usize = 200_000;

/// A conversation of a sub-agent inside a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Side {
    /// Its messages, in order.
    pub(super) messages: Vec<usize>,
    /// The call that started it, if the log tells.
    pub(super) call: Option<PartRef>,
}

/// The sub-agents of a conversation.
pub(super) struct SubAgents {
    /// Those inside the log.
    pub(super) sides: Vec<Side>,
    /// What tells the calls that started those in files of their own, collected when the first one is attached.
    starters: Option<Starters>,
}

impl SubAgents {
    pub(super) fn new(messages: &[Message<'_>], pairs: &Pairs) -> Self {
        Self { sides: sides(messages, pairs), starters: None }
    }

    /// The call among `messages` that started the conversation that begins with `first`: the one with the id `named`, or else the last
    /// one that `is_before` it. No other conversation is given this call.
    pub(super) fn starter(
        &mut self,
        messages: &[Message<'_>],
        pairs: &Pairs,
        first: Option<&Message<'_>>,
        named: Option<&str>,
        is_before: impl Fn(&PartRef) -> bool,
    ) -> Option<PartRef> {
        let starters = self.starters.get_or_insert_with(|| Starters::new(messages, pairs));
        let call = first.and_then(|first| starters.call_of(first, named));
        let call = call.or_else(|| starters.last_named(messages.len(), is_before));
        starters.take(call);
        call
    }
}

/// The side conversations of a log, in the order in which they begin.
fn sides(messages: &[Message<'_>], pairs: &Pairs) -> Vec<Side> {
    let main = main_thread(messages);
    let mut places: HashMap<u32, usize> = HashMap::new();
    let mut sides: Vec<Side> = Vec::new();
    for (at, message) in messages.iter().enumerate().filter(|(_, message)| message.thread != main) {
        let place = *places.entry(message.thread).or_insert(sides.len());
        match sides.get_mut(place) {
            Some(side) => side.messages.push(at),
            None => sides.push(Side { messages: vec![at], call: None }),
        }
    }
    if sides.is_empty() {
        return sides;
    }
    let mut starters = Starters::new(messages, pairs);
    let is_before =
        |call: &PartRef, first: usize| call.message < first && messages[call.message].thread != messages[first].thread;
    for side in &mut sides {
        let first = side.messages[0];
        side.call = starters.call_of(&messages[first], None).filter(|call| is_before(call, first));
        starters.take(side.call);
    }
    for side in sides.iter_mut().filter(|side| side.call.is_none()) {
        let first = side.messages[0];
        side.call = starters.last_named(first, |call| is_before(call, first));
        starters.take(side.call);
    }
    sides
}

/// What tells the calls that start sub-agents.
#[derive(Default)]
struct Starters {
    /// By the id of the call.
    ids: HashMap<String, PartRef>,
    /// By the id of the sub-agent in its result.
    agents: HashMap<String, PartRef>,
    /// By a text of their arguments, which is the task. Several sub-agents may have the same.
    tasks: HashMap<String, VecDeque<PartRef>>,
    /// The calls of tools whose name says that they start one, without those that are taken.
    named: BTreeSet<PartRef>,
    /// The calls whose sub-agent is known.
    taken: HashSet<PartRef>,
}

impl Starters {
    fn new(messages: &[Message<'_>], pairs: &Pairs) -> Self {
        let mut starters = Self::default();
        for &at in pairs.calls() {
            let Some(call) = messages[at.message].parts[at.part].content.call() else { continue };
            if starts_agent(&call.name.decode()) {
                starters.named.insert(at);
            }
            if let Some(id) = &call.id {
                starters.ids.insert(id.decode().into_owned(), at);
            }
            for task in texts(&call.arguments.decode()) {
                starters.tasks.entry(task.trim().to_owned()).or_default().push_back(at);
            }
            let result =
                pairs.counterpart(at).and_then(|result| messages[result.message].value()?.some("toolUseResult"));
            if let Some(agent) = result.and_then(|result| result.get_text("agentId")) {
                starters.agents.insert(agent.decode().into_owned(), at);
            }
        }
        starters
    }

    /// The call that started the conversation that begins with `first`. `named` is the id of the call, if a file tells it. Of the
    /// calls with its task, it is the first one that is not `taken`.
    fn call_of(&mut self, first: &Message<'_>, named: Option<&str>) -> Option<PartRef> {
        let id = named.map(str::to_owned).or_else(|| member(first, "parent_tool_use_id"));
        let by_id = id.and_then(|id| self.ids.get(&id));
        if let Some(call) = by_id.or_else(|| self.agents.get(&member(first, "agentId")?)) {
            return Some(*call);
        }
        let task: Vec<_> = first.parts.iter().filter_map(|part| part.content.text()).map(Text::decode).collect();
        let calls = self.tasks.get_mut(task.join("\n").trim()).filter(|_| first.role == Role::User)?;
        // A call that is taken stays so: nobody needs to pass it again.
        while calls.pop_front_if(|call| self.taken.contains(call)).is_some() {}
        calls.front().copied()
    }

    /// The last call that `is_before` a sub-agent and is not `taken`, of a tool whose name says that it starts one, among the messages
    /// before `end`.
    fn last_named(&self, end: usize, is_before: impl Fn(&PartRef) -> bool) -> Option<PartRef> {
        let before = self.named.range(..PartRef { message: end, part: 0 });
        before.rev().find(|call| is_before(call)).copied()
    }

    /// Records the call whose sub-agent is known now, if it is.
    fn take(&mut self, call: Option<PartRef>) {
        call.iter().for_each(|call| _ = self.named.remove(call));
        self.taken.extend(call);
    }
}

/// The text in a member of the element of a message.
fn member(message: &Message<'_>, key: &str) -> Option<String> {
    Some(message.value()?.get_text(key)?.decode().into_owned())
}

/// Whether a tool starts a sub-agent, by its name.
fn starts_agent(name: &str) -> bool {
    const AGENT: &[&str] = &["task", "agent", "subagent", "delegate", "spawn", "subtask"];
    const OTHER: &[&str] = &["create", "update", "list", "get", "stop", "output", "wait", "close", "complete", "done"];
    let words = name_words(name);
    words.iter().any(|word| AGENT.contains(&word.as_str())) && !words.iter().any(|word| OTHER.contains(&word.as_str()))
}

/// The texts in the arguments of a call that can be a task.
fn texts(arguments: &str) -> Vec<String> {
    if arguments.len() > MAX_ARGUMENTS {
        return Vec::new();
    }
    let Ok(document) = Document::parse(arguments) else { return Vec::new() };
    let members = document.roots().flat_map(Value::members).filter_map(|member| member.value.text());
    members.map(|text| text.decode().into_owned()).filter(|text| text.trim().len() > 8).collect()
}

#[cfg(test)]
mod tests {
    use super::{Starters, sides};
    use curtail_core::dialects::{Framing, Reading};
    use curtail_core::transcript::Pairs;

    fn line(uuid: usize, parent: &str, side: bool, role: &str, content: &str) -> String {
        format!(
            r#"{{"parentUuid":{parent},"isSidechain":{side},"sessionId":"s","version":"2.1.33","type":"{role}","message":{{"role":"{role}","content":{content}}},"uuid":"u{uuid}"}}"#
        ) + "\n"
    }

    fn task(id: &str) -> String {
        format!(r#"{{"type":"tool_use","id":"{id}","name":"Task","input":{{"prompt":"Find the lamp."}}}}"#)
    }

    /// Two calls with the same task are those of two sub-agents, in their order.
    #[test]
    fn sub_agents_with_the_same_task_have_calls_of_their_own() {
        let log = [
            line(1, "null", false, "user", "\"Search twice.\""),
            line(2, "\"u1\"", false, "assistant", &format!("[{},{}]", task("a"), task("b"))),
            line(3, "null", true, "user", "\"Find the lamp.\""),
            line(4, "null", true, "user", "\"Find the lamp.\""),
        ]
        .concat();
        let reading = Reading::new(Framing::Lines, Some("claude-code"), None).unwrap();
        let document = reading.parse(&log).unwrap();
        let (_, transcript) = &reading.transcripts(&document).unwrap()[0];
        let found = sides(&transcript.messages, &Pairs::from_messages(&transcript.messages));
        let calls: Vec<_> = found.iter().map(|side| side.call.map(|call| call.part)).collect();
        assert_eq!(calls, [Some(0), Some(1)]);

        // Calls that are taken are passed only once.
        let mut starters = Starters::new(&transcript.messages, &Pairs::from_messages(&transcript.messages));
        found.iter().for_each(|side| starters.take(side.call));
        assert_eq!(starters.call_of(&transcript.messages[3], None), None);
        assert!(starters.tasks["Find the lamp."].is_empty());
    }
}
