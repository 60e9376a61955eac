//! Terminal output as HTML: codes that select colors and styles become classes, and all others are shown.

use maud::{Markup, PreEscaped, Render as _};

use super::visible::Body;

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
    let (mut style, mut rest) = (TextStyle::default(), text);
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
        out.push_str("<span class=\"");
        out.push_str(&classes.join(" "));
        out.push_str("\">");
        Body(text).render_to(out);
        out.push_str("</span>");
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
                16..=231 => {
                    let part = |place: u16| (code - 16) / place % 6 * 51;
                    nearest([part(36), part(6), part(1)])
                }
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
    use super::colored;

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
}
