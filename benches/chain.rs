//! Compares the speed of a chain with that of each of its stages alone: medians of paired runs on one core.
//!
//! Arguments are files of records, which are used instead of generated chats.

#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test may stop at what it did not expect"
)]
#![expect(clippy::cast_precision_loss, reason = "a measurement, which ends where it cannot measure")]

mod chats;

use std::io::Write as _;
use std::time::Instant;

use curtail_core::dialects::{Framing, Reading};
use curtail_core::pipeline::{Chain, TextCutter};
use curtail_core::processors::{
    Counting, HistoryWindow, Keep, NameGlobs, Overflow, TokenLimit, ToolFilter, ToolGlobs, WindowUnit,
};
use curtail_tokens::tokenizers;

const PAIRS: usize = 15;

fn main() {
    let files: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let texts: Vec<(String, String)> = if files.is_empty() {
        vec![(String::from("generated chats"), generated())]
    } else {
        files.into_iter().map(|file| (file.clone(), std::fs::read_to_string(&file).expect("a file"))).collect()
    };
    let mut out = std::io::stdout().lock();
    for (name, text) in &texts {
        let speeds = measure(text);
        writeln!(out, "{name}: {speeds}").expect("standard output");
    }
}

fn generated() -> String {
    let (mut chats, mut text) = (chats::Chats::new(1), String::new());
    while text.len() < 8_000_000 {
        chats.append(&mut text);
    }
    text
}

/// Runs each stage alone and then the chain, in rounds. The ratio is the chain's time to that of the slowest stage in
/// its round.
fn measure(text: &str) -> String {
    let stages = STAGES.map(|stage| cutter(&[stage]));
    let all = cutter(&STAGES);
    let mut rounds: Vec<[f64; 4]> = (0..=PAIRS)
        .map(|_| [seconds(&stages[0], text), seconds(&stages[1], text), seconds(&stages[2], text), seconds(&all, text)])
        .collect();
    // The first round builds tables and warms caches.
    rounds.remove(0);
    let ratio = median(rounds.iter().map(|round| round[3] / round[..3].iter().copied().fold(0.0, f64::max)).collect());
    let [filter, window, limit, all] =
        [0, 1, 2, 3].map(|nth| text.len() as f64 / 1e6 / median(rounds.iter().map(|round| round[nth]).collect()));
    format!(
        "filter {filter:.0} MB/s, window {window:.0} MB/s, limit {limit:.0} MB/s, the chain {all:.0} MB/s: \
         {ratio:.2} times its dearest stage"
    )
}

const STAGES: [fn(Chain) -> Chain; 3] = [filter, window, limit];

fn filter(chain: Chain) -> Chain {
    let tools = NameGlobs::compile(&[String::from("debug_*")]).expect("a pattern");
    chain.then(ToolFilter { tools: ToolGlobs::Exclude(tools), persist_results: false, dropped: None })
}

fn window(chain: Chain) -> Chain {
    let (unit, keep) = (WindowUnit::Items, Keep::default());
    chain.then(HistoryWindow { size: 40, unit, max_expansion: None, cap_in_flight: false, keep, step: 1 })
}

fn limit(chain: Chain) -> Chain {
    let tokenizer = tokenizers::tokenizer_by_name(tokenizers::DEFAULT).expect("the default");
    let counting = Counting::new(tokenizer);
    let on_overflow = Overflow::Empty;
    chain.then(TokenLimit {
        max_tokens: 8000,
        trigger: None,
        counting,
        on_overflow,
        preserve_system: true,
        first_user: false,
        question: curtail_core::processors::Question::default(),
        step: 1,
    })
}

fn cutter(stages: &[fn(Chain) -> Chain]) -> TextCutter {
    let chain = stages.iter().fold(Chain::default(), |chain, stage| stage(chain));
    TextCutter { chain, explain: false, counting: None }
}

fn seconds(cutter: &TextCutter, text: &str) -> f64 {
    let reading = Reading::new(Framing::Records, None, None).expect("a way of reading");
    let mut out = String::new();
    let begun = Instant::now();
    for record in text.split_inclusive('\n') {
        out.clear();
        cutter.cut(&reading, record, &mut out).expect("a transcript");
    }
    begun.elapsed().as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
