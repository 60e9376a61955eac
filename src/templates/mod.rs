//! Chat templates of Hugging Face models, rendered as `transformers` renders them. This module knows no tokenizer and no
//! budget.

mod message;
mod python;

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Kwargs;
use minijinja::{Environment, Error, ErrorKind, State, Value};

use crate::counting::{Prepared, Template};
use crate::json::Text;
use crate::transcript::Message;

pub use crate::counting::TemplateError;
pub use message::{ChatMessage, ToolList};

/// A chat template and the special tokens of its model.
///
/// ```
/// use curtail::dialects::{Framing, Reading};
/// use curtail::templates::{ChatMessage, ChatTemplate};
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
    environment: Environment<'static>,
    /// `bos_token` and the like.
    special: Vec<(String, Value)>,
    /// Tools for transcripts that contain none.
    pub tools: Option<ToolList>,
    /// Whether the template begins a reply at the end.
    pub add_generation_prompt: bool,
}

fn refused(error: &Error) -> TemplateError {
    TemplateError::new(error.detail().map_or_else(|| error.to_string(), str::to_owned))
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
        let folder =
            if path.is_dir() { path.to_owned() } else { path.parent().map_or_else(PathBuf::new, Path::to_owned) };
        let is_config = path.extension().is_some_and(|extension| extension == "json");
        let jinja = if path.is_dir() { folder.join("chat_template.jinja") } else { path.to_owned() };
        let config_path = if is_config { path.to_owned() } else { folder.join("tokenizer_config.json") };
        let config = match config_path.exists() {
            true => read_json(&config_path)?,
            false => serde_json::Value::Null,
        };
        let inline = || {
            let found = templates_of(&config["chat_template"]);
            let none = || TemplateError::new(format!("{}: no chat template found", config_path.display()));
            if found.is_empty() { Err(none()) } else { Ok(found) }
        };
        let sources = if !is_config && jinja.exists() {
            vec![(DEFAULT.to_owned(), read_text(&jinja)?)]
        } else if is_config || path.is_dir() {
            inline()?
        } else {
            vec![(DEFAULT.to_owned(), read_text(path)?)]
        };
        let place = |error: TemplateError| TemplateError::new(format!("{}: {error}", path.display()));
        let mut template = Self::of_sources(sources).map_err(place)?;
        template.special = special_tokens(&config);
        Ok(template)
    }

    /// Compiles one template, without special tokens.
    ///
    /// # Errors
    /// The template is not valid.
    pub fn compile(source: &str) -> Result<Self, TemplateError> {
        Self::of_sources(vec![(DEFAULT.to_owned(), source.to_owned())])
    }

    fn of_sources(sources: Vec<(String, String)>) -> Result<Self, TemplateError> {
        let mut environment = environment()?;
        for (name, source) in sources {
            environment.add_template_owned(name, without_generation_tags(&source)).map_err(|error| refused(&error))?;
        }
        Ok(Self { environment, special: Vec::new(), tools: None, add_generation_prompt: false })
    }

    /// The text that the model reads.
    ///
    /// # Errors
    /// The template refuses the messages, such as roles that do not alternate.
    pub fn render(&self, messages: &[&ChatMessage], tools: Option<&ToolList>) -> Result<String, TemplateError> {
        let tools = tools.or(self.tools.as_ref());
        let name = if tools.is_some() { TOOL_USE } else { DEFAULT };
        let template = self.environment.get_template(name).or_else(|_| self.environment.get_template(DEFAULT));
        let template = template.map_err(|error| refused(&error))?;
        let messages: Vec<Value> = messages.iter().map(|message| message.0.clone()).collect();
        let own = [
            ("messages", Value::from(messages)),
            ("tools", tools.map_or(Value::from(()), |tools| tools.0.clone())),
            ("documents", Value::from(())),
            ("add_generation_prompt", Value::from(self.add_generation_prompt)),
        ];
        let own = own.into_iter().map(|(name, value)| (name.to_owned(), value));
        let context = Value::from_pairs(own.chain(self.special.iter().cloned()));
        template.render(context).map_err(|error| refused(&error))
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

/// A transcript whose messages are ready to be rendered again and again.
struct PreparedChat<'t> {
    template: &'t ChatTemplate,
    tools: Option<ToolList>,
    /// Instructions outside the list of messages, if no message has any.
    instructions: Vec<ChatMessage>,
    /// What each message becomes.
    messages: Vec<Vec<ChatMessage>>,
}

impl Prepared for PreparedChat<'_> {
    fn text(&self, kept: &mut dyn Iterator<Item = usize>) -> Result<String, TemplateError> {
        let messages = kept.flat_map(|at| &self.messages[at]);
        let messages: Vec<&ChatMessage> = self.instructions.iter().chain(messages).collect();
        self.template.render(&messages, self.tools.as_ref())
    }
}

/// Jinja as `transformers` sets it up.
fn environment() -> Result<Environment<'static>, TemplateError> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.map_err(|error| refused(&error))?);
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.set_formatter(|out, _: &mut State, value| {
        out.write_str(&python::text(value)).map_err(|_| Error::new(ErrorKind::BadSerialization, "cannot write"))
    });
    environment.add_filter("tojson", |value: &Value, options: Kwargs| python::to_json(value, &options));
    environment.add_filter("string", |value: &Value| python::text(value));
    environment.add_function("raise_exception", |message: String| -> Result<Value, Error> {
        Err(Error::new(ErrorKind::InvalidOperation, message))
    });
    environment.add_function("strftime_now", |format: String| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        python::strftime(&format, now)
    });
    Ok(environment)
}

/// `{% generation %}` marks what a model wrote and renders nothing: a block that is always taken in its place.
fn without_generation_tags(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut rest = source;
    while let Some((before, after)) = rest.split_once("{%") {
        let Some((tag, behind)) = after.split_once("%}") else { break };
        let keyword = tag.trim_matches(['-', '+']).trim();
        let replaced = match keyword {
            "generation" => tag.replace("generation", "if true"),
            "endgeneration" => tag.replace("endgeneration", "endif"),
            _ => tag.to_owned(),
        };
        text.push_str(&format!("{before}{{%{replaced}%}}"));
        rest = behind;
    }
    text + rest
}

fn read_text(path: &Path) -> Result<String, TemplateError> {
    let wrong = |error: std::io::Error| {
        TemplateError::new(format!("{}: {}", path.display(), crate::error::system_message(&error)))
    };
    std::fs::read_to_string(path).map_err(wrong)
}

/// The JSON value of a file.
fn read_json(path: &Path) -> Result<serde_json::Value, TemplateError> {
    let wrong = |error: serde_json::Error| TemplateError::new(format!("{}: {error}", path.display()));
    serde_json::from_str(&read_text(path)?).map_err(wrong)
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
fn special_tokens(config: &serde_json::Value) -> Vec<(String, Value)> {
    let members = config.as_object().into_iter().flatten().filter(|(key, _)| key.ends_with("_token"));
    let token = |value: &serde_json::Value| value.as_str().or(value["content"].as_str()).map(Value::from);
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
        if list.is_array() { Ok(Self(message::from_json(list.clone()))) } else { Err(none()) }
    }
}
