//! What `--version` says: the version, the commit, the features and the encodings of this build.

use std::sync::LazyLock;

use crate::tokenizers;

static LONG: LazyLock<String> = LazyLock::new(|| {
    let features = [
        ("cli", cfg!(feature = "cli")),
        ("hf", cfg!(feature = "hf")),
        ("http", cfg!(feature = "http")),
        ("parquet", cfg!(feature = "parquet")),
        ("schema", cfg!(feature = "schema")),
        ("store", cfg!(feature = "store")),
    ];
    let named = |wanted: bool| features.iter().filter(move |(_, on)| *on == wanted).map(|(name, _)| *name);
    let off: Vec<&str> = named(false).collect();
    let without = if off.is_empty() { String::new() } else { format!(" (without {})", off.join(", ")) };
    let features: Vec<&str> = named(true).collect();
    let encodings = tokenizers::all().into_iter().filter(|listed| listed.kind == "tiktoken");
    let encodings: Vec<&str> = encodings.map(|listed| listed.name).collect();
    let (version, features, encodings) = (env!("CARGO_PKG_VERSION"), features.join(", "), encodings.join(", "));
    let commit = option_env!("CURTAIL_COMMIT").unwrap_or("not recorded (development build)");
    format!("{version}\ncommit: {commit}\nfeatures: {features}{without}\nencodings: {encodings}")
});

/// The long form, without the name of the program.
pub(super) fn long() -> &'static str {
    &LONG
}
