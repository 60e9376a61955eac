//! A replay as a page: the context of each policy as curves, and the figures of its table.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::page::still;
use super::visible::{Shown, counted, figure, percent};
use curtail_lab::replay::{PolicyReport, PolicyTotal, SessionReport, TotalReport};

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
        (table(total.policies.iter().map(|policy| (policy.name.as_str(), policy.pareto, &policy.total))))
        ul class="notes" { @for note in notes { li { (Shown(note)) } } }
    };
    page.push_str(&head.0);
    sections.iter().for_each(|section| page.push_str(section));
    page.push_str(closing);
    page
}

/// The tokens of each request, a step curve for each policy.
fn curves(session: &SessionReport) -> Markup {
    let tokens = session.policies.iter().flat_map(|policy| policy.requests.iter().map(|request| request.tokens_sent));
    let most = tokens.max().unwrap_or(0);
    let end = session.requests.max(1);
    html! {
        figure class="curve" {
            div class="plot tall" {
                span class="axis" { (figure(whole(most))) }
                svg viewBox="0 0 1000 200" preserveAspectRatio="none" aria-hidden="true" focusable="false" {
                    @for at in &session.compacted_before {
                        path class="boundaries" d={ "M" (at.saturating_sub(1) * 1000 / end) " 0V200" } {}
                    }
                    // What was recorded is drawn last, dashed, so that a policy that sends the same is seen under it.
                    @for (nth, policy) in session.policies.iter().enumerate().rev() {
                        path class={ "c" (nth.min(COLORS - 1)) } d=(steps(policy, end, most)) {}
                    }
                }
            }
            figcaption class="legend" {
                @for (nth, policy) in session.policies.iter().enumerate() {
                    span class={ "key c" (nth.min(COLORS - 1)) } {
                        (Shown(&policy.name)) ", at most " (figure(whole(policy.total.largest_request)))
                    } " "
                }
                @if !session.compacted_before.is_empty() { span class="key boundary" { "compacted by the program" } }
            }
        }
    }
}

fn steps(policy: &PolicyReport, end: usize, most: u64) -> String {
    let mut path = String::new();
    for (nth, request) in policy.requests.iter().enumerate() {
        let (x, y) = (nth * 1000 / end, 196 - request.tokens_sent * 190 / most.max(1));
        // Writing to a String cannot fail.
        let _ = if nth == 0 { write!(path, "M{x} {y}") } else { write!(path, "H{x}V{y}") };
    }
    if !path.is_empty() {
        path.push_str("H1000");
    }
    path
}

const COLUMNS: &[&str] = &[
    "Policy",
    "Tokens sent",
    "Of recorded",
    "From cache",
    "Cost",
    "Breaks",
    "Paid back",
    "References kept",
    "Repeated calls",
    "Largest",
];

fn table<'t>(policies: impl Iterator<Item = (&'t str, Option<bool>, &'t PolicyTotal)>) -> Markup {
    let policies: Vec<_> = policies.collect();
    let recorded = policies.first().map_or(0, |(_, _, total)| whole(total.tokens_sent));
    html! {
        div class="scroll" tabindex="0" role="region" aria-label="Policies" {
            table {
                thead { tr {
                    @for name in COLUMNS { th scope="col" { (name) } }
                } }
                tbody { @for (name, pareto, total) in policies { tr {
                    th scope="row" { (Shown(name)) @if pareto == Some(true) { " *" } }
                    td { (figure(whole(total.tokens_sent))) }
                    td { (percent(whole(total.tokens_sent), recorded)) }
                    td { (percent(whole(total.cache_read), whole(total.tokens_sent))) }
                    td { @match total.cost { Some(cost) => { "$" (format_args!("{cost:.2}")) }, None => { "unknown" } } }
                    td { (figure(total.prefix_breaks)) } td { (figure(total.breaks_paid_back)) }
                    td { (figure(total.kept_references)) " of " (figure(total.needed_references)) }
                    td { (figure(total.repeated_calls)) } td { (figure(whole(total.largest_request))) }
                } } }
            }
        }
    }
}

fn whole(tokens: u64) -> usize {
    usize::try_from(tokens).unwrap_or(usize::MAX)
}
