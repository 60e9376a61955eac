//! Which dialect a transcript is written in, told by its messages and never by a file's name.

use super::{ALL, Dialect, Fit};
use crate::json::Value;

/// What the items of a transcript tell about their dialect.
pub enum Sniffed {
    /// Some item fits this dialect alone.
    Told(&'static dyn Dialect),
    /// Every item fits this dialect, and others as well; all read it alike.
    Plain(&'static dyn Dialect),
    /// There is no item.
    Empty,
    /// Items tell of more than one dialect, or of none: the words to say so.
    Unknown(String),
}

/// Tells the dialect of `items`.
///
/// The first item that fits one dialect alone tells; later items that tell of another make the answer `Unknown`.
#[must_use]
pub fn sniff(items: &[Value<'_>]) -> Sniffed {
    let mut told: Option<&'static dyn Dialect> = None;
    let mut plain: Option<&'static dyn Dialect> = None;
    for &item in items {
        let certain: Vec<_> = ALL.iter().copied().filter(|dialect| dialect.fit(item) == Fit::Certain).collect();
        match (certain.as_slice(), told) {
            ([one], None) => told = Some(*one),
            ([one], Some(before)) if one.name() != before.name() => return mixed(before, *one),
            _ => {}
        }
        if plain.is_none() {
            plain = ALL.iter().copied().find(|dialect| dialect.fit(item) == Fit::Possible);
        }
    }
    match (told, plain, items.first()) {
        (Some(dialect), ..) => Sniffed::Told(dialect),
        (None, Some(dialect), _) => Sniffed::Plain(dialect),
        (None, None, None) => Sniffed::Empty,
        (None, None, Some(item)) => Sniffed::Unknown(unknown(*item)),
    }
}

fn mixed(before: &dyn Dialect, now: &dyn Dialect) -> Sniffed {
    Sniffed::Unknown(format!(
        "some messages are spelt as `{}`, others as `{}`; name one with --dialect",
        before.name(),
        now.name()
    ))
}

fn unknown(item: Value<'_>) -> String {
    let keys: Vec<String> = item.members().take(8).map(|member| format!("`{}`", member.key.decode())).collect();
    let names: Vec<&str> = ALL.iter().map(|dialect| dialect.name()).collect();
    let seen =
        if keys.is_empty() { String::from("it is no object") } else { format!("its keys are {}", keys.join(", ")) };
    format!("the first message fits no dialect: {seen}; name one with --dialect: {}", names.join(", "))
}
