# Common tasks. `just` lists them; https://just.systems

# List the tasks
default:
    @just --list

# What must pass before a change lands
check:
    .ci/run

# Run the tests whose names contain WORDS, such as `just test laws::`
test *WORDS:
    cargo test -- {{WORDS}}

# Write what the program prints into the console blocks, the pages of rules and the snapshots; review the diff
bless:
    CURTAIL_BLESS=1 cargo test --test it -- docs:: check::rules
    INSTA_UPDATE=always cargo test -p curtail-core

# Build the site into target/site; needs mdbook
site:
    .ci/site

# Run the laws on N generated transcripts of every dialect
laws N="1000":
    PROPTEST_CASES={{N}} cargo test -p curtail-core laws::

# Run the laws on your own transcripts
data FOLDER:
    CURTAIL_DATA={{FOLDER}} cargo test

# Compare the speed of counting with tiktoken-rs
bench-tokens:
    cargo bench --bench tokens

# Compare windows and checks with other programs; needs Python, jq, jaq and node
bench MB="500" ROUNDS="3":
    cargo build --release
    python3 benches/compare.py target/release/curtail "$(cargo bench --bench generate --no-run 2>&1 | sed -n 's/.*(\(.*\)).*/\1/p')" {{MB}} {{ROUNDS}}

# Fuzz TARGET for SECONDS; needs nightly Rust and cargo-fuzz
fuzz TARGET SECONDS="600":
    cargo +nightly fuzz run {{TARGET}} -- -max_total_time={{SECONDS}}

# Pack the archive of this machine's target into target/dist, as a release does
archive:
    cargo build --release --locked
    .github/packaging/archive "$(rustc -vV | sed -n 's/^host: //p')" target/release/curtail target/dist
