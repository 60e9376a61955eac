//! What `split` writes into a record beside its messages: the numbers of the targets, and a suffix of the id.

use std::ops::Range;

use super::chain::Splitting;
use super::cut::Window;
use crate::dialects::Patch;
use crate::figures::FigureEdits;
use crate::json::{Document, Span, Value, quote};
use crate::patches::copy_patched;
use crate::transcript::Layout;

/// Where a record is edited beside its messages: the numbers of the targets, and a suffix of the id.
#[derive(Debug, Default)]
pub(super) struct RecordEdits {
    /// Before the quote that ends the id, in bytes of the source.
    id_end: Option<u32>,
    /// The new member with the numbers of the targets.
    mark: Option<Mark>,
}

/// A new member of a record: a list of numbers.
#[derive(Debug)]
struct Mark {
    /// After the last member, in bytes of the source.
    at: u32,
    /// What is written before the list: a comma, the key and a colon.
    key: String,
    /// What is written between the numbers.
    comma: &'static str,
}

const NO_RECORD: &str = "--mark and --id-key need records that are objects with a list of messages";

impl RecordEdits {
    /// The edits that `splitting` requires in the record of `layout`.
    ///
    /// # Errors
    /// The transcript is in no record, the id is not a string, or the mark exists already.
    pub(super) fn from_layout(splitting: &Splitting, layout: &Layout<'_>) -> Result<Self, String> {
        let Splitting { mark, id_key, .. } = splitting;
        if mark.is_none() && id_key.is_none() {
            return Ok(Self::default());
        }
        if layout.record == layout.span {
            return Err(NO_RECORD.to_owned());
        }
        let start = layout.record.start;
        let document = Document::parse(layout.record.slice(layout.source)).map_err(|error| error.kind.to_string())?;
        let record = document.roots().next().filter(|record| record.is_object()).ok_or(NO_RECORD)?;
        let id_end = id_key.as_deref().map(|key| id_end(record, key)).transpose()?;
        let mark = mark.as_deref().map(|key| new_mark(record, key)).transpose()?;
        Ok(Self { id_end: id_end.map(|at| start + at), mark: mark.map(|mark| Mark { at: start + mark.at, ..mark }) })
    }

    /// Whether every record is changed, although its messages are not.
    pub(super) const fn marks(&self) -> bool {
        self.mark.is_some()
    }

    /// Copies a range of `source` with the edits in it.
    pub(super) fn copy(
        &self,
        source: &str,
        range: Range<usize>,
        window: &Window,
        figures: &FigureEdits,
        out: &mut String,
    ) {
        let mut patches = figures.patches.clone();
        if let Some(at) = self.id_end.filter(|_| window.count > 1) {
            patches.push(Patch { span: Span::new(at, at), text: format!("#{}", window.number) });
        }
        if let Some(Mark { at, key, comma }) = &self.mark {
            let numbers: Vec<String> = window.targets.iter().map(ToString::to_string).collect();
            patches.push(Patch { span: Span::new(*at, *at), text: format!("{key}[{}]", numbers.join(comma)) });
        }
        patches.sort_by_key(|patch| patch.span);
        copy_patched(source, range, &patches, out);
    }
}

/// Where the string under `key` ends, before its quote.
fn id_end(record: Value<'_>, key: &str) -> Result<u32, String> {
    let id = key.split('.').try_fold(record, Value::get);
    let id = id.ok_or_else(|| format!("the record has no `{key}`; check --id-key"))?;
    if id.text().is_none() {
        return Err(format!("`{key}` is not a string, and only a string can get a suffix; check --id-key"));
    }
    Ok(id.span().end - 1)
}

/// The new member `key` of `record`, with its place in the bytes of `record`.
fn new_mark(record: Value<'_>, key: &str) -> Result<Mark, String> {
    if record.get(key).is_some() {
        return Err(format!("the record already has a member `{key}`; pass another --mark"));
    }
    let at = record.members().last().map_or(1, |member| member.span.end);
    // The style of the record: with a space after colons and commas, or without.
    let source = record.source().as_bytes();
    let spaced = record.members().any(|member| source[member.value.span().start as usize - 1] == b' ');
    let (comma, colon) = if spaced { (", ", ": ") } else { (",", ":") };
    Ok(Mark { at, key: format!("{comma}{}{colon}", quote(key)), comma })
}
