//! One wire format per file: the only code that knows the name of a key.
//!
//! A dialect reads values as messages, spells what we write, and states the manners of its wire. To add one: a file here, a
//! line in [`ALL`], fixtures and a page.

mod agentkit;
mod ai_sdk;
mod anthropic;
mod antigravity;
mod assemble;
mod bedrock;
mod blocks;
mod claude_code;
mod codex;
mod copilot;
mod cursor;
mod droid;
mod events;
mod framing;
mod gemini;
mod grok;
mod kimi;
mod langchain;
mod openai;
mod pi;
mod qwen;
mod reading;
mod responses;
mod sharegpt;
mod simple;
mod sniff;
mod tree;

pub use assemble::{Row, assemble};
pub use framing::{Framing, detect, find_list, rows};
pub use reading::{ReadError, Reading, UnknownDialect};
pub use sniff::{Sniffed, sniff};

use crate::json::{Span, Text, Value};
use crate::transcript::{Draft, DraftPart, Message, PairingRules, ProviderRules, Transcript};

/// Every dialect, in the order in which they are listed to the user.
pub const ALL: &[&dyn Dialect] = &[
    &openai::OpenAi,
    &responses::Responses,
    &anthropic::Anthropic,
    &gemini::Gemini,
    &bedrock::Bedrock,
    &agentkit::AgentKit,
    &ai_sdk::AiSdk,
    &langchain::LangChain,
    &sharegpt::ShareGpt,
    &claude_code::ClaudeCode,
    &codex::Codex,
    &pi::Pi,
    &qwen::Qwen,
    &copilot::Copilot,
    &droid::Droid,
    &grok::Grok,
    &kimi::Kimi,
    &cursor::Cursor,
    &antigravity::Antigravity,
    // Reads what is left.
    &simple::Simple,
];

/// The dialect called `name`.
#[must_use]
pub fn find(name: &str) -> Option<&'static dyn Dialect> {
    ALL.iter().copied().find(|dialect| dialect.name() == name)
}

/// A wire format.
pub trait Dialect: Sync {
    /// Its name, as `--dialect` takes it.
    fn name(&self) -> &'static str;

    /// What tells it from the others, in one line for the user.
    fn signature(&self) -> &'static str;

    /// Whether programs write it line by line while they run: then a last line that was torn when one was killed is no
    /// reason to refuse the rest.
    fn is_log(&self) -> bool {
        false
    }

    /// How well `item` fits, seen by itself.
    fn fit(&self, item: Value<'_>) -> Fit;

    /// Whether a record whose list of messages is empty is this dialect's, by its other keys.
    fn fits_record(&self, _record: Value<'_>) -> bool {
        false
    }

    /// How the wire wants its messages.
    fn pairing_rules(&self) -> PairingRules;

    /// What whoever takes the format refuses besides. Nothing, where nobody takes it as it is.
    fn provider_rules(&self) -> ProviderRules {
        ProviderRules::default()
    }

    /// Reads one item.
    fn read<'a>(&self, item: Value<'a>) -> Item<'a>;

    /// Reads the items of a transcript, where one tells something about another.
    fn read_all<'a>(&self, items: &[Value<'a>]) -> Vec<Item<'a>> {
        items.iter().map(|&item| self.read(item)).collect()
    }

    /// What of `record` a model reads besides the messages: instructions and tool definitions.
    fn preamble<'a>(&self, record: Value<'a>) -> Vec<Text<'a>> {
        blocks::preamble(record, &["system", "system_prompt", "instructions", "tools", "functions"])
    }

    /// What a model reads besides the messages that stands in items which are no message: a log's instructions.
    fn instructions<'a>(&self, _items: &[Value<'a>]) -> Vec<Text<'a>> {
        Vec::new()
    }

    /// When `item` was said, as ISO 8601, if it tells.
    fn time(&self, item: Value<'_>) -> Option<String> {
        blocks::time(item)
    }

    /// Spells a message that we write. `near` is a message of the transcript, for formats that wrap messages in an envelope.
    fn spell(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String;

    /// Spells a part that we write, as it stands in a list of parts.
    fn spell_part(&self, part: &DraftPart) -> String;

    /// Puts parts, already spelt, in front of what `message` holds: the bytes that give way and what takes their place.
    /// `None` where results are messages of their own.
    fn prepend_parts(&self, _message: Value<'_>, _parts: &[String]) -> Option<Patch> {
        None
    }

    /// What else must change when only `left` is left, such as links between messages; what we wrote is linked in place.
    fn relink(&self, _transcript: &Transcript<'_>, _left: &mut Remaining<'_>) -> Vec<Patch> {
        Vec::new()
    }
}

/// What is left of a transcript.
#[derive(Debug)]
pub struct Remaining<'l> {
    /// Which of its messages, by index, are written.
    pub kept: &'l [bool],
    /// The messages that we wrote, in the order of the output.
    pub written: Vec<Written>,
}

/// A message that we wrote, as a dialect spelt it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Its spelling.
    pub text: String,
    /// Index of the message of the transcript that stands before it in the output, other written ones left out.
    pub after: Option<usize>,
    /// Index of the one that stands behind it.
    pub before: Option<usize>,
}

/// Bytes that give way to others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// The bytes that go.
    pub span: Span,
    /// What stands there instead.
    pub text: String,
}

/// How well an item fits a dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// It is something else.
    No,
    /// It can be read, but other dialects can read it as well.
    Possible,
    /// Only this dialect spells it so.
    Certain,
}

/// What an item is to a dialect.
#[derive(Debug)]
pub enum Item<'a> {
    /// A message.
    Message(Message<'a>),
    /// Known metadata: goes with the message before it.
    Metadata,
    /// Metadata that mirrors the message after it and goes with that.
    Ahead,
    /// Metadata that always stays.
    Pinned,
    /// Something with a role or type that the dialect does not know: passes through with the message before it.
    Unknown(String),
    /// A list of items inside the item; what stands around them stays.
    Nested(Vec<Value<'a>>),
}
