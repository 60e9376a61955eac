//! By which members a described dialect is recognized. A mark decides for the whole transcript: other messages of it may fit
//! other dialects as well.

use std::sync::LazyLock;

use foldhash::HashSet;

use super::Described;
use super::library::{described_at, heads, registered};
use super::paths::Path;
use super::rules::{Mark, Rules, all_hold};
use super::screen::Screen;
use super::texts::BUILT_IN;
use crate::dialects::provenance::written_time;
use crate::dialects::{Dialect, ReadError};
use crate::json::Value;
use crate::transcript::{Content, Message, Role};

impl Rules {
    /// Whether an item has a mark of the description.
    pub(super) fn is_marked(&self, item: Value<'_>) -> bool {
        has_one_of(&self.marks, item)
    }

    /// Whether a record alone, without a message, has a mark.
    pub(super) fn marks_record(&self, record: Value<'_>) -> bool {
        self.marks.iter().any(|mark| {
            let mut conditions = mark.iter().filter(|one| one.path.is_outer()).peekable();
            conditions.peek().is_some() && conditions.all(|one| one.holds(record, Some(record)))
        })
    }
}

/// Whether one of `marks` is on an item, or on the item and the record around it.
fn has_one_of(marks: &[Mark], item: Value<'_>) -> bool {
    marks.iter().any(|mark| {
        let is_outer = mark.iter().any(|condition| condition.path.is_outer());
        let outer = if is_outer { item.parent().and_then(Value::parent) } else { None };
        all_hold(mark, item, outer)
    })
}

/// The keys by which items of the dialects that the program describes are recognized.
static SCREEN: LazyLock<Screen> = LazyLock::new(|| Screen::of(heads().iter().map(|head| &head.marks)));

/// The described dialects that one of `items` may be of.
fn candidates(items: &[Value<'_>]) -> impl Iterator<Item = &'static Described> {
    let mask = SCREEN.mask(items);
    let numbers = if mask == 0 { 0..0 } else { 0..BUILT_IN.len() };
    let built_in = numbers.filter(move |number| mask & 1 << number != 0).filter_map(described_at);
    registered().iter().copied().chain(built_in)
}

/// Whether an item has the mark of a described dialect other than `dialect`.
pub(in crate::dialects) fn has_mark(items: &[Value<'_>], dialect: &dyn Dialect) -> bool {
    let mut others = candidates(items).filter(|other| other.format.name != dialect.format().name);
    others.any(|other| items.iter().any(|item| other.rules.is_marked(*item)))
}

/// The described dialect that marks of `items` decide on, if there is one.
///
/// # Errors
/// Two that fit equally well.
pub(in crate::dialects) fn decide(items: &[Value<'_>]) -> Result<Option<&'static dyn Dialect>, ReadError> {
    let marked = candidates(items).filter(|one| items.iter().any(|item| one.rules.is_marked(*item)));
    let fitting: Vec<_> = marked.filter(|one| one.reads(items)).collect();
    // Of one alone, the first mark says as much as all.
    let enough = if fitting.len() == 1 { 1 } else { items.len() };
    let counted = fitting.into_iter().map(|one| {
        let marked = items.iter().filter(|item| one.rules.is_marked(**item));
        (marked.take(enough).count(), one)
    });
    let counted: Vec<(usize, &Described)> = counted.collect();
    let most = counted.iter().map(|(marked, _)| *marked).max();
    let best: Vec<_> = counted.into_iter().filter(|(marked, _)| Some(*marked) == most).map(|(_, one)| one).collect();
    match (best.as_slice(), items) {
        ([one, .., other], [first, ..]) if !one.is_of_user() => Err(ReadError {
            offset: first.span().start as usize,
            what: format!(
                "this is written as `{}` or as `{}`, and nothing decides; pass --dialect NAME",
                other.format.name, one.format.name
            ),
        }),
        (best, _) => Ok(best.first().map(|one| *one as _)),
    }
}

impl Described {
    /// Whether a user described it for this run.
    fn is_of_user(&self) -> bool {
        registered().iter().any(|user| user.format.name == self.format.name)
    }

    /// Refuses items that are written newest first, as some servers list them: a cut would keep the oldest.
    pub(super) fn refuse_disorder(&self, items: &[Value<'_>]) -> Result<(), ReadError> {
        let (Some(order), [first, .., last]) = (&self.rules.order, items) else { return Ok(()) };
        let sign = match (order.first(*first), order.first(*last)) {
            _ if order.is_here() => self.sign_of_reversal(items).map(str::to_owned),
            (Some(begins), Some(ends)) if is_before(ends, begins) => Some(format!("`{order}` falls")),
            _ => None,
        };
        let Some(sign) = sign else { return Ok(()) };
        let reverse = first.parent().map_or_else(|| String::from("tac"), reversing);
        let what = format!("these messages are newest first ({sign}); reverse them first: {reverse}");
        Err(ReadError { offset: first.span().start as usize, what })
    }

    /// What shows that items without a time are written newest first, if nothing shows the opposite.
    fn sign_of_reversal(&self, items: &[Value<'_>]) -> Option<&'static str> {
        let messages = self.messages(items);
        let by_calls = results_first(&messages).map(|first| first.then_some("results are before their calls"));
        by_calls.unwrap_or_else(|| follows_reply(&messages).then_some("reasoning is behind the reply that it led to"))
    }

    /// What to say of items without a time that may be written newest first, if nothing but who speaks shows it.
    pub(super) fn remark_on_order(&self, items: &[Value<'_>]) -> Option<String> {
        let list = items.first()?.parent().filter(|_| self.rules.order.as_ref().is_some_and(Path::is_here))?;
        let messages = self.messages(items);
        let [first, .., last] = messages.as_slice() else { return None };
        let begins_with_reply = first.role == Role::Assistant && last.role == Role::User;
        if !begins_with_reply || results_first(&messages).is_some() || messages.iter().any(is_reasoning) {
            return None;
        }
        let reverse = reversing(list);
        Some(format!(
            "the messages may be newest first: they begin with an answer and end with a question; if so, reverse them first: {reverse}"
        ))
    }

    fn messages<'a>(&self, items: &[Value<'a>]) -> Vec<Message<'a>> {
        items.iter().filter_map(|item| self.rules.item(*item).into_message()).collect()
    }

    /// Whether no item is of another format, and the description knows what all are. In a log, new versions of a program write
    /// new events.
    fn reads(&self, items: &[Value<'_>]) -> bool {
        !items
            .iter()
            .any(|item| has_one_of(&self.rules.unlike, *item) || !self.rules.is_log && self.rules.is_unknown(*item))
    }
}

/// Whether a number, or a time, is before another one.
fn is_before(one: Value<'_>, other: Value<'_>) -> bool {
    match [one, other].map(|value| value.raw().parse::<f64>()) {
        [Ok(one), Ok(other)] => one < other,
        _ => written_time(one).zip(written_time(other)).is_some_and(|(one, other)| one < other),
    }
}

/// The command that reverses a list in its document.
fn reversing(list: Value<'_>) -> String {
    let mut path = String::new();
    for step in list.pointer().split('/').skip(1) {
        path += &match step.parse::<usize>() {
            Ok(nth) => format!("[{nth}]"),
            Err(_) if step.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => format!(".{step}"),
            Err(_) => format!("[\"{step}\"]"),
        };
    }
    format!("jq -c '{}{path} |= reverse'", if path.starts_with('.') { "" } else { "." })
}

/// Whether each result is before its call; `None` without a result and its call.
fn results_first(messages: &[Message<'_>]) -> Option<bool> {
    let mut called = HashSet::default();
    let mut answered = HashSet::default();
    for message in messages {
        called.extend(message.calls().filter_map(|(_, call)| Some(call.id.as_ref()?.decode())));
        let mut ids = message.results().filter_map(|(_, result)| Some(result.id.as_ref()?.decode()));
        if ids.any(|id| called.contains(&id) || !answered.insert(id)) {
            return Some(false);
        }
    }
    called.iter().any(|id| answered.contains(id)).then_some(true)
}

/// Whether all reasoning in items of its own is between a reply and a message of somebody else, of messages that begin with a reply
/// and end with such a message.
fn follows_reply(messages: &[Message<'_>]) -> bool {
    let around = messages.windows(3).filter(|three| is_reasoning(&three[1]));
    let mut follows =
        around.map(|three| three[0].role == Role::Assistant && three[2].role != Role::Assistant).peekable();
    let [first, .., last] = messages else { return false };
    let begins_with_reply = first.role == Role::Assistant && !is_reasoning(first);
    begins_with_reply && last.role != Role::Assistant && follows.peek().is_some() && follows.all(|follows| follows)
}

/// Whether a message is reasoning alone.
fn is_reasoning(message: &Message<'_>) -> bool {
    !message.parts.is_empty() && message.parts.iter().all(|part| matches!(part.content, Content::Reasoning(_)))
}
