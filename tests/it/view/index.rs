//! The search of an index: the texts of all sessions, in files beside it.

use std::collections::BTreeMap;
use std::io::Read as _;

use base64::Engine as _;
use serde_json::{Value, json};

use crate::program::{Place, text};

/// Writes the pages of `input`, a file or folder, and an index to `pages`.
fn write(place: &Place, input: &str, flags: &[&str]) {
    let run = place.curtail(&["view", input, "-O", "pages"]).args(flags).output().unwrap();
    assert!(run.status.success(), "{}", text(&run.stderr));
}

/// The texts of each session that the index searches, by the link to its page.
fn texts(place: &Place) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for line in text(&place.read("pages/search-1.js")).lines() {
        let arguments = line.strip_prefix("curtailTexts(").unwrap().strip_suffix(')').unwrap();
        let (links, packed): (Vec<String>, String) = serde_json::from_str(&format!("[{arguments}]")).unwrap();
        let packed = base64::engine::general_purpose::STANDARD.decode(packed).unwrap();
        let mut unpacked = String::new();
        flate2::read::DeflateDecoder::new(packed.as_slice()).read_to_string(&mut unpacked).unwrap();
        let sessions: Vec<&str> = unpacked.split('\u{1d}').collect();
        assert_eq!(sessions.len(), links.len());
        all.extend(links.into_iter().zip(sessions.into_iter().map(str::to_owned)));
    }
    all
}

/// A session with a text of every kind, each with a word of its own.
fn session(name: &str) -> String {
    let call = |id: &str, tool: &str, input: Value| json!({"type": "tool_use", "id": id, "name": tool, "input": input});
    let result = |id: &str, content: &str| json!({"type": "tool_result", "tool_use_id": id, "content": content});
    let long = format!("{}{name}-beyond", "a line of a log\n".repeat(3_000));
    let lines = [
        json!({"role": "user", "content": format!("{name}-prompt, please")}),
        json!({"role": "assistant", "content": [
            {"type": "thinking", "thinking": format!("{name}-thought"), "signature": "s"},
            {"type": "text", "text": format!("An **{name}**-answer")},
            call("a", "Bash", json!({"command": format!("cat {name}-argument")})),
            call("b", "Edit", json!({"file_path": format!("/src/{name}-path.rs"), "old_string": "let one = 1;", "new_string": format!("let {name}_new = 1;")})),
        ]}),
        json!({"role": "user", "content": [result("a", &long), result("b", &format!("{name}-result"))]}),
        json!({"role": "assistant", "content": "Done."}),
    ];
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn an_index_searches_every_text_of_every_session() {
    let place = Place::new();
    place.write("logs/a.jsonl", session("oak").as_bytes());
    place.write("logs/deep/b.jsonl", session("elm").as_bytes());
    write(&place, "logs", &[]);
    let texts = texts(&place);
    for (link, name) in [("./a.jsonl.html", "oak"), ("./deep/b.jsonl.html", "elm")] {
        let found = &texts[link];
        for kind in ["-prompt", "-thought", "-answer", "-argument", "-path.rs", "_new", "-result", "-beyond"] {
            assert!(found.contains(&format!("{name}{kind}")), "{name}{kind}: {found}");
        }
    }
    assert!(!texts["./a.jsonl.html"].contains("elm"));
    // Only the script of an index may load others.
    let index = text(&place.read("pages/index.html"));
    assert!(index.contains("data-texts=\"1\"") && index.contains("'strict-dynamic'"), "{index}");
    assert!(!text(&place.read("pages/a.jsonl.html")).contains("strict-dynamic"));
}

#[test]
fn what_is_masked_cannot_be_searched() {
    let place = Place::new();
    let key = "sk-ant-api03-Zk3vQ9xLr7Tn2WbY5uHd";
    let log = session("oak").replace("oak-argument", key).replace("/src/", "/home/ada/src/");
    place.write("logs/a.jsonl", log.as_bytes());
    write(&place, "logs", &["--mask"]);
    let texts = texts(&place);
    let found = &texts["./a.jsonl.html"];
    assert!(found.contains("oak-thought") && !found.contains("Zk3vQ9") && !found.contains("/home/ada"), "{found}");
}

#[test]
fn the_files_of_a_search_do_not_depend_on_jobs() {
    let written = |jobs: &str| {
        let place = Place::new();
        for nth in 0..20 {
            place.write(&format!("logs/{nth}.jsonl"), session(&format!("tree{nth}")).as_bytes());
        }
        write(&place, "logs", &["--jobs", jobs]);
        [place.read("pages/index.html"), place.read("pages/search-1.js")]
    };
    assert_eq!(written("1"), written("4"));
}

#[test]
fn the_files_of_a_search_are_not_overwritten() {
    let place = Place::new();
    place.write("logs/a.jsonl", session("oak").as_bytes());
    place.write("pages/search-1.js", b"mine");
    let run = place.curtail(&["view", "logs", "-O", "pages"]).output().unwrap();
    assert!(!run.status.success() && text(&run.stderr).contains("search-1.js"), "{}", text(&run.stderr));
    assert_eq!(place.read("pages/search-1.js"), b"mine");
}
