//! Calls and literals of Python in a text.

use crate::json::Text;
use crate::transcript::ToolCall;

/// `[first(a=1), second(b=2)]`, as a list in brackets alone or after a tag.
pub(super) fn python_calls(text: &str) -> Option<Vec<ToolCall<'static>>> {
    const AFTER: &[&str] = &["<|python_tag|>", "<|tool_call_start|>", "<tool_code>", "```tool_code", "<tool_call>"];
    const UNTIL: &[&str] = &["<|tool_call_end|>", "</tool_code>", "```", "</tool_call>"];
    let text = text.trim();
    let tag = AFTER.iter().find_map(|tag| text.strip_prefix(tag));
    let text = tag.unwrap_or(text).trim();
    let text = UNTIL.iter().find_map(|tag| text.strip_suffix(tag)).unwrap_or(text).trim();
    let list = text.strip_prefix('[').and_then(|inside| inside.strip_suffix(']'));
    let mut rest = list.or(tag.map(|_| text))?.trim();
    let mut calls = Vec::new();
    while !rest.is_empty() {
        let open = rest.find('(')?;
        let name = rest[..open].trim();
        if name.is_empty() || name.contains(|c| "()[]{}\"'=,:\n".contains(c)) {
            return None;
        }
        let close = open + end_of_arguments(&rest[open..])?;
        let arguments = rest[open + 1..close].to_owned();
        calls.push(ToolCall::new(None, Text::Owned(name.to_owned()), Text::Owned(arguments)));
        rest = rest[close + 1..].trim_start().trim_start_matches([',', ';']).trim_start();
    }
    (!calls.is_empty()).then_some(calls)
}

/// Where the bracket closes that a text begins with; brackets in quotes do not count.
fn end_of_arguments(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// The length of the list or dict that a text begins with, and the same as JSON, if its parts can be.
pub(super) fn literal_as_json(text: &str) -> Option<(usize, String)> {
    const WORDS: [[&str; 2]; 3] = [["True", "true"], ["False", "false"], ["None", "null"]];
    let mut json = String::new();
    let mut depth = 0_usize;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some([word, same]) = WORDS.iter().find(|[word, _]| rest.starts_with(word)) {
            json.push_str(same);
            rest = &rest[word.len()..];
            continue;
        }
        rest = &rest[c.len_utf8()..];
        match c {
            '"' | '\'' => rest = &rest[string_as_json(rest, c, &mut json)?..],
            '{' | '[' => {
                depth += 1;
                json.push(c);
            }
            '}' | ']' => {
                depth = depth.checked_sub(1)?;
                json.push(c);
                if depth == 0 {
                    return Some((text.len() - rest.len(), json));
                }
            }
            _ => json.push(c),
        }
    }
    None
}

/// Appends the string that `text` begins with, behind its opening quote, to `json`. Returns its length with the closing quote.
fn string_as_json(text: &str, quote: char, json: &mut String) -> Option<usize> {
    json.push('"');
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            // JSON has an escape for every other one that Python writes.
            '\'' if escaped => json.push(c),
            'x' if escaped => json.push_str("\\u00"),
            _ if escaped => json.extend(['\\', c]),
            '\\' => {}
            _ if c == quote => {
                json.push('"');
                return Some(at + 1);
            }
            '"' => json.push_str("\\\""),
            _ => json.push(c),
        }
        escaped = c == '\\' && !escaped;
    }
    None
}
