//! The wire formats, each in files of its own: the only code that knows the name of a key.
//!
//! A dialect reads JSON values as messages, writes drafts in its own format, and states the rules of that format. To add one:
//! a description or a file here, a line in a list, fixtures and a page.

mod accounting;
mod adk;
mod adk_events;
mod adk_history;
mod adk_sent;
mod agentkit;
mod ai_sdk;
mod answers;
mod anthropic;
mod assemble;
mod atif;
mod bedrock;
mod blocks;
mod branches;
mod call_results;
mod claude_code;
mod codex;
mod codex_history;
mod copilot;
mod cursor;
mod deferred;
mod described;
mod detection;
mod dialect_writer;
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
mod index_runs;
mod inspect;
mod interactions;
mod item;
mod kimi;
mod kimi_history;
mod kiro;
mod kiro_entries;
mod langchain;
mod langchain_calls;
mod log_habits;
mod loose_json;
mod mark;
pub mod media;
mod media_bytes;
mod message_lists;
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
mod pi_history;
mod provenance;
mod pydantic_ai;
mod qwen;
mod read_error;
mod reading;
mod refusals;
mod replies;
mod responses;
mod roo;
mod row;
mod rows;
mod sharegpt;
mod sharegpt_calls;
mod simple;
mod text_parts;
mod training;
mod tree;
mod unfold;
mod unread;
mod vscode_copilot;
mod vscode_patches;
mod written;
mod zed;

pub(crate) use answers::write_repeated;
pub use assemble::{along_branches, assemble};
pub use claude_code::{SUBAGENT_LOG, SUBAGENTS, SubagentNotes};
pub use described::{Description, DescriptionError, built_in, description_of, register};
pub use dialect_writer::{DialectWriter, Patch, Remaining, Written};
pub use failures::reports_failure;
pub use framing::{Framing, begins_damaged, detect_framing, framing_of_first};
pub use homes::{AGENTS, Agent, StartedMark, agent_named, agent_of, agent_writing, project};
pub use item::{Attached, Fit, Item};
pub use log_habits::{ChangeKind, HistoryChange, LogHabits, SizeFigures};
pub use mark::mark;
pub use new_session::{NewSession, SessionName};
pub use openhands::{event_advice, event_number};
pub use provenance::{iso_8601, models, record_model};
pub use read_error::{ReadError, UnknownDialect, refuse_to_write};
pub use reading::Reading;
pub(crate) use replies::reply_of;
pub use row::Row;
pub use rows::rows;
pub use text_parts::TextParts;
pub use unfold::{Unfolded, refusal, unfolded};
pub use vscode_patches::{Rebuilt, is_patch_log, rebuilt, rebuilt_around};

use std::sync::LazyLock;

use crate::json::{Text, Value};

use crate::transcript::{PairingRules, ProviderRules, Reread, ResultPlace, Turns};
use log_habits::NoHabits;

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

/// As [`dialect_named`], for a name that a user gave.
///
/// # Errors
/// No dialect has that name.
pub fn known_dialect(name: &str) -> Result<&'static dyn Dialect, UnknownDialect> {
    dialect_named(name).ok_or_else(|| UnknownDialect { name: name.to_owned() })
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
    /// What to do to cut a transcript of it all the same, if it is only read.
    pub unwritten: &'static str,
    /// What the program that writes it adds to the messages; nothing by default.
    pub log: &'static dyn LogHabits,
    /// Members without text for a model, besides those of every format: what only a screen shows, and copies of what was read.
    /// A long text in any other member of a message is counted as an estimate.
    pub known: &'static [&'static str],
    /// Whether what it reads of an item has every text of the item already, known and unknown.
    pub accounts: bool,
}

/// Results that name their calls by ids, right after those.
const BY_ID: PairingRules = PairingRules {
    results: ResultPlace::RightAfter,
    unique_ids: false,
    ids: true,
    developer: false,
    failures_need_text: false,
};

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
        unwritten: "write its messages with `role` and `content`",
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
        let may_be_read = !is_log || unread::is_like_message(item);
        let content = content.or_else(|| unread::body(item).filter(|_| may_be_read))?;
        Some(content.text().unwrap_or(Text::Json(content.raw())))
    }

    /// How well `item` fits, without the items around it. It names no other dialect: the best score decides.
    fn fit(&self, item: Value<'_>) -> Fit;

    /// Whether `item` fits as [`Fit::Marked`], which takes less time to find out.
    fn is_marked(&self, item: Value<'_>) -> bool {
        self.fit(item) == Fit::Marked
    }

    /// Whether the other keys of a record with an empty list of messages identify this dialect.
    fn fits_record(&self, _record: Value<'_>) -> bool {
        false
    }

    /// Whether `record` is a request in this dialect, although its messages are texts that any dialect has.
    fn fits_request(&self, _record: Value<'_>) -> bool {
        false
    }

    /// Refuses the items of a transcript that must not be read as they stand.
    ///
    /// # Errors
    /// What is wrong, and what to do.
    fn refuse(&self, _items: &[Value<'_>]) -> Result<(), ReadError> {
        Ok(())
    }

    /// What whoever cuts the items of a transcript should know of them.
    fn remark(&self, _items: &[Value<'_>]) -> Option<String> {
        None
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
