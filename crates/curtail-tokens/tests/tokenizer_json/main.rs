//! With a `tokenizer.json`, the engine of `curtail` counts the same as the library `tokenizers`.

#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

mod generated;
mod variants;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::{env, fs};

use curtail_tokens::tokenizers::tokenizer_by_name;
use generated::number;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};

use variants::{Both, base, with};

static BOTH: LazyLock<Vec<Both>> = LazyLock::new(variants::all);

fn equal(text: &str) {
    BOTH.iter().for_each(|both| both.check(text));
}

#[test]
fn every_code_point_in_company() {
    let mut text = String::new();
    for code in
        (0..=0x10_FFFF).filter_map(char::from_u32).filter(|code| *code < '\u{1200}' || u32::from(*code) % 32 == 0)
    {
        text.push(code);
        if u32::from(code) % 7 == 0 {
            text.push_str(["a", "A", " ", "1", "'s", "\n", "中", "!", "\u{301}"][u32::from(code) as usize / 7 % 9]);
        }
        if text.len() > 4000 {
            equal(&text);
            text.clear();
        }
    }
    equal(&text);
}

/// The string with this number among those of `length` of the `kinds`.
fn spelled(kinds: &[&str], number: usize, length: u32) -> String {
    (0..length).map(|at| kinds[number / kinds.len().pow(at) % kinds.len()]).collect()
}

#[test]
fn every_short_string_of_what_patterns_tell_apart() {
    let kinds = ["a", "B", "中", "\u{301}", "\0", "7", " ", "\u{A0}", "\n", "'", "/", "s"];
    (0..kinds.len().pow(3)).for_each(|number| equal(&spelled(&kinds, number, 3)));
    let all: Vec<String> = (0..kinds.len().pow(4)).map(|number| spelled(&kinds, number, 4)).collect();
    all.chunks(100).for_each(|some| equal(&some.concat()));
}

/// Runs of Chinese and Japanese contain signs, marks and unassigned code points, at which the last regex of `DeepSeek` splits
/// them.
#[test]
fn every_short_string_of_chinese_and_japanese() {
    let kinds = ["む", "゠", "・", "\u{3040}", "\u{309A}", "中", "!", "a", " ", "\n", "\u{200B}"];
    (0..kinds.len().pow(4)).step_by(7).for_each(|number| equal(&spelled(&kinds, number, 4)));
    let katakana = (0x3040..0x3100).filter_map(char::from_u32);
    equal(&katakana.flat_map(|one| ['む', one, '゠', one]).collect::<String>());
}

#[test]
fn runs_of_one_character() {
    for character in [
        "a", "=", "1", "\0", "\u{200B}", " ", "\t", "\n", "\r\n", "中", "👍", "\u{301}", "é", "' ", "'s", "! ",
        "\u{A0}", "/", "한",
    ] {
        for count in [1, 2, 3, 7, 15, 16, 17, 31, 64, 65, 129, 700, 3000] {
            // The library takes quadratic time here: for each token, it looks at everything before it.
            let some = BOTH.iter().filter(|both| count < 200 || !both.name.starts_with("tokens"));
            some.for_each(|both| both.check(&character.repeat(count)));
        }
    }
}

fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        4 => "[a-z]{1,12}",
        3 => "[A-Za-z]{1,12}",
        2 => prop::sample::select(vec![
            " passengers", "passengers", "trainstation", "xqz", " xqz", "中文列", " カタカナ", "the train", " station",
        ]).prop_map(str::to_owned),
        2 => prop::sample::select(vec![
            "<mask>", " <mask>\t ", "train", " x", "a'b", "\u{A0}s ", "_s", "\u{301}", "\u{200C}\u{200B}a", "\0\u{7F}", "\u{E000}",
            "<|im_start|>", "<|im_end|>", "<tool_call>", "<tool", "é train", "e\u{301} train", "<|end", "<|",
        ]).prop_map(str::to_owned),
        2 => "[ \t\n\r]{1,6}",
        1 => "[0-9]{1,8}",
        1 => "[!-/:-@'/\\n\\r ]{1,6}",
        1 => "'(s|S|t|re|VE|ll|d|m|ſ)",
        1 => "\\PC{1,6}",
        1 => "[列车什么时候开中文字请问直达。，]{1,30}",
        1 => "[\\u{3040}-\\u{30FF}\\u{4E00}-\\u{9FFF}。，]{1,12}",
        1 => "[\\u{400}-\\u{4FF}]{1,8}",
        1 => "[\\u{5D0}-\\u{5EA}\\u{600}-\\u{6FF}\\u{900}-\\u{97F}]{1,8}",
        1 => "[\\u{1100}-\\u{11FF}\\u{AC00}-\\u{D7A3}]{1,6}",
        1 => "[a-zA-Z\\u{300}-\\u{36F}\\u{1F300}-\\u{1FAFF}\\u{200D}\\u{FE0F}]{1,6}",
        1 => any::<char>().prop_map(String::from),
        1 => (any::<char>(), 1..100_usize).prop_map(|(character, count)| String::from(character).repeat(count)),
    ];
    prop::collection::vec(word, 0..40).prop_map(|words| words.concat())
}

/// 96 cases from a fixed seed, or as many as `PROPTEST_CASES` says, from the seed that `PROPTEST_RNG_SEED` names.
fn property() -> ProptestConfig {
    let cases = u32::try_from(number("PROPTEST_CASES", 96)).unwrap_or(u32::MAX);
    let rng_seed = RngSeed::Fixed(number("PROPTEST_RNG_SEED", 0));
    ProptestConfig { cases, rng_seed, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(property())]

    #[test]
    fn any_text(text in text()) {
        equal(&text);
    }

    #[test]
    fn head_and_tail_end_where_tokens_do(text in text(), tokens in 0_usize..60) {
        for both in BOTH.iter() {
            let (head, tail) = both.head_and_tail(&text, tokens);
            prop_assert_eq!(both.ours.head(&text, tokens), head, "head of {}", both.name);
            prop_assert_eq!(both.ours.tail(&text, tokens), tail, "tail of {}", both.name);
        }
    }
}

/// The file with another member of its model.
fn with_model(member: &str, value: Value) -> Value {
    let mut file = base();
    file["model"][member] = value;
    file
}

/// Files that the engine does not support are left to the library, with the reason.
#[test]
fn other_files_are_counted_by_the_library() {
    let folder = tempfile::tempdir().unwrap();
    let words = json!({"version": "1.0", "added_tokens": [], "model": {
        "type": "WordLevel", "vocab": {"a": 0, "[UNK]": 1}, "unk_token": "[UNK]",
    }});
    for (at, (why, file)) in [
        ("not plain byte pair", with_model("dropout", json!(0.1))),
        ("prefixes or suffixes", with_model("end_of_word_suffix", json!("</w>"))),
        ("normalizes texts", with(base(), &[("normalizer", json!({"type": "Lowercase"}))])),
        ("splits texts", with(base(), &[("pre_tokenizer", json!({"type": "Whitespace"}))])),
        ("not encoded as bytes", with(base(), &[("pre_tokenizer", Value::Null)])),
        ("not byte pair", words),
    ]
    .into_iter()
    .enumerate()
    {
        let path = folder.path().join(format!("{at}.json"));
        fs::write(&path, file.to_string()).unwrap();
        let ours = tokenizer_by_name(path.to_str().unwrap()).unwrap();
        let remark = ours.remark().unwrap_or_default();
        assert!(remark.contains(why), "{why}: {remark}");
    }
}

/// Counts the strings of all files in the folder `CURTAIL_DATA`, with the tokenizers in the folder `CURTAIL_TOKENIZERS`
/// or, without it, with those of the other tests.
#[test]
fn every_string_of_the_data_counts_the_same() {
    let Some(folder) = env::var_os("CURTAIL_DATA").map(PathBuf::from) else {
        println!("skipped: CURTAIL_DATA names no folder");
        return;
    };
    let mut strings = std::collections::HashSet::new();
    collect(&folder, &mut strings);
    println!("{} strings", strings.len());
    let more: Vec<Both> = env::var_os("CURTAIL_TOKENIZERS").map_or_else(Vec::new, |folder| {
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        files.map(|path| Both::open(path.to_str().unwrap(), &path)).collect()
    });
    for both in if more.is_empty() { &*BOTH } else { &more } {
        strings.iter().for_each(|text| both.check(text));
        println!("{}: equal", both.name);
    }
}

fn collect(path: &Path, strings: &mut std::collections::HashSet<String>) {
    if path.is_dir() {
        return fs::read_dir(path).unwrap().for_each(|entry| collect(&entry.unwrap().path(), strings));
    }
    let Ok(text) = fs::read_to_string(path) else { return };
    for line in text.lines() {
        match serde_json::from_str(line) {
            Ok(record) => take(record, strings),
            Err(_) => {
                strings.insert(line.to_owned());
            }
        }
    }
}

fn take(value: Value, strings: &mut std::collections::HashSet<String>) {
    match value {
        Value::String(text) => {
            strings.insert(text);
        }
        Value::Array(values) => values.into_iter().for_each(|value| take(value, strings)),
        Value::Object(members) => members.into_iter().for_each(|(_, value)| take(value, strings)),
        _ => {}
    }
}
