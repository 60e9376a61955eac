//! Whether a comparison meets what the command line requires.

use crate::options::numbers::Share;
use crate::options::verify::VerifyOptions;
use crate::works::verify::Verified;
use curtail_facts::verify::Kind;

/// Why a comparison fails.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Failing {
    /// The side after the cut has new findings.
    Unsound(usize),
    /// Too little was kept.
    TooFew { kept: f64, least: f64 },
    /// A required kind lost facts.
    Required { kind: Kind, lost: usize },
}

impl Failing {
    /// Why `verified` fails; nothing if it does not.
    pub(crate) fn all(verified: &Verified, options: &VerifyOptions) -> Vec<Self> {
        let mut failing = Vec::new();
        let findings = verified.findings.as_ref().map_or(0, Vec::len);
        if findings > 0 {
            failing.push(Self::Unsound(findings));
        }
        // If there was nothing to keep, all of it was kept.
        if let (Some(kept), Some(Share(least))) = (verified.comparison.all().kept(), options.min_kept)
            && kept < least
        {
            failing.push(Self::TooFew { kept, least });
        }
        for &kind in &options.require {
            let lost = verified.comparison.of_kind(kind).lost;
            failing.extend((lost > 0).then_some(Self::Required { kind, lost }));
        }
        failing
    }

    /// Its name in reports for programs.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Unsound(_) => "sound",
            Self::TooFew { .. } => "min-kept",
            Self::Required { .. } => "require",
        }
    }
}
