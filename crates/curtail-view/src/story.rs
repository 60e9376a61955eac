//! Summarizes a session: its first prompt as a title, the agent, project and times, and the outcome of each prompt.

use std::collections::HashMap;
use std::ops::Range;

use super::markdown::plain;
use super::requests::{Cost, LoggedUsages, Provided};
use super::visible::{Moment, line};
use curtail_core::dialects::{Dialect, agent_of, project};
use curtail_core::json::Value;
use curtail_core::steps;
use curtail_core::transcript::{Content, Message, Pairs, Part, PartRef, Role, turn_starts};
use curtail_facts::{Facts, failed, is_typed, without_tag};
use curtail_lab::replay::Prices;

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
    /// The price of all requests.
    pub(super) price: Option<SessionPrice>,
    pub(super) prompts: Vec<Prompt>,
}

/// The price of the requests whose tokens the log has.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SessionPrice {
    /// In US dollars.
    pub(super) dollars: f64,
    /// The date of the prices.
    pub(super) date: String,
    /// Whether it includes the replies.
    pub(super) with_output: bool,
    /// The number of requests whose tokens the log has, and of all requests.
    pub(super) counted: usize,
    pub(super) requests: usize,
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
    /// With a call that has no result.
    Pending(String),
    /// With a result that the model did not reply to.
    Result,
    /// A person stopped it.
    Stopped,
}

impl Story {
    /// Collects the facts of a conversation. `items` are the items of its log.
    pub(super) fn new(
        dialect: &dyn Dialect,
        items: &[Value<'_>],
        messages: &[Message<'_>],
        costs: &[Cost],
        summaries: &[bool],
        pairs: &Pairs,
        moments: &[Option<Moment>],
    ) -> Self {
        let turns: Vec<usize> = prompts(messages, summaries);
        let ends = turns.iter().skip(1).copied().chain([messages.len()]);
        let prompts = turns.iter().copied().zip(ends).map(|(from, to)| Prompt {
            message: from,
            text: prompt_text(&messages[from]),
            tokens: costs[from..to].iter().map(|cost| cost.tokens).sum(),
            seconds: seconds(&moments[from..to]),
            ..Prompt::from_work(messages, pairs, from, to)
        });
        let prompts: Vec<Prompt> = prompts.collect();
        let title = prompts.iter().map(|prompt| &prompt.text).find(|text| !text.is_empty());
        Self {
            title: title.map(|text| line(text, MAX_TITLE)),
            agent: agent_of(dialect).map_or_else(|| dialect.name(), |agent| agent.name).to_owned(),
            project: items.iter().find_map(|item| project(*item)).map(|text| text.decode().into_owned()),
            price: None,
            prompts,
        }
    }

    /// Whether message `at` is a prompt.
    pub(super) fn is_prompt(&self, at: usize) -> bool {
        let compared = |prompt: &Prompt| {
            steps::count(1);
            prompt.message.cmp(&at)
        };
        self.prompts.binary_search_by(compared).is_ok()
    }

    /// Adds the price of the requests whose tokens the log has, if all of them can be priced.
    pub(super) fn priced(mut self, usages: &LoggedUsages, prices: Option<&Prices>) -> Self {
        let cost = |request: &Provided| prices?.of_usage(request.model.as_deref()?, request.usage);
        let has_output = |request: &Provided| {
            let price = prices.and_then(|prices| prices.model(request.model.as_deref()?));
            request.usage.output > 0 && price.is_some_and(|price| price.output.is_some())
        };
        let dollars: Option<f64> = usages.provided.iter().map(cost).sum();
        let dollars = dollars.filter(|_| !usages.provided.is_empty());
        self.price = dollars.zip(prices).map(|(dollars, prices)| SessionPrice {
            dollars,
            date: prices.date.clone(),
            with_output: usages.provided.iter().any(has_output),
            counted: usages.provided.len(),
            requests: usages.requests,
        });
        self
    }
}

/// The messages with prompts of a person: those that begin a turn, without texts that the agent's program wrote, and without
/// messages that a compaction repeats.
fn prompts(messages: &[Message<'_>], summaries: &[bool]) -> Vec<usize> {
    let begins = turn_starts(messages);
    let is_new = |at: usize| !summaries[at] && !messages[at].is_in_compaction();
    let typed: Vec<usize> = begins.iter().copied().filter(|&at| is_new(at) && is_asked(&messages[at])).collect();
    if typed.is_empty() { begins } else { typed }
}

fn is_asked(message: &Message<'_>) -> bool {
    let mut texts = message.parts.iter().filter(|part| !part.instructs()).filter_map(|part| match &part.content {
        Content::Text(text) => Some(is_typed(&text.decode()) && !is_stop(&text.decode())),
        Content::Media(_) => Some(true),
        _ => None,
    });
    texts.any(|typed| typed)
}

/// Whether this is the text that the agent's program writes when a person stops the model.
fn is_stop(text: &str) -> bool {
    text.starts_with("[Request interrupted by user") || text.starts_with("<turn_aborted>")
}

fn stops_model(part: &Part<'_>) -> bool {
    matches!(&part.content, Content::Text(text) if is_stop(&text.decode()))
}

fn prompt_text(message: &Message<'_>) -> String {
    let texts = message.parts.iter().filter(|part| !part.instructs()).filter_map(|part| match &part.content {
        Content::Text(text) => Some(text.decode().into_owned()),
        _ => None,
    });
    let texts: Vec<String> = texts.collect();
    let typed = texts.iter().find(|text| is_typed(text)).or(texts.first());
    typed.map_or_else(|| String::from("image or file"), |text| line(without_tag(text), 200))
}

fn seconds(moments: &[Option<Moment>]) -> Option<f64> {
    let first = moments.first()?.as_ref()?;
    let last = moments.iter().rev().flatten().next()?;
    Some(last.seconds - first.seconds).filter(|seconds| *seconds >= 0.0)
}

impl Prompt {
    /// The work from message `from` up to message `to`, which is excluded.
    fn from_work(messages: &[Message<'_>], pairs: &Pairs, from: usize, to: usize) -> Self {
        let mut facts = Facts::default();
        facts.read_range(messages, pairs, from..to);
        let tools = tools(messages[from..to].iter());
        let files = facts.changed.iter().filter(|change| !change.is_script());
        Self {
            calls: tools.iter().map(|(_, count)| count).sum(),
            failed: failed_calls(messages, pairs, from..to),
            tools,
            files: files.map(|change| change.path.clone()).collect(),
            commits: facts.commits.len(),
            end: TurnEnd::of_turn(&messages[from..to]),
            ..Self::default()
        }
    }
}

impl TurnEnd {
    fn of_turn(messages: &[Message<'_>]) -> Self {
        let shown = |message: &&Message<'_>| {
            message.thread == messages[0].thread && !message.parts.is_empty() && !message.is_boundary()
        };
        for message in messages.iter().skip(1).rev().filter(shown) {
            if message.role == Role::User && message.parts.iter().any(stops_model) {
                return Self::Stopped;
            }
            if message.role == Role::Assistant {
                return Self::of_reply(message).unwrap_or_default();
            }
            if message.has_tools() {
                return Self::Result;
            }
        }
        Self::Unanswered
    }

    fn of_reply(message: &Message<'_>) -> Option<Self> {
        message.parts.iter().rev().find_map(|part| match &part.content {
            Content::Text(text) if !text.is_blank() => {
                let text = text.decode();
                let last = text.trim_end().lines().next_back().unwrap_or_default();
                let is_question = last.trim_end_matches(['*', '_', ' ']).ends_with(['?', '？']);
                Some(if is_question { Self::Question(plain(last, 160)) } else { Self::Text(plain(&text, 160)) })
            }
            Content::ToolCall(call) if !call.hosted => Some(Self::Pending(line(&call.name.decode(), 60))),
            _ => None,
        })
    }
}

/// The number of calls in `range` whose result says that the tool failed.
fn failed_calls(messages: &[Message<'_>], pairs: &Pairs, range: Range<usize>) -> usize {
    let calls = range.flat_map(|at| messages[at].calls().map(move |(part, _)| PartRef { message: at, part }));
    let results = calls.filter_map(|call| pairs.counterpart(call));
    results.filter(|result| failed(&messages[result.message].parts[result.part])).count()
}

/// The tools that messages call, the most frequent first.
fn tools<'m>(messages: impl Iterator<Item = &'m Message<'m>>) -> Vec<(String, usize)> {
    let mut places = HashMap::new();
    let mut tools: Vec<(String, usize)> = Vec::new();
    for (_, call) in messages.flat_map(Message::calls) {
        let name = call.name.decode();
        let place = *places.entry(name.clone()).or_insert(tools.len());
        match tools.get_mut(place) {
            Some((_, count)) => *count += 1,
            None => tools.push((name.into_owned(), 1)),
        }
    }
    tools.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    tools
}
