//! Which tokenizer counts for which model, as tiktoken's `model.py` has it. A model whose tokenizer is not public, or not
//! built in, is approximated, with words that say so.

use super::{Tokenizer, Unknown, find, named, suggestion};
use std::sync::Arc;

/// A tokenizer for a model.
pub struct Picked {
    /// What counts.
    pub tokenizer: Arc<dyn Tokenizer>,
    /// What the user should know about these counts, where they are an approximation; to be read after "curtail: ".
    pub note: Option<String>,
}

/// Models by the start of their names. A name stands for itself and for what follows it after `-`, `:` or `@`; one that
/// ends in `*` stands for everything that starts so.
const ENCODED: &[(&str, &str)] = &[
    ("gpt-5*", "o200k_base"),
    ("gpt-4.5", "o200k_base"),
    ("gpt-4.1", "o200k_base"),
    ("gpt-4o", "o200k_base"),
    ("chatgpt-4o", "o200k_base"),
    ("o1", "o200k_base"),
    ("o3", "o200k_base"),
    ("o4", "o200k_base"),
    ("codex-mini", "o200k_base"),
    ("gpt-oss", "o200k_harmony"),
    ("gpt-4", "cl100k_base"),
    ("gpt-3.5", "cl100k_base"),
    ("gpt-35-turbo", "cl100k_base"),
    ("davinci-002", "cl100k_base"),
    ("babbage-002", "cl100k_base"),
    ("text-embedding-ada-002", "cl100k_base"),
    ("text-embedding-3-small", "cl100k_base"),
    ("text-embedding-3-large", "cl100k_base"),
    ("text-davinci-003", "p50k_base"),
    ("text-davinci-002", "p50k_base"),
    ("text-davinci-edit-001", "p50k_base"),
    ("code-davinci-edit-001", "p50k_base"),
    ("code-davinci-002", "p50k_base"),
    ("code-davinci-001", "p50k_base"),
    ("code-cushman-002", "p50k_base"),
    ("code-cushman-001", "p50k_base"),
    ("davinci-codex", "p50k_base"),
    ("cushman-codex", "p50k_base"),
    ("text-davinci-001", "r50k_base"),
    ("text-curie-001", "r50k_base"),
    ("text-babbage-001", "r50k_base"),
    ("text-ada-001", "r50k_base"),
    ("text-similarity*", "r50k_base"),
    ("text-search*", "r50k_base"),
    ("code-search*", "r50k_base"),
    ("davinci", "r50k_base"),
    ("curie", "r50k_base"),
    ("babbage", "r50k_base"),
    ("ada", "r50k_base"),
    ("gpt2", "gpt2"),
    ("gpt-2", "gpt2"),
];

/// Families of models that are approximated by the ratio of `o200k_base`, and why.
const APPROXIMATED: &[(&str, &str)] = &[
    ("claude*", "Anthropic publishes no tokenizer for its models"),
    ("gemini*", "Google counts them on its servers alone"),
    ("grok*", "xAI counts them on its servers alone"),
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

const OPEN: &str = "give the path of its tokenizer.json as the tokenizer for exact counts";

/// The tokenizer for a model. `ft:` before a name and the name of a provider (`openai/`, `us.anthropic.`) do not matter,
/// nor does case.
///
/// # Errors
///
/// When no family of models has that name; the message names the nearest.
pub fn for_model(model: &str) -> Result<Picked, Unknown> {
    let name = bare(model);
    if let Some((_, encoding)) = longest(ENCODED, &name) {
        return Ok(Picked { tokenizer: find(encoding)?, note: None });
    }
    match longest(APPROXIMATED, &name) {
        Some((_, why)) => {
            let note = format!("{model}: counts are an approximation (characters over 4.2): {why}");
            Ok(Picked { tokenizer: find("approx:o200k_base")?, note: Some(note) })
        }
        None => Err(unknown(model, &name)),
    }
}

/// Names of the models that an encoding is for.
pub(super) fn of(encoding: &str) -> Vec<&'static str> {
    ENCODED.iter().filter(|(_, own)| *own == encoding).map(|(family, _)| *family).collect()
}

/// Names of the families of models that are approximated.
pub(super) fn approximated() -> Vec<&'static str> {
    APPROXIMATED.iter().map(|(family, _)| *family).collect()
}

fn bare(model: &str) -> String {
    let name = model.trim().to_lowercase();
    let name = name.rsplit('/').next().unwrap_or_default();
    let name = name.strip_prefix("ft:").unwrap_or(name);
    let provided = ["anthropic.", "meta.", "mistral.", "amazon.", "cohere.", "deepseek.", "openai.", "qwen."];
    let start = provided.iter().find_map(|provider| name.find(provider).map(|at| at + provider.len()));
    name[start.unwrap_or(0)..].to_owned()
}

fn longest<'a>(families: &'a [(&'a str, &'a str)], name: &str) -> Option<&'a (&'a str, &'a str)> {
    families.iter().filter(|(family, _)| belongs(family, name)).max_by_key(|(family, _)| family.len())
}

fn belongs(family: &str, name: &str) -> bool {
    if let Some(start) = family.strip_suffix('*') {
        return name.starts_with(start);
    }
    name.strip_prefix(family).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', ':', '@']))
}

fn unknown(model: &str, name: &str) -> Unknown {
    let families = ENCODED.iter().chain(APPROXIMATED).map(|(family, _)| family.trim_end_matches('*'));
    let near = suggestion(name, families);
    Unknown::new(format!("unknown model {model:?}{near}; or choose a tokenizer: {}", named()))
}
