//! Summarizes a session: its first prompt as a title, the agent, project and times, and the outcome of each prompt.

use std::collections::HashSet;
use std::ops::Range;

use super::markdown::plain;
use super::requests::Cost;
use super::spending::Spending;
use super::tools::CallKind;
use super::visible::{Moment, line};
use super::writers::Writers;
use curtail_core::dialects::{Dialect, agent_of, project};
use curtail_core::json::{Text, Value};
use curtail_core::numbers::tally;
use curtail_core::steps;
use curtail_core::transcript::{Content, Message, Pairs, Part, PartRef, Role, ToolCall, turn_starts};
use curtail_facts::{Facts, as_typed, is_typed};

/// Maximum characters of a title.
const MAX_TITLE: usize = 90;

/// The facts about a session that precede its messages.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Story {
    /// The beginning of the first prompt.
    pub(super) title: Option<String>,
    /// The program that wrote the log, or the dialect.
    pub(super) agent: String,
    /// The folder that the agent worked in.
    pub(super) project: Option<String>,
    /// The files that were changed, each with the message that changed it last.
    pub(super) files: Vec<(String, usize)>,
    pub(super) prompts: Vec<Prompt>,
}

/// What is known of a conversation when its story is collected.
pub(super) struct StorySources<'s, 'a> {
    pub(super) dialect: &'static dyn Dialect,
    /// The items of its log.
    pub(super) items: &'s [Value<'a>],
    pub(super) messages: &'s [Message<'a>],
    /// The texts of a reply outside the messages.
    pub(super) replies: &'s [Text<'a>],
    pub(super) costs: &'s [Cost],
    pub(super) writers: &'s Writers,
    pub(super) pairs: &'s Pairs,
    pub(super) moments: &'s [Option<Moment>],
    pub(super) failures: &'s HashSet<PartRef>,
    pub(super) spending: Option<&'s Spending>,
}

/// A prompt of a person, and the work that followed.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Prompt {
    /// The index of its message.
    pub(super) message: usize,
    pub(super) text: String,
    pub(super) calls: usize,
    /// The tools that were called, the most frequent first, with the number of their calls.
    pub(super) tools: Vec<(String, usize)>,
    pub(super) tokens: usize,
    /// Seconds from the prompt to the last message before the next one.
    pub(super) seconds: Option<f64>,
    pub(super) files: Vec<String>,
    pub(super) commits: usize,
    /// The number of calls whose result says that the tool failed.
    pub(super) failed: usize,
    /// What its requests cost, in US dollars.
    pub(super) dollars: Option<f64>,
    pub(super) end: TurnEnd,
}

/// How a turn ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum TurnEnd {
    /// Nobody replied.
    #[default]
    Unanswered,
    /// With this text of the model.
    Text(String),
    /// With a question of the model.
    Question(String),
    /// With a call that hands in the work, and the model's words before it.
    Submitted(String),
    /// With a call that has no result.
    Pending(String),
    /// With a result that the model did not reply to.
    Result,
    /// A person stopped it.
    Stopped,
}

impl Story {
    /// Collects the facts of a conversation.
    pub(super) fn new(sources: &StorySources<'_, '_>) -> Self {
        let &StorySources { dialect, items, messages, .. } = sources;
        let turns: Vec<usize> = prompts(sources);
        let ends = turns.iter().skip(1).copied().chain([messages.len()]);
        let mut prompts: Vec<Prompt> =
            turns.iter().copied().zip(ends).map(|(from, to)| sources.prompt(from, to)).collect();
        // A call is told apart from the words of a reply by being JSON.
        let words = sources.replies.iter().rfind(|reply| !matches!(reply, Text::Json(_)));
        if let (Some(last), Some(reply)) = (prompts.last_mut(), words.or(sources.replies.last())) {
            last.end = TurnEnd::of_text(&reply.decode());
        }
        let title = prompts.iter().map(|prompt| &prompt.text).find(|text| !text.is_empty());
        let mut facts = Facts::default();
        facts.read_range(messages, sources.pairs, 0..messages.len());
        let changed = facts.changed.iter().filter(|change| !change.is_script());
        Self {
            title: title.map(|text| line(text, MAX_TITLE)),
            agent: agent_of(dialect).map_or_else(|| dialect.name(), |agent| agent.name).to_owned(),
            project: items.iter().find_map(|item| project(*item)).map(|text| text.decode().into_owned()),
            files: changed.filter_map(|change| Some((change.path.clone(), change.at.message?))).collect(),
            prompts,
        }
    }

    /// The number of a prompt, from 0, if message `at` is one.
    pub(super) fn prompt_number(&self, at: usize) -> Option<usize> {
        let found = self.prompts.binary_search_by(|prompt| {
            steps::count(1);
            prompt.message.cmp(&at)
        });
        found.ok()
    }

    /// Whether message `at` is a prompt.
    pub(super) fn is_prompt(&self, at: usize) -> bool {
        self.prompt_number(at).is_some()
    }
}

impl StorySources<'_, '_> {
    /// A prompt, and the work from message `from` up to message `to`, which is excluded.
    fn prompt(&self, from: usize, to: usize) -> Prompt {
        let Self { messages, pairs, .. } = *self;
        let mut facts = Facts::default();
        facts.read_range(messages, pairs, from..to);
        let tools = tools(&messages[from..to]);
        let files = facts.changed.iter().filter(|change| !change.is_script());
        let dollars = self.spending.and_then(|spending| Some(spending.messages.get(from..to)?.iter().sum()));
        Prompt {
            message: from,
            text: prompt_text(&messages[from]),
            calls: tools.iter().map(|(_, count)| count).sum(),
            tools,
            tokens: self.costs[from..to].iter().map(|cost| cost.tokens).sum(),
            seconds: seconds(&self.moments[from..to]),
            files: files.map(|change| change.path.clone()).collect(),
            commits: facts.commits.len(),
            failed: self.failed_calls(from..to),
            dollars,
            end: TurnEnd::of_turn(messages, pairs, from..to),
        }
    }

    /// The number of calls in `range` whose result says that the tool failed.
    fn failed_calls(&self, range: Range<usize>) -> usize {
        let calls = range.flat_map(|at| self.messages[at].calls().map(move |(part, _)| PartRef { message: at, part }));
        let results = calls.filter_map(|call| self.pairs.counterpart(call));
        results.filter(|result| self.failures.contains(result)).count()
    }
}

/// The messages with prompts of a person: those that begin a turn, without texts that the agent's program wrote, and without
/// messages that a compaction repeats.
fn prompts(sources: &StorySources<'_, '_>) -> Vec<usize> {
    let &StorySources { messages, writers, .. } = sources;
    let begins = turn_starts(messages);
    let new = begins.iter().filter(|&&at| writers.is_own(at) && !messages[at].is_in_compaction());
    let typed: Vec<usize> = new.copied().filter(|&at| is_asked(&messages[at])).collect();
    if typed.is_empty() { begins } else { typed }
}

fn is_asked(message: &Message<'_>) -> bool {
    message.parts.iter().filter(|part| !part.instructs()).any(|part| match &part.content {
        Content::Text(text) => is_typed(&text.decode()) && !is_stop(&text.decode()),
        Content::Media(_) => true,
        _ => false,
    })
}

/// Whether this is the text that the agent's program writes when a person stops the model.
fn is_stop(text: &str) -> bool {
    text.starts_with("[Request interrupted by user") || text.starts_with("<turn_aborted>")
}

fn prompt_text(message: &Message<'_>) -> String {
    let own = message.parts.iter().filter(|part| !part.instructs());
    let texts: Vec<_> = own.filter_map(|part| part.content.text()).map(Text::decode).collect();
    let typed = texts.iter().find(|text| is_typed(text)).or(texts.first());
    typed.map_or_else(|| String::from("image or file"), |text| line(&as_typed(text), 200))
}

fn seconds(moments: &[Option<Moment>]) -> Option<f64> {
    let first = moments.first()?.as_ref()?;
    let last = moments.iter().rev().flatten().next()?;
    Some(last.seconds - first.seconds).filter(|seconds| *seconds >= 0.0)
}

impl TurnEnd {
    fn of_turn(messages: &[Message<'_>], pairs: &Pairs, turn: Range<usize>) -> Self {
        let thread = messages[turn.start].thread;
        // An exchange that begins a turn has an answer in it.
        let asked = usize::from(!messages[turn.start].is_exchange());
        for at in turn.skip(asked).rev() {
            let message = &messages[at];
            if message.thread != thread || message.parts.is_empty() || message.is_boundary() {
                continue;
            }
            let mut texts = message.parts.iter().filter_map(|part| part.content.text());
            if message.role == Role::User && texts.any(|text| is_stop(&text.decode())) {
                return Self::Stopped;
            }
            if message.speaks_as(Role::Assistant) {
                return Self::of_reply(message, at, pairs).unwrap_or_default();
            }
            if message.has_tools() {
                return Self::of_results(messages, pairs, at);
            }
        }
        Self::Unanswered
    }

    /// How a turn ended whose last message is the reply `message`, at `at`.
    fn of_reply(message: &Message<'_>, at: usize, pairs: &Pairs) -> Option<Self> {
        let mut said =
            message.parts.iter().enumerate().rev().filter(|(_, part)| message.speaker(part) == Role::Assistant);
        said.find_map(|(part, Part { content, .. })| match content {
            Content::Text(text) if !text.is_blank() => Some(Self::of_text(&text.decode())),
            Content::ToolCall(call) if hands_in(call) => Some(Self::Submitted(words_of(message))),
            Content::ToolCall(call) if call.hosted => None,
            Content::ToolCall(_) if pairs.counterpart(PartRef { message: at, part }).is_some() => Some(Self::Result),
            Content::ToolCall(call) => Some(Self::Pending(line(&call.name.decode(), 60))),
            _ => None,
        })
    }

    /// How a turn ended whose last message, at `at`, has results: some programs write one for the call that hands in the work.
    fn of_results(messages: &[Message<'_>], pairs: &Pairs, at: usize) -> Self {
        let calls = messages[at].results().filter_map(|(part, _)| pairs.counterpart(PartRef { message: at, part }));
        let mut parts = calls.filter_map(|call| Some((call.message, messages[call.message].parts.get(call.part)?)));
        let ends = parts.find(|(_, part)| part.content.call().is_some_and(hands_in));
        ends.map_or(Self::Result, |(call, _)| Self::Submitted(words_of(&messages[call])))
    }

    fn of_text(text: &str) -> Self {
        let last = text.trim_end().lines().next_back().unwrap_or_default();
        let is_question = last.trim_end_matches(['*', '_', ' ']).ends_with(['?', '？']);
        if is_question { Self::Question(plain(last, 160)) } else { Self::Text(plain(text, 160)) }
    }
}

/// Names of tools that end a run, in which the model hands in its work.
const ENDS: &[&str] = &["submit", "finish", "complete", "completion", "done", "terminate", "final"];

/// What a command prints that hands in the work, in mini-swe-agent.
const SUBMITS: &str = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT";

/// Whether a call hands in the work of the model: its tool does, or the command that it runs says so.
fn hands_in(call: &ToolCall<'_>) -> bool {
    let name = call.name.decode().to_ascii_lowercase();
    let arguments = call.arguments.decode();
    name.split(|c: char| !c.is_alphanumeric()).any(|word| ENDS.contains(&word)) || submits(&name, &arguments)
}

/// Whether the arguments of a call hand in the work: with the command `submit` of SWE-agent, on a line of its own or beside others,
/// or by what a command prints. What is written to a file says nothing.
fn submits(name: &str, arguments: &str) -> bool {
    match CallKind::from_call(name, arguments) {
        CallKind::Shell { command, .. } => {
            command.contains(SUBMITS) || command.split(['\n', ';', '&', '|']).any(is_submit)
        }
        CallKind::Edit { .. } => false,
        _ => ["\"submit\"", SUBMITS].iter().any(|words| arguments.contains(words)),
    }
}

fn is_submit(command: &str) -> bool {
    let mut words = command.split_whitespace();
    words.next() == Some("submit") && words.all(|word| word.starts_with('-'))
}

/// The first text of a message, without its markup.
fn words_of(message: &Message<'_>) -> String {
    let text = message.parts.iter().filter_map(|part| part.content.text()).find(|text| !text.is_blank());
    text.map_or_else(String::new, |text| plain(&text.decode(), 160))
}

/// The tools that messages call, the most frequent first.
fn tools(messages: &[Message<'_>]) -> Vec<(String, usize)> {
    let mut tools = tally(messages.iter().flat_map(Message::calls).map(|(_, call)| call.name.decode().into_owned()));
    tools.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    tools
}

#[cfg(test)]
mod tests {
    use curtail_core::dialects::{Framing, Reading};
    use curtail_core::transcript::Pairs;

    use super::{SUBMITS, TurnEnd, submits};

    #[test]
    fn a_turn_ends_with_what_its_last_message_has() {
        let asked = r#"{"id":"u","role":"user","parts":[{"type":"text","text":"When?"}]}"#;
        let answered =
            r#"{"type":"tool-timetable","toolCallId":"c","state":"output-available","input":{},"output":"17:58"}"#;
        let open = r#"{"type":"tool-exit_plan_mode","toolCallId":"d","state":"input-available","input":{}}"#;
        let said = r#"{"type":"text","text":"At 17:58."}"#;
        for (parts, end) in [
            (answered.to_owned(), TurnEnd::Result),
            (open.to_owned(), TurnEnd::Pending("exit_plan_mode".into())),
            (format!("{answered},{said}"), TurnEnd::Text("At 17:58.".into())),
        ] {
            let log = format!("[{asked},{{\"id\":\"a\",\"role\":\"assistant\",\"parts\":[{parts}]}}]");
            let reading = Reading::new(Framing::Document, Some("ai-sdk"), None).unwrap();
            let document = reading.parse(&log).unwrap();
            let (_, transcript) = &reading.transcripts(&document).unwrap()[0];
            let pairs = Pairs::from_messages(&transcript.messages);
            assert_eq!(TurnEnd::of_turn(&transcript.messages, &pairs, 0..2), end, "{parts}");
        }
    }

    #[test]
    fn a_turn_ends_with_the_call_that_hands_in_its_work() {
        for (tool, end) in [("finish", TurnEnd::Submitted("Done.".into())), ("timetable", TurnEnd::Result)] {
            let log = format!(
                r#"[{{"role":"user","content":"When?"}},{{"role":"assistant","content":"Done.","tool_calls":[{{"id":"c","type":"function","function":{{"name":"{tool}","arguments":"{{}}"}}}}]}},{{"role":"tool","tool_call_id":"c","content":"17:58"}}]"#
            );
            let reading = Reading::new(Framing::Document, Some("openai"), None).unwrap();
            let document = reading.parse(&log).unwrap();
            let (_, transcript) = &reading.transcripts(&document).unwrap()[0];
            let pairs = Pairs::from_messages(&transcript.messages);
            assert_eq!(TurnEnd::of_turn(&transcript.messages, &pairs, 0..3), end, "{tool}");
        }
    }

    #[test]
    fn a_command_that_submits_hands_in_the_work() {
        for command in [
            "submit",
            r"submit\n",
            "cd /r; submit",
            "submit && echo ok",
            "submit -f",
            "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT",
        ] {
            assert!(submits("bash", &format!(r#"{{"command":"{command}"}}"#)), "{command}");
        }
        assert!(submits("act", r#"{"action":"submit"}"#));
        assert!(submits("act", &format!(r#"{{"keys":"echo {SUBMITS}"}}"#)));
        for command in
            ["git log --grep submit", r"git commit -m 'Let people\nsubmit a form'", r#"grep 'type=\"submit\"' a.html"#]
        {
            assert!(!submits("bash", &format!(r#"{{"command":"{command}"}}"#)), "{command}");
        }
        assert!(!submits("write_file", r#"{"path":"a.html","content":"<button type=\"submit\">\nsubmit\n"}"#));
    }
}
