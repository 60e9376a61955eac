//! Every dialect on its fixtures: how they are read, that nothing to do changes nothing, and that the dialect is detected.

mod adk;
mod anthropic;
mod claude_code;
mod codex;
mod copilot;
mod crossed;
mod data;
mod emptied;
mod exports;
pub mod files;
mod forms;
mod identity;
mod kimi;
mod langchain;
mod nulls;
mod opencode;
mod repeated;
mod same_message;
mod sent;
mod sniffing;
mod training;
mod views;
mod written;
