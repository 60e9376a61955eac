//! A hash that is the same however a value is written.

use std::hash::{DefaultHasher, Hash, Hasher as _};

use super::Text;
use super::value::{Value, ValueKind};

impl Value<'_> {
    /// A hash of its content. White space, the order of keys, escapes, the notation of numbers and members that are null make no
    /// difference. Unfinished lists and objects are kept in a `Vec`, so deep nesting cannot overflow the call stack.
    #[must_use]
    pub fn content_hash(self, salt: u8) -> u64 {
        let mut open: Vec<Container<'_>> = Vec::new();
        let mut next = Some((None, self));
        loop {
            let (key, hash) = match next {
                Some((key, value)) if matches!(value.kind(), ValueKind::Array | ValueKind::Object) => {
                    open.push(Container::new(key, value));
                    next = open.last_mut().and_then(|container| container.rest.next());
                    continue;
                }
                Some((key, value)) => (key, hash_of(&(salt, scalar(value)))),
                None => match open.pop() {
                    Some(done) => (done.key, hash_of(&(salt, done.is_object, done.hash))),
                    None => return 0,
                },
            };
            let Some(container) = open.last_mut() else { return hash };
            // The members of an object are unordered, and so is a sum.
            container.hash = match key {
                Some(key) => container.hash.wrapping_add(hash_of(&(salt, key.decode(), hash))),
                None => hash_of(&(salt, container.hash, hash)),
            };
            next = container.rest.next();
        }
    }
}

/// A list or an object that is partly hashed.
struct Container<'a> {
    /// Its key in the object that contains it.
    key: Option<Text<'a>>,
    is_object: bool,
    rest: Box<dyn Iterator<Item = (Option<Text<'a>>, Value<'a>)> + 'a>,
    hash: u64,
}

impl<'a> Container<'a> {
    fn new(key: Option<Text<'a>>, value: Value<'a>) -> Self {
        let is_object = value.is_object();
        let members = value.members().filter(|member| member.value.kind() != ValueKind::Null);
        let members = members.map(|member| (Some(member.key), member.value));
        Self { key, is_object, rest: Box::new(members.chain(value.items().map(|item| (None, item)))), hash: 0 }
    }
}

fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The kind of a scalar, and a text that equal values of this kind share.
fn scalar(value: Value<'_>) -> (char, String) {
    match value.text() {
        Some(text) => ('s', text.decode().into_owned()),
        None if value.kind() == ValueKind::Number => ('n', decimal(value.raw())),
        None => ('w', value.raw().to_owned()),
    }
}

/// A number as its digits, without zeros at either end, and a power of ten.
fn decimal(number: &str) -> String {
    let (sign, number) = number.strip_prefix('-').map_or(("", number), |number| ("-", number));
    let (number, power) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return String::from("0");
    }
    match power.parse::<i64>() {
        Ok(power) => {
            let places = i128::from(power) - fraction.len() as i128 + (digits.len() - significant.len()) as i128;
            format!("{sign}{significant}e{places}")
        }
        // A power that does not fit is kept as it is written.
        Err(_) => format!("{sign}{number}e{power}"),
    }
}

#[cfg(test)]
mod tests {
    use crate::json::Document;

    fn hash(text: &str) -> u64 {
        Document::parse(text).map_or(0, |document| document.roots().next().map_or(0, |root| root.content_hash(1)))
    }

    #[test]
    fn values_are_compared_and_not_their_spelling() {
        for (one, other) in [
            (r#"{"a":1,"b":[{"c":null,"d":"x"}]}"#, r#" {"b" : [{"d":"x", "c":null}] , "a":1.0}"#),
            (r#""é\/""#, r#""\u00e9/""#),
            (r#"{"\u0061":1}"#, r#"{"a":1}"#),
            (r#"{"a":1,"b":null}"#, r#"{"a":1}"#),
            (r#"[{"a":{"b":null}}]"#, r#"[{"a":{}}]"#),
            ("0.0", "0"),
            ("-0", "0e9"),
            ("1e2", "100"),
            ("12.50", "125e-1"),
            ("0.001", "1E-3"),
        ] {
            assert_eq!(hash(one), hash(other), "{one} {other}");
        }
        for (one, other) in [
            ("[1,2]", "[2,1]"),
            ("[[1],2]", "[[1,2]]"),
            ("[]", "{}"),
            ("[null]", "[]"),
            (r#"{"a":null}"#, "null"),
            (r#"{"a":"b"}"#, r#"["a","b"]"#),
            (r#"{"a":"b"}"#, r#"{"b":"a"}"#),
            (r#"{"a":1,"b":2}"#, r#"{"a":2,"b":1}"#),
            (r#""1""#, "1"),
            ("true", r#""true""#),
            ("1", "-1"),
            ("1", "10"),
            ("1e99999999999999999999", "2e99999999999999999999"),
        ] {
            assert_ne!(hash(one), hash(other), "{one} {other}");
        }
        assert_ne!(hash(&format!("{}{}", "[".repeat(9_999), "]".repeat(9_999))), 0);
    }
}
