//! What a run reports about its decisions, and about inputs and flags that are probably mistakes.

use std::io::Write as _;

use crate::program::{Place, chat, text};

/// The status, standard output and standard error.
fn run(place: &Place, arguments: &[&str]) -> (i32, String, String) {
    let done = place.curtail(arguments).output().unwrap();
    (done.status.code().unwrap(), text(&done.stdout), text(&done.stderr))
}

/// One chat of two rounds in a file.
fn one() -> Place {
    let place = Place::new();
    place.write("a.jsonl", chat("a", 2).as_bytes());
    place
}

#[test]
fn a_decision_names_role_tool_and_first_words() {
    let place = one();
    let (_, _, stderr) = run(&place, &["filter", "-x", "look", "--explain", "a.jsonl"]);
    let lines: Vec<&str> = stderr.lines().collect();
    assert_eq!(lines[0], "a.jsonl", "one header: {stderr}");
    assert_eq!(lines[1].split_whitespace().collect::<Vec<_>>(), ["line", "#", "message", "decision"]);
    assert_eq!(
        lines[2..4],
        [
            r#"   1  2  model, tool call of "look"        dropped: calls tool "look""#,
            r#"   1  3  tool result of "look": found "1"  dropped with its call"#,
        ]
    );
    let sum = lines.iter().position(|line| *line == "4 decisions:").expect("a sum of reasons");
    assert_eq!(lines[sum + 1..], ["2  dropped with its call", r#"2  dropped: calls tool "look""#]);
    let (_, _, stderr) = run(&place, &["window", "-n", "2", "--explain", "a.jsonl"]);
    assert!(stderr.contains("person: question 1 of a"), "{stderr}");
}

#[test]
fn json_has_the_tools_and_first_words() {
    let place = one();
    let (_, _, stderr) = run(&place, &["filter", "-x", "look", "--explain=json", "a.jsonl"]);
    let decisions: Vec<serde_json::Value> = stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(decisions[0]["calls"], serde_json::json!(["look"]));
    assert_eq!(decisions[1]["results"], serde_json::json!(["look"]));
    assert_eq!((&decisions[1]["begins"], &decisions[1]["reason"]), (&"found \"1\"".into(), &"with its call".into()));
}

#[test]
fn what_is_kept_although_it_was_to_go_is_explained() {
    let place = one();
    let (_, _, stderr) = run(&place, &["window", "-n", "2", "--explain", "a.jsonl"]);
    assert!(
        stderr.lines().any(|line| {
            line.contains("program: be brief") && line.contains("kept: system and developer messages are preserved")
        }),
        "{stderr}"
    );
    let (_, _, stderr) = run(&place, &["limit", "-t", "20", "--explain", "a.jsonl"]);
    assert!(stderr.contains("  kept: system and developer messages are preserved\n"), "{stderr}");
    let long = ["--placeholder", "a placeholder that is longer than what any of the tools has found"];
    let (_, out, stderr) =
        run(&place, &[&["filter", "--keep-last-results", "0", "--explain", "a.jsonl"][..], &long].concat());
    assert_eq!(out, chat("a", 2));
    assert!(
        stderr.lines().any(|line| {
            line.contains(r#"tool result of "look""#)
                && line.contains("kept: the placeholder would be longer than the result")
        }),
        "{stderr}"
    );
    let thinking = concat!(
        r#"{"role":"user","content":"go"}"#,
        "\n",
        r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"tool_use","id":"a","name":"ls","input":{}}]}"#,
        "\n",
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}"#,
        "\n",
    );
    place.write("b.jsonl", thinking.as_bytes());
    let (_, out, stderr) = run(&place, &["filter", "--strip", "reasoning", "--explain", "b.jsonl"]);
    assert_eq!(out, thinking);
    assert!(stderr.contains("kept: a call depends on this reasoning; --strip all-reasoning drops it"), "{stderr}");
    let (_, out, _) = run(&place, &["filter", "--strip", "all-reasoning", "b.jsonl"]);
    assert!(!out.contains("thinking") && out.contains("tool_use"), "{out}");
}

#[test]
fn all_reasoning_goes_where_items_are_bound_to_it() {
    let place = Place::new();
    let items = concat!(
        r#"{"type":"message","role":"user","content":"go"}"#,
        "\n",
        r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x"}"#,
        "\n",
        r#"{"type":"function_call","id":"fc_1","call_id":"c1","name":"ls","arguments":"{}"}"#,
        "\n",
        r#"{"type":"function_call_output","call_id":"c1","output":"x"}"#,
        "\n",
    );
    place.write("a.jsonl", items.as_bytes());
    assert_eq!(run(&place, &["filter", "--strip", "reasoning", "a.jsonl"]).1, items);
    let (_, out, _) = run(&place, &["filter", "--strip", "all-reasoning", "a.jsonl"]);
    assert_eq!(
        out,
        items.replace("{\"type\":\"reasoning\",\"id\":\"rs_1\",\"summary\":[],\"encrypted_content\":\"x\"}\n", "")
    );
}

#[test]
fn a_dry_run_with_stats_writes_sums_only() {
    let place = Place::new();
    (0..5).for_each(|nth| place.write(&format!("p/{nth}.jsonl"), chat("a", 3).as_bytes()));
    let (_, _, stderr) = run(&place, &["window", "-n", "2", "--dry-run", "--stats", "p"]);
    assert!(stderr.lines().count() < 10 && stderr.contains("messages") && !stderr.contains("dropped"), "{stderr}");
    let (_, _, stderr) = run(&place, &["window", "-n", "2", "--dry-run", "--stats", "--explain", "p"]);
    assert!(stderr.contains("dropped: outside the last 2 items"), "{stderr}");
    let (_, _, stderr) = run(&place, &["window", "-n", "2", "--dry-run", "p"]);
    assert!(stderr.contains("dropped: outside the last 2 items"), "{stderr}");
}

#[test]
fn a_glob_of_tools_that_matches_nothing_is_said() {
    let place = one();
    let (status, out, stderr) = run(&place, &["filter", "-x", "lok", "-x", "look", "a.jsonl"]);
    assert!(status == 0 && !out.contains("look"));
    assert_eq!(stderr, "curtail: filter: no tool matches `lok`; `curtail count --by tool` lists the tools\n");
    for flags in [
        &["-k", "lok"][..],
        &["--keep-last-results", "1", "--exempt-tool", "lok"],
        &["--supersede-reads", "--read-tool", "lok"],
    ] {
        let (_, _, stderr) = run(&place, &[&["filter", "a.jsonl"], flags].concat());
        assert!(stderr.contains("no tool matches `lok`"), "{flags:?}: {stderr}");
        let (_, _, stderr) = run(&place, &[&["filter", "-q", "a.jsonl"], flags].concat());
        assert_eq!(stderr, "");
    }
    for flags in [&["-x", "l?ok"][..], &["--supersede-reads"]] {
        assert_eq!(run(&place, &[&["filter", "a.jsonl"], flags].concat()).2, "");
    }
    place.write("curtail.toml", b"[[history.processors]]\ntype = \"filter\"\nexclude = [\"lok\"]\n");
    assert!(run(&place, &["run", "a.jsonl"]).2.contains("no tool matches `lok`"));
}

#[test]
fn an_endpoint_needs_a_summarizer() {
    let place = one();
    for flag in ["--endpoint", "--summary-model"] {
        let (status, _, stderr) = run(&place, &["summarize", flag, "http://127.0.0.1:9", "a.jsonl"]);
        assert_eq!(status, 2, "{stderr}");
        assert!(stderr.contains(&format!("{flag} needs --summarizer openai or anthropic")), "{stderr}");
    }
    let done = place.curtail(&["summarize", "a.jsonl"]).env("CURTAIL_ENDPOINT", "http://127.0.0.1:9").output().unwrap();
    assert_eq!(done.status.code(), Some(0), "a variable serves other runs too: {}", text(&done.stderr));
}

#[test]
fn a_reserve_is_no_token_of_a_transcript() {
    let place = one();
    let tokens = |arguments: &[&str]| {
        let (_, out, _) = run(&place, &[&["count", "--output-format", "json", "a.jsonl"], arguments].concat());
        let report: serde_json::Value = serde_json::from_str(&out).unwrap();
        (report["tokens"].clone(), report["reserve"].clone())
    };
    assert_eq!(tokens(&["--reserve", "1k"]), (tokens(&[]).0, 1000.into()));
    let (_, out, _) = run(&place, &["count", "--reserve", "1k", "a.jsonl"]);
    assert!(out.contains("1,000 tokens reserved for the reply are not included"), "{out}");
    let sums = |arguments: &[&str]| {
        let (_, _, stderr) = run(&place, &[&["limit", "-t", "5k", "--stats=json", "a.jsonl"], arguments].concat());
        serde_json::from_str::<serde_json::Value>(&stderr).unwrap()["tokens_before"].clone()
    };
    assert_eq!(sums(&["--reserve", "1k"]), sums(&[]));
}

#[test]
fn pretty_printed_values_in_a_row_are_named() {
    let place = Place::new();
    place.write("a.json", b"{\n  \"role\": \"user\",\n  \"content\": \"hi\"\n}\n{\n  \"role\": \"assistant\",\n  \"content\": \"yes\"\n}\n");
    let (status, _, stderr) = run(&place, &["window", "a.json"]);
    assert_eq!(status, 2);
    assert!(
        stderr.starts_with("curtail: a.json:5:1: a second value begins here") && stderr.contains("jq -c"),
        "{stderr}"
    );
}

#[test]
fn compressions_that_are_not_read_are_named() {
    let place = Place::new();
    for (head, name) in [
        (&b"BZh91AY&SY"[..], "bzip2"),
        (b"\xfd7zXZ\0\0", "xz"),
        (b"\x04\x22\x4d\x18\x64", "lz4"),
        (b"PK\x03\x04\x14", "zip"),
    ] {
        place.write("a.jsonl", head);
        let (status, _, stderr) = run(&place, &["window", "a.jsonl"]);
        assert_eq!(status, 2);
        assert!(stderr.contains(&format!("compressed with {name}, which is not read")), "{stderr}");
    }
}

#[test]
fn gzip_with_zero_padding_is_read() {
    let place = Place::new();
    let member = |content: &str| {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        packed.write_all(content.as_bytes()).unwrap();
        packed.finish().unwrap()
    };
    let (first, second) = (chat("a", 1), chat("b", 1));
    let whole = format!("{first}{second}");
    for padding in [0, 1, 511, 300_000] {
        let zeros = vec![0; padding];
        place.write("a.gz", &[member(&first), zeros.clone(), member(&second), zeros].concat());
        let (status, out, stderr) = run(&place, &["window", "a.gz"]);
        assert_eq!((status, out), (0, whole.clone()), "{padding}: {stderr}");
    }
    place.write("a.gz", &[&member(&first)[..], &[0, 0, 7, 7]].concat());
    let (status, _, stderr) = run(&place, &["window", "a.gz"]);
    assert!(status == 2 && stderr.contains("the gzip stream is c"), "{stderr}");
    let torn = member(&first);
    place.write("a.gz", &torn[..torn.len() - 3]);
    assert_eq!(run(&place, &["window", "a.gz"]).0, 2);
}

#[test]
fn the_long_version_names_features_encodings_and_commit() {
    let place = Place::new();
    let (status, out, _) = run(&place, &["--version"]);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!((status, lines[0]), (0, concat!("curtail ", env!("CARGO_PKG_VERSION"))));
    assert!(lines[1].strip_prefix("commit: ").is_some_and(|commit| !commit.is_empty()), "{out}");
    let manifest = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let features = manifest["features"].as_table().unwrap().keys().map(String::as_str);
    let features: Vec<&str> = features.filter(|name| *name != "default").collect();
    let named: Vec<&str> = lines[2].split([' ', ',', '(', ')']).collect();
    assert!(lines[2].starts_with("features: ") && features.iter().all(|name| named.contains(name)), "{out}");
    assert!(lines[3].starts_with("encodings: ") && lines[3].contains("o200k_base") && !lines[3].contains('/'), "{out}");
    assert_eq!(run(&place, &["-V"]).1, concat!("curtail ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn a_code_quality_report_has_what_gitlab_reads() {
    let place = Place::new();
    let orphan = r#"{"role":"tool","tool_call_id":"x","content":"1"}"#;
    let (user, reply) = (r#"{"role":"user","content":"hi"}"#, r#"{"role":"assistant","content":"yes"}"#);
    place.write("a.jsonl", format!("{user}\n{orphan}\n{orphan}\n{reply}\n").as_bytes());
    let report = |place: &Place| {
        let (status, out, _) =
            run(place, &["check", "-D", "duplicate-transcript", "--output-format", "gitlab", "./a.jsonl"]);
        (status, serde_json::from_str::<Vec<serde_json::Value>>(&out).unwrap())
    };
    let (status, issues) = report(&place);
    assert_eq!((status, issues.len()), (1, 2));
    let first = &issues[0];
    assert_eq!((&first["check_name"], &first["severity"]), (&"orphan-result".into(), &"major".into()));
    assert_eq!(first["location"], serde_json::json!({"path": "a.jsonl", "lines": {"begin": 2}}));
    assert!(first["description"].as_str().is_some_and(|text| !text.is_empty()));
    assert_ne!(first["fingerprint"], issues[1]["fingerprint"], "equal findings are two");
    // A line above moves the findings and leaves their fingerprints.
    place.write("a.jsonl", format!("{user}\n{reply}\n{user}\n{orphan}\n{orphan}\n{reply}\n").as_bytes());
    let moved = report(&place).1;
    assert_eq!(moved[0]["location"]["lines"]["begin"], 4);
    assert_eq!(
        moved.iter().map(|issue| &issue["fingerprint"]).collect::<Vec<_>>(),
        [&first["fingerprint"], &issues[1]["fingerprint"]]
    );
    place.write("a.jsonl", format!("{user}\n{reply}\n").as_bytes());
    assert_eq!(report(&place), (0, Vec::new()));
    // Nor does a line in the message of a finding.
    let chat = |prompt: &str| format!("{{\"messages\":[{{\"role\":\"user\",\"content\":\"{prompt}\"}},{reply}]}}\n");
    place.write("a.jsonl", chat("hi").repeat(2).as_bytes());
    let before = report(&place).1;
    place.write("a.jsonl", (chat("first") + &chat("hi").repeat(2)).as_bytes());
    assert_eq!((before.len(), &report(&place).1[0]["fingerprint"]), (1, &before[0]["fingerprint"]));
}

/// Notes that save an hour: the task is gone, the window is far larger than asked for, the trigger does nothing.
#[test]
fn a_cut_says_what_it_lost_and_which_flag_does_nothing() {
    let place = Place::new();
    let mut log = vec![r#"{"role":"user","content":"Mend the pier."}"#.to_owned()];
    for nth in 0..12 {
        log.push(format!(
            r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"c{nth}","type":"function","function":{{"name":"look","arguments":"{{}}"}}}}]}}"#
        ));
        log.push(format!(r#"{{"role":"tool","tool_call_id":"c{nth}","content":"plank {nth}"}}"#));
    }
    log.push(r#"{"role":"assistant","content":"It stands."}"#.to_owned());
    place.write("a.jsonl", log.join("\n").as_bytes());
    let notes = |arguments: &[&str]| run(&place, &[arguments, &["a.jsonl"]].concat()).2;
    let task = "no message that a person wrote is kept; pass --pin first-user";
    let limited = notes(&["limit", "-t", "40", "--on-overflow", "empty"]);
    assert!(limited.contains(task), "{limited}");
    assert!(!notes(&["limit", "-t", "40", "--pin", "system,first-user"]).contains(task));
    assert!(!notes(&["limit", "-t", "4000"]).contains(task), "nothing is cut");
    let far = notes(&["window", "-n", "4"]);
    assert!(far.contains("keeps 26 items, more than twice 4; --max-expansion limits it"), "{far}");
    assert!(!notes(&["window", "-n", "4", "--max-expansion", "0"]).contains("more than twice"));
    let idle = notes(&["limit", "-t", "40", "--trigger", "30", "--pin", "first-user"]);
    assert!(idle.contains("a trigger of 30 tokens does nothing: it does not exceed the budget of 40"), "{idle}");
    assert!(!notes(&["limit", "-t", "40", "--trigger", "60"]).contains("does nothing"));
}
