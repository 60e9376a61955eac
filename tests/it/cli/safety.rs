//! What exists is not destroyed: originals, inputs, other files of a run, lines of other programs, and who may read them.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::program::{Place, chat, chats, root, shell, text};

/// The status, and the words on standard error.
fn run(place: &Place, arguments: &[&str]) -> (i32, String) {
    let done = place.curtail(arguments).output().unwrap();
    (done.status.code().unwrap(), text(&done.stderr))
}

/// Runs a line of a shell.
fn run_shell(place: &Place, line: &str) -> (i32, String) {
    let done = shell(line, &place.path("")).output().unwrap();
    (done.status.code().unwrap(), text(&done.stderr))
}

/// The messages of a chat as a log.
fn log(id: &str, rounds: usize) -> String {
    let chat: Value = serde_json::from_str(&chat(id, rounds)).unwrap();
    chat["messages"].as_array().unwrap().iter().map(|message| format!("{message}\n")).collect()
}

/// Three originals in `data`.
fn originals() -> Place {
    let place = Place::new();
    (0..3).for_each(|nth| place.write(&format!("data/{nth}.jsonl"), chat("c", 6).as_bytes()));
    place
}

fn assert_backups(place: &Place) {
    for nth in 0..3 {
        assert_eq!(text(&place.read(&format!("data/{nth}.jsonl.bak"))), chat("c", 6), "the original");
        assert_ne!(text(&place.read(&format!("data/{nth}.jsonl"))), chat("c", 6), "the cut one");
    }
}

#[test]
fn a_resumed_batch_knows_its_backups() {
    let place = originals();
    assert_eq!(run(&place, &["window", "-n", "5", "data", "-i=.bak", "--resume"]), (0, String::new()));
    assert_backups(&place);
    let cut = place.read("data/0.jsonl");
    let (status, stderr) = run(&place, &["window", "-n", "5", "data", "-i=.bak", "--resume"]);
    assert!(status == 0 && stderr.contains("nothing left to do"), "{stderr}");
    // A stricter policy cuts what was cut, and the originals stay.
    assert_eq!(run(&place, &["window", "-n", "2", "data", "-i=.bak", "--resume"]), (0, String::new()));
    assert_backups(&place);
    assert!(place.read("data/0.jsonl").len() < cut.len());
}

#[test]
fn a_batch_that_was_killed_continues() {
    let place = originals();
    assert_eq!(run(&place, &["window", "-n", "5", "data", "-i=.bak", "--resume"]), (0, String::new()));
    // Killed after an input was replaced, and before that was recorded.
    let record = text(&place.read(".curtail-resume"));
    let kept: String = record.split_inclusive('\n').filter(|line| !line.contains("1.jsonl\",\"output")).collect();
    assert!(kept.len() < record.len());
    place.write(".curtail-resume", kept.as_bytes());
    // Killed between backup and replacement.
    fs::rename(place.path("data/2.jsonl.bak"), place.path("data/2.jsonl")).unwrap();
    fs::hard_link(place.path("data/2.jsonl"), place.path("data/2.jsonl.bak")).unwrap();
    assert_eq!(run(&place, &["window", "-n", "5", "data", "-i=.bak", "--resume"]), (0, String::new()));
    assert_backups(&place);
}

#[test]
fn what_was_appended_after_the_backup_is_not_lost() {
    for stricter in ["5", "2"] {
        let place = originals();
        let resume = |size: &str| run(&place, &["window", "-n", size, "data", "-i=.bak", "--resume"]);
        assert_eq!(resume("5"), (0, String::new()));
        let mut grown = place.read("data/1.jsonl");
        grown.extend(chat("new", 6).as_bytes());
        place.write("data/1.jsonl", &grown);
        // A run that does not change the file does not claim what is new in it.
        assert_eq!(resume("100").0, 0);
        let (status, stderr) = resume(stricter);
        assert!(status == 2 && stderr.contains("data/1.jsonl: changed since its backup"), "{stderr}");
        assert!(stderr.contains("move the backup away, or choose another suffix"), "{stderr}");
        assert_eq!(place.read("data/1.jsonl"), grown);
        assert_eq!(text(&place.read("data/1.jsonl.bak")), chat("c", 6));
        // The others are cut, and the advice helps.
        fs::rename(place.path("data/1.jsonl.bak"), place.path("data/1.jsonl.first")).unwrap();
        assert_eq!(resume(stricter), (0, String::new()));
        assert_eq!(place.read("data/1.jsonl.bak"), grown);
        let (status, stderr) = resume(stricter);
        assert!(status == 0 && stderr.contains("nothing left to do"), "{stderr}");
    }
}

#[test]
fn an_input_that_grows_while_it_is_cut_is_cut_again() {
    let place = originals();
    let arguments = ["window", "-n", "5", "data", "-O", "out", "--resume"];
    assert_eq!(run(&place, &arguments), (0, String::new()));
    let written = fs::metadata(place.path("out/1.jsonl")).unwrap().modified().unwrap();
    place.write("data/1.jsonl", (chat("c", 6) + &chat("new", 6)).as_bytes());
    // Appended after the input was read, and before the output was written.
    let input = fs::File::options().append(true).open(place.path("data/1.jsonl")).unwrap();
    input.set_modified(written - std::time::Duration::from_nanos(1)).unwrap();
    assert_eq!(run(&place, &arguments), (0, String::new()));
    assert!(text(&place.read("out/1.jsonl")).contains("\"new"), "what is new is in the output");
}

#[test]
fn no_backup_is_overwritten() {
    let place = originals();
    place.write("data/1.jsonl.bak", b"mine");
    for resume in [&[][..], &["--resume"]] {
        let (status, stderr) = run(&place, &[&["window", "-n", "2", "data", "-i=.bak"], resume].concat());
        assert!(status == 2 && stderr.contains("data/1.jsonl.bak: the backup exists already"), "{stderr}");
        assert!(!stderr.contains("overwrites"), "no advice to destroy: {stderr}");
        assert_eq!(place.read("data/1.jsonl"), chat("c", 6).as_bytes());
    }
    // The user may go on without one.
    assert_eq!(run(&place, &["window", "-n", "5", "data", "-i=.bak", "--force"]), (0, String::new()));
    assert_eq!(place.read("data/1.jsonl.bak"), b"mine");
    assert_eq!(run(&place, &["window", "-n", "2", "data", "-i=.bak", "--force"]), (0, String::new()));
    fs::write(place.path("data/1.jsonl.bak"), chat("c", 6)).unwrap();
    assert_backups(&place);
}

/// A place with a transcript under many names, and files that flags name.
fn files_of_a_run() -> Place {
    let place = Place::new();
    place.write("t.jsonl", log("t", 6).as_bytes());
    place.write("in/p.jsonl", log("p", 6).as_bytes());
    place.write("p.part-002.jsonl", log("q", 6).as_bytes());
    place.write("t.part-001.jsonl", log("r", 6).as_bytes());
    place.write("x.jsonl", log("x", 2).as_bytes());
    place.write("x.jsonl.html", log("y", 2).as_bytes());
    place.write("bad.jsonl", b"{\"messages\":[}\n");
    place.write("t.jinja", b"{% for m in messages %}{{ m.content }}{% endfor %}");
    place.write("tools.json", b"[]");
    place.write("schema.json", b"{}");
    place.write("state.txt", b"a state");
    place.write("prompt", b"Summarize in {tokens} tokens.");
    place.write("key", b"sk-1");
    fs::copy(root().join("fixtures/tokenizer-json/bytes.json"), place.path("tokenizer.json")).unwrap();
    let limit = "type = \"limit\"\nmax-tokens = 40\ntemplate = \"t.jinja\"\ntokenizer = \"./tokenizer.json\"";
    place.write("model.toml", format!("[[history.processors]]\n{limit}\n").as_bytes());
    let server = "summarizer = \"openai\"\nsummary-model = \"m\"\nendpoint = \"http://127.0.0.1:9\"";
    let config = format!("type = \"summarize\"\nprompt = \"prompt\"\napi-key-file = \"key\"\n{server}\nretries = 0");
    place.write("asks.toml", format!("[[history.processors]]\n{config}\n").as_bytes());
    place.write("curtail.toml", b"[[history.processors]]\ntype = \"window\"\nsize = 2\n");
    fs::hard_link(place.path("t.jsonl"), place.path("hard.jsonl")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("t.jsonl", place.path("soft.jsonl")).unwrap();
    #[cfg(not(unix))]
    fs::hard_link(place.path("t.jsonl"), place.path("soft.jsonl")).unwrap();
    place
}

/// Every output of every command, under the name of each file that the same run reads or writes.
const CLASHES: &[&[&str]] = &[
    &["window", "t.jsonl", "-o", "T"],
    &["window", "t.jsonl", "in/p.jsonl", "-O", "."],
    &["window", "t.jsonl", "-o", "o", "--rejects", "T"],
    &["window", "t.jsonl", "-i", "--resume=T"],
    &["window", "t.jsonl", "-O", "out", "--resume=T"],
    &["window", "x.jsonl", "x.jsonl.html", "-i=.html"],
    &["limit", "-t", "40", "t.jsonl", "-o", "t.jinja", "--template", "t.jinja"],
    &["limit", "-t", "40", "t.jsonl", "-o", "tools.json", "--template", "t.jinja", "--tools", "tools.json"],
    &["run", "t.jsonl", "-o", "curtail.toml"],
    &["run", "t.jsonl", "-c", "curtail.toml", "-o", "o", "--rejects", "curtail.toml"],
    &["memory", "recall", "t.jsonl", "--state", "state.txt", "-o", "state.txt"],
    &["memory", "recall", "t.jsonl", "--schema", "schema.json", "-o", "schema.json"],
    &["split", "-t", "40", "t.jsonl", "-o", "T"],
    &["split", "-t", "40", "t.jsonl", "-o", "o", "--map", "T"],
    &["split", "-t", "40", "t.jsonl", "-o", "o", "--rejects", "T"],
    // A part is the map, the rejects, or another input.
    &["split", "-t", "40", "t.jsonl", "-o", "o.jsonl", "--map", "o.part-002.jsonl"],
    &["split", "-t", "40", "t.jsonl", "-o", "o.jsonl", "--rejects", "o.part-001.jsonl"],
    &["split", "-t", "40", "in/p.jsonl", "p.part-002.jsonl", "-O", "./new/.."],
    &["split", "-t", "40", "in", "p.part-002.jsonl", "-O", ".", "-j1"],
    &["split", "-t", "40", "t.jsonl", "-o", "t2.jsonl", "--map", "m", "--rejects", "m"],
    &["view", "t.jsonl", "-o", "T"],
    &["view", "x.jsonl", "x.jsonl.html", "-O", "."],
    &["view", "t.jsonl", "in/../in/p.jsonl", "-o", "in/p.jsonl"],
    &["view", "--config", "curtail.toml", "t.jsonl", "-o", "curtail.toml"],
    // What a policy or a configuration reads.
    &["view", "--policy", "limit -t 40 --template t.jinja", "t.jsonl", "-o", "t.jinja"],
    &["view", "--policy", "limit -t 40 --template t.jinja --tools tools.json", "t.jsonl", "-o", "tools.json"],
    &["view", "--policy", "limit -t 40 --tokenizer ./tokenizer.json", "t.jsonl", "-o", "tokenizer.json"],
    &["view", "--policy", "summarize --tokenizer ./tokenizer.json", "t.jsonl", "-o", "tokenizer.json"],
    &["view", "-c", "model.toml", "t.jsonl", "-o", "t.jinja"],
    &["view", "-c", "model.toml", "t.jsonl", "-o", "tokenizer.json"],
    &["run", "-c", "model.toml", "t.jsonl", "-o", "tokenizer.json"],
    &["run", "-c", "model.toml", "t.jsonl", "-o", "o", "--rejects", "t.jinja"],
    // What a summarizer reads.
    &["run", "-c", "asks.toml", "t.jsonl", "-o", "prompt"],
    &["run", "-c", "asks.toml", "t.jsonl", "-o", "key"],
];

#[test]
fn no_output_replaces_a_file_of_its_run() {
    let names = ["t.jsonl", "hard.jsonl", "soft.jsonl", "./in/../t.jsonl", "missing/../t.jsonl"];
    for clash in CLASHES {
        for name in if clash.iter().any(|word| word.ends_with('T')) { &names[..] } else { &names[..1] } {
            let place = files_of_a_run();
            let before = contents(&place.path(""));
            let arguments: Vec<String> = clash
                .iter()
                .map(|word| word.strip_suffix('T').map_or_else(|| (*word).to_owned(), |flag| format!("{flag}{name}")))
                .collect();
            let done = place.curtail(&[]).args(&arguments).arg("--force").output().unwrap();
            let stderr = text(&done.stderr);
            assert_eq!(done.status.code(), Some(2), "{arguments:?}: {stderr}");
            let is_refused = ["name another", "the same file", "the output is the input"];
            assert!(is_refused.iter().any(|words| stderr.contains(words)), "{arguments:?}: {stderr}");
            let after = contents(&place.path(""));
            for (path, content) in &before {
                assert!(after.contains(&(path.clone(), content.clone())), "{arguments:?} changed {path}: {stderr}");
            }
        }
    }
}

/// The files in and below a folder, each with its content.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.flat_map(|path| match path.is_dir() {
        true => contents(&path),
        false => vec![(path.display().to_string(), fs::read(&path).unwrap())],
    });
    files.collect()
}

#[test]
fn two_inputs_share_no_page() {
    let place = Place::new();
    place.write("a/s.jsonl", log("a", 1).as_bytes());
    place.write("b/s.jsonl", log("b", 1).as_bytes());
    let (status, stderr) = run(&place, &["view", "a", "b", "-O", "pages", "--force"]);
    assert!(status == 2 && stderr.contains("belongs to both a/s.jsonl and b/s.jsonl"), "{stderr}");
    assert!(!place.path("pages").exists());
}

#[test]
fn commands_without_inputs_replace_nothing_of_others() {
    let place = files_of_a_run();
    assert_eq!(run(&place, &["memory", "set", "--store", "a.db", "--thread", "t", "a state"]).0, 0);
    let store = place.read("a.db");
    let (status, stderr) = run(&place, &["store", "export", "--store", "a.db", "a.db"]);
    assert!(status == 2 && stderr.contains("a.db: already exists (not overwritten)"), "{stderr}");
    assert_eq!(place.read("a.db"), store);
    place.write("man/curtail-view.1", b"my notes");
    let (status, stderr) = run(&place, &["man", "--out", "man"]);
    assert!(status == 2 && stderr.contains("curtail-view.1: exists and is not a manual page of curtail"), "{stderr}");
    assert_eq!(place.read("man/curtail-view.1"), b"my notes");
    assert_eq!(std::fs::read_dir(place.path("man")).unwrap().count(), 1);
    for _ in 0..2 {
        assert_eq!(run(&place, &["man", "--out", "pages"]), (0, String::new()));
    }
    assert_eq!(run(&place, &["init", "t.jsonl"]).0, 2);
    assert_eq!(text(&place.read("t.jsonl")), log("t", 6));
}

#[test]
fn an_output_folder_that_is_a_file_is_named() {
    let place = files_of_a_run();
    for arguments in [
        &["window", "t.jsonl", "-O", "state.txt"][..],
        &["split", "-t", "40", "t.jsonl", "-O", "state.txt"],
        &["view", "t.jsonl", "-O", "state.txt"],
        &["man", "--out", "state.txt"],
    ] {
        let (status, stderr) = run(&place, arguments);
        assert!(status == 2 && stderr.contains("state.txt: is a file, and outputs need a directory"), "{stderr}");
        assert_eq!(stderr.contains("--output"), arguments[0] != "man", "{stderr}");
    }
    for arguments in [
        &["window", "t.jsonl", "-O", "state.txt/x/y"][..],
        &["split", "-t", "40", "t.jsonl", "-O", "state.txt/x"],
        &["view", "t.jsonl", "-O", "state.txt/x"],
        &["man", "--out", "state.txt/x"],
    ] {
        let (status, stderr) = run(&place, arguments);
        assert!(
            status == 2 && stderr.contains("curtail: state.txt: is a file, and outputs need a directory"),
            "{stderr}"
        );
    }
    for command in ["window", "view"] {
        let (status, stderr) = run(&place, &[command, "t.jsonl", "-o", "state.txt/x"]);
        assert!(
            status == 2 && stderr.contains("state.txt/x: cannot be written, because state.txt is a file"),
            "{stderr}"
        );
        for more in [&[][..], &["--force"]] {
            let (status, stderr) = run(&place, &[&[command, "t.jsonl", "-o", "in"], more].concat());
            let advice = "in: the output is a directory; --output-dir writes into one";
            assert!(status == 2 && stderr.contains(advice), "{stderr}");
        }
    }
}

#[cfg(unix)]
mod access {
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn mode(place: &Place, name: &str) -> u32 {
        fs::metadata(place.path(name)).unwrap().permissions().mode() & 0o777
    }

    fn set_mode(place: &Place, name: &str, mode: u32) {
        fs::set_permissions(place.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    /// The temporary file of a run that waits for its next record.
    #[test]
    fn temporary_files_are_for_their_user_alone() {
        for old in [Some(0o600), Some(0o640), None] {
            let place = Place::new();
            if let Some(old) = old {
                place.write("out.jsonl", b"");
                set_mode(&place, "out.jsonl", old);
            }
            let line = "umask 022; exec curtail window -o out.jsonl --force --framing records";
            let mut child = shell(line, &place.path("")).stdin(Stdio::piped()).spawn().unwrap();
            let mut input = child.stdin.take().unwrap();
            input.write_all(chat("a", 1).as_bytes()).unwrap();
            let temporary = loop {
                if let Some(name) = place.list().into_iter().find(|name| name.starts_with(".curtail-")) {
                    break name;
                }
                std::thread::yield_now();
            };
            assert_eq!(mode(&place, &temporary), 0o600, "beside {old:?}");
            drop(input);
            assert!(child.wait().unwrap().success());
            assert_eq!(mode(&place, "out.jsonl"), old.unwrap_or(0o644));
        }
    }

    #[test]
    fn an_export_is_for_its_user_alone() {
        let place = Place::new();
        assert_eq!(run(&place, &["memory", "set", "--store", "a.db", "--thread", "t", "secret"]).0, 0);
        assert_eq!(run_shell(&place, "umask 022; curtail store export --store a.db export.jsonl").0, 0);
        assert_eq!(mode(&place, "export.jsonl"), 0o600);
        assert!(text(&place.read("export.jsonl")).contains("secret"));
    }

    /// A list that allows a user to read and write, and the group nothing; the mode of the file shows the mask instead.
    #[cfg(target_os = "linux")]
    const LIST: [(u16, u16, u32); 5] =
        [(1, 6, u32::MAX), (2, 6, 65534), (4, 0, u32::MAX), (0x10, 6, u32::MAX), (0x20, 0, u32::MAX)];

    #[cfg(target_os = "linux")]
    #[test]
    fn access_lists_and_attributes_are_kept() {
        use rustix::fs::{XattrFlags, getxattr, setxattr};
        let mut list = 2_u32.to_le_bytes().to_vec();
        for (tag, permission, id) in LIST {
            list.extend([&tag.to_le_bytes()[..], &permission.to_le_bytes(), &id.to_le_bytes()].concat());
        }
        let attribute = |path: &Path, name: &str| {
            let mut value = [0; 100];
            getxattr(path, name, &mut value[..]).map(|length| value[..length].to_vec()).unwrap_or_default()
        };
        let broken = &broken();
        for (arguments, output, tag) in [
            (&["window", "-n", "2", "-i", "t.jsonl"][..], "t.jsonl", "keep"),
            (&["check", "--fix", "-q", "t.jsonl"], "t.jsonl", "keep"),
            (&["window", "-n", "2", "t.jsonl", "-O", "out"], "out/t.jsonl", ""),
        ] {
            let place = Place::new();
            place.write("t.jsonl", broken.as_bytes());
            let set = |name: &str, value: &[u8]| setxattr(place.path("t.jsonl"), name, value, XattrFlags::empty());
            if set("user.tag", b"keep").is_err() || set("system.posix_acl_access", &list).is_err() {
                // This file system has none.
                return;
            }
            drop(run(&place, arguments));
            let path = place.path(output);
            assert_ne!(&text(&fs::read(&path).unwrap()), broken, "{arguments:?} writes");
            assert_eq!(text(&attribute(&path, "user.tag")), tag, "{arguments:?}");
            assert_eq!(attribute(&path, "system.posix_acl_access"), list, "{arguments:?}");
            assert_eq!(mode(&place, output), 0o660, "the mask");
        }
    }

    /// A log that every command changes.
    fn broken() -> String {
        log("a", 3) + "{\"role\":\"tool\",\"tool_call_id\":\"x\",\"content\":\"b\"}\n"
    }

    /// A folder with a link to a file and one to a folder, both outside of it, and one inside.
    fn linked(content: &str) -> Place {
        let place = Place::new();
        place.write("repo/ok.jsonl", content.as_bytes());
        place.write("outside/precious.jsonl", content.as_bytes());
        std::os::unix::fs::symlink("../outside", place.path("repo/logs")).unwrap();
        std::os::unix::fs::symlink("../outside/precious.jsonl", place.path("repo/linked.jsonl")).unwrap();
        std::os::unix::fs::symlink("ok.jsonl", place.path("repo/a.jsonl")).unwrap();
        place
    }

    #[test]
    fn what_is_changed_in_place_is_in_the_folder() {
        let broken = &broken();
        for arguments in [&["window", "-n", "2", "-i"][..], &["check", "--fix"]] {
            let place = linked(broken);
            for path in ["repo", "repo/*.jsonl"] {
                let (_, stderr) = run(&place, &[arguments, &[path]].concat());
                assert!(stderr.contains("not followed") && stderr.contains("repo/linked.jsonl"), "{stderr}");
                assert!(stderr.contains("pass --follow-links"), "{stderr}");
                assert_eq!(text(&place.read("outside/precious.jsonl")), *broken, "{arguments:?} {path}");
                assert_ne!(text(&place.read("repo/ok.jsonl")), *broken, "{arguments:?} {path}");
            }
            assert!(!run(&place, &[arguments, &["repo", "-q"]].concat()).1.contains("not followed"));
            // What is asked for is done.
            for asked in [&["repo", "--follow-links"][..], &["repo/logs"], &["repo/linked.jsonl"]] {
                let place = linked(broken);
                let (_, stderr) = run(&place, &[arguments, asked].concat());
                assert!(!stderr.contains("not followed"), "{stderr}");
                assert_ne!(text(&place.read("outside/precious.jsonl")), *broken, "{arguments:?} {asked:?}");
            }
            // Reading follows.
            let (status, _) = run(&place, &["window", "repo", "-O", "out"]);
            assert!(status == 0 && place.path("out/linked.jsonl").exists());
        }
    }

    #[test]
    fn closed_standard_input_is_an_error() {
        let place = Place::new();
        place.write("out.jsonl", b"old");
        for line in [
            "curtail window -o out.jsonl --force",
            "curtail count",
            "curtail check",
            "curtail summarize --thread t",
            "curtail summarize --follow",
            "curtail memory set --thread t -",
            "curtail store import",
        ] {
            let (status, stderr) = run_shell(&place, &format!("{line} <&-"));
            assert!(status == 2 && stderr.contains("stdin: closed before the program started"), "{line}: {stderr}");
        }
        assert_eq!(place.read("out.jsonl"), b"old");
        assert_eq!(run_shell(&place, "curtail window -o out.jsonl --force < /dev/null").0, 0);
        assert_eq!(run_shell(&place, "curtail dialects <&- > names").0, 0, "it reads nothing");
    }
}

/// A program that opens a log of a batch after the first ones were replaced: its lines are not lost.
#[cfg(target_os = "linux")]
#[test]
fn a_log_that_is_opened_late_in_a_batch_stays() {
    use std::io::Write as _;
    let place = Place::new();
    place.write("batch/a.jsonl", log("a", 6).as_bytes());
    place.write("batch/b.jsonl", log("b", 6).as_bytes());
    place.write("hook.sh", b"grep -q 'of b' && { touch started; while [ ! -e go ]; do sleep 0.01; done; }; echo done");
    let mut child = place.command(&["summarize", "-n", "2", "-i=.bak", "-j1", "--concurrency", "1", "batch"]);
    let child = child.args(["--summarizer-cmd", "sh hook.sh"]).stderr(Stdio::piped()).spawn().unwrap();
    while !place.path("started").exists() {
        std::thread::yield_now();
    }
    assert_ne!(text(&place.read("batch/a.jsonl")), log("a", 6), "the programs were looked at");
    let mut late = fs::File::options().append(true).open(place.path("batch/b.jsonl")).unwrap();
    place.write("go", b"");
    let done = child.wait_with_output().unwrap();
    let stderr = text(&done.stderr);
    assert!(
        stderr.contains("batch/b.jsonl: another program has the file open for writing; left as it was"),
        "{stderr}"
    );
    assert_eq!(done.status.code(), Some(2));
    late.write_all(b"late").unwrap();
    assert_eq!(text(&place.read("batch/b.jsonl")), log("b", 6) + "late");
    let mut names =
        fs::read_dir(place.path("batch")).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
    names.sort();
    assert_eq!(names, ["a.jsonl", "a.jsonl.bak", "b.jsonl"], "no old version and no backup of it is left");
}

#[test]
fn resume_sees_what_files_of_flags_contain() {
    let template = "{% for m in messages %}{{ m.content }}{% endfor %}";
    let place = Place::new();
    (0..2).for_each(|nth| place.write(&format!("in/{nth}.jsonl"), chats(2).as_bytes()));
    place.write("t.jinja", template.as_bytes());
    place.write("tools.json", b"[]");
    place.write(
        "a/curtail.toml",
        b"[[history.processors]]\ntype = \"limit\"\nmax-tokens = 20\ntemplate = \"t.jinja\"\n",
    );
    for (file, arguments) in [
        ("t.jinja", &["limit", "-t", "20", "--template", "t.jinja"][..]),
        ("tools.json", &["limit", "-t", "20", "--template", "t.jinja", "--tools", "tools.json"]),
        ("t.jinja", &["split", "-t", "90", "--template", "t.jinja"]),
        ("a/t.jinja", &["run", "-c", "a/curtail.toml"]),
        ("state.txt", &["memory", "recall", "--state", "state.txt"]),
    ] {
        place.write("a/t.jinja", template.as_bytes());
        place.write("state.txt", b"a state");
        drop(fs::remove_dir_all(place.path("out")));
        let arguments = [arguments, &["in", "-O", "out", "--resume"]].concat();
        assert_eq!(run(&place, &arguments).0, 0, "{arguments:?}");
        let complete = "nothing left to do: all 2 outputs are complete";
        assert!(run(&place, &arguments).1.contains(complete), "{arguments:?}");
        let changed = text(&place.read(file)) + " ";
        place.write(file, changed.as_bytes());
        let (status, stderr) = run(&place, &arguments);
        assert!(status == 0 && !stderr.contains(complete), "{arguments:?} after {file}: {stderr}");
    }
}

#[test]
fn names_that_the_store_lacks_are_said() {
    let place = Place::new();
    assert_eq!(run(&place, &["memory", "set", "--thread", "trip-lisbon", "a state"]), (0, String::new()));
    place.write("chat.jsonl", chat("a", 1).as_bytes());
    for arguments in [
        &["memory", "show", "--thread", "trip-lisbom"][..],
        &["memory", "clear", "--thread", "trip-lisbom"],
        &["memory", "recall", "--thread", "trip-lisbom", "chat.jsonl"],
    ] {
        let (status, stderr) = run(&place, arguments);
        let hint = "nothing is stored for thread \"trip-lisbom\"; did you mean \"trip-lisbon\"?";
        assert!(status == 0 && stderr.contains(hint), "{arguments:?}: {stderr}");
    }
    assert_eq!(run(&place, &["memory", "show", "--thread", "trip-lisbon"]), (0, String::new()));
    assert_eq!(run(&place, &["memory", "show", "--thread", "zebra"]), (0, String::new()), "a new thread is none");
    let (status, stderr) = run(&place, &["memory", "show", "--resource", "zebra"]);
    assert!(
        status == 0 && stderr.contains("nothing is stored for resource \"zebra\"; `curtail memory list`"),
        "{stderr}"
    );
    assert_eq!(run(&place, &["memory", "set", "--resource", "ada", "a state"]), (0, String::new()));
    let (status, stderr) = run(&place, &["memory", "show", "--resource", "adda"]);
    assert!(status == 0 && stderr.contains("resource \"adda\"; did you mean \"ada\"?"), "{stderr}");
    let (status, stderr) = run(&place, &["store", "import", "chat.jsonl"]);
    assert!(status == 2 && stderr.contains("chat.jsonl:1: not an export of a store"), "{stderr}");
}

#[test]
fn wrong_files_and_values_are_reported_in_our_words() {
    let place = Place::new();
    place.write("chat.jsonl", chat("a", 1).as_bytes());
    place.write("bad", b"ab\xff\n");
    place.write("syntax.toml", b"a = = 1\n");
    place.write("deep.toml", format!("a = {}", "[".repeat(500)).as_bytes());
    let text = "bad: invalid UTF-8; convert the file to UTF-8\n";
    for (arguments, words) in [
        (&["memory", "recall", "--state", "bad", "chat.jsonl"][..], text),
        (&["memory", "show", "--thread", "t", "--schema", "bad"], text),
        (&["memory", "show", "--thread", "t", "--schema", "none"], "none: no such file or directory\n"),
        (&["count", "--template", "bad", "chat.jsonl"], text),
        (&["run", "-c", "bad", "chat.jsonl"], text),
        (&["replay", "--price", "bad", "chat.jsonl"], text),
        (
            &["replay", "--price", "syntax.toml", "chat.jsonl"],
            "syntax.toml: line 1, column 5: not a price table in TOML: ",
        ),
        (&["run", "-c", "syntax.toml", "chat.jsonl"], "syntax.toml:1:5: "),
        (&["run", "-c", "deep.toml", "chat.jsonl"], "arrays or tables are nested too deeply"),
        (&["init", "none/x.toml"], "none/x.toml: no such file or directory\n"),
        (
            &["store", "import", "--store", "new.db", "bad"],
            "bad:1: not an export of a store; name a file that `curtail store export` wrote",
        ),
        (&["memory", "spawn", "--to", "x"], "no resource id given; pass --resource ID"),
        (&["sessions", "-n", "-5"], "error: -n must not be negative\n"),
        (&["sessions", "-n", "x"], "error: -n takes a whole number, not `x`\n"),
        (&["sessions", "--since", "-7d"], "expected a time such as 30m, 12h, 7d or 2w"),
        (&["memory", "prune", "--older-than", "-3d"], "expected a number with s, m, h, d or w, such as 30d"),
    ] {
        let (status, stderr) = run(&place, arguments);
        assert!(status == 2 && stderr.contains(words) && !stderr.contains("os error"), "{arguments:?}: {stderr}");
    }
    assert!(!place.path("new.db").exists(), "a store of nothing");
}
