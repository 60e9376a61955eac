//! Counts the tokens of a text. It knows no messages, and no files except a `tokenizer.json`.

mod huggingface;
mod tiktoken;

use std::{
    path::Path,
    sync::{Arc, OnceLock},
};

use curtail_core::suggest::closest;

pub use curtail_core::counting::{Approximate, BY_USAGE, Calibrated, Tokenizer};
pub use huggingface::keep_prepared_in;
use tiktoken::ENCODINGS;

/// The name of the default tokenizer.
pub const DEFAULT: &str = "o200k_base";

/// The name of the estimate for models without a public tokenizer.
const DEFAULT_ESTIMATE: &str = "approx:o200k_base";

/// The error of the first tokenizer file that made counting panic. A global, because counting returns no error.
static PANIC: OnceLock<String> = OnceLock::new();

/// Why counting panicked, if a tokenizer file was the cause.
pub fn tokenizer_panic() -> Option<&'static str> {
    PANIC.get().map(String::as_str)
}

/// Which tokenizer could not encode a text first, and why. A global, as above.
static UNENCODED: OnceLock<String> = OnceLock::new();

/// That a tokenizer could not encode a text, so that its characters were counted as tokens; `None` if all were encoded.
pub fn unencoded_text() -> Option<&'static str> {
    UNENCODED.get().map(String::as_str)
}

/// A tokenizer as `curtail tokenizers` lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its name, which [`tokenizer_by_name`] accepts.
    pub name: &'static str,
    /// `tiktoken`, `approximate` or `huggingface`.
    pub kind: &'static str,
    /// The models that use it, by the start of their names.
    pub models: Vec<&'static str>,
    /// Whether its counts equal those of the models' tokenizer; otherwise they are estimates.
    pub exact: bool,
}

/// One kind of tokenizers.
struct Family {
    /// Its tokenizers.
    members: fn() -> Vec<Listed>,
    /// The names that it accepts, for messages.
    usage: fn() -> String,
    /// The tokenizer of a name; `None` if the name belongs to another family.
    open: fn(&str) -> Option<Result<Arc<dyn Tokenizer>, UnknownTokenizer>>,
}

/// Every family of tokenizers. The first contains the default.
static FAMILIES: [&Family; 3] = [&tiktoken::FAMILY, &tiktoken::ESTIMATES, &huggingface::FAMILY];

/// All tokenizers, the default first.
pub fn all() -> Vec<Listed> {
    FAMILIES.iter().flat_map(|family| (family.members)()).collect()
}

/// The tokenizer of a name: an encoding, `approx` or `approx:ENCODING`, or the path of a `tokenizer.json`, which contains
/// a `/` or ends in `.json`.
///
/// # Errors
/// [`UnknownTokenizer`] if no tokenizer has that name (the message names the most similar one) or the file cannot be used.
///
/// ```
/// let tokenizer = curtail_tokens::tokenizers::tokenizer_by_name("o200k_base")?;
/// assert_eq!(tokenizer.count("Hello, world!"), 4);
/// assert!(tokenizer.exact());
/// # Ok::<(), curtail_tokens::tokenizers::UnknownTokenizer>(())
/// ```
///
/// A cutter counts with it:
///
/// ```
/// use curtail_core::{Cutter, LimitPolicy};
///
/// let tokenizer = curtail_tokens::tokenizers::tokenizer_by_name("o200k_base")?;
/// let cutter = Cutter::builder().tokenizer(tokenizer).limit(LimitPolicy::tokens(8)).build()?;
/// let chat = concat!(
///     "{\"role\":\"user\",\"content\":\"When does the first train leave?\"}\n",
///     "{\"role\":\"assistant\",\"content\":\"At 05:12.\"}\n",
///     "{\"role\":\"user\",\"content\":\"And the last one?\"}\n",
/// );
/// assert_eq!(cutter.cut(chat)?, chat[chat.rfind("{\"role\"").unwrap_or_default()..]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn tokenizer_by_name(name: &str) -> Result<Arc<dyn Tokenizer>, UnknownTokenizer> {
    FAMILIES.iter().find_map(|family| (family.open)(name)).unwrap_or_else(|| {
        let names = all().into_iter().filter(|listed| !is_file_name(listed.name)).map(|listed| listed.name);
        let hint = suggestion(name, names.chain(["approx"]));
        Err(UnknownTokenizer(format!("unknown tokenizer {name:?}{hint} known tokenizers: {}", usage())))
    })
}

/// The tokenizer to calibrate by the provider's usage, if `name` is `usage` or `usage:NAME`; `None` otherwise.
///
/// # Errors
/// As [`tokenizer_by_name`].
pub fn tokenizer_by_usage(name: &str) -> Option<Result<Arc<dyn Tokenizer>, UnknownTokenizer>> {
    let rest = name.strip_prefix(BY_USAGE)?;
    let base = if rest.is_empty() { DEFAULT } else { rest.strip_prefix(':')? };
    Some(tokenizer_by_name(base))
}

/// No tokenizer has that name or counts for that model, or its file cannot be used. The message names the known
/// tokenizers, or what is wrong with the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnknownTokenizer(String);

/// Whether the tokenizer called `name` is read from a file.
pub fn names_tokenizer_file(name: &str) -> bool {
    name.split(':').any(is_file_name)
}

/// Whether a name is the path of a file.
fn is_file_name(name: &str) -> bool {
    name.contains('/') || Path::new(name).extension().is_some_and(|extension| extension == "json")
}

/// The known names of tokenizers, in one line.
fn usage() -> String {
    let [first @ .., last] = FAMILIES.map(|family| (family.usage)());
    format!("{} and {last}", first.join(", "))
}

/// `; did you mean "NAME"?` with the most similar of `names`, or `;` if none is similar enough.
fn suggestion<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> String {
    closest(name, names).map_or_else(|| String::from(";"), |name| format!("; did you mean {name:?}?"))
}

// Which tokenizer a model uses. The encodings list their models, like `model.py` of tiktoken. A model whose tokenizer
// is not public or not built in is approximated, and says so in its remark.

/// Families of models that are approximated with the ratio of `o200k_base`, and why. The names are patterns like those of an
/// encoding's models.
const APPROXIMATED: &[(&[&str], &str)] = &[
    (&["claude*"], "Anthropic publishes no tokenizer for its models"),
    (&["gemini*"], "Google counts tokens on its servers only"),
    (&["grok*"], "xAI counts tokens on its servers only"),
    (&["nova*"], "Amazon publishes no tokenizer for its models"),
    (&["llama*", "codellama*"], OPEN),
    (&["mistral*", "ministral*", "magistral*", "mixtral*", "codestral*", "devstral*", "pixtral*"], OPEN),
    (&["qwen*", "qwq*", "deepseek*", "gemma*", "phi*", "kimi*", "glm*", "minimax*"], OPEN),
    (&["command*", "granite*", "nemotron*", "olmo*", "yi*"], OPEN),
];

/// The reason for models with a public tokenizer.
const OPEN: &str = "for exact counts, pass the path of its tokenizer.json as the tokenizer";

/// The tokenizer of a model, or an estimate that remarks why it is one. Ignores case, a leading `ft:` and the name of a provider (`openai/`, `us.anthropic.`).
///
/// # Errors
/// [`UnknownTokenizer`] if no family of models has that name. Its message names the most similar one.
pub fn tokenizer_for_model(model: &str) -> Result<Arc<dyn Tokenizer>, UnknownTokenizer> {
    let name = bare_name(model);
    if let Some((_, encoding)) = closest_family(encoded(), &name) {
        return tokenizer_by_name(encoding);
    }
    match closest_family(approximated(), &name) {
        Some((_, why)) => {
            let remark = format!("{model}: counts are an approximation (UTF-16 units over 4.2): {why}");
            Ok(Arc::new(Approximate::default().with_remark(remark)))
        }
        None => Err(unknown(model, &name)),
    }
}

/// Families of models with the names of their encodings.
fn encoded() -> impl Iterator<Item = (&'static str, &'static str)> {
    ENCODINGS.iter().flat_map(|encoding| encoding.models.iter().map(|family| (*family, encoding.name)))
}

/// The families of models that are approximated, each with the reason.
fn approximated() -> impl Iterator<Item = (&'static str, &'static str)> {
    APPROXIMATED.iter().flat_map(|(families, why)| families.iter().map(|family| (*family, *why)))
}

/// The name without the parts that [`tokenizer_for_model`] ignores, from which on a family has it.
fn bare_name(model: &str) -> String {
    let name = model.trim().to_lowercase();
    let name = name.rsplit('/').next().unwrap_or_default();
    let name = name.strip_prefix("ft:").unwrap_or(name);
    let starts = std::iter::once(0).chain(name.match_indices('.').map(|(dot, _)| dot + 1));
    let known = starts
        .map(|start| &name[start..])
        .find(|rest| encoded().chain(approximated()).any(|(family, _)| includes(family, rest)));
    known.unwrap_or(name).to_owned()
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
    let families = encoded().chain(approximated()).map(|(family, _)| family.trim_end_matches('*'));
    let hint = suggestion(name, families);
    UnknownTokenizer(format!("unknown model {model:?}{hint} known tokenizers: {}", usage()))
}

#[cfg(test)]
mod tests {
    use super::{Calibrated, Tokenizer, tokenizer_by_name, tokenizer_by_usage, tokenizer_for_model};

    fn by(factor: f64) -> Calibrated {
        Calibrated::new(tokenizer_by_name("o200k_base").unwrap(), factor)
    }

    #[test]
    fn counts_are_multiplied_and_rounded() {
        let ten = "a b c d e f g h i j";
        for (factor, expected) in [(1.0, 10), (1.25, 13), (0.64, 6), (3.0, 30)] {
            let tokenizer = by(factor);
            assert_eq!(tokenizer.count(ten), expected, "{factor}");
            assert_eq!(tokenizer.count_until(ten, expected), Some(expected), "{factor}");
            assert_eq!(tokenizer.count_until(ten, expected - 1), None, "{factor}");
        }
        assert_eq!(by(1.25).name(), "usage:o200k_base");
    }

    #[test]
    fn what_is_cut_fits() {
        let text = "one two three four five six seven eight nine ten";
        for factor in [0.3, 0.64, 1.0, 1.7, 3.9] {
            for tokens in 0..12 {
                let tokenizer = by(factor);
                assert!(tokenizer.count(&text[..tokenizer.head(text, tokens)]) <= tokens, "{factor} {tokens}");
                assert!(tokenizer.count(&text[tokenizer.tail(text, tokens)..]) <= tokens, "{factor} {tokens}");
            }
        }
    }

    #[test]
    fn the_name_of_a_provider_is_ignored() {
        for (model, exact) in [
            ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", false),
            ("us.deepseek.r1-v1:0", false),
            ("moonshot.kimi-k2-thinking", false),
            ("openai.gpt-oss-120b-1:0", true),
            ("azure/gpt-4.1-mini", true),
            ("ft:gpt-4o-mini:team", true),
        ] {
            assert_eq!(tokenizer_for_model(model).unwrap().exact(), exact, "{model}");
        }
        let unknown = tokenizer_for_model("acme.gpt-9").map(|_| ()).unwrap_err().to_string();
        assert!(unknown.contains("acme.gpt-9"), "{unknown}");
    }

    #[test]
    fn a_name_chooses_the_tokenizer_that_is_calibrated() {
        for (name, expected) in [
            ("usage", Some(Some("o200k_base"))),
            ("usage:cl100k_base", Some(Some("cl100k_base"))),
            ("usage:nothing", Some(None)),
            ("usages", None),
            ("gpt2", None),
        ] {
            let found = tokenizer_by_usage(name).map(|found| found.map(|tokenizer| tokenizer.name().to_owned()).ok());
            assert_eq!(found, expected.map(|expected| expected.map(String::from)), "{name}");
        }
    }
}
