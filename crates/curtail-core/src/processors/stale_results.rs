//! Which tool results a later result makes unnecessary: reads of a file that is read again, and repeated content.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::{NameGlobs, View};
use crate::json::Document;
use crate::transcript::{Pairs, PartRef, ToolResult};

/// Arguments that name the file to read, in order of preference.
const PATHS: &[&str] =
    &["file_path", "path", "filePath", "absolute_path", "absolutePath", "target_file", "filename", "file", "uri"];

/// Arguments that select a part of the file.
const RANGES: &[&str] = &[
    "offset", "limit", "range", "ranges", "view_range", "start", "end", "start_line", "end_line", "startLine",
    "endLine", "line_start", "line_end", "line", "lines", "head", "tail", "pages",
];

/// What a call reads: one file, and of it everything or a part.
struct FileRead {
    thread: u32,
    path: String,
    /// The other arguments, as they are written.
    rest: BTreeMap<String, String>,
    /// The lines that it returned, without their numbers.
    lines: Vec<String>,
}

impl FileRead {
    fn is_whole(&self) -> bool {
        !RANGES.iter().any(|range| self.rest.contains_key(*range))
    }

    /// Whether `self` returned what `older` returned, from the same file: the same part or all of it. Tools return the beginning
    /// of a long file as if it were all, and errors in place of it.
    fn covers(&self, older: &Self) -> bool {
        let is_same_part = self.rest == older.rest;
        let reaches = || older.last_line().is_some_and(|last| last <= self.lines.len());
        (is_same_part || self.is_whole() && reaches()) && self.is_same_text(older)
    }

    /// The line at which the part ends at most; `None` if its arguments do not tell.
    fn last_line(&self) -> Option<usize> {
        let ranges = RANGES.iter().filter_map(|range| Some((*range, self.rest.get(*range)?)));
        let mut last = 0;
        let mut length = 0;
        for (range, written) in ranges {
            let numbers =
                written.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse::<usize>().ok());
            let most = numbers.max()?;
            match range {
                "tail" | "pages" => return None,
                "limit" => length = most,
                _ => last = last.max(most),
            }
        }
        last.checked_add(length)
    }

    /// Whether both have a line in common, if `older` has more than one. A changed file has some; an error has none.
    fn is_same_text(&self, older: &Self) -> bool {
        let known: HashSet<&String> = self.lines.iter().collect();
        older.lines.len() < 2 || older.lines.iter().any(|line| known.contains(line))
    }
}

/// Results of reads whose file a later call reads again, in order. The later result must have content, and not merely
/// `placeholder`. A read of a part of a file replaces only a read of the same part.
pub(super) fn superseded_reads(
    view: &View<'_, '_>,
    pairs: &Pairs,
    reads: &NameGlobs,
    placeholder: &str,
) -> Vec<PartRef> {
    let mut later: HashMap<(u32, String), Vec<FileRead>> = HashMap::new();
    let mut superseded = Vec::new();
    for &at in pairs.results().iter().rev() {
        let (Some(read), Some(result)) = (read_of(view, pairs, at, reads), result_at(view, at)) else { continue };
        let newer = later.entry((read.thread, read.path.clone())).or_default();
        if newer.iter().any(|newer| newer.covers(&read)) {
            superseded.push(at);
        } else if has_content(result, placeholder) && is_told(view, at) {
            newer.push(read);
        }
    }
    superseded.reverse();
    superseded
}

/// Results whose texts equal those of a later result in the same thread, in order; not those that are empty or that
/// contain `placeholder`.
pub(super) fn duplicates(view: &View<'_, '_>, pairs: &Pairs, placeholder: &str) -> Vec<PartRef> {
    let mut later: HashSet<(u32, Vec<Cow<'_, str>>)> = HashSet::new();
    let mut repeated = Vec::new();
    for &at in pairs.results().iter().rev() {
        let Some(result) = result_at(view, at) else { continue };
        if result.media > 0 || !has_content(result, placeholder) {
            continue;
        }
        let texts = result.content.iter().map(|text| text.decode()).collect();
        let content = (view.messages[at.message].thread, texts);
        if later.contains(&content) {
            repeated.push(at);
        } else if is_told(view, at) {
            later.insert(content);
        }
    }
    repeated.reverse();
    repeated
}

/// Whether a result is in no turn that was taken back.
pub(super) fn is_told(view: &View<'_, '_>, at: PartRef) -> bool {
    !view.messages[at.message].standing.is_rolled_back()
}

fn result_at<'v, 'a>(view: &View<'v, 'a>, at: PartRef) -> Option<&'v ToolResult<'a>> {
    at.part_in(view.messages).content.result()
}

fn has_content(result: &ToolResult<'_>, placeholder: &str) -> bool {
    result.media > 0 || result.content.iter().any(|text| !text.is_blank() && !text.is(placeholder))
}

/// What the call of the result at `at` reads, if it is a read of one file by a tool that `reads` matches.
fn read_of(view: &View<'_, '_>, pairs: &Pairs, at: PartRef, reads: &NameGlobs) -> Option<FileRead> {
    let call = pairs.counterpart(at)?;
    let message = &view.messages[call.message];
    let call = message.parts[call.part].content.call()?;
    if !reads.is_match(&call.name.decode()) {
        return None;
    }
    let arguments = call.arguments.decode();
    let document = Document::parse(&arguments).ok()?;
    let mut rest: BTreeMap<String, String> = BTreeMap::new();
    for member in document.roots().next()?.members() {
        if member.value.raw() != "null" {
            rest.insert(member.key.decode().into_owned(), member.value.raw().to_owned());
        }
    }
    let path = PATHS.iter().find_map(|key| rest.remove(*key))?;
    // An editor with several commands reads only by this one.
    let views = rest.get("command").is_none_or(|command| command == "\"view\"");
    let texts = result_at(view, at)?.content.iter().map(|text| text.decode());
    let lines = texts.flat_map(|text| text.lines().filter_map(unnumbered).collect::<Vec<_>>()).collect();
    views.then_some(FileRead { thread: message.thread, path, rest, lines })
}

/// A line as its file has it, without the number that a tool writes before it; `None` if nothing else is on it.
fn unnumbered(line: &str) -> Option<String> {
    let is_before = |c: char| c.is_ascii_digit() || c.is_whitespace() || matches!(c, '→' | '|' | ':');
    Some(line.trim_start_matches(is_before).trim_end()).filter(|line| !line.is_empty()).map(str::to_owned)
}
