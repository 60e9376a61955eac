//! The flags of every command that cuts: what is read and repaired, where the output is written, and what is reported.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser as _};

use crate::options::choices::{Choice, TextOrJson, explain_format, one_of, text_or_json};
use crate::options::files::{is_standard, refuse_standard, written_path};
use crate::options::input::Input;
use crate::options::repair::{REPAIR_MODES, repairs};
use curtail_core::dialects::Framing;
use curtail_core::figures::StaleFigures;
use curtail_core::pipeline::Chain;
use curtail_core::processors::{Live, RepairMode, Thinking};
use curtail_io::batch::OnError;
use curtail_io::{Destination, ErrorKind, FileError, Manifest};
use curtail_memory::rolling::Shown;

/// The values of `--on-error`.
const ERROR_POLICIES: &[Choice<OnError>] = &[
    Choice::new("fail", OnError::Fail, "Stop reading the file, write no output for it, and exit with status 2"),
    Choice::new("skip", OnError::Skip, "Drop the record, with a warning"),
    Choice::new("keep", OnError::Keep, "Keep the record unchanged, with a warning"),
    Choice::new(
        "report",
        OnError::Report,
        "Write `!` and the reason as JSON in place of the record (pipes of records)",
    ),
];

/// The values of `--thinking`.
const THINKING: &[Choice<Thinking>] = &[
    Choice::new("auto", Thinking::Auto, "Drop what the model would reject"),
    Choice::new("keep", Thinking::Keep, "Keep all"),
    Choice::new("drop", Thinking::Drop, "Drop all after the first change"),
];

/// The values of `--usage`.
const USAGE: &[Choice<StaleFigures>] = &[
    Choice::new("reset", StaleFigures::Reset, "Set them to 0, where the agent reads them back"),
    Choice::new("keep", StaleFigures::Keep, "Keep all"),
];

// The flags of every command that cuts.
#[derive(Debug, Clone, Args)]
pub(crate) struct CutFlags {
    #[command(flatten)]
    pub(crate) input: Input,

    /// Repair broken pairs before the cut
    #[arg(long, value_parser = one_of(REPAIR_MODES), value_name = "HOW", help_heading = "Repair")]
    pub(crate) repair: Option<RepairMode>,

    /// Also repair calls that are pending at the end
    #[arg(long, hide_short_help = true, help_heading = "Repair")]
    pub(crate) repair_pending: bool,

    /// How to treat signed reasoning after the first change; by default, drop what the model would reject
    ///
    /// Claude signs its reasoning. Newer models reject a signed block if anything before it was dropped, changed or inserted.
    /// `auto` drops these blocks if the transcript names such a model, and keeps them if it names another. If it names none,
    /// `auto` keeps them in datasets (a transcript per line) and in the in-flight round, and drops all others. Reasoning before
    /// the first change, and reasoning without a signature, is never touched.
    #[arg(
        long,
        value_parser = one_of(THINKING),
        value_name = "HOW",
        default_value = "auto",
        hide_short_help = true,
        help_heading = "Repair"
    )]
    pub(crate) thinking: Thinking,

    /// How to treat the token counts in a log that are wrong after the first change
    ///
    /// Agents take the last count in their log for the size of the conversation, and compact a copy that is much smaller before
    /// they answer. `reset` sets the counts after the first change to 0, and takes out lines with nothing else, in logs of agents
    /// that read them back; `keep` leaves all counts as they are.
    #[arg(
        long,
        value_parser = one_of(USAGE),
        value_name = "HOW",
        default_value = "reset",
        hide_short_help = true,
        help_heading = "Repair"
    )]
    pub(crate) usage: StaleFigures,

    #[command(flatten)]
    pub(crate) output: Output,

    /// Report every change and its reason on standard error
    #[arg(
        long,
        value_parser = explain_format(),
        value_name = "FORMAT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "text",
        help_heading = "Report"
    )]
    pub(crate) explain: Option<TextOrJson>,

    /// Write no transcript; report what would change on standard error
    #[arg(long, help_heading = "Report")]
    pub(crate) dry_run: bool,

    /// Report totals before and after, and the time
    #[arg(
        long,
        value_parser = text_or_json("A table", "One JSON object"),
        value_name = "FORMAT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "text",
        help_heading = "Report"
    )]
    pub(crate) stats: Option<TextOrJson>,

    /// Exit with status 1 if anything changed or would change
    #[arg(long, hide_short_help = true, help_heading = "Report")]
    pub(crate) fail_on_change: bool,
}

// Where the output is written.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Output {
    /// Write to FILE atomically; compress `.gz` and `.zst`
    #[arg(short, long, value_name = "FILE", group = "place")]
    pub(crate) output: Option<PathBuf>,

    /// Write each output below DIR, at its input's relative path
    #[arg(short = 'O', long, value_name = "DIR", value_parser = written_path(), group = "place")]
    pub(crate) output_dir: Option<PathBuf>,

    /// Replace inputs atomically; SUFFIX keeps a backup as NAME+SUFFIX
    #[arg(
        short,
        long,
        value_name = "SUFFIX",
        group = "place",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = ""
    )]
    pub(crate) in_place: Option<OsString>,

    /// Write a session of its own, with a new id, where its agent finds it (or to --output); print its path
    ///
    /// The command that resumes it is printed on standard error. No file is ever replaced, and the input is not changed.
    #[arg(long, conflicts_with_all = ["output_dir", "in_place", "resume", "force"], hide_short_help = true)]
    pub(crate) as_new_session: bool,

    /// With --in-place, also replace files that symbolic links in directories lead to
    #[arg(long, hide_short_help = true)]
    pub(crate) follow_links: bool,

    /// Overwrite existing outputs; existing backups are kept
    #[arg(long, hide_short_help = true)]
    pub(crate) force: bool,

    /// Skip inputs that an earlier run with the same options finished, as recorded in MANIFEST
    ///
    /// Without MANIFEST, the record is kept in the directory of --output-dir, or in the working directory with --in-place.
    #[arg(
        long,
        value_name = "MANIFEST",
        value_parser = OsStringValueParser::new().try_map(refuse_standard),
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        hide_short_help = true
    )]
    pub(crate) resume: Option<OsString>,

    /// Do not wait until outputs are on the disk; after a power failure, some may be empty or missing
    #[arg(long, hide_short_help = true)]
    pub(crate) no_sync: bool,

    /// How to handle records that fail
    #[arg(
        long,
        value_parser = one_of(ERROR_POLICIES),
        value_name = "WHAT",
        default_value = "fail",
        env = "CURTAIL_ON_ERROR",
        hide_short_help = true
    )]
    pub(crate) on_error: OnError,

    /// Write records that fail or are dropped to FILE with the reason, one JSON object per line
    #[arg(long, value_name = "FILE", value_parser = written_path(), hide_short_help = true)]
    pub(crate) rejects: Option<PathBuf>,
}

impl CutFlags {
    /// `chain`, preceded by the stages of `--live` and `--repair`: what a cut keeps depends on which pairs are complete.
    pub(crate) fn with_repair(&self, chain: Chain) -> Chain {
        let mut before = Chain::default();
        if self.input.live {
            before = before.then(Live);
        }
        if let Some(mode) = self.repair {
            before = before.at("", repairs(mode, self.repair_pending, None));
        }
        before.stages.extend(chain.stages);
        Chain { stages: before.stages, thinking: self.thinking, figures: self.usage, ..chain }
    }

    /// What a thread shows of its messages.
    pub(crate) const fn shown_context(&self) -> Shown {
        Shown::Context { thinking: self.thinking, figures: self.usage }
    }

    pub(crate) fn destination(&self) -> Destination {
        let output = &self.output;
        match (&output.output, &output.output_dir, &output.in_place) {
            // The writer of a new session finds its place when the cut is made.
            _ if self.dry_run || output.as_new_session => Destination::Nothing,
            (Some(file), ..) if is_standard(file) => Destination::Stdout,
            (Some(file), ..) => Destination::File(file.clone()),
            (_, Some(directory), _) => Destination::Directory(directory.clone()),
            (.., Some(suffix)) => Destination::InPlace(Some(suffix.clone()).filter(|suffix| !suffix.is_empty())),
            (None, None, None) => Destination::Stdout,
        }
    }

    /// A dry run that reports no totals explains its decisions.
    pub(crate) fn explain_format(&self) -> Option<TextOrJson> {
        self.explain.or((self.dry_run && self.stats.is_none()).then_some(TextOrJson::Text))
    }

    /// Refuses flags that name something else than the user meant.
    pub(crate) fn refuse_misread_words(&self) -> anyhow::Result<()> {
        self.refuse_detached_suffix()?;
        self.refuse_detached_record()?;
        self.refuse_reports_in_files()
    }

    /// Refuses `--on-error report` unless records come from standard input and answers go to standard output: it is for programs
    /// that await an answer for each record.
    fn refuse_reports_in_files(&self) -> anyhow::Result<()> {
        let pipe = self.input.paths.iter().all(|path| is_standard(path))
            && self.destination() == Destination::Stdout
            && self.input.framing.0 == Some(Framing::Records);
        anyhow::ensure!(
            self.output.on_error != OnError::Report || pipe,
            "--on-error report answers records in a pipe; pass --framing records, no PATH and no output flag"
        );
        Ok(())
    }

    /// Refuses `--resume RECORD`, where RECORD would be an input.
    fn refuse_detached_record(&self) -> Result<(), FileError> {
        if self.output.resume.as_ref().is_none_or(|record| !record.is_empty()) {
            return Ok(());
        }
        let mut paths = self.input.paths.iter();
        let Some(path) = paths.find(|path| Manifest::is_like_record(path)) else { return Ok(()) };
        let name = path.to_string_lossy();
        let reason = format!("not an input; to keep the record of --resume there, pass --resume={name}");
        Err(FileError::new(ErrorKind::Usage, name, reason))
    }

    /// Refuses `-i .bak FILE`, which is how BSD sed takes a suffix. Here `.bak` would be a missing input, and
    /// FILE would be replaced without a backup.
    fn refuse_detached_suffix(&self) -> Result<(), FileError> {
        let Output { in_place, resume, .. } = &self.output;
        let has_suffix = in_place.as_ref().is_some_and(|suffix| !suffix.is_empty());
        let names_record = resume.as_ref().is_some_and(|record| record.is_empty());
        if in_place.is_none() || has_suffix && names_record {
            return Ok(());
        }
        let mut paths = self.input.paths.iter();
        let Some(path) = paths.find(|path| curtail_io::is_like_suffix(path)) else { return Ok(()) };
        let suffix = path.to_string_lossy();
        let record = if names_record { format!("; to name the record, --resume={suffix}") } else { String::new() };
        let reason = match suffix.is_empty() {
            true => "an input has an empty name; pass -i alone to keep no backup".to_owned(),
            false => {
                format!("there is no such file, and nothing was replaced; to keep backups, pass -i={suffix}{record}")
            }
        };
        Err(FileError::new(ErrorKind::Usage, suffix, reason))
    }
}
