//! Images that a program shows a model between a call and what the tool said, as a message of the user.

use crate::dialects::media::is_removed_image;
use crate::dialects::{Item, blocks};
use crate::transcript::{Content, Message, Role, ToolCall, ToolResult};

/// Makes messages of the user with nothing but images results of the call right before them, if several may answer it.
pub(super) fn connect(read: &mut [Item<'_>]) {
    let mut call: Option<ToolCall<'_>> = None;
    for message in read.iter_mut().filter_map(Item::message_mut) {
        if let Some(call) = call.filter(|_| only_shows(message)) {
            answer(message, call);
        }
        call = message.calls().map(|(_, call)| call).find(|call| call.deferred).cloned();
    }
}

fn only_shows(message: &Message<'_>) -> bool {
    let are_images = message.parts.iter().all(|part| match &part.content {
        Content::Media(_) => true,
        Content::Text(text) => is_removed_image(&text.decode()),
        _ => false,
    });
    message.role == Role::User && !message.parts.is_empty() && are_images
}

/// Its text cannot be rewritten: with another one, it is a message of the user again.
fn answer<'a>(message: &mut Message<'a>, call: ToolCall<'a>) {
    let Some(value) = message.value() else { return };
    let media = message.parts.iter().filter(|part| matches!(part.content, Content::Media(_))).count();
    let texts = message.parts.iter().filter_map(|part| match &part.content {
        Content::Text(text) => Some(text.clone()),
        _ => None,
    });
    let result =
        ToolResult { media, family: call.family, ..ToolResult::new(call.id, Some(call.name), texts.collect()) };
    message.parts = vec![blocks::whole(value, Content::ToolResult(result))];
    message.role = Role::Tool;
}
