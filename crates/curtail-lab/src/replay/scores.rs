//! Measures the requests of a policy: their tokens, their cost, and what they lack that the model used.
#![expect(clippy::cast_precision_loss, reason = "a request is far below 2^52 tokens")]

use super::Scene;
use super::billing::{Estimate, RecordedRequest, beside_log};
use super::changed::Changed;
use super::needs::Needed;
use super::prompt_cache::{CacheRules, CacheUse, Marked};
use super::report::{Losses, Missing, PolicyReport, Predicted, Probe, Probes, Recorded, RequestReport};
use super::runs::Difference;
use super::sent::Sent;
use super::summaries::Summaries;
use super::thoughts::Thoughts;
use super::work_state::{Statement, WorkState};
use crate::calibration::Calibration;
use crate::links::Link;
use curtail_core::transcript::Usage;

/// Measures a policy, request by request.
pub(super) struct Scorer<'s, 'a> {
    scene: &'s Scene<'s, 'a>,
    measured: Measured<'s>,
    report: PolicyReport,
    /// The tokens of the previous request, as the fit predicts them.
    before: Option<u64>,
    /// The messages of the previous request.
    pub(super) sent: Sent,
    /// The prefixes that the client marked for the cache of the model that answers.
    marked: Marked,
    thoughts: Thoughts,
    /// For each position that the previous request did not send, the number of the last request that did; 0 for none.
    last_sent: Vec<usize>,
}

/// Whose requests are measured.
pub(super) enum Measured<'s> {
    /// Those of the log, which are collected to compare policies with them.
    Recorded(&'s mut Vec<RecordedRequest>),
    /// Those of a policy.
    Policy {
        /// The requests of the log.
        recorded: &'s [RecordedRequest],
        /// Whether the previous request with usage in the log is the recorded one.
        follows: bool,
    },
}

/// The beginning of a request.
#[derive(Clone, Copy)]
struct Prefix {
    /// The number of its messages.
    count: usize,
    link: Link,
    /// Its tokens, as the fit predicts them.
    tokens: u64,
}

/// What a request has in common with the beginning of the previous one.
struct Shared {
    tokens: u64,
    /// Whether that is the whole previous request.
    whole: bool,
}

impl<'s, 'a> Scorer<'s, 'a> {
    /// Measures the requests of the policy called `name`.
    pub(super) fn new(scene: &'s Scene<'s, 'a>, name: &str, measured: Measured<'s>) -> Self {
        Self {
            scene,
            measured,
            report: PolicyReport { name: name.to_owned(), ..PolicyReport::default() },
            before: None,
            sent: Sent::new(scene.history.outside),
            marked: Marked::default(),
            thoughts: Thoughts::new(scene.history, scene.signatures),
            last_sent: vec![0; scene.history.messages.len()],
        }
    }

    /// Measures the next request, which differs from the previous one by `difference`.
    pub(super) fn request(&mut self, difference: Difference) {
        let nth = self.report.requests.len();
        let scene = self.scene;
        let request = &scene.session.requests[nth];
        let changed = self.sent.change(difference, scene.history);
        let all = self.prefix(self.sent.count(), nth);
        let instructions = self.prefix(self.sent.instructions(scene.history), nth);
        let shared = self.shared(&changed, nth);
        let thoughts_invalidated = self.thoughts.invalidate(&self.sent, changed.common, scene.history);
        self.record_sending(&changed, all.link, nth);
        let cached = self.use_cache(all, instructions, &shared, nth);
        let estimate = Estimate { tokens: all.tokens, instructions: instructions.tokens, cached };
        let billed = self.bill_next(all.link, estimate, nth);
        let lost = self.lost(nth);
        if scene.missing {
            let missing: Vec<Missing> = lost.iter().filter_map(|needed| self.missing(needed, nth)).collect();
            self.report.missing.extend(missing);
        }
        let output_tokens = request.usage.map_or(0, |usage| usage.output);
        let before = self.report.requests.last().map_or(0, |before| before.tokens_sent);
        let logged = request.usage.filter(|_| self.is_recorded());
        let recorded = RecordedRequest { end: all.link, messages: self.sent.count(), whole: shared.whole, cached };
        let report = RequestReport {
            number: nth + 1,
            message: scene.session.messages[request.at] + 1,
            time: request.time.clone(),
            messages_sent: recorded.messages,
            tokens_sent: billed.sum(),
            common_prefix: shared.tokens.min(billed.sum()).min(before),
            billed,
            output_tokens,
            cost: scene.cost(nth, billed, output_tokens),
            prefix_break: !shared.whole,
            pays_back_after: if shared.whole { None } else { self.pays_back(billed, nth) },
            changed: self.is_changed(nth),
            losses: Losses { thoughts_invalidated, ..self.losses(&lost, nth) },
            recorded: logged.map(Recorded::from),
            predicted: logged.map(|usage| self.predicted(usage, &recorded, estimate, nth)),
            shared: false,
        };
        if let Measured::Recorded(requests) = &mut self.measured {
            requests.push(recorded);
        }
        self.report.requests.push(report);
        self.before = Some(all.tokens);
    }

    /// The report of a policy that cannot be applied.
    pub(super) fn fail(mut self, error: String) -> PolicyReport {
        self.report.error = Some(error);
        self.finish(Summaries::default())
    }

    /// The report, with its sums and the cost of `summaries`. No request for a summary is in the cache.
    pub(super) fn finish(mut self, summaries: Summaries) -> PolicyReport {
        let price = self.scene.prices.iter().flatten().next();
        let sent = CacheUse { uncached: summaries.tokens, ..CacheUse::default() };
        let cost = match summaries.requests {
            0 => Some(0.0),
            _ => price.map(|price| self.scene.table.of_request(price, &CacheRules::none(), sent, 0)),
        };
        self.report.summaries = Summaries { cost, ..summaries };
        self.report.sum_up();
        self.report
    }

    /// The first `count` messages of the request.
    fn prefix(&self, count: usize, nth: usize) -> Prefix {
        let link = self.sent.link(count, self.scene.history);
        Prefix { count, link, tokens: self.calibration(nth).apply(link.tokens, count) }
    }

    fn calibration(&self, nth: usize) -> Calibration {
        let calibrated = self.scene.calibrated[nth];
        if self.is_recorded() { calibrated.recorded } else { calibrated.policy }
    }

    const fn is_recorded(&self) -> bool {
        matches!(self.measured, Measured::Recorded(_))
    }

    /// What the request has in common with the previous one. The first one contains all of none.
    fn shared(&self, changed: &Changed, nth: usize) -> Shared {
        let Some(before) = self.before else { return Shared { tokens: 0, whole: true } };
        let drops = self.is_recorded() && self.scene.calibrated[nth].drops;
        Shared {
            tokens: self.prefix(changed.common, nth).tokens.min(before),
            whole: !drops && changed.common == changed.count,
        }
    }

    /// Records which messages the request dropped, and that the messages up to the next request were written for this
    /// one, whose link is `end`.
    fn record_sending(&mut self, changed: &Changed, end: Link, nth: usize) {
        let session = self.scene.session;
        let history = self.scene.history;
        if self.scene.missing {
            for position in changed.dropped(&self.sent) {
                self.last_sent[position] = nth;
            }
        }
        let next = session.requests.get(nth + 1).map_or(history.messages.len(), |next| next.at);
        let is_recorded = self.is_recorded();
        let next = (session.requests[nth].at..next).filter(|&at| is_recorded || !session.summaries[at]);
        self.thoughts.record_prefixes(history, end, next);
    }

    /// Reads the request from the cache and writes it there, as the rules say. Returns the tokens that are read.
    fn use_cache(&mut self, all: Prefix, instructions: Prefix, shared: &Shared, nth: usize) -> u64 {
        let scene = self.scene;
        let rules = scene.rules;
        let minimum = self.minimum(nth);
        if !rules.breakpoints {
            let found = if self.is_cached(nth) { shared.tokens } else { 0 };
            return rules.bill(all.tokens, found, minimum).read;
        }
        if scene.session.changes_model(nth) {
            self.marked = Marked::default();
        }
        let now = scene.session.requests[nth].seconds;
        let sent = &self.sent;
        let found =
            self.marked.read(rules, all.count, |count| sent.link(count, scene.history), instructions.count, now);
        for prefix in [instructions, all].into_iter().filter(|prefix| prefix.tokens >= minimum) {
            self.marked.write(prefix.count, prefix.link, prefix.tokens, now);
        }
        rules.bill(all.tokens, found, minimum).read
    }

    /// Whether the previous request is still in the cache of the model of a request.
    fn is_cached(&self, nth: usize) -> bool {
        self.scene.rules.lives(self.scene.session.seconds_before(nth)) && !self.scene.session.changes_model(nth)
    }

    /// The fewest tokens that the model of a request caches.
    fn minimum(&self, nth: usize) -> u64 {
        self.scene.prices[nth].and_then(|price| price.minimum).unwrap_or(self.scene.rules.minimum)
    }

    /// How the input of the request is billed: as the log says if it and the one before are those of the log, or else by its
    /// difference from that one. Without usage in the log, by the fit and the rules of the cache.
    fn bill_next(&mut self, end: Link, estimate: Estimate, nth: usize) -> CacheUse {
        let scene = self.scene;
        let Some(usage) = scene.session.requests[nth].usage else {
            return scene.rules.bill(estimate.tokens, estimate.cached, self.minimum(nth));
        };
        let Measured::Policy { recorded, follows } = &mut self.measured else { return usage.into() };
        let recorded = &recorded[nth];
        let is_recorded = recorded.end == end;
        if std::mem::replace(follows, is_recorded) && is_recorded {
            return usage.into();
        }
        let base = scene.calibrated[nth].policy.apply(recorded.end.tokens, recorded.messages);
        let tokens = beside_log(usage.input, base, estimate.tokens);
        if scene.rules.minimum == 0 {
            return scene.rules.bill(tokens, 0, 0);
        }
        recorded.bill_like(usage, Estimate { tokens, ..estimate }, scene.writes)
    }

    /// The references that the reply used of the history, and that were not sent.
    fn lost(&self, nth: usize) -> Vec<&'s Needed> {
        let end = self.scene.session.requests[nth].at;
        let references = self.scene.needs[nth].references.iter();
        references.filter(|needed| !self.mentions(needed.digest, end)).collect()
    }

    /// Whether the reference with this digest is sent, in a recorded message before `end` or in one that the policy
    /// wrote.
    fn mentions(&self, reference: u64, end: usize) -> bool {
        self.sent.sends_any(self.scene.history.index.before(reference, end)) || self.sent.writes(reference)
    }

    /// Where a lost reference was mentioned, unless only in summaries.
    fn missing(&self, needed: &Needed, nth: usize) -> Option<Missing> {
        let scene = self.scene;
        let mut positions = scene.history.index.before(needed.digest, scene.session.requests[nth].at).iter();
        let &at = positions.rfind(|&&at| !scene.session.summaries[at])?;
        Some(Missing {
            reference: needed.text.clone(),
            request: nth + 1,
            message: scene.session.messages[at] + 1,
            role: scene.history.messages[at].role.name(),
            dropped_at: self.dropped_at(at, nth + 1),
        })
    }

    /// The first request that was sent without the message at `position`.
    fn dropped_at(&self, position: usize, now: usize) -> usize {
        match self.last_sent[position] {
            0 => {
                let requests = &self.scene.session.requests;
                let before = requests.partition_point(|request| request.at <= position);
                if before < requests.len() { before + 1 } else { now }
            }
            last => last + 1,
        }
    }

    /// The number of requests after which a break pays back: its extra cost over sending everything, divided by the
    /// saving of each later request. `None` if later requests save nothing.
    fn pays_back(&self, billed: CacheUse, nth: usize) -> Option<u64> {
        let scene = self.scene;
        let before = self.before?;
        let requests = &scene.session.requests;
        let new = requests[nth - 1].at..requests[nth].at;
        let uncut = before + self.calibration(nth).added(scene.history.tokens(new.clone()), new.len());
        let found = if self.is_cached(nth) { before } else { 0 };
        let read = scene.prices[nth].and_then(|price| price.read).unwrap_or(scene.rules.read);
        let price = |billed: CacheUse| {
            read * billed.read as f64 + scene.rules.write * billed.write as f64 + billed.uncached as f64
        };
        let loss = price(billed) - price(scene.rules.bill(uncut, found, self.minimum(nth)));
        if loss <= 0.0 {
            return Some(0);
        }
        let saved = read * uncut.saturating_sub(billed.sum()) as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, and capped")]
        let after = (saved > 0.0).then(|| (loss / saved).ceil().min(1e9) as u64);
        after
    }

    /// Whether a policy changed, dropped or added a message of those that it saw.
    fn is_changed(&self, nth: usize) -> bool {
        !self.is_recorded() && (self.sent.has_written() || self.sent.count() != self.scene.seen[nth])
    }

    /// What the reply used of the history, and how much of that was sent: all but the references that are `lost`.
    fn losses(&self, lost: &[&Needed], nth: usize) -> Losses {
        let scene = self.scene;
        let needs = &scene.needs[nth];
        let needed_in_calls = needs.references.iter().filter(|needed| needed.in_call).count();
        let repeats = needs.repeats.iter().filter(|repeat| !self.sent.sends(repeat.result));
        Losses {
            kept_references: needs.references.len() - lost.len(),
            needed_references: needs.references.len(),
            kept_in_calls: needed_in_calls - lost.iter().filter(|needed| needed.in_call).count(),
            needed_in_calls,
            shown_again: lost.iter().filter(|needed| needed.shown_again).count(),
            probes: self.probe(&scene.work_states[nth], scene.session.requests[nth].at),
            repeated_calls: repeats.clone().filter(|repeat| repeat.same_call).count(),
            files_read_again: repeats.filter(|repeat| repeat.is_read).count(),
            ..Losses::default()
        }
    }

    /// Which parts of the state of the work at position `end` are sent.
    fn probe(&self, state: &WorkState, end: usize) -> Probes {
        Probes {
            instruction: Probe::of(state.instruction, |statement| self.states(statement)),
            edited_file: Probe::of(state.edited_file, |name| self.mentions(name, end)),
            failing_test: Probe::of(state.failing_test, |name| self.mentions(name, end)),
            todos: Probe::of(state.todos, |statement| self.states(statement)),
        }
    }

    /// Whether a statement is sent, or a summary that repeats it.
    fn states(&self, statement: Statement) -> bool {
        self.sent.sends(statement.at) || statement.name.is_some_and(|name| self.sent.writes(name))
    }

    /// What the replay would have said of a recorded request, if the log had no usage of it but where it missed the cache.
    fn predicted(&self, usage: Usage, recorded: &RecordedRequest, estimate: Estimate, nth: usize) -> Predicted {
        let billed = recorded.bill_like(usage, estimate, self.scene.writes);
        Predicted {
            tokens_sent: estimate.tokens,
            cache_read: estimate.cached,
            cost: self.scene.cost(nth, billed, usage.output),
            held: self.scene.calibrated[nth].held,
        }
    }
}
