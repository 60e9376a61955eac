//! Writes a message with a text into a file that was read as a whole.

use crate::works::whole_file::WholeFile;
use curtail_core::dialects::refusal;
use curtail_core::pipeline::{Chain, TextCutter};
use curtail_core::processors::{Plan, Prepend, Processor, ProcessorError, Reason, Traits, View, place_blocks};
use curtail_core::transcript::{DraftPart, Message, Role, front};
use curtail_io::{ErrorKind, FileError};

impl WholeFile {
    /// The file, which contains one transcript, with a message that says `text`; unchanged if it has that message already.
    pub(crate) fn with_message(&self, text: &str) -> Result<String, FileError> {
        let Some(reading) = self.reading() else {
            return Err(self.unusable("a text has no messages; pass --as text, or name a transcript as AFTER"));
        };
        if let Some(format) = self.export() {
            return Err(self.unusable(&refusal(format)));
        }
        let document = self.parse(reading)?;
        let transcripts = self.transcripts(reading, &document)?;
        if transcripts.len() > 1 {
            return Err(self.unusable("several transcripts, of which only one lost what is given back; pass --as text"));
        }
        let messages = transcripts.first().map(|(_, transcript)| transcript.messages.as_slice()).unwrap_or_default();
        if text.is_empty() || says(messages, text) {
            return Ok(self.text().to_owned());
        }
        if messages.is_empty() {
            return Err(self.unusable("no message that shows how one is written; pass --as text"));
        }
        let cutter = TextCutter { chain: Chain::default().then(GivenBack(text.to_owned())), ..TextCutter::default() };
        let mut out = String::new();
        cutter
            .cut(reading, self.text(), &mut out)
            .map_err(|error| FileError::new(ErrorKind::Content, &self.name, error.to_string()))?;
        Ok(out)
    }

    fn unusable(&self, what: &str) -> FileError {
        FileError::new(ErrorKind::Usage, &self.name, what)
    }
}

/// Whether a text was given back: it stands where it would be written.
fn says(messages: &[Message<'_>], text: &str) -> bool {
    let first = messages.get(front(messages));
    let mut texts = first.into_iter().flat_map(|message| &message.parts).filter_map(|part| part.content.text());
    texts.any(|found| found.decode().starts_with(text.trim_end()))
}

/// Adds a message with a text behind the instructions and the last compaction, where a model reads it first.
#[derive(Clone)]
struct GivenBack(String);

impl Processor for GivenBack {
    fn name(&self) -> &'static str {
        "give-back"
    }

    fn traits(&self) -> Traits {
        Traits { writes: true, ..Traits::default() }
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        let mut plan = Plan::keep(view.messages.len());
        let part = Prepend::Draft(DraftPart::Text(self.0.clone()));
        place_blocks(&mut plan, view, front(view.messages), Role::User, vec![part], Reason::Borrowed("what was lost"));
        Ok(plan)
    }
}
