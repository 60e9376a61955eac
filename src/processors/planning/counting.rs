//! How many tokens a message is: the text of every part, tool names, arguments and results; no more, unless asked.

use std::sync::Arc;

use super::View;
use crate::json::Text;
use crate::tokenizers::Tokenizer;
use crate::transcript::{Content, Message, ToolResult};

/// What is added for the frame that a provider puts around messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Overhead {
    /// Nothing.
    #[default]
    None,
    /// Three tokens a message and three that prime the reply, as OpenAI's chat models take.
    OpenAi,
}

/// Tokens of one image or file: the 765 that OpenAI documents for a 1024 × 1024 image in high detail with the 4o models
/// (85 and four tiles of 170). The true number depends on pixels that a transcript does not state.
const MEDIA_TOKENS: usize = 765;

/// Counts tokens of messages.
#[derive(Clone)]
pub struct Counting {
    /// Counts the tokens of a text.
    pub tokenizer: Arc<dyn Tokenizer>,
    /// What is added for the frame.
    pub overhead: Overhead,
    /// Tokens held back from the budget, for the reply.
    pub reserve: usize,
}

impl Counting {
    /// Tokens of `message`.
    #[must_use]
    pub fn message(&self, message: &Message<'_>) -> usize {
        self.message_until(message, usize::MAX).unwrap_or(usize::MAX)
    }

    /// Tokens of `message` without the parts that are `gone`.
    #[must_use]
    pub fn message_without(&self, message: &Message<'_>, gone: impl Fn(usize) -> bool) -> usize {
        let mut sum = Sum { tokenizer: &*self.tokenizer, total: self.frame(), limit: usize::MAX };
        let stays = message.parts.iter().enumerate().filter(|(nth, _)| !gone(*nth));
        for (_, part) in stays {
            // There is no limit to pass.
            let _counted = sum.content(&part.content);
        }
        sum.total
    }

    /// Tokens of `message` if they are at most `limit`; `None` as soon as it is known that they are more.
    #[must_use]
    pub fn message_until(&self, message: &Message<'_>, limit: usize) -> Option<usize> {
        let mut sum = Sum { tokenizer: &*self.tokenizer, total: 0, limit };
        sum.add(self.frame())?;
        for part in &message.parts {
            sum.content(&part.content)?;
        }
        Some(sum.total)
    }

    /// Tokens of one part.
    #[must_use]
    pub fn content(&self, content: &Content<'_>) -> usize {
        let mut sum = Sum { tokenizer: &*self.tokenizer, total: 0, limit: usize::MAX };
        // There is no limit to pass.
        let _counted = sum.content(content);
        sum.total
    }

    /// Tokens of what stands outside the messages: preamble, the primed reply, the reserve.
    #[must_use]
    pub fn outside(&self, view: &View<'_, '_>) -> usize {
        let preamble: usize = view.preamble.iter().map(|text| self.tokenizer.count(&text.decode())).sum();
        let primed = if self.overhead == Overhead::OpenAi { 3 } else { 0 };
        preamble + primed + self.reserve
    }

    /// Whether the whole is at most `limit` by its length alone: bytes bound tokens from above, and what is escaped or has
    /// white space is shorter still when it is read.
    #[must_use]
    pub fn surely_fits(&self, view: &View<'_, '_>, limit: usize) -> bool {
        let primed = if self.overhead == Overhead::OpenAi { 3 } else { 0 };
        let outside: usize = view.preamble.iter().map(Text::len_bound).sum();
        let inside = view.messages.iter().map(|message| {
            let parts = message.parts.iter().map(|part| most(&part.content));
            self.frame() + parts.sum::<usize>()
        });
        self.tokenizer.at_most_bytes() && primed + self.reserve + outside + inside.sum::<usize>() <= limit
    }

    /// Tokens of the whole if they are at most `limit`. Counts the newest message first, where the budget ends soonest.
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

    fn frame(&self) -> usize {
        match self.overhead {
            Overhead::None => 0,
            Overhead::OpenAi => 3,
        }
    }
}

/// The most tokens that a part can have.
fn most(content: &Content<'_>) -> usize {
    match content {
        Content::Text(text) | Content::Reasoning(text) => text.len_bound(),
        Content::ToolCall(call) => call.name.len_bound() + call.arguments.len_bound(),
        Content::ToolResult(result) => {
            result.content.iter().map(Text::len_bound).sum::<usize>() + MEDIA_TOKENS * result.media
        }
        Content::Media(_) => MEDIA_TOKENS,
        Content::Other => 0,
    }
}

struct Sum<'t> {
    tokenizer: &'t dyn Tokenizer,
    total: usize,
    limit: usize,
}

impl Sum<'_> {
    fn add(&mut self, tokens: usize) -> Option<()> {
        self.total = self.total.checked_add(tokens).filter(|&total| total <= self.limit)?;
        Some(())
    }

    fn text(&mut self, text: &Text<'_>) -> Option<()> {
        let tokens = self.tokenizer.count_until(&text.decode(), self.limit - self.total)?;
        self.add(tokens)
    }

    fn content(&mut self, content: &Content<'_>) -> Option<()> {
        match content {
            Content::Text(text) | Content::Reasoning(text) => self.text(text),
            Content::ToolCall(call) => {
                self.text(&call.name)?;
                self.text(&call.arguments)
            }
            Content::ToolResult(result) => self.result(result),
            Content::Media(_) => self.add(MEDIA_TOKENS),
            Content::Other => Some(()),
        }
    }

    fn result(&mut self, result: &ToolResult<'_>) -> Option<()> {
        for text in &result.content {
            self.text(text)?;
        }
        self.add(MEDIA_TOKENS * result.media)
    }
}
