//! Transcripts that several rules use as good or bad examples.

/// A question, a call, its result, an answer.
pub(super) const ANSWERED_CALL: &str = r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]}
{"role":"tool","tool_call_id":"call_1","content":"rain"}
{"role":"assistant","content":"It is."}
"#;

/// A question and an answer.
pub(super) const ANSWER: &str = r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":"It is."}
"#;
