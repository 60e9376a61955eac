//! Prints how transcripts are read: as tables, or each as JSON.

use serde::Serialize;

use crate::console;
use crate::options::choices::TextOrJson;
use crate::reports::screen::{DIM, Screen, painted};
use crate::works::outline::Outlined;
use curtail_core::numbers::counted;
use curtail_core::transcript::{Outline, OutlineItem, OutlineKind, OutlineMessage, OutlinePart};
use curtail_core::visible::one_line;
use curtail_io::batch::Opened;

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

/// Prints the outlines of transcripts of `opened`.
pub(crate) fn print_outlines(format: TextOrJson, opened: &Opened, outlined: Vec<Outlined>) -> std::io::Result<()> {
    let file = opened.source.name.as_str();
    let framing = opened.reading.framing.name();
    for Outlined { dialect, mark, outline } in outlined {
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
    let mut facts: Vec<String> = part.speaker.map(|speaker| format!("{speaker}:")).into_iter().collect();
    facts.push(String::from(part.kind));
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
