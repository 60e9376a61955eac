//! Values formatted as in Python: `str(value)`, `json.dumps(value)` and `strftime`.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use minijinja::value::{Kwargs, ValueKind};
use minijinja::{Error, ErrorKind, Value};
use regex_syntax::hir::{Class, Hir, HirKind};

use curtail_core::calendar::date_of;

/// The largest depth of lists and mappings in a value. There is a limit because a namespace can contain itself.
const MAX_DEPTH: usize = 200;

/// The largest `indent` of `tojson`.
const MAX_INDENT: usize = 64;

/// `str(value)`.
pub(super) fn text(value: &Value) -> Result<String, Error> {
    match value.kind() {
        ValueKind::Undefined => Ok(String::new()),
        ValueKind::String => Ok(value.as_str().unwrap_or_default().to_owned()),
        _ => repr(value, 0),
    }
}

/// Returns an error if a value is nested deeper than [`MAX_DEPTH`].
fn check_depth(depth: usize) -> Result<(), Error> {
    match depth <= MAX_DEPTH {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::InvalidOperation, format!("a value is nested more than {MAX_DEPTH} deep"))),
    }
}

/// `repr(value)`.
fn repr(value: &Value, depth: usize) -> Result<String, Error> {
    check_depth(depth)?;
    Ok(match value.kind() {
        ValueKind::None | ValueKind::Undefined => String::from("None"),
        ValueKind::Bool => String::from(if value.is_true() { "True" } else { "False" }),
        ValueKind::Number => number(value),
        ValueKind::String => quoted(value.as_str().unwrap_or_default()),
        ValueKind::Seq | ValueKind::Iterable => {
            let all: Vec<String> = items(value).map(|item| repr(&item, depth + 1)).collect::<Result<_, _>>()?;
            format!("[{}]", all.join(", "))
        }
        ValueKind::Map => {
            let all =
                pairs(value).map(|(key, item)| Ok(format!("{}: {}", repr(&key, depth + 1)?, repr(&item, depth + 1)?)));
            format!("{{{}}}", all.collect::<Result<Vec<_>, Error>>()?.join(", "))
        }
        _ => value.to_string(),
    })
}

fn items(value: &Value) -> impl Iterator<Item = Value> {
    value.try_iter().into_iter().flatten()
}

fn pairs(value: &Value) -> impl Iterator<Item = (Value, Value)> {
    items(value).map(|key| {
        let item = value.get_item(&key).unwrap_or_default();
        (key, item)
    })
}

/// A number. The exponent of a float has a sign and at least two digits, as in `1e-07`.
fn number(value: &Value) -> String {
    if value.is_integer() {
        return value.to_string();
    }
    let number = f64::try_from(value.clone()).unwrap_or_default();
    let text = format!("{number:?}");
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
            format!("{digits}e{sign}{exponent:0>2}")
        }
        None => text,
    }
}

/// A string literal.
fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::from(quote);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            c if c == quote => out.extend(['\\', c]),
            c if c == ' ' || !is_unprintable(c) => out.push(c),
            c if u32::from(c) <= 0xff => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c if u32::from(c) <= 0xffff => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push_str(&format!("\\U{:08x}", u32::from(c))),
        }
    }
    out.push(quote);
    out
}

/// The characters that Python writes by their numbers: those of other and of separator categories.
static UNPRINTABLE: LazyLock<Vec<RangeInclusive<char>>> = LazyLock::new(|| {
    let class = regex_syntax::parse(r"[\p{C}\p{Z}]").map(Hir::into_kind);
    match class {
        Ok(HirKind::Class(Class::Unicode(class))) => class.iter().map(|range| range.start()..=range.end()).collect(),
        _ => Vec::new(),
    }
});

fn is_unprintable(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control() || c == ' ';
    }
    let at = UNPRINTABLE.partition_point(|range| *range.end() < c);
    UNPRINTABLE.get(at).is_some_and(|range| range.contains(&c))
}

/// The filter `tojson`, with the options of `json.dumps`.
pub(super) fn to_json(value: &Value, options: &Kwargs) -> Result<String, Error> {
    let indent: Option<usize> = options.get::<Option<usize>>("indent")?;
    if let Some(indent) = indent.filter(|indent| *indent > MAX_INDENT) {
        let message = format!("tojson cannot indent by {indent}; {MAX_INDENT} is the most");
        return Err(Error::new(ErrorKind::InvalidOperation, message));
    }
    let separators: Option<Vec<String>> = options.get("separators")?;
    let [item_separator, key_separator] = match separators.as_deref() {
        Some([item, key]) => [item.clone(), key.clone()],
        _ => [String::from(if indent.is_some() { "," } else { ", " }), String::from(": ")],
    };
    let ascii = options.get::<Option<bool>>("ensure_ascii")?.unwrap_or_default();
    let sorted = options.get::<Option<bool>>("sort_keys")?.unwrap_or_default();
    options.assert_all_used()?;
    let mut out = String::new();
    JsonDump { indent, item_separator, key_separator, ascii, sorted }.value(value, 0, &mut out)?;
    Ok(out)
}

/// The options of `json.dumps`.
struct JsonDump {
    indent: Option<usize>,
    item_separator: String,
    key_separator: String,
    ascii: bool,
    sorted: bool,
}

impl JsonDump {
    fn value(&self, value: &Value, depth: usize, out: &mut String) -> Result<(), Error> {
        check_depth(depth)?;
        match value.kind() {
            ValueKind::None | ValueKind::Undefined => out.push_str("null"),
            ValueKind::Bool => out.push_str(if value.is_true() { "true" } else { "false" }),
            ValueKind::Number => out.push_str(&number(value)),
            ValueKind::Seq | ValueKind::Iterable => {
                let all: Vec<String> = items(value).map(|item| self.nested(&item, depth)).collect::<Result<_, _>>()?;
                self.list(['[', ']'], &all, depth, out);
            }
            ValueKind::Map => {
                let mut members: Vec<(Value, Value)> = pairs(value).collect();
                if self.sorted {
                    members.sort_by(|one, other| one.0.cmp(&other.0));
                }
                let all = members.iter().map(|(key, value)| {
                    Ok(format!("{}{}{}", self.string(&text(key)?), self.key_separator, self.nested(value, depth)?))
                });
                let all: Vec<String> = all.collect::<Result<_, Error>>()?;
                self.list(['{', '}'], &all, depth, out);
            }
            _ => out.push_str(&self.string(&text(value)?)),
        }
        Ok(())
    }

    fn nested(&self, value: &Value, depth: usize) -> Result<String, Error> {
        let mut out = String::new();
        self.value(value, depth + 1, &mut out)?;
        Ok(out)
    }

    /// Writes a list or an object with these serialized `items`.
    fn list(&self, [open, close]: [char; 2], items: &[String], depth: usize, out: &mut String) {
        out.push(open);
        if !items.is_empty() {
            out.push_str(&self.line_break(depth + 1));
            out.push_str(&items.join(&format!("{}{}", self.item_separator, self.line_break(depth + 1))));
            out.push_str(&self.line_break(depth));
        }
        out.push(close);
    }

    fn line_break(&self, depth: usize) -> String {
        self.indent.map_or_else(String::new, |indent| format!("\n{}", " ".repeat(indent * depth)))
    }

    fn string(&self, text: &str) -> String {
        let quoted = serde_json::to_string(text).unwrap_or_default();
        if !self.ascii {
            return quoted;
        }
        let mut out = String::with_capacity(quoted.len());
        for c in quoted.chars() {
            if c.is_ascii() {
                out.push(c);
            } else {
                let mut units = [0; 2];
                c.encode_utf16(&mut units).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
            }
        }
        out
    }
}

/// The days of a week from that of 1970-01-01.
const WEEKDAYS: [&str; 7] = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];

const MONTHS: [&str; 12] = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
];

/// `strftime` of a time in seconds since 1970 (UTC), with the codes of a date and a time, and `%-d` for a number without
/// leading zeros. Other codes are kept as they are.
pub(super) fn strftime(format: &str, seconds: u64) -> String {
    let mut out = String::new();
    let mut rest = format;
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        let digits = after.trim_start_matches('-');
        let mut codes = digits.chars();
        rest = match codes.next().and_then(|code| time_field(code, seconds)) {
            Some(field) => {
                let short = if digits.len() < after.len() { field.trim_start_matches('0') } else { &field };
                out.push_str(if short.is_empty() { "0" } else { short });
                codes.as_str()
            }
            None => {
                out.push('%');
                after
            }
        };
    }
    out + rest
}

/// The field of a time that a code of `strftime` stands for.
fn time_field(code: char, seconds: u64) -> Option<String> {
    let days = seconds / 86_400;
    let (year, month, day) = date_of(days);
    let name = MONTHS[((month - 1) % 12) as usize];
    let weekday = WEEKDAYS[(days % 7) as usize];
    let hour = seconds / 3600 % 24;
    Some(match code {
        'Y' => year.to_string(),
        'y' => format!("{:02}", year % 100),
        'm' => format!("{month:02}"),
        'B' => name.to_owned(),
        'b' => name[..3].to_owned(),
        'd' => format!("{day:02}"),
        'A' => weekday.to_owned(),
        'a' => weekday[..3].to_owned(),
        'H' => format!("{hour:02}"),
        'I' => format!("{:02}", (hour + 11) % 12 + 1),
        'p' => String::from(if hour < 12 { "AM" } else { "PM" }),
        'M' => format!("{:02}", seconds / 60 % 60),
        'S' => format!("{:02}", seconds % 60),
        '%' => String::from("%"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::messages::from_json;

    fn dumped(value: &Value, options: &[(&str, Value)]) -> String {
        to_json(value, &options.iter().cloned().collect()).unwrap()
    }

    #[test]
    fn values_are_formatted_as_in_python() {
        let value = from_json(serde_json::json!({"b": [1, 2.0, 1e-7, 1e16, true, null], "a": "it's é\n"}));
        assert_eq!(text(&value).unwrap(), "{'b': [1, 2.0, 1e-07, 1e+16, True, None], 'a': \"it's é\\n\"}");
        let unseen = from_json(serde_json::json!(["5\u{a0}€", "👩\u{200d}💻", "\u{e0001} 日"]));
        assert_eq!(text(&unseen).unwrap(), r"['5\xa0€', '👩\u200d💻', '\U000e0001 日']");
        assert_eq!(dumped(&value, &[]), "{\"b\": [1, 2.0, 1e-07, 1e+16, true, null], \"a\": \"it's é\\n\"}");
        let compact = Value::from(vec![",", ":"]);
        let options = [("separators", compact), ("sort_keys", Value::from(true)), ("ensure_ascii", Value::from(true))];
        assert_eq!(dumped(&value, &options), "{\"a\":\"it's \\u00e9\\n\",\"b\":[1,2.0,1e-07,1e+16,true,null]}");
        let small = from_json(serde_json::json!({"a": [1], "b": {}}));
        assert_eq!(dumped(&small, &[("indent", Value::from(2))]), "{\n  \"a\": [\n    1\n  ],\n  \"b\": {}\n}");
    }

    #[test]
    fn dates_are_formatted() {
        assert_eq!(strftime("%d %b %Y %H:%M %B %m", 951_782_400), "29 Feb 2000 00:00 February 02");
        assert_eq!(strftime("%Y-%m-%d", 1_767_225_599), "2025-12-31");
        assert_eq!(strftime("%A %a %y 100%% %", 951_782_400), "Tuesday Tue 00 100% %");
        assert_eq!(strftime("%a %Q %-d %-M %I %-Q", 0), "Thu %Q 1 0 12 %-Q");
        assert_eq!(strftime("%-I:%M %p", 951_782_400 + 13 * 3600), "1:00 PM");
    }
}
