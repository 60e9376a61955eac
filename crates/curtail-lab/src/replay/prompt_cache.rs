//! A provider's prompt cache.

use std::collections::BTreeMap;

use foldhash::HashMap;
use serde::{Deserialize, Serialize};

use crate::links::Link;
use curtail_core::transcript::Usage;

/// The rules of a provider's prompt cache.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CacheRules {
    /// The fewest tokens that are cached, unless the model has its own minimum; 0 if the provider caches nothing.
    pub minimum: u64,
    /// Cached lengths are multiples of this.
    #[serde(default = "one")]
    pub step: u64,
    /// Seconds after its last use for which a prefix can be read.
    pub lifetime: f64,
    /// Price of writing a token, as a multiple of the input price.
    pub write: f64,
    /// Price of reading a token, as a multiple of the input price.
    pub read: f64,
    /// Whether the client marks the end of cached prefixes. If so, a cached prefix ends where an earlier request or its
    /// instructions ended; otherwise it may end anywhere.
    pub breakpoints: bool,
    /// How many content blocks back from the end of a request the end of an earlier one is looked for; 0 for no limit.
    #[serde(default)]
    pub lookback: u64,
    /// The rules that apply if the log shows writes with a longer lifetime.
    #[serde(default)]
    pub long: Option<String>,
}

const fn one() -> u64 {
    1
}

/// How the tokens of a request are billed. The three counts add up to the tokens that are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct CacheUse {
    /// Read from the cache.
    #[serde(rename = "cache_read")]
    pub read: u64,
    /// Written to the cache.
    #[serde(rename = "cache_write")]
    pub write: u64,
    /// Those of `write` that the cache keeps for longer than usual, at a higher price.
    #[serde(rename = "cache_write_long", skip_serializing_if = "is_zero")]
    pub write_long: u64,
    /// Neither read nor written.
    pub uncached: u64,
}

/// Whether a number of a report is left out.
pub(super) fn is_zero<N: Default + PartialEq>(number: &N) -> bool {
    *number == N::default()
}

impl CacheUse {
    /// All tokens of the input.
    pub(super) const fn sum(&self) -> u64 {
        self.read + self.write + self.uncached
    }
}

impl From<Usage> for CacheUse {
    /// The input as the provider counted it.
    fn from(usage: Usage) -> Self {
        let read = usage.cache_read.min(usage.input);
        let write = usage.cache_write.min(usage.input - read);
        Self { read, write, write_long: usage.cache_write_long.min(write), uncached: usage.input - read - write }
    }
}

impl CacheRules {
    /// The rules of a provider that caches nothing.
    pub(super) const fn none() -> Self {
        Self { minimum: 0, step: 1, lifetime: 0.0, write: 1.0, read: 1.0, breakpoints: false, lookback: 0, long: None }
    }

    /// How a request of `sent` tokens is billed if the first `found` of them are in the cache, and the model caches
    /// prefixes of `minimum` tokens or more.
    pub(super) fn bill(&self, sent: u64, found: u64, minimum: u64) -> CacheUse {
        if self.minimum == 0 {
            return CacheUse { uncached: sent, ..CacheUse::default() };
        }
        let found = found.min(sent);
        let stepped = found - found % self.step.max(1);
        let read = if stepped >= minimum { stepped } else { 0 };
        let rest = sent - read;
        let write = if self.breakpoints && sent >= minimum { rest } else { 0 };
        CacheUse { read, write, uncached: rest - write, ..CacheUse::default() }
    }

    /// Whether a prefix that was last used `seconds` ago can still be read; always if the log has no times (`None`).
    pub(super) fn lives(&self, seconds: Option<f64>) -> bool {
        seconds.is_none_or(|seconds| seconds < self.lifetime)
    }
}

/// A prefix in the cache.
#[derive(Debug, Clone, Copy)]
struct Entry {
    /// When it was last used, in seconds since 1970.
    used: Option<f64>,
    /// Its tokens.
    tokens: u64,
}

/// The prefixes that a client marked.
#[derive(Debug, Default)]
pub(super) struct Marked {
    /// By digest.
    entries: HashMap<u64, Entry>,
    /// When one of them was last used, by their number of messages; without those that can no longer be read.
    used: BTreeMap<usize, Option<f64>>,
}

impl Marked {
    /// Reads the longest prefix that is in the cache at `now`, which renews its lifetime. Returns its tokens; 0 if there is
    /// none. The request has `count` messages; `link` is that of its first messages. Prefixes are searched as far as the
    /// `rules` allow, then that of the first `instructions` messages is tried.
    pub(super) fn read(
        &mut self,
        rules: &CacheRules,
        count: usize,
        link: impl Fn(usize) -> Link,
        instructions: usize,
        now: Option<f64>,
    ) -> u64 {
        let end = link(count).blocks;
        let mut expired = Vec::new();
        let mut found = None;
        for (&count, used) in self.used.range(..=count).rev() {
            if !rules.lives(age(now, *used)) {
                expired.push(count);
                continue;
            }
            let prefix = link(count);
            if rules.lookback > 0 && end - prefix.blocks > rules.lookback {
                break;
            }
            if self.is_read(rules, prefix, now) {
                found = Some(count);
                break;
            }
        }
        for count in expired {
            self.used.remove(&count);
        }
        let found = found.or_else(|| self.is_read(rules, link(instructions), now).then_some(instructions));
        let Some(entry) = found.and_then(|count| self.entries.get_mut(&link(count).digest)) else { return 0 };
        entry.used = now;
        self.used.extend(found.map(|count| (count, now)));
        entry.tokens
    }

    /// Whether the prefix that ends with `link` can be read.
    fn is_read(&self, rules: &CacheRules, link: Link, now: Option<f64>) -> bool {
        self.entries.get(&link.digest).is_some_and(|entry| rules.lives(age(now, entry.used)))
    }

    /// Writes the prefix of `count` messages that ends with `link` to the cache.
    pub(super) fn write(&mut self, count: usize, link: Link, tokens: u64, used: Option<f64>) {
        self.entries.insert(link.digest, Entry { used, tokens });
        self.used.insert(count, used);
    }
}

/// The seconds from `used` to `now`, if the log has times.
fn age(now: Option<f64>, used: Option<f64>) -> Option<f64> {
    now.zip(used).map(|(now, used)| now - used)
}

#[cfg(test)]
mod tests {
    use super::{CacheRules, CacheUse, Link, Marked};

    const MARKED: CacheRules = CacheRules {
        minimum: 1024,
        step: 1,
        lifetime: 300.0,
        write: 1.25,
        read: 0.1,
        breakpoints: true,
        lookback: 20,
        long: None,
    };
    const AUTOMATIC: CacheRules = CacheRules { step: 128, breakpoints: false, write: 1.0, ..MARKED };

    #[test]
    fn what_is_marked_is_read_and_the_rest_is_written() {
        for (sent, found, minimum, expected) in [
            (6000, 0, 1024, (0, 6000, 0)),
            (6000, 5000, 1024, (5000, 1000, 0)),
            (1000, 0, 1024, (0, 0, 1000)),
            (6000, 2000, 4096, (0, 6000, 0)),
            (4000, 2000, 4096, (0, 0, 4000)),
        ] {
            let (read, write, uncached) = expected;
            let expected = CacheUse { read, write, uncached, ..CacheUse::default() };
            assert_eq!(MARKED.bill(sent, found, minimum), expected, "{sent} {found}");
        }
    }

    #[test]
    fn an_automatic_cache_reads_in_steps_from_its_minimum() {
        for (found, read) in [(1023, 0), (1024, 1024), (1151, 1024), (1152, 1152), (5000, 4992)] {
            assert_eq!(
                AUTOMATIC.bill(6000, found, 1024),
                CacheUse { read, uncached: 6000 - read, ..CacheUse::default() },
                "{found}"
            );
        }
    }

    /// The prefixes of a request of `messages` messages, each of one block and 100 tokens.
    fn links(messages: u64) -> Vec<Link> {
        (0..=messages).map(|nth| Link { digest: nth, tokens: nth * 100, blocks: nth }).collect()
    }

    #[test]
    fn the_end_of_an_earlier_request_is_found_within_twenty_blocks_and_the_lifetime() {
        let written = || {
            let mut marked = Marked::default();
            marked.write(2, links(5)[2], 200, Some(0.0));
            marked.write(5, links(5)[5], 500, Some(0.0));
            marked
        };
        for (messages, seconds, found) in [(25, 10.0, 500), (26, 10.0, 200), (25, 300.0, 0)] {
            let found_now = written().read(&MARKED, messages, |count| links(30)[count], 2, Some(seconds));
            assert_eq!(found_now, found, "{messages} messages after {seconds} s");
        }
        let mut marked = written();
        assert_eq!(marked.read(&MARKED, 6, |count| links(30)[count], 2, Some(200.0)), 500);
        assert_eq!(marked.read(&MARKED, 6, |count| links(30)[count], 2, Some(400.0)), 500, "a hit renews the lifetime");
        assert_eq!(marked.read(&MARKED, 6, |count| links(30)[count], 2, Some(700.0)), 0);
        assert!(marked.used.is_empty(), "what has expired is not searched again");
    }
}
