//! Draws what precedes the messages: the facts, the strip, the context at each request, the totals, and the findings.

use std::collections::{BTreeMap, HashMap};

use maud::{Markup, html};

use super::charts::{self, permille};
use super::conversation::Conversation;
use super::effect::{Effect, State};
use super::prompts::byline;
use super::spending::{CostSource, Spending, dollars};
use super::totals::{costliest, tools, writers};
use super::visible::{Shown, duration, line, percent, short};
use curtail_core::numbers::{counted, figure};

/// Maximum number of findings that are listed; further ones are counted.
const MAX_FINDINGS: usize = 100;
/// How many of the costliest messages are listed.
const MAX_COSTLIEST: usize = 10;
/// Maximum number of tools that are listed.
const MAX_TOOLS: usize = 30;

/// The title and facts of a conversation, and the effect of the policy.
pub(super) fn opening(conversation: &Conversation<'_>) -> Markup {
    html! {
        header class="facts" {
            (byline(conversation))
            (title(conversation))
            (answers(conversation))
        }
        @if let Some(effect) = &conversation.effect { (outcome(effect, conversation)) }
        (warning(conversation))
        (legend(conversation))
    }
}

/// What beside the strip, the prompts and the messages is on the page: figures, folded.
pub(super) fn overview(conversation: &Conversation<'_>) -> Markup {
    let has_tools = !conversation.pairs.calls().is_empty() || !conversation.pairs.results().is_empty();
    let count = conversation.findings.len();
    html! {
        details class="numbers" {
            summary {
                "Figures: context at each request, tokens by writer" @if has_tools { " and tool" } ", costliest messages, "
                @if count > 0 { strong { (counted(count, "finding")) } } @else { "no findings" }
            }
            (facts(conversation))
            div class="cards" {
                @if conversation.requests.len() > 1 {
                    section class="card wide" { h2 { "Context at each request" } (charts::curve(conversation)) }
                }
                section class="card" data-card="writers" {
                    h2 { "Tokens by writer" }
                    (charts::bars(&writers(conversation), "message", conversation.tokens(), |share| share.name.clone()))
                    @if conversation.outside.tokens > 0 {
                        p class="hint" { "outside: instructions, tool definitions and replies outside the messages" }
                    }
                }
                @if has_tools {
                    section class="card" data-card="tools" { h2 { "Tokens by tool" } (by_tool(conversation)) }
                }
                (top(conversation))
                (findings(conversation))
            }
        }
    }
}

/// The first prompt, or else the name of the file.
fn title(conversation: &Conversation<'_>) -> Markup {
    let name = &conversation.place.name;
    let (folder, file) = name.split_at(name.rfind('/').map_or(0, |at| at + 1));
    html! {
        h1 {
            @match &conversation.story.title {
                Some(title) => { (Shown(title)) },
                None => { @if !folder.is_empty() { span class="folder" { (Shown(folder)) } } (Shown(file)) },
            }
        }
    }
}

/// How long it took, what was asked, called, failed and changed, how large it is, and what it cost.
fn answers(conversation: &Conversation<'_>) -> Markup {
    let story = &conversation.story;
    let times = conversation.times.began.as_ref().zip(conversation.times.ended.as_ref());
    let length = times.map(|(began, ended)| ended.seconds - began.seconds);
    let calls = conversation.pairs.calls().len();
    let failed = conversation.failed_calls();
    let agents = conversation.agents.sides.len() + conversation.attached.len();
    let live = conversation.live_tokens();
    let now = if live == conversation.tokens() { "tokens" } else { "tokens now" };
    html! {
        ul class="answers" {
            @if let Some(length) = length.filter(|length| *length >= 1.0) {
                li data-fact="duration" { b { (duration(length)) } }
            }
            (answer("prompts", story.prompts.len(), "prompt", ""))
            (answer("called", calls, "tool call", ""))
            @if failed > 0 { li class="bad" data-fact="failed" { b { (figure(failed)) } " failed" } }
            (answer("files", story.files.len(), "file", " changed"))
            (answer("agents", agents, "sub-agent", ""))
            li { b title={ (figure(live)) " tokens" } { (short(live)) } " " span { (now) } }
            @if let Some(spending) = &conversation.spending { (price(spending)) }
        }
    }
}

/// A number of things, with their noun and what is said of them.
fn answer(fact: &str, count: usize, noun: &str, said: &str) -> Markup {
    html! { @if count > 0 { li data-fact=(fact) { b { (figure(count)) } " " span { (noun) @if count > 1 { "s" } (said) } } } }
}

fn price(spending: &Spending) -> Markup {
    let amount = dollars(spending.dollars);
    html! {
        @match &spending.source {
            CostSource::Log => { li data-fact="cost" title="The total that the log contains" { b { (amount) } " " span { "in all" } } },
            CostSource::Estimate { date, with_output, counted: priced, requests } => {
                li data-fact="cost" title={ "An estimate by the prices of " (date) @if !with_output { "; output is not included" } } {
                    @if !with_output { span { "input " } } b { @if !amount.starts_with('<') { "about " } (amount) }
                    @if priced < requests { " " span { "for " (figure(*priced)) " of " (counted(*requests, "request")) } }
                }
            },
        }
    }
}

/// How many strings that look like keys are listed with their messages.
const MAX_KEYS: usize = 6;

/// What on the page is not for everybody.
fn warning(conversation: &Conversation<'_>) -> Markup {
    let agents = conversation.attached.iter().map(|attached| &attached.conversation);
    let all: Vec<&Conversation<'_>> = [conversation].into_iter().chain(agents).collect();
    let keys = all.iter().flat_map(|of| of.exposed.keys.iter().map(move |key| (of, key)));
    let count = keys.clone().count();
    let mut homes: BTreeMap<&str, usize> = BTreeMap::new();
    for (home, paths) in all.iter().flat_map(|of| &of.exposed.homes) {
        *homes.entry(home).or_default() += paths;
    }
    html! {
        @if count > 0 {
            aside class="warning" aria-label="Before you share" {
                strong { "Before you share: " } "this page contains "
                (counted(count, "string")) " that look" @if count == 1 { "s" } " like a key ("
                @for (nth, (of, (kind, message))) in keys.take(MAX_KEYS).enumerate() {
                    @if nth > 0 { ", " } (kind)
                    @if let Some(at) = message { " in " a href={ "#" (of.anchor(*at)) } { "message " (at) } }
                    @if !std::ptr::eq(*of, conversation) { " of a sub-agent" }
                }
                @if count > MAX_KEYS { ", and " (figure(count - MAX_KEYS)) " more" }
                ")"
                @if let Some((home, _)) = homes.iter().max_by_key(|(_, count)| **count) {
                    " and " (counted(homes.values().sum(), "path")) " below "
                    @if homes.len() > 1 { "home folders such as " }
                    code { (Shown(home)) }
                }
                ". " code { "curtail view --mask" } " blanks them."
            }
        }
    }
}

fn facts(conversation: &Conversation<'_>) -> Markup {
    let tools = tools(conversation).len();
    let calls = conversation.pairs.calls().len();
    html! {
        dl class="sums" {
            (fact("messages", "Messages", &figure(conversation.messages.len())))
            (fact("tokens", "Tokens", &figure(conversation.tokens())))
            (fact("turns", "Turns", &figure(conversation.turns.len())))
            (fact("calls", "Tool calls", &figure(calls)))
            @if tools > 0 { (fact("tools", "Tools", &figure(tools))) }
            (fact("dialect", "Dialect", conversation.dialect))
            (fact("tokenizer", "Counted with", &conversation.tokenizer))
        }
    }
}

fn fact(key: &str, name: &str, value: &str) -> Markup {
    html! { div { dt { (name) } dd data-fact=(key) { (Shown(value)) } } }
}

fn outcome(effect: &Effect<'_>, conversation: &Conversation<'_>) -> Markup {
    let before = conversation.live_tokens();
    let superseded = conversation.tokens() - conversation.live_tokens();
    let unread = conversation.unread();
    let after = effect.live_tokens(&conversation.messages, conversation.outside.tokens);
    html! {
        section class="outcome" aria-label="Effect of the policy" {
            p class="policy" { code { (Shown(&effect.label)) } span { "Before and after" } }
            p class="change" {
                span class="before" { (figure(before)) } " → " strong data-fact="after" { (figure(after)) } " tokens"
                span class="of" { " (" (percent(after, before)) ")" @if unread > 0 { " of what the model still reads" } }
            }
            @if unread > 0 {
                p class="note" {
                    "The log itself had already removed " (counted(unread, "message")) " with " (counted(superseded, "token"))
                    " from the context; of those, the policy keeps " (counted(effect.tokens.saturating_sub(after), "token")) " in the file."
                }
            }
            @if let Some(next) = next_request(conversation, before, after) { p class="next" { (next) } }
            div class="meter" role="img" aria-label={ (percent(after, before)) " of the tokens are kept" } {
                span style={ "width:" (permille(after.min(before), before)) } {}
            }
            (reasons(effect, conversation))
            p class="states" {
                span { (figure(conversation.messages.len())) " → " (figure(effect.messages)) " messages:" } " "
                span class="state kept" { (figure(effect.count(State::Kept))) " kept" } " "
                span class="state changed" { (figure(effect.count(State::Changed))) " changed" } " "
                span class="state dropped" { (figure(effect.count(State::Dropped))) " dropped" }
                @if !effect.drafts.is_empty() {
                    " " span class="state added" { (figure(effect.drafts.len())) " added" }
                }
            }
            @for note in &effect.notes { p class="note" { (Shown(note)) } }
        }
    }
}

/// What the next request costs before and after the cut, if the price of the model is known.
fn next_request(conversation: &Conversation<'_>, before: usize, after: usize) -> Option<String> {
    let price = conversation.input_price?;
    let [before, after] =
        [before, after].map(|tokens| dollars(price * f64::from(u32::try_from(tokens).unwrap_or(u32::MAX))));
    (before != after).then(|| format!("input of the next request {before} → {after}"))
}

/// What was decided about messages for the same reason.
struct Decided<'e> {
    state: State,
    reason: &'e str,
    messages: usize,
    tokens: usize,
    first: usize,
}

/// How many reasons are listed.
const MAX_REASONS: usize = 6;

/// The reasons of the policy with the messages and tokens that each took, and what is kept.
fn reasons(effect: &Effect<'_>, conversation: &Conversation<'_>) -> Markup {
    let mut groups: Vec<Decided<'_>> = Vec::new();
    let mut places: HashMap<(&str, bool), usize> = HashMap::new();
    for (at, fate) in effect.fates.iter().enumerate().filter(|(_, fate)| fate.state != State::Kept) {
        let reason = fate.deciding_reason();
        let place = *places.entry((reason, fate.state == State::Dropped)).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Decided { state: fate.state, reason, messages: 0, tokens: 0, first: at });
        }
        if let Some(group) = groups.get_mut(place) {
            group.messages += 1;
            group.tokens += conversation.costs[at].tokens.saturating_sub(fate.tokens);
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse((group.tokens, group.messages)));
    let is_partly_read = conversation.messages.iter().any(|message| !message.standing.is_read());
    let (listed, others) = groups.split_at(groups.len().min(MAX_REASONS));
    html! {
        table class="reasons" {
            thead class="hidden" { tr { th scope="col" { "Messages" } th scope="col" { "Reason" } th scope="col" { "Tokens" } } }
            tbody {
                @for group in listed {
                    tr {
                        th scope="row" class=(group.state.name()) { (figure(group.messages)) " " (group.state.name()) }
                        td {
                            (Shown(&line(without_action(group.reason), 160))) ", "
                            @if group.messages > 1 { "first " }
                            a href={ "#" (conversation.anchor(group.first)) } { "message " (group.first) }
                        }
                        td { "−" (counted(group.tokens, "token")) }
                    }
                }
                @if !others.is_empty() {
                    tr {
                        th scope="row" { (figure(others.iter().map(|group| group.messages).sum::<usize>())) " others" }
                        td { "for " (counted(others.len(), "other reason")) }
                        td { "−" (counted(others.iter().map(|group| group.tokens).sum(), "token")) }
                    }
                }
                tr {
                    th scope="row" class="kept" { (figure(effect.count(State::Kept))) " kept" }
                    td { (kept(conversation)) }
                    td { (counted(effect.tokens, "token")) @if is_partly_read { " in the file" } }
                }
            }
        }
    }
}

/// A reason without the action that precedes it.
fn without_action(reason: &str) -> &str {
    let rest = ["dropped", "changed", "replaced", "moved"].iter().find_map(|action| reason.strip_prefix(action));
    rest.map_or(reason, |rest| rest.trim_start_matches([':', ' ']))
}

/// What is left of the prompts, the calls and the changed files.
fn kept(conversation: &Conversation<'_>) -> String {
    let story = &conversation.story;
    let prompts = story.prompts.iter().filter(|prompt| !conversation.is_dropped(prompt.message)).count();
    let calls = conversation.pairs.calls().iter().filter(|call| !conversation.is_dropped(call.message)).count();
    let mut words = vec![counted(prompts, "prompt")];
    if !conversation.pairs.calls().is_empty() {
        words.push(counted(calls, "call"));
    }
    if !story.files.is_empty() {
        let files = story.files.iter().filter(|(_, at)| !conversation.is_dropped(*at)).count();
        let are = if files == 1 { "is" } else { "are" };
        words.push(format!("{} of {} {are} still in view", figure(files), counted(story.files.len(), "changed file")));
    }
    words.join(", ")
}

/// The colors and marks of the strip.
fn legend(conversation: &Conversation<'_>) -> Markup {
    let mut shades: Vec<&str> = (0..conversation.messages.len()).map(|at| conversation.writer(at)).collect();
    shades.sort_unstable();
    shades.dedup();
    html! {
        p class="legend" {
            @for shade in shades { span class={ "key " (shade) } { (shade) } " " }
            @if !conversation.failures.is_empty() { span class="key failed" { "failed" } " " }
            @if conversation.effect.is_some() {
                span class="key dropped" { "dropped" } " " span class="key changed" { "changed" } " "
            }
            span class="key turn" { "turn" } " "
            @if conversation.boundaries().next().is_some() { span class="key boundary" { "boundary" } " " }
            span class="hint" { "Width is tokens; a click jumps." }
        }
    }
}

fn by_tool(conversation: &Conversation<'_>) -> Markup {
    let tools = tools(conversation);
    let (listed, others) = tools.split_at(tools.len().min(MAX_TOOLS));
    html! {
        (charts::bars(listed, "call", conversation.tokens(), |_| String::from("tool")))
        @if !others.is_empty() {
            p class="hint" {
                "and " (counted(others.len(), "other tool")) ", "
                (figure(others.iter().map(|share| share.tokens).sum::<usize>())) " tokens"
            }
        }
    }
}

fn top(conversation: &Conversation<'_>) -> Markup {
    let total = conversation.tokens();
    html! {
        section class="card" {
            h2 { "Costliest messages" }
            ol class="top" {
                @for at in costliest(conversation, MAX_COSTLIEST) {
                    li {
                        a href={ "#" (conversation.anchor(at)) } { (conversation.writer(at)) " " (at) }
                        span class="figures" {
                            (figure(conversation.costs[at].tokens)) " "
                            span class="of" { (percent(conversation.costs[at].tokens, total)) }
                        }
                        span class="words" { (Shown(&conversation.beginning(at))) }
                    }
                }
            }
        }
    }
}

fn findings(conversation: &Conversation<'_>) -> Markup {
    let findings = &conversation.findings;
    html! {
        section class="card" data-card="findings" {
            h2 { "Findings" }
            @if findings.is_empty() { p class="hint" { "None: the pairs and the form of the transcript are sound." } }
            ul class="findings" {
                @for finding in findings.iter().take(MAX_FINDINGS) {
                    li class=(finding.level.name()) {
                        span class="rule" { (finding.rule.code) " " (finding.rule.name) }
                        " " (Shown(&finding.message)) " "
                        @match finding.at.message {
                            Some(at) => { a href={ "#" (conversation.anchor(at)) } { "message " (at) } },
                            None => { span class="of" { "line " (finding.at.line) } },
                        }
                        @if let Some(answer) = finding.answer { blockquote { (Shown(answer)) } }
                    }
                }
            }
            @if findings.len() > MAX_FINDINGS {
                p class="hint" { "and " (figure(findings.len() - MAX_FINDINGS)) " more; `curtail check` lists all" }
            }
        }
    }
}
