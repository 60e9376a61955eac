//! The usage that a provider reported for a request, as logs record it.

/// The tokens of one request, in the provider's own count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// All tokens of the input, cached ones included.
    pub input: u64,
    /// Input tokens that were read from the provider's cache.
    pub cache_read: u64,
    /// Input tokens that were written to the provider's cache.
    pub cache_write: u64,
    /// Those of [`cache_write`](Self::cache_write) that the cache keeps for longer than usual, at a higher price.
    pub cache_write_long: u64,
    /// Tokens of the reply.
    pub output: u64,
}
