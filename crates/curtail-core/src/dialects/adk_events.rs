//! What an event of the Agent Development Kit (ADK) does to the history of its session. Keys are in camel case or snake case.

use std::borrow::Cow;
use std::mem::discriminant;

use super::blocks;
use crate::calendar::seconds;
use crate::json::{Text, Value};

/// Whether the event is a piece of a reply that a later event repeats whole.
pub(super) fn is_piece(event: Value<'_>) -> bool {
    event.has("author") && event.is_true("partial")
}

/// The content that stands for the events of a compaction, if the event is one.
pub(super) fn summary(event: Value<'_>) -> Option<Value<'_>> {
    blocks::either(compaction(event)?, "compactedContent", "compacted_content")
}

/// The compaction in an event: among its actions, or the event itself, as the version in JavaScript has it.
fn compaction(event: Value<'_>) -> Option<Value<'_>> {
    if !event.has("author") {
        return None;
    }
    let in_actions = event.some("actions").and_then(|actions| actions.some("compaction"));
    in_actions.or_else(|| event.is_true("isCompacted").then_some(event))
}

/// What an event says of the history.
pub(super) struct Event<'a> {
    pub(super) time: Option<Moment>,
    pub(super) invocation: Option<Cow<'a, str>>,
    pub(super) act: Act<'a>,
}

/// What an event does.
pub(super) enum Act<'a> {
    /// It adds what it says.
    Adds,
    /// It replaces the events from the first of these times to the last, or does not say which.
    Compacts(Option<(Moment, Moment)>),
    /// It goes back before this invocation.
    Rewinds(Cow<'a, str>),
}

impl<'a> Event<'a> {
    pub(super) fn of(item: Value<'a>) -> Self {
        let invocation = blocks::either(item, "invocationId", "invocation_id").and_then(Value::text);
        let compaction = compaction(item).filter(|_| summary(item).is_some() && !is_piece(item));
        let act = match (rewound_to(item), compaction) {
            (Some(invocation), _) => Act::Rewinds(invocation.into_decoded()),
            (None, Some(compaction)) => Act::Compacts(replaced_times(compaction)),
            (None, None) => Act::Adds,
        };
        let time = Moment::of(item.some("timestamp").or_else(|| item.some("time")));
        Self { time, invocation: invocation.map(Text::into_decoded), act }
    }

    /// Whether it is a compaction that says which events it replaces.
    pub(super) const fn replaces_events(&self) -> bool {
        matches!(self.act, Act::Compacts(Some(_)))
    }
}

/// The invocation before which a rewind goes back, if the event is one.
fn rewound_to(event: Value<'_>) -> Option<Text<'_>> {
    let actions = event.some("actions").filter(|_| event.has("author"))?;
    blocks::either(actions, "rewindBeforeInvocationId", "rewind_before_invocation_id")?.text()
}

/// The first and the last time that a compaction replaces, if they can be compared.
fn replaced_times(compaction: Value<'_>) -> Option<(Moment, Moment)> {
    let start =
        blocks::either(compaction, "startTimestamp", "start_timestamp").or_else(|| compaction.some("startTime"));
    let end = blocks::either(compaction, "endTimestamp", "end_timestamp").or_else(|| compaction.some("endTime"));
    let start = Moment::of(start)?;
    let end = Moment::of(end)?;
    (discriminant(&start) == discriminant(&end)).then_some((start, end))
}

/// A time, in what a program counts it or as it writes it. Numbers are before what is written, so that no time of one kind is
/// between two of the other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Moment {
    /// In ten-millionths: a time in seconds is written with no more digits than that.
    Number(i128),
    /// In ten-millionths of a second since 1970: fractions may be missing, and zones differ.
    Written(i128),
    /// In words.
    Text(String),
}

impl Moment {
    fn of(value: Option<Value<'_>>) -> Option<Self> {
        let value = value?;
        let Some(text) = value.text() else {
            return value.raw().parse().ok().filter(|number: &f64| number.is_finite()).map(Self::number);
        };
        let text = text.into_decoded();
        Some(
            seconds(&text)
                .map_or_else(|| Self::Text(text.to_string()), |seconds| Self::Written(ten_millionths(seconds))),
        )
    }

    pub(super) fn number(number: f64) -> Self {
        Self::Number(ten_millionths(number))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a finite number, and no time is that large")]
fn ten_millionths(number: f64) -> i128 {
    (number * 1e7).round() as i128
}

#[cfg(test)]
mod tests {
    use super::Moment;
    use crate::json::Document;

    fn moment(json: &str) -> Moment {
        Moment::of(Document::parse_all(json).unwrap().roots().next()).unwrap()
    }

    #[test]
    fn times_are_compared_whatever_zone_and_digits_they_are_written_with() {
        let same = [
            r#""2026-01-01T10:00:00.500Z""#,
            r#""2026-01-01T10:00:00.5""#,
            r#""2026-01-01T12:00:00.5+02:00""#,
            r#""2026-01-01T09:00:00.500000-01:00""#,
        ];
        assert!(same.iter().all(|time| moment(time) == moment(same[0])));
        assert!(moment(r#""2026-01-01T11:00:00+02:00""#) < moment(r#""2026-01-01T10:30:00+01:00""#));
        assert!(moment(r#""2026-01-01T10:00:00Z""#) < moment(same[0]) && moment("1e12") < moment(same[0]));
    }
}
