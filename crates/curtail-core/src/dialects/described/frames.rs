//! What is written around a text that replaces the result of a call.

use super::paths::Path;
use super::templates::{Hole, Template, Writing};
use crate::json::{Document, Json, Span, Value, object, quote};
use crate::transcript::Rewrite;

/// Where a text goes in JSON that is written first.
const HOLE: &str = "\u{0}";

/// Where something else goes, which a text that replaces another one does not know: an id.
const OTHER_HOLE: &str = "\u{1}";

/// The JSON before and after a text. It is never freed: a description lives as long as the program.
type Frame = &'static [&'static str; 2];

/// What is written around the text of a result, by its path.
#[derive(Debug, Clone, Default)]
pub(super) struct Frames {
    /// In place of the list that the path steps into.
    list: Option<Frame>,
    /// In the object that could have it.
    members: Vec<MemberFrames>,
}

/// What is written around a text as the member of an object.
#[derive(Debug, Clone)]
struct MemberFrames {
    key: String,
    /// As the only one.
    only: Frame,
    /// Before others.
    first: Frame,
}

impl Frames {
    pub(super) fn of(path: &Path) -> Self {
        let element =
            path.keys_in_list().map(|keys| keys.iter().rev().fold(String::from(HOLE), |json, key| nest(json, key)));
        let around = element.as_deref().and_then(|element| element.split_once(HOLE));
        Self {
            list: around.map(|(before, after)| frame(format!("[{before}"), format!("{after}]"))),
            members: path.last_keys().map(MemberFrames::of).collect(),
        }
    }

    /// Writes the list as `[write]` writes it for a new result, or else with its template of a text as the only element.
    pub(super) fn write_list(&mut self, path: &Path, writing: &Writing) {
        let (Some(list), element) = path.parted() else { return };
        let results = [&writing.result, &writing.result_message].into_iter().flatten();
        let mut of_results = results.flat_map(|template| list.last_keys().map(move |key| member_in(template, key)));
        let written = of_results
            .find_map(|written| written)
            .or_else(|| Some(format!("[{}]", element_in(writing.text.as_ref()?, &element)?)));
        if let Some((before, after)) = written.as_deref().and_then(|written| written.split_once(HOLE)) {
            self.list = Some(frame(before.to_owned(), after.to_owned()));
        }
    }

    /// How the texts of a list are replaced by one.
    pub(super) fn of_list(&self, path: &Path, inner: Value<'_>) -> Option<Rewrite> {
        let list = path.parted().0?.first(inner)?;
        Some(Rewrite { span: list.span(), around: self.list? })
    }

    /// Where the missing result of a call is written: in place of a null, or as the first member of the object that has it.
    pub(super) fn of_missing(&self, path: &Path, inner: Value<'_>) -> Option<Rewrite> {
        let (holder, key) = path.holder(inner)?;
        if let Some(null) = holder.get(key) {
            return Some(Rewrite::of_text(null));
        }
        let member = self.members.iter().find(|member| member.key == key)?;
        let front = holder.span().start + 1;
        let around = if holder.members().next().is_some() { member.first } else { member.only };
        Some(Rewrite { span: Span::new(front, front), around })
    }
}

impl MemberFrames {
    fn of(key: &str) -> Self {
        let before = format!("{}:", quote(key));
        Self {
            key: key.to_owned(),
            only: frame(before.clone(), String::new()),
            first: frame(before, String::from(",")),
        }
    }
}

/// What a template writes around a text under a key, at any depth.
fn member_in(template: &Template, key: &str) -> Option<String> {
    let written = around_hole(template);
    let document = Document::parse(&written).ok()?;
    let values = document.roots().flat_map(|root| root.within(|_| false));
    let hole = quote(HOLE);
    let around = values.filter_map(|value| Some(value.get(key)?.raw())).filter(|json| json.contains(&hole));
    let around = around.min_by_key(|json| json.len()).filter(|json| !json.contains(&quote(OTHER_HOLE)));
    around.map(|json| json.replacen(&hole, HOLE, 1))
}

/// What a template writes around a text, if that is where a path leads.
fn element_in(template: &Template, path: &Path) -> Option<String> {
    let written = around_hole(template);
    let document = Document::parse(&written).ok()?;
    let text = path.text(document.roots().next()?)?;
    let is_whole = !written.contains(&quote(OTHER_HOLE));
    (is_whole && text.is(HOLE)).then(|| written.replacen(&quote(HOLE), HOLE, 1))
}

/// What a template writes with holes.
fn around_hole(template: &Template) -> String {
    template.fill(None, |hole| quote(if hole == Hole::Text { HOLE } else { OTHER_HOLE }))
}

/// The object that has JSON under `key` alone.
pub(super) fn nest(json: String, key: &str) -> String {
    object! { key: Json(json) }.0
}

fn frame(before: String, after: String) -> Frame {
    Box::leak(Box::new([&*before.leak(), &*after.leak()]))
}
