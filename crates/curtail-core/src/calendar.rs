//! Days, dates and times of the Gregorian calendar. Years are counted from March, in eras of 400 years
//! (<https://howardhinnant.github.io/date_algorithms.html>).

use std::ops::Range;

/// Year, month and day of a day since 1970.
#[must_use]
pub const fn date_of(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400 + if month <= 2 { 1 } else { 0 };
    (year, month, day)
}

/// Days from 1970-01-01 to a date.
#[must_use]
pub const fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let from_march = (month + 9) % 12;
    let day_of_year = (153 * from_march + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Seconds since 1970 of a time in ISO 8601, such as `2026-02-07T04:45:48.439Z`; `None` for any other text. A time
/// without a zone is read as UTC.
#[must_use]
pub fn seconds(time: &str) -> Option<f64> {
    if [4, 7, 10, 13].iter().any(|at| time.as_bytes().get(*at).is_none_or(u8::is_ascii_digit)) {
        return None;
    }
    let year = number(time, 0..4)?;
    let month = number(time, 5..7)?;
    let day = number(time, 8..10)?;
    let hour = number(time, 11..13)?;
    let minute = number(time, 14..16)?;
    let has_seconds = time.get(16..17) == Some(":");
    let second = number(time, 17..19).filter(|_| has_seconds).unwrap_or(0);
    let rest = time.get(if has_seconds { 19 } else { 16 }..).unwrap_or_default();
    // Some programs write a comma before the fraction, as the standard allows.
    let behind = rest.strip_prefix(['.', ',']).unwrap_or_default();
    let (digits, _) = behind.split_at(behind.bytes().take_while(u8::is_ascii_digit).count());
    let fraction = format!("0.{digits}0").parse::<f64>().ok()?;
    let zone = if digits.is_empty() { rest } else { &behind[digits.len()..] }.trim_start();
    let whole = days_since_1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset(zone);
    #[expect(clippy::cast_precision_loss, reason = "seconds since 1970 are far below 2^52")]
    Some(whole as f64 + fraction)
}

/// Seconds east of UTC of a zone such as `+02:00`; 0 for `Z`.
fn offset(zone: &str) -> i64 {
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let hours = number(zone, 1..3).unwrap_or(0);
    let minutes = number(zone, 4..6).or_else(|| number(zone, 3..5)).unwrap_or(0);
    sign * (hours * 3600 + minutes * 60)
}

/// The number that the digits in a range of a text are.
fn number(text: &str, digits: Range<usize>) -> Option<i64> {
    let digits = text.get(digits)?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn times_are_seconds_since_1970() {
        for (time, expected) in [
            ("1970-01-01T00:00:00Z", 0.0),
            ("2000-02-29T00:00:00.5Z", 951_782_400.5),
            ("2000-02-29T02:00:00+02:00", 951_782_400.0),
            ("2000-02-28T22:30:00.250-0130", 951_782_400.25),
            ("2000-02-29T00:00", 951_782_400.0),
            ("2000-02-29T00:00:00,990Z", 951_782_400.99),
            ("2000-02-29T02:00+02:00", 951_782_400.0),
            ("2000-02-29 02:00:00 +0200", 951_782_400.0),
        ] {
            assert_eq!(seconds(time), Some(expected), "{time}");
        }
        for text in ["yesterday", "1772359200000000000", "2000-+2-29T00:00:00Z"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
