//! Compares two transcripts on one page: their common beginning, their differences, and the tokens of both.

use std::fmt::Write as _;
use std::ops::Range;

use maud::{Markup, PreEscaped, html};

use super::alignment::{Keys, Stretch, StretchKind, align};
use super::charts::{peak, steps};
use super::conversation::Conversation;
use super::requests::Request;
use super::visible::{Shown, percent};
use curtail_core::numbers::{counted, figure};
use curtail_core::transcript::PartRef;

/// Maximum number of differences that are listed; further ones are counted.
const MAX_DIFFERENCES: usize = 200;
/// Maximum number of messages of a difference that are listed for each transcript.
const MAX_ROWS: usize = 40;

/// What is compared of a transcript.
#[derive(Debug)]
pub struct Compared {
    name: String,
    /// The id of its section.
    id: String,
    /// Those that the model still reads.
    tokens: usize,
    /// Messages that it no longer reads.
    unread: usize,
    entries: Vec<Entry>,
    requests: Vec<Request>,
}

/// What is compared of a message.
#[derive(Debug)]
struct Entry {
    anchor: String,
    writer: &'static str,
    tokens: usize,
    /// The beginning of its text.
    words: String,
    keys: Keys,
}

/// Two transcripts and how they relate.
struct Comparison<'o> {
    one: &'o Compared,
    other: &'o Compared,
    stretches: Vec<Stretch>,
}

/// The horizontal position of each message in the chart.
#[derive(Default)]
struct Positions {
    one: Vec<usize>,
    other: Vec<usize>,
    width: usize,
}

/// How a side of a difference is drawn: the name of its color, and what it says of its messages.
#[derive(Clone, Copy)]
struct SideLook {
    state: &'static str,
    words: &'static str,
}

impl Compared {
    /// What is compared of `conversation`, whose section has the id `id`.
    pub(super) fn from_conversation(conversation: &Conversation<'_>, id: String) -> Self {
        let entries = conversation.messages.iter().enumerate().map(|(at, message)| Entry {
            anchor: conversation.anchor(at),
            writer: conversation.writer(at),
            tokens: conversation.costs[at].tokens,
            words: conversation.beginning(at),
            keys: Keys::from_message(message, |part| conversation.tool(PartRef { message: at, part })),
        });
        Self {
            name: conversation.place.name.clone(),
            id,
            tokens: conversation.live_tokens(),
            unread: conversation.unread(),
            entries: entries.collect(),
            requests: conversation.requests.clone(),
        }
    }

    fn keys(&self) -> Vec<&Keys> {
        self.entries.iter().map(|entry| &entry.keys).collect()
    }
}

/// The section of a page in which two transcripts are compared, as HTML.
pub fn comparison(one: &Compared, other: &Compared) -> String {
    Comparison { one, other, stretches: align(&one.keys(), &other.keys()) }.draw().0
}

impl Comparison<'_> {
    fn draw(&self) -> Markup {
        // Names of landmarks are unique on a page.
        let name = format!("Where {} and {} differ", self.one.name, self.other.name);
        html! {
            section class="outcome versus" aria-label=(name) {
                h2 { "Where they differ" }
                (self.sums())
                (self.parting())
                @if self.one.requests.len() + self.other.requests.len() > 1 { (self.curves()) }
                (self.differences())
                (self.marks())
            }
        }
    }

    /// Messages and tokens of both, in the terms that are used for the effect of a policy.
    fn sums(&self) -> Markup {
        let one = self.one;
        let other = self.other;
        let changed = self.stretches.iter().filter(|stretch| stretch.kind == StretchKind::Changed).count();
        let same: usize =
            self.stretches.iter().filter(|stretch| stretch.is_same()).map(|stretch| stretch.one.len()).sum();
        let in_both = same + changed;
        html! {
            p class="names" {
                span class="key one" { a href={ "#" (one.id) } { (Shown(&one.name)) } } " "
                span class="key other" { a href={ "#" (other.id) } { (Shown(&other.name)) } }
            }
            p class="change" {
                span class="before" { (figure(one.tokens)) } " → " strong data-fact="other" { (figure(other.tokens)) } " tokens"
                span class="of" {
                    " (" (percent(other.tokens, one.tokens)) ")"
                    @if one.unread + other.unread > 0 { " of what the model still reads" }
                }
            }
            p class="states" {
                span { (figure(one.entries.len())) " → " (figure(other.entries.len())) " messages:" } " "
                span class="state kept" { (figure(same)) " in both" } " "
                span class="state changed" { (figure(changed)) " changed" } " "
                span class="state dropped" { (figure(one.entries.len() - in_both)) " only in the first" } " "
                span class="state added" { (figure(other.entries.len() - in_both)) " only in the second" }
            }
        }
    }

    /// How many messages both begin with.
    fn beginning(&self) -> usize {
        self.stretches.first().filter(|stretch| stretch.is_same()).map_or(0, |stretch| stretch.one.len())
    }

    /// How many messages both end with, after they differed.
    fn ending(&self) -> Option<usize> {
        let last = self.stretches.get(1..)?.last()?;
        last.is_same().then_some(last.one.len())
    }

    /// How far the transcripts are the same.
    fn parting(&self) -> Markup {
        let one = &self.one.entries;
        let other = &self.other.entries;
        let prefix = self.beginning();
        let identical = match self.stretches.first().map(|stretch| stretch.kind) {
            Some(StretchKind::Same { identical }) => identical,
            _ => 0,
        };
        let tokens = one[..prefix].iter().map(|entry| entry.tokens).sum();
        html! {
            p class="parting" {
                @match prefix {
                    0 => { "They differ from the first message on." },
                    prefix => {
                        "Both begin with the same " (counted(prefix, "message")) ", " (counted(tokens, "token"))
                        @if identical < prefix { " (" (figure(identical)) " byte for byte, the others in text and tools)" }
                        @else { ", byte for byte" }
                        "."
                    },
                }
                @match (one.get(prefix), other.get(prefix)) {
                    (Some(left), Some(right)) if prefix > 0 => {
                        " Then come " (link(left, prefix)) " of the first and " (link(right, prefix)) " of the second."
                    },
                    (Some(left), None) => { " The second ends there; the first continues with " (link(left, prefix)) "." },
                    (None, Some(right)) => { " The first ends there; the second continues with " (link(right, prefix)) "." },
                    (None, None) => { " They do not differ." },
                    _ => {},
                }
                @if let Some(suffix) = self.ending() {
                    " Both end with the same " (counted(suffix, "message")) "."
                }
            }
        }
    }

    /// The context at each request of both. Messages that both have are at the same place.
    fn curves(&self) -> Markup {
        let positions = self.positions();
        let most = peak(self.one.requests.iter().chain(&self.other.requests));
        let line = |requests: &[Request], places: &[usize]| {
            let x = |message: usize| places.get(message).map_or(0, |place| place * 1000 / positions.width.max(1));
            // The line of the shorter transcript ends where it ends.
            let path = steps(requests.iter().map(|request| (x(request.message), request.tokens)), most);
            path.strip_suffix("H1000")
                .map(|path| format!("{path}H{}", x(places.len().saturating_sub(1))))
                .unwrap_or_default()
        };
        let parts = self.beginning() * 1000 / positions.width.max(1);
        let label = format!(
            "Tokens at each request: the first has {} and at most {}, the second {} and at most {}",
            counted(self.one.requests.len(), "request"),
            figure(peak(&self.one.requests)),
            counted(self.other.requests.len(), "request"),
            figure(peak(&self.other.requests)),
        );
        html! {
            figure class="curve" {
                div class="plot" {
                    span class="axis" { (figure(most)) " tokens" }
                    span class="axis right" { "messages of both" }
                    svg viewBox="0 0 1000 200" preserveAspectRatio="none" role="img" aria-label=(label) {
                        path class="boundaries" d={ "M" (parts) " 0V200" } {}
                        path class="one" d=(line(&self.one.requests, &positions.one)) {}
                        path class="other" d=(line(&self.other.requests, &positions.other)) {}
                    }
                }
                figcaption class="legend" {
                    span class="key one" { (counted(self.one.requests.len(), "request")) ", at most " (counted(peak(&self.one.requests), "token")) } " "
                    span class="key other" { (counted(self.other.requests.len(), "request")) ", at most " (counted(peak(&self.other.requests), "token")) } " "
                    span class="key boundary" { "where they differ" }
                }
            }
        }
    }

    /// Messages that both transcripts have are at the same position.
    fn positions(&self) -> Positions {
        let mut positions = Positions::default();
        for Stretch { one, other, .. } in &self.stretches {
            positions.one.extend((0..one.len()).map(|step| positions.width + step));
            positions.other.extend((0..other.len()).map(|step| positions.width + step));
            positions.width += one.len().max(other.len());
        }
        positions
    }

    /// The differences side by side, with the number of common messages between them.
    fn differences(&self) -> Markup {
        let apart = self.stretches.iter().enumerate().filter(|(_, stretch)| !stretch.is_same());
        let differences: Vec<usize> = apart.map(|(at, _)| at).collect();
        let listed = differences.get(MAX_DIFFERENCES).copied().unwrap_or(self.stretches.len());
        let hidden = differences.len().saturating_sub(MAX_DIFFERENCES);
        html! {
            ol class="places" {
                @for stretch in &self.stretches[..listed] { (self.stretch(stretch)) }
                @if hidden > 0 { li class="same" { "and " (counted(hidden, "more place")) } }
            }
        }
    }

    fn stretch(&self, Stretch { kind, one, other }: &Stretch) -> Markup {
        let sides = match kind {
            StretchKind::Same { .. } => return html! { li class="same" { (counted(one.len(), "message")) " in both" } },
            StretchKind::Changed => [
                SideLook { state: "changed", words: "in the first" },
                SideLook { state: "changed", words: "in the second" },
            ],
            StretchKind::Apart => [
                SideLook { state: "dropped", words: "only in the first" },
                SideLook { state: "added", words: "only in the second" },
            ],
        };
        html! {
            li class="sides" {
                (side(&self.one.entries, one.clone(), sides[0]))
                (side(&self.other.entries, other.clone(), sides[1]))
            }
        }
    }

    /// Marks the messages that only one transcript has, by a style for their ids: both conversations are drawn before they are
    /// compared.
    fn marks(&self) -> Markup {
        let mut style = String::new();
        for (kind, words, color) in
            [(StretchKind::Apart, "only here", "drop"), (StretchKind::Changed, "changed", "change")]
        {
            let stretches = self.stretches.iter().filter(|stretch| stretch.kind == kind);
            let entries = stretches.flat_map(|Stretch { one, other, .. }| {
                self.one.entries[one.clone()].iter().chain(&self.other.entries[other.clone()])
            });
            let ids = entries.map(|entry| format!("#{}", entry.anchor)).collect::<Vec<_>>().join(",");
            if ids.is_empty() {
                continue;
            }
            // Writing to a String cannot fail.
            let _ = write!(
                style,
                ":is({ids}){{box-shadow:-.5rem 0 0 -.3rem var(--{color})}}:is({ids})>:is(header,.label)::after,:is({ids})>.aside>summary::after{{content:\"{words}\";\
                 color:var(--{color});font-weight:600;font-size:.8125rem}}"
            );
        }
        html! { @if !style.is_empty() { style { (PreEscaped(style)) } } }
    }
}

/// The messages of a difference in one of the two.
fn side(entries: &[Entry], range: Range<usize>, look: SideLook) -> Markup {
    let rest = range.len().saturating_sub(MAX_ROWS);
    let hidden = &entries[range.end - rest..range.end];
    html! {
        div class={ "side " @if range.is_empty() { "none" } @else { (look.state) } } {
            @if !range.is_empty() {
                p class="quiet" { (look.words) }
                ol {
                    @for at in range.start..range.end - rest {
                        li {
                            (link(&entries[at], at)) " "
                            span class="words" { (Shown(&entries[at].words)) } " "
                            span class="figures" { (figure(entries[at].tokens)) }
                        }
                    }
                }
                @if rest > 0 {
                    p class="hint" { "and " (counted(rest, "message")) " more, " (counted(hidden.iter().map(|entry| entry.tokens).sum(), "token")) }
                }
            }
        }
    }
}

fn link(entry: &Entry, at: usize) -> Markup {
    html! { a href={ "#" (entry.anchor) } { (entry.writer) " " (at) } }
}

#[cfg(test)]
mod tests {
    use super::{Compared, Comparison, MAX_DIFFERENCES};
    use crate::alignment::{Stretch, StretchKind};

    const SAME: StretchKind = StretchKind::Same { identical: 0 };

    /// What the list of differences ends with, if `differences` of them are between messages that are the same.
    fn end_of_list(differences: usize) -> String {
        let transcript = Compared {
            name: String::new(),
            id: String::new(),
            tokens: 0,
            unread: 0,
            entries: Vec::new(),
            requests: Vec::new(),
        };
        let kinds = [SAME, StretchKind::Apart].repeat(differences).into_iter().chain([SAME]);
        let stretches = kinds.map(|kind| Stretch { kind, one: 0..0, other: 0..0 }).collect();
        let list = Comparison { one: &transcript, other: &transcript, stretches }.differences().0;
        list.rsplit_once("<li class=\"same\">").unwrap().1.trim_end_matches("</li></ol>").to_owned()
    }

    #[test]
    fn differences_that_are_not_listed_are_counted() {
        assert_eq!(end_of_list(MAX_DIFFERENCES - 1), "0 messages in both");
        assert_eq!(end_of_list(MAX_DIFFERENCES), "0 messages in both");
        assert_eq!(end_of_list(MAX_DIFFERENCES + 1), "and 1 more place");
        assert_eq!(end_of_list(MAX_DIFFERENCES + 1_000), "and 1,000 more places");
    }
}
