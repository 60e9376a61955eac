//! What every cutting command does with its chain.
use std::io::Write as _;
use std::process::ExitCode;

use super::input::Cutting;
use crate::batch::{Batch, Cutter, Event, Flow, Trouble, Unit, Wish, Work};
use crate::error::{Error, Kind};
use crate::io::{Wanted, find};
use crate::pipeline::Chain;
use crate::pipeline::options::Options;

/// Does what a command of one processor was told.
pub(super) fn with(flags: &Cutting, options: &impl Options) -> anyhow::Result<ExitCode> {
    run(flags, flags.with_repair(Chain::default().at("", options.processors()?)))
}

struct Cutwork(Cutter);
impl Work for Cutwork {
    type Out = String;
    fn unit(&self, unit: &Unit<'_>, out: &mut String) -> Result<(), Trouble> {
        let cut = self.0.cut(&unit.opened.reading, unit.text)?;
        out.push_str(cut.text.as_deref().unwrap_or(unit.text));
        Ok(())
    }
    fn reset(&self, out: &mut String) {
        out.clear();
    }
}

/// Reads the input, cuts it with `chain`, writes what is left.
pub(super) fn run(flags: &Cutting, chain: Chain) -> anyhow::Result<ExitCode> {
    let wanted = Wanted { paths: &flags.input.paths, stdin_name: flags.input.stdin_filename.as_deref(), except: None };
    let (sources, _) = find(&wanted)?;
    let wish = Wish {
        framing: flags.input.framing.framing(),
        dialect: Some(flags.input.dialect.clone()).filter(|name| name != "auto"),
        messages_key: flags.input.messages_key.clone(),
    };
    let work = Cutwork(Cutter { chain, explain: flags.explain.is_some() || flags.dry_run });
    let mut failed = None;
    let mut stdout = std::io::stdout().lock();
    Batch { wish, ..Batch::default() }.run(sources, &work, |event| {
        match event {
            Event::Done { out, .. } => {
                if let Err(error) = stdout.write_all(out.as_bytes()) {
                    failed = Some(Error::system("stdout", &error));
                    return Flow::Stop;
                }
            }
            Event::Failed(failure) => failed = Some(failure.error.clone()),
            _ => {}
        }
        Flow::Continue
    });
    match failed {
        Some(error) if error.kind != Kind::BrokenPipe => Err(error.into()),
        _ => Ok(ExitCode::SUCCESS),
    }
}
