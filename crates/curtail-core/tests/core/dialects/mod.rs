//! Every dialect on its fixtures: how they are read, that nothing to do changes nothing, and that the dialect is detected; and
//! what is particular to one dialect, to exports and to transcripts of a user.

mod adk;
mod ai_sdk;
mod anthropic;
mod atif;
mod claude_code;
mod codex;
mod copilot;
mod crossed;
mod data;
mod emptied;
mod exports;
pub mod files;
mod identity;
mod kimi;
mod langchain;
mod notes;
mod nulls;
mod opencode;
mod openhands;
mod otel;
mod pi;
mod refused;
mod repeated;
mod replies;
mod same_message;
mod sent;
mod sniffing;
mod training;
mod views;
mod written;
