//! The options of a split.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use super::{Choice, CountingOptions, PINS, Pin, TemplateOptions, Tokens, one_of, pins};
use curtail_core::pipeline::Splitting;
use curtail_core::processors::{Counting, Overlap, Split, SplitOverflow, TargetRule, WindowUnit};

/// The values of `--at`.
const PLACES: &[Choice<Place>] =
    &[Choice::new("boundaries", Place::Boundaries, "Where the log itself was compacted; -t may be left out")];

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
#[derive(Debug, Clone, Args)]
pub(crate) struct SplitOptions {
    /// Token budget of a window; `k` and `m` mean thousands and millions
    #[arg(short = 't', long, value_name = "N", required_unless_present = "at")]
    max_tokens: Option<Tokens>,

    /// Repeat what comes before each window: 2turns, 3segments or 5messages
    ///
    /// Default: nothing, or with `--targets last-turn` as many turns as fit. Where not all of it fits, less is repeated.
    #[arg(long, value_name = "COUNT")]
    overlap: Option<OverlapFlag>,

    /// Messages to repeat in every window
    #[arg(long, value_parser = one_of(PINS), value_delimiter = ',', value_name = "WHICH", default_value = "system")]
    pin: Vec<Pin>,

    /// Begin a window at these places, whatever fits
    #[arg(long, value_parser = one_of(PLACES), value_name = "WHERE")]
    at: Option<Place>,

    /// Which assistant messages are a window's targets
    #[arg(long, value_parser = one_of(TARGETS), value_name = "WHICH", default_value = "all")]
    targets: TargetRule,

    /// Leave out windows without a target, and records without any
    #[arg(long)]
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
    #[arg(long, value_name = "KEY")]
    id_key: Option<String>,

    #[command(flatten)]
    counting: CountingOptions,

    #[command(flatten)]
    template: TemplateOptions,
}

/// A value of `--at`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Boundaries,
}

impl SplitOptions {
    /// The split that these options describe.
    ///
    /// # Errors
    /// As [`CountingOptions::counting`]; `none` beside another value of `--pin`.
    pub(crate) fn splitting(&self) -> anyhow::Result<Splitting> {
        let pins = pins(&self.pin)?;
        self.max_tokens.map_or(Ok(()), |budget| self.counting.check_reserve(budget))?;
        let all = self.targets == TargetRule::LastTurn;
        let overlap = self.overlap.map_or(if all { Overlap::ALL } else { Overlap::NONE }, |overlap| overlap.0);
        let split = Split {
            overlap,
            pins,
            at_boundaries: self.at == Some(Place::Boundaries),
            targets: self.targets,
            on_overflow: self.on_overflow,
            ..Split::new(self.max_tokens.map_or(usize::MAX, |tokens| tokens.0), self.counting()?)
        };
        let (mark, id_key) = (self.mark.clone(), self.id_key.clone());
        Ok(Splitting { drop_untrained: self.drop_untrained, mark, id_key, ..Splitting::new(split) })
    }

    /// How tokens are counted.
    ///
    /// # Errors
    /// As [`CountingOptions::counting`].
    pub(crate) fn counting(&self) -> anyhow::Result<Counting> {
        self.template.counting(&self.counting)
    }

    /// The files that decide what is counted.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        self.template.files(&self.counting)
    }
}

/// A value of `--overlap`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct OverlapFlag(Overlap);

impl fmt::Display for OverlapFlag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.0.count, self.0.unit)
    }
}

impl FromStr for OverlapFlag {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = "expected a number and a unit, such as 2turns, 3segments or 5messages";
        let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
        let count = text[..text.len() - unit.len()].parse().map_err(|_| wrong)?;
        let unit = match unit.trim_start().trim_end_matches('s') {
            "turn" => WindowUnit::Turns,
            "segment" => WindowUnit::Segments,
            "message" => WindowUnit::Messages,
            _ => return Err(wrong),
        };
        Ok(Self(Overlap { count, unit }))
    }
}
