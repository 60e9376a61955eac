//! Which dialect a transcript is in, or which format that none reads: detected from its messages, never from the name of a file.

use super::{ALL, Dialect, Fit, ReadError};
use crate::json::{Text, Value};

/// The dialect of a transcript, as far as its items decide.
pub(super) enum Sniffed<'a> {
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
pub(super) fn sniff<'a>(items: &[Value<'a>], record: Option<Value<'_>>) -> Result<Sniffed<'a>, ReadError> {
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

fn by_record<'a>(record: Option<Value<'_>>) -> Sniffed<'a> {
    let fits = |record| ALL.iter().copied().find(|dialect| dialect.fits_record(record));
    record.and_then(fits).map_or(Sniffed::Empty, Sniffed::Plain)
}

/// The error for a message that fits another dialect than those before it.
fn mixed(item: Value<'_>, now: &dyn Dialect, before: &dyn Dialect) -> ReadError {
    let (now, before) = (now.name(), before.name());
    let what = format!("this message is written as `{now}`, one before it as `{before}`; pass --dialect NAME");
    ReadError { offset: item.span().start as usize, what }
}

/// The error for a transcript whose first item fits no dialect.
pub(super) fn unrecognized(item: Value<'_>) -> ReadError {
    let names: Vec<&str> = ALL.iter().map(|dialect| dialect.name()).collect();
    let what =
        format!("the first message fits no dialect: {}; pass --dialect NAME: {}", keys_of(item), names.join(", "));
    ReadError { offset: item.span().start as usize, what }
}

/// The first keys of `item`, as words.
pub(super) fn keys_of(item: Value<'_>) -> String {
    let keys: Vec<String> = item.members().take(8).map(|member| format!("`{}`", member.key.decode())).collect();
    if keys.is_empty() { String::from("it is not an object") } else { format!("its keys are {}", keys.join(", ")) }
}

// Formats that are known by sight and that no dialect reads: read as another one, they would lose their calls.

/// A format that no dialect reads, and what to do with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Foreign {
    /// Its name.
    format: &'static str,
    /// What to do instead.
    advice: &'static str,
}

impl Foreign {
    /// Why a transcript in this format is refused.
    pub(super) fn refusal(self) -> String {
        format!("this is written as {}, which curtail does not read; {}", self.format, self.advice)
    }
}

const IFLOW: Foreign = like("iFlow");
const AMP: Foreign = like("a thread of Amp");
const GPTME: Foreign = like("gptme");
const COPILOT_LOG: Foreign = Foreign {
    format: "a patch log of VS Code Copilot",
    advice: "its lines change one document: apply them, and the document can be read",
};
const GRAPH: Foreign = Foreign {
    format: "a trace graph of verifiers",
    advice: "its nodes are a tree: write each path from the root as a record with `messages`",
};
const TEXTS: Foreign = Foreign {
    format: "a row of plain texts to train on",
    advice: "it has no messages to cut: write each text as a list of messages",
};

/// A format that has the keys of another, so that a user may read it as that one.
const fn like(format: &'static str) -> Foreign {
    Foreign { format, advice: "pass --dialect NAME to read it as another" }
}

/// The format that one of `items` is in, if it is one of these, with the offset of that item.
pub(super) fn format_of(items: &[Value<'_>]) -> Option<(usize, Foreign)> {
    let one = items.iter().find_map(|&item| Some((item, format_of_item(item)?)));
    let (item, format) = one.or_else(|| gptme(items).map(|item| (item, GPTME)))?;
    Some((item.span().start as usize, format))
}

/// The format of one item, or of a record.
pub(super) fn format_of_item(item: Value<'_>) -> Option<Foreign> {
    let [kind, role, session] = item.get_each(["type", "role", "sessionId"]);
    match (kind.and_then(Value::text), session) {
        (Some(kind), Some(session)) if is_iflow(session) && item.get("parentUuid").is_some() => {
            matches!(&*kind.decode(), "user" | "assistant").then_some(IFLOW)
        }
        _ if is_amp(item) => Some(AMP),
        (None, _) if role.is_none() => format_without_role(item),
        _ => None,
    }
}

/// The format of an item that says neither a role nor a type.
fn format_without_role(item: Value<'_>) -> Option<Foreign> {
    let [kind, value, nodes] = item.get_each(["kind", "v", "nodes"]);
    let node = nodes.and_then(|nodes| nodes.items().next());
    let patches = kind.is_some_and(|kind| matches!(kind.raw(), "0" | "1" | "2" | "3"));
    if patches && (item.get("k").is_some() || value.is_some_and(|value| value.get("requests").is_some())) {
        Some(COPILOT_LOG)
    } else if node.is_some_and(|node| node.get("message").is_some()) {
        Some(GRAPH)
    } else {
        has_plain_texts(item).then_some(TEXTS)
    }
}

/// Whether a row has texts where others have messages: a prompt and answers to train on.
fn has_plain_texts(item: Value<'_>) -> bool {
    let is_text = |key: &str| item.get(key).is_some_and(|value| value.text().is_some());
    let answer = is_text("output") && item.get("history").is_none();
    let answers = is_text("chosen") && is_text("rejected") || is_text("completion") || answer;
    answers && (is_text("prompt") || is_text("instruction"))
}

/// Results of Amp name their call as `toolUseID`, and hold what the tool did in `run`; the other blocks are those of Anthropic.
fn is_amp(item: Value<'_>) -> bool {
    let mut blocks = item.items_under("content");
    blocks.any(|block| {
        let result = block.member_is("type", "tool_result");
        result && block.get("toolUseID").is_some() && block.get("run").is_some()
    })
}

/// A session of iFlow has a name of its own before the UUID; the records are otherwise those of Claude Code.
fn is_iflow(session: Value<'_>) -> bool {
    const UUID: usize = 36;
    session.text().is_some_and(|name| name.decode().strip_prefix("session-").is_some_and(|id| id.len() == UUID))
}

/// A result of a tool in gptme answers no call: calls are in the text. Other results name the call, and other logs have none
/// of the keys of gptme.
fn gptme<'a>(items: &[Value<'a>]) -> Option<Value<'a>> {
    let is_result = |item: &&Value<'a>| {
        let [role, id, name, content] = item.get_each(["role", "tool_call_id", "name", "content"]);
        let said = content.is_some_and(|content| content.text().is_some());
        role.is_some_and(|role| role.is("tool")) && said && id.is_none() && name.is_none() && is_local_time(**item)
    };
    let result = items.iter().find(is_result)?;
    let own = ["files", "file_hashes", "pinned", "hide", "metadata"];
    let marked = items.iter().any(|item| own.iter().any(|key| item.get(key).is_some()));
    marked.then_some(*result)
}

/// Whether an item has a time with microseconds and without a time zone.
fn is_local_time(item: Value<'_>) -> bool {
    const WRITTEN: usize = "2026-06-13T10:00:00.000000".len();
    item.get_text("timestamp").is_some_and(|time| time.len_bound() == WRITTEN && !time.decode().ends_with('Z'))
}
