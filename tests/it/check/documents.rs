//! Documents in messages of Bedrock: how many are accepted, and their names.

use serde_json::{Value, json};

use super::{expected, places};
use crate::program::Place;

/// Documents of Bedrock have a name of their own each, and five are accepted; of too many, the oldest make room.
#[test]
fn documents_of_bedrock_are_counted_and_have_names_of_their_own() {
    let document = |name: &str| json!({"document": {"format": "txt", "name": name, "source": {"text": "12 EUR"}}});
    let history = json!([
        {"role": "user", "content": [{"text": "Match?"}, document("bill"), document("bill.1"), document("bill")]},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "1", "name": "read", "input": {}}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "1", "content": [document("bill"), document("c")]}}]},
        {"role": "assistant", "content": [{"text": "No."}]},
        {"role": "user", "content": [document("d")]},
        {"role": "assistant", "content": [{"text": "No."}]},
    ]);
    let found = places(&history);
    let names = ["/0/content/2", "/0/content/3", "/2/content/0"].map(|place| ("S032", place));
    let all = [("S032", "/4"), ("S017", "/4/content/0")].into_iter().chain(names).collect::<Vec<_>>();
    assert_eq!(found, expected(&all));
    let place = Place::new();
    place.write("chat.json", history.to_string().as_bytes());
    place.command(&["check", "--fix", "--unsafe-fixes", "chat.json"]).output().expect("a run");
    let mended: Value = serde_json::from_slice(&place.read("chat.json")).expect("a transcript");
    assert_eq!(mended[0]["content"][2]["document"]["name"], "bill-1");
    assert_eq!(mended[0]["content"][1]["text"], "[document: bill, removed]");
    assert_eq!(mended[2]["content"][0]["toolResult"]["content"][0]["document"]["name"], "bill-3");
    let text = std::iter::once(json!({"text": "Match?"}));
    let blocks: Vec<Value> = text.chain(["a", "b", "c (1)", "d-2", "[e]"].map(document)).collect();
    let answer = json!({"role": "assistant", "content": [{"text": "No."}]});
    let sound = json!([{"role": "user", "content": blocks}, answer]);
    assert_eq!(places(&sound), expected(&[]));
}

/// A name as long as it may be has no room for a number.
#[test]
fn a_long_name_of_a_document_gets_one_of_its_own() {
    let document = json!({"document": {"format": "txt", "name": "n".repeat(200), "source": {"text": "12 EUR"}}});
    let answer = json!({"role": "assistant", "content": [{"text": "No."}]});
    let history = json!([{"role": "user", "content": [{"text": "Match?"}, document, document]}, answer]);
    let place = Place::new();
    place.write("chat.json", history.to_string().as_bytes());
    place.command(&["check", "--fix", "--unsafe-fixes", "chat.json"]).output().expect("a run");
    let mended: Value = serde_json::from_slice(&place.read("chat.json")).expect("a transcript");
    assert_eq!(mended[0]["content"].as_array().map(Vec::len), Some(3));
    assert_eq!(places(&mended), expected(&[]));
}
