//! The setting of every property test: a fixed seed, so that a run is repeated by running it again.

use proptest::test_runner::{Config, RngSeed};

/// The seed of the default run.
const SEED: u64 = 14;

/// `cases` cases from a fixed seed. `PROPTEST_CASES=N` sets another number of cases for every property, and
/// `PROPTEST_RNG_SEED=N` another seed. A failing case is added to `tests/proptest-regressions/`, which belongs in a commit.
pub fn property(cases: u32) -> Config {
    let environment = Config::default();
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    let rng_seed = match environment.rng_seed {
        RngSeed::Random => RngSeed::Fixed(SEED),
        fixed @ RngSeed::Fixed(_) => fixed,
    };
    let cases = if asked { environment.cases } else { cases };
    eprintln!("{cases} cases from seed {rng_seed}: PROPTEST_CASES and PROPTEST_RNG_SEED set others");
    Config { cases, rng_seed, ..environment }
}
