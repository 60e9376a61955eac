//! Messages as a summarizer reads them: speakers and texts, calls and results included.

use std::ops::Range;

use crate::summarizers::{Speaker, Utterance};
use curtail_core::json::Text;
use curtail_core::transcript::{Content, Message, Pairs, PartRef, Role, ToolResult, own_blocks};
use curtail_facts::is_typed;

/// Text in place of an image or a file.
const MEDIA: &str = "(an image or a file)";

/// The utterances of the messages of `range`, without instructions and blocks of this program, which are kept in
/// any case, and without reasoning and turns that were rolled back, which are not part of the conversation.
pub(super) fn utterances<'m>(messages: &'m [Message<'_>], pairs: &Pairs, range: Range<usize>) -> Vec<Utterance<'m>> {
    let messages_in_range = messages.iter().enumerate().take(range.end).skip(range.start);
    messages_in_range
        .filter(|(_, message)| !message.role.instructs() && !message.standing.is_rolled_back())
        .flat_map(|(at, message)| {
            (own_blocks(message)..message.parts.len()).map(move |part| PartRef { message: at, part })
        })
        .filter_map(|part| utterance(messages, pairs, part))
        .collect()
}

fn utterance<'m>(messages: &'m [Message<'_>], pairs: &Pairs, at: PartRef) -> Option<Utterance<'m>> {
    let message = &messages[at.message];
    let speaker = match message.speaker(&message.parts[at.part]) {
        Role::User if message.automatic || message.is_boundary() => Speaker::System,
        Role::User => Speaker::User,
        Role::Tool => Speaker::Tool(String::new()),
        _ => Speaker::Assistant,
    };
    match &message.parts[at.part].content {
        Content::Text(text) if text.is_blank() => None,
        Content::Text(text) => {
            let text = text.decode();
            let by_program = speaker == Speaker::User && !is_typed(&text);
            Some(Utterance::new(if by_program { Speaker::System } else { speaker }, text))
        }
        Content::ToolCall(call) => {
            Some(Utterance::new(Speaker::Call(call.name.decode().into_owned()), call.arguments.decode()))
        }
        Content::ToolResult(result) => Some(result_utterance(messages, pairs, at, result)),
        Content::Media(_) => Some(Utterance::new(speaker, MEDIA)),
        Content::Reasoning(_) | Content::Unknown(_) | Content::Other => None,
    }
}

/// A result, with the name of its tool, which most formats write only into the call.
fn result_utterance<'m>(
    messages: &[Message<'_>],
    pairs: &Pairs,
    at: PartRef,
    result: &'m ToolResult<'_>,
) -> Utterance<'m> {
    let call = pairs.counterpart(at).map(|call| &messages[call.message].parts[call.part].content);
    let name_in_call = call.and_then(Content::call).map(|call| &call.name);
    let name = name_in_call.or(result.name.as_ref()).map_or_else(String::new, |name| name.decode().into_owned());
    let mut texts: Vec<_> = result.content.iter().map(Text::decode).collect();
    texts.extend(std::iter::repeat_n(MEDIA.into(), result.media));
    let text = if texts.len() == 1 { texts.remove(0) } else { texts.join("\n").into() };
    Utterance::new(Speaker::Tool(name), text)
}
