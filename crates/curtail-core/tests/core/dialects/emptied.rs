//! A cut can leave a text empty. It is a text all the same, and no content that nobody knows.

use curtail_core::json::Text;
use curtail_core::transcript::Content;

use super::files::{File, fixtures, read_transcripts};

#[test]
fn a_text_that_becomes_empty_is_not_unknown() {
    let failed: Vec<String> = fixtures().iter().flat_map(read_otherwise).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// The texts of a file without which more of it is unknown.
fn read_otherwise(file: &File) -> Vec<String> {
    let Some(Reading { texts, unknown }) = read(&file.text) else { return Vec::new() };
    let emptied = texts.into_iter().map(|place| format!("{}{}", &file.text[..place.start], &file.text[place.end..]));
    let read_otherwise = emptied.filter(|text| read(text).is_none_or(|reading| reading.unknown > unknown));
    read_otherwise.map(|text| format!("{}: {text}", file.name)).collect()
}

/// What is read of a text.
struct Reading {
    /// Where its texts are, in bytes.
    texts: Vec<std::ops::Range<usize>>,
    /// The number of parts that are unknown.
    unknown: usize,
}

fn read(text: &str) -> Option<Reading> {
    let mut reading = Reading { texts: Vec::new(), unknown: 0 };
    let read = read_transcripts(text, |_, transcript| {
        for part in transcript.messages.iter().flat_map(|message| &message.parts) {
            match &part.content {
                // What repeats a text is emptied with it.
                Content::Text(_) if part.place().is_some_and(|place| !place.copies.is_empty()) => {}
                Content::Text(Text::Escaped(raw)) => {
                    let start = raw.as_ptr().addr().wrapping_sub(text.as_ptr().addr());
                    reading.texts.extend((start < text.len()).then(|| start..start + raw.len()));
                }
                Content::Unknown(_) => reading.unknown += 1,
                _ => {}
            }
        }
    });
    read.ok().map(|_| reading)
}
