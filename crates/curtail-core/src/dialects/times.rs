//! Times of items, and times in ISO 8601, in UTC.

use crate::json::Value;

/// The time of an item under one of the usual keys: ISO 8601, or seconds or milliseconds since 1970.
pub(super) fn time(item: Value<'_>) -> Option<String> {
    const NAMES: &[&str] = &["timestamp", "ts", "createdAt", "created_at", "time", "date"];
    NAMES.iter().filter_map(|name| item.get(name)).find_map(written)
}

/// A time that is written as ISO 8601 or as a number.
pub(super) fn written(value: Value<'_>) -> Option<String> {
    match value.text() {
        Some(text) => Some(text.decode().into_owned()).filter(|text| is_iso_8601(text)),
        None => since_1970(value.raw()).map(iso_8601),
    }
}

/// Milliseconds since 1970 of a number: seconds, or milliseconds if it is too large for seconds. Numbers that are no time
/// between 1973 and 5138 are none.
fn since_1970(number: &str) -> Option<u64> {
    let number: f64 = number.parse().ok()?;
    let milliseconds = match number {
        1e8..1e11 => number * 1000.0,
        1e11..1e14 => number,
        _ => return None,
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, and far below 2^52")]
    let whole = milliseconds.round() as u64;
    Some(whole)
}

/// Whether a text begins with a date and a time, such as `2024-05-01T12:30`.
fn is_iso_8601(text: &str) -> bool {
    const SHAPE: &[u8] = b"0000-00-00T00:00";
    let fits = |(&found, &wanted): (&u8, &u8)| if wanted == b'0' { found.is_ascii_digit() } else { found == wanted };
    text.len() >= SHAPE.len() && text.as_bytes().iter().zip(SHAPE).all(fits)
}

/// The time `milliseconds` after 1970 in ISO 8601, such as `1970-01-01T00:00:01.234Z`.
#[must_use]
pub fn iso_8601(milliseconds: u64) -> String {
    let (seconds, milliseconds) = (milliseconds / 1000, milliseconds % 1000);
    let (days, clock) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (clock / 3600, clock / 60 % 60, clock % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}Z")
}

/// Year, month and day of a day since 1970; counts years from March in eras of 400 years
/// (<https://howardhinnant.github.io/date_algorithms.html#civil_from_days>).
const fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400 + if month <= 2 { 1 } else { 0 };
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::{iso_8601, time};
    use crate::json::Document;

    #[test]
    fn an_item_has_its_time_as_text_or_as_a_number() {
        for (item, expected) in [
            (r#"{"timestamp": "2026-01-01T00:00:00Z"}"#, Some("2026-01-01T00:00:00Z")),
            (r#"{"time": 1785613801102}"#, Some("2026-08-01T19:50:01.102Z")),
            (r#"{"timestamp": "yesterday", "ts": 1780680349.4410355}"#, Some("2026-06-05T17:25:49.441Z")),
            (r#"{"time": 12.5}"#, None),
            (r#"{"date": "2026-01-01"}"#, None),
        ] {
            let document = Document::parse_all(item).unwrap();
            assert_eq!(document.roots().next().and_then(time).as_deref(), expected, "{item}");
        }
    }

    #[test]
    fn times_are_iso_8601() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399, "2000-02-28T23:59:59.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (1_735_689_599, "2024-12-31T23:59:59.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(iso_8601(seconds * 1000), expected);
        }
        assert_eq!(iso_8601(1_234), "1970-01-01T00:00:01.234Z");
    }
}
