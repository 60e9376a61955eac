//! A replay as comma-separated values: a row for each request of each session and policy.

use crate::reports::csv::csv_field;
use curtail_lab::replay::{RequestReport, SessionReport};

/// A column of the comma-separated values, of a session, a policy and a request.
type CsvColumn = (&'static str, fn(&SessionReport, &str, &RequestReport) -> String);

pub(super) const CSV: [CsvColumn; 24] = [
    ("session", |session, _, _| session.name.clone()),
    ("policy", |_, policy, _| policy.to_owned()),
    ("request", |_, _, request| request.number.to_string()),
    ("message", |_, _, request| request.message.to_string()),
    ("time", |_, _, request| request.time.clone().unwrap_or_default()),
    ("messages_sent", |_, _, request| request.messages_sent.to_string()),
    ("tokens_sent", |_, _, request| request.tokens_sent.to_string()),
    ("common_prefix", |_, _, request| request.common_prefix.to_string()),
    ("cache_read", |_, _, request| request.billed.read.to_string()),
    ("cache_write", |_, _, request| request.billed.write.to_string()),
    ("uncached", |_, _, request| request.billed.uncached.to_string()),
    ("output_tokens", |_, _, request| request.output_tokens.to_string()),
    ("cost", |_, _, request| request.cost.map(|cost| format!("{cost:.6}")).unwrap_or_default()),
    ("prefix_break", |_, _, request| u8::from(request.prefix_break).to_string()),
    ("changed", |_, _, request| u8::from(request.changed).to_string()),
    ("shared", |_, _, request| u8::from(request.shared).to_string()),
    ("kept_references", |_, _, request| request.losses.kept_references.to_string()),
    ("needed_references", |_, _, request| request.losses.needed_references.to_string()),
    ("thoughts_invalidated", |_, _, request| request.losses.thoughts_invalidated.to_string()),
    ("repeated_calls", |_, _, request| request.losses.repeated_calls.to_string()),
    ("files_read_again", |_, _, request| request.losses.files_read_again.to_string()),
    ("recorded_tokens", |_, _, request| {
        request.recorded.map(|recorded| recorded.tokens_sent.to_string()).unwrap_or_default()
    }),
    ("inaccurate", |session, _, _| u8::from(session.inaccurate).to_string()),
    ("outcome", |session, _, _| session.outcome.clone().unwrap_or_default()),
];

pub(super) fn csv(session: &SessionReport) -> String {
    let requests =
        session.policies.iter().flat_map(|policy| policy.requests.iter().map(move |request| (policy, request)));
    let rows = requests.map(|(policy, request)| {
        CSV.map(|(_, cell)| csv_field(&cell(session, &policy.name, request))).join(",") + "\n"
    });
    rows.collect()
}
