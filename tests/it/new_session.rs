//! `--as-new-session`: a cut is a session of its own, which its agent finds and resumes.

use std::path::{Path, PathBuf};

use crate::program::{Place, text};

/// The agents whose sessions become new ones, each with a session of two exchanges in the project `WORK`, and the pattern of
/// the path of a new one below the home of the user: `#` is a letter or a digit.
const AGENTS: &[(&str, &str, &str, &str)] = &[
    (
        "claude",
        r#"{"type":"permission-mode","permissionMode":"plan","sessionId":"old"}
{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"old","cwd":"WORK","message":{"role":"user","content":"Fire the kiln."}}
{"type":"assistant","uuid":"u2","parentUuid":"u1","sessionId":"old","cwd":"WORK","message":{"role":"assistant","content":[{"type":"text","text":"It burns."}]}}
{"type":"user","uuid":"u3","parentUuid":"u2","sessionId":"old","cwd":"WORK/cups","message":{"role":"user","content":"Glaze the cups of old."}}
{"type":"assistant","uuid":"u4","parentUuid":"u3","sessionId":"old","cwd":"WORK","message":{"role":"assistant","content":[{"type":"text","text":"They shine."}]}}
"#,
        ".claude/projects/SLUG/########-####-4###-####-############.jsonl",
        "cd WORK && claude --resume ID",
    ),
    (
        "codex",
        r#"{"timestamp":"2026-01-01T10:00:00Z","type":"session_meta","payload":{"id":"old","cwd":"WORK"}}
{"timestamp":"2026-01-01T10:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Fire the kiln."}]}}
{"timestamp":"2026-01-01T10:00:02Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"It burns."}]}}
{"timestamp":"2026-01-01T10:00:03Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Glaze the cups of old."}]}}
{"timestamp":"2026-01-01T10:00:04Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"They shine."}]}}
"#,
        ".codex/sessions/2026/04/11/rollout-2026-04-11T08-00-00-########-####-7###-####-############.jsonl",
        "codex resume ID",
    ),
    (
        "pi",
        r#"{"type":"session","version":3,"id":"old","timestamp":"2026-01-01T10:00:00Z","cwd":"WORK"}
{"type":"message","id":"e1","parentId":null,"message":{"role":"user","content":[{"type":"text","text":"Fire the kiln."}]}}
{"type":"message","id":"e2","parentId":"e1","message":{"role":"assistant","content":[{"type":"text","text":"It burns."}]}}
{"type":"message","id":"e3","parentId":"e2","message":{"role":"user","content":[{"type":"text","text":"Glaze the cups of old."}]}}
{"type":"message","id":"e4","parentId":"e3","message":{"role":"assistant","content":[{"type":"text","text":"They shine."}]}}
"#,
        ".pi/agent/sessions/-SLUG--/2026-04-11T08-00-00-000Z_########-####-7###-####-############.jsonl",
        "cd WORK && pi --session FILE",
    ),
    (
        "qwen",
        r#"{"uuid":"u1","parentUuid":null,"sessionId":"old","type":"user","cwd":"WORK","version":"0.21.13","message":{"role":"user","parts":[{"text":"Fire the kiln."}]}}
{"uuid":"u2","parentUuid":"u1","sessionId":"old","type":"assistant","cwd":"WORK","version":"0.21.13","message":{"role":"model","parts":[{"text":"It burns."}]}}
{"uuid":"u3","parentUuid":"u2","sessionId":"old","type":"user","cwd":"WORK","version":"0.21.13","message":{"role":"user","parts":[{"text":"Glaze the cups of old."}]}}
{"uuid":"u4","parentUuid":"u3","sessionId":"old","type":"assistant","cwd":"WORK","version":"0.21.13","message":{"role":"model","parts":[{"text":"They shine."}]}}
"#,
        ".qwen/projects/SLUG/chats/########-####-4###-####-############.jsonl",
        "cd WORK && qwen --resume ID",
    ),
    (
        "opencode",
        r#"{"info":{"id":"old","directory":"WORK"},"messages":[
{"info":{"id":"msg_aaaaaaaaaaaa11111111","sessionID":"old","role":"user","time":{"created":1}},"parts":[{"id":"prt_aaaaaaaaaaaa11111111","sessionID":"old","messageID":"msg_aaaaaaaaaaaa11111111","type":"text","text":"Fire the kiln."}]},
{"info":{"id":"msg_aaaaaaaaaaaa22222222","sessionID":"old","role":"assistant","parentID":"msg_aaaaaaaaaaaa11111111","time":{"created":2}},"parts":[{"id":"prt_aaaaaaaaaaaa22222222","sessionID":"old","messageID":"msg_aaaaaaaaaaaa22222222","type":"text","text":"It burns."}]},
{"info":{"id":"msg_aaaaaaaaaaaa33333333","sessionID":"old","role":"user","time":{"created":3}},"parts":[{"id":"prt_aaaaaaaaaaaa33333333","sessionID":"old","messageID":"msg_aaaaaaaaaaaa33333333","type":"text","text":"Glaze the cups of old."}]},
{"info":{"id":"msg_aaaaaaaaaaaa44444444","sessionID":"old","role":"assistant","parentID":"msg_aaaaaaaaaaaa33333333","time":{"created":4}},"parts":[{"id":"prt_aaaaaaaaaaaa44444444","sessionID":"old","messageID":"msg_aaaaaaaaaaaa44444444","type":"text","text":"They shine."}]}]}
"#,
        "ses_##########################.json",
        "cd WORK && opencode import FILE && opencode --session ID",
    ),
    (
        "gemini",
        r#"{"sessionId":"old","projectHash":"9f2c","startTime":"2026-01-01T10:00:00Z","lastUpdated":"2026-01-01T10:00:00Z","kind":"main"}
{"id":"u1","type":"user","content":[{"text":"Fire the kiln."}]}
{"id":"g1","type":"gemini","content":"It burns."}
{"id":"u2","type":"user","content":[{"text":"Glaze the cups of old."}]}
{"id":"g2","type":"gemini","content":"They shine."}
"#,
        ".gemini/tmp/loom/chats/session-2026-04-11T08-00-########.jsonl",
        "cd WORK && gemini --resume ID",
    ),
];

/// A machine with the folders of all agents, with a project, and with a session of each agent, by its name.
fn machine() -> Place {
    let place = Place::new();
    let work = place.path("work");
    std::fs::create_dir_all(work.join("cups")).unwrap();
    for folder in [".claude", ".codex", ".pi/agent", ".qwen", ".gemini/tmp/loom/chats"] {
        std::fs::create_dir_all(place.path(folder)).unwrap();
    }
    let work = work.to_string_lossy().into_owned();
    place.write(".gemini/tmp/loom/.project_root", work.as_bytes());
    for (agent, log, ..) in AGENTS {
        place.write(&input(agent), log.replace("WORK", &work).as_bytes());
    }
    place
}

/// Where the session of an agent is. That of the Gemini CLI does not name its project, so it is in its place.
fn input(agent: &str) -> String {
    if agent == "gemini" {
        String::from(".gemini/tmp/loom/chats/session-2026-01-01T10-00-old.jsonl")
    } else {
        format!("{agent}.log")
    }
}

/// Standard output, standard error and status, at a certain time.
fn run(place: &Place, words: &[&str]) -> (String, String, Option<i32>) {
    let output = place.curtail(words).env("SOURCE_DATE_EPOCH", "1775894400").output().unwrap();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

fn fits(pattern: &str, found: &str) -> bool {
    let matches = |(wanted, c): (char, char)| if wanted == '#' { c.is_ascii_alphanumeric() } else { wanted == c };
    pattern.chars().count() == found.chars().count() && pattern.chars().zip(found.chars()).all(matches)
}

/// The files below a folder, and their bytes.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let walk = ignore::WalkBuilder::new(folder).standard_filters(false).sort_by_file_path(Path::cmp).build();
    let paths = walk.map(|entry| entry.unwrap().into_path()).filter(|path| path.is_file());
    paths.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

/// Checks a new session: its path, what is printed, and that all its ids are new.
fn check_session(place: &Place, agent: &str, pattern: &str, resume: &str, printed: &(String, String, Option<i32>)) {
    let (path, command, status) = printed;
    assert_eq!(*status, Some(0), "{agent}: {command}");
    let work = place.path("work").to_string_lossy().into_owned();
    let slug: String = work.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let slug = if agent == "pi" { work.replace('/', "-") } else { slug };
    let pattern = pattern.replace("SLUG", &slug);
    let path = path.trim_end();
    let below = Path::new(path).strip_prefix(place.path("")).unwrap_or(Path::new(path));
    assert!(fits(&pattern, &below.to_string_lossy()), "{agent}: {path} {pattern}");
    let whole = if Path::new(path).is_absolute() { PathBuf::from(path) } else { place.path(path) };
    let written = std::fs::read_to_string(&whole).unwrap();
    let new = written.split('"').skip_while(|word| !matches!(*word, "sessionId" | "id")).nth(2).unwrap();
    assert!(path.contains(new) || path.contains(&new[..8]), "{agent}: {path} {written}");
    let line = resume.replace("WORK", &work).replace("ID", new).replace("FILE", &whole.to_string_lossy());
    assert_eq!(*command, format!("curtail: resume it with: {line}\n"), "{agent}");
    assert!(written.contains("Glaze the cups of old.") && !written.contains("Fire the kiln."), "{agent}: {written}");
    assert!(!written.contains("\"old\"") && !written.contains("aaaaaaaaaaaa33333333"), "{agent}: {written}");
    let read = run(place, &["check", "--quiet", &whole.to_string_lossy()]);
    assert_eq!(read.2, Some(0), "{agent}: {}", read.1);
}

#[test]
fn a_cut_becomes_a_session_where_its_agent_looks() {
    for (agent, log, pattern, resume) in AGENTS {
        let place = machine();
        let before = files(&place.path(""));
        let cut = ["window", "-n", "2", "--as-new-session", &input(agent)];
        let printed = run(&place, &cut);
        check_session(&place, agent, pattern, resume, &printed);
        let after = files(&place.path(""));
        assert_eq!(after.len(), before.len() + 1, "{agent}: {log}");
        assert!(before.iter().all(|file| after.contains(file)), "{agent}: an existing file changed");
        // At the same time, the same cut has the same id.
        let again = run(&place, &cut);
        assert!(again.2 == Some(2) && again.1.contains("already exists"), "{agent}: {again:?}");
        assert_eq!(files(&place.path("")), after, "{agent}");
        let other = run(&place, &["window", "-n", "1", "--as-new-session", &input(agent)]);
        assert_ne!(other.0, printed.0, "{agent}");
    }
}

#[test]
fn a_dry_run_says_what_it_would_write() {
    for (agent, ..) in AGENTS {
        let place = machine();
        let before = files(&place.path(""));
        let (out, said, status) = run(&place, &["window", "-n", "2", "--dry-run", "--as-new-session", &input(agent)]);
        assert_eq!((out.as_str(), status), ("", Some(0)), "{agent}: {said}");
        let written = said.lines().find_map(|line| line.strip_prefix("curtail: would write ")).unwrap().to_owned();
        assert!(said.contains("resume it with: "), "{agent}: {said}");
        assert_eq!(files(&place.path("")), before, "{agent}");
        let real = run(&place, &["window", "-n", "2", "--as-new-session", &input(agent)]);
        let real = std::path::absolute(place.path(real.0.trim_end())).unwrap();
        assert_eq!(real, PathBuf::from(written), "{agent}");
    }
}

#[test]
fn every_command_that_cuts_writes_new_sessions() {
    for words in [
        &["limit", "-t", "20"][..],
        &["filter", "--drop-turn", "1"],
        &["repair"],
        &["summarize", "-n", "1"],
        &["run"],
        &["run", "--preset", "keep-40"],
    ] {
        let place = machine();
        place.write("curtail.toml", b"[[history.processors]]\ntype = \"window\"\nsize = 2\n");
        let words: Vec<&str> = words.iter().copied().chain(["--as-new-session", "codex.log"]).collect();
        let (path, said, status) = run(&place, &words);
        assert_eq!(status, Some(0), "{words:?}: {said}");
        assert!(said.contains("codex resume") && Path::new(path.trim_end()).is_file(), "{words:?}: {path} {said}");
    }
    let place = machine();
    for (words, reason) in [
        (&["split", "-t", "9"][..], "writes one session"),
        (&["summarize", "--emit", "state"], "--as-new-session cannot be used with"),
    ] {
        let words: Vec<&str> = words.iter().copied().chain(["--as-new-session", "codex.log"]).collect();
        let (path, said, status) = run(&place, &words);
        assert!(status == Some(2) && path.is_empty() && said.contains(reason), "{words:?}: {said}");
    }
}

#[test]
fn a_session_is_written_beside_the_one_that_its_agent_keeps() {
    let place = machine();
    let log = place.read("claude.log");
    // The folder has not the name that the project would give it now, and still is where the agent found the original.
    place.write(".claude/projects/renamed/old.jsonl", &log);
    let (path, said, _) = run(&place, &["window", "-n", "2", "--as-new-session", "@claude"]);
    assert!(path.contains(".claude/projects/renamed/"), "{path} {said}");
    // A log below the folder that is none of its sessions has no say about the place.
    place.write(".claude/backup/old.jsonl", &log);
    let (path, said, _) = run(&place, &["window", "-n", "1", "--as-new-session", ".claude/backup/old.jsonl"]);
    assert!(path.contains("work/") && !path.contains("backup"), "{path} {said}");
}

#[test]
fn a_variable_moves_the_place_of_a_new_session() {
    let place = machine();
    for (agent, variable) in [
        ("claude", "CLAUDE_CONFIG_DIR"),
        ("codex", "CODEX_HOME"),
        ("pi", "PI_CODING_AGENT_DIR"),
        ("qwen", "QWEN_HOME"),
        ("qwen", "QWEN_RUNTIME_DIR"),
    ] {
        let moved = place.path(&format!("moved/{variable}"));
        std::fs::create_dir_all(&moved).unwrap();
        let mut command = place.curtail(&["window", "-n", "2", "--as-new-session", &input(agent)]);
        let output = command.env(variable, &moved).output().unwrap();
        let path = text(&output.stdout);
        assert!(Path::new(path.trim_end()).starts_with(&moved), "{agent}: {path} {}", text(&output.stderr));
    }
}

#[test]
fn an_output_takes_the_place_of_the_place() {
    let place = machine();
    let absolute = |name: &str| place.path(name).to_string_lossy().into_owned();
    for (agent, said) in [
        ("claude", format!("move it to {}", absolute(".claude/projects/"))),
        ("codex", format!("move it to {}", absolute(".codex/sessions/2026/04/11/rollout-"))),
        ("pi", format!("cd {} && pi --session {}", absolute("work"), absolute("pi.jsonl"))),
        ("gemini", format!("cd {} && gemini --session-file {}", absolute("work"), absolute("gemini.jsonl"))),
        ("opencode", format!("opencode import {} && opencode --session ses_", absolute("opencode.jsonl"))),
    ] {
        let output = format!("{agent}.jsonl");
        let (path, noted, status) =
            run(&place, &["window", "-n", "2", "--as-new-session", &input(agent), "-o", &output]);
        assert_eq!((path.trim_end(), status), (output.as_str(), Some(0)), "{agent}: {noted}");
        assert!(noted.contains(&said), "{agent}: {noted} {said}");
        assert!(place.path(&output).is_file());
        let again = run(&place, &["window", "-n", "1", "--as-new-session", &input(agent), "-o", &output]);
        assert!(again.2 == Some(2) && again.1.contains("already exists"), "{agent}: {}", again.1);
    }
    // Nothing on this machine is needed for it.
    std::fs::remove_dir_all(place.path(".codex")).unwrap();
    std::fs::remove_dir_all(place.path("work")).unwrap();
    for agent in ["codex", "claude", "pi"] {
        let (_, noted, status) =
            run(&place, &["window", "-n", "2", "--as-new-session", &input(agent), "-o", &format!("{agent}.2")]);
        assert!(status == Some(0) && noted.contains("resume it with: "), "{agent}: {noted}");
        let only_in = format!("(only in {}, which does not exist here)", absolute("work"));
        assert_eq!(noted.contains(&only_in), agent == "claude", "{agent}: {noted}");
    }
    let quiet = run(&place, &["window", "-q", "-n", "1", "--as-new-session", "codex.log", "-o", "quiet"]);
    assert_eq!(quiet, (String::from("quiet\n"), String::new(), Some(0)));
}

#[test]
fn standard_input_becomes_a_session() {
    let place = machine();
    let mut command = place.curtail(&["window", "-n", "2", "--as-new-session"]);
    let output = command.write_stdin(place.read("codex.log")).output().unwrap();
    let path = text(&output.stdout);
    assert!(path.contains("/.codex/sessions/") && Path::new(path.trim_end()).is_file(), "{}", text(&output.stderr));
}

#[cfg(unix)]
#[test]
fn nobody_reads_a_new_session_who_may_not_read_the_original() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let place = machine();
    std::fs::set_permissions(place.path("codex.log"), std::fs::Permissions::from_mode(0o600)).unwrap();
    let (path, said, _) = run(&place, &["window", "-n", "2", "--as-new-session", "codex.log"]);
    assert_eq!(std::fs::metadata(path.trim_end()).unwrap().mode() & 0o777, 0o600, "{said}");
}

#[test]
fn what_cannot_become_a_session_is_refused() {
    let place = machine();
    let lost = text(&place.read("claude.log")).replace("\"cwd\":\"", "\"cwd\":\"/nowhere");
    place.write("lost.jsonl", lost.as_bytes());
    place.write("lost-pi.jsonl", text(&place.read("pi.log")).replace("\"cwd\":\"", "\"cwd\":\"/nowhere").as_bytes());
    place.write(
        "side.jsonl",
        text(&place.read("claude.log")).replace("\"uuid\"", "\"isSidechain\":true,\"uuid\"").as_bytes(),
    );
    place.write("nameless.jsonl", text(&place.read("claude.log")).replace("sessionId", "session").as_bytes());
    place.write("headless.jsonl", text(&place.read("codex.log")).split_once('\n').unwrap().1.as_bytes());
    place.write("stray.jsonl", &place.read(&input("gemini")));
    place.write(
        "chat.jsonl",
        b"{\"role\":\"user\",\"content\":\"Hello.\"}\n{\"role\":\"assistant\",\"content\":\"Hi.\"}\n",
    );
    place.write("rows.jsonl", b"{\"messages\":[{\"role\":\"user\",\"content\":\"Hello.\"}]}\n{\"messages\":[{\"role\":\"user\",\"content\":\"Hi.\"}]}\n");
    place.write("broken.jsonl", b"{\"type\":\"session_meta\",\"payload\":{\"id\":\"old\"}}\n{\"type\":}\n{}\n");
    place.write("kimi.jsonl", b"{\"type\":\"metadata\",\"protocol_version\":\"1.4\",\"created_at\":1}\n{\"type\":\"context.append_message\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Is it lit?\"}]},\"time\":1}\n");
    let before = files(&place.path(""));
    for (words, reason) in [
        (&["lost.jsonl"][..], "/work, does not exist, and Claude Code resumes a session only there"),
        (&["lost-pi.jsonl"], "does not exist, and pi resumes"),
        (&["side.jsonl"], "the log of a sub-agent"),
        (&["nameless.jsonl"], "names no session (`sessionId`)"),
        (&["headless.jsonl"], "names no session (`payload.id`)"),
        (&["stray.jsonl"], "does not name the folder of its project"),
        (&["chat.jsonl"], "`openai` is not the log of an agent"),
        (&["rows.jsonl"], "a transcript in each record"),
        (&["broken.jsonl"], "broken.jsonl:2:"),
        (&["kimi.jsonl"], "it is not known how Kimi Code resumes"),
        (&["claude.log", "codex.log"], "there are 2 inputs"),
        (&["claude.log", "-o", "-"], "standard output"),
        (&["claude.log", "-o", "codex.log"], "codex.log"),
        (&["claude.log", "-o", "claude.log"], "the output is the input"),
        (&["claude.log", "-o", "new.jsonl.gz"], "no agent reads a compressed session"),
        (&["claude.log", "-i"], "cannot be used with"),
        (&["claude.log", "-O", "out"], "cannot be used with"),
        (&["claude.log", "--force"], "cannot be used with"),
        (&["gone.jsonl"], "gone.jsonl"),
    ] {
        let words: Vec<&str> = ["window", "-n", "2", "--as-new-session"].iter().chain(words).copied().collect();
        let (out, said, status) = run(&place, &words);
        assert!(status == Some(2) && out.is_empty(), "{words:?}: {out} {said}");
        let is_error = ["curtail: ", "error: "].iter().any(|label| said.contains(label));
        assert!(is_error && said.contains(reason), "{words:?}: {said}");
        assert!(!said.contains("resume it with"), "{words:?}: {said}");
        assert_eq!(files(&place.path("")), before, "{words:?}");
    }
    std::fs::remove_dir_all(place.path(".codex")).unwrap();
    let (_, said, status) = run(&place, &["window", "--as-new-session", "codex.log"]);
    assert!(status == Some(2) && said.contains("there is no folder of Codex on this machine"), "{said}");
}
