//! Two transcripts on one page: what both begin with, where they part, what each has alone, and the tokens of both.

use std::fmt::Write as _;
use std::ops::Range;

use maud::{Markup, PreEscaped, html};

use super::alignment::{Entry, Likeness, Match, Outline, align, gaps};
use super::charts::steps;
use super::context::Request;
use super::visible::{Shown, counted, figure, percent};

/// Places at which the transcripts differ that are listed; the others are counted.
const PLACES: usize = 200;
/// Messages of a place that are listed for each of the two.
const ROWS: usize = 40;

/// Two transcripts and what they have in common.
struct Comparison<'o> {
    one: &'o Outline,
    other: &'o Outline,
    matches: Vec<Match>,
    /// Messages that both begin with.
    prefix: usize,
}

/// A place where the transcripts differ.
#[derive(Default)]
struct Difference {
    /// Messages before it that are the same in both.
    same: usize,
    one: Range<usize>,
    other: Range<usize>,
    /// A message that one of them changed.
    changed: Option<(usize, usize)>,
}

/// The section in which two transcripts are compared.
pub(crate) fn comparison(one: &Outline, other: &Outline) -> Markup {
    let matches = align(&one.entries, &other.entries);
    let is_same = |(nth, found): &(usize, &Match)| found.at == (*nth, *nth) && found.likeness != Likeness::Changed;
    let prefix = matches.iter().enumerate().take_while(is_same).count();
    Comparison { one, other, matches, prefix }.draw()
}

impl Comparison<'_> {
    fn draw(&self) -> Markup {
        html! {
            section class="outcome versus" aria-labelledby="versus" {
                h2 id="versus" { "Where they part" }
                (self.sums())
                (self.parting())
                @if self.one.requests.len() + self.other.requests.len() > 1 { (self.curves()) }
                (self.differences())
                (self.marks())
            }
        }
    }

    fn count(&self, is_counted: impl Fn(Likeness) -> bool) -> usize {
        self.matches.iter().filter(|found| is_counted(found.likeness)).count()
    }

    /// What became of the messages of the one in the other, in the words that the effect of a policy has.
    fn sums(&self) -> Markup {
        let (one, other) = (self.one, self.other);
        let changed = self.count(|likeness| likeness == Likeness::Changed);
        let alone = |entries: &[Entry]| figure(entries.len() - self.matches.len());
        html! {
            p class="names" {
                span class="key one" { a href={ "#" (one.id) } { (Shown(&one.name)) } } " "
                span class="key other" { a href={ "#" (other.id) } { (Shown(&other.name)) } }
            }
            p class="change" {
                span class="before" { (figure(one.tokens)) } " → " strong data-fact="other" { (figure(other.tokens)) } " tokens"
                span class="of" { " (" (percent(other.tokens, one.tokens)) ")" }
            }
            p class="states" {
                span { (figure(one.entries.len())) " → " (figure(other.entries.len())) " messages:" } " "
                span class="state kept" { (figure(self.matches.len() - changed)) " in both" } " "
                span class="state changed" { (figure(changed)) " changed" } " "
                span class="state dropped" { (alone(&one.entries)) " only in the first" } " "
                span class="state added" { (alone(&other.entries)) " only in the second" }
            }
        }
    }

    /// Up to where the transcripts are the same.
    fn parting(&self) -> Markup {
        let (one, other) = (&self.one.entries, &self.other.entries);
        let bytes = self.matches[..self.prefix].iter().filter(|found| found.likeness == Likeness::Bytes).count();
        let tokens = one[..self.prefix].iter().map(|entry| entry.tokens).sum();
        html! {
            p class="parting" {
                @match self.prefix {
                    0 => { "They differ from the first message on." },
                    prefix => {
                        "Both begin with the same " (counted(prefix, "message")) ", " (counted(tokens, "token"))
                        @if bytes < prefix { " (" (figure(bytes)) " byte for byte, the others in text and tools)" }
                        @else { ", byte for byte" }
                        "."
                    },
                }
                @match (one.get(self.prefix), other.get(self.prefix)) {
                    (Some(left), Some(right)) if self.prefix > 0 => {
                        " Then come " (link(left, self.prefix)) " of the first and " (link(right, self.prefix)) " of the second."
                    },
                    (Some(left), None) => { " The second ends there; the first goes on with " (link(left, self.prefix)) "." },
                    (None, Some(right)) => { " The first ends there; the second goes on with " (link(right, self.prefix)) "." },
                    (None, None) => { " They do not part." },
                    _ => {},
                }
                @if let Some(suffix) = self.suffix() {
                    " Both end with the same " (counted(suffix, "message")) "."
                }
            }
        }
    }

    /// Messages that both end with, if that is not where they part.
    fn suffix(&self) -> Option<usize> {
        let (one, other) = (self.one.entries.len(), self.other.entries.len());
        let ends = (1..).zip(self.matches[self.prefix..].iter().rev());
        let is_same = |(nth, found): &(usize, &Match)| {
            found.likeness != Likeness::Changed && (found.at.0 + nth, found.at.1 + nth) == (one, other)
        };
        Some(ends.take_while(is_same).count()).filter(|&suffix| suffix > 0)
    }

    /// The context at each request of both. Messages that both have are at the same place.
    fn curves(&self) -> Markup {
        let (left, right, width) = self.positions();
        let requests = || self.one.requests.iter().chain(&self.other.requests);
        let most = requests().map(|request| request.tokens).max().unwrap_or(0);
        let line = |requests: &[Request], positions: &[usize]| {
            let x = |message: usize| positions.get(message).map_or(0, |place| place * 1000 / width.max(1));
            let points = requests.iter().map(|request| (x(request.message), 196 - request.tokens * 190 / most.max(1)));
            // The line of the shorter transcript ends where it ends.
            let path = steps(points);
            path.strip_suffix("H1000")
                .map(|path| format!("{path}H{}", x(positions.len().saturating_sub(1))))
                .unwrap_or_default()
        };
        let peak = |outline: &Outline| outline.requests.iter().map(|request| request.tokens).max().unwrap_or(0);
        let parts = self.prefix * 1000 / width.max(1);
        let label = format!(
            "Tokens at each request: the first has {} and at most {}, the second {} and at most {}",
            counted(self.one.requests.len(), "request"),
            figure(peak(self.one)),
            counted(self.other.requests.len(), "request"),
            figure(peak(self.other)),
        );
        html! {
            figure class="curve" {
                div class="plot" {
                    span class="axis" { (figure(most)) " tokens" }
                    span class="axis right" { "messages of both" }
                    svg viewBox="0 0 1000 200" preserveAspectRatio="none" role="img" aria-label=(label) {
                        path class="boundaries" d={ "M" (parts) " 0V200" } {}
                        path class="one" d=(line(&self.one.requests, &left)) {}
                        path class="other" d=(line(&self.other.requests, &right)) {}
                    }
                }
                figcaption class="legend" {
                    span class="key one" { (counted(self.one.requests.len(), "request")) ", at most " (counted(peak(self.one), "token")) } " "
                    span class="key other" { (counted(self.other.requests.len(), "request")) ", at most " (counted(peak(self.other), "token")) } " "
                    span class="key boundary" { "where they part" }
                }
            }
        }
    }

    /// Where each message of the one and of the other is, and the number of places.
    fn positions(&self) -> (Vec<usize>, Vec<usize>, usize) {
        let (mut left, mut right, mut place) = (Vec::new(), Vec::new(), 0);
        for (one, other, next) in gaps(&self.matches, (self.one.entries.len(), self.other.entries.len())) {
            left.extend((0..one.len()).map(|step| place + step));
            right.extend((0..other.len()).map(|step| place + step));
            place += one.len().max(other.len());
            if next.is_some() {
                left.push(place);
                right.push(place);
                place += 1;
            }
        }
        (left, right, place)
    }

    fn places(&self) -> Vec<Difference> {
        let (mut places, mut same) = (Vec::new(), 0);
        for (one, other, next) in gaps(&self.matches, (self.one.entries.len(), self.other.entries.len())) {
            if !one.is_empty() || !other.is_empty() {
                places.push(Difference { same: std::mem::take(&mut same), one, other, changed: None });
            }
            match next {
                Some(Match { at, likeness: Likeness::Changed }) => {
                    places.push(Difference {
                        same: std::mem::take(&mut same),
                        changed: Some(at),
                        ..Difference::default()
                    });
                }
                Some(_) => same += 1,
                None => {}
            }
        }
        places.push(Difference { same, ..Difference::default() });
        places
    }

    /// What each has alone, side by side, with the number of messages in between that both have.
    fn differences(&self) -> Markup {
        let places = self.places();
        html! {
            ol class="places" {
                @for place in places.iter().take(PLACES) {
                    @if place.same > 0 { li class="same" { (counted(place.same, "message")) " in both" } }
                    @if let Some((left, right)) = place.changed {
                        li class="sides" {
                            (side("first", &self.one.entries, left..left + 1, "changed"))
                            (side("second", &self.other.entries, right..right + 1, "changed"))
                        }
                    } @else if !place.one.is_empty() || !place.other.is_empty() {
                        li class="sides" {
                            (side("first", &self.one.entries, place.one.clone(), "dropped"))
                            (side("second", &self.other.entries, place.other.clone(), "added"))
                        }
                    }
                }
                @if places.len() > PLACES { li class="same" { "and " (figure(places.len() - PLACES)) " more places" } }
            }
        }
    }

    /// Marks in the conversations what only one of them has: style for their ids, because both are drawn before they are compared.
    fn marks(&self) -> Markup {
        let mut alone: Vec<&str> = Vec::new();
        for (one, other, _) in gaps(&self.matches, (self.one.entries.len(), self.other.entries.len())) {
            alone.extend(self.one.entries[one].iter().map(|entry| entry.anchor.as_str()));
            alone.extend(self.other.entries[other].iter().map(|entry| entry.anchor.as_str()));
        }
        let changed: Vec<(usize, usize)> = self.places().iter().filter_map(|place| place.changed).collect();
        let changed = changed.iter().flat_map(|&(left, right)| [&self.one.entries[left], &self.other.entries[right]]);
        let changed: Vec<&str> = changed.map(|entry| entry.anchor.as_str()).collect();
        let (mut style, kinds) = (String::new(), [("only here", "drop", alone), ("changed", "change", changed)]);
        for (words, color, anchors) in kinds.iter().filter(|(.., anchors)| !anchors.is_empty()) {
            let ids = anchors.iter().map(|anchor| format!("#{anchor}")).collect::<Vec<_>>().join(",");
            // Writing to a String cannot fail.
            let _ = write!(
                style,
                ":is({ids}){{box-shadow:-.5rem 0 0 -.3rem var(--{color})}}:is({ids})>:is(header,.label)::after{{content:\"{words}\";\
                 color:var(--{color});font-weight:600;font-size:.8125rem}}"
            );
        }
        html! { @if !style.is_empty() { style { (PreEscaped(style)) } } }
    }
}

/// Messages of one of the two.
fn side(name: &str, entries: &[Entry], range: Range<usize>, state: &str) -> Markup {
    let rest = range.len().saturating_sub(ROWS);
    let hidden = &entries[range.end - rest..range.end];
    html! {
        div class={ "side " @if range.is_empty() { "none" } @else { (state) } } {
            @if !range.is_empty() {
                p class="quiet" { @if state == "changed" { "in the " } @else { "only in the " } (name) }
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
