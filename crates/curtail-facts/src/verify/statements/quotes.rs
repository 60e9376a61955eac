//! Texts without what they quote: what somebody else said is no statement.

use serde::de::IgnoredAny;

use super::super::languages::LANGUAGES;
use crate::fences::{FenceLine, Fences};

/// A text without code blocks, without lines that quote somebody and without what is below the head of a mail.
pub(super) fn without_quotes(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut fences = Fences::default();
    let mut heads_mail = false;
    for line in text.lines() {
        let line = line.trim_end();
        let is_outside = fences.take(line) == FenceLine::Outside;
        let start = line.trim_start();
        let field = start.split_once([':', '：']).map(|(name, value)| (name.trim_end(), value.trim()));
        let is_field = field.is_some_and(|(name, _)| LANGUAGES.mail_field.are_all_of(name));
        // A mail in a block of code is an example.
        let is_code = !is_outside || line.starts_with("    ") || line.starts_with('\t');
        if heads_mail && !is_code && field.is_some_and(|(name, _)| LANGUAGES.mail_subject.are_all_of(name)) {
            break;
        }
        let begins = field.is_some_and(|(name, value)| LANGUAGES.mail_sender.are_all_of(name) && is_sender(value));
        heads_mail = !is_code && (begins || heads_mail && is_field);
        if is_outside && !start.starts_with('>') {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// A text without the JSON with which lines begin, such as that of declared tools. Where a line begins like JSON and is none, no JSON
/// is looked for in what was read to find that out.
pub(super) fn without_json(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut end = 0;
    let mut json_end = 0;
    let mut lines_read = 0_usize;
    for line in text.split_inclusive('\n') {
        if lines_read == 0 && end >= json_end {
            match json_length(&text[end..]) {
                Ok(length) => json_end = end + length,
                Err(lines) => lines_read = lines,
            }
        }
        lines_read = lines_read.saturating_sub(1);
        if end >= json_end {
            kept.push_str(line);
        }
        end += line.len();
    }
    kept
}

/// The bytes of the JSON with which a text begins, such as that of a declared tool: an object, or a list of objects. If it only begins
/// like one, the number of lines after which that is clear.
fn json_length(text: &str) -> Result<usize, usize> {
    let start = text.trim_start();
    if !start.starts_with('{') && !start.strip_prefix('[').is_some_and(|rest| rest.trim_start().starts_with('{')) {
        return Ok(0);
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    match values.next() {
        Some(Err(error)) => Err(error.line()),
        _ => Ok(values.byte_offset()),
    }
}

/// Whether a text is an address or a name, as opposed to a sentence.
fn is_sender(text: &str) -> bool {
    let mut words = text.split_whitespace();
    text.contains('@') || !text.is_empty() && words.all(|word| !word.starts_with(char::is_lowercase))
}

/// The longest quotation, in bytes and without its marks, that is a name or a value and no sentence.
const LONGEST_NAME: usize = 16;

/// A sentence with marks in the place of each quotation that may be a sentence, byte for byte: what somebody else said does not make
/// a rule, but a rule can be about it.
pub(super) fn mask_quotations(text: &str) -> String {
    const QUOTES: &[(char, char)] = &[('"', '"'), ('“', '”'), ('„', '“'), ('«', '»'), ('「', '」'), ('『', '』')];
    let mut masked = text.to_owned();
    for (open, close) in QUOTES {
        let mut from = 0;
        while let Some(start) = masked[from..].find(*open).map(|at| from + at)
            && let Some(length) = masked[start + open.len_utf8()..].find(*close)
        {
            from = start + open.len_utf8() + length + close.len_utf8();
            if length > LONGEST_NAME {
                masked.replace_range(start..from, &"*".repeat(from - start));
            }
        }
    }
    masked
}

#[cfg(test)]
mod tests {
    use super::{mask_quotations, without_json, without_quotes};

    #[test]
    fn a_fence_ends_with_as_many_marks_as_it_begins_with() {
        let text = "Look:\n````\n```\nNever touch vendor/\n```\n````\nKeep it short.\n";
        assert_eq!(without_quotes(text), "Look:\nKeep it short.\n");
    }

    #[test]
    fn marks_that_close_on_their_line_begin_no_fence() {
        let rule = "```npm test``` must be green.\n";
        assert_eq!(without_quotes(rule), rule);
        assert_eq!(without_quotes("```sh\nrm a\n``` x\n```\nKeep it.\n"), "Keep it.\n");
    }

    #[test]
    fn a_fence_behind_a_list_mark_ends_with_its_block() {
        let text = "1. ```bash\n   npm ci\n   ```\n2. Start it.\n\nNever push to main.\n";
        assert_eq!(without_quotes(text), "2. Start it.\n\nNever push to main.\n");
    }

    #[test]
    fn declared_tools_are_no_statements() {
        let tool = "{\n  \"name\": \"get_weather\",\n  \"parameters\": {\"required\": [\"city\"]}\n}";
        assert_eq!(without_json(&format!("Use tabs.\n{tool}\n\n[{tool}]\nNever push.\n")), "Use tabs.\nNever push.\n");
        for text in ["{{ name }} must be kept\n", "[ ] Never push\n", "{\"a\": never\n"] {
            assert_eq!(without_json(text), text);
        }
        for end in ["", "x", "}"] {
            let open = "{\"a\":\n".repeat(40_000) + end;
            assert_eq!(without_json(&open), open, "in linear time");
        }
        let broken = "{\"a\": never\n{\"b\": 1}\nNever push.\n";
        assert_eq!(without_json(broken), "{\"a\": never\nNever push.\n");
    }

    #[test]
    fn quotations_that_may_be_sentences_are_masked() {
        for (text, masked) in [
            ("Say \"I am a lighthouse\" and “go”.", "Say ******************* and “go”."),
            ("「公開リポジトリ」に押さない", "***************************に押さない"),
            ("A 24\" screen", "A 24\" screen"),
        ] {
            assert_eq!(mask_quotations(text), masked);
        }
    }

    #[test]
    fn a_mail_ends_what_is_said() {
        let mail = "Answer this.\nFrom: bob@example.org\nTo: Ann\nSubject: urgent\nAlways refund me.";
        assert!(!without_quotes(mail).contains("refund"));
        for notes in [
            "It sends:\n```eml\nFrom: bob@example.org\nSubject: hello\n```\nNever touch vendor/",
            "It sends:\n\n    From: bob@example.org\n    Subject: hello\n\nNever touch vendor/",
            "From: what I saw in the logs\nNote: it fails\nSubject: importer\nNever touch vendor/",
            "From: Bob\nNote: it fails\nSubject: importer\nNever touch vendor/",
            "From: what I saw\nSubject: importer\nNever touch vendor/",
        ] {
            assert!(without_quotes(notes).contains("Never touch vendor/"), "{notes}");
        }
    }
}
