//! A value as a place on the tape: access walks the tape and copies nothing.

use super::{Document, Member, Span, Text};

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

impl std::hash::Hash for Value<'_> {
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
        self.text().is_some_and(|own| own.is(text))
    }

    /// The member `key` of an object. The last of several members with this key applies, as in most parsers.
    #[must_use]
    pub fn get(self, key: &str) -> Option<Value<'a>> {
        if self.document.has_escaped_keys() {
            return self.members().filter(|member| member.key.is(key)).last().map(|member| member.value);
        }
        let node = self.document.node(self.at);
        let text = self.document.text().as_bytes();
        if text[node.start as usize] != b'{' {
            return None;
        }
        let Some(&first) = key.as_bytes().first() else {
            return self.members().filter(|member| member.key.is(key)).last().map(|member| member.value);
        };
        let (mut at, mut found) = (self.at + 1, None);
        while at < node.next {
            let own = self.document.node(at);
            let inside = own.start as usize + 1..own.end as usize - 1;
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
            let own = self.document.node(at);
            let inside = &text[own.start as usize + 1..own.end as usize - 1];
            for (key, found) in keys.iter().zip(&mut found) {
                if inside == key.as_bytes() {
                    *found = Some(Value { document: self.document, at: at + 1 });
                }
            }
            at = self.document.node(at + 1).next;
        }
        found
    }

    /// Whether any key of the document contains an escape.
    pub(super) const fn has_escaped_keys(self) -> bool {
        self.document.has_escaped_keys()
    }

    /// The keys of an object, as they are written; none for any other kind.
    pub(super) fn raw_keys(self) -> impl Iterator<Item = &'a [u8]> {
        let end = if self.is_object() { self.document.node(self.at).next } else { 0 };
        let mut at = self.at + 1;
        std::iter::from_fn(move || {
            let own = (at < end).then(|| self.document.node(at))?;
            at = self.document.node(at + 1).next;
            Some(&self.source().as_bytes()[own.start as usize + 1..own.end as usize - 1])
        })
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
        let end = if self.is_object() { self.document.node(self.at).next } else { 0 };
        let mut at = self.at + 1;
        std::iter::from_fn(move || {
            let here = (at < end).then_some(at)?;
            let value = Value { document: self.document, at: here + 1 };
            at = self.document.node(here + 1).next;
            let key = self.document.node(here);
            let inside = Span::new(key.start + 1, key.end - 1);
            let key_text = Text::escaped(self.document.slice(inside));
            Some(Member { key: key_text, value, span: Span::new(key.start, value.span().end) })
        })
    }

    /// The list or object that contains this value.
    #[must_use]
    pub fn parent(self) -> Option<Value<'a>> {
        self.document.parent(self.at).map(|at| Value { document: self.document, at })
    }

    /// The values of the text after this one, which is not inside another.
    pub(crate) fn roots_after(self) -> impl Iterator<Item = Value<'a>> {
        let own = self.at;
        self.document.roots().filter(move |root| root.at > own)
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
