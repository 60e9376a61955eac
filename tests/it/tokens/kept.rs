//! What is made of large tokenizer files is kept in the user's cache folder, and never changes a count.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use crate::program::Place;

/// A vocabulary of bytes, some merges, and so many tokens that none makes that it is kept.
fn large(merges: &[&str]) -> String {
    let bytes = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/tokenizer-json/bytes.json")).unwrap();
    let mut file: serde_json::Value = serde_json::from_str(&bytes).unwrap();
    let vocabulary = file["model"]["vocab"].as_object_mut().unwrap();
    let first = vocabulary.values().filter_map(serde_json::Value::as_u64).max().unwrap() + 1;
    let unmade = (0..150_000).map(|number| format!("unmade-token-{number:012}"));
    let made = merges.iter().map(|merge| merge.replace(' ', ""));
    for (token, id) in made.chain(unmade).zip(first..) {
        vocabulary.entry(token).or_insert(id.into());
    }
    file["model"]["ignore_merges"] = true.into();
    file["model"]["merges"].as_array_mut().unwrap().extend(merges.iter().map(|merge| (*merge).into()));
    file.to_string()
}

struct Counts(Place);

impl Counts {
    /// What the program counts with `tokenizer.json`, in a home with this cache folder.
    fn count(&self) -> String {
        let mut command = self.0.curtail(&["count", "-q", "--tokenizer", "./tokenizer.json", "in.jsonl"]);
        let done = command.env("XDG_CACHE_HOME", self.0.path("cache")).output().unwrap();
        assert!(done.status.success(), "{}", crate::program::text(&done.stderr));
        crate::program::text(&done.stdout)
    }

    fn kept(&self) -> Vec<PathBuf> {
        let folder = self.0.path("cache/curtail/tokenizers");
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
    }
}

#[test]
fn what_is_kept_of_a_tokenizer_counts_as_its_file_does() {
    let counts = Counts(Place::new());
    counts.0.write("in.jsonl", b"{\"role\":\"user\",\"content\":\"a zqzq banana unmade-token-000000000007\"}\n");
    counts.0.write("tokenizer.json", large(&["z q"]).as_bytes());
    let first = counts.count();
    let kept = counts.kept();
    let [path] = kept.as_slice() else { panic!("{kept:?}") };
    let whole = fs::read(path).unwrap();
    let number = || fs::metadata(path).unwrap().ino();
    let written = number();
    assert_eq!((counts.count(), number()), (first.clone(), written), "what was kept is found, and not written again");
    let other_sum = [&[0; 32], &whole[32..]].concat();
    let mut other_byte = whole.clone();
    other_byte[whole.len() / 2] ^= 1;
    for damaged in [&[][..], &whole[..20], &whole[..whole.len() - 1], &other_sum, &other_byte] {
        fs::write(path, damaged).unwrap();
        assert_eq!(counts.count(), first, "with what was damaged");
        assert!(fs::read(path).unwrap() == whole, "it is made again");
    }
    counts.0.write("tokenizer.json", large(&["z q", "zq zq"]).as_bytes());
    assert_ne!(counts.count(), first, "another file has another name");
    assert_eq!(counts.kept().len(), 2);
}

#[test]
fn a_tokenizer_counts_where_nothing_can_be_kept() {
    let counts = Counts(Place::new());
    counts.0.write("in.jsonl", b"{\"role\":\"user\",\"content\":\"zqzq\"}\n");
    counts.0.write("tokenizer.json", large(&["z q"]).as_bytes());
    counts.0.write("cache", b"a file in place of the folder");
    let first = counts.count();
    fs::remove_file(counts.0.path("cache")).unwrap();
    assert_eq!(counts.count(), first);
}
