//! The provider's figures of a reply, in the spellings that several formats share.

use super::blocks::number;
use crate::json::Value;
use crate::transcript::Usage;

/// The figures in the fields of OpenAI's chat completions, which `LiteLLM` writes for every provider. The input includes
/// cached tokens.
pub(super) fn chat(figures: Value<'_>) -> Option<Usage> {
    let details = figures.some("prompt_tokens_details");
    counted(Usage {
        input: number(figures, "prompt_tokens"),
        cache_read: details.map_or(0, |details| number(details, "cached_tokens")),
        cache_write: number(figures, "cache_creation_input_tokens"),
        output: number(figures, "completion_tokens"),
        ..Usage::default()
    })
}

/// The `usageMetadata` of Gemini's API, in camel case or snake case.
pub(super) fn gemini(figures: Value<'_>) -> Option<Usage> {
    let either = |camel: &str, snake: &str| number(figures, camel).max(number(figures, snake));
    let thoughts = either("thoughtsTokenCount", "thoughts_token_count");
    counted(Usage {
        input: either("promptTokenCount", "prompt_token_count"),
        cache_read: either("cachedContentTokenCount", "cached_content_token_count"),
        output: either("candidatesTokenCount", "candidates_token_count") + thoughts,
        ..Usage::default()
    })
}

/// The `usage_metadata` of `LangChain`. The input includes cached tokens.
pub(super) fn langchain(figures: Value<'_>) -> Option<Usage> {
    let detail = |key: &str| figures.some("input_token_details").map_or(0, |details| number(details, key));
    counted(Usage {
        input: number(figures, "input_tokens"),
        cache_read: detail("cache_read"),
        cache_write: detail("cache_creation"),
        output: number(figures, "output_tokens"),
        ..Usage::default()
    })
}

/// The usage of `inspect_ai`. Whether the input includes cached tokens depends on the provider and the version; the total
/// tells.
pub(super) fn inspect(figures: Value<'_>) -> Option<Usage> {
    let (input, output) = (number(figures, "input_tokens"), number(figures, "output_tokens"));
    let (read, write) = (number(figures, "input_tokens_cache_read"), number(figures, "input_tokens_cache_write"));
    let apart = input + read + write;
    let is_apart = apart + output <= number(figures, "total_tokens");
    counted(Usage {
        input: if is_apart { apart } else { input },
        cache_read: read,
        cache_write: write,
        output,
        ..Usage::default()
    })
}

/// Figures with an input.
fn counted(usage: Usage) -> Option<Usage> {
    (usage.input > 0).then_some(usage)
}

#[cfg(test)]
mod tests {
    use super::{chat, gemini, inspect, langchain};
    use crate::json::{Document, Value};
    use crate::transcript::Usage;

    fn read(json: &str, figures: fn(Value<'_>) -> Option<Usage>) -> Option<[u64; 4]> {
        let document = Document::parse_all(json).unwrap();
        let usage = document.roots().next().and_then(figures)?;
        Some([usage.input, usage.cache_read, usage.cache_write, usage.output])
    }

    #[test]
    fn the_input_includes_what_was_cached() {
        let details =
            r#"{"prompt_tokens": 90, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 64}}"#;
        assert_eq!(read(details, chat), Some([90, 64, 0, 5]));
        let api = r#"{"promptTokenCount": 90, "cachedContentTokenCount": 64, "candidatesTokenCount": 5, "thoughtsTokenCount": 2}"#;
        assert_eq!(read(api, gemini), Some([90, 64, 0, 7]));
        assert_eq!(read(r#"{"prompt_token_count": 32, "candidates_token_count": 13}"#, gemini), Some([32, 0, 0, 13]));
        let split = r#"{"input_tokens": 90, "output_tokens": 5, "input_token_details": {"cache_read": 64, "cache_creation": 8}}"#;
        assert_eq!(read(split, langchain), Some([90, 64, 8, 5]));
    }

    #[test]
    fn the_total_tells_whether_cached_tokens_are_apart() {
        let within = r#"{"input_tokens": 90, "output_tokens": 5, "total_tokens": 95, "input_tokens_cache_read": 64}"#;
        assert_eq!(read(within, inspect), Some([90, 64, 0, 5]));
        let apart = r#"{"input_tokens": 18, "output_tokens": 5, "total_tokens": 95, "input_tokens_cache_read": 64,
            "input_tokens_cache_write": 8}"#;
        assert_eq!(read(apart, inspect), Some([90, 64, 8, 5]));
    }

    #[test]
    fn figures_without_an_input_are_none() {
        assert_eq!(read("{}", chat), None);
        assert_eq!(read(r#"{"input_tokens": 0}"#, langchain), None);
    }
}
