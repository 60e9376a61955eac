//! What is above the messages: the facts, the strip, the context, the sums, and the findings.

use maud::{Markup, html};

use super::charts;
use super::conversation::Conversation;
use super::effect::{Effect, State};
use super::shares::{costliest, roles, tool, tools};
use super::visible::{Shown, counted, figure, line, percent};
use curtail_core::transcript::{Content, PartRef};

/// Findings that are listed; the others are counted.
const FINDINGS: usize = 100;
/// Costliest messages that are listed.
const COSTLIEST: usize = 10;
/// Tools that are listed.
const TOOLS: usize = 30;

/// The overview of a conversation.
pub(super) fn overview(conversation: &Conversation<'_>) -> Markup {
    html! {
        header class="facts" {
            (title(&conversation.place.name))
            (facts(conversation))
        }
        @if let Some(effect) = &conversation.effect { (outcome(effect, conversation)) }
        (strip(conversation))
        div class="cards" {
            @if conversation.requests.len() > 1 {
                section class="card wide" { h2 { "Context at each request" } (charts::curve(conversation)) }
            }
            section class="card" data-card="roles" { h2 { "Tokens by role" } (by_role(conversation)) }
            @if !conversation.pairs.calls().is_empty() || !conversation.pairs.results().is_empty() {
                section class="card" data-card="tools" { h2 { "Tokens by tool" } (by_tool(conversation)) }
            }
            (top(conversation))
            (findings(conversation))
        }
    }
}

/// A name with its folder above it.
fn title(name: &str) -> Markup {
    let (folder, file) = name.split_at(name.rfind('/').map_or(0, |at| at + 1));
    html! { h1 { @if !folder.is_empty() { span class="folder" { (Shown(folder)) } } (Shown(file)) } }
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
            @if let Some(duration) = conversation.times.as_ref().and_then(|(from, to)| duration(from, to)) {
                (fact("duration", "Duration", &duration))
            }
            @if let Some(model) = &conversation.model { (fact("model", "Model", model)) }
            (fact("dialect", "Dialect", conversation.dialect))
            (fact("tokenizer", "Counted with", &conversation.tokenizer))
        }
    }
}

fn fact(key: &str, name: &str, value: &str) -> Markup {
    html! { div { dt { (name) } dd data-fact=(key) { (Shown(value)) } } }
}

fn outcome(effect: &Effect<'_>, conversation: &Conversation<'_>) -> Markup {
    let before = conversation.tokens();
    html! {
        section class="outcome" aria-label="Effect of the policy" {
            p class="policy" { code { (Shown(&effect.label)) } }
            p class="change" {
                span class="before" { (figure(before)) } " → " strong data-fact="after" { (figure(effect.tokens)) } " tokens"
                span class="of" { " (" (percent(effect.tokens, before)) ")" }
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
    let mut shades: Vec<&str> = (0..conversation.messages.len()).map(|at| conversation.shade(at)).collect();
    shades.sort_unstable();
    shades.dedup();
    let boundaries = conversation.messages.iter().any(|message| message.barrier);
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

fn by_role(conversation: &Conversation<'_>) -> Markup {
    charts::bars(&roles(conversation), "message", conversation.tokens(), |share| share.name.clone())
}

fn by_tool(conversation: &Conversation<'_>) -> Markup {
    let tools = tools(conversation);
    let (listed, others) = tools.split_at(tools.len().min(TOOLS));
    html! {
        (charts::bars(listed, "call", conversation.tokens(), |_| String::from("tool")))
        @if !others.is_empty() {
            p class="hint" {
                "and " (counted(others.len(), "other tool")) ", "
                (figure(others.iter().map(|share| share.tokens).sum())) " tokens"
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
                @for at in costliest(conversation, COSTLIEST) {
                    li {
                        a href={ "#" (conversation.anchor(at)) } { (conversation.messages[at].role.name()) " " (at) }
                        span class="figures" {
                            (figure(conversation.costs[at].tokens)) " "
                            span class="of" { (percent(conversation.costs[at].tokens, total)) }
                        }
                        span class="words" { (Shown(&beginning(conversation, at))) }
                    }
                }
            }
        }
    }
}

/// What a message says first, on one line.
pub(super) fn beginning(conversation: &Conversation<'_>, at: usize) -> String {
    let words = conversation.messages[at].parts.iter().enumerate().find_map(|(nth, part)| match &part.content {
        Content::Text(text) | Content::Reasoning(text) if !text.is_blank() => Some(text.decode().into_owned()),
        Content::ToolCall(call) => Some(format!("{} {}", call.name.decode(), call.arguments.decode())),
        Content::ToolResult(result) => {
            let name = tool(conversation, PartRef { message: at, part: nth });
            let text = result.content.first().map(|text| text.decode().into_owned()).unwrap_or_default();
            Some(format!("{name}: {text}"))
        }
        Content::Media(_) => Some(String::from("image or file")),
        _ => None,
    });
    line(&words.unwrap_or_default(), 72)
}

fn findings(conversation: &Conversation<'_>) -> Markup {
    let findings = &conversation.findings;
    html! {
        section class="card" data-card="findings" {
            h2 { "Findings" }
            @if findings.is_empty() { p class="hint" { "None: the pairs and the form of the transcript are sound." } }
            ul class="findings" {
                @for finding in findings.iter().take(FINDINGS) {
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
            @if findings.len() > FINDINGS {
                p class="hint" { "and " (figure(findings.len() - FINDINGS)) " more; `curtail check` lists all" }
            }
        }
    }
}

/// The time between two instants in ISO 8601, such as `1 h 12 min`.
fn duration(from: &str, to: &str) -> Option<String> {
    let seconds = instant(to)?.checked_sub(instant(from)?)?;
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    Some(match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => format!("{minutes} min {} s", seconds % 60),
        (0, _, _) => format!("{hours} h {minutes} min"),
        _ => format!("{days} d {hours} h"),
    })
}

/// Seconds since 0000-03-01, the offset from UTC left out: both ends of a log have the same one.
fn instant(iso: &str) -> Option<u64> {
    let number = |from: usize, to: usize| iso.get(from..to)?.parse::<u64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    // Years begin in March, so that the leap day is their last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year.checked_sub(1)?, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    Some(days * 86_400 + hour * 3_600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn durations_cross_leap_days() {
        let of = |from, to| duration(from, to).unwrap_or_default();
        assert_eq!(of("2024-02-28T23:59:30Z", "2024-03-01T00:00:30Z"), "1 d 0 h");
        assert_eq!(of("2025-01-01T10:00:00.123Z", "2025-01-01T11:12:59Z"), "1 h 12 min");
        assert_eq!(of("2025-01-01T10:00:00Z", "2025-01-01T10:00:42Z"), "42 s");
        assert_eq!(of("2025-01-01", "2025-01-02"), "");
    }
}
