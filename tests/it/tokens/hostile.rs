//! Runs that make other counters slow, or stop them.

use curtail_tokens::tokenizers::tokenizer_by_name;
use tiktoken_rs::CoreBPE;

type Encoding = (&'static str, fn() -> &'static CoreBPE);

const ENCODINGS: [Encoding; 4] = [
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
            let count = tokenizer_by_name(encoding).unwrap().count(&text);
            assert_eq!(count, theirs().count_ordinary(&text), "{encoding}: {name}");
        }
    }
}

/// Runs of one character are tokens of one length but for the end, so a longer one has so many more.
#[test]
fn a_megabyte_of_white_space_is_counted() {
    for (encoding, character, length) in [
        ("o200k_base", " ", 128),
        ("o200k_base", "\t", 16),
        ("cl100k_base", " ", 128),
        ("cl100k_base", "\n", 32),
        ("p50k_base", " ", 16),
        ("r50k_base", " ", 1),
    ] {
        let tokenizer = tokenizer_by_name(encoding).unwrap();
        let theirs = ENCODINGS.iter().find(|(name, _)| *name == encoding).unwrap().1();
        for rest in [0, 1, 5, 100] {
            let short = theirs.count_ordinary(&character.repeat(length * 8 + rest));
            let long = tokenizer.count(&character.repeat(length * (1_000_000 / length) + rest));
            assert_eq!(long - short, 1_000_000 / length - 8, "{encoding} {character:?} {rest}");
        }
    }
}

/// Before a letter that follows a newline there is always a split, so parts may be counted alone.
#[test]
fn a_megabyte_is_the_sum_of_its_parts() {
    for (name, part) in hostile(4_000) {
        let parts = (0..10).map(|number| format!("x{}\n", &part[..cut(&part, number * 399)]));
        let parts: Vec<String> = parts.collect();
        let whole = parts.concat().repeat(50);
        for (encoding, theirs) in &ENCODINGS[..2] {
            let alone = |part: &String| theirs().count_ordinary(&format!("{part}x")) - 1;
            let sum: usize = parts.iter().map(alone).sum();
            let tokenizer = tokenizer_by_name(encoding).unwrap();
            assert_eq!(tokenizer.count(&format!("{whole}x")), sum * 50 + 1, "{encoding}: {name}");
        }
    }
}

fn cut(text: &str, at: usize) -> usize {
    (at..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

/// Files, and what is wrong with each.
fn hostile_tokenizers() -> Vec<(String, &'static str)> {
    let bpe = r#""model":{"type":"BPE","vocab":{"a":0},"merges":[]}"#;
    let doubles = vec![r#"{"type":"Replace","pattern":{"String":"a"},"content":"aa"}"#; 40].join(",");
    let many = vec![r#"{"type":"Lowercase"}"#; 5000].join(",");
    // A trie of no bytes, and a replacement of 60,000 `A`s, in base64.
    let map = format!("AAAAAEFB{}", "QUFB".repeat(20_000));
    vec![
        (
            r#"{"version":"1.0","model":{"type":"BPE","vocab":{"a":4294967295},"merges":["a a"]}}"#.to_owned(),
            "id 4294967295",
        ),
        (
            r#"{"version":"1.0","model":{"type":"BPE","vocab":{"a":0,"b":1},"merges":["b b"]}}"#.to_owned(),
            "contradict each other",
        ),
        (
            r#"{"version":"1.0","model":{"type":"WordPiece","vocab":{"a":0},"unk_token":"a","continuing_subword_prefix":"","max_input_chars_per_word":99999999999}}"#.to_owned(),
            "max_input_chars_per_word",
        ),
        (
            format!(
                r#"{{"version":"1.0","added_tokens":[{{"id":4294967295,"content":"x","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":false}}],{bpe}}}"#
            ),
            "id 4294967295",
        ),
        (
            format!(r#"{{"version":"1.0","normalizer":{{"type":"Sequence","normalizers":[{doubles}]}},{bpe}}}"#),
            "times longer",
        ),
        (
            format!(r#"{{"version":"1.0","normalizer":{{"type":"Sequence","normalizers":[{many}]}},{bpe}}}"#),
            "5001 normalizers",
        ),
        (
            format!(
                r#"{{"version":"1.0","normalizer":{{"type":"Precompiled","precompiled_charsmap":"{map}"}},{bpe}}}"#
            ),
            "times longer",
        ),
        ("[]".to_owned(), "tokenizer.json"),
        (String::new(), "tokenizer.json"),
    ]
}

/// A `tokenizer.json` is usually downloaded: what is wrong with its numbers is an error that names it.
#[test]
fn a_hostile_tokenizer_is_an_error() {
    let place = crate::program::Place::new();
    place.write("in.jsonl", b"{\"role\":\"user\",\"content\":\"a banana\"}\n");
    for (file, part) in hostile_tokenizers() {
        place.write("tokenizer.json", file.as_bytes());
        let done = place.curtail(&["count", "--tokenizer", "./tokenizer.json", "in.jsonl"]).output().unwrap();
        let stderr = crate::program::text(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{part}: {stderr}");
        assert!(stderr.contains("./tokenizer.json: ") && stderr.contains(part), "{part}: {stderr}");
        assert!(!stderr.contains("panicked"), "{part}: {stderr}");
    }
}

#[test]
fn a_note_says_why_the_library_counts() {
    let place = crate::program::Place::new();
    let record = br#"{"messages":[{"role":"user","content":"a banana"},{"role":"assistant","content":"a"}]}"#;
    place.write("in.jsonl", record);
    let words = r#"{"version":"1.0","pre_tokenizer":{"type":"Whitespace"},"model":{"type":"WordLevel","vocab":{"a":0,"banana":1},"unk_token":"a"}}"#;
    place.write("words.json", words.as_bytes());
    let vocabulary = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/tokenizer-json/bytes.json")).unwrap();
    place.write("bytes.json", &vocabulary);
    let commands: [&[&str]; 7] = [
        &["count"],
        &["check", "-t", "99"],
        &["limit", "-t", "99"],
        &["split", "-t", "99", "-o", "out.jsonl", "--force"],
        &["filter", "--drop-records-with", "too-long", "-t", "99"],
        &["view", "--text"],
        &["replay"],
    ];
    for command in commands {
        for (file, flags, noted) in
            [("words.json", &[][..], true), ("words.json", &["-q"], false), ("bytes.json", &["-v"], false)]
        {
            let path = format!("./{file}");
            let arguments = [command, &["--tokenizer", &path, "in.jsonl"], flags].concat();
            let stderr = crate::program::text(&place.curtail(&arguments).output().unwrap().stderr);
            let note =
                "./words.json: counted by the library tokenizers, which is slower: its model is not byte pair encoding";
            assert_eq!(stderr.matches(note).count(), usize::from(noted), "{arguments:?}: {stderr}");
        }
    }
}

/// A text that a `tokenizer.json` cannot encode is counted by its characters, which is reported once.
#[test]
fn a_text_that_is_not_encoded_is_counted_and_named() {
    let place = crate::program::Place::new();
    place
        .write("in.jsonl", b"{\"role\":\"user\",\"content\":\"one four\"}\n{\"role\":\"user\",\"content\":\"five\"}\n");
    let words = r#"{"version":"1.0","added_tokens":[],"pre_tokenizer":{"type":"Whitespace"},
        "model":{"type":"WordLevel","vocab":{"one":1},"unk_token":"[UNK]"}}"#;
    place.write("tokenizer.json", words.as_bytes());
    let done = place.curtail(&["count", "--tokenizer", "./tokenizer.json", "in.jsonl"]).output().unwrap();
    let stderr = crate::program::text(&done.stderr);
    assert_eq!(done.status.code(), Some(0), "{stderr}");
    assert_eq!(stderr.matches("./tokenizer.json: cannot encode every text").count(), 1, "{stderr}");
    let quiet = place.curtail(&["count", "-q", "--tokenizer", "./tokenizer.json", "in.jsonl"]).output().unwrap();
    assert!(!crate::program::text(&quiet.stderr).contains("encode"), "a quiet run says nothing");
}
