//! Commands for texts in memory, which modules for other languages call in their own process: flags in, a command out, which
//! reads a text and returns what becomes of it. It opens no input, writes no output and starts no thread.

mod answer;
mod texts;

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{bail, ensure};

use super::{Cli, Command as Given, command, corrections, parse, parse_one};
use crate::cutting::{Cuts, Job};
use crate::options::cut::CutFlags;
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
use curtail_io::batch::{Damage, InputOptions, OnError};

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
        let Cli { command, remark, .. } =
            parse_one(&given).map_or_else(|| parse(&given), Ok).map_err(|error| refusal(error, words))?;
        let mut parsed = Self::of(&command, explain).map_err(|error| format!("{error:#}"))?;
        parsed.remarks.extend(remark);
        Ok(parsed)
    }

    fn of(command: &Given, explain: bool) -> anyhow::Result<Self> {
        let cuts: &dyn Cuts = match command {
            Given::Window(args) => args,
            Given::Filter(args) => &**args,
            Given::Limit(args) => args,
            Given::Split(args) => &**args,
            Given::Repair(args) => args,
            Given::Run(args) => args,
            Given::Summarize(args) => &**args,
            Given::Check(args) => {
                let (checking, input) = args.of_texts()?;
                return Self::new(Kind::Check(Box::new(checking)), input);
            }
            Given::Count(args) => {
                let (counting, input) = args.of_texts()?;
                let cutter = TextCutter { counting: Some(counting), ..TextCutter::default() };
                return Self::new(Kind::Count(Box::new(cutter)), input);
            }
            Given::Verify(args) => {
                let (verifying, options, input) = args.of_texts()?;
                return Self::new(Kind::Verify(Box::new((verifying, options))), input);
            }
            _ => bail!("this command cuts no values; run the program itself"),
        };
        let flags = cuts.flags();
        refuse_output(flags)?;
        let job = cuts.job()?;
        ensure!(job.map.is_none(), "--map: the windows are values; pass no file for their origins");
        let remark = job.counting.as_ref().and_then(|counting| counting.tokenizer.remark());
        let mut new = Self::new(Kind::Cut(Box::new(CutTexts::new(job, explain))), &flags.input)?;
        new.remarks.extend(remark);
        Ok(new)
    }

    fn new(kind: Kind, input: &Input) -> anyhow::Result<Self> {
        refuse_files(input)?;
        Ok(Self { kind, input: input.prepare()?, remarks: Vec::new() })
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

fn refuse_files(input: &Input) -> anyhow::Result<()> {
    ensure!(input.paths.is_empty(), "values are read, and no files: pass no PATH");
    ensure!(
        input.framing.0.is_none_or(|framing| framing == Framing::Records),
        "--framing: a value is one record; to cut a log or a document, pass its framing to `whole`"
    );
    let given = [
        ("--glob", !input.glob.is_empty()),
        ("--exclude-path", !input.exclude_path.is_empty()),
        ("--no-ignore", input.no_ignore),
        ("--hidden", input.hidden),
        ("--column", input.column.is_some()),
        ("--stdin-filename", input.stdin_filename.is_some()),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((flag, _)) => bail!("values are read, and no files: pass no {flag}"),
        None => Ok(()),
    }
}

fn refuse_output(flags: &CutFlags) -> anyhow::Result<()> {
    let output = &flags.output;
    let given = [
        ("--output", output.output.is_some()),
        ("--output-dir", output.output_dir.is_some()),
        ("--in-place", output.in_place.is_some()),
        ("--as-new-session", output.as_new_session),
        ("--follow-links", output.follow_links),
        ("--force", output.force),
        ("--resume", output.resume.is_some()),
        ("--no-sync", output.no_sync),
        ("--rejects", output.rejects.is_some()),
        ("--on-error", output.on_error != OnError::Fail),
        ("--explain", flags.explain.is_some()),
        ("--dry-run", flags.dry_run),
        ("--stats", flags.stats.is_some()),
        ("--fail-on-change", flags.fail_on_change),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((flag, _)) => bail!("{flag}: the result is a value; pass no output flag and none of a report"),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::Command;

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
