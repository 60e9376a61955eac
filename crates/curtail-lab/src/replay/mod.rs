//! Measures what policies cost and lose: recorded sessions are replayed, request by request, under every policy.
//!
//! It reads transcripts and applies chains. It writes no transcript, and sends nothing itself: only a summarizer in a chain may ask a
//! model or run a command.

mod applied;
mod billing;
mod changed;
mod growing;
mod history;
mod needs;
mod newest;
mod outcome;
mod policies;
mod prices;
mod projection;
mod prompt_cache;
mod remembered;
mod repeats;
mod report;
mod results;
mod resumed;
mod runs;
mod scores;
mod sent;
mod summaries;
mod thoughts;
mod totals;
mod work_state;
mod written;

use thiserror::Error;

use crate::copies::keys;
use crate::figures::observe;
use crate::requests::{Session, sessions};
use billing::{CacheWrites, RecordedRequest};
use curtail_core::dialects::Dialect;
use curtail_core::numbers::tally;
use curtail_core::pipeline::Chain;
use curtail_core::processors::Counting;
use curtail_core::transcript::{Transcript, Usage};
use history::History;
use needs::{Needs, needs};
use policies::AS_RECORDED;
use projection::Projection;
use runs::Runs;
use scores::{Measured, Scorer};
use summaries::{Summaries, observe_summaries};
use work_state::{WorkState, work_states};

pub use crate::calibration::{Calibrated, Calibration, Observed, calibrate, percentile};
pub use outcome::outcome;
pub use policies::{Apply, Policy, PolicyChain, ScaledChain};
pub use prices::{ModelPrice, PriceError, Prices};
pub use prompt_cache::{CacheRules, CacheUse};
pub use remembered::{Remembered, remembering};
pub use report::{
    Accuracy, CalibrationReport, Losses, Missing, PolicyReport, PolicyTotal, Predicted, Probe, Probes, Recorded,
    RequestReport, SessionReport,
};
pub use totals::{NamedTotal, SessionGroup, TotalReport, Verdict};

/// Policies, and the settings for measuring their requests.
///
/// ```
/// use curtail_core::dialects::{Framing, Reading};
/// use curtail_core::processors::Counting;
/// use curtail_lab::replay::{Apply, Policy, Prices, Replay};
/// use curtail_tokens::tokenizers::tokenizer_by_name;
///
/// let replay = Replay {
///     policies: vec![Policy::recorded()],
///     apply: Apply::View,
///     live: false,
///     counting: Counting::new(tokenizer_by_name("o200k_base")?),
///     prices: Prices::built_in()?,
///     model: None,
///     cache: None,
///     missing: false,
///     keep_inaccurate: false,
///     outcome: None,
/// };
/// let log = concat!(
///     "{\"role\": \"user\", \"content\": \"When does it leave?\"}\n",
///     "{\"role\": \"assistant\", \"content\": \"At 05:12.\"}\n",
/// );
/// let reading = Reading::new(Framing::Lines, None, None)?;
/// let document = reading.parse(log)?;
/// for (dialect, transcript) in reading.transcripts(&document)? {
///     let reports = replay.transcript("log", dialect, &transcript)?;
///     assert_eq!(reports[0].requests, 1);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Replay {
    /// The policies, `as recorded` first.
    pub policies: Vec<Policy>,
    /// How they are applied from request to request.
    pub apply: Apply,
    /// Whether they see only the messages after the last compaction of the log.
    pub live: bool,
    /// How tokens are counted. Usage in the log calibrates the counts.
    pub counting: Counting,
    /// Prices and cache rules.
    pub prices: Prices,
    /// The model whose price applies to every request; by default the one that the log names.
    pub model: Option<String>,
    /// The name of the cache rules; by default those of the model or of the dialect's provider.
    pub cache: Option<String>,
    /// Whether missing references are listed.
    pub missing: bool,
    /// Whether the sums include the tokens of sessions whose error is too large.
    pub keep_inaccurate: bool,
    /// The JSON pointer of the outcome in a record; by default the places that known programs use.
    pub outcome: Option<String>,
}

/// The data that all policies of a session share.
struct Scene<'s, 'a> {
    session: &'s Session,
    history: &'s History<'a>,
    needs: &'s [Needs],
    /// What the model has to know at each request.
    work_states: &'s [WorkState],
    /// The provider's count of each request, if it is one of the logged history.
    counted: Vec<Option<u64>>,
    /// The calibrations of each request.
    calibrated: &'s [Calibrated],
    /// The rules by which the cache is simulated.
    rules: &'s CacheRules,
    table: &'s Prices,
    /// The price of each request's model.
    prices: Vec<Option<&'s ModelPrice>>,
    /// The rules by which input is billed; `None` for those of each request's model.
    billing: Option<&'s CacheRules>,
    /// The writes to the cache in the log.
    writes: CacheWrites,
    /// For each request, the number of messages that policies see.
    seen: Vec<usize>,
    /// Keys of the signature of reasoning.
    signatures: &'static [&'static str],
    /// Whether missing references are listed.
    missing: bool,
}

impl Replay {
    /// Replays the conversations of `transcript` that have a request. `name` is the name of the transcript in the
    /// reports.
    ///
    /// # Errors
    /// The price table has no cache rules of the name that applies.
    pub fn transcript(
        &self,
        name: &str,
        dialect: &'static dyn Dialect,
        transcript: &Transcript<'_>,
    ) -> Result<Vec<SessionReport>, ReplayError> {
        let sessions = sessions(dialect, transcript);
        let with_requests = sessions.iter().filter(|session| !session.requests.is_empty());
        with_requests.map(|session| self.session(name, dialect, transcript, session)).collect()
    }

    fn session(
        &self,
        name: &str,
        dialect: &'static dyn Dialect,
        transcript: &Transcript<'_>,
        session: &Session,
    ) -> Result<SessionReport, ReplayError> {
        let history = History::new(dialect, transcript, session, &self.counting, self.live);
        let needs = needs(&history, session, &transcript.layout.preamble);
        let work_states = work_states(&history, session);
        let observed = observe(session, history.outside, |run| history.tokens(run.clone()));
        let calibrated = calibrate(&observed);
        let rules_name = self.rules(dialect, session);
        let Some(rules) = self.prices.cache.get(&rules_name) else {
            return Err(ReplayError::NoCacheRules(rules_name));
        };
        let scene = Scene {
            session,
            history: &history,
            needs: &needs,
            work_states: &work_states,
            counted: observed.iter().map(|request| request.input).collect(),
            calibrated: &calibrated,
            rules,
            table: &self.prices,
            prices: self.prices_of(session),
            billing: self.cache.as_ref().map(|_| rules),
            writes: cache_writes(session),
            seen: seen(session, &history, self.live),
            signatures: dialect.provider_rules().signatures,
            missing: self.missing,
        };
        let largest = observed.iter().map(|request| request.tokens).max().unwrap_or(0);
        let policies = self.measured(&scene, transcript, largest);
        let side = if session.thread == 0 { String::new() } else { format!(" (side conversation {})", session.thread) };
        Ok(SessionReport {
            name: format!("{name}{side}"),
            dialect: dialect.name(),
            cache: rules_name,
            outcome: outcome(transcript, self.outcome.as_deref()),
            largest_counted: largest,
            keys: keys(dialect, transcript, session),
            ..scene.report(policies)
        })
    }

    /// Measures the policies in comparison with what was recorded. If one fails, its report has the error, and the others are
    /// measured all the same.
    fn measured(&self, scene: &Scene<'_, '_>, transcript: &Transcript<'_>, largest: u64) -> Vec<PolicyReport> {
        let mut recorded = Vec::with_capacity(scene.session.requests.len());
        let as_recorded = as_recorded(scene, &mut recorded);
        let mut policies = Vec::with_capacity(self.policies.len());
        for policy in &self.policies {
            let measured = Measured::Policy { recorded: &recorded, follows: true };
            let scorer = Scorer::new(scene, &policy.name, measured);
            policies.push(match &policy.chain {
                PolicyChain::Recorded => PolicyReport { name: policy.name.clone(), ..as_recorded.clone() },
                PolicyChain::Fixed(chain) => self.policy(chain, scorer, scene, transcript),
                PolicyChain::Scaled(make) => match make(largest) {
                    Ok(chain) => self.policy(&chain, scorer, scene, transcript),
                    Err(error) => scorer.fail(error.to_string()),
                },
            });
        }
        policies
    }

    /// Measures the policy of `chain` with its `scorer`.
    fn policy(
        &self,
        chain: &Chain,
        mut scorer: Scorer<'_, '_>,
        scene: &Scene<'_, '_>,
        transcript: &Transcript<'_>,
    ) -> PolicyReport {
        let (observed, summaries) = observe_summaries(chain);
        let chain = observed.as_ref().unwrap_or(chain);
        let session = scene.session;
        let history = scene.history;
        let layout = &transcript.layout;
        let mut projection = Projection::new(chain, self.apply, self.live, session, history, layout, &self.counting);
        for request in &scene.session.requests {
            match projection.difference(request, &scorer.sent) {
                Ok(difference) => scorer.request(difference),
                Err(error) => return scorer.fail(error.to_string()),
            }
        }
        scorer.finish(summaries.sum())
    }

    /// The name of the cache rules of `session`.
    fn rules(&self, dialect: &dyn Dialect, session: &Session) -> String {
        if let Some(name) = &self.cache {
            return name.clone();
        }
        let model = self.model.as_deref().or_else(|| main_model(session));
        let by_model = model.and_then(|name| self.prices.cache_of(name));
        let logged = session.requests.iter().find_map(|request| request.provider);
        let provider = logged.unwrap_or(dialect.provider_rules().provider);
        let by_provider = by_model.or_else(|| self.prices.cache_of_provider(provider));
        let name = by_provider.or_else(|| self.prices.cache_of_provider(provider_by_usage(session)?)).unwrap_or("none");
        let longer = self.prices.cache.get(name).and_then(|rules| rules.long.as_ref());
        longer.filter(|_| cache_writes(session) == CacheWrites::Long).map_or(name, String::as_str).to_owned()
    }

    fn prices_of(&self, session: &Session) -> Vec<Option<&ModelPrice>> {
        let named = session.requests.iter().map(|request| self.model.as_ref().or(request.model.as_ref()));
        named.map(|name| self.prices.model(name?)).collect()
    }
}

/// Measures the requests of a session as the log records them, and collects them in `requests`.
fn as_recorded(scene: &Scene<'_, '_>, requests: &mut Vec<RecordedRequest>) -> PolicyReport {
    let mut scorer = Scorer::new(scene, AS_RECORDED, Measured::Recorded(requests));
    for request in &scene.session.requests {
        let mut runs = Runs::default();
        for run in &request.sent {
            runs.push(run.clone());
        }
        scorer.request(runs.into());
    }
    scorer.finish(Summaries::default())
}

fn cache_writes(session: &Session) -> CacheWrites {
    let written: u64 = usages(session).map(|usage| usage.cache_write).sum();
    let long: u64 = usages(session).map(|usage| usage.cache_write_long).sum();
    match written {
        0 => CacheWrites::None,
        _ if 2 * long > written => CacheWrites::Long,
        _ => CacheWrites::Usual,
    }
}

/// For each request, the number of messages that policies see; with `live`, those that the request sent.
fn seen(session: &Session, history: &History<'_>, live: bool) -> Vec<usize> {
    let seen = session.requests.iter().map(|request| match live {
        true => request.sent.iter().map(ExactSizeIterator::len).sum(),
        false => request.in_force.iter().map(|run| history.originals_in(run.clone()).len()).sum(),
    });
    seen.collect()
}

/// A provider that would report usage like that of the log: Anthropic reports cache writes, OpenAI only reads.
fn provider_by_usage(session: &Session) -> Option<&'static str> {
    let writes = usages(session).any(|usage| usage.cache_write > 0);
    let reads = usages(session).any(|usage| usage.cache_read > 0);
    if writes { Some("anthropic") } else { reads.then_some("openai") }
}

fn usages(session: &Session) -> impl Iterator<Item = Usage> {
    session.requests.iter().filter_map(|request| request.usage)
}

/// The model that most requests name, the first of several.
fn main_model(session: &Session) -> Option<&str> {
    let names = tally(session.requests.iter().filter_map(|request| request.model.as_deref()));
    names.into_iter().rev().max_by_key(|(_, count)| *count).map(|(name, _)| name)
}

impl Scene<'_, '_> {
    /// The price of a request whose input is `billed` and whose reply has `output` tokens; `None` if the price is not known.
    fn cost(&self, nth: usize, billed: CacheUse, output: u64) -> Option<f64> {
        let price = self.prices[nth]?;
        let rules = self.billing.or_else(|| self.table.cache.get(&price.cache))?;
        Some(self.table.of_request(price, rules, billed, output))
    }

    /// The requests whose count in the log is not of the logged history.
    fn strays(&self) -> impl Fn(usize) -> bool + '_ {
        move |nth| self.session.requests[nth].usage.is_some() && self.counted[nth].is_none()
    }

    /// The report, without what the session as a whole is called and how it ended.
    fn report(&self, policies: Vec<PolicyReport>) -> SessionReport {
        let session = self.session;
        let requests = &session.requests;
        let numbers =
            |is: &dyn Fn(usize) -> bool| (0..requests.len()).filter(|&nth| is(nth)).map(|nth| nth + 1).collect();
        let mut report = SessionReport {
            model: main_model(session).map(str::to_owned),
            times: requests.iter().all(|request| request.seconds.is_some()),
            requests: requests.len(),
            compacted_before: numbers(&|nth| nth > 0 && requests[nth].live_from > requests[nth - 1].live_from),
            model_changed_before: numbers(&|nth| session.changes_model(nth)),
            paused_before: numbers(&|nth| !self.rules.lives(session.seconds_before(nth))),
            rejected: session.rejected,
            dropped_before: numbers(&|nth| self.calibrated[nth].drops),
            stray_counts: numbers(&self.strays()),
            calibration: calibrations(self),
            policies,
            ..SessionReport::default()
        };
        report.set_accuracy();
        report
    }
}

fn calibrations(scene: &Scene<'_, '_>) -> Vec<CalibrationReport> {
    let mut reports: Vec<CalibrationReport> = Vec::new();
    if scene.session.requests.iter().all(|request| request.usage.is_none()) {
        return reports;
    }
    for (nth, calibration) in scene.calibrated.iter().enumerate() {
        let report = CalibrationReport {
            from_request: nth + 1,
            hidden_tokens: rounded(calibration.policy.hidden),
            dropped_tokens: rounded(calibration.policy.hidden - calibration.recorded.hidden).max(0),
            factor: (calibration.policy.factor * 1e4).round() / 1e4,
            framing: calibration.policy.framing,
        };
        let last = reports.last().map(|last| CalibrationReport { from_request: nth + 1, ..last.clone() });
        if last.as_ref() != Some(&report) {
            reports.push(report);
        }
    }
    reports
}

#[expect(clippy::cast_possible_truncation, reason = "a request is far below 2^52 tokens")]
fn rounded(tokens: f64) -> i64 {
    tokens.round() as i64
}

/// Why a session cannot be replayed.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// The price table has no cache rules with this name.
    #[error("the price table has no cache rules called `{0}`")]
    NoCacheRules(String),
}
