//! Where outputs go.
