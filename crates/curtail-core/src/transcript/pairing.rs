//! Which result belongs to which call: computed once, here, for processors, repair and rules.
//!
//! A result belongs to the nearest earlier open call with its id and family. In formats without ids, the results of a turn
//! belong to its calls in order, each to the first one with its name.
//!
//! A deferred call stays open: of several results, the last is its counterpart, and each of them has the call as counterpart.

use std::borrow::Cow;

use foldhash::HashMap;

use super::open_calls::{Open, given};
use super::{Closes, Leader, Message, Part, PartRef, Standing, ToolCall};
use crate::json::{Text, Value};
use crate::steps;

/// Why a result has no call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mismatch {
    /// The nearest earlier call with its id is of another family.
    OtherFamily(PartRef),
    /// The nearest earlier call with its id is answered already.
    Answered(PartRef),
    /// The call with its id comes later.
    Later(PartRef),
}

impl Mismatch {
    /// The call that explains the mismatch.
    #[must_use]
    pub const fn call(self) -> PartRef {
        match self {
            Self::OtherFamily(call) | Self::Answered(call) | Self::Later(call) => call,
        }
    }
}

/// The calls and results of a transcript, each with its counterpart if it has one.
///
/// ```
/// use curtail_core::dialects::{Framing, Reading};
/// use curtail_core::transcript::Pairs;
///
/// let chat = r#"{"contents": [{"role": "model", "parts": [{"functionCall": {"name": "tides", "args": {}}}]},
///     {"role": "user", "parts": [{"functionResponse": {"name": "tides", "response": {"high": "05:12"}}}]}]}"#;
/// let reading = Reading::new(Framing::Document, None, None)?;
/// let document = reading.parse(chat)?;
/// let (_, transcript) = &reading.transcripts(&document)?[0];
/// let pairs = Pairs::from_messages(&transcript.messages);
/// let answered: Vec<_> = pairs.pairs().map(|(call, result)| (call.message, result.message)).collect();
/// assert_eq!(answered, [(0, 1)], "Gemini has no ids: position and name pair them");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Pairs {
    /// Number of parts before each message.
    before: Vec<usize>,
    /// For every part of every message, in order.
    counterparts: Vec<Option<PartRef>>,
    mismatches: HashMap<PartRef, Mismatch>,
    claimants: HashMap<PartRef, Vec<PartRef>>,
    /// For each call that another call made while it ran: the other call.
    callers: HashMap<PartRef, PartRef>,
    /// For each call that made others: these calls.
    made: HashMap<PartRef, Vec<PartRef>>,
    calls: Vec<PartRef>,
    results: Vec<PartRef>,
}

impl Pairs {
    /// Finds the pairs of `messages`.
    #[must_use]
    pub fn from_messages(messages: &[Message<'_>]) -> Self {
        let mut pairs = Self::unpaired(messages);
        let mut threads: HashMap<u32, Open<'_>> = HashMap::default();
        for (at, message) in messages.iter().enumerate() {
            let open = threads.entry(message.thread).or_default();
            if message.closes_calls() {
                let closes_all = message.call_rules.closes != Closes::Superseded;
                open.close(|call| !closes_all && messages[call.message].standing != Standing::Superseded);
            }
            open.follow(message, messages[at..].iter().filter(|other| other.thread == message.thread));
            for (nth, part) in message.parts.iter().enumerate() {
                let here = PartRef { message: at, part: nth };
                if let Some(call) = part.content.call() {
                    pairs.calls.push(here);
                    open.add(call, here, message.call_rules.shared_ids);
                } else if let Some(result) = part.content.result() {
                    pairs.results.push(here);
                    if let Some(call) = open.take(result, message.call_rules.shared_ids) {
                        pairs.answer(messages, call, here);
                        if let Some(deferred) = deferred(messages, call) {
                            open.add(deferred, call, false);
                        }
                    }
                }
            }
        }
        pairs.find_mismatches(messages);
        pairs.find_callers(messages);
        pairs
    }

    /// The call that made this call while it ran, and the calls that this call made. They are kept or dropped together.
    pub fn program(&self, call: PartRef) -> impl Iterator<Item = PartRef> {
        let made = self.made.get(&call).into_iter().flatten();
        self.callers.get(&call).into_iter().chain(made).copied()
    }

    /// Every call that another call made, with that call.
    pub fn callers(&self) -> impl Iterator<Item = (PartRef, PartRef)> {
        self.callers.iter().map(|(call, program)| (*call, *program))
    }

    /// Why a result has no call, if a call with the same id explains it.
    #[must_use]
    pub fn mismatch(&self, result: PartRef) -> Option<Mismatch> {
        self.mismatches.get(&result).copied()
    }

    /// The other results that name this call: those that a later result of a deferred call replaced, and those without a call
    /// whose mismatch names this one.
    #[must_use]
    pub fn claimants(&self, call: PartRef) -> &[PartRef] {
        self.claimants.get(&call).map_or(&[], Vec::as_slice)
    }

    /// The result of a call, or the call of a result; `None` if it has none.
    #[must_use]
    pub fn counterpart(&self, at: PartRef) -> Option<PartRef> {
        steps::count(1);
        *self.counterparts.get(self.before.get(at.message)? + at.part)?
    }

    /// The name of the tool that a part calls, or that its result comes from: that of the call, or else the one that the result
    /// itself names.
    #[must_use]
    pub fn tool_name<'m, 'a>(&self, messages: &'m [Message<'a>], at: PartRef) -> Option<&'m Text<'a>> {
        let call = self.counterpart(at).and_then(|other| other.part_in(messages).content.call());
        call.map(|call| &call.name).or_else(|| at.part_in(messages).content.tool_name())
    }

    /// The names of the tools that are called or whose results are there, each as often as it is named.
    pub fn tool_names<'m>(&'m self, messages: &'m [Message<'_>]) -> impl Iterator<Item = Cow<'m, str>> {
        let parts = self.calls.iter().chain(&self.results);
        parts.filter_map(|at| Some(at.part_in(messages).content.tool_name()?.decode()))
    }

    /// All calls, in order.
    #[must_use]
    pub fn calls(&self) -> &[PartRef] {
        &self.calls
    }

    /// All results, in order.
    #[must_use]
    pub fn results(&self) -> &[PartRef] {
        &self.results
    }

    /// Call and result of every pair, in the order of the calls.
    pub fn pairs(&self) -> impl Iterator<Item = (PartRef, PartRef)> {
        self.calls.iter().filter_map(|&call| self.counterpart(call).map(|result| (call, result)))
    }

    fn unpaired(messages: &[Message<'_>]) -> Self {
        let mut count = 0;
        let before = messages.iter().map(|message| {
            let before = count;
            count += message.parts.len();
            before
        });
        let before = before.collect();
        Self { before, counterparts: vec![None; count], ..Self::default() }
    }

    /// Joins a result with its call. An earlier result of a deferred call is dropped with the call.
    fn answer(&mut self, messages: &[Message<'_>], call: PartRef, result: PartRef) {
        if let Some(earlier) = self.counterpart(call).filter(|_| deferred(messages, call).is_some()) {
            self.claimants.entry(call).or_default().push(earlier);
        }
        self.join(call, result);
    }

    fn join(&mut self, call: PartRef, result: PartRef) {
        for (at, counterpart) in [(call, result), (result, call)] {
            let at = self.before[at.message] + at.part;
            self.counterparts[at] = Some(counterpart);
        }
    }

    fn find_mismatches(&mut self, messages: &[Message<'_>]) {
        let unpaired: Vec<PartRef> =
            self.results.iter().copied().filter(|at| self.counterpart(*at).is_none()).collect();
        if unpaired.is_empty() {
            return;
        }
        let mut by_id: HashMap<Id<'_>, Vec<PartRef>> = HashMap::default();
        let mut open_by_id: HashMap<Id<'_>, Vec<PartRef>> = HashMap::default();
        for &at in &self.calls {
            if let Some(id) = at.part_in(messages).content.tool_id() {
                let id = (messages[at.message].thread, id.decode());
                if self.counterpart(at).is_none() {
                    open_by_id.entry(id.clone()).or_default().push(at);
                }
                by_id.entry(id).or_default().push(at);
            }
        }
        for at in unpaired {
            let Some(result) = at.part_in(messages).content.result() else { continue };
            let id = given(result.id.as_ref()).map(|id| (messages[at.message].thread, id.decode()));
            let calls = id.as_ref().and_then(|id| by_id.get(id)).map_or(&[][..], Vec::as_slice);
            let earlier = calls[..calls.partition_point(|&call| call < at)].last().copied();
            let family = earlier.and_then(|call| call.part_in(messages).content.call()).map(|call| call.family);
            let open = id.and_then(|id| open_by_id.get(&id)).map_or(&[][..], Vec::as_slice);
            let later = open.get(open.partition_point(|&call| call < at)).copied();
            let mismatch = match (earlier, later) {
                (Some(call), _) if !family.is_some_and(|family| family.is_answered_by(result.family)) => {
                    Mismatch::OtherFamily(call)
                }
                (Some(call), _) if self.counterpart(call).is_some() => Mismatch::Answered(call),
                (_, Some(call)) => Mismatch::Later(call),
                _ => continue,
            };
            self.mismatches.insert(at, mismatch);
            self.claimants.entry(mismatch.call()).or_default().push(at);
        }
    }

    /// A call that a program makes names the call of the program. A call of a reply names the call beside its signed thoughts,
    /// which matters as long as they are there.
    fn find_callers(&mut self, messages: &[Message<'_>]) {
        if self.calls.iter().all(|&at| leader(messages, at).is_none()) {
            return;
        }
        let mut programs: HashMap<Id<'_>, PartRef> = HashMap::default();
        for &at in &self.calls {
            let thread = messages[at.message].thread;
            let program = match leader(messages, at) {
                Some(Leader::Program(id)) => called(&programs, thread, id),
                Some(Leader::Thinking(id)) => called(&programs, thread, id)
                    .filter(|call| messages[call.message].parts.iter().any(Part::is_prefix_bound)),
                None => None,
            };
            if let Some(program) = program {
                self.callers.insert(at, program);
                self.made.entry(program).or_default().push(at);
            }
            if let Some(id) = at.part_in(messages).content.tool_id() {
                programs.insert((thread, id.decode()), at);
            }
        }
    }
}

/// The call of this conversation among `calls` with this id.
fn called(calls: &HashMap<Id<'_>, PartRef>, thread: u32, id: Value<'_>) -> Option<PartRef> {
    calls.get(&(thread, id.text()?.into_decoded())).copied()
}

/// What leads the call at `at`, if anything does.
fn leader<'a>(messages: &[Message<'a>], at: PartRef) -> Option<Leader<'a>> {
    at.part_in(messages).place()?.leader()
}

/// The call at `at`, if it is deferred.
pub(super) fn deferred<'m, 'a>(messages: &'m [Message<'a>], at: PartRef) -> Option<&'m ToolCall<'a>> {
    at.part_in(messages).content.call().filter(|call| call.deferred)
}

type Id<'m> = (u32, Cow<'m, str>);

#[cfg(test)]
mod tests {
    use super::Pairs;
    use crate::dialects::{Framing, Reading};
    use crate::transcript::{Fault, FaultKind};

    /// The message of the call of each result: of calls `a`, results `r` and a text `t` in ShareGPT.
    #[test]
    fn calls_in_messages_of_their_own_are_answered_in_their_order() {
        for (messages, expected) in [
            ("aarr", &[Some(0), Some(1)][..]),
            ("aaarrr", &[Some(0), Some(1), Some(2)]),
            ("aar", &[Some(1)]),
            ("aaarr", &[Some(1), Some(2)]),
            ("aarrr", &[Some(0), Some(1), None]),
            ("aatarr", &[Some(1), Some(3)]),
            ("araarr", &[Some(0), Some(2), Some(3)]),
        ] {
            let items: Vec<&str> = messages
                .chars()
                .map(|kind| match kind {
                    'a' => r#"{"from":"function_call","value":"{\"name\":\"look\",\"arguments\":{}}"}"#,
                    'r' => r#"{"from":"observation","value":"seen"}"#,
                    _ => r#"{"from":"gpt","value":"I look."}"#,
                })
                .collect();
            let text = items.join("\n");
            let reading = Reading::new(Framing::Lines, Some("sharegpt"), None).unwrap();
            let document = reading.parse(&text).unwrap();
            let (_, transcript) = &reading.transcripts(&document).unwrap()[0];
            let pairs = Pairs::from_messages(&transcript.messages);
            let calls = pairs.results().iter().map(|&result| pairs.counterpart(result).map(|call| call.message));
            assert_eq!(calls.collect::<Vec<_>>(), expected, "{messages}");
        }
    }

    /// Qwen-Agent before version 0.0.30 gives all calls of a reply the id 1, and with some prompts none; their results have it.
    #[test]
    fn calls_that_share_an_id_are_answered_in_their_order() {
        let asking = |extra: &str| {
            format!(
                r#"{{"role":"assistant","content":"","function_call":{{"name":"look","arguments":"{{}}"}},"extra":{extra}}}"#
            )
        };
        let result = r#"{"role":"function","name":"look","content":"seen","extra":{"function_id":"1"}}"#;
        for extra in [r#"{"function_id":"1"}"#, "{}"] {
            let call = asking(extra);
            let asked = r#"{"role":"user","content":"Go on."}"#;
            let text = [&call, asked, &call, &call, result, result, &call, result].join("\n");
            let reading = Reading::new(Framing::Lines, Some("qwen-agent"), None).unwrap();
            let document = reading.parse(&text).unwrap();
            let (dialect, transcript) = &reading.transcripts(&document).unwrap()[0];
            let pairs = Pairs::from_messages(&transcript.messages);
            let found: Vec<_> = pairs.pairs().map(|(call, result)| (call.message, result.message)).collect();
            assert_eq!(found, [(2, 4), (3, 5), (6, 7)], "{extra}");
            let faults = Fault::find_all(&transcript.messages, &pairs, dialect.pairing_rules());
            assert_eq!(
                faults.iter().map(|fault| fault.kind).collect::<Vec<_>>(),
                [FaultKind::UnansweredCall],
                "{extra}"
            );
        }
    }

    #[test]
    fn calls_with_empty_ids_are_answered_in_their_order() {
        let call = |name: &str| {
            format!("{{\"id\":\"\",\"type\":\"function\",\"function\":{{\"name\":\"{name}\",\"arguments\":\"{{}}\"}}}}")
        };
        let result = "{\"role\":\"tool\",\"tool_call_id\":\"\",\"content\":\"5\"}\n";
        let calls =
            format!("{{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{},{}]}}\n", call("a"), call("b"));
        let text = [&calls, result, result].concat();
        let reading = Reading::new(Framing::Lines, Some("openai"), None).unwrap();
        let document = reading.parse(&text).unwrap();
        let (_, transcript) = &reading.transcripts(&document).unwrap()[0];
        let pairs = Pairs::from_messages(&transcript.messages);
        let found: Vec<_> = pairs.pairs().map(|(call, result)| (call.part, result.message)).collect();
        assert_eq!(found, [(0, 1), (1, 2)]);
    }
}
