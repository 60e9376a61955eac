//! `curtail filter`: which results are out of date, and ranges of messages.

use serde_json::json;

use crate::program::{Place, run, text};

/// What `curtail filter` with these flags makes of `input`.
fn filter(flags: &[&str], input: &str) -> String {
    String::from_utf8(run(&[&["filter"], flags].concat(), input).stdout).expect("UTF-8")
}

/// A chat in which `calls` (tool, arguments, result) are made one after another.
fn chat(calls: &[(&str, &str, &str)]) -> String {
    let mut lines = vec![String::from(r#"{"role":"user","content":"Go."}"#)];
    for (nth, (name, arguments, result)) in calls.iter().enumerate() {
        let quoted = |text: &str| serde_json::to_string(text).expect("a string");
        lines.push(format!(
            r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"c{nth}","type":"function","function":{{"name":"{name}","arguments":{}}}}}]}}"#,
            quoted(arguments)
        ));
        lines.push(format!(r#"{{"role":"tool","tool_call_id":"c{nth}","content":{}}}"#, quoted(result)));
    }
    lines.push(String::from(r#"{"role":"assistant","content":"Done."}"#));
    lines.join("\n") + "\n"
}

/// The numbers of the calls whose results `flags` clear.
fn cleared(flags: &[&str], calls: &[(&str, &str, &str)]) -> Vec<usize> {
    let output = filter(flags, &chat(calls));
    let results: Vec<&str> = output.lines().filter(|line| line.contains("\"role\":\"tool\"")).collect();
    assert_eq!(results.len(), calls.len(), "every pair stays: {output}");
    results.iter().enumerate().filter(|(_, line)| line.contains("[cleared]")).map(|(nth, _)| nth).collect()
}

const OLD: &str = "line one of the old version\nline two of the old version\nline three";
const NEW: &str = "line one of the new version\nline two of the new version\nline three";
const A: &str = r#"{"file_path":"/a.rs"}"#;
const B: &str = r#"{"file_path":"/b.rs"}"#;

#[test]
fn a_read_is_superseded_by_a_later_read_of_the_same_file() {
    let calls = [("Read", A, OLD), ("Read", B, OLD), ("Edit", A, OLD), ("Read", A, NEW)];
    assert_eq!(cleared(&["--supersede-reads"], &calls), [0]);
    assert_eq!(cleared(&["--supersede-reads", "--exempt-tool", "Read"], &calls), [0_usize; 0]);
}

#[test]
fn a_part_of_a_file_supersedes_only_the_same_part() {
    let part = |offset: u32| format!(r#"{{"path":"/a.rs","offset":{offset},"limit":50}}"#);
    let (first, second, whole) = (part(0), part(50), r#"{"path":"/a.rs","offset":null}"#);
    let calls = [("read_file", &*first, OLD), ("read_file", &*second, OLD), ("read_file", &*first, NEW)];
    assert_eq!(cleared(&["--supersede-reads"], &calls), [0]);
    // Tools return the beginning of a long file as if it were all.
    let beginning = (1..=60).map(|nth| format!("{nth:>5}→line {nth}")).collect::<Vec<_>>().join("\n");
    let part = "line 7\nline 8";
    let calls = [("read_file", &*first, part), ("read_file", &*second, part), ("read_file", whole, &*beginning)];
    assert_eq!(cleared(&["--supersede-reads"], &calls), [0]);
    let calls = [("read_file", whole, OLD), ("read_file", &*second, NEW)];
    assert_eq!(cleared(&["--supersede-reads"], &calls), [0_usize; 0]);
}

/// Cursor, Kimi and Amp name the lines of a part in ways of their own.
#[test]
fn parts_under_unknown_names_supersede_nothing_else() {
    for parts in [
        [r#"{"target_file":"a","start_line_one_indexed":1}"#, r#"{"target_file":"a","start_line_one_indexed":200}"#],
        [r#"{"path":"a","line_offset":1,"n_lines":50}"#, r#"{"path":"a","line_offset":200,"n_lines":50}"#],
        [r#"{"path":"a","read_range":[1,50]}"#, r#"{"path":"a","read_range":[200,250]}"#],
    ] {
        let [first, second] = parts;
        let calls = [("read_file", first, OLD), ("read_file", second, NEW), ("read_file", first, NEW)];
        assert_eq!(cleared(&["--supersede-reads"], &calls), [0], "{first}");
    }
}

#[test]
fn an_error_or_nothing_supersedes_no_content() {
    let error = "Traceback:\n  in open\nPermissionError: /a.rs";
    assert_eq!(cleared(&["--supersede-reads"], &[("Read", A, OLD), ("Read", A, error)]), [0_usize; 0]);
    for failed in ["Error: there is no file at this path, it was moved", "", " \n"] {
        assert_eq!(
            cleared(&["--supersede-reads"], &[("Read", A, OLD), ("Read", A, failed)]),
            [0_usize; 0],
            "{failed:?}"
        );
    }
}

/// Claude Code says that a file has not changed in place of its one line, or that an image is gone.
#[test]
fn only_what_shows_the_file_again_supersedes_one_line_or_an_image() {
    let unchanged = "File unchanged since last read. The earlier result in this conversation is still current.";
    let calls = |later| [("Read", A, "1\tnodejs 22.11.0"), ("Read", A, later)];
    assert_eq!(cleared(&["--supersede-reads"], &calls(unchanged)), [0_usize; 0]);
    assert_eq!(cleared(&["--supersede-reads"], &calls("1\tnodejs 22.11.0\n2\truby 3.4")), [0]);
    let call = |id| {
        format!(
            r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"{id}","name":"Read","input":{{"file_path":"/a.png"}}}}]}}"#
        )
    };
    let result = |id, content| {
        format!(r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}",{content}}}]}}"#)
    };
    let image = r#""content":[{"type":"image","source":{"type":"url","url":"https://example.org/a.png"}}]"#;
    let error = r#""is_error":true,"content":"<tool_use_error>File does not exist.</tool_use_error>""#;
    for (older, later, count) in [(image, error, 0), (image, image, 1), (error, image, 1), (error, error, 0)] {
        let chat = [call("a"), result("a", older), call("b"), result("b", later)].join("\n");
        let output = filter(&["--supersede-reads"], &chat);
        assert_eq!(output.matches("[cleared]").count(), count, "{older} {later}");
    }
}

#[test]
fn an_editor_reads_only_when_it_views() {
    let view = r#"{"command":"view","path":"/a.rs"}"#;
    let write = r#"{"command":"create","path":"/a.rs","file_text":"x"}"#;
    for tool in ["str_replace_based_edit_tool", "str_replace_editor", "file_editor"] {
        assert_eq!(cleared(&["--supersede-reads"], &[(tool, view, OLD), (tool, write, NEW)]), [0_usize; 0], "{tool}");
        assert_eq!(cleared(&["--supersede-reads"], &[(tool, view, OLD), (tool, view, NEW)]), [0], "{tool}");
    }
}

#[test]
fn other_tools_can_be_named_as_reads() {
    let calls = [("fetch_page", A, OLD), ("fetch_page", A, NEW)];
    assert_eq!(cleared(&["--supersede-reads"], &calls), [0_usize; 0]);
    assert_eq!(cleared(&["--supersede-reads", "--read-tool", "fetch_*"], &calls), [0]);
}

#[test]
fn of_equal_results_the_newest_is_kept() {
    let calls = [("bash", "{}", OLD), ("bash", "{}", NEW), ("ls", "{}", OLD), ("ls", "{}", OLD), ("ls", "{}", "ok")];
    assert_eq!(cleared(&["--dedupe-results"], &calls), [0, 2]);
}

#[test]
fn a_range_keeps_whole_pairs_and_system_messages() {
    let chat =
        format!("{}\n{}", r#"{"role":"system","content":"Be brief."}"#, chat(&[("ls", "{}", OLD), ("ls", "{}", NEW)]));
    let roles = |range: &str| {
        let output = filter(&["--range", range], &chat);
        let roles = output.lines().filter_map(|line| line.split('"').nth(3)).map(str::to_owned);
        roles.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(roles("0..7"), "system user assistant tool assistant tool assistant");
    assert_eq!(roles("..4"), "system user assistant tool");
    assert_eq!(roles("3..6"), "system assistant tool", "the first call is outside, so its result is dropped");
    assert_eq!(roles("6.."), "system assistant");
    assert_eq!(roles("100.."), "system");
}

/// The contents of the results after a cut.
fn results(flags: &[&str], calls: &[(&str, &str, &str)]) -> Vec<String> {
    let lines = filter(flags, &chat(calls));
    let messages = lines.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    messages.filter(|message| message["role"] == "tool").map(|m| m["content"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn results_are_cleared_by_tool_by_tokens_and_in_steps() {
    let long = "a long line of words ".repeat(20);
    let calls: Vec<_> = (0..7).map(|nth| (if nth % 2 == 0 { "read" } else { "run" }, "{}", long.as_str())).collect();
    let cleared = |flags: &[&str]| -> Vec<usize> {
        let contents = results(flags, &calls);
        (0..contents.len()).filter(|&nth| contents[nth] == "[cleared]").collect()
    };
    assert_eq!(cleared(&["--keep-last-results", "3"]), [0, 1, 2, 3]);
    assert_eq!(cleared(&["--keep-last-results", "3", "--step", "3"]), [0, 1, 2, 3, 4, 5]);
    assert_eq!(cleared(&["--keep-last-results", "4", "--step", "3"]), [0, 1, 2]);
    assert_eq!(cleared(&["--keep-last-results", "1", "--clear-tool", "run"]), [1, 3]);
    assert_eq!(cleared(&["--keep-last-results", "1", "--exempt-tool", "run"]), [0, 2, 4]);
    assert_eq!(cleared(&["--protect-tokens", "350"]), [0, 1, 2, 3]);
    assert_eq!(cleared(&["--keep-last-results", "5", "--trigger", "10k"]), [] as [usize; 0]);
    assert_eq!(cleared(&["--keep-last-results", "5", "--clear-at-least", "1k"]), [] as [usize; 0]);
    assert_eq!(cleared(&["--keep-last-results", "5", "--clear-at-least", "100"]), [0, 1]);
    // A placeholder needs tokens of its own: 20 results of 6 tokens free 4 each.
    let short = [("run", "{}", "plums and pears in a larder"); 20];
    let left = |at_least: &str| {
        let flags = ["--keep-last-results", "0", "--clear-at-least", at_least];
        results(&flags, &short).iter().filter(|content| *content != "[cleared]").count()
    };
    assert_eq!((left("80"), left("81"), left("120")), (0, 20, 20));
    let wrong = run(&["filter", "--keep-last-results", "2", "--step", "3"], &chat(&calls));
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("--step 3 exceeds --keep-last-results 2"));
}

#[test]
fn a_capped_result_says_how_much_was_cut_and_is_capped_once() {
    let long = (0..400).map(|nth| format!("line {nth}\n")).collect::<String>();
    let calls = [("run", "{}", long.as_str()), ("read", "{}", "short"), ("read", "{}", long.as_str())];
    let capped = results(&["--cap-result", "100", "--cap-tool", "run=50", "--cap-keep", "tail"], &calls);
    assert!(capped[0].starts_with("[… ") && capped[0].ends_with("line 399\n") && capped[0].len() < capped[2].len());
    assert_eq!(capped[1], "short");
    let marker = capped[2].lines().next().unwrap();
    assert!(marker.ends_with(" tokens cut …]"), "{marker}");
    let both = results(&["--cap-result", "100"], &calls);
    assert!(both[0].starts_with("line 0\n") && both[0].ends_with("line 399\n") && both[0].contains(" tokens cut …]"));
    let again = filter(&["--cap-result", "100"], &filter(&["--cap-result", "100"], &chat(&calls)));
    assert_eq!(again, filter(&["--cap-result", "100"], &chat(&calls)));
    let wrong = run(&["filter", "--cap-result", "10"], &chat(&calls));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("at least 32"));
}

/// A PNG of so many pixels: its head alone, as base64.
fn png(width: u32, height: u32) -> String {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend([8, 2, 0, 0, 0]);
    base64::Engine::encode(&base64::prelude::BASE64_STANDARD, bytes)
}

/// Images in each wire format, in messages and in results: the text in their place is written as the format writes texts.
#[test]
fn large_media_become_texts_of_the_wire() {
    let (large, small) = (png(3024, 4032), png(32, 32));
    let wires = [
        (
            r#"{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"IMAGE"}}, {"type":"text","text":"Which?"}]}"#,
            r#"{"role":"user","content":[{"type":"text","text":"TEXT"}, {"type":"text","text":"Which?"}]}"#,
        ),
        (
            r#"{"role":"user","content":[{"type":"text","text":"Which?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,IMAGE"}}]}"#,
            r#"{"role":"user","content":[{"type":"text","text":"Which?"},{"type":"text","text":"TEXT"}]}"#,
        ),
        (
            r#"{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,IMAGE"}]}"#,
            r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"TEXT"}]}"#,
        ),
        (
            r#"{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"IMAGE"}},{"text":"Which?"}]}"#,
            r#"{"role":"user","parts":[{"text":"TEXT"},{"text":"Which?"}]}"#,
        ),
        (
            r#"{"role":"user","content":[{"image":{"format":"png","source":{"bytes":"IMAGE"}}},{"text":"Which?"}]}"#,
            r#"{"role":"user","content":[{"text":"TEXT"},{"text":"Which?"}]}"#,
        ),
    ];
    for (before, after) in wires {
        let input = before.replace("IMAGE", &large) + "\n" + &before.replace("IMAGE", &small) + "\n";
        let expected = after.replace("TEXT", "[image: 3024x4032 png, 29 bytes, removed]")
            + "\n"
            + &before.replace("IMAGE", &small)
            + "\n";
        let cut = run(&["filter", "--max-media-pixels", "2000"], &input);
        assert_eq!(text(&cut.stdout), expected, "{}", text(&cut.stderr));
        let newest = run(&["filter", "--keep-last-media", "1"], &input);
        assert_eq!(text(&newest.stdout), expected);
        let bytes = run(&["filter", "--max-media-bytes", "28"], &input);
        assert_eq!(text(&bytes.stdout).matches("removed]").count(), 2);
    }
}

/// A document that is a text, and an image that is elsewhere, are not bytes.
#[test]
fn what_is_no_base64_is_not_damaged() {
    let document = r#"{"type":"document","source":{"type":"text","media_type":"text/plain","data":"The grass is green. See http://x.y."}}"#;
    let wires = [
        (document, "[file: plain, 35 bytes, removed]"),
        (r#"{"type":"image_url","image_url":{"url":"images/0001.jpg"}}"#, "[image: images/0001.jpg, removed]"),
        (r#"{"type":"image","image":"images/0001"}"#, "[image: images/0001, removed]"),
        (r#"{"type":"image","image":"IMAGE"}"#, "[image: 30x40 png, 29 bytes, removed]"),
        (r#"{"type":"input_audio","input_audio":{"data":"-_-_","format":"wav"}}"#, "[audio: wav, 3 bytes, removed]"),
    ];
    for (medium, described) in wires {
        let input = format!("{{\"role\":\"user\",\"content\":[{medium},{{\"type\":\"text\",\"text\":\"Which?\"}}]}}\n");
        let input = input.replace("IMAGE", &png(30, 40)) + "{\"role\":\"assistant\",\"content\":\"It is.\"}\n";
        let check = run(&["check", "-A", "all", "-D", "S022"], &input);
        assert_eq!(check.status.code(), Some(0), "{medium}: {}", text(&check.stdout));
        let cut = filter(&["--keep-last-media", "0"], &input);
        assert!(cut.contains(&format!("\"{described}\"")), "{medium}: {cut}");
    }
}

/// The type of an image is written where it stands, and not where its bytes happen to spell it.
#[test]
fn a_wrong_type_is_mended_at_its_place() {
    let place = Place::new();
    let bytes = format!("{}pngpng", &png(30, 40)[..36]);
    let chat = format!(
        "{{\"role\":\"user\",\"content\":[{{\"image\":{{\"source\":{{\"bytes\":\"{bytes}\"}},\"format\":\"gif\"}}}},{{\"text\":\"Which?\"}}]}}\n\
         {{\"role\":\"assistant\",\"content\":[{{\"text\":\"It is.\"}}]}}\n"
    );
    let chat = chat.replace("pngpng", "gifgif");
    place.write("a.jsonl", chat.as_bytes());
    assert!(place.curtail(&["check", "--fix", "a.jsonl"]).output().unwrap().status.success());
    assert_eq!(text(&place.read("a.jsonl")), chat.replace("\"format\":\"gif\"", "\"format\":\"png\""));
}

#[test]
fn a_blob_of_opentelemetry_is_removed() {
    let before = r#"[{"role":"user","parts":[{"type":"blob","modality":"image","mime_type":"image/png","content":"IMAGE"},{"type":"text","content":"Which?"}]}]"#;
    let after = r#"[{"role":"user","parts":[{"type":"text","content":"TEXT"},{"type":"text","content":"Which?"}]}]"#;
    let cut = filter(&["--keep-last-media", "0"], &before.replace("IMAGE", &png(30, 40)));
    assert_eq!(cut, after.replace("TEXT", "[image: 30x40 png, 29 bytes, removed]"));
}

/// A log that repeats an image beside its result loses the copy as well.
#[test]
fn a_removed_image_leaves_no_copy() {
    let lines = [
        r#"{"type":"user","uuid":"1","sessionId":"s","message":{"role":"user","content":"Look."}}"#,
        r#"{"type":"assistant","uuid":"2","parentUuid":"1","sessionId":"s","message":{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Read","input":{"file_path":"a.png"}}]}}"#,
        r#"{"type":"user","uuid":"3","parentUuid":"2","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"a.png"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"IMAGE"}}]}]},"toolUseResult":{"type":"image","file":{"base64":"IMAGE"}}}"#,
    ];
    let input = (lines.join("\n") + "\n").replace("IMAGE", &png(3024, 4032));
    let cut = text(&run(&["filter", "--keep-last-media", "0", "--explain"], &input).stdout);
    assert!(!cut.contains(&png(3024, 4032)), "{cut}");
    assert!(
        cut.contains(
            r#"[{"type":"text","text":"a.png"},{"type":"text","text":"[image: 3024x4032 png, 29 bytes, removed]"}]"#
        ),
        "{cut}"
    );
}

/// Programs that read logs of Claude Code expect each reply to have an id, and take replies with one id for one.
#[test]
fn notes_in_a_log_have_ids_of_their_own() {
    let log =
        std::fs::read_to_string(crate::program::root().join("fixtures/dialects/claude-code/in-flight.jsonl")).unwrap();
    let noted = filter(&["-x", "Bash", "--persist-results"], &log);
    let lines = noted.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
    let notes = lines.filter(|line| line["message"]["model"] == "<synthetic>");
    let ids: Vec<String> = notes.map(|line| line["message"]["id"].as_str().expect("an id").to_owned()).collect();
    let mut distinct = ids.clone();
    distinct.sort();
    distinct.dedup();
    assert!(ids.len() > 1 && distinct.len() == ids.len(), "{ids:?}");
}

#[test]
fn arguments_are_cleared_with_the_results() {
    let calls = [("run", r#"{"script":"make"}"#, OLD), ("run", r#"{"script":"test"}"#, NEW)];
    let out = filter(&["--keep-last-results", "1", "--clear-inputs"], &chat(&calls));
    let arguments: Vec<&str> = out.split("\"arguments\":").skip(1).filter_map(|rest| rest.split("}}").next()).collect();
    assert_eq!(arguments, ["\"{}\"", r#""{\"script\":\"test\"}""#], "{out}");
    let google = r#"{"contents":[{"role":"model","parts":[{"functionCall":{"name":"run","args":{"script":"make"}},"thoughtSignature":"c2ln"},{"functionCall":{"name":"run","args":{"script":"test"}}}]},{"role":"user","parts":[{"functionResponse":{"name":"run","response":{"output":"a long text of the first"}}},{"functionResponse":{"name":"run","response":{"output":"a long text of the second"}}}]}]}"#;
    let out = filter(&["--keep-last-results", "0", "--clear-inputs", "--dialect", "gemini"], google);
    assert!(out.contains(r#""args":{"script":"make"}"#), "what is signed stays: {out}");
    assert!(out.contains(r#""args":{}"#) && !out.contains("test"), "{out}");
    // A tool that takes text has no empty object.
    let custom = concat!(
        r#"{"type":"custom_tool_call","call_id":"c","name":"patch","input":"*** Begin"}"#,
        "\n",
        r#"{"type":"custom_tool_call_output","call_id":"c","output":"it was applied to three files"}"#
    );
    let out = filter(&["--keep-last-results", "0", "--clear-inputs"], custom);
    assert!(out.contains("*** Begin") && out.contains("[cleared]"), "{out}");
}

#[test]
fn pinned_messages_outlive_roles_ranges_and_numbers() {
    let chat = concat!(
        "{\"role\":\"system\",\"content\":\"rules\"}\n",
        "{\"role\":\"user\",\"content\":\"the task\"}\n",
        "{\"role\":\"assistant\",\"content\":\"one\"}\n",
        "{\"role\":\"user\",\"content\":\"more\"}\n",
        "{\"role\":\"assistant\",\"content\":\"two\"}\n",
    );
    let lines: Vec<&str> = chat.split_inclusive('\n').collect();
    let kept = |flags: &[&str]| -> Vec<usize> {
        let out = filter(flags, chat);
        out.split_inclusive('\n').filter_map(|line| lines.iter().position(|known| *known == line)).collect()
    };
    assert_eq!(kept(&["--role", "assistant"]), [2, 4]);
    assert_eq!(kept(&["--role", "assistant", "--pin", "system"]), [0, 2, 4]);
    assert_eq!(kept(&["--role", "assistant", "--pin", "first-user"]), [0, 1, 2, 4]);
    assert_eq!(kept(&["--range", "3.."]), [0, 3, 4]);
    assert_eq!(kept(&["--range", "3..", "--pin", "system,first-user"]), [0, 1, 3, 4]);
    assert_eq!(kept(&["--drop", "0..4", "--pin", "first-user"]), [0, 1, 4]);
    assert_eq!(kept(&["--drop-turn", "1", "--pin", "first-user"]), [0, 1, 3, 4]);
}

/// A record: a question, and what follows it.
fn record(question: &str, more: &str) -> String {
    format!("{{\"messages\":[{{\"role\":\"user\",\"content\":\"{question}\"}}{more}]}}\n")
}

const ANSWER: &str = r#",{"role":"assistant","content":"yes"}"#;
const ORPHAN: &str = r#",{"role":"tool","tool_call_id":"x","content":"1"},{"role":"assistant","content":"yes"}"#;

#[test]
fn records_with_findings_are_dropped_and_written_elsewhere() {
    let place = Place::new();
    // Enough for several blocks, which are worked on at once.
    let long = |nth: usize| format!("{nth} {}", "word ".repeat(400));
    let records: Vec<String> = (0..900).map(|nth| record(&long(nth % 600), ANSWER)).collect();
    let odd = [record("an orphan", ORPHAN), record("no answer", "")];
    let text_of = |records: &[String]| records.concat();
    place.write("a.jsonl", (text_of(&records[..450]) + &odd.concat()).as_bytes());
    place.write("b.jsonl", text_of(&records[450..]).as_bytes());
    for jobs in ["1", "4"] {
        let flags =
            ["--drop-records-with", "P001,dataset", "--rejects", "r.jsonl", "-O", "out", "--force", "-q", "-j", jobs];
        let done = place.curtail(&["filter"]).args(flags).args(["a.jsonl", "b.jsonl"]).output().unwrap();
        assert_eq!((done.status.code(), text(&done.stderr)), (Some(0), String::new()));
        assert_eq!(text(&place.read("out/a.jsonl")), text_of(&records[..450]));
        assert_eq!(text(&place.read("out/b.jsonl")), text_of(&records[450..600]));
        let rejects: Vec<serde_json::Value> =
            text(&place.read("r.jsonl")).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let reasons: Vec<&str> = rejects.iter().map(|known| &known["reason"].as_str().unwrap()[..4]).collect();
        assert_eq!((reasons.len(), &reasons[..2]), (302, &["P001", "D001"][..]));
        assert!(reasons[2..].iter().all(|reason| *reason == "D003"));
        assert_eq!(rejects[0]["record"], odd[0].as_str());
        assert_eq!(rejects[301]["record"], records[899].as_str());
        assert_eq!((&rejects[301]["file"], &rejects[301]["line"]), (&"b.jsonl".into(), &450.into()));
        std::fs::remove_file(place.path("r.jsonl")).unwrap();
    }
}

#[test]
fn the_records_that_are_left_are_cut_as_well() {
    let records = [record("one", ANSWER), record("an orphan", ORPHAN), record("one", ANSWER), record("two", ANSWER)];
    let left = filter(&["--drop-records-with", "pairing,shape,dataset", "--role", "user"], &records.concat());
    assert_eq!(left, record("one", "") + &record("two", ""));
    let whole = filter(&["--drop-records-with", "D003"], &records.concat());
    assert_eq!(whole, [&records[0][..], &records[1], &records[3]].concat(), "no call is dropped without another flag");
    let output = run(&["filter", "--drop-records-with", "pairing", "--stats=json"], &records.concat());
    assert!(text(&output.stderr).contains("stdin:2:1: dropped: P001 orphan-result: "), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("\"dropped_records\":1,"), "{}", text(&output.stderr));
    let changes = run(&["filter", "--drop-records-with", "D003", "--fail-on-change", "-q"], &records.concat());
    assert_eq!(changes.status.code(), Some(1), "a record is missing");
}

/// What is explained of a record that is dropped as a copy is dropped with it.
#[test]
fn a_copy_is_not_explained() {
    let records = [record("one", ANSWER), record("one", ANSWER)].concat();
    let explained = |flags: &[&str]| {
        let words = [&["filter", "--role", "user", "--framing", "records", "--explain"], flags].concat();
        text(&run(&words, &records).stderr).matches("model: yes").count()
    };
    assert_eq!((explained(&[]), explained(&["--drop-records-with", "D003"])), (2, 1));
}

/// A program that sends records through a pipe gets an answer to each.
#[test]
fn a_dropped_record_is_answered() {
    let records = [record("one", ANSWER), record("an orphan", ORPHAN), record("one", ANSWER), record("two", ANSWER)];
    let flags = ["filter", "--drop-records-with", "P001,D003", "--framing", "records", "--on-error", "report", "-q"];
    let out = text(&run(&flags, &records.concat()).stdout);
    let lines: Vec<&str> = out.split_inclusive('\n').collect();
    assert_eq!((lines[0], lines[3], lines.len()), (&*records[0], &*records[3], 4));
    assert!(lines[1].starts_with(r#"!{"line":2,"column":1,"reason":"P001 orphan-result: "#), "{out}");
    assert!(lines[2].starts_with(r#"!{"line":3,"column":1,"reason":"D003 "#), "{out}");
}

#[test]
fn only_records_can_be_dropped() {
    let refused = |flags: &[&str], input: &str| {
        let done = run(&[&["filter"], flags].concat(), input);
        assert_eq!((done.status.code(), done.stdout.len()), (Some(2), 0));
        text(&done.stderr)
    };
    let log = "{\"role\":\"user\",\"content\":\"hi\"}\n{\"role\":\"assistant\",\"content\":\"hi\"}\n";
    let error = refused(&["--drop-records-with", "P001"], log);
    assert!(error.contains("takes records, one per line, and this file has the framing `lines`"), "{error}");
    let error = refused(&["--drop-records-with", "P01"], log);
    assert!(error.contains("unknown rule `P01`"), "{error}");
    let error = refused(&["--drop-records-with", "too-long"], log);
    assert!(error.contains("this rule needs the number of tokens that a record may have; pass -t N"), "{error}");
}

/// A rule that needs a number of tokens is refused without one, and works with it.
#[test]
fn a_rule_without_the_limit_that_it_needs_is_an_error() {
    let place = Place::new();
    let record = |words: usize| {
        let ask = "word ".repeat(words);
        json!({"messages": [{"role": "user", "content": ask}, {"role": "assistant", "content": "Fine."}]}).to_string()
    };
    let [short, long] = [record(3), record(300)];
    place.write("in.jsonl", format!("{short}\n{long}\n").as_bytes());
    let with = |arguments: &[&str]| {
        let done = place.curtail(arguments).arg("in.jsonl").output().unwrap();
        (done.status.code().unwrap(), text(&done.stdout), text(&done.stderr))
    };
    for rule in ["D002", "too-long", "d004", "truncated-target"] {
        for command in [&["filter", "--drop-records-with"][..], &["check", "-W"], &["check", "-D"]] {
            let (status, out, err) = with(&[command, &[rule]].concat());
            let names_both = err.contains(rule) && err.contains("pass -t N");
            assert!(status == 2 && out.is_empty() && names_both, "{command:?} {rule}: {err}");
        }
        let (status, out, _) = with(&["filter", "--drop-records-with", rule, "-t", "100"]);
        assert_eq!((status, out), (0, format!("{short}\n")), "{rule}");
        assert_eq!(with(&["check", "-A", "all", "-D", rule, "-t", "100"]).0, 1, "{rule}");
    }
    // Groups name no rule, and the other rules in them need no limit.
    assert_eq!(with(&["check", "-W", "dataset"]).0, 0);
    for useless in [
        &["filter", "--drop-records-with", "pairing", "-t", "100"][..],
        &["filter", "-x", "a", "--tokenizer", "gpt2"],
        &["filter", "--drop-records-with", "pairing", "--model", "gpt-4o"],
        &["filter", "-x", "a", "-t", "100"],
    ] {
        assert_eq!(with(useless).0, 2, "{useless:?}");
    }
    place.write("curtail.toml", b"[check]\nwarn = ['truncated-target']\n");
    let (status, _, err) = with(&["check"]);
    assert!(status == 0 && err.contains("truncated-target does not run"), "{err}");
    assert!(!with(&["check", "-t", "100", "-A", "too-long"]).2.contains("does not run"));
}

#[test]
fn a_filter_leaves_no_pending_call_behind_a_round_that_is_over() {
    let record = |id: &str, parent: &str, reply: &str, block: &str| {
        format!(
            r#"{{"parentUuid":"{parent}","isSidechain":false,"sessionId":"s","type":"assistant","message":{{"id":"{reply}","role":"assistant","content":[{block}]}},"uuid":"{id}"}}"#
        )
    };
    let question = r#"{"parentUuid":null,"isSidechain":false,"sessionId":"s","type":"user","message":{"role":"user","content":"Is it raining?"},"uuid":"u"}"#;
    let pending_call = record("a", "u", "m1", r#"{"type":"tool_use","id":"t1","name":"weather","input":{}}"#);
    let text_line = record("b", "a", "m2", r#"{"type":"text","text":"I look."}"#);
    let second_call = record("c", "b", "m2", r#"{"type":"tool_use","id":"t2","name":"look","input":{}}"#);
    let log = [question, &pending_call, &text_line, &second_call].map(|line| format!("{line}\n")).concat();
    let without_both = [question, &text_line.replace("\"parentUuid\":\"a\"", "\"parentUuid\":\"u\"")];
    assert_eq!(filter(&["-x", "look"], &log), without_both.map(|line| format!("{line}\n")).concat());
    assert_eq!(filter(&["-x", "other"], &log), log);
}
