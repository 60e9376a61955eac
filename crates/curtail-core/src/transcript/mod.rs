//! What every dialect becomes: messages with a role and parts, their pairs, segments and turns.
//!
//! A transcript is its bytes: slots with the separators before them. Dialects read the items; this layer has only the keys
//! of blocks that formats share (cleared results, reasoning, unknown parts). It marks which messages a model still reads, and
//! changes no byte.

mod alternation;
mod awaiting;
mod cleared;
mod divisions;
mod draft;
mod faults;
mod layout;
mod marking;
mod message;
mod open_calls;
mod outline;
mod own_blocks;
mod pairing;
mod part;
mod reasoning;
mod record_links;
mod requirements;
mod signature_checks;
mod subject;
mod tool_parts;
mod unread;
mod usage;

pub use alternation::same_side;
pub(crate) use cleared::SIGNATURES;
pub use cleared::without_arguments;
pub use divisions::{
    behind_boundary, first_prompt, front, in_flight, joints, joints_and_end, main_thread, open_questions, prompts,
    reach, segments, settled, turn_starts, turns, whole_segments,
};
pub use draft::{Draft, DraftId, DraftPart, DraftResult, Links};
pub use faults::{Fault, FaultKind, Placement, last_rounds};
pub use layout::{Answers, FormatRules, Layout, Reread, Slot, SlotKind, Strangers, Style, Transcript};
pub use marking::{bind_split_replies, supersede};
pub use message::{
    Anchor, Binding, CallRules, Closes, Message, MessageKind, MessageSource, Origin, PartRef, ReplyKey, Role, Standing,
};
pub use outline::{Outline, OutlineItem, OutlineKind, OutlineMessage, OutlinePart};
pub use own_blocks::{blocks_in_text, is_own_block, marked, own_blocks};
pub use pairing::{Mismatch, Pairs};
pub use part::{Content, Estimated, FurtherPlaces, Leader, Part, PartOrigin, PartPlace, Rewrite, Substitution};
pub use reasoning::{
    BESIDE_CALLS, RequiredReasoning, ThinkingAlone, calls_without_reasoning, emptied_thoughts, items_without_reasoning,
    loose_reasoning, messages_without_reasoning, replies_of_thinking_alone, stored_reasoning, thoughts_not_first,
    unsigned_calls, unsigned_thoughts,
};
pub(crate) use record_links::{LinkedRecord, Name, RecordLinks, Side};
pub use requirements::{ContextPlace, PairingRules, ProviderRules, ResultPlace, Turns};
pub use signature_checks::checks_prefix;
pub use subject::{Subject, beginning, writer_named};
pub use tool_parts::{ArgumentFault, Family, ToolCall, ToolResult};
pub use unread::{NonMessage, Unknown, Unread};
pub use usage::Usage;
