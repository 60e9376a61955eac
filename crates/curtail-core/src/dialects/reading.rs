//! How the texts of a file are read: their framing, and a dialect that is detected once and then kept.

use super::assemble::assemble;
use super::foreign::format_of;
use super::framing::{Framing, names_messages, rows};
use super::read_error::{ReadError, UnknownDialect, refuse_to_write};
use super::row::Row;
use super::{ALL, Dialect, Fit, dialect_named};
use crate::json::{Document, ParseErrorKind, Text, Value};
use crate::transcript::Transcript;

/// How the texts of a file are read.
///
/// ```
/// use curtail_core::dialects::{Dialect as _, Framing, Reading};
/// use curtail_core::transcript::Role;
///
/// let reading = Reading::new(Framing::Records, None, None)?;
/// let chat = r#"{"messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]}"#;
/// let document = reading.parse(chat)?;
/// for (dialect, transcript) in reading.transcripts(&document)? {
///     assert_eq!(dialect.name(), "openai");
///     assert_eq!(transcript.messages.len(), 2);
///     assert_eq!(transcript.messages[0].role, Role::User);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Reading {
    /// How transcripts are laid out in the file.
    pub framing: Framing,
    /// The dialect of the file, if the user named it or the first messages of the file decided it.
    pub dialect: Option<&'static dyn Dialect>,
    /// Whether the user named the dialect. All messages are then read in it.
    pub named: bool,
    /// The key under which records keep their messages, as keys joined by dots; `None` for the usual keys.
    pub messages_key: Option<String>,
}

impl std::fmt::Debug for Reading {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, {}", self.framing.name(), self.dialect.map_or("dialect not detected yet", <dyn Dialect>::name))
    }
}

impl Reading {
    /// Reads `framing` in the dialect called `name`, or in the one that is detected from the messages.
    ///
    /// # Errors
    /// No dialect has that name.
    pub fn new(framing: Framing, name: Option<&str>, messages_key: Option<String>) -> Result<Self, UnknownDialect> {
        let known = |name: &str| dialect_named(name).ok_or_else(|| UnknownDialect { name: name.to_owned() });
        let dialect = name.map(known).transpose()?;
        Ok(Self { framing, dialect, named: dialect.is_some(), messages_key })
    }

    /// Reads `text` as JSON: one value for a document, one after another for lines and records.
    ///
    /// # Errors
    /// The first byte that is not JSON.
    pub fn parse<'a>(&self, text: &'a str) -> Result<Document<'a>, ReadError> {
        let read = match self.framing {
            Framing::Document => Document::parse(text),
            Framing::Lines => Document::parse_log(text),
            Framing::Records => Document::parse_all(text),
        };
        read.map_err(|error| match error.kind {
            ParseErrorKind::SecondValue => {
                let reason =
                    "a second value begins here, and a document is one value; `jq -c` writes each value on a line";
                ReadError { offset: error.offset, what: reason.to_owned() }
            }
            _ => error.into(),
        })
    }

    /// Reads the transcripts of `document`, each with its dialect.
    ///
    /// # Errors
    /// A record without a list of messages, messages that fit no dialect, or messages from more than one; items none of which
    /// is a message of the dialect.
    pub fn transcripts<'a>(
        &self,
        document: &'a Document<'a>,
    ) -> Result<Vec<(&'static dyn Dialect, Transcript<'a>)>, ReadError> {
        let transcripts = self.transcripts_or_none(document)?;
        let misread =
            |(dialect, transcript): &(&'static dyn Dialect, Transcript<'a>)| nothing_read(*dialect, transcript);
        transcripts.iter().find_map(misread).map_or(Ok(transcripts), Err)
    }

    /// Reads the transcripts of `document` for a command that writes them, each with its dialect.
    ///
    /// # Errors
    /// As [`transcripts`](Self::transcripts), and a transcript is in a dialect that is only read.
    pub fn writable_transcripts<'a>(
        &self,
        document: &'a Document<'a>,
    ) -> Result<Vec<(&'static dyn Dialect, Transcript<'a>)>, ReadError> {
        let transcripts = self.transcripts(document)?;
        for (dialect, transcript) in &transcripts {
            refuse_to_write(*dialect, transcript.layout.record.start as usize)?;
        }
        Ok(transcripts)
    }

    /// Reads the transcripts of `document`, each with its dialect, also those in which no item is a message.
    ///
    /// # Errors
    /// A record without a list of messages, messages that fit no dialect, or messages from more than one.
    pub fn transcripts_or_none<'a>(
        &self,
        document: &'a Document<'a>,
    ) -> Result<Vec<(&'static dyn Dialect, Transcript<'a>)>, ReadError> {
        if self.framing == Framing::Document {
            document.roots().next().map_or(Ok(()), refuse_tiny_records)?;
        }
        let rows = rows(document, self.framing, self.messages_key.as_deref())?;
        let read = |row: &Row<'a>| {
            let dialect = self.dialect_of(row)?;
            match document.incomplete_end() {
                Some(fault) if !dialect.is_log() => Err(ReadError::from(*fault)),
                _ => Ok((dialect, assemble(dialect, row))),
            }
        };
        rows.iter().map(read).collect()
    }

    /// Reads the transcripts of `document` again, which were written in these `dialects`. If there are fewer now, the others
    /// are left out.
    ///
    /// # Errors
    /// A record without a list of messages.
    pub fn transcripts_as<'a>(
        &self,
        document: &'a Document<'a>,
        dialects: &[&'static dyn Dialect],
    ) -> Result<Vec<(&'static dyn Dialect, Transcript<'a>)>, ReadError> {
        let rows = rows(document, self.framing, self.messages_key.as_deref())?;
        Ok(rows.iter().zip(dialects).map(|(row, &dialect)| (dialect, assemble(dialect, row))).collect())
    }

    /// The dialect that the first transcripts of `head` decide, if any does.
    #[must_use]
    pub fn dialect_of_head(&self, head: &str) -> Option<&'static dyn Dialect> {
        let detected = |text: &str| {
            let document = self.parse(text).ok()?;
            let rows = rows(&document, self.framing, self.messages_key.as_deref()).ok()?;
            rows.iter().find_map(|row| match sniff(&row.items, row.record) {
                Ok(Sniffed::Certain(dialect)) => Some(dialect),
                _ => None,
            })
        };
        match self.framing {
            Framing::Records => head.lines().find_map(detected),
            // In a file with one transcript, the dialect is detected when the file is read.
            Framing::Lines | Framing::Document => None,
        }
    }

    /// Whether `text`, a file or its beginning, has anything of a transcript: a list of messages or a message. A text that is
    /// not JSON has if a key of one is in it.
    #[must_use]
    pub fn shows_messages(&self, text: &str) -> bool {
        match self.framing {
            Framing::Records => text.lines().any(|line| self.value_shows_messages(line)),
            Framing::Lines | Framing::Document => self.value_shows_messages(text),
        }
    }

    fn value_shows_messages(&self, text: &str) -> bool {
        let Ok(document) = self.parse(text) else { return names_messages(text) };
        let Ok(rows) = rows(&document, self.framing, self.messages_key.as_deref()) else { return false };
        rows.iter().any(|row| match sniff(&row.items, row.record) {
            Ok(Sniffed::Unrecognized(_)) => self.named && row.items.iter().any(|item| item.is_object()),
            _ => true,
        })
    }

    fn dialect_of(&self, row: &Row<'_>) -> Result<&'static dyn Dialect, ReadError> {
        let wrong = |reason| {
            let offset = row.items.first().map_or(row.span.start, |item| item.span().start);
            ReadError { offset: offset as usize, what: reason }
        };
        match (self.dialect, self.named) {
            (Some(dialect), true) => return Ok(dialect),
            (dialect, _) if is_plain(row) => return Ok(dialect.unwrap_or(ALL[0])),
            (Some(dialect), false) if is_written_as(dialect, row) => return Ok(dialect),
            _ => {}
        }
        let items: Vec<_> = row.items.iter().chain(row.answers.branches.iter().flatten()).copied().collect();
        match (sniff(&items, row.record)?, self.dialect) {
            (Sniffed::Unrecognized(item), _) => Err(unrecognized(item)),
            (Sniffed::Certain(now), Some(before)) if now.name() != before.name() => Err(wrong(format!(
                "the file began as `{}`, this transcript is written as `{}`; pass --dialect NAME",
                before.name(),
                now.name()
            ))),
            (Sniffed::Certain(dialect), _) => Ok(dialect),
            (Sniffed::Plain(_) | Sniffed::Empty, Some(dialect)) | (Sniffed::Plain(dialect), None) => Ok(dialect),
            (Sniffed::Empty, None) => Ok(ALL[0]),
        }
    }
}

/// The number of items from which on a list must have items of [`TINY`] bytes or more. The records of a document are in memory
/// at once, and each takes some hundred bytes there, however short it is.
const MAX_TINY: usize = 100_000;
/// The size of an item that is hardly more than empty, in bytes: `{"messages": []},`.
const TINY: usize = 24;

/// Refuses a list of very many records that are hardly more than empty.
///
/// # Errors
/// `root` is such a list.
fn refuse_tiny_records(root: Value<'_>) -> Result<(), ReadError> {
    let bytes = root.raw().len();
    let count = if root.is_array() { root.items().count() } else { 0 };
    if count <= MAX_TINY || bytes >= count * TINY {
        return Ok(());
    }
    let reason = format!(
        "a list of {count} items in {bytes} bytes takes too much memory as one document; write each item on a line of its own"
    );
    Err(ReadError { offset: root.span().start as usize, what: reason })
}

/// The error for a transcript with items but without a message, unless it is a log that has just begun or that was cut: one
/// item is of `dialect` alone, or the dialect knows some and no other dialect fits any.
fn nothing_read(dialect: &dyn Dialect, transcript: &Transcript<'_>) -> Option<ReadError> {
    if !transcript.messages.is_empty() {
        return None;
    }
    // A turn without messages is an empty list.
    let items: Vec<_> =
        transcript.layout.elements.iter().filter(|item| !item.is_array() || item.items().next().is_some()).collect();
    let first = **items.first()?;
    let best = |dialect: &dyn Dialect| items.iter().map(|item| dialect.fit(**item)).max();
    let unknown = transcript.layout.non_messages.iter().filter(|item| item.unknown.is_some()).count();
    // New versions of a program write new events.
    let known = if dialect.is_log() { unknown < items.len() } else { unknown == 0 };
    let others = || ALL.iter().any(|other| best(*other) > Some(Fit::No));
    let read = match best(dialect) {
        Some(Fit::Certain | Fit::Marked) => true,
        Some(Fit::Possible) => known,
        _ => known && !others(),
    };
    (!read).then(|| ReadError {
        offset: first.span().start as usize,
        what: format!(
            "no message was read: no item is a message of the dialect `{}` ({}); check --dialect, or leave it out to detect it",
            dialect.name(),
            keys_of(first)
        ),
    })
}

/// Roles whose texts fit the first dialect, and mark none.
const PLAIN_ROLES: [&str; 5] = ["system", "developer", "user", "assistant", "tool"];

/// Whether `row` is a chat of texts, which fits the first dialect and marks none.
fn is_plain(row: &Row<'_>) -> bool {
    let is_said =
        |item: &Value<'_>| role_of_plain(*item).is_some_and(|role| PLAIN_ROLES.iter().any(|known| role.is(known)));
    !row.items.is_empty() && row.answers.branches.iter().all(Vec::is_empty) && row.items.iter().all(is_said)
}

/// Whether all items of `row` fit `dialect`, one fits no other, and none has the mark of another. This is much cheaper than
/// asking every dialect.
fn is_written_as(dialect: &dyn Dialect, row: &Row<'_>) -> bool {
    let mut worst = Fit::Marked;
    let mut best = Fit::No;
    for &item in &row.items {
        let fit = dialect.fit(item);
        (worst, best) = (worst.min(fit), best.max(fit));
    }
    let mut others = ALL.iter().filter(|other| other.format().has_marks && other.name() != dialect.name());
    let has_mark = |other: &dyn Dialect| row.items.iter().any(|&item| other.fit(item) == Fit::Marked);
    worst > Fit::No && best >= Fit::Certain && !others.any(|other| has_mark(*other))
}

// Which dialect a transcript is in, or which format that none reads: detected from its messages, never from the name of a file.

/// The dialect of a transcript, as far as its items decide.
enum Sniffed<'a> {
    /// An item fits this dialect alone.
    Certain(&'static dyn Dialect),
    /// The items fit this dialect, and others that read them in the same way.
    Plain(&'static dyn Dialect),
    /// There is no item.
    Empty,
    /// This item, the first one, fits no dialect.
    Unrecognized(Value<'a>),
}

/// Detects the dialect of `items`, or of the record around them if there are none.
///
/// The first item that fits only one dialect decides.
///
/// # Errors
/// A later item fits only another dialect, or an item is in a format that is known by sight and cannot be read.
fn sniff<'a>(items: &[Value<'a>], record: Option<Value<'_>>) -> Result<Sniffed<'a>, ReadError> {
    let flat: Vec<Value<'a>> = items.iter().flat_map(|&item| flattened(item)).collect();
    let mut decided: Option<&'static dyn Dialect> = None;
    let mut readers: Vec<&'static dyn Dialect> = Vec::new();
    if let Some(&texts) = flat.first().filter(|item| record.is_none() && is_list_of_texts(**item)) {
        return Ok(Sniffed::Unrecognized(texts));
    }
    if let Some((offset, foreign)) = format_of(&flat) {
        return Err(ReadError { offset, what: foreign.refusal() });
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
                return Err(mixed(item, *one, before));
            }
            _ => {}
        }
        readers = narrowed(readers, fits.into_iter().filter(|(_, fit)| *fit != Fit::No).map(|(dialect, _)| dialect));
    }
    match (decided, readers.first(), flat.first()) {
        (Some(dialect), ..) => Ok(Sniffed::Certain(dialect)),
        (None, Some(&dialect), _) => Ok(Sniffed::Plain(dialect)),
        (None, None, None) => Ok(by_record(record)),
        (None, None, Some(&item)) => Ok(Sniffed::Unrecognized(item)),
    }
}

/// The role of a message that has nothing but a role and a text.
fn role_of_plain(item: Value<'_>) -> Option<Text<'_>> {
    let mut role = None;
    let mut content = None;
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
        Fit::Certain => !ALL.iter().any(|other| other.format().has_marks && other.fit(item) == Fit::Marked),
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
    item.is_array() && item.items().all(|text| text.text().is_some())
}

/// The dialects among `readers` that also fit one more item. All that fit it if `readers` is empty, and all `readers` if
/// none of them fits it.
fn narrowed(
    readers: Vec<&'static dyn Dialect>,
    fitting: impl Iterator<Item = &'static dyn Dialect>,
) -> Vec<&'static dyn Dialect> {
    let fitting: Vec<_> = fitting.collect();
    let both: Vec<_> =
        readers.iter().copied().filter(|reader| fitting.iter().any(|other| other.name() == reader.name())).collect();
    match (readers.is_empty(), both.is_empty()) {
        (true, _) => fitting,
        (false, true) => readers,
        (false, false) => both,
    }
}

fn by_record<'a>(record: Option<Value<'_>>) -> Sniffed<'a> {
    let fits = |record| ALL.iter().copied().find(|dialect| dialect.fits_record(record));
    record.and_then(fits).map_or(Sniffed::Empty, Sniffed::Plain)
}

/// The error for a message that fits another dialect than those before it.
fn mixed(item: Value<'_>, now: &dyn Dialect, before: &dyn Dialect) -> ReadError {
    let now = now.name();
    let before = before.name();
    let reason = format!("this message is written as `{now}`, one before it as `{before}`; pass --dialect NAME");
    ReadError { offset: item.span().start as usize, what: reason }
}

/// The error for a transcript whose first item fits no dialect.
fn unrecognized(item: Value<'_>) -> ReadError {
    let names: Vec<&str> = ALL.iter().map(|dialect| dialect.name()).collect();
    let reason =
        format!("the first message fits no dialect: {}; pass --dialect NAME: {}", keys_of(item), names.join(", "));
    ReadError { offset: item.span().start as usize, what: reason }
}

/// The first keys of `item`, as words.
fn keys_of(item: Value<'_>) -> String {
    let keys: Vec<String> = item.members().take(8).map(|member| format!("`{}`", member.key.decode())).collect();
    if keys.is_empty() { String::from("it is not an object") } else { format!("its keys are {}", keys.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chat_of_texts_fits_the_first_dialect_and_marks_none() {
        for role in PLAIN_ROLES {
            let text = format!(r#"{{"role": "{role}", "content": "{{\"type\": \"text\"}}"}}"#);
            let document = Document::parse_all(&text).unwrap();
            let item = document.roots().next().unwrap();
            assert!(role_of_plain(item).is_some_and(|found| found.is(role)));
            assert!(ALL[0].fit(item) > Fit::No, "{role}");
            for dialect in ALL {
                assert!(dialect.fit(item) < Fit::Certain, "{role} is not {} alone", dialect.name());
            }
        }
    }
}
