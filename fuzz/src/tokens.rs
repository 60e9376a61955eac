//! Counts with a `tokenizer.json`, by the engine of `curtail` and by the library.

use std::sync::LazyLock;

#[path = "../../crates/curtail-tokens/tests/tokenizer_json/variants.rs"]
#[allow(dead_code, reason = "the tests use more of them")]
mod variants;

static ALL: LazyLock<Vec<variants::Both>> = LazyLock::new(variants::all);

/// The engine and the library count the same. The first byte chooses the file.
pub fn tokens(data: &[u8]) {
    let [file, text @ ..] = data else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    ALL[usize::from(*file) % ALL.len()].check(text);
}
