//! Measures the requests of a policy: their tokens, their cost, and what they lack that the model used.
#![expect(clippy::cast_precision_loss, reason = "a request is far below 2^52 tokens")]

use std::collections::BTreeSet;

use super::changed::Changed;
use super::history::History;
use super::policies::Policy;
use super::prompt_cache::{CacheRules, CacheUse, Marked};
use super::report::{Losses, Missing, PolicyReport, Predicted, Probe, Probes, Recorded, RequestReport, SummarySum};
use super::runs::Difference;
use super::sent::Sent;
use super::work_state::{Statement, WorkState};
use super::{Scene, Summaries};
use crate::calibration::{Calibration, DROP};
use crate::links::Link;
use curtail_core::transcript::{Content, Message, Usage};

/// Measures a policy, request by request.
pub(super) struct Scorer<'s, 'a> {
    scene: &'s Scene<'s, 'a>,
    /// What was measured of the requests as recorded; `None` while it is measured.
    recorded: Option<&'s [RecordedRequest]>,
    report: PolicyReport,
    /// What was measured so far, as recorded.
    measured: Vec<RecordedRequest>,
    /// The tokens of the previous request, as the fit predicts them.
    before: Option<u64>,
    /// Whether the previous request is the recorded one.
    was_recorded: bool,
    /// The messages of the previous request.
    pub(super) sent: Sent,
    /// The prefixes that the client marked for the cache of the model that answers.
    marked: Marked,
    thoughts: Thoughts,
    /// For each position that the previous request did not send, the number of the last request that did; 0 for none.
    last_sent: Vec<usize>,
}

/// A request as recorded, to compare those of policies with it.
pub(super) struct RecordedRequest {
    /// Everything that was sent.
    end: Link,
    /// The number of its messages.
    messages: usize,
    /// Whether it begins with the whole previous request.
    whole: bool,
    /// The tokens that the rules of the cache would have read from it.
    read: u64,
}

/// What a request has in common with the beginning of the previous one.
#[derive(Default)]
struct Shared {
    tokens: u64,
    /// Whether that is the whole previous request.
    whole: bool,
}

impl<'s, 'a> Scorer<'s, 'a> {
    /// Measures `policy`, compared with the requests as `recorded`, which are measured without.
    pub(super) fn new(scene: &'s Scene<'s, 'a>, policy: &Policy, recorded: Option<&'s [RecordedRequest]>) -> Self {
        Self {
            scene,
            recorded,
            report: PolicyReport { name: policy.name.clone(), ..PolicyReport::default() },
            measured: Vec::new(),
            before: None,
            was_recorded: true,
            sent: Sent::new(scene.history.outside),
            marked: Marked::default(),
            thoughts: Thoughts::new(scene.history, scene.signatures),
            last_sent: vec![0; scene.history.messages.len()],
        }
    }

    const fn is_recorded(&self) -> bool {
        self.recorded.is_none()
    }

    /// Measures the next request, which differs from the previous one by `difference`.
    pub(super) fn request(&mut self, difference: Difference) {
        let nth = self.report.requests.len();
        let scene = self.scene;
        let request = &scene.session.requests[nth];
        let changed = self.sent.change(difference, scene.history);
        let end = self.sent.end(scene.history);
        let predicted = self.calibration(nth).apply(end.tokens, self.sent.count());
        let shared = self.shared(&changed, nth);
        let thoughts_invalidated = self.track(&changed, end, nth);
        let found = self.find_cached(predicted, &shared, nth);
        let input = self.input(end, Estimate { tokens: predicted, found }, nth);
        let output = request.usage.map_or(0, |usage| usage.output);
        let before = self.report.requests.last().map_or(0, |before| before.tokens_sent);
        let mut report = RequestReport {
            number: nth + 1,
            message: scene.session.messages[request.at] + 1,
            time: request.time.clone(),
            messages_sent: self.sent.count(),
            tokens_sent: input.sum(),
            common_prefix: shared.tokens.min(input.sum()).min(before),
            billed: input,
            output_tokens: output,
            cost: scene.cost(nth, input, output),
            prefix_break: nth > 0 && !shared.whole,
            changed: self.is_changed(nth),
            losses: Losses { thoughts_invalidated, ..self.losses(nth) },
            ..RequestReport::default()
        };
        if self.is_recorded() {
            self.measured.push(RecordedRequest { end, messages: self.sent.count(), whole: shared.whole, read: found });
            report.recorded = request.usage.map(Recorded::from);
            report.predicted = request.usage.map(|_| self.predicted(Estimate { tokens: predicted, found }, nth));
        }
        if report.prefix_break {
            report.pays_back_after = self.pays_back(nth, input);
        }
        self.report.requests.push(report);
        self.before = Some(predicted);
    }

    fn calibration(&self, nth: usize) -> Calibration {
        let calibrated = self.scene.calibrated[nth];
        if self.is_recorded() { calibrated.recorded } else { calibrated.policy }
    }

    /// Whether a policy changed, dropped or added a message of those that it saw.
    fn is_changed(&self, nth: usize) -> bool {
        !self.is_recorded() && (self.sent.has_written() || self.sent.count() != self.scene.seen[nth])
    }

    /// What the request has in common with the previous one.
    fn shared(&self, changed: &Changed, nth: usize) -> Shared {
        let Some(before) = self.before else { return Shared::default() };
        let drops = self.is_recorded() && self.scene.calibrated[nth].drops;
        let shared = self.sent.link(changed.common, self.scene.history);
        Shared {
            tokens: self.calibration(nth).apply(shared.tokens, changed.common).min(before),
            whole: !drops && changed.common == changed.count,
        }
    }

    /// Records which messages the request dropped, and that the messages up to the next request were written for this
    /// one, whose link is `end`. Returns the number of thoughts that become invalid.
    fn track(&mut self, changed: &Changed, end: Link, nth: usize) -> usize {
        let session = self.scene.session;
        let history = self.scene.history;
        if self.scene.missing {
            for position in changed.dropped(&self.sent) {
                self.last_sent[position] = nth;
            }
        }
        let invalidated = self.thoughts.invalidated(&self.sent, changed.common, history);
        let next = session.requests.get(nth + 1).map_or(history.messages.len(), |next| next.at);
        let is_recorded = self.is_recorded();
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

    /// How many tokens of the request of `tokens` tokens are in the cache by its rules, and writes the request to the cache.
    fn find_cached(&mut self, tokens: u64, shared: &Shared, nth: usize) -> u64 {
        let scene = self.scene;
        let minimum = self.minimum(nth);
        let rules = scene.rules;
        let calibration = self.calibration(nth);
        let now = scene.session.requests[nth].seconds;
        if !rules.breakpoints {
            let found = if self.is_cached(nth) { shared.tokens } else { 0 };
            return rules.bill(tokens, found, minimum).read;
        }
        let sent = &self.sent;
        let history = scene.history;
        let instructions = sent.instructions(history);
        let instructing = sent.link(instructions, history);
        let links = (0..=sent.count()).rev().map(|count| sent.link(count, history));
        if scene.session.changes_model(nth) {
            self.marked = Marked::default();
        }
        let found = self.marked.find_cached(rules, links, instructing, now);
        let instructed = calibration.apply(instructing.tokens, instructions);
        for (link, tokens) in [(instructing, instructed), (sent.end(history), tokens)] {
            if tokens >= minimum {
                self.marked.write(link, tokens, now);
            }
        }
        rules.bill(tokens, found, minimum).read
    }

    /// How the input of the request is billed: as the log says if it is the recorded request, or else by its difference from
    /// that one. Without usage in the log, by the fit and the rules of the cache.
    fn input(&mut self, end: Link, estimate: Estimate, nth: usize) -> CacheUse {
        let scene = self.scene;
        let minimum = self.minimum(nth);
        let Some(usage) = scene.session.requests[nth].usage else {
            return scene.rules.bill(estimate.tokens, estimate.found, minimum);
        };
        let Some(recorded) = self.recorded.map(|recorded| &recorded[nth]) else { return usage.into() };
        let is_recorded = recorded.end == end;
        if is_recorded && std::mem::replace(&mut self.was_recorded, is_recorded) {
            return usage.into();
        }
        self.was_recorded = is_recorded;
        let calibration = scene.calibrated[nth].policy;
        let base = calibration.apply(recorded.end.tokens, recorded.messages);
        let tokens = beside_log(usage.input, base, estimate.tokens);
        self.billed_like(usage, recorded, Estimate { tokens, ..estimate }, nth)
    }

    /// How a request of `estimate.tokens` tokens is billed beside the recorded one, whose usage the log has: where that missed
    /// the cache, so does this one; where that found something that the rules do not explain, instructions are found as well.
    fn billed_like(&self, usage: Usage, recorded: &RecordedRequest, estimate: Estimate, nth: usize) -> CacheUse {
        let log = CacheUse::from(usage);
        let mut read = estimate.found;
        if recorded.whole || nth == 0 {
            read = read.min(as_in_log(estimate.found, log.read, recorded.read));
        }
        let instructions = self.sent.instructions(self.scene.history);
        let instructing = self.sent.link(instructions, self.scene.history);
        let instructed = self.calibration(nth).apply(instructing.tokens, instructions);
        let read = read.max(log.read.min(instructed)).min(estimate.tokens);
        let rest = estimate.tokens - read;
        let writes = self.scene.writes && (log.read > 0 || log.write > 0);
        let write = if writes { rest - rest.min(log.uncached) } else { 0 };
        let write_long = match log.write {
            0 if self.scene.writes_long => write,
            0 => 0,
            all => scaled(write, log.write_long, all),
        };
        CacheUse { read, write, write_long: write_long.min(write), uncached: rest - write }
    }

    /// What the replay would have said of a recorded request, if the log had no usage of it but where it missed the cache.
    fn predicted(&self, estimate: Estimate, nth: usize) -> Predicted {
        let scene = self.scene;
        let usage = scene.session.requests[nth].usage.unwrap_or_default();
        let input = self.measured.last().map(|measured| self.billed_like(usage, measured, estimate, nth));
        Predicted {
            tokens_sent: estimate.tokens,
            cache_read: estimate.found,
            cost: input.and_then(|input| scene.cost(nth, input, usage.output)),
            held: scene.calibrated[nth].held,
        }
    }

    /// What the reply used of the history, and how much of that was sent.
    fn losses(&mut self, nth: usize) -> Losses {
        let scene = self.scene;
        let number = nth + 1;
        let needs = &scene.needs[nth];
        let end = scene.session.requests[nth].at;
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
    fn pays_back(&self, nth: usize, billed: CacheUse) -> Option<u64> {
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

    /// The report of a policy that cannot be applied.
    pub(super) fn fail(mut self, error: String) -> PolicyReport {
        self.report.error = Some(error);
        self.finish(Summaries::default()).0
    }

    /// The report, with its sums and the cost of `summaries`, and what later policies are compared with. No request for a
    /// summary is in the cache.
    pub(super) fn finish(mut self, summaries: Summaries) -> (PolicyReport, Vec<RecordedRequest>) {
        let price = self.scene.prices.iter().flatten().next();
        let sent = CacheUse { uncached: summaries.tokens, ..CacheUse::default() };
        self.report.summaries = SummarySum {
            requests: summaries.requests,
            tokens: summaries.tokens,
            cost: match summaries.requests {
                0 => Some(0.0),
                _ => price.map(|price| self.scene.table.of_request(price, &CacheRules::none(), sent, 0)),
            },
        };
        self.report.sum_up();
        (self.report, self.measured)
    }
}

/// A request as the fit and the rules of the cache predict it.
#[derive(Clone, Copy)]
struct Estimate {
    tokens: u64,
    /// The tokens that are in the cache by its rules.
    found: u64,
}

/// The tokens of a policy's request beside a recorded one that the provider counted as `input`. The fit predicts `base` for the
/// recorded request, and `estimate` for the policy's.
///
/// What the provider counted above the fit is in both. If it counted far less, the program sent less than the log contains: the
/// policy sends as much, or what the fit predicts if that is less.
fn beside_log(input: u64, base: u64, estimate: u64) -> u64 {
    if estimate >= base {
        return input + (estimate - base);
    }
    if input >= base {
        return input - (base - estimate);
    }
    if (input as f64) < DROP * base as f64 {
        return input.min(estimate);
    }
    scaled(input, estimate, base)
}

/// `tokens`, multiplied by a share: `part` of `all`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least 0, and at most the tokens")]
fn scaled(tokens: u64, part: u64, all: u64) -> u64 {
    (tokens as f64 * part as f64 / all as f64).round() as u64
}

/// What a request reads from the cache of the `found` tokens that are there by its rules, if the recorded request read `read` and
/// the rules would have let it read `expected`: less if that missed the cache.
fn as_in_log(found: u64, read: u64, expected: u64) -> u64 {
    const HIT: f64 = 0.9;
    if read >= expected {
        return found;
    }
    if (read as f64) < HIT * expected as f64 {
        return found.min(read);
    }
    scaled(found, read, expected)
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
