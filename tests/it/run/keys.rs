//! The flags of a command and the keys of its table are the same, and so is what the schema says of them.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{folder, output, root, stderr, stdout};

/// The long flags of a command, aliases included, as `--help` lists them.
fn flags(command: &str) -> BTreeSet<String> {
    let arguments: Vec<&str> = command.split(' ').chain(["--help"]).collect();
    let help = stdout(root(), &arguments);
    let listed = help.lines().filter(|line| {
        let text = line.trim_start();
        // A flag is less indented than its description.
        let is_flag = text.starts_with('-') && (2..=6).contains(&(line.len() - text.len()));
        is_flag || text.starts_with("[alias")
    });
    let words = listed.flat_map(|line| line.split(|c: char| !c.is_ascii_alphanumeric() && c != '-'));
    words.filter_map(|word| word.strip_prefix("--")).map(str::to_owned).collect()
}

/// The schema that the program prints.
fn schema() -> Value {
    serde_json::from_str(&stdout(root(), &["schema", "configuration"])).expect("JSON")
}

/// The types of processors in the schema.
fn types(schema: &Value) -> Vec<&str> {
    let types = schema["$defs"]["processor"]["properties"]["type"]["enum"].as_array().expect("a list of types");
    types.iter().map(|name| name.as_str().expect("a name")).collect()
}

/// The keys of a type in the schema, aliases included.
fn keys(schema: &Value, kind: &str) -> BTreeSet<String> {
    let properties = schema["$defs"][kind]["properties"].as_object().expect("properties");
    properties.keys().filter(|key| *key != "type").cloned().collect()
}

/// The command of a processor: its own name, except for the one that recalls what `memory` keeps.
fn command(kind: &str) -> &str {
    if kind == "memory" { "memory recall" } else { kind }
}

#[test]
fn every_flag_is_a_key_and_every_key_a_flag() {
    // What `run` takes besides its own chain is what every cutting command takes: input, output, report.
    let mut shared = flags("run");
    for flag in ["network", "agent", "print", "config", "no-config", "trust"] {
        assert!(shared.remove(flag), "`run --{flag}` is gone");
    }
    // What `summarize` does besides cutting: other outputs, and a memory that it keeps by itself.
    shared
        .extend(["emit", "print-prompt", "thread", "store", "from", "follow", "rewind", "handoff"].map(str::to_owned));
    // What `filter` does with records, and not with their messages.
    shared.insert(String::from("drop-records-with"));
    let schema = schema();
    assert_eq!(types(&schema).len(), 6, "{:?}", types(&schema));
    for kind in types(&schema) {
        let mut shared = shared.clone();
        if kind == "memory" {
            shared.retain(|flag| !["thread", "store"].contains(&flag.as_str()));
        }
        // How a damaged file is read is no policy.
        if kind == "repair" {
            shared.insert(String::from("damaged"));
        }
        if kind == "filter" {
            // The limit of the rules by which records are dropped.
            let counting = [
                "max-tokens", "tokenizer", "model", "template", "reserve", "overhead", "add-generation-prompt", "tools",
            ];
            shared.extend(counting.map(str::to_owned));
        }
        let mut flag: BTreeSet<String> = flags(command(kind)).difference(&shared).cloned().collect();
        // On the command line, `--exclude` is about paths.
        flag.extend((kind == "filter").then(|| String::from("exclude")));
        assert_eq!(flag, keys(&schema, kind), "{kind}");
    }
}

/// What the program refuses in a file, an editor marks, and the other way round.
#[test]
fn the_schema_and_the_program_agree() {
    let schema = schema();
    let schema = jsonschema::validator_for(&schema).expect("a schema");
    let processors = [
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
        ("type = 'limit'\nmax-tokens = true", false),
        ("type = 'limit'\nmax-tokens = '1.5m'\nstep = '12.5 %'\ntrigger = 0", true),
        ("type = 'limit'\nmax-tokens = -5", false),
        ("type = 'limit'\nmax-tokens = '-5k'", false),
        ("type = 'limit'\nmax-tokens = 'many'", false),
        ("type = 'limit'\nmax-tokens = '1.5'", false),
        ("type = 'filter'\nmax-media-bytes = '2g'\ncap-result = '8k'", true),
        ("type = 'filter'\nmax-media-bytes = -1", false),
        ("type = 'filter'\ncap-result = '50%'", false),
        ("type = 'summarize'\ntimeout = 1.5\nsummarizer = 'command'\nsummarizer-cmd = 'cat'", true),
        ("type = 'summarize'\nretries = '2'", false),
        ("type = 'memory'\nstate = 'a'\nthread = 'b'", false),
    ];
    let checks = [
        ("[check]\ndeny = 'pairing'\nstrict = true\nmax-tokens = '8k'", true),
        ("[check]\nallow = ['all', 'P001']\nstateful = false\nprofile = 'openai'", true),
        ("[[check.paths]]\npath = 'a/**'\nskip = true\nwarn = 'turn'", true),
        ("[check]\nstrict = 1", false),
        ("[check]\ndeny = 'paring'", false),
        ("[check]\ndeny = []", false),
        ("[check]\nmax-tokens = true", false),
        ("[check]\nskip = true", false),
        ("[check]\npaths = 'a/**'", false),
        ("[[check.paths]]\nskip = true", false),
        ("[[check.paths]]\npath = 'a/**'\nstrict = true", false),
    ];
    let processors = processors.map(|(keys, good)| (format!("[[history.processors]]\n{keys}"), "run --print", good));
    let checks = checks.map(|(keys, good)| (String::from(keys), "check --allow-empty", good));
    for (toml, command, good) in processors.into_iter().chain(checks) {
        let value: Value = toml::from_str(&toml).expect("TOML");
        assert_eq!(schema.is_valid(&value), good, "the schema: {toml}");
        let folder = folder(&toml);
        let arguments: Vec<&str> = command.split(' ').collect();
        assert_eq!(output(folder.path(), &arguments).status.success(), good, "the program: {toml}");
    }
}

#[test]
fn the_schema_lists_the_keys_that_the_program_knows_and_describes_each() {
    let schema = schema();
    for kind in types(&schema) {
        let folder = folder(&format!("[[history.processors]]\ntype = \"{kind}\"\nnot-a-key = 1\n"));
        let message = stderr(folder.path(), &["run", "--print"]);
        let (_, known) = message.trim_end().split_once(" known: type, ").unwrap_or_else(|| panic!("{kind}: {message}"));
        let known: BTreeSet<String> = known.split(", ").map(str::to_owned).collect();
        assert_eq!(keys(&schema, kind), known, "{kind}");
        let properties = schema["$defs"][kind]["properties"].as_object().expect("properties");
        let described = |property: &Value| property["description"].as_str().is_some_and(|text| !text.is_empty());
        assert!(properties.iter().all(|(name, property)| name == "type" || described(property)), "{kind}");
    }
}
