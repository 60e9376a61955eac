//! The JSON reader compared with `serde_json`: the same texts are JSON, with the same values.
//!
//! Three differences are intended and left out of the comparison: a byte order mark may begin a text, nesting may go to
//! 10,000 and not to 128 levels, and a lone surrogate is an unknown character and not an error.

use std::collections::HashSet;

use curtail_core::json::{Document, MAX_DEPTH, Text, Value, ValueKind, repeated_members};
use proptest::prelude::*;
use serde::de::IgnoredAny;

fn ours(text: &str) -> Result<(), String> {
    Document::parse(text).map(drop).map_err(|fault| format!("{}: {}", fault.offset, fault.kind))
}

fn theirs(text: &str) -> Result<(), String> {
    serde_json::from_str::<IgnoredAny>(text).map(drop).map_err(|error| error.to_string())
}

/// What we read, as `serde_json` would have it.
fn tree(value: Value<'_>) -> serde_json::Value {
    match value.kind() {
        ValueKind::Object => {
            let members = value.members().map(|member| (member.key.decode().into_owned(), tree(member.value)));
            serde_json::Value::Object(members.collect())
        }
        ValueKind::Array => value.items().map(tree).collect(),
        ValueKind::String => value.text().unwrap().decode().into_owned().into(),
        _ => serde_json::from_str(value.raw()).unwrap(),
    }
}

/// Every value below `value`, itself included.
fn all(value: Value<'_>) -> Vec<Value<'_>> {
    let inside = value.items().chain(value.members().map(|member| member.value));
    std::iter::once(value).chain(inside.flat_map(all)).collect()
}

/// JSON as people and programs write it: white space, escapes, repeated keys.
fn json() -> impl Strategy<Value = String> {
    let string = prop_oneof![
        "\"[a-c ]{0,20}\"",
        r#""([a-zé😀]|\\["\\/bfnrt]|\\u00[0-9a-fA-F]{2}|\\ud83d\\ude00|,|\{|\]|:){0,24}""#,
    ];
    let scalar =
        prop_oneof![string.clone(), "-?(0|[1-9][0-9]{0,5})(\\.[0-9]{1,4})?([eE][+-]?[0-9]{1,2})?", "true|false|null",];
    let space = "[ \n\r\t]{0,2}";
    scalar.prop_recursive(5, 40, 6, move |inner| {
        let item = (space, inner.clone(), space).prop_map(|(before, value, after)| format!("{before}{value}{after}"));
        let member = (space, prop_oneof!["\"[ab]\"", string.clone()], space, item.clone())
            .prop_map(|(before, key, after, value)| format!("{before}{key}{after}:{value}"));
        prop_oneof![
            (space, prop::collection::vec(item, 0..6))
                .prop_map(|(space, items)| format!("[{space}{}]", items.join(","))),
            (space, prop::collection::vec(member, 0..6))
                .prop_map(|(space, all)| format!("{{{space}{}}}", all.join(","))),
        ]
    })
}

/// Bytes that make or break JSON.
const BITS: &[&str] = &[
    "\"", "\\", "{", "}", "[", "]", ",", ":", "0", "-", ".", "e", "1", "\n", "\u{1}", "\u{7f}", "é", "t", "\\u12", " ",
    "\\ud800", "",
];

proptest! {
    #![proptest_config(crate::properties::property(400))]

    #[test]
    fn what_is_json_reads_alike(text in json()) {
        let document = Document::parse(&text).map_err(|fault| TestCaseError::fail(format!("{fault:?}")))?;
        let root = document.roots().next().unwrap();
        prop_assert_eq!(tree(root), serde_json::from_str::<serde_json::Value>(&text).unwrap());
        prop_assert_eq!(root.raw(), text.trim_matches([' ', '\n', '\r', '\t']));
        // The last of several members with one key applies.
        for member in root.members() {
            let key = member.key.decode();
            let last = root.members().filter(|other| other.key.decode() == key).last().unwrap();
            prop_assert!(root.get(&key) == Some(last.value));
        }
        let keys = ["a", "b", "", "c"];
        for value in all(root) {
            prop_assert!(value.get_each(keys) == keys.map(|key| value.get(key)));
        }
    }

    #[test]
    fn repeated_members_are_those_whose_key_was_there(text in json()) {
        let document = Document::parse(&text).map_err(|fault| TestCaseError::fail(format!("{fault:?}")))?;
        let root = document.roots().next().unwrap();
        let mut wanted = Vec::new();
        for object in all(root) {
            let mut seen = HashSet::new();
            wanted.extend(object.members().filter(|member| !seen.insert(member.key.decode().into_owned())));
        }
        let mut wanted: Vec<_> = wanted.iter().map(|member| member.span).collect();
        let mut found: Vec<_> = repeated_members(root).iter().map(|member| member.span).collect();
        wanted.sort();
        found.sort();
        prop_assert_eq!(found, wanted);
    }

    #[test]
    fn a_text_is_blank_if_its_characters_are(inside in r"( |\\[nrt]|\\u00(20|a0|41)|\\u3000|\\ud800|a|é|　){0,4}") {
        let text = Text::Escaped(&inside);
        prop_assert_eq!(text.is_blank(), text.decode().trim().is_empty(), "{}", inside);
        let json = format!(" {{\"a\": \"{inside}\"}}");
        prop_assert!(!Text::Json(&json).is_blank());
    }

    #[test]
    fn a_text_is_what_its_characters_are(inside in r"(a|b|\\u006[12]|\\\\|\\n|é|\\ud800){0,4}", other in r"[ab\\é\n]{0,4}") {
        let text = Text::Escaped(&inside);
        prop_assert_eq!(text.is(&other), text.decode() == other, "{} {}", inside, other);
        prop_assert!(text.is(&text.decode()), "{}", inside);
    }

    #[test]
    fn pointers_lead_where_they_say(text in json()) {
        let document = Document::parse(&text).map_err(|fault| TestCaseError::fail(format!("{fault:?}")))?;
        let whole = serde_json::from_str::<serde_json::Value>(&text).unwrap();
        let root = document.roots().next().unwrap();
        for value in all(root) {
            // A pointer to a repeated key points to the last member.
            let shadowed = std::iter::successors(Some(value), |here| here.parent()).any(|here| {
                here.members().any(|one| here.get(&one.key.decode()) != Some(one.value))
            });
            prop_assert!(shadowed || whole.pointer(&value.pointer()) == Some(&tree(value)), "{}", value.pointer());
        }
    }

    #[test]
    fn what_is_broken_is_broken_alike(
        text in json(), at in any::<prop::sample::Index>(), gone in 0_usize..4, bit in prop::sample::select(BITS),
    ) {
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let start = at.index(places.len());
        let end = (start + gone).min(places.len() - 1);
        let broken = format!("{}{bit}{}", &text[..places[start]], &text[places[end]..]);
        prop_assert_eq!(ours(&broken).is_ok(), theirs(&broken).is_ok(), "{}: {:?} {:?}", broken, ours(&broken), theirs(&broken));
    }

    #[test]
    fn long_strings_end_where_they_end(before in "[a-z]{0,40}", inside in "([ -~é]|\\\\n){0,200}", after in "[a-z]{0,20}") {
        let text = format!("[{before:?}, \"{inside}\", {after:?}]");
        prop_assert_eq!(ours(&text).is_ok(), theirs(&text).is_ok(), "{}", text);
    }
}

/// Runs of backslashes of every length at every place of a block, and every character after them.
#[test]
fn escapes_are_told_wherever_they_stand() {
    for before in 0..70 {
        for backslashes in 0..6 {
            for after in ["", "\"", "n", "u00e9", "u00g9", "x", "\u{1}", "é", "\\u", "/\\t\\b"] {
                for tail in ["\"", "", "a\", 1, \"", &format!("{}\"", "b".repeat(40))] {
                    let text = format!("[\"{}{}{after}{tail}]", "a".repeat(before), "\\".repeat(backslashes));
                    assert_eq!(ours(&text).is_ok(), theirs(&text).is_ok(), "{text}: {:?}", ours(&text));
                }
            }
        }
    }
}

#[test]
fn depth_is_bounded_and_costs_no_stack() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let text = |depth: usize| format!("{}0{}", open.repeat(depth), close.repeat(depth));
        assert!(Document::parse(&text(MAX_DEPTH)).is_ok());
        let fault = Document::parse(&text(MAX_DEPTH + 1)).unwrap_err();
        assert_eq!(fault.offset, MAX_DEPTH * open.len());
        assert_eq!(fault.kind, curtail_core::json::ParseErrorKind::TooDeep);
        assert!(Document::parse(&text(1_000_000)).is_err());
    }
}

#[test]
fn wanted_differences() {
    assert!(Document::parse("\u{feff}{}").is_ok());
    let document = Document::parse(r#"["\ud800", "\udc00\ud800x", "\ud83d\ude00"]"#).unwrap();
    let texts: Vec<String> =
        document.roots().next().unwrap().items().map(|item| item.text().unwrap().decode().into_owned()).collect();
    assert_eq!(texts, ["\u{fffd}", "\u{fffd}\u{fffd}x", "😀"]);
}
