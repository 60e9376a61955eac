//! Which tool results a later result makes unnecessary: reads of a file that is read again, and repeated content.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::{NameGlobs, View};
use crate::dialects::reports_failure;
use crate::json::Document;
use crate::transcript::{Pairs, PartRef, ToolResult};

/// Arguments that name the file to read, in order of preference.
const PATHS: &[&str] =
    &["file_path", "path", "filePath", "absolute_path", "absolutePath", "target_file", "filename", "file", "uri"];

/// Arguments that name the first line of a part of the file.
const STARTS: &[&str] = &["offset", "start", "start_line", "startLine", "line_start", "line"];

/// Arguments that name the last one, alone or with the first.
const ENDS: &[&str] = &["end", "end_line", "endLine", "line_end", "range", "ranges", "view_range", "head"];

/// The argument that says how many lines the part has.
const LENGTH: &str = "limit";

/// Arguments that select a part of which the last line is not known.
const OTHER_PARTS: &[&str] = &["lines", "tail", "pages"];

/// What a call reads: one file, and of it everything or a part.
struct FileRead {
    thread: u32,
    path: String,
    /// The other arguments, as they are written.
    rest: BTreeMap<String, String>,
    shown: Shown,
    /// How many lines it returned.
    line_count: usize,
    /// Those of them that are not blank, without their numbers.
    lines: Vec<String>,
}

/// What a read shows of its file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    /// It failed, or its result is empty or cleared.
    Nothing,
    Lines,
    /// Images or other media, with or without lines.
    Media,
}

/// What later calls read of a file.
#[derive(Default)]
struct LaterReads {
    whole: LaterLines,
    /// By the other arguments.
    parts: HashMap<BTreeMap<String, String>, LaterLines>,
}

impl LaterReads {
    /// Whether a later call returned what `older` returned: the same part or all of it. Tools return the beginning of a long file
    /// as if it were all, and in place of it errors or that it has not changed.
    fn cover(&self, older: &FileRead) -> bool {
        self.parts.get(&older.rest).is_some_and(|lines| lines.cover(older, 0))
            || older.last_line().is_some_and(|last| self.whole.cover(older, last))
    }

    fn add(&mut self, read: &FileRead) {
        if read.is_whole() {
            self.whole.add(read);
        }
        self.parts.entry(read.rest.clone()).or_default().add(read);
    }
}

/// The lines that later calls returned.
#[derive(Default)]
struct LaterLines {
    /// How many the longest result has; `None` without a result.
    most: Option<usize>,
    /// How many the longest result with media has.
    most_with_media: Option<usize>,
    /// For each line: how many the longest result has that has this one.
    most_with: HashMap<String, usize>,
}

impl LaterLines {
    fn add(&mut self, read: &FileRead) {
        let count = read.line_count;
        self.most = self.most.max(Some(count));
        if read.shown == Shown::Media {
            self.most_with_media = self.most_with_media.max(Some(count));
        }
        for line in &read.lines {
            let most = self.most_with.entry(line.clone()).or_default();
            *most = count.max(*most);
        }
    }

    /// Whether one of the results has `last` lines and shows the file of `older`: media if that shows media, or else a line of
    /// these. A changed file has some, an error or a note in its place has none.
    fn cover(&self, older: &FileRead, last: usize) -> bool {
        let most = match older.shown {
            Shown::Nothing => self.most,
            Shown::Lines => older.lines.iter().filter_map(|line| self.most_with.get(line)).max().copied(),
            Shown::Media => self.most_with_media,
        };
        most.is_some_and(|most| last <= most)
    }
}

impl FileRead {
    fn is_whole(&self) -> bool {
        let mut names = [STARTS, ENDS, &[LENGTH], OTHER_PARTS].into_iter().flatten();
        !names.any(|key| self.rest.contains_key(*key)) && !self.rest.values().any(|written| selects_part(written))
    }

    /// The line at which the part ends at most; `None` if its arguments do not tell, as those of a part that goes to the end.
    fn last_line(&self) -> Option<usize> {
        if self.is_whole() {
            return Some(0);
        }
        if let Some(end) = self.argument(ENDS) {
            return largest_number(end);
        }
        let length = largest_number(self.argument(&[LENGTH])?)?;
        self.argument(STARTS).map_or(Some(0), largest_number)?.checked_add(length)
    }

    /// The first of the other arguments that the call has of `keys`, as it is written.
    fn argument(&self, keys: &[&str]) -> Option<&str> {
        keys.iter().find_map(|key| self.rest.get(*key)).map(String::as_str)
    }
}

/// Results of reads whose file a later call reads again, in order. The later result must have content, not merely
/// `placeholder` or an error. A read of a part of a file replaces only a read of the same part.
pub(super) fn superseded_reads(
    view: &View<'_, '_>,
    pairs: &Pairs,
    reads: &NameGlobs,
    placeholder: &str,
) -> Vec<PartRef> {
    let mut later: HashMap<(u32, String), LaterReads> = HashMap::new();
    let mut superseded = Vec::new();
    for &at in pairs.results().iter().rev() {
        let Some(read) = read_of(view, pairs, at, reads, placeholder) else { continue };
        let later = later.entry((read.thread, read.path.clone())).or_default();
        if later.cover(&read) {
            superseded.push(at);
        } else if read.shown != Shown::Nothing && is_told(view, at) {
            later.add(&read);
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

/// Whether a result is in no turn that was rolled back.
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
fn read_of(view: &View<'_, '_>, pairs: &Pairs, at: PartRef, reads: &NameGlobs, placeholder: &str) -> Option<FileRead> {
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
    let path = PATHS.iter().find_map(|key| rest.remove(*key).filter(|written| names_file(written)))?;
    // An editor with several commands reads only by this one.
    let views = rest.get("command").is_none_or(|command| command == "\"view\"");
    let result = result_at(view, at)?;
    let shown = if reports_failure(at.part_in(view.messages)) || !has_content(result, placeholder) {
        Shown::Nothing
    } else if result.media > 0 {
        Shown::Media
    } else {
        Shown::Lines
    };
    let mut line_count = 0;
    let mut lines = Vec::new();
    for text in &result.content {
        let text = text.decode();
        line_count += text.lines().count();
        lines.extend(text.lines().filter_map(unnumbered));
    }
    views.then_some(FileRead { thread: message.thread, path, rest, shown, line_count, lines })
}

/// Whether an argument names a file: switches, numbers and blank texts do not.
fn names_file(written: &str) -> bool {
    written.starts_with(['"', '[', '{']) && !written.trim_matches(['"', '[', ']', '{', '}', ' ']).is_empty()
}

/// Whether an argument of any name selects a part of the file: tools have names of their own for it, and it has a number. One in
/// the words of a text is none.
fn selects_part(written: &str) -> bool {
    let mut neighbors = written.as_bytes().windows(2);
    let is_text = written.starts_with('"') && neighbors.any(|letters| letters.iter().all(u8::is_ascii_alphabetic));
    !is_text && written.contains(|c: char| c.is_ascii_digit())
}

/// The largest number in an argument; `None` if there is none, or if one is negative, which counts from the end.
fn largest_number(written: &str) -> Option<usize> {
    let mut dashes = written.match_indices('-');
    if dashes.any(|(at, _)| !written[..at].trim_end().ends_with(|c: char| c.is_ascii_digit())) {
        return None;
    }
    written.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).max()
}

/// A line as its file has it, without the number that a tool writes before it; `None` if nothing else is on it.
fn unnumbered(line: &str) -> Option<String> {
    let line =
        line.trim_start_matches(|c: char| c.is_ascii_digit() || c.is_whitespace() || matches!(c, '→' | '|' | ':'));
    Some(line.trim_end()).filter(|line| !line.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_ends_where_its_arguments_say() {
        for (arguments, last) in [
            (r#"{"offset":10,"limit":"5"}"#, Some(15)),
            (r#"{"limit":5}"#, Some(5)),
            (r#"{"start_line":3,"end_line":9}"#, Some(9)),
            (r#"{"view_range":[3,9]}"#, Some(9)),
            (r#"{"ranges":[[50,60],[1,10]]}"#, Some(60)),
            (r#"{"range":"10-20"}"#, Some(20)),
            (r#"{"head":7}"#, Some(7)),
            // To the end of the file, wherever that is.
            (r#"{"offset":1900}"#, None),
            (r#"{"view_range":[3,-1]}"#, None),
            (r#"{"start_line":3}"#, None),
            (r#"{"tail":5}"#, None),
            // In words.
            (r#"{"lines":"2 to 3"}"#, None),
            (r#"{"lines":[]}"#, None),
            (r#"{"tail":true}"#, None),
            (r#"{"offset":"end"}"#, None),
            (r#"{"limit":"all"}"#, None),
            (r#"{"view_range":"lines 10-20"}"#, Some(20)),
            // Under other names.
            (r#"{"line_offset":200,"n_lines":50}"#, None),
            (r#"{"read_range":[200,250]}"#, None),
            (r#"{"where":"L10-L20"}"#, None),
            (r#"{"span":{"from":1}}"#, None),
        ] {
            let read = read(arguments);
            assert_eq!((read.last_line(), read.is_whole()), (last, false), "{arguments}");
        }
    }

    #[test]
    fn words_and_switches_select_no_part() {
        let whole = r#"{"explanation":"see the 3 functions","should_read_entire_file":true,"encoding":"utf-8"}"#;
        assert!(read(whole).is_whole());
    }

    #[test]
    fn what_has_no_text_names_no_file() {
        for written in ["false", "true", "0", "\"\"", "\" \"", "[]", "[\"\"]", "{}"] {
            assert!(!names_file(written), "{written}");
        }
        for written in [r#""a.rs""#, r#""/""#, r#"["a.rs","b.rs"]"#, r#"{"path":"a.rs"}"#] {
            assert!(names_file(written), "{written}");
        }
    }

    /// A file of ten lines, of which each second one is blank.
    #[test]
    fn blank_lines_count_among_the_lines_of_a_file() {
        let mut later = LaterReads::default();
        let lines: Vec<String> = (0..5).map(|line| format!("line {line}")).collect();
        later.add(&FileRead { line_count: 10, lines: lines.clone(), ..read("{}") });
        for (limit, is_covered) in [(10, true), (11, false)] {
            let part = FileRead { lines: lines[..2].to_vec(), ..read(&format!("{{\"limit\":{limit}}}")) };
            assert_eq!(later.cover(&part), is_covered, "{limit}");
        }
    }

    fn read(arguments: &str) -> FileRead {
        let document = Document::parse(arguments).unwrap();
        let members = document.roots().next().unwrap().members();
        let rest = members.map(|member| (member.key.decode().into_owned(), member.value.raw().to_owned()));
        let (path, rest) = (String::new(), rest.collect());
        FileRead { thread: 0, path, rest, shown: Shown::Lines, line_count: 0, lines: Vec::new() }
    }
}
