//! What the APIs of chat models have in common: a request with extra members goes out, and a text comes back.
//! It knows no wire format.

use serde_json::{Map, Value};

use super::clip::cut_short;
use super::http::Post;
use super::{Budget, Failure, Http};

/// The text of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answered {
    pub(super) text: String,
    /// Whether the server cut it, because it has as many tokens as it may have.
    pub(super) cut: bool,
}

/// Sends `post` and returns the text that `read` finds in the answer. A text that the server cut gets the
/// mark of a cut text.
pub(super) fn ask(
    http: &Http,
    post: &Post<'_>,
    budget: &Budget<'_>,
    read: impl Fn(&[u8]) -> Result<Answered, String>,
) -> Result<String, Failure> {
    let answer = http.post(post)?;
    let found = read(&answer).map_err(|why| Failure::Unusable(format!("{}: {why}", post.to.shown)))?;
    Ok(if found.cut { cut_short(&found.text, budget) } else { found.text })
}

/// Sets the members of `extra` in `body`. An object is merged into an object of the same name.
pub(super) fn merge(body: &mut Value, extra: &Map<String, Value>) {
    for (name, value) in extra {
        match (&mut body[name.as_str()], value) {
            (own @ Value::Object(_), Value::Object(inner)) => merge(own, inner),
            (own, value) => *own = value.clone(),
        }
    }
}

/// The text after a leading `<think>…</think>`, in which some servers return a model's reasoning. If the tag is not closed,
/// the reasoning used all tokens and no text follows.
pub(super) fn after_thinking(text: &str) -> &str {
    let text = text.trim();
    match text.strip_prefix("<think>") {
        None => text,
        Some(thought) => thought.split_once("</think>").map_or("", |(_, said)| said.trim()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{after_thinking, merge};

    #[test]
    fn thinking_is_only_taken_from_the_front() {
        assert_eq!(after_thinking("a <think>b</think>"), "a <think>b</think>");
    }

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
