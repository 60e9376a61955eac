//! The only list of all rules. A file has the rules about one subject: each its page, then its detector. Rules on pairs,
//! turns and roles read neutral facts of a format. Rules on requests read the keys of providers' request formats as well, and
//! take limits from the table of constraints. None asks for the name of a dialect.
//!
//! To add a rule: in the file of its subject, and a line in [`ALL`]; the test of the pages writes its page.

mod arguments;
mod characters;
mod content;
mod datasets;
mod documents;
mod media;
mod names;
mod pairing;
mod reading;
mod reasoning;
mod renaming;
mod request;
mod roles;
mod rounds;
mod shapes;
mod turns;

use super::{Detector, Fix, Level, Rule};
use crate::json::Value;

/// Every rule, ordered by group and number.
pub const ALL: &[&Rule] = &[
    &pairing::ORPHAN_RESULT,
    &pairing::UNANSWERED_CALL,
    &pairing::PENDING_CALL,
    &pairing::DUPLICATE_CALL_ID,
    &pairing::DUPLICATE_RESULT,
    &pairing::RESULT_BEFORE_CALL,
    &pairing::DETACHED_RESULT,
    &pairing::FAMILY_MISMATCH,
    &pairing::MISSING_ID,
    &pairing::UNANSWERED_SERVER_CALL,
    &reading::INVALID_JSON,
    &roles::UNKNOWN_ROLE,
    &roles::MISSING_ROLE,
    &content::EMPTY_CONTENT,
    &arguments::INVALID_ARGUMENTS,
    &pairing::NAME_MISMATCH,
    &reading::DUPLICATE_KEY,
    &reasoning::REASONING_WITHOUT_CALL,
    &reasoning::CALL_WITHOUT_REASONING,
    &reasoning::THINKING_ONLY_MESSAGE,
    &reasoning::SIGNATURE_LOST,
    &pairing::RESULT_NOT_FIRST,
    &pairing::RESPONSE_COUNT,
    &names::TOOL_USE_ID_FORMAT,
    &reading::NOTHING_READ,
    &reading::UNREAD_CONTENT,
    &media::MEDIA_TOO_LARGE,
    &names::TOOL_NAME_FORMAT,
    &content::EMPTY_ERROR_RESULT,
    &names::DUPLICATE_ITEM_ID,
    &request::CACHE_MARKS,
    &media::UNREADABLE_MEDIA,
    &characters::LONE_SURROGATE,
    &reasoning::EMPTIED_THINKING,
    &request::TOO_MANY_TOOLS,
    &reading::UNKNOWN_MEMBER,
    &media::MISPLACED_MEDIA,
    &reasoning::STORED_ITEM,
    &reasoning::MISSING_REASONING,
    &content::EMPTY_CALLS,
    &content::CONTENT_BLOCKS,
    &documents::DOCUMENTS,
    &shapes::VALUE_SHAPE,
    &turns::NO_USER_MESSAGE,
    &turns::FIRST_SPEAKER,
    &turns::ALTERNATION,
    &turns::ENDS_WITH_ASSISTANT,
    &turns::SYSTEM_NOT_FIRST,
    &turns::TRAILING_WHITE_SPACE,
    &turns::USER_AFTER_TOOL,
    &datasets::NO_ASSISTANT_MESSAGE,
    &datasets::TOO_LONG,
    &datasets::DUPLICATE_TRANSCRIPT,
    &datasets::TRUNCATED_TARGET,
];

/// The rule for text that is not JSON: detected before there is a transcript.
pub const INVALID_JSON: &Rule = &reading::INVALID_JSON;

/// The rule for a copy of an earlier transcript: detected by comparing the transcripts of a run.
pub const DUPLICATE_TRANSCRIPT: &Rule = &datasets::DUPLICATE_TRANSCRIPT;

/// What most rules have in common: what they find is denied, no command mends it, and their bad example needs no flags. Those that
/// `check --fix` mends name a [`Fix`].
const RULE: Rule = Rule {
    code: "",
    name: "",
    level: Level::Deny,
    summary: "",
    why: "",
    help: "",
    fix: Fix::No,
    command: "",
    flags: "",
    bad: "",
    good: "",
    detector: Detector::Text,
};

// Transcripts that several rules use as good or bad examples.

/// A question, a call, its result, an answer.
const ANSWERED_CALL: &str = r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]}
{"role":"tool","tool_call_id":"call_1","content":"rain"}
{"role":"assistant","content":"It is."}
"#;

/// A question and an answer.
const ANSWER: &str = r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":"It is."}
"#;

/// The blocks in the list of a result.
fn result_blocks(result: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    result.get("toolResult").unwrap_or(result).get("content").into_iter().flat_map(Value::items)
}
