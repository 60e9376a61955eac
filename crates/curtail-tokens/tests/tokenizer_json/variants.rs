//! One vocabulary in files with the settings of many models. The fuzz target uses them as well.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use curtail_tokens::tokenizers::{Tokenizer, tokenizer_by_name};
use serde_json::{Value, json};

pub(crate) const LLAMA3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const QWEN2: &str =
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const O200K: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const TEKKEN: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";
const DEEPSEEK: [&str; 3] = [
    r"\p{N}{1,3}",
    "[一-龥぀-ゟ゠-ヿ]+",
    r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"##,
];

/// A file with a vocabulary of 2,600 tokens that was trained with a pattern that splits little.
pub(crate) fn base() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/tokenizer-json/bytes.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn split(pattern: &str, behavior: &str, invert: bool) -> Value {
    json!({"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": invert})
}

fn byte_level(space: bool, regex: bool) -> Value {
    json!({"type": "ByteLevel", "add_prefix_space": space, "trim_offsets": false, "use_regex": regex})
}

fn sequence(steps: &[Value]) -> Value {
    let steps = [steps, &[byte_level(false, false)]].concat();
    json!({"type": "Sequence", "pretokenizers": steps})
}

fn isolating(pattern: &str) -> Value {
    split(pattern, "Isolated", false)
}

/// The same with literal newlines instead of escapes.
fn with_literal_newlines(pattern: &str) -> Value {
    isolating(&pattern.replace(r"\r", "\r").replace(r"\n", "\n"))
}

fn isolated(pattern: &str) -> Value {
    sequence(&[split(pattern, "Isolated", false)])
}

fn added(id: u32, content: &str, normalized: bool, special: bool) -> Value {
    json!({
        "id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
        "normalized": normalized, "special": special,
    })
}

fn digits(each: bool) -> Value {
    let digits = json!({"type": "Digits", "individual_digits": each});
    json!({"type": "Sequence", "pretokenizers": [digits, byte_level(false, true)]})
}

/// Added tokens to which the white space around them belongs, that are tokens only as whole words, or both.
fn around(normalized: bool) -> Value {
    let contents = ["<mask>", "é train", "train", "<|im_end|>", "s", "中", "\n", " x", "<tool", "a'b", "\u{301}"];
    let tokens = contents.iter().enumerate().map(|(at, content)| {
        let mut token = added(2600 + u32::try_from(at).unwrap(), content, normalized, at % 4 == 3);
        for (bit, rule) in ["lstrip", "rstrip", "single_word"].into_iter().enumerate() {
            token[rule] = json!((at + 1) >> bit & 1 == 1);
        }
        token
    });
    Value::Array(tokens.collect())
}

pub(crate) fn with(mut file: Value, members: &[(&str, Value)]) -> Value {
    for (name, value) in members {
        file[*name] = value.clone();
    }
    file
}

/// The file with all pairs that make each token, token by token, as in files that were made from tiktoken's ranks.
fn all_pairs(mut file: Value) -> Value {
    let vocab = file["model"]["vocab"].as_object().unwrap().clone();
    let merges = file["model"]["merges"].as_array().unwrap().iter();
    let tokens: Vec<String> = merges.map(|merge| merge.as_str().unwrap().replacen(' ', "", 1)).collect();
    let mut merges = Vec::new();
    for token in tokens {
        let cuts = token.char_indices().skip(1).map(|(at, _)| token.split_at(at));
        let pairs = cuts
            .filter_map(|(left, right)| Some((vocab.get(left)?.as_u64()?, vocab.get(right)?.as_u64()?, left, right)));
        let mut pairs: Vec<_> = pairs.collect();
        pairs.sort_unstable();
        merges.extend(pairs.into_iter().map(|(_, _, left, right)| json!([left, right])));
    }
    file["model"]["merges"] = Value::Array(merges);
    file
}

/// The file with every seventh merge far before its place, so that it comes before merges that it needs.
fn early(mut file: Value) -> Value {
    let merges = file["model"]["merges"].as_array_mut().unwrap();
    for at in (7..merges.len()).step_by(7) {
        let merge = merges.remove(at);
        merges.insert(at / 2, merge);
    }
    file
}

/// The file with tokens that no merges make, as some models have: they count only as whole pieces.
fn ignoring_merges(mut file: Value) -> Value {
    file["model"]["ignore_merges"] = json!(true);
    for (token, id) in ["Ġpassengers", "trainstation", "ä¸ŃæĸĩåĪĹ", "ĠãĤ«ãĤ¿ãĤ«ãĥĬ", "xqz"].into_iter().zip(5000_u64..)
    {
        file["model"]["vocab"][token] = json!(id);
    }
    file
}

/// The file with another pre-tokenizer.
fn splitting(base: &Value, step: Value) -> Value {
    with(base.clone(), &[("pre_tokenizer", step)])
}

/// The variants, by name.
pub(crate) fn variants() -> Vec<(&'static str, Value)> {
    let base = base();
    let nfc = json!({"type": "Sequence", "normalizers": [{"type": "NFC"}]});
    let some = json!([
        added(2600, "<|im_start|>", false, true),
        added(2601, "<|im_end|>", false, true),
        added(2602, "<tool_call>", false, false),
        added(2603, "<tool", false, false),
        added(2604, "é train", true, false),
        added(2605, "<|end", true, true),
    ]);
    let string = json!({"type": "Split", "pattern": {"String": "a."}, "behavior": "Isolated", "invert": false});
    let mut all = vec![
        ("as trained", base.clone()),
        ("gpt2", splitting(&base, byte_level(false, true))),
        ("gpt2 spaced", splitting(&base, byte_level(true, true))),
        ("gpt2 by its regex", splitting(&base, isolated(GPT2))),
        ("unsplit", splitting(&base, byte_level(false, false))),
        ("llama3", ignoring_merges(all_pairs(splitting(&base, isolated(LLAMA3))))),
        ("llama3 with added tokens", with(splitting(&base, isolated(LLAMA3)), &[("added_tokens", some.clone())])),
        (
            "qwen2",
            with(
                splitting(&base, isolated(QWEN2)),
                &[("normalizer", json!({"type": "NFC"})), ("added_tokens", some.clone())],
            ),
        ),
        ("llama3 with early merges", ignoring_merges(early(all_pairs(splitting(&base, isolated(LLAMA3)))))),
        ("unsplit with early merges", early(splitting(&base, byte_level(false, false)))),
        ("claude", with(splitting(&base, byte_level(false, true)), &[("normalizer", json!({"type": "NFKC"}))])),
        ("o200k", all_pairs(splitting(&base, isolated(O200K)))),
        ("o200k removed", splitting(&base, sequence(&[split(O200K, "Removed", true)]))),
        ("tekken", ignoring_merges(splitting(&base, isolated(TEKKEN)))),
        ("deepseek", splitting(&base, sequence(&DEEPSEEK.map(isolating)))),
        ("deepseek with newlines as they are", splitting(&base, sequence(&DEEPSEEK.map(with_literal_newlines)))),
        ("digits", splitting(&base, digits(true))),
        ("numbers", with(splitting(&base, digits(false)), &[("normalizer", nfc), ("added_tokens", some)])),
        ("removed", splitting(&base, sequence(&[split(r"\s+", "Removed", false)]))),
        ("kept", splitting(&base, sequence(&[split(r"\p{L}+", "Removed", true)]))),
        ("contiguous", splitting(&base, sequence(&[split("[a-z]", "Contiguous", false), string]))),
        ("words and rest", ignoring_merges(splitting(&base, sequence(&[split("ab|e|", "Isolated", true)])))),
    ];
    all.extend(taking(&base));
    all
}

/// Files whose added tokens depend on the text around them.
fn taking(base: &Value) -> Vec<(&'static str, Value)> {
    let nfc = json!({"type": "NFC"});
    let mut mixed = around(false);
    for token in mixed.as_array_mut().unwrap().iter_mut().step_by(2) {
        token["normalized"] = json!(true);
    }
    vec![
        ("tokens that take space", with(splitting(base, isolated(LLAMA3)), &[("added_tokens", around(false))])),
        (
            "tokens that take space when composed",
            with(splitting(base, isolated(QWEN2)), &[("normalizer", nfc), ("added_tokens", around(true))]),
        ),
        ("tokens of both kinds", with(splitting(base, byte_level(true, true)), &[("added_tokens", mixed)])),
    ]
}

/// A variant as opened by `curtail` and by the library.
pub(crate) struct Both {
    pub(crate) name: String,
    pub(crate) ours: Arc<dyn Tokenizer>,
    text: tokenizers::Tokenizer,
    rendered: tokenizers::Tokenizer,
}

impl Both {
    /// A file that the engine counts with.
    pub(crate) fn open(name: &str, path: &Path) -> Self {
        let both = Self::read(name, path);
        assert_eq!(both.ours.remark(), None, "{name}");
        both
    }

    pub(crate) fn read(name: &str, path: &Path) -> Self {
        let ours = tokenizer_by_name(path.to_str().unwrap()).unwrap();
        // Unlike `from_file`, this is compiled with the library, and not again with the test.
        let mut rendered: tokenizers::Tokenizer = fs::read_to_string(path).unwrap().parse().unwrap();
        rendered.with_truncation(None).unwrap().with_padding(None);
        let mut text = rendered.clone();
        text.set_encode_special_tokens(true);
        Self { name: name.to_owned(), ours, text, rendered }
    }

    /// Whether the library encodes a text. It panics if an added token is in white space that belongs to the one before it.
    pub(crate) fn is_encoded(&self, text: &str) -> bool {
        let encoded = catch_unwind(AssertUnwindSafe(|| {
            [&self.text, &self.rendered].iter().all(|tokenizer| tokenizer.encode(text, false).is_ok())
        }));
        encoded.unwrap_or(false)
    }

    pub(crate) fn check(&self, text: &str) {
        let count = self.text.encode_fast(text, false).unwrap().len();
        let start = &text[..text.floor_char_boundary(1_000)];
        assert_eq!(self.ours.count(text), count, "{}: {:?}", self.name, start);
        let rendered = self.rendered.encode_fast(text, false).unwrap().len();
        assert_eq!(self.ours.count_rendered(text), rendered, "{} rendered: {:?}", self.name, start);
        assert_eq!(self.ours.count_until(text, count), Some(count), "{}: {:?}", self.name, start);
        if count > 0 {
            assert_eq!(self.ours.count_until(text, count - 1), None, "{}: {:?}", self.name, start);
        }
        assert!(!self.ours.at_most_bytes() || count <= text.len(), "{}", self.name);
    }

    /// The expected [`Tokenizer::head`] and [`Tokenizer::tail`], from the offsets of the library.
    pub(crate) fn head_and_tail(&self, text: &str, tokens: usize) -> (usize, usize) {
        let encoding = self.text.encode(text, false).unwrap();
        let spans = encoding.get_offsets();
        if tokens >= spans.len() {
            return (text.len(), 0);
        }
        // Where a token ends and none that began before it goes on.
        let places = spans.windows(2).map(|pair| Some(pair[1].0).filter(|start| *start >= pair[0].1));
        let places: Vec<Option<usize>> = [Some(0)].into_iter().chain(places).chain([Some(text.len())]).collect();
        let head = places[..=tokens].iter().rev().flatten().next();
        let tail = places[spans.len() - tokens..].iter().flatten().next();
        (head.copied().unwrap_or(0), tail.copied().unwrap_or(0))
    }
}

/// Every variant.
pub(crate) fn all() -> Vec<Both> {
    let folder = tempfile::tempdir().unwrap();
    let opened = variants().into_iter().enumerate().map(|(at, (name, file))| {
        let path = folder.path().join(format!("{at}.json"));
        fs::write(&path, file.to_string()).unwrap();
        Both::open(name, &path)
    });
    opened.collect()
}
