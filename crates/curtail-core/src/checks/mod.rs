//! Messages in, findings out: what a rule is, which rules run, and where a finding is. The rules are in `rules/`, in one file for
//! each subject.

mod answers;
mod budget;
mod constraints;
mod context;
mod edits;
mod examination;
mod finding;
mod inspection;
mod levels;
mod lines;
mod lookup;
mod matched;
mod mending;
mod page;
mod rule;
mod rules;
mod whole_answers;

pub use answers::{Answer, Diagnosis};
pub use budget::{Budget, TokenCounts};
pub use constraints::{Constraint, constraints};
pub use context::RuleContext;
use examination::readable;
pub use examination::{Examination, REBUILT};
pub use finding::Finding;
pub use inspection::{Detection, Inspection, Profile, UnknownProfile};
pub use levels::{Levels, LevelsError, PathTable, Table, Verdicts};
pub use lines::{Excerpt, FindingPlace, LineIndex};
pub use lookup::{UnknownRule, first_that_needs_budget, rule_named};
use matched::member_first;
pub use matched::{Match, Mend, Mending};
pub use rule::{Detector, Fix, Group, Level, Rule};
pub use rules::{ALL, DUPLICATE_TRANSCRIPT, INVALID_JSON};
