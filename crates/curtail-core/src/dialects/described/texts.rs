//! The texts of the descriptions that the program brings, and what other descriptions can extend.

use super::screen::Mask;
use crate::dialects::{CODE, Dialect};

/// Descriptions that the program brings: name and text.
macro_rules! descriptions {
    ($folder:literal: $($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../", $folder, $name, ".toml")))),*]
    };
}

/// The dialects that are described, in the order in which they are listed.
pub(super) const BUILT_IN: &[(&str, &str)] = descriptions! { "":
    "haystack", "llama-index", "autogen-core", "autogen-agentchat", "semantic-kernel",
    "semantic-kernel-dotnet", "microsoft-extensions-ai", "agent-framework", "spring-ai", "langchain4j",
    "strands", "agno", "smolagents", "smolagents-chat", "llama", "librechat", "batch-output", "qwen-agent",
    "cohere", "ollama", "mcp-sampling", "ag-ui", "mastra", "letta", "letta-messages", "continue",
    "claude-ai", "codex-exec", "opencode-run", "cursor-stream", "gemini-stream", "kimi-wire", "kimi-context",
    "crush", "harmony", "openai-conversations", "openai-threads", "ai-studio", "agentcore-memory",
    "lm-studio", "nextchat", "silly-tavern", "deepseek-harness", "a2a", "zencoder", "antigravity",
};

// Each has a bit.
const _: () = assert!(BUILT_IN.len() <= Mask::BITS as usize);

/// What descriptions of dialects that are code extend.
const WIRES: &[(&str, &str)] = descriptions! { "wires/":
    "openai", "anthropic",
};

/// The names and the texts of the descriptions that the program brings.
#[must_use]
pub const fn built_in() -> &'static [(&'static str, &'static str)] {
    BUILT_IN
}

/// The text of the description of a dialect that the program brings; `None` if it is code.
#[must_use]
pub fn description_of(name: &str) -> Option<&'static str> {
    BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The text of the description called `name`, which another one can extend.
pub(super) fn extended(name: &str) -> Option<&'static str> {
    BUILT_IN.iter().chain(WIRES).find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The dialect called `name`, if it is code and its messages can stand in an envelope.
pub(super) fn enveloped(name: &str) -> Option<&'static dyn Dialect> {
    let code = CODE.iter().copied().find(|dialect| dialect.name() == name)?;
    let can_stand = !code.is_log() && code.writer().is_none_or(|writer| writer.tree().is_none());
    can_stand.then_some(code)
}

/// The names of all that a description can extend.
pub(super) fn extendable() -> Vec<&'static str> {
    let code = CODE.iter().map(|dialect| dialect.name()).filter(|name| enveloped(name).is_some());
    code.chain(BUILT_IN.iter().map(|(name, _)| *name)).collect()
}
