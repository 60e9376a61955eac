//! Every summarizer, and the arithmetic of rolling memory.

#[cfg(unix)]
mod command;
mod extractive;
mod http;
mod rolling;
