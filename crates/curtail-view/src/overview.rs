//! Draws what precedes the messages: the facts, the strip, the context at each request, the totals, and the findings.

use maud::{Markup, html};

use super::charts;
use super::conversation::Conversation;
use super::effect::{Effect, State};
use super::prompts::{byline, prompts_list};
use super::totals::{costliest, tools, writers};
use super::visible::{Shown, percent};
use curtail_core::numbers::{counted, figure};
use curtail_core::transcript::Message;

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
            (title(conversation))
            (byline(conversation))
            (facts(conversation))
        }
        @if let Some(effect) = &conversation.effect { (outcome(effect, conversation)) }
    }
}

/// The prompts, the strip and the numbers.
pub(super) fn overview(conversation: &Conversation<'_>) -> Markup {
    let has_tools = !conversation.pairs.calls().is_empty() || !conversation.pairs.results().is_empty();
    let count = conversation.findings.len();
    html! {
        (prompts_list(conversation))
        (strip(conversation))
        details class="numbers" open[conversation.effect.is_some()] {
            summary {
                "Context at each request, tokens by writer" @if has_tools { " and tool" } ", costliest messages, "
                @if count > 0 { strong { (counted(count, "finding")) } } @else { "no findings" }
            }
            div class="cards" {
                @if conversation.requests.len() > 1 {
                    section class="card wide" { h2 { "Context at each request" } (charts::curve(conversation)) }
                }
                section class="card" data-card="writers" { h2 { "Tokens by writer" } (by_writer(conversation)) }
                @if has_tools {
                    section class="card" data-card="tools" { h2 { "Tokens by tool" } (by_tool(conversation)) }
                }
                (top(conversation))
                (findings(conversation))
            }
        }
    }
}

/// The first prompt, below the name of the file.
fn title(conversation: &Conversation<'_>) -> Markup {
    let name = &conversation.place.name;
    let (folder, file) = name.split_at(name.rfind('/').map_or(0, |at| at + 1));
    html! {
        h1 {
            @match &conversation.story.title {
                Some(title) => { span class="folder" { (Shown(name)) } (Shown(title)) },
                None => { @if !folder.is_empty() { span class="folder" { (Shown(folder)) } } (Shown(file)) },
            }
        }
    }
}

fn facts(conversation: &Conversation<'_>) -> Markup {
    let tools = tools(conversation).len();
    let calls = conversation.pairs.calls().len();
    html! {
        dl {
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
    let unread = conversation.messages.iter().filter(|message| !message.standing.is_read()).count();
    let after = effect.live_tokens(&conversation.messages, conversation.outside);
    html! {
        section class="outcome" aria-label="Effect of the policy" {
            p class="policy" { code { (Shown(&effect.label)) } }
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

fn strip(conversation: &Conversation<'_>) -> Markup {
    let mut shades: Vec<&str> = (0..conversation.messages.len()).map(|at| conversation.writer(at)).collect();
    shades.sort_unstable();
    shades.dedup();
    let boundaries = conversation.messages.iter().any(Message::closes_calls);
    html! {
        (charts::strip(conversation, "The conversation, message by message"))
        p class="legend" {
            @for shade in shades { span class={ "key " (shade) } { (shade) } " " }
            @if conversation.effect.is_some() {
                span class="key dropped" { "dropped" } " " span class="key changed" { "changed" } " "
            }
            span class="key turn" { "turn" } " "
            @if boundaries { span class="key boundary" { "boundary" } " " }
            span class="hint" { "Width is tokens; click to jump." }
        }
    }
}

fn by_writer(conversation: &Conversation<'_>) -> Markup {
    charts::bars(&writers(conversation), "message", conversation.tokens(), |share| share.name.clone())
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
