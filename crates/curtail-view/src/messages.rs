//! Draws the conversation: every message with its parts, results inside the calls that they answer, and the reasons of a cut.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use maud::{Markup, PreEscaped, html};

use super::charts::{Cut, small_strip};
use super::content::{Passage, capped, images, passage};
use super::conversation::{Attached, Conversation, writer};
use super::effect::{Drafted, Fate, PartFate, State, texts};
use super::markdown::{markdown, plain};
use super::output::output;
use super::sides::Side;
use super::spending::dollars;
use super::tools::{CallKind, Look, arguments, member_text};
use super::visible::{Body, Shown, duration, gap, line, short, size};
use curtail_core::json::{Document, Text};
use curtail_core::numbers::{counted, figure};
use curtail_core::transcript::{Content, Message, Part, PartRef, Role, ToolCall, ToolResult};

/// The limits that keep a page small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum characters of a text on the page; a note says where the rest is.
    pub max_text: usize,
    /// Number of tokens from which on the later messages of a conversation are built only when they come into view.
    pub long: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_text: 20_000, long: 1_000_000 }
    }
}

/// Messages of a long conversation that are built immediately.
const FIRST_ROWS: usize = 200;
/// Messages that are built together when they come into view.
const LATER_ROWS: usize = 100;
pub(super) const LATER_END: &str = "</noscript></div>";
/// So many calls in a row that only look at something are folded into a line.
const MIN_LOOKS: usize = 3;
/// How many names of what they look at are on it.
const MAX_NAMES: usize = 4;
/// A text that a program wrote for the model is folded if it is longer than this many bytes.
const MAX_UNFOLDED: usize = 400;

/// The distinct names in `names`, one per line.
fn listed<S: AsRef<str>>(names: impl Iterator<Item = S>) -> String {
    let mut seen = HashSet::new();
    let mut distinct: Vec<String> = Vec::new();
    for names in names {
        let new = names.as_ref().lines().filter(|name| seen.insert((*name).to_owned()));
        distinct.extend(new.map(str::to_owned));
    }
    distinct.join("\n")
}

/// What a call is, as far as the messages around it are drawn differently.
#[derive(Default)]
struct Sketch {
    is_edit: bool,
    /// What it looks at, if it changes nothing.
    look: Option<(Look, String)>,
}

/// Draws the messages of a conversation.
pub(super) struct Chat<'c, 'a> {
    conversation: &'c Conversation<'a>,
    limits: Limits,
    calls: HashMap<PartRef, Sketch>,
    /// The sub-agents inside the log that each call started.
    started: HashMap<PartRef, Vec<&'c Side>>,
    /// Those whose call is not known, by their first message.
    loose: HashMap<usize, &'c Side>,
    /// The sub-agents in files of their own that each call started.
    attached: HashMap<PartRef, Vec<&'c Attached<'a>>>,
    /// Messages that are drawn with a sub-agent, and not in the conversation.
    aside: HashSet<usize>,
}

impl<'c, 'a> Chat<'c, 'a> {
    pub(super) fn new(conversation: &'c Conversation<'a>, limits: Limits) -> Self {
        let sketch = |at: &PartRef| {
            let call = conversation.part(*at).content.call()?;
            let kind = CallKind::from_call(&call.name.decode(), &call.arguments.decode());
            Some((*at, Sketch { is_edit: matches!(kind, CallKind::Edit { .. }), look: kind.look() }))
        };
        let mut chat = Self {
            conversation,
            limits,
            calls: conversation.pairs.calls().iter().filter_map(sketch).collect(),
            started: HashMap::new(),
            loose: HashMap::new(),
            attached: HashMap::new(),
            aside: conversation.sides.iter().flat_map(|side| &side.messages).copied().collect(),
        };
        for side in &conversation.sides {
            // A call that comes later cannot have started it.
            match side.call.filter(|call| call.message < side.messages[0]) {
                Some(call) => chat.started.entry(call).or_default().push(side),
                None => {
                    chat.loose.insert(side.messages[0], side);
                }
            }
        }
        for attached in &conversation.attached {
            if let Some(call) = attached.call {
                chat.attached.entry(call).or_default().push(attached);
            }
        }
        chat
    }
}

impl Chat<'_, '_> {
    /// Appends all messages to `out`, turn by turn. `shared` tells whether the page has other conversations.
    pub(super) fn draw(&self, out: &mut String, shared: bool) {
        let conversation = self.conversation;
        let attached: usize = conversation.attached.iter().map(|attached| attached.conversation.tokens()).sum();
        let is_later = shared || conversation.tokens() + attached >= self.limits.long;
        let rows = self.rows(0..conversation.messages.len());
        let first = if shared { 0 } else { FIRST_ROWS };
        let (now, later) = rows.split_at(if is_later { rows.len().min(first) } else { rows.len() });
        let mut around = Around { turns: 0, cut: Cut::of_conversation(conversation), drafts: 0 };
        self.draw_rows(now, Some(&mut around), out);
        for (nth, rows) in later.chunks(LATER_ROWS).enumerate() {
            let end = later.get((nth + 1) * LATER_ROWS).copied().unwrap_or(conversation.messages.len());
            self.open_later(rows, end, out);
            self.draw_rows(rows, Some(&mut around), out);
            out.push_str(LATER_END);
        }
        for at in around.drafts..=conversation.messages.len() {
            conversation.drafts(at).iter().for_each(|draft| out.push_str(&self.draft(draft).0));
        }
        let unknown = conversation.attached.iter().filter(|attached| attached.call.is_none());
        for attached in unknown {
            out.push_str(&self.attached(attached, None).0);
        }
    }

    /// The messages of `range` that are drawn on their own: not with a call or with a sub-agent.
    fn rows(&self, range: Range<usize>) -> Vec<usize> {
        let is_row = |at: &usize| self.loose.contains_key(at) || !self.aside.contains(at) && !self.is_folded(*at);
        range.filter(is_row).collect()
    }

    /// Draws messages in a row. `around` is what comes between those of the whole conversation.
    fn draw_rows(&self, rows: &[usize], mut around: Option<&mut Around>, out: &mut String) {
        let mut before = None;
        let mut nth = 0;
        while let Some(&at) = rows.get(nth) {
            if let Some(around) = &mut around
                && self.draw_around(at, around, out)
            {
                before = None;
            }
            let turn = around.as_ref().and_then(|around| self.conversation.turns.get(around.turns).copied());
            let looks = self.looks(&rows[nth..], turn);
            let shown = &rows[nth..nth + looks.max(1)];
            if looks > 0 {
                out.push_str(&format!("<details class=\"looks {}\">", self.state(at).name()));
                out.push_str(&self.summary_of_looks(shown).0);
            }
            for &at in shown {
                match self.loose.get(&at).filter(|_| around.is_some()) {
                    Some(side) => out.push_str(&self.nested("", &side.messages).0),
                    None => out.push_str(&self.message(at, before).0),
                }
                before = Some(self.conversation.writer(at));
            }
            if looks > 0 {
                out.push_str("</details>");
            }
            nth += shown.len();
        }
    }

    /// Draws what comes before message `at`: the heading of its turn, messages that a policy wrote, and the place where it
    /// starts to keep. Returns whether there is anything.
    fn draw_around(&self, at: usize, around: &mut Around, out: &mut String) -> bool {
        let from = out.len();
        if let Some(cut) = around.cut.take_if(|cut| cut.message <= at) {
            out.push_str(&gone(&cut).0);
        }
        while let Some(&start) = self.conversation.turns.get(around.turns).filter(|start| **start <= at) {
            around.turns += 1;
            out.push_str(&self.turn(around.turns, start).0);
        }
        for place in std::mem::replace(&mut around.drafts, at + 1)..=at {
            self.conversation.drafts(place).iter().for_each(|draft| out.push_str(&self.draft(draft).0));
        }
        out.len() > from
    }

    /// The heading of a turn.
    fn turn(&self, number: usize, at: usize) -> Markup {
        let story = &self.conversation.story;
        let Some(nth) = story.prompt_number(at) else { return html! { h2 class="turn" { "Turn " (number) } } };
        let prompt = &story.prompts[nth];
        html! {
            h2 class="turn" {
                "Prompt " (nth + 1) " of " (story.prompts.len())
                @if let Some(moment) = &self.conversation.moments[at] { " " (moment.draw(false)) }
                @if let Some(seconds) = prompt.seconds.filter(|seconds| *seconds >= 1.0) { " " span class="of" { (duration(seconds)) } }
                @if let Some(amount) = prompt.dollars.filter(|amount| *amount > 0.0) { " " span class="of" { (dollars(amount)) } }
            }
        }
    }

    /// The number of messages at the beginning of `rows` that only look at something, if they are folded into a line. They end
    /// before message `turn`.
    fn looks(&self, rows: &[usize], turn: Option<usize>) -> usize {
        let state = rows.first().map(|at| self.state(*at));
        let mut calls = 0;
        let mut end = 0;
        for (nth, &at) in rows.iter().enumerate() {
            let goes_on = nth == 0 || turn.is_none_or(|turn| at < turn) && self.conversation.drafts(at).is_empty();
            let Some(looks) = self.looks_in(at).filter(|_| goes_on && Some(self.state(at)) == state) else { break };
            calls += looks;
            if looks > 0 {
                end = nth + 1;
            }
        }
        if calls >= MIN_LOOKS { end } else { 0 }
    }

    /// The number of calls of a message that only looks at something; `None` if it does anything else, or fails.
    fn looks_in(&self, at: usize) -> Option<usize> {
        let message = &self.conversation.messages[at];
        let is_quiet = |(nth, part): (usize, &Part<'_>)| match &part.content {
            Content::Reasoning(_) => true,
            Content::Text(text) => text.is_blank(),
            Content::ToolCall(_) => self.only_looks(PartRef { message: at, part: nth }),
            _ => false,
        };
        let is_plain = message.role == Role::Assistant && !message.closes_calls() && !self.loose.contains_key(&at);
        (is_plain && message.parts.iter().enumerate().all(is_quiet)).then(|| message.calls().count())
    }

    fn only_looks(&self, call: PartRef) -> bool {
        let result = self.counterpart(call).and_then(|result| self.conversation.part(result).content.result());
        self.calls.get(&call).is_some_and(|sketch| sketch.look.is_some())
            && result.is_some_and(|result| result.media == 0)
            && !self.conversation.is_failed(call)
            && !self.has_agents(call)
    }

    /// Whether a call started a sub-agent.
    fn has_agents(&self, call: PartRef) -> bool {
        self.started.contains_key(&call) || self.attached.contains_key(&call)
    }

    /// The line that stands for calls that only look at something.
    fn summary_of_looks(&self, rows: &[usize]) -> Markup {
        let calls = rows.iter().flat_map(|&at| self.calls_of(at));
        let looks: Vec<&(Look, String)> =
            calls.clone().filter_map(|call| self.calls.get(&call)?.look.as_ref()).collect();
        let mut counts: Vec<(Look, usize)> = Vec::new();
        for (look, _) in &looks {
            match counts.iter_mut().find(|(other, _)| other == look) {
                Some((_, count)) => *count += 1,
                None => counts.push((*look, 1)),
            }
        }
        let words: Vec<String> = counts.iter().map(|(look, count)| look.counted(*count)).collect();
        let names = listed(looks.iter().map(|(_, name)| name));
        let names: Vec<&str> = names.lines().collect();
        let result = |call: PartRef| self.counterpart(call).map_or(0, |result| self.tokens(result));
        let tokens: usize = calls.map(|call| self.tokens(call) + result(call)).sum();
        html! {
            summary {
                b { (words.join(", ")) } " "
                span class="preview" {
                    (Shown(&names[..names.len().min(MAX_NAMES)].join(" · ")))
                    @if names.len() > MAX_NAMES { " and " (names.len() - MAX_NAMES) " more" }
                }
                " " span class="tokens" { (short(tokens)) " tokens" }
            }
        }
    }

    fn calls_of(&self, at: usize) -> impl Iterator<Item = PartRef> + Clone {
        let parts = self.conversation.messages[at].parts.iter().enumerate();
        parts.filter(|(_, part)| part.content.call().is_some()).map(move |(part, _)| PartRef { message: at, part })
    }

    fn state(&self, at: usize) -> State {
        self.conversation.fate(at).map_or(State::Kept, |fate| fate.state)
    }

    /// Message `at` and those of the sub-agents that it started.
    fn with_agents(&self, at: usize) -> Vec<usize> {
        let mut all = vec![at];
        let mut next = 0;
        while let Some(&at) = all.get(next) {
            let sides = self.calls_of(at).filter_map(|call| self.started.get(&call)).flatten();
            all.extend(sides.flat_map(|side| &side.messages));
            next += 1;
        }
        if let Some(side) = self.loose.get(&at) {
            all.extend(side.messages.iter().filter(|other| **other != at));
        }
        all
    }

    /// The numbers of failed calls and of edits in a message and its sub-agents.
    fn tally(&self, at: usize) -> Tally {
        let calls = self.with_agents(at);
        let calls = calls.iter().flat_map(|at| self.calls_of(*at));
        calls.fold(Tally::default(), |sum, call| {
            let failed = self.conversation.is_failed(call);
            let edits = !failed && self.calls.get(&call).is_some_and(|sketch| sketch.is_edit);
            Tally { failures: sum.failures + usize::from(failed), edits: sum.edits + usize::from(edits) }
        })
    }

    // Sub-agents.

    /// The sub-agents that a call started.
    fn agents(&self, call: PartRef, arguments: &str) -> Markup {
        let title = description(arguments);
        html! {
            @for side in self.started.get(&call).into_iter().flatten() {
                (self.nested(&title.clone().unwrap_or_default(), &side.messages))
            }
            @for attached in self.attached.get(&call).into_iter().flatten() { (self.attached(attached, title.clone())) }
        }
    }

    fn attached(&self, attached: &Attached<'_>, title: Option<String>) -> Markup {
        let title = attached.description.clone().or(title).unwrap_or_default();
        let messages: Vec<usize> = (0..attached.conversation.messages.len()).collect();
        Chat::new(&attached.conversation, self.limits).nested(&title, &messages)
    }

    /// A conversation of a sub-agent, or those of its messages, folded below what it was and how it ended.
    fn nested(&self, title: &str, messages: &[usize]) -> Markup {
        let conversation = self.conversation;
        let Some(&first) = messages.first() else { return html! {} };
        let title = if title.is_empty() { conversation.beginning(first) } else { line(title, 100) };
        let calls: Vec<PartRef> = messages.iter().flat_map(|at| self.calls_of(*at)).collect();
        let failed = calls.iter().filter(|call| conversation.is_failed(**call)).count();
        let moments = || messages.iter().filter_map(|at| conversation.moments[*at].as_ref());
        let seconds = moments().next_back().zip(moments().next()).map(|(last, first)| last.seconds - first.seconds);
        let costs = conversation.spending.as_ref().map(|spending| &spending.messages);
        let cost: f64 = messages.iter().filter_map(|at| costs?.get(*at)).sum();
        let is_row = |at: &usize| !self.is_folded(*at);
        let rows: Vec<usize> = messages.iter().copied().filter(is_row).collect();
        let mut drawn = String::new();
        self.draw_rows(&rows, None, &mut drawn);
        html! {
            details class="agent" {
                summary {
                    b { "Sub-agent" } " “" (Shown(&title)) "”"
                    span class="did" {
                        span { (counted(calls.len(), "call")) }
                        @if failed > 0 { span class="failed" { (figure(failed)) " failed" } }
                        @if let Some(seconds) = seconds.filter(|seconds| *seconds >= 1.0) { span { (duration(seconds)) } }
                        @if cost > 0.0 { span { (dollars(cost)) } }
                    }
                    (small_strip(conversation, messages))
                    @if let Some(words) = self.last_words(messages) { span class="ended" { "→ " (Shown(&words)) } }
                }
                (PreEscaped(drawn))
            }
        }
    }

    /// What the model said last in these messages.
    fn last_words(&self, messages: &[usize]) -> Option<String> {
        let replies = messages.iter().rev().map(|at| &self.conversation.messages[*at]);
        let mut texts =
            replies.filter(|message| message.role == Role::Assistant).flat_map(|message| message.parts.iter().rev());
        texts.find_map(|part| match &part.content {
            Content::Text(text) if !text.is_blank() => Some(plain(&text.decode(), 200)),
            _ => None,
        })
    }

    /// Opens an element with these messages, up to message `end`, which the script builds when they come into view: parsing all of
    /// a long conversation takes seconds. Without JavaScript, the page shows them immediately.
    fn open_later(&self, rows: &[usize], end: usize, out: &mut String) {
        let conversation = self.conversation;
        let range = rows[0]..end;
        let states = range.clone().filter_map(|at| Some(conversation.fate(at)?.state.name()));
        let writers = range.clone().map(|at| conversation.writer(at));
        let tools = range.clone().filter_map(|at| self.tools(at));
        let prompts = rows.iter().filter(|at| conversation.story.is_prompt(**at)).count();
        let dropped = range.clone().filter(|at| self.state(*at) == State::Dropped).count();
        let tally = rows.iter().map(|at| self.tally(*at)).fold(Tally::default(), |sum, tally| Tally {
            failures: sum.failures + tally.failures,
            edits: sum.edits + tally.edits,
        });
        let html = html! {
            div class="later" data-first=(rows[0]) data-rows=(rows.len()) data-prompts=(prompts) data-failures=(tally.failures)
                data-edits=(tally.edits) data-dropped=(dropped) data-by=(listed(writers)) data-states=(listed(states))
                data-tools=(Shown(&listed(tools))) style={ "--rows:" (rows.len()) } {}
        };
        out.push_str(html.0.strip_suffix("</div>").unwrap_or(&html.0));
        out.push_str("<noscript>");
    }

    fn message(&self, at: usize, before: Option<&'static str>) -> Markup {
        let conversation = self.conversation;
        let message = &conversation.messages[at];
        let fate = conversation.fate(at);
        let state = fate.map_or(State::Kept, |fate| fate.state);
        let tools = self.tools(at);
        let by = conversation.writer(at);
        let with_agents = self.with_agents(at);
        let answered = self.calls_of(at).filter_map(|call| self.counterpart(call)).map(|_| "tool");
        let writers = with_agents.iter().map(|at| self.conversation.writer(*at)).chain(answered);
        let tools = tools.into_iter().chain(with_agents[1..].iter().filter_map(|at| self.tools(*at)));
        let tools = Some(listed(tools)).filter(|tools| !tools.is_empty());
        let tally = self.tally(at);
        let is_asked = conversation.story.is_prompt(at);
        let joined = if before == Some(by) && !message.closes_calls() { " joined" } else { "" };
        let slim = if self.is_slim(at) { " slim" } else { "" };
        html! {
            @if let Some(gap) = self.gap(at) {
                p class="gap" { (gap) " later" }
            }
            @if message.closes_calls() && at > 0 { p class="boundary" { "Boundary: the model no longer reads what is above." } }
            article id=(conversation.anchor(at)) class={ (by) " " (state.name()) (joined) (slim) }
                data-message=(at) data-by=(listed(writers)) data-failures=[Some(tally.failures).filter(|count| *count > 0)]
                data-edits=[Some(tally.edits).filter(|count| *count > 0)] data-state=(state.name()) data-tools=[tools.as_deref().map(Shown)] data-prompt[is_asked] {
                (self.heading(at, fate))
                @for nth in 0..message.parts.len() {
                    @if !is_marker(message, nth, fate) { (self.part(PartRef { message: at, part: nth }, fate)) }
                }
                @if message.parts.is_empty() { p class="quiet" { "empty" } }
            }
        }
    }

    /// The time since the message before it in the same conversation.
    fn gap(&self, at: usize) -> Option<String> {
        let Conversation { messages, moments, .. } = self.conversation;
        let last = messages[..at].iter().rposition(|message| message.thread == messages[at].thread)?;
        gap(moments[last].as_ref(), moments[at].as_ref())
    }

    /// The counterpart of a call or result.
    fn counterpart(&self, at: PartRef) -> Option<PartRef> {
        self.conversation.pairs.counterpart(at)
    }

    /// The results of a call: of a deferred call, those that came before the last one as well.
    fn results(&self, call: PartRef) -> impl Iterator<Item = PartRef> {
        let earlier = self.conversation.pairs.claimants(call).iter().copied();
        earlier.filter(move |&result| self.counterpart(result) == Some(call)).chain(self.counterpart(call))
    }

    /// Whether a message contains only results of calls in other messages: they are shown with these calls.
    fn is_folded(&self, at: usize) -> bool {
        let message = &self.conversation.messages[at];
        let elsewhere = |(nth, part): (usize, &Part<'_>)| {
            let call = self.counterpart(PartRef { message: at, part: nth });
            part.content.result().is_some() && call.is_some_and(|call| call.message != at)
        };
        !message.closes_calls() && !message.parts.is_empty() && message.parts.iter().enumerate().all(elsewhere)
    }

    /// Whether a message shows nothing but its heading.
    fn is_slim(&self, at: usize) -> bool {
        let message = &self.conversation.messages[at];
        let elsewhere = |(nth, part): (usize, &Part<'_>)| match &part.content {
            Content::ToolResult(_) => self.counterpart(PartRef { message: at, part: nth }).is_some(),
            Content::Reasoning(text) => text.is_blank(),
            _ => false,
        };
        message.parts.iter().enumerate().all(elsewhere)
    }

    fn heading(&self, at: usize, fate: Option<&Fate>) -> Markup {
        let message = &self.conversation.messages[at];
        let writer = self.conversation.writer(at);
        html! {
            header {
                h3 {
                    span class="role" { (writer) @if message.role.instructs() { ", " (message.role.name()) } } " "
                    a class="number" href={ "#" (self.conversation.anchor(at)) } { (at) }
                }
                @if let Some(moment) = &self.conversation.moments[at] { (moment.draw(false)) }
                (self.fate(at, fate))
            }
        }
    }

    /// The tokens of a message, and what a policy does to it.
    fn fate(&self, at: usize, fate: Option<&Fate>) -> Markup {
        let tokens = self.conversation.costs[at].tokens;
        html! {
            @if tokens > 0 || fate.is_some() { span class="tokens" title=[self.usage(at)] {
                @match fate {
                    Some(fate) if fate.tokens != tokens && fate.state == State::Changed => {
                        s { (figure(tokens)) } " " (counted(fate.tokens, "token"))
                    },
                    _ => { (counted(tokens, "token")) },
                }
            } }
            @if let Some(fate) = fate {
                @if fate.state != State::Kept { span class={ "state " (fate.state.name()) } { (fate.state.name()) } }
                @if !fate.reasons.is_empty() {
                    ul class="reasons" { @for reason in &fate.reasons { li { (Shown(reason)) } } }
                }
            }
        }
    }

    /// The provider's counts for the request that message `at` begins to answer.
    fn usage(&self, at: usize) -> Option<String> {
        let provided = &self.conversation.provided;
        let usage = provided[provided.binary_search_by_key(&at, |request| request.message).ok()?].usage;
        let [input, read, write, output] = [usage.input, usage.cache_read, usage.cache_write, usage.output]
            .map(|tokens| figure(usize::try_from(tokens).unwrap_or(usize::MAX)));
        Some(format!(
            "The provider counted: input {input}, of which {read} from its cache and {write} written to it; output {output}"
        ))
    }

    /// The names of the tools that a message calls or that answer in it, separated by line breaks.
    fn tools(&self, at: usize) -> Option<String> {
        let message = &self.conversation.messages[at];
        let used = message.parts.iter().enumerate().filter(|(_, part)| part.content.is_tool());
        let mut names: Vec<String> =
            used.map(|(nth, _)| self.conversation.tool(PartRef { message: at, part: nth })).collect();
        names.sort_unstable();
        names.dedup();
        (!names.is_empty()).then(|| names.join("\n"))
    }

    fn part(&self, at: PartRef, fate: Option<&Fate>) -> Markup {
        let part = &self.conversation.messages[at.message].parts[at.part];
        let tokens = self.tokens(at);
        let fate = fate.and_then(|fate| fate.parts.get(at.part)).unwrap_or(&PartFate::Kept);
        let class = match fate {
            PartFate::Kept => "part",
            PartFate::Dropped => "part dropped",
            PartFate::Rewritten(_) => "part changed",
        };
        html! {
            div class={ (class) (if part.content.call().is_some() { " calls" } else { "" }) } {
                @match &part.content {
                    Content::Text(text) => { (self.text_part(at, part, text)) },
                    Content::Reasoning(text) => { (self.reasoning(part, text, tokens)) },
                    Content::ToolCall(call) => { (self.call(at, part, call, tokens)) },
                    Content::ToolResult(result) => { (self.result(at, part, result, tokens)) },
                    Content::Media(text) => { (media(&text.decode(), 1)) },
                    Content::Unknown(text) => {
                        details class="aside" { summary { "Show other content, " (size(bytes(part))) } (self.text(part, text, true)) }
                    },
                    Content::Other => { p class="quiet" { "Other content, " (size(bytes(part))) } },
                }
                (self.rewritten(fate))
            }
        }
    }

    fn rewritten(&self, fate: &PartFate) -> Markup {
        html! {
            @if let PartFate::Rewritten(text) = fate {
                p class="quiet" { "changed to" }
                (passage(Passage { text, byte: 0, max_chars: self.limits.max_text, mono: true }))
            }
        }
    }

    /// A text of a message. A long text that a program wrote for the model is folded.
    fn text_part(&self, at: PartRef, part: &Part<'_>, text: &Text<'_>) -> Markup {
        let words = text.decode();
        if self.conversation.writer(at.message) != "program" || words.len() <= MAX_UNFOLDED {
            return self.prose(part, text);
        }
        html! {
            details class="context" {
                summary { span class="preview" { (Shown(&line(&words, 110))) } " " span class="tokens" { (counted(self.tokens(at), "token")) } }
                (self.prose(part, text))
            }
        }
    }

    /// A text of a person or a model, which may be Markdown.
    fn prose(&self, part: &Part<'_>, text: &Text<'_>) -> Markup {
        let words = text.decode();
        if capped(&words, self.limits.max_text).1 > 0 {
            return self.text(part, text, false);
        }
        match markdown(&words) {
            Some(html) => html! {
                (html)
                details class="raw" {
                    summary { "Markdown source" }
                    pre { (Body(&words)) }
                }
            },
            None => self.text(part, text, false),
        }
    }

    fn text(&self, part: &Part<'_>, text: &Text<'_>, mono: bool) -> Markup {
        if text.is_blank() {
            return html! { p class="quiet" { "blank" } };
        }
        let byte = self.byte(part);
        let text = text.decode();
        // Blank lines around prose have no meaning.
        let text = if mono { &*text } else { text.trim_matches(['\r', '\n']) };
        passage(Passage { text, byte, max_chars: self.limits.max_text, mono })
    }

    /// The byte offset of a part in the file.
    fn byte(&self, part: &Part<'_>) -> usize {
        self.conversation.place.offset + part.place().map_or(0, |place| place.element.span().start as usize)
    }

    fn reasoning(&self, part: &Part<'_>, text: &Text<'_>, tokens: usize) -> Markup {
        html! {
            @if text.is_blank() { p class="quiet" { "Thinking, hidden by the provider" } }
            @else {
                details class="thinking" {
                    summary { "Thinking " span class="tokens" { (counted(tokens, "token")) } }
                    (self.prose(part, text))
                }
            }
        }
    }

    fn call(&self, at: PartRef, part: &Part<'_>, call: &ToolCall<'_>, tokens: usize) -> Markup {
        let raw = call.arguments.decode();
        let name = call.name.decode();
        let max_chars = self.limits.max_text;
        let kind = CallKind::from_call(&name, &raw);
        let is_failed = self.conversation.is_failed(at);
        let has_agents = self.has_agents(at);
        let answer = if matches!(kind, CallKind::Ask(_)) { self.answer_to(at) } else { String::new() };
        let byte = self.byte(part);
        html! {
            details class={ "call " (kind.class()) (if is_failed { " failed" } else { "" }) } open[kind.is_open() || is_failed || has_agents] {
                summary {
                    b { (Shown(&line(&name, 80))) } " "
                    @match &kind {
                        CallKind::Other => { span class="preview" { (Shown(&line(&raw, 90))) } },
                        _ => { (kind.target()) },
                    }
                    @if is_failed { " " span class="failed" { "failed" } }
                    " " span class="tokens" { (counted(tokens, "token")) }
                    @match self.counterpart(at) {
                        Some(counterpart) => {
                            span class="tokens" {
                                " → " (counted(self.tokens(counterpart), "token"))
                                @if let Some(seconds) = self.seconds(at, counterpart) { " · " (duration(seconds)) }
                            }
                        },
                        None if call.hosted => { span class="tokens" { " → run by the provider" } },
                        None => { span class="missing" { " no result" } },
                    }
                }
                @match kind.draw(byte, max_chars, &answer) {
                    Some(drawn) => { (arguments(&raw, byte, max_chars, kind.shown())) (drawn) },
                    // The sub-agent shows its task.
                    None if has_agents => {
                        details class="aside" { summary { "Show the arguments" } (arguments(&raw, byte, max_chars, &[])) }
                    },
                    None => { (arguments(&raw, byte, max_chars, &[])) },
                }
                @if has_agents { (self.agents(at, &raw)) }
                @for result in self.results(at) { (self.answer(at, result, &kind, is_failed)) }
            }
        }
    }

    /// How long a call took, if its log tells and it was not short.
    fn seconds(&self, call: PartRef, result: PartRef) -> Option<f64> {
        let moments = &self.conversation.moments;
        let seconds = moments[result.message].as_ref()?.seconds - moments[call.message].as_ref()?.seconds;
        Some(seconds).filter(|seconds| *seconds >= 2.0)
    }

    /// The text of the result of a call.
    fn answer_to(&self, call: PartRef) -> String {
        let result = self.counterpart(call).and_then(|result| self.conversation.part(result).content.result());
        result.map(|result| result.content.iter().map(Text::decode).collect::<Vec<_>>().join("\n")).unwrap_or_default()
    }

    /// The result of the call `at`.
    fn answer(&self, at: PartRef, counterpart: PartRef, kind: &CallKind, is_failed: bool) -> Markup {
        let part = &self.conversation.messages[counterpart.message].parts[counterpart.part];
        let Content::ToolResult(result) = &part.content else { return html! {} };
        let is_folded = self.is_folded(counterpart.message);
        let fate = self.conversation.fate(counterpart.message).filter(|_| is_folded);
        let state = fate.map_or(State::Kept, |fate| fate.state);
        let is_first = self.conversation.messages[counterpart.message].results().next().map(|(part, _)| part)
            == Some(counterpart.part);
        let place = (is_folded && is_first).then(|| self.conversation.anchor(counterpart.message));
        let moment =
            self.conversation.moments[counterpart.message].as_ref().filter(|_| counterpart.message != at.message);
        // The line of the command shows the number of tokens of its output.
        let is_plain = is_folded && fate.is_none_or(|fate| fate.state == State::Kept && fate.reasons.is_empty());
        let drawn =
            if matches!(kind, CallKind::Shell { .. }) { self.printed(part, result) } else { self.output(part, result) };
        let body = html! {
            (drawn)
            @if let Some(fate) = fate.and_then(|fate| fate.parts.get(counterpart.part)) { (self.rewritten(fate)) }
        };
        let label = html! {
            "Result "
            @if is_folded { span class="number" { (counterpart.message) } }
            @else if counterpart.message != at.message {
                a href={ "#" (self.conversation.anchor(counterpart.message)) } { "message " (counterpart.message) }
            }
            @if let Some(moment) = moment { " " (moment.draw(false)) }
            @if is_folded { " " (self.fate(counterpart.message, fate)) }
        };
        html! {
            div class={ "result " (state.name()) } id=[place.as_deref()]
                data-message=[place.is_some().then_some(counterpart.message)] data-state=[place.is_some().then_some(state.name())] {
                @if (kind.folds_result() || self.has_agents(at)) && state == State::Kept && !is_failed {
                    details class="aside" { summary { span class="label" { (label) } } (body) }
                } @else {
                    @if !(is_plain && matches!(kind, CallKind::Shell { .. })) { p class="label" { (label) } }
                    (body)
                }
            }
        }
    }

    fn tokens(&self, at: PartRef) -> usize {
        self.conversation.costs[at.message].parts[at.part]
    }

    /// A result that is shown with its call, or in place if it has none.
    fn result(&self, at: PartRef, part: &Part<'_>, result: &ToolResult<'_>, tokens: usize) -> Markup {
        let name = self.conversation.tool(at);
        html! {
            @match self.counterpart(at) {
                Some(call) if call.message == at.message => {},
                Some(call) => {
                    p class="answer" {
                        "Result of " b { (Shown(&line(&name, 80))) } ", shown with its call in "
                        a href={ "#" (self.conversation.anchor(call.message)) } { "message " (call.message) }
                    }
                },
                None => {
                    details class="call" {
                        summary {
                            b { (Shown(&line(&name, 80))) } " " span class="missing" { "result without a call" } " "
                            span class="tokens" { (counted(tokens, "token")) }
                        }
                        (self.output(part, result))
                    }
                },
            }
        }
    }

    fn output(&self, part: &Part<'_>, result: &ToolResult<'_>) -> Markup {
        html! {
            @for text in &result.content { (self.text(part, text, true)) }
            (files(part, result))
        }
    }

    /// The output of a command.
    fn printed(&self, part: &Part<'_>, result: &ToolResult<'_>) -> Markup {
        html! {
            @for text in result.content.iter().filter(|text| !text.is_blank()) {
                (output(&text.decode(), self.limits.max_text, self.byte(part)))
            }
            (files(part, result))
        }
    }

    fn draft(&self, draft: &Drafted<'_>) -> Markup {
        let message = &draft.message;
        let by = writer(message);
        html! {
            article class={ (by) " added" } data-by=(by) data-state="added" {
                header {
                    h3 { span class="role" { (by) } }
                    span class="tokens" { (counted(draft.tokens, "token")) }
                    span class="state added" { "added" }
                }
                @for text in message.parts.iter().flat_map(|part| texts(&part.content)) {
                    (passage(Passage { text: &text, byte: 0, max_chars: self.limits.max_text, mono: false }))
                }
            }
        }
    }
}

/// The numbers of failed calls and of edits.
#[derive(Default)]
struct Tally {
    failures: usize,
    edits: usize,
}

/// What comes between the messages of a conversation, as far as it was not drawn yet.
struct Around {
    /// The number of turns that have their heading.
    turns: usize,
    cut: Option<Cut>,
    /// The first message before which messages of a policy were not drawn.
    drafts: usize,
}

/// The place where a policy starts to keep.
fn gone(cut: &Cut) -> Markup {
    html! {
        p class="gone" {
            span { strong { "The policy starts to keep here." } " What is above is dropped." }
            span class="of" { (counted(cut.messages, "message")) ", " (counted(cut.tokens, "token")) }
        }
    }
}

/// What a call says that it is about.
fn description(arguments: &str) -> Option<String> {
    let document = Document::parse(arguments).ok()?;
    let object = document.roots().next().filter(|root| root.is_object())?;
    member_text(object, &["description", "task_name", "title", "name"]).filter(|text| !text.is_empty())
}

/// The images and files of a result.
fn files(part: &Part<'_>, result: &ToolResult<'_>) -> Markup {
    html! {
        @if result.media > 0 { (media(part.place().map_or("", |place| place.element.raw()), result.media)) }
        @if result.content.iter().all(Text::is_blank) && result.media == 0 { p class="quiet" { "empty" } }
    }
}

/// `count` images or files, of which `raw` is the JSON.
fn media(raw: &str, count: usize) -> Markup {
    html! { (images(raw)) p class="media" { (counted(count, "image or file")) ", " (size(raw.len())) } }
}

/// Whether a part has nothing to show, such as the beginning of a step or a blank text, although other parts of its message have.
fn is_marker(message: &Message<'_>, nth: usize, fate: Option<&Fate>) -> bool {
    let is_empty = |part: &Part<'_>| match &part.content {
        Content::Text(text) => text.is_blank(),
        Content::Other => true,
        _ => false,
    };
    let is_kept = fate.and_then(|fate| fate.parts.get(nth)).is_none_or(|fate| matches!(fate, PartFate::Kept));
    is_kept && is_empty(&message.parts[nth]) && !message.parts.iter().all(is_empty)
}

fn bytes(part: &Part<'_>) -> usize {
    part.place().map_or(0, |place| place.element.span().len())
}
