//! Outlines transcripts as they are read, and finds single messages of them.

use crate::works::mark::mark_in;
use curtail_core::dialects::ReadError;
use curtail_core::places::Locator;
use curtail_core::transcript::{Message, Outline, OutlineKind, Transcript};
use curtail_io::batch::{Unit, Work};

/// Outlines every transcript.
pub(crate) struct Outliner {
    /// Whether only what the model still reads is shown.
    pub(crate) live: bool,
}

impl Work for Outliner {
    type Out = Vec<Outlined>;

    fn unit(&self, unit: &Unit<'_>, out: &mut Vec<Outlined>) -> Result<(), ReadError> {
        let document = unit.parse()?;
        let transcripts = unit.transcripts(&document)?;
        let mut places = unit.locator();
        let outlined = transcripts.iter().map(|transcript| Outlined {
            dialect: transcript.0.name(),
            mark: mark_in(unit, std::slice::from_ref(transcript)),
            outline: outline(&transcript.1, unit.offset, &mut places, self.live),
        });
        out.extend(outlined);
        Ok(())
    }
}

/// A transcript as it is read.
pub(crate) struct Outlined {
    pub(crate) dialect: &'static str,
    /// The member by which the dialect was detected.
    pub(crate) mark: Option<String>,
    pub(crate) outline: Outline,
}

/// The outline of a transcript, or with `live` of what the model still reads.
fn outline(transcript: &Transcript<'_>, offset: usize, places: &mut Locator<'_>, live: bool) -> Outline {
    let mut outline = Outline::from_transcript(transcript, offset, places);
    outline.items.retain(|item| {
        let index = match &item.kind {
            OutlineKind::Message(message) => message.index,
            OutlineKind::With(index) => *index,
            OutlineKind::Pinned(_) => return true,
        };
        !live || transcript.messages.get(index).is_none_or(|message| message.standing.is_read())
    });
    outline
}

/// Finds messages by number or id.
pub(crate) struct Finder<'f> {
    pub(crate) wanted: &'f [String],
}

/// What was found.
#[derive(Default)]
pub(crate) struct Lookup {
    pub(crate) text: String,
    /// Which of the wanted messages are in it, by their places in the list.
    pub(crate) found: Vec<usize>,
    /// The number of messages of the longest transcript; `None` if there was no transcript.
    pub(crate) longest: Option<usize>,
}

impl Work for Finder<'_> {
    type Out = Lookup;

    fn unit(&self, unit: &Unit<'_>, out: &mut Lookup) -> Result<(), ReadError> {
        let document = unit.parse()?;
        for (_, transcript) in unit.transcripts(&document)? {
            let messages = &transcript.messages;
            out.longest = out.longest.max(Some(messages.len()));
            for (nth, wanted) in self.wanted.iter().enumerate() {
                for value in messages_called(messages, wanted).into_iter().filter_map(Message::value) {
                    out.text.push_str(value.raw());
                    out.text.push('\n');
                    out.found.push(nth);
                }
            }
        }
        Ok(())
    }
}

/// The message with this number, those with this id, which several records of one reply share, or the message with the number behind
/// the `m` that a summary writes.
fn messages_called<'m, 'a>(messages: &'m [Message<'a>], wanted: &str) -> Vec<&'m Message<'a>> {
    if let Some(message) = numbered(messages, wanted) {
        return vec![message];
    }
    let with_id = messages.iter().filter(|message| message.id.as_ref().is_some_and(|id| id.is(wanted)));
    let with_id: Vec<&Message<'_>> = with_id.collect();
    if !with_id.is_empty() {
        return with_id;
    }
    wanted.strip_prefix('m').and_then(|number| numbered(messages, number)).into_iter().collect()
}

fn numbered<'m, 'a>(messages: &'m [Message<'a>], number: &str) -> Option<&'m Message<'a>> {
    let number = Some(number).filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()))?;
    messages.get(number.parse::<usize>().ok()?)
}
