//! Cuts transcripts of language models to size without breaking their tool calls.
//!
//! A [`Cutter`] is built from policies and cuts texts or values in any of the formats that [`dialects::ALL`] lists. It detects
//! the format, and how the transcripts are laid out in the text. What it keeps, it keeps byte for byte, and it parts no call from
//! its result: both are kept, or both are dropped.
//!
//! ```
//! use curtail_core::{Approximate, Cutter, LimitPolicy, PartKind, Source, WindowPolicy, check};
//!
//! let chat = concat!(
//!     "{\"role\":\"system\",\"content\":\"Answer in one sentence.\"}\n",
//!     "{\"role\":\"user\",\"content\":\"When does the first train leave?\"}\n",
//!     "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"1\",\"type\":\"function\",\"function\":{\"name\":\"timetable\",\"arguments\":\"{}\"}}]}\n",
//!     "{\"role\":\"tool\",\"tool_call_id\":\"1\",\"content\":\"05:12\"}\n",
//!     "{\"role\":\"assistant\",\"content\":\"At 05:12.\"}\n",
//!     "{\"role\":\"user\",\"content\":\"And the last one?\"}\n",
//! );
//!
//! // Read: messages, parts and pairs.
//! let source = Source::parse(chat)?;
//! let transcripts = source.transcripts()?;
//! let parts = transcripts[0].messages().flat_map(|message| message.parts());
//! let call = parts.into_iter().find(|part| part.kind() == PartKind::ToolCall).expect("a call");
//! assert_eq!(call.counterpart().map(|result| result.text().into_owned()).as_deref(), Some("05:12"));
//!
//! // Cut: instructions and the newest messages stay, pairs stay whole.
//! let cutter = Cutter::builder()
//!     .window(WindowPolicy::last(3).sliding())
//!     .limit(LimitPolicy::tokens(1_000))
//!     .tokenizer(Approximate::default())
//!     .build()?;
//! let mut shorter = Vec::new();
//! let report = cutter.write(chat, &mut shorter)?;
//! assert_eq!((report.messages_before, report.messages_after), (6, 3));
//! assert_eq!(report.explanations[2].to_string(), "message 2 (model, tool call of \"timetable\"): dropped: no place in a window of 3 items");
//!
//! // Check: what a provider would refuse.
//! assert!(check(std::str::from_utf8(&shorter)?).is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Values go in and out as well ([`Cutter::cut_values`]), and a [`Policy`] of your own sees every dialect alike. Nothing here
//! opens a file, and nothing changes how the process behaves: there are no hooks.
//!
//! # Two layers
//!
//! The items of this page are what most users need. The modules below are what they and the program `curtail` are made of: read a
//! transcript with [`dialects`] and [`transcript`], decide with [`processors`], write with [`edit`] and [`pipeline`], and say what
//! is wrong with [`checks`]. All of it is public on purpose, and all of it may change in each 0.x release.

#![forbid(unsafe_code)]

pub mod calendar;
pub mod checks;
pub mod counting;
pub mod dialects;
pub mod diff;
pub mod digest;
mod drafting;
pub mod edit;
pub mod explain;
pub mod figures;
pub mod globs;
pub mod json;
mod library;
pub mod numbers;
mod patches;
pub mod pipeline;
pub mod places;
pub mod processors;
pub mod secrets;
pub mod small;
pub mod steps;
pub mod suggest;
pub mod system_error;
pub mod temporary;
pub mod transcript;
pub mod visible;

pub use checks::{Finding, FindingPlace, Level, Rule};
pub use counting::{Approximate, Tokenizer};
pub use dialects::Framing;
pub use library::{
    Action, Checker, CheckerBuilder, Cutter, CutterBuilder, Error, Explanation, LimitPolicy, MessageView, PartEdit,
    PartKind, PartView, Place, Policy, Report, Source, ToolPolicy, TranscriptView, WindowPolicy, check,
};
pub use processors::{Overflow, RepairMode, StripKind, WindowUnit};
pub use transcript::Role;
