//! Every string of every file of the folder of transcripts that `CURTAIL_DATA` names.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use curtail_tokens::tokenizers::tokenizer_by_name;
use serde_json::Value;
use tiktoken_rs::CoreBPE;

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
        for encodings in [&ENCODINGS[..1], &ENCODINGS[1..]] {
            scope.spawn(move || encodings.iter().for_each(|encoding| equal(*encoding, strings)));
        }
    });
}

type Encoding = (&'static [&'static str], fn() -> &'static CoreBPE);

const ENCODINGS: [Encoding; 4] = [
    (&["o200k_base", "o200k_harmony"], tiktoken_rs::o200k_base_singleton),
    (&["cl100k_base"], tiktoken_rs::cl100k_base_singleton),
    (&["p50k_base"], tiktoken_rs::p50k_base_singleton),
    (&["r50k_base", "gpt2"], tiktoken_rs::r50k_base_singleton),
];

fn equal((names, theirs): Encoding, strings: &[String]) {
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
