//! The commands as a user types them: inputs, outputs, messages and exit statuses.

mod batch;
mod count;
mod help;
mod io;
mod repair;
mod summarize;
