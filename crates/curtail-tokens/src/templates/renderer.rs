//! Renders in separate processes, so that no template can hang, abort or fill the memory of the caller. A process reads
//! JSON lines, one for the template and then one per transcript, and answers each transcript with a line.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read as _, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};

use minijinja::Value;
use serde_json::json;

use super::{ChatTemplate, TemplateError, from_json};
use curtail_core::error::system_message;

/// The longest answer, in bytes: the longest text that is rendered, if each of its bytes is escaped.
const LONGEST_ANSWER: u64 = 6 * super::LONGEST_TEXT as u64 + 1024;

/// Processes that render one template: as many as there are threads that ask at once.
pub(super) struct Renderers {
    /// The program and its arguments.
    command: Vec<OsString>,
    /// The first line for a process: the template that it renders.
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
        // A debug build counts the work of the program itself, not that of its renderers.
        #[cfg(debug_assertions)]
        command.env_remove("CURTAIL_WORK");
        // A signal from the terminal must reach only the program, which finishes its records.
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

    /// The answer to a request; `None` if the process ended or its answer is not JSON.
    fn ask(&mut self, line: &str) -> Option<serde_json::Value> {
        self.send(line).ok()?;
        let mut answer = String::new();
        self.answers.by_ref().take(LONGEST_ANSWER).read_line(&mut answer).ok()?;
        serde_json::from_str(&answer).ok()
    }

    /// Ends the process, unless it has ended, and returns why there is no answer.
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

/// Whether a process was killed because it used up its CPU time.
#[cfg(unix)]
fn took_too_long(status: ExitStatus) -> bool {
    const SIGXCPU: i32 = 24;
    std::os::unix::process::ExitStatusExt::signal(&status) == Some(SIGXCPU)
}

#[cfg(not(unix))]
fn took_too_long(_: ExitStatus) -> bool {
    false
}

/// The main loop of a process that [`ChatTemplate::isolate`] starts: renders `requests`, line by line, to `answers`.
/// `before` is called before each rendering, to set limits.
///
/// # Errors
/// The streams cannot be read or written, or the first line is not a template.
#[doc(hidden)]
pub fn serve(mut requests: impl BufRead, mut answers: impl Write, mut before: impl FnMut()) -> std::io::Result<()> {
    let mut line = String::new();
    requests.read_line(&mut line)?;
    let invalid = || std::io::Error::from(std::io::ErrorKind::InvalidData);
    let template = template_of(&serde_json::from_str(&line)?).ok_or_else(invalid)?;
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
