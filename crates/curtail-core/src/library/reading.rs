//! Transcripts as a user of the library reads them: messages with roles, parts and pairs, in every dialect the same.

use std::borrow::Cow;

use super::Error;
use crate::dialects::{Dialect, Framing, Reading, detect_framing};
use crate::json::{Document, Text, Value};
use crate::transcript::{Content, Message, Pairs, PartRef, Role};

/// How texts are read: what is not named is detected.
#[derive(Default)]
pub(super) struct TextReader {
    framing: Option<Framing>,
    dialect: Option<&'static dyn Dialect>,
    messages_key: Option<String>,
}

impl TextReader {
    pub(super) fn new(
        framing: Option<Framing>,
        dialect: Option<&str>,
        messages_key: Option<String>,
    ) -> Result<Self, Error> {
        Ok(Self { framing, dialect: dialect.map(Error::dialect_named).transpose()?, messages_key })
    }

    /// How `text` is read.
    pub(super) fn reading(&self, text: &str) -> Reading {
        self.reading_as(self.framing.unwrap_or_else(|| detect_framing(text, self.messages_key.as_deref())), text)
    }

    /// How `text` is read in this framing.
    pub(super) fn reading_as(&self, framing: Framing, text: &str) -> Reading {
        let messages_key = self.messages_key.clone();
        let reading = Reading { framing, dialect: self.dialect, named: self.dialect.is_some(), messages_key };
        let dialect = reading.dialect.or_else(|| reading.dialect_of_head(text));
        Reading { dialect, ..reading }
    }
}

/// A text that was parsed, whose transcripts can be read.
///
/// ```
/// use curtail_core::{Framing, PartKind, Role, Source};
///
/// let log = concat!(
///     "{\"role\":\"user\",\"content\":\"When does it leave?\"}\n",
///     "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"1\",\"type\":\"function\",\"function\":{\"name\":\"timetable\",\"arguments\":\"{}\"}}]}\n",
///     "{\"role\":\"tool\",\"tool_call_id\":\"1\",\"content\":\"05:12\"}\n",
/// );
/// let source = Source::parse(log)?;
/// assert_eq!(source.framing(), Framing::Lines);
/// let transcripts = source.transcripts()?;
/// assert_eq!(transcripts[0].dialect(), Some("openai"));
/// let roles: Vec<Role> = transcripts[0].messages().map(|message| message.role()).collect();
/// assert_eq!(roles, [Role::User, Role::Assistant, Role::Tool]);
/// for part in transcripts[0].messages().flat_map(|message| message.parts()) {
///     if part.kind() == PartKind::ToolCall {
///         assert_eq!((part.tool().as_deref(), part.id().as_deref()), (Some("timetable"), Some("1")));
///         let result = part.counterpart().expect("the call is answered");
///         assert_eq!((result.message().index(), &*result.text()), (2, "05:12"));
///     }
/// }
/// # Ok::<(), curtail_core::Error>(())
/// ```
pub struct Source<'t> {
    reading: Reading,
    document: Document<'t>,
}

impl<'t> Source<'t> {
    /// Parses `text`, and detects how its transcripts are laid out. [`Cutter::read`](super::Cutter::read) reads as a cutter
    /// does.
    ///
    /// # Errors
    /// The text is not JSON.
    pub fn parse(text: &'t str) -> Result<Self, Error> {
        Self::parse_as(text, TextReader::default().reading(text))
    }

    pub(super) fn parse_as(text: &'t str, reading: Reading) -> Result<Self, Error> {
        let document = reading.parse(text).map_err(|error| Error::read(text, error))?;
        Ok(Self { reading, document })
    }

    /// How its transcripts are laid out.
    #[must_use]
    pub const fn framing(&self) -> Framing {
        self.reading.framing
    }

    /// Its transcripts, in order.
    ///
    /// # Errors
    /// A record without a list of messages, or messages in no known format.
    pub fn transcripts(&self) -> Result<Vec<TranscriptView<'_>>, Error> {
        let read = self.reading.transcripts(&self.document);
        let read = read.map_err(|error| Error::read(self.document.text(), error))?;
        Ok(read
            .into_iter()
            .map(|(dialect, read)| TranscriptView::new(Some(dialect), Messages::Read(read.messages)))
            .collect())
    }
}

/// The messages of a transcript.
#[derive(Debug)]
enum Messages<'a> {
    /// Those that were read.
    Read(Vec<Message<'a>>),
    /// Those that a processor sees.
    Seen(&'a [Message<'a>]),
}

impl<'a> std::ops::Deref for Messages<'a> {
    type Target = [Message<'a>];

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Read(messages) => messages,
            Self::Seen(messages) => messages,
        }
    }
}

/// A transcript: its messages, and which result answers which call.
#[derive(Debug)]
pub struct TranscriptView<'a> {
    dialect: Option<&'static str>,
    messages: Messages<'a>,
    pairs: Pairs,
}

impl<'a> TranscriptView<'a> {
    fn new(dialect: Option<&dyn Dialect>, messages: Messages<'a>) -> Self {
        Self { dialect: dialect.map(<dyn Dialect>::name), pairs: Pairs::from_messages(&messages), messages }
    }

    pub(super) fn of_messages(messages: &'a [Message<'a>]) -> Self {
        Self::new(None, Messages::Seen(messages))
    }

    /// The name of the dialect that it is written in. A [`Policy`](super::Policy) does not see it.
    #[must_use]
    pub const fn dialect(&self) -> Option<&'static str> {
        self.dialect
    }

    /// Its messages, in order.
    #[must_use]
    pub fn messages(&self) -> impl ExactSizeIterator<Item = MessageView<'_>> + DoubleEndedIterator {
        (0..self.messages.len()).map(move |index| MessageView { transcript: self, index })
    }
}

/// A message of a transcript.
#[derive(Debug, Clone, Copy)]
pub struct MessageView<'t> {
    transcript: &'t TranscriptView<'t>,
    index: usize,
}

impl<'t> MessageView<'t> {
    fn message(self) -> &'t Message<'t> {
        &self.transcript.messages[self.index]
    }

    /// Its number in the transcript, from 0.
    #[must_use]
    pub const fn index(self) -> usize {
        self.index
    }

    /// Its role.
    #[must_use]
    pub fn role(self) -> Role {
        self.message().role
    }

    /// Its text parts, a line each.
    #[must_use]
    pub fn text(self) -> String {
        let texts = self.parts().filter(|part| part.kind() == PartKind::Text).map(PartView::text);
        texts.collect::<Vec<_>>().join("\n")
    }

    /// The JSON that it was read from; `None` if a policy before wrote it.
    #[must_use]
    pub fn json(self) -> Option<&'t str> {
        self.message().value().map(Value::raw)
    }

    /// Its parts, in order.
    #[must_use]
    pub fn parts(self) -> impl ExactSizeIterator<Item = PartView<'t>> + DoubleEndedIterator {
        (0..self.message().parts.len()).map(move |part| PartView { message: self, part })
    }
}

/// What a part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PartKind {
    /// A text.
    Text,
    /// A call of a tool.
    ToolCall,
    /// The result of a call.
    ToolResult,
    /// Reasoning of the model.
    Reasoning,
    /// An image, a sound or a file.
    Media,
    /// A part that the dialect does not know, or a mark without a text.
    Other,
}

/// A part of a message.
#[derive(Debug, Clone, Copy)]
pub struct PartView<'t> {
    message: MessageView<'t>,
    part: usize,
}

impl<'t> PartView<'t> {
    fn content(self) -> &'t Content<'t> {
        &self.message.message().parts[self.part].content
    }

    const fn place(self) -> PartRef {
        PartRef { message: self.message.index, part: self.part }
    }

    /// The message that it is in.
    #[must_use]
    pub const fn message(self) -> MessageView<'t> {
        self.message
    }

    /// What it is.
    #[must_use]
    pub fn kind(self) -> PartKind {
        match self.content() {
            Content::Text(_) => PartKind::Text,
            Content::ToolCall(_) => PartKind::ToolCall,
            Content::ToolResult(_) => PartKind::ToolResult,
            Content::Reasoning(_) => PartKind::Reasoning,
            Content::Media(_) => PartKind::Media,
            Content::Unknown(_) | Content::Other => PartKind::Other,
        }
    }

    /// Its text: what is said or thought, the arguments of a call, the text of a result.
    #[must_use]
    pub fn text(self) -> Cow<'t, str> {
        match self.content() {
            Content::Text(text) | Content::Reasoning(text) | Content::Media(text) | Content::Unknown(text) => {
                text.decode()
            }
            Content::ToolCall(call) => call.arguments.decode(),
            Content::ToolResult(result) => match result.content.as_slice() {
                [text] => text.decode(),
                texts => Cow::Owned(texts.iter().map(Text::decode).collect::<Vec<_>>().join("\n")),
            },
            Content::Other => Cow::Borrowed(""),
        }
    }

    /// The tool that it calls, or whose result it is; `None` if the format names it nowhere.
    #[must_use]
    pub fn tool(self) -> Option<Cow<'t, str>> {
        let transcript = self.message.transcript;
        transcript.pairs.tool_name(&transcript.messages, self.place()).map(Text::decode)
    }

    /// The id by which a call and its result name each other, in formats with ids.
    #[must_use]
    pub fn id(self) -> Option<Cow<'t, str>> {
        self.content().tool_id().map(Text::decode)
    }

    /// The result of a call, or the call of a result.
    #[must_use]
    pub fn counterpart(self) -> Option<Self> {
        let transcript = self.message.transcript;
        let at = transcript.pairs.counterpart(self.place())?;
        Some(Self { message: MessageView { transcript, index: at.message }, part: at.part })
    }
}
