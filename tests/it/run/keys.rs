//! The flags of a command and the keys of its table are the same, and so is what the schema says of them.

use std::collections::BTreeSet;

use curtail::cli::PROCESSOR_SPECS;
use curtail::cli::config::schema;
use curtail::cli::options::ProcessorSpec;
use serde_json::{Value, json};

use super::{folder, output, root, stdout};

/// The long flags of a command, aliases and all.
fn flags(command: &str) -> BTreeSet<String> {
    let mut program = curtail::cli::command();
    program.build();
    let command = command.split(' ').fold(&program, |above, name| above.find_subcommand(name).expect("a command"));
    let own = command.get_arguments().filter(|flag| !flag.is_global_set() && flag.get_id() != "help");
    let names = own.flat_map(|flag| flag.get_long_and_visible_aliases().into_iter().flatten());
    names.map(str::to_owned).collect()
}

/// The command of a processor: its own name, but for the one that recalls what `memory` keeps.
fn command(kind: &ProcessorSpec) -> &'static str {
    if kind.name == "memory" { "memory recall" } else { kind.name }
}

fn keys(kind: &ProcessorSpec) -> BTreeSet<String> {
    let keys = kind.keys();
    keys.into_iter().flat_map(|key| std::iter::once(key.name).chain(key.aliases)).collect()
}

#[test]
fn every_flag_is_a_key_and_every_key_a_flag() {
    // What `run` takes beside its own chain is what every cutting command takes: input, output, report.
    let mut shared = flags("run");
    for own in ["network", "agent", "print", "config", "no-config"] {
        assert!(shared.remove(own), "`run --{own}` is gone");
    }
    // What `summarize` does besides cutting: other outputs, and a memory that it keeps by itself.
    shared.extend(["emit", "print-prompt", "thread", "store", "from", "follow"].map(str::to_owned));
    for kind in PROCESSOR_SPECS {
        let mut shared = shared.clone();
        if kind.name == "memory" {
            shared.retain(|own| !["thread", "store"].contains(&own.as_str()));
        }
        let own: BTreeSet<String> = flags(command(kind)).difference(&shared).cloned().collect();
        assert_eq!(own, keys(kind), "{}", kind.name);
    }
}

/// What the program refuses in a file, an editor marks, and the other way round.
#[cfg(feature = "schema")]
#[test]
fn the_schema_and_the_program_agree() {
    let schema: Value = serde_json::from_str(&stdout(root(), &["config", "--schema"])).expect("JSON");
    let schema = jsonschema::validator_for(&schema).expect("a schema");
    let cases = [
        ("type = 'window'\nsize = 3\npreserve-system = false", true),
        ("type = 'limit'\nmax-tokens = '16k'\nmodel = 'gpt-4o'", true),
        ("type = 'filter'\nexclude = 'debug_*'\npersist-results = true", true),
        ("type = 'summarize'\nwindow = 21", true),
        ("type = 'window'\nsiz = 3", false),
        ("type = 'window'\nsize = 0", false),
        ("type = 'windo'", false),
        ("size = 3", false),
        ("type = 'summarize'\nwindow = 0", false),
        ("type = 'filter'\nexclude = ['a']\ninclude = ['b']", false),
        ("type = 'filter'\nexclude = ['a']\nexclude-tool = ['b']", false),
        ("type = 'filter'\nexclude = []", false),
        ("type = 'window'\npreserve-system = true\nno-preserve-system = true", false),
        ("type = 'limit'", false),
        ("type = 'limit'\nmax-tokens = 9\non-overflow = 'x'", false),
    ];
    for (keys, good) in cases {
        let toml = format!("[[history.processors]]\n{keys}\n");
        let value: Value = toml::from_str(&toml).expect("TOML");
        assert_eq!(schema.is_valid(&value), good, "the schema: {keys}");
        let folder = folder(&toml);
        assert_eq!(output(folder.path(), &["run", "--print"]).status.success(), good, "the program: {keys}");
    }
}

#[test]
fn the_schema_knows_the_keys() {
    let schema = schema(PROCESSOR_SPECS, &json!({"type": "object"}));
    for kind in PROCESSOR_SPECS {
        let properties = schema["$defs"][kind.name]["properties"].as_object().expect("an object");
        let mut known: BTreeSet<String> = properties.keys().cloned().collect();
        assert!(known.remove("type"));
        assert_eq!(known, keys(kind), "{}", kind.name);
        let described = |property: &Value| property["description"].as_str().is_some_and(|words| !words.is_empty());
        assert!(properties.iter().all(|(name, property)| name == "type" || described(property)), "{}", kind.name);
    }
}
