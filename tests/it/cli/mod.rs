//! The commands as a user types them: inputs, outputs, messages and exit statuses.

mod answers;
mod batch;
mod broken;
mod count;
mod damaged;
mod described;
mod effects;
mod explained;
mod files;
mod filter;
mod follow;
mod help;
mod io;
mod numbers;
mod question;
mod repair;
mod safety;
mod schemas;
mod split;
mod stalls;
mod summarize;
mod templates;
mod threads;
mod unread;
mod usage;
mod walks;
