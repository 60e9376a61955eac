//! `curtail view`: what is on its pages.

mod accounted;
#[cfg(target_os = "linux")]
mod desktop;
mod index;

use serde_json::json;

use crate::program::{Place, text};

/// A page of `input`, written with these flags.
fn page(input: &str, flags: &[&str]) -> String {
    let place = Place::new();
    let output = place.curtail(&["view"]).args(flags).write_stdin(input).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

const CHAT: &str = concat!(
    "{\"role\":\"user\",\"content\":\"When does the train leave?\"}\n",
    "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c\",\"type\":\"function\",\"function\":{\"name\":\"timetable\",\"arguments\":\"{\\\"from\\\":\\\"Graz\\\"}\"}}]}\n",
    "{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"17:58\"}\n",
    "{\"role\":\"assistant\",\"content\":\"At 17:58.\"}\n",
);

/// Checks that a page allows no script but its own, whose digest is in `file`.
fn assert_allows_only_its_script(page: &str, file: &str) {
    use base64::Engine as _;
    use sha2::Digest as _;
    let script = page.split("<script>").nth(1).and_then(|rest| rest.split("</script>").next()).unwrap();
    let digest = base64::engine::general_purpose::STANDARD.encode(sha2::Sha256::digest(script));
    let policy =
        page.split("Content-Security-Policy\" content=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    assert!(
        policy.contains(&format!("script-src 'sha256-{digest}'")),
        "crates/curtail-view/src/script/{file} must be {digest}"
    );
    assert_eq!(page.matches("<script").count(), 1);
    assert!(!page.contains("http://") && !page.contains("https://") && !page.contains("url(http"), "an address");
}

#[test]
fn a_page_allows_only_its_own_script() {
    assert_allows_only_its_script(&page(CHAT, &[]), "transcript.sha256");
    let place = Place::new();
    place.write("chat.jsonl", CHAT.as_bytes());
    place.curtail(&["view", "chat.jsonl", "-O", "pages"]).assert().success();
    assert_allows_only_its_script(&text(&place.read("pages/index.html")), "index.sha256");
}

#[test]
fn a_page_can_show_only_what_the_model_still_reads() {
    let log = include_str!("../../../fixtures/verify/session.jsonl");
    let superseded = "Never change files in vendor";
    assert!(page(log, &[]).contains(superseded));
    let live = page(log, &["--live"]);
    assert!(!live.contains(superseded) && live.contains("I will port the retries now."), "{live}");
}

#[test]
fn results_are_inside_their_calls() {
    let page = page(CHAT, &[]);
    let call =
        page.split("<details class=\"call other\">").nth(1).and_then(|rest| rest.split("</details>").next()).unwrap();
    assert!(
        call.contains("timetable") && call.contains("Graz") && call.contains("17:58") && call.contains("id=\"m2\""),
        "{call}"
    );
    assert_eq!(page.matches("<article").count(), 3, "the result is no message of its own: {page}");
}

#[test]
fn every_result_of_a_deferred_call_is_shown_with_it() {
    let page = page(include_str!("../../../fixtures/dialects/gemini/adk-compaction.json"), &[]);
    for at in 0..14 {
        assert_eq!(page.matches(&format!(" data-message=\"{at}\"")).count(), 1, "message {at}: {page}");
    }
    assert!(page.contains("pending") && page.contains("sent"), "{page}");
}

const LOG: &str = concat!(
    "{\"type\":\"session\",\"id\":\"s\",\"timestamp\":\"2026-03-12T10:00:00.000Z\",\"cwd\":\"/home/ada/kiln\"}\n",
    "{\"type\":\"message\",\"timestamp\":\"2026-03-12T10:00:01.000Z\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Glaze the **cups**.\\r\\nAll ten.\"}]}}\n",
    "{\"type\":\"message\",\"timestamp\":\"2026-03-12T10:00:04.000Z\",\"message\":{\"role\":\"assistant\",\"model\":\"claude-sonnet-4-5\",\"content\":[{\"type\":\"toolCall\",\"id\":\"a\",\"name\":\"edit\",\"arguments\":{\"path\":\"src/cups.rs\",\"oldText\":\"raw\",\"newText\":\"glazed\"}},{\"type\":\"toolCall\",\"id\":\"b\",\"name\":\"bash\",\"arguments\":{\"command\":\"kiln --fire\"}}],\"usage\":{\"input\":10000,\"output\":50,\"cacheRead\":0,\"cacheWrite\":0}}}\n",
    "{\"type\":\"message\",\"timestamp\":\"2026-03-12T10:00:05.000Z\",\"message\":{\"role\":\"toolResult\",\"toolCallId\":\"a\",\"toolName\":\"edit\",\"content\":[{\"type\":\"text\",\"text\":\"edited\"}]}}\n",
    "{\"type\":\"message\",\"timestamp\":\"2026-03-12T10:07:05.000Z\",\"message\":{\"role\":\"toolResult\",\"toolCallId\":\"b\",\"toolName\":\"bash\",\"content\":[{\"type\":\"text\",\"text\":\"\\u001b[31mhot\\u001b[0m\\u001b[2J\"}]}}\n",
    "{\"type\":\"message\",\"timestamp\":\"2026-03-12T10:09:05.000Z\",\"message\":{\"role\":\"assistant\",\"model\":\"claude-sonnet-4-5\",\"content\":[{\"type\":\"text\",\"text\":\"All ten are **glazed**.\"}],\"usage\":{\"input\":90000,\"output\":9,\"cacheRead\":0,\"cacheWrite\":0}}}\n",
);

/// The text of a page, without its tags.
fn bare(html: &str) -> String {
    html.split('<').filter_map(|tag| tag.split_once('>')).map(|(_, text)| text).collect()
}

#[test]
fn a_page_opens_with_the_story() {
    let page = page(LOG, &[]);
    let (story, chat) = page.split_once("<div class=\"chat\">").unwrap();
    let story = bare(story);
    for words in [
        "Glaze the **cups**. All ten.",
        "claude-sonnet-4-5",
        "/home/ada/kiln",
        "12 Mar 2026 10:00",
        "9 min 5 s",
        "about $0.30",
        "1 prompt",
        "2 calls: 1 edit, 1 bash",
        "changed cups.rs",
        "→ All ten are glazed.",
        "the provider's count: 2 requests, at most 90,000 tokens",
    ] {
        assert!(story.contains(words), "{words}: {story}");
    }
    for html in [
        ">Glaze the **cups**.\nAll ten.</div>",
        "</p>",
        "<del>-raw\n</del><ins>+glazed\n</ins>",
        "<span class=\"f1\">hot</span>⟨U+001B⟩[2J",
        "2 min later",
        "datetime=\"2026-03-12T10:09:05.000Z\"",
    ] {
        assert!(chat.contains(html), "{html}: {chat}");
    }
    assert!(!chat.contains("U+000D"), "CRLF is a line break");
}

/// The summary of a compaction has the role of a user, but no person asked for anything in it.
#[test]
fn the_summary_of_a_compaction_is_no_prompt() {
    let line = |uuid: &str, parent: &str, more: &str, text: &str| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"{uuid}\",\"parentUuid\":{parent},\"sessionId\":\"s\"{more},\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
        )
    };
    let log = line("a", "null", "", "Glaze the cups.")
        + &line("b", "\"a\"", ",\"isCompactSummary\":true", "The cups were glazed until now.")
        + &line("c", "\"b\"", "", "Fire them.");
    let page = page(&log, &[]);
    assert!(page.contains("2 prompts"), "{page}");
    assert!(page.contains("class=\"program kept\"") && page.matches("class=\"person").count() >= 2, "{page}");
}

#[test]
fn a_command_is_shown_as_it_was_typed() {
    let user = |uuid: &str, parent: Option<&str>, text: &str| {
        let message = json!({ "role": "user", "content": text });
        format!(
            "{}\n",
            json!({ "type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": message })
        )
    };
    let command = "<command-message>glaze</command-message>\n<command-name>/glaze</command-name>\n<command-args>ten cups</command-args>";
    let page =
        page(&(user("a", None, command) + &user("b", Some("a"), "Operation stopped by hook: the kiln is hot")), &[]);
    assert!(
        page.contains("<title>/glaze ten cups") && page.contains("<div class=\"md text\">/glaze ten cups</div>"),
        "{page}"
    );
    assert!(page.contains("1 prompt") && page.contains("class=\"program"), "a hook is no person: {page}");
}

/// SWE-agent writes actions as text, and what they printed as messages of a user.
#[test]
fn what_an_action_printed_is_no_prompt() {
    let log = [
        json!({ "role": "user", "content": "This is a demonstration.", "is_demo": true }),
        json!({ "role": "user", "content": "Glaze the cups." }),
        json!({ "role": "assistant", "content": "I look.", "action": "ls" }),
        json!({ "role": "user", "content": "cups.rs" }),
        json!({ "role": "assistant", "content": "Done.", "action": "submit" }),
    ];
    let page = page(&log.map(|record| format!("{record}\n")).concat(), &[]);
    assert!(page.contains("<title>Glaze the cups.") && page.contains("Prompt 1 of 1"), "{page}");
    let writers: Vec<&str> = page.split(" data-by=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert_eq!(writers, ["program", "person", "model", "tool", "model"], "{page}");
}

/// `action` and `is_demo` are keys of SWE-agent, whose logs are those of OpenAI.
#[test]
fn keys_of_another_format_say_nothing_of_the_writer() {
    let log = [
        json!({ "role": "user", "content": "Glaze the cups.", "is_demo": true }),
        json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": "a", "name": "kiln", "input": {} }] }),
        json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "a", "content": "hot" }] }),
        json!({ "role": "assistant", "content": "Done.", "action": "offer" }),
        json!({ "role": "user", "content": "Thank you." }),
    ];
    let page = page(&log.map(|record| format!("{record}\n")).concat(), &["--dialect", "anthropic"]);
    assert!(page.contains("Prompt 2 of 2"), "{page}");
}

/// Claude Code writes a line for each block of a reply, and repeats what its request cost.
#[test]
fn a_request_costs_once_what_its_lines_repeat() {
    let line = |nth: u8, request: u8, cost: f64, block: &str| {
        format!(
            "{{\"type\":\"assistant\",\"uuid\":\"u{nth}\",\"parentUuid\":\"u{}\",\"requestId\":\"r{request}\",\"costUSD\":{cost},\"message\":{{\"id\":\"m{request}\",\"role\":\"assistant\",\"content\":[{block}]}}}}\n",
            nth - 1
        )
    };
    let log = [
        String::from(
            "{\"type\":\"user\",\"uuid\":\"u0\",\"parentUuid\":null,\"message\":{\"role\":\"user\",\"content\":\"Look.\"}}\n",
        ),
        line(1, 1, 0.25, r#"{"type":"text","text":"I look."}"#),
        line(2, 1, 0.5, r#"{"type":"text","text":"Here."}"#),
        line(3, 2, 0.25, r#"{"type":"text","text":"Done."}"#),
    ];
    assert!(page(&log.concat(), &[]).contains("<b>$0.75"));
}

#[test]
fn a_log_without_times_shows_none() {
    let page = page(CHAT, &[]);
    assert!(!page.contains("<time") && !page.contains("data-fact=\"cost\"") && !page.contains(" later</p>"));
}

/// A line of a log of pi.
fn pi_message(role: &str, text: &str) -> String {
    let content = serde_json::json!([{"type": "text", "text": text}]);
    let message = serde_json::json!({"role": role, "content": content, "api": "x"});
    serde_json::json!({"type": "message", "id": text, "message": message}).to_string() + "\n"
}

/// What a compaction had removed before is not an effect of the policy.
#[test]
fn the_effect_of_a_policy_is_that_on_what_is_read() {
    let compaction = "{\"type\":\"compaction\",\"id\":\"c\",\"summary\":\"short\",\"tokensBefore\":9}\n".to_owned();
    let log = [
        pi_message("user", &"old ".repeat(500)),
        pi_message("assistant", "two"),
        compaction,
        pi_message("user", "five"),
        pi_message("assistant", "six"),
    ]
    .concat();
    let page = page(&log, &["--policy", "filter -x nothing"]);
    let outcome =
        bare(page.split("class=\"outcome\"").nth(1).and_then(|rest| rest.split("</section>").next()).unwrap());
    assert!(outcome.contains("(100 %) of what the model still reads"), "{outcome}");
    assert!(outcome.contains("had already removed 2 messages with 502 tokens"), "{outcome}");
}

/// The words of the element of class `class` that the page has first.
fn words_of(page: &str, class: &str) -> String {
    let element = page.split_once(&format!("<p class=\"{class}\">")).unwrap().1;
    bare(&format!("<p>{}", element.split_once("</p>").unwrap().0))
}

/// The page of two files.
fn versus(one: &str, other: &str) -> String {
    let place = Place::new();
    place.write("one.jsonl", one.as_bytes());
    place.write("other.jsonl", other.as_bytes());
    let done = place.curtail(&["view", "one.jsonl", "other.jsonl"]).output().unwrap();
    assert!(done.status.success(), "{}", text(&done.stderr));
    text(&done.stdout)
}

/// A page of before and after a cut says of its messages and tokens what `--policy` says.
#[test]
fn before_and_after_a_cut_say_the_same_as_a_policy() {
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let read = |name: &str| std::fs::read_to_string(fixtures.join(name)).unwrap();
    let cases = [
        ("filter", ["filter", "-x", "debug_*"].as_slice(), read("trip.jsonl")),
        ("window", &["window", "-n", "1"], read("trip.jsonl")),
        ("limit", &["limit", "-t", "120"], read("trip.jsonl")),
        ("limit", &["limit", "-t", "40k"], LOG.to_owned()),
        ("filter", &["filter", "-x", "bash"], LOG.to_owned()),
        // The totals are those of what the model still reads.
        ("filter", &["filter", "-x", "Read"], read("dialects/claude-code/compaction.jsonl")),
    ];
    for (name, command, before) in cases {
        let place = Place::new();
        let cut = place.curtail(command).write_stdin(before.clone()).output().unwrap();
        assert!(cut.status.success(), "{name}: {}", text(&cut.stderr));
        let policy = page(&before, &["--policy", &command.join(" ").replace("debug_*", "'debug_*'")]);
        let two = versus(&before, &text(&cut.stdout));
        assert_eq!(words_of(&two, "change"), words_of(&policy, "change"), "{command:?}");
        let states = words_of(&two, "states").replace(" only in the first", " dropped").replace(" in both", " kept");
        let states = states.replace(" 0 only in the second", "").replace(" only in the second", " added");
        assert_eq!(states, words_of(&policy, "states"), "{command:?}");
    }
}

#[test]
fn two_transcripts_are_aligned() {
    let ask = CHAT.lines().next().unwrap();
    let other =
        format!("{}\n{{\"role\":\"assistant\",\"content\":\"I <b>do</b> not know.\"}}\n", ask.replace(':', ": "));
    let page = versus(CHAT, &other);
    let section = page.split_once("<section class=\"outcome versus\"").unwrap().1.split_once("</section>").unwrap().0;
    for words in [
        "4 → 2 messages: 1 in both 0 changed 3 only in the first 1 only in the second",
        "Both begin with the same 1 message, 6 tokens (0 byte for byte, the others in text and tools).",
        "Then come model 1 of the first and model 1 of the second.",
        "tool 2 timetable: 17:58",
        "I &lt;b&gt;do&lt;/b&gt; not know.",
    ] {
        assert!(bare(section).contains(words), "{words}: {}", bare(section));
    }
    assert_eq!(section.matches("<path class=\"o").count(), 2, "a curve for each: {section}");
    // What each has alone is marked in its conversation.
    assert!(section.contains(":is(#t0-1-0-m1,#t0-1-0-m2,#t0-1-0-m3,#t1-1-0-m1){"), "{section}");
    assert!(bare(&versus(CHAT, CHAT)).contains("Both begin with the same 4 messages, "));
    assert!(bare(&versus(CHAT, CHAT)).contains("They do not differ."));
    assert!(bare(&versus(CHAT, LOG)).contains("They differ from the first message on."));
    // One transcript has nothing to be compared with.
    assert!(!self::page(CHAT, &[]).contains("versus\""));
}

#[test]
fn turns_are_those_of_count() {
    let system = "{\"role\":\"system\",\"content\":\"Times are local.\"}\n";
    for (input, turns) in [(CHAT.to_owned(), 1), (format!("{system}{CHAT}"), 1), (system.to_owned(), 0)] {
        let page = page(&input, &[]);
        assert_eq!(page.matches("<h2 class=\"turn\">").count(), turns, "{page}");
        let place = Place::new();
        let [text_page, counts] = [&["view", "--text"][..], &["count", "--output-format", "csv"]]
            .map(|words| text(&place.curtail(words).write_stdin(input.as_str()).output().unwrap().stdout));
        assert!(text_page.contains(&format!(" · {turns} turn")), "{text_page}");
        assert!(counts.contains(&format!("\nstdin,1,{turns},")), "{counts}");
    }
}

#[test]
fn a_policy_shows_reasons_and_both_totals() {
    let page = page(CHAT, &["--policy", "filter -x 'time*' | limit -t 100"]);
    assert!(page.contains("filter -x 'time*' | limit -t 100"));
    assert_eq!(page.matches("data-state=\"dropped\"").count(), 2, "the call and its result: {page}");
    assert!(page.contains("dropped by filter: "), "{page}");
}

/// A folder that is there and cannot be read is not the same as none.
#[cfg(unix)]
#[test]
fn sub_agents_that_cannot_be_read_are_reported() {
    let place = Place::new();
    place.write("work.jsonl", include_bytes!("../../../fixtures/dialects/claude-code/compaction.jsonl"));
    place.write("work/subagents.txt", b"no folder of sub-agents");
    let view = || text(&place.curtail(&["view", "work.jsonl", "-o", "page.html", "--force"]).output().unwrap().stderr);
    assert!(!view().contains("on the page"), "{}", view());
    std::os::unix::fs::symlink("subagents", place.path("work/subagents")).unwrap();
    assert!(
        view().contains("work/subagents: too many levels of symbolic links; its sub-agents are not on the page"),
        "{}",
        view()
    );
}

/// What is wrong with the log of a sub-agent is no fault of its session.
#[test]
fn a_sub_agent_that_cannot_be_read_is_missing_on_the_page() {
    let asked = include_str!("../../../fixtures/dialects/claude-code/minimal.jsonl").lines().nth(1).unwrap();
    for log in ["killed\n", "{\"a\":1}\n", asked] {
        let place = Place::new();
        place.write("work.jsonl", include_bytes!("../../../fixtures/dialects/claude-code/compaction.jsonl"));
        place.write("work/subagents/one.jsonl", log.as_bytes());
        let words = ["view", "work.jsonl", "--tokenizer", "usage", "-o", "page.html"];
        let output = place.curtail(&words).output().unwrap();
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{log}: {errors}");
        assert!(
            errors.contains("one.jsonl: ") && errors.contains("this sub-agent is not on the page"),
            "{log}: {errors}"
        );
    }
}

/// A key in the log of a sub-agent is on the page of its session.
#[test]
fn keys_of_sub_agents_are_warned_of() {
    let place = Place::new();
    let log = include_str!("../../../fixtures/dialects/claude-code/minimal.jsonl");
    let key = "ghp_Zk3vQ9xLr7Tn2WbY5uHdZk3vQ9xLr7Tn2WbY";
    let said = log.split("\"text\":\"").nth(1).unwrap().split('"').next().unwrap();
    place.write("work.jsonl", log.as_bytes());
    place.write("work/subagents/one.jsonl", log.replacen(said, key, 1).as_bytes());
    let page = text(&place.curtail(&["view", "work.jsonl"]).output().unwrap().stdout);
    let warning = bare(page.split("class=\"warning\"").nth(1).unwrap().split("</aside>").next().unwrap());
    assert!(
        warning.contains("1 string that looks like a key (GitHub token in message ")
            && warning.contains(" of a sub-agent)"),
        "{warning}"
    );
    let masked = text(&place.curtail(&["view", "work.jsonl", "--mask"]).output().unwrap().stdout);
    assert!(!masked.contains("class=\"warning\"") && !masked.contains(key));
}

/// Some logs lack calls that were made.
#[test]
fn a_result_without_a_call_is_marked_only_where_check_reports_it() {
    let fixture = include_str!("../../../fixtures/dialects/antigravity/parallel.jsonl");
    assert!(page(fixture, &[]).contains("<span>result without a call</span>"));
    let orphan = CHAT.lines().filter(|line| !line.contains("tool_calls")).collect::<Vec<_>>().join("\n");
    assert!(page(&orphan, &[]).contains("<span class=\"missing\">result without a call</span>"));
}

#[test]
fn a_hyphen_is_standard_output() {
    let place = Place::new();
    place.write("chat.jsonl", CHAT.as_bytes());
    let [named, unnamed] = [&["view", "chat.jsonl", "-o", "-"][..], &["view", "chat.jsonl"]]
        .map(|flags| place.curtail(flags).output().unwrap().stdout);
    assert!(named == unnamed && !named.is_empty());
    assert_eq!(place.list(), ["chat.jsonl"]);
}

#[test]
fn errors_say_what_to_do() {
    let place = Place::new();
    place.write("chat.jsonl", CHAT.as_bytes());
    place.write("page.html", b"mine");
    place.write("sends.toml", b"[[history.processors]]\ntype = \"summarize\"\nsummarizer = \"openai\"\n");
    place.write("runs.toml", b"[[history.processors]]\ntype = \"summarize\"\nsummarizer-cmd = \"wc\"\n");
    for (flags, words) in [
        (&["view", "--policy", "limt -t 8k", "chat.jsonl"][..], "did you mean `limit`"),
        (&["view", "--policy", "limit -t", "chat.jsonl"], "--policy `limit -t`"),
        (&["view", "chat.jsonl", "-o", "page.html"], "page.html: the output exists already; --force overwrites it"),
        (&["view", "none.jsonl"], "none.jsonl"),
        (&["view", "--policy", "summarize --summarizer openai", "chat.jsonl"], "a view sends nothing"),
        (
            &["view", "--policy", "summarize --summarizer-cmd wc", "chat.jsonl"],
            "a view sends nothing and runs no program",
        ),
        (&["view", "-c", "runs.toml", "chat.jsonl"], "runs.toml:1: a view sends nothing and runs no program"),
        (&["view", "--policy", "filter -x a | memory", "chat.jsonl"], "there is no policy `memory`"),
        (&["view", "--policy", "limit -t 8k |", "chat.jsonl"], "a command is missing"),
        (&["view", "--policy", "limit -t '8k", "chat.jsonl"], "a quotation mark is not closed"),
        (&["view", "--policy", "limit -t 8k", "-c", "x.toml", "chat.jsonl"], "cannot be used with"),
        (&["view", "-c", "sends.toml", "chat.jsonl"], "a view sends nothing"),
    ] {
        let output = place.curtail(flags).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{flags:?}");
        assert!(text(&output.stderr).contains(words), "{flags:?}: {}", text(&output.stderr));
    }
    assert_eq!(place.read("page.html"), b"mine");
}

/// A compaction that a later request made does not apply to the requests before it.
#[test]
fn a_policy_is_drawn_as_it_was_before_a_later_boundary() {
    let long = "word ".repeat(50);
    let log = [
        pi_message("user", &format!("{long}one")),
        pi_message("assistant", "two"),
        pi_message("user", &format!("{long}three")),
        pi_message("assistant", "four"),
        "{\"type\":\"compaction\",\"id\":\"c\",\"summary\":\"short\",\"tokensBefore\":9}\n".to_owned(),
        pi_message("user", "five"),
        pi_message("assistant", "six"),
    ]
    .concat();
    let page = page(&log, &["--policy", "limit -t 70"]);
    let curve = page.split("class=\"policy\" d=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let heights: Vec<usize> =
        curve.split(['M', 'V', ' ']).skip(2).map(|part| part.split('H').next().unwrap().parse().unwrap()).collect();
    // The second request keeps the newest question: as many tokens as the first, not none.
    assert!(heights[1].abs_diff(heights[0]) < 10 && heights[2] > heights[1] + 50, "{curve}: {heights:?}");
}

#[test]
fn results_have_the_color_of_tools_whoever_sends_them() {
    let log = concat!(
        "{\"role\":\"user\",\"content\":\"Look.\"}\n",
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"ls\",\"input\":{}}]}\n",
        "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"a.txt\"}]}\n",
    );
    let page = page(log, &[]);
    assert!(
        page.contains("<rect class=\"tool ")
            && page.contains("data-by=\"model\ntool\"")
            && !page.contains("data-by=\"person\ntool\""),
        "{page}"
    );
}

#[test]
fn a_replay_is_a_page_without_script() {
    let place = Place::new();
    let hostile = CHAT.replace("At 17:58.", "</td><script>window.sentinel=1</script>");
    place.write("<b>chat.jsonl", hostile.as_bytes());
    let flags = ["replay", "<b>chat.jsonl", "--price", "gpt-4o", "--output-format", "html", "-p", "keep-40"];
    let done = place.curtail(&flags).args(["--sweep", "limit -t {25,1000}"]).output().unwrap();
    assert!(done.status.success(), "{}", text(&done.stderr));
    let page = text(&done.stdout);
    assert!(page.contains("&lt;b&gt;chat.jsonl") && !page.contains("<b>chat") && !page.contains("<script"), "{page}");
    assert!(page.contains("default-src 'none'; style-src 'unsafe-inline'; img-src data:"), "no script is allowed");
    // A curve for each policy, a row for each in both tables, and what the numbers mean.
    assert_eq!(page.matches("<path class=\"c").count(), 4);
    assert_eq!(page.matches("<th scope=\"row\">").count(), 8);
    for words in [
        "class=\"dot c0\"",
        "kept references",
        "files read again",
        "What the columns mean",
        "limit -t 25 *",
        "accuracy: ",
        "cost: an estimate",
        "of the sweep, none costs less",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
}

#[test]
fn records_are_listed_and_each_can_have_a_page() {
    let place = Place::new();
    place.write("data/chats.jsonl", crate::program::chats(3).as_bytes());
    let one = place.curtail(&["view", "data"]).output().unwrap();
    let one = text(&one.stdout);
    assert_eq!(one.matches("<section class=\"session\"").count(), 3);
    assert!(one.contains("chats.jsonl:2</span>"), "{one}");
    assert!(place.curtail(&["view", "data", "-O", "pages"]).output().unwrap().status.success());
    let index = text(&place.read("pages/index.html"));
    for name in ["chats.jsonl-1.html", "chats.jsonl-2.html", "chats.jsonl-3.html"] {
        assert!(index.contains(&format!("href=\"./{name}\"")), "{index}");
        assert!(text(&place.read(&format!("pages/{name}"))).contains("id=\"m0\""));
    }
}

/// What exists is refused before a page is written.
#[test]
fn pages_are_all_written_or_none() {
    let place = Place::new();
    place.write("logs/b.jsonl", CHAT.as_bytes());
    assert!(place.curtail(&["view", "logs", "-O", "pages"]).output().unwrap().status.success());
    place.write("logs/a.jsonl", CHAT.as_bytes());
    let run = place.curtail(&["view", "logs", "-O", "pages"]).output().unwrap();
    assert!(run.status.code() == Some(2) && text(&run.stderr).contains("exists already"), "{}", text(&run.stderr));
    assert!(!place.path("pages/a.jsonl.html").exists());
    assert!(place.curtail(&["view", "logs", "-O", "pages", "--force"]).output().unwrap().status.success());
    assert!(text(&place.read("pages/index.html")).contains("a.jsonl.html"));
}

/// The list of transcripts shows what each is about.
#[test]
fn an_index_has_a_row_for_each_session() {
    let place = Place::new();
    place.write("logs/kiln.jsonl", LOG.as_bytes());
    place.write("logs/<i>chat.jsonl", CHAT.replace("When does", "<b>When</b> does").as_bytes());
    assert!(place.curtail(&["view", "logs", "-O", "pages"]).output().unwrap().status.success());
    let index = text(&place.read("pages/index.html"));
    let rows = bare(index.split("<tbody").nth(1).unwrap());
    for words in
        ["Glaze the **cups**. All ten.", "pi", "kiln", "12 Mar 2026", "$0.30", "&lt;b&gt;When", "&lt;i&gt;chat.jsonl"]
    {
        assert!(rows.contains(words), "{words}: {rows}");
    }
    assert!(index.contains("data-column=\"cost\" data-value=\"0.3") && !index.contains("<b>When"), "{index}");
}

/// The newest session comes first; those without a time come last.
#[test]
fn an_index_begins_with_the_newest_session() {
    let place = Place::new();
    place.write("logs/a.jsonl", CHAT.as_bytes());
    place.write("logs/b.jsonl", LOG.as_bytes());
    place.write("logs/c.jsonl", LOG.replace("2026-03-12", "2026-03-14").as_bytes());
    assert!(place.curtail(&["view", "logs", "-O", "pages"]).output().unwrap().status.success());
    let index = text(&place.read("pages/index.html"));
    let links: Vec<&str> = index.split("href=\"./").skip(1).map(|link| link.split('"').next().unwrap()).collect();
    assert_eq!(links, ["c.jsonl.html", "b.jsonl.html", "a.jsonl.html"]);
}

/// Of a message that has a text, parts without text are not shown; a part that is not known is folded, and can be searched.
#[test]
fn parts_without_text_are_left_out_and_unknown_ones_are_folded() {
    let step = r#"{"info":{"id":"ses_1"},"messages":[{"info":{"id":"msg_1","role":"user"},"parts":[{"id":"prt_1","type":"text","text":"Glaze"}]},{"info":{"id":"msg_2","role":"assistant"},"parts":[{"id":"prt_2","type":"step-start"},{"id":"prt_3","type":"text","text":"Done."},{"id":"prt_4","type":"step-finish","reason":"stop"}]}]}"#;
    assert!(!page(step, &["--dialect", "opencode"]).contains("Other content"));
    let alone = step.replace(r#",{"id":"prt_3","type":"text","text":"Done."}"#, "");
    assert_eq!(page(&alone, &["--dialect", "opencode"]).matches("Other content").count(), 2);
}

#[test]
fn long_texts_are_cut_with_their_place_and_the_page_stays_small() {
    let long = format!("{{\"role\":\"user\",\"content\":\"{}\"}}\n", "word \\\"<&> ".repeat(20_000));
    let whole = page(&long, &["--max-text", "1m"]);
    let cut = page(&long, &[]);
    assert!(cut.contains("180,000 more characters are not on this page"), "{}", &cut[cut.len() - 20_000..]);
    assert!(cut.len() < 140_000 && whole.len() > 200_000, "{} {}", cut.len(), whole.len());
    let plain = format!("{{\"role\":\"user\",\"content\":\"{}\"}}\n", "a word \\\"and\\\" ".repeat(20_000));
    assert!(page(&plain, &["--max-text", "1m"]).len() < plain.len() * 13 / 10);
}

#[test]
fn text_for_a_terminal_is_folded_and_obeys_nothing() {
    let place = Place::new();
    let long = format!(
        "{{\"role\":\"user\",\"content\":\"\\u001b[31mred\\u202e\"}}\n{}",
        CHAT.replace("\"17:58\"", &format!("\"{}\"", "line\\n".repeat(30)))
    );
    let shown = |flags: &[&str]| {
        let output = place.curtail(flags).write_stdin(long.as_str()).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let folded = shown(&["view", "--text"]);
    assert!(folded.contains("⟨U+001B⟩[31mred⟨U+202E⟩") && !folded.contains('\u{1b}'), "{folded}");
    assert!(folded.contains("26 more lines (--full)") && folded.matches("  line\n").count() == 4, "{folded}");
    assert_eq!(shown(&["view", "--text", "--full"]).matches("  line\n").count(), 30);
    assert!(shown(&["view", "--text", "--color", "always"]).contains('\u{1b}'));
    assert!(shown(&["view", "--text", "--policy", "window -n 1"]).contains("[dropped: "));
}

/// A bar by tool shows as kept what a policy leaves of a result that it clears, as the bar by writer does.
#[test]
fn a_cleared_result_is_cut_from_the_bar_of_its_tool() {
    let long = CHAT.replace("\"17:58\"", &format!("\"{}\"", "17:58 ".repeat(500)));
    let cleared = page(&long, &["--policy", "filter --clear-tool timetable --keep-last-results 0"]);
    let bars = cleared.split("data-name=\"timetable\"").skip(1).map(|rest| rest.split("</li>").next().unwrap());
    let cut: Vec<bool> = bars.map(|bar| bar.contains("class=\"cut\"")).collect();
    assert!(!cut.is_empty() && cut.iter().all(|cut| *cut), "{cleared}");
}

/// Also those lines that `--full` alone would not print.
#[test]
fn all_lines_of_a_long_text_are_counted() {
    let place = Place::new();
    let long = CHAT.replace("\"17:58\"", &format!("\"{}\"", "line\\n".repeat(10_000)));
    let shown = |flags: &[&str]| text(&place.curtail(flags).write_stdin(long.as_str()).output().unwrap().stdout);
    let folded = shown(&["view", "--text", "--max-text", "70"]);
    assert!(folded.contains("… 9,996 more lines (--full)") && !folded.contains("--max-text"), "{folded}");
    let few = shown(&["view", "--text", "--max-text", "7"]);
    assert!(few.contains("… 49,993 more characters (--max-text)") && !few.contains("--full"), "{few}");
}

/// A result of one long line would fill many screens.
#[test]
fn a_long_line_for_a_terminal_is_folded() {
    let place = Place::new();
    let long = CHAT.replace("\"17:58\"", &format!("\"{}\"", "ä".repeat(5_000)));
    let shown = |flags: &[&str]| text(&place.curtail(flags).write_stdin(long.as_str()).output().unwrap().stdout);
    let folded = shown(&["view", "--text"]);
    assert!(folded.contains("… 4,000 more characters (--full)") && folded.matches('ä').count() == 1_000, "{folded}");
    assert_eq!(shown(&["view", "--text", "--full"]).matches('ä').count(), 5_000);
}

/// What a policy puts in place of the arguments of a call is shown below it.
#[test]
fn cleared_arguments_are_shown_as_they_became() {
    let call = CHAT.replace("Graz", "Graz, the station behind the river, from any platform that has a lift");
    // A shorter result than its placeholder is not cleared, and neither is its call.
    let call = call.replace("\"17:58\"", "\"17:58 from platform 4, with a change at the junction behind the bridge\"");
    let flags = ["--policy", "filter --keep-last-results 0 --clear-inputs"];
    let shown = page(&call, &flags);
    assert!(shown.contains("<p class=\"quiet\">changed to</p><pre>{}</pre>"), "{shown}");
}

#[test]
fn a_failed_call_is_open_and_says_so() {
    let place = Place::new();
    let call = json!({"type": "tool_use", "id": "t", "name": "Edit",
        "input": {"file_path": "/r/tide.ts", "old_string": "tide", "new_string": "level"}});
    let block = json!({"type": "tool_result", "tool_use_id": "t", "is_error": true, "content": "tide.ts: read-only"});
    let lines = [
        json!({"role": "user", "content": "Rename tide to level."}),
        json!({"role": "assistant", "content": [call]}),
        json!({"role": "user", "content": [block]}),
        json!({"role": "assistant", "content": "Nothing was changed."}),
    ];
    let chat = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    place.write("chat.jsonl", chat.as_bytes());
    let run = place.curtail(&["view", "chat.jsonl", "-o", "-"]).output().unwrap();
    let page = text(&run.stdout);
    assert!(page.contains(r#"<details class="call edit failed" open>"#), "{page}");
    assert!(page.contains("1 failed") && !page.contains("changed <code"), "the list of prompts says so");
}

#[test]
fn a_page_of_nothing_is_not_written_and_said() {
    let place = Place::new();
    place.write("empty.jsonl", b"");
    for flags in [&["-o", "out.html"][..], &["-O", "out"]] {
        let output = place.curtail(&["view", "empty.jsonl"]).args(flags).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let expected = format!("curtail: {}: not written, because the input contains no transcript\n", flags[1]);
        assert_eq!(text(&output.stderr), expected);
    }
    let output = place.curtail(&["view", "empty.jsonl", "--text"]).output().unwrap();
    assert!(output.status.success() && text(&output.stderr).contains("no transcript"), "{}", text(&output.stderr));
}

#[cfg(unix)]
#[test]
fn a_page_for_a_device_overwrites_nothing() {
    let place = Place::new();
    let output = place.curtail(&["view", "-o", "/dev/null"]).write_stdin(CHAT).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
}
