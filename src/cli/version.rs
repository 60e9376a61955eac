//! What `--version` says: the version, the commit, the features and the encodings of this build.

use std::sync::LazyLock;

use curtail_tokens::tokenizers;

static LONG: LazyLock<String> = LazyLock::new(|| {
    let features = if cfg!(feature = "parquet") { "parquet" } else { "none (without parquet)" };
    let encodings = tokenizers::all().into_iter().filter(|listed| listed.kind == "tiktoken");
    let encodings: Vec<&str> = encodings.map(|listed| listed.name).collect();
    let (version, encodings) = (env!("CARGO_PKG_VERSION"), encodings.join(", "));
    let commit = option_env!("CURTAIL_COMMIT").unwrap_or("not recorded (development build)");
    format!("{version}\ncommit: {commit}\nfeatures: {features}\nencodings: {encodings}")
});

/// The long form, without the name of the program.
pub(super) fn long() -> &'static str {
    &LONG
}
