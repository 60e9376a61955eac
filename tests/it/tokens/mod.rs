//! Counts are those of tiktoken-rs wherever it answers.

mod hostile;
#[cfg(unix)]
mod kept;

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::{env, fs};

use curtail_tokens::tokenizers::{DEFAULT, Tokenizer, all, tokenizer_by_name, tokenizer_for_model};
use proptest::prelude::*;
use serde_json::Value;
use tiktoken_rs::CoreBPE;

type Encoding = (&'static str, fn() -> &'static CoreBPE);

/// The encodings with ranks of their own, and what counts right.
const ENCODINGS: [Encoding; 4] = [
    ("o200k_base", tiktoken_rs::o200k_base_singleton),
    ("cl100k_base", tiktoken_rs::cl100k_base_singleton),
    ("p50k_base", tiktoken_rs::p50k_base_singleton),
    ("r50k_base", tiktoken_rs::r50k_base_singleton),
];

static OURS: LazyLock<Vec<Arc<dyn Tokenizer>>> =
    LazyLock::new(|| ENCODINGS.iter().map(|(name, _)| tokenizer_by_name(name).unwrap()).collect());

fn equal(text: &str) {
    for (ours, (name, theirs)) in OURS.iter().zip(ENCODINGS) {
        let (ours, theirs) = (ours.count(text), theirs().count_ordinary(text));
        assert_eq!(ours, theirs, "{name}: {:?}", text.chars().take(200).collect::<String>());
    }
}

#[test]
fn every_code_point_in_company() {
    let mut text = String::new();
    for code in (0..=0x10_FFFF).filter_map(char::from_u32) {
        text.push(code);
        if u32::from(code) % 7 == 0 {
            text.push_str(["a", "A", " ", "1", "'s", "\n", "中", "!", "\u{301}"][u32::from(code) as usize / 7 % 9]);
        }
        if text.len() > 2000 {
            equal(&text);
            text.clear();
        }
    }
    equal(&text);
}

#[test]
fn every_short_string_of_what_patterns_tell_apart() {
    let kinds = [
        "a", "B", "\u{1C5}", "\u{2B0}", "中", "\u{301}", "7", "\u{BD}", " ", "\t", "\u{A0}", "\n", "\r", "!", "'", "/",
        "s", "ſ",
    ];
    for number in 0..kinds.len().pow(4) {
        let letters = (0..4).map(|at| kinds[number / kinds.len().pow(at) % kinds.len()]);
        equal(&letters.collect::<String>());
    }
}

fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        4 => "[a-z]{1,12}",
        2 => "[A-Za-z]{1,12}",
        2 => "[ \t\n\r]{1,6}",
        1 => "[0-9]{1,8}",
        1 => "[!-/:-@'/\\n\\r ]{1,6}",
        1 => "'(s|S|t|re|VE|ll|d|m|ſ)",
        1 => "\\PC{1,6}",
        1 => "[\\u{3040}-\\u{30FF}\\u{4E00}-\\u{9FFF}。，]{1,12}",
        1 => "[\\u{400}-\\u{4FF}]{1,8}",
        1 => "[\\u{5D0}-\\u{5EA}\\u{600}-\\u{6FF}\\u{900}-\\u{97F}]{1,8}",
        1 => "[\\u{AC00}-\\u{D7A3}]{1,6}",
        1 => "[\\u{300}-\\u{36F}\\u{1F300}-\\u{1FAFF}\\u{200D}\\u{FE0F}]{1,6}",
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(word, 0..40).prop_map(|words| words.concat())
}

/// What begins like a token and ends like one, and is none: where long pieces are cut must not matter.
fn foreign() -> impl Strategy<Value = String> {
    let ids = ENCODINGS[0].1();
    let words: Vec<String> = (0..199_998)
        .filter_map(|id| String::from_utf8(ids.decode_bytes(&[id]).ok()?).ok())
        .filter(|token| !token.is_ascii())
        .collect();
    let part = (prop::sample::select(words), 0..4_usize, 0..4_usize).prop_map(|(word, from, to)| {
        let count = word.chars().count();
        word.chars().take(count - to.min(count - 1)).skip(from.min(count - 1)).collect::<String>()
    });
    prop::collection::vec(part, 4..40).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(crate::properties::property(256))]

    #[test]
    fn any_text(text in text()) {
        equal(&text);
    }

    #[test]
    fn parts_of_tokens_in_any_company(text in foreign()) {
        equal(&text);
    }

    #[test]
    fn no_text_has_more_tokens_than_bytes(text in text()) {
        for listed in curtail_tokens::tokenizers::all().iter().filter(|listed| listed.kind != "huggingface") {
            let ours = tokenizer_by_name(listed.name).unwrap();
            prop_assert!(ours.at_most_bytes() && ours.count(&text) <= text.len(), "{}", listed.name);
        }
    }

    #[test]
    fn until_is_the_count_or_nothing(text in text(), limit in 0_usize..60) {
        for ours in OURS.iter() {
            let count = ours.count(&text);
            prop_assert_eq!(ours.count_until(&text, limit), Some(count).filter(|count| *count <= limit));
        }
    }

    #[test]
    fn head_and_tail_end_where_tokens_do(text in text(), tokens in 0_usize..60) {
        for (ours, (_, theirs)) in OURS.iter().zip(ENCODINGS) {
            let all = theirs().encode_ordinary(&text);
            let ends = ends(theirs(), &all);
            let held = |from: usize, to: usize| ends[from..=to].iter().copied().filter(|at| text.is_char_boundary(*at));
            let head = held(0, tokens.min(all.len())).next_back().unwrap();
            let tail = held(all.len().saturating_sub(tokens), all.len()).next().unwrap();
            prop_assert_eq!(ours.head(&text, tokens), head);
            prop_assert_eq!(ours.tail(&text, tokens), tail);
        }
    }
}

fn ends(encoding: &CoreBPE, tokens: &[u32]) -> Vec<usize> {
    let mut ends = vec![0];
    for token in tokens {
        ends.push(ends[ends.len() - 1] + encoding.decode_bytes(&[*token]).unwrap().len());
    }
    ends
}

// Which tokenizer a name or a model finds.

#[test]
fn every_listed_name_is_found() {
    let listed = all();
    assert_eq!(listed[0].name, DEFAULT);
    for member in listed.iter().filter(|member| member.kind != "huggingface") {
        let found = tokenizer_by_name(member.name).unwrap();
        assert_eq!((found.name(), found.exact()), (member.name, member.exact));
    }
}

#[test]
fn models_have_their_encoding() {
    for (model, encoding) in [
        ("gpt-4o", "o200k_base"),
        ("gpt-4o-mini-2024-07-18", "o200k_base"),
        ("openai/gpt-4.1-nano", "o200k_base"),
        ("gpt-5.2-codex", "o200k_base"),
        ("GPT-5", "o200k_base"),
        ("o1", "o200k_base"),
        ("o3-mini", "o200k_base"),
        ("o4-mini", "o200k_base"),
        ("gpt-oss-120b", "o200k_harmony"),
        ("gpt-4", "cl100k_base"),
        ("gpt-4-32k-0314", "cl100k_base"),
        ("gpt-3.5-turbo-0125", "cl100k_base"),
        ("ft:gpt-3.5-turbo:org:name:id", "cl100k_base"),
        ("ft:gpt-4o:org:name:id", "o200k_base"),
        ("davinci-002", "cl100k_base"),
        ("text-embedding-3-small", "cl100k_base"),
        ("text-davinci-003", "p50k_base"),
        ("code-davinci-002", "p50k_base"),
        ("text-davinci-001", "r50k_base"),
        ("davinci", "r50k_base"),
        ("gpt2", "gpt2"),
    ] {
        let picked = tokenizer_for_model(model).unwrap();
        assert_eq!((picked.name(), picked.remark()), (encoding, None), "{model}");
    }
}

#[test]
fn other_models_are_approximated_and_said_to_be() {
    for model in [
        "claude-sonnet-4-5",
        "us.anthropic.claude-opus-4-1-20250805-v1:0",
        "gemini-2.5-pro",
        "llama-3.1-70b",
        "mistral-large",
        "deepseek/deepseek-chat",
    ] {
        let picked = tokenizer_for_model(model).unwrap();
        assert_eq!((picked.name(), picked.exact()), ("approx:o200k_base", false), "{model}");
        assert!(picked.remark().is_some_and(|remark| remark.contains("approximation")), "{model}");
    }
}

#[test]
fn what_is_unknown_is_told_what_is_near() {
    for (name, suggested) in
        [("o200k", "o200k_base"), ("cl100k_bsae", "cl100k_base"), ("approx:o200k", "approx:o200k_base")]
    {
        let message = tokenizer_by_name(name).err().unwrap().to_string();
        assert!(message.contains(&format!("did you mean {suggested:?}?")), "{message}");
    }
    for (model, suggested) in [("gpt4o", "gpt-4o"), ("cluade-3", "claude")] {
        let message = tokenizer_for_model(model).err().unwrap().to_string();
        assert!(message.contains(&format!("did you mean {suggested:?}?")), "{message}");
    }
    assert!(!tokenizer_by_name("zzz").err().unwrap().to_string().contains("did you mean"));
}

#[test]
fn approximations_are_utf16_over_a_ratio_rounded_up() {
    for (name, text, count) in [
        ("approx", "", 0),
        ("approx", "a", 1),
        ("approx:o200k_base", "123456789", 3),
        ("approx:cl100k_base", "12345678", 2),
        ("approx:p50k_base", "12345678", 3),
        ("approx:r50k_base", "1234567", 2),
        ("approx:gpt2", "12345678", 3),
        ("approx:gpt2", "中文中文👍", 2),
    ] {
        let tokenizer = tokenizer_by_name(name).unwrap();
        assert_eq!(tokenizer.count(text), count, "{name} {text:?}");
        assert_eq!(tokenizer.count_until(text, count), Some(count));
        assert_eq!(count.checked_sub(1).and_then(|limit| tokenizer.count_until(text, limit)), None);
    }
    let tokenizer = tokenizer_by_name("approx:cl100k_base").unwrap();
    assert_eq!((tokenizer.head("123👍6", 1), tokenizer.tail("1👍456", 1)), (3, 5));
}

#[test]
fn a_tokenizer_json_counts_its_words() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokenizer.json");
    let words = r#"{"version":"1.0","truncation":{"direction":"Right","max_length":2,"strategy":"LongestFirst","stride":0},
        "added_tokens":[],"pre_tokenizer":{"type":"Whitespace"},
        "model":{"type":"WordLevel","vocab":{"[UNK]":0,"one":1,"two":2},"unk_token":"[UNK]"}}"#;
    fs::write(&path, words).unwrap();
    let tokenizer = tokenizer_by_name(path.to_str().unwrap()).unwrap();
    assert_eq!(tokenizer.count("one two three"), 3, "truncation in the file is not for counting");
    assert_eq!(tokenizer.count_until("one two three", 2), None);
    assert_eq!((tokenizer.head("one two three", 2), tokenizer.tail("one two three", 2)), (8, 4));
    fs::remove_file(&path).unwrap();
    assert!(tokenizer_by_name(path.to_str().unwrap()).is_ok(), "a file is read once");
}

#[test]
fn a_file_that_is_none_is_refused_by_name() {
    let message = tokenizer_by_name("no/tokenizer.json").err().unwrap().to_string();
    assert!(message.starts_with("no/tokenizer.json: "), "{message}");
}

/// `fixtures/tokens/<encoding>.tsv`: a text as JSON writes it, a tab, its tokens.
#[test]
fn fixtures_have_their_counts() {
    let mut files = 0;
    for file in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/tokens")).unwrap() {
        let path = file.unwrap().path();
        let tokenizer = tokenizer_by_name(path.file_stem().unwrap().to_str().unwrap()).unwrap();
        for line in fs::read_to_string(&path).unwrap().lines() {
            let (text, count) = line.split_once('\t').unwrap();
            let text: String = serde_json::from_str(text).unwrap();
            assert_eq!(tokenizer.count(&text).to_string(), count, "{}: {line}", path.display());
        }
        files += 1;
    }
    assert_eq!(files, 6);
}

// Every string of every file of the folder of transcripts that `CURTAIL_DATA` names.

#[test]
fn every_string_of_the_data_counts_the_same() {
    let Some(folder) = env::var_os("CURTAIL_DATA").map(PathBuf::from) else {
        println!("skipped: CURTAIL_DATA names no folder");
        return;
    };
    let mut strings = Vec::new();
    collect_strings(&folder, &mut strings);
    strings.sort_unstable();
    strings.dedup();
    println!("{} strings", strings.len());
    std::thread::scope(|scope| {
        let strings = &strings;
        for encodings in [&ALL[..1], &ALL[1..]] {
            scope.spawn(move || encodings.iter().for_each(|encoding| equal_strings(*encoding, strings)));
        }
    });
}

/// The names of encodings that differ only in special tokens, and what counts right.
type Names = (&'static [&'static str], fn() -> &'static CoreBPE);

const ALL: [Names; 4] = [
    (&["o200k_base", "o200k_harmony"], tiktoken_rs::o200k_base_singleton),
    (&["cl100k_base"], tiktoken_rs::cl100k_base_singleton),
    (&["p50k_base"], tiktoken_rs::p50k_base_singleton),
    (&["r50k_base", "gpt2"], tiktoken_rs::r50k_base_singleton),
];

fn equal_strings((names, theirs): Names, strings: &[String]) {
    for text in strings {
        let count = theirs().count_ordinary(text);
        for name in names {
            let ours = tokenizer_by_name(name).unwrap();
            assert_eq!(ours.count(text), count, "{name}: {:?}", text.chars().take(300).collect::<String>());
            assert_eq!(ours.count_until(text, count), Some(count));
        }
    }
}

fn collect_strings(path: &Path, strings: &mut Vec<String>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            collect_strings(&entry.unwrap().path(), strings);
        }
        return;
    }
    let Ok(text) = fs::read_to_string(path) else {
        return;
    };
    if let Ok(document) = serde_json::from_str(&text) {
        return take(document, strings);
    }
    for line in text.lines() {
        match serde_json::from_str(line) {
            Ok(record) => take(record, strings),
            Err(_) => strings.push(line.to_owned()),
        }
    }
}

fn take(value: Value, strings: &mut Vec<String>) {
    match value {
        Value::String(text) => strings.push(text),
        Value::Array(values) => values.into_iter().for_each(|value| take(value, strings)),
        Value::Object(members) => members.into_iter().for_each(|(key, value)| {
            strings.push(key);
            take(value, strings);
        }),
        _ => {}
    }
}
