//! Commands for texts in memory, which modules for other languages call in their own process: flags in, a command out, which
//! reads a text and returns what becomes of it. It opens no input, writes no output and starts no thread.

mod answer;
mod texts;

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context as _, bail, ensure};
use clap::ArgMatches;

use super::{Cli, Command as Given, command, corrections, parse, parse_one};
use crate::cutting::{Cuts, Job};
use crate::options::effects::given;
use crate::options::input::Input;
use crate::options::verify::VerifyOptions;
use crate::process;
use crate::reports::verify::document;
use crate::works::check::Checking;
use crate::works::copies::DropRecords;
use crate::works::verify::Verifying;
use crate::works::whole_file::WholeFile;
use curtail_core::dialects::Framing;
use curtail_core::pipeline::TextCutter;
use curtail_core::processors::Counting;
use curtail_io::batch::{Damage, InputOptions};

pub use answer::{Answer, Failure};
pub use texts::{Reader, Texts};

/// The name of a text in messages.
const NAME: &str = "record";

/// Names the program, which renders chat templates in a process of its own. The first name stays.
pub fn set_program(path: PathBuf) {
    process::set_program(path);
}

/// Whether the command `name` has the flag `--flag`.
#[must_use]
pub fn has_flag(name: &str, flag: &str) -> bool {
    let known = super::flags_of(name);
    known.is_some_and(|command| command.get_arguments().any(|known| known.get_long() == Some(flag)))
}

/// A command with its flags.
pub struct Command {
    kind: Kind,
    input: InputOptions,
    /// What there is to say about the flags, and about how tokens are counted.
    pub remarks: Vec<String>,
}

enum Kind {
    Cut(Box<CutTexts>),
    Check(Box<Checking>),
    Count(Box<TextCutter>),
    Verify(Box<(Verifying, VerifyOptions)>),
}

struct CutTexts {
    cutter: TextCutter,
    drops: Option<DropRecords>,
    verifies: Option<Checking>,
    damage: Damage,
}

impl CutTexts {
    fn new(job: Job, explain: bool) -> Self {
        let Job { chain, counting, drops, verifies, damage, .. } = job;
        let counting = counting.filter(|_| explain).map(|counting| Counting { reserve: 0, ..counting });
        Self {
            cutter: TextCutter { chain, explain, counting },
            drops: drops.map(|checking| DropRecords { checking, keeps_records: false, reports: false }),
            verifies,
            damage,
        }
    }
}

/// What a command does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    /// It cuts: one transcript becomes one.
    Cut,
    /// It cuts: one transcript becomes several, or none.
    Split,
    /// It finds what is wrong.
    Check,
    /// It counts tokens.
    Count,
    /// It compares two transcripts.
    Verify,
}

impl Does {
    /// Its name in other languages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cut => "cut",
            Self::Split => "split",
            Self::Check => "check",
            Self::Count => "count",
            Self::Verify => "verify",
        }
    }
}

impl Command {
    /// Reads a command line, without the name of the program. With `explain`, decisions are explained and tokens counted.
    ///
    /// # Errors
    /// What is wrong with it, or why the command cannot be used for texts in memory.
    pub fn parse(words: &[String], explain: bool) -> Result<Self, String> {
        let program = std::iter::once(OsString::from("curtail"));
        let given: Vec<OsString> = program.chain(words.iter().map(OsString::from)).collect();
        let Cli { command, remark, flags, .. } =
            parse_one(&given).map_or_else(|| parse(&given), Ok).map_err(|error| refusal(error, words))?;
        let mut parsed = Self::of(&command, &flags, explain).map_err(|error| format!("{error:#}"))?;
        parsed.remarks.extend(remark);
        Ok(parsed)
    }

    fn of(command: &Given, flags: &ArgMatches, explain: bool) -> anyhow::Result<Self> {
        let mut remarks = Vec::new();
        let (kind, input) = match command {
            Given::Check(args) => {
                let (checking, input) = args.of_texts()?;
                (Kind::Check(Box::new(checking)), input)
            }
            Given::Count(args) => {
                let (counting, input) = args.of_texts()?;
                let cutter = TextCutter { counting: Some(counting), ..TextCutter::default() };
                (Kind::Count(Box::new(cutter)), input)
            }
            Given::Verify(args) => {
                let (verifying, options, input) = args.of_texts()?;
                (Kind::Verify(Box::new((verifying, options))), input)
            }
            _ => {
                let cuts = cuts_of(command).context("this command cuts no values; run the program itself")?;
                let job = cuts.job()?;
                remarks.extend(job.counting.as_ref().and_then(|counting| counting.tokenizer.remark()));
                (Kind::Cut(Box::new(CutTexts::new(job, explain))), &cuts.flags().input)
            }
        };
        refuse_files(command, flags, input)?;
        Ok(Self { kind, input: input.prepare()?, remarks })
    }

    /// What it does.
    #[must_use]
    pub fn does(&self) -> Does {
        match &self.kind {
            Kind::Cut(cut) if cut.cutter.chain.splitting.is_some() => Does::Split,
            Kind::Cut(_) => Does::Cut,
            Kind::Check(_) => Does::Check,
            Kind::Count(_) => Does::Count,
            Kind::Verify(_) => Does::Verify,
        }
    }

    /// Whether texts must be cut one after another: whether one is dropped depends on those before it.
    #[must_use]
    pub fn is_ordered(&self) -> bool {
        matches!(&self.kind, Kind::Cut(cut) if cut.drops.is_some())
    }

    /// Compares two transcripts; the second one may be a text. Returns the report as JSON.
    ///
    /// # Errors
    /// One of them cannot be read, or the command is another.
    pub fn verify(&self, before: String, after: String) -> Result<String, Failure> {
        let Kind::Verify(verify) = &self.kind else { return Err(Failure::new("the command is not `verify`")) };
        let (verifying, options) = &**verify;
        let before = WholeFile::in_memory("before", before, &self.input)?;
        let after = WholeFile::in_memory("after", after, &self.input)?;
        Ok(document(&verifying.pair(&before, &after)?, options))
    }
}

/// A command that cuts; `None` for any other.
fn cuts_of(command: &Given) -> Option<&dyn Cuts> {
    Some(match command {
        Given::Window(args) => args,
        Given::Filter(args) => &**args,
        Given::Limit(args) => args,
        Given::Split(args) => &**args,
        Given::Repair(args) => args,
        Given::Run(args) => args,
        Given::Summarize(args) => &**args,
        _ => return None,
    })
}

/// Why a command line is refused, without usage.
fn refusal(error: clap::Error, words: &[String]) -> String {
    let all = command();
    let error = corrections::corrected(error, corrections::subcommand(&all, words), words);
    let text = error.to_string();
    let said = ["\n\nUsage:", "\n\nFor more information"]
        .iter()
        .fold(text.as_str(), |text, end| text.split(end).next().unwrap_or(text));
    said.trim().trim_start_matches("error: ").to_owned()
}

/// Flags that find inputs.
const FINDING: &[&str] = &["glob", "exclude-path", "no-ignore", "hidden", "column", "stdin-filename"];

/// Flags of the output of a cut, and of its report.
const OUTPUT: &[&str] = &[
    "output", "output-dir", "in-place", "as-new-session", "follow-links", "force", "resume", "no-sync", "rejects",
    "on-error", "explain", "dry-run", "stats", "fail-on-change",
];

/// Flags of the report of a check, and of its exit status.
const FINDINGS: &[&str] =
    &["output-format", "max-findings", "statistics", "baseline", "write-baseline", "exit-zero", "allow-empty"];

/// Flags that print something else than the number of tokens.
const COUNTS: &[&str] = &["by", "top", "usage", "output-format"];

/// Flags that print something else than the report of one comparison.
const COMPARISONS: &[&str] = &["all", "give-back"];

/// Refuses flags that find inputs, write outputs or report, where values are read and returned.
fn refuse_files(command: &Given, flags: &ArgMatches, input: &Input) -> anyhow::Result<()> {
    ensure!(input.paths.is_empty(), "values are read, and no files: pass no PATH");
    ensure!(
        input.framing.0.is_none_or(|framing| framing == Framing::Records),
        "--framing: a value is one record; to cut a log or a document, pass its framing to `whole`"
    );
    let (others, reason) = match command {
        Given::Check(_) => (FINDINGS, "the findings are values; pass no flag of a report"),
        Given::Count(_) => (COUNTS, "the number is a value; run the program itself for a report"),
        Given::Verify(_) => (COMPARISONS, "the report is a value; run the program itself for a text"),
        _ => (OUTPUT, "the result is a value; pass no output flag and none of a report"),
    };
    let origins = (&["map"][..], "the windows are values; pass no file for their origins");
    let refused = [(FINDING, "values are read, and no files"), (others, reason), origins];
    match refused.iter().find_map(|(names, reason)| Some((given(flags, names)?, reason))) {
        Some((flag, reason)) => bail!("--{flag}: {reason}"),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::Command;

    /// Which would run a file of the working directory, if it is an interpreter.
    #[test]
    fn the_process_itself_renders_no_template() {
        let template = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/templates/chat_template.jinja");
        let words = ["limit", "-t", "9", "--template", template].map(str::to_owned);
        let refusal = Command::parse(&words, false).err().unwrap_or_default();
        assert!(refusal.contains("CURTAIL_PROGRAM can name it"), "{refusal}");
    }

    #[test]
    fn flags_without_effect_on_values_are_refused() {
        for line in [
            "split -t 9 --map=map.jsonl",
            "limit -t 9 --output=out.jsonl",
            "limit -t 9 --hidden",
            "check --no-config --baseline=known.json",
            "check --no-config --max-findings=1",
            "count --output-format=csv",
            "verify --output-format=html",
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let flag = words.last().and_then(|word| word.split('=').next()).unwrap_or_default();
            let refusal = Command::parse(&words, false).err().unwrap_or_default();
            assert!(refusal.contains(flag), "{line}: {refusal}");
            assert!(Command::parse(&words[..words.len() - 1], false).is_ok(), "{line} without {flag}");
        }
    }
}
