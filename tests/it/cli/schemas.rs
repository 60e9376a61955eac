//! What the program writes is what the published schemas say, and they name every key.

use serde_json::{Value, json};

use crate::program::{Place, command, root, run, text};

fn schema(output: &str) -> Value {
    let printed = run(&["schema", output], "");
    serde_json::from_slice(&printed.stdout).expect("a schema")
}

/// Refuses keys that the schema does not name; the published one allows them, so that a field can be added.
fn close(schema: &mut Value) {
    if schema.get("properties").is_some() {
        schema["additionalProperties"] = json!(false);
    }
    match schema {
        Value::Object(members) => members.values_mut().for_each(close),
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

/// Fails unless `values` are what `output` promises.
fn hold(output: &str, values: &[Value]) {
    let mut schema = schema(output);
    close(&mut schema);
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    assert!(!values.is_empty(), "{output} wrote nothing");
    for value in values {
        let wrong: Vec<String> =
            validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(wrong.is_empty(), "{output}: {}\n{value:#}", wrong.join("\n"));
    }
}

/// The JSON values in a text, one or one a line; other lines are notes.
fn values(text: &str) -> Vec<Value> {
    match serde_json::from_str(text) {
        Ok(value) => vec![value],
        Err(_) => text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect(),
    }
}

/// What a command writes for all fixtures, in one run: to standard output, and to standard error.
fn outputs(words: &str) -> (Vec<Value>, Vec<Value>) {
    let arguments: Vec<&str> = words.split(' ').chain(["fixtures/dialects"]).collect();
    let output = command(root(), &arguments).output().expect("it starts");
    (values(&text(&output.stdout)), values(&text(&output.stderr)))
}

#[test]
fn reports_are_what_their_schemas_say() {
    for words in ["check --strict --output-format json", "check -t 40 -W all --output-format json"] {
        hold("check", &outputs(words).0);
    }
    for by in ["file", "transcript", "message", "role", "tool"] {
        hold("count", &outputs(&format!("count --by {by} --output-format json")).0);
    }
    hold("show", &outputs("show --output-format json").0);
    let replayed = "replay fixtures/replay --missing --sweep limit:-t:{200,4k} -p summarize --output-format json";
    let words: Vec<String> = replayed.split(' ').map(|word| word.replace(':', " ")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    hold("replay", &values(&text(&run(&words, "").stdout)));
    for compared in
        ["before.jsonl fixtures/verify/after.md", "session.jsonl", "before.jsonl fixtures/verify/before.jsonl"]
    {
        let words = format!("verify --output-format json fixtures/verify/{compared}");
        hold("verify", &values(&text(&run(&words.split(' ').collect::<Vec<_>>(), "").stdout)));
    }
    hold("dialects", &values(&text(&run(&["dialects", "--output-format", "json"], "").stdout)));
    hold("tokenizers", &values(&text(&run(&["tokenizers", "--output-format", "json"], "").stdout)));
}

#[test]
fn decisions_and_sums_are_what_their_schemas_say() {
    let cuts = [
        "window -n 2",
        "limit -t 80",
        "filter --keep-last-results 1",
        "summarize -n 2",
        "repair --mode move",
        "filter",
    ];
    for cut in cuts {
        let place = Place::new();
        let flags = format!("{cut} --force --explain=json --stats=json -O {}", place.path("out").display());
        let (_, stderr) = outputs(&flags);
        let (sums, decisions): (Vec<_>, Vec<_>) = stderr.into_iter().partition(|value| value.get("files").is_some());
        hold("stats", &sums);
        hold("explain", &decisions);
    }
}

#[test]
fn what_is_set_aside_and_where_windows_come_from_is_what_the_schemas_say() {
    let place = Place::new();
    place.write("bad.jsonl", b"{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}\n{\"messages\":[{\n");
    let rejecting = ["window", "-n", "1", "--on-error", "skip", "--rejects", "rejects", "bad.jsonl", "-o", "out.jsonl"];
    let _ = place.curtail(&rejecting).output().expect("it starts");
    hold("rejects", &values(&text(&place.read("rejects"))));
    let trip = root().join("fixtures/trip.jsonl").display().to_string();
    let split = ["split", "-t", "150", "--map", "map", &trip, "-O", "parts"];
    let done = place.curtail(&split).output().expect("it starts");
    assert!(done.status.success(), "{}", text(&done.stderr));
    hold("split-map", &values(&text(&place.read("map"))));
}

#[test]
fn every_schema_is_listed_and_describes_its_fields() {
    let list = text(&run(&["schema"], "").stdout);
    let files = std::fs::read_dir(root().join("docs/schemas")).expect("the schemas");
    let mut names: Vec<String> = files
        .map(|entry| entry.expect("a file").path().file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    names.sort();
    let listed: Vec<&str> = list.lines().skip(1).filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(listed, names);
    for name in &names {
        for (key, field) in fields(&schema(name)) {
            assert!(field["description"].is_string(), "{name}: {key} has no description");
        }
    }
    let unknown = run(&["schema", "chekc"], "");
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("did you mean `check`?"));
}

/// All fields of a schema, at any depth.
fn fields(schema: &Value) -> Vec<(String, Value)> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let mut all: Vec<(String, Value)> = properties.map(|(key, field)| (key.clone(), field.clone())).collect();
    let below: Vec<_> = all.iter().flat_map(|(_, field)| fields(field)).collect();
    all.extend(below);
    if schema.get("items").is_some() {
        all.extend(fields(&schema["items"]));
    }
    let shared = schema["$defs"].as_object().into_iter().flatten();
    all.extend(shared.flat_map(|(_, shape)| fields(shape)));
    all
}
