//! One wire format per file: the only code that knows the name of a key.
//!
//! A dialect reads JSON values as messages, writes drafts in its own format, and states the rules of that format. To add one:
//! a description or a file here, a line in a list, fixtures and a page.

mod accounting;
mod adk;
mod agentkit;
mod ai_sdk;
mod answers;
mod anthropic;
mod antigravity;
mod assemble;
mod atif;
mod bedrock;
mod blocks;
mod branches;
mod claude_code;
mod codex;
mod codex_history;
mod copilot;
mod cursor;
mod deferred;
mod described;
mod detection;
mod droid;
mod failures;
mod foreign;
mod framing;
mod gemini;
mod gemini_history;
mod gemini_parts;
mod gemini_records;
mod gemini_twins;
mod goose;
mod grok;
mod homes;
mod hub_traces;
mod inspect;
mod interactions;
mod kimi;
mod kiro;
mod langchain;
mod mark;
pub mod media;
mod nearest;
mod new_session;
mod openai;
mod opencode;
mod opencode_drafts;
mod opencode_history;
mod opencode_messages;
mod openhands;
mod otel;
mod pi;
mod provenance;
mod pydantic_ai;
mod qwen;
mod read_error;
mod reading;
mod responses;
mod roo;
mod row;
mod sharegpt;
mod sharegpt_calls;
mod simple;
mod training;
mod tree;
mod unfold;
mod vscode_copilot;
mod vscode_patches;
mod written;
mod zed;

pub(crate) use answers::write_both;
pub use assemble::{along_branches, assemble};
pub use described::{Description, DescriptionError, built_in, description_of, register};
pub use failures::reports_failure;
pub use framing::{Framing, detect_framing, framing_of_first, rows};
pub use homes::{AGENTS, Agent, agent_named, agent_of, agent_writing, project};
pub use mark::mark;
pub use new_session::{NewSession, SessionName};
pub use provenance::{iso_8601, models, record_model};
pub use read_error::{ReadError, UnknownDialect, refuse_to_write};
pub use reading::Reading;
pub use row::Row;
pub use unfold::{Unfolded, refusal, unfolded};
pub use vscode_patches::rebuilt;

use crate::json::{Span, Text, Value};
use std::ops::Range;
use std::sync::LazyLock;

use crate::transcript::{
    Draft, DraftId, DraftPart, DraftResult, Layout, Links, Message, PairingRules, ProviderRules, Reread, ResultPlace,
    Role, Turns, Unknown, Usage,
};

/// Every dialect, in the order in which they are listed to the user: those that are code, those that the user described, and
/// those that the program brings as descriptions.
pub static ALL: LazyLock<Vec<&'static dyn Dialect>> =
    LazyLock::new(|| CODE.iter().copied().chain(described::all()).collect());

/// The dialects that are code.
const CODE: &[&dyn Dialect] = &[
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
    &openhands::OpenHands,
    &atif::Atif,
    &otel::Otel,
    &inspect::Inspect,
    &opencode::OpenCode,
    &pydantic_ai::PydanticAi,
    &interactions::Interactions,
    &goose::Goose,
    &kiro::Kiro,
    &vscode_copilot::VsCodeCopilot,
    &zed::Zed,
    // Reads messages that no other dialect recognizes.
    &simple::Simple,
];

/// The dialect with this name, such as `openai`.
#[must_use]
pub fn dialect_named(name: &str) -> Option<&'static dyn Dialect> {
    CODE.iter().copied().find(|dialect| dialect.name() == name).or_else(|| described::dialect_named(name))
}

/// What is true of a wire format whatever its items contain.
#[derive(Clone, Copy)]
pub struct Format {
    /// Its name, as `--dialect` takes it.
    pub name: &'static str,
    /// The keys and values by which users recognize it, in one line.
    pub signature: &'static str,
    /// The rules of the format for calls and results.
    pub pairing: PairingRules,
    /// Further constraints of the provider; none by default.
    pub provider: ProviderRules,
    /// Whether programs append it line by line while they run. The last line of a log may be incomplete, because the
    /// program may have been killed while it wrote the line.
    pub is_log: bool,
    /// Whether [`fit`](Dialect::fit) can find a mark, which outranks what other dialects find.
    pub has_marks: bool,
    /// Whether its items are what other formats write as parts of messages.
    pub has_flat_items: bool,
    /// Reads again what depends on the neighbors of a message, after an edit gave it others; `None` if nothing does.
    pub reread: Option<Reread>,
    /// How it is written; `None` if it is only read. What is only read can be looked at and checked.
    pub writer: Option<&'static dyn DialectWriter>,
    /// What the program that writes it adds to the messages; nothing by default.
    pub log: &'static dyn LogHabits,
    /// Members without text for a model, besides those of every format: what only a screen shows, and copies of what was read.
    /// A long text in any other member is counted as an estimate.
    pub known: &'static [&'static str],
    /// Whether what it reads of an item has every text of the item already, known and unknown.
    pub accounts: bool,
}

/// Results that name their calls by ids, right after those.
const BY_ID: PairingRules =
    PairingRules { results: ResultPlace::RightAfter, unique_ids: false, ids: true, developer: false };

/// No constraints of a provider.
const NO_RULES: ProviderRules = ProviderRules {
    provider: "",
    log: false,
    converts: false,
    first_speaker: None,
    turns: Turns::Free,
    results_together: false,
    server_state: false,
    signatures: &[],
    call_signatures: &[],
    system_anywhere: false,
    system_beside: false,
};

impl Format {
    /// What most formats have in common.
    const PLAIN: Self = Self {
        name: "",
        signature: "",
        pairing: BY_ID,
        provider: NO_RULES,
        is_log: false,
        has_marks: false,
        has_flat_items: false,
        reread: None,
        writer: None,
        log: &NoHabits,
        known: &[],
        accounts: false,
    };
}

/// A wire format: how its items are recognized and read.
pub trait Dialect: Sync {
    /// What is true of it whatever its items contain.
    fn format(&self) -> &'static Format;

    /// What a model may read of `item`, although its role or type is unknown: by default its content, if it names who speaks. In
    /// a log, unknown lines are usually events.
    fn unread<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        if self.format().has_flat_items {
            return Some(Text::Json(item.raw()));
        }
        let is_log = self.format().is_log;
        let content = blocks::content_of(item).filter(|_| blocks::names_speaker(item, is_log));
        let may_be_read = !is_log || accounting::is_like_message(item);
        let content = content.or_else(|| accounting::body(item).filter(|_| may_be_read))?;
        Some(content.text().unwrap_or(Text::Json(content.raw())))
    }

    /// How well `item` fits, without the items around it. It names no other dialect: the best score decides.
    fn fit(&self, item: Value<'_>) -> Fit;

    /// Whether the other keys of a record with an empty list of messages identify this dialect.
    fn fits_record(&self, _record: Value<'_>) -> bool {
        false
    }

    /// Whether `record` is a request in this dialect, although its messages are texts that any dialect has.
    fn fits_request(&self, _record: Value<'_>) -> bool {
        false
    }

    /// Reads one item.
    fn read<'a>(&self, item: Value<'a>) -> Item<'a>;

    /// Changes what was read of `items` where it depends on their neighbors.
    fn connect<'a>(&self, _items: &[Value<'a>], _read: &mut [Item<'a>]) {}

    /// Instructions and tool definitions of `record`, which a model reads in addition to the messages.
    fn preamble<'a>(&self, record: Value<'a>) -> Vec<Text<'a>> {
        blocks::preamble(record, &["system", "system_prompt", "instructions", "tools", "functions"])
    }

    /// Instructions in items that are not messages, such as the header of a log.
    fn instructions<'a>(&self, _items: &[Value<'a>]) -> Vec<Text<'a>> {
        Vec::new()
    }

    /// The model that wrote `item`, or that is used from `item` on, if it says so.
    fn model<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        blocks::model(item)
    }

    /// The time of `item` as ISO 8601, if it has one.
    fn time(&self, item: Value<'_>) -> Option<String> {
        provenance::time(item)
    }
}

impl dyn Dialect + '_ {
    /// Its name, as `--dialect` takes it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.format().name
    }

    /// The keys and values by which users recognize it, in one line.
    #[must_use]
    pub fn signature(&self) -> &'static str {
        self.format().signature
    }

    /// Whether programs append it line by line while they run.
    #[must_use]
    pub fn is_log(&self) -> bool {
        self.format().is_log
    }

    /// How it is written; `None` if it is only read.
    #[must_use]
    pub fn writer(&self) -> Option<&'static dyn DialectWriter> {
        self.format().writer
    }

    /// What the program that writes it adds to the messages.
    #[must_use]
    pub fn log(&self) -> &'static dyn LogHabits {
        self.format().log
    }

    /// The rules of the format for calls and results.
    #[must_use]
    pub fn pairing_rules(&self) -> PairingRules {
        self.format().pairing
    }

    /// Further constraints of the provider.
    #[must_use]
    pub fn provider_rules(&self) -> ProviderRules {
        let rules = self.format().provider;
        ProviderRules { log: self.is_log() || rules.log, ..rules }
    }

    /// Reads the items of a transcript.
    #[must_use]
    pub fn read_all<'a>(&self, items: &[Value<'a>]) -> Vec<Item<'a>> {
        let mut read: Vec<Item<'a>> = items.iter().map(|&item| self.read(item)).collect();
        self.connect(items, &mut read);
        deferred::connect(&mut read);
        if !self.is_log() {
            roo::connect(items, &mut read);
            written::connect(&mut read);
        }
        read
    }
}

/// How messages and links are written in a wire format.
pub trait DialectWriter: Sync {
    /// The key by which the results of `items` name their calls, if it is not the one that
    /// [`write_message`](Self::write_message) writes by itself: some formats have several.
    fn result_key(&self, _items: &[Value<'_>]) -> Option<&'static str> {
        None
    }

    /// Writes `draft` in this format, with its links. Formats with an envelope copy it from `anchor`, a message of the
    /// transcript.
    fn write_message(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String;

    /// Writes `part` as an element of a list of parts, in formats whose messages have such lists.
    fn write_part(&self, part: &DraftPart) -> String {
        match part {
            DraftPart::Text(text) => self.write_text(text),
            DraftPart::Verbatim(raw) => raw.clone(),
            DraftPart::ToolResult(result) => self.write_result(result),
        }
    }

    /// Writes a text as an element of such a list.
    fn write_text(&self, text: &str) -> String {
        blocks::text_block(text)
    }

    /// Writes a result as an element of such a list: by default, as a message of its own.
    fn write_result(&self, result: &DraftResult) -> String {
        self.write_message(&Draft::part(Role::Tool, DraftPart::ToolResult(result.clone())), None)
    }

    /// The patch that puts `parts`, already in this format, before the other parts of `message`.
    /// `None` for formats in which each result is a message.
    fn prepend_parts(&self, _message: Value<'_>, _parts: &[String]) -> Option<Patch> {
        None
    }

    /// The keys that link the records, in formats whose records have ids and parents.
    fn tree(&self) -> Option<&'static tree::Tree> {
        None
    }

    /// The links of a record for `draft` before it has neighbors, in formats whose records have ids.
    fn links(&self, draft: &Draft, anchor: Option<Value<'_>>) -> Option<Links> {
        Some(self.tree()?.links(draft, anchor))
    }

    /// Sets the ids of the drafts in `remaining` that have none, in formats whose records have ids.
    fn name_drafts(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) {
        if let Some(tree) = self.tree() {
            tree.name_drafts(layout, remaining);
        }
    }

    /// The patches that keep links between records valid when only `remaining` is written. The ids and links of drafts are set.
    fn relink(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) -> Vec<Patch> {
        if let Some(tree) = self.tree() {
            return tree.relink(layout, remaining);
        }
        self.name_drafts(layout, remaining);
        Vec::new()
    }
}

/// What the program that writes a format adds to the messages: usage, compactions, rewinds.
pub trait LogHabits: Sync {
    /// What `record` contains besides its messages that a cut leaves as it is although a user may expect otherwise, as a
    /// sentence.
    fn set_aside(&self, _record: Value<'_>) -> Option<String> {
        None
    }

    /// The provider's id of the reply that `item` is part of. Items that share it are one reply.
    fn reply_id<'a>(&self, _item: Value<'a>) -> Option<Text<'a>> {
        None
    }

    /// What the provider counted for a request, if `item` says it: for its reply, or for the reply nearest to it.
    fn usage(&self, _item: Value<'_>) -> Option<Usage> {
        None
    }

    /// What the provider counted, by item of a transcript: what [`usage`](Self::usage) says of each, unless the counts are
    /// elsewhere in the record or have to be compared with earlier ones.
    fn usages(&self, items: &[Value<'_>]) -> Vec<Option<Usage>> {
        items.iter().map(|&item| self.usage(item)).collect()
    }

    /// The figures in `holder`, which is an item or the record around all items, that the program takes for the size of the
    /// conversation when it resumes; `None` if it counts by itself.
    fn size_figures<'a>(&self, _holder: Value<'a>) -> Option<SizeFigures<'a>> {
        None
    }

    /// Whether `item` replaces everything before it, such as the mark or the summary of a compaction.
    fn replaces_past(&self, _item: Value<'_>) -> bool {
        false
    }

    /// Whether `item` belongs to a list inside a compaction, which replaces everything before the compaction.
    fn is_replacement(&self, _item: Value<'_>) -> bool {
        false
    }

    /// The messages that the model reads in place of `item`, a compaction that a later one superseded.
    fn replacement<'a>(&self, _item: Value<'a>) -> Vec<Message<'a>> {
        Vec::new()
    }

    /// For each of `compactions`, which are indices of `items`, the indices of items before it that the model still reads, as
    /// ascending ranges.
    fn kept_by(&self, compactions: &[usize], _items: &[Value<'_>]) -> Vec<Vec<Range<usize>>> {
        vec![Vec::new(); compactions.len()]
    }

    /// Ids of the provider by which the reply that `item` is part of can be recognized in other files: no other reply has them.
    fn provider_ids<'a>(&self, item: Value<'a>) -> Vec<Text<'a>> {
        self.reply_id(item).into_iter().collect()
    }

    /// The ids of the sessions whose history `items` repeat or are: of the session itself and those it was forked from.
    fn lineage<'a>(&self, _items: &[Value<'a>]) -> Vec<Text<'a>> {
        Vec::new()
    }

    /// The indices of `items` that roll back turns before them, in order, each with the index of the first item that the
    /// model no longer reads.
    fn rollbacks(&self, _items: &[Value<'_>]) -> Vec<(usize, usize)> {
        Vec::new()
    }

    /// The provider that `item` says it was sent to: one that [`ProviderRules`] can name.
    fn provider(&self, _item: Value<'_>) -> Option<&'static str> {
        None
    }
}

/// A format whose items are messages and no more.
struct NoHabits;

impl LogHabits for NoHabits {}

/// Where a log says how large the conversation is. A program that believes it compacts a short copy of a long session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SizeFigures<'a> {
    /// The item contains nothing else. It counts what precedes it.
    Item,
    /// These numbers count what precedes their item, and the item itself.
    SoFar(Vec<Value<'a>>),
    /// These numbers count the whole conversation.
    Whole(Vec<Value<'a>>),
}

/// The part of a transcript that is written.
#[derive(Debug)]
pub struct Remaining<'l> {
    /// Which of its messages, by index, are written.
    pub kept: &'l [bool],
    /// The drafts among them, in the order of the output.
    pub written: Vec<Written>,
}

/// A draft, and where it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The draft, with the links of its record.
    pub draft: Draft,
    /// The draft as JSON, with the links that it had first.
    pub text: String,
    /// The id of its record, once it is set.
    pub id: Option<DraftId>,
    /// Index of the nearest message before it in the output that is not a draft.
    pub after: Option<usize>,
    /// Index of the nearest message of its conversation before it that is neither a draft nor abandoned. If it is abandoned
    /// itself, the nearest message, if that is, too.
    pub previous: Option<usize>,
    /// The same after it.
    pub next: Option<usize>,
    /// Whether it is about messages that are abandoned.
    pub abandoned: bool,
    /// Whether a model reads it.
    pub live: bool,
    /// Byte of the source before which it is written: where the element begins that it replaces or precedes, if any.
    pub place: Option<u32>,
}

/// A replacement of bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// The bytes that are replaced.
    pub span: Span,
    /// The bytes that replace them.
    pub text: String,
}

/// How well an item fits a dialect. Where several fit an item, the best one reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// It does not fit.
    No,
    /// It fits, and so do other dialects.
    Possible,
    /// It fits this dialect and no other, unless it has the mark of one.
    Certain,
    /// It has a mark that only this dialect writes into items which fit others as well.
    Marked,
}

/// What an item is to a dialect.
#[derive(Debug)]
pub enum Item<'a> {
    /// A message.
    Message(Message<'a>),
    /// Known metadata: kept or dropped with the message before it.
    Metadata,
    /// Metadata with texts that the model reads beside the message before it: kept or dropped with that message, and
    /// counted.
    Attached(Vec<Text<'a>>),
    /// Metadata that repeats the message after it: kept or dropped with that message.
    Ahead,
    /// Metadata that is kept or dropped with the message that was read from another item, before or after it, by the index of
    /// that item.
    With(usize),
    /// Metadata that is always kept.
    Pinned,
    /// An item that the dialect does not recognize: kept or dropped with the message before it.
    Unknown(Unknown),
    /// A list of items inside the item; the bytes around the list are always kept.
    Nested(Vec<Value<'a>>),
}

impl<'a> Item<'a> {
    /// The message, if it is one.
    fn into_message(self) -> Option<Message<'a>> {
        if let Self::Message(message) = self { Some(message) } else { None }
    }

    /// The same, to change it.
    const fn message_mut(&mut self) -> Option<&mut Message<'a>> {
        if let Self::Message(message) = self { Some(message) } else { None }
    }
}
