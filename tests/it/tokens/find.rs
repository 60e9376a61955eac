//! Which tokenizer a name or a model finds.

use std::fs;

use curtail_tokens::tokenizers::{DEFAULT, all, tokenizer_by_name, tokenizer_for_model};

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
        assert_eq!((picked.tokenizer.name(), picked.note), (encoding, None), "{model}");
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
        assert_eq!((picked.tokenizer.name(), picked.tokenizer.exact()), ("approx:o200k_base", false), "{model}");
        assert!(picked.note.is_some_and(|note| note.contains("approximation")), "{model}");
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
