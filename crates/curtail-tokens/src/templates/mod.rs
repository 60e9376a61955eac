//! Chat templates of Hugging Face models, rendered as `transformers` renders them. This module knows no tokenizer and no
//! budget.

mod python;
mod renderer;

pub use curtail_core::counting::TemplateError;

use std::ffi::OsString;
use std::io::{Read as _, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Kwargs;
use minijinja::{Environment, Error, ErrorKind, State, Value};
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};

use curtail_core::counting::{Prepared, Template};
use curtail_core::json::Text;
use curtail_core::transcript::{Content, Message, ToolCall};
use renderer::Renderers;

pub use renderer::serve;

/// The largest file with a template or tools, in bytes. The longest template of a known model has 20,000.
const LARGEST_FILE: u64 = 64 << 20;

/// The number of steps that every rendering may take, and by how much each message raises it. Templates of known models
/// take a few hundred steps per message.
const BASE_STEPS: u64 = 2_000_000;
const STEPS_PER_MESSAGE: u64 = 20_000;

/// The longest rendered text, in bytes.
const LONGEST_TEXT: usize = 256 << 20;

/// The longest error of a template, in bytes. A template can raise an error with any text.
const LONGEST_ERROR: usize = 1_000;

/// A chat template and the special tokens of its model.
///
/// A template is a program that somebody else wrote. Its steps and the length of its text are limited. Still, it can
/// use any amount of memory, and abort the process with deep nesting or with values that contain themselves, unless
/// [`open_isolated`](Self::open_isolated) makes another process compile and render it.
///
/// ```
/// use curtail_core::dialects::{Framing, Reading};
/// use curtail_tokens::templates::{ChatMessage, ChatTemplate};
///
/// let reading = Reading::new(Framing::Records, None, None)?;
/// let document = reading.parse(r#"{"messages": [{"role": "user", "content": "Hello"}]}"#)?;
/// let (_, transcript) = &reading.transcripts(&document)?[0];
/// let messages = ChatMessage::from_message(&transcript.messages[0]);
///
/// let template = ChatTemplate::compile("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}")?;
/// assert_eq!(template.render(&messages.iter().collect::<Vec<_>>(), None)?, "<user>Hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ChatTemplate {
    host: RenderHost,
    /// Tools for transcripts that contain none.
    pub tools: Option<ToolList>,
    /// Whether the text ends with the beginning of a reply.
    pub add_generation_prompt: bool,
}

/// Where a template is compiled and rendered.
enum RenderHost {
    /// This process.
    Here(Box<Compiled>),
    /// Other processes.
    Elsewhere(Renderers),
}

/// The templates of a model, as its files contain them.
#[derive(Serialize, Deserialize)]
struct Sources {
    /// The file, as errors name it.
    origin: String,
    /// The templates by name.
    templates: Vec<(String, String)>,
    /// `bos_token` and the like.
    special: Vec<(String, String)>,
}

/// The templates of a model, ready to render.
struct Compiled {
    environment: Environment<'static>,
    sources: Sources,
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

const DEFAULT: &str = "default";
const TOOL_USE: &str = "tool_use";

impl ChatTemplate {
    /// Reads a template: a `chat_template.jinja`, a `tokenizer_config.json`, or the folder of a model that contains one of
    /// them. Special tokens are those of the `tokenizer_config.json` beside it.
    ///
    /// # Errors
    /// A file that cannot be read, no template in it, or a template that cannot be compiled.
    pub fn open(path: &Path) -> Result<Self, TemplateError> {
        Sources::read(path)?.compile().map(|compiled| Self::by(RenderHost::Here(Box::new(compiled))))
    }

    /// As [`open`](Self::open), and lets other processes compile and render the template. `command` is a program, which
    /// calls [`serve`] with its standard streams, and its arguments. Whatever a template does can only end such a process,
    /// which is an error here.
    ///
    /// # Errors
    /// As [`open`](Self::open); the program cannot be started.
    pub fn open_isolated(path: &Path, command: Vec<OsString>) -> Result<Self, TemplateError> {
        Renderers::new(command, &Sources::read(path)?).map(|renderers| Self::by(RenderHost::Elsewhere(renderers)))
    }

    /// Compiles one template in this process, without special tokens.
    ///
    /// # Errors
    /// The template is not valid.
    pub fn compile(source: &str) -> Result<Self, TemplateError> {
        let templates = vec![(DEFAULT.to_owned(), source.to_owned())];
        let sources = Sources { origin: String::from("template"), templates, special: Vec::new() };
        sources.compile().map(|compiled| Self::by(RenderHost::Here(Box::new(compiled))))
    }

    const fn by(host: RenderHost) -> Self {
        Self { host, tools: None, add_generation_prompt: false }
    }

    /// The text that the model reads.
    ///
    /// # Errors
    /// The template rejects the messages, for example because roles do not alternate, or rendering exceeds a limit.
    pub fn render(&self, messages: &[&ChatMessage], tools: Option<&ToolList>) -> Result<String, TemplateError> {
        let tools = tools.or(self.tools.as_ref());
        let messages: Vec<Value> = messages.iter().map(|message| message.0.clone()).collect();
        let request = Value::from_pairs([
            ("messages", Value::from(messages)),
            ("tools", tools.map_or(Value::from(()), |tools| tools.0.clone())),
            ("documents", Value::from(())),
            ("add_generation_prompt", Value::from(self.add_generation_prompt)),
        ]);
        match &self.host {
            RenderHost::Here(compiled) => compiled.render(&request),
            RenderHost::Elsewhere(renderers) => renderers.render(&request),
        }
    }
}

impl Sources {
    fn read(path: &Path) -> Result<Self, TemplateError> {
        let folder =
            if path.is_dir() { path.to_owned() } else { path.parent().map_or_else(PathBuf::new, Path::to_owned) };
        let is_config = path.extension().is_some_and(|extension| extension == "json");
        let jinja = if path.is_dir() { folder.join("chat_template.jinja") } else { path.to_owned() };
        let config_path = if is_config { path.to_owned() } else { folder.join("tokenizer_config.json") };
        let config = match config_path.exists() {
            true => read_json(&config_path)?,
            false => serde_json::Value::Null,
        };
        let (origin, templates) = if is_config || path.is_dir() && !jinja.exists() {
            let templates = templates_of(&config["chat_template"]);
            if templates.is_empty() {
                return Err(TemplateError::new(format!("{}: no chat template found", config_path.display())));
            }
            (config_path, templates)
        } else {
            let template = read_text(&jinja)?;
            (jinja, vec![(DEFAULT.to_owned(), template)])
        };
        Ok(Self { origin: origin.display().to_string(), templates, special: special_tokens(&config) })
    }

    fn compile(self) -> Result<Compiled, TemplateError> {
        let mut compiled = Compiled { environment: environment()?, sources: self };
        for (name, source) in &compiled.sources.templates {
            let added = compiled.environment.add_template_owned(name.clone(), without_generation_tags(source));
            added.map_err(|error| compiled.located(&error))?;
        }
        Ok(compiled)
    }
}

impl Compiled {
    /// The error with its file and line.
    fn located(&self, error: &Error) -> TemplateError {
        let line = error.line().map(|line| format!(":{line}")).unwrap_or_default();
        let name = match (error.name(), self.sources.templates.len()) {
            (Some(name), 2..) => format!(" (template {name:?})"),
            _ => String::new(),
        };
        TemplateError::new(format!("{}{line}:{name} {}", self.sources.origin, template_error(error)))
    }

    /// The text for a request of [`ChatTemplate::render`].
    fn render(&self, request: &Value) -> Result<String, TemplateError> {
        let part = |name: &str| request.get_attr(name).unwrap_or_default();
        let name = if part("tools").is_none() { DEFAULT } else { TOOL_USE };
        let messages = part("messages").len().unwrap_or(0) as u64;
        let mut environment = self.environment.clone();
        environment.set_fuel(Some(BASE_STEPS.saturating_add(STEPS_PER_MESSAGE.saturating_mul(messages))));
        let found = environment.get_template(name).or_else(|_| environment.get_template(DEFAULT));
        let template = found.map_err(|error| self.located(&error))?;
        let parts =
            ["messages", "tools", "documents", "add_generation_prompt"].map(|name| (name.to_owned(), part(name)));
        let special = self.sources.special.iter().map(|(name, token)| (name.clone(), Value::from(token)));
        let context = Value::from_pairs(parts.into_iter().chain(special));
        let mut text = BoundedText(Vec::new());
        let rendered = template.render_captured_to(context, &mut text).map(|_| ());
        let wrong = |fault: &str| TemplateError::new(format!("{}: its text is {fault}", self.sources.origin));
        if text.0.len() >= LONGEST_TEXT {
            return Err(wrong(&format!("longer than {LONGEST_TEXT} bytes")));
        }
        rendered.map_err(|error| self.located(&error))?;
        String::from_utf8(text.0).map_err(|_| wrong("not UTF-8"))
    }
}

impl Template for ChatTemplate {
    fn prepare(&self, preamble: &[Text<'_>], messages: &[Message<'_>]) -> Box<dyn Prepared + '_> {
        let (tools, texts) = ToolList::from_preamble(preamble);
        let instructions = match messages.iter().any(|message| message.role.instructs()) {
            true => Vec::new(),
            false => texts.iter().map(|text| ChatMessage::from_instructions(text)).collect(),
        };
        let messages = messages.iter().map(ChatMessage::from_message).collect();
        Box::new(PreparedChat { template: self, tools, instructions, messages })
    }
}

/// A transcript whose messages are converted once and can be rendered many times.
struct PreparedChat<'t> {
    template: &'t ChatTemplate,
    tools: Option<ToolList>,
    /// Instructions outside the list of messages; empty if a message gives instructions.
    instructions: Vec<ChatMessage>,
    /// For each message of the transcript, the messages that it becomes.
    messages: Vec<Vec<ChatMessage>>,
}

impl Prepared for PreparedChat<'_> {
    fn text(&self, kept: &mut dyn Iterator<Item = usize>) -> Result<String, TemplateError> {
        let messages = kept.flat_map(|at| &self.messages[at]);
        let messages: Vec<&ChatMessage> = self.instructions.iter().chain(messages).collect();
        self.template.render(&messages, self.tools.as_ref())
    }
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
    // As in Python: `None` is not iterable, and a text is.
    environment
        .add_test("iterable", |value: &Value| value.as_str().is_some() || !value.is_none() && value.try_iter().is_ok());
    environment.add_function("raise_exception", |message: String| -> Result<Value, Error> {
        Err(Error::new(ErrorKind::InvalidOperation, message))
    });
    environment.add_function("strftime_now", |format: String| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        python::strftime(&format, now)
    });
    Ok(environment)
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

fn read_text(path: &Path) -> Result<String, TemplateError> {
    let failed = |error: std::io::Error| {
        TemplateError::new(format!("{}: {}", path.display(), curtail_core::error::system_message(&error)))
    };
    let mut text = String::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(LARGEST_FILE + 1).read_to_string(&mut text));
    if read.map_err(failed)? as u64 > LARGEST_FILE {
        return Err(TemplateError::new(format!("{}: larger than {} MB", path.display(), LARGEST_FILE >> 20)));
    }
    Ok(text)
}

/// The JSON value of a file.
fn read_json(path: &Path) -> Result<serde_json::Value, TemplateError> {
    let invalid = |error: serde_json::Error| TemplateError::new(format!("{}: {error}", path.display()));
    serde_json::from_str(&read_text(path)?).map_err(invalid)
}

/// The templates of a `tokenizer_config.json`: one, or a list of them with names.
fn templates_of(value: &serde_json::Value) -> Vec<(String, String)> {
    if let Some(source) = value.as_str() {
        return vec![(DEFAULT.to_owned(), source.to_owned())];
    }
    let named = value.as_array().into_iter().flatten();
    let text = |entry: &serde_json::Value, key: &str| entry[key].as_str().map(str::to_owned);
    named.filter_map(|entry| Some((text(entry, "name")?, text(entry, "template")?))).collect()
}

/// `bos_token` and the like: strings, or objects with a `content`.
fn special_tokens(config: &serde_json::Value) -> Vec<(String, String)> {
    let members = config.as_object().into_iter().flatten().filter(|(key, _)| key.ends_with("_token"));
    let token = |value: &serde_json::Value| value.as_str().or(value["content"].as_str()).map(str::to_owned);
    members.filter_map(|(key, value)| Some((key.clone(), token(value)?))).collect()
}

impl ToolList {
    /// Reads tools from a JSON file: a list of them, or an object with one under `tools`.
    ///
    /// # Errors
    /// The file cannot be read or contains no list.
    pub fn open(path: &Path) -> Result<Self, TemplateError> {
        let value = read_json(path)?;
        let list = if value.is_array() { &value } else { &value["tools"] };
        let none = || TemplateError::new(format!("{}: no list of tools found", path.display()));
        if list.is_array() { Ok(Self(from_json(list.clone()))) } else { Err(none()) }
    }
}

// Messages and tools in the form that chat templates expect.

/// A message in the form that chat templates expect.
#[derive(Debug, Clone)]
pub struct ChatMessage(Value);

/// Tool definitions in the form that chat templates expect.
#[derive(Debug, Clone)]
pub struct ToolList(Value);

impl ChatMessage {
    /// The messages that `message` becomes. If it was read in the format of chat templates and not edited, it is passed
    /// as it is. Otherwise its texts, reasoning and calls form one message, and each of its results another.
    pub fn from_message(message: &Message<'_>) -> Vec<Self> {
        let source = message.source().filter(|source| source.is_chat && message.is_intact());
        let raw = source.and_then(|source| serde_json::from_str(source.value.raw()).ok());
        let values = raw.map_or_else(|| built(message), |raw| vec![raw]);
        values.into_iter().map(|value| Self(from_json(normalized(value)))).collect()
    }

    /// The system message for instructions outside the list of messages.
    pub fn from_instructions(text: &str) -> Self {
        Self(from_json(json!({"role": "system", "content": text})))
    }
}

impl ToolList {
    /// The tools among the texts outside the messages (those that are JSON lists or objects; `None` without any), and
    /// the other texts.
    pub fn from_preamble(preamble: &[Text<'_>]) -> (Option<Self>, Vec<String>) {
        let mut tools = Vec::new();
        let mut others = Vec::new();
        for text in preamble {
            let text = text.decode();
            match serde_json::from_str(&text) {
                Ok(serde_json::Value::Array(list)) => tools.extend(list),
                Ok(tool @ serde_json::Value::Object(_)) => tools.push(tool),
                _ => others.push(text.into_owned()),
            }
        }
        let list = (!tools.is_empty()).then(|| Self(from_json(serde_json::Value::Array(tools))));
        (list, others)
    }
}

/// A JSON value as a value of a template.
fn from_json(value: serde_json::Value) -> Value {
    // This cannot fail: templates have a value for every JSON value.
    serde_json::from_value(value).unwrap_or_default()
}

/// The keys of reasoning. Most templates read the first one, and that of gpt-oss reads the second.
const REASONING: [&str; 3] = ["reasoning_content", "thinking", "reasoning"];

/// A message with its reasoning under each key that templates read, and without members that are null. `transformers`
/// leaves these out too, because templates only test whether a member is present.
fn normalized(message: serde_json::Value) -> serde_json::Value {
    let serde_json::Value::Object(mut members) = message else { return message };
    members.retain(|_, value| !value.is_null());
    let found = REASONING.iter().find_map(|key| members.get(*key).cloned());
    let Some(reasoning) = found else { return serde_json::Value::Object(members) };
    let mut all = Map::new();
    all.insert(String::from("thinking"), reasoning.clone());
    all.extend(members);
    all.insert(String::from("reasoning_content"), reasoning);
    serde_json::Value::Object(all)
}

/// A message built from its parts: one for texts, reasoning and calls, after one for each result.
fn built(message: &Message<'_>) -> Vec<serde_json::Value> {
    let mut text = Vec::new();
    let mut reasoning = Vec::new();
    let mut calls = Vec::new();
    let mut results = Vec::new();
    for part in &message.parts {
        match &part.content {
            Content::Text(part) => text.push(part.decode()),
            Content::Reasoning(part) => reasoning.push(part.decode()),
            Content::ToolCall(call) => calls.push(built_call(call)),
            Content::ToolResult(result) => {
                let content: Vec<_> = result.content.iter().map(Text::decode).collect();
                let id = result.id.as_ref().map(Text::decode);
                let name = result.name.as_ref().map(Text::decode);
                results.push(json!({"role": "tool", "tool_call_id": id, "name": name, "content": content.join("\n")}));
            }
            Content::Unknown(part) => text.push(part.decode()),
            Content::Media(_) | Content::Other => {}
        }
    }
    text.extend(message.attached.iter().map(Text::decode));
    if text.is_empty() && calls.is_empty() && reasoning.is_empty() && !results.is_empty() {
        return results;
    }
    let mut value = json!({"role": message.role.name(), "content": text.join("\n")});
    if !reasoning.is_empty() {
        value["reasoning_content"] = json!(reasoning.join("\n"));
    }
    if !calls.is_empty() {
        value["tool_calls"] = json!(calls);
    }
    results.push(value);
    results
}

fn built_call(call: &ToolCall<'_>) -> serde_json::Value {
    let arguments = call.arguments.decode();
    let arguments =
        serde_json::from_str(&arguments).unwrap_or_else(|_| serde_json::Value::from(arguments.into_owned()));
    let id = call.id.as_ref().map(Text::decode);
    json!({"id": id, "type": "function", "function": {"name": call.name.decode(), "arguments": arguments}})
}
