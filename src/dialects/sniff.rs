//! Which dialect a transcript is written in, told by its messages and never by a file's name.

use super::{ALL, Dialect, Fit};
use crate::json::Value;

/// What the items of a transcript tell about their dialect.
pub enum Sniffed {
    /// Some item fits this dialect alone.
    Told(&'static dyn Dialect),
    /// Every item that fits any dialect can be read as this one, and as others as well; all read it alike.
    Plain(&'static dyn Dialect),
    /// There is no item.
    Empty,
    /// Items tell of more than one dialect, or of none: where that shows, in bytes of the text, and the words to say so.
    Unknown(u32, String),
}

/// Tells the dialect of `items`; of no items, that of the record that holds the list.
///
/// The first item that fits one dialect alone tells; later items that tell of another make the answer `Unknown`.
#[must_use]
pub fn sniff(items: &[Value<'_>], record: Option<Value<'_>>) -> Sniffed {
    let flat: Vec<Value<'_>> = items.iter().flat_map(|&item| flattened(item)).collect();
    let mut told: Option<&'static dyn Dialect> = None;
    let mut readers: Vec<&'static dyn Dialect> = Vec::new();
    for &item in &flat {
        let fits: Vec<_> = ALL.iter().map(|&dialect| (dialect, dialect.fit(item))).collect();
        let certain: Vec<_> = fits.iter().filter(|(_, fit)| *fit == Fit::Certain).collect();
        match (certain.as_slice(), told) {
            ([(one, _)], None) => told = Some(*one),
            ([(one, _)], Some(before)) if one.name() != before.name() => return mixed(before, *one, item),
            _ => {}
        }
        readers = narrowed(readers, fits.into_iter().filter(|(_, fit)| *fit != Fit::No).map(|(dialect, _)| dialect));
    }
    match (told, readers.first(), flat.first()) {
        (Some(dialect), ..) => Sniffed::Told(dialect),
        (None, Some(&dialect), _) => Sniffed::Plain(dialect),
        (None, None, None) => by_record(record),
        (None, None, Some(item)) => Sniffed::Unknown(item.span().start, unknown(*item)),
    }
}

/// A turn that is a list of messages tells by those.
fn flattened(item: Value<'_>) -> Vec<Value<'_>> {
    let turn = item.is_array() && item.items().all(Value::is_object);
    if turn { item.items().collect() } else { vec![item] }
}

/// Of `readers` those that read one more item, too; all who read it where it is the first, or where nobody reads all.
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

fn mixed(before: &dyn Dialect, now: &dyn Dialect, item: Value<'_>) -> Sniffed {
    let (before, now) = (before.name(), now.name());
    let what = format!("this message is spelt as `{now}`, one before it as `{before}`; name one with --dialect");
    Sniffed::Unknown(item.span().start, what)
}

fn unknown(item: Value<'_>) -> String {
    let keys: Vec<String> = item.members().take(8).map(|member| format!("`{}`", member.key.decode())).collect();
    let names: Vec<&str> = ALL.iter().map(|dialect| dialect.name()).collect();
    let seen =
        if keys.is_empty() { String::from("it is no object") } else { format!("its keys are {}", keys.join(", ")) };
    format!("the first message fits no dialect: {seen}; name one with --dialect: {}", names.join(", "))
}
