//! Commands for texts in memory, which modules for other languages call in their own process: flags in, a command out, which
//! reads a text and returns what becomes of it. It opens no input, writes no output and starts no thread.

use std::collections::HashSet;
use std::ffi::OsString;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use anyhow::{bail, ensure};

use super::{Cli, Command as Given, command, corrections, parse, parse_one};
use crate::cutting::{Cuts, Job};
use crate::options::cut::CutFlags;
use crate::options::input::Input;
use crate::options::verify::VerifyOptions;
use crate::process;
use crate::reports::findings::{CheckOutcome, json_of};
use crate::reports::verify::document;
use crate::works::check::Checking;
use crate::works::copies::DropRecords;
use crate::works::verify::Verifying;
use crate::works::whole_file::WholeFile;
use curtail_core::dialects::{Dialect, Framing, ReadError, rebuilt_around};
use curtail_core::error::{INVALID_UTF8, Locator, TextPlace};
use curtail_core::pipeline::{Cut, TextCutter};
use curtail_core::processors::Counting;
use curtail_io::batch::{Damage, InputOptions, OnError, Opened, Rescued, Unit, reason_of};
use curtail_io::{FileError, too_long};

/// The name of a text in messages.
const NAME: &str = "record";

/// The most bytes of the first texts by which the dialect of all is detected.
const HEAD: usize = 512 * 1024;

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

/// Why a text was not cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The place in the text; `None` if it is no place in it.
    pub place: Option<TextPlace>,
    /// What is wrong.
    pub reason: String,
}

impl Failure {
    /// A failure without a place.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { place: None, reason: reason.into() }
    }

    /// The failure `error` of reading `text`.
    #[must_use]
    pub fn in_text(text: &[u8], error: ReadError) -> Self {
        let place = Locator::new(text, 1).place(error.offset);
        Self { place: Some(place), reason: reason_of(error, text, 1) }
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        Self { place: error.place, reason: error.what }
    }
}

/// What became of a text.
#[derive(Debug, Default)]
pub struct Answer {
    /// Whether it changed.
    pub changed: bool,
    /// Where each window of a split is in the new text.
    pub windows: Vec<Range<usize>>,
    /// What there is to say about it, each with its place.
    pub notes: Vec<(TextPlace, String)>,
    /// Messages before and after.
    pub messages: (usize, usize),
    /// Tokens before and after, if the command counts them.
    pub tokens: Option<(usize, usize)>,
    /// What was decided about which message, and why, if it is explained.
    pub explained: Vec<Decision>,
}

/// What was decided about a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The number of the message, from 0; `None` if it is new.
    pub message: Option<usize>,
    /// The name of the policy.
    pub policy: &'static str,
    /// The message in words.
    pub subject: String,
    /// What was done, and why.
    pub outcome: String,
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

/// What a command knows of the texts that it has read: all have the dialect of the first one that decides it.
pub struct Reader {
    command: Arc<Command>,
    dialect: OnceLock<&'static dyn Dialect>,
    /// The fingerprints of the transcripts so far.
    seen: Mutex<HashSet<u128>>,
}

impl Reader {
    /// Nothing was read yet.
    #[must_use]
    pub fn new(command: Arc<Command>) -> Self {
        Self { command, dialect: OnceLock::new(), seen: Mutex::default() }
    }

    /// The command.
    #[must_use]
    pub fn command(&self) -> &Command {
        &self.command
    }

    /// Begins to read texts of this framing, of which `heads` are the first.
    ///
    /// # Errors
    /// No dialect has the name that was given.
    pub fn open<'h>(&self, framing: Framing, heads: impl IntoIterator<Item = &'h str>) -> Result<Texts<'_>, Failure> {
        let mut reading = self.command.input.reading(framing)?;
        if reading.dialect.is_none() && framing == Framing::Records {
            let mut left = HEAD;
            for head in heads {
                if self.dialect.get().is_some() || left == 0 {
                    break;
                }
                left = left.saturating_sub(head.len());
                if let Some(dialect) = reading.dialect_of_head(head) {
                    self.dialect.get_or_init(|| dialect);
                }
            }
            reading.dialect = self.dialect.get().copied();
        }
        Ok(Texts { reader: self, opened: Opened::in_memory(NAME, reading) })
    }
}

/// Reads texts of one framing and dialect, on any thread.
pub struct Texts<'r> {
    reader: &'r Reader,
    opened: Opened,
}

impl Texts<'_> {
    /// Cuts a text, and appends the result to `out`.
    ///
    /// # Errors
    /// It is no transcript, or cannot be cut. Nothing is appended then.
    pub fn cut(&self, text: &str, out: &mut String) -> Result<Answer, Failure> {
        let Kind::Cut(cut) = &self.reader.command.kind else { return Err(Failure::new("the command cuts nothing")) };
        self.refuse_long(text)?;
        if self.opened.reading.framing == Framing::Records {
            return match cut.damage {
                Damage::Fail => self.cut_text(cut, &self.opened, text, out),
                _ => Err(Failure::new("--damaged reads around the damage of a log; pass the log to `whole`")),
            };
        }
        let rescued = match cut.damage {
            Damage::Fail => None,
            _ => Rescued::from_text(text.as_bytes()).filter(|rescued| !rescued.is_empty()),
        };
        let Some(rescued) = rescued else { return self.cut_whole(cut, text, out) };
        let sound = String::from_utf8(rescued.text).map_err(|_| Failure::new(INVALID_UTF8))?;
        let mut answer = match rebuilt_around(&sound) {
            // A log of patches is written as it is.
            Some(chat) => {
                out.push_str(&sound);
                let faults = chat.faults.into_iter();
                let notes = faults.map(|fault| (TextPlace::locate(sound.as_bytes(), fault.offset, 1), fault.what));
                Answer { notes: notes.collect(), ..Answer::default() }
            }
            None => self.cut_whole(cut, &sound, out)?,
        };
        let losses = rescued.losses.into_iter().map(|loss| (TextPlace { line: loss.line, column: 1 }, loss.reason));
        answer.notes.splice(..0, losses);
        answer.changed = true;
        Ok(answer)
    }

    fn cut_whole(&self, cut: &CutTexts, text: &str, out: &mut String) -> Result<Answer, Failure> {
        let rebuilt = self.opened.rebuild(text).map_err(|error| Failure::in_text(text.as_bytes(), error))?;
        match rebuilt {
            Some((opened, document)) => self.cut_text(cut, &opened, &document, out),
            None => self.cut_text(cut, &self.opened, text, out),
        }
    }

    fn cut_text(&self, cut: &CutTexts, opened: &Opened, text: &str, out: &mut String) -> Result<Answer, Failure> {
        let unit = Unit { text, line: 1, offset: 0, opened, row: None, is_one_value: false };
        let before = out.len();
        let done = self.cut_unit(cut, &unit, out).map_err(|error| Failure::in_text(text.as_bytes(), error));
        match done {
            Ok(Ok(cut)) => Ok(answer(cut, &unit)),
            Ok(Err(dropped)) => {
                out.truncate(before);
                Err(dropped)
            }
            Err(error) => {
                out.truncate(before);
                Err(error)
            }
        }
    }

    /// Cuts a unit, or says for which finding it is dropped.
    fn cut_unit(&self, cut: &CutTexts, unit: &Unit<'_>, out: &mut String) -> Result<Result<Cut, Failure>, ReadError> {
        unit.refuse_export()?;
        let examined = cut.drops.as_ref().map(|drops| drops.examine(unit, &mut None)).transpose()?;
        let dropped = |drops: &DropRecords, finding| {
            let (record, _) = drops.dropped(unit, finding);
            Failure { place: Some(record.place), reason: record.reason }
        };
        if let (Some(drops), Some(finding)) =
            (&cut.drops, examined.as_ref().and_then(|examined| examined.findings.first()))
        {
            return Ok(Err(dropped(drops, finding)));
        }
        let before = out.len();
        let done = cut.cutter.cut(&unit.opened.reading, unit.text, out)?;
        if let Some(checking) = cut.verifies.as_ref().filter(|_| done.changed) {
            checking.verify(unit, &out[before..])?;
        }
        if let (Some(drops), Some(examined)) = (&cut.drops, &examined)
            && let Some((_, finding)) = examined.fingerprints.first()
            && self.is_copy(examined.fingerprints.iter().map(|(print, _)| *print))
        {
            return Ok(Err(dropped(drops, finding)));
        }
        Ok(Ok(done))
    }

    /// Whether all these fingerprints were there before.
    fn is_copy(&self, prints: impl Iterator<Item = u128>) -> bool {
        let mut seen = self.reader.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let mut is_new = false;
        prints.for_each(|print| is_new |= seen.insert(print));
        !is_new
    }

    /// The findings of `curtail check` in a text, as JSON.
    ///
    /// # Errors
    /// It is no transcript.
    pub fn check(&self, text: &str) -> Result<String, Failure> {
        let Kind::Check(checking) = &self.reader.command.kind else {
            return Err(Failure::new("the command is not `check`"));
        };
        self.refuse_long(text)?;
        let verdicts = checking.levels.for_path("");
        let examined = checking.inspection.examine(&self.opened.reading, &verdicts, text);
        let examined = examined.map_err(|error| Failure::in_text(text.as_bytes(), error))?;
        let mut outcome = CheckOutcome::default();
        outcome.files.push(NAME.to_owned());
        examined.findings.into_iter().for_each(|finding| outcome.add(0, finding));
        for (print, mut finding) in examined.fingerprints {
            if self.is_copy(std::iter::once(print)) {
                finding.message = String::from("the transcript has the same messages as an earlier one");
                outcome.add(0, finding);
            }
        }
        Ok(json_of(&outcome))
    }

    /// The number of tokens in a text.
    ///
    /// # Errors
    /// It is no transcript.
    pub fn count(&self, text: &str) -> Result<usize, Failure> {
        let Kind::Count(cutter) = &self.reader.command.kind else {
            return Err(Failure::new("the command is not `count`"));
        };
        self.refuse_long(text)?;
        let counted = cutter.cut(&self.opened.reading, text, &mut String::new());
        let counted = counted.map_err(|error| Failure::in_text(text.as_bytes(), error.into()))?;
        Ok(counted.totals.tokens_before)
    }

    fn refuse_long(&self, text: &str) -> Result<(), Failure> {
        match self.reader.command.input.max_record.filter(|&most| text.len() > most) {
            Some(most) => Err(Failure { place: Some(TextPlace { line: 1, column: 1 }), ..too_long(NAME, most).into() }),
            None => Ok(()),
        }
    }
}

fn answer(cut: Cut, unit: &Unit<'_>) -> Answer {
    let mut places = unit.locator();
    let totals = cut.totals;
    let explained = cut.explained.into_iter().map(|(decider, explained)| Decision {
        message: explained.message,
        policy: decider.processor,
        subject: explained.subject(),
        outcome: explained.outcome(),
    });
    Answer {
        changed: cut.changed,
        explained: explained.collect(),
        notes: cut.notes.into_iter().map(|(offset, note)| (places.place(offset), note)).collect(),
        windows: cut.windows.into_iter().map(|window| window.written).collect(),
        messages: (totals.messages_before, totals.messages_after),
        tokens: Some((totals.tokens_before, totals.tokens_after)),
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
