//! How servers report that a request exceeds the model's context: each with its own words and its own status.

use serde_json::Value;

/// Parts of these messages, in lower case.
const WORDINGS: [&str; 29] = [
    // OpenAI, Azure, DeepSeek, vLLM, OpenRouter, SGLang
    "context_length_exceeded",
    "maximum context length",
    "exceeds the context window",
    "string_above_max_length",
    // vLLM
    "longer than the maximum model length",
    "is too long and exceeds limit",
    // SGLang, Together AI
    "is longer than the model's context length",
    // OpenRouter, for models of other providers
    "maximum allowed input length",
    // Anthropic, and Claude models on Bedrock and Vertex AI
    "prompt is too long",
    "exceed context limit",
    // Gemini
    "exceeds the maximum number of tokens allowed",
    "request payload size exceeds the limit",
    // Mistral
    "too large for model with",
    // Bedrock
    "input is too long for requested model",
    "too many input tokens",
    "maximum tokens you requested exceeds the model limit",
    "too many total text bytes",
    // llama.cpp, Ollama
    "exceed_context_size_error",
    "exceeds the available context size",
    "exceeds the context size",
    "input length exceeds",
    // LM Studio
    "with context length of only",
    "greater than the context length",
    "cannot truncate prompt with n_keep",
    "context size has been exceeded",
    // TGI
    "`inputs` must have less than",
    "`inputs` tokens + `max_new_tokens` must be",
    // xAI, Cohere
    "maximum prompt length is",
    "size limit exceeded by",
];

/// Parts of the message of a server that limits tokens per minute, if a single request exceeds the limit: a retry cannot help.
const TOO_LARGE_FOR_A_MINUTE: [&str; 2] = ["request too large", "input or output tokens must be reduced"];

/// Whether an answer with this status says that the request exceeds the model's context.
pub(super) fn is_overflow(status: u16, body: &[u8]) -> bool {
    let answer = String::from_utf8_lossy(body).to_lowercase();
    let wordings = match status {
        413 => return true,
        429 => &TOO_LARGE_FOR_A_MINUTE[..],
        400..=599 => &WORDINGS,
        _ => return false,
    };
    wordings.iter().any(|wording| answer.contains(wording))
}

/// The error status that an answer with status 2xx should have had, if it is an error: some servers send an error object with
/// 200.
pub(super) fn hidden_error(body: &[u8]) -> Option<u16> {
    let answer: Value = serde_json::from_slice(body).ok()?;
    let error = answer.get("error").filter(|error| !error.is_null())?;
    let answered =
        ["choices", "content"].iter().any(|name| answer[*name].as_array().is_some_and(|all| !all.is_empty()));
    let code = error["code"].as_u64().and_then(|code| u16::try_from(code).ok());
    (!answered).then(|| code.filter(|code| (400..600).contains(code)).unwrap_or(400))
}

#[cfg(test)]
mod tests {
    use super::{hidden_error, is_overflow};

    #[test]
    fn rate_limits_are_not_an_overflow() {
        for (status, body) in [
            (429, "Rate limit reached for gpt-4o: maximum context length unaffected. Please try again in 6 s."),
            (401, "invalid key"),
            (400, "unknown parameter"),
            (500, "oops"),
        ] {
            assert!(!is_overflow(status, body.as_bytes()), "{status} {body}");
        }
        assert!(is_overflow(413, b""));
    }

    #[test]
    fn errors_in_answers_with_a_good_status_are_found() {
        for (body, status) in [
            (r#"{"error":{"message":"no","code":429}}"#, Some(429)),
            (r#"{"error":{"message":"no","code":"x"}}"#, Some(400)),
            (r#"{"error":"no"}"#, Some(400)),
            (r#"{"error":null,"choices":[]}"#, None),
            (r#"{"error":"late","choices":[{"message":{}}]}"#, None),
            (r#"{"choices":[]}"#, None),
            ("<html>", None),
        ] {
            assert_eq!(hidden_error(body.as_bytes()), status, "{body}");
        }
    }
}
