//! FNV-1a (<http://www.isthe.com/chongo/tech/comp/fnv/>): the same digest on every machine and in every release, which
//! the hasher of the standard library does not promise. Not for secrets: collisions are easy to construct.

/// The digest of some bytes, in 64 bits.
#[must_use]
pub fn fnv1a_64(bytes: impl IntoIterator<Item = u8>) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    bytes.into_iter().fold(OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
}

/// The digest of some bytes, in 128 bits.
#[must_use]
pub fn fnv1a_128(bytes: impl IntoIterator<Item = u8>) -> u128 {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    bytes.into_iter().fold(OFFSET, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::{fnv1a_64, fnv1a_128};

    #[test]
    fn digests_are_those_of_the_reference() {
        assert_eq!(fnv1a_64(*b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a_64(*b"foobar"), 0x8594_4171_f739_67e8);
        assert_eq!(fnv1a_128(*b"foobar"), 0x343e_1662_793c_64bf_6f0d_3597_ba44_6f18);
    }
}
