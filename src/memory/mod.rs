//! The scratchpad: how working memory merges, validates and stands in a transcript.
