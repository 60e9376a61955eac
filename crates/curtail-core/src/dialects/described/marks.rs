//! By which members a described dialect is recognized. A mark decides for the whole transcript: other messages of it may fit
//! other dialects as well.

use std::sync::LazyLock;

use super::Described;
use super::library::{built_in, described_at, heads, registered};
use super::rules::{Mark, Rules, all_hold};
use super::screen::Screen;
use crate::dialects::{Dialect, ReadError};
use crate::json::Value;

impl Rules {
    /// Whether an item has a mark of the description.
    pub(super) fn is_marked(&self, item: Value<'_>) -> bool {
        let record = || item.parent()?.parent();
        self.marks.iter().any(|mark| {
            let outer = if mark.iter().any(|condition| condition.path.is_outer()) { record() } else { None };
            all_hold(mark, item, outer)
        })
    }

    /// Whether a record alone, without a message, has a mark.
    pub(super) fn marks_record(&self, record: Value<'_>) -> bool {
        let of_outer = |mark: &Mark| {
            let mut conditions = mark.iter().filter(|one| one.path.is_outer()).peekable();
            conditions.peek().is_some() && conditions.all(|one| one.holds(record, Some(record)))
        };
        self.marks.iter().any(of_outer)
    }
}

/// The keys by which items of the dialects that the program describes are recognized.
static SCREEN: LazyLock<Screen> = LazyLock::new(|| Screen::of(heads().iter().map(|head| &head.marks)));

/// The described dialects that one of `items` may be of.
fn candidates(items: &[Value<'_>]) -> impl Iterator<Item = &'static Described> {
    let mask = SCREEN.mask(items);
    let numbers = if mask == 0 { 0..0 } else { 0..built_in().len() };
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
    let mut best: Option<(usize, &'static Described)> = None;
    let mut tied = None;
    let has_mark = |one: &&Described| items.iter().any(|item| one.rules.is_marked(*item));
    let fitting: Vec<_> = candidates(items).filter(has_mark).filter(|one| one.reads(items)).collect();
    // Of one alone, the first mark says as much as all.
    let enough = if fitting.len() == 1 { 1 } else { items.len() };
    for one in fitting {
        let marked = items.iter().filter(|item| one.rules.is_marked(**item)).take(enough).count();
        match best {
            Some((most, _)) if most > marked => {}
            Some((most, _)) if most == marked => tied = Some(one),
            _ => (best, tied) = (Some((marked, one)), None),
        }
    }
    let Some((_, one)) = best else { return Ok(None) };
    one.refuse_disorder(items)?;
    match (tied, items.first()) {
        (Some(other), Some(first)) if !registered().iter().any(|user| user.format.name == one.format.name) => {
            Err(ReadError {
                offset: first.span().start as usize,
                what: format!(
                    "this is written as `{}` or as `{}`, and nothing decides; pass --dialect NAME",
                    other.format.name, one.format.name
                ),
            })
        }
        _ => Ok(Some(one)),
    }
}

impl Described {
    /// Refuses items that are written newest first, as some servers list them: a cut would keep the oldest.
    fn refuse_disorder(&self, items: &[Value<'_>]) -> Result<(), ReadError> {
        let (Some(order), [first, .., last]) = (&self.rules.order, items) else { return Ok(()) };
        let time = |item: &Value<'_>| order.first(*item)?.raw().parse::<f64>().ok();
        match (time(first), time(last)) {
            (Some(begins), Some(ends)) if begins > ends => Err(ReadError {
                offset: first.span().start as usize,
                what: format!(
                    "these messages are newest first (`{order}` falls); reverse the list first: jq -c '.data |= reverse'"
                ),
            }),
            _ => Ok(()),
        }
    }

    /// Whether the description knows what all items are. In a log, new versions of a program write new events.
    fn reads(&self, items: &[Value<'_>]) -> bool {
        self.rules.is_log || !items.iter().any(|item| self.rules.is_unknown(*item))
    }
}
