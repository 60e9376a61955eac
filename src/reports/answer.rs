//! Prints what a provider's answer means: the rule, the places in the transcript, and the command that mends them.

use std::process::ExitCode;

use crate::console;
use crate::options::global::Global;
use crate::reports::findings::text_of;
use crate::reports::remarks::RecordErrors;
use crate::reports::screen::Screen;
use curtail_core::checks::{Constraint, Diagnosis, Finding};
use curtail_core::numbers::counted;
use curtail_core::visible::{one_line, word};
use curtail_io::batch::{Event, Flow};
use curtail_io::{FileError, Source};

/// So many places are shown.
const SHOWN: usize = 5;

/// The status if the answer is not known, or if a file could not be read.
const FAILED: u8 = 2;

/// Collects what was found in each file, and prints it.
pub(crate) struct AnswerReporter<'a> {
    global: &'a Global,
    errors: RecordErrors,
    /// What the answer is about, if a transcript has no such fault.
    absent: Vec<&'static Constraint>,
    found: bool,
    failed: bool,
    /// Whether a transcript was read.
    has_read: bool,
}

impl<'a> AnswerReporter<'a> {
    pub(crate) fn new(global: &'a Global) -> Self {
        Self {
            global,
            errors: RecordErrors::default(),
            absent: Vec::new(),
            found: false,
            failed: false,
            has_read: false,
        }
    }

    /// Handles the next event.
    pub(crate) fn event(&mut self, event: Event<'_, Vec<Diagnosis>>) -> Flow {
        match event {
            Event::Done { opened, out, .. } => {
                for diagnosis in out.drain(..) {
                    self.tell(&opened.source, &diagnosis);
                }
            }
            Event::Failed(failure) => {
                self.failed = true;
                self.errors.print(&failure.error, None, self.global);
            }
            _ => {}
        }
        Flow::Continue
    }

    /// Reports an input that could not be found.
    pub(crate) fn miss(&mut self, error: &FileError) {
        self.failed = true;
        self.errors.print(error, None, self.global);
    }

    fn tell(&mut self, source: &Source, diagnosis: &Diagnosis) {
        self.has_read = true;
        let file = &source.name;
        let target = target(source);
        match diagnosis {
            Diagnosis::Found { findings, is_named, profile, .. } => {
                self.found = true;
                self.failed |= !write(&(places(file, findings, *is_named) + &commands(&target, findings, *profile)));
            }
            Diagnosis::Named(finding) => {
                self.found = true;
                let findings = std::slice::from_ref(finding);
                self.failed |= !write(&(places(file, findings, true) + &commands(&target, findings, None)));
            }
            Diagnosis::Absent(constraints) => self.absent.clone_from(constraints),
            other => self.failed |= tell_about(other),
        }
    }

    /// Says what was not found, and returns the status.
    pub(crate) fn finish(mut self) -> ExitCode {
        if !self.has_read && !self.failed {
            console::error(&"no transcript was read; name the one that was sent: `curtail check --error TEXT FILE`");
            self.failed = true;
        }
        if !self.found && !self.absent.is_empty() {
            self.failed |= !print(&absent(&self.absent));
        }
        ExitCode::from(if self.failed { FAILED } else { u8::from(self.found) })
    }
}

/// Says what an answer is about that no transcript has to be searched for. Returns whether it is unknown, or could not be said.
pub(crate) fn tell_about(diagnosis: &Diagnosis) -> bool {
    match diagnosis {
        Diagnosis::Unrelated(constraint) => !print(&format!(
            "the answer is not about the transcript but about {}: {} ({})\nwhat to do: {}\n",
            constraint.what,
            constraint.words,
            constraint.provider,
            advice(constraint.what)
        )),
        Diagnosis::Unknown(nearest) => {
            let lines = nearest.iter().map(|row| format!("  {}: {} ({})\n", rule_of(row), row.words, row.provider));
            print(&format!(
                "no known answer has these words; the nearest are:\n{}`curtail check` without --error finds what it finds by itself\n",
                lines.collect::<String>()
            ));
            true
        }
        Diagnosis::Found { .. } | Diagnosis::Named(_) | Diagnosis::Absent(_) => false,
    }
}

/// What to do about an answer that is not about the transcript, by what it is about.
fn advice(what: &str) -> &'static str {
    let found = ADVICE.iter().find(|(about, _)| *about == what);
    found.map_or("look up the answer at the provider; the transcript can stay as it is", |(_, advice)| advice)
}

const ADVICE: [(&str, &str); 9] = [
    (
        "a model that does not reason",
        "choose a model that reasons, or remove the reasoning: `curtail filter --strip reasoning FILE`",
    ),
    ("what the model wrote", "send the same request again, or to another model; the transcript can stay as it is"),
    ("the account", "check the key, the login, the plan and the balance; the transcript can stay as it is"),
    (
        "a rate limit",
        "wait and send the request again, or send fewer or shorter ones: `curtail limit -t N FILE` shortens a transcript",
    ),
    (
        "the provider behind it, whose words are in `metadata.raw`",
        "pass the words in `metadata.raw` to `--error`, or look for faults without an answer: `curtail check FILE`",
    ),
    ("the provider's servers", "send the same request again later, or to another model or provider"),
    (
        "a field of the request",
        "change or remove that field beside the messages, in the program that sends them; the transcript can stay as it is",
    ),
    (
        "the length of the context",
        "shorten the transcript: `curtail limit -t N FILE`, with N below what the model accepts, less the tools and the reply",
    ),
    ("what it says", "find and remove what the provider's rules forbid; `curtail view FILE` shows the transcript"),
];

/// Prints `text`, whose lines are broken to fit the terminal, and returns whether that succeeded.
fn print(text: &str) -> bool {
    write(&Screen::of_stdout().wrapped(text, 2))
}

/// Prints `text`, whose lines stay as they are, and returns whether that succeeded.
fn write(text: &str) -> bool {
    console::out(text).inspect_err(console::error).is_ok()
}

fn rule_of(row: &Constraint) -> &'static str {
    row.rule.unwrap_or("not about the transcript")
}

fn absent(rows: &[&Constraint]) -> String {
    let mut meanings: Vec<String> = Vec::new();
    for row in rows {
        let meaning = format!("{} ({})", rule_of(row), row.what);
        if !meanings.contains(&meaning) {
            meanings.push(meaning);
        }
    }
    format!(
        "the answer means {}, and the transcript has no such place: it may have been mended since, or what was sent differs from \
         what is stored\n",
        meanings.join(" or ")
    )
}

/// The places, with what mends them.
fn places(file: &str, findings: &[Finding], is_named: bool) -> String {
    let name = one_line(file);
    let mut text = String::new();
    if !is_named && findings.len() > 1 {
        let several = format!("the answer names no place; {} fit it:\n\n", counted(findings.len(), "place"));
        text += &Screen::of_stdout().wrapped(&several, 2);
    }
    for finding in findings.iter().take(SHOWN) {
        text += &text_of(&name, finding, console::out_has_colors(), Screen::of_stdout());
    }
    if findings.len() > SHOWN {
        text += &format!("… and {} more\n\n", findings.len() - SHOWN);
    }
    text
}

/// What a command has for the file of `source`; standard input has to be written to a file first.
fn target(source: &Source) -> String {
    if *source == Source::stdin(None) { String::from("FILE") } else { word(&source.name) }
}

/// The commands that mend `findings` in `target`, by the rules of the provider `profile` if it is another than the transcript's own.
fn commands(target: &str, findings: &[Finding], profile: Option<&str>) -> String {
    let mut commands: Vec<String> = findings.iter().filter_map(Finding::mended_by).collect();
    commands.sort_unstable();
    commands.dedup();
    let check = profile.map_or_else(|| String::from("curtail check"), |name| format!("curtail check --profile {name}"));
    if commands.is_empty() {
        return String::new();
    }
    // A command to paste has a line of its own.
    let lines = commands.into_iter().map(|command| {
        let command = command.replace("curtail check", &check).replace("FILE", target);
        format!("  {command}\n")
    });
    format!("to mend it:\n{}", lines.collect::<String>())
}
