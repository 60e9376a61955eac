//! The setting of every property test: a fixed seed, so that a run is repeated by running it again.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

/// The seed of the default run.
const SEED: u64 = 14;

/// Whether `PROPTEST_CASES` says how many cases to try, as before a change lands.
pub fn asks_for_cases() -> bool {
    std::env::var_os("PROPTEST_CASES").is_some()
}

/// What a case tries of a list: all of it, or the one that was drawn.
pub type Drawn = Option<prop::sample::Index>;

/// A case of the default run tries everything in a list, such as all chains of processors. Where `PROPTEST_CASES` asks for
/// many cases, each tries one of them, so that the time goes into new transcripts. It must be the last value that is drawn:
/// the recorded seeds of failing cases then give the same values in both.
pub fn drawn() -> BoxedStrategy<Drawn> {
    if asks_for_cases() { any::<prop::sample::Index>().prop_map(Some).boxed() } else { Just(None).boxed() }
}

/// The elements of `all` that a case tries.
pub fn tried<T>(all: impl IntoIterator<Item = T>, drawn: Drawn) -> Vec<T> {
    let mut all: Vec<T> = all.into_iter().collect();
    match drawn {
        Some(drawn) => vec![all.swap_remove(drawn.index(all.len()))],
        None => all,
    }
}

/// `cases` cases from a fixed seed. `PROPTEST_CASES=N` sets another number of cases for every property, and
/// `PROPTEST_RNG_SEED=N` another seed. A failing case is added to `crates/curtail-core/tests/proptest-regressions/`, which belongs
/// in a commit.
pub fn property(cases: u32) -> Config {
    let environment = Config::default();
    let asked = asks_for_cases();
    let rng_seed = match environment.rng_seed {
        RngSeed::Random => RngSeed::Fixed(SEED),
        fixed @ RngSeed::Fixed(_) => fixed,
    };
    let cases = if asked { environment.cases } else { cases };
    eprintln!("{cases} cases from seed {rng_seed}: PROPTEST_CASES and PROPTEST_RNG_SEED set others");
    // Some properties pass over a tenth of what is drawn.
    let max_global_rejects = cases.max(environment.max_global_rejects);
    Config { cases, rng_seed, max_global_rejects, ..environment }
}
