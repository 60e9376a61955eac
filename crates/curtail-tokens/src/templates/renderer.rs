//! Rendering in processes of their own, so that no template can hang, abort or fill the memory of the caller. It knows the
//! lines that are exchanged: one of JSON for the template, then one for each transcript, and one back for each.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read as _, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};

use minijinja::Value;
use serde_json::json;

use super::{ChatTemplate, TemplateError, from_json};
use curtail_core::error::system_message;

/// The most bytes of an answer: a text of the longest that is rendered, each byte of which may be an escape.
const LONGEST_ANSWER: u64 = 6 * super::LONGEST_TEXT as u64 + 1024;

/// Processes that render one template, as many as threads ask at once.
pub(super) struct Renderers {
    /// The program and its arguments.
    command: Vec<OsString>,
    /// The line that tells a process which template it renders.
    opening: String,
    idle: Mutex<Vec<Renderer>>,
}

/// A process that renders.
struct Renderer {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Renderers {
    pub(super) fn new(command: Vec<OsString>, template: &ChatTemplate) -> Self {
        let special: Vec<_> = template.special.iter().map(|(name, token)| (name, token.as_str())).collect();
        let opening = json!({"origin": template.origin, "sources": template.sources, "special": special}).to_string();
        Self { command, opening, idle: Mutex::default() }
    }

    /// The text of a request, rendered by an idle process or a new one.
    pub(super) fn render(&self, request: &Value) -> Result<String, TemplateError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut renderer = idle.map_or_else(|| self.start(), Ok)?;
        let line = serde_json::to_string(request).map_err(|error| TemplateError::new(error.to_string()))?;
        let Some(answer) = renderer.ask(&line) else { return Err(renderer.stopped()) };
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(renderer);
        match (answer["text"].as_str(), answer["error"].as_str()) {
            (Some(text), _) => Ok(text.to_owned()),
            (None, error) => Err(TemplateError::new(error.unwrap_or("rendering it failed").to_owned())),
        }
    }

    fn start(&self) -> Result<Renderer, TemplateError> {
        let failed = |error: std::io::Error| {
            TemplateError::new(format!("the process that renders it cannot be started: {}", system_message(&error)))
        };
        let [program, arguments @ ..] = self.command.as_slice() else {
            return Err(TemplateError::new(String::from("no program renders it")));
        };
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // The work that a debug build counts is the program's own.
        #[cfg(debug_assertions)]
        command.env_remove("CURTAIL_WORK");
        // A signal from the terminal is for the program, which finishes its records.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(failed)?;
        let (Some(requests), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed(std::io::ErrorKind::BrokenPipe.into()));
        };
        let mut renderer = Renderer { child, requests, answers: BufReader::new(answers) };
        renderer.send(&self.opening).map_err(failed)?;
        Ok(renderer)
    }
}

impl Renderer {
    fn send(&mut self, line: &str) -> std::io::Result<()> {
        self.requests.write_all(line.as_bytes())?;
        self.requests.write_all(b"\n")
    }

    /// The answer to a request; `None` if the process ended or wrote no JSON.
    fn ask(&mut self, line: &str) -> Option<serde_json::Value> {
        self.send(line).ok()?;
        let mut answer = String::new();
        self.answers.by_ref().take(LONGEST_ANSWER).read_line(&mut answer).ok()?;
        serde_json::from_str(&answer).ok()
    }

    /// Why there is no answer. The process has ended, or is ended now.
    fn stopped(mut self) -> TemplateError {
        // Both fail if it has ended already.
        let _ = self.child.kill();
        let status = self.child.wait().ok();
        let limit = match status.is_some_and(took_too_long) {
            true => "it took more time than rendering may take",
            false => "it needs more memory, or nests values deeper, than rendering may",
        };
        TemplateError::new(format!("rendering was stopped: {limit}"))
    }
}

/// Whether a process was ended because it used up its time of the processor.
#[cfg(unix)]
fn took_too_long(status: ExitStatus) -> bool {
    const SIGXCPU: i32 = 24;
    std::os::unix::process::ExitStatusExt::signal(&status) == Some(SIGXCPU)
}

#[cfg(not(unix))]
fn took_too_long(_: ExitStatus) -> bool {
    false
}

/// Renders what `requests` contain, line by line, as the process that [`ChatTemplate::isolate`] starts. `before` is called
/// before each, to set limits.
///
/// # Errors
/// The streams cannot be read or written, or the first line names no template.
#[doc(hidden)]
pub fn serve(mut requests: impl BufRead, mut answers: impl Write, mut before: impl FnMut()) -> std::io::Result<()> {
    let mut line = String::new();
    requests.read_line(&mut line)?;
    let wrong = || std::io::Error::from(std::io::ErrorKind::InvalidData);
    let template = template_of(&serde_json::from_str(&line)?).ok_or_else(wrong)?;
    loop {
        line.clear();
        if requests.read_line(&mut line)? == 0 {
            return Ok(());
        }
        before();
        let answer = match serde_json::from_str::<serde_json::Value>(&line) {
            Ok(request) => template.render_request(&from_json(request)),
            Err(error) => Err(TemplateError::new(error.to_string())),
        };
        let answer = match answer {
            Ok(text) => json!({"text": text}),
            Err(error) => json!({"error": error.to_string()}),
        };
        answers.write_all(format!("{answer}\n").as_bytes())?;
        answers.flush()?;
    }
}

fn template_of(opening: &serde_json::Value) -> Option<ChatTemplate> {
    let pairs = |name: &str| -> Option<Vec<(String, String)>> { serde_json::from_value(opening[name].clone()).ok() };
    let mut template = ChatTemplate::of_sources(pairs("sources")?, opening["origin"].as_str()?.to_owned()).ok()?;
    template.special = pairs("special")?.into_iter().map(|(name, token)| (name, Value::from(token))).collect();
    Some(template)
}
