//! Which dialect a transcript is in: detected from its messages, never from the name of a file.

use super::{ALL, Dialect, Fit, foreign};
use crate::json::{Text, Value};

/// The dialect of a transcript, as far as its items decide.
pub enum Sniffed {
    /// An item fits this dialect alone.
    Certain(&'static dyn Dialect),
    /// The items fit this dialect, and others that read them in the same way.
    Plain(&'static dyn Dialect),
    /// There is no item.
    Empty,
}

/// No single dialect fits the items of a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SniffError {
    /// The first item fits no dialect.
    Unrecognized {
        /// Byte offset of the item in the text.
        offset: usize,
        /// The first keys of the item; empty if it is no object.
        keys: Vec<String>,
    },
    /// An item is in a format that is known by sight, and cannot be read.
    Foreign {
        /// Byte offset of the item in the text.
        offset: usize,
        /// Name of the format.
        format: &'static str,
        /// What to do instead.
        advice: &'static str,
    },
    /// Items fit different dialects.
    Mixed {
        /// Byte offset of the item that contradicts the ones before it.
        offset: usize,
        /// Name of the dialect that the items before it fit.
        before: &'static str,
        /// Name of the dialect that this item fits.
        now: &'static str,
    },
}

impl SniffError {
    /// Byte offset in the text of the item that the error is about.
    #[must_use]
    pub const fn offset(&self) -> usize {
        match self {
            Self::Unrecognized { offset, .. } | Self::Foreign { offset, .. } | Self::Mixed { offset, .. } => *offset,
        }
    }
}

impl std::fmt::Display for SniffError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Mixed { before, now, .. } => {
                write!(f, "this message is written as `{now}`, one before it as `{before}`; pass --dialect NAME")
            }
            Self::Foreign { format, advice, .. } => {
                write!(f, "this is written as {format}, which curtail does not read; {advice}")
            }
            Self::Unrecognized { keys, .. } => {
                let names: Vec<&str> = ALL.iter().map(|dialect| dialect.name()).collect();
                let seen = listed(keys);
                write!(f, "the first message fits no dialect: {seen}; pass --dialect NAME: {}", names.join(", "))
            }
        }
    }
}

impl std::error::Error for SniffError {}

/// Detects the dialect of `items`, or of the record around them if there are none.
///
/// The first item that fits only one dialect decides.
///
/// # Errors
/// A later item fits only another dialect, the items fit none, or they are in a format that cannot be read.
pub fn sniff(items: &[Value<'_>], record: Option<Value<'_>>) -> Result<Sniffed, SniffError> {
    let flat: Vec<Value<'_>> = items.iter().flat_map(|&item| flattened(item)).collect();
    let mut decided: Option<&'static dyn Dialect> = None;
    let mut readers: Vec<&'static dyn Dialect> = Vec::new();
    if let Some(&texts) = flat.first().filter(|item| record.is_none() && is_list_of_texts(**item)) {
        return Err(unrecognized(texts));
    }
    if let Some((offset, foreign)) = foreign::format_of(&flat) {
        return Err(SniffError::Foreign { offset, format: foreign.format, advice: foreign.advice });
    }
    let mut plain: Vec<Text<'_>> = Vec::new();
    for &item in &flat {
        // Every dialect says of a second one what it said of the first: no fit depends on what was said.
        if let Some(role) = role_of_plain(item) {
            if plain.contains(&role) {
                continue;
            }
            plain.push(role);
        }
        // No other dialect can contradict: the others are asked about no item of a log but the first.
        if decided.is_some_and(|dialect| is_own(dialect, item)) {
            continue;
        }
        let fits: Vec<_> = ALL.iter().map(|&dialect| (dialect, dialect.fit(item))).collect();
        let best = fits.iter().map(|(_, fit)| *fit).max().filter(|fit| *fit >= Fit::Certain);
        let certain: Vec<_> = fits.iter().filter(|(_, fit)| Some(*fit) == best).collect();
        match (certain.as_slice(), decided) {
            ([(one, _)], None) => decided = Some(*one),
            ([(one, _)], Some(before)) if one.name() != before.name() => {
                let offset = item.span().start as usize;
                return Err(SniffError::Mixed { offset, before: before.name(), now: one.name() });
            }
            _ => {}
        }
        readers = narrowed(readers, fits.into_iter().filter(|(_, fit)| *fit != Fit::No).map(|(dialect, _)| dialect));
    }
    match (decided, readers.first(), flat.first()) {
        (Some(dialect), ..) => Ok(Sniffed::Certain(dialect)),
        (None, Some(&dialect), _) => Ok(Sniffed::Plain(dialect)),
        (None, None, None) => Ok(by_record(record)),
        (None, None, Some(&item)) => Err(unrecognized(item)),
    }
}

/// The role of a message that has nothing but a role and a text.
pub(super) fn role_of_plain(item: Value<'_>) -> Option<Text<'_>> {
    let (mut role, mut content) = (None, None);
    for member in item.members() {
        let place = if member.key.is("role") {
            &mut role
        } else if member.key.is("content") {
            &mut content
        } else {
            return None;
        };
        *place = Some(member.value.text()?);
    }
    content.and(role)
}

/// Whether `item` fits `dialect`, and none better.
fn is_own(dialect: &'static dyn Dialect, item: Value<'_>) -> bool {
    match dialect.fit(item) {
        Fit::Marked => true,
        Fit::Certain => !ALL.iter().any(|other| other.has_marks() && other.fit(item) == Fit::Marked),
        Fit::No | Fit::Possible => false,
    }
}

/// The messages of an item that is a list of messages, or else the item.
fn flattened(item: Value<'_>) -> Vec<Value<'_>> {
    let turn = item.is_array() && item.items().all(Value::is_object);
    if turn { item.items().collect() } else { vec![item] }
}

/// Whether an item is a list of texts. In the history of a record, it may be a pair of question and answer; by itself it is
/// any list.
fn is_list_of_texts(item: Value<'_>) -> bool {
    item.is_array() && item.items().all(|said| said.text().is_some())
}

/// The dialects among `readers` that also fit one more item. All that fit it if `readers` is empty, and all `readers` if
/// none of them fits it.
fn narrowed(
    readers: Vec<&'static dyn Dialect>,
    own: impl Iterator<Item = &'static dyn Dialect>,
) -> Vec<&'static dyn Dialect> {
    let own: Vec<_> = own.collect();
    let both: Vec<_> =
        readers.iter().copied().filter(|reader| own.iter().any(|other| other.name() == reader.name())).collect();
    match (readers.is_empty(), both.is_empty()) {
        (true, _) => own,
        (false, true) => readers,
        (false, false) => both,
    }
}

fn by_record(record: Option<Value<'_>>) -> Sniffed {
    let fits = |record| ALL.iter().copied().find(|dialect| dialect.fits_record(record));
    record.and_then(fits).map_or(Sniffed::Empty, Sniffed::Plain)
}

fn unrecognized(item: Value<'_>) -> SniffError {
    SniffError::Unrecognized { offset: item.span().start as usize, keys: first_keys(item) }
}

fn first_keys(item: Value<'_>) -> Vec<String> {
    item.members().take(8).map(|member| member.key.decode().into_owned()).collect()
}

/// The first keys of `item`, as words.
pub(super) fn keys_of(item: Value<'_>) -> String {
    listed(&first_keys(item))
}

fn listed(keys: &[String]) -> String {
    let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    if keys.is_empty() { String::from("it is not an object") } else { format!("its keys are {}", keys.join(", ")) }
}
