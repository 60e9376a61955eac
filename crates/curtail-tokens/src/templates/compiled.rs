//! Templates, ready to render, with limits: a template is a program that somebody else wrote.

use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Kwargs;
use minijinja::{Environment, Error, ErrorKind, State, Value};

use super::messages::member;
use super::sources::{DEFAULT, Sources, TOOL_USE};
use super::{TemplateError, python};

/// The number of steps that every rendering may take, and by how much each message raises it. Templates of known models
/// take a few hundred steps per message.
const BASE_STEPS: u64 = 2_000_000;
const STEPS_PER_MESSAGE: u64 = 20_000;

/// The longest rendered text, in bytes.
pub(super) const LONGEST_TEXT: usize = 256 << 20;

/// The longest error of a template, in bytes. A template can raise an error with any text.
const LONGEST_ERROR: usize = 1_000;

/// The templates of a model, ready to render.
pub(super) struct Compiled {
    environment: Environment<'static>,
    sources: Sources,
}

impl Compiled {
    pub(super) fn new(sources: Sources) -> Result<Self, TemplateError> {
        let mut compiled = Self { environment: environment()?, sources };
        for (name, source) in &compiled.sources.templates {
            let added = compiled.environment.add_template_owned(name.clone(), without_generation_tags(source));
            added.map_err(|error| compiled.located(&error))?;
        }
        Ok(compiled)
    }

    /// The error with its file and line.
    fn located(&self, error: &Error) -> TemplateError {
        let line = error.line().map(|line| format!(":{line}")).unwrap_or_default();
        let name = match (error.name(), self.sources.templates.len()) {
            (Some(name), 2..) => format!(" (template {name:?})"),
            _ => String::new(),
        };
        TemplateError::new(format!("{}{line}:{name} {}", self.sources.origin, template_error(error)))
    }

    /// The text for a request of [`ChatTemplate::render`](super::ChatTemplate::render).
    pub(super) fn render(&self, request: &Value) -> Result<String, TemplateError> {
        let name = if member(request, "tools").is_none() { DEFAULT } else { TOOL_USE };
        let messages = member(request, "messages").len().unwrap_or(0) as u64;
        let mut environment = self.environment.clone();
        environment.set_fuel(Some(BASE_STEPS.saturating_add(STEPS_PER_MESSAGE.saturating_mul(messages))));
        let found = environment.get_template(name).or_else(|_| environment.get_template(DEFAULT));
        let template = found.map_err(|error| self.located(&error))?;
        let parts = ["messages", "tools", "documents", "add_generation_prompt"]
            .map(|name| (name.to_owned(), member(request, name)));
        let special = self.sources.special.iter().map(|(name, token)| (name.clone(), Value::from(token)));
        let context = Value::from_pairs(parts.into_iter().chain(special));
        let mut text = BoundedText(Vec::new());
        let rendered = template.render_captured_to(context, &mut text).map(|_| ());
        let origin = &self.sources.origin;
        if text.0.len() >= LONGEST_TEXT {
            return Err(TemplateError::new(format!("{origin}: its text is longer than {LONGEST_TEXT} bytes")));
        }
        rendered.map_err(|error| self.located(&error))?;
        String::from_utf8(text.0).map_err(|_| TemplateError::new(format!("{origin}: its text is not UTF-8")))
    }
}

/// The error without the place where it occurred.
fn template_error(error: &Error) -> TemplateError {
    if error.kind() == ErrorKind::OutOfFuel {
        return TemplateError::new(String::from("it takes more steps than rendering may take; it may never end"));
    }
    let detail = error.detail().map(shortened);
    TemplateError::new(detail.unwrap_or_else(|| Error::from(error.kind()).to_string()))
}

/// The first [`LONGEST_ERROR`] bytes of an error, with a note if that is not all of it.
fn shortened(error: &str) -> String {
    if error.len() <= LONGEST_ERROR {
        return error.to_owned();
    }
    let shown = &error[..error.floor_char_boundary(LONGEST_ERROR)];
    format!("{shown}… ({} more bytes)", error.len() - shown.len())
}

/// A text of at most [`LONGEST_TEXT`] bytes.
struct BoundedText(Vec<u8>);

impl Write for BoundedText {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let room = LONGEST_TEXT - self.0.len();
        self.0.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if bytes.len() > room { Err(std::io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Jinja with the settings of `transformers`.
fn environment() -> Result<Environment<'static>, TemplateError> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.map_err(|error| template_error(&error))?);
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.set_debug(true);
    environment.set_formatter(|out, _: &mut State, value| {
        out.write_str(&python::text(value)?).map_err(|_| Error::new(ErrorKind::WriteFailure, "cannot write"))
    });
    environment.add_filter("tojson", |value: &Value, options: Kwargs| python::to_json(value, &options));
    environment.add_filter("string", |value: &Value| python::text(value));
    // As in Python, where an undefined value has the length 0.
    for name in ["length", "count"] {
        environment.add_filter(name, length);
    }
    // As in Python: `None` is not iterable; a text and an undefined value are, and sequences as well.
    environment
        .add_test("iterable", |value: &Value| value.as_str().is_some() || !value.is_none() && value.try_iter().is_ok());
    environment.add_test("sequence", |value: &Value| value.is_undefined() || value.len().is_some());
    environment.add_function("raise_exception", |message: String| -> Result<Value, Error> {
        Err(Error::new(ErrorKind::InvalidOperation, message))
    });
    environment.add_function("strftime_now", |format: String| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        python::strftime(&format, now)
    });
    Ok(environment)
}

fn length(value: &Value) -> Result<usize, Error> {
    if value.is_undefined() {
        return Ok(0);
    }
    value.len().ok_or_else(|| {
        Error::new(ErrorKind::InvalidOperation, format!("a value of type {} has no length", value.kind()))
    })
}

/// The source with each `{% generation %}` tag, which only marks what a model wrote, replaced by `{% if true %}`.
fn without_generation_tags(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut rest = source;
    while let Some((before, after)) = rest.split_once("{%") {
        let Some((tag, following)) = after.split_once("%}") else { break };
        let keyword = tag.trim_matches(['-', '+']).trim();
        let replaced = match keyword {
            "generation" => tag.replace("generation", "if true"),
            "endgeneration" => tag.replace("endgeneration", "endif"),
            _ => tag.to_owned(),
        };
        text.push_str(&format!("{before}{{%{replaced}%}}"));
        rest = following;
    }
    text + rest
}
