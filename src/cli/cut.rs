//! What every cutting command does with its chain.

use std::io::{Read as _, Write as _};
use std::process::ExitCode;

use anyhow::{Context as _, anyhow};

use super::input::Cutting;
use crate::batch::{Cutter, Reading};
use crate::dialects::{Framing, detect};
use crate::pipeline::Chain;

/// Reads the input, cuts it with `chain`, writes what is left.
pub(super) fn run(flags: &Cutting, chain: Chain) -> anyhow::Result<ExitCode> {
    let mut text = String::new();
    match flags.input.paths.first() {
        Some(path) => text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?,
        None => drop(std::io::stdin().read_to_string(&mut text)?),
    }
    let framing = flags.input.framing.framing().unwrap_or_else(|| detect(&text, flags.input.messages_key.as_deref()));
    let dialect = Some(flags.input.dialect.clone()).filter(|name| name != "auto");
    let reading = Reading { framing, dialect, messages_key: flags.input.messages_key.clone() };
    let cutter = Cutter { reading, chain, explain: flags.explain.is_some() || flags.dry_run };
    let mut out = std::io::stdout().lock();
    let mut cut = |piece: &str| -> anyhow::Result<()> {
        let done = cutter.cut(piece).map_err(|trouble| anyhow!("{}: {}", trouble.offset, trouble.what))?;
        out.write_all(done.text.as_deref().unwrap_or(piece).as_bytes())?;
        Ok(())
    };
    if framing == Framing::Records {
        for line in text.split_inclusive('\n') {
            cut(line)?;
        }
    } else {
        cut(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}
