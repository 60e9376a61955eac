//! A value as a place on the tape: access walks the tape and copies nothing.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher as _};

use super::{Document, Span, Text};

/// The kind of a JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// `{…}`
    Object,
    /// `[…]`
    Array,
    /// `"…"`
    String,
    /// A number.
    Number,
    /// `true` or `false`
    Bool,
    /// `null`
    Null,
}

/// A value of a [`Document`].
#[derive(Clone, Copy)]
pub struct Value<'a> {
    document: &'a Document<'a>,
    at: u32,
}

impl std::fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Value({})", self.raw())
    }
}

/// Two values are equal if they are the same place.
impl PartialEq for Value<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at && std::ptr::eq(self.document, other.document)
    }
}

impl Eq for Value<'_> {}

impl Hash for Value<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.at.hash(state);
    }
}

impl<'a> Value<'a> {
    pub(super) const fn at(document: &'a Document<'a>, at: u32) -> Self {
        Self { document, at }
    }

    /// The byte range of the value.
    #[must_use]
    pub fn span(self) -> Span {
        let node = self.document.node(self.at);
        Span::new(node.start, node.end)
    }

    /// The JSON of the value.
    #[must_use]
    pub fn raw(self) -> &'a str {
        self.document.slice(self.span())
    }

    /// The text that contains the value.
    #[must_use]
    pub const fn source(self) -> &'a str {
        self.document.text()
    }

    /// The kind of the value, from its first byte.
    #[must_use]
    pub fn kind(self) -> ValueKind {
        match self.source().as_bytes()[self.document.node(self.at).start as usize] {
            b'{' => ValueKind::Object,
            b'[' => ValueKind::Array,
            b'"' => ValueKind::String,
            b't' | b'f' => ValueKind::Bool,
            b'n' => ValueKind::Null,
            _ => ValueKind::Number,
        }
    }

    /// Whether this is an object.
    #[must_use]
    pub fn is_object(self) -> bool {
        self.kind() == ValueKind::Object
    }

    /// Whether this is a list.
    #[must_use]
    pub fn is_array(self) -> bool {
        self.kind() == ValueKind::Array
    }

    /// The inside of a string, still escaped; `None` for any other kind.
    #[must_use]
    pub fn text(self) -> Option<Text<'a>> {
        let span = self.span();
        let is_string = self.source().as_bytes()[span.start as usize] == b'"';
        is_string.then(|| Text::escaped(self.document.slice(Span::new(span.start + 1, span.end - 1))))
    }

    /// Whether this is the string `text`.
    #[must_use]
    pub fn is(self, text: &str) -> bool {
        self.text().is_some_and(|string| string.is(text))
    }

    /// The member `key` of an object. The last of several members with this key applies, as in most parsers.
    #[must_use]
    pub fn get(self, key: &str) -> Option<Value<'a>> {
        let first = key.as_bytes().first().filter(|_| !self.document.has_escaped_keys());
        let Some(&first) = first else {
            return self.members().filter(|member| member.key.is(key)).last().map(|member| member.value);
        };
        let node = self.document.node(self.at);
        let text = self.document.text().as_bytes();
        if text[node.start as usize] != b'{' {
            return None;
        }
        let mut at = self.at + 1;
        let mut found = None;
        while at < node.next {
            let quoted = self.document.node(at);
            let inside = quoted.start as usize + 1..quoted.end as usize - 1;
            // Comparing the first bytes here spares most calls of a function that compares all of them.
            if inside.len() == key.len() && text[inside.start] == first && &text[inside] == key.as_bytes() {
                found = Some(at + 1);
            }
            at = self.document.node(at + 1).next;
        }
        found.map(|at| Value { document: self.document, at })
    }

    /// As [`Value::get`] for each of `keys`, in one pass over the members.
    #[must_use]
    #[inline]
    pub fn get_each<const N: usize>(self, keys: [&str; N]) -> [Option<Value<'a>>; N] {
        if self.document.has_escaped_keys() {
            return keys.map(|key| self.get(key));
        }
        let node = self.document.node(self.at);
        let text = self.document.text().as_bytes();
        let mut found = [None; N];
        let mut at = if text[node.start as usize] == b'{' { self.at + 1 } else { node.next };
        while at < node.next {
            let quoted = self.document.node(at);
            let inside = &text[quoted.start as usize + 1..quoted.end as usize - 1];
            for (key, found) in keys.iter().zip(&mut found) {
                if inside == key.as_bytes() {
                    *found = Some(Value { document: self.document, at: at + 1 });
                }
            }
            at = self.document.node(at + 1).next;
        }
        found
    }

    /// The places of the keys of an object on the tape, each before its value; none for any other kind.
    fn keys(self) -> impl Iterator<Item = u32> {
        let end = if self.is_object() { self.document.node(self.at).next } else { 0 };
        let mut at = self.at + 1;
        std::iter::from_fn(move || {
            let key = (at < end).then_some(at)?;
            at = self.document.node(key + 1).next;
            Some(key)
        })
    }

    /// The bytes between the quotes of the string at `at`.
    fn inside(self, at: u32) -> Span {
        let quoted = self.document.node(at);
        Span::new(quoted.start + 1, quoted.end - 1)
    }

    /// The values in this one, at every depth, that contain others; with this value, if it does.
    pub(super) fn holders(self) -> impl Iterator<Item = Value<'a>> {
        let end = self.document.node(self.at).next;
        let holders = (self.at..end).filter(move |&at| self.document.node(at).next > at + 1);
        holders.map(move |at| Value { at, ..self })
    }

    /// As [`Value::get`], but `None` for a member that is `null`.
    #[must_use]
    pub fn some(self, key: &str) -> Option<Value<'a>> {
        self.get(key).filter(|value| value.kind() != ValueKind::Null)
    }

    /// Whether there is a member `key` that is not `null`.
    #[must_use]
    pub fn has(self, key: &str) -> bool {
        self.some(key).is_some()
    }

    /// Whether there is a member under one of `keys` that is not `null`.
    #[must_use]
    #[inline]
    pub fn has_any<const N: usize>(self, keys: [&str; N]) -> bool {
        self.get_each(keys).into_iter().flatten().any(|value| value.kind() != ValueKind::Null)
    }

    /// The text of the string under `key`.
    #[must_use]
    pub fn get_text(self, key: &str) -> Option<Text<'a>> {
        self.get(key).and_then(Self::text)
    }

    /// The values of a list, in order; none for any other kind.
    pub fn items(self) -> impl Iterator<Item = Value<'a>> {
        let end = if self.is_array() { self.document.node(self.at).next } else { 0 };
        let mut at = self.at + 1;
        std::iter::from_fn(move || {
            let here = (at < end).then_some(at)?;
            at = self.document.node(here).next;
            Some(Value { document: self.document, at: here })
        })
    }

    /// The members of an object, in order, duplicates included; none for any other kind.
    pub fn members(self) -> impl Iterator<Item = Member<'a>> {
        self.keys().map(move |at| {
            let inside = self.inside(at);
            let value = Value { at: at + 1, ..self };
            let key = Text::escaped(self.document.slice(inside));
            Member { key, value, span: Span::new(inside.start - 1, value.span().end) }
        })
    }

    /// The list or object that contains this value.
    #[must_use]
    pub fn parent(self) -> Option<Value<'a>> {
        self.document.parent(self.at).map(|at| Value { document: self.document, at })
    }

    /// The values of the text after this one, which is not inside another.
    pub(crate) fn roots_after(self) -> impl Iterator<Item = Value<'a>> {
        self.document.roots().filter(move |root| root.at > self.at)
    }

    /// The path from the root to this value, as a JSON pointer (RFC 6901).
    #[must_use]
    pub fn pointer(self) -> String {
        let mut steps = Vec::new();
        let mut here = self;
        while let Some(parent) = here.parent() {
            steps.push(here.step_from(parent));
            here = parent;
        }
        steps.reverse();
        steps.concat()
    }

    fn step_from(self, parent: Value<'a>) -> String {
        if !parent.is_object() {
            return format!("/{}", self.document.rank(self.at));
        }
        let key = Value { at: self.at - 1, ..self };
        let key = key.text().map(|key| key.decode().replace('~', "~0").replace('/', "~1"));
        format!("/{}", key.unwrap_or_default())
    }
}

// Lists and objects as elements with commas between them: which bytes to remove with an element.

/// A key with its value.
#[derive(Debug, Clone)]
pub struct Member<'a> {
    /// The key.
    pub key: Text<'a>,
    /// The value.
    pub value: Value<'a>,
    /// From the key's opening quote to the value's end.
    pub span: Span,
}

/// The members of every object in `value`, at every depth, whose key its object had before.
#[must_use]
pub fn repeated_members(value: Value<'_>) -> Vec<Member<'_>> {
    let mut repeated = Vec::new();
    let mut keys = Vec::new();
    for object in value.holders() {
        keys.clear();
        keys.extend(object.keys().map(|key| object.document.slice(object.inside(key))));
        if object.document.has_escaped_keys() || may_repeat(&keys) {
            let mut seen = HashSet::new();
            repeated.extend(object.members().filter(|member| !seen.insert(member.key.decode().into_owned())));
        }
    }
    repeated
}

/// Whether two keys without escapes may be equal. Up to a few dozen keys, comparing each with each is faster than a set,
/// because most differ in length.
fn may_repeat(keys: &[&str]) -> bool {
    keys.len() > 48 || (1..keys.len()).any(|nth| keys[..nth].contains(&keys[nth]))
}

/// The spans to remove from `holder` so that it no longer contains the elements for which `gone` returns true. With a
/// member, the earlier ones with its key are removed, which would otherwise apply in its place.
///
/// A kept element keeps the separator before it; the first kept element has none. Removing `2` and `4`:
///
/// ```text
/// [1, 2, 3, 4]   removes `, 2` and `, 4`:   [1, 3]
/// [1, 2, 3]      without `1`, removes `1, `: [2, 3]
/// ```
pub fn removal(holder: Value<'_>, gone: impl Fn(Value<'_>) -> bool) -> Vec<Span> {
    let elements = match holder.is_array() {
        true => holder.items().map(|item| (item.span(), gone(item))).collect(),
        false => members(holder, gone),
    };
    let first_kept = elements.iter().position(|(_, gone)| !gone);
    let Some(first_kept) = first_kept else {
        let ends = elements.first().zip(elements.last());
        return ends.map(|((first, _), (last, _))| Span::new(first.start, last.end)).into_iter().collect();
    };
    let mut spans = Vec::new();
    if first_kept > 0 {
        spans.push(Span::new(elements[0].0.start, elements[first_kept].0.start));
    }
    for pair in elements[first_kept..].windows(2) {
        if pair[1].1 {
            spans.push(Span::new(pair[0].0.end, pair[1].0.end));
        }
    }
    spans
}

/// The members of `holder`, and whether each is removed.
fn members(holder: Value<'_>, gone: impl Fn(Value<'_>) -> bool) -> Vec<(Span, bool)> {
    let mut keys = HashSet::new();
    let mut members: Vec<Member<'_>> = holder.members().collect();
    members.reverse();
    let is_gone = |member: Member<'_>| {
        let key = member.key.decode();
        let is_gone = gone(member.value) || keys.contains(&*key);
        if is_gone {
            keys.insert(key.into_owned());
        }
        (member.span, is_gone)
    };
    let mut members: Vec<(Span, bool)> = members.into_iter().map(is_gone).collect();
    members.reverse();
    members
}

// A hash that is the same however a value is written.

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
