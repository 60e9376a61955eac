//! A row: the items of a transcript, before a dialect reads them.

use crate::json::{Span, Value};
use crate::transcript::{Answers, Style};

/// The items of a transcript, and where they are in a text.
#[derive(Debug, Clone)]
pub struct Row<'a> {
    /// The text.
    pub source: &'a str,
    /// The byte range of the transcript, brackets included.
    pub span: Span,
    /// The items, in order.
    pub items: Vec<Value<'a>>,
    /// What separates them.
    pub style: Style,
    /// The record that contains the list, if any.
    pub record: Option<Value<'a>>,
    /// The answers after it, if it is a row to train on.
    pub answers: Answers<'a>,
}

impl<'a> Row<'a> {
    /// The items of `list`, in `record` if there is one.
    pub(super) fn of_list(list: Value<'a>, record: Option<Value<'a>>) -> Self {
        let source = list.source();
        let span = list.span();
        let items = list.items().collect();
        Row { source, span, items, style: Style::List, record, answers: Answers::default() }
    }
}
