//! Compares the speed of counting with that of tiktoken-rs: medians of paired runs on one core, with an empty cache.
//! Then measures how the time grows with texts that are slow to encode. Arguments are files to count instead of the
//! generated texts.
//!
//! For `benches/tokens.py`, which compares more programs: `--texts DIR` writes the texts and the ranks of `o200k_base`,
//! `--count ours FILE` and `--count tiktoken-rs FILE` write seconds and tokens, and `--limit N FILE` cuts records with
//! a loop over tiktoken-rs.

#![expect(clippy::cast_precision_loss, reason = "lengths of texts, for figures to one place")]
#![expect(clippy::expect_used, reason = "without its encodings there is nothing to measure")]

mod naive;
mod texts;

use std::{
    fs,
    hint::black_box,
    io::{BufWriter, Result, Write, stdout},
    path::Path,
    thread,
    time::Instant,
};

use curtail_tokens::tokenizers::tokenizer_by_name;
use tiktoken_rs::CoreBPE;

const PAIRS: usize = 7;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["--texts", folder] => write_texts(Path::new(folder)),
        ["--count", program, file] => count(program, &fs::read_to_string(file)?),
        ["--limit", budget, file] => {
            let budget = budget.parse().expect("a number of tokens");
            naive::limit(tiktoken_rs::o200k_base_singleton(), budget, file, &mut BufWriter::new(stdout().lock()))
        }
        _ => table(arguments),
    }
}

fn write_texts(folder: &Path) -> Result<()> {
    for (name, text) in texts::all(4_000_000) {
        fs::write(folder.join(name), text)?;
    }
    let encoding = tiktoken_rs::o200k_base_singleton();
    let ranks = (0..199_998).map(|id| (id, encoding.decode_bytes(&[id]).expect("a token")));
    let lines = ranks.map(|(id, token)| {
        let hex: String = token.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{hex} {id}\n")
    });
    fs::write(folder.join("ranks"), lines.collect::<String>())
}

/// Writes the seconds that the first count takes, and the number of tokens.
fn count(program: &str, text: &str) -> Result<()> {
    let ours = tokenizer_by_name("o200k_base").expect("an encoding");
    let theirs = (program != "ours").then(tiktoken_rs::o200k_base_singleton);
    let start = Instant::now();
    let tokens = theirs.map_or_else(|| ours.count(text), |theirs| theirs.count_ordinary(text));
    writeln!(stdout(), "{} {tokens}", start.elapsed().as_secs_f64())
}

fn table(files: Vec<String>) -> Result<()> {
    let is_generated = files.is_empty();
    let texts = if is_generated { texts::all(4_000_000) } else { read_texts(files)? };
    let mut out = stdout().lock();
    for (encoding, theirs) in [
        ("o200k_base", tiktoken_rs::o200k_base_singleton as fn() -> &'static CoreBPE),
        ("cl100k_base", tiktoken_rs::cl100k_base_singleton),
    ] {
        writeln!(out, "{encoding:12} {:>10} {:>12} {:>8}", "ours MB/s", "tiktoken-rs", "ratio")?;
        for (name, text) in &texts {
            let (ours, ratio) = compare(encoding, theirs(), text);
            writeln!(out, "{name:12} {ours:>10.1} {:>12.1} {ratio:>8.2}", ours / ratio)?;
        }
    }
    if is_generated {
        growth(&mut out)?;
    }
    Ok(())
}

/// The name and the text of each file.
fn read_texts(files: Vec<String>) -> Result<Vec<(String, String)>> {
    files
        .into_iter()
        .map(|file| Ok((file.rsplit('/').next().unwrap_or_default().to_owned(), fs::read_to_string(&file)?)))
        .collect()
}

/// Our median speed in MB/s, and the median of the ratios of the pairs.
fn compare(encoding: &str, theirs: &CoreBPE, text: &str) -> (f64, f64) {
    let (mut speeds, mut ratios) = (Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        let ours = cold_seconds(encoding, text);
        let start = Instant::now();
        black_box(theirs.count_ordinary(black_box(text)));
        ratios.push(start.elapsed().as_secs_f64() / ours);
        speeds.push(text.len() as f64 / 1e6 / ours);
    }
    (median(speeds), median(ratios))
}

/// The seconds that counting takes on a new thread, whose cache is empty.
fn cold_seconds(encoding: &str, text: &str) -> f64 {
    thread::scope(|scope| {
        let counting = scope.spawn(|| {
            let tokenizer = tokenizer_by_name(encoding).expect("an encoding");
            let start = Instant::now();
            black_box(tokenizer.count(black_box(text)));
            start.elapsed().as_secs_f64()
        });
        counting.join().expect("counting ends")
    })
}

/// Prints how the time grows with the length: a text that is ten times as long should take ten times as long.
fn growth(out: &mut impl Write) -> Result<()> {
    writeln!(out, "{:12} {:>10} {:>12} {:>8}", "runs", "1 MB, ms", "10 MB, ms", "ratio")?;
    for (name, text) in texts::runs(10_000_000) {
        let mut short_end = 1_000_000;
        while !text.is_char_boundary(short_end) {
            short_end += 1;
        }
        let short = least((0..PAIRS).map(|_| cold_seconds("o200k_base", &text[..short_end])));
        let long = least((0..3).map(|_| cold_seconds("o200k_base", &text)));
        writeln!(out, "{name:12} {:>10.1} {:>12.1} {:>8.1}", short * 1e3, long * 1e3, long / short)?;
    }
    Ok(())
}

/// The shortest time, which other load on the machine affects least.
fn least(seconds: impl Iterator<Item = f64>) -> f64 {
    seconds.fold(f64::MAX, f64::min)
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
