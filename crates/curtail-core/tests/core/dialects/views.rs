//! How every fixture is read, as a text that a reader can check: roles, parts, ids and pairs.

use std::fmt::Write as _;

use curtail_core::transcript::{Content, Message, Pairs, Part, PartRef, Transcript};

use super::files::{File, fixtures, read_transcripts};

#[test]
fn every_fixture_is_read_as_its_view_says() {
    let files = fixtures();
    for group in files.chunk_by(|one, other| folder(one) == folder(other)) {
        let views: Vec<String> = group.iter().map(|file| view(file, words)).collect();
        insta::with_settings!({ snapshot_path => "views", prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(folder(&group[0]), views.join("\n"));
        });
    }
}

pub(super) fn folder(file: &File) -> &str {
    file.name.split('/').next().unwrap_or_default()
}

/// How a file is read, without the arguments of its calls.
pub(super) fn view_without_arguments(file: &File) -> String {
    view(file, |part| match &part.content {
        Content::ToolCall(call) => format!("call {}", call.name.decode()),
        _ => format!(
            "{}{}",
            words(part),
            if part.place().is_some_and(|place| place.prefix_bound) { ", signed" } else { "" }
        ),
    })
}

fn view(file: &File, words: fn(&Part<'_>) -> String) -> String {
    let mut out = format!("# {}\n", file.name);
    let read = read_transcripts(&file.text, |dialect, transcript| {
        let _ = writeln!(out, "{}, {} texts beside the messages", dialect.name(), transcript.layout.outside().count());
        lines(transcript, words, &mut out);
    });
    match read {
        Ok(framing) => writeln!(out, "({})", framing.name()),
        Err(error) => writeln!(out, "error at {}: {}", error.offset, error.what),
    }
    .expect("a string takes it");
    out
}

fn lines(transcript: &Transcript<'_>, words: fn(&Part<'_>) -> String, out: &mut String) {
    let pairs = Pairs::from_messages(&transcript.messages);
    for at in 0..=transcript.messages.len() {
        for item in transcript.layout.non_messages.iter().filter(|item| item.after == at) {
            let label = item.unknown.as_ref().map_or(String::from("metadata"), |name| format!("unknown `{name}`"));
            let _ = writeln!(out, "   {label}");
        }
        let Some(message) = transcript.messages.get(at) else { break };
        let _ = writeln!(out, "{at:2} {}{}", message.role.name(), flags(message));
        for (part, content) in message.parts.iter().enumerate() {
            let other = pairs.counterpart(PartRef { message: at, part });
            let other = other.map_or_else(String::new, |at| format!(" <-> {}.{}", at.message, at.part));
            let speaker = message.other_speaker(content);
            let speaker = speaker.map_or_else(String::new, |speaker| format!("{}: ", speaker.name()));
            let _ = writeln!(out, "     {part} {speaker}{}{other}", words(content));
        }
    }
}

fn flags(message: &Message<'_>) -> String {
    let mut flags = message.id.as_ref().map_or_else(String::new, |id| format!(" #{}", id.decode()));
    for (on, name) in [
        (message.is_bound(), "binds next"),
        (message.call_rules.indivisible, "indivisible"),
        (message.closes_calls(), "barrier"),
    ] {
        if on {
            flags.push_str(&format!(", {name}"));
        }
    }
    if message.is_boundary() {
        flags.push_str(", boundary");
    }
    if !message.standing.is_read() {
        flags.push_str(&format!(", {:?}", message.standing));
    }
    if message.thread > 0 {
        flags.push_str(&format!(", thread {}", message.thread));
    }
    flags
}

fn words(part: &Part<'_>) -> String {
    let mut words = match &part.content {
        Content::Text(text) => format!("text {:?}", text.decode()),
        Content::Reasoning(text) => format!("reasoning {:?}", text.decode()),
        Content::Media(_) => String::from("media"),
        Content::Unknown(_) => String::from("unknown"),
        Content::Other => String::from("other"),
        Content::ToolCall(call) => {
            let id = call.id.as_ref().map_or_else(String::new, |id| format!(" #{}", id.decode()));
            let hosted = if call.hosted { " hosted" } else { "" };
            format!("call{hosted} {}{id} {:?}", call.name.decode(), call.arguments.decode())
        }
        Content::ToolResult(result) => {
            let id = result.id.as_ref().map_or_else(String::new, |id| format!(" #{}", id.decode()));
            let texts: Vec<String> = result.content.iter().map(|text| format!("{:?}", text.decode())).collect();
            let media = if result.media > 0 { format!(" and {} media", result.media) } else { String::new() };
            format!("result{id} {}{media}", texts.join(" "))
        }
    };
    let copies = part.place().map_or(0, |place| place.copies.len());
    if copies > 0 {
        let _ = write!(words, " ({copies} copies)");
    }
    words
}
