//! `curtail count` on transcripts that were counted by hand.

use crate::program::{Place, run, text};

/// Tokens: 19 for the tool, 3 system, 3 and an image for the user, 2 + 6 and 2 + 1 for the calls, 3 and 3 for their results,
/// 3 for the answer; then 1 and 2.
const CHATS: &str = r#"{"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":[{"type":"text","text":"Look: \u4e2d"},{"type":"image_url","image_url":{"url":"data:x"}}]},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"get_time","arguments":"{\"tz\": \"UTC\"}"}},{"id":"b","type":"function","function":{"name":"get_time","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"12:00"},{"role":"tool","tool_call_id":"b","content":"13:00"},{"role":"assistant","content":"Noon."}],"tools":[{"type":"function", "function":{"name":"get_time", "parameters":{"type":"object"}}}]}
{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"hello there"}]}
"#;

fn counted(arguments: &[&str]) -> String {
    let place = Place::new();
    place.write("a.jsonl", CHATS.as_bytes());
    let done = place.curtail(&[&["count", "a.jsonl"], arguments].concat()).output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    text(&done.stdout)
}

#[test]
fn rows_add_up_by_file_transcript_role_and_tool() {
    for (by, rows) in [
        ("file", "file,transcripts,turns,messages,calls,tokens,estimated,live\na.jsonl,2,2,8,2,813,0,813\n"),
        (
            "transcript",
            "transcript,turns,messages,calls,tokens,estimated,live\na.jsonl:1,1,6,2,810,0,810\na.jsonl:2,1,2,0,3,0,3\n",
        ),
        (
            "role",
            "role,messages,calls,tokens,estimated,live,share\nassistant,3,2,16,0,16,0.020\noutside,0,0,19,0,19,0.023\nsystem,1,0,3,0,3,0.004\ntool,2,0,6,0,6,0.007\nuser,2,0,769,0,769,0.946\n",
        ),
        ("tool", "tool,calls,tokens,estimated,live,share\nget_time,2,17,0,17,0.021\n"),
    ] {
        assert_eq!(counted(&["--by", by, "--output-format", "csv"]), rows);
    }
}

/// Programs read columns by name or by place: neither depends on what the transcripts contain.
#[test]
fn csv_has_the_same_columns_whatever_the_data() {
    let place = Place::new();
    let compacted = include_str!("../../../fixtures/dialects/claude-code/compaction.jsonl");
    for (name, content) in
        [("plain.jsonl", CHATS), ("compacted.jsonl", compacted), ("empty.jsonl", "{\"messages\":[]}\n")]
    {
        place.write(name, content.as_bytes());
    }
    for by in ["file", "transcript", "message", "role", "tool"] {
        let headers = ["plain.jsonl", "compacted.jsonl", "empty.jsonl"].map(|name| {
            let done = place.curtail(&["count", "--by", by, "--output-format", "csv", name]).output().unwrap();
            let csv = text(&done.stdout);
            let columns = csv.lines().next().unwrap().matches(',').count();
            for row in csv.lines().skip(1) {
                let cells = row.rsplit(',').take_while(|cell| cell.parse::<f64>().is_ok());
                assert_eq!(cells.count(), columns, "{csv}");
            }
            csv.lines().next().unwrap().to_owned()
        });
        assert!(headers.iter().all(|header| *header == headers[0]), "{headers:?}");
    }
}

/// A tool's name is what a model or a server wrote: a spreadsheet must not run it.
#[test]
fn names_are_no_formulas_in_csv() {
    let place = Place::new();
    let chat = CHATS.replace("get_time", "=cmd|' /C calc'!A0");
    place.write("=a.jsonl", chat.as_bytes());
    for (by, cell) in [("tool", "'=cmd|' /C calc'!A0"), ("file", "'=a.jsonl")] {
        let done = place.curtail(&["count", "--by", by, "--output-format", "csv", "=a.jsonl"]).output().unwrap();
        let csv = text(&done.stdout);
        assert!(csv.lines().nth(1).unwrap().starts_with(&format!("{cell},")), "{csv}");
    }
}

#[test]
fn json_has_percentiles_and_the_longest() {
    let json: serde_json::Value = serde_json::from_str(&counted(&["--output-format", "json"])).unwrap();
    assert_eq!(json["percentiles"], serde_json::json!({"p50": 3, "p90": 810, "p99": 810}));
    assert_eq!(json["longest"], serde_json::json!({"file": "a.jsonl", "line": 1, "tokens": 810}));
    assert_eq!((&json["tokens"], &json["exact"]), (&813.into(), &true.into()));
}

#[test]
fn overhead_is_three_a_message_and_three_for_the_reply() {
    let total = |arguments: &[&str]| {
        let csv = counted(&[arguments, &["--output-format", "csv"]].concat());
        csv.trim().rsplit(',').next().unwrap().parse::<usize>().unwrap()
    };
    assert_eq!(total(&["--overhead", "openai"]), 813 + 3 * 8 + 3 * 2);
}

#[test]
fn a_budget_to_the_token_keeps_the_whole_and_one_less_does_not() {
    let place = Place::new();
    place.write("a.jsonl", CHATS.as_bytes());
    let limited = |budget: &str| text(&place.curtail(&["limit", "-t", budget, "a.jsonl"]).output().unwrap().stdout);
    assert!(limited("810") == CHATS && limited("1m") == CHATS && limited("809") != CHATS);
}

/// A chat that calls `small` twice and `large` once, and one that calls `middle`.
const TOOLS: &str = r#"{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"small","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"large","arguments":"{}"}},{"id":"c","type":"function","function":{"name":"small","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"1"},{"role":"tool","tool_call_id":"b","content":"one two three four five six seven eight nine ten eleven twelve"},{"role":"tool","tool_call_id":"c","content":"2"}]}
{"messages":[{"role":"user","content":"go on"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"middle","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"one two three four five six"},{"role":"user","content":"and now"}]}
"#;

fn tools(arguments: &[&str]) -> String {
    let place = Place::new();
    place.write("a.jsonl", TOOLS.as_bytes());
    let done = place.curtail(&[&["count", "a.jsonl"], arguments].concat()).output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    text(&done.stdout)
}

#[test]
fn tools_are_sorted_by_tokens_with_shares() {
    let csv = tools(&["--by", "tool", "--output-format", "csv"]);
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let names: Vec<&str> = rows.iter().map(|row| row[0]).collect();
    assert_eq!(names, ["tool", "large", "middle", "small"], "not by name: {csv}");
    let shares: Vec<f64> = rows[1..].iter().map(|row| row[5].parse().unwrap()).collect();
    assert!(shares.iter().all(|share| *share > 0.0) && shares.iter().sum::<f64>() < 1.0, "{csv}");
    let all: serde_json::Value = serde_json::from_str(&tools(&["--output-format", "json"])).unwrap();
    let (large, total) = (rows[1][2].parse::<f64>().unwrap(), all["tokens"].as_f64().unwrap());
    assert!((shares[0] - large / total).abs() < 0.0006, "{csv} of {total}");
    assert_eq!((&all["turns"], &all["messages"]), (&3.into(), &9.into()));
}

#[test]
fn top_keeps_the_largest_rows_and_says_what_is_left_out() {
    let table = tools(&["--by", "tool", "--top", "1"]);
    assert!(table.contains("large ") && table.contains("2 more ") && !table.contains("small"), "{table}");
    let json: serde_json::Value =
        serde_json::from_str(&tools(&["--by", "transcript", "--top", "1", "--output-format", "json"])).unwrap();
    assert_eq!(json["rows"].as_array().unwrap().len(), 1);
    assert_eq!(json["rows"][0]["transcript"], "a.jsonl:1");
    let sum = json["rows"][0]["tokens"].as_u64().unwrap() + json["more"]["tokens"].as_u64().unwrap();
    assert_eq!((&json["more"]["rows"], sum), (&1.into(), json["tokens"].as_u64().unwrap()));
}

#[test]
fn the_largest_messages_are_named() {
    let table = tools(&["--by", "message", "--top", "2"]);
    let first = table.lines().nth(1).unwrap();
    assert!(first.starts_with(r#"a.jsonl:1 message 3 (tool result of "large")"#), "{table}");
    assert!(table.contains("7 more"), "{table}");
    // More messages than are held at once.
    let place = Place::new();
    let line = |nth: usize| format!("{{\"role\":\"user\",\"content\":\"{}\"}}\n", "word ".repeat(nth % 97));
    place.write("b.jsonl", (0..9000).map(line).collect::<String>().as_bytes());
    let done = place.curtail(&["count", "--by", "message", "--top", "3", "--output-format", "csv", "b.jsonl"]).output();
    let csv = text(&done.unwrap().stdout);
    let lines: Vec<&str> = csv.lines().skip(1).map(|row| row.split(' ').next().unwrap()).collect();
    assert_eq!(lines, ["b.jsonl:97", "b.jsonl:194", "b.jsonl:291"], "the first of equals");
}

/// More names than rows are held at once: a tool or a file is not complete while other blocks can add to it.
#[test]
fn the_largest_of_many_names_are_those_of_all_blocks() {
    let place = Place::new();
    let call = |nth: usize| {
        format!(r#"{{"id":"c{nth}","type":"function","function":{{"name":"tool{nth:04}","arguments":"{{}}"}}}}"#)
    };
    let record = |first: usize| {
        let calls: Vec<String> = (first..first + 100).map(|nth| call(nth % 6000)).collect();
        let pad = "plums ".repeat(2000);
        format!(
            "{{\"messages\":[{{\"role\":\"user\",\"content\":\"{pad}\"}},{{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{}]}}]}}\n",
            calls.join(",")
        )
    };
    place.write("tools.jsonl", (0..120).map(|nth| record(nth * 100)).collect::<String>().as_bytes());
    let run = |arguments: &[&str]| {
        let done = place.curtail(&[&["count", "--top", "3", "--output-format", "json"], arguments].concat()).output();
        let done = done.unwrap();
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        serde_json::from_slice::<serde_json::Value>(&done.stdout).unwrap()
    };
    let tools = run(&["--by", "tool", "tools.jsonl"]);
    let calls: Vec<&serde_json::Value> = tools["rows"].as_array().unwrap().iter().map(|row| &row["calls"]).collect();
    assert_eq!((calls, &tools["more"]["rows"]), (vec![&2.into(); 3], &5997.into()));
    for nth in 0..4096 {
        place.write(&format!("many/{nth:04}.jsonl"), b"{\"role\":\"user\",\"content\":\"plums\"}\n");
    }
    std::fs::rename(place.path("tools.jsonl"), place.path("many/last.jsonl")).unwrap();
    let files = run(&["--by", "file", "many"]);
    assert!(files["rows"][0]["file"].as_str().unwrap().ends_with("last.jsonl"), "{files}");
    assert_eq!((&files["rows"][0]["transcripts"], &files["more"]["rows"]), (&120.into(), &4094.into()));
}

/// Who wrote it, not the role that carries it.
#[test]
fn roles_are_those_who_wrote() {
    let log = concat!(
        r#"{"parentUuid":null,"isSidechain":false,"sessionId":"s","type":"user","message":{"role":"user","content":"Look at the larder, please."},"uuid":"u1"}"#,
        "\n",
        r#"{"parentUuid":"u1","isSidechain":false,"sessionId":"s","type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Read","input":{}}]},"uuid":"u2"}"#,
        "\n",
        r#"{"parentUuid":"u2","isSidechain":false,"sessionId":"s","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"plums, pears, jam"}]},"uuid":"u3"}"#,
        "\n",
        r#"{"parentUuid":"u3","isSidechain":false,"sessionId":"s","type":"user","isMeta":true,"message":{"role":"user","content":"Base directory: /larder"},"uuid":"u4"}"#,
        "\n",
    );
    let sources = text(&run(&["count", "--by", "role", "--output-format", "csv"], log).stdout);
    let names: Vec<&str> = sources.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    for name in ["assistant", "program", "tool", "user"] {
        assert!(names.contains(&name), "{sources}");
    }
}

/// A log that begins again with a message without a parent: what was before is not sent any more.
#[test]
fn a_second_root_ends_the_tree_before() {
    let line = |id: &str, parent: &str, role: &str, text: &str| {
        format!(
            "{{\"parentUuid\":{parent},\"isSidechain\":false,\"sessionId\":\"s\",\"type\":\"{role}\",\"message\":{{\"role\":\"{role}\",\"content\":\"{text}\"}},\"uuid\":\"{id}\"}}\n"
        )
    };
    let old = line("u1", "null", "user", "plums plums plums") + &line("u2", "\"u1\"", "assistant", "Yes.");
    let new = line("u3", "null", "user", "Pears?") + &line("u4", "\"u3\"", "assistant", "No.");
    let live = run(&["window", "-n", "1000", "--live"], &(old + &new));
    assert_eq!(text(&live.stdout), new, "{}", text(&live.stderr));
}

/// Rows of CSV are written as they come; a table and JSON are written at the end, so they have a limit that is reported.
#[test]
fn many_rows_are_written_as_they_come_or_left_out() {
    let place = Place::new();
    place.write("many.jsonl", "[]\n".repeat(100_010).as_bytes());
    let run = |arguments: &[&str]| {
        let done =
            place.curtail(&[&["count", "--by", "transcript", "many.jsonl"], arguments].concat()).output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        (text(&done.stdout), text(&done.stderr))
    };
    let (csv, stderr) = run(&["--output-format", "csv"]);
    assert_eq!((csv.lines().count(), stderr.as_str()), (100_011, ""));
    assert!(csv.starts_with("transcript,") && csv.ends_with("many.jsonl:100010,0,0,0,0,0,0\n"));
    let (json, stderr) = run(&["--output-format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((json["rows"].as_array().unwrap().len(), &json["more"]["rows"]), (100_000, &10.into()));
    assert!(stderr.contains("only the first 100000 transcripts have a row; pass --top N"), "{stderr}");
    assert_eq!(run(&["--output-format", "json", "--top", "3"]).1, "");
}
