//! The messages of a conversation one after another, with what comes between them: the headings of turns, messages that a
//! policy wrote, and the place where it starts to keep.

use maud::{Markup, html};

use super::{Chat, LATER_END, begin_later};
use crate::charts::Cut;
use crate::content::{Passage, passage};
use crate::conversation::Conversation;
use crate::effect::{Drafted, texts};
use crate::sides::Side;
use crate::spending::dollars;
use crate::visible::duration;
use crate::writers::writer;
use curtail_core::numbers::{counted, figure};

/// Messages of a long conversation that are built immediately.
const FIRST_ROWS: usize = 200;
/// Messages that are built together when they come into view.
const LATER_ROWS: usize = 100;

/// What is drawn as one.
enum Row<'r> {
    Message(usize),
    /// Messages that only look at something, folded into a line.
    Looks(&'r [usize]),
    /// A sub-agent whose call is not known.
    Agent(&'r Side),
}

/// What comes between the messages of a conversation, as far as it was not drawn yet.
pub(super) struct Between {
    /// The number of turns that have their heading.
    turns: usize,
    cut: Option<Cut>,
    /// The first message before which messages of a policy were not drawn.
    drafts: usize,
}

impl Between {
    /// The first message of the next turn.
    fn next_turn(&self, conversation: &Conversation<'_>) -> Option<usize> {
        conversation.turns.get(self.turns).copied()
    }
}

impl Chat<'_, '_> {
    /// Appends all messages to `out`, turn by turn. `shared` tells whether the page has other conversations.
    pub(crate) fn draw(&self, out: &mut String, shared: bool) {
        let conversation = self.conversation;
        let rows: Vec<usize> = (0..conversation.messages.len()).filter(|at| self.is_row(*at)).collect();
        if !conversation.outside.preamble.is_empty() {
            Self::draw_outside("outside", 0, &self.preamble(), shared, out);
        }
        let (now, later) = rows.split_at(self.rows_at_once(shared).min(rows.len()));
        let mut between = Between { turns: 0, cut: Cut::of_conversation(conversation), drafts: 0 };
        self.draw_rows(now, Some(&mut between), out);
        for rows in later.chunks(LATER_ROWS) {
            self.open_later(rows, out);
            self.draw_rows(rows, Some(&mut between), out);
            out.push_str(LATER_END);
        }
        for at in between.drafts..=conversation.messages.len() {
            self.draw_drafts(at, out);
        }
        for attached in conversation.attached.iter().filter(|attached| attached.call.is_none()) {
            out.push_str(&self.attached(attached, None).0);
        }
        let last = conversation.messages.len().saturating_sub(1);
        if !conversation.outside.replies.is_empty() {
            Self::draw_outside("model", last, &self.replies(), shared, out);
        }
    }

    /// Draws what is outside the messages, beside message `near`; the filters find it as `by`. On a shared page, the script builds it
    /// when it comes into view.
    fn draw_outside(by: &str, near: usize, outside: &Markup, shared: bool, out: &mut String) {
        if shared {
            let element = html! {
                div class="later" data-first=(near) data-rows="1" data-by=(by) data-states="kept" style="--rows:1" {}
            };
            begin_later(&element, out);
        }
        out.push_str(&outside.0);
        if shared {
            out.push_str(LATER_END);
        }
    }

    /// How many messages are built immediately. The others of a long or shared page are built when they come into view.
    fn rows_at_once(&self, shared: bool) -> usize {
        if shared {
            return 0;
        }
        let conversation = self.conversation;
        let attached: usize = conversation.attached.iter().map(|attached| attached.conversation.tokens()).sum();
        if conversation.tokens() + attached >= self.limits.long { FIRST_ROWS } else { usize::MAX }
    }

    /// Whether a message is drawn on its own: not with a call or with a sub-agent.
    fn is_row(&self, at: usize) -> bool {
        self.loose.contains_key(&at) || !self.aside.contains(&at) && !self.is_folded(at)
    }

    /// Draws messages in a row. `between` is what comes between those of the whole conversation.
    pub(super) fn draw_rows(&self, rows: &[usize], mut between: Option<&mut Between>, out: &mut String) {
        let mut before = None;
        let mut rest = rows;
        while let Some(&at) = rest.first() {
            if let Some(between) = &mut between
                && self.draw_between(at, between, out)
            {
                before = None;
            }
            let row = self.first_row(rest, between.as_deref());
            out.push_str(&self.row(&row, before).0);
            let (drawn, after) = rest.split_at(row.len());
            before = drawn.last().map(|at| self.conversation.writer(*at));
            rest = after;
        }
    }

    /// What the first of `rows` is drawn as.
    fn first_row<'r>(&'r self, rows: &'r [usize], between: Option<&Between>) -> Row<'r> {
        let looks = self.looks(rows, between.and_then(|between| between.next_turn(self.conversation)));
        if !looks.is_empty() {
            return Row::Looks(looks);
        }
        // A sub-agent is drawn in the conversation, not inside itself.
        match self.loose.get(&rows[0]).filter(|_| between.is_some()) {
            Some(side) => Row::Agent(side),
            None => Row::Message(rows[0]),
        }
    }

    /// A row; `before` wrote what is above it.
    fn row(&self, row: &Row<'_>, before: Option<&'static str>) -> Markup {
        match row {
            Row::Message(at) => self.message(*at, before),
            Row::Agent(side) => self.nested("", &side.messages),
            Row::Looks(messages) => self.folded_looks(messages, before),
        }
    }

    /// Draws what comes before message `at`. Returns whether there is anything.
    fn draw_between(&self, at: usize, between: &mut Between, out: &mut String) -> bool {
        let from = out.len();
        if let Some(cut) = between.cut.take_if(|cut| cut.message <= at) {
            out.push_str(&start_of_kept(&cut).0);
        }
        while let Some(start) = between.next_turn(self.conversation).filter(|start| *start <= at) {
            between.turns += 1;
            out.push_str(&self.turn(between.turns, start).0);
        }
        for place in std::mem::replace(&mut between.drafts, at + 1)..=at {
            self.draw_drafts(place, out);
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
                @if let Some(moment) = &self.conversation.times.messages[at] { " " (moment.draw(false)) }
                @if let Some(seconds) = prompt.seconds.filter(|seconds| *seconds >= 1.0) { " " span class="of" { (duration(seconds)) } }
                @if let Some(amount) = prompt.dollars.filter(|amount| *amount > 0.0) { " " span class="of" { (dollars(amount)) } }
            }
        }
    }

    /// Draws the messages that a policy wrote before message `at`.
    fn draw_drafts(&self, at: usize, out: &mut String) {
        for draft in self.conversation.drafts(at) {
            out.push_str(&self.draft(draft).0);
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

impl Row<'_> {
    /// How many of the messages that are drawn on their own it is.
    const fn len(&self) -> usize {
        match self {
            Self::Message(_) | Self::Agent(_) => 1,
            Self::Looks(messages) => messages.len(),
        }
    }
}

/// The place where a policy starts to keep.
fn start_of_kept(cut: &Cut) -> Markup {
    html! {
        p class="gone" {
            span {
                strong { "The policy starts to keep here." } " "
                @if cut.messages == cut.message { "What is above is dropped." }
                @else { (figure(cut.messages)) " of the " (counted(cut.message, "message")) " above are dropped." }
            }
            span class="of" { (counted(cut.messages, "message")) ", " (counted(cut.tokens, "token")) }
        }
    }
}
