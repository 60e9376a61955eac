//! Asks a model on a server for a summary.

use serde_json::{Map, Value, json};

use super::api::Api;
use super::clip::{clip, cut_short};
use super::halves::{MAX_LEVELS, in_levels};
use super::http::Post;
use super::prompt::{Prompt, missing, shortened, transcript};
use super::{ApiKey, Budget, Endpoint, Failure, Http, Request, Summarizer, Utterance};

/// The version of Anthropic's wire format.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// The least `max_tokens` of a request to Anthropic. Models count tokens differently and may reason first, so `max_tokens` is four
/// times the budget, but at least this. A summary over the budget is clipped.
const MIN_MAX_TOKENS: usize = 2048;

/// Asks a model on a server.
pub struct Model {
    /// The API of the server.
    pub api: Api,
    /// The address, such as `https://api.openai.com/v1` or `https://api.anthropic.com`, with or without the path of the API.
    pub endpoint: Endpoint,
    /// The model's name there.
    pub model: String,
    /// Sent as a bearer token, or as `x-api-key` to Anthropic; many local servers need none.
    pub key: Option<ApiKey>,
    /// What to ask for.
    pub prompt: Prompt,
    /// Members that are merged into the request's body, such as `{"reasoning_effort": "none"}`.
    pub extra: Map<String, Value>,
    /// The client.
    pub http: Http,
}

impl Summarizer for Model {
    fn name(&self) -> &'static str {
        self.api.name()
    }

    fn summarize(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Result<String, Failure> {
        let text = in_levels(&shortened(utterances), &|part| self.ask(part, missing(utterances), budget), MAX_LEVELS)?;
        Ok(clip(&text, budget))
    }

    fn request(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Option<Request> {
        let body = self.body(&shortened(utterances), missing(utterances), budget);
        Some(Request { to: self.endpoint.join(self.api.path()).shown, body })
    }
}

impl Model {
    fn body(&self, utterances: &[Utterance<'_>], missing: Option<&str>, budget: &Budget<'_>) -> String {
        let instructions = self.prompt.instructions(budget);
        let transcript = transcript(utterances, missing);
        let mut body = match self.api {
            Api::OpenAi => json!({
                "model": self.model,
                "messages": [
                    {"role": "system", "content": instructions},
                    {"role": "user", "content": transcript},
                ],
            }),
            Api::Anthropic => json!({
                "model": self.model,
                "max_tokens": budget.tokens.saturating_mul(4).max(MIN_MAX_TOKENS),
                "system": instructions,
                "messages": [{"role": "user", "content": transcript}],
            }),
        };
        merge(&mut body, &self.extra);
        body.to_string()
    }

    /// Sends one request and returns the text of the answer. A text that the server cut ends with the mark of a cut.
    fn ask(&self, utterances: &[Utterance<'_>], missing: Option<&str>, budget: &Budget<'_>) -> Result<String, Failure> {
        let key = self.key.iter().map(ApiKey::secret);
        let headers: Vec<_> = match self.api {
            Api::OpenAi => key.map(|key| ("authorization", format!("Bearer {key}"))).collect(),
            Api::Anthropic => {
                let version = ("anthropic-version", ANTHROPIC_VERSION.to_owned());
                std::iter::once(version).chain(key.map(|key| ("x-api-key", key.to_owned()))).collect()
            }
        };
        let to = self.endpoint.join(self.api.path());
        let body = self.body(utterances, missing, budget);
        let post = Post { to: &to, headers: &headers, key: self.key.as_ref(), body: &body };
        let answer = self.http.post(&post)?;
        let secrets = post.secrets();
        let read = self.api.read(&answer, &secrets).map_err(|why| Failure::Other(format!("{}: {why}", to.shown)))?;
        let text = secrets.mask_summary(&read.text);
        Ok(if read.cut { cut_short(&text, budget) } else { text.into_owned() })
    }
}

/// Sets the members of `extra` in `body`. An object is merged into an object of the same name.
fn merge(body: &mut Value, extra: &Map<String, Value>) {
    for (name, value) in extra {
        match (&mut body[name.as_str()], value) {
            (current @ Value::Object(_), Value::Object(inner)) => merge(current, inner),
            (current, value) => *current = value.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::merge;

    #[test]
    fn extra_members_go_in_at_every_depth() {
        let mut body = json!({"model": "m", "options": {"a": 1, "b": 2}});
        let extra = json!({"model": "n", "options": {"b": 3}, "seed": [1]});
        if let Some(extra) = extra.as_object() {
            merge(&mut body, extra);
        }
        assert_eq!(body, json!({"model": "n", "options": {"a": 1, "b": 3}, "seed": [1]}));
    }
}
