//! Escapes text from a transcript for HTML, so that characters that HTML or a terminal would interpret are displayed.

use maud::Render;

use curtail_core::transcript::media;
use curtail_core::visible::{is_suspect, obeyed_at, shown};

/// A text inside an HTML element or attribute. Markup is escaped; control characters and characters that reorder text are
/// shown by their code.
pub(super) struct Shown<'t>(pub(super) &'t str);

impl Render for Shown<'_> {
    fn render_to(&self, out: &mut String) {
        escape(self.0, out, |c| match c {
            '&' => Some("&amp;"),
            '<' => Some("&lt;"),
            '>' => Some("&gt;"),
            '"' => Some("&quot;"),
            _ => None,
        });
    }
}

/// A long text inside an HTML element: as [`Shown`], but quotation marks are not escaped, because JSON is full of them.
pub(super) struct Body<'t>(pub(super) &'t str);

impl Render for Body<'_> {
    fn render_to(&self, out: &mut String) {
        escape(self.0, out, |c| match c {
            '&' => Some("&amp;"),
            '<' => Some("&lt;"),
            '>' => Some("&gt;"),
            _ => None,
        });
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

/// Text on one line, shortened to `limit` characters.
pub(super) fn line(text: &str, limit: usize) -> String {
    // White space is collapsed, so more characters are read than shown.
    let head: String = text.chars().take(4 * limit).collect();
    let line = head.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= limit && head.len() == text.len() {
        return line;
    }
    line.chars().take(limit.saturating_sub(1)).chain(['…']).collect()
}

/// A whole number with a comma between groups of three digits.
pub(crate) fn figure(number: impl TryInto<u64>) -> String {
    indicatif::HumanCount(number.try_into().unwrap_or(u64::MAX)).to_string()
}

/// `1 message`, `2 messages`.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    format!("{} {noun}{}", figure(number), if number == 1 { "" } else { "s" })
}

/// A number of bytes for people: `512 bytes`, `34 KB`, `1.2 MB`.
pub(super) fn size(bytes: usize) -> String {
    if bytes == 1 { counted(1, "byte") } else { media::size(bytes as u64) }
}

/// `part` of `whole` in percent, with one decimal below ten.
pub(super) fn percent(part: usize, whole: usize) -> String {
    let of =
        |scale: usize| (part.saturating_mul(scale).saturating_add(whole / 2)).checked_div(whole).unwrap_or_default();
    let tenths = of(1_000);
    if tenths < 100 { format!("{}.{} %", tenths / 10, tenths % 10) } else { format!("{} %", of(100)) }
}

#[cfg(test)]
mod tests {
    use maud::Render as _;

    use super::{Body, Shown, figure, line, percent, size};

    #[test]
    fn markup_and_commands_are_shown() {
        assert_eq!(Shown("<a \"b\"> & c").render().0, "&lt;a &quot;b&quot;&gt; &amp; c");
        assert_eq!(Shown("a\u{200b}b⚠\u{fe0f}\u{fe01}").render().0, "a⟨U+200B⟩b⚠\u{fe0f}⟨U+FE01⟩");
        assert_eq!(Body("a\r\nb\rc\r").render().0, "a\nb⟨U+000D⟩c⟨U+000D⟩");
        assert_eq!(Body("{\"a\": 1}\n\t<b>").render().0, "{\"a\": 1}\n\t&lt;b&gt;");
    }

    #[test]
    fn figures_are_readable() {
        assert_eq!([0_u64, 999, 1_000, 71_265_801].map(figure), ["0", "999", "1,000", "71,265,801"]);
        assert_eq!((percent(1, 3), percent(2, 100), percent(0, 0)), ("33 %".into(), "2.0 %".into(), "0.0 %".into()));
        // Rounded as by `count`.
        assert_eq!((percent(9, 231), percent(23, 231), percent(1, 8)), ("3.9 %".into(), "10 %".into(), "13 %".into()));
        assert_eq!((size(12), size(34_000), size(1_250_000)), ("12 bytes".into(), "34 KB".into(), "1.2 MB".into()));
        assert_eq!(line("one\n  two three", 8), "one two…");
    }
}
