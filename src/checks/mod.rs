//! One rule per file: messages in, findings out. A rule asks neutral facts of a format and never its name.
//!
//! To add one: a file here, a line in [`ALL`], a page made by the test of the pages.

mod alternation;
mod call_without_reasoning;
mod context;
mod detached_result;
mod duplicate_call_id;
mod duplicate_key;
mod duplicate_result;
mod duplicate_transcript;
mod empty_content;
mod ends_with_assistant;
mod examples;
mod family_mismatch;
mod finding;
mod first_speaker;
mod inspection;
mod invalid_arguments;
mod invalid_json;
mod levels;
mod missing_id;
mod missing_role;
mod name_mismatch;
mod no_assistant_message;
mod no_user_message;
mod orphan_result;
mod page;
mod pending_call;
mod reasoning_without_call;
mod response_count;
mod result_before_call;
mod result_not_first;
mod signature_lost;
mod system_not_first;
mod thinking_only_message;
mod too_long;
mod tool_use_id_format;
mod unanswered_call;
mod unknown_role;

use crate::suggest::closest;
pub use context::RuleContext;

pub use finding::{Excerpt, Finding, FindingPlace, LineIndex, Match};
pub use inspection::{Inspection, Profile, Seen};
pub use levels::{Level, Levels, PathTable, Table, Verdicts};

/// Something that can be wrong with a transcript, and all that is said about it.
#[derive(Debug)]
pub struct Rule {
    /// Its code: a letter for the group and a number that never changes.
    pub code: &'static str,
    /// Its name: the fault's, so that "allow orphan-result" reads.
    pub name: &'static str,
    /// What is made of a finding unless the user says otherwise.
    pub level: Level,
    /// What is wrong, in one sentence.
    pub summary: &'static str,
    /// Why it matters, in Markdown.
    pub why: &'static str,
    /// What to do about it; reads after "help: ".
    pub help: &'static str,
    /// What providers answer to it, by the name of the format that they take.
    pub answers: &'static [(&'static str, &'static str)],
    /// Flags that `check` needs to find it in the bad example, where the rule is off or asks for a number.
    pub flags: &'static str,
    /// A file that the rule, and no other, finds something in.
    pub bad: &'static str,
    /// The same, mended: no rule finds anything in it.
    pub good: &'static str,
    /// Looks for the fault.
    pub find: for<'c, 'a> fn(&RuleContext<'c, 'a>) -> Vec<Match<'a>>,
}

/// Every rule, by code.
pub const ALL: &[&Rule] = &[
    &orphan_result::RULE,
    &unanswered_call::RULE,
    &pending_call::RULE,
    &duplicate_call_id::RULE,
    &duplicate_result::RULE,
    &result_before_call::RULE,
    &detached_result::RULE,
    &family_mismatch::RULE,
    &missing_id::RULE,
    &invalid_json::RULE,
    &unknown_role::RULE,
    &missing_role::RULE,
    &empty_content::RULE,
    &invalid_arguments::RULE,
    &name_mismatch::RULE,
    &duplicate_key::RULE,
    &reasoning_without_call::RULE,
    &call_without_reasoning::RULE,
    &thinking_only_message::RULE,
    &signature_lost::RULE,
    &result_not_first::RULE,
    &response_count::RULE,
    &tool_use_id_format::RULE,
    &no_user_message::RULE,
    &first_speaker::RULE,
    &alternation::RULE,
    &ends_with_assistant::RULE,
    &system_not_first::RULE,
    &no_assistant_message::RULE,
    &too_long::RULE,
    &duplicate_transcript::RULE,
];

/// The rule that a text of no JSON breaks: found before there is a transcript.
pub const INVALID_JSON: &Rule = &invalid_json::RULE;

/// The rule that the copy of an earlier transcript breaks: found where transcripts meet.
pub const DUPLICATE_TRANSCRIPT: &Rule = &duplicate_transcript::RULE;

/// The rule with this code or name.
#[must_use]
pub fn find(key: &str) -> Option<&'static Rule> {
    ALL.iter().copied().find(|rule| rule.name == key || rule.code.eq_ignore_ascii_case(key))
}

/// As [`find`], with words for a key that names no rule.
///
/// # Errors
/// The key, and the name that is nearest to it.
pub fn named(key: &str) -> Result<&'static Rule, String> {
    find(key).ok_or_else(|| {
        let meant = closest(key, ALL.iter().map(|rule| rule.name));
        let hint =
            meant.map_or_else(|| String::from("`curtail rule` lists them"), |name| format!("did you mean `{name}`?"));
        format!("no rule is called `{key}`; {hint}")
    })
}

impl Rule {
    /// The group that the rule belongs to: `pairing`, `shape`, `turn` or `dataset`.
    #[must_use]
    pub fn group(&self) -> &'static str {
        match self.code.as_bytes().first() {
            Some(b'P') => "pairing",
            Some(b'S') => "shape",
            Some(b'T') => "turn",
            _ => "dataset",
        }
    }

    /// FindingPlace of the rule in [`ALL`].
    #[must_use]
    pub fn index(&self) -> usize {
        ALL.iter().position(|rule| rule.code == self.code).unwrap_or(ALL.len())
    }

    /// What the provider called `name` answers, where it is known.
    #[must_use]
    pub fn answer_of(&self, name: &str) -> Option<&'static str> {
        self.answers.iter().find(|(provider, _)| *provider == name).map(|(_, answer)| *answer)
    }
}
