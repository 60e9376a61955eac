//! Dialects that the user describes: a file, a table of a configuration, and the trial of one. Exports are looked at, not cut.

use std::io::Write as _;

use crate::program::{Place, text};

const FERRY: &str = "name = \"ferry\"\nfits = { who = true }\n[role]\nat = \"who\"\nuser = \"skipper\"\nassistant = \"engine\"\n[[part]]\nis = \"text\"\nat = \"say\"\n[write]\nmessage = '{\"who\": $role, \"say\": $text}'\n";

const LOG: &str = "{\"who\":\"skipper\",\"say\":\"When does the ferry leave?\"}\n{\"who\":\"engine\",\"say\":\"At nine.\"}\n{\"who\":\"skipper\",\"say\":\"And back?\"}\n{\"who\":\"engine\",\"say\":\"At five.\"}\n";

fn place() -> Place {
    let place = Place::new();
    place.write("ferry.toml", FERRY.as_bytes());
    place.write("log.jsonl", LOG.as_bytes());
    place
}

/// The exit status and both outputs of a run.
fn ran(place: &Place, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = place.curtail(arguments).output().unwrap();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_file_describes_the_dialect_of_the_input() {
    let place = place();
    let (status, _, stderr) = ran(&place, &["count", "log.jsonl"]);
    assert!(status == Some(2) && stderr.contains("fits no dialect"), "{stderr}");
    let last: String = LOG.lines().skip(2).map(|line| format!("{line}\n")).collect();
    let (status, out, stderr) = ran(&place, &["window", "-n", "2", "--dialect-file", "ferry.toml", "log.jsonl"]);
    assert_eq!((status, out.as_str()), (Some(0), last.as_str()), "{stderr}");
    place.write("other.toml", FERRY.replace("who = true", "nobody = true").replace("ferry", "other").as_bytes());
    let (_, out, _) =
        ran(&place, &["show", "--dialect-file", "other.toml", "--dialect-file", "ferry.toml", "log.jsonl"]);
    assert!(out.contains("dialect ferry") && out.contains("4 messages"), "{out}");
}

#[test]
fn a_configuration_describes_dialects_that_are_detected() {
    let place = place();
    let described = FERRY.replace("[role]", "[dialects.role]").replace("[[part]]", "[[dialects.part]]");
    let described = described.replace("[write]", "[dialects.write]");
    place.write("named.toml", format!("[[dialects]]\n{described}").as_bytes());
    let (status, out, stderr) = ran(&place, &["check", "-c", "named.toml", "log.jsonl"]);
    assert_eq!(status, Some(0), "{out}{stderr}");
    place.write(
        "named.toml",
        format!("[[dialects]]\n{}", described.replace("at = \"say\"", "att = \"say\"")).as_bytes(),
    );
    let (status, _, stderr) = ran(&place, &["check", "-c", "named.toml", "log.jsonl"]);
    assert!(
        status == Some(2) && stderr.contains("named.toml:10:1: `part` has no key `att`; did you mean `at`?"),
        "{stderr}"
    );
}

#[test]
fn a_described_dialect_may_be_marked_by_a_chat_of_texts() {
    let place = place();
    let described = r#"
name = "kiosk"
fits = { role = "user", content = true }

[dialects.role]
at = "role"
user = "user"
assistant = "assistant"

[[dialects.part]]
is = "text"
at = "content"
text = "."
"#;
    place.write("named.toml", format!("[[dialects]]\n{described}").as_bytes());
    let record = r#"{"messages":[{"role":"user","content":"One?"},{"role":"assistant","content":"Two."}]}"#;
    place.write("chats.jsonl", format!("{record}\n{record}\n").as_bytes());
    let (_, out, stderr) = ran(&place, &["check", "-v", "-c", "named.toml", "chats.jsonl"]);
    assert!(stderr.contains("records, kiosk"), "{out}{stderr}");
}

#[test]
fn an_answer_is_searched_for_in_a_dialect_of_the_configuration() {
    let place = place();
    let described = FERRY.replace("[role]", "[dialects.role]").replace("[[part]]", "[[dialects.part]]");
    let described = described.replace("[write]", "[dialects.write]");
    place.write("named.toml", format!("[[dialects]]\n{described}").as_bytes());
    place.write("log.jsonl", LOG.replace("At nine.", "").as_bytes());
    let answer = "messages.1.content.0.text: text content blocks must be non-empty";
    let (_, out, stderr) = ran(&place, &["check", "-c", "named.toml", "--error", answer, "log.jsonl"]);
    assert!(out.contains("has no content"), "the message is read: {out}{stderr}");
    let (status, _, stderr) = ran(&place, &["check", "--error", "-", "-"]);
    assert!(status == Some(2) && stderr.contains("standard input is the answer"), "{stderr}");
}

#[test]
fn a_trial_counts_blank_lines() {
    let place = place();
    let chats = FERRY.replace("name = \"ferry\"", "name = \"ferry\"\nlist = \"log[]\"");
    place.write("chats.toml", chats.as_bytes());
    let items: Vec<&str> = LOG.lines().collect();
    let record = format!("{{\"log\":[{}]}}", items.join(","));
    place.write("chats.jsonl", format!("{record}\n\n{{\"log\": [\n").as_bytes());
    let (_, out, stderr) = ran(&place, &["dialects", "--test", "chats.toml", "chats.jsonl"]);
    assert!(format!("{out}{stderr}").contains(" 3:"), "{out}{stderr}");
}

/// What `check` does not report is no fault in a trial either: some logs lack calls that were made.
#[test]
fn a_trial_accepts_results_without_calls_where_the_format_has_them() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = ["crates/curtail-core/src/dialects/antigravity.toml", "fixtures/dialects/antigravity/parallel.jsonl"];
    let [description, sample] = files.map(|file| root.join(file).to_string_lossy().into_owned());
    let (status, out, stderr) = ran(&place(), &["dialects", "--test", &description, &sample]);
    assert!(status == Some(0) && out.contains(", 1 result without a call\n"), "{out}{stderr}");
}

/// As every other command reads them.
#[test]
fn samples_may_be_compressed_or_utf_16() {
    let place = place();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(LOG.as_bytes()).unwrap();
    place.write("log.jsonl.gz", &packed.finish().unwrap());
    let wide: Vec<u8> = format!("\u{feff}{LOG}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    place.write("wide.jsonl", &wide);
    for sample in ["log.jsonl.gz", "wide.jsonl"] {
        let (status, out, stderr) = ran(&place, &["dialects", "--test", "ferry.toml", sample]);
        assert!(status == Some(0) && out.contains(&format!("{sample}: framing")), "{out}{stderr}");
    }
}

#[test]
fn a_wrong_description_is_named_with_its_place() {
    let place = place();
    place.write("ferry.toml", FERRY.replace("user =", "usr =").as_bytes());
    let (status, _, stderr) = ran(&place, &["count", "--dialect-file", "ferry.toml", "log.jsonl"]);
    assert!(
        status == Some(2) && stderr.contains("ferry.toml:5:1: `role` has no key `usr`; did you mean `user`?"),
        "{stderr}"
    );
}

#[test]
fn a_trial_fails_until_everything_is_read() {
    let place = place();
    let (status, out, _) = ran(&place, &["dialects", "--test", "ferry.toml", "log.jsonl"]);
    assert!(
        status == Some(0) && out.ends_with("passed\n") && out.contains("the laws hold on 200 transcripts"),
        "{out}"
    );
    place.write(
        "log.jsonl",
        LOG.replace("\"At nine.\"", "\"At nine.\",\"aside\":\"The board says that it may be late today, too.\"")
            .as_bytes(),
    );
    let (status, out, _) = ran(&place, &["dialects", "--test", "ferry.toml", "log.jsonl"]);
    assert!(status == Some(1) && out.contains("! not read: /aside"), "{out}");
    let (status, out, _) = ran(&place, &["dialects", "strands"]);
    assert!(status == Some(0) && out.contains("extends = \"bedrock\""), "{out}");
    let (status, out, _) = ran(&place, &["dialects", "openai"]);
    assert!(status == Some(0) && out.contains("`openai` is code"), "{out}");
    for of_no_list in [&["openai"][..], &["--test", "ferry.toml"]] {
        let (status, _, stderr) = ran(&place, &[&["dialects", "--output-format", "json"], of_no_list].concat());
        assert!(status == Some(2) && stderr.contains("cannot be used with"), "a format for the list alone: {stderr}");
    }
    let (status, _, stderr) = ran(&place, &["dialects", "strnds"]);
    assert!(status == Some(2) && stderr.contains("did you mean `strands`?"), "{stderr}");
}

/// Calls that have their results in their own element.
const SHIP: &str = r#"name = "ship"
fits = { who = true, used = true }
[role]
at = "who"
user = "skipper"
assistant = "engine"
[[part]]
is = "call"
at = "used[]"
name = "tool"
arguments = "with"
result = "saw"
[[part]]
is = "text"
at = "say"
[write]
message = '{"who": $role, "say": $text, "used": []}'
"#;

const BRIDGE: &str = r#"{"who":"skipper","say":"Is there wind?","used":[]}
{"who":"engine","say":"There is some.","used":[{"tool":"vane","with":{"mast":1},"saw":"north, 3 knots"}]}
{"who":"skipper","say":"And fog?","used":[]}
{"who":"engine","say":"None.","used":[{"tool":"horn","with":{"mast":2},"saw":"no answer"}]}
"#;

#[test]
fn calls_without_ids_hold_their_results() {
    let place = Place::new();
    place.write("bridge.jsonl", BRIDGE.as_bytes());
    for results in ["", "results = \"same-message\"\n"] {
        place.write("ship.toml", format!("{results}{SHIP}").as_bytes());
        let (status, out, stderr) = ran(&place, &["dialects", "--test", "ship.toml", "bridge.jsonl"]);
        assert!(status == Some(0) && out.contains("2 pairs; 0 calls open"), "{out}{stderr}");
        let (_, out, _) = ran(&place, &["repair", "--dialect-file", "ship.toml", "bridge.jsonl"]);
        assert_eq!(out, BRIDGE);
    }
    place.write("ship.toml", SHIP.replace("\"with\"", "\"wiht\"").as_bytes());
    let (_, out, _) = ran(&place, &["dialects", "--test", "ship.toml", "bridge.jsonl"]);
    assert!(out.contains("? in no sample: no `arguments` of a call at `wiht`"), "{out}");
    place.write("ship.toml", SHIP.replace("\"used[]\"", "\"tools[]\"").as_bytes());
    let (_, out, _) = ran(&place, &["dialects", "--test", "ship.toml", "bridge.jsonl"]);
    assert!(out.contains("? in no sample: no call at `tools[]`"), "{out}");
}

/// The report of a trial of `description` on `sample`, and the exit status.
fn tried(description: &str, sample: &str) -> (Option<i32>, String) {
    let place = Place::new();
    place.write("tried.toml", description.as_bytes());
    place.write("sample.json", sample.as_bytes());
    let (status, out, stderr) = ran(&place, &["dialects", "--test", "tried.toml", "sample.json"]);
    (status, format!("{out}{stderr}"))
}

/// A record around messages of a ferry, with the member `beside`.
fn record(beside: &str) -> String {
    let items: Vec<&str> = LOG.lines().collect();
    format!("{{{beside},\"log\":[{}]}}\n", items.join(","))
}

const CHARTER: &str = "\"charter\":\"You speak for the office of the ferry, and say what the board says.\"";

fn with(keys: &str) -> String {
    FERRY.replace("[role]", &format!("{keys}\n[role]"))
}

#[test]
fn texts_beside_the_messages_are_named_once() {
    let sample = record(CHARTER).repeat(2);
    let line = "? beside the messages: /charter: \"You speak for the office";
    let (status, out) = tried(&with("list = \"log[]\""), &sample);
    assert!(status == Some(0) && out.matches(line).count() == 1, "{out}");
    for told in
        ["preamble = [\"charter\"]", "preamble = \"charter\"", "known = [\"charter\"]", "known = [\".charter\"]"]
    {
        let (status, out) = tried(&with(&format!("list = \"log[]\"\n{told}")), &sample);
        assert!(status == Some(0) && !out.contains('?'), "{told}: {out}");
    }
    // Beside a list inside an item as well.
    let inner = format!("{{\"runs\":[{{{CHARTER},\"log\":[{}]}}]}}\n", LOG.lines().collect::<Vec<_>>().join(","));
    let runs = with("list = \"runs[].log\"").replace("who = true", "\"log[].who\" = true");
    let (status, out) = tried(&runs, &inner);
    assert!(status == Some(0), "{out}");
    assert!(out.contains("? beside the messages: /runs/0/charter: \"You"), "{out}");
    let (_, out) = tried(&with("list = \"log[]\""), &record("\"day\":3"));
    assert!(!out.contains('?'), "{out}");
}

#[test]
fn keys_that_lead_nowhere_are_named() {
    let keys = "list = \"log[]\"\npreamble = [\"charter\", \"chatrer\"]\nmessage = \"body\"\nmodel = \"by.model\"\nreply = \"ref\"\norder = \"at\"";
    let (_, out) = tried(&with(keys), &record(CHARTER));
    for missing in [
        "`preamble` at `chatrer`, beside the messages",
        "`message` at `body`",
        "`model` at `by.model`",
        "`reply` at `ref`",
        "`order` at `at`",
    ] {
        assert!(out.contains(&format!("? in no sample: no {missing}\n")), "{missing}: {out}");
    }
    assert!(!out.contains("`charter`") && !out.contains("no `list`"), "{out}");
    // A constant and the key of a member are there, whatever the message is.
    let (_, out) = tried(&SHIP.replace("\"tool\"", "\"=vane\"").replace("\"with\"", "\"with.{}\""), BRIDGE);
    assert!(out.contains("2 pairs") && !out.contains('?'), "{out}");
    // Lines have no record around them.
    let (_, out) = tried(&with("preamble = [\"charter\"]"), LOG);
    assert!(out.contains("? in no sample: no `preamble` at `charter`, beside the messages"), "{out}");
}

#[test]
fn a_slip_in_a_list_is_answered_with_the_list() {
    let pretty = record(CHARTER).replace("{\"charter", "{\n\"charter");
    let (status, out) = tried(&with("list = \"lgo[]\""), &pretty);
    assert!(status == Some(1) && out.contains("none at `lgo[]`, where `list` of a description says"), "{out}");
    assert!(!out.contains("--messages-key"), "{out}");
    let (status, out) = tried(&with("list = \"lgo[]\""), &record(CHARTER));
    assert!(status == Some(1) && out.contains("? in no sample: no `list` at `lgo[]`"), "{out}");
    assert!(!out.contains("every text of") && !out.contains("`fits`"), "no item is a message: {out}");
    assert!(out.contains("! no message: no role; see `at` of `[role]`, and `list` and `message`"), "{out}");
    // Another description may say it right.
    let place = Place::new();
    place.write("wrong.toml", with("list = \"lgo[]\"").replace("\"ferry\"", "\"wrong\"").as_bytes());
    place.write("ferry.toml", with("list = \"log[]\"").as_bytes());
    place.write("log.json", pretty.as_bytes());
    let both = ["count", "--dialect-file", "wrong.toml", "--dialect-file", "ferry.toml", "log.json"];
    let (status, _, stderr) = ran(&place, &both);
    assert_eq!(status, Some(0), "{stderr}");
}

#[test]
fn a_role_without_a_name_is_why_nothing_is_detected() {
    let strange = LOG.replace("\"engine\",\"say\":\"At five", "\"stoker\",\"say\":\"At five");
    let (status, out) = tried(FERRY, &strange);
    assert!(status == Some(1) && out.contains("! no message: "), "{out}");
    assert!(out.contains("! it is not detected, because of the items that are no message"), "{out}");
    assert!(!out.contains("`fits`"), "{out}");
    let (_, out) = tried(&FERRY.replace("who = true", "whom = true"), &strange);
    assert!(out.contains("! it is not detected; `fits` names what only this format has"), "{out}");
    // An error of reading is the cause as well.
    let falling: String = LOG
        .lines()
        .zip(["4", "3", "2", "1"])
        .map(|(line, at)| line.replace('{', &format!("{{\"at\":{at},")) + "\n")
        .collect();
    let (status, out) = tried(&with("order = \"at\""), &falling);
    assert!(
        status == Some(1) && out.contains("these messages are newest first") && !out.contains("not detected"),
        "{out}"
    );
}

/// What is wrong with `[write]` does not hide what is read.
#[test]
fn a_wrong_template_does_not_hide_the_report() {
    let ship = SHIP.replace("result = \"saw\"", "id = \"id\"").replace(
        "[[part]]\nis = \"text\"",
        "[[part]]\nis = \"result\"\nat = \"seen[]\"\nid = \"of\"\ntext = \"what\"\n[[part]]\nis = \"text\"",
    );
    let sample = r#"{"who":"skipper","say":"Is there wind?","used":[]}
{"who":"engine","say":"I look.","used":[{"id":"a","tool":"vane","with":{"mast":1}}]}
{"who":"engine","seen":[{"of":"a","what":"north, 3 knots"}],"used":[]}
"#;
    for (template, lack) in [
        ("", "`[write]` has neither `result`, a part, nor `result-message`,"),
        ("{\"who\": \"engine\", \"seen\": [{\"ref\": $id, \"what\": $text}]}", "is read as a result without its id: {"),
        (
            "{\"who\": \"engine\", \"seen\": [{\"of\": $id, \"said\": $text}]}",
            "is read as a result without its text: {",
        ),
        (
            "{\"who\": \"engine\", \"saw\": [{\"of\": $id, \"what\": $text}]}",
            "is read as a message of the assistant with no part: {",
        ),
        ("{\"who\": \"engine\", \"seen\": [{\"what\": $text}]}", "has no `$id`, by which a result names its call"),
    ] {
        let template = if template.is_empty() { String::new() } else { format!("result-message = '{template}'\n") };
        let (status, out) = tried(&format!("{ship}{template}"), sample);
        assert_eq!(status, Some(1), "{out}");
        assert!(out.contains("dialect ship: reads; its `[write]` is wrong"), "{out}");
        assert!(out.contains("1 pair; 0 calls open") && out.contains("it is detected"), "{out}");
        assert!(out.contains("! tried.toml:") && out.contains(lack), "{lack}: {out}");
        if lack.contains(" read as ") {
            assert!(out.contains("; a result is read at `seen[]` with `id` at `of` and `text` at `what`\n"), "{out}");
        }
        assert!(out.ends_with("not passed\n"), "{out}");
    }
    let right = "result-message = '{\"who\": \"engine\", \"used\": [], \"seen\": [{\"of\": $id, \"what\": $text}]}'\n";
    let (status, out) = tried(&format!("{ship}{right}"), sample);
    assert!(status == Some(0), "{out}");
}

#[test]
fn what_cannot_be_written_is_told_to_whoever_describes_it() {
    let place = place();
    let (reads, _) = FERRY.split_once("[write]").unwrap();
    place.write("ferry.toml", reads.as_bytes());
    let (status, _, stderr) = ran(&place, &["window", "-n", "1", "--dialect-file", "ferry.toml", "log.jsonl"]);
    assert!(status == Some(2) && stderr.contains("to cut it, add `[write]` to its description"), "{stderr}");
}

#[test]
fn a_wrong_list_of_paths_is_told_what_it_is() {
    for wrong in ["preamble = 3", "preamble = { system = \"charter\" }", "list = [1]"] {
        let (status, out) = tried(&with(wrong), LOG);
        assert!(status == Some(2) && out.contains("is a list of paths, as in `"), "{out}");
    }
}

/// The first part that fits has the bytes, however the place of the message itself is written.
#[test]
fn the_first_part_has_its_element() {
    let place = Place::new();
    place.write(
        "tug.toml",
        br#"name = "tug"
fits = { who = true, "asks[].tool" = true }
[[role]]
when = { ref = true }
is = "tool"
[[role]]
at = "who"
user = "skipper"
assistant = "engine"
[[part]]
is = "result"
at = "."
when = { ref = true }
id = "ref"
text = "fault"
[[part]]
is = "result"
at = "."
when = { ref = true, fault = false }
id = "ref"
text = "say"
[[part]]
is = "text"
at = "say"
[[part]]
is = "call"
at = "asks[]"
id = "id"
name = "tool"
[write]
message = '{"who": $role, "say": $text}'
result-message = '{"ref": $id, "fault": $text}'
"#,
    );
    let log = r#"{"who":"skipper","say":"Is there wind?"}
{"who":"engine","say":"I look.","asks":[{"id":"a","tool":"vane"}]}
{"ref":"a","fault":"no mast","say":"It failed."}
{"who":"engine","say":"I do not know."}
"#;
    place.write("log.jsonl", log.as_bytes());
    let (_, out, stderr) = ran(&place, &["dialects", "--test", "tug.toml", "log.jsonl"]);
    assert!(out.contains("1 pair; 0 calls open") && out.contains("the laws hold"), "{out}{stderr}");
    let (_, out, _) = ran(&place, &["filter", "-x", "vane", "--dialect-file", "tug.toml", "log.jsonl"]);
    assert!(!out.contains("fault") && !out.contains("asks"), "{out}");
}

/// A chat whose calls are where its dialect does not look has results without calls: no command drops or parts them.
#[test]
fn calls_in_unknown_members_are_not_parted_from_their_results() {
    let place = Place::new();
    let chat = r#"{"messages":[{"role":"user","content":"Is there wind?"},{"role":"assistant","content":"I look.","plugins":[{"id":"a","api":"vane","with":"{}"}]},{"role":"tool","tool_call_id":"a","content":"north, 3 knots"},{"role":"assistant","content":"Some."}]}"#;
    place.write("chat.json", chat.as_bytes());
    for command in [&["repair"][..], &["window", "-n", "2"], &["filter", "-x", "vane"], &["limit", "-t", "30"]] {
        let (status, out, stderr) = ran(&place, &[command, &["chat.json"]].concat());
        assert!(status == Some(2) && out.is_empty(), "{out}{stderr}");
        assert!(stderr.contains("names a call in `plugins`, which the dialect `openai` does not read"), "{stderr}");
    }
    let (status, _, stderr) = ran(&place, &["repair", "--dialect", "openai", "chat.json"]);
    assert_eq!(status, Some(2), "{stderr}");
}

#[test]
fn an_export_is_looked_at_and_not_cut() {
    let place = Place::new();
    let chat = "[{\\\"role\\\":\\\"user\\\",\\\"content\\\":\\\"When?\\\"},{\\\"role\\\":\\\"assistant\\\",\\\"content\\\":\\\"At nine.\\\"}]";
    place.write("rows.jsonl", format!("{{\"id\":1,\"messages\":\"{chat}\"}}\n").repeat(2).as_bytes());
    let (status, out, stderr) = ran(&place, &["count", "rows.jsonl"]);
    assert!(status == Some(0) && out.contains('4'), "{out}{stderr}");
    for cut in ["window -n 1", "limit -t 10", "filter --strip reasoning", "repair"] {
        let arguments: Vec<&str> = cut.split(' ').chain(["rows.jsonl"]).collect();
        let (status, out, stderr) = ran(&place, &arguments);
        assert!(status == Some(2) && out.is_empty(), "{cut}: {out}");
        assert!(stderr.contains("a row with its messages in a string, which is looked at"), "{stderr}");
    }
}

/// What holds messages and is no span is reported, and the spans are looked at all the same.
#[test]
fn messages_between_spans_are_reported_with_their_place() {
    let place = Place::new();
    let run = r#"{"run_type":"llm","inputs":{"messages":[{"role":"user","content":"When?"}]}}"#;
    let stray = r#"{"note":{"role":"user","content":"And back?"}}"#;
    place.write("runs.jsonl", format!("{run}\n{stray}\n{run}\n").as_bytes());
    let reported = "runs.jsonl:2:1: this holds messages, and is neither a run of LangSmith nor a record";
    for (command, expected) in [("check", 2), ("count", 0), ("repair", 2)] {
        let (status, out, stderr) = ran(&place, &[command, "runs.jsonl"]);
        assert!(status == Some(expected) && stderr.contains(reported), "{command}: {status:?} {out}{stderr}");
    }
    let (_, out, _) = ran(&place, &["show", "runs.jsonl"]);
    assert_eq!(out.matches("When?").count(), 2, "{out}");
}

#[test]
fn a_sample_can_come_from_standard_input() {
    let sample = std::fs::read_to_string(crate::program::root().join("fixtures/own/ferry.jsonl")).unwrap();
    let tried = crate::program::run(&["dialects", "--test", "fixtures/own/ferry.toml", "-"], &sample);
    let out = crate::program::text(&tried.stdout);
    assert!(tried.status.success() && out.contains("\nstdin: framing lines\n"), "{out}");
}

/// Made transcripts whose order the dialect refuses break no law.
#[test]
fn a_trial_passes_over_what_the_dialect_refuses() {
    let place = Place::new();
    let (_, description, _) = ran(&place, &["dialects", "openai-threads"]);
    place.write("threads.toml", description.as_bytes());
    place.write("messages.json", include_bytes!("../../../fixtures/dialects/openai-threads/messages.json"));
    let (status, out, stderr) = ran(&place, &["dialects", "--test", "threads.toml", "messages.json"]);
    assert!(status == Some(0) && out.contains("the laws hold on "), "{out}{stderr}");
}

/// Nothing writes a call, and descriptions that say how one looks are read.
#[test]
fn a_description_may_say_how_a_call_is_written() {
    let place = place();
    let call = "call = '{\"tool\": $name, \"with\": $arguments}'\n";
    place.write("calls.toml", format!("{FERRY}{call}").as_bytes());
    let (status, out, stderr) = ran(&place, &["count", "--dialect-file", "calls.toml", "log.jsonl"]);
    assert!(status == Some(0), "{out}{stderr}");
}

/// A text in place of a result does not know what else a new one would have.
#[test]
fn a_text_in_place_of_a_result_has_no_empty_ids() {
    const DECK: &str = r#"
name = "deck"
fits = { who = true }
role = { at = "who", user = "u", assistant = "a", tool = "t" }
part = [
    { is = "result", roles = "tool", id = "cid", text = "body[].t" },
    { is = "call", at = "calls[]", id = "cid", name = "fn", arguments = "args" },
    { is = "text", at = "body[]", text = "t" },
]
[write]
message = '{"who": $role, "body": [{"t": $text}]}'
text = '{"t": $text}'
result-message = '{"who": "t", "cid": $id, "body": [{"ref": $id, "t": $text}]}'
"#;
    let place = Place::new();
    place.write("deck.toml", DECK.as_bytes());
    let long = "lit ".repeat(40);
    let log = format!(
        "{{\"who\":\"u\",\"body\":[{{\"t\":\"Look.\"}}]}}\n{{\"who\":\"a\",\"body\":[],\"calls\":[{{\"cid\":\"1\",\"fn\":\"look\",\"args\":{{}}}}]}}\n{{\"who\":\"t\",\"cid\":\"1\",\"body\":[{{\"t\":\"{long}\"}},{{\"t\":\"{long}\"}}]}}\n{{\"who\":\"a\",\"body\":[{{\"t\":\"Lit.\"}}]}}\n"
    );
    place.write("deck.jsonl", log.as_bytes());
    let filter = ["filter", "--keep-last-results", "0", "--dialect-file", "deck.toml", "deck.jsonl"];
    let (status, out, stderr) = ran(&place, &filter);
    assert!(status == Some(0) && out.contains("cleared") && !out.contains(r#""ref":"""#), "{out}{stderr}");
}

/// Also of messages that a dialect in code reads in their envelopes.
#[test]
fn a_description_says_what_a_program_wrote_and_what_stands_for_all_before() {
    const LOGGED: &str = "name = \"logged\"\nextends = \"anthropic\"\nmessage = \"said\"\nfits = { at = true }\nautomatic = { \"^at\" = \"3\" }\nboundary = { \"^at\" = \"2\" }\n";
    let place = Place::new();
    place.write("logged.toml", LOGGED.as_bytes());
    let line =
        |at: u32, text: &str| format!("{{\"at\":\"{at}\",\"said\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n");
    let log = [line(1, "Go."), line(2, "It went."), line(3, "Go on."), line(4, "And back?")].concat();
    place.write("log.jsonl", log.as_bytes());
    let (_, out, stderr) = ran(&place, &["view", "--text", "--dialect-file", "logged.toml", "log.jsonl"]);
    assert!(out.contains("program"), "{out}{stderr}");
    let (_, out, stderr) = ran(&place, &["show", "--dialect-file", "logged.toml", "log.jsonl"]);
    assert!(out.contains("[boundary]") && out.contains("[superseded]"), "{out}{stderr}");
}
