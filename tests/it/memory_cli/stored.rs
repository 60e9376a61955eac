//! What is kept between runs: its owner, its rules, and its end.

use super::{OPENAI, Place, STATE};
use crate::program::gzip;

fn show_memory(place: &Place, args: &[&str]) -> String {
    place.out(&[&["memory", "show", "--output-format", "json"], args].concat())
}

#[test]
fn a_transcript_that_grows_is_applied_again_and_again() {
    let place = Place::new();
    let lines: Vec<&str> = OPENAI.split_inclusive('\n').collect();
    for length in 1..=lines.len() {
        let done = place.pipe(&["memory", "apply", "--thread", "t"], &lines[..length].concat());
        assert_eq!(done.code, 0, "{done:?}");
    }
    assert_eq!(show_memory(&place, &["--thread", "t"]), format!("{STATE}\n"));
    let bytes = std::fs::read(place.store()).unwrap();
    place.out(&["memory", "update", "--thread", "t", "{\"goal\":\"rest\"}"]);
    place.pipe(&["memory", "apply", "--thread", "t"], OPENAI).quietly();
    assert_eq!(show_memory(&place, &["--thread", "t"]), format!("{}\n", STATE.replace("ship v2", "rest")));
    assert_ne!(std::fs::read(place.store()).unwrap(), bytes);
}

#[test]
fn thread_and_resource_each_have_their_own() {
    let place = Place::new();
    for id in ["--thread=x", "--resource=x", "--thread=", "--thread=two\nlines", "--thread=-x"] {
        let update = format!("{{\"of\":{}}}", serde_json::Value::from(id));
        place.out(&["memory", "update", id, &update]);
    }
    assert_eq!(show_memory(&place, &["--thread", "x"]), "{\"of\":\"--thread=x\"}\n");
    assert_eq!(show_memory(&place, &["--resource", "x"]), "{\"of\":\"--resource=x\"}\n");
    assert_eq!(show_memory(&place, &["--resource", "x", "--thread", ""]), "{\"of\":\"--thread=\"}\n");
    assert_eq!(
        show_memory(&place, &["--scope", "resource", "--resource", "x", "--thread", ""]),
        "{\"of\":\"--resource=x\"}\n"
    );
    assert_eq!(show_memory(&place, &["--thread", "nobody"]), "\"\"\n");
    let done = place.run(&["memory", "show", "--scope", "resource", "--thread", "x"]);
    assert_eq!((done.code, done.err.as_str()), (2, "curtail: no resource id given; pass --resource ID\n"));
}

#[test]
fn looking_makes_no_store() {
    let place = Place::new();
    place.out(&["memory", "show", "--thread", "t"]);
    place.out(&["memory", "list"]);
    place.out(&["memory", "clear", "--thread", "t"]);
    place.out(&["memory", "prune", "--older-than", "1d"]);
    place.pipe(&["memory", "recall", "--thread", "t"], OPENAI).quietly();
    assert!(!place.has_store());
    assert_eq!(place.run(&["store", "export"]).code, 2);
}

#[test]
fn an_update_by_hand_that_breaks_the_schema_is_refused_with_its_words() {
    let place = Place::new();
    let schema = place.file("schema.json", r#"{"properties":{"n":{"type":"number"}},"required":["n"]}"#);
    let update = |json: &str| place.run(&["memory", "update", "--thread", "t", "--schema", &schema, json]);
    let refused = "curtail: the state does not match the schema: ";
    for (json, words) in
        [("{\"m\":1}", "\"n\" is a required property\n"), ("{\"n\":\"1\"}", "/n: \"1\" is not of type \"number\"\n")]
    {
        let done = update(json);
        assert_eq!((done.code, done.out.as_str(), done.err), (1, "", format!("{refused}{words}")));
    }
    assert_eq!(update("{\"n\":1}").code, 0);
    assert_eq!(update("{\"m\":2}").code, 0, "a part of it is enough now");
    assert_eq!(update("{\"n\":null}").code, 1);
    assert_eq!(update("[]").code, 2);
    assert_eq!(show_memory(&place, &["--thread", "t"]), "{\"n\":1,\"m\":2}\n");
    let set = place.run(&["memory", "set", "--thread", "t", "--schema", &schema, "plain text"]);
    assert_eq!(set.code, 1);
}

#[test]
fn a_schema_that_is_none_is_an_error_before_anything_else() {
    let place = Place::new();
    for (text, words) in
        [("{\"type\":\"nonsense\"}", "not a valid JSON Schema: /type"), ("{", "not JSON"), ("", "not JSON")]
    {
        let schema = place.file("schema.json", text);
        for command in
            [&["update", "no JSON"][..], &["apply", "nowhere.jsonl"], &["recall", "nowhere.jsonl"], &["show"]]
        {
            let done = place.run(&[&["memory"], command, &["--thread", "t", "--schema", &schema]].concat());
            assert!(done.code == 2 && done.err.starts_with(&format!("curtail: {schema}: {words}")), "{done:?}");
        }
    }
    assert!(!place.has_store());
}

#[test]
fn a_kept_state_that_fails_its_schema_is_set_aside_and_kept() {
    let place = Place::new();
    let schema = place.file("schema.json", r#"{"properties":{"n":{"type":"number"}}}"#);
    place.out(&["memory", "set", "--thread", "t", "{\"n\":\"one\"}"]);
    let done = place.run(&["memory", "show", "--thread", "t", "--schema", &schema]);
    assert!(done.out == "{}\n" && done.err.contains("/n: \"one\" is not of type \"number\""), "{done:?}");
    assert_eq!(show_memory(&place, &["--thread", "t"]), "{\"n\":\"one\"}\n", "looking set it aside");
    let done = place.run(&["memory", "update", "--thread", "t", "--schema", &schema, "{\"n\":\"two\"}"]);
    assert!(done.code == 1 && done.err.contains("is treated as empty"), "{done:?}");
    let done = place.pipe(&["memory", "recall", "--thread", "t", "--schema", &schema], OPENAI);
    assert!(done.code == 0 && done.err.contains("is treated as empty"), "{done:?}");
    assert_eq!(show_memory(&place, &["--thread", "t"]), "{\"n\":\"one\"}\n", "a refused update set it aside");
    let done = place.run(&["memory", "update", "--thread", "t", "--schema", &schema, "{\"n\":2}"]);
    assert!(done.code == 0 && done.out == "{\n  \"n\": 2\n}\n" && done.err.contains("set aside"), "{done:?}");
    let aside = place.out(&["memory", "show", "--thread", "t", "--set-aside"]);
    let aside: serde_json::Value = serde_json::from_str(&aside).unwrap();
    assert_eq!(
        (&aside["body"], &aside["reason"]),
        (&"{\"n\":\"one\"}".into(), &"/n: \"one\" is not of type \"number\"".into())
    );
}

/// What cannot be used is said as it is: nothing was set aside where nothing may be written, and it is not the same as nothing.
#[test]
fn an_unusable_state_that_is_left_is_not_said_to_be_set_aside_or_missing() {
    let place = Place::new();
    place.out(&["memory", "set", "--resource", "r", "notes"]);
    let raw = rusqlite::Connection::open(place.store()).unwrap();
    raw.execute("UPDATE entry SET body = '[1]'", []).unwrap();
    drop(raw);
    let bytes = std::fs::read(place.store()).unwrap();
    let left = "curtail: the stored state is unusable and is treated as empty: a list, not an object or text\n";
    let owner = ["--resource", "r", "--read-only"];
    let done = place.run(&[&["memory", "update", "{\"n\":1}"][..], &owner].concat());
    assert_eq!((done.code, done.out.as_str()), (0, "{}\n"), "{done:?}");
    assert_eq!(done.err, format!("{left}curtail: the memory is read-only; nothing changed\n"));
    for command in ["apply", "recall"] {
        let done = place.pipe(&[&["memory", command][..], &owner].concat(), OPENAI);
        assert!(done.code == 0 && done.err.starts_with(left), "{done:?}");
    }
    let none = place.pipe(&["memory", "apply", "--resource", "r"], "");
    assert_eq!((none.code, none.err.as_str()), (0, left), "{none:?}");
    let tried = place.pipe(&["memory", "recall", "--resource", "r", "--dry-run"], OPENAI);
    assert!(tried.code == 0 && tried.err.starts_with(left), "{tried:?}");
    let done = place.run(&["memory", "spawn", "--resource", "r", "--to", "c"]);
    let words = "curtail: the stored state is unusable: a list, not an object or text; nothing was copied\n";
    assert_eq!((done.code, done.err.as_str()), (2, words));
    assert_eq!(std::fs::read(place.store()).unwrap(), bytes);
}

#[test]
fn read_only_changes_nothing_and_says_so() {
    let place = Place::new();
    place.out(&["memory", "set", "--thread", "t", "notes"]);
    let bytes = std::fs::read(place.store()).unwrap();
    let done = place.run(&["memory", "update", "--thread", "t", "--read-only", "{\"n\":1}"]);
    assert_eq!((done.code, done.out.as_str()), (0, "notes\n"));
    assert_eq!(done.err, "curtail: the memory is read-only; nothing changed\n");
    assert_eq!(place.pipe(&["memory", "apply", "--thread", "t", "--read-only"], OPENAI).quietly(), "notes\n");
    assert_eq!(place.run(&["memory", "set", "--thread", "t", "--read-only", "x"]).code, 2);
    assert_eq!(std::fs::read(place.store()).unwrap(), bytes);
}

#[test]
fn a_child_gets_a_copy_of_resource_memory_and_none_of_thread_memory() {
    let place = Place::new();
    place.out(&["memory", "update", "--thread", "p", "{\"mine\":1}"]);
    place.out(&["memory", "update", "--resource", "r", "{\"ours\":1}"]);
    let done = place.run(&["memory", "spawn", "--thread", "p", "--to", "c"]);
    assert!(done.code == 0 && done.err.contains("a thread's state is not inherited"), "{done:?}");
    assert_eq!(show_memory(&place, &["--thread", "c"]), "\"\"\n");
    place.out(&["memory", "spawn", "--thread", "p", "--resource", "r", "--to", "c"]);
    place.out(&["memory", "update", "--thread", "c", "{\"ours\":2}"]);
    assert_eq!(show_memory(&place, &["--thread", "c"]), "{\"ours\":2}\n");
    assert_eq!(show_memory(&place, &["--resource", "r"]), "{\"ours\":1}\n");
    let taken = place.run(&["memory", "spawn", "--resource", "r", "--to", "c"]);
    assert!(taken.code == 2 && taken.err.contains("--force"), "{taken:?}");
    place.out(&["memory", "spawn", "--resource", "r", "--to", "c", "--force"]);
    assert_eq!(show_memory(&place, &["--thread", "c"]), "{\"ours\":1}\n");
}

#[test]
fn a_call_by_hand_is_known_by_its_id() {
    let place = Place::new();
    let update = |args: &[&str]| place.run(&[&["memory", "update", "--thread", "t"], args].concat());
    update(&["--call-id", "c", "{\"n\":1}"]);
    update(&["{\"n\":2}"]);
    let again = update(&["--call-id", "c", "{\"n\":1}"]);
    assert!(again.code == 0 && again.err.contains("this call was applied before"), "{again:?}");
    assert_eq!(show_memory(&place, &["--thread", "t"]), "{\"n\":2}\n");
}

#[test]
fn what_is_cleared_does_not_come_back_unless_it_is_forgotten() {
    let place = Place::new();
    let apply = || place.pipe(&["memory", "apply", "--thread", "t"], OPENAI).quietly();
    apply();
    place.out(&["memory", "clear", "--thread", "t"]);
    assert_eq!(apply(), "");
    place.out(&["memory", "clear", "--thread", "t", "--forget"]);
    assert!(apply().contains("ship v2"));
}

#[test]
fn list_and_prune_go_by_age() {
    let place = Place::new();
    place.out(&["memory", "set", "--thread", "old", "notes"]);
    place.out(&["memory", "set", "--resource", "new\u{1b}[31m", "notes"]);
    let raw = rusqlite::Connection::open(place.store()).unwrap();
    raw.execute("UPDATE entry SET updated = updated - 864000000 WHERE id = 'old'", []).unwrap();
    drop(raw);
    let list = place.out(&["memory", "list"]);
    let columns: Vec<&str> = list.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(columns, ["scope", "id", "bytes", "updates", "set", "aside", "changed"]);
    assert!(list.contains("new⟨U+001B⟩[31m") && !list.contains('\u{1b}'), "{list}");
    let json = place.out(&["memory", "list", "--scope", "resource", "--output-format", "json"]);
    assert!(json.starts_with("{\"scope\":\"resource\",\"id\":\"new\\u001b[31m\",\"bytes\":7,"), "{json}");
    let old = place.out(&["memory", "list", "--older-than", "9d"]);
    assert_eq!(place.out(&["memory", "prune", "--older-than", "9d", "--dry-run"]), old);
    assert_eq!(place.out(&["memory", "prune", "--older-than", "9d", "--scope", "resource"]), "");
    assert_eq!(place.out(&["memory", "prune", "--older-than", "9d"]), old);
    assert!(old.contains("thread  old") && !place.out(&["memory", "list"]).contains("old"), "{old}");
    assert_eq!(place.run(&["memory", "prune", "--older-than", "soon"]).code, 2);
}

#[test]
fn a_store_travels_as_lines() {
    let (here, there) = (Place::new(), Place::new());
    here.pipe(&["memory", "apply", "--thread", "t"], OPENAI).quietly();
    let file = here.path("out.jsonl").display().to_string();
    here.out(&["store", "export", &file]);
    assert_eq!(here.run(&["store", "export", &file]).code, 2, "an export overwrote a file");
    assert_eq!(there.run(&["store", "import", &file]).err, "curtail: imported 1 state\n");
    assert_eq!(show_memory(&there, &["--thread", "t"]), format!("{STATE}\n"));
    assert_eq!(here.out(&["store", "export"]), there.out(&["store", "export", "-"]));
    let elsewhere = Place::new();
    std::fs::write(elsewhere.path("out.jsonl.gz"), gzip(&here.out(&["store", "export"]))).unwrap();
    let packed = elsewhere.path("out.jsonl.gz").display().to_string();
    assert_eq!(elsewhere.run(&["store", "import", &packed]).err, "curtail: imported 1 state\n");
    let nowhere = Place::new();
    let broken = nowhere.path("broken.jsonl").display().to_string();
    std::fs::write(&broken, here.out(&["store", "export"]) + "{}\n").unwrap();
    assert_eq!(nowhere.run(&["store", "import", &broken]).code, 2);
    assert!(nowhere.run(&["store", "export"]).err.contains("no such store"), "what is no export made a store");
    there.out(&["memory", "update", "--thread", "t", "{\"goal\":\"rest\"}"]);
    let clash = there.run(&["store", "import", &file]);
    assert!(clash.code == 2 && clash.err.contains("out.jsonl:2: ") && clash.err.contains("--on-clash"), "{clash:?}");
    there.run(&["store", "import", "--on-clash", "keep", &file]);
    assert!(show_memory(&there, &["--thread", "t"]).contains("rest"));
    there.run(&["store", "import", "--on-clash", "replace", &file]);
    assert_eq!(show_memory(&there, &["--thread", "t"]), format!("{STATE}\n"));
}
