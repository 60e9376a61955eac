//! The flags that say how tokens are counted.

use clap::ValueEnum;

use crate::processors::{Counting, Overhead};
use crate::tokenizers;

/// How tokens are counted.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct CountingFlags {
    /// Counts tokens: an encoding, `approx[:ENCODING]`, or the path of a `tokenizer.json`; `curtail tokenizers` lists them
    #[arg(long, value_name = "NAME", default_value = tokenizers::DEFAULT, env = "CURTAIL_TOKENIZER", help_heading = "Counting")]
    tokenizer: String,

    /// Count as this model does
    #[arg(long, value_name = "MODEL", conflicts_with = "tokenizer", help_heading = "Counting")]
    model: Option<String>,

    /// What to add for the frame around messages
    #[arg(long, value_enum, default_value = "none", help_heading = "Counting")]
    overhead: OverheadFlag,

    /// Hold this many tokens back, for the reply
    #[arg(long, value_name = "N", value_parser = tokens, default_value = "0", help_heading = "Counting")]
    reserve: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OverheadFlag {
    /// Nothing
    None,
    /// 3 tokens a message and 3 to prime the reply
    Openai,
}

impl CountingFlags {
    /// The way of counting that these flags describe.
    pub(super) fn counting(&self) -> anyhow::Result<Counting> {
        let tokenizer = match &self.model {
            Some(model) => tokenizers::for_model(model)?.tokenizer,
            None => tokenizers::find(&self.tokenizer)?,
        };
        let overhead = if self.overhead == OverheadFlag::Openai { Overhead::OpenAi } else { Overhead::None };
        Ok(Counting { tokenizer, overhead, reserve: self.reserve })
    }

    /// Says on standard error what the user should know about the counts, such as that they are an estimate.
    pub(super) fn warn(&self) {
        let picked = self.model.as_ref().and_then(|model| tokenizers::for_model(model).ok());
        if let Some(note) = picked.and_then(|picked| picked.note) {
            super::report::warning(&note);
        }
    }
}

/// Reads `8000`, `8k` or `1.5m`.
pub(super) fn tokens(text: &str) -> Result<usize, String> {
    let wrong = || String::from("expected a whole number of tokens, such as 8000, 8k or 1.5m");
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1_000_u32),
        Some((at, 'm' | 'M')) => (&text[..at], 1_000_000),
        _ => (text, 1),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let whole: usize = whole.parse().map_err(|_| wrong())?;
    let mut tokens = whole.checked_mul(unit as usize).ok_or_else(wrong)?;
    let mut place = unit as usize;
    for digit in fraction.chars() {
        place /= 10;
        let digit = digit.to_digit(10).filter(|_| place > 0).ok_or_else(wrong)?;
        tokens += digit as usize * place;
    }
    Ok(tokens)
}
