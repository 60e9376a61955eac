//! One tokenizer per file: text in, a number out.
