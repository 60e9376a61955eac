//! Which dialect a transcript is in, or which format that none reads: detected from its messages, never from the name of a file.

use super::accounting::{Accounting, texts_of};
use super::foreign::format_of;
use super::message_lists::{EMPTY_SPANS, is_span};
use super::nearest::nearest;
use super::read_error::ReadError;
use super::row::Row;
use super::simple::Simple;
use super::{ALL, CODE, Dialect, Fit, Item, described};
use crate::json::{Text, Value, ValueKind};
use crate::transcript::{Content, Message, Part, PartPlace};

/// The dialect of a transcript, as far as its items decide.
pub(super) enum Sniffed<'a> {
    /// An item fits this dialect alone.
    Certain(&'static dyn Dialect),
    /// The items fit these dialects, the first of them best, and have the mark of none.
    Plain(Vec<&'static dyn Dialect>),
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
pub(super) fn sniff<'a>(items: &[Value<'a>], record: Option<Value<'_>>) -> Result<Sniffed<'a>, ReadError> {
    let flat: Vec<Value<'a>> = items.iter().flat_map(|&item| flattened(item)).collect();
    if let Some(&texts) = flat.first().filter(|item| record.is_none() && is_list_of_texts(**item)) {
        return Ok(Sniffed::Unrecognized(texts));
    }
    if let Some(dialect) = described::decide(&flat)? {
        return Ok(Sniffed::Certain(dialect));
    }
    if let Some((offset, foreign)) = format_of(&flat) {
        return Err(ReadError { offset, what: foreign.refusal() });
    }
    let mut sniffer = Sniffer::default();
    for &item in &flat {
        sniffer.take(item).map_err(|[now, before]| mixed(&flat, now, before))?;
    }
    Ok(sniffer.verdict().unwrap_or_else(|| match flat.first() {
        None => by_record(record),
        Some(&item) => Sniffed::Unrecognized(item),
    }))
}

/// A dialect, and an item that it alone reads.
type Decision<'a> = (&'static dyn Dialect, Value<'a>);

/// What the items so far say about their dialect.
#[derive(Default)]
struct Sniffer<'a> {
    decided: Option<Decision<'a>>,
    /// The dialects that read the items.
    readers: Vec<&'static dyn Dialect>,
    /// Those that fit an item which none of the readers does: messages in a form that formats share do not decide against them.
    others: Vec<&'static dyn Dialect>,
    /// The roles of messages that are a text alone.
    plain: Vec<Text<'a>>,
}

impl<'a> Sniffer<'a> {
    /// Asks every dialect about an item, unless it can tell nothing new.
    ///
    /// # Errors
    /// It fits only another dialect than an item before it: both.
    fn take(&mut self, item: Value<'a>) -> Result<(), [Decision<'a>; 2]> {
        // Every dialect says of a second text what it said of the first of its role: no fit depends on what was said.
        if let Some(role) = role_of_plain(item) {
            if self.plain.contains(&role) {
                return Ok(());
            }
            self.plain.push(role);
        }
        // No other dialect can contradict: the others are asked about no item of a log but the first.
        if self.decided.is_some_and(|(dialect, _)| is_own(dialect, item)) {
            return Ok(());
        }
        let fits: Vec<_> = CODE.iter().map(|&dialect| (dialect, dialect.fit(item))).collect();
        let best = fits.iter().map(|(_, fit)| *fit).max().filter(|fit| *fit >= Fit::Certain);
        let certain: Vec<_> = fits.iter().filter(|(_, fit)| Some(*fit) == best).map(|(dialect, _)| *dialect).collect();
        match (certain.as_slice(), self.decided) {
            ([one], None) => self.decided = Some((*one, item)),
            ([one], Some(before)) if one.name() != before.0.name() => return Err([(*one, item), before]),
            // Several have a mark in it: those alone can read it.
            ([_, _, ..], None) => {
                self.narrow(certain);
                return Ok(());
            }
            _ => {}
        }
        let fitting: Vec<_> = fits.into_iter().filter(|(_, fit)| *fit != Fit::No).map(|(dialect, _)| dialect).collect();
        if !self.readers.is_empty() && !has_any(&self.readers, &fitting) {
            for one in &fitting {
                if !has_any(&self.others, &[*one]) {
                    self.others.push(*one);
                }
            }
        }
        self.narrow(fitting);
        Ok(())
    }

    /// Leaves the readers that are `fitting` as well. If none is, the readers stay.
    fn narrow(&mut self, fitting: Vec<&'static dyn Dialect>) {
        if self.readers.is_empty() {
            self.readers = fitting;
        } else if has_any(&self.readers, &fitting) {
            self.readers.retain(|reader| fitting.iter().any(|other| other.name() == reader.name()));
        }
    }

    /// What the items say; `None` if no dialect reads one.
    fn verdict(mut self) -> Option<Sniffed<'a>> {
        if let Some((dialect, _)) = self.decided {
            return Some(Sniffed::Certain(dialect));
        }
        self.readers.append(&mut self.others);
        (!self.readers.is_empty()).then_some(Sniffed::Plain(self.readers))
    }
}

/// The dialect among `readers` that reads most of the items of a row, none of which has the mark of one.
///
/// # Errors
/// Two of them read as much, and not the same: nobody can tell which one is right.
pub(super) fn best_reader(readers: &[&'static dyn Dialect], row: &Row<'_>) -> Result<&'static dyn Dialect, ReadError> {
    // It reads what no dialect does, and less of each message than those.
    let tried: Vec<_> = readers.iter().copied().filter(|dialect| dialect.name() != Simple.format().name).collect();
    let [_, _, ..] = tried.as_slice() else {
        return Ok(tried.first().or(readers.first()).copied().unwrap_or(CODE[0]));
    };
    let mut found: Vec<Tried> = tried.into_iter().map(|dialect| Tried::of_row(dialect, row)).collect();
    found.sort_by_key(|tried| (tried.unread, std::cmp::Reverse(tried.read)));
    let best = &found[0];
    let mut equal = found[1..].iter().filter(|other| (other.unread, other.read) == (best.unread, best.read));
    let Some(rival) = equal.find(|other| other.kinds != best.kinds) else { return Ok(best.dialect) };
    let reason = format!(
        "this fits `{}` and `{}`, which read it differently; pass --dialect NAME",
        best.dialect.name(),
        rival.dialect.name()
    );
    let offset = row.items.first().map_or(row.span.start, |item| item.span().start);
    Err(ReadError { offset: offset as usize, what: reason })
}

/// What a dialect makes of a row.
struct Tried {
    dialect: &'static dyn Dialect,
    /// What it leaves unread, in bytes.
    unread: usize,
    /// What it reads, in bytes.
    read: usize,
    /// The roles and kinds of parts that it reads.
    kinds: String,
}

impl Tried {
    fn of_row(dialect: &'static dyn Dialect, row: &Row<'_>) -> Self {
        let mut accounting = Accounting::default();
        let mut tried = Self { dialect, unread: 0, read: 0, kinds: String::new() };
        for (item, read) in row.items.iter().zip(dialect.read_all(&row.items)) {
            match read {
                Item::Message(mut message) => {
                    accounting.complete(dialect, *item, &mut message);
                    tried.message(*item, &message);
                }
                Item::Unknown(_) => tried.unread += item.raw().len(),
                _ => {}
            }
        }
        tried
    }

    fn message(&mut self, item: Value<'_>, message: &Message<'_>) {
        self.kinds.push_str(message.role.name());
        let in_parts = message.parts.iter().filter_map(Part::place).flat_map(PartPlace::estimated);
        self.unread += message.estimated.iter().chain(in_parts).map(|text| text.value.raw().len()).sum::<usize>();
        for part in &message.parts {
            match &part.content {
                Content::Unknown(text) => self.unread += text.len_bound(),
                Content::Other => {}
                content => {
                    self.kinds.push(' ');
                    self.kinds.push_str(content.kind());
                    self.read += texts_of(content).map(Text::len_bound).sum::<usize>();
                }
            }
        }
        if message.parts.is_empty() {
            self.unread += item.raw().len();
        }
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
        Fit::Certain => !CODE.iter().any(|other| other.format().has_marks && other.is_marked(item)),
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

/// Whether a dialect is in both lists.
fn has_any(readers: &[&'static dyn Dialect], fitting: &[&'static dyn Dialect]) -> bool {
    readers.iter().any(|reader| fitting.iter().any(|other| other.name() == reader.name()))
}

fn by_record<'a>(record: Option<Value<'_>>) -> Sniffed<'a> {
    let fitting = record.and_then(|record| ALL.iter().copied().find(|dialect| dialect.fits_record(record)));
    fitting.map_or(Sniffed::Empty, |dialect| Sniffed::Plain(vec![dialect]))
}

/// The error for a message that fits another dialect than one before it: both with their places.
fn mixed<'a>(
    items: &[Value<'a>],
    (now, item): (&dyn Dialect, Value<'a>),
    (before, other): (&dyn Dialect, Value<'a>),
) -> ReadError {
    let lines = [other, item]
        .map(|item| 1 + memchr::memchr_iter(b'\n', &item.source().as_bytes()[..item.span().start as usize]).count());
    let [first, second] = if lines[0] == lines[1] {
        // A record is a line.
        let numbers = [other, item].map(|item| 1 + items.iter().position(|other| *other == item).unwrap_or(0));
        numbers.map(|number| format!("message {number}"))
    } else {
        lines.map(|line| format!("line {line}"))
    };
    let reason = format!(
        "this message ({second}) is written as `{}`, one before it ({first}) as `{}`; pass --dialect NAME",
        now.name(),
        before.name()
    );
    ReadError { offset: item.span().start as usize, what: reason }
}

/// The error for a transcript whose first item fits no dialect.
pub(super) fn unrecognized(item: Value<'_>) -> ReadError {
    if is_span(item) {
        return ReadError { offset: item.span().start as usize, what: EMPTY_SPANS.to_owned() };
    }
    let near = nearest(item);
    let near = if near.is_empty() { String::new() } else { format!("; nearest are {near}") };
    let reason = format!(
        "the first message fits no dialect: {}{near}; pass --dialect NAME, or describe the format: --dialect-file",
        keys_of(item)
    );
    ReadError { offset: item.span().start as usize, what: reason }
}

/// The first keys of `item`, as words.
pub(super) fn keys_of(item: Value<'_>) -> String {
    let keys: Vec<String> = item.members().take(8).map(|member| format!("`{}`", member.key.decode())).collect();
    if keys.is_empty() { String::from("it is not an object") } else { format!("its keys are {}", keys.join(", ")) }
}

/// Roles whose texts fit the first dialect, and mark none.
const PLAIN_ROLES: [&str; 5] = ["system", "developer", "user", "assistant", "tool"];

/// Whether `row` is a chat of texts, which fits the first dialect best and marks none that the program brings.
pub(super) fn is_plain(row: &Row<'_>) -> bool {
    !row.items.is_empty()
        && !described::are_registered()
        && row.answers.branches.iter().all(Vec::is_empty)
        && row.items.iter().all(|item| is_said(*item))
        && row.items.iter().any(|item| item.get("content").is_some())
}

/// Members beside a role and a text that mark no dialect either.
const PLAIN_MEMBERS: [&str; 8] = ["name", "weight", "train", "loss", "loss_mask", "loss_weight", "trainable", "mask"];

/// Whether an item has a known role and a text, texts in blocks, or null, which tables leave out, and little else.
fn is_said(item: Value<'_>) -> bool {
    let mut role = None;
    item.members().all(|member| match member.key {
        Text::Escaped("role") if role.is_none() => {
            role = member.value.text();
            true
        }
        Text::Escaped("content") => match member.value.kind() {
            ValueKind::String | ValueKind::Null => true,
            ValueKind::Array => member.value.items().all(is_text_block),
            _ => false,
        },
        Text::Escaped(key) => PLAIN_MEMBERS.contains(&key) && !member.value.is_object() && !member.value.is_array(),
        _ => false,
    }) && matches!(role, Some(Text::Escaped(role)) if PLAIN_ROLES.contains(&role))
}

/// Whether a value is `{"type": "text", "text": "…"}`.
fn is_text_block(block: Value<'_>) -> bool {
    block.members().count() == 2 && block.word("type") == "text" && block.get_text("text").is_some()
}

/// Whether all items of `row` fit `dialect`, one fits no other, and none has the mark of another. This is much cheaper than
/// asking every dialect.
pub(super) fn is_written_as(dialect: &dyn Dialect, row: &Row<'_>) -> bool {
    // A text alone has the mark of no dialect that the program brings, and fits the first.
    let are_registered = described::are_registered();
    let telling: Vec<Value<'_>> = row.items.iter().copied().filter(|item| are_registered || !is_said(*item)).collect();
    let asked = if dialect.name() == CODE[0].name() { &telling } else { &row.items };
    let mut worst = Fit::Marked;
    let mut best = Fit::No;
    for &item in asked {
        let fit = dialect.fit(item);
        (worst, best) = (worst.min(fit), best.max(fit));
    }
    let mut others = CODE.iter().filter(|other| other.format().has_marks && other.name() != dialect.name());
    let is_own = worst > Fit::No && best >= Fit::Certain;
    is_own
        && !others.any(|other| telling.iter().any(|&item| other.is_marked(item)))
        && !described::has_mark(&telling, dialect)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialects::{Framing, rows};
    use crate::json::Document;

    /// Each of them reads all items: one that is named for each item would be quadratic.
    #[test]
    fn no_reader_is_named_twice() {
        let said = r#", {"role": "user", "id": "m", "content": "A plan"}"#.repeat(3);
        let text = format!(r#"{{"messages": [{{"role": "assistant", "parts": []}}{said}]}}"#);
        let document = Document::parse(&text).unwrap();
        let [row] = rows(&document, Framing::Records, None).unwrap().try_into().ok().unwrap();
        let Ok(Sniffed::Plain(readers)) = sniff(&row.items, row.record) else { panic!("{text}") };
        let names: std::collections::HashSet<_> = readers.iter().map(|reader| reader.name()).collect();
        assert_eq!(names.len(), readers.len());
    }

    /// No dialect has its mark in such a row, or reads more of it.
    #[test]
    fn a_chat_of_texts_is_best_read_by_the_first_dialect() {
        let block = r#"{"type": "text", "text": "A plan"}"#;
        let lists = [String::from("[]"), format!("[{block}]"), format!("[{block}, {block}]")];
        let texts = [r#""{\"type\": 1}""#, r#""""#, "null"].map(String::from);
        let contents = [texts, lists].concat();
        let all: Vec<String> = PLAIN_ROLES
            .iter()
            .flat_map(|role| contents.iter().map(move |said| format!(r#"{{"role": "{role}", "content": {said}}}"#)))
            .collect();
        let mut others = PLAIN_ROLES.map(|role| format!(r#"{{"role": "{role}"}}"#)).to_vec();
        for (role, member) in PLAIN_ROLES.iter().flat_map(|role| PLAIN_MEMBERS.map(|member| (role, member))) {
            let values = ["0", "false", r#""Ada""#, "null"];
            others.extend(values.map(|value| format!(r#"{{"{member}": {value}, "role": "{role}", "content": "A"}}"#)));
        }
        let second = || all.iter().chain(&others);
        for (first, second) in all.iter().flat_map(|first| second().map(move |second| (first, second))) {
            let text = format!(r#"{{"messages": [{second}, {first}]}}"#);
            let document = Document::parse(&text).unwrap();
            let [row] = rows(&document, Framing::Records, None).unwrap().try_into().ok().unwrap();
            assert!(is_plain(&row), "{text}");
            let Ok(Sniffed::Plain(readers)) = sniff(&row.items, row.record) else { panic!("{text}") };
            let worth = |dialect| {
                let tried = Tried::of_row(dialect, &row);
                (tried.read, std::cmp::Reverse(tried.unread))
            };
            assert!(readers.iter().all(|reader| worth(*reader) <= worth(CODE[0])), "{text}");
        }
    }
}
