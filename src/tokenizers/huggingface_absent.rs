//! Replaces `huggingface` in a build without the feature `hf`: recognizes the name of a file and reports the missing
//! feature.

use super::{Family, UnknownTokenizer, is_file_name};

/// No tokenizers, and an error for a file.
pub(super) static FAMILY: Family = Family {
    members: Vec::new,
    usage: || String::from("the path of a tokenizer.json (needs the feature `hf`)"),
    open: |name| {
        let error = || format!("{name}: this build cannot read a tokenizer.json; build curtail with the feature `hf`");
        is_file_name(name).then(|| Err(UnknownTokenizer::new(error())))
    },
};
