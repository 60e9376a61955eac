//! The results of a replay as data: per request, per policy, per session and in total. They serialize as the JSON
//! report.

use serde::Serialize;

use curtail_core::json::{Value, ValueKind};
use curtail_core::transcript::Transcript;

/// A session and every policy that was applied to it.
#[derive(Debug, Clone, Serialize)]
pub struct SessionReport {
    /// The file, with the line of a record and the number of a side conversation.
    pub name: String,
    /// The dialect of the file.
    pub dialect: &'static str,
    /// The model that most requests name.
    pub model: Option<String>,
    /// The cache rules that were applied.
    pub cache: String,
    /// Whether every request has a time. If not, the lifetime of the cache is not applied.
    pub times: bool,
    /// Number of requests.
    pub requests: usize,
    /// The requests, from 1, before which the log was compacted.
    pub compacted_before: Vec<usize>,
    /// The requests, from 1, before which the program dropped a part of the history although the log does not say so: the
    /// provider counted less than before.
    pub dropped_before: Vec<usize>,
    /// The requests, from 1, that another model answered than the previous one: its cache does not contain the session
    /// yet.
    pub model_changed_before: Vec<usize>,
    /// The requests, from 1, after a pause longer than the lifetime of the cache, as when a session is resumed.
    pub paused_before: Vec<usize>,
    /// The number of replies that the program wrote itself because the provider answered with an error. They belong to
    /// no request.
    pub rejected: usize,
    /// How the provider's count follows from ours, by stretch between compactions; empty without usage in the log.
    pub calibration: Vec<CalibrationReport>,
    /// The policies, `as recorded` first.
    pub policies: Vec<PolicyReport>,
    /// How well `as recorded` predicts the provider's count; `None` if the log has too little usage to test it.
    pub accuracy: Option<Accuracy>,
    /// How the session ended, if its record says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// Our count of the largest recorded request.
    pub largest_counted: u64,
    /// Whether the median error is above 10 %. The tokens and the cost of such a session are not meaningful.
    pub inaccurate: bool,
}

/// The calibration from a request on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CalibrationReport {
    /// The first request, from 1.
    pub from_request: usize,
    /// Tokens of every request that the log does not contain.
    pub hidden_tokens: i64,
    /// Tokens of the log that the program dropped from every request without a record in the log.
    #[serde(skip_serializing_if = "is_zero")]
    pub dropped_tokens: i64,
    /// The provider's tokens per token of ours.
    pub factor: f64,
    /// The provider's tokens around each message.
    pub framing: f64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(number: &i64) -> bool {
    *number == 0
}

/// The effect of one policy on a session.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PolicyReport {
    /// Its name.
    pub name: String,
    /// The sums over all requests.
    #[serde(flatten)]
    pub total: PolicyTotal,
    /// Every request, in order.
    pub requests: Vec<RequestReport>,
    /// References that the model used and would not have been sent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Missing>,
    /// Why the policy could not be applied. The sums contain the requests before the failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Sums over requests.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PolicyTotal {
    /// Tokens of all requests, in the provider's count where the log calibrates it.
    pub tokens_sent: u64,
    /// Tokens read from the cache.
    pub cache_read: u64,
    /// Tokens written to the cache.
    pub cache_write: u64,
    /// Tokens neither read nor written.
    pub uncached: u64,
    /// Price of the input in US dollars; `None` if the price of a request is not known.
    pub cost: Option<f64>,
    /// Requests that do not begin with the whole previous request.
    pub prefix_breaks: usize,
    /// References that the model used and that were sent.
    pub kept_references: usize,
    /// References that the model used and that were made earlier in the session.
    pub needed_references: usize,
    /// References that the model used in the arguments of calls and that were sent.
    pub kept_in_calls: usize,
    /// References that the model used in the arguments of calls and that were made earlier in the session.
    pub needed_in_calls: usize,
    /// References that were not sent, and that a result of the next five requests showed again.
    pub shown_again: usize,
    /// What the model has to know at each request, and whether it was sent.
    pub probes: Probes,
    /// Signed reasoning that was sent after a prefix that differs from the original one.
    pub thoughts_invalidated: usize,
    /// Recorded calls that repeat a call whose result was not sent.
    pub repeated_calls: usize,
    /// Recorded reads of a file whose earlier content was not sent.
    pub files_read_again: usize,
    /// Tokens of the largest request.
    pub largest_request: u64,
    /// Distinct requests for summaries; the cost includes them.
    pub summary_requests: usize,
    /// Tokens of those requests.
    pub summary_tokens: u64,
    /// Prefix breaks whose extra cost later requests saved before the next break or the end.
    pub breaks_paid_back: usize,
    /// The median number of requests after which the extra cost of a break is saved; `None` if none is ever saved.
    pub pays_back_after: Option<u64>,
    /// The number of requests of every such break, to merge sessions.
    #[serde(skip)]
    pub pay_backs: Vec<u64>,
}

/// What a model has to know to continue: for each item, the number of requests that sent it, of those at which it
/// existed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Probes {
    /// The last message that a person wrote.
    pub instruction: Probe,
    /// The name of the file that was edited last.
    pub edited_file: Probe,
    /// The test that failed last and has not passed since.
    pub failing_test: Probe,
    /// The to-do list, while one of its items is open.
    pub todos: Probe,
}

/// How often something was sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Probe {
    /// Requests that sent it.
    pub sent: usize,
    /// Requests at which it existed.
    pub of: usize,
}

/// One request under one policy.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RequestReport {
    /// Its number, from 1.
    pub number: usize,
    /// Number of the first message of the reply, from 1, in the file.
    pub message: usize,
    /// Time of the reply in the format of the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// Messages that were sent.
    pub messages_sent: usize,
    /// Tokens that were sent.
    pub tokens_sent: u64,
    /// Tokens in common with the beginning of the previous request.
    pub common_prefix: u64,
    /// Tokens read from the cache.
    pub cache_read: u64,
    /// Tokens written to the cache.
    pub cache_write: u64,
    /// Tokens neither read nor written.
    pub uncached: u64,
    /// Price of the input in US dollars.
    pub cost: Option<f64>,
    /// Whether the request does not begin with the whole previous request.
    pub prefix_break: bool,
    /// References that the reply used and that were sent.
    pub kept_references: usize,
    /// References that the reply used and that were made earlier in the session.
    pub needed_references: usize,
    /// References that the reply used in the arguments of calls and that were sent.
    pub kept_in_calls: usize,
    /// References that the reply used in the arguments of calls and that were made earlier in the session.
    pub needed_in_calls: usize,
    /// References that were not sent, and that a result of the next five requests showed again.
    pub shown_again: usize,
    /// What the model has to know at this request, and whether it was sent.
    pub probes: Probes,
    /// Signed reasoning that this request sends after a prefix that differs from the original one.
    pub thoughts_invalidated: usize,
    /// Calls of the reply that repeat a call whose result was not sent.
    pub repeated_calls: usize,
    /// Reads of a file whose earlier content was not sent.
    pub files_read_again: usize,
    /// The number of later, shorter requests that save the extra cost of the prefix break. `None` without a break, or
    /// if they save nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pays_back_after: Option<u64>,
    /// The provider's count, in `as recorded`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Recorded>,
}

/// The provider's count for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Recorded {
    /// Tokens of the input, cached ones included.
    pub tokens_sent: u64,
    /// Tokens read from the cache.
    pub cache_read: u64,
    /// Tokens written to the cache.
    pub cache_write: u64,
}

/// A reference that the model used and that would not have been sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// The reference.
    pub reference: String,
    /// The request whose reply used it, from 1.
    pub request: usize,
    /// The last message before it that contained it, from 1, in the file.
    pub message: usize,
    /// The role of that message.
    pub role: &'static str,
    /// The first request, from 1, that was sent without the message.
    pub dropped_at: usize,
}

/// How well `as recorded` predicts the provider's usage, on requests that no calibration saw.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Accuracy {
    /// The number of these requests.
    pub requests: usize,
    /// Median of the relative error of the input tokens of a request.
    pub median_error: f64,
    /// The relative error that 90 % of the requests do not exceed.
    pub p90_error: f64,
    /// Share of the input that is predicted to be read from the cache.
    pub cache_read_predicted: f64,
    /// Share of the input that the provider read from the cache.
    pub cache_read_recorded: f64,
    /// The difference of the two shares.
    pub cache_read_error: f64,
    /// The relative error of every such request, to merge sessions.
    #[serde(skip)]
    pub errors: Vec<f64>,
    /// Input tokens and cache reads as predicted, then as recorded, to merge sessions.
    #[serde(skip)]
    pub sums: [u64; 4],
}

/// All sessions together.
#[derive(Debug, Clone, Default, Serialize)]
pub struct TotalReport {
    /// Number of sessions.
    pub sessions: usize,
    /// Number of requests.
    pub requests: usize,
    /// The policies, `as recorded` first; without their requests.
    pub policies: Vec<NamedTotal>,
    /// The accuracy of all sessions that have usage.
    pub accuracy: Option<Accuracy>,
    /// Sessions whose tokens and cost are not in the sums, because their error is too large.
    pub inaccurate_sessions: usize,
}

/// The sums of a policy over all sessions.
#[derive(Debug, Clone, Default, Serialize)]
pub struct NamedTotal {
    /// Name of the policy.
    pub name: String,
    /// The sums.
    #[serde(flatten)]
    pub total: PolicyTotal,
    /// Sessions to which the policy could not be applied. If there are any, its sums are not comparable.
    pub failed_sessions: usize,
    /// Whether no other policy beats it in cost and references kept; only with a sweep.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pareto: Option<bool>,
}

// The test of the predictions: `as recorded` against the usage in the log.

/// A request that was held out for the test: its prediction, and the provider's count.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Judged {
    /// Predicted tokens of the input.
    pub(super) tokens: u64,
    /// Predicted tokens from the cache.
    pub(super) read: u64,
    /// Tokens of the input as the provider counted them.
    pub(super) input: u64,
    /// Tokens from the cache as the provider counted them.
    pub(super) recorded_read: u64,
}

/// The accuracy on the requests that were held out for the test; `None` without any.
pub(super) fn judge(held: &[Judged]) -> Option<Accuracy> {
    #[expect(clippy::cast_precision_loss, reason = "a request is far below 2^52 tokens")]
    let error = |one: &Judged| (one.tokens as f64 - one.input as f64).abs() / (one.input as f64).max(1.0);
    let sum = |part: fn(&Judged) -> u64| held.iter().map(part).sum::<u64>();
    let mut accuracy = Accuracy {
        requests: held.len(),
        errors: held.iter().map(error).collect(),
        sums: [sum(|one| one.tokens), sum(|one| one.read), sum(|one| one.input), sum(|one| one.recorded_read)],
        ..Accuracy::default()
    };
    accuracy.compute();
    (!held.is_empty()).then_some(accuracy)
}

// How a recorded session ended, if its record says so: a reward, an exit status, a score.

/// JSON pointers to the outcome in records of known programs.
const OUTCOMES: [&str; 7] =
    ["/reward", "/resolved", "/info/resolved", "/info/exit_status", "/exit_status", "/scores", "/metadata/outcome"];

/// The outcome of `transcript`, at `pointer` (RFC 6901) in the record around its messages, or at a known place.
#[must_use]
pub fn outcome(transcript: &Transcript<'_>, pointer: Option<&str>) -> Option<String> {
    let first = transcript.layout.elements.first()?;
    let around = || std::iter::successors(first.parent(), |value| value.parent()).filter(|value| value.is_object());
    match pointer {
        Some(pointer) => around().find_map(|object| described(value_at(object, pointer)?)),
        None => around().find_map(|object| OUTCOMES.iter().find_map(|known| described(value_at(object, known)?))),
    }
}

/// The value at `pointer` in `object`.
fn value_at<'a>(object: Value<'a>, pointer: &str) -> Option<Value<'a>> {
    let keys = pointer.trim_start_matches('/').split('/').map(|key| key.replace("~1", "/").replace("~0", "~"));
    keys.into_iter().try_fold(object, |value, key| match value.is_array() {
        true => value.items().nth(key.parse().ok()?),
        false => value.get(&key),
    })
}

/// A number, a word or a boolean as text, of at most 60 bytes. Of an object, its `value` or first member is taken.
fn described(value: Value<'_>) -> Option<String> {
    match value.kind() {
        ValueKind::Object => {
            described(value.get("value").or_else(|| value.members().next().map(|member| member.value))?)
        }
        ValueKind::Array | ValueKind::Null => None,
        ValueKind::String => Some(value.text()?.decode().into_owned()),
        _ => Some(value.raw().parse::<f64>().map_or_else(|_| value.raw().to_owned(), |number| number.to_string())),
    }
    .filter(|outcome| !outcome.is_empty() && outcome.len() <= 60)
}
