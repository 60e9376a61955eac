//! Counts the tokens of messages: the text of every part, tool names, arguments and results.

use std::sync::Arc;

use super::view::View;
use crate::counting::{BY_USAGE, Calibrated, Prepared, Template, TemplateError, Tokenizer};
use crate::dialects::Dialect;
use crate::dialects::media::file_text;
use crate::json::Text;
use crate::transcript::{Content, Estimated, Message, Part, ToolCall, Transcript};

/// Tokens that a provider adds around messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Overhead {
    /// None.
    #[default]
    None,
    /// Three tokens per message and three to prime the reply, as OpenAI's chat models count.
    OpenAi,
}

/// Tokens of one image or file: the 765 that OpenAI documents for a 1024 × 1024 image in high detail with the 4o models
/// (85 and four tiles of 170). The exact number depends on pixel sizes, which a transcript does not contain.
const MEDIA_TOKENS: usize = 765;

/// Bytes of what only the provider can read for one token of it. Where a log has both, signatures of Claude have 8 for a token of
/// the thought beside them, and encrypted reasoning in logs of Codex has 19 for a token that the provider counted.
const SEALED_BYTES: usize = 12;

/// Counts tokens of messages.
///
/// ```
/// use curtail_core::dialects::{Framing, Reading};
/// use curtail_core::processors::Counting;
/// use curtail_tokens::tokenizers;
///
/// let counting = Counting::new(tokenizers::tokenizer_by_name("o200k_base")?);
/// let reading = Reading::new(Framing::Lines, None, None)?;
/// let document = reading.parse(r#"{"role": "user", "content": "Hello, world!"}"#)?;
/// let transcripts = reading.transcripts(&document)?;
/// assert_eq!(counting.message(&transcripts[0].1.messages[0]), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Counting {
    /// Counts the tokens of a text.
    pub tokenizer: Arc<dyn Tokenizer>,
    /// Tokens added around messages.
    pub overhead: Overhead,
    /// Tokens of the budget that are reserved for the reply.
    pub reserve: usize,
    /// Renders transcripts as the model reads them; totals are then those of the rendered text.
    pub template: Option<Arc<dyn Template>>,
    /// Calibrates the counting for each transcript, if each has to be counted by the provider's usage in it.
    pub by_usage: Option<Calibrate>,
    /// Tokens of every request that the transcript does not contain, such as instructions and tools of the program.
    pub hidden: usize,
    /// Tokens that the provider adds around each message.
    pub framing: usize,
}

/// Calibrates a counting by the provider's usage in a transcript, or says why it cannot.
pub type Calibrate = fn(&dyn Dialect, &Transcript<'_>, &Counting) -> Result<Counting, &'static str>;

impl Counting {
    /// Counts with `tokenizer`, without overhead and without a reserve.
    #[must_use]
    pub fn new(tokenizer: Arc<dyn Tokenizer>) -> Self {
        Self { tokenizer, overhead: Overhead::None, reserve: 0, template: None, by_usage: None, hidden: 0, framing: 0 }
    }

    /// The name of the tokenizer, and whether it is calibrated for each transcript.
    #[must_use]
    pub fn name(&self) -> String {
        let name = self.tokenizer.name();
        if self.by_usage.is_some() { format!("{BY_USAGE}:{name}") } else { name.to_owned() }
    }

    /// The counting with every count multiplied by `factor`, `framing` tokens around each message, and `hidden` tokens outside
    /// the transcript.
    #[must_use]
    pub fn calibrated(&self, hidden: u64, factor: f64, framing: u64) -> Self {
        let tokenizer = Arc::new(Calibrated::new(Arc::clone(&self.tokenizer), factor));
        let [hidden, framing] = [hidden, framing].map(|tokens| usize::try_from(tokens).unwrap_or(usize::MAX));
        Self { tokenizer, hidden, framing, by_usage: None, ..self.clone() }
    }

    /// Tokens of `message`.
    #[must_use]
    pub fn message(&self, message: &Message<'_>) -> usize {
        self.message_until(message, usize::MAX).unwrap_or(usize::MAX)
    }

    /// Tokens of `message` without the parts that are `dropped`.
    #[must_use]
    pub fn message_without(&self, message: &Message<'_>, dropped: impl Fn(usize) -> bool) -> usize {
        let kept = message.parts.iter().enumerate().filter(|(nth, _)| !dropped(*nth)).map(|(_, part)| part);
        self.sum(self.frame(), kept, Beside::of_message(message), usize::MAX).unwrap_or(usize::MAX)
    }

    /// Tokens of the instructions in `message`, whatever else it contains.
    pub(super) fn instructions(&self, message: &Message<'_>) -> usize {
        self.message_without(message, |nth| !message.parts[nth].instructs())
    }

    /// Tokens of `message` if they are at most `limit`; `None` as soon as they are known to be more.
    #[must_use]
    pub fn message_until(&self, message: &Message<'_>, limit: usize) -> Option<usize> {
        self.sum(self.frame(), message.parts.iter(), Beside::of_message(message), limit)
    }

    /// Tokens of one part.
    #[must_use]
    pub fn part(&self, part: &Part<'_>) -> usize {
        self.sum(0, std::iter::once(part), Beside::default(), usize::MAX).unwrap_or(usize::MAX)
    }

    /// Tokens of the texts and media of a part, without those that are estimated beside them.
    pub(super) fn content(&self, content: &Content<'_>) -> usize {
        let (texts, media) = texts_and_media(content);
        texts.map(|text| self.text(text)).sum::<usize>() + self.media(media)
    }

    /// Tokens of this many images or files.
    fn media(&self, count: usize) -> usize {
        self.tokenizer.scaled(MEDIA_TOKENS * count)
    }

    /// Tokens of a text.
    #[must_use]
    pub fn text(&self, text: &Text<'_>) -> usize {
        self.tokenizer.count(&text.decode())
    }

    /// The tokens of `message` that are an estimate: those of parts of unknown type, of texts that its format does not define, and
    /// of what only the provider can read.
    #[must_use]
    pub fn estimated(&self, message: &Message<'_>) -> usize {
        let beside = Beside { attached: &[], media: 0, ..Beside::of_message(message) };
        self.beside(beside) + message.parts.iter().map(|part| self.estimated_in(part)).sum::<usize>()
    }

    /// Those of a part.
    #[must_use]
    pub fn estimated_in(&self, part: &Part<'_>) -> usize {
        match &part.content {
            Content::Unknown(_) => self.part(part),
            _ => self.beside(Beside::in_part(part)),
        }
    }

    /// Tokens of what is beside parts, or beside the content of one.
    fn beside(&self, beside: Beside<'_, '_>) -> usize {
        self.sum(0, std::iter::empty(), beside, usize::MAX).unwrap_or(usize::MAX)
    }

    /// `start`, and the tokens of parts and of what is beside them, if they are at most `limit`; `None` as soon as they are known to
    /// be more.
    fn sum<'m, 'a: 'm>(
        &self,
        start: usize,
        parts: impl Iterator<Item = &'m Part<'a>>,
        beside: Beside<'_, '_>,
        limit: usize,
    ) -> Option<usize> {
        let mut sum = LimitedSum { tokenizer: &*self.tokenizer, total: 0, limit };
        sum.add(start)?;
        for part in parts {
            let (mut texts, media) = texts_and_media(&part.content);
            texts.try_for_each(|text| sum.text(text))?;
            match file_text(part) {
                Some(text) => sum.text(&Text::Owned(text))?,
                None => sum.add(self.media(media))?,
            }
            sum.beside(Beside::in_part(part))?;
        }
        sum.add(self.media(beside.media))?;
        sum.beside(beside)?;
        Some(sum.total)
    }

    /// Tokens outside the messages: preamble, replies, primed reply, reserve, and what the transcript does not contain.
    #[must_use]
    pub fn outside(&self, view: &View<'_, '_>) -> usize {
        let texts = view.preamble.iter().chain(view.replies);
        texts.map(|text| self.text(text)).sum::<usize>() + self.overhead() + self.reserve + self.hidden
    }

    /// Whether the length in bytes alone proves that the transcript has at most `limit` tokens: for this tokenizer a token has
    /// at least one byte, and decoding JSON never makes a text longer.
    #[must_use]
    pub fn surely_fits(&self, view: &View<'_, '_>, limit: usize) -> bool {
        let outside: usize = view.preamble.iter().chain(view.replies).map(Text::len_bound).sum();
        let inside = view.messages.iter().map(|message| {
            let parts = message.parts.iter().map(upper_bound);
            self.frame() + parts.sum::<usize>() + Beside::of_message(message).upper_bound()
        });
        self.template.is_none()
            && self.tokenizer.at_most_bytes()
            && self.overhead() + self.reserve + self.hidden + outside + inside.sum::<usize>() <= limit
    }

    /// All tokens of the transcript.
    ///
    /// # Errors
    /// The chat template refuses the transcript.
    pub fn total(&self, view: &View<'_, '_>) -> Result<usize, TemplateError> {
        match &self.template {
            Some(template) => {
                let prepared = template.prepare(view.preamble, view.messages, view.replies);
                self.rendered(&*prepared, &mut (0..view.messages.len()))
            }
            None => Ok(self.sum_of_messages(view)),
        }
    }

    /// Tokens of the transcript as a sum of its messages, also if a template renders it.
    pub(crate) fn sum_of_messages(&self, view: &View<'_, '_>) -> usize {
        self.outside(view) + view.messages.iter().map(|message| self.message(message)).sum::<usize>()
    }

    /// Tokens of the messages with these numbers as a template renders them, and of the reserve.
    pub(super) fn rendered(
        &self,
        prepared: &dyn Prepared,
        kept: &mut dyn Iterator<Item = usize>,
    ) -> Result<usize, TemplateError> {
        Ok(self.tokenizer.count_rendered(&prepared.text(kept)?) + self.reserve)
    }

    /// Tokens of the transcript as a sum of its messages, if they are at most `limit`. Starts with the newest messages, which a
    /// limit has usually counted before.
    #[must_use]
    pub fn total_until(&self, view: &View<'_, '_>, limit: usize) -> Option<usize> {
        let mut total = self.outside(view);
        if total > limit {
            return None;
        }
        for message in view.messages.iter().rev() {
            total += self.message_until(message, limit - total)?;
        }
        Some(total)
    }

    /// Tokens around a message.
    fn frame(&self) -> usize {
        self.overhead() + self.framing
    }

    /// Tokens that OpenAI's chat models add around a message, and to prime the reply.
    fn overhead(&self) -> usize {
        match self.overhead {
            Overhead::None => 0,
            Overhead::OpenAi => self.tokenizer.scaled(3),
        }
    }
}

/// Tokens that are added up until they exceed a limit: then each method returns `None`.
struct LimitedSum<'c> {
    tokenizer: &'c dyn Tokenizer,
    total: usize,
    limit: usize,
}

impl LimitedSum<'_> {
    fn add(&mut self, tokens: usize) -> Option<()> {
        self.total = self.total.checked_add(tokens).filter(|total| *total <= self.limit)?;
        Some(())
    }

    fn text(&mut self, text: &Text<'_>) -> Option<()> {
        self.add(self.tokenizer.count_until(&text.decode(), self.limit - self.total)?)
    }

    fn beside(&mut self, Beside { attached, estimated, .. }: Beside<'_, '_>) -> Option<()> {
        attached.iter().try_for_each(|text| self.text(text))?;
        for Estimated { value, sealed } in estimated {
            match value.text() {
                Some(text) if *sealed => self.add(self.tokenizer.scaled(text.len_bound() / SEALED_BYTES))?,
                Some(text) => self.text(&text)?,
                None => {}
            }
        }
        Some(())
    }
}

/// What is counted beside the contents of parts.
#[derive(Clone, Copy, Default)]
struct Beside<'m, 'a> {
    /// Texts in the metadata after a message.
    attached: &'m [Text<'a>],
    /// Number of media there.
    media: usize,
    /// Texts that are no parts.
    estimated: &'m [Estimated<'a>],
}

impl<'m, 'a> Beside<'m, 'a> {
    fn of_message(message: &'m Message<'a>) -> Self {
        Self { attached: &message.attached, media: message.attached_media, estimated: &message.estimated }
    }

    fn in_part(part: &'m Part<'a>) -> Self {
        let Some(place) = part.place() else { return Self::default() };
        Self { attached: &[], media: 0, estimated: place.estimated() }
    }

    fn upper_bound(self) -> usize {
        let estimated = self.estimated.iter().map(|text| text.value.raw().len());
        self.attached.iter().map(Text::len_bound).chain(estimated).sum::<usize>() + MEDIA_TOKENS * self.media
    }
}

/// An upper bound of the tokens of a part.
fn upper_bound(part: &Part<'_>) -> usize {
    let (texts, media) = texts_and_media(&part.content);
    let media = file_text(part).map_or(MEDIA_TOKENS * media, |text| text.len());
    texts.map(Text::len_bound).sum::<usize>() + media + Beside::in_part(part).upper_bound()
}

/// The texts of a part that are counted, and the number of its media.
fn texts_and_media<'m, 'a>(content: &'m Content<'a>) -> (impl Iterator<Item = &'m Text<'a>>, usize) {
    let (texts, media) = match content {
        Content::Text(text) | Content::Reasoning(text) | Content::Unknown(text) => (([Some(text), None], &[][..]), 0),
        Content::ToolCall(ToolCall { written: Some(text), .. }) => (([Some(&**text), None], &[][..]), 0),
        Content::ToolCall(call) => (([Some(&call.name), Some(&call.arguments)], &[][..]), 0),
        Content::ToolResult(result) => (([None, None], result.content.as_slice()), result.media),
        Content::Media(_) => (([None, None], &[][..]), 1),
        Content::Other => (([None, None], &[][..]), 0),
    };
    (texts.0.into_iter().flatten().chain(texts.1), media)
}
