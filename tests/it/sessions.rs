//! `curtail sessions`, and the names of sessions wherever a path is taken.

use std::process::Output;
use std::time::{Duration, SystemTime};

use crate::program::{Place, text};

/// What the first record of a log of Codex says before its folder, if another session started it.
const STARTED: &str = "\"source\":{\"subagent\":{\"thread_spawn\":{\"parent_thread_id\":\"c\",\"depth\":1}}},\"cwd\"";
const REVIEWED: &str = "\"source\":{\"subagent\":\"review\"},\"cwd\"";

/// A machine with sessions of two agents, the oldest first.
fn machine() -> Place {
    let place = Place::new();
    let claude = |prompt: &str, folder: &str| {
        format!(
            "{{\"type\":\"summary\",\"summary\":\"s\",\"leafUuid\":\"x\"}}\n{{\"type\":\"user\",\"uuid\":\"u\",\"parentUuid\":null,\"sessionId\":\"s\",\"cwd\":\"{folder}\",\"timestamp\":\"2026-01-01T10:00:00Z\",\"message\":{{\"role\":\"user\",\"content\":\"{prompt}\"}}}}\n"
        )
    };
    let codex = "{\"timestamp\":\"2026-01-01T10:00:00Z\",\"type\":\"session_meta\",\"payload\":{\"id\":\"c\",\"cwd\":\"/work/mill\"}}\n{\"timestamp\":\"2026-01-01T10:00:01Z\",\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"<environment_context>\\n<cwd>/work/mill</cwd>\\n</environment_context>\"}]}}\n{\"timestamp\":\"2026-01-01T10:00:02Z\",\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"Grind the rye.\"}]}}\n";
    let files = [
        (".claude/projects/-work-kiln/1.jsonl", claude("Fire the\\n\\u001b[31mkiln.", "/work/kiln"), 300),
        (".codex/sessions/2026/01/01/rollout-1.jsonl", codex.to_owned(), 200),
        (".claude/projects/-work-kiln/2.jsonl", claude("Glaze the cups.", "/work/kiln/cups"), 100),
        // None of these is a session of its own.
        (".claude/projects/-work-kiln/2/subagents/agent-9.jsonl", claude("Look.", "/work/kiln"), 0),
        (".claude/projects/-work-kiln/agent-8.jsonl", claude("Look.", "/work/kiln"), 0),
        (".claude/settings.jsonl", claude("Look.", "/work/kiln"), 0),
        (".codex/sessions/notes.jsonl", codex.to_owned(), 0),
        (".codex/sessions/2026/01/01/rollout-2.jsonl", codex.replace("\"cwd\"", STARTED), 0),
        (".codex/sessions/2026/01/01/rollout-3.jsonl", codex.replace("\"cwd\"", REVIEWED), 0),
        (".kimi-code/sessions/w/s/agents/agent-0/wire.jsonl", codex.to_owned(), 0),
        (".factory/sessions/w/1.jsonl", "{\"type\":\"session_start\",\"callingSessionId\":\"s\"}\n".to_owned(), 0),
        (".grok/sessions/w/s/chat_history.jsonl", "{\"type\":\"user\",\"content\":\"Look.\"}\n".to_owned(), 0),
        (".grok/sessions/w/s/summary.json", "{\"session_kind\":\"subagent\"}".to_owned(), 0),
    ];
    for (name, content, age) in files {
        place.write(&format!("home/{name}"), content.as_bytes());
        let file = std::fs::File::options().append(true).open(place.path(&format!("home/{name}"))).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age * 3_600)).unwrap();
    }
    place
}

fn run(place: &Place, words: &[&str]) -> Output {
    place.curtail(words).env("HOME", place.path("home")).output().unwrap()
}

fn printed(place: &Place, words: &[&str]) -> String {
    let output = run(place, words);
    assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn sessions_are_listed_newest_first() {
    let place = machine();
    let json: serde_json::Value =
        serde_json::from_str(&printed(&place, &["sessions", "--format", "json", "--tokens"])).unwrap();
    let values =
        |key: &str| json["sessions"].as_array().unwrap().iter().map(|one| one[key].clone()).collect::<Vec<_>>();
    assert_eq!(values("name"), ["@claude", "@codex", "@claude:2"]);
    assert_eq!(values("project"), ["/work/kiln/cups", "/work/mill", "/work/kiln"]);
    assert_eq!(values("prompt"), ["Glaze the cups.", "Grind the rye.", "Fire the \u{1b}[31mkiln."]);
    assert_eq!(values("messages"), [1, 2, 1]);
    assert!(values("tokens").iter().all(|tokens| tokens.as_u64() > Some(0)), "{json}");
    let table = printed(&place, &["sessions"]);
    assert!(table.contains("Fire the ⟨U+001B⟩[31mkiln.") && !table.contains('\u{1b}'), "{table}");
    assert!(
        table.lines().nth(1).is_some_and(|line| line.starts_with("@claude  ") && line.contains("4 d ago")),
        "{table}"
    );
}

#[test]
fn a_pipe_gets_whole_prompts() {
    let place = machine();
    let prompt = "Fire the kiln slowly, and note its heat every quarter of an hour. ".repeat(4);
    let folder = "a-workshop-with-a-very-long-name-indeed";
    let line = serde_json::json!({"type": "user", "uuid": "u", "sessionId": "s", "cwd": format!("/work/{folder}"),
        "message": {"role": "user", "content": prompt}});
    place.write("home/.claude/projects/w/long.jsonl", format!("{line}\n").as_bytes());
    let table = printed(&place, &["sessions"]);
    assert!(table.contains(prompt.trim()) && table.contains(folder), "{table}");
}

/// What is sound of a damaged session is listed and counted, and the rest is named.
#[test]
fn damaged_sessions_are_listed() {
    let place = machine();
    let said = r#""uuid":"u","parentUuid":null,"sessionId":"s","cwd":"/work/kiln","message":{"role":"user","content":"Mix clay."}}"#;
    place.write("home/.claude/projects/-work-kiln/4.jsonl", b"nonsense\n");
    let all = run(&place, &["sessions", "-n", "0"]);
    assert!(!text(&all.stderr).contains("lists all"), "{}", text(&all.stderr));
    let damaged = format!("{{\"type\":\"user\",\"uu{{\"type\":\"user\",{said}\n\0\0\n");
    place.write("home/.claude/projects/-work-kiln/3.jsonl", damaged.as_bytes());
    let output = run(&place, &["sessions", "--agent", "claude", "-n", "1", "--format", "json", "--tokens"]);
    let json: serde_json::Value = serde_json::from_str(&text(&output.stdout)).unwrap();
    let listed = &json["sessions"][0];
    assert_eq!((&listed["prompt"], &listed["messages"]), (&"Mix clay.".into(), &1.into()), "{json}");
    let errors = text(&output.stderr);
    assert!(
        errors.contains("3.jsonl:1:1: 18 bytes left out") && errors.contains("3.jsonl:2:1: 2 NUL bytes"),
        "{errors}"
    );
}

#[test]
fn a_list_is_narrowed_and_sorted() {
    let place = machine();
    for (flags, names) in [
        (&["--agent", "claude"][..], &["@claude", "@claude:2"][..]),
        (&["--agent", "codex", "--agent", "Claude"], &["@claude", "@codex", "@claude:2"]),
        (&["--project", "/work/kiln"], &["@claude", "@claude:2"]),
        (&["--project", "/work/kil"], &[]),
        (&["--since", "9d"], &["@claude", "@codex"]),
        (&["-n", "1"], &["@claude"]),
        (&["--sort", "size", "-n", "1"], &["@codex"]),
        (&["--sort", "tokens", "-n", "1"], &["@codex"]),
    ] {
        let words: Vec<&str> = ["sessions", "--format", "json"].iter().chain(flags).copied().collect();
        let json: serde_json::Value = serde_json::from_str(&printed(&place, &words)).unwrap();
        let listed: Vec<&str> =
            json["sessions"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
        assert_eq!(listed, names, "{flags:?}");
    }
    let paths = printed(&place, &["sessions", "--format", "paths0", "--agent", "claude"]);
    assert_eq!(paths.split_terminator('\0').filter(|path| std::path::Path::new(path).is_file()).count(), 2);
    let output = run(&place, &["sessions", "--agent", "clade"]);
    assert!(!output.status.success() && text(&output.stderr).contains("claude"), "{}", text(&output.stderr));
}

/// The name of a file need not be text.
#[cfg(target_os = "linux")]
#[test]
fn paths_are_listed_byte_for_byte() {
    use std::os::unix::ffi::OsStrExt as _;
    let place = machine();
    let home = place.path("").join(std::ffi::OsStr::from_bytes(b"h\xff"));
    std::fs::rename(place.path("home"), &home).unwrap();
    for (format, end) in [("paths", b'\n'), ("paths0", b'\0')] {
        let mut command = place.curtail(&["sessions", "--agent", "codex", "--output-format", format]);
        let output = command.env("HOME", &home).output().unwrap();
        let mut expected =
            home.join(".codex/sessions/2026/01/01/rollout-1.jsonl").into_os_string().into_encoded_bytes();
        expected.push(end);
        assert_eq!(output.stdout, expected, "{}", text(&output.stderr));
    }
}

#[test]
fn a_session_is_named_wherever_a_path_is_taken() {
    let place = machine();
    for (name, words) in [
        ("@last", "Glaze"),
        ("@claude:2", "Fire"),
        ("@codex", "Grind"),
        ("@last:2", "Grind"),
        ("@claude-code", "Glaze"),
    ] {
        assert!(printed(&place, &["view", "--text", name]).contains(words), "{name}");
    }
    assert!(printed(&place, &["count", "--output-format", "csv", "@codex", "@claude"]).contains("rollout-1.jsonl"));
    assert!(printed(&place, &["limit", "-t", "100k", "@claude"]).contains("Glaze"));
    // A file with such a name is a file.
    place.write("@last", b"{\"role\":\"user\",\"content\":\"Here.\"}\n");
    assert!(printed(&place, &["view", "--text", "@last"]).contains("Here."));
    for (name, words) in [
        ("@claud", "there is no agent `claud`"),
        ("@claude:9", "there are only 2 sessions of Claude Code"),
        ("@codex:2", "there is only 1 session of Codex"),
        ("@pi", "no session of pi was found"),
        ("@codex:0", "a number from 1 on"),
        ("@opencode", "no session of OpenCode was found"),
        ("@agy", "protobuf"),
    ] {
        let output = run(&place, &["count", name]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(words), "{name}: {}", text(&output.stderr));
    }
}

#[test]
fn a_variable_moves_the_folder_of_an_agent() {
    let place = machine();
    let mut command = place.curtail(&["sessions", "--format", "paths"]);
    let moved = place.path("home/.claude");
    let output = command.env("HOME", place.path("nowhere")).env("CLAUDE_CONFIG_DIR", moved).output().unwrap();
    assert_eq!(text(&output.stdout).lines().count(), 2);
    let none = place.curtail(&["sessions"]).env("HOME", place.path("nowhere")).output().unwrap();
    assert_eq!(text(&none.stdout), "no sessions\n");
}

/// The tables that are read of a database of `OpenCode`, as its version 1.18 makes them, with a session and one that it started.
fn opencode(path: &std::path::Path) -> rusqlite::Connection {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let database = rusqlite::Connection::open(path).unwrap();
    let statements = "
        PRAGMA journal_mode = wal;
        CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, directory text NOT NULL,
            title text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL);
        CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, data text NOT NULL);
        CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, data text NOT NULL);
        INSERT INTO session VALUES
            ('ses_1', 'p', NULL, '/work/loom', 'Warp the loom', 1, 4000000000000),
            ('ses_2', 'p', 'ses_1', '/work/loom', 'Count threads', 2, 4000000001000),
            ('ses_3', 'p', NULL, '/work/sails', 'Mend a sail', 1, 1000);
        INSERT INTO message VALUES
            ('msg_2', 'ses_1', 20, '{\"role\": \"assistant\", \"parentID\": \"msg_1\", \"time\": {\"created\": 20}}'),
            ('msg_1', 'ses_1', 10, '{\"role\": \"user\", \"time\": {\"created\": 10}}');
        INSERT INTO part VALUES
            ('prt_1', 'msg_1', 'ses_1', '{\"type\": \"text\", \"text\": \"Warp the loom with forty threads.\"}'),
            ('prt_2', 'msg_2', 'ses_1', '{\"type\": \"text\", \"text\": \"It is warped.\"}');";
    database.execute_batch(statements).unwrap();
    database
}

/// The files of a folder with their bytes.
fn files(folder: &std::path::Path) -> Vec<(std::ffi::OsString, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut files: Vec<_> = entries.map(|one| (one.file_name(), std::fs::read(one.path()).unwrap())).collect();
    files.sort();
    files
}

fn listed(place: &Place, words: &[&str]) -> Vec<serde_json::Value> {
    let words: Vec<&str> = ["sessions", "--format", "json"].iter().chain(words).copied().collect();
    let json: serde_json::Value = serde_json::from_str(&printed(place, &words)).unwrap();
    json["sessions"].as_array().unwrap().clone()
}

/// The list of a machine whose database has two sessions.
fn look_at_a_database(place: &Place) {
    let names = |words: &[&str]| -> Vec<String> {
        listed(place, words).iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&[]), ["@opencode", "@claude", "@codex", "@claude:2", "@opencode:2"]);
    assert_eq!(names(&["--project", "/work/loom"]), ["@opencode"]);
    assert_eq!(names(&["--sort", "size", "--agent", "opencode", "--agent", "codex"])[0], "@codex");
    let one = &listed(place, &["--agent", "opencode", "--tokens"])[0];
    assert_eq!((&one["id"], &one["title"]), (&"ses_1".into(), &"Warp the loom".into()));
    assert_eq!((&one["project"], &one["messages"]), (&"/work/loom".into(), &2.into()));
    assert!(one["tokens"].as_u64() > Some(8) && one["path"].is_null() && one["bytes"].is_null(), "{one}");
    assert_eq!(one["export"], "opencode export ses_1");
    let table = printed(place, &["sessions", "--paths"]);
    assert!(table.contains("  Warp the loom\n    opencode export ses_1\n"), "{table}");
    let output = run(place, &["sessions", "--format", "paths", "-n", "1"]);
    assert!(text(&output.stdout).contains("projects"), "{}", text(&output.stdout));
    assert!(text(&output.stderr).contains("2 without a file left out"), "{}", text(&output.stderr));
    for (name, id) in [("@opencode", "ses_1"), ("@last", "ses_1"), ("@last:5", "ses_3")] {
        let output = run(place, &["count", name]);
        let advice = format!("`opencode export {id} > FILE` writes it to a file");
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(&advice), "{name}: {}", text(&output.stderr));
    }
}

#[test]
fn a_database_of_sessions_is_listed_and_left_as_it_was() {
    let place = machine();
    let folder = place.path("home/.local/share/opencode");
    let database = opencode(&folder.join("opencode.db"));
    assert!(folder.join("opencode.db-wal").is_file(), "what is listed stands beside the database");
    look_at_a_database(&place);
    database.execute_batch("PRAGMA wal_checkpoint(TRUNCATE);").unwrap();
    // Without the files beside it, as where no program has it open.
    let alone = std::fs::read(folder.join("opencode.db")).unwrap();
    drop(database);
    std::fs::remove_dir_all(&folder).unwrap();
    place.write("home/.local/share/opencode/opencode.db", &alone);
    let before = files(&folder);
    look_at_a_database(&place);
    assert_eq!(files(&folder), before, "nothing is written");
}

#[test]
fn the_log_of_a_database_is_read_without_its_index() {
    let place = machine();
    let database = opencode(&place.path("elsewhere/opencode.db"));
    for name in ["opencode.db", "opencode.db-wal"] {
        let copied = std::fs::read(place.path("elsewhere").join(name)).unwrap();
        place.write(&format!("home/.local/share/opencode/{name}"), &copied);
    }
    drop(database);
    let folder = place.path("home/.local/share/opencode");
    let before = files(&folder);
    look_at_a_database(&place);
    assert_eq!(files(&folder), before, "nothing is written");
}

#[test]
fn a_log_without_a_transaction_is_left_beside_its_database() {
    let place = machine();
    let elsewhere = place.path("elsewhere");
    let open = opencode(&elsewhere.join("opencode.db"));
    let [database, log, index] =
        ["opencode.db", "opencode.db-wal", "opencode.db-shm"].map(|name| std::fs::read(elsewhere.join(name)).unwrap());
    drop(open);
    let mut damaged = log.clone();
    damaged[40] ^= 1;
    let torn = &log[..log.len() / 2];
    let folder = place.path("home/.local/share/opencode");
    for (database, log) in
        [(&*database, torn), (&database, &damaged), (&database, &log[..32]), (&database, b""), (b"", &log)]
    {
        for index in [None, Some(&index)] {
            let _ = std::fs::remove_dir_all(&folder);
            place.write("home/.local/share/opencode/opencode.db", database);
            place.write("home/.local/share/opencode/opencode.db-wal", log);
            if let Some(index) = index {
                place.write("home/.local/share/opencode/opencode.db-shm", index);
            }
            run(&place, &["sessions"]);
            run(&place, &["count", "@opencode"]);
            let left: Vec<_> = files(&folder).into_iter().filter(|(name, _)| name != "opencode.db-shm").collect();
            let given = [("opencode.db", database), ("opencode.db-wal", log)];
            assert_eq!(
                left,
                given.map(|(name, bytes)| (name.into(), bytes.to_vec())),
                "with an index: {}",
                index.is_some()
            );
        }
    }
}

#[test]
fn a_database_elsewhere_and_one_that_cannot_be_read_are_said() {
    let place = machine();
    drop(opencode(&place.path("moved/50%?#.db")));
    let mut command = place.curtail(&["sessions", "--format", "json", "--agent", "opencode"]);
    command.env("HOME", place.path("home")).env("XDG_DATA_HOME", place.path("data"));
    let output = command.env("OPENCODE_DB", place.path("moved/50%?#.db")).output().unwrap();
    assert!(text(&output.stdout).contains("ses_3"), "{}", text(&output.stderr));
    place.write("home/.local/share/opencode/opencode.db", b"no database");
    assert_eq!(listed(&place, &[]).len(), 3);
    let output = run(&place, &["sessions"]);
    assert!(text(&output.stderr).contains("skipped: ") && text(&output.stderr).contains("opencode.db"));
    let output = run(&place, &["count", "@opencode"]);
    assert!(text(&output.stderr).contains("not a database"), "{}", text(&output.stderr));
}

#[test]
fn a_row_that_cannot_be_read_hides_no_other() {
    let place = machine();
    let database = opencode(&place.path("home/.local/share/opencode/opencode.db"));
    let statements = "
        ALTER TABLE session DROP COLUMN title;
        ALTER TABLE session ADD COLUMN title text;
        UPDATE session SET time_updated = 4000000000000.5 WHERE id = 'ses_1';";
    database.execute_batch(statements).unwrap();
    drop(database);
    let output = run(&place, &["sessions", "--format", "json", "--agent", "opencode"]);
    assert!(text(&output.stdout).contains("ses_3") && !text(&output.stdout).contains("ses_1"));
    assert_eq!(text(&output.stderr).matches("time_updated").count(), 1, "{}", text(&output.stderr));
}

#[test]
fn sessions_in_a_file_for_each_part_are_listed() {
    let place = machine();
    let storage = "home/.local/share/opencode/storage";
    for (name, content) in [
        ("../auth.json", "{}"),
        (
            "session/p/ses_8.json",
            r#"{"id": "ses_8", "directory": "/work/loom", "title": "Dye the wool", "time": {"created": 1, "updated": 4000000000000}}"#,
        ),
        ("session/p/ses_9.json", r#"{"id": "ses_9", "parentID": "ses_8", "directory": "/work/loom", "title": "Look"}"#),
        (
            "message/ses_8/msg_2.json",
            r#"{"id": "msg_2", "sessionID": "ses_8", "role": "assistant", "time": {"created": 5}}"#,
        ),
        (
            "message/ses_8/msg_3.json",
            r#"{"id": "msg_3", "sessionID": "ses_8", "role": "user", "time": {"created": 3}}"#,
        ),
        (
            "part/msg_3/prt_1.json",
            r#"{"id": "prt_1", "messageID": "msg_3", "type": "text", "text": "Dye the wool blue."}"#,
        ),
    ] {
        place.write(&format!("{storage}/{name}"), content.as_bytes());
    }
    let all = listed(&place, &["--tokens", "--agent", "OpenCode"]);
    assert_eq!(all.len(), 1);
    assert_eq!((&all[0]["title"], &all[0]["export"]), (&"Dye the wool".into(), &"opencode export ses_8".into()));
    assert_eq!(all[0]["messages"], 2);
    assert!(all[0]["tokens"].as_u64() > Some(3));
    // The first start of a version with a database copies them into it.
    drop(opencode(&place.path("home/.local/share/opencode/opencode.db")));
    assert_eq!(listed(&place, &["--agent", "opencode"]).len(), 2);
}

#[test]
fn a_log_is_listed_once_and_what_is_not_read_is_said() {
    let place = Place::new();
    let step = |text: &str| {
        format!(
            "{{\"step_index\":0,\"source\":\"USER_EXPLICIT\",\"type\":\"USER_INPUT\",\"status\":\"DONE\",\"content\":\"<USER_REQUEST>\\n{text}\\n</USER_REQUEST>\"}}\n"
        )
    };
    place.write("home/.gemini/antigravity-cli/conversations/1.pb", b"\x0a\x00");
    let output = run(&place, &["sessions", "--agent", "antigravity"]);
    assert_eq!(text(&output.stdout), "no sessions\n");
    assert!(text(&output.stderr).contains("protobuf"), "{}", text(&output.stderr));
    let logs = "home/.gemini/antigravity-cli/brain/1/.system_generated/logs";
    place.write(&format!("{logs}/transcript.jsonl"), step("Sweep the").as_bytes());
    assert_eq!(listed(&place, &[])[0]["prompt"], "Sweep the");
    place.write(&format!("{logs}/transcript_full.jsonl"), step("Sweep the yard.").as_bytes());
    let all = listed(&place, &[]);
    assert_eq!((all.len(), &all[0]["prompt"], &all[0]["name"]), (1, &"Sweep the yard.".into(), &"@antigravity".into()));
    assert!(printed(&place, &["view", "--text", "@agy"]).contains("Sweep the yard."));
}

#[test]
fn a_prompt_behind_long_lines_is_found() {
    for long in [10, 8_000, 8_192, 9_000, 131_000, 500_000] {
        let place = Place::new();
        let meta = format!(
            "{{\"type\":\"session_meta\",\"payload\":{{\"id\":\"c\",\"cwd\":\"/work/mill\",\"instructions\":\"{}\"}}}}\n",
            "é".repeat(long / 2)
        );
        let prompt = "{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"Grind the rye.\"}]}}\n";
        place.write("home/.codex/sessions/rollout-1.jsonl", (meta + prompt + prompt).as_bytes());
        let one = &listed(&place, &[])[0];
        assert_eq!((&one["project"], &one["prompt"]), (&"/work/mill".into(), &"Grind the rye.".into()), "{long}");
    }
}

/// Images make documents of many megabytes.
#[test]
fn a_prompt_of_a_long_document_is_found() {
    let long = "x".repeat(5 << 20);
    let prompt = "{\"text\":\"Which files are here?\"}";
    let image = format!("{{\"inlineData\":{{\"mimeType\":\"image/png\",\"data\":\"{long}\"}}}}");
    let answer = format!("{{\"id\":\"2\",\"type\":\"gemini\",\"content\":\"{long}\"}}");
    for (asked, answer) in [
        (prompt.to_owned(), "{\"id\":\"2\",\"type\":\"gemini\",\"content\":\"These.\"}"),
        (prompt.to_owned(), answer.as_str()),
        (format!("{prompt},{image}"), answer.as_str()),
        (format!("{image},{prompt}"), answer.as_str()),
    ] {
        let place = Place::new();
        let session = format!(
            "{{\"sessionId\":\"s\",\"projectHash\":\"9f2c\",\"messages\":[{{\"id\":\"1\",\"type\":\"user\",\"content\":[{asked}]}},{answer}]}}"
        );
        place.write("home/.gemini/tmp/9f2c/chats/session-2026-01-01T10-00-0198f0a0.json", session.as_bytes());
        assert_eq!(listed(&place, &[])[0]["prompt"], "Which files are here?", "{}", &session[..120]);
    }
}
