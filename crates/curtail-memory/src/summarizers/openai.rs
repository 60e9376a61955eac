//! Asks a server with `OpenAI`'s Chat Completions API: `POST {endpoint}/chat/completions`.
//! It knows that wire format (<https://platform.openai.com/docs/api-reference/chat>), not how to reach a server.

use serde_json::{Map, Value, json};

use super::endpoint::{Address, Endpoint};
use super::failure::quote;
use super::http::Post;
use super::prompt::{AnswerText, after_thinking, merge};
use super::{ApiKey, Budget, Failure, Http, Prompt, Request, Summarizer, Utterance, clip, levels, prompt};

/// The path of the API, appended to the endpoint.
const API: &str = "/chat/completions";

/// Asks a model on an OpenAI-compatible server.
pub struct OpenAi {
    /// The address, such as `https://api.openai.com/v1`, with or without `/chat/completions`.
    pub endpoint: Endpoint,
    /// The model's name there.
    pub model: String,
    /// Sent as a bearer token; many local servers need none.
    pub key: Option<ApiKey>,
    /// What to ask for.
    pub prompt: Prompt,
    /// Members that are merged into the request's body, such as `{"reasoning_effort": "none"}`.
    pub extra: Map<String, Value>,
    /// The client.
    pub http: Http,
}

impl OpenAi {
    /// The default endpoint.
    pub const ENDPOINT: &'static str = "https://api.openai.com/v1";

    fn address(&self) -> Address {
        self.endpoint.join(API)
    }

    fn body(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> String {
        let mut body = json!({
            "model": self.model,
            "messages": [
                {"role": "system", "content": self.prompt.instructions(budget)},
                {"role": "user", "content": prompt::transcript(utterances)},
            ],
        });
        merge(&mut body, &self.extra);
        body.to_string()
    }

    fn ask(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Result<String, Failure> {
        let headers: Vec<_> =
            self.key.iter().map(|key| ("authorization", format!("Bearer {}", key.secret()))).collect();
        let (to, body) = (self.address(), self.body(utterances, budget));
        let post = Post { to: &to, headers: &headers, key: self.key.as_ref(), body: &body };
        prompt::ask(&self.http, &post, budget, summary_text)
    }
}

impl Summarizer for OpenAi {
    fn name(&self) -> &'static str {
        "openai"
    }

    fn summarize(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Result<String, Failure> {
        let text = levels::summarize(utterances, &|part| self.ask(part, budget))?;
        Ok(clip(&text, budget))
    }

    fn request(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Option<Request> {
        Some(Request { to: self.address().shown, body: self.body(utterances, budget) })
    }
}

/// The text of the first choice.
fn summary_text(answer: &[u8]) -> Result<AnswerText, String> {
    let value: Value =
        serde_json::from_slice(answer).map_err(|_| format!("the answer is not JSON: {}", quote(answer)))?;
    let choice = &value["choices"][0];
    let content = &choice["message"]["content"];
    let text = match content {
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        other => other.as_str().unwrap_or_default().to_owned(),
    };
    let text = after_thinking(&text);
    if !text.is_empty() {
        let cut = choice["finish_reason"] == "length";
        return Ok(AnswerText { text: text.to_owned(), cut });
    }
    if choice.is_null() {
        return Err(format!("the answer has no choice: {}", quote(answer)));
    }
    Err(no_text(choice))
}

/// Why there is no text, and what to do. Reasoning models may answer with reasoning only, under a key that differs between
/// servers.
fn no_text(choice: &Value) -> String {
    let message = &choice["message"];
    if let Some(refusal) = message["refusal"].as_str() {
        return format!("the model refused: {}", quote(refusal.as_bytes()));
    }
    let content = message["content"].as_str().unwrap_or_default();
    let reasoned = content.contains("<think>")
        || ["reasoning", "reasoning_content"]
            .iter()
            .any(|name| message[*name].as_str().is_some_and(|text| !text.is_empty()));
    let advice = if reasoned || choice["finish_reason"] == "length" {
        "it used its tokens for reasoning: turn reasoning off or allow more tokens, as with \
         --extra-body '{\"reasoning_effort\":\"none\"}' or '{\"max_completion_tokens\":8000}'"
    } else {
        "try another model or a simpler prompt"
    };
    format!("the model answered without text; {advice}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::summary_text;

    #[test]
    fn answers_are_read_whatever_their_shape() {
        for (message, expected) in [
            (json!({"content": " fine "}), Ok("fine")),
            (json!({"content": "<think>hm</think>\n\nfine"}), Ok("fine")),
            (json!({"content": [{"type": "text", "text": "fine"}]}), Ok("fine")),
            (json!({"content": "<think>hm"}), Err("reasoning")),
            (json!({"content": "", "reasoning": "hm"}), Err("--extra-body")),
            (json!({"content": null, "refusal": "no"}), Err("refused: no")),
            (json!({"content": null}), Err("without text")),
        ] {
            let answer = json!({"choices": [{"message": message}]}).to_string();
            match (summary_text(answer.as_bytes()), expected) {
                (Ok(answered), Ok(expected)) => assert_eq!(answered.text, expected, "{answer}"),
                (Err(why), Err(part)) => assert!(why.contains(part), "{answer}: {why}"),
                (other, _) => panic!("{answer}: {other:?}"),
            }
        }
        assert!(summary_text(b"<html>").is_err_and(|why| why.contains("<html>")));
        assert!(summary_text(b"{}").is_err_and(|why| why.contains("no choice")));
    }
}
