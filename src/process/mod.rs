//! This process as the system sees it: the signals that end it, the limits on it, and the child processes that render chat
//! templates.

mod interrupt;
mod limits;
mod rendering;

pub(crate) use interrupt::{Interrupt, end_summarizers_first};
#[cfg(unix)]
pub(crate) use limits::{raise_file_limit, survive_file_size_limit};
pub(crate) use rendering::{RENDER_COMMAND, open_template, serve_templates, set_program};
