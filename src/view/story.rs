//! Summarizes a session: its first prompt as a title, the agent, project and times, and the outcome of each prompt.

use std::collections::HashMap;

use maud::{Markup, html};

use super::content::more;
use super::conversation::{Conversation, Cost, LoggedUsages, Provided};
use super::markdown::plain;
use super::visible::{Moment, Shown, counted, date, duration, figure, line};
use curtail_core::dialects::{Dialect, agent_of, project};
use curtail_core::json::Value;
use curtail_core::steps;
use curtail_core::transcript::{Content, Message, Pairs, Role, turn_starts};
use curtail_facts::{Facts, is_typed, without_tag};
use curtail_lab::replay::Prices;

/// Maximum characters of a title.
const MAX_TITLE: usize = 90;
/// How many prompts are listed; later ones are folded.
const MAX_LISTED: usize = 12;
/// Maximum number of tools that are listed for a prompt.
const MAX_TOOLS: usize = 4;
/// Maximum number of files that are listed for a prompt.
const MAX_FILES: usize = 4;

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
    dollars: f64,
    /// The date of the prices.
    date: String,
    /// Whether it includes the replies.
    with_output: bool,
    /// The number of requests whose tokens the log has, and of all requests.
    counted: usize,
    requests: usize,
}

/// A prompt of a person, and the work that followed.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Prompt {
    /// The index of its message.
    pub(super) message: usize,
    text: String,
    calls: usize,
    /// The tools that were called, the most frequent first, with the number of their calls.
    tools: Vec<(String, usize)>,
    tokens: usize,
    /// Seconds from the prompt to the last message before the next one.
    seconds: Option<f64>,
    files: Vec<String>,
    commits: usize,
    end: TurnEnd,
}

/// How a turn ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum TurnEnd {
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

impl SessionPrice {
    fn draw(&self) -> Markup {
        let what = if self.with_output { "" } else { "input " };
        let amount = match self.dollars {
            ..0.01 => format!("{what}less than $0.01"),
            dollars => format!("{what}about ${dollars:.2}"),
        };
        let excluded = if self.with_output { "" } else { "; output is not included" };
        html! {
            span data-fact="cost" title={ "An estimate by the prices of " (self.date) (excluded) } {
                (amount)
                @if self.counted < self.requests { " for " (self.counted) " of " (counted(self.requests, "request")) }
            }
        }
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
        let mut ledger = Facts::default();
        ledger.read_range(messages, pairs, from..to);
        let files = ledger.changed.iter().filter(|change| !change.is_script());
        Self {
            calls: ledger.calls,
            tools: tools(messages[from..to].iter()),
            files: files.map(|change| change.path.clone()).collect(),
            commits: ledger.commits.len(),
            end: TurnEnd::of_turn(&messages[from..to]),
            ..Self::default()
        }
    }
}

impl TurnEnd {
    fn of_turn(messages: &[Message<'_>]) -> Self {
        let stops = |part: &curtail_core::transcript::Part<'_>| match &part.content {
            Content::Text(text) => is_stop(&text.decode()),
            _ => false,
        };
        let shown = |message: &&Message<'_>| message.thread == messages[0].thread && !message.parts.is_empty();
        for message in messages.iter().skip(1).rev().filter(shown) {
            if message.role == Role::User && message.parts.iter().any(stops) {
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

    fn draw(&self) -> Markup {
        html! {
            @match self {
                Self::Unanswered => { span class="ended" { "no reply" } },
                Self::Text(words) => { span class="ended" { "→ " (Shown(words)) } },
                Self::Question(words) => { span class="ended" { "→ asks: " (Shown(words)) } },
                Self::Pending(name) => { span class="ended stopped" { "ended while " (Shown(name)) " ran" } },
                Self::Result => { span class="ended stopped" { "ended with a result, without a reply" } },
                Self::Stopped => { span class="ended stopped" { "stopped by the person" } },
            }
        }
    }
}

/// The agent, model, project, date, duration and cost.
pub(super) fn byline(conversation: &Conversation<'_>) -> Markup {
    let story = &conversation.story;
    let times = conversation.times.as_ref();
    let first = times.and_then(|(from, _)| Moment::new(from.clone()));
    let length =
        times.and_then(|(from, to)| Some(Moment::new(to.clone())?.seconds - Moment::new(from.clone())?.seconds));
    html! {
        p class="byline" {
            span data-fact="agent" { (Shown(&story.agent)) }
            @if let Some(model) = &conversation.model { span data-fact="model" { (Shown(model)) } }
            @if let Some(project) = &story.project { span data-fact="project" { code { (Shown(project)) } } }
            @if let Some(first) = first { span data-fact="date" { (first.draw(true)) } }
            @if let Some(length) = length.filter(|length| *length >= 1.0) {
                span data-fact="duration" { (duration(length)) }
            }
            @if let Some(price) = &story.price { (price.draw()) }
        }
    }
}

/// The list of prompts.
pub(super) fn prompts_list(conversation: &Conversation<'_>) -> Markup {
    let prompts = &conversation.story.prompts;
    let (head, rest) = prompts.split_at(prompts.len().min(MAX_LISTED));
    html! {
        @if !prompts.is_empty() {
            section class="prompts" aria-label="Prompts" {
                h2 { (counted(prompts.len(), "prompt")) }
                ol { @for (nth, _) in head.iter().enumerate() { (item(conversation, nth)) } }
                @if !rest.is_empty() {
                    (more(rest.len(), "prompt", html! { ol { @for nth in head.len()..prompts.len() { (item(conversation, nth)) } } }))
                }
            }
        }
    }
}

fn item(conversation: &Conversation<'_>, nth: usize) -> Markup {
    let prompts = &conversation.story.prompts;
    let moment = |prompt: &Prompt| conversation.moments[prompt.message].as_ref();
    let date_of = |prompt: &Prompt| moment(prompt).map(|moment| date(&moment.written));
    let prompt = &prompts[nth];
    let is_new_day = nth.checked_sub(1).is_some_and(|last| date_of(&prompts[last]) != date_of(prompt));
    let moment = moment(prompt);
    let words = if prompt.text.is_empty() { conversation.beginning(prompt.message) } else { prompt.text.clone() };
    html! {
        li {
            a href={ "#" (conversation.anchor(prompt.message)) } { (Shown(&line(&words, 160))) }
            span class="did" {
                @if let Some(moment) = moment { span { (moment.draw(is_new_day)) } }
                @if let Some(seconds) = prompt.seconds.filter(|seconds| *seconds >= 1.0) { span { (duration(seconds)) } }
                @if prompt.calls > 0 { span { (calls(prompt)) } }
                span { (counted(prompt.tokens, "token")) }
                @if !prompt.files.is_empty() { span { (files(&prompt.files)) } }
                @if prompt.commits > 0 { span { (counted(prompt.commits, "commit")) } }
            }
            (prompt.end.draw())
        }
    }
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

/// The number of calls, in total and of the most used tools.
fn calls(prompt: &Prompt) -> Markup {
    let named = prompt.tools.len().min(if prompt.tools.len() > MAX_TOOLS { MAX_TOOLS - 1 } else { MAX_TOOLS });
    let others: usize = prompt.tools[named..].iter().map(|(_, count)| count).sum();
    if let [(name, count)] = prompt.tools.as_slice() {
        return html! { (counted(*count, "call")) " of " code { (Shown(&line(name, 30))) } };
    }
    html! {
        (counted(prompt.calls, "call")) ": "
        @for (nth, (name, count)) in prompt.tools[..named].iter().enumerate() {
            @if nth > 0 { ", " } (figure(*count)) " " code { (Shown(&line(name, 30))) }
        }
        @if others > 0 { ", " (counted(others, "other")) }
    }
}

fn files(paths: &[String]) -> Markup {
    let name = |path: &String| line(path.rsplit(['/', '\\']).next().unwrap_or(path), 40);
    html! {
        "changed " @for (nth, path) in paths.iter().take(MAX_FILES).enumerate() {
            @if nth > 0 { ", " } code title=(Shown(path)) { (Shown(&name(path))) }
        }
        @if paths.len() > MAX_FILES { " and " (figure(paths.len() - MAX_FILES)) " more" }
    }
}
