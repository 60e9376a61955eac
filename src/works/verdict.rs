//! Whether a comparison meets what the command line requires.

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
        let kept = verified.comparison.all().kept();
        if let Some((kept, least)) = kept.zip(options.min_kept.map(|least| least.0)).filter(|_| !options.accepts(kept))
        {
            failing.push(Self::TooFew { kept, least });
        }
        let lost = |kind: Kind| verified.comparison.of_kind(kind).lost;
        let required = options.require.iter().map(|&kind| Self::Required { kind, lost: lost(kind) });
        failing.extend(required.filter(|one| !matches!(one, Self::Required { lost: 0, .. })));
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
