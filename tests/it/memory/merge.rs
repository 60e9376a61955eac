//! How updates become a state: the rules of the merge one by one, and all of them compared with a second implementation.

use curtail_core::dialects::{Framing, Reading};
use curtail_memory::memory::{NAMES, Outcome, Scratchpad, State, Update};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn scratchpad(state: &str) -> Scratchpad<'static> {
    Scratchpad::new(State::given(state), None, false)
}

fn update(arguments: &str) -> Update<'_> {
    let call_id = "call_1";
    Update { call_id, arguments }
}

/// A state, an update, and the state after it.
const RULES: &[(&str, &str, &str)] = &[
    // An object is merged key by key, at every depth; a key that is not named stays.
    (r#"{"a":{"b":{"x":1,"y":2}},"z":0}"#, r#"{"a":{"b":{"y":3}}}"#, r#"{"a":{"b":{"x":1,"y":3}},"z":0}"#),
    // Lists and plain values replace what was there, whatever it was.
    (r#"{"a":[1,2,3],"b":{"c":1}}"#, r#"{"a":[4],"b":"text"}"#, r#"{"a":[4],"b":"text"}"#),
    (r#"{"a":"text"}"#, r#"{"a":{"b":null}}"#, r#"{"a":{"b":null}}"#),
    // Keys keep their place, new ones come last.
    (r#"{"b":1,"a":2}"#, r#"{"c":3,"a":4}"#, r#"{"b":1,"a":4,"c":3}"#),
    // Names that reach a prototype are left out at every depth, in the update and in the state.
    (r#"{"a":{"__proto__":1,"k":[{"constructor":2}]}}"#, r#"{"x":1}"#, r#"{"a":{"k":[{}]},"x":1}"#),
    (
        r"{}",
        r#"{"__proto__":{"admin":true},"a":{"constructor":{"p":1},"l":[[{"__proto__":1}]]},"constructor":1}"#,
        r#"{"a":{"l":[[{}]]}}"#,
    ),
    // Text that an object takes the place of is kept; blank text is no loss.
    ("dear diary", r#"{"a":1}"#, r#"{"_previous":"dear diary","a":1}"#),
    ("", r#"{"a":1}"#, r#"{"a":1}"#),
    (" \n", r#"{"a":1}"#, r#"{"a":1}"#),
    // Of a key that comes twice the last counts, as in every JSON parser of a model's client.
    (r"{}", r#"{"a":1,"b":2,"a":{"c":3}}"#, r#"{"a":{"c":3},"b":2}"#),
    // Numbers come back as they were.
    (
        r"{}",
        r#"{"a":0.1,"b":9007199254740993,"c":1e-7,"d":2.2250738585072011e-308}"#,
        r#"{"a":0.1,"b":9007199254740993,"c":1e-7,"d":2.225073858507201e-308}"#,
    ),
    (r#"{"a":1}"#, "{}", r#"{"a":1}"#),
];

#[test]
fn the_rules_one_by_one() {
    for (state, arguments, expected) in RULES {
        let mut pad = scratchpad(state);
        assert_eq!(pad.apply(update(arguments)), Outcome::Applied);
        assert_eq!(pad.state().to_json(), *expected, "{state} + {arguments}");
    }
}

#[test]
fn what_is_no_object_is_malformed_and_changes_nothing() {
    let deep = format!("{}1{}", "{\"a\":".repeat(200), "}".repeat(200));
    let cases = [
        ("", "arguments are empty"),
        ("[1]", "arguments are a list, not an object"),
        ("\"text\"", "arguments are text"),
        ("null", "arguments are null"),
        ("{\"a\":1", "arguments are not JSON: line 1, column 7: the text ends inside a value"),
        ("{\"a\":1} trailing", "arguments are not JSON: line 1, column 9: "),
        ("{\"a\":1e999}", "number out of range"),
        ("{\"a\":\"\\ud800\"}", "hex escape"),
        (&deep, "nested too deeply"),
    ];
    for (arguments, expected) in cases {
        let mut pad = scratchpad("{\"k\":1}");
        let Outcome::Malformed(reason) = pad.apply(update(arguments)) else {
            panic!("{arguments}: not malformed");
        };
        assert!(reason.contains(expected), "{arguments}: {reason}");
        assert_eq!(pad.state().to_json(), "{\"k\":1}");
    }
}

/// `depth` keys below the top an object with `leaf`.
fn nested(depth: usize, leaf: &str) -> String {
    format!("{}{{\"{leaf}\":1}}{}", "{\"k\":".repeat(depth), "}".repeat(depth))
}

#[test]
fn past_depth_32_a_value_replaces() {
    for (depth, both) in [(1, true), (31, true), (32, true), (33, false), (100, false)] {
        let mut pad = scratchpad(&nested(depth, "old"));
        pad.apply(update(&nested(depth, "new")));
        let json = pad.state().to_json();
        assert!(json.contains("new"));
        assert_eq!(json.contains("old"), both, "{depth}");
        assert_eq!(State::parse(&json).as_ref(), Ok(pad.state()));
    }
}

#[test]
fn a_read_only_scratchpad_hears_nothing() {
    let mut pad = Scratchpad::new(State::given("{\"a\":1}"), None, true);
    for arguments in ["{\"a\":2}", "not JSON"] {
        assert_eq!(pad.apply(update(arguments)), Outcome::Ignored);
    }
    assert_eq!(pad.state().to_json(), "{\"a\":1}");
}

#[test]
fn updates_are_known_again_by_call_and_what_they_say() {
    let updates = [("a", "{\"n\":1}"), ("b", "{\"n\":2}"), ("", "{\"n\":3}"), ("b", "{\"n\":4}"), ("", "{\"n\":3}")];
    let updates = updates.map(|(call_id, arguments)| Update { call_id, arguments });
    let mut first = scratchpad("");
    assert!(updates.iter().all(|update| first.apply(*update) == Outcome::Applied));
    let known = || first.new_ids().iter().cloned().collect();
    let mut again = Scratchpad::new(first.state().clone(), None, false).with_applied(known(), "");
    assert!(updates.iter().all(|update| again.apply(*update) == Outcome::AlreadyKnown));
    // Once more than before, an id that meant something else, and the same id in another conversation.
    assert_eq!(again.apply(updates[2]), Outcome::Applied);
    assert_eq!(again.apply(Update { call_id: "a", arguments: "{\"n\":5}" }), Outcome::Applied);
    let mut elsewhere = scratchpad("").with_applied(known(), "another thread");
    assert_eq!(elsewhere.apply(updates[0]), Outcome::Applied);
}

/// A second implementation of the merge: each value of an update is set at its path from the top.
fn merged(mut state: Value, updates: &[Value]) -> Value {
    for (path, value) in updates.iter().flat_map(|update| leaves(&clean(update))) {
        let place = path.iter().fold(&mut state, |place, key| {
            if !place.is_object() {
                *place = json!({});
            }
            &mut place[key]
        });
        if !place.is_object() || value != json!({}) {
            *place = value;
        }
    }
    state
}

/// What in `value` is no object with members, with the keys that lead to it.
fn leaves(value: &Value) -> Vec<(Vec<String>, Value)> {
    let Some(map) = value.as_object().filter(|map| !map.is_empty()) else {
        return vec![(Vec::new(), value.clone())];
    };
    let below = map.iter().flat_map(|(key, value)| leaves(value).into_iter().map(move |leaf| (key, leaf)));
    below.map(|(key, (path, value))| ([vec![key.clone()], path].concat(), value)).collect()
}

fn clean(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter(|(key, _)| *key != "__proto__" && *key != "constructor");
            kept.map(|(key, value)| (key.clone(), clean(value))).collect::<Map<_, _>>().into()
        }
        Value::Array(items) => items.iter().map(clean).collect(),
        other => other.clone(),
    }
}

fn objects() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Value::from),
        ".{0,6}".prop_map(Value::from),
    ];
    let key = prop_oneof![Just("__proto__"), Just("constructor"), Just("a"), Just("b"), Just(""), Just("_previous")];
    let object = move |inner: BoxedStrategy<Value>| {
        prop::collection::vec((key.clone(), inner), 0..4).prop_map(|pairs| {
            pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>().into()
        })
    };
    let nest = object.clone();
    let value = leaf.prop_recursive(5, 40, 4, move |inner| {
        prop_oneof![3 => nest(inner.clone().boxed()), 1 => prop::collection::vec(inner, 0..3).prop_map(Value::from)]
    });
    object(value.boxed())
}

fn as_string(name: &str, nth: usize, arguments: &str) -> String {
    let quoted = Value::from(arguments);
    let call = format!("{{\"id\":\"c{nth}\",\"function\":{{\"name\":\"{name}\",\"arguments\":{quoted}}}}}");
    format!("{{\"role\":\"assistant\",\"tool_calls\":[{call}]}}\n")
}

fn as_object(name: &str, nth: usize, arguments: &str) -> String {
    let call = format!("{{\"type\":\"tool_use\",\"id\":\"c{nth}\",\"name\":\"{name}\",\"input\":{arguments}}}");
    format!("{{\"role\":\"assistant\",\"content\":[{call}]}}\n")
}

proptest! {
    #![proptest_config(crate::properties::property(200))]

    #[test]
    fn replaying_is_folding(updates in prop::collection::vec(objects(), 0..6), text in "[a-z ]{0,4}") {
        let mut pad = scratchpad(&text);
        for (number, update) in updates.iter().enumerate() {
            let (call_id, arguments) = (format!("call_{number}"), update.to_string());
            let outcome = pad.apply(Update { call_id: &call_id, arguments: &arguments });
            prop_assert_eq!(outcome, Outcome::Applied);
        }
        let start = if text.trim().is_empty() { json!({}) } else { json!({"_previous": text}) };
        if updates.is_empty() {
            prop_assert_eq!(pad.state(), &State::Text(text));
        } else {
            // As text, so that the order of keys counts.
            prop_assert_eq!(pad.state().to_json(), merged(start, &updates).to_string());
        }
        let json = pad.state().to_json();
        prop_assert_eq!(State::parse(&json).unwrap().to_json(), json);
    }

    /// The same through a transcript, where arguments are a string or an object, with its own white space.
    #[test]
    fn replaying_a_transcript_is_folding(updates in prop::collection::vec(objects(), 1..5), names in any::<u32>()) {
        let written = |write: fn(&str, usize, &str) -> String| -> String {
            let line = |(nth, update): (usize, &Value)| {
                let loose = format!("{update:#}").replace('\n', " ");
                write(NAMES[(names >> nth) as usize % 2], nth, &loose)
            };
            updates.iter().enumerate().map(line).collect()
        };
        let texts = [written(as_string), written(as_object)];
        for text in &texts {
            let reading = Reading { framing: Framing::Lines, dialect: None, named: false, messages_key: None };
            let document = reading.parse(text).map_err(|error| TestCaseError::fail(error.what))?;
            let transcripts = reading.transcripts(&document).map_err(|error| TestCaseError::fail(error.what))?;
            let mut pad = scratchpad("");
            for found in curtail_memory::memory::updates(&transcripts[0].1.messages) {
                prop_assert_eq!(pad.apply(found.update()), Outcome::Applied);
            }
            prop_assert_eq!(pad.state().to_json(), merged(json!({}), &updates).to_string());
        }
    }
}
