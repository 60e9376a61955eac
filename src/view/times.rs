//! Times of messages: when each was written, and the gaps between them.

use maud::{Markup, html};

use super::visible::{Shown, counted};

/// A gap between messages is shown if it has at least this many seconds.
const MIN_GAP: f64 = 60.0;

/// When a message was written.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Moment {
    /// In the format of the log.
    pub(super) written: String,
    /// In seconds since 1970.
    pub(super) seconds: f64,
}

impl Moment {
    /// The time of an item as ISO 8601.
    pub(super) fn new(written: String) -> Option<Self> {
        let seconds = curtail_lab::calibration::seconds(&written)?;
        Some(Self { written, seconds })
    }

    /// The time of day, which the script shows in the reader's time zone; `day` adds the date.
    pub(super) fn draw(&self, day: bool) -> Markup {
        let clock = self.written.get(11..16).unwrap_or_default();
        html! {
            time datetime=(Shown(&self.written)) title=(Shown(&self.written)) data-day[day] {
                @if day { (Shown(&date(&self.written))) " " }
                (Shown(clock))
            }
        }
    }
}

/// A date such as `12 Mar 2026`.
pub(super) fn date(iso: &str) -> String {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let number = |from: usize, to: usize| iso.get(from..to).and_then(|digits| digits.parse::<usize>().ok());
    let month = number(5, 7).and_then(|month| MONTHS.get(month.checked_sub(1)?));
    match (number(0, 4), month, number(8, 10)) {
        (Some(year), Some(month), Some(day)) => format!("{day} {month} {year}"),
        _ => String::new(),
    }
}

/// The time between two messages, if it is long enough to be shown.
pub(super) fn gap(before: Option<&Moment>, after: Option<&Moment>) -> Option<String> {
    let seconds = after?.seconds - before?.seconds;
    (seconds >= MIN_GAP).then(|| duration(seconds))
}

/// A number of seconds for people, such as `1 h 12 min`.
pub(super) fn duration(seconds: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded before")]
    let seconds = seconds.clamp(0.0, 1e12) as usize;
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) if seconds.is_multiple_of(60) || minutes >= 10 => format!("{minutes} min"),
        (0, 0, _) => format!("{minutes} min {} s", seconds % 60),
        (0, _, 0) => format!("{hours} h"),
        (0, ..) => format!("{hours} h {minutes} min"),
        (_, 0, _) => counted(days, "day"),
        _ => format!("{} {hours} h", counted(days, "day")),
    }
}

#[cfg(test)]
mod tests {
    use super::{Moment, date, duration, gap};

    #[test]
    fn durations_are_short() {
        for (seconds, expected) in [
            (42.9, "42 s"),
            (60.0, "1 min"),
            (61.0, "1 min 1 s"),
            (4_320.0, "1 h 12 min"),
            (86_400.0, "1 day"),
            (180_000.0, "2 days 2 h"),
            (-3.0, "0 s"),
        ] {
            assert_eq!(duration(seconds), expected);
        }
    }

    #[test]
    fn gaps_and_dates_are_shown() {
        let at = |time: &str| Moment::new(String::from(time));
        let [one, two, three] = ["2026-03-12T10:00:00Z", "2026-03-12T10:00:59Z", "2026-03-12T12:00:00+01:00"].map(at);
        assert_eq!(gap(one.as_ref(), two.as_ref()), None);
        assert_eq!(gap(one.as_ref(), three.as_ref()).as_deref(), Some("1 h"));
        assert_eq!(gap(None, three.as_ref()), None);
        assert_eq!(date("2026-03-12T10:00:00Z"), "12 Mar 2026");
        assert_eq!(date("yesterday"), "");
        let html = one.map(|one| one.draw(true).0).unwrap_or_default();
        assert!(html.contains(">12 Mar 2026 10:00</time>"), "{html}");
    }
}
