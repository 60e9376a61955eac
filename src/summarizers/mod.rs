//! One summarizer per file: messages in, a summary out.
