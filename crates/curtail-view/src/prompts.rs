//! Draws what precedes the messages of a session: who worked when at what price, and its prompts with the work that followed.

use maud::{Markup, html};

use super::content::more;
use super::conversation::Conversation;
use super::story::{Prompt, SessionPrice, TurnEnd};
use super::visible::{Moment, Shown, date, duration, line};
use curtail_core::numbers::{counted, figure};

/// How many prompts are listed; later ones are folded.
const MAX_LISTED: usize = 12;
/// Maximum number of tools that are listed for a prompt.
const MAX_TOOLS: usize = 4;
/// Maximum number of files that are listed for a prompt.
const MAX_FILES: usize = 4;

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
            @if let Some(price) = &story.price { (price_drawn(price)) }
        }
    }
}

fn price_drawn(price: &SessionPrice) -> Markup {
    let what = if price.with_output { "" } else { "input " };
    let amount = match price.dollars {
        ..0.01 => format!("{what}less than $0.01"),
        dollars => format!("{what}about ${dollars:.2}"),
    };
    let excluded = if price.with_output { "" } else { "; output is not included" };
    html! {
        span data-fact="cost" title={ "An estimate by the prices of " (price.date) (excluded) } {
            (amount)
            @if price.counted < price.requests { " for " (price.counted) " of " (counted(price.requests, "request")) }
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
                ol { @for (nth, _) in head.iter().enumerate() { (prompt_item(conversation, nth)) } }
                @if !rest.is_empty() {
                    (more(rest.len(), "prompt", html! { ol { @for nth in head.len()..prompts.len() { (prompt_item(conversation, nth)) } } }))
                }
            }
        }
    }
}

fn prompt_item(conversation: &Conversation<'_>, nth: usize) -> Markup {
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
                @if prompt.failed > 0 { span class="failed" { (figure(prompt.failed)) " failed" } }
                span { (counted(prompt.tokens, "token")) }
                @if !prompt.files.is_empty() { span { (files(&prompt.files)) } }
                @if prompt.commits > 0 { span { (counted(prompt.commits, "commit")) } }
            }
            (ended(&prompt.end))
        }
    }
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
    html! {
        "changed " @for (nth, path) in paths.iter().take(MAX_FILES).enumerate() {
            @if nth > 0 { ", " } code title=(Shown(path)) { (Shown(&file_name(path))) }
        }
        @if paths.len() > MAX_FILES { " and " (figure(paths.len() - MAX_FILES)) " more" }
    }
}

fn file_name(path: &str) -> String {
    line(path.rsplit(['/', '\\']).next().unwrap_or(path), 40)
}

/// How the work after a prompt ended.
fn ended(end: &TurnEnd) -> Markup {
    html! {
        @match end {
            TurnEnd::Unanswered => { span class="ended" { "no reply" } },
            TurnEnd::Text(words) => { span class="ended" { "→ " (Shown(words)) } },
            TurnEnd::Question(words) => { span class="ended" { "→ asks: " (Shown(words)) } },
            TurnEnd::Pending(name) => { span class="ended stopped" { "ended with a call of " (Shown(name)) ", which has no result" } },
            TurnEnd::Result => { span class="ended stopped" { "ended with a result, without a reply" } },
            TurnEnd::Stopped => { span class="ended stopped" { "stopped by the person" } },
        }
    }
}
