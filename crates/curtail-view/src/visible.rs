//! Shows texts, numbers and times to people. Text from a transcript is escaped for HTML, so that characters that HTML or a
//! terminal would interpret are displayed.

use maud::{Markup, Render, html};

use curtail_core::dialects::media;
use curtail_core::numbers::{counted, figure};
use curtail_core::visible::{first_words, is_suspect, obeyed_at, shown};

/// A text inside an HTML element or attribute. Markup is escaped; control characters and characters that reorder text are
/// shown by their code.
pub(super) struct Shown<'t>(pub(super) &'t str);

impl Render for Shown<'_> {
    fn render_to(&self, out: &mut String) {
        escape(self.0, out, entity);
    }
}

/// A long text inside an HTML element: as [`Shown`], but quotation marks are not escaped, because JSON is full of them.
pub(super) struct Body<'t>(pub(super) &'t str);

impl Render for Body<'_> {
    fn render_to(&self, out: &mut String) {
        escape(self.0, out, |c| entity(c).filter(|_| c != '"'));
    }
}

const fn entity(c: char) -> Option<&'static str> {
    match c {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        '"' => Some("&quot;"),
        _ => None,
    }
}

fn escape(text: &str, out: &mut String, markup: impl Fn(char) -> Option<&'static str>) {
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        if !(is_suspect(byte) || matches!(byte, b'&' | b'<' | b'>' | b'"')) {
            continue;
        }
        // Only the line feed of a CR LF is kept.
        if text[at..].starts_with("\r\n") {
            out.push_str(&text[from..at]);
            from = at + 1;
            continue;
        }
        let markup = markup(char::from(byte));
        let Some(c) = markup.map(|_| char::from(byte)).or_else(|| obeyed_at(text, at)) else { continue };
        out.push_str(&text[from..at]);
        match markup {
            Some(entity) => out.push_str(entity),
            None => shown(c, out),
        }
        from = at + c.len_utf8();
    }
    out.push_str(&text[from..]);
}

/// The folded `rest` of something, which has so many more characters, lines or prompts.
pub(super) fn more(count: usize, unit: &str, rest: impl Render) -> Markup {
    html! {
        details class="more" {
            summary { "Show " (counted(count, &format!("more {unit}"))) }
            (rest)
        }
    }
}

/// Text on one line, shortened to `limit` characters.
pub(super) fn line(text: &str, limit: usize) -> String {
    first_words(text, limit, char::is_whitespace)
}

/// A number of bytes for people: `512 bytes`, `34 KB`, `1.2 MB`.
pub(super) fn size(bytes: usize) -> String {
    if bytes == 1 { counted(1, "byte") } else { media::size(bytes as u64) }
}

/// A number that is read at a glance: `812`, `9,412`, `137k`, `2.4M`.
pub(super) fn short(number: usize) -> String {
    match number {
        0..10_000 => figure(number),
        10_000..999_500 => format!("{}k", (number + 500) / 1_000),
        _ => {
            let tenths = (number + 50_000) / 100_000;
            format!("{}.{}M", tenths / 10, tenths % 10)
        }
    }
}

/// `part` of `whole` in percent, with one decimal below ten.
pub(super) fn percent(part: usize, whole: usize) -> String {
    let [tenths, percents] = [1_000, 100]
        .map(|scale| part.saturating_mul(scale).saturating_add(whole / 2).checked_div(whole).unwrap_or_default());
    if tenths < 100 { format!("{}.{} %", tenths / 10, tenths % 10) } else { format!("{percents} %") }
}

// Times: when a message was written, and the gaps between messages.

/// A gap between messages is shown if it has at least this many seconds.
const MIN_GAP: f64 = 60.0;

/// When a message was written.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Moment {
    /// As ISO 8601.
    pub(super) written: String,
    /// In seconds since 1970.
    pub(super) seconds: f64,
}

impl Moment {
    /// The moment that a time as ISO 8601 names; `None` if it names none.
    pub(super) fn new(written: String) -> Option<Self> {
        let seconds = curtail_core::calendar::seconds(&written)?;
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

    /// The day, which the script shows in the reader's time zone.
    pub(super) fn draw_day(&self) -> Markup {
        html! {
            time datetime=(Shown(&self.written)) title=(Shown(&self.written)) data-day="alone" { (Shown(&date(&self.written))) }
        }
    }
}

/// A date such as `12 Mar 2026`.
pub(super) fn date(iso: &str) -> String {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let [year, month, day] = [0..4, 5..7, 8..10].map(|place| iso.get(place)?.parse::<usize>().ok());
    let month = month.and_then(|month| MONTHS.get(month.checked_sub(1)?));
    match (year, month, day) {
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
    let days = seconds / 86_400;
    let hours = seconds / 3_600 % 24;
    let minutes = seconds / 60 % 60;
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
    use maud::Render as _;

    use super::{Body, Moment, Shown, date, duration, gap, line, percent, short, size};

    #[test]
    fn markup_and_commands_are_shown() {
        assert_eq!(Shown("<a \"b\"> & c").render().0, "&lt;a &quot;b&quot;&gt; &amp; c");
        assert_eq!(Shown("a\u{200b}b⚠\u{fe0f}\u{fe01}").render().0, "a⟨U+200B⟩b⚠\u{fe0f}⟨U+FE01⟩");
        assert_eq!(Body("a\r\nb\rc\r").render().0, "a\nb⟨U+000D⟩c⟨U+000D⟩");
        assert_eq!(Body("{\"a\": 1}\n\t<b>").render().0, "{\"a\": 1}\n\t&lt;b&gt;");
    }

    #[test]
    fn sizes_and_shares_are_readable() {
        assert_eq!((percent(1, 3), percent(2, 100), percent(0, 0)), ("33 %".into(), "2.0 %".into(), "0.0 %".into()));
        // Rounded as by `count`.
        assert_eq!((percent(9, 231), percent(23, 231), percent(1, 8)), ("3.9 %".into(), "10 %".into(), "13 %".into()));
        assert_eq!((size(12), size(34_000), size(1_250_000)), ("12 bytes".into(), "34 KB".into(), "1.2 MB".into()));
        assert_eq!(line("one\n  two three", 8), "one two…");
        assert_eq!(line(&format!("{}one{}", " ".repeat(99), "\n".repeat(99)), 8), "one");
        assert_eq!([812, 9_412, 137_499, 999_700].map(short), ["812", "9,412", "137k", "1.0M"]);
        assert_eq!([2_440_000, 2_460_000, 2_960_000].map(short), ["2.4M", "2.5M", "3.0M"]);
    }

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
        let [one, two, three] = ["2026-03-12T10:00:00Z", "2026-03-12T10:00:59Z", "2026-03-12T12:00:00+01:00"]
            .map(|time| Moment::new(String::from(time)));
        assert_eq!(gap(one.as_ref(), two.as_ref()), None);
        assert_eq!(gap(one.as_ref(), three.as_ref()).as_deref(), Some("1 h"));
        assert_eq!(gap(None, three.as_ref()), None);
        assert_eq!(date("2026-03-12T10:00:00Z"), "12 Mar 2026");
        assert_eq!(date("yesterday"), "");
        let html = one.map(|one| one.draw(true).0).unwrap_or_default();
        assert!(html.contains(">12 Mar 2026 10:00</time>"), "{html}");
    }
}
