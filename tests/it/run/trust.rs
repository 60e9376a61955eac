//! What a configuration file may do depends on who chose it: a found file runs nothing and names nothing outside.

use std::fs;
use std::path::Path;

use super::{curtail, folder, output};
use crate::server::{Reply, Server};

const CHAT: &str = r#"{"messages": [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}, {"role": "user", "content": "three"}, {"role": "assistant", "content": "four"}]}"#;

/// A folder whose file summarizes with these keys, and a chat that is long enough for a summary.
fn repository(keys: &str) -> tempfile::TempDir {
    let folder = folder(&format!("[[history.processors]]\ntype = \"summarize\"\nwindow = 1\n{keys}\n"));
    fs::write(folder.path().join("chat.jsonl"), CHAT).expect("a file");
    folder
}

/// A command that leaves a mark.
const MARK: &str = "summarizer-cmd = \"sh -c 'echo ran > mark; echo summary'\"";

fn status(folder: &Path, args: &[&str]) -> (Option<i32>, String) {
    let output = output(folder, args);
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_found_file_may_not_run_programs_or_name_servers_keys_and_files() {
    for key in [
        MARK,
        "endpoint = \"http://127.0.0.1:9/v1\"",
        "api-key-file = \"key\"",
        "prompt = \"chat.jsonl\"",
        "cache = \"cache\"",
        "extra-body = \"{}\"",
        "allow-http = true",
        "ca-file = \"key\"",
        "tokenizer = \"/dev/zero\"",
        "tokenizer = \"chat.jsonl\"",
        "tokenizer = \"missing/tokenizer.json\"",
    ] {
        let folder = repository(key);
        let below = folder.path().join("deep/er");
        fs::create_dir_all(&below).expect("a folder");
        let name = key.split(' ').next().expect("a key");
        for (place, chat) in [(folder.path(), "chat.jsonl"), (&below, "../../chat.jsonl")] {
            for more in [&[][..], &["--dry-run"]] {
                let (status, stderr) = status(place, &[&["run", chat], more].concat());
                assert_eq!(status, Some(2), "{key}: {stderr}");
                assert!(
                    stderr.contains(&format!("curtail.toml:4:1: `{name}`")) && stderr.contains("--trust"),
                    "{stderr}"
                );
            }
        }
        assert!(!folder.path().join("mark").exists(), "{key}");
        // It can be looked at without trust.
        assert_eq!(status(folder.path(), &["run", "--print"]).0, Some(0));
        assert_eq!(status(folder.path(), &["config", "show"]).0, Some(0));
    }
}

/// A stored memory is the user's own, and a model would be sent what it says.
#[test]
fn a_found_file_reads_no_store_and_names_no_tokenizer() {
    for processor in [
        "type = \"memory\"\nresource = \"me\"",
        "type = \"memory\"\nthread = \"me\"",
        "type = \"memory\"\nscope = \"resource\"\nresource = \"me\"",
        "type = \"memory\"\ntokenizer = \"./chat.jsonl\"",
        "type = \"limit\"\nmax-tokens = 10\ntokenizer = \"usage:tokenizer.json\"",
        "type = \"limit\"\nmax-tokens = 10\ntokenizer = \"/dev/zero\"",
    ] {
        let folder = folder(&format!("[[history.processors]]\n{processor}\n"));
        fs::write(folder.path().join("chat.jsonl"), CHAT).expect("a file");
        let (code, stderr) = status(folder.path(), &["run", "chat.jsonl"]);
        assert!(
            code == Some(2) && stderr.contains("curtail.toml:") && stderr.contains("--trust"),
            "{processor}: {stderr}"
        );
        assert!(!folder.path().join("state").exists(), "{processor}");
    }
    // A name is no file.
    for name in ["cl100k_base", "approx", "approx:cl100k_base"] {
        let keys = format!("type = \"limit\"\nmax-tokens = 1000\ntokenizer = \"{name}\"");
        let folder = folder(&format!("[[history.processors]]\n{keys}\n"));
        fs::write(folder.path().join("chat.jsonl"), CHAT).expect("a file");
        assert_eq!(status(folder.path(), &["run", "chat.jsonl"]).0, Some(0), "{name}");
    }
}

#[test]
fn a_file_that_the_user_chose_may() {
    for flags in [&["--trust"][..], &["-c", "curtail.toml"]] {
        let folder = repository(MARK);
        let (status, stderr) = status(folder.path(), &[&["run", "chat.jsonl"], flags].concat());
        assert_eq!(status, Some(0), "{stderr}");
        assert!(folder.path().join("mark").exists(), "{flags:?}");
    }
    // The user's own file, which applies where there is no other.
    let (home, work) = (repository(MARK), tempfile::tempdir().expect("a folder"));
    let settings = home.path().join(".config/curtail");
    fs::create_dir_all(&settings).expect("a folder");
    fs::rename(home.path().join("curtail.toml"), settings.join("curtail.toml")).expect("moved");
    fs::write(work.path().join("chat.jsonl"), CHAT).expect("a file");
    let run = curtail(work.path(), &["run", "chat.jsonl"]).env("HOME", home.path()).output().expect("curtail runs");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    assert!(work.path().join("mark").exists());
}

#[test]
fn a_dry_run_runs_and_sends_nothing() {
    let server = Server::with_replies(vec![Reply::status(500, "no")]);
    let sending = |kind: &str| {
        format!("summarizer = \"{kind}\"\nsummary-model = \"m\"\nendpoint = \"http://{}\"", server.address)
    };
    for keys in [MARK.to_owned(), sending("openai"), sending("anthropic")] {
        let folder = repository(&keys);
        let (status, stderr) = status(folder.path(), &["run", "--trust", "--dry-run", "chat.jsonl"]);
        assert_eq!(status, Some(0), "{stderr}");
        assert!(stderr.contains("inserted: summaries"), "{stderr}");
        assert!(!folder.path().join("mark").exists());
    }
    assert_eq!(server.received().len(), 0);
    let folder = repository("");
    let command = "sh -c 'echo ran > mark; echo summary'";
    let args = ["summarize", "-n", "1", "--summarizer-cmd", command, "--dry-run", "chat.jsonl"];
    assert_eq!(status(folder.path(), &args).0, Some(0));
    assert!(!folder.path().join("mark").exists());
}
