//! Pages in headless Chromium, checked by `tests/browser/run.mjs`.
//!
//! It needs `node`, the packages of `tests/browser/package.json` (`npm ci` in that folder) and a browser: `CURTAIL_BROWSER`,
//! or `chromium`, `chromium-browser` or `google-chrome` on the `PATH`. Without one of them it says that it was skipped, and
//! fails if `CURTAIL_BROWSER_REQUIRED` is set.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::program::{Place, text};

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser")
}

/// The browser, or what is missing.
fn browser() -> Result<PathBuf, &'static str> {
    let on_path = |name: &str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
    };
    if on_path("node").is_none() {
        return Err("`node` is not on the PATH");
    }
    if !tests().join("node_modules/playwright-core").is_dir() || !tests().join("node_modules/axe-core").is_dir() {
        return Err("the packages are missing; run `npm ci` in tests/browser");
    }
    let named = std::env::var_os("CURTAIL_BROWSER").map(PathBuf::from);
    let found = || ["chromium", "chromium-browser", "google-chrome"].iter().find_map(|name| on_path(name));
    named
        .or_else(found)
        .ok_or("no chromium, chromium-browser or google-chrome on the PATH, and CURTAIL_BROWSER is not set")
}

/// Writes the page of `input` to `output`, both in `place`.
fn write(place: &Place, input: &str, output: &str, flags: &[&str]) {
    let run = place.curtail(&["view", input, "-o", output]).args(flags).output().unwrap();
    assert!(run.status.success(), "{input}: {}", text(&run.stderr));
}

/// What `count` prints about a file.
fn counted(place: &Place, input: &str) -> Value {
    let run = place.curtail(&["count", "--output-format", "json", input]).output().unwrap();
    serde_json::from_slice(&run.stdout).unwrap()
}

/// A page for each fixture that is one transcript.
fn fixtures(place: &Place) -> Vec<Value> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let walk =
        ignore::WalkBuilder::new(root.join("dialects")).standard_filters(false).sort_by_file_path(Path::cmp).build();
    let files = walk.map(|entry| entry.unwrap().into_path()).filter(|path| path.is_file());
    let mut pages = Vec::new();
    for (nth, file) in files.chain([root.join("trip.jsonl"), root.join("check/broken.jsonl")]).enumerate() {
        let name = format!("{nth}-{}", file.file_name().unwrap().to_string_lossy());
        place.write(&name, &std::fs::read(&file).unwrap());
        let count = counted(place, &name);
        if count["transcripts"] != 1 || count["messages"] == 0 {
            continue;
        }
        let page = format!("{name}.html");
        write(place, &name, &page, &[]);
        pages.push(json!({"file": page, "messages": count["messages"], "tokens": count["tokens"]}));
    }
    assert!(pages.len() > 60, "only {} fixtures are one transcript", pages.len());
    pages
}

/// Texts that try to leave their element, and what is shown of each.
const HOSTILE: &[(&str, &str)] = &[
    ("<script>window.sentinel = 'script'</script>", "<script>window.sentinel = 'script'</script>"),
    ("</script><script>window.sentinel = 'closed'</script>", "</script><script>window.sentinel = 'closed'</script>"),
    ("</details></article></main><b class=evil>out</b>", "</details></article></main><b class=evil>out</b>"),
    ("<!-- <img src=x onerror=\"window.sentinel='img'\">", "<!-- <img src=x onerror=\"window.sentinel='img'\">"),
    ("<style>body{background-image:url(https://example.com/x)}</style>", "</style>"),
    ("</style><script>window.sentinel=1</script>", "</style><script>window.sentinel=1</script>"),
    ("[a](javascript:window.sentinel=2) javascript:window.sentinel=2", "javascript:window.sentinel=2"),
    ("\" onmouseover=\"window.sentinel=3\" x=\"", "\" onmouseover=\"window.sentinel=3\" x=\""),
    ("' style='position:fixed;inset:0", "' style='position:fixed;inset:0"),
    ("&lt;b&gt; &#60;i&#62; &amp;", "&lt;b&gt; &#60;i&#62; &amp;"),
    ("right \u{202e}to left\u{2066} and \u{200f}marks", "⟨U+202E⟩to left⟨U+2066⟩ and ⟨U+200F⟩marks"),
    (
        "# Title <img src=x onerror=window.sentinel=4>\n\n- *item* <b class=evil>x</b>",
        "Title <img src=x onerror=window.sentinel=4>",
    ),
    (
        "[click](javascript:window.sentinel=5) ![pixel](https://example.com/p.png)",
        "click (javascript:window.sentinel=5)",
    ),
    (
        "```\"><script>window.sentinel=6</script>\n</code></pre><script>window.sentinel=6</script>\n```",
        "</code></pre><script>window.sentinel=6</script>",
    ),
    ("<https://example.com/\"onmouseover=\"window.sentinel=7>", "window.sentinel=7"),
    (
        "bell \u{7} escape \u{1b}[31m null \u{0} delete \u{7f} c1 \u{9b}",
        "⟨U+0007⟩ escape ⟨U+001B⟩[31m null ⟨U+0000⟩ delete ⟨U+007F⟩ c1 ⟨U+009B⟩",
    ),
];

/// A transcript with each hostile text as text, reasoning, tool name, argument and result, and one text of 10 MB.
fn hostile() -> String {
    let mut lines = Vec::new();
    for (nth, (words, _)) in HOSTILE.iter().enumerate() {
        let id = format!("c{nth}{words}");
        let arguments = json!({*words: words, "nested": {"deep": [words]}}).to_string();
        lines.push(json!({"role": "user", "content": words}));
        let call = json!({"id": id, "type": "function", "function": {"name": words, "arguments": arguments}});
        let broken =
            json!({"id": format!("b{nth}"), "type": "function", "function": {"name": "broken", "arguments": words}});
        let known = [
            ("bash", json!({"command": words, "workdir": words})),
            ("edit", json!({"path": words, "old_string": words, "new_string": format!("{words}\n{words}")})),
            (
                "apply_patch",
                json!({"input": format!("*** Begin Patch\n*** Update File: {words}\n-{words}\n+{words}\n*** End Patch")}),
            ),
            ("todo", json!({"todos": [{"content": words, "status": words}]})),
            ("read", json!({"path": words, "pattern": words})),
            ("exit_plan", json!({"plan": words})),
        ];
        let calls = known.iter().enumerate().map(|(other, (name, arguments))| {
            json!({"id": format!("k{nth}-{other}"), "type": "function", "function": {"name": name, "arguments": arguments.to_string()}})
        });
        let calls: Vec<Value> = [call, broken].into_iter().chain(calls).collect();
        lines.push(json!({"role": "assistant", "content": words, "reasoning_content": words, "tool_calls": calls}));
        for other in 0..known.len() {
            let content = format!("Exit code 1\n\u{1b}[31;1m{words}\u{1b}[0m");
            lines.push(json!({"role": "tool", "tool_call_id": format!("k{nth}-{other}"), "content": content}));
        }
        lines.push(
            json!({"role": "tool", "tool_call_id": id, "content": format!("{words}\n@@ -1 +1 @@\n+{words}\n-{words}")}),
        );
        lines.push(json!({"role": "tool", "tool_call_id": format!("orphan{words}"), "content": words}));
    }
    lines.push(json!({"role": "user", "content": "<i>".repeat(10_000_000 / 3)}));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// A session of so many megabytes of program output and prose.
fn session(megabytes: usize) -> String {
    let prose =
        "The test failed because the parser read past the closing bracket; I will look at the \\\"caller\\\" first.\\n";
    let mut lines = String::new();
    let mut nth = 0;
    while lines.len() < megabytes * 1_000_000 {
        nth += 1;
        lines.push_str(&format!("{{\"role\":\"user\",\"content\":\"step {nth}: {}\"}}\n", prose.repeat(3)));
        lines.push_str(&format!("{{\"role\":\"assistant\",\"content\":\"{}\",\"tool_calls\":[{{\"id\":\"c{nth}\",\"type\":\"function\",\"function\":{{\"name\":\"bash\",\"arguments\":\"{{\\\"command\\\":\\\"cargo test {nth}\\\"}}\"}}}}]}}\n", prose.repeat(2)));
        lines.push_str(&format!(
            "{{\"role\":\"tool\",\"tool_call_id\":\"c{nth}\",\"content\":\"{}\"}}\n",
            prose.repeat(20 + nth % 150)
        ));
    }
    lines
}

const KEY: &str = "sk-ant-api03-Zk3vQ9xLr7Tn2WbY5uHd";

/// A line of a log of Claude Code.
fn claude_line(nth: usize, parent: Option<usize>, message: &Value, more: &Value) -> String {
    let mut line = json!({
        "type": message["role"], "uuid": format!("u{nth}"), "parentUuid": parent.map(|parent| format!("u{parent}")), "isSidechain": false,
        "sessionId": "s", "cwd": "/home/ada/harbor", "timestamp": format!("2026-03-04T09:{:02}:00.000Z", nth % 60), "message": message,
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        line[key] = value.clone();
    }
    format!("{line}\n")
}

/// A call and its result.
fn claude_call(nth: usize, name: &str, input: &Value, result: &Value, more: &Value) -> String {
    let id = format!("t{nth}");
    let call = json!({"role": "assistant", "id": format!("m{nth}"), "content": [{"type": "tool_use", "id": id, "name": name, "input": input}]});
    let mut result =
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": result}]});
    if more["failed"] == true {
        result["content"][0]["is_error"] = json!(true);
    }
    claude_line(nth, nth.checked_sub(1), &call, more) + &claude_line(nth + 1, Some(nth), &result, more)
}

/// A session with everything that is drawn in its own way: looks in a row, edits that work and fail, a question, a key, and two
/// sub-agents, one of them in a file of its own, which is the second text.
fn work() -> (String, String) {
    let none = json!({});
    let read = |nth: usize, name: &str| {
        claude_call(
            nth,
            "Read",
            &json!({"file_path": format!("/home/ada/harbor/{name}")}),
            &json!(format!("text of {name}")),
            &none,
        )
    };
    let question = json!({"questions": [{"question": "Which color?", "options": [{"label": "Blue", "description": "as the sea"}, {"label": "Green"}]}]});
    let task = "Count every boat in the old harbor.";
    let side = json!({"isSidechain": true, "agentId": "a1"});
    let log = [
        claude_line(0, None, &json!({"role": "user", "content": "Rename tide to level."}), &none),
        read(1, "tide.ts"),
        read(3, "moon.ts"),
        read(5, "sea.ts"),
        claude_call(7, "Bash", &json!({"command": "git status"}), &json!("clean quay"), &none),
        claude_call(
            9,
            "Edit",
            &json!({"file_path": "/home/ada/harbor/tide.ts", "old_string": "const tide = read(sensor);", "new_string": "const level = read(sensor);"}),
            &json!("changed"),
            &none,
        ),
        claude_call(11, "AskUserQuestion", &question, &json!("The user chose Blue"), &none),
        claude_line(
            13,
            Some(12),
            &json!({"role": "assistant", "content": [{"type": "text", "text": format!("Done, with {KEY}.")}]}),
            &none,
        ),
        claude_line(14, Some(13), &json!({"role": "user", "content": "Now count the boats."}), &none),
        claude_call(
            15,
            "Bash",
            &json!({"command": "boats --count"}),
            &json!("Exit code 2\nno such program"),
            &json!({"failed": true}),
        ),
        claude_line(
            17,
            Some(16),
            &json!({"role": "assistant", "id": "m17", "content": [{"type": "tool_use", "id": "t17", "name": "Task", "input": {"description": "count boats", "prompt": task}}]}),
            &none,
        ),
        claude_line(30, None, &json!({"role": "user", "content": task}), &side),
        claude_call(
            31,
            "Grep",
            &json!({"pattern": "boat", "path": "/home/ada/harbor"}),
            &json!("a dinghy in the mist"),
            &side,
        ),
        claude_line(
            33,
            Some(32),
            &json!({"role": "assistant", "content": [{"type": "text", "text": "Seven boats."}]}),
            &side,
        ),
        claude_line(
            18,
            Some(17),
            &json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t17", "content": "Seven boats."}]}),
            &none,
        ),
        claude_call(
            19,
            "Agent",
            &json!({"description": "ask the pilot", "prompt": "Ask the pilot about the fog."}),
            &json!("The fog lifts at noon."),
            &none,
        ),
        claude_line(
            21,
            Some(20),
            &json!({"role": "assistant", "content": [{"type": "text", "text": "Seven, and the fog lifts."}]}),
            &none,
        ),
    ];
    let aside = json!({"isSidechain": true, "agentId": "b2"});
    let pilot = [
        claude_line(40, None, &json!({"role": "user", "content": "Say when it is clear."}), &aside),
        claude_call(41, "Read", &json!({"file_path": "/home/ada/harbor/fog.log"}), &json!("a lantern at dawn"), &aside),
        claude_line(
            43,
            Some(42),
            &json!({"role": "assistant", "content": [{"type": "text", "text": "It lifts at noon."}]}),
            &aside,
        ),
    ];
    (log.concat(), pilot.concat())
}

/// The pages of [`work`], as it is and masked.
fn write_work(place: &Place) -> Value {
    let (log, pilot) = work();
    place.write("work.jsonl", log.as_bytes());
    place.write("work/subagents/agent-b2.jsonl", pilot.as_bytes());
    place.write(
        "work/subagents/agent-b2.meta.json",
        br#"{"agentType":"Explore","description":"the pilot","toolUseId":"t19"}"#,
    );
    write(place, "work.jsonl", "work.html", &[]);
    write(place, "work.jsonl", "masked.html", &["--mask"]);
    let agents = json!([{"title": "count boats", "words": "dinghy in the mist"}, {"title": "the pilot", "words": "lantern at dawn"}]);
    json!({"file": "work.html", "masked": "masked.html", "title": "Rename tide to level.", "key": KEY, "look": "clean quay", "agents": agents})
}

/// The page of a replay of two sessions.
fn write_replay(place: &Place) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    place.write("session.jsonl", &std::fs::read(root.join("replay/session.jsonl")).unwrap());
    let run = place.curtail(&["replay", "session.jsonl", "trip.jsonl", "--output-format", "html"]).output().unwrap();
    assert!(run.status.success(), "{}", text(&run.stderr));
    place.write("replay.html", &run.stdout);
}

/// An index of all pages, and of a session with a word that is on no page because its text is too long.
fn write_index(place: &Place, pages: &[Value]) -> Value {
    let long = json!({"role": "user", "content": format!("{}the zymurgist", "word ".repeat(8_000))});
    place.write("long.jsonl", format!("{long}\n").as_bytes());
    let names = pages.iter().map(|page| page["file"].as_str().unwrap().trim_end_matches(".html"));
    let inputs: Vec<&str> = names.chain(["work.jsonl", "hostile.jsonl", "long.jsonl"]).collect();
    let run = place.curtail(&["view", "-O", "all"]).args(&inputs).output().unwrap();
    assert!(run.status.success(), "{}", text(&run.stderr));
    let words = [
        "the", "error", "read(sensor)", "U+001B", "<script>window", "\"", "&amp;", "a lantern at dawn", "Exit  status",
    ];
    json!({"file": "all/index.html", "words": words, "beyond": "The Zymurgist", "phrase": "const tide = read"})
}

fn write_cases(place: &Place) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let pages = fixtures(place);
    let trip = std::fs::read_to_string(root.join("trip.jsonl")).unwrap();
    place.write("trip.jsonl", trip.as_bytes());
    write(place, "trip.jsonl", "trip.html", &[]);
    write(place, "trip.jsonl", "policy.html", &["--policy", "limit -t 100"]);
    place.curtail(&["limit", "-t", "100", "trip.jsonl", "-o", "short.jsonl"]).assert().success();
    let kept = counted(place, "short.jsonl");
    let two = place.curtail(&["view", "trip.jsonl", "short.jsonl", "-o", "two.html"]).output().unwrap();
    assert!(two.status.success(), "{}", text(&two.stderr));
    let dropped = counted(place, "trip.jsonl")["messages"].as_u64().unwrap() - kept["messages"].as_u64().unwrap();
    place.write("hostile.jsonl", hostile().as_bytes());
    write(place, "hostile.jsonl", "hostile.html", &[]);
    let two = place.curtail(&["view", "hostile.jsonl", "trip.jsonl", "-o", "hostile-two.html"]).output().unwrap();
    assert!(two.status.success(), "{}", text(&two.stderr));
    place.write("chats.jsonl", crate::program::chats(4).as_bytes());
    write(place, "chats.jsonl", "list.html", &[]);
    let work = write_work(place);
    let done = place
        .curtail(&["view", "chats.jsonl", "trip.jsonl", "hostile.jsonl", "work.jsonl", "-O", "pages"])
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", text(&done.stderr));
    write_replay(place);
    let all = write_index(place, &pages);
    let big = session(12);
    place.write("big.jsonl", big.as_bytes());
    write(place, "big.jsonl", "big.html", &[]);
    let contents = trip
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).unwrap()["content"].as_str().map(str::to_owned));
    let cases = json!({
        "work": work, "replay": "replay.html", "pages": pages, "chat": "trip.html", "words": "RJ 559", "all": contents.collect::<Vec<_>>(), "list": "list.html", "index": "pages/index.html", "everything": all,
        "two": {"file": "two.html", "tokens": kept["tokens"], "dropped": dropped, "hostile": "hostile-two.html"}, "policy": {"file": "policy.html", "tokens": kept["tokens"], "dropped": dropped},
        "hostile": {"file": "hostile.html", "shown": HOSTILE.iter().map(|(_, shown)| shown).collect::<Vec<_>>()},
        "big": {"file": "big.html", "messages": big.lines().count(), "words": format!("cargo test {}", big.lines().count() / 3)},
    });
    place.write("cases.json", cases.to_string().as_bytes());
}

#[test]
fn pages_work_in_a_browser() {
    let browser = match browser() {
        Ok(browser) => browser,
        Err(missing) => {
            eprintln!("\n*** SKIPPED: no page was opened in a browser: {missing} ***\n");
            assert!(
                std::env::var_os("CURTAIL_BROWSER_REQUIRED").is_none(),
                "CURTAIL_BROWSER_REQUIRED is set: {missing}"
            );
            return;
        }
    };
    let place = Place::new();
    write_cases(&place);
    let run = Command::new("node").arg(tests().join("run.mjs")).arg(browser).arg(place.path("")).output().unwrap();
    let printed = text(&run.stdout) + &text(&run.stderr);
    println!("{printed}");
    assert!(run.status.success(), "{printed}");
}
