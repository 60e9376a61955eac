//! The options of `split`, which splits long transcripts into windows that fit a token budget.

use crate::options::choices::{Choice, one_of};
use crate::options::counting::{CountingOptions, TemplateOptions};
use crate::options::numbers::Tokens;
use crate::options::pins::{PINS, Pin, pins};
use curtail_core::pipeline::Splitting;
use curtail_core::processors::{Counting, Overlap, Split, SplitOverflow, TargetRule, WindowUnit};

/// The values of `--at`.
const PLACES: &[Choice<SplitAt>] =
    &[Choice::new("boundaries", SplitAt::Boundaries, "Where the log itself was compacted; -t may be left out")];

/// The values of `--targets`.
const TARGETS: &[Choice<TargetRule>] = &[
    Choice::new("all", TargetRule::All, "Every assistant message that the window owns"),
    Choice::new("last-turn", TargetRule::LastTurn, "Those of its last turn; each turn gets a window of its own"),
];

/// The values of `--on-overflow`.
const OVERFLOWS: &[Choice<SplitOverflow>] = &[
    Choice::new("error", SplitOverflow::Error, "Report an error"),
    Choice::new("truncate", SplitOverflow::Truncate, "Give it a window of its own, and cut its texts in the middle"),
    Choice::new("keep", SplitOverflow::Keep, "Give it a window of its own that is too long, with a warning"),
];

/// Split transcripts into windows that fit a token budget
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct SplitOptions {
    /// Token budget of a window; `k` and `m` mean thousands and millions
    #[arg(short = 't', long, value_name = "N", required_unless_present = "at")]
    max_tokens: Option<Tokens>,

    /// Repeat what comes before each window: 2turns, 3segments or 5messages
    ///
    /// Default: nothing, or with `--targets last-turn` as many turns as fit. Where not all of it fits, less is repeated.
    #[arg(long, value_name = "COUNT", value_parser = overlap)]
    overlap: Option<Overlap>,

    /// Messages to repeat in every window
    #[arg(long, value_parser = one_of(PINS), value_delimiter = ',', value_name = "WHICH", default_value = "system")]
    pin: Vec<Pin>,

    /// Begin a window at these places, whatever fits
    #[arg(long, value_parser = one_of(PLACES), value_name = "WHERE", hide_short_help = true)]
    at: Option<SplitAt>,

    /// Which assistant messages are a window's targets
    #[arg(long, value_parser = one_of(TARGETS), value_name = "WHICH", default_value = "all")]
    targets: TargetRule,

    /// Leave out windows without a target, and records without any
    #[arg(long, hide_short_help = true)]
    drop_untrained: bool,

    /// How to handle a message that fits into no window
    #[arg(long, value_parser = one_of(OVERFLOWS), value_name = "HOW", default_value = "error")]
    on_overflow: SplitOverflow,

    /// Write the numbers of the targets into each record, under KEY
    ///
    /// All other bytes of the record stay as they are.
    #[arg(long, value_name = "KEY")]
    mark: Option<String>,

    /// Append `#1`, `#2` and so on to the id of each record, a string under KEY (keys joined by dots)
    #[arg(long, value_name = "KEY", hide_short_help = true)]
    id_key: Option<String>,

    #[command(flatten)]
    pub(crate) counting: CountingOptions,

    #[command(flatten)]
    pub(crate) template: TemplateOptions,
}

/// A value of `--at`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SplitAt {
    Boundaries,
}

impl SplitOptions {
    /// The split that these options describe.
    pub(crate) fn splitting(&self, counting: &Counting) -> anyhow::Result<Splitting> {
        let pins = pins(&self.pin)?;
        self.max_tokens.map_or(Ok(()), |budget| self.counting.check_reserve(budget))?;
        let last_turn = self.targets == TargetRule::LastTurn;
        let overlap = self.overlap.unwrap_or(if last_turn { Overlap::ALL } else { Overlap::NONE });
        let split = Split {
            overlap,
            pins,
            at_boundaries: self.at == Some(SplitAt::Boundaries),
            targets: self.targets,
            on_overflow: self.on_overflow,
            ..Split::new(self.max_tokens.map_or(usize::MAX, |tokens| tokens.0), counting.clone())
        };
        let mark = self.mark.clone();
        let id_key = self.id_key.clone();
        Ok(Splitting { drop_untrained: self.drop_untrained, mark, id_key, ..Splitting::new(split) })
    }
}

/// Reads a value of `--overlap`.
fn overlap(text: &str) -> Result<Overlap, &'static str> {
    let wrong = "expected a number and a unit, such as 2turns, 3segments or 5messages";
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let count = text[..text.len() - unit.len()].parse().map_err(|_| wrong)?;
    let unit = match unit.trim_start() {
        "turn" | "turns" => WindowUnit::Turns,
        "segment" | "segments" => WindowUnit::Segments,
        "message" | "messages" => WindowUnit::Messages,
        _ => return Err(wrong),
    };
    Ok(Overlap { count, unit })
}
