//! Chat templates of Hugging Face models, rendered as `transformers` renders them. This module knows no tokenizer and no
//! budget.

mod compiled;
mod messages;
mod python;
mod renderer;
mod sources;
mod tools;

use std::ffi::OsString;
use std::path::Path;

use minijinja::Value;
use serde_json::{Value as Json, json};

use compiled::Compiled;
use curtail_core::counting::{Prepared, Template};
use curtail_core::json::Text;
use curtail_core::transcript::{Message, Role};
use messages::{Forms, chat_messages, from_json};
use renderer::Renderers;
use sources::Sources;

pub use curtail_core::counting::TemplateError;
pub use messages::ChatMessage;
pub use renderer::serve;
pub use tools::ToolList;

/// A chat template and the special tokens of its model.
///
/// A template is a program that somebody else wrote. Its steps and the length of its text are limited. Still, it can
/// use any amount of memory, and abort the process with deep nesting or with values that contain themselves, unless
/// [`open_isolated`](Self::open_isolated) makes another process compile and render it.
///
/// ```
/// use curtail_core::dialects::{Framing, Reading};
/// use curtail_tokens::templates::ChatTemplate;
///
/// let reading = Reading::new(Framing::Records, None, None)?;
/// let document = reading.parse(r#"{"messages": [{"role": "user", "content": "Hello"}]}"#)?;
/// let (_, transcript) = &reading.transcripts(&document)?[0];
///
/// let template = ChatTemplate::compile("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}")?;
/// let messages = template.messages_of(&transcript.messages[0]);
/// assert_eq!(template.render(&messages.iter().collect::<Vec<_>>(), None)?, "<user>Hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ChatTemplate {
    host: RenderHost,
    /// Tools for transcripts that contain none.
    pub tools: Option<ToolList>,
    /// Whether the text ends with the beginning of a reply.
    pub add_generation_prompt: bool,
    forms: Forms,
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
        Self::by(RenderHost::Elsewhere(Renderers::new(command, &Sources::read(path)?)?))
    }

    /// Compiles one template in this process, without special tokens.
    ///
    /// # Errors
    /// The template is not valid.
    pub fn compile(source: &str) -> Result<Self, TemplateError> {
        Self::here(Sources::of_template(source))
    }

    fn here(sources: Sources) -> Result<Self, TemplateError> {
        Self::by(RenderHost::Here(Box::new(Compiled::new(sources)?)))
    }

    fn by(host: RenderHost) -> Result<Self, TemplateError> {
        let mut template = Self { host, tools: None, add_generation_prompt: false, forms: Forms::default() };
        template.forms = template.find_forms()?;
        Ok(template)
    }

    /// The messages that `message` becomes. If it was read in the format of chat templates and not edited, it is one
    /// message with its members, in the forms that the template takes: without those that are null, and with its reasoning
    /// under each name that templates read. Otherwise its texts, reasoning and calls form one message, after one for each
    /// of its results.
    pub fn messages_of(&self, message: &Message<'_>) -> Vec<ChatMessage> {
        chat_messages(message, self.forms)
    }

    /// The text that the model reads.
    ///
    /// # Errors
    /// The template rejects the messages, for example because roles do not alternate, or rendering exceeds a limit.
    pub fn render(&self, messages: &[&ChatMessage], tools: Option<&ToolList>) -> Result<String, TemplateError> {
        let request = self.request(messages.iter().map(|message| message.0.clone()).collect(), tools);
        match &self.host {
            RenderHost::Here(compiled) => compiled.render(&request),
            RenderHost::Elsewhere(renderers) => renderers.render(&request),
        }
    }

    fn request(&self, messages: Vec<Value>, tools: Option<&ToolList>) -> Value {
        let tools = tools.or(self.tools.as_ref());
        Value::from_pairs([
            ("messages", Value::from(messages)),
            ("tools", tools.map_or(Value::from(()), |tools| tools.0.clone())),
            ("documents", Value::from(())),
            ("add_generation_prompt", Value::from(self.add_generation_prompt)),
        ])
    }
}

// A template is asked what it takes by rendering examples: it is a program, and says nothing about itself.

impl ChatTemplate {
    /// The forms that the template takes. The error is that it cannot be asked.
    fn find_forms(&self) -> Result<Forms, TemplateError> {
        let text = self.example(&[json!({"role": "user", "content": "When?"})])?;
        let blocks = json!([{"type": "text", "text": "When?"}]);
        Ok(Forms {
            text_arguments: !self.takes_arguments(&json!({"place": "Graz"}))?
                && self.takes_arguments(&json!("{\"place\": \"Graz\"}"))?,
            // An example is slow to render, and blocks need not be tried if texts are refused.
            text_content: text.is_some() && text != self.example(&[json!({"role": "user", "content": blocks})])?,
        })
    }

    fn takes_arguments(&self, arguments: &Json) -> Result<bool, TemplateError> {
        let function = json!({"name": "tide", "arguments": arguments});
        let call = json!({"id": "abcdefghi", "type": "function", "function": function});
        let asked = json!({"role": "user", "content": "When?"});
        let called = json!({"role": "assistant", "content": "", "tool_calls": [call]});
        self.example(&[asked, called]).map(|text| text.is_some())
    }

    /// The text of an example; `None` if the template refuses it. The error is that it cannot be asked.
    fn example(&self, messages: &[Json]) -> Result<Option<String>, TemplateError> {
        let request = self.request(messages.iter().map(|message| from_json(message.clone())).collect(), None);
        match &self.host {
            RenderHost::Here(compiled) => Ok(compiled.render(&request).ok()),
            RenderHost::Elsewhere(renderers) => renderers.example(&request),
        }
    }
}

impl Template for ChatTemplate {
    fn prepare(&self, preamble: &[Text<'_>], messages: &[Message<'_>], replies: &[Text<'_>]) -> Box<dyn Prepared + '_> {
        let (tools, texts) = ToolList::from_preamble(preamble);
        let instructions = (!texts.is_empty()).then(|| texts.join("\n"));
        let messages = messages.iter().map(|message| self.messages_of(message)).collect();
        let replies: Vec<_> = replies.iter().map(Text::decode).collect();
        let reply = (!replies.is_empty()).then(|| replies.join("\n"));
        Box::new(PreparedChat { template: self, tools, instructions, messages, reply })
    }
}

/// A transcript whose messages are converted once and can be rendered many times.
struct PreparedChat<'t> {
    template: &'t ChatTemplate,
    tools: Option<ToolList>,
    /// Instructions outside the list of messages.
    instructions: Option<String>,
    /// For each message of the transcript, the messages that it becomes.
    messages: Vec<Vec<ChatMessage>>,
    /// What the model says behind the list of messages.
    reply: Option<String>,
}

impl Prepared for PreparedChat<'_> {
    fn text(&self, kept: &mut dyn Iterator<Item = usize>) -> Result<String, TemplateError> {
        let mut messages: Vec<&ChatMessage> = kept.flat_map(|at| &self.messages[at]).collect();
        let system;
        if let Some(outside) = &self.instructions {
            // Many templates take one message of instructions, at the start.
            let first = messages.first().and_then(|message| message.instructions());
            let instead = 0..usize::from(first.is_some());
            let all: Vec<String> = [Some(outside.clone()), first].into_iter().flatten().collect();
            system = ChatMessage::of_role(Role::System, &all.join("\n"));
            messages.splice(instead, [&system]);
        }
        let reply;
        if let Some(outside) = &self.reply {
            // Many templates refuse two replies in a row.
            let longer = messages.last().and_then(|last| last.with_reply(outside));
            messages.truncate(messages.len() - usize::from(longer.is_some()));
            reply = longer.unwrap_or_else(|| ChatMessage::of_role(Role::Assistant, outside));
            messages.push(&reply);
        }
        self.template.render(&messages, self.tools.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use curtail_core::dialects::{Framing, Reading};

    /// A record as a template renders it.
    fn rendered(template: &str, record: &str) -> String {
        let template = ChatTemplate::compile(template).unwrap();
        let reading = Reading::new(Framing::Records, None, None).unwrap();
        let document = reading.parse(record).unwrap();
        let (_, transcript) = &reading.transcripts(&document).unwrap()[0];
        let prepared = template.prepare(&transcript.layout.preamble, &transcript.messages, &transcript.layout.replies);
        prepared.text(&mut (0..transcript.messages.len())).unwrap()
    }

    const OPENAI: &str = r#"{"messages": [{"role": "user", "content": "When?"},
        {"role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "type": "function",
        "function": {"name": "tide", "arguments": "{\"place\":\"Graz\"}"}}]}]}"#;
    const ANTHROPIC: &str = r#"{"messages": [{"role": "user", "content": "When?"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "tide", "input": {"place":"Graz"}}]}]}"#;

    fn calls(arguments: &str) -> String {
        format!(
            "{{% for m in messages %}}{{% for call in m.tool_calls %}}{{{{ 'call ' + {arguments} }}}}{{% endfor %}}{{% endfor %}}"
        )
    }

    /// Templates that write arguments as JSON take an object, and those that join them to a text take a text.
    #[test]
    fn arguments_have_the_form_that_the_template_takes() {
        for record in [OPENAI, ANTHROPIC] {
            let as_json = calls("(call.function.arguments | tojson)");
            assert_eq!(rendered(&as_json, record), r#"call {"place": "Graz"}"#);
            let each = calls("(call.function.arguments.items() | first | join('='))");
            assert_eq!(rendered(&each, record), "call place=Graz");
            let joined = calls("call.function.arguments");
            assert_eq!(rendered(&joined, record), r#"call {"place":"Graz"}"#);
        }
        let none = OPENAI.replace(r#"{\"place\":\"Graz\"}"#, "");
        assert_eq!(rendered(&calls("(call.function.arguments | tojson)"), &none), "call {}");
        let free = OPENAI.replace(r#"{\"place\":\"Graz\"}"#, "*** Begin Patch");
        assert_eq!(rendered(&calls("(call.function.arguments | tojson)"), &free), "call \"*** Begin Patch\"");
    }

    /// A list of texts is a text for a template that has no branch for lists, and stays a list for another.
    #[test]
    fn a_list_of_texts_has_the_form_that_the_template_takes() {
        let record = r#"{"messages": [{"role": "user", "content":
            [{"type": "text", "text": "When?"}, {"type": "text", "text": "Where?"}]}]}"#;
        let of_text = "{% for m in messages %}{{ '<' + m.content + '>' }}{% endfor %}";
        assert_eq!(rendered(of_text, record), "<When?\nWhere?>");
        let of_blocks = "{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}\
                         {% for block in m.content %}{{ block.text }}{% endfor %}{% endif %}{% endfor %}";
        assert_eq!(rendered(of_blocks, record), "When?Where?");
    }

    #[test]
    fn instructions_outside_the_messages_are_one_message() {
        let template = "{% for m in messages %}{{ m.role }}:{{ m.content }};{{ m.calls | length }}{% endfor %}";
        let blocks = r#"{"system": [{"type": "text", "text": "Be short."}, {"type": "text", "text": "Be kind."}],
            "messages": [{"role": "user", "content": [{"type": "text", "text": "When?"}]}]}"#;
        assert_eq!(rendered(template, blocks), "system:Be short.\nBe kind.;0user:When?;0");
        let both = r#"{"instructions": "Be short.", "input": [{"role": "developer", "content": "Be kind."},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "When?"}]}]}"#;
        assert_eq!(rendered(template, both), "system:Be short.\nBe kind.;0user:When?;0");
    }

    /// As a message of instructions, templates such as those of Gemma would refuse them.
    #[test]
    fn answers_outside_the_messages_are_a_reply() {
        let template = "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no') }}{% endif %}\
            {{ m.role }}:{{ m.content }};{% endfor %}";
        let asked = r#""messages": [{"role": "user", "content": "When?"}]"#;
        let said = r#"[{"role": "assistant", "content": "At noon."}]"#;
        for record in [
            format!(r#"{{{asked}, "chosen": {said}, "rejected": [{{"role": "assistant", "content": "No."}}]}}"#),
            format!(
                r#"{{{asked}, "response": {{"choices": [{{"message": {{"role": "assistant", "content": "At noon."}}}}]}}}}"#
            ),
            format!(r#"{{{asked}, "completion": {said}, "label": true}}"#),
        ] {
            assert_eq!(rendered(template, &record), "user:When?;assistant:At noon.;", "{record}");
        }
        let twice = r#"{"messages": [{"role": "user", "content": "When?"}, {"role": "assistant", "content": "Soon."}],
            "output": "At noon."}"#;
        assert_eq!(rendered(template, twice), "user:When?;assistant:Soon.\nAt noon.;");
        for (reply, said) in [
            (r#""content": "Soon.", "weight": 1"#, "Soon.\nAt noon."),
            (r#""content": "Soon.", "name": "x", "refusal": null"#, "Soon.\nAt noon."),
            (r#""content": "Soon.", "reasoning_content": "Hm.""#, "Soon.\nAt noon."),
            (r#""content": null, "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]"#, "At noon."),
        ] {
            let last = format!(r#"{{"role": "assistant", {reply}}}"#);
            let row =
                format!(r#"{{"messages": [{{"role": "user", "content": "When?"}}, {last}], "output": "At noon."}}"#);
            assert_eq!(rendered(template, &row), format!("user:When?;assistant:{said};"), "{row}");
        }
    }

    #[test]
    fn translated_messages_have_the_roles_that_templates_know() {
        let record = r#"{"input": [{"role": "developer", "content": "Be short."},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "When?"}]}]}"#;
        let template = "{% for m in messages %}{{ m.role }}:{{ m.content }};{% endfor %}";
        assert_eq!(rendered(template, record), "system:Be short.;user:When?;");
    }
}
