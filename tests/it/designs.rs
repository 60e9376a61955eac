//! The promises of the published designs, each with its input and its output.

use crate::program::run;

/// The exit status, standard output and standard error, when it reads `input`.
fn curtail(args: &[&str], input: &str) -> (i32, String, String) {
    let output = run(args, input);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("an exit status"), text(output.stdout), text(output.stderr))
}

/// What the program writes; it must succeed.
fn written(args: &[&str], input: &[&str]) -> Vec<String> {
    let (status, out, err) = curtail(args, &input.join("\n"));
    assert_eq!(status, 0, "{err}");
    out.lines().map(str::to_owned).collect()
}

const SYSTEM: &str = r#"{"role":"system","content":"You are helpful."}"#;
const USER: &str = r#"{"role":"user","content":"What is the weather in Paris and in Rome?"}"#;
const CALLS_1_2: &str = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Paris\"}"}},{"id":"2","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Rome\"}"}}]}"#;
const RESULT_1: &str = r#"{"role":"tool","tool_call_id":"1","content":"18 °C"}"#;
const RESULT_2: &str = r#"{"role":"tool","tool_call_id":"2","content":"24 °C"}"#;
const CALL_3: &str = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"3","type":"function","function":{"name":"search","arguments":"{}"}}]}"#;
const RESULT_3: &str = r#"{"role":"tool","tool_call_id":"3","content":"done"}"#;
const ANSWER: &str = r#"{"role":"assistant","content":"Paris 18 °C, Rome 24 °C."}"#;
const THANKS: &str = r#"{"role":"user","content":"Thanks!"}"#;

/// `SlidingWindowTransformer`: `[System, User, Assistant+Calls(1,2), Result(1), Result(2), Assistant+Calls(3), Result(3)]`, N = 4.
#[test]
fn sliding_window_drops_the_orphan_at_its_start() {
    let input = [SYSTEM, USER, CALLS_1_2, RESULT_1, RESULT_2, CALL_3, RESULT_3];
    let seed = ["window", "--strategy", "sliding", "-n", "4", "--pin", "none", "--preserve-system"];
    assert_eq!(written(&seed, &input), [SYSTEM, CALL_3, RESULT_3]);
    // By default, the question that the round answers takes a place as well.
    assert_eq!(written(&seed[..5], &input), [SYSTEM, USER, CALL_3, RESULT_3]);
}

#[test]
fn sliding_window_keeps_all_when_there_are_no_more_than_n() {
    let input = [SYSTEM, USER, CALL_3, RESULT_3];
    assert_eq!(written(&["window", "--strategy", "sliding", "-n", "4"], &input), input);
}

#[test]
fn sliding_window_can_treat_system_messages_like_any_other() {
    let input = [SYSTEM, USER, ANSWER, THANKS];
    let out = written(&["window", "--strategy", "sliding", "-n", "2", "--no-preserve-system"], &input);
    assert_eq!(out, [ANSWER, THANKS]);
}

/// `historyWindow`: the trailing slice walks back until a user and an assistant message are in.
#[test]
fn history_window_holds_at_least_one_exchange() {
    let input = [USER, ANSWER, THANKS, CALLS_1_2, RESULT_1, RESULT_2, ANSWER];
    let out = written(&["window", "-n", "2"], &input);
    assert_eq!(out, [THANKS, CALLS_1_2, RESULT_1, RESULT_2, ANSWER]);
}

/// `historyWindow`: an orphan whose pair is outside the slice is dropped.
#[test]
fn history_window_drops_orphans() {
    let input = [USER, CALLS_1_2, RESULT_1, RESULT_2, ANSWER, THANKS, ANSWER];
    let out = written(&["window", "-n", "4"], &input);
    assert_eq!(out, [ANSWER, THANKS, ANSWER], "the result of call 2 lost its call");
}

/// `historyWindow`: the round in flight is not capped.
#[test]
fn history_window_leaves_the_round_in_flight_alone() {
    let input = [USER, ANSWER, THANKS, CALLS_1_2, RESULT_1, RESULT_2, CALL_3, RESULT_3];
    let (status, out, err) = curtail(&["window", "-n", "2"], &input.join("\n"));
    assert_eq!((status, out.lines().collect::<Vec<_>>()), (0, input[1..].to_vec()));
    assert!(err.contains("--cap-in-flight"), "the note names the flag: {err}");
    let capped = ["window", "-n", "2", "--cap-in-flight", "--max-expansion", "1", "--pin", "none"];
    assert_eq!(written(&capped, &input), [CALL_3, RESULT_3]);
    // By default, the question that the round answers is kept on top.
    assert_eq!(written(&capped[..6], &input), [THANKS, CALL_3, RESULT_3]);
}

#[test]
fn history_window_keeps_instructions_on_top_of_the_cap() {
    let input = [SYSTEM, USER, ANSWER, THANKS, ANSWER];
    assert_eq!(written(&["window", "-n", "2"], &input), [SYSTEM, THANKS, ANSWER]);
    assert_eq!(written(&["window", "-n", "2", "--no-preserve-system"], &input), [THANKS, ANSWER]);
}

const KIT_ASK: &str = r#"{"type":"text","role":"user","content":"Where is my order?"}"#;
const KIT_CALL: &str = r#"{"type":"tool_call","role":"assistant","tools":[{"type":"tool","id":"c1","name":"search_tool","input":{"order":17}}],"stop_reason":"tool"}"#;
const KIT_RESULT: &str = r#"{"type":"tool_result","role":"tool_result","tool":{"type":"tool","id":"c1","name":"search_tool","input":{}},"content":{"data":"shipped"},"stop_reason":"tool"}"#;
const KIT_DEBUG: &str = r#"{"type":"tool_call","role":"assistant","tools":[{"type":"tool","id":"c2","name":"debug_tool","input":{}}],"stop_reason":"tool"}"#;
const KIT_DEBUG_RESULT: &str = r#"{"type":"tool_result","role":"tool_result","tool":{"type":"tool","id":"c2","name":"debug_tool","input":{}},"content":"trace","stop_reason":"tool"}"#;
const KIT_SAY: &str = r#"{"type":"text","role":"assistant","content":"It is on its way.","stop_reason":"stop"}"#;
const KIT: [&str; 6] = [KIT_ASK, KIT_CALL, KIT_RESULT, KIT_DEBUG, KIT_DEBUG_RESULT, KIT_SAY];

/// AgentKit's processors: `exclude` removes only those tools, `include` keeps only those, neither removes all.
#[test]
fn tool_filter_has_three_modes() {
    assert_eq!(written(&["filter", "-x", "debug_tool"], &KIT), [KIT_ASK, KIT_CALL, KIT_RESULT, KIT_SAY]);
    assert_eq!(written(&["filter", "-k", "debug_*"], &KIT), [KIT_ASK, KIT_DEBUG, KIT_DEBUG_RESULT, KIT_SAY]);
    assert_eq!(written(&["filter"], &KIT), [KIT_ASK, KIT_SAY]);
    let (status, _, err) = curtail(&["filter", "-x", "a", "-k", "b"], &KIT.join("\n"));
    assert_eq!(status, 2, "both at once is a usage error: {err}");
}

/// AgentKit's processors: `persistResults` replaces a call with a summary such as `Used search_tool tool`.
#[test]
fn tool_filter_may_leave_a_note() {
    let note = r#"{"type":"text","role":"assistant","content":"Used search_tool tool"}"#;
    let out = written(&["filter", "-x", "search_*", "--persist-results"], &KIT);
    assert_eq!(out, [KIT_ASK, note, KIT_DEBUG, KIT_DEBUG_RESULT, KIT_SAY]);
    let parallel = r#"{"type":"tool_call","role":"assistant","tools":[{"type":"tool","id":"a","name":"search","input":{}},{"type":"tool","id":"b","name":"fetch","input":{}}]}"#;
    let several = r#"{"type":"text","role":"assistant","content":"Used tools: search, fetch"}"#;
    assert_eq!(written(&["filter", "--persist-results"], &[KIT_ASK, parallel, KIT_SAY]), [KIT_ASK, several, KIT_SAY]);
}

/// A message loses one of several parallel calls, and the results of that one.
#[test]
fn tool_filter_cuts_one_of_several_parallel_calls() {
    let call = |id: &str, name: &str| {
        format!(r#"{{"id":"{id}","type":"function","function":{{"name":"{name}","arguments":"{{}}"}}}}"#)
    };
    let both = format!(
        r#"{{"role":"assistant","content":"Looking.","tool_calls":[{}, {}]}}"#,
        call("1", "bash"),
        call("2", "search")
    );
    let one = format!(r#"{{"role":"assistant","content":"Looking.","tool_calls":[{}]}}"#, call("2", "search"));
    let text = r#"{"role":"assistant","content":"Looking."}"#;
    let input = [USER, &both, RESULT_1, RESULT_2, ANSWER];
    assert_eq!(written(&["filter", "-x", "bash"], &input), [USER, &one, RESULT_2, ANSWER]);
    assert_eq!(written(&["filter"], &input), [USER, text, ANSWER]);
}

/// AgentKit's processors: segments are dropped oldest first, and a call never loses its result.
#[test]
fn token_limit_keeps_the_newest_whole_segments() {
    let all = written(&["limit", "-t", "1k"], &KIT);
    assert_eq!(all, KIT, "the whole fits");
    let out = written(&["limit", "-t", "12", "--on-overflow", "empty"], &KIT);
    assert_eq!(out, [KIT_DEBUG, KIT_DEBUG_RESULT, KIT_SAY]);
    let (status, out, err) = curtail(&["limit", "-t", "2", "--on-overflow", "empty"], &KIT.join("\n"));
    assert_eq!((status, out.as_str()), (0, ""), "nothing fits: {err}");
    assert!(err.contains("--on-overflow"), "a warning says so: {err}");
    // By default, what asks nothing is an error that names the smallest budget.
    let (status, out, err) = curtail(&["limit", "-t", "12"], &KIT.join("\n"));
    assert_eq!((status, out.as_str()), (2, ""), "{err}");
    assert!(err.contains("it needs 28 tokens") && err.contains("--on-overflow"), "{err}");
}

/// AgentKit's chain of three, by piping: debugging tools go, then a budget, then all tools.
#[test]
fn processors_chain_by_piping() {
    let first = written(&["filter", "-x", "debug_tool"], &KIT);
    let second = written(&["limit", "-t", "16k"], &first.iter().map(String::as_str).collect::<Vec<_>>());
    let third = written(&["filter"], &second.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(third, [KIT_ASK, KIT_SAY]);
}
