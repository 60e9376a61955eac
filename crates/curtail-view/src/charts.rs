//! Charts as inline SVG: the strip of a conversation, the context at each request, and bars.

use std::fmt::Write as _;
use std::ops::Range;

use maud::{Markup, PreEscaped, html};

use super::conversation::Conversation;
use super::effect::State;
use super::requests::{Provided, Request};
use super::totals::Share;
use super::visible::{Shown, percent, short};
use curtail_core::numbers::{counted, figure};

/// Units across a strip.
const WIDTH: usize = 100_000;
/// Above this number of messages, neighbors that would be too thin to see are drawn as one.
const MAX_SEPARATE: usize = 600;

/// A run of messages that is drawn as one rectangle.
struct Rectangle {
    first: usize,
    last: usize,
    x: usize,
    width: usize,
    /// Who wrote most of it, which is also the name of its color.
    shade: &'static str,
    state: State,
    tokens: usize,
}

/// The whole conversation: width is tokens, color is who wrote it, failed calls are red, and what a policy drops is pale.
pub(super) fn strip(conversation: &Conversation<'_>, label: &str) -> Markup {
    let blocks = blocks(conversation);
    let failures = failures(conversation);
    html! {
        nav class="strip" aria-label=(Shown(label)) {
            svg viewBox=(format_args!("0 0 {WIDTH} 44")) preserveAspectRatio="none" {
                @for (nth, block) in blocks.iter().enumerate() {
                    // One stop of the Tab key; arrows move along the strip.
                    a href={ "#" (conversation.anchor(block.first)) } aria-label=(title(block, conversation))
                        tabindex=(if nth == 0 { "0" } else { "-1" }) {
                        @let state = if conversation.effect.is_some() { block.state.name() } else { "" };
                        rect class={ (block.shade) " " (state) } x=(block.x) width=(block.width) height="36" {
                            title { (title(block, conversation)) }
                        }
                    }
                }
                @if !failures.is_empty() { path class="failures" d=(failures) {} }
                (ticks(conversation))
            }
            @if let Some(cut) = Cut::of_conversation(conversation) { (cut.draw(conversation)) }
        }
    }
}

/// The results that say that their tool failed, as rectangles that are wide enough to be seen.
fn failures(conversation: &Conversation<'_>) -> String {
    let mut failed: Vec<usize> = conversation.failures.iter().map(|result| result.message).collect();
    failed.sort_unstable();
    failed.dedup();
    let edges = edges(conversation);
    let mut path = String::new();
    for at in failed {
        let width = (edges[at + 1] - edges[at]).max(WIDTH / 500);
        // Writing to a String cannot fail.
        let _ = write!(path, "M{} 0h{width}v36h-{width}z", edges[at]);
    }
    path
}

/// The place where a policy that drops the beginning starts to keep.
pub(super) struct Cut {
    /// The first message that is kept after the dropped ones.
    pub(super) message: usize,
    /// Messages and tokens that are dropped before it.
    pub(super) messages: usize,
    pub(super) tokens: usize,
}

impl Cut {
    /// The place, if nearly everything before it is dropped and nearly everything after it is not.
    pub(super) fn of_conversation(conversation: &Conversation<'_>) -> Option<Self> {
        let fates = &conversation.effect.as_ref()?.fates;
        let dropped = fates.iter().filter(|fate| fate.state == State::Dropped).count();
        let mut before = 0;
        let mut best = (0, 0, 0);
        for (at, fate) in fates.iter().enumerate() {
            // Messages that are on the side where they belong, if the cut is before this one.
            let fitting = before + (fates.len() - at) - (dropped - before);
            if fate.state == State::Dropped {
                before += 1;
            } else if fitting > best.0 {
                best = (fitting, at, before);
            }
        }
        let (fitting, message, messages) = best;
        let tokens =
            (0..message).filter(|at| conversation.is_dropped(*at)).map(|at| conversation.costs[at].tokens).sum();
        (messages > 1 && fitting * 10 >= fates.len() * 9).then_some(Self { message, messages, tokens })
    }

    fn draw(&self, conversation: &Conversation<'_>) -> Markup {
        let permille = edges(conversation)[self.message] * 1000 / WIDTH;
        let kept = conversation.effect.as_ref().map_or(0, |effect| effect.tokens);
        html! {
            span class="cutline" style=(format_args!("left:{}.{}%", permille / 10, permille % 10)) {
                span { "dropped " (short(self.tokens)) } span { "kept " (short(kept)) }
            }
        }
    }
}

/// A conversation, or some of its messages, as a narrow strip without links.
pub(super) fn small_strip(conversation: &Conversation<'_>, messages: &[usize]) -> Markup {
    let total: usize = messages.iter().map(|at| conversation.costs[*at].tokens.max(1)).sum();
    let mut sum = 0;
    let mut runs: Vec<(&'static str, Range<usize>)> = Vec::new();
    for at in messages {
        let x = sum * WIDTH / total;
        sum += conversation.costs[*at].tokens.max(1);
        let end = sum * WIDTH / total;
        let writer = conversation.writer(*at);
        // What is too thin to be seen is drawn with what follows it.
        match runs.last_mut().filter(|(last, run)| *last == writer || run.len() < WIDTH / 1000) {
            Some((_, run)) => run.end = end,
            None => runs.push((writer, x..end)),
        }
    }
    html! {
        svg class="small" viewBox=(format_args!("0 0 {WIDTH} 6")) preserveAspectRatio="none" aria-hidden="true" {
            @for (writer, run) in &runs { rect class=(writer) x=(run.start) width=(run.len()) height="6" {} }
        }
    }
}

fn title(block: &Rectangle, conversation: &Conversation<'_>) -> String {
    let state = match (&conversation.effect, block.state) {
        (None, _) | (_, State::Kept) => "",
        (_, State::Changed) => ", changed",
        (_, State::Dropped) => ", dropped",
    };
    let tokens = counted(block.tokens, "token");
    if block.first == block.last {
        format!("message {}: {}, {tokens}{state}", block.first, block.shade)
    } else {
        format!("messages {} to {}: mostly {}, {tokens}{state}", block.first, block.last, block.shade)
    }
}

/// The left edge of each message, and the end of the last; a message without tokens is as wide as one with a token.
fn edges(conversation: &Conversation<'_>) -> Vec<usize> {
    let total: usize = conversation.costs.iter().map(|cost| cost.tokens.max(1)).sum();
    let mut sum = 0;
    let mut edges = vec![0];
    for cost in &conversation.costs {
        sum += cost.tokens.max(1);
        edges.push(sum * WIDTH / total.max(1));
    }
    edges
}

fn blocks(conversation: &Conversation<'_>) -> Vec<Rectangle> {
    let edges = edges(conversation);
    let thin = if conversation.messages.len() > MAX_SEPARATE { WIDTH / MAX_SEPARATE } else { 0 };
    let mut blocks: Vec<Rectangle> = Vec::new();
    let mut widest = 0;
    for (at, cost) in conversation.costs.iter().enumerate() {
        let state = conversation.state(at);
        let x = edges[at];
        let width = edges[at + 1] - edges[at];
        let shade = conversation.writer(at);
        if let Some(block) = blocks.last_mut().filter(|block| block.width < thin && block.state == state) {
            (block.last, block.width) = (at, block.width + width);
            block.tokens += cost.tokens;
            if width > widest {
                (widest, block.shade) = (width, shade);
            }
        } else {
            widest = width;
            blocks.push(Rectangle { first: at, last: at, x, width, shade, state, tokens: cost.tokens });
        }
    }
    blocks
}

/// Ticks below the strip where turns begin, and lines across it at boundaries.
fn ticks(conversation: &Conversation<'_>) -> Markup {
    let edges = edges(conversation);
    let mut turns = String::new();
    let mut boundaries = String::new();
    for &turn in &conversation.turns {
        // Writing to a String cannot fail.
        let _ = write!(turns, "M{} 38V44", edges[turn]);
    }
    for at in conversation.boundaries() {
        let _ = write!(boundaries, "M{} 0V44", edges[at]);
    }
    html! {
        path class="turns" d=(turns) {}
        @if !boundaries.is_empty() { path class="boundaries" d=(boundaries) {} }
    }
}

/// The context at each request by our count and by the provider's, and below them what a policy would have sent.
pub(super) fn curve(conversation: &Conversation<'_>) -> Markup {
    let requests = &conversation.requests;
    let policy = conversation.effect.as_ref().map_or(&[][..], |effect| &effect.requests);
    let provided: Vec<Request> = conversation.provided.iter().map(request).collect();
    let most = peak(requests.iter().chain(policy).chain(&provided));
    let end = requests.len().max(1);
    let line = |points: &[Request]| {
        let places = points.iter().map(|point| requests.partition_point(|other| other.message < point.message));
        steps(places.map(|place| place * 1000 / end).zip(points.iter().map(|point| point.tokens)), most)
    };
    let recorded = line(requests);
    let label = description(requests, &provided, policy);
    html! {
        figure class="curve" {
            div class="plot" {
                span class="axis" { (figure(most)) " tokens" }
                svg viewBox="0 0 1000 200" preserveAspectRatio="none" role="img" aria-label=(label) {
                    path class="area" d={ (recorded) "V200H0Z" } {}
                    path class="recorded" d=(recorded) {}
                    @if !provided.is_empty() { path class="provided" d=(line(&provided)) {} }
                    @if !policy.is_empty() { path class="policy" d=(line(policy)) {} }
                }
                span class="axis right" { (counted(requests.len(), "request")) }
            }
            (caption(conversation, &provided, policy))
        }
    }
}

fn request(provided: &Provided) -> Request {
    Request { message: provided.message, tokens: usize::try_from(provided.usage.input).unwrap_or(usize::MAX) }
}

/// The chart in a sentence.
fn description(requests: &[Request], provided: &[Request], policy: &[Request]) -> String {
    let mut text =
        format!("Tokens at {}: at most {} as recorded", counted(requests.len(), "request"), figure(peak(requests)));
    for (name, requests) in [("as the provider counted", provided), ("with the policy", policy)] {
        if !requests.is_empty() {
            text.push_str(&format!(", {} {name}", figure(peak(requests))));
        }
    }
    text
}

/// The legend of the curves, with their peaks.
fn caption(conversation: &Conversation<'_>, provided: &[Request], policy: &[Request]) -> Markup {
    let requests = &conversation.requests;
    html! {
        figcaption {
            @if let Some(peak) = largest(requests) {
                span class="key recorded" { "as recorded" } ": "
                (counted(requests.len(), "request")) ", at most " (figure(peak.tokens)) " tokens, at "
                a href={ "#" (conversation.anchor(peak.message)) } { "message " (peak.message) }
            }
            @if let Some(peak) = largest(provided) {
                br;
                span class="key provided" { "the provider's count" } ": " (counted(provided.len(), "request"))
                ", at most " (figure(peak.tokens)) " tokens, with the instructions and tools that the log does not contain"
            }
            @if let Some(peak) = largest(policy) {
                br;
                span class="key policy" { "with the policy" } ": at most " (figure(peak.tokens)) " tokens"
                @if policy.len() < requests.len() {
                    " (applied at " (policy.len()) " of " (figure(requests.len())) " requests)"
                }
            }
        }
    }
}

/// The request with the most tokens.
fn largest(requests: &[Request]) -> Option<Request> {
    requests.iter().max_by_key(|request| request.tokens).copied()
}

/// The most tokens of a request.
pub(super) fn peak<'r>(requests: impl IntoIterator<Item = &'r Request>) -> usize {
    requests.into_iter().map(|request| request.tokens).max().unwrap_or(0)
}

/// A path that connects the points by steps, and continues to the right edge. Each is the place of a request and its tokens,
/// of which the chart shows up to `most`.
pub(super) fn steps(points: impl Iterator<Item = (usize, usize)>, most: usize) -> String {
    let mut path = String::new();
    for (nth, (x, tokens)) in points.enumerate() {
        // A log may give any number as usage.
        let y = 196 - tokens as u128 * 190 / most.max(1) as u128;
        let _ = match nth {
            0 => write!(path, "M{x} {y}"),
            _ => write!(path, "H{x}V{y}"),
        };
    }
    if !path.is_empty() {
        path.push_str("H1000");
    }
    path
}

/// Names with their tokens as bars; with a policy, the part that it keeps is solid.
pub(super) fn bars(shares: &[Share], unit: &str, total: usize, class: impl Fn(&Share) -> String) -> Markup {
    let longest = shares.iter().map(|share| share.tokens).max().unwrap_or(0);
    html! {
        ol class="bars" {
            @for share in shares {
                li data-name=(Shown(&share.name)) data-tokens=(share.tokens) data-count=(share.count) {
                    span class="name" { (Shown(&share.name)) }
                    span class="figures" {
                        (figure(share.tokens)) " " span class="of" { (percent(share.tokens, total)) }
                        @if share.count > 0 { " " span class="of" { (counted(share.count, unit)) } }
                    }
                    span class={ "bar " (class(share)) } style={ "width:" (permille(share.tokens, longest)) } {
                        @if share.kept < share.tokens {
                            span class="cut" style={ "width:" (permille(share.tokens - share.kept, share.tokens)) } {}
                        }
                    }
                }
            }
        }
    }
}

/// A share as a length in CSS.
pub(super) fn permille(part: usize, whole: usize) -> PreEscaped<String> {
    let tenths = (part * 1000).checked_div(whole).unwrap_or(0);
    PreEscaped(format!("{}.{}%", tenths / 10, tenths % 10))
}
