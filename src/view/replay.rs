//! A replay as a page: the context of each policy as curves, and the figures of its table.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::page::still;
use super::visible::{Shown, counted, figure, percent};
use curtail_lab::replay::{NamedTotal, PolicyTotal, SessionReport, TotalReport};

/// Policies with a color of their own; later ones share the last.
const COLORS: usize = 6;

/// One session as a section of a page.
#[must_use]
pub(crate) fn replayed_session(session: &SessionReport) -> String {
    let section = html! {
        section class="session" {
            h2 { (Shown(&session.name)) }
            p class="hint" {
                (counted(session.requests, "request")) ", " (session.dialect)
                @if let Some(model) = &session.model { ", " (Shown(model)) }
                ", cache rules " (Shown(&session.cache))
                @if let Some(truth) = session.truth.as_ref().filter(|_| session.inaccurate) {
                    ", inaccurate: input tokens off by " (format_args!("{:.1} %", truth.median_error * 100.0))
                }
            }
            section class="card" { h3 { "Tokens sent at each request" } (curves(session)) }
            (table(session.policies.iter().map(|policy| (policy.name.as_str(), None, &policy.total))))
        }
    };
    section.0
}

/// A page of `sections`, each from [`replayed_session`], after the sums over all sessions and `notes` about them.
#[must_use]
pub(crate) fn replayed_page(total: &TotalReport, notes: &[&str], sections: &[String]) -> String {
    let title = format!("Replay of {}", counted(total.sessions, "session"));
    let (mut page, closing) = still(&title);
    let head = html! {
        header class="facts" { h1 { (title) } p class="hint" { (counted(total.requests, "request")) } }
        (trade(total))
        (table(total.policies.iter().map(|policy| (policy.name.as_str(), policy.pareto, &policy.total))))
        ul class="notes" { @for note in notes { li { (Shown(note)) } } }
        details class="numbers" {
            summary { "What the columns mean" }
            dl class="meanings" {
                @for column in COLUMNS { div { dt { (column.name) } dd { (column.meaning) } } }
            }
        }
    };
    page.push_str(&head.0);
    sections.iter().for_each(|section| page.push_str(section));
    page.push_str(closing);
    page
}

/// What each policy costs against what it keeps: a point for each.
fn trade(total: &TotalReport) -> Markup {
    let policies = &total.policies;
    let is_priced = policies.iter().all(|policy| policy.total.cost.is_some());
    #[expect(clippy::cast_precision_loss, reason = "tokens are far below 2^52")]
    let price = |total: &PolicyTotal| match total.cost {
        Some(cost) if is_priced => cost,
        _ => total.tokens_sent as f64,
    };
    let amount = |total: &PolicyTotal| match is_priced {
        true => format!("${:.2}", price(total)),
        false => counted(whole(total.tokens_sent), "token"),
    };
    let most = policies.iter().map(|policy| price(&policy.total)).fold(0.0, f64::max);
    let least = policies.iter().map(|policy| policy.total.kept_share()).fold(1.0, f64::min);
    // The lowest tenth that all points are above.
    let floor = ((least * 10.0 - 0.5).floor() / 10.0).clamp(0.0, 0.9);
    html! {
        section class="card trade" {
            h2 { (if is_priced { "Cost" } else { "Tokens sent" }) " and references kept" }
            p class="hint" { "Higher keeps more of what the model went on to use; further left costs less." }
            (points(policies, price, amount, (floor, most)))
            p class="ends" { span { (if is_priced { "$0" } else { "0 tokens" }) } span { (if is_priced { format!("${most:.2}") } else { counted(policies.iter().map(|policy| whole(policy.total.tokens_sent)).max().unwrap_or(0), "token") }) } }
            ol class="legend" start="0" {
                @for (nth, policy) in policies.iter().enumerate() {
                    li { span class={ "dot c" (nth.min(COLORS - 1)) } { (nth) } " " (Shown(&policy.name)) ": " (amount(&policy.total)) ", " (share(&policy.total)) }
                }
            }
        }
    }
}

/// The points of the policies between `floor` and all references, and nothing and the price `most`.
fn points(
    policies: &[NamedTotal],
    price: impl Fn(&PolicyTotal) -> f64,
    amount: impl Fn(&PolicyTotal) -> String,
    (floor, most): (f64, f64),
) -> Markup {
    let left = |total: &PolicyTotal| if most > 0.0 { price(total) / most * 94.0 } else { 0.0 };
    let bottom = |total: &PolicyTotal| (total.kept_share() - floor) / (1.0 - floor) * 94.0;
    html! {
        div class="points" role="img" aria-label={ "References kept against cost, for " (counted(policies.len(), "policy").replace("policys", "policies")) ". The table below has the figures." } {
            span class="axis top" { "100 % of references kept" }
            span class="axis bottom" { (format_args!("{:.0} %", floor * 100.0)) }
            @for (nth, policy) in policies.iter().enumerate() {
                span class={ "dot c" (nth.min(COLORS - 1)) }
                    style=(format_args!("left:{:.1}%;bottom:{:.1}%", left(&policy.total), bottom(&policy.total)))
                    title={ (Shown(&policy.name)) ": " (amount(&policy.total)) ", " (share(&policy.total)) " kept" } { (nth) }
            }
        }
    }
}

fn share(total: &PolicyTotal) -> String {
    format!("{:.1} %", total.kept_share() * 100.0)
}

/// The tokens of each request, a step curve for each policy, and what the provider counted.
fn curves(session: &SessionReport) -> Markup {
    let counted_by_log = || {
        session
            .policies
            .first()
            .map_or(&[][..], |policy| &policy.requests)
            .iter()
            .map(|request| request.recorded.map(|recorded| recorded.tokens_sent))
    };
    let tokens = session.policies.iter().flat_map(|policy| policy.requests.iter().map(|request| request.tokens_sent));
    let most = tokens.chain(counted_by_log().flatten()).max().unwrap_or(0);
    let has_figures = counted_by_log().flatten().next().is_some();
    let end = session.requests.max(1);
    let label =
        format!("Tokens sent at each of {}, at most {}", counted(session.requests, "request"), figure(whole(most)));
    html! {
        figure class="curve" {
            div class="plot tall" {
                span class="axis" { (figure(whole(most))) " tokens" }
                span class="axis right" { (counted(session.requests, "request")) }
                svg viewBox="0 0 1000 200" preserveAspectRatio="none" role="img" aria-label=(label) {
                    @for at in &session.compacted_before {
                        path class="boundaries" d={ "M" (at.saturating_sub(1) * 1000 / end) " 0V200" } {}
                    }
                    // What was recorded is drawn last, dashed, so that a policy that sends the same is seen under it.
                    @for (nth, policy) in session.policies.iter().enumerate().rev() {
                        path class={ "c" (nth.min(COLORS - 1)) } d=(steps(policy.requests.iter().map(|request| Some(request.tokens_sent)), end, most)) {}
                    }
                    @if has_figures { path class="provided" d=(steps(counted_by_log(), end, most)) {} }
                }
            }
            figcaption class="legend" {
                @for (nth, policy) in session.policies.iter().enumerate() {
                    span class={ "key c" (nth.min(COLORS - 1)) } {
                        (Shown(&policy.name)) ", at most " (figure(whole(policy.total.largest_request)))
                    } " "
                }
                @if has_figures { span class="key provided" { "the provider's count in the log" } " " }
                @if !session.compacted_before.is_empty() { span class="key boundary" { "compacted by the program" } }
            }
        }
    }
}

/// A line through the requests that have a figure.
fn steps(tokens: impl Iterator<Item = Option<u64>>, end: usize, most: u64) -> String {
    let mut path = String::new();
    for (nth, sent) in tokens.enumerate().filter_map(|(nth, sent)| Some((nth, sent?))) {
        let (x, y) = (nth * 1000 / end, 196 - sent * 190 / most.max(1));
        // Writing to a String cannot fail.
        let _ = if path.is_empty() { write!(path, "M{x} {y}") } else { write!(path, "H{x}V{y}") };
    }
    if !path.is_empty() {
        path.push_str("H1000");
    }
    path
}

/// A column of the table of policies.
struct Column {
    name: &'static str,
    meaning: &'static str,
    /// The cell of a policy, beside the tokens that were sent as recorded.
    cell: fn(&PolicyTotal, usize) -> String,
}

const COLUMNS: &[Column] = &[
    Column {
        name: "Tokens sent",
        meaning: "input of all requests, in the provider's count where the log has figures to fit it",
        cell: |total, _| figure(whole(total.tokens_sent)),
    },
    Column {
        name: "Of recorded",
        meaning: "the same as a share of what was recorded",
        cell: |total, recorded| percent(whole(total.tokens_sent), recorded),
    },
    Column {
        name: "From cache",
        meaning: "share of the input that the provider would have read from its prompt cache",
        cell: |total, _| percent(whole(total.cache_read), whole(total.tokens_sent)),
    },
    Column {
        name: "Cost",
        meaning: "price of the input in US dollars",
        cell: |total, _| total.cost.map_or_else(|| String::from("unknown"), |cost| format!("${cost:.2}")),
    },
    Column {
        name: "Breaks",
        meaning: "requests that do not begin with the whole request before, so that the rest is not read from the cache",
        cell: |total, _| figure(total.prefix_breaks),
    },
    Column {
        name: "Paid back",
        meaning: "breaks whose cost later requests save, before the next break or the end",
        cell: |total, _| figure(total.breaks_paid_back),
    },
    Column {
        name: "References kept",
        meaning: "of the paths, names, quoted strings, numbers and URLs that a reply used and that stood earlier in the session, those \
                  that were sent",
        cell: |total, _| format!("{} of {}", figure(total.kept_references), figure(total.needed_references)),
    },
    Column {
        name: "Repeated calls",
        meaning: "recorded calls that repeat a call whose result was not sent",
        cell: |total, _| figure(total.repeated_calls),
    },
    Column {
        name: "Files read again",
        meaning: "recorded reads of a file whose earlier content was not sent",
        cell: |total, _| figure(total.files_read_again),
    },
    Column {
        name: "Thoughts",
        meaning: "signed thoughts that were sent after a prefix that differs from the original one",
        cell: |total, _| figure(total.thoughts_invalidated),
    },
    Column {
        name: "Largest",
        meaning: "tokens of the largest request",
        cell: |total, _| figure(whole(total.largest_request)),
    },
];

fn table<'t>(policies: impl Iterator<Item = (&'t str, Option<bool>, &'t PolicyTotal)>) -> Markup {
    let policies: Vec<_> = policies.collect();
    let recorded = policies.first().map_or(0, |(_, _, total)| whole(total.tokens_sent));
    html! {
        div class="scroll" tabindex="0" role="region" aria-label="Policies" {
            table class="policies" {
                thead { tr {
                    th scope="col" { "Policy" }
                    @for column in COLUMNS { th scope="col" title=(column.meaning) { (column.name) } }
                } }
                tbody { @for (name, pareto, total) in policies { tr {
                    th scope="row" { (Shown(name)) @if pareto == Some(true) { " *" } }
                    @for column in COLUMNS { td data-name=(column.name) { ((column.cell)(total, recorded)) } }
                } } }
            }
        }
    }
}

fn whole(tokens: u64) -> usize {
    usize::try_from(tokens).unwrap_or(usize::MAX)
}
