//! The definition of the memory tool.

use serde_json::Value;

use super::Place;

fn names(tools: &str, at: &str) -> Vec<String> {
    let tools: Value = serde_json::from_str(tools).unwrap();
    let tools = tools.as_array().unwrap();
    tools.iter().map(|tool| tool.pointer(at).and_then(Value::as_str).unwrap().to_owned()).collect()
}

#[test]
fn the_tool_has_both_names_in_every_spelling() {
    let place = Place::new();
    let both = ["updateWorkingMemory", "working-memory/update"];
    assert_eq!(names(&place.out(&["memory", "tool-schema"]), "/function/name"), both);
    let places = [
        ("openai", "/function/name"),
        ("responses", "/name"),
        ("anthropic", "/name"),
        ("gemini", "/functionDeclarations/0/name"),
        ("bedrock", "/toolSpec/name"),
    ];
    for (dialect, at) in places {
        assert_eq!(names(&place.out(&["memory", "tool-schema", "--dialect", dialect]), at), both);
        let one = place.out(&["memory", "tool-schema", "--dialect", dialect, "--name", both[0]]);
        assert_eq!(names(&one, at), both[..1]);
    }
    assert_eq!(place.run(&["memory", "tool-schema", "--dialect", "nonsense"]).code, 2);
    assert_eq!(place.run(&["memory", "tool-schema", "--name", "remember"]).code, 2);
}
