//! Writes generated chats to standard output: `generate [MEGABYTES [SEED]]`, each 1 where it is left out.

#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test may stop at what it did not expect"
)]

mod chats;

use std::io::Write as _;

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let megabytes: usize = arguments.next().map_or(1, |text| text.parse().expect("MEGABYTES is a number"));
    let seed = arguments.next().map_or(1, |text| text.parse().expect("SEED is a number"));
    let mut chats = chats::Chats::new(seed);
    let mut out = std::io::stdout().lock();
    let mut written = 0;
    let mut line = String::new();
    while written < megabytes * 1_000_000 {
        line.clear();
        chats.append(&mut line);
        out.write_all(line.as_bytes()).unwrap();
        written += line.len();
    }
}
