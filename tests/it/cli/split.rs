//! `curtail split`: records become records, logs become parts, and the map and the marks agree with what was written.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::program::{Place, chat, chats, gzip, shell, text, wait_until};

fn lines(place: &Place, name: &str) -> Vec<Value> {
    text(&place.read(name)).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn number(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

/// The status, and the words on standard error.
fn split(place: &Place, arguments: &[&str]) -> (i32, String) {
    split_to("40", place, arguments)
}

fn split_to(budget: &str, place: &Place, arguments: &[&str]) -> (i32, String) {
    let done = place.curtail(&["split", "-t", budget]).args(arguments).output().unwrap();
    (done.status.code().unwrap(), text(&done.stderr))
}

/// The names in a folder that are not hidden.
fn files_in(folder: &std::path::Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| !name.starts_with('.')).collect()
}

/// The messages of a chat as a log.
fn log(rounds: usize) -> String {
    let chat: Value = serde_json::from_str(&chat("log", rounds)).unwrap();
    chat["messages"].as_array().unwrap().iter().map(|message| format!("{message}\n")).collect()
}

#[test]
fn the_map_and_the_marks_agree_with_the_output() {
    let place = Place::new();
    place.write("in.jsonl", chats(12).as_bytes());
    let arguments = ["in.jsonl", "-o", "out.jsonl", "--map", "map.jsonl", "--mark", "train", "--id-key", "id"];
    assert_eq!(split(&place, &arguments), (0, String::new()));
    let (input, output, map) = (lines(&place, "in.jsonl"), lines(&place, "out.jsonl"), lines(&place, "map.jsonl"));
    assert!(output.len() > input.len());
    assert_eq!(output.len(), map.len());
    for entry in &map {
        let row = &output[number(&entry["output_line"]) - 1];
        let source = &input[number(&entry["line"]) - 1];
        let ranges = ["pinned", "context", "own"].iter().flat_map(|kind| entry[*kind].as_array().unwrap());
        let numbers = ranges.flat_map(|range| number(&range[0])..number(&range[1]));
        let messages: Vec<&Value> = numbers.map(|nth| &source["messages"][nth]).collect();
        assert_eq!(json!(messages), row["messages"], "{entry}");
        assert_eq!(entry["targets"], row["train"]);
        let owned: usize = entry["own"].as_array().unwrap().iter().map(|r| number(&r[1]) - number(&r[0])).sum();
        let first = messages.len() - owned;
        let targets: Vec<usize> = (first..messages.len()).filter(|&at| messages[at]["role"] == "assistant").collect();
        assert_eq!(json!(targets), row["train"]);
        let suffix = if entry["windows"] == 1 { String::new() } else { format!("#{}", entry["window"]) };
        assert_eq!(row["id"], format!("{}{suffix}", source["id"].as_str().unwrap()));
        assert!(entry["tokens"].as_u64().unwrap() <= 40);
    }
}

#[test]
fn other_bytes_of_a_record_stay() {
    let place = Place::new();
    let messages = r#"[ {"role":"user","content":"a b c d e f g h"}, {"role":"assistant","content":"1 2 3"} ,{"role":"user","content":"i j k l m n o p q"},{"role":"assistant","content":"4 5 6"}]"#;
    place.write("in.jsonl", format!("{{\"x\": 1e-7, \"messages\":{messages} , \"y\" : \"\\u00e9\" }}\r\n").as_bytes());
    let done = place.curtail(&["split", "-t", "20", "in.jsonl"]).output().unwrap();
    let rows = "{\"x\": 1e-7, \"messages\":[ {\"role\":\"user\",\"content\":\"a b c d e f g h\"}, {\"role\":\"assistant\",\"content\":\"1 2 3\"}] , \"y\" : \"\\u00e9\" }\r\n\
         {\"x\": 1e-7, \"messages\":[ {\"role\":\"user\",\"content\":\"i j k l m n o p q\"},{\"role\":\"assistant\",\"content\":\"4 5 6\"}] , \"y\" : \"\\u00e9\" }\r\n";
    assert_eq!(text(&done.stdout), rows);
}

#[test]
fn a_log_becomes_parts_that_are_written_together() {
    let place = Place::new();
    place.write("data/log.jsonl.gz", &gzip(&log(6)));
    let (status, stderr) = split(&place, &["data", "-O", "out", "--map", "map.jsonl"]);
    assert_eq!((status, stderr.as_str()), (0, ""));
    let map = lines(&place, "map.jsonl");
    assert!(map.len() > 1);
    assert!(place.path("out/log.part-001.jsonl.gz").exists(), "{map:?}");
    assert_eq!(map[1]["output"], "out/log.part-002.jsonl.gz");
    let (status, stderr) = split(&place, &["out/log.part-002.jsonl.gz", "-O", "again"]);
    assert_eq!((status, stderr.as_str()), (0, ""), "a part fits");
    // If one part exists, none is written.
    let other = Place::new();
    other.write("log.jsonl", log(6).as_bytes());
    other.write("out/log.part-002.jsonl", b"mine");
    let (status, stderr) = split(&other, &["log.jsonl", "-O", "out", "--map", "map.jsonl"]);
    assert!(status == 2 && stderr.contains("log.part-002.jsonl: the output exists already"), "{stderr}");
    assert!(!other.path("out/log.part-001.jsonl").exists());
    assert!(!other.path("map.jsonl").exists(), "a map without lines would only stand in the way of the next run");
}

/// The parts of a long log take long to write, and none is of use without the others.
#[cfg(unix)]
#[test]
fn a_signal_while_parts_are_written_leaves_none() {
    let place = Place::new();
    place.write("log.jsonl", log(10_000).as_bytes());
    let mut child = place.command(&["split", "-t", "40", "log.jsonl", "-O", "out"]);
    let child = child.stderr(Stdio::piped()).spawn().unwrap();
    let count = || fs::read_dir(place.path("out")).map_or(0, Iterator::count);
    wait_until("parts are being written", || count() > 10);
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let done = child.wait_with_output().unwrap();
    let stderr = text(&done.stderr);
    assert_eq!(done.status.code(), Some(143), "{stderr}");
    assert!(stderr.contains("log.jsonl: interrupted before all of its parts were written"), "{stderr}");
    let left: Vec<_> = fs::read_dir(place.path("out")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| name == ".curtail-resume"), "{left:?}: {stderr}");
}

/// Shells allow a program 1,024 open files or fewer, and let it have more if it asks.
#[cfg(unix)]
#[test]
fn a_log_can_have_more_parts_than_a_shell_allows_files() {
    let place = Place::new();
    place.write("log.jsonl", log(200).as_bytes());
    let line = "ulimit -S -n 64 && exec curtail split -t 40 log.jsonl -O out";
    let done = shell(line, &place.path("")).output().unwrap();
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert!(fs::read_dir(place.path("out")).unwrap().count() > 64);
}

#[test]
fn an_output_that_is_whole_has_its_own_name() {
    let place = Place::new();
    place.write("log.jsonl", log(6).as_bytes());
    for (arguments, whole, part) in [
        (&["log.jsonl", "-o", "rows.jsonl"][..], "rows.jsonl", "rows.part-001.jsonl"),
        (&["log.jsonl", "-O", "out"], "out/log.jsonl", "out/log.part-001.jsonl"),
    ] {
        let (status, stderr) = split_to("100k", &place, &[arguments, &["--map", "map.jsonl"]].concat());
        assert_eq!((status, stderr.as_str()), (0, ""));
        assert_eq!(text(&place.read(whole)), log(6));
        assert!(!place.path(part).exists());
        assert_eq!(lines(&place, "map.jsonl")[0]["output"], whole);
        std::fs::remove_file(place.path("map.jsonl")).unwrap();
    }
    let again = split_to("100k", &place, &["log.jsonl", "-O", "out", "--resume"]);
    assert!(again.0 == 0 && again.1.contains("nothing left to do"), "{again:?}");
}

#[test]
fn a_failed_split_leaves_nothing_in_the_way_of_the_next() {
    let place = Place::new();
    place.write("log.jsonl", log(6).as_bytes());
    let arguments = ["log.jsonl", "-o", "rows.jsonl", "--map", "map.jsonl"];
    assert_eq!(split_to("5", &place, &arguments).0, 2);
    assert_eq!(place.list(), ["log.jsonl"]);
    assert_eq!(split(&place, &arguments), (0, String::new()));
}

#[test]
fn parts_of_standard_input_are_found_by_a_walk() {
    let place = Place::new();
    for name in [&[][..], &["--stdin-filename", "chat"], &["--stdin-filename", "chat.jsonl"]] {
        let mut command = place.curtail(&["split", "-t", "40", "-O", "out", "--force"]);
        let done = command.args(name).write_stdin(log(6)).output().unwrap();
        assert_eq!((done.status.code(), text(&done.stderr)), (Some(0), String::new()));
    }
    let found = files_in(&place.path("out"));
    assert!(found.iter().all(|name| name.contains(".jsonl")), "{found:?}");
    assert!(found.contains(&"stdin.part-001.jsonl".to_owned()) && found.contains(&"chat.part-001.jsonl".to_owned()));
    let done = place.curtail(&["check", "out"]).output().unwrap();
    assert!(text(&done.stdout).contains(&format!("{} files", found.len())), "{}", text(&done.stdout));
}

#[cfg(unix)]
#[test]
fn parts_are_not_written_beside_a_device() {
    let place = Place::new();
    place.write("log.jsonl", log(6).as_bytes());
    let (status, stderr) = split(&place, &["log.jsonl", "-o", "/dev/null", "--map", "map.jsonl"]);
    assert_eq!((status, stderr.as_str()), (0, ""));
    assert!(lines(&place, "map.jsonl").iter().all(|line| line["output"] == "/dev/null"));
    let (status, stderr) = split(&place, &["log.jsonl", "-o", "/dev/stdout"]);
    assert!(status == 2 && stderr.contains("/dev/stdout: is a pipe or a device"), "{stderr}");
}

#[test]
fn a_log_that_becomes_several_needs_a_place_for_them() {
    let place = Place::new();
    place.write("log.jsonl", log(6).as_bytes());
    for arguments in [&["log.jsonl"][..], &["log.jsonl", "-i"]] {
        let (status, stderr) = split(&place, arguments);
        assert!(status == 2 && stderr.contains("transcripts, and") && stderr.contains("--output-dir"), "{stderr}");
    }
    assert_eq!(text(&place.read("log.jsonl")), log(6));
    place.write("short.jsonl", log(1).as_bytes());
    let done = place.curtail(&["split", "-t", "1k", "short.jsonl"]).output().unwrap();
    assert_eq!(text(&done.stdout), log(1));
}

#[test]
fn a_list_of_records_stays_a_list() {
    let place = Place::new();
    let records: Vec<Value> = (1..5).map(|rounds| serde_json::from_str(&chat("c", rounds)).unwrap()).collect();
    place.write("in.json", serde_json::to_string_pretty(&records).unwrap().as_bytes());
    assert_eq!(split(&place, &["in.json", "-i"]), (0, String::new()));
    let after: Vec<Value> = serde_json::from_slice(&place.read("in.json")).expect("one document");
    assert!(after.len() > 4 && after.iter().all(|record| record["id"] == "c"));
}

/// Transcripts under names, as in a chat store: a second window of one would need a name.
#[test]
fn a_transcript_under_a_name_is_not_divided() {
    let place = Place::new();
    let said = |role: &str, text: &str| json!({"role": role, "additional_kwargs": {}, "blocks": [{"block_type": "text", "text": text}]});
    let long: Vec<Value> = (0..8)
        .flat_map(|nth| {
            [said("user", &format!("Is lamp {nth} lit, and is it as bright as it was?")), said("assistant", "It is.")]
        })
        .collect();
    let short = [said("user", "And the horn?"), said("assistant", "It is silent.")];
    place.write("store.json", json!({"store": {"ada": long, "ben": short}}).to_string().as_bytes());
    let (status, stderr) = split(&place, &["-o", "out.json", "store.json"]);
    assert_eq!(status, 2, "{stderr}");
    assert!(stderr.contains("keeps this transcript under a name") && stderr.contains("a line of its own"), "{stderr}");
    let (status, stderr) = split_to("4000", &place, &["-o", "out.json", "store.json"]);
    assert_eq!(status, 0, "{stderr}");
    assert_eq!(place.read("out.json"), place.read("store.json"));
}

#[test]
fn any_number_of_jobs_writes_the_same() {
    let place = Place::new();
    place.write("in.jsonl", chats(1_000).as_bytes());
    let run = |jobs: &str, name: &str| {
        let map = format!("{name}.map");
        let (status, stderr) =
            split(&place, &["in.jsonl", "-j", jobs, "-o", name, "--map", &map, "--overlap", "1turn"]);
        assert_eq!((status, stderr.as_str()), (0, ""));
        let map = text(&place.read(&map)).replace(name, "out");
        (place.read(name), map)
    };
    assert!(run("1", "one.jsonl") == run("8", "eight.jsonl"));
}

#[test]
fn what_cannot_be_marked_is_an_error_with_a_place() {
    let place = Place::new();
    place.write("records.jsonl", chats(2).as_bytes());
    place.write("log.jsonl", log(2).as_bytes());
    for (arguments, expected) in [
        (&["records.jsonl", "--mark", "messages"][..], "records.jsonl:1:1: the record already has a member `messages`"),
        (&["records.jsonl", "--id-key", "uuid"], "records.jsonl:1:1: the record has no `uuid`"),
        (&["records.jsonl", "--id-key", "messages"], "`messages` is not a string"),
        (&["log.jsonl", "--mark", "train", "-O", "out"], "log.jsonl:1:1: --mark and --id-key need records"),
        (&["records.jsonl", "--map", "records.jsonl"], "--map names an input"),
        (&["records.jsonl", "--overlap", "2"], "expected a number and a unit"),
        (&["records.jsonl", "--overlap", "5messagess"], "expected a number and a unit"),
    ] {
        let (status, stderr) = split(&place, arguments);
        assert!(status == 2 && stderr.contains(expected), "{arguments:?}: {stderr}");
    }
}

#[test]
fn boundaries_begin_windows() {
    let place = Place::new();
    let log = [
        r#"{"role":"user","content":"What is in the shed?"}"#,
        r#"{"role":"assistant","content":[{"type":"text","text":"Tools."}]}"#,
        r#"{"role":"assistant","content":[{"type":"compaction","content":"The shed holds tools."}]}"#,
        r#"{"role":"user","content":"Which?"}"#,
        r#"{"role":"assistant","content":[{"type":"text","text":"A spade and a rake."}]}"#,
        r#"{"role":"user","content":"And a saw?"}"#,
        r#"{"role":"assistant","content":[{"type":"text","text":"No saw."}]}"#,
    ];
    place.write("log.jsonl", format!("{}\n", log.join("\n")).as_bytes());
    let done = place.curtail(&["split", "--at", "boundaries", "-t", "18", "log.jsonl", "-O", "out"]).output().unwrap();
    assert_eq!((done.status.code(), text(&done.stderr)), (Some(0), String::new()));
    let part = |number: usize| text(&place.read(&format!("out/log.part-00{number}.jsonl")));
    assert_eq!(part(1), format!("{}\n{}\n", log[0], log[1]));
    assert_eq!(part(2), format!("{}\n{}\n{}\n", log[2], log[3], log[4]));
    assert_eq!(part(3), format!("{}\n{}\n{}\n", log[2], log[5], log[6]), "the summary is the context");
}

/// `first-user` pins the first user message beside the instructions, not in place of them.
#[test]
fn the_first_user_is_pinned_with_the_system_message() {
    let place = Place::new();
    let log = concat!(
        r#"{"role":"system","content":"Be brief."}"#,
        "\n",
        r#"{"role":"user","content":"The goal."}"#,
        "\n",
        r#"{"role":"assistant","content":"one two three four five six"}"#,
        "\n",
        r#"{"role":"user","content":"And then?"}"#,
        "\n",
        r#"{"role":"assistant","content":"seven eight nine ten"}"#,
        "\n",
    );
    place.write("log.jsonl", log.as_bytes());
    let done = place.curtail(&["split", "-t", "15", "--pin", "first-user", "log.jsonl", "-o", "out.jsonl"]).output();
    assert_eq!(done.unwrap().status.code(), Some(0));
    let second = lines(&place, "out.part-002.jsonl");
    assert_eq!((&second[0]["role"], &second[1]["content"]), (&json!("system"), &json!("The goal.")));
}

/// Texts of many short tokens have little room for the marker: what one of them cannot use, the others get back.
#[test]
fn a_shortened_window_uses_its_budget() {
    let place = Place::new();
    let ids: Vec<String> = ('a'..='g').map(String::from).collect();
    let call = |id: &String| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let result = |id: &String| {
        let digits: Vec<String> = (0..60).map(|n| format!("{}", (n * 7 + id.len()) % 10)).collect();
        json!({"role": "tool", "tool_call_id": id, "content": digits.join("\"")})
    };
    let mut messages = vec![json!({"role": "user", "content": "go"})];
    messages
        .push(json!({"role": "assistant", "content": null, "tool_calls": ids.iter().map(call).collect::<Vec<_>>()}));
    messages.extend(ids.iter().map(result));
    messages.push(json!({"role": "assistant", "content": "done"}));
    place.write("in.jsonl", format!("{}\n", json!({"messages": messages})).as_bytes());
    let run = |budget: &str, how: &str| {
        let arguments =
            ["split", "-t", budget, "--on-overflow", how, "in.jsonl", "-o", "out.jsonl", "--map", "map.jsonl"];
        let done = place.curtail(&arguments).arg("--force").output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        let windows = lines(&place, "map.jsonl");
        windows.iter().map(|window| number(&window["tokens"])).max().unwrap()
    };
    let whole = run("1k", "keep");
    for less in [3, 20, 60] {
        let budget = whole - less;
        let used = run(&budget.to_string(), "truncate");
        assert!(used <= budget && used + 20 >= budget, "{used} of {budget}, {whole} in all");
    }
}

#[test]
fn windows_without_a_target_can_be_left_out() {
    let place = Place::new();
    let message = |text: &str| format!(r#"{{"role":"user","content":"{text}"}}"#);
    let answer = r#"{"role":"assistant","content":"yes"}"#;
    let long = "word ".repeat(20);
    let record = |id: &str, messages: &[&str]| format!(r#"{{"id":"{id}","messages":[{}]}}"#, messages.join(","));
    // The first message of `late` fits only without the one before the answer.
    let late = record("late", &[&message(&long), &message(&long), answer, &message("bye")]);
    let none = record("none", &[&message("hello")]);
    let some = record("some", &[&message("hello"), answer]);
    let ids = |text: &str| -> Vec<String> {
        let parts = text.split("\"id\":").skip(1).filter_map(|rest| rest.split('"').nth(1));
        parts.map(str::to_owned).collect()
    };
    let rows = [&none, &some, &late, &none].map(|row| format!("{row}\n")).concat();
    let lists = [
        format!("[\n  {none},\n  {some},\n  {late},\n  {none}\n]\n"),
        format!("[{none}, {none}, {some}, {late}]"),
        format!("[{some},{late}]"),
    ];
    for (name, text_in) in [("in.jsonl", &rows), ("in.json", &lists[0]), ("in.json", &lists[1]), ("in.json", &lists[2])]
    {
        place.write(name, text_in.as_bytes());
        let arguments =
            ["-t", "30", "--drop-untrained", "--id-key", "id", name, "-o", "out", "--force", "--map", "map"];
        let done = place.curtail(&["split"]).args(arguments).output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        let out = text(&place.read("out"));
        assert_eq!(ids(&out), ["some", "late"], "{out}");
        let windows = lines(&place, "map");
        assert!(windows.iter().all(|entry| entry["windows"] == 1 && entry["targets"] != json!([])), "{windows:?}");
        if name == "in.jsonl" {
            assert_eq!(out.lines().count(), 2, "{out}");
        } else {
            assert!(serde_json::from_str::<Value>(&out).is_ok_and(|list| list.as_array().unwrap().len() == 2), "{out}");
        }
    }
}

#[test]
fn a_file_without_any_target_is_empty_or_an_error() {
    let place = Place::new();
    let ask = r#"{"role":"user","content":"hello"}"#;
    let none = format!(r#"{{"messages":[{ask}]}}"#);
    place.write("none.json", format!("[ {none} ,{none}]").as_bytes());
    let done = place.curtail(&["split", "-t", "30", "--drop-untrained", "none.json"]).output().unwrap();
    assert_eq!((done.status.code(), text(&done.stdout)), (Some(0), String::from("[ ]")));
    place.write("log.jsonl", format!("{ask}\n").as_bytes());
    let done = place.curtail(&["split", "-t", "30", "--drop-untrained", "log.jsonl"]).output().unwrap();
    assert_eq!(done.status.code(), Some(2));
    assert!(text(&done.stderr).contains("no window of it has a target"), "{}", text(&done.stderr));
}

/// A result that a repair moves is shortened where it is then.
#[test]
fn a_moved_result_is_shortened() {
    let place = Place::new();
    let long = "word ".repeat(300);
    let record = json!({"messages": [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}}]},
        {"role": "user", "content": "hm"},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": long}]},
        {"role": "assistant", "content": "done"},
    ]});
    place.write("in.jsonl", format!("{record}\n").as_bytes());
    let arguments = ["--repair=move", "--on-overflow", "truncate", "in.jsonl", "-o", "out.jsonl"];
    assert_eq!(split_to("90", &place, &arguments).0, 0);
    let out = text(&place.read("out.jsonl"));
    assert!(out.contains("tool_result") && out.len() < 1_000, "{out}");
}

/// The ways in which datasets exclude a message from training, and what looks like one.
const MARKS: [(&str, bool); 22] = [
    (r#""weight":0"#, true),
    (r#""weight": 0.0"#, true),
    (r#""weight":-0e5"#, true),
    (r#""weight":false"#, true),
    (r#""train":false"#, true),
    (r#""loss":false"#, true),
    (r#""loss":0"#, true),
    (r#""loss_weight":0.0"#, true),
    (r#""trainable":false"#, true),
    (r#""loss_mask":0"#, true),
    (r#""step_loss_mask":0"#, true),
    (r#""mask":true"#, true),
    (r#""mask":0"#, true),
    (r#""masked":true"#, true),
    (r#""train_detail":[{"begin_offset":0,"end_offset":1,"train":false}]"#, true),
    (r#""weight":1"#, false),
    (r#""weight":null"#, false),
    (r#""weight":"0""#, false),
    (r#""mask":false"#, false),
    (r#""mask":1"#, false),
    (
        r#""train_detail":[{"begin_offset":0,"end_offset":1,"train":false},{"begin_offset":2,"end_offset":3,"train":true}]"#,
        false,
    ),
    (r#""train_detail":[]"#, false),
];

#[test]
fn excluded_messages_are_no_targets_and_keep_their_bytes() {
    let place = Place::new();
    let dialects: [[&str; 2]; 3] = [
        [r#""role":"user","content":"one two three""#, r#""role":"assistant","content":"four five six""#],
        [r#""from":"human","value":"one two three""#, r#""from":"gpt","value":"four five six""#],
        [r#""role":"user","parts":[{"text":"one two three"}]"#, r#""role":"model","parts":[{"text":"four five six"}]"#],
    ];
    for [ask, answer] in dialects {
        for (mark, excludes) in MARKS {
            let messages = format!("{{{ask}}},{{{answer},{mark}}},{{{ask}}},{{{answer}}}");
            place.write("in.jsonl", format!("{{\"messages\":[{messages}]}}\n").as_bytes());
            let arguments = ["in.jsonl", "-o", "out.jsonl", "--force", "--mark", "targets", "--drop-untrained"];
            assert_eq!(split_to("900", &place, &arguments), (0, String::new()), "{mark}");
            let targets = if excludes { "[3]" } else { "[1,3]" };
            assert_eq!(
                text(&place.read("out.jsonl")),
                format!("{{\"messages\":[{messages}],\"targets\":{targets}}}\n")
            );
            // Windows end at targets, and one without them is left out.
            assert_eq!(split_to("8", &place, &arguments), (0, String::new()), "{mark}");
            assert_eq!(lines(&place, "out.jsonl").len(), if excludes { 1 } else { 2 }, "{ask} {mark}");
        }
    }
    // A weight of the record applies to all its messages.
    let [ask, answer] = dialects[0];
    place.write("in.jsonl", format!("{{\"weight\":0.0,\"messages\":[{{{ask}}},{{{answer}}}]}}\n").as_bytes());
    assert_eq!(split_to("900", &place, &["in.jsonl", "-o", "out.jsonl", "--force", "--drop-untrained"]).0, 0);
    assert_eq!(text(&place.read("out.jsonl")), "");
}

/// The map names the line of each window, whatever happened to the records around it.
#[test]
fn records_that_fail_do_not_shift_the_lines_of_the_map() {
    let text = chats(4);
    let good: Vec<&[u8]> = text.split_inclusive('\n').map(str::as_bytes).collect();
    let (invalid, broken): (&[u8], &[u8]) = (b"\xff\n", b"{\"messages\": 1\n");
    let inputs = [
        [&[invalid][..], &good].concat(),
        [&[invalid, broken, invalid][..], &good].concat(),
        [&[broken], &good[..2], &[invalid, invalid], &good[2..], &[b"\xfe"]].concat(),
        [&good[..1], &[invalid, broken], &good[1..]].concat(),
    ];
    for (input, how) in inputs.iter().flat_map(|input| ["keep", "skip"].map(|how| (input, how))) {
        let place = Place::new();
        place.write("in.jsonl", &input.concat());
        let arguments =
            ["in.jsonl", "-o", "out.jsonl", "--on-error", how, "--map", "map.jsonl", "--framing", "records"];
        split(&place, &arguments);
        let map = lines(&place, "map.jsonl");
        assert!(map.len() > good.len(), "{how}: {map:?}");
        let output = place.read("out.jsonl");
        let output: Vec<&[u8]> = output.split(|byte| *byte == b'\n').collect();
        let mut unmapped: Vec<&[u8]> = output.clone();
        for entry in map.iter().rev() {
            let row: Value = serde_json::from_slice(output[number(&entry["output_line"]) - 1]).expect("a window");
            let source: Value = serde_json::from_slice(input[number(&entry["line"]) - 1]).expect("a record");
            assert_eq!(row["id"], source["id"], "{how}: {entry}");
            assert_eq!(row["messages"].as_array().unwrap().len(), number(&entry["messages"]), "{how}: {entry}");
            unmapped.remove(number(&entry["output_line"]) - 1);
        }
        let failed = input.iter().filter(|record| !good.contains(record)).count();
        let left = unmapped.iter().filter(|line| !line.is_empty()).count();
        assert_eq!(left, if how == "keep" { failed } else { 0 }, "{how}");
    }
}
