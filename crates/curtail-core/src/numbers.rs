//! Numbers with their nouns, as people read them, how often something is met, and the ranks of percentiles.

use std::collections::HashMap;
use std::hash::Hash;

/// `1 file`, `2 files`: a number of things whose plural ends in `s`.
#[must_use]
pub fn number_of(count: usize, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

/// A whole number with a comma between groups of three digits.
#[must_use]
pub fn figure(number: impl TryInto<u64>) -> String {
    let digits = number.try_into().unwrap_or(u64::MAX).to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 message`, `1,204 messages`: as [`number_of`], with the number as a [`figure`].
#[must_use]
pub fn counted(number: usize, noun: &str) -> String {
    format!("{} {noun}{}", figure(number), if number == 1 { "" } else { "s" })
}

/// The rank, from 1, of the percentile of `count` sorted values (nearest rank): the first one that `percent` of them do not exceed.
#[must_use]
pub const fn nearest_rank(count: usize, percent: usize) -> usize {
    let rank = (count * percent).div_ceil(100);
    if rank == 0 { 1 } else { rank }
}

/// The different ones of `items`, each with how many there are, in the order in which they are met.
#[must_use]
pub fn tally<T: Clone + Eq + Hash>(items: impl IntoIterator<Item = T>) -> Vec<(T, usize)> {
    let mut places: HashMap<T, usize> = HashMap::new();
    let mut counts: Vec<(T, usize)> = Vec::new();
    for item in items {
        let place = *places.entry(item.clone()).or_insert(counts.len());
        match counts.get_mut(place) {
            Some((_, count)) => *count += 1,
            None => counts.push((item, 1)),
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::figure;

    #[test]
    fn figures_are_readable() {
        assert_eq!([0_u64, 999, 1_000, 71_265_801].map(figure), ["0", "999", "1,000", "71,265,801"]);
    }
}
