//! Attachments: records of what the program sends to the model beside a message, such as the text of an edited file.

use crate::dialects::{Item, blocks};
use crate::json::Value;

/// Types that the program does not send to the model.
const UNSEEN: &[&str] = &[
    "already_read_file",
    "command_permissions",
    "dynamic_skill",
    "edited_image_file",
    "hook_cancelled",
    "hook_error_during_execution",
    "hook_non_blocking_error",
    "hook_permission_decision",
    "hook_system_message",
    "structured_output",
];

/// The events after which the output of a hook is sent to the model.
const HEARD_HOOKS: &[&str] = &["SessionStart", "UserPromptSubmit"];

/// The members whose text the model reads.
const TEXTS: &[&str] = &[
    "content", "snippet", "prompt", "addedLines", "addedBlocks", "removedNames", "planContent", "skills", "memories",
    "files", "response", "blockingError", "message", "newDate",
];

/// Reads an attachment as metadata, with the texts that the model reads.
pub(super) fn read_attachment(item: Value<'_>) -> Item<'_> {
    let Some(attachment) = item.get("attachment") else { return Item::Metadata };
    let kind = attachment.word("type");
    let is_unheard = kind == "hook_success" && !HEARD_HOOKS.contains(&&*event_of(attachment));
    if is_unheard || UNSEEN.contains(&&*kind) {
        return Item::Metadata;
    }
    // If the lines of new tools are missing, their names are read.
    let names = if attachment.get("addedLines").is_none() { attachment.get("addedNames") } else { None };
    let members = TEXTS.iter().filter_map(|key| attachment.get(key)).chain(names);
    Item::Attached(members.flat_map(|value| blocks::texts(Some(value))).collect())
}

/// What a hook followed; older versions write it only into its name, as in `SessionStart:resume`.
fn event_of(attachment: Value<'_>) -> String {
    let event = attachment.get_text("hookEvent").or_else(|| attachment.get_text("hookName"));
    let event = event.map(|event| event.decode().into_owned()).unwrap_or_default();
    event.split(':').next().unwrap_or_default().to_owned()
}
