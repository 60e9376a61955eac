//! Files with vocabularies, merges and steps that are drawn at random: what trained files have, and what they do not.

use std::fs;
use std::thread;

use curtail_tokens::tokenizers::{keep_prepared_in, tokenizer_by_name};
use serde_json::{Value, json};

use super::variants::{Both, LLAMA3};

/// The characters of the vocabularies. Some compose, some decompose, and `▁` stands for a space in many models.
const LETTERS: [&str; 24] = [
    "a", "b", "c", "E", "s", "t", "'", " ", "\n", "!", "/", "1", "2", "é", "\u{301}", "ﬁ", "中", "文", "列", "👍", "▁",
    "\t", "\u{A0}", "한",
];
/// Characters that the vocabularies do not have.
const STRANGERS: [&str; 8] = ["Z", "ø", "本", "🇩", "\u{200D}", "\0", "½", "<0x41>"];

/// The numbers of `SplitMix64`.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap()
    }

    /// `true` in one of `times` cases.
    fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn any<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }
}

/// How `ByteLevel` writes a byte.
fn byte_character(byte: u8) -> char {
    let others = (0..byte).filter(|other| !is_itself(*other)).count();
    let code = if is_itself(byte) { u32::from(byte) } else { 0x100 + u32::try_from(others).unwrap() };
    char::from_u32(code).unwrap()
}

const fn is_itself(byte: u8) -> bool {
    matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..)
}

/// How `ByteLevel` writes a text.
fn byte_level(text: &str) -> String {
    text.bytes().map(byte_character).collect()
}

/// A vocabulary under construction.
struct Model {
    bytes: bool,
    /// The tokens that may be merged.
    tokens: Vec<String>,
    merges: Vec<[String; 2]>,
}

impl Model {
    fn draw(draw: &mut Draw, bytes: bool) -> Self {
        let mut tokens: Vec<String> = match bytes {
            true => LETTERS
                .iter()
                .flat_map(|letter| byte_level(letter).chars().map(String::from).collect::<Vec<_>>())
                .collect(),
            false => LETTERS.iter().filter(|_| !draw.one_in(8)).map(|letter| String::from(*letter)).collect(),
        };
        tokens.sort();
        tokens.dedup();
        let mut model = Self { bytes, tokens, merges: Vec::new() };
        for _ in 0..draw.below(90) {
            model.add(draw);
        }
        model
    }

    /// Adds a token, often of the latest ones, with one or more of the pairs that make it.
    fn add(&mut self, draw: &mut Draw) {
        let late = self.tokens.len().saturating_sub(25);
        let [left, right] = [(); 2].map(|()| {
            let from = if draw.one_in(3) { 0 } else { late };
            draw.any(&self.tokens[from..])
        });
        let token = format!("{left}{right}");
        if token.chars().count() > 14 {
            return;
        }
        let cuts = token.char_indices().skip(1).map(|(at, _)| token.split_at(at));
        let others: Vec<[String; 2]> = cuts
            .map(|(left, right)| [left.to_owned(), right.to_owned()])
            .filter(|pair| pair.iter().all(|part| self.tokens.contains(part)))
            .collect();
        let others = others.into_iter().filter(|_| draw.one_in(2)).collect::<Vec<_>>();
        for pair in others.into_iter().chain([[left, right]]) {
            let at = if draw.one_in(3) { draw.below(self.merges.len() + 1) } else { self.merges.len() };
            self.merges.insert(at, pair);
        }
        if !self.tokens.contains(&token) {
            self.tokens.push(token);
        }
    }

    fn json(&self, draw: &mut Draw) -> Value {
        let fallback = if self.bytes { draw.one_in(2) } else { !draw.one_in(6) };
        let mut all: Vec<String> = match self.bytes {
            true => (0..=255).map(|byte| String::from(byte_character(byte))).collect(),
            false => (0..=255).map(|byte| format!("<0x{byte:02X}>")).filter(|_| fallback).collect(),
        };
        all.extend(self.tokens.iter().cloned());
        all.push(String::from("<unk>"));
        // Tokens that no merges make.
        let unmade = (0..draw.below(6))
            .map(|_| format!("{}{}{}", draw.any(&self.tokens), draw.any(&self.tokens), draw.any(&self.tokens)));
        all.extend(unmade.collect::<Vec<_>>());
        let mut known = std::collections::HashSet::new();
        all.retain(|token| known.insert(token.clone()));
        let vocab: serde_json::Map<String, Value> =
            all.into_iter().zip(0..).map(|(token, id)| (token, json!(id))).collect();
        let spaced = self.merges.iter().flatten().any(|part| part.contains(' '));
        let joined = !spaced && draw.one_in(2);
        let merges = self.merges.iter().map(|[left, right]| match joined {
            true => json!(format!("{left} {right}")),
            false => json!([left, right]),
        });
        json!({
            "type": "BPE", "dropout": null, "unk_token": (!self.bytes || draw.one_in(2)).then_some("<unk>"),
            "continuing_subword_prefix": null, "end_of_word_suffix": null, "fuse_unk": draw.one_in(2),
            "byte_fallback": fallback, "ignore_merges": draw.one_in(3), "vocab": vocab,
            "merges": merges.collect::<Vec<_>>(),
        })
    }
}

fn replace(from: &str, to: &str) -> Value {
    json!({"type": "Replace", "pattern": {"String": from}, "content": to})
}

fn normalizer(draw: &mut Draw, bytes: bool) -> Value {
    let named = |name: &str| json!({"type": name});
    let sequence = |steps: Vec<Value>| json!({"type": "Sequence", "normalizers": steps});
    let prepend = json!({"type": "Prepend", "prepend": "▁"});
    let space = replace(" ", "▁");
    let some = [
        Value::Null,
        named("NFC"),
        named("NFKC"),
        named("NFD"),
        named("NFKD"),
        replace("a", "bc"),
        replace("é", " "),
        sequence(vec![named("NFKC"), replace("bb", "b")]),
        sequence(vec![]),
    ];
    let spaced = [
        space.clone(),
        sequence(vec![prepend.clone(), space.clone()]),
        sequence(vec![named("NFKC"), space.clone()]),
        sequence(vec![space.clone(), prepend.clone()]),
        sequence(vec![prepend, named("NFC"), space]),
        replace(" ", "__"),
    ];
    if draw.one_in(if bytes { 8 } else { 2 }) { draw.any(&spaced) } else { draw.any(&some) }
}

fn split(draw: &mut Draw, pattern: &Value) -> Value {
    let behavior = draw.any(&["Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous", "Removed"]);
    json!({"type": "Split", "pattern": pattern, "behavior": behavior, "invert": draw.one_in(4)})
}

fn pre_tokenizer(draw: &mut Draw, bytes: bool) -> Value {
    let sequence = |steps: Vec<Value>| json!({"type": "Sequence", "pretokenizers": steps});
    let digits = json!({"type": "Digits", "individual_digits": draw.one_in(2)});
    let level = |space: bool, regex: bool| json!({"type": "ByteLevel", "add_prefix_space": space, "trim_offsets": true, "use_regex": regex});
    let space = draw.one_in(3);
    let metaspace = json!({
        "type": "Metaspace", "replacement": "▁", "prepend_scheme": draw.any(&["first", "always", "never"]), "split": draw.one_in(3),
    });
    let by_space = split(draw, &json!({"String": " "}));
    let pattern = json!({"Regex": draw.any(&[r"\s+", "[a-c]", "ab|E|", r"\p{L}+"])});
    let by_regex = split(draw, &pattern);
    let llama3 = json!({"type": "Split", "pattern": {"Regex": LLAMA3}, "behavior": "Isolated", "invert": false});
    let some = match bytes {
        true => vec![
            level(space, true),
            level(space, false),
            sequence(vec![llama3, level(false, false)]),
            sequence(vec![digits, level(false, true)]),
            sequence(vec![by_space, by_regex, level(false, false)]),
        ],
        false => vec![
            Value::Null,
            by_space.clone(),
            metaspace.clone(),
            sequence(vec![metaspace, digits]),
            sequence(vec![by_space]),
            Value::Null,
        ],
    };
    draw.any(&some)
}

fn added(draw: &mut Draw, first: usize) -> Value {
    let contents = ["<s>", "<unk>", "ab", " a", "\n\n", "▁▁", "a é", "中", "s", "<|end|>", "a▁b", "  ", "'"];
    let some: Vec<&str> = contents.into_iter().filter(|_| draw.one_in(6)).collect();
    let tokens = some.into_iter().enumerate().map(|(at, content)| {
        json!({
            "id": first + at, "content": content, "single_word": draw.one_in(4), "lstrip": draw.one_in(4), "rstrip": draw.one_in(4),
            "normalized": draw.one_in(3), "special": draw.one_in(2),
        })
    });
    tokens.collect()
}

/// A file.
fn file(draw: &mut Draw) -> Value {
    let bytes = draw.one_in(2);
    let model = Model::draw(draw, bytes).json(draw);
    let first = model["vocab"].as_object().unwrap().len();
    json!({
        "version": "1.0", "truncation": null, "padding": null, "post_processor": null, "decoder": null,
        "added_tokens": added(draw, first), "normalizer": normalizer(draw, bytes), "pre_tokenizer": pre_tokenizer(draw, bytes),
        "model": model,
    })
}

fn text(draw: &mut Draw, tokens: &[String]) -> String {
    let mut text = String::new();
    for _ in 0..draw.below(24) {
        match draw.below(12) {
            0 => text.push_str(draw.any(&STRANGERS)),
            1 => text.push_str(&draw.any(&LETTERS).repeat(1 + draw.below(40))),
            2 => text.push_str(draw.any(&["<s>", "<unk>", "  ", "<|end|>", "\n\n", "a é", "▁▁", " ab ", "a b"])),
            3 => text.extend(char::from_u32(u32::try_from(draw.next() % 0x3_0000).unwrap())),
            4..8 => text.push_str(draw.any(&LETTERS)),
            _ => text.push_str(&draw.any(tokens)),
        }
    }
    text
}

/// The texts of a file's tokens, as far as they are texts.
fn texts_of_tokens(file: &Value) -> Vec<String> {
    let tokens = file["model"]["vocab"].as_object().unwrap().keys();
    let tokens: Vec<&String> = tokens.filter(|token| !token.starts_with("<0x")).collect();
    let letters: String = LETTERS.concat();
    let spelled = byte_level(&letters);
    // The byte of each character that `byte_level` wrote.
    let bytes: std::collections::HashMap<char, u8> = spelled.chars().zip(letters.bytes()).collect();
    let unspelled = tokens.into_iter().map(|token| {
        let raw: Option<Vec<u8>> = token.chars().map(|character| bytes.get(&character).copied()).collect();
        raw.and_then(|raw| String::from_utf8(raw).ok()).unwrap_or_else(|| token.clone())
    });
    unspelled.collect()
}

/// Opens a file, and compares `texts` counts with those of the library. Whether the engine counted. Every fourth file is large, and
/// counts with what was kept of an equal one.
fn compare(seed: u64, texts: usize) -> bool {
    let mut draw = Draw(seed);
    let file = file(&mut draw);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokenizer.json");
    let mut content = file.to_string();
    if seed.is_multiple_of(4) {
        content.push_str(&" ".repeat(4 << 20));
        let equal = folder.path().join("equal.json");
        fs::write(&equal, &content).unwrap();
        tokenizer_by_name(equal.to_str().unwrap()).unwrap();
    }
    fs::write(&path, content).unwrap();
    let both = Both::read(&format!("seed {seed}"), &path);
    let tokens = texts_of_tokens(&file);
    for _ in 0..texts {
        let text = text(&mut draw, &tokens);
        if !both.is_encoded(&text) {
            continue;
        }
        both.check(&text);
        let count = draw.below(30);
        let (head, tail) = both.head_and_tail(&text, count);
        assert_eq!(both.ours.head(&text, count), head, "head of {count} in {text:?}, seed {seed}");
        assert_eq!(both.ours.tail(&text, count), tail, "tail of {count} in {text:?}, seed {seed}");
    }
    both.ours.remark().is_none()
}

/// The number in a variable of the environment.
pub(crate) fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// `PROPTEST_CASES` files, and 50 texts for each.
#[test]
fn files_drawn_at_random() {
    let kept = tempfile::tempdir().unwrap();
    keep_prepared_in(kept.path().to_owned());
    let first = number("PROPTEST_RNG_SEED", 0) << 32;
    let seeds = first..first + number("PROPTEST_CASES", 60);
    let all = seeds.end - seeds.start;
    // The caches of a counter end with their thread.
    let by_engine = seeds.filter(|seed| thread::scope(|scope| scope.spawn(|| compare(*seed, 50)).join().unwrap()));
    let by_engine = by_engine.count() as u64;
    assert!(by_engine * 2 > all, "the engine counts with {by_engine} of {all} files");
    assert!(fs::read_dir(kept.path()).unwrap().count() as u64 * 8 > all, "what is made of large files is kept");
}
