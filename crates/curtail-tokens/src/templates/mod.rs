//! Chat templates of Hugging Face models, rendered as `transformers` renders them. This module knows no tokenizer and no
//! budget.

mod compiled;
mod messages;
mod python;
mod renderer;
mod sources;

use std::ffi::OsString;
use std::path::Path;

use minijinja::Value;

use compiled::Compiled;
use curtail_core::counting::{Prepared, Template};
use curtail_core::json::Text;
use curtail_core::transcript::Message;
use renderer::Renderers;
use sources::Sources;

pub use curtail_core::counting::TemplateError;
pub use messages::{ChatMessage, ToolList};
pub use renderer::serve;

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

impl ChatTemplate {
    /// Reads a template: a `chat_template.jinja`, a `tokenizer_config.json`, or the folder of a model that contains one of
    /// them. Special tokens are those of the `tokenizer_config.json` beside it.
    ///
    /// # Errors
    /// A file that cannot be read, no template in it, or a template that cannot be compiled.
    pub fn open(path: &Path) -> Result<Self, TemplateError> {
        Self::here(Sources::read(path)?)
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
        Self::here(Sources::of_template(source))
    }

    fn here(sources: Sources) -> Result<Self, TemplateError> {
        Compiled::new(sources).map(|compiled| Self::by(RenderHost::Here(Box::new(compiled))))
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
