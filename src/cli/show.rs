//! `curtail show`: shows how a transcript is read, to find out why a cut is not as expected.

use std::io::ErrorKind;
use std::process::ExitCode;

use serde::Serialize;

use crate::console;
use crate::options::choices::{TextOrJson, text_or_json};
use crate::options::global::Global;
use crate::options::input::Input;
use crate::reports::remarks;
use crate::reports::screen::{DIM, Screen, painted};
use curtail_core::dialects::{Dialect, ReadError, mark};
use curtail_core::numbers::counted;
use curtail_core::transcript::{
    Message, Outline, OutlineItem, OutlineKind, OutlineMessage, OutlineOrigin, OutlinePart, Transcript,
};
use curtail_core::visible::one_line;
use curtail_io::FileError;
use curtail_io::batch::{Event, Flow, Opened, Unit, Work};

/// Show how a transcript is read: dialect, messages, parts, pairs
///
/// Use it to find the reason for a cut, byte by byte. `curtail view` shows the conversation itself.
#[derive(Debug, clap::Args)]
pub(super) struct ShowArgs {
    /// Format of the outline
    #[arg(
        long,
        value_parser = text_or_json("A table for each transcript", "One JSON object per transcript"),
        value_name = "FORMAT",
        default_value = "text"
    )]
    output_format: TextOrJson,

    /// Print this message, by its number or its id, byte for byte
    ///
    /// Numbers are those of the table, of `--explain` and of the pointers in summaries: [m57] is message 57.
    #[arg(long, value_name = "N", conflicts_with = "output_format")]
    message: Vec<String>,

    #[command(flatten)]
    input: Input,
}

/// A transcript with its framing and dialect.
#[derive(Serialize)]
struct ShownTranscript<'s> {
    file: &'s str,
    framing: &'static str,
    dialect: &'static str,
    /// The member by which the dialect was detected.
    #[serde(skip_serializing_if = "Option::is_none")]
    mark: Option<String>,
    #[serde(flatten)]
    outline: Outline,
}

/// Outlines every transcript.
struct Outliner {
    /// Whether only what the model still reads is shown.
    live: bool,
}

/// A transcript with its dialect, and the member by which that was detected.
type Outlined = (&'static str, Option<String>, Outline);

fn outline(transcript: &Transcript<'_>, origin: OutlineOrigin, live: bool) -> Outline {
    let mut outline = Outline::from_transcript(transcript, origin);
    let is_read = |index: usize| transcript.messages.get(index).is_none_or(|message| message.standing.is_read());
    outline.items.retain(|item| match &item.kind {
        _ if !live => true,
        OutlineKind::Message(message) => is_read(message.index),
        OutlineKind::With(index) => is_read(*index),
        OutlineKind::Pinned(_) => true,
    });
    outline
}

impl Work for Outliner {
    type Out = Vec<Outlined>;

    fn unit(&self, unit: &Unit<'_>, out: &mut Vec<Outlined>) -> Result<(), ReadError> {
        let origin = OutlineOrigin { offset: unit.offset, lines: unit.line - 1 };
        let document = unit.parse()?;
        let transcripts = unit.transcripts(&document)?;
        let mark = |dialect: &dyn Dialect, read| mark(dialect, read).filter(|_| !unit.opened.reading.named);
        let outlined = transcripts
            .iter()
            .map(|(dialect, read)| (dialect.name(), mark(*dialect, read), outline(read, origin, self.live)));
        out.extend(outlined);
        Ok(())
    }
}

impl ShowArgs {
    /// Shows every transcript of the input.
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<ExitCode> {
        if !self.message.is_empty() {
            return run_message(&self.message, &self.input, global);
        }
        let (sources, missing) = self.input.sources(None, global)?;
        remarks::warn_empty(sources.is_empty() && missing.is_empty(), global);
        let mut failures = remarks::Failures::of_missing(&missing, global);
        // `seen` tells whether anything was reported about the current file.
        let mut wrote = Ok(());
        let mut seen = false;
        self.input.batch(global)?.run(sources, &Outliner { live: self.input.live }, |event| {
            failures.note(&event);
            match event {
                Event::Opened(_) => seen = false,
                Event::Failed(_) => seen = true,
                Event::Done { opened, out, .. } => {
                    seen |= !out.is_empty();
                    wrote = print_outlines(self.output_format, opened, std::mem::take(out));
                }
                Event::Closed { opened, complete } if complete && !seen && self.output_format == TextOrJson::Text => {
                    wrote = console::try_out(&format!("{}: contains no transcript\n", one_line(&opened.source.name)));
                }
                Event::PassedOver(_) | Event::Closed { .. } => {}
            }
            if wrote.is_ok() { Flow::Continue } else { Flow::Stop }
        });
        match wrote {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(FileError::system("standard output", &error).into())
            }
            _ => Ok(failures.status),
        }
    }
}

fn print_outlines(format: TextOrJson, opened: &Opened, outlined: Vec<Outlined>) -> std::io::Result<()> {
    let file = opened.source.name.as_str();
    let framing = opened.reading.framing.name();
    for (dialect, mark, outline) in outlined {
        let shown = ShownTranscript { file, framing, dialect, mark, outline };
        match format {
            TextOrJson::Json => console::try_out_json(&format!("{}\n", serde_json::to_string(&shown)?))?,
            TextOrJson::Text => console::try_out(&text(&shown))?,
        }
    }
    Ok(())
}

fn text(shown: &ShownTranscript<'_>) -> String {
    let screen = Screen::of_stdout();
    let titles = painted(DIM, "   #  line  turn  seg  role       parts");
    let head = format!("{}\n{titles}\n", screen.wrapped(&one_line(&headline(shown)), 2));
    let items = shown.outline.items.iter().map(|item| match &item.kind {
        OutlineKind::Message(message) => message_lines(message, item.line),
        OutlineKind::With(index) => metadata(item, &format!("belongs to message {index}")),
        OutlineKind::Pinned(_) => metadata(item, "stays"),
    });
    let rows: String = items.collect();
    head + &rows.lines().map(|row| format!("{}\n", screen.cut(row, 0))).collect::<String>()
}

fn metadata(item: &OutlineItem, text: &str) -> String {
    let unknown = item.unknown.as_ref().map_or_else(String::new, |kind| format!("unknown `{kind}`, "));
    let line = item.line;
    let span = span(item.span);
    let text = format!("{unknown}{text}, {span} | {}", item.begins);
    format!("   -  {line:>4}     -    -  -          {}\n", one_line(&text))
}

fn headline(shown: &ShownTranscript<'_>) -> String {
    let mut facts = vec![
        format!("{}: framing {}", shown.file, shown.framing),
        format!(
            "dialect {}{}",
            shown.dialect,
            shown.mark.as_ref().map_or_else(String::new, |mark| format!(" (by {mark})"))
        ),
        counted(shown.outline.messages().count(), "message"),
    ];
    facts.extend((shown.outline.preamble > 0).then(|| format!("{} of preamble", shown.outline.preamble)));
    facts.extend(shown.outline.kinds().iter().map(|(kind, count)| format!("{count} {kind}")));
    facts.extend(shown.outline.in_flight.map(|start| format!("in flight from {start}")));
    facts.join(", ")
}

fn message_lines(message: &OutlineMessage, line: usize) -> String {
    let mut about: Vec<String> = message.properties.iter().map(|property| format!("[{property}]")).collect();
    if message.thread > 0 {
        about.push(format!("[thread {}]", message.thread));
    }
    let mut lines = about.into_iter().chain(message.parts.iter().map(|part| one_line(&part_line(part)).into_owned()));
    let first = lines.next().unwrap_or_else(|| String::from("(nothing)"));
    let index = message.index;
    let turn = message.turn;
    let segment = message.segment;
    let role = message.role;
    let head = format!("{index:>4}  {line:>4}  {turn:>4}  {segment:>3}  {role:<9}  {first}\n");
    head + &lines.map(|more| format!("{:34}{more}\n", "")).collect::<String>()
}

/// A part as text.
fn part_line(part: &OutlinePart) -> String {
    let mut facts = vec![String::from(part.kind)];
    facts.extend(part.name.clone());
    facts.extend(part.id.as_ref().map(|id| format!("id={id}")));
    facts.push(span(part.span));
    facts.extend(match (part.kind, part.pair) {
        ("tool-call", Some([message, _])) => Some(format!("answered by {message}")),
        ("tool-result", Some([message, _])) => Some(format!("answers {message}")),
        ("tool-call", None) if part.hosted => Some(String::from("hosted")),
        ("tool-call" | "tool-result", None) => Some(String::from("alone")),
        _ => None,
    });
    if !part.begins.is_empty() {
        facts.push(format!("| {}", part.begins));
    }
    facts.join(" ")
}

fn span([start, end]: [usize; 2]) -> String {
    format!("{start}..{end}")
}

// `curtail show --message`: one message as it is in the file, such as the one that a summary points to.

/// Prints the messages with these numbers or ids, in this order.
fn run_message(wanted: &[String], input: &Input, global: &Global) -> anyhow::Result<ExitCode> {
    let (sources, missing) = input.sources(None, global)?;
    let mut failures = remarks::Failures::of_missing(&missing, global);
    let mut wrote = Ok(());
    input.batch(global)?.run(sources, &Finder { wanted }, |event| {
        failures.note(&event);
        let Event::Done { opened, out, .. } = event else { return Flow::Continue };
        for absent in &out.absent {
            console::error(&format!("{}: {absent}", opened.source.name));
            failures.status = ExitCode::from(2);
        }
        wrote = console::transcript(&out.text);
        if wrote.is_ok() { Flow::Continue } else { Flow::Stop }
    });
    wrote?;
    Ok(failures.status)
}

/// Finds messages by number or id.
struct Finder<'f> {
    wanted: &'f [String],
}

/// What was found, and what was not.
#[derive(Default)]
struct Lookup {
    text: String,
    absent: Vec<String>,
}

impl Work for Finder<'_> {
    type Out = Lookup;

    fn unit(&self, unit: &Unit<'_>, out: &mut Lookup) -> Result<(), ReadError> {
        let document = unit.parse()?;
        for (_, transcript) in unit.transcripts(&document)? {
            let messages = &transcript.messages;
            for wanted in self.wanted {
                match find_message(messages, wanted).and_then(Message::value) {
                    Some(value) => {
                        out.text.push_str(value.raw());
                        out.text.push('\n');
                    }
                    None => out.absent.push(absent(wanted, messages.len())),
                }
            }
        }
        Ok(())
    }
}

fn find_message<'m, 'a>(messages: &'m [Message<'a>], wanted: &str) -> Option<&'m Message<'a>> {
    let by_number = wanted.parse().ok().and_then(|number: usize| messages.get(number));
    by_number.or_else(|| messages.iter().find(|message| message.id.as_ref().is_some_and(|id| id.is(wanted))))
}

fn absent(wanted: &str, count: usize) -> String {
    let last = count.saturating_sub(1);
    format!(
        "no message {wanted} found; messages are numbered 0 to {last}, and `curtail show` lists them with their ids"
    )
}
