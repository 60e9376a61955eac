//! How broken pairs are repaired.

use crate::options::choices::{Choice, one_of};
use crate::options::processor::Options;
use curtail_core::checks::{Profile, UnknownProfile};
use curtail_core::pipeline::Processors;
use curtail_core::processors::{Exempt, Processor, Repair, RepairFor, RepairMode};
use curtail_core::transcript::PairingRules;

/// The values of `--mode`, `--repair` and `--fix`.
pub(crate) const REPAIR_MODES: &[Choice<RepairMode>] = &[
    Choice::new("drop", RepairMode::Drop, "Drop broken calls and results"),
    Choice::new("stub", RepairMode::Stub, "Answer unanswered calls with a stub result; drop the rest"),
    Choice::new("move", RepairMode::Move, "Move results to their calls; drop the rest"),
];

/// Repair broken pairs of tool calls and results
///
/// Unbroken messages are written byte for byte. A call that is pending at the end stays unless --pending is given.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RepairOptions {
    /// How to repair broken pairs
    #[arg(long, value_parser = one_of(REPAIR_MODES), value_name = "HOW", default_value = "move")]
    mode: RepairMode,

    /// Also repair calls that are pending at the end
    #[arg(long)]
    pending: bool,

    /// Repair what this provider or dialect would reject, such as mistral or anthropic, instead of what the transcript's own would
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    profile: Option<String>,
}

impl RepairOptions {
    /// The provider whose rules the result must satisfy, if it is not that of the transcript's own format.
    pub(crate) fn profile(&self) -> Result<Option<Profile>, UnknownProfile> {
        self.profile.as_deref().map(Profile::named).transpose()
    }
}

/// The processors of a repair; with `pending`, they also repair calls that are pending at the end. With a profile, they apply
/// the rules of that provider.
pub(crate) fn repairs(mode: RepairMode, pending: bool, profile: Option<PairingRules>) -> Processors {
    let stages = Repair { mode, pending }.with_drop().into_iter();
    let exempt = Exempt::default();
    stages.map(|repair| Box::new(RepairFor { repair, profile, exempt }) as Box<dyn Processor>).collect()
}

impl Options for RepairOptions {
    fn processors(&self, _: bool) -> anyhow::Result<Processors> {
        let profile = self.profile()?;
        Ok(repairs(self.mode, self.pending, profile.map(|profile| profile.pairing_rules)))
    }
}
