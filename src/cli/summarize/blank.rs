//! Summaries of a dry run: nothing runs, and nothing is sent.

use curtail_memory::summarizers::{Budget, Failure, Request, Summarizer, Utterance, clip};

/// Takes the place of a summarizer that would run a program or ask a server.
pub(super) struct Blank {
    /// The name of that summarizer.
    pub(super) name: &'static str,
}

impl Summarizer for Blank {
    fn name(&self) -> &'static str {
        self.name
    }

    fn summarize(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Result<String, Failure> {
        let text = format!("(dry run: {} would summarize {} texts)", self.name, utterances.len());
        Ok(clip(&text, budget))
    }

    fn request(&self, _utterances: &[Utterance<'_>], _budget: &Budget<'_>) -> Option<Request> {
        None
    }
}
