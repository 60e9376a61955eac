//! Messages as a summarizer reads them: who said what, calls and results included.

use crate::ledger::is_typed;
use crate::summarizers::{Speaker, Utterance};
use curtail_core::transcript::{Content, Message, Pairs, PartRef, Role, ToolResult, own_blocks};

/// Text in place of an image or a file.
const MEDIA: &str = "(an image or a file)";

/// The utterances of the messages from `first` up to `end`, without instructions and blocks of this program, which are kept,
/// and without reasoning, which the model did not say.
pub(super) fn utterances<'m>(
    messages: &'m [Message<'_>],
    pairs: &Pairs,
    first: usize,
    end: usize,
) -> Vec<Utterance<'m>> {
    let range = messages.iter().enumerate().take(end).skip(first);
    range
        .filter(|(_, message)| !message.role.instructs())
        .flat_map(|(at, message)| {
            (own_blocks(message)..message.parts.len()).map(move |part| PartRef { message: at, part })
        })
        .filter_map(|part| utterance(messages, pairs, part))
        .collect()
}

fn utterance<'m>(messages: &'m [Message<'_>], pairs: &Pairs, at: PartRef) -> Option<Utterance<'m>> {
    let message = &messages[at.message];
    let speaker = match message.role {
        Role::User if message.automatic || message.boundary => Speaker::System,
        Role::User => Speaker::User,
        Role::Tool => Speaker::Tool(String::new()),
        _ => Speaker::Assistant,
    };
    match &message.parts[at.part].content {
        Content::Text(text) if text.is_blank() => None,
        Content::Text(text) => {
            let text = text.decode();
            let typed = speaker != Speaker::User || is_typed(&text);
            Some(Utterance::new(if typed { speaker } else { Speaker::System }, text))
        }
        Content::ToolCall(call) => {
            Some(Utterance::new(Speaker::Call(call.name.decode().into_owned()), call.arguments.decode()))
        }
        Content::ToolResult(result) => Some(answer(messages, pairs, at, result)),
        Content::Media(_) => Some(Utterance::new(speaker, MEDIA)),
        Content::Reasoning(_) | Content::Unknown(_) | Content::Other => None,
    }
}

/// A result under the name of its tool, which most formats write only into the call.
fn answer<'m>(messages: &[Message<'_>], pairs: &Pairs, at: PartRef, result: &'m ToolResult<'_>) -> Utterance<'m> {
    let call = pairs.other_half(at).map(|call| &messages[call.message].parts[call.part].content);
    let called = call.and_then(Content::call).map(|call| &call.name);
    let name = called.or(result.name.as_ref()).map_or_else(String::new, |name| name.decode().into_owned());
    let mut texts: Vec<_> = result.content.iter().map(curtail_core::json::Text::decode).collect();
    texts.extend(std::iter::repeat_n(MEDIA.into(), result.media));
    let text = if texts.len() == 1 { texts.remove(0) } else { texts.join("\n").into() };
    Utterance::new(Speaker::Tool(name), text)
}
