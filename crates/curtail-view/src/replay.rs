//! Shows a replay as a page: the tokens of each policy as curves, and the columns of its table.

use maud::{Markup, html};

use super::charts;
use super::page::without_script;
use super::spending::dollars;
use super::visible::Shown;
use curtail_core::numbers::{counted, figure};
use curtail_core::visible::one_line;
use curtail_lab::replay::{NamedTotal, PolicyReport, PolicyTotal, SessionReport, TotalReport};

/// How many policies have a color of their own; further ones share the last.
const COLORS: usize = 6;

/// One session as a section of a page.
pub fn replayed_session(session: &SessionReport, columns: &[&ReplayColumn]) -> String {
    let rows: Vec<PolicyRow<'_>> = session.policies.iter().map(PolicyRow::from_session).collect();
    let section = html! {
        section class="replayed" {
            h2 { (Shown(&session.name)) }
            p class="hint" {
                (counted(session.requests, "request")) ", " (session.dialect)
                @if let Some(model) = &session.model { ", " (Shown(model)) }
                ", cache rules " (Shown(&session.cache))
                @if let Some(accuracy) = session.accuracy.as_ref().filter(|_| session.inaccurate) {
                    ", inaccurate: input tokens off by up to " (format_args!("{:.1} %", accuracy.p90_error * 100.0))
                }
            }
            section class="card" { h3 { "Tokens sent at each request" } (curves(session)) }
            (table(&rows, columns, &format!("Policies in {}", session.name)))
        }
    };
    section.0
}

/// What is said of a group of sessions.
#[derive(Debug)]
pub struct ReplayVerdict {
    /// What its sessions have in common.
    pub heading: String,
    /// The verdict as a sentence.
    pub sentence: String,
    /// The command of the policy, if one is worth it.
    pub command: Option<String>,
}

/// The verdicts of a replay.
#[derive(Debug)]
pub struct ReplayVerdicts {
    /// What a verdict is.
    pub rule: String,
    /// One for each group of sessions.
    pub groups: Vec<ReplayVerdict>,
}

/// A page with the verdicts, the totals of all sessions, `notes` about them, and `sections`, which [`replayed_session`] drew.
pub fn replayed_page(
    total: &TotalReport,
    verdicts: &ReplayVerdicts,
    notes: &[&str],
    sections: &[String],
    columns: &[&ReplayColumn],
) -> String {
    let rows: Vec<PolicyRow<'_>> = total.policies.iter().map(PolicyRow::from_total).collect();
    let title = format!("Replay of {}", counted(total.sessions, "session"));
    let (mut page, closing) = without_script(&title);
    let head = html! {
        (verdict(total, verdicts, &title))
        (cost_chart(total))
        (table(&rows, columns, "Policies"))
        ul class="notes" { @for note in notes { li { (Shown(note)) } } }
        details class="meaning" {
            summary { "What the columns mean" }
            dl class="meanings" {
                @for column in columns { @if !column.meaning.is_empty() { div { dt { (column.title) } dd { (column.meaning) } } } }
            }
        }
    };
    page.push_str(&head.0);
    sections.iter().for_each(|section| page.push_str(section));
    page.push_str(closing);
    page
}

/// The verdicts: that of a single group as the heading.
fn verdict(total: &TotalReport, verdicts: &ReplayVerdicts, title: &str) -> Markup {
    let worth = verdicts.groups.iter().filter(|group| group.command.is_some()).count();
    html! {
        header class="facts" {
            p class="byline" { span { (title) } span { (counted(total.requests, "request")) } }
            @match verdicts.groups.as_slice() {
                [] => { h1 { (title) } },
                [group] => { h1 { (Shown(&sentence(&group.sentence))) } (command(group)) },
                groups => {
                    h1 { "A policy is worth it for " (worth) " of " (groups.len()) " kinds of sessions" }
                    ul class="verdicts" {
                        @for group in groups { li { b { (Shown(&group.heading)) } ": " (Shown(&group.sentence)) "." (command(group)) } }
                    }
                },
            }
            @if !verdicts.groups.is_empty() { p class="hint" { (verdicts.rule) } }
        }
    }
}

fn command(group: &ReplayVerdict) -> Markup {
    html! { @if let Some(command) = &group.command { pre class="command" { span class="sign" aria-hidden="true" { "$ " } (Shown(command)) } } }
}

/// A verdict as a sentence of its own.
fn sentence(verdict: &str) -> String {
    let is_name = verdict.split(' ').next().is_some_and(|word| word.contains(['-', '%']));
    let mut letters = verdict.chars();
    let first = letters.next().map(|first| if is_name { first.to_string() } else { first.to_uppercase().to_string() });
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}

/// The references that each policy keeps against its cost: a point for each policy with comparable totals.
fn cost_chart(total: &TotalReport) -> Markup {
    let policies: Vec<(usize, &NamedTotal)> =
        total.policies.iter().enumerate().filter(|(_, policy)| policy.failed_sessions == 0).collect();
    let is_priced = policies.iter().all(|(_, policy)| policy.total.cost.is_some());
    let scale = Scale::new(&policies, is_priced);
    let most = if is_priced { dollars(scale.most) } else { format!("{} tokens", figure(rounded(scale.most))) };
    html! {
        section class="card trade" {
            h2 { (if is_priced { "Cost" } else { "Tokens sent" }) " and references kept" }
            p class="hint" { "Higher keeps more of what the model went on to use; further left costs less." }
            (points(&policies, &scale))
            p class="ends" { span { (if is_priced { "$0" } else { "0 tokens" }) } span { (most) } }
            ol class="legend" start="0" {
                @for (nth, policy) in &policies {
                    li { span class={ "dot c" (nth.min(&(COLORS - 1))) } { (nth) } " " (Shown(&policy.name)) ": " (scale.amount(&policy.total)) ", " (share(&policy.total)) }
                }
            }
        }
    }
}

/// The axes of the chart.
struct Scale {
    is_priced: bool,
    /// The cost, or the tokens, at the right end.
    most: f64,
    /// The share of references at the bottom: the highest multiple of 10 % that is clearly below all points.
    floor: f64,
}

impl Scale {
    fn new(policies: &[(usize, &NamedTotal)], is_priced: bool) -> Self {
        let scale = Self { is_priced, most: 0.0, floor: 0.0 };
        let most = policies.iter().map(|(_, policy)| scale.price(&policy.total)).fold(0.0, f64::max);
        let least = policies.iter().map(|(_, policy)| policy.total.kept_share()).fold(1.0, f64::min);
        Self { most, floor: ((least * 10.0 - 0.5).floor() / 10.0).clamp(0.0, 0.9), ..scale }
    }

    /// The cost, or the tokens if a price is not known.
    #[expect(clippy::cast_precision_loss, reason = "tokens are far below 2^52")]
    fn price(&self, total: &PolicyTotal) -> f64 {
        total.cost.filter(|_| self.is_priced).unwrap_or(total.tokens_sent as f64)
    }

    fn amount(&self, total: &PolicyTotal) -> String {
        match self.is_priced {
            true => dollars(self.price(total)),
            false => counted(whole(total.tokens_sent), "token"),
        }
    }

    /// The position of a policy, in percent from the left and from the bottom.
    fn place(&self, total: &PolicyTotal) -> (f64, f64) {
        let left = if self.most > 0.0 { self.price(total) / self.most * 94.0 } else { 0.0 };
        (left, (total.kept_share() - self.floor) / (1.0 - self.floor) * 94.0)
    }
}

/// A point, for one policy or for several whose points would overlap.
struct Dot<'t> {
    left: f64,
    bottom: f64,
    policies: Vec<(usize, &'t NamedTotal)>,
}

impl Dot<'_> {
    /// What each of its policies costs and keeps, one per line.
    fn title(&self, scale: &Scale) -> String {
        let lines = self.policies.iter().map(|(_, policy)| {
            format!("{}: {}, {} kept", one_line(&policy.name), scale.amount(&policy.total), share(&policy.total))
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    fn numbers(&self) -> String {
        self.policies.iter().map(|(nth, _)| nth.to_string()).collect::<Vec<_>>().join(" ")
    }
}

/// The points of the policies; policies at nearly the same position share one.
fn dots<'t>(policies: &[(usize, &'t NamedTotal)], scale: &Scale) -> Vec<Dot<'t>> {
    let mut dots: Vec<Dot<'t>> = Vec::new();
    for &(nth, policy) in policies {
        let (left, bottom) = scale.place(&policy.total);
        let near = dots.iter_mut().find(|dot| (dot.left - left).abs() < 3.0 && (dot.bottom - bottom).abs() < 6.0);
        match near {
            Some(dot) => dot.policies.push((nth, policy)),
            None => dots.push(Dot { left, bottom, policies: vec![(nth, policy)] }),
        }
    }
    dots
}

fn points(policies: &[(usize, &NamedTotal)], scale: &Scale) -> Markup {
    let policies_shown = match policies.len() {
        1 => String::from("1 policy"),
        count => format!("{count} policies"),
    };
    html! {
        div class="points" role="img" aria-label={ "References kept against cost, for " (policies_shown) ". The table below lists the values." } {
            span class="axis top" { "100 % of references kept" }
            span class="axis bottom" { (format_args!("{:.0} %", scale.floor * 100.0)) }
            @for dot in dots(policies, scale) {
                span class={ "dot c" (dot.policies[0].0.min(COLORS - 1)) }
                    style=(format_args!("left:{:.1}%;bottom:{:.1}%", dot.left, dot.bottom))
                    title=(dot.title(scale)) { (dot.numbers()) }
            }
        }
    }
}

fn share(total: &PolicyTotal) -> String {
    format!("{:.1} %", total.kept_share() * 100.0)
}

/// The tokens of each request, as a step curve for each policy and one for the provider's counts.
fn curves(session: &SessionReport) -> Markup {
    let requests = session.policies.first().map_or(&[][..], |policy| &policy.requests).iter();
    let counted_by_log = requests.map(|request| request.recorded.map(|recorded| recorded.tokens_sent));
    let tokens = session.policies.iter().flat_map(|policy| policy.requests.iter().map(|request| request.tokens_sent));
    let most = tokens.chain(counted_by_log.clone().flatten()).max().unwrap_or(0);
    let has_counts = counted_by_log.clone().flatten().next().is_some();
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
                    // The provider's counts are drawn last and dashed, so that an equal curve is visible below.
                    @for (nth, policy) in session.policies.iter().enumerate().rev() {
                        path class={ "c" (nth.min(COLORS - 1)) } d=(steps(policy.requests.iter().map(|request| Some(request.tokens_sent)), end, most)) {}
                    }
                    @if has_counts { path class="provided" d=(steps(counted_by_log, end, most)) {} }
                }
            }
            figcaption class="legend" {
                @for (nth, policy) in session.policies.iter().enumerate() {
                    span class={ "key c" (nth.min(COLORS - 1)) } {
                        (Shown(&policy.name)) ", at most " (figure(whole(policy.total.largest_request)))
                    } " "
                }
                @if has_counts { span class="key provided" { "the provider's count in the log" } " " }
                @if !session.compacted_before.is_empty() { span class="key boundary" { "boundary" } }
            }
        }
    }
}

/// A step line through the requests whose tokens are known.
fn steps(tokens: impl Iterator<Item = Option<u64>>, end: usize, most: u64) -> String {
    let points = tokens.enumerate().filter_map(|(nth, sent)| Some((nth * 1000 / end, whole(sent?))));
    charts::steps(points, whole(most))
}

/// A column of the table of policies.
#[derive(Debug)]
pub struct ReplayColumn {
    /// Its name on the command line.
    pub name: &'static str,
    /// The help of this name.
    pub help: &'static str,
    /// Its title.
    pub title: &'static str,
    /// The cell for the totals of a policy and the totals as recorded.
    pub cell: fn(&PolicyTotal, &PolicyTotal) -> String,
    /// Its meaning, if the title does not explain it.
    pub meaning: &'static str,
}

/// A policy in a table: its name, its mark in a sweep, and its totals if they are comparable.
struct PolicyRow<'t> {
    name: &'t str,
    pareto: Option<bool>,
    total: Option<&'t PolicyTotal>,
}

impl<'t> PolicyRow<'t> {
    fn from_session(policy: &'t PolicyReport) -> Self {
        Self { name: &policy.name, pareto: None, total: policy.error.is_none().then_some(&policy.total) }
    }

    fn from_total(policy: &'t NamedTotal) -> Self {
        let total = (policy.failed_sessions == 0).then_some(&policy.total);
        Self { name: &policy.name, pareto: policy.pareto, total }
    }
}

/// The table of policies; `label` is its name.
fn table(rows: &[PolicyRow<'_>], columns: &[&ReplayColumn], label: &str) -> Markup {
    let recorded = rows.first().and_then(|row| row.total);
    html! {
        div class="scroll" tabindex="0" role="region" aria-label=(Shown(label)) {
            table class="policies" {
                thead { tr {
                    th scope="col" { "Policy" }
                    @for column in columns { th scope="col" title=[Some(column.meaning).filter(|meaning| !meaning.is_empty())] { (column.title) } }
                } }
                tbody { @for (nth, row) in rows.iter().enumerate() { tr {
                    th scope="row" {
                        (Shown(row.name)) @if row.pareto == Some(true) { " *" }
                        @if nth == 0 { span class="of" { "what was really sent" } }
                    }
                    @for column in columns { td data-name=(column.title) {
                        @if let Some((total, recorded)) = row.total.zip(recorded) { ((column.cell)(total, recorded)) } @else { "-" }
                    } }
                } } }
            }
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "tokens are far below 2^52")]
fn rounded(tokens: f64) -> u64 {
    tokens.max(0.0).round() as u64
}

fn whole(tokens: u64) -> usize {
    usize::try_from(tokens).unwrap_or(usize::MAX)
}
