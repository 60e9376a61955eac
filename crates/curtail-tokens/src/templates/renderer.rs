//! Compiles and renders in separate processes, so that no template can hang, abort or fill the memory of the caller. A
//! process reads JSON lines, one for the template and then one per transcript, and answers each with a line.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read as _, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};

use minijinja::Value;
use serde::Serialize;
use serde_json::json;

use super::TemplateError;
use super::compiled::{Compiled, LONGEST_TEXT};
use super::messages::from_json;
use super::sources::Sources;
use curtail_core::system_error::system_message;

/// The longest answer, in bytes: the longest text that is rendered, if each of its bytes is escaped.
const LONGEST_ANSWER: u64 = 6 * LONGEST_TEXT as u64 + 1024;

/// Processes that render one template: as many as there are threads that ask at once.
pub(super) struct Renderers {
    /// The program and its arguments.
    command: Vec<OsString>,
    /// The file of the template.
    origin: String,
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
    /// The processes that `command` starts; one of them has compiled the template.
    pub(super) fn new(command: Vec<OsString>, sources: &Sources) -> Result<Self, TemplateError> {
        let origin = sources.origin.clone();
        let opening = line(sources)?;
        let renderers = Self { command, origin, opening, idle: Mutex::default() };
        renderers.set_idle(renderers.start()?);
        Ok(renderers)
    }

    /// The text of a request, rendered by an idle process or a new one.
    pub(super) fn render(&self, request: &Value) -> Result<String, TemplateError> {
        self.render_by(self.renderer()?, request)
    }

    /// The text of an example; `None` if the template refuses it, or must be stopped.
    ///
    /// # Errors
    /// No process can be started.
    pub(super) fn example(&self, request: &Value) -> Result<Option<String>, TemplateError> {
        Ok(self.render_by(self.renderer()?, request).ok())
    }

    fn renderer(&self) -> Result<Renderer, TemplateError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(|| self.start(), Ok)
    }

    fn render_by(&self, mut renderer: Renderer, request: &Value) -> Result<String, TemplateError> {
        let Some(answer) = renderer.ask(&line(request)?) else { return Err(renderer.stopped("rendering")) };
        self.set_idle(renderer);
        text_of(&answer)
    }

    fn set_idle(&self, renderer: Renderer) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(renderer);
    }

    fn start(&self) -> Result<Renderer, TemplateError> {
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
        let mut child = command.spawn().map_err(|error| self.not_started(&error))?;
        let (Some(requests), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(self.not_started(&std::io::ErrorKind::BrokenPipe.into()));
        };
        let mut renderer = Renderer { child, requests, answers: BufReader::new(answers) };
        let Some(answer) = renderer.ask(&self.opening) else {
            return Err(renderer.stopped(&format!("compiling {}", self.origin)));
        };
        text_of(&answer).map(|_| renderer)
    }

    fn not_started(&self, error: &std::io::Error) -> TemplateError {
        let message = system_message(error);
        TemplateError::new(format!("the process that renders {} cannot be started: {message}", self.origin))
    }
}

/// A value as a line for a process.
fn line(value: &impl Serialize) -> Result<String, TemplateError> {
    serde_json::to_string(value).map_err(|error| TemplateError::new(error.to_string()))
}

/// The text of an answer, or its error.
fn text_of(answer: &serde_json::Value) -> Result<String, TemplateError> {
    match (answer["text"].as_str(), answer["error"].as_str()) {
        (Some(text), _) => Ok(text.to_owned()),
        (None, error) => Err(TemplateError::new(error.unwrap_or("rendering it failed").to_owned())),
    }
}

impl Renderer {
    /// The answer to a request; `None` if the process ended or its answer is not JSON.
    fn ask(&mut self, line: &str) -> Option<serde_json::Value> {
        self.requests.write_all(line.as_bytes()).and_then(|()| self.requests.write_all(b"\n")).ok()?;
        let mut answer = String::new();
        self.answers.by_ref().take(LONGEST_ANSWER).read_line(&mut answer).ok()?;
        serde_json::from_str(&answer).ok()
    }

    /// Ends the process, unless it has ended, and returns why there is no answer to `task`.
    fn stopped(mut self, task: &str) -> TemplateError {
        // Both fail if it has ended already.
        let _ = self.child.kill();
        let status = self.child.wait().ok();
        let limit = match status.is_some_and(took_too_long) {
            true => "took more time",
            false => "needs more memory, or nests deeper,",
        };
        TemplateError::new(format!("{task} was stopped: it {limit} than allowed"))
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

/// The main loop of a process that [`ChatTemplate::open_isolated`](super::ChatTemplate::open_isolated) starts: compiles the
/// template in the first line of `requests`, renders the others, and answers each line. `before` is called before each, to set
/// limits.
///
/// # Errors
/// The streams cannot be read or written, or the first line is not a template.
pub fn serve(mut requests: impl BufRead, mut answers: impl Write, mut before: impl FnMut()) -> std::io::Result<()> {
    let mut line = String::new();
    requests.read_line(&mut line)?;
    let sources: Sources = serde_json::from_str(&line)?;
    before();
    let compiled = Compiled::new(sources);
    let ready = compiled.as_ref().map(|_| String::new());
    write_answer(&mut answers, &ready.map_err(Clone::clone))?;
    let Ok(compiled) = compiled else { return Ok(()) };
    loop {
        line.clear();
        if requests.read_line(&mut line)? == 0 {
            return Ok(());
        }
        before();
        write_answer(&mut answers, &rendered(&compiled, &line))?;
    }
}

fn rendered(compiled: &Compiled, request: &str) -> Result<String, TemplateError> {
    let request = serde_json::from_str(request).map_err(|error| TemplateError::new(error.to_string()))?;
    compiled.render(&from_json(request))
}

fn write_answer(answers: &mut impl Write, answer: &Result<String, TemplateError>) -> std::io::Result<()> {
    let answer = match answer {
        Ok(text) => json!({"text": text}),
        Err(error) => json!({"error": error.to_string()}),
    };
    answers.write_all(format!("{answer}\n").as_bytes())?;
    answers.flush()
}
