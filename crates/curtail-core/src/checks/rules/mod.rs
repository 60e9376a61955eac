//! One rule per file, and the only list of them. A rule reads neutral facts of a format and never the format's name.
//!
//! To add a rule: a file here, a line in [`ALL`]; the test of the pages writes its page.

mod alternation;
mod call_without_reasoning;
mod detached_result;
mod duplicate_call_id;
mod duplicate_key;
mod duplicate_result;
mod duplicate_transcript;
mod empty_content;
mod ends_with_assistant;
mod family_mismatch;
mod first_speaker;
mod invalid_arguments;
mod invalid_json;
mod media_too_large;
mod missing_id;
mod missing_role;
mod name_mismatch;
mod no_assistant_message;
mod no_user_message;
mod nothing_read;
mod orphan_result;
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
mod truncated_target;
mod unanswered_call;
mod unknown_role;
mod unread_content;

use super::Rule;

/// Every rule, ordered by group and number.
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
    &nothing_read::RULE,
    &unread_content::RULE,
    &media_too_large::RULE,
    &no_user_message::RULE,
    &first_speaker::RULE,
    &alternation::RULE,
    &ends_with_assistant::RULE,
    &system_not_first::RULE,
    &no_assistant_message::RULE,
    &too_long::RULE,
    &truncated_target::RULE,
    &duplicate_transcript::RULE,
];

/// The rule for text that is not JSON: detected before there is a transcript.
pub const INVALID_JSON: &Rule = &invalid_json::RULE;

/// The rule for a copy of an earlier transcript: detected by comparing the transcripts of a run.
pub const DUPLICATE_TRANSCRIPT: &Rule = &duplicate_transcript::RULE;

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
