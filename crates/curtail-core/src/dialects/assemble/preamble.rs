//! What a model reads outside the messages of a transcript.

use crate::dialects::row::Row;
use crate::dialects::{Dialect, answers};
use crate::json::{Text, Value};

/// The instructions, tool definitions and answers of `row` outside its messages; `header` are those in items before the first
/// message.
pub(super) fn preamble<'a>(dialect: &dyn Dialect, row: &Row<'a>, header: Vec<Text<'a>>) -> Vec<Text<'a>> {
    let mut preamble: Vec<Text<'a>> = row.record.map_or_else(Vec::new, |record| dialect.preamble(record));
    preamble.extend(request_in(row).map_or_else(Vec::new, |request| dialect.preamble(request)));
    preamble.extend(dialect.instructions(&row.items));
    let beside = row.record.filter(|_| row.answers.branches.is_empty()).map_or_else(Vec::new, answers::beside);
    for answer in beside {
        if !preamble.contains(&answer) {
            preamble.push(answer);
        }
    }
    preamble.extend(header);
    preamble.extend(answers::texts(dialect, &row.answers));
    preamble
}

/// The request that a record contains, if the messages are in it and not in the record itself: a line of a batch.
fn request_in<'a>(row: &Row<'a>) -> Option<Value<'a>> {
    let record = row.record?;
    let holder = row.items.first()?.parent()?.parent().filter(|holder| holder.is_object())?;
    ["body", "params", "request", "modelInput"].iter().any(|key| record.get(key) == Some(holder)).then_some(holder)
}
