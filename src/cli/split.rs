//! `curtail split`: splits long transcripts into several that fit a token budget, for training.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;

use super::cut::{self, Job};
use super::cut_reporter::LineFile;
use super::input::{CutFlags, Global};
use super::options::{Choice, CountingOptions, PINS, Pin, TemplateOptions, Tokens, one_of, pins};
use crate::batch::{CutOutput, Opened};
use curtail_core::pipeline::{Chain, Splitting};
use curtail_core::processors::{Counting, Overlap, Split, SplitOverflow, TargetRule, WindowUnit};
use curtail_io::FileError;
use curtail_io::{Source, Targets};

/// Split long transcripts into windows that fit a token budget
///
/// Every message belongs to exactly one window, so every assistant message is a training target once. A window also repeats
/// its context: system messages, the user message that begins its turn, and the overlap. Tool calls and their results are
/// never separated.
///
/// A record becomes several records, and a row of a Parquet file several rows. A log or a document that does not fit becomes
/// several files: NAME.part-001.jsonl, NAME.part-002.jsonl.
#[derive(Debug, clap::Args)]
pub(super) struct SplitArgs {
    #[command(flatten)]
    options: SplitOptions,

    /// Write the source and the targets of each window to FILE, as JSON lines
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,

    #[command(flatten)]
    cutting: CutFlags,
}

impl SplitArgs {
    /// Runs the command.
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<ExitCode> {
        #[cfg(unix)]
        super::process::raise_file_limit();
        anyhow::ensure!(
            !self.cutting.output.as_new_session,
            "--as-new-session writes one session, and split several transcripts; cut with limit or window"
        );
        let SplitOptions { counting, template, .. } = &self.options;
        let reads = template.files(counting);
        let counting = template.counting(counting)?;
        let chain = Chain { splitting: Some(self.options.splitting(&counting)?), ..Chain::default() };
        let chain = self.cutting.with_repair(chain);
        let options = format!("{:?}", self.options);
        let map = self.map.clone();
        cut::run(&self.cutting, global, Job { chain, counting: Some(counting), options, map, reads, ..Job::default() })
    }
}

// The options of a split.

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
struct SplitOptions {
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
    counting: CountingOptions,

    #[command(flatten)]
    template: TemplateOptions,
}

/// A value of `--at`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SplitAt {
    Boundaries,
}

impl SplitOptions {
    /// The split that these options describe.
    fn splitting(&self, counting: &Counting) -> anyhow::Result<Splitting> {
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
        let (mark, id_key) = (self.mark.clone(), self.id_key.clone());
        Ok(Splitting { drop_untrained: self.drop_untrained, mark, id_key, ..Splitting::new(split) })
    }
}

/// Reads a value of `--overlap`.
fn overlap(text: &str) -> Result<Overlap, &'static str> {
    let wrong = "expected a number and a unit, such as 2turns, 3segments or 5messages";
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let count = text[..text.len() - unit.len()].parse().map_err(|_| wrong)?;
    let unit = match unit.trim_start().trim_end_matches('s') {
        "turn" => WindowUnit::Turns,
        "segment" => WindowUnit::Segments,
        "message" => WindowUnit::Messages,
        _ => return Err(wrong),
    };
    Ok(Overlap { count, unit })
}

// `--map`: a JSON line for each window that was written.

/// The file of `--map`.
pub(super) struct SplitMap {
    pub(super) file: LineFile,
    /// Lines, or rows of a table, of the current output that were written before the current block.
    lines: usize,
}

/// A line of the map.
#[derive(Serialize)]
struct MapLine<'e> {
    /// The file that contains the window; absent for standard output.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    /// The line of the output on which the window begins, from 1.
    output_line: usize,
    source: &'e str,
    line: usize,
    /// The place of the row in a table, whose number is the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    row_group: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<usize>,
    window: usize,
    windows: usize,
    pinned: Vec<[usize; 2]>,
    context: Vec<[usize; 2]>,
    own: Vec<[usize; 2]>,
    targets: &'e [usize],
    messages: usize,
    tokens: usize,
}

impl SplitMap {
    /// Opens the map at `path`.
    ///
    /// # Errors
    /// As [`LineFile::open`].
    pub(super) fn open(path: &Path, flags: &CutFlags, sources: &[Source]) -> Result<Self, FileError> {
        LineFile::open(path, flags, sources).map(|file| Self { file, lines: 0 })
    }

    /// Begins an input.
    pub(super) fn begin(&mut self) {
        self.file.begin();
        self.lines = 0;
    }

    /// Writes the lines of a block of `opened`.
    pub(super) fn add(&mut self, opened: &Opened, output: &CutOutput, targets: &Targets) -> Result<(), FileError> {
        let mut text = Vec::new();
        for window in &output.windows {
            let part = output.parts.then_some(window.number).filter(|_| !targets.is_in_place());
            let path = targets.path_of_part(&opened.source, part);
            let entry = MapLine {
                output: path.map(|path| path.to_string_lossy().into_owned()),
                output_line: if output.parts { 1 } else { self.lines + window.output_line },
                source: &opened.source.name,
                line: window.line,
                row_group: window.row.map(|row| row.group.number()),
                row: window.row.map(|row| row.row),
                window: window.number,
                windows: window.count,
                pinned: bounds(&window.pinned),
                context: bounds(&window.context),
                own: bounds(&window.own),
                targets: &window.targets,
                messages: window.messages,
                tokens: window.tokens,
            };
            // Strings and numbers cannot fail to be written as JSON.
            text.extend(serde_json::to_vec(&entry).unwrap_or_default());
            text.push(b'\n');
        }
        self.lines += match opened.table {
            Some(_) => output.row_count,
            None => memchr::memchr_iter(b'\n', &output.output()).count(),
        };
        self.file.add(&text)
    }
}

fn bounds(ranges: &[Range<usize>]) -> Vec<[usize; 2]> {
    ranges.iter().map(|range| [range.start, range.end]).collect()
}
