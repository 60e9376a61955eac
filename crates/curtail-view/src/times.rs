//! When a session began and ended, and when each of its messages was written.

use super::visible::Moment;
use curtail_core::dialects::Dialect;
use curtail_core::json::Value;
use curtail_core::transcript::Message;

/// The times of a log.
pub(super) struct Times {
    /// That of the first item that has one.
    pub(super) began: Option<Moment>,
    /// That of the last item that has one.
    pub(super) ended: Option<Moment>,
    /// Those of the messages.
    pub(super) messages: Vec<Option<Moment>>,
}

impl Times {
    /// The times of `messages` and of all `items` of their log.
    pub(super) fn new(dialect: &'static dyn Dialect, items: &[Value<'_>], messages: &[Message<'_>]) -> Self {
        let mut times = items.iter().filter_map(|item| moment(dialect, *item));
        let began = times.next();
        let ended = times.next_back().or_else(|| began.clone());
        let messages = messages.iter().map(|message| moment(dialect, message.value()?)).collect();
        Self { began, ended, messages }
    }
}

fn moment(dialect: &'static dyn Dialect, item: Value<'_>) -> Option<Moment> {
    Moment::new(dialect.time(item)?)
}
