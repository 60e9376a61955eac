//! The verdict: which policy each group of sessions should have had, and the command to paste.

use crate::options::replay::command_line;
use crate::reports::replay::columns::percent;
use curtail_core::numbers::counted;
use curtail_core::visible::one_line;
use curtail_lab::replay::{NamedTotal, PolicyTotal, Replay, SessionGroup, Verdict};
use curtail_view::ReplayVerdict;

/// With fewer needed references, a policy's losses are not reliable.
const MIN_REFERENCES: usize = 20;

/// A verdict for each group; none without a policy to compare. `enough` is what a policy must keep, in words.
pub(crate) fn verdicts(groups: &[SessionGroup], replay: &Replay, enough: &str) -> Vec<ReplayVerdict> {
    if replay.policies.len() < 2 {
        return Vec::new();
    }
    let verdicts = groups.iter().map(|group| {
        let (sentence, command) = verdict_line(group, replay, enough);
        ReplayVerdict { heading: heading(group), sentence, command }
    });
    verdicts.collect()
}

/// What a verdict is.
pub(crate) fn rule(keep: f64) -> String {
    format!(
        "the cheapest policy that keeps at least {} % of the references, and of those that calls used",
        (keep * 1e4).round() / 100.0
    )
}

/// A line for each group, and one with the command if a policy is worth it.
pub(crate) fn verdict_lines(verdicts: &[ReplayVerdict], keep: f64) -> Vec<String> {
    if verdicts.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![format!("verdict: {}", rule(keep))];
    for verdict in verdicts {
        lines.push(format!("  {}: {}", verdict.heading, verdict.sentence));
        lines.extend(verdict.command.iter().map(|command| format!("    {command}")));
    }
    lines
}

/// What the sessions of a group have in common.
pub(crate) fn heading(group: &SessionGroup) -> String {
    let outcome = group.outcome.as_ref().map(|outcome| format!(", outcome {}", one_line(outcome)));
    let sessions = counted(group.total.sessions, "session");
    format!("{}{} ({sessions})", group.dialect, outcome.unwrap_or_default())
}

fn verdict_line(group: &SessionGroup, replay: &Replay, enough: &str) -> (String, Option<String>) {
    let policies = &group.total.policies;
    let Some((verdict, recorded)) = group.verdict.as_ref().zip(policies.first()) else {
        return (String::from("nothing to compare"), None);
    };
    if recorded.total.tokens_sent == 0 {
        return (String::from("nothing was sent"), None);
    }
    if group.total.inaccurate_sessions == group.total.sessions {
        return (String::from("not judged: the token counts are too inaccurate"), None);
    }
    if !verdict.changes {
        return (nothing_changed(&policies[1..]), None);
    }
    let Some(number) = verdict.number else {
        let line = format!(
            "none of these is worth it: none that changes a request keeps {enough}{}",
            runner_up(verdict, policies)
        );
        return (line, None);
    };
    let name = &policies[number].name;
    let unit = if verdict.by_cost { "of the cost" } else { "of the tokens" };
    if !verdict.worth_it {
        let instead = match verdict.saved {
            saved if saved > 0.0005 => format!("saves only {} {unit}{}", percent(saved), within_error(verdict)),
            saved if saved < -0.0005 => format!("costs {} more", percent(-saved)),
            _ => String::from("saves nothing"),
        };
        let runner_up = runner_up(verdict, policies);
        let line = format!("none of these is worth it: the cheapest of them, {}, {instead}{runner_up}", one_line(name));
        return (line, None);
    }
    let losses = losses(&policies[number].total);
    let line = format!("{} saves {} {unit}{losses}", one_line(name), percent(verdict.saved));
    (line, replay.policies.get(number).map(|policy| command_line(policy, group.largest_counted)))
}

/// What is said if no policy that works changes a request.
fn nothing_changed(policies: &[NamedTotal]) -> String {
    let failed = policies.iter().filter(|policy| policy.failed_sessions > 0).count();
    String::from(match failed {
        0 => "none of these changes a request",
        _ if failed == policies.len() => "not judged: none of these works",
        _ => "none of these that works changes a request",
    })
}

/// The error of the cost or the tokens, if the saving of the policy is within it.
fn within_error(verdict: &Verdict) -> String {
    let error = verdict.error.filter(|error| *error > verdict.saved);
    error.map_or_else(String::new, |error| format!(", which is within the error of {}", percent(error)))
}

/// If no policy is worth it: what the best of those that save something saves and keeps.
fn runner_up(verdict: &Verdict, policies: &[NamedTotal]) -> String {
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
    let lost = total.losses.needed_references - total.losses.kept_references;
    let needed = counted(total.losses.needed_references, "reference");
    let references = match lost {
        0 if total.losses.needed_references == 0 => String::from("; no reference was needed"),
        0 => format!(", and keeps all {needed}"),
        _ => {
            let again = match total.losses.shown_again {
                0 => String::new(),
                again => format!(", of which results soon showed {again} again"),
            };
            format!(", and loses {lost} of {needed} ({}){again}", percent(1.0 - total.kept_share()))
        }
    };
    let few = match total.losses.needed_references {
        1..MIN_REFERENCES => ", which are too few to rely on",
        _ => "",
    };
    let repeated = match total.losses.repeated_calls {
        0 => String::new(),
        1 => String::from("; 1 recorded call fetches again what it dropped"),
        calls => format!("; {calls} recorded calls fetch again what it dropped"),
    };
    references + few + &repeated
}
