//! Counts are those of tiktoken-rs wherever it answers.

mod data;
mod find;
mod hostile;

use std::sync::{Arc, LazyLock};

use curtail_tokens::tokenizers::{Tokenizer, tokenizer_by_name};
use proptest::prelude::*;
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
