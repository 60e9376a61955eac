//! What a session was about: its first prompt as a title, who worked where and when, and what became of each prompt.

use maud::{Markup, html};

use super::conversation::{Conversation, Cost};
use super::markdown::plain;
use super::overview::{Provided, beginning};
use super::times::{Moment, date, duration};
use super::visible::{Shown, counted, figure, line};
use curtail_core::dialects::{Dialect, agent_of, project};
use curtail_core::json::Value;
use curtail_core::transcript::{Content, Message, Pairs, Role};
use curtail_lab::replay::{CacheUse, Prices};
use curtail_memory::ledger::{Ledger, is_typed, without_tag};

/// Characters of a title.
const TITLE: usize = 90;
/// Prompts that are listed at once; later ones are folded.
const LISTED: usize = 12;
/// Names of tools that are listed for a prompt.
const TOOLS: usize = 4;
/// Names of files that are listed for a prompt.
const FILES: usize = 4;

/// What is said about a session before its messages.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Story {
    /// The beginning of the first prompt.
    pub(super) title: Option<String>,
    /// The program that wrote the log, or the dialect.
    pub(super) agent: String,
    /// The folder that the agent worked in.
    pub(super) project: Option<String>,
    /// The price of the input of all requests in US dollars, and the date of the prices.
    pub(super) cost: Option<(f64, String)>,
    pub(super) prompts: Vec<Prompt>,
}

/// What a person asked, and what became of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Prompt {
    /// The message.
    pub(super) message: usize,
    words: String,
    calls: usize,
    /// The tools that were called, the most frequent first, with the number of their calls.
    tools: Vec<(String, usize)>,
    tokens: usize,
    /// Seconds from the prompt to the last message before the next one.
    seconds: Option<f64>,
    files: Vec<String>,
    commits: usize,
    ended: Ended,
}

/// How a turn ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Ended {
    /// Nobody replied.
    #[default]
    Unanswered,
    /// With these words of the model.
    Said(String),
    /// With a question of the model.
    Asked(String),
    /// With a call that has no result.
    Pending(String),
    /// With a result that the model did not reply to.
    Result,
    /// A person stopped it.
    Stopped,
}

impl Story {
    /// Reads the story of a conversation. `items` are the items of its log.
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
            words: words(&messages[from]),
            tokens: costs[from..to].iter().map(|cost| cost.tokens).sum(),
            seconds: seconds(&moments[from..to]),
            ..Prompt::worked(messages, pairs, from, to)
        });
        let prompts: Vec<Prompt> = prompts.collect();
        let title = prompts.iter().map(|prompt| &prompt.words).find(|words| !words.is_empty());
        Self {
            title: title.map(|words| line(words, TITLE)),
            agent: agent_of(dialect).map_or_else(|| dialect.name(), |agent| agent.name).to_owned(),
            project: items.iter().find_map(|item| project(*item)).map(|text| text.decode().into_owned()),
            cost: None,
            prompts,
        }
    }

    /// Adds the price of the requests, if all of them can be priced.
    pub(super) fn priced(mut self, provided: &[Provided], prices: Option<&Prices>) -> Self {
        let cost = |request: &Provided| {
            let (prices, usage) = (prices?, request.usage);
            let model = prices.model(request.model.as_deref()?)?;
            let rules = prices.cache.get(&model.cache)?;
            let longer =
                rules.long.as_ref().filter(|_| usage.cache_write_long > 0).and_then(|name| prices.cache.get(name));
            let (read, write) = (usage.cache_read, usage.cache_write);
            let uncached = usage.input.saturating_sub(read + write);
            Some(model.cost(longer.unwrap_or(rules), CacheUse { read, write, uncached }))
        };
        let sum: Option<f64> = provided.iter().map(cost).sum();
        self.cost = sum.filter(|_| !provided.is_empty()).zip(prices.map(|prices| prices.date.clone()));
        self
    }
}

/// The messages in which a person asks for something: those that begin a turn, without the words of the agent's program, and
/// without what a compaction repeats.
fn prompts(messages: &[Message<'_>], summaries: &[bool]) -> Vec<usize> {
    let begins: Vec<usize> = (0..messages.len()).filter(|&at| messages[at].begins_turn()).collect();
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

/// Whether a person stopped the model: what the agent's program writes then.
fn is_stop(text: &str) -> bool {
    text.starts_with("[Request interrupted by user") || text.starts_with("<turn_aborted>")
}

fn words(message: &Message<'_>) -> String {
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
    /// The work from message `from` to before `to`.
    fn worked(messages: &[Message<'_>], pairs: &Pairs, from: usize, to: usize) -> Self {
        let mut ledger = Ledger::default();
        ledger.read_range(messages, pairs, from..to);
        let files = ledger.changed.iter().filter(|change| !change.is_script());
        Self {
            calls: ledger.calls,
            tools: tools(messages[from..to].iter()),
            files: files.map(|change| change.path.clone()).collect(),
            commits: ledger.commits.len(),
            ended: Ended::of_turn(&messages[from..to]),
            ..Self::default()
        }
    }
}

impl Ended {
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
                Some(if is_question { Self::Asked(plain(last, 160)) } else { Self::Said(plain(&text, 160)) })
            }
            Content::ToolCall(call) if !call.hosted => Some(Self::Pending(line(&call.name.decode(), 60))),
            _ => None,
        })
    }

    fn draw(&self) -> Markup {
        html! {
            @match self {
                Self::Unanswered => { span class="ended" { "no reply" } },
                Self::Said(words) => { span class="ended" { "→ " (Shown(words)) } },
                Self::Asked(words) => { span class="ended" { "→ asks: " (Shown(words)) } },
                Self::Pending(name) => { span class="ended stopped" { "ended while " (Shown(name)) " ran" } },
                Self::Result => { span class="ended stopped" { "ended with a result, without a reply" } },
                Self::Stopped => { span class="ended stopped" { "stopped by the person" } },
            }
        }
    }
}

/// Who worked where, when and for how long.
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
            @if let Some((cost, prices)) = &story.cost {
                span data-fact="cost" title={ "An estimate by the prices of " (prices) "; output is not included" } {
                    @if *cost < 0.01 { "input less than $0.01" } @else { "input about $" (format_args!("{cost:.2}")) }
                }
            }
        }
    }
}

/// The list of prompts.
pub(super) fn prompts_list(conversation: &Conversation<'_>) -> Markup {
    let prompts = &conversation.story.prompts;
    let (head, rest) = prompts.split_at(prompts.len().min(LISTED));
    html! {
        @if !prompts.is_empty() {
            section class="prompts" aria-label="Prompts" {
                h2 { (counted(prompts.len(), "prompt")) }
                ol { @for (nth, _) in head.iter().enumerate() { (item(conversation, nth)) } }
                @if !rest.is_empty() {
                    details class="more" {
                        summary { "Show " (counted(rest.len(), "more prompt")) }
                        ol { @for nth in head.len()..prompts.len() { (item(conversation, nth)) } }
                    }
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
    let words = if prompt.words.is_empty() { beginning(conversation, prompt.message) } else { prompt.words.clone() };
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
            (prompt.ended.draw())
        }
    }
}

/// The tools that messages call, the most frequent first.
fn tools<'m>(messages: impl Iterator<Item = &'m Message<'m>>) -> Vec<(String, usize)> {
    let mut tools: Vec<(String, usize)> = Vec::new();
    for (_, call) in messages.flat_map(Message::calls) {
        let name = call.name.decode();
        match tools.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => tools.push((name.into_owned(), 1)),
        }
    }
    tools.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    tools
}

/// The number of calls, and of which tools.
fn calls(prompt: &Prompt) -> Markup {
    let named = prompt.tools.len().min(if prompt.tools.len() > TOOLS { TOOLS - 1 } else { TOOLS });
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
        "changed " @for (nth, path) in paths.iter().take(FILES).enumerate() {
            @if nth > 0 { ", " } code title=(Shown(path)) { (Shown(&name(path))) }
        }
        @if paths.len() > FILES { " and " (figure(paths.len() - FILES)) " more" }
    }
}
