//! The verdict in words: which policy each group of sessions should have had, and the command to paste.

use super::columns::percent;
use super::policies::to_paste;
use crate::view::counted;
use curtail_core::visible::one_line;
use curtail_lab::replay::{Group, NamedTotal, PolicyTotal, Replay, Verdict};

/// So many references show what a policy loses.
const FEW: usize = 20;

/// A line for each group, and one with the command where a policy is worth it.
pub(super) fn lines(groups: &[Group], replay: &Replay, keep: f64) -> Vec<String> {
    if groups.is_empty() || replay.policies.len() < 2 {
        return Vec::new();
    }
    let mut lines = vec![format!(
        "verdict: the cheapest policy that keeps at least {} % of the references, and of those that calls used",
        (keep * 1e4).round() / 100.0
    )];
    for group in groups {
        let (line, command) = line(group, replay);
        lines.push(format!("  {}: {line}", heading(group)));
        lines.extend(command.map(|command| format!("    {command}")));
    }
    lines
}

/// What the sessions of a group have in common.
pub(super) fn heading(group: &Group) -> String {
    let outcome = group.outcome.as_ref().map(|outcome| format!(", outcome {}", one_line(outcome)));
    let sessions = counted(group.total.sessions, "session");
    format!("{}{} ({sessions})", group.dialect, outcome.unwrap_or_default())
}

fn line(group: &Group, replay: &Replay) -> (String, Option<String>) {
    let policies = &group.total.policies;
    let Some((verdict, recorded)) = group.verdict.as_ref().zip(policies.first()) else {
        return (String::from("nothing to compare"), None);
    };
    if recorded.total.tokens_sent == 0 {
        return (String::from("its tokens are not accurate enough to compare costs"), None);
    }
    let Some(number) = verdict.number else {
        let line = format!("none of these is worth it: none keeps that many{}", next(verdict, policies));
        return (line, None);
    };
    let (name, unit) = (&policies[number].name, if verdict.by_cost { "of the cost" } else { "of the tokens" });
    if !verdict.worth_it {
        let instead = match verdict.saved {
            saved if saved > 0.0005 => format!("saves only {} {unit}", percent(saved)),
            saved if saved < -0.0005 => format!("costs {} more", percent(-saved)),
            _ => String::from("saves nothing"),
        };
        let next = next(verdict, policies);
        let line = format!("none of these is worth it: the cheapest of them, {}, {instead}{next}", one_line(name));
        return (line, None);
    }
    let losses = losses(&policies[number].total);
    let line = format!("{} saves {} {unit}{losses}", one_line(name), percent(verdict.saved));
    (line, replay.policies.get(number).map(|policy| to_paste(policy, group.largest_counted)))
}

/// Where no policy is worth it, the one that keeps most of those that save: what it saves, and what it keeps.
fn next(verdict: &Verdict, policies: &[NamedTotal]) -> String {
    let Some(policy) = verdict.next.and_then(|number| policies.get(number)) else { return String::new() };
    let unit = if verdict.by_cost { "of the cost" } else { "of the tokens" };
    format!(
        "; {} saves {} {unit} and keeps {} of the references, {} in calls",
        one_line(&policy.name),
        percent(verdict.next_saved),
        percent(policy.total.kept_share()),
        percent(policy.total.kept_in_calls_share()),
    )
}

/// What a policy loses.
fn losses(total: &PolicyTotal) -> String {
    let lost = total.needed_references - total.kept_references;
    let needed = counted(total.needed_references, "reference");
    let references = match lost {
        0 if total.needed_references == 0 => String::from("; no reference was needed"),
        0 => format!(", and keeps all {needed}"),
        _ => {
            let again = match total.shown_again {
                0 => String::new(),
                again => format!(", of which results soon showed {again} again"),
            };
            format!(", and loses {lost} of {needed} ({}){again}", percent(1.0 - total.kept_share()))
        }
    };
    let few = match total.needed_references {
        1..FEW => ", which are too few to rely on",
        _ => "",
    };
    let repeated = match total.repeated_calls {
        0 => String::new(),
        1 => String::from("; 1 recorded call fetches again what it dropped"),
        calls => format!("; {calls} recorded calls fetch again what it dropped"),
    };
    references + few + &repeated
}
