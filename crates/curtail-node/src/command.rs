//! Commands with their flags.

use std::sync::Arc;

use curtail_bindings::{Setting, guarded, parsed, words};
use napi::Result;
use napi::bindgen_prelude::Either3;
use napi_derive::napi;

use crate::record::{Record, Sent, error};

/// A command with its flags.
#[napi]
pub struct Command {
    pub(crate) command: Arc<curtail_bindings::Command>,
}

#[napi]
impl Command {
    /// Reads a command line, without the name of the program. With `explain`, decisions are explained and tokens counted.
    ///
    /// # Errors
    /// What is wrong with it.
    #[napi(constructor)]
    #[allow(clippy::needless_pass_by_value, reason = "the list of JavaScript becomes this vector")]
    pub fn new(words: Vec<String>, explain: bool) -> Result<Self> {
        Ok(Self { command: Arc::new(parsed(&words, explain).map_err(error)?) })
    }

    /// What it does.
    #[napi(getter)]
    #[must_use]
    pub fn does(&self) -> &'static str {
        self.command.does().name()
    }

    /// What there is to say about its flags.
    #[napi(getter)]
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        self.command.remarks.clone()
    }

    /// Compares two transcripts; returns the report as JSON.
    ///
    /// # Errors
    /// One of them cannot be read, or the command is another.
    #[napi]
    pub fn verify(&self, before: Sent, after: Sent) -> Result<String> {
        let sides = [before, after].map(|side| Record::new(side, false).text().map(str::to_owned));
        let report = guarded(|| {
            let [before, after] = sides;
            self.command.verify(before?, after?)
        });
        report.map_err(error)
    }
}

/// The command line of the command `name` with options by name.
#[napi]
#[must_use]
#[allow(clippy::needless_pass_by_value, reason = "values of JavaScript become these")]
pub fn command_line(name: String, options: Vec<(String, Either3<bool, String, Vec<String>>)>) -> Vec<String> {
    let settings = options.into_iter().map(|(name, value)| {
        let setting = match value {
            Either3::A(is_on) => Setting::Switch(is_on),
            Either3::B(value) => Setting::Value(value),
            Either3::C(values) => Setting::Values(values),
        };
        (name, setting)
    });
    words(&name, &settings.collect::<Vec<_>>())
}

/// Names the program, which renders chat templates.
#[napi]
pub fn set_program(path: String) {
    curtail_bindings::set_program(path.into());
}
