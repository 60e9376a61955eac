//! The verdict on sessions of a kind: the cheapest policy that keeps enough of what the model used.

use serde::Serialize;

use super::report::{NamedTotal, PolicyTotal, SessionReport, TotalReport};

/// The smallest saving that is worth another policy.
const WORTH: f64 = 0.01;

/// Sessions of one dialect with one outcome.
#[derive(Debug, Clone, Serialize)]
pub struct Group {
    /// The dialect.
    pub dialect: &'static str,
    /// The outcome, if the logs have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// Its sums.
    #[serde(flatten)]
    pub total: TotalReport,
    /// Our count of the largest recorded request.
    pub largest_counted: u64,
    /// The verdict, once all sessions are added.
    pub verdict: Option<Verdict>,
}

/// Which policy the sessions of a group should have had.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// The number of the cheapest policy that keeps enough, `as recorded` being 0; `None` if no policy does.
    pub number: Option<usize>,
    /// Its name.
    pub policy: Option<String>,
    /// Whether it is worth it: it saves 1 % or more.
    pub worth_it: bool,
    /// Whether `saved` is a share of the cost; of the tokens if a price is not known.
    pub by_cost: bool,
    /// The share that it saves; negative if it costs more than what was recorded.
    pub saved: f64,
    /// The share of the needed references that it keeps.
    pub kept: f64,
    /// Where no policy is worth it: the number of the one that keeps most of those that save 1 % or more.
    pub next: Option<usize>,
    /// The share that this one saves.
    pub next_saved: f64,
}

impl Group {
    /// The groups of `groups`, with `session` in one of them.
    pub fn add(groups: &mut Vec<Self>, session: &SessionReport, keep_inaccurate: bool) {
        let is_own = |group: &Self| group.dialect == session.dialect && group.outcome == session.outcome;
        let at = groups.iter().position(is_own).unwrap_or_else(|| {
            groups.push(Self {
                dialect: session.dialect,
                outcome: session.outcome.clone(),
                total: TotalReport::default(),
                largest_counted: 0,
                verdict: None,
            });
            groups.len() - 1
        });
        let group = &mut groups[at];
        group.total.add(session, keep_inaccurate);
        group.largest_counted = group.largest_counted.max(session.largest_counted);
    }

    /// Decides which policy is the cheapest of those that keep the share `keep` of the references, and of those that calls used.
    pub fn decide(&mut self, keep: f64) {
        let Some((recorded, others)) = self.total.policies.split_first() else { return };
        let by_cost = self.total.policies.iter().all(|policy| policy.total.cost.is_some());
        let price = |total: &PolicyTotal| price(total, by_cost);
        let whole = price(&recorded.total);
        let saved = |policy: &NamedTotal| if whole > 0.0 { 1.0 - price(&policy.total) / whole } else { 0.0 };
        let comparable = || (1..).zip(others).filter(|(_, policy)| policy.failed_sessions == 0);
        let cheaper = |one: &(usize, &NamedTotal), two: &(usize, &NamedTotal)| {
            price(&one.1.total).total_cmp(&price(&two.1.total))
        };
        let best = comparable().filter(|(_, policy)| policy.total.kept_at_least() >= keep).min_by(cheaper);
        let worth_it = best.is_some_and(|(_, policy)| saved(policy) >= WORTH);
        let saving = comparable().filter(|(_, policy)| !worth_it && saved(policy) >= WORTH);
        let next = saving.min_by(|one, two| {
            let kept = |own: &(usize, &NamedTotal)| own.1.total.kept_at_least();
            kept(two).total_cmp(&kept(one)).then_with(|| cheaper(one, two))
        });
        self.verdict = Some(Verdict {
            number: best.map(|(number, _)| number),
            policy: best.map(|(_, policy)| policy.name.clone()),
            worth_it,
            by_cost,
            saved: best.map_or(0.0, |(_, policy)| saved(policy)),
            kept: best.map_or(0.0, |(_, policy)| policy.total.kept_share()),
            next: next.map(|(number, _)| number),
            next_saved: next.map_or(0.0, |(_, policy)| saved(policy)),
        });
    }
}

#[expect(clippy::cast_precision_loss, reason = "tokens are far fewer than 2^52")]
fn price(total: &PolicyTotal, by_cost: bool) -> f64 {
    total.cost.filter(|_| by_cost).unwrap_or(total.tokens_sent as f64)
}
