//! Asks a server with Anthropic's Messages API: `POST {endpoint}/v1/messages`.
//! It knows that wire format (<https://docs.anthropic.com/en/api/messages>), not how to reach a server.

use serde_json::{Map, Value, json};

use super::endpoint::{Address, Endpoint};
use super::failure::quote;
use super::http::Post;
use super::prompt::{AnswerText, after_thinking, merge};
use super::{ApiKey, Budget, Failure, Http, Prompt, Request, Summarizer, Utterance, clip, levels, prompt};

/// The path of the API, appended to the endpoint.
const API: &str = "/v1/messages";

/// The version of the wire format.
const VERSION: &str = "2023-06-01";

/// The least `max_tokens` of a request. Models count tokens differently and may reason first, so `max_tokens` is four times
/// the budget, but at least this. A summary over the budget is clipped.
const MIN_MAX_TOKENS: usize = 2048;

/// Asks a model through the Messages API.
pub struct Anthropic {
    /// The address, such as `https://api.anthropic.com`, with or without `/v1/messages`.
    pub endpoint: Endpoint,
    /// The model's name.
    pub model: String,
    /// Sent as `x-api-key`.
    pub key: Option<ApiKey>,
    /// What to ask for.
    pub prompt: Prompt,
    /// Members that are merged into the request's body.
    pub extra: Map<String, Value>,
    /// The client.
    pub http: Http,
}

impl Anthropic {
    /// The default endpoint.
    pub const ENDPOINT: &'static str = "https://api.anthropic.com";

    fn address(&self) -> Address {
        self.endpoint.join(API)
    }

    fn body(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> String {
        let mut body = json!({
            "model": self.model,
            "max_tokens": budget.tokens.saturating_mul(4).max(MIN_MAX_TOKENS),
            "system": self.prompt.instructions(budget),
            "messages": [{"role": "user", "content": prompt::transcript(utterances)}],
        });
        merge(&mut body, &self.extra);
        body.to_string()
    }

    fn ask(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Result<String, Failure> {
        let mut headers = vec![("anthropic-version", VERSION.to_owned())];
        headers.extend(self.key.iter().map(|key| ("x-api-key", key.secret().to_owned())));
        let (to, body) = (self.address(), self.body(utterances, budget));
        let post = Post { to: &to, headers: &headers, key: self.key.as_ref(), body: &body };
        prompt::ask(&self.http, &post, budget, summary_text)
    }
}

impl Summarizer for Anthropic {
    fn name(&self) -> &'static str {
        "anthropic"
    }

    fn summarize(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Result<String, Failure> {
        let text = levels::summarize(utterances, &|part| self.ask(part, budget))?;
        Ok(clip(&text, budget))
    }

    fn request(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Option<Request> {
        Some(Request { to: self.address().shown, body: self.body(utterances, budget) })
    }
}

/// The text blocks of the answer, without thinking blocks.
fn summary_text(answer: &[u8]) -> Result<AnswerText, String> {
    let value: Value =
        serde_json::from_slice(answer).map_err(|_| format!("the answer is not JSON: {}", quote(answer)))?;
    let Some(blocks) = value["content"].as_array() else {
        return Err(format!("the answer has no content: {}", quote(answer)));
    };
    let text: String =
        blocks.iter().filter(|block| block["type"] == "text").filter_map(|block| block["text"].as_str()).collect();
    match after_thinking(&text) {
        "" => Err(no_text(&value)),
        text => {
            let reason = value["stop_reason"].as_str();
            let cut = matches!(reason, Some("max_tokens" | "model_context_window_exceeded"));
            Ok(AnswerText { text: text.to_owned(), cut })
        }
    }
}

/// Why there is no text, and what to do.
fn no_text(answer: &Value) -> String {
    let advice = match answer["stop_reason"].as_str() {
        Some("max_tokens") => {
            "it used its tokens for thinking: allow more, as with --extra-body '{\"max_tokens\":8000}'"
        }
        Some("refusal") => "it refused; try another model or a simpler prompt",
        _ => "try another model or a simpler prompt",
    };
    format!("the model answered without text; {advice}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::summary_text;

    #[test]
    fn text_blocks_are_joined_and_thinking_left_out() {
        let answer = json!({"content": [
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": "fine"},
            {"type": "text", "text": ", done"},
        ]});
        let answered = summary_text(answer.to_string().as_bytes());
        assert_eq!(answered.map(|answered| answered.text).as_deref(), Ok("fine, done"));
    }

    #[test]
    fn no_text_is_an_error_with_advice() {
        for (answer, part) in [
            (json!({"content": [], "stop_reason": "max_tokens"}), "--extra-body"),
            (json!({"content": [], "stop_reason": "refusal"}), "refused"),
            (json!({"content": []}), "another model"),
            (json!({"error": 1}), "no content"),
        ] {
            let why = summary_text(answer.to_string().as_bytes());
            assert!(why.is_err_and(|why| why.contains(part)), "{answer}");
        }
    }
}
