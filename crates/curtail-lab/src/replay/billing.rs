//! How the input of a policy's request is billed beside the recorded one, whose usage the log has. It knows no messages.
#![expect(clippy::cast_precision_loss, reason = "a request is far below 2^52 tokens")]

use super::prompt_cache::CacheUse;
use crate::calibration::DROP;
use crate::links::Link;
use curtail_core::transcript::Usage;

/// A request as the fit and the rules of the cache predict it.
#[derive(Clone, Copy)]
pub(super) struct Estimate {
    pub(super) tokens: u64,
    /// The tokens of the instructions at its beginning.
    pub(super) instructions: u64,
    /// The tokens that are in the cache by its rules.
    pub(super) cached: u64,
}

/// A request as recorded.
pub(super) struct RecordedRequest {
    /// Everything that was sent.
    pub(super) end: Link,
    /// The number of its messages.
    pub(super) messages: usize,
    /// Whether it begins with the whole previous request.
    pub(super) whole: bool,
    /// The tokens that the rules of the cache would have read from it.
    pub(super) cached: u64,
}

/// The writes to the cache in a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CacheWrites {
    /// It has none.
    None,
    /// Most of them are kept for the usual time.
    Usual,
    /// Most of them are kept for longer.
    Long,
}

impl RecordedRequest {
    /// How a request of `estimate.tokens` tokens is billed: where the recorded one missed the cache, so does this one; where that
    /// found something that the rules do not explain, instructions are found as well.
    pub(super) fn bill_like(&self, usage: Usage, estimate: Estimate, writes: CacheWrites) -> CacheUse {
        let log = CacheUse::from(usage);
        let mut read = estimate.cached;
        if self.whole {
            read = read.min(as_in_log(estimate.cached, log.read, self.cached));
        }
        let read = read.max(log.read.min(estimate.instructions)).min(estimate.tokens);
        let rest = estimate.tokens - read;
        let is_written = writes != CacheWrites::None && (log.read > 0 || log.write > 0);
        let write = if is_written { rest - rest.min(log.uncached) } else { 0 };
        let write_long = match log.write {
            0 if writes == CacheWrites::Long => write,
            0 => 0,
            all => scaled(write, log.write_long, all),
        };
        CacheUse { read, write, write_long: write_long.min(write), uncached: rest - write }
    }
}

/// The tokens of a policy's request beside a recorded one that the provider counted as `input`. The fit predicts `base` for the
/// recorded request, and `estimate` for the policy's.
///
/// What the provider counted above the fit is in both. If it counted far less, the program sent less than the log contains: the
/// policy sends as much, or what the fit predicts if that is less.
pub(super) fn beside_log(input: u64, base: u64, estimate: u64) -> u64 {
    if estimate >= base {
        return input + (estimate - base);
    }
    if input >= base {
        return input - (base - estimate);
    }
    if (input as f64) < DROP * base as f64 {
        return input.min(estimate);
    }
    scaled(input, estimate, base)
}

/// What a request reads from the cache of the `found` tokens that are there by its rules, if the recorded request read `read` and
/// the rules would have let it read `expected`: less if that missed the cache.
fn as_in_log(found: u64, read: u64, expected: u64) -> u64 {
    const HIT: f64 = 0.9;
    if read >= expected {
        return found;
    }
    if (read as f64) < HIT * expected as f64 {
        return found.min(read);
    }
    scaled(found, read, expected)
}

/// `tokens`, multiplied by a share: `part` of `all`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least 0, and at most the tokens")]
fn scaled(tokens: u64, part: u64, all: u64) -> u64 {
    (tokens as f64 * part as f64 / all as f64).round() as u64
}
