//! Which tokenizer a model uses. The encodings list their models, like `model.py` of tiktoken. A model whose tokenizer
//! is not public or not built in is approximated, with a note.

use std::sync::Arc;

use super::tiktoken::ENCODINGS;
use super::{DEFAULT_ESTIMATE, Tokenizer, UnknownTokenizer, suggestion, tokenizer_by_name, usage};

/// The tokenizer of a model.
pub struct ModelTokenizer {
    /// The tokenizer.
    pub tokenizer: Arc<dyn Tokenizer>,
    /// Why the counts are an approximation, if they are; to be printed after "curtail: ".
    pub note: Option<String>,
}

/// Families of models that are approximated with the ratio of `o200k_base`, and why. The names are patterns like those of an
/// encoding's models.
const APPROXIMATED: &[(&str, &str)] = &[
    ("claude*", "Anthropic publishes no tokenizer for its models"),
    ("gemini*", "Google counts tokens on its servers only"),
    ("grok*", "xAI counts tokens on its servers only"),
    ("nova*", "Amazon publishes no tokenizer for its models"),
    ("llama*", OPEN),
    ("codellama*", OPEN),
    ("mistral*", OPEN),
    ("ministral*", OPEN),
    ("magistral*", OPEN),
    ("mixtral*", OPEN),
    ("codestral*", OPEN),
    ("devstral*", OPEN),
    ("pixtral*", OPEN),
    ("qwen*", OPEN),
    ("qwq*", OPEN),
    ("deepseek*", OPEN),
    ("gemma*", OPEN),
    ("phi*", OPEN),
    ("kimi*", OPEN),
    ("glm*", OPEN),
    ("minimax*", OPEN),
    ("command*", OPEN),
    ("granite*", OPEN),
    ("nemotron*", OPEN),
    ("olmo*", OPEN),
    ("yi*", OPEN),
];

/// The note for models with a public tokenizer.
const OPEN: &str = "for exact counts, pass the path of its tokenizer.json as the tokenizer";

/// The tokenizer of a model. Ignores case, a leading `ft:` and the name of a provider (`openai/`, `us.anthropic.`).
///
/// # Errors
/// [`UnknownTokenizer`] if no family of models has that name. Its message names the most similar one.
pub fn tokenizer_for_model(model: &str) -> Result<ModelTokenizer, UnknownTokenizer> {
    let name = bare_name(model);
    if let Some((_, encoding)) = closest_family(encoded(), &name) {
        return Ok(ModelTokenizer { tokenizer: tokenizer_by_name(encoding)?, note: None });
    }
    match closest_family(APPROXIMATED.iter().copied(), &name) {
        Some((_, why)) => {
            let note = format!("{model}: counts are an approximation (characters over 4.2): {why}");
            Ok(ModelTokenizer { tokenizer: tokenizer_by_name(DEFAULT_ESTIMATE)?, note: Some(note) })
        }
        None => Err(unknown(model, &name)),
    }
}

/// Families of models with the names of their encodings.
fn encoded() -> impl Iterator<Item = (&'static str, &'static str)> {
    ENCODINGS.iter().flat_map(|encoding| encoding.models.iter().map(|family| (*family, encoding.name)))
}

/// The families of models that are approximated.
pub(super) fn approximated() -> Vec<&'static str> {
    APPROXIMATED.iter().map(|(family, _)| *family).collect()
}

/// The name without the parts that [`tokenizer_for_model`] ignores.
fn bare_name(model: &str) -> String {
    let name = model.trim().to_lowercase();
    let name = name.rsplit('/').next().unwrap_or_default();
    let name = name.strip_prefix("ft:").unwrap_or(name);
    let providers = ["anthropic.", "meta.", "mistral.", "amazon.", "cohere.", "deepseek.", "openai.", "qwen."];
    let start = providers.iter().find_map(|provider| name.find(provider).map(|at| at + provider.len()));
    name[start.unwrap_or(0)..].to_owned()
}

/// Of the families that include the model, the one with the longest name.
fn closest_family<'a>(families: impl Iterator<Item = (&'a str, &'a str)>, name: &str) -> Option<(&'a str, &'a str)> {
    families.filter(|(family, _)| includes(family, name)).max_by_key(|(family, _)| family.len())
}

fn includes(family: &str, name: &str) -> bool {
    if let Some(start) = family.strip_suffix('*') {
        return name.starts_with(start);
    }
    name.strip_prefix(family).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', ':', '@']))
}

fn unknown(model: &str, name: &str) -> UnknownTokenizer {
    let families = encoded().chain(APPROXIMATED.iter().copied()).map(|(family, _)| family.trim_end_matches('*'));
    let hint = suggestion(name, families);
    UnknownTokenizer::new(format!("unknown model {model:?}{hint} known tokenizers: {}", usage()))
}
