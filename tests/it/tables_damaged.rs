//! Damaged Parquet files: whatever their bytes are, the program reports which file is damaged, in bounded memory.

use crate::program::{Place, root, shell, text};

/// Damaged files of each kind.
const VARIANTS: usize = 400;

/// A sequence of numbers that is the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 20).expect("44 bits") % most.max(1)
    }
}

/// One way to damage a file.
type Damage = fn(&mut Vec<u8>, &mut Numbers);

const DAMAGES: [(&str, Damage); 5] = [
    ("flip", |bytes, numbers| {
        for _ in 0..=numbers.below(3) {
            let at = numbers.below(bytes.len());
            bytes[at] ^= 1 << numbers.below(8);
        }
    }),
    // The footer says where everything is.
    ("footer", |bytes, numbers| {
        let footer = (bytes.len() / 3).min(3000);
        let at = bytes.len() - 1 - numbers.below(footer);
        bytes[at] = u8::try_from(numbers.below(256)).expect("a byte");
    }),
    ("cut", |bytes, numbers| bytes.truncate(numbers.below(bytes.len()))),
    ("hole", |bytes, numbers| {
        let (at, most) = (numbers.below(bytes.len()), 1 + numbers.below(64));
        let fill = [0, 0x7f, 0xff][numbers.below(3)];
        bytes.iter_mut().skip(at).take(most).for_each(|byte| *byte = fill);
    }),
    ("missing", |bytes, numbers| {
        let at = numbers.below(bytes.len());
        drop(bytes.drain(at..(at + 1 + numbers.below(8)).min(bytes.len())));
    }),
];

/// Runs the program with little memory: an allocation that a file asks for cannot be large.
fn run(place: &Place, arguments: &str) -> (Option<i32>, String) {
    let line = format!("ulimit -v 3000000; exec curtail {arguments}");
    let done = shell(&line, &place.path("")).output().expect("a shell");
    (done.status.code(), text(&done.stderr))
}

#[test]
fn damage_is_an_error_that_names_the_file() {
    let original = std::fs::read(root().join("fixtures/tables/chats.parquet")).expect("the fixture");
    let (mut numbers, mut named) = (Numbers(0x9e37_79b9_7f4a_7c15), 0);
    for (kind, damage) in DAMAGES {
        let place = Place::new();
        for nth in 0..VARIANTS {
            let mut bytes = original.clone();
            damage(&mut bytes, &mut numbers);
            place.write(&format!("in/{nth:03}.parquet"), &bytes);
        }
        for command in ["count", "check", "window -n 2 -O out", "window -n 2 --jobs 3 --on-error skip -O more"] {
            let (status, stderr) = run(&place, &format!("{command} --max-record 16m in/*.parquet"));
            assert!(matches!(status, Some(0..=2)), "{kind}, {command}: {status:?}: {stderr}");
            for word in ["panicked", "overflow", "RUST_BACKTRACE", "abort"] {
                assert!(!stderr.contains(word), "{kind}, {command}: {stderr}");
            }
            let errors = stderr.lines().filter(|line| line.contains("cannot be read") || line.contains("damaged"));
            named += errors.inspect(|line| assert!(line.contains(".parquet"), "{kind}, {command}: {line}")).count();
        }
    }
    assert!(named > VARIANTS, "only {named} errors");
}

#[test]
fn a_page_larger_than_a_record_may_be_is_refused() {
    let place = Place::new();
    place.write("in.parquet", &std::fs::read(root().join("fixtures/tables/chats.parquet")).expect("the fixture"));
    let (status, stderr) = run(&place, "count --column chat --max-record 100 in.parquet");
    assert!(
        status == Some(2) && stderr.contains("in.parquet: a page of column") && stderr.contains("--max-record"),
        "{stderr}"
    );
    assert_eq!(run(&place, "count --max-record 1m in.parquet").0, Some(0));
}
