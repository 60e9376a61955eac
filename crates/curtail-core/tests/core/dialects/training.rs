//! Marks of training, in every dialect: they exclude their message and change nothing else.

use curtail_core::transcript::Message;

use super::files::{fixtures, read_transcripts};

/// What is read of each message: whether it is excluded, and everything else.
fn messages(text: &str) -> Vec<(bool, String)> {
    let mut found = Vec::new();
    let look = |message: &Message<'_>| {
        let parts: Vec<String> = message.parts.iter().map(|part| format!("{:?}", part.content)).collect();
        (message.untrained, format!("{:?} {:?} {parts:?}", message.role, message.standing))
    };
    let _ = read_transcripts(text, |_, transcript| found.extend(transcript.messages.iter().map(look)));
    found
}

#[test]
fn a_mark_excludes_a_message_of_any_dialect() {
    let mut marked = 0;
    for file in fixtures() {
        let mut starts: Vec<usize> = Vec::new();
        // Offsets are those of a piece, so only files of one piece are marked.
        let mut pieces = 0;
        let read = read_transcripts(&file.text, |_, transcript| {
            pieces += usize::from(transcript.layout.source.len() == file.text.len());
            starts.extend(
                transcript
                    .messages
                    .iter()
                    .filter_map(Message::value)
                    .filter(|value| value.is_object())
                    .map(|value| value.span().start as usize + 1),
            );
        });
        starts.sort_unstable();
        starts.dedup();
        if read.is_err() || pieces != 1 {
            continue;
        }
        let mut text = file.text.clone();
        starts.iter().rev().for_each(|&at| text.insert_str(at, "\"weight\":0,"));
        let [before, after] = [messages(&file.text), messages(&text)];
        // Some files have marks of their own.
        let has_marks = file.text.contains("\"mask\":false");
        assert_eq!(before.iter().any(|(excluded, _)| *excluded), has_marks, "{}", file.name);
        assert_eq!(before.len(), after.len(), "{}", file.name);
        for ((_, plain), (excluded, read)) in before.iter().zip(&after) {
            assert_eq!(plain, read, "{}", file.name);
            marked += usize::from(*excluded);
        }
        let excluded = after.iter().filter(|(excluded, _)| *excluded).count();
        assert!(excluded >= starts.len(), "{}: {excluded} of {}", file.name, starts.len());
    }
    assert!(marked > 500, "{marked}");
}
