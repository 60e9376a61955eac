//! Prices and cache rules as data: a dated table that ships with the program. A file can replace it. By these rules,
//! tokens of a request are read from the provider's prompt cache, written to it, or neither.

use std::collections::BTreeMap;

use super::prompt_cache::{CacheRules, CacheUse};
use curtail_core::places::TextPlace;
use curtail_core::transcript::Usage;
use serde::Deserialize;
use thiserror::Error;

/// A table of prices.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// The date as of which the prices hold, in ISO 8601.
    pub date: String,
    /// Cache rules by name.
    pub cache: BTreeMap<String, CacheRules>,
    /// The name of the cache rules of each provider.
    #[serde(default)]
    pub providers: BTreeMap<String, String>,
    /// The name of the cache rules of models that have no price, by the beginning of the model's name.
    #[serde(default)]
    pub families: BTreeMap<String, String>,
    /// The prices of models.
    #[serde(default, rename = "model")]
    pub models: Vec<ModelPrice>,
}

/// The price of a model.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelPrice {
    /// Its name, without a date or another suffix.
    pub name: String,
    /// US dollars per million tokens of input.
    pub input: f64,
    /// US dollars per million tokens of output; if missing, the cost is that of the input.
    #[serde(default)]
    pub output: Option<f64>,
    /// The name of its cache rules.
    pub cache: String,
    /// Price of reading a token from the cache, as a multiple of the input price, if it differs from the rules.
    #[serde(default)]
    pub read: Option<f64>,
    /// The fewest tokens that are cached, if they differ from the rules.
    #[serde(default)]
    pub minimum: Option<u64>,
    /// The price of longer requests.
    #[serde(default)]
    pub above: Option<Above>,
}

/// The price of requests above a number of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Above {
    /// The largest request, in tokens, to which the first price applies.
    pub tokens: u64,
    /// US dollars per million tokens, for all input of a larger request.
    pub input: f64,
    /// US dollars per million tokens, for all output of a larger request.
    #[serde(default)]
    pub output: Option<f64>,
}

/// What is wrong with a table of prices.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct PriceError(String);

impl PriceError {
    fn from_toml(text: &str, error: &toml::de::Error) -> Self {
        let TextPlace { line, column } =
            TextPlace::locate(text.as_bytes(), error.span().map_or(0, |span| span.start), 1);
        let message = error.message().trim().replace('\n', "; ");
        Self(format!("line {line}, column {column}: not a price table in TOML: {message}"))
    }
}

impl Prices {
    /// The table that ships with the program.
    ///
    /// # Errors
    /// The table is invalid, which a test excludes.
    pub fn built_in() -> Result<Self, PriceError> {
        Self::parse(include_str!("prices.toml"))
    }

    /// Reads a table in TOML.
    ///
    /// # Errors
    /// It is not TOML of this form, or it names cache rules that it does not contain.
    pub fn parse(text: &str) -> Result<Self, PriceError> {
        let mut prices: Self = toml::from_str(text).map_err(|error| PriceError::from_toml(text, &error))?;
        prices.cache.entry(String::from("none")).or_insert_with(CacheRules::none);
        let rules = prices.models.iter().map(|model| &model.cache);
        let rules = rules.chain(prices.providers.values()).chain(prices.families.values());
        let longer = prices.cache.values().filter_map(|rules| rules.long.as_ref());
        match rules.chain(longer).find(|name| !prices.cache.contains_key(*name)) {
            Some(name) => Err(PriceError(format!("there is no table [cache.{name}]"))),
            None => Ok(prices),
        }
    }

    /// The name of the cache rules of the model with this name, by its price or its family.
    pub(super) fn cache_of(&self, name: &str) -> Option<&str> {
        self.model(name).map(|model| &model.cache).or_else(|| self.cache_of_family(name)).map(String::as_str)
    }

    fn cache_of_family(&self, name: &str) -> Option<&String> {
        // Routers write the provider before the model, and a variant after it; Bedrock the provider before a dot.
        let parts = name.split(['/', ':']).map(|part| part.rsplit_once("anthropic.").map_or(part, |(_, model)| model));
        let fits = self.families.iter().filter(|(start, _)| parts.clone().any(|part| part.starts_with(start.as_str())));
        fits.max_by_key(|(start, _)| start.len()).map(|(_, cache)| cache)
    }

    /// The name of the cache rules of a provider.
    pub(super) fn cache_of_provider(&self, provider: &str) -> Option<&str> {
        self.providers.get(provider).map(String::as_str)
    }

    /// The price of the model with this name, which may have a provider before it and a date after it.
    pub fn model(&self, name: &str) -> Option<&ModelPrice> {
        self.models.iter().filter(|model| is_called(name, &model.name)).max_by_key(|model| model.name.len())
    }
}

/// Whether `name` is `model`, perhaps after a provider, and followed by a date, a revision or a context variant
/// (`[1m]`).
fn is_called(name: &str, model: &str) -> bool {
    // Some programs write the version with a dot.
    let dashed = if model.starts_with("claude") { name.replace('.', "-") } else { name.to_owned() };
    dashed.match_indices(model).any(|(at, _)| {
        let before = name[..at].chars().next_back();
        let after = &name[at + model.len()..];
        before.is_none_or(|c| matches!(c, '/' | '.' | ':'))
            && (after.is_empty()
                || after.starts_with(['@', ':', '['])
                || after.strip_prefix('-').is_some_and(is_revision))
    })
}

/// Whether what follows the name of a model says which edition it is: a date, `001`, `v1:0`, `preview-05-20`, or `0` for the first one.
/// Other numbers of one or two digits are another version, and a word or a size is another model: `preview-tts`, `123b`.
fn is_revision(text: &str) -> bool {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = match text.len() - rest.len() {
        0..3 => false,
        3 => rest.is_empty(),
        _ => !rest.starts_with(char::is_alphabetic),
    };
    let is_preview =
        text.strip_prefix("preview").is_some_and(|date| date.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'));
    let is_version = text.strip_prefix('v').is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()));
    matches!(text, "latest" | "0") || is_numbered || is_preview || is_version
}

impl Prices {
    /// US dollars for a request to the model called `name` that was counted as `usage`: its input and, if the table has the
    /// price, its output. `None` if the table has no price of the model.
    pub fn of_usage(&self, name: &str, usage: Usage) -> Option<f64> {
        let price = self.model(name)?;
        Some(self.of_request(price, self.cache.get(&price.cache)?, usage.into(), usage.output))
    }

    /// US dollars for a request whose input is `billed` by `rules`, and whose reply has `output` tokens.
    #[expect(clippy::cast_precision_loss, reason = "a request is far below 2^52 tokens")]
    pub(super) fn of_request(&self, price: &ModelPrice, rules: &CacheRules, billed: CacheUse, output: u64) -> f64 {
        let longer = rules.long.as_ref().and_then(|name| self.cache.get(name)).map_or(rules.write, |rules| rules.write);
        let long = billed.write_long.min(billed.write);
        let read = price.read.unwrap_or(rules.read) * billed.read as f64;
        let written = rules.write * (billed.write - long) as f64 + longer * long as f64;
        let above = price.above.filter(|above| billed.sum() > above.tokens);
        let input = above.map_or(price.input, |above| above.input);
        let replied = above.and_then(|above| above.output).or(price.output).unwrap_or(0.0);
        ((read + written + billed.uncached as f64) * input + output as f64 * replied) / 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::{Prices, is_called};
    use crate::replay::prompt_cache::CacheUse;

    #[test]
    fn the_table_that_ships_can_be_read() {
        let prices = Prices::built_in().unwrap_or_else(|error| panic!("{error}"));
        let model = prices.model("us.anthropic.claude-sonnet-4-5-20250929-v1:0").map(|model| model.name.as_str());
        assert_eq!(model, Some("claude-sonnet-4-5"));
        for name in ["gemini-3-pro-preview", "gpt-5.1-codex-mini", "gpt-5.4-mini"] {
            assert!(prices.model(name).is_some(), "{name}");
        }
        let sonnet = prices.model("claude-sonnet-4-5").map(|model| {
            let million = 1_000_000;
            let billed = CacheUse { read: million, write: 2 * million, write_long: million, uncached: million };
            prices.of_request(model, &prices.cache[&model.cache], billed, million)
        });
        assert!(sonnet.is_some_and(|cost| (cost - (0.3 + 3.75 + 6.0 + 3.0 + 15.0)).abs() < 1e-9), "{sonnet:?}");
        assert!(prices.models.iter().all(|model| model.output.is_some()));
    }

    #[test]
    fn a_model_is_not_taken_for_another_version() {
        for (name, model, same) in [
            ("claude-opus-4-20250514", "claude-opus-4", true),
            ("claude-opus-4-5-20251101", "claude-opus-4", false),
            ("claude-opus-4-9", "claude-opus-4", false),
            ("claude-opus-4-0", "claude-opus-4", true),
            ("gpt-5.9", "gpt-5", false),
            ("gpt-5-mini", "gpt-5", false),
            ("openai/gpt-4o-2024-08-06", "gpt-4o", true),
            ("us.anthropic.claude-opus-4-6-v1:0", "claude-opus-4-6", true),
            ("gemini-2.5-pro-preview-05-06", "gemini-2.5-pro", true),
            ("gemini-2.5-flash-001", "gemini-2.5-flash", true),
            ("gemini-2.5-flash-lite", "gemini-2.5-flash", false),
            ("gemini-2.5-flash-preview-tts", "gemini-2.5-flash", false),
            ("gemini-2.5-flash-preview-native-audio-dialog", "gemini-2.5-flash", false),
            ("gpt-4o-123b", "gpt-4o", false),
            ("qwen3-235b", "qwen3", false),
            ("claude-sonnet-4-5[1m]", "claude-sonnet-4-5", true),
            ("anthropic/claude-opus-4.5", "claude-opus-4-5", true),
            ("anthropic/claude-opus-4.5", "claude-opus-4", false),
        ] {
            assert_eq!(is_called(name, model), same, "{name} {model}");
        }
    }

    #[test]
    fn long_requests_have_their_price_and_unknown_models_the_rules_of_their_family() {
        let prices = Prices::built_in().unwrap_or_else(|error| panic!("{error}"));
        let cost = |uncached| {
            let model = prices.model("claude-haiku-5-5-20261007");
            let billed = CacheUse { uncached, ..CacheUse::default() };
            model.map(|model| prices.of_request(model, &prices.cache[&model.cache], billed, 0))
        };
        assert!(cost(100_000).is_some_and(|cost| (cost - 0.01).abs() < 1e-9), "{:?}", cost(100_000));
        assert!(cost(200_000).is_some_and(|cost| (cost - 0.1).abs() < 1e-9), "{:?}", cost(200_000));
        for (name, cache) in [
            ("us.anthropic.claude-next-20270101-v1:0", Some("anthropic")),
            ("openrouter/google/gemini-3-flash-preview", Some("gemini-3")),
            ("gemini-2.5-flash-lite", Some("gemini")),
            ("gpt-5.6-nova", Some("openai-marked")),
            ("o4-mini", Some("openai")),
            ("anthropic/claude-next:thinking", Some("anthropic")),
            ("llama-3", None),
        ] {
            assert_eq!(prices.cache_of(name), cache, "{name}");
        }
    }

    #[test]
    fn cache_rules_must_exist() {
        let error = Prices::parse("date = \"2026-01-01\"\n[cache]\n[providers]\nx = \"y\"\n")
            .map_err(|error| error.to_string());
        assert_eq!(error, Err(String::from("there is no table [cache.y]")));
    }
}
