//! The arguments of a tool call in a readable form: a name and a value per line, and texts with their line breaks.

use maud::{Markup, html};

use super::MAX_ARGUMENTS;
use crate::content::{Passage, code, passage};
use crate::visible::{Shown, line};
use curtail_core::json::{Document, Value};

/// The arguments of a call; `byte` is their offset in the file.
pub(crate) fn arguments(raw: &str, byte: usize, max_chars: usize) -> Markup {
    members(raw, byte, max_chars, &[]).unwrap_or_else(|| {
        html! { @if !raw.trim().is_empty() { (passage(Passage { text: raw, byte, max_chars, mono: true })) } }
    })
}

/// The arguments of a call that is drawn in a form of its own, except those that this form shows.
pub(crate) fn other_arguments(raw: &str, byte: usize, max_chars: usize, drawn: &[String]) -> Markup {
    members(raw, byte, max_chars, drawn).unwrap_or_default()
}

/// The members of the arguments `raw` except those in `except`; `None` if they are no object.
fn members(raw: &str, byte: usize, max_chars: usize, except: &[String]) -> Option<Markup> {
    let document = (raw.len() <= MAX_ARGUMENTS).then(|| Document::parse(raw).ok()).flatten()?;
    let object = document.roots().next().filter(|root| root.is_object())?;
    let members = object.members().map(|member| (member.key.decode().into_owned(), member.value));
    let members: Vec<_> = members.filter(|(name, _)| !except.contains(name)).collect();
    Some(html! {
        @if !members.is_empty() {
            dl class="arguments" {
                @for (name, value) in &members {
                    @let text = shown(*value);
                    div {
                        dt { (Shown(&line(name, 80))) }
                        dd {
                            @if text.len() <= 200 && !text.contains('\n') {
                                (code(&text))
                            } @else {
                                (passage(Passage { text: &text, byte, max_chars, mono: true }))
                            }
                        }
                    }
                }
            }
        }
    })
}

/// The characters of a string, or the JSON of another value with a line per element.
fn shown(value: Value<'_>) -> String {
    match value.text() {
        Some(text) => text.decode().into_owned(),
        None if value.raw().len() <= 60 => value.raw().to_owned(),
        None => indented(value.raw()),
    }
}

/// JSON with a line per element; its tokens stay as they are written.
fn indented(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len() * 2);
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    let mut empty = false;
    for c in raw.chars() {
        if in_string {
            in_string = c != '"' || escaped;
            escaped = c == '\\' && !escaped;
            out.push(c);
            continue;
        }
        if c.is_ascii_whitespace() {
            continue;
        }
        if empty && !matches!(c, '}' | ']') {
            push_newline(&mut out, depth);
        }
        match c {
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                if !empty {
                    push_newline(&mut out, depth);
                }
                out.push(c);
            }
            ',' => {
                out.push(c);
                push_newline(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => out.push(c),
        }
        empty = matches!(c, '{' | '[');
        depth += usize::from(empty);
        in_string = c == '"';
    }
    out
}

fn push_newline(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth.min(40)));
}

#[cfg(test)]
mod tests {
    use super::{arguments, indented, other_arguments};

    #[test]
    fn nested_values_are_indented() {
        assert_eq!(
            indented(r#"{"a":[1,{"b":"x, [y]\""}],"c":{},"d":[]}"#),
            "{\n  \"a\": [\n    1,\n    {\n      \"b\": \"x, [y]\\\"\"\n    }\n  ],\n  \"c\": {},\n  \"d\": []\n}"
        );
    }

    #[test]
    fn names_and_values_are_escaped_and_repeated_keys_are_shown() {
        let html = arguments(r#"{"<b>":"<i>","a":1,"a":2}"#, 0, 100).0;
        assert!(html.contains("&lt;b&gt;") && html.contains("&lt;i&gt;") && !html.contains("<b>"), "{html}");
        assert_eq!(html.matches("<dt>a</dt>").count(), 2);
        assert_eq!(other_arguments(r#"{"a":1}"#, 0, 100, &["a".into()]).0, "");
        assert!(arguments("not <json>", 0, 100).0.contains("not &lt;json&gt;"));
        assert_eq!(other_arguments("ls -l", 0, 100, &[]).0, "", "the form shows what is no object whole");
    }
}
