//! A call with its result, and whether it failed.

use std::borrow::Cow;
use std::cell::OnceCell;

use super::calls::only_shows;
use super::{Pointer, outcomes, wrappers};
use curtail_core::dialects::reports_failure;
use curtail_core::json::Text;
use curtail_core::transcript::{Part, ToolCall, ToolResult};

/// A call with its result.
pub(super) struct CallWithResult<'c> {
    /// The message with the call.
    pub(super) at: Pointer,
    /// The part with the result; `None` if there is none yet.
    pub(super) result: Option<&'c Part<'c>>,
    /// The text of the result, decoded when it is first needed: most calls only read, and their results are not.
    text: OnceCell<Cow<'c, str>>,
}

impl<'c> CallWithResult<'c> {
    pub(super) const fn new(at: Pointer, result: Option<&'c Part<'c>>) -> Self {
        Self { at, result, text: OnceCell::new() }
    }

    /// The text of the result.
    pub(super) fn result_text(&self) -> Option<&str> {
        let result = self.result?.content.result()?;
        Some(&**self.text.get_or_init(|| joined(result)))
    }

    /// The output in the result, without what wraps it.
    pub(super) fn output(&self) -> Cow<'_, str> {
        self.result_text().map(wrappers::unwrapped).unwrap_or_default()
    }

    /// The exit code that the result reports.
    pub(super) fn exit_code(&self) -> Option<i32> {
        wrappers::exit_code(self.result_text()?)
    }

    /// Whether the result says that nothing was changed.
    pub(super) fn refused(&self) -> bool {
        self.result.is_some_and(reports_failure) || begins_with_refusal(&self.output())
    }

    /// Whether the result says beside its text that the tool did not fail, and its text shows nothing else.
    pub(super) fn succeeded(&self) -> bool {
        let Some(place) = self.result.and_then(Part::place) else { return false };
        let mut members = place.outcome().unwrap_or(place.element).members();
        members.any(|member| member.key.is_one_of(&["is_error", "isError"]) && member.value.raw() == "false")
            && !self.refused()
            && !outcomes::is_doubtful(&self.output())
    }

    /// Whether the tool failed; `None` if the result does not say. A failure beside the text decides, then an exit code.
    pub(super) fn failed(&self) -> Option<bool> {
        if self.result.is_some_and(reports_failure) {
            return Some(true);
        }
        self.exit_code().map(|code| code != 0)
    }

    /// The same of a call that only shows a text, in which exit codes may be.
    pub(super) fn failed_to_show(&self) -> Option<bool> {
        if self.result.is_some_and(reports_failure) {
            return Some(true);
        }
        wrappers::exit_code_around(self.result_text()?).map(|code| code != 0)
    }

    /// Whether a call failed that does not only show a text: without an exit code, how its result begins decides.
    pub(super) fn failed_or_refused(&self) -> bool {
        self.failed().unwrap_or_else(|| self.refused())
    }
}

/// Whether `result` says that its tool failed. A text that a call only shows may begin like an error.
#[must_use]
pub fn failed(call: Option<&ToolCall<'_>>, result: &Part<'_>) -> bool {
    let answered = CallWithResult::new(Pointer::default(), Some(result));
    let output = answered.output();
    let is_shown = call.is_some_and(|call| only_shows(&call.name.decode(), &call.arguments.decode(), &output));
    if is_shown { answered.failed_to_show() == Some(true) } else { answered.failed_or_refused() }
}

/// The texts of a result as one.
fn joined<'c>(result: &'c ToolResult<'c>) -> Cow<'c, str> {
    match &result.content[..] {
        [text] => text.decode(),
        texts => texts.iter().map(Text::decode).collect::<Vec<_>>().join("\n").into(),
    }
}

/// Beginnings of results of calls that change something and did not, in lower case. They count also in a result with
/// `is_error: false`: many tools return the text of an error as their success.
const REFUSALS: &[&str] = &[
    "error",
    "<tool_use_error>",
    "failed",
    "failure",
    "string to replace not found",
    "no replacement",
    "could not find",
    "no match",
    "apply_patch verification failed",
    "permission denied",
    "file does not exist",
    "file has not been read",
    "invalid",
    "the user doesn't want",
];

fn begins_with_refusal(text: &str) -> bool {
    let start: String = text.trim_start().chars().take(48).collect::<String>().to_lowercase();
    REFUSALS.iter().filter_map(|refusal| Some((refusal, start.strip_prefix(refusal)?))).any(|(refusal, rest)| {
        refusal.ends_with('>') || !rest.starts_with(is_part_of_name) && !counts_none(refusal, rest)
    })
}

/// Whether a word that `c` follows is the beginning of a name, such as `error.log`, and no refusal.
fn is_part_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/')
}

/// Whether the number of failures behind `word`, their name, is 0, or their rate: `Failed: 0, passed: 3`, `Failed tests: 0`,
/// `Error rate 0.0 %`. With a noun behind it, something else is counted: `Error: 0 occurrences`.
fn counts_none(word: &str, rest: &str) -> bool {
    let value = rest.trim_start_matches(|c: char| c.is_alphabetic() || c == ' ');
    let label: Vec<&str> = rest[..rest.len() - value.len()].split_whitespace().collect();
    if !label.is_empty() && !names_count(word, &label, value) {
        return false;
    }
    let Some(decimals) = value.trim_start_matches([':', ' ', '=']).strip_prefix('0') else { return false };
    let behind = decimals.strip_prefix('.').map_or(decimals, |decimals| decimals.trim_start_matches('0'));
    let behind = behind.trim_start_matches([' ', '%']);
    behind.is_empty() || behind.starts_with([',', ';', '|', '\n', '\r'])
}

/// Whether a label behind `word` names failures that are counted, or their rate. A single thing has a value, which may be what is
/// wrong: `Invalid port: 0`, `Invalid sample rate: 0`.
fn names_count(word: &str, label: &[&str], value: &str) -> bool {
    let ([last] | [_, last]) = label else { return false };
    let is_rate = matches!(*last, "rate" | "ratio" | "count" | "percentage" | "total");
    let are_several = last.ends_with('s') && !last.ends_with("ss") && !last.ends_with("us");
    match word {
        "error" | "failed" | "failure" => is_rate || are_several && !value.starts_with('0'),
        "invalid" => are_several && !value.starts_with('0'),
        _ => false,
    }
}
