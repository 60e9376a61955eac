//! Every dialect on its fixtures: what is read, that nothing to do changes nothing, and that sniffing tells it from the others.

mod claude_code;
mod codex;
mod data;
mod files;
mod identity;
mod sniffing;
mod views;
