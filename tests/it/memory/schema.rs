//! States with a schema: what passes, what is refused with which message, and the tool that belongs to it.

use curtail_memory::memory::{NAMES, Outcome, Schema, Scratchpad, Shape, State, Update, definition};
use serde_json::{Value, json};

const PLAN: &str = r#"{
  "type": "object",
  "properties": {
    "goal": {"type": "string"},
    "steps": {"type": "array", "items": {"type": "object", "required": ["name"]}},
    "owner": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
  },
  "required": ["goal"],
  "additionalProperties": false
}"#;

fn apply(pad: &mut Scratchpad<'_>, arguments: &str) -> Outcome {
    let call_id = "call_1";
    pad.apply(Update { call_id, arguments })
}

#[test]
fn the_merged_state_must_pass_so_that_an_update_may_be_partial() {
    let schema = Schema::parse(PLAN).unwrap();
    let mut pad = Scratchpad::new(State::empty_object(), Some(&schema), false);
    let steps = r#"{"steps":[{"name":"build"}]}"#;
    assert_eq!(apply(&mut pad, steps), Outcome::Refused("\"goal\" is a required property".into()));
    assert_eq!(pad.state(), &State::empty_object());
    assert_eq!(apply(&mut pad, r#"{"goal":"ship"}"#), Outcome::Applied);
    // Alone it would fail still; merged with the goal it passes.
    assert_eq!(apply(&mut pad, steps), Outcome::Applied);
    assert_eq!(pad.state().to_json(), r#"{"goal":"ship","steps":[{"name":"build"}]}"#);
}

#[test]
fn a_refusal_has_the_validators_words_and_paths_and_leaves_the_state() {
    let schema = Schema::parse(PLAN).unwrap();
    let mut pad = Scratchpad::new(State::given("{\"goal\":\"ship\"}"), Some(&schema), false);
    let cases = [
        (r#"{"goal":3}"#, "/goal: 3 is not of type \"string\""),
        (
            r#"{"steps":[{},{"name":1},7]}"#,
            "/steps/0: \"name\" is a required property; /steps/2: 7 is not of type \"object\"",
        ),
        (r#"{"mood":"fine"}"#, "'mood' was unexpected"),
        (r#"{"owner":{"age":3}}"#, "/owner: \"name\" is a required property"),
    ];
    for (arguments, expected) in cases {
        let Outcome::Refused(reason) = apply(&mut pad, arguments) else {
            panic!("{arguments}: taken");
        };
        assert!(reason.contains(expected), "{arguments}: {reason}");
        assert_eq!(pad.state().to_json(), "{\"goal\":\"ship\"}");
    }
}

#[test]
fn a_refusal_stays_short_however_much_is_wrong() {
    let schema = Schema::parse(r#"{"additionalProperties":{"type":"string"}}"#).unwrap();
    let wrong: Vec<String> = (0..100).map(|n| format!("\"k{n}\":[\"{}\"]", "x".repeat(5_000))).collect();
    let mut pad = Scratchpad::new(State::empty_object(), Some(&schema), false);
    let Outcome::Refused(reason) = apply(&mut pad, &format!("{{{}}}", wrong.join(","))) else {
        panic!("taken");
    };
    assert!(reason.len() < 4_000 && reason.ends_with("; and 92 more"), "{reason}");
}

#[test]
fn a_schema_that_is_none_is_an_error_from_the_start() {
    let deep = format!("{}true{}", "{\"not\":".repeat(200), "}".repeat(200));
    let cases = [
        ("", "not JSON"),
        ("{\"type\":", "not JSON: line 1, column 9: "),
        ("{\"type\":\"text\"}", "not a valid JSON Schema: /type"),
        ("{\"required\":\"goal\"}", "not a valid JSON Schema: /required"),
        ("[]", "not a valid JSON Schema"),
        ("{\"pattern\":\"(\"}", "not a valid JSON Schema: /pattern"),
        ("{\"$ref\":\"#/$defs/nowhere\"}", "nowhere"),
        (
            "{\"$ref\":\"https://example.com/plan.json\"}",
            "refers to another document (https://example.com/plan.json), which is not fetched",
        ),
        ("{\"$ref\":\"http://a.example/b\"}", "refers to another document (http://a.example/b), which is not fetched"),
        (
            "{\"$ref\":\"file:///etc/hostname\"}",
            "refers to another document (file:///etc/hostname), which is not fetched",
        ),
        ("{\"$ref\":\"other.json#/a\"}", "refers to another document (other.json#/a), which is not fetched"),
        (
            "{\"$schema\":\"https://a.example/s\"}",
            "refers to another document (https://a.example/s), which is not fetched",
        ),
        (&deep, "nested too deeply"),
    ];
    for (text, expected) in cases {
        let error = Schema::parse(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn schemas_that_refer_to_themselves_end() {
    let tree = r##"{"type":"object","additionalProperties":{"$ref":"#"}}"##;
    let schema = Schema::parse(tree).unwrap();
    let mut pad = Scratchpad::new(State::empty_object(), Some(&schema), false);
    let deep = format!("{}{{}}{}", "{\"k\":".repeat(100), "}".repeat(100));
    assert_eq!(apply(&mut pad, &deep), Outcome::Applied);
    assert!(matches!(apply(&mut pad, "{\"k\":1}"), Outcome::Refused(_)));
    // One that only refers to itself may be accepted or not, but must be answered.
    if let Ok(schema) = Schema::parse(r##"{"$ref":"#"}"##) {
        let mut pad = Scratchpad::new(State::empty_object(), Some(&schema), false);
        assert!(matches!(apply(&mut pad, "{\"k\":1}"), Outcome::Applied | Outcome::Refused(_)));
    }
}

/// Where each provider's tool has its name, its description and its schema.
const PLACES: [(Shape, &str, &str, &str); 5] = [
    (Shape::OpenAi, "/function/name", "/function/description", "/function/parameters"),
    (Shape::Responses, "/name", "/description", "/parameters"),
    (Shape::Anthropic, "/name", "/description", "/input_schema"),
    (
        Shape::Gemini,
        "/functionDeclarations/0/name",
        "/functionDeclarations/0/description",
        "/functionDeclarations/0/parametersJsonSchema",
    ),
    (Shape::Bedrock, "/toolSpec/name", "/toolSpec/description", "/toolSpec/inputSchema/json"),
];

#[test]
fn the_tool_asks_for_a_part_and_says_what_the_whole_must_have() {
    let schema = Schema::parse(PLAN).unwrap();
    let parameters = json!({
        "type": "object",
        "properties": {
            "goal": {"type": "string"},
            "steps": {"type": "array", "items": {"type": "object", "required": ["name"]}},
            "owner": {"type": "object", "properties": {"name": {"type": "string"}}}
        },
        "additionalProperties": false
    });
    for (shape, name, description, schema_at) in PLACES {
        let tool = definition(shape, NAMES[0], Some(&schema));
        assert_eq!(tool.pointer(name), Some(&json!("updateWorkingMemory")));
        assert_eq!(tool.pointer(schema_at), Some(&parameters), "{shape:?}");
        let text = tool.pointer(description).and_then(Value::as_str).unwrap();
        assert!(text.ends_with("must have: goal."), "{text}");
    }
    let free = definition(Shape::Anthropic, NAMES[1], None);
    assert_eq!(free["name"], "working-memory/update");
    assert_eq!(free["input_schema"], json!({"type": "object"}));
}
