//! Why a processor cannot decide about a transcript.

use std::error::Error;
use std::fmt;

use crate::counting::{REFUSED, TemplateError, token_count};

/// Why a processor cannot decide about a transcript; the message reads after the transcript's place.
#[derive(Debug)]
pub enum ProcessorError {
    /// The part that is always kept needs more tokens than the budget.
    BudgetBelowFixed {
        /// Tokens of the preamble, the reserve and the preserved messages.
        needed: usize,
        /// The smallest budget that also keeps what a person asked last; `None` unless [`Overflow::Error`](super::Overflow::Error)
        /// is set.
        enough: Option<usize>,
        /// The budget in tokens.
        budget: usize,
        /// Whether system and developer messages are among them.
        preserve_system: bool,
        /// Whether the first user message is among them.
        first_user: bool,
    },
    /// The newest segment needs more tokens than the budget, and [`Overflow::Error`](super::Overflow::Error) is set.
    SegmentTooLarge {
        /// The smallest budget that keeps both.
        needed: usize,
        /// The budget in tokens.
        budget: usize,
        /// Tokens of these that are left for the reply.
        reserve: usize,
    },
    /// What a person asked last does not fit, and [`Overflow::Error`](super::Overflow::Error) is set.
    QuestionTooLarge {
        /// The smallest budget that keeps it.
        needed: usize,
        /// The budget in tokens.
        budget: usize,
        /// Tokens of these that are left for the reply.
        reserve: usize,
    },
    /// All messages would be dropped, and no option names them.
    Emptied {
        /// Which stage drops them.
        stage: String,
        /// Their number.
        count: usize,
    },
    /// The messages that every window of a split repeats need more tokens than the budget.
    PinsTooLarge {
        /// Tokens of these messages, the preamble and the reserve.
        needed: usize,
        /// The budget in tokens.
        budget: usize,
    },
    /// A segment fits into no window of a split.
    WindowTooSmall {
        /// Which messages, and the budget.
        what: String,
    },
    /// The chat template refuses the transcript.
    Template(TemplateError),
    /// An error of a processor that is defined elsewhere.
    Other(Box<dyn Error + Send + Sync>),
}

impl fmt::Display for ProcessorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BudgetBelowFixed { needed, enough, budget, preserve_system, first_user } => {
                let (system, advice) =
                    if *preserve_system { (", system messages", " or pass --no-preserve-system") } else { ("", "") };
                let task = if *first_user { ", first user message" } else { "" };
                let enough = enough.map_or_else(String::new, |enough| format!(" to {enough}"));
                write!(
                    f,
                    "the fixed part (preamble, reserve, boundaries, calls that wait for an answer{system}{task}) needs {}, more than the budget of {budget}; \
                     raise --max-tokens{enough}{advice}",
                    token_count(*needed)
                )
            }
            Self::SegmentTooLarge { needed, budget, reserve } => write!(
                f,
                "the newest segment and the fixed part need {}{}, more than the budget of {budget}; raise --max-tokens or \
                 choose another --on-overflow",
                token_count(*needed),
                including(*reserve)
            ),
            Self::QuestionTooLarge { needed, budget, reserve } => write!(
                f,
                "the last message that a person wrote would be dropped: it needs {} with what belongs to it{}, more than the \
                 budget of {budget}; raise --max-tokens or choose another --on-overflow",
                token_count(*needed),
                including(*reserve)
            ),
            Self::Emptied { stage, count } => write_emptied(f, stage, *count),
            Self::PinsTooLarge { needed, budget } => write!(
                f,
                "the part that every window repeats (preamble, reserve, pinned messages) needs {}, more than the \
                 budget of {budget}; raise --max-tokens or pin less (--pin)",
                token_count(*needed)
            ),
            Self::WindowTooSmall { what } => {
                write!(f, "{what}; raise --max-tokens or choose another --on-overflow")
            }
            Self::Template(error) => write!(f, "{REFUSED}: {error}"),
            Self::Other(error) => error.fmt(f),
        }
    }
}

/// That the tokens before it include a reserve, if there is one.
fn including(reserve: usize) -> String {
    if reserve == 0 { String::new() } else { format!(" and the reserve of {reserve}") }
}

fn write_emptied(f: &mut fmt::Formatter<'_>, stage: &str, count: usize) -> fmt::Result {
    let all = if count == 1 { String::from("the only message") } else { format!("all of {count} messages") };
    write!(f, "{stage} would drop {all}; keep more, or name what to drop, as in `filter -x '*'`")
}

impl Error for ProcessorError {}

impl From<TemplateError> for ProcessorError {
    fn from(error: TemplateError) -> Self {
        Self::Template(error)
    }
}
