//! Measures the requests of a policy: their tokens, their cost, and what they lack that the model used.
#![expect(clippy::cast_precision_loss, reason = "a request is far below 2^52 tokens")]

use std::collections::BTreeSet;

use super::history::History;
use super::needs::{Statement, WorkState};
use super::policies::{Policy, PolicyChain};
use super::prefixes::{Changed, Difference, Link, Sent};
use super::prices::{CacheRules, CacheUse, Marked};
use super::report::{Losses, Missing, PolicyReport, PolicyTotal, Probe, Probes, Recorded, RequestReport};
use super::{Scene, Summaries};
use crate::calibration::Calibration;
use curtail_core::transcript::{Content, Message};

/// Measures a policy, request by request.
pub(super) struct Scorer<'s, 'a> {
    scene: &'s Scene<'s, 'a>,
    is_recorded: bool,
    report: PolicyReport,
    /// The tokens of the previous request, as the provider counts them.
    before: Option<u64>,
    /// The messages of the previous request.
    pub(super) sent: Sent,
    /// The prefixes that the client marked for the cache of the model that answers.
    marked: Marked,
    thoughts: Thoughts,
    /// For each position that the previous request did not send, the number of the last request that did; 0 for none.
    last_sent: Vec<usize>,
    breaks: Vec<Break>,
}

/// What a request has in common with the beginning of the previous one.
#[derive(Default)]
struct Shared {
    tokens: u64,
    /// Whether that is the whole previous request.
    whole: bool,
}

/// A request that does not begin with the whole previous one.
struct Break {
    /// The number of the request, from 1.
    number: usize,
    /// The number of requests after which its extra cost is saved.
    after: Option<u64>,
}

impl<'s, 'a> Scorer<'s, 'a> {
    pub(super) fn new(scene: &'s Scene<'s, 'a>, policy: &Policy) -> Self {
        Self {
            scene,
            is_recorded: matches!(policy.chain, PolicyChain::Recorded),
            report: PolicyReport { name: policy.name.clone(), ..PolicyReport::default() },
            before: None,
            sent: Sent::new(scene.history.outside),
            marked: Marked::default(),
            thoughts: Thoughts::new(scene.history, scene.signatures),
            last_sent: vec![0; scene.history.messages.len()],
            breaks: Vec::new(),
        }
    }

    /// Measures the next request, which differs from the previous one by `difference`.
    pub(super) fn request(&mut self, difference: Difference) {
        let nth = self.report.requests.len();
        let scene = self.scene;
        let (request, calibration) = (&scene.session.requests[nth], self.calibration(nth));
        let changed = self.sent.change(difference, scene.history);
        let end = self.sent.end(scene.history);
        let tokens = calibration.apply(end.tokens, self.sent.count());
        let shared = self.shared(&changed, nth);
        let thoughts_invalidated = self.track(&changed, end, nth);
        let billed = self.bill(tokens, &shared, nth);
        let mut report = RequestReport {
            number: nth + 1,
            message: scene.session.messages[request.at] + 1,
            time: request.time.clone(),
            messages_sent: self.sent.count(),
            tokens_sent: tokens,
            common_prefix: shared.tokens.min(tokens),
            billed,
            cost: scene.prices[nth].map(|price| price.cost(scene.rules, billed)),
            prefix_break: nth > 0 && !shared.whole,
            losses: Losses { thoughts_invalidated, ..self.losses(nth) },
            recorded: self.recorded(nth),
            pays_back_after: None,
        };
        if report.prefix_break {
            let after = self.pays_back(nth, tokens, billed);
            report.pays_back_after = after;
            self.breaks.push(Break { number: nth + 1, after });
        }
        self.report.requests.push(report);
        self.before = Some(tokens);
    }

    fn calibration(&self, nth: usize) -> Calibration {
        let calibrated = self.scene.calibrated[nth];
        if self.is_recorded { calibrated.recorded } else { calibrated.policy }
    }

    /// What the request has in common with the previous one.
    fn shared(&self, changed: &Changed, nth: usize) -> Shared {
        let Some(before) = self.before else { return Shared::default() };
        let (history, calibration) = (self.scene.history, self.calibration(nth));
        let drops = self.drops(nth);
        // If the program dropped something, only the instructions are certain to be the same.
        let certain = if drops { changed.common.min(self.sent.instructions(history)) } else { changed.common };
        Shared {
            tokens: calibration.apply(self.sent.link(certain, history).tokens, certain).min(before),
            whole: !drops && changed.common == changed.count,
        }
    }

    /// Whether the program dropped something before the request without a record in the log.
    fn drops(&self, nth: usize) -> bool {
        self.is_recorded && self.scene.calibrated[nth].drops
    }

    /// Records which messages the request dropped, and that the messages up to the next request were written for this
    /// one, whose link is `end`. Returns the number of thoughts that become invalid.
    fn track(&mut self, changed: &Changed, end: Link, nth: usize) -> usize {
        let (session, history) = (self.scene.session, self.scene.history);
        if self.scene.missing {
            for position in changed.dropped(&self.sent) {
                self.last_sent[position] = nth;
            }
        }
        let invalidated = self.thoughts.invalidated(&self.sent, changed.common, history);
        let next = session.requests.get(nth + 1).map_or(history.messages.len(), |next| next.at);
        let is_recorded = self.is_recorded;
        let next = (session.requests[nth].at..next).filter(|&at| is_recorded || !session.summaries[at]);
        self.thoughts.record_prefixes(history, end, next);
        invalidated
    }

    /// Whether the previous request is still in the cache of the model of a request.
    fn is_cached(&self, nth: usize) -> bool {
        self.scene.rules.lives(self.scene.session.seconds_before(nth)) && !self.scene.session.changes_model(nth)
    }

    /// The fewest tokens that the model of a request caches.
    fn minimum(&self, nth: usize) -> u64 {
        self.scene.prices[nth].and_then(|price| price.minimum).unwrap_or(self.scene.rules.minimum)
    }

    /// Reads the request from the cache as far as it is there, and writes it to the cache.
    fn bill(&mut self, tokens: u64, shared: &Shared, nth: usize) -> CacheUse {
        let (scene, minimum) = (self.scene, self.minimum(nth));
        let (rules, calibration, now) = (scene.rules, self.calibration(nth), scene.session.requests[nth].seconds);
        if !rules.breakpoints {
            let found = if self.is_cached(nth) { shared.tokens } else { 0 };
            return rules.bill(tokens, found, minimum);
        }
        let (sent, history) = (&self.sent, scene.history);
        let instructions = sent.instructions(history);
        let instructing = sent.link(instructions, history);
        let count = if self.drops(nth) { instructions } else { sent.count() };
        let links = (0..=count).rev().map(|count| sent.link(count, history));
        if scene.session.changes_model(nth) {
            self.marked = Marked::default();
        }
        let found = self.marked.find_cached(rules, links, instructing, now);
        let billed = rules.bill(tokens, found, minimum);
        let instructed = calibration.apply(instructing.tokens, instructions);
        for (link, tokens) in [(instructing, instructed), (sent.end(history), tokens)] {
            if tokens >= minimum {
                self.marked.write(link, tokens, now);
            }
        }
        billed
    }

    fn recorded(&self, nth: usize) -> Option<Recorded> {
        let usage = self.scene.session.requests[nth].usage.filter(|_| self.is_recorded)?;
        Some(Recorded { tokens_sent: usage.input, cache_read: usage.cache_read, cache_write: usage.cache_write })
    }

    /// What the reply used of the history, and how much of that was sent.
    fn losses(&mut self, nth: usize) -> Losses {
        let (scene, number) = (self.scene, nth + 1);
        let (needs, end) = (&scene.needs[nth], scene.session.requests[nth].at);
        let mut losses = Losses {
            probes: self.probe(&scene.work_states[nth], end),
            needed_references: needs.references.len(),
            ..Losses::default()
        };
        for needed in &needs.references {
            let is_kept = self.mentions(needed.digest, end);
            losses.kept_references += usize::from(is_kept);
            losses.needed_in_calls += usize::from(needed.in_call);
            losses.kept_in_calls += usize::from(needed.in_call && is_kept);
            losses.shown_again += usize::from(!is_kept && needed.shown_again);
            if is_kept || !scene.missing {
                continue;
            }
            let mut positions = scene.history.index.before(needed.digest, end).iter();
            if let Some(&at) = positions.rfind(|&&at| !scene.session.summaries[at]) {
                self.report.missing.push(Missing {
                    reference: needed.text.clone(),
                    request: number,
                    message: scene.session.messages[at] + 1,
                    role: scene.history.messages[at].role.name(),
                    dropped_at: self.dropped_at(at, number),
                });
            }
        }
        for repeat in needs.repeats.iter().filter(|repeat| !self.sent.sends(repeat.result)) {
            losses.repeated_calls += usize::from(repeat.same_call);
            losses.files_read_again += usize::from(repeat.is_read);
        }
        losses
    }

    /// Whether the reference with this digest is sent, in a recorded message before `end` or in one that the policy
    /// wrote.
    fn mentions(&self, reference: u64, end: usize) -> bool {
        self.sent.sends_any(self.scene.history.index.before(reference, end)) || self.sent.writes(reference)
    }

    /// Which parts of the state of the work at position `end` are sent.
    fn probe(&self, state: &WorkState, end: usize) -> Probes {
        let is_sent = |statement: Statement| {
            self.sent.sends(statement.at) || statement.name.is_some_and(|name| self.sent.writes(name))
        };
        let statement = |statement: Option<Statement>| Probe {
            sent: usize::from(statement.is_some_and(is_sent)),
            of: usize::from(statement.is_some()),
        };
        let name = |name: Option<u64>| Probe {
            sent: usize::from(name.is_some_and(|name| self.mentions(name, end))),
            of: usize::from(name.is_some()),
        };
        Probes {
            instruction: statement(state.instruction),
            edited_file: name(state.edited_file),
            failing_test: name(state.failing_test),
            todos: statement(state.todos),
        }
    }

    /// The first request that was sent without the message at `position`.
    fn dropped_at(&self, position: usize, now: usize) -> usize {
        match self.last_sent[position] {
            0 => {
                let first = self.scene.session.requests.iter().position(|request| request.at > position);
                first.map_or(now, |first| first + 1)
            }
            last => last + 1,
        }
    }

    /// The number of requests after which a break pays back: its extra cost over sending everything, divided by the
    /// saving of each later request. `None` if later requests save nothing.
    fn pays_back(&self, nth: usize, tokens: u64, billed: CacheUse) -> Option<u64> {
        let (scene, before) = (self.scene, self.before?);
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
        let saved = read * uncut.saturating_sub(tokens) as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, and capped")]
        let after = (saved > 0.0).then(|| (loss / saved).ceil().min(1e9) as u64);
        after
    }

    /// Adds the cost of `summaries`. No request for one is in the cache.
    fn add_summary_cost(&mut self, summaries: Summaries) {
        let total = &mut self.report.total;
        (total.summary_requests, total.summary_tokens) = (summaries.requests, summaries.tokens);
        let price = self.scene.prices.iter().flatten().next();
        let sent = CacheUse { uncached: summaries.tokens, ..CacheUse::default() };
        if summaries.requests > 0 {
            total.cost = total.cost.zip(price).map(|(cost, price)| cost + price.cost(&CacheRules::none(), sent));
        }
    }

    /// The report of a policy that cannot be applied.
    pub(super) fn fail(mut self, error: String) -> PolicyReport {
        self.report.error = Some(error);
        self.finish(Summaries::default())
    }

    /// The report, with its sums and the cost of `summaries`.
    pub(super) fn finish(mut self, summaries: Summaries) -> PolicyReport {
        self.report.total = PolicyTotal::sum_up(&self.report.requests);
        self.add_summary_cost(summaries);
        let ends = self.breaks.iter().skip(1).map(|next| next.number).chain([self.report.requests.len() + 1]);
        let is_paid = |(one, end): &(&Break, usize)| one.after.is_some_and(|after| after < (end - one.number) as u64);
        self.report.total.breaks_paid_back = self.breaks.iter().zip(ends).filter(is_paid).count();
        self.report.total.pay_backs = self.breaks.iter().filter_map(|one| one.after).collect();
        self.report.total.set_median();
        self.report
    }
}

// Signed reasoning, which a provider may refuse if the messages before it are not the original ones.

/// The signed thoughts of a session under one policy.
pub(super) struct Thoughts {
    /// The positions of those that are valid.
    valid: BTreeSet<usize>,
    /// For each position, the digest of everything that was sent before it when the model wrote it.
    prefixes: Vec<u64>,
}

impl Thoughts {
    /// The thoughts of `history` that have one of the keys `signatures`.
    pub(super) fn new(history: &History<'_>, signatures: &[&str]) -> Self {
        let signed = history.messages.iter().enumerate().filter(|(_, message)| is_signed(message, signatures));
        Self { valid: signed.map(|(at, _)| at).collect(), prefixes: vec![0; history.messages.len()] }
    }

    /// How many thoughts become invalid with `sent`, which begins with `common` messages of the request before.
    fn invalidated(&mut self, sent: &Sent, common: usize, history: &History<'_>) -> usize {
        let sent = sent.sent_after(common, &self.valid, history).into_iter();
        let invalid = sent.filter(|(position, before)| self.prefixes[*position] != before.digest);
        invalid.filter(|(position, _)| self.valid.remove(position)).count()
    }

    /// Records that the messages at `next` were written after everything in `sent` and each other.
    pub(super) fn record_prefixes(&mut self, history: &History<'_>, sent: Link, next: impl Iterator<Item = usize>) {
        let mut link = sent;
        for at in next {
            self.prefixes[at] = link.digest;
            link = link.then(history.stats[at]);
        }
    }
}

fn is_signed(message: &Message<'_>, signatures: &[&str]) -> bool {
    message.parts.iter().filter(|part| matches!(part.content, Content::Reasoning(_))).any(|part| {
        let element = part.place().map(|place| place.element);
        element.is_some_and(|element| signatures.iter().any(|name| element.get(name).is_some()))
    })
}
