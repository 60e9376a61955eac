//! `curtail show`: what a transcript is read as; the tool to look with when something is not cut as expected.

use std::io::{Read as _, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, anyhow};
use clap::ValueEnum;
use serde::Serialize;

use super::input::Input;
use crate::batch::Reading;
use crate::dialects::{Dialect, Framing, detect};
use crate::json::Document;
use crate::transcript::{Outline, OutlineItem, OutlineKind, OutlineMessage, OutlineOrigin, OutlinePart};

/// Show what a transcript is read as: framing, dialect, messages, parts and pairs
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// How to write it
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    output_format: OutputFormat,

    #[command(flatten)]
    input: Input,
}

/// `--output-format`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum OutputFormat {
    /// For people
    Text,
    /// A JSON object per transcript
    Json,
}

/// A transcript with what was decided about it.
#[derive(Serialize)]
struct Shown<'s> {
    file: &'s str,
    framing: &'static str,
    dialect: &'static str,
    #[serde(flatten)]
    outline: Outline,
}

/// Shows every transcript of the input.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    if args.input.paths.is_empty() {
        file(args, Path::new("-"), &mut out)?;
    }
    for path in &args.input.paths {
        file(args, path, &mut out)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn file(args: &Args, path: &Path, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut text = String::new();
    let stdin = path == Path::new("-");
    let name = match &args.input.stdin_filename {
        Some(name) if stdin => name.clone(),
        _ => path.display().to_string(),
    };
    if stdin {
        std::io::stdin().read_to_string(&mut text).with_context(|| name.clone())?;
    } else {
        text = std::fs::read_to_string(path).with_context(|| name.clone())?;
    }
    let framing = args.input.framing.framing().unwrap_or_else(|| detect(&text, args.input.messages_key.as_deref()));
    let dialect = Some(args.input.dialect.as_str()).filter(|name| *name != "auto");
    let reading = Reading::new(framing, dialect, args.input.messages_key.clone()).map_err(|words| anyhow!(words))?;
    for (piece, origin) in pieces(&text, framing) {
        let document = Document::read_log(piece).map_err(|fault| at(&name, origin, piece, fault.offset, fault.what))?;
        let transcripts =
            reading.transcripts(&document).map_err(|fault| at(&name, origin, piece, fault.offset, &fault.what))?;
        for (dialect, transcript) in transcripts {
            show(args.output_format, &name, framing, dialect, Outline::of(&transcript, origin), out)?;
        }
    }
    Ok(())
}

/// The texts that are read by themselves: lines of records, or the whole.
fn pieces(text: &str, framing: Framing) -> Vec<(&str, OutlineOrigin)> {
    if framing != Framing::Records {
        return vec![(text, OutlineOrigin { offset: 0, lines: 0 })];
    }
    let mut offset = 0;
    let lines = text.split_inclusive('\n').enumerate().map(|(lines, line)| {
        let origin = OutlineOrigin { offset, lines };
        offset += line.len();
        (line, origin)
    });
    lines.filter(|(line, _)| !line.trim().is_empty()).collect()
}

/// `file:line:column: what`
fn at(name: &str, origin: OutlineOrigin, piece: &str, offset: usize, what: &str) -> anyhow::Error {
    let before = &piece.as_bytes()[..offset.min(piece.len())];
    let line = origin.lines + 1 + memchr::memchr_iter(b'\n', before).count();
    let column = before.len() - memchr::memrchr(b'\n', before).map_or(0, |end| end + 1) + 1;
    anyhow!("{name}:{line}:{column}: {what}")
}

fn show(
    format: OutputFormat,
    name: &str,
    framing: Framing,
    dialect: &dyn Dialect,
    outline: Outline,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let shown = Shown { file: name, framing: framing.name(), dialect: dialect.name(), outline };
    match format {
        OutputFormat::Json => writeln!(out, "{}", serde_json::to_string(&shown)?)?,
        OutputFormat::Text => text(&shown, out)?,
    }
    Ok(())
}

fn text(shown: &Shown<'_>, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(out, "{}", headline(shown))?;
    writeln!(out, "   #  line  turn  seg  role       parts")?;
    shown.outline.items.iter().try_for_each(|item| match &item.what {
        OutlineKind::Message(said) => message(said, item.line, out),
        OutlineKind::With(index) => metadata(item, &format!("goes with {index}"), out),
        OutlineKind::Pinned(_) => metadata(item, "stays", out),
    })
}

fn metadata(item: &OutlineItem, what: &str, out: &mut dyn Write) -> std::io::Result<()> {
    let unknown = item.unknown.as_ref().map_or_else(String::new, |kind| format!("unknown `{kind}`, "));
    let (line, span) = (item.line, span(item.span));
    writeln!(out, "   -  {line:>4}     -    -  -          {unknown}{what}, {span} | {}", item.begins)
}

fn headline(shown: &Shown<'_>) -> String {
    let count = shown.outline.messages().count();
    let mut facts = vec![
        format!("{}: framing {}", shown.file, shown.framing),
        format!("dialect {}", shown.dialect),
        if count == 1 { String::from("1 message") } else { format!("{count} messages") },
    ];
    facts.extend(shown.outline.kinds().iter().map(|(kind, count)| format!("{count} {kind}")));
    facts.extend(shown.outline.in_flight.map(|start| format!("in flight from {start}")));
    facts.join(", ")
}

fn message(message: &OutlineMessage, line: usize, out: &mut dyn Write) -> std::io::Result<()> {
    let mut about: Vec<String> = message.marks.iter().map(|mark| format!("[{mark}]")).collect();
    if message.thread > 0 {
        about.push(format!("[thread {}]", message.thread));
    }
    let mut lines = about.into_iter().chain(message.parts.iter().map(words));
    let first = lines.next().unwrap_or_else(|| String::from("(nothing)"));
    let (index, turn, segment, role) = (message.index, message.turn, message.segment, message.role);
    writeln!(out, "{index:>4}  {line:>4}  {turn:>4}  {segment:>3}  {role:<9}  {first}")?;
    lines.try_for_each(|more| writeln!(out, "{:34}{more}", ""))
}

/// A part in words.
fn words(part: &OutlinePart) -> String {
    let mut words = vec![String::from(part.kind)];
    words.extend(part.name.clone());
    words.extend(part.id.as_ref().map(|id| format!("id={id}")));
    words.push(span(part.span));
    words.extend(match (part.kind, part.pair) {
        ("tool-call", Some([message, _])) => Some(format!("answered by {message}")),
        ("tool-result", Some([message, _])) => Some(format!("answers {message}")),
        ("tool-call", None) if part.hosted => Some(String::from("hosted")),
        ("tool-call" | "tool-result", None) => Some(String::from("alone")),
        _ => None,
    });
    if !part.begins.is_empty() {
        words.push(format!("| {}", part.begins));
    }
    words.join(" ")
}

fn span([start, end]: [usize; 2]) -> String {
    format!("{start}..{end}")
}
