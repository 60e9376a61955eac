//! A value as a place on the tape: access walks the tape and copies nothing.

use std::hash::Hash;

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
    pub(super) document: &'a Document<'a>,
    at: u32,
}

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

    /// The byte range of the value, with its key if it is a member.
    #[must_use]
    pub fn span_with_key(self) -> Span {
        let is_member = self.parent().is_some_and(Self::is_object);
        let first = if is_member { self.at - 1 } else { self.at };
        Span::new(self.document.node(first).start, self.span().end)
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
        is_string.then(|| Text::Escaped(self.document.slice(Span::new(span.start + 1, span.end - 1))))
    }

    /// Whether this is the string `text`.
    #[must_use]
    pub fn is(self, text: &str) -> bool {
        self.text().is_some_and(|string| string.is(text))
    }

    /// The member `key` of an object. The last of several members with this key applies, as in most parsers.
    #[must_use]
    pub fn get(self, key: &str) -> Option<Value<'a>> {
        let [found] = self.get_each([key]);
        found
    }

    /// As [`Value::get`] for each of `keys`, in one pass over the members.
    #[must_use]
    #[expect(clippy::inline_always, reason = "where the keys are known, so are their lengths")]
    #[inline(always)]
    pub fn get_each<const N: usize>(self, keys: [&str; N]) -> [Option<Value<'a>>; N] {
        if self.document.has_escaped_keys() {
            return keys
                .map(|key| self.members().filter(|member| member.key.is(key)).last().map(|member| member.value));
        }
        let node = self.document.node(self.at);
        let text = self.document.text().as_bytes();
        // Most other keys have a length that none of these has.
        let lengths = keys.iter().fold(0, |lengths, key| lengths | length_bit(key.as_bytes()));
        let mut found = [None; N];
        let mut at = if text[node.start as usize] == b'{' { self.at + 1 } else { node.next };
        while at < node.next {
            let quoted = self.document.node(at);
            let inside = &text[quoted.start as usize + 1..quoted.end as usize - 1];
            if lengths & length_bit(inside) != 0 {
                for (key, found) in keys.iter().zip(&mut found) {
                    if inside == key.as_bytes() {
                        *found = Some(Value { document: self.document, at: at + 1 });
                    }
                }
            }
            at = self.document.node(at + 1).next;
        }
        found
    }

    /// The places of the keys of an object on the tape, each before its value; none for any other kind.
    pub(super) fn keys(self) -> impl Iterator<Item = u32> {
        let end = if self.is_object() { self.document.node(self.at).next } else { 0 };
        let mut at = self.at + 1;
        std::iter::from_fn(move || {
            let key = (at < end).then_some(at)?;
            at = self.document.node(key + 1).next;
            Some(key)
        })
    }

    /// The values in this one, at every depth, that contain others, in the order of the text; with this value, if it does.
    pub(crate) fn holders(self) -> impl Iterator<Item = Value<'a>> {
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
    #[expect(clippy::inline_always, reason = "as for `get_each`")]
    #[inline(always)]
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
            let value = Value { at: at + 1, ..self };
            let key = Value { at, ..self }.span();
            let inside = Span::new(key.start + 1, key.end - 1);
            Member {
                key: Text::Escaped(self.document.slice(inside)),
                value,
                span: Span::new(key.start, value.span().end),
            }
        })
    }

    /// This value and all values in it, in no order, but for those that `is_left_out` and what is in them.
    pub fn within(self, is_left_out: impl Fn(Value<'a>) -> bool) -> impl Iterator<Item = Value<'a>> {
        let mut open = vec![self];
        std::iter::from_fn(move || {
            loop {
                let value = open.pop()?;
                if !is_left_out(value) {
                    open.extend(value.items().chain(value.members().map(|member| member.value)));
                    return Some(value);
                }
            }
        })
    }

    /// Whether any key of the text that this value is in has an escape.
    pub(crate) const fn is_beside_escaped_keys(self) -> bool {
        self.document.has_escaped_keys()
    }

    /// Whether any string of the text that this value is in may contain the escape of a surrogate.
    pub(crate) fn is_beside_surrogates(self) -> bool {
        self.document.has_surrogates()
    }

    /// The members of an object, with their keys as they are written; none for any other kind.
    pub(crate) fn written_members(self) -> impl Iterator<Item = (&'a [u8], Value<'a>)> {
        let text = self.document.text().as_bytes();
        self.keys().map(move |at| {
            let key = self.document.node(at);
            (&text[key.start as usize + 1..key.end as usize - 1], Value { at: at + 1, ..self })
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

/// A bit that stands for the length of a key.
fn length_bit(key: &[u8]) -> u64 {
    1 << key.len().min(63)
}
