//! The parts that hold a text in messages whose content is a list.

use crate::json::Value;

/// How the parts of text in some messages are called.
#[derive(Debug, Clone, Copy)]
pub struct TextParts {
    /// Whether their type depends on who wrote the text, as in `OpenAI`'s Responses API.
    by_author: bool,
}

impl TextParts {
    /// The key of the text of a part.
    pub const TEXT: &str = "text";

    /// The key of its type.
    pub const TYPE: &str = "type";

    /// Those in the JSON of messages.
    #[must_use]
    pub fn in_messages(json: &str) -> Self {
        Self { by_author: ["\"input_text\"", "\"output_text\""].iter().any(|name| json.contains(name)) }
    }

    /// Whether the model wrote a message; `None` if `value` is none.
    #[must_use]
    pub fn is_by_model(value: Value<'_>) -> Option<bool> {
        value.get_text("role").map(|role| role.is("assistant"))
    }

    /// The type of a part.
    #[must_use]
    pub const fn type_name(self, is_by_model: bool) -> &'static str {
        match (self.by_author, is_by_model) {
            (false, _) => "text",
            (true, true) => "output_text",
            (true, false) => "input_text",
        }
    }
}
