//! The APIs of models' servers: `OpenAI`'s Chat Completions and Anthropic's Messages, and how their answers are read
//! (<https://platform.openai.com/docs/api-reference/chat>, <https://docs.anthropic.com/en/api/messages>).

use serde_json::Value;

use super::secrets::Secrets;

/// The API of a model's server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// `OpenAI`'s Chat Completions API, `POST {endpoint}/chat/completions`, which many other servers have.
    OpenAi,
    /// Anthropic's Messages API, `POST {endpoint}/v1/messages`.
    Anthropic,
}

/// The text of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AnswerText {
    pub(super) text: String,
    /// Whether the server cut it at its limit of tokens.
    pub(super) cut: bool,
}

impl Api {
    /// The name that `--summarizer` takes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
        }
    }

    /// The address of the provider's own server.
    pub const fn endpoint(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com",
        }
    }

    /// The path of the API, appended to the endpoint.
    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::OpenAi => "/chat/completions",
            Self::Anthropic => "/v1/messages",
        }
    }

    /// The text of an answer, without thinking. The error says why there is none, and quotes the answer without `secrets`.
    pub(super) fn read(self, answer: &[u8], secrets: &Secrets) -> Result<AnswerText, String> {
        let value: Value =
            serde_json::from_slice(answer).map_err(|_| format!("the answer is not JSON: {}", secrets.quote(answer)))?;
        match self {
            Self::OpenAi => read_choice(&value["choices"][0], answer, secrets),
            Self::Anthropic => read_blocks(&value, answer, secrets),
        }
    }
}

/// The text of a choice of Chat Completions: a string, or a list of blocks.
fn read_choice(choice: &Value, answer: &[u8], secrets: &Secrets) -> Result<AnswerText, String> {
    if choice.is_null() {
        return Err(format!("the answer has no choice: {}", secrets.quote(answer)));
    }
    let content = &choice["message"]["content"];
    let text = match content {
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect(),
        content => content.as_str().unwrap_or_default().to_owned(),
    };
    let cut = choice["finish_reason"] == "length";
    AnswerText::after_thinking(&text, cut).ok_or_else(|| no_text_in_choice(choice, secrets))
}

/// The text of an answer of the Messages API: its text blocks.
fn read_blocks(value: &Value, answer: &[u8], secrets: &Secrets) -> Result<AnswerText, String> {
    let Value::Array(blocks) = &value["content"] else {
        return Err(format!("the answer has no content: {}", secrets.quote(answer)));
    };
    let texts = blocks.iter().filter(|block| block["type"] == "text");
    let text: String = texts.filter_map(|block| block["text"].as_str()).collect();
    let reason = &value["stop_reason"];
    let cut = reason == "max_tokens" || reason == "model_context_window_exceeded";
    AnswerText::after_thinking(&text, cut).ok_or_else(|| no_text_in_blocks(value))
}

impl AnswerText {
    /// What follows the thinking in `text`; `None` if nothing does.
    fn after_thinking(text: &str, cut: bool) -> Option<Self> {
        let text = after_thinking(text);
        (!text.is_empty()).then(|| Self { text: text.to_owned(), cut })
    }
}

/// The text after the reasoning with which some servers begin an answer: `<think>…</think>`, or up to a line `</think>` where the
/// model's template writes the first tag. If the tag is not closed, the reasoning used all tokens and no text follows.
fn after_thinking(text: &str) -> &str {
    let text = text.trim();
    if let Some(reasoning) = text.strip_prefix("<think>") {
        return reasoning.split_once("</think>").map_or("", |(_, answer)| answer.trim());
    }
    match text.split_once("\n</think>") {
        Some((reasoning, answer)) if !reasoning.contains("<think>") && is_line_end(answer) => answer.trim(),
        _ => text,
    }
}

fn is_line_end(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(['\r', '\n'])
}

const OTHER_MODEL: &str = "try another model or a simpler prompt";

/// Why a choice of Chat Completions has no text, and what to do. Reasoning models may answer with reasoning only, under a key that
/// differs between servers.
fn no_text_in_choice(choice: &Value, secrets: &Secrets) -> String {
    let message = &choice["message"];
    if let Some(refusal) = message["refusal"].as_str() {
        return format!("the model refused: {}", secrets.quote(refusal.as_bytes()));
    }
    let content = message["content"].as_str().unwrap_or_default();
    let reasoned = content.contains("think>")
        || ["reasoning", "reasoning_content"]
            .iter()
            .any(|name| message[*name].as_str().is_some_and(|text| !text.is_empty()));
    let advice = if reasoned || choice["finish_reason"] == "length" {
        "it used its tokens for reasoning: turn reasoning off or allow more tokens, as with \
         --extra-body '{\"reasoning_effort\":\"none\"}' or '{\"max_completion_tokens\":8000}'"
    } else {
        OTHER_MODEL
    };
    format!("the model answered without text; {advice}")
}

/// Why an answer of the Messages API has no text, and what to do.
fn no_text_in_blocks(answer: &Value) -> String {
    let advice = match answer["stop_reason"].as_str() {
        Some("max_tokens") => {
            "it used its tokens for thinking: allow more, as with --extra-body '{\"max_tokens\":8000}'"
        }
        Some("refusal") => "it refused; try another model or a simpler prompt",
        _ => OTHER_MODEL,
    };
    format!("the model answered without text; {advice}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Api, Secrets, after_thinking};

    #[test]
    fn answers_are_read_whatever_their_shape() {
        let choice = |message| (Api::OpenAi, json!({"choices": [{"message": message}]}));
        let blocks = |answer| (Api::Anthropic, answer);
        for ((api, answer), expected) in [
            (choice(json!({"content": " fine "})), Ok("fine")),
            (choice(json!({"content": "<think>hm</think>\n\nfine"})), Ok("fine")),
            (choice(json!({"content": [{"type": "text", "text": "fine"}]})), Ok("fine")),
            (choice(json!({"content": "<think>hm"})), Err("reasoning")),
            (choice(json!({"content": "", "reasoning": "hm"})), Err("--extra-body")),
            (choice(json!({"content": null, "refusal": "no"})), Err("refused: no")),
            (choice(json!({"content": null})), Err("without text")),
            ((Api::OpenAi, json!({})), Err("no choice")),
            (
                blocks(json!({"content": [
                    {"type": "thinking", "thinking": "hm"},
                    {"type": "text", "text": "fine"},
                    {"type": "text", "text": ", done"},
                ]})),
                Ok("fine, done"),
            ),
            (blocks(json!({"content": [], "stop_reason": "max_tokens"})), Err("--extra-body")),
            (blocks(json!({"content": [], "stop_reason": "refusal"})), Err("refused")),
            (blocks(json!({"content": []})), Err("another model")),
            (blocks(json!({"error": 1})), Err("no content")),
        ] {
            match (api.read(answer.to_string().as_bytes(), &Secrets::default()), expected) {
                (Ok(read), Ok(expected)) => assert_eq!(read.text, expected, "{answer}"),
                (Err(why), Err(part)) => assert!(why.contains(part), "{answer}: {why}"),
                (other, _) => panic!("{answer}: {other:?}"),
            }
        }
    }

    #[test]
    fn thinking_is_only_taken_from_the_front() {
        for (text, answer) in [
            ("a <think>b</think>", "a <think>b</think>"),
            ("a\n</think> b", "a\n</think> b"),
            ("a <think>\n</think>\nb", "a <think>\n</think>\nb"),
            ("Let me see.\n</think>\n\nfine", "fine"),
            ("Let me see.\n</think>", ""),
        ] {
            assert_eq!(after_thinking(text), answer);
        }
    }
}
