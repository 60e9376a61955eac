//! What was said, and by whom.

use std::borrow::Cow;

/// The speaker of an utterance.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Speaker {
    /// Instructions from outside the conversation (roles `system` and `developer`).
    System,
    /// The person.
    User,
    /// The model.
    Assistant,
    /// The model, when it calls the tool of this name; the text is the call's arguments.
    Call(String),
    /// The tool of this name; the text is its result.
    Tool(String),
    /// Facts that were read from the transcript by rule. They are kept in front of the summary, which should not repeat them.
    Facts,
    /// Facts that an earlier summary lacked. They are not part of the transcript: they tell the summarizer what to state.
    Missing,
}

impl Speaker {
    /// The label before the colon: `user`, `assistant`, `tool NAME`.
    pub fn label(&self) -> Cow<'_, str> {
        match self {
            Self::System => Cow::Borrowed("system"),
            Self::User => Cow::Borrowed("user"),
            Self::Assistant | Self::Call(_) => Cow::Borrowed("assistant"),
            Self::Tool(name) => Cow::Owned(format!("tool {name}")),
            Self::Facts => Cow::Borrowed("facts"),
            Self::Missing => Cow::Borrowed("missing facts"),
        }
    }
}

/// A text and its speaker.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Utterance<'a> {
    /// The speaker.
    pub speaker: Speaker,
    /// The text, unescaped.
    pub text: Cow<'a, str>,
}

impl<'a> Utterance<'a> {
    /// An utterance of `speaker`.
    pub fn new(speaker: Speaker, text: impl Into<Cow<'a, str>>) -> Self {
        Self { speaker, text: text.into() }
    }
}
