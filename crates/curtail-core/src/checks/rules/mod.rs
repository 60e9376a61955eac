//! The only list of all rules. A file has the rules about one subject: each its page, then its detector. A rule reads neutral
//! facts of a format and never the format's name.
//!
//! To add a rule: in the file of its subject, and a line in [`ALL`]; the test of the pages writes its page.

mod content;
mod datasets;
mod pairing;
mod reading;
mod reasoning;
mod turns;

use super::Rule;

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
    &reading::INVALID_JSON,
    &reading::UNKNOWN_ROLE,
    &reading::MISSING_ROLE,
    &content::EMPTY_CONTENT,
    &content::INVALID_ARGUMENTS,
    &pairing::NAME_MISMATCH,
    &reading::DUPLICATE_KEY,
    &reasoning::REASONING_WITHOUT_CALL,
    &reasoning::CALL_WITHOUT_REASONING,
    &reasoning::THINKING_ONLY_MESSAGE,
    &reasoning::SIGNATURE_LOST,
    &pairing::RESULT_NOT_FIRST,
    &pairing::RESPONSE_COUNT,
    &pairing::TOOL_USE_ID_FORMAT,
    &reading::NOTHING_READ,
    &reading::UNREAD_CONTENT,
    &content::MEDIA_TOO_LARGE,
    &turns::NO_USER_MESSAGE,
    &turns::FIRST_SPEAKER,
    &turns::ALTERNATION,
    &turns::ENDS_WITH_ASSISTANT,
    &turns::SYSTEM_NOT_FIRST,
    &datasets::NO_ASSISTANT_MESSAGE,
    &datasets::TOO_LONG,
    &datasets::TRUNCATED_TARGET,
    &datasets::DUPLICATE_TRANSCRIPT,
];

/// The rule for text that is not JSON: detected before there is a transcript.
pub const INVALID_JSON: &Rule = &reading::INVALID_JSON;

/// The rule for a copy of an earlier transcript: detected by comparing the transcripts of a run.
pub const DUPLICATE_TRANSCRIPT: &Rule = &datasets::DUPLICATE_TRANSCRIPT;

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

// What providers answer to several rules.

/// A provider, and its answer.
type Answer = (&'static str, &'static str);

const OPENAI_UNANSWERED: Answer = (
    "openai",
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_…",
);
const RESPONSES_UNANSWERED: Answer = ("responses", "No tool output found for function call call_….");
const ANTHROPIC_UNANSWERED: Answer = (
    "anthropic",
    "messages.N: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_…. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
);
const BEDROCK_UNANSWERED: Answer =
    ("bedrock", "Expected toolResult blocks at messages.N.content for the following Ids: tooluse_…");
const OPENAI_ORPHAN: Answer = (
    "openai",
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
);
const RESPONSES_ORPHAN: Answer = ("responses", "No tool call found for function call output with call_id call_….");
const ANTHROPIC_ORPHAN: Answer = (
    "anthropic",
    "messages.N.content.M: unexpected `tool_use_id` found in `tool_result` blocks: toolu_…. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
);
const BEDROCK_SURPLUS: Answer = (
    "bedrock",
    "The number of toolResult blocks at messages.N.content exceeds the number of toolUse blocks of previous turn.",
);
const GEMINI_DETACHED: Answer =
    ("gemini", "Please ensure that function response turn comes immediately after a function call turn.");
const GEMINI_COUNT: Answer = (
    "gemini",
    "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
);
