//! Runs that make other counters slow, or stop them.

use curtail::tokenizers::{Tokenizer, find};
use std::sync::Arc;
use tiktoken_rs::CoreBPE;

const ENCODINGS: [(&str, fn() -> &'static CoreBPE); 4] = [
    ("o200k_base", tiktoken_rs::o200k_base_singleton),
    ("cl100k_base", tiktoken_rs::cl100k_base_singleton),
    ("p50k_base", tiktoken_rs::p50k_base_singleton),
    ("r50k_base", tiktoken_rs::r50k_base_singleton),
];

/// Bytes that differ from each other without a pattern.
fn noise() -> impl Iterator<Item = u64> {
    std::iter::successors(Some(0x9E37_79B9_7F4A_7C15_u64), |state| {
        let state = state ^ (state << 13);
        let state = state ^ (state >> 7);
        Some(state ^ (state << 17))
    })
}

fn drawn(alphabet: &str, bytes: usize) -> String {
    let alphabet: Vec<char> = alphabet.chars().collect();
    let draw = noise().map(|number| alphabet[(number >> 20) as usize % alphabet.len()]);
    let mut text = String::new();
    for character in draw {
        if text.len() >= bytes {
            break;
        }
        text.push(character);
    }
    text
}

fn hostile(bytes: usize) -> Vec<(&'static str, String)> {
    let one = [
        "a", "=", "1", " ", "\t", "\n", "\r\n", "中", "👍", "\u{301}", "é", "A", "' ", "'s", "! ", "\u{A0}", "/", "я",
        "한",
    ];
    let mut all: Vec<_> = one.iter().map(|text| (*text, text.repeat(bytes / text.len()))).collect();
    let base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    all.push(("base64", drawn(base64, bytes)));
    all.push(("letters", drawn(&base64[26..52], bytes)));
    all.push(("capitals", drawn(&base64[..26], bytes)));
    all.push(("punctuation", drawn("!\"#$%&()*+,-.:;<=>?@[]^_`{|}~", bytes)));
    all.push(("white", drawn(" \t", bytes)));
    all.push(("lines", drawn(" \t\n\r", bytes)));
    all.push(("han", drawn("的一是不了人我在有他这为之大来以个中上们", bytes)));
    all.push(("marks", drawn("\u{301}\u{302}a\u{308}\u{323}", bytes)));
    all.push(("emoji", drawn("👍🏽👩‍👩‍👧‍👦❤️😀", bytes)));
    all.push(("space and letter", format!(" {}", "b".repeat(bytes))));
    all.push(("caseless and capitals", drawn("中A", bytes)));
    all.push(("mark and capitals", format!("\u{301}{}", "A".repeat(bytes))));
    all
}

#[test]
fn equal_where_tiktoken_answers() {
    for (name, text) in hostile(5_000) {
        for (encoding, theirs) in ENCODINGS {
            let count = find(encoding).unwrap().count(&text);
            assert_eq!(count, theirs().count_ordinary(&text), "{encoding}: {name}");
        }
    }
}

#[test]
#[ignore]
fn timing() {
    for (name, text) in hostile(1_000_000) {
        for (encoding, _) in ENCODINGS {
            let ours: Arc<dyn Tokenizer> = find(encoding).unwrap();
            let start = std::time::Instant::now();
            let count = ours.count(&text);
            println!("{encoding} {name:?} {count} {:?}", start.elapsed());
        }
    }
}
