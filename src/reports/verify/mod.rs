//! The reports of `verify`: one screen for people, a JSON document, workflow commands of GitHub, a page.

mod document;
mod github;
mod page;
mod screen;

pub(crate) use document::document;
pub(crate) use github::workflow_commands;
pub(crate) use page::VerifyPage;
pub(crate) use screen::{rows, screen};

use crate::reports::screen::without_end;
use crate::works::verdict::Failing;
use crate::works::verify::Verified;
use curtail_core::numbers::counted;
use curtail_core::visible::one_line;
use curtail_facts::verify::{JudgedFact, Kind, Share};

/// Columns of a fact in a report.
const WIDTH: usize = 96;

/// `97.5 %`, or `100 %`; never rounded up to all.
fn percent(share: f64) -> String {
    percent_to(share, 1)
}

/// A share in percent with up to some digits behind the point.
fn percent_to(share: f64, digits: i32) -> String {
    let scale = 10_f64.powi(digits);
    format!("{} %", (share * 100.0 * scale * (1.0 + 1e-12)).floor() / scale)
}

/// The most digits behind the point that tell two shares apart.
const MOST_DIGITS: i32 = 9;

/// The share that was kept, in words.
fn kept(share: Share) -> String {
    if share.unknown > 0 { String::from("unknown") } else { share.kept().map_or_else(|| String::from("—"), percent) }
}

/// The kinds with important facts, each with how many were kept, and then all of them.
fn shares(verified: &Verified) -> Vec<(&'static str, Share)> {
    let of_kinds = Kind::ALL.iter().map(|kind| (kind.plural(), verified.comparison.of_kind(*kind)));
    of_kinds.filter(|(_, share)| share.total() > 0).chain([("all", verified.comparison.all())]).collect()
}

/// The words of a fact, with its state.
fn described(judged: &JudgedFact) -> String {
    shortened(&judged.fact.described())
}

fn shortened(text: &str) -> String {
    without_end(&one_line(text), WIDTH).into_owned()
}

/// The sentence that decides.
fn verdict(verified: &Verified, failing: &[Failing]) -> String {
    if !failing.is_empty() {
        return format!("failed: {}", failing.iter().map(reason).collect::<Vec<_>>().join("; "));
    }
    let share = verified.comparison.all();
    match share.kept() {
        _ if share.unknown > 0 => {
            let known = counted(share.kept, "fact");
            format!("nobody can know: the compaction is encrypted; {known} can be read outside of it")
        }
        None => String::from("nothing to lose: no important fact was found"),
        Some(_) if share.lost == 0 && share.kept == 1 => String::from("kept the only fact"),
        Some(_) if share.lost == 0 => format!("kept all {}", counted(share.kept, "fact")),
        Some(kept) => format!("kept {} of {} ({})", share.kept, counted(share.all(), "fact"), percent(kept)),
    }
}

/// Why a comparison fails, in words.
fn reason(failing: &Failing) -> String {
    match failing {
        Failing::Unsound(count) => format!("AFTER has {} that BEFORE has not", counted(*count, "finding")),
        Failing::TooFew { kept, least } => {
            let mut digits = 1..MOST_DIGITS;
            let digits = digits.find(|digits| percent_to(*kept, *digits) != percent_to(*least, *digits));
            let digits = digits.unwrap_or(MOST_DIGITS);
            let [kept, least] = [kept, least].map(|share| percent_to(*share, digits));
            format!("{kept} of the facts were kept, and --min-kept asks for {least}")
        }
        Failing::Required { kind, lost } => {
            format!("{} lost, and --require {} allows none", counted(*lost, kind.name()), kind.name())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Failing, percent, reason};

    #[test]
    fn a_share_has_the_digits_that_tell_it_from_another() {
        for (share, words) in [(1.0, "100 %"), (0.9999, "99.9 %"), (0.975, "97.5 %"), (0.29, "29 %"), (0.0, "0 %")] {
            assert_eq!(percent(share), words);
        }
        for (kept, least, words) in [
            (1.0 / 3.0, 0.3334, "33.33 % of the facts were kept, and --min-kept asks for 33.34 %"),
            (1.0 / 3.0, 0.9, "33.3 % of the facts were kept, and --min-kept asks for 90 %"),
        ] {
            assert_eq!(reason(&Failing::TooFew { kept, least }), words);
        }
    }
}
