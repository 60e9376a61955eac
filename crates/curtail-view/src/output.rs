//! Draws the output of a command: folded if it is long, with its exit status apart. Codes that select colors and styles
//! become classes, and all others are shown.

use std::borrow::Cow;

use maud::{Markup, PreEscaped, Render as _, html};

use super::capped::{NOT_ON_PAGE, capped};
use super::visible::{Body, more};
use curtail_core::json::{Document, Value, ValueKind};
use curtail_core::numbers::{counted, figure};
use curtail_facts::{exit_code, unwrapped};

/// Lines of the output of a command that are shown before the rest is folded.
const FOLD: usize = 16;

/// The output of a command, with its exit status if there is one.
pub(super) fn output(raw: &str, max_chars: usize, byte: usize) -> Markup {
    let (status, text) = status(raw);
    let text = text.replace("\r\n", "\n");
    let (shown, hidden) = capped(text.trim_end_matches('\n'), max_chars);
    let folds = shown.lines().count() > FOLD + FOLD / 2 || shown.len() > 6_000;
    let split = match memchr::memchr_iter(b'\n', shown.as_bytes()).nth(FOLD - 1).filter(|&at| at < 4_000) {
        Some(at) if folds => at + 1,
        _ if folds => shown.floor_char_boundary(2_000),
        _ => shown.len(),
    };
    let (head, rest) = shown.split_at(split);
    html! {
        @if !head.is_empty() { pre class="output" { (colored(head)) } }
        @if !rest.is_empty() {
            (more(rest.lines().count(), "line", html! { pre class="output" { (colored(rest)) } }))
        }
        @if hidden > 0 {
            p class="note" {
                (counted(hidden, "more character")) " of the output " @if hidden == 1 { "is " } @else { "are " } (NOT_ON_PAGE) "; it begins at byte "
                (figure(byte)) " of the file."
            }
        }
        @if let Some(status) = status {
            p class={ "exit" (if status == 0 { "" } else { " failed" }) } { "exit status " (status) }
        }
    }
}

/// The members of a result in JSON that are read for its status.
const STATUSES: &[&str] = &["metadata", "exit_code", "exitCode", "returncode"];

/// Whether a result in JSON is an output and a status, and nothing else. Any other is shown as JSON. Metadata
/// beside them are read for the status and not shown.
fn is_output(result: Value<'_>) -> bool {
    let mut outputs = 0;
    let mut errors = 0;
    for member in result.members() {
        let key = member.key.decode();
        let texts = match &*key {
            "output" | "stdout" => &mut outputs,
            "stderr" => &mut errors,
            key if STATUSES.contains(&key) => continue,
            _ => return false,
        };
        match member.value.kind() {
            ValueKind::String => *texts += 1,
            ValueKind::Null => {}
            _ => return false,
        }
    }
    outputs <= 1 && errors <= 1
}

/// The exit status in the text of a result, if there is one, and the text, without a first line that says nothing else.
fn status(raw: &str) -> (Option<i32>, Cow<'_, str>) {
    let code = exit_code(raw);
    if raw.starts_with('{') {
        let document = Document::parse(raw).ok();
        let root = document.as_ref().and_then(|document| document.roots().next());
        let code = code.or_else(|| root?.some("returncode")?.raw().parse().ok());
        return (code, if root.is_some_and(is_output) { unwrapped(raw) } else { raw.into() });
    }
    let (first, rest) = raw.split_once('\n').unwrap_or((raw, ""));
    let first = first.trim_end().trim_end_matches("</returncode>");
    let label = code.and_then(|code| first.strip_suffix(&code.to_string())).unwrap_or_default();
    let is_status = matches!(label, "Exit code " | "Exit code: " | "Process exited with code " | "<returncode>");
    (code, if is_status { rest.into() } else { raw.into() })
}

// Colors and styles.

/// Maximum length of the parameters of a color code.
const MAX_PARAMETERS: usize = 64;

/// The colors and style of text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct TextStyle {
    foreground: Option<u8>,
    background: Option<u8>,
    bold: bool,
    dim: bool,
    italic: bool,
    underline: bool,
    inverse: bool,
}

/// Terminal output as spans.
pub(super) fn colored(text: &str) -> Markup {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let mut style = TextStyle::default();
    let mut rest = text;
    while let Some(at) = memchr::memchr(0x1b, rest.as_bytes()) {
        let Some((codes, after)) = style_code(&rest[at..]) else {
            style.push(&rest[..=at], &mut out);
            rest = &rest[at + 1..];
            continue;
        };
        style.push(&rest[..at], &mut out);
        style.apply(codes);
        rest = after;
    }
    style.push(rest, &mut out);
    PreEscaped(out)
}

/// The parameters of a code that selects a style, and what follows the code.
fn style_code(text: &str) -> Option<(&str, &str)> {
    let body = text.strip_prefix("\u{1b}[")?;
    let end = body.bytes().take(MAX_PARAMETERS).position(|byte| !matches!(byte, b'0'..=b'9' | b';' | b':'))?;
    Some((&body[..end], body[end..].strip_prefix('m')?))
}

impl TextStyle {
    fn push(self, text: &str, out: &mut String) {
        if text.is_empty() {
            return;
        }
        if self == Self::default() {
            return Body(text).render_to(out);
        }
        let (foreground, background) = if self.inverse {
            (self.background, self.foreground.or(Some(7)))
        } else {
            (self.foreground, self.background)
        };
        let mut classes: Vec<String> = Vec::new();
        classes.extend(foreground.map(|foreground| format!("f{foreground}")));
        classes.extend(background.map(|background| format!("g{background}")));
        let flags = [(self.bold, "bo"), (self.dim, "di"), (self.italic, "it"), (self.underline, "un")];
        classes.extend(flags.iter().filter(|(is_set, _)| *is_set).map(|(_, class)| String::from(*class)));
        out.push_str(&html! { span class=(classes.join(" ")) { (Body(text)) } }.0);
    }

    fn apply(&mut self, codes: &str) {
        let mut codes = codes.split([';', ':']).map(|code| code.parse::<u16>().unwrap_or(0));
        while let Some(code) = codes.next() {
            match code {
                0 => *self = Self::default(),
                1 => self.bold = true,
                2 => self.dim = true,
                3 => self.italic = true,
                4 => self.underline = true,
                7 => self.inverse = true,
                22 => (self.bold, self.dim) = (false, false),
                23 => self.italic = false,
                24 => self.underline = false,
                27 => self.inverse = false,
                30..=37 => self.foreground = Some(small(code - 30)),
                40..=47 => self.background = Some(small(code - 40)),
                90..=97 => self.foreground = Some(small(code - 82)),
                100..=107 => self.background = Some(small(code - 92)),
                38 => self.foreground = extended_color(&mut codes).or(self.foreground),
                48 => self.background = extended_color(&mut codes).or(self.background),
                39 => self.foreground = None,
                49 => self.background = None,
                _ => {}
            }
        }
    }
}

fn small(code: u16) -> u8 {
    u8::try_from(code).unwrap_or(7)
}

/// The color after 38 or 48: one of 256, or its red, green and blue.
fn extended_color(codes: &mut impl Iterator<Item = u16>) -> Option<u8> {
    match codes.next()? {
        5 => {
            let code = codes.next()?;
            Some(match code {
                0..=15 => small(code),
                16..=231 => nearest([36, 6, 1].map(|place| (code - 16) / place % 6 * 51)),
                _ => nearest([(code.min(255) - 232) * 10 + 8; 3]),
            })
        }
        2 => Some(nearest([codes.next()?, codes.next()?, codes.next()?])),
        _ => None,
    }
}

/// The nearest of the sixteen colors.
fn nearest(parts: [u16; 3]) -> u8 {
    let most = parts.iter().copied().max().unwrap_or(0);
    if most < 48 {
        return 0;
    }
    let hue =
        parts.iter().enumerate().filter(|(_, part)| **part * 3 > most * 2).fold(0, |hue, (nth, _)| hue | 1 << nth);
    match (hue, most) {
        (7, 0..128) => 8,
        (hue, 0..200) => hue,
        (hue, _) => hue + 8,
    }
}

#[cfg(test)]
mod tests {
    use super::{colored, output, status};

    #[test]
    fn colors_are_classes_and_other_codes_are_shown() {
        for (text, expected) in [
            ("a\u{1b}[31mb\u{1b}[0mc", "a<span class=\"f1\">b</span>c"),
            ("\u{1b}[1;92;41m<\u{1b}[22;39;49m>", "<span class=\"f10 g1 bo\">&lt;</span>&gt;"),
            (
                "\u{1b}[38;5;196mr\u{1b}[38;2;0;0;255mb\u{1b}[mx",
                "<span class=\"f9\">r</span><span class=\"f12\">b</span>x",
            ),
            ("\u{1b}[7mi\u{1b}[27m", "<span class=\"g7\">i</span>"),
            ("\u{1b}[2Kx\u{1b}]8;;y\u{7}", "⟨U+001B⟩[2Kx⟨U+001B⟩]8;;y⟨U+0007⟩"),
            ("\u{1b}[31\" onclick=x m\u{1b}[", "⟨U+001B⟩[31\" onclick=x m⟨U+001B⟩["),
            ("\u{1b}[999;;38;5;300m\u{1b}[38;2;1m.", "<span class=\"f15\">.</span>"),
        ] {
            assert_eq!(colored(text).0, expected, "{text:?}");
        }
    }

    #[test]
    fn the_exit_status_is_said_apart() {
        let codex = "Chunk ID: a\nWall time: 0.1 seconds\nProcess exited with code 3\nOutput:\nx";
        for (raw, code, text) in [
            (r#"{"output":"a\n","metadata":{"exit_code":2,"duration_seconds":0.1}}"#, Some(2), "a\n"),
            ("{\n  \"returncode\": 1,\n  \"output\": \"a\"\n}", Some(1), "a"),
            ("Exit code 1\nno such file", Some(1), "no such file"),
            ("<returncode>0</returncode>\n<output>\nx</output>", Some(0), "<output>\nx</output>"),
            (codex, Some(3), codex),
            ("Exit code is what it prints", None, "Exit code is what it prints"),
            ("Exit code 1 means that the harbor is closed.", None, "Exit code 1 means that the harbor is closed."),
            ("{\"a\":1}", None, "{\"a\":1}"),
            (r#"{"stdout":"a","stderr":"b"}"#, None, "a\nb"),
            (r#"{"stdout":"a","hint":"b"}"#, None, r#"{"stdout":"a","hint":"b"}"#),
            (r#"{"output":null,"stdout":"a","stderr":null}"#, None, "a"),
            (r#"{"output":[1],"stderr":"b"}"#, None, r#"{"output":[1],"stderr":"b"}"#),
            (r#"{"output":"a","stderr":{"b":1}}"#, None, r#"{"output":"a","stderr":{"b":1}}"#),
            (r#"{"output":"a","stdout":"b","exit_code":1}"#, Some(1), r#"{"output":"a","stdout":"b","exit_code":1}"#),
        ] {
            assert_eq!(status(raw), (code, text.into()), "{raw}");
        }
    }

    #[test]
    fn output_is_folded_and_obeys_nothing() {
        let html = output(&"\u{1b}[31m</pre><script>\u{1b}[2J\n".repeat(60), 100_000, 0).0;
        assert!(!html.contains("<script") && !html.contains('\u{1b}') && html.contains("Show 44 more lines"), "{html}");
        assert!(output(&"x".repeat(100), 10, 7).0.contains("90 more characters"));
    }
}
