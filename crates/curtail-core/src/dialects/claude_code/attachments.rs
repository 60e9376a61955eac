//! Attachments: records of what the program sends to the model beside a message, such as the text of an edited file.

use crate::dialects::media::has_bytes;
use crate::dialects::media_bytes::is_base64;
use crate::dialects::{Attached, Item};
use crate::json::{Text, Value};
use crate::steps;

/// Types that the program does not send to the model.
const UNSEEN: &[&str] = &[
    "already_read_file",
    "attention_budget",
    "autocheckpointing",
    "background_task_status",
    "command_permissions",
    "companion_intro",
    "compaction_reminder",
    "context_efficiency",
    "context_tip",
    "current_session_memory",
    "dynamic_skill",
    "edited_image_file",
    "goal_status",
    "hook_cancelled",
    "hook_deferred_tool",
    "hook_error_during_execution",
    "hook_non_blocking_error",
    "hook_permission_decision",
    "hook_system_message",
    "max_turns_reached",
    "structured_output",
    "task_progress",
    "teammate_shutdown_batch",
];

/// The events after which the output of a hook is sent to the model.
const HEARD_HOOKS: &[&str] = &["SessionStart", "UserPromptSubmit", "UserPromptExpansion"];

/// The members of each type whose texts the model reads, through objects and lists; of keys with `|` between them, the first that
/// is there. Of a type that is not listed, it is assumed to read all texts.
const SENT: &[(&str, &[&str])] = &[
    ("agent_listing_delta", &["addedLines", "removedTypes"]),
    ("agent_mention", &["agentType"]),
    ("async_hook_response", &["response.systemMessage", "response.hookSpecificOutput.additionalContext"]),
    ("audio_transcript", &["filename", "transcript", "error"]),
    ("compact_file_reference", &["filename"]),
    ("critical_system_reminder", &["content"]),
    ("date_change", &["newDate"]),
    (
        "deferred_tools_delta",
        &[
            "addedLines|addedNames", "readdedNames", "removedNames", "retractedTools.name", "needsAuthMcpServers",
            "failedMcpServers.name", "failedMcpServers.error", "pendingMcpServers",
        ],
    ),
    ("diagnostics", &["files.uri", "files.diagnostics.message", "files.diagnostics.code", "files.diagnostics.source"]),
    ("directory", &["path", "content"]),
    ("edited_text_file", &["filename", "snippet"]),
    ("file", &["filename", "content.file.content", "content.file.cells.source", "content.file.cells.outputs.text"]),
    ("hook_additional_context", &["content"]),
    ("hook_blocking_error", &["blockingError.command", "blockingError.blockingError"]),
    ("hook_stopped_continuation", &["message"]),
    ("hook_success", &["content"]),
    ("invoked_skills", &["skills.name", "skills.path", "skills.content"]),
    ("mcp_dropped_tools_delta", &["addedEntries"]),
    ("mcp_instructions_delta", &["addedBlocks", "removedNames"]),
    ("mcp_resource", &["server", "uri", "content.contents.text"]),
    ("memory_update", &["summary", "paths", "inContextPaths"]),
    ("nested_memory", &["content.path", "content.content"]),
    ("opened_file_in_ide", &["filename"]),
    ("output_style", &["style", "turnReminder"]),
    ("pdf_reference", &["filename"]),
    ("plan_file_reference", &["planFilePath", "planContent"]),
    ("plan_mode", &["planFilePath", "customInstructions"]),
    ("plan_mode_exit", &["planFilePath"]),
    ("plan_mode_reentry", &["planFilePath"]),
    ("queued_command", &["batchedRelayPrompts|prompt", "batchedRelayPrompts|prompt.text", "inlinedImagePaths"]),
    ("read_truncation_notice", &["banner"]),
    ("relevant_memories", &["memories.header|path", "memories.content"]),
    ("selected_lines_in_diff", &["filePath", "content"]),
    ("selected_lines_in_ide", &["filename", "content"]),
    ("skill_listing", &["content"]),
    ("task_reminder", &["content.id", "content.status", "content.subject"]),
    ("task_status", &["taskId", "taskType", "status", "description", "deltaSummary", "outputFilePath"]),
    ("team_context", &["agentName", "teamConfigPath", "taskListPath"]),
    ("teammate_mailbox", &["messages.from", "messages.summary", "messages.text"]),
    ("todo_reminder", &["content.status", "content.content"]),
    ("tool_search_usage_reminder", &["undiscoveredToolNames"]),
    ("total_tokens_reminder", &["text"]),
];

/// The length from which on a text without white space that is base64 is taken for the bytes of a file.
const BYTES: usize = 200;

/// Reads an attachment as metadata, with the texts and images that the model reads.
pub(super) fn read_attachment(item: Value<'_>) -> Item<'_> {
    let Some(attachment) = item.get("attachment") else { return Item::Metadata };
    let kind = attachment.word("type");
    let is_unheard = kind == "hook_success" && !HEARD_HOOKS.contains(&&*event_of(attachment));
    // A command that was sent together with others is in the first of them.
    let is_repeated = kind == "queued_command" && attachment.is_true("renderedByBatchHead");
    if is_unheard || is_repeated || UNSEEN.contains(&&*kind) {
        return Item::Metadata;
    }
    let mut attached = read_all(attachment);
    if let Some((_, paths)) = SENT.iter().find(|(sent, _)| *sent == kind) {
        attached.texts = paths.iter().flat_map(|path| texts_at(attachment, path)).collect();
    }
    Item::Attached(attached)
}

/// All texts and images of an attachment, at any depth.
fn read_all(attachment: Value<'_>) -> Attached<'_> {
    let mut attached = Attached::default();
    let mut open: Vec<Value<'_>> = read_members(attachment).collect();
    let mut at = 0;
    while let Some(&value) = open.get(at) {
        steps::count(1);
        at += 1;
        if is_image(value) {
            attached.media += 1;
        } else if let Some(text) = value.text() {
            attached.texts.extend(Some(text).filter(|text| !is_bytes(text)));
        } else {
            open.extend(value.items().chain(read_members(value)));
        }
    }
    attached
}

/// The members of an object without its type.
fn read_members(value: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    value.members().filter(|member| !member.key.is("type")).map(|member| member.value)
}

/// Whether a value is an image: a block, or the output of a cell in a notebook.
fn is_image(value: Value<'_>) -> bool {
    has_bytes(value) || value.get("image_data").is_some()
}

/// Whether a text is the bytes of a file.
fn is_bytes(text: &Text<'_>) -> bool {
    let text = text.decode();
    text.len() >= BYTES && !text.contains(char::is_whitespace) && is_base64(&text)
}

/// The texts at a path of members, through objects and lists.
fn texts_at<'a>(attachment: Value<'a>, path: &str) -> Vec<Text<'a>> {
    let mut values = vec![attachment];
    for keys in path.split('.') {
        let members = values.iter().filter_map(|value| keys.split('|').find_map(|key| value.some(key)));
        values = members.flat_map(items_or_self).collect();
    }
    values.into_iter().filter_map(Value::text).collect()
}

/// The items of a list, or the value itself.
fn items_or_self(value: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    value.items().chain(Some(value).filter(|value| !value.is_array()))
}

/// What a hook followed; older versions write it only into its name, as in `SessionStart:resume`.
fn event_of(attachment: Value<'_>) -> String {
    let event = attachment.get_text("hookEvent").or_else(|| attachment.get_text("hookName"));
    let event = event.map(|event| event.decode().into_owned()).unwrap_or_default();
    event.split(':').next().unwrap_or_default().to_owned()
}
