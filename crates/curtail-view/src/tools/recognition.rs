//! What a call does follows from the names of its arguments and of its tool.

use super::looks::look_of_name;
use super::{Answer, CallKind, Edit, Look, MAX_ARGUMENTS, Question, member_text};
use crate::diffs::is_diff;
use curtail_core::json::{Document, Value};
use curtail_core::numbers::counted;
use curtail_facts::{name_words, todos};

const PATHS: &[&str] = &[
    "file_path", "path", "filePath", "filename", "file", "target_file", "absolute_path", "relative_path",
    "notebook_path", "AbsolutePath", "TargetFile",
];
const COMMANDS: &[&str] = &["command", "cmd", "commands", "script", "CommandLine"];
const FOLDERS: &[&str] = &["workdir", "cwd", "working_directory"];
const PATCHES: &[&str] = &["input", "patch", "patchText", "diff"];
const OLD_TEXTS: &[&str] = &["old_string", "old_str", "oldText", "old_text", "oldString"];
const NEW_TEXTS: &[&str] = &["new_string", "new_str", "newText", "new_text", "newString"];
const CONTENTS: &[&str] =
    &["content", "contents", "file_text", "new_source", "CodeContent", "code_edit", "insert_text"];
const REPLACEMENTS: &[&str] = &["edits", "replacements"];
const LISTS: &[&str] = &["todos", "plan", "items", "todo_list", "task_list", "todoList", "tasks", "checklist"];
const ASKED: &[&str] = &["question", "prompt", "text"];
const OFFERS: &[&str] = &["options", "choices", "follow_up", "answers"];
const PLANS: &[&str] = &["plan"];
const WORDS: &[&str] = &["thought", "result", "message"];

/// The line that a patch begins with.
const PATCH: &str = "*** Begin Patch";

impl CallKind {
    /// What the call `name` with these arguments does.
    pub(crate) fn from_call(name: &str, raw: &str) -> Self {
        if raw.len() > MAX_ARGUMENTS {
            return Self::Other;
        }
        if raw.trim_start().starts_with(PATCH) {
            return Self::from_patch(raw);
        }
        let document = Document::parse(raw).ok();
        let root = document.as_ref().and_then(|document| document.roots().next()).filter(|root| root.is_object());
        match root {
            Some(root) => edit(name, root)
                .or_else(|| ask(name, root))
                .or_else(|| shell(name, root))
                .or_else(|| prose(name, root))
                .or_else(|| list(name, raw, root))
                .or_else(|| lookup(name, root))
                .unwrap_or(Self::Other),
            None if is_shell(name) && !has_own_commands(name) && !raw.trim().is_empty() => {
                Self::Shell { command: raw.to_owned(), folder: None }
            }
            None => Self::Other,
        }
    }

    fn from_patch(text: &str) -> Self {
        let files: Vec<&str> = text.lines().filter_map(patched_file).collect();
        let path = match files.as_slice() {
            [] => String::from("patch"),
            [file] => (*file).to_owned(),
            [file, rest @ ..] => format!("{file} and {}", counted(rest.len(), "other file")),
        };
        Self::Edit { path, edits: vec![Edit::new(text.to_owned(), None)] }
    }

    /// The arguments that [`CallKind::draw`] shows.
    pub(crate) fn shown(&self) -> Vec<&[&'static str]> {
        match self {
            Self::Shell { .. } => vec![COMMANDS, FOLDERS],
            Self::Edit { .. } => {
                vec![PATHS, PATCHES, OLD_TEXTS, NEW_TEXTS, CONTENTS, REPLACEMENTS, &["command", "search", "replace"]]
            }
            Self::List { says_more: false, .. } => vec![LISTS],
            Self::Prose(_) => vec![PLANS, WORDS],
            Self::Ask { drawn, .. } => vec![drawn],
            Self::List { .. } | Self::Lookup { .. } | Self::Other => Vec::new(),
        }
    }
}

/// The file that a line of a patch names.
fn patched_file(line: &str) -> Option<&str> {
    let starts = ["*** Update File: ", "*** Add File: ", "*** Delete File: "];
    starts.iter().find_map(|start| line.strip_prefix(start)).map(str::trim)
}

/// The items of the member `name` of `object`, if it is a list.
fn items<'a>(object: Value<'a>, name: &str) -> impl Iterator<Item = Value<'a>> {
    object.some(name).into_iter().flat_map(Value::items)
}

fn edit(name: &str, object: Value<'_>) -> Option<CallKind> {
    let patch = member_text(object, PATCHES);
    if let Some(patch) = patch.as_ref().filter(|text| text.contains(PATCH)) {
        return Some(CallKind::from_patch(patch));
    }
    let listed: Vec<Value<'_>> = REPLACEMENTS.iter().flat_map(|name| items(object, name)).collect();
    let path = member_text(object, PATHS).or_else(|| listed.iter().find_map(|item| member_text(*item, PATHS)))?;
    let mut edits: Vec<Edit> = listed.into_iter().filter_map(replacement).collect();
    if edits.is_empty() {
        edits.extend(replacement(object));
    }
    if edits.is_empty() {
        edits = member_text(object, CONTENTS)
            .filter(|text| is_searched_and_replaced(text, replaces(name, object)))
            .map_or_else(Vec::new, |text| searched_and_replaced(&text));
    }
    if edits.is_empty() {
        edits.extend(written(object));
    }
    if edits.is_empty() {
        edits = patched(&patch?);
    }
    (!edits.is_empty()).then_some(CallKind::Edit { path, edits })
}

/// The text that `object` replaces by another, or removes.
fn replacement(object: Value<'_>) -> Option<Edit> {
    if let Some(old) = member_text(object, OLD_TEXTS) {
        return Some(Edit::new(old, Some(member_text(object, NEW_TEXTS).unwrap_or_default())));
    }
    Some(Edit::new(member_text(object, &["search"])?, Some(member_text(object, &["replace"])?)))
}

/// The text that `object` inserts, or writes as a whole file.
fn written(object: Value<'_>) -> Option<Edit> {
    let text = member_text(object, CONTENTS).or_else(|| member_text(object, NEW_TEXTS))?;
    Some(Edit::new(String::new(), Some(text)))
}

/// The edits in a text: itself if it is a diff, or its blocks of what is searched and what replaces it.
fn patched(text: &str) -> Vec<Edit> {
    if is_diff(text) { vec![Edit::new(text.to_owned(), None)] } else { searched_and_replaced(text) }
}

/// The edits that Cline and its kin write between lines such as `<<<<<<< SEARCH`, `=======` and `>>>>>>> REPLACE`.
fn searched_and_replaced(text: &str) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut sides: Option<Vec<String>> = None;
    for line in text.lines() {
        let mark = line.trim_end();
        if is_search(mark) {
            sides = Some(vec![String::new()]);
        } else if is_replace(mark) {
            if let Some([old, new]) = sides.take().as_deref() {
                edits.push(Edit::new(old.clone(), Some(new.clone())));
            }
        } else if let Some(sides) = &mut sides {
            let is_old = sides.len() == 1;
            match sides.last_mut() {
                _ if is_old && mark == "=======" => sides.push(String::new()),
                // Some name the lines that they search first.
                Some(side) if is_old && mark == "-------" => side.clear(),
                Some(side) => side.extend([line, "\n"]),
                None => {}
            }
        }
    }
    edits
}

/// Whether a line begins what is searched.
fn is_search(line: &str) -> bool {
    line.ends_with(" SEARCH") && line.starts_with(['<', '-'])
}

/// Whether a line ends what replaces it.
fn is_replace(line: &str) -> bool {
    line.ends_with(" REPLACE") && line.starts_with(['>', '+'])
}

/// Whether a text, which may be fenced, is what is searched and what replaces it. A file that is written may begin with a quotation
/// of both.
fn is_searched_and_replaced(text: &str, replaces: bool) -> bool {
    let mut lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty() && !line.starts_with("```"));
    lines.next().is_some_and(is_search) && (replaces || lines.next_back().is_some_and(is_replace))
}

/// Whether the tool `name` replaces text in a file, and is not told to create one.
fn replaces(name: &str, object: Value<'_>) -> bool {
    let creates = object.get_text("command").is_some_and(|command| command.is("create"));
    !creates && name_words(name).iter().any(|word| word == "replace")
}

/// Questions to a person: one, or a list of them.
fn ask(name: &str, object: Value<'_>) -> Option<CallKind> {
    let questions: Vec<Question> = items(object, "questions").filter_map(question).collect();
    if !questions.is_empty() {
        let is_whole = questions.len() == items(object, "questions").count();
        return Some(CallKind::Ask { questions, drawn: if is_whole { vec!["questions"] } else { Vec::new() } });
    }
    let asks = name_words(name).iter().any(|word| word == "ask" || word.starts_with("question"));
    let one = object.some("question").filter(|_| asks).and_then(|_| question(object))?;
    let offers = offers(object).filter(|key| items(object, key).count() == one.answers.len());
    let drawn = asked(object).into_iter().chain(offers).collect();
    Some(CallKind::Ask { questions: vec![one], drawn })
}

fn question(object: Value<'_>) -> Option<Question> {
    let text = member_text(object, &[asked(object)?])?;
    let answers = offers(object).into_iter().flat_map(|key| items(object, key)).filter_map(answer).collect();
    Some(Question { text, answers })
}

/// The key of what a question asks.
fn asked(object: Value<'_>) -> Option<&'static str> {
    ASKED.iter().copied().find(|key| object.some(key).and_then(Value::text).is_some())
}

/// The key of the answers that a question offers.
fn offers(object: Value<'_>) -> Option<&'static str> {
    OFFERS.iter().copied().find(|key| items(object, key).any(|item| answer(item).is_some()))
}

fn answer(value: Value<'_>) -> Option<Answer> {
    if let Some(text) = value.text() {
        return Some(Answer { label: text.decode().into_owned(), description: String::new() });
    }
    Some(Answer {
        label: member_text(value, &["label", "text", "title", "value", "option"])?,
        description: member_text(value, &["description", "detail"]).unwrap_or_default(),
    })
}

/// Whether a tool of this name runs commands.
fn is_shell(name: &str) -> bool {
    const SHELLS: &[&str] = &["bash", "shell", "exec", "terminal", "command", "execute", "run_in", "powershell"];
    const WORDS: &[&str] = &["run", "cmd", "console", "sh", "zsh", "ksh", "pwsh"];
    let lower = name.to_ascii_lowercase();
    SHELLS.iter().any(|part| lower.contains(part))
        || is_shell_program(&lower)
        || name_words(name).iter().any(|word| WORDS.contains(&word.as_str()))
}

/// Whether the commands of a tool are not those of a shell: of an editor that a server executes, or the slash commands of an agent.
fn has_own_commands(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["edit", "slash"].iter().any(|part| name.contains(part))
}

fn shell(name: &str, object: Value<'_>) -> Option<CallKind> {
    let (key, value) = COMMANDS.iter().find_map(|key| Some((*key, object.some(key)?)))?;
    let words = command_words(value);
    let command = match words.as_slice() {
        [] => return None,
        lines if key == "commands" => lines.join("\n"),
        [program, patch] if program == "apply_patch" => return Some(CallKind::from_patch(patch)),
        // Only the command line matters, not the shell that runs it.
        [program, flag, line] if flag.starts_with('-') && is_shell_program(program) => line.clone(),
        words => words.join(" "),
    };
    if let Some(patch) = applied_patch(&command) {
        return Some(CallKind::from_patch(patch));
    }
    // A single word may as well be what an editor does to a file, or the name of a skill.
    let is_line = command.contains(char::is_whitespace) && member_text(object, PATHS).is_none();
    let is_command = (is_shell(name) || is_line) && !has_own_commands(name);
    is_command.then(|| CallKind::Shell { command, folder: member_text(object, FOLDERS) })
}

/// The words of a command in a list; one that is a text, as one word.
fn command_words(value: Value<'_>) -> Vec<String> {
    let words: Vec<Value<'_>> = if value.is_array() { value.items().collect() } else { vec![value] };
    words.into_iter().filter_map(|word| Some(word.text()?.decode().into_owned())).collect()
}

/// The patch that a command line applies.
fn applied_patch(command: &str) -> Option<&str> {
    let (before, rest) = command.split_once("apply_patch")?;
    let start = rest.find(PATCH).filter(|_| before.trim().is_empty())?;
    Some(&rest[start..])
}

/// Whether a program is a shell, such as `/bin/bash`.
fn is_shell_program(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    ["sh", "bash", "zsh", "dash", "ash", "ksh", "csh", "tcsh", "fish", "pwsh", "powershell"].contains(&name)
}

/// A list of what is to be done.
fn list(name: &str, raw: &str, object: Value<'_>) -> Option<CallKind> {
    let list = LISTS.iter().find_map(|key| object.some(key))?;
    let items = todos(name, raw).filter(|items| !items.is_empty())?;
    let says_more = match list.text() {
        Some(text) => text.decode().lines().filter(|line| !line.trim().is_empty()).count() > items.len(),
        None => list.items().any(has_notes),
    };
    Some(CallKind::List { items, says_more })
}

/// Whether an item of a list has a text beside its name.
fn has_notes(item: Value<'_>) -> bool {
    let is_named = member_text(item, &["content", "step", "title", "subject"]).is_some();
    let mut notes = ["notes", "description"].into_iter().filter_map(|key| member_text(item, &[key]));
    is_named && notes.any(|text| !text.trim().is_empty())
}

fn prose(name: &str, object: Value<'_>) -> Option<CallKind> {
    let keys = match name.to_ascii_lowercase().as_str() {
        name if name.contains("plan") => PLANS,
        "think" | "attempt_completion" | "finish" => WORDS,
        _ => return None,
    };
    member_text(object, keys).map(CallKind::Prose)
}

fn lookup(name: &str, object: Value<'_>) -> Option<CallKind> {
    // An editor may name what it does to a file `command`.
    let verb = member_text(object, &["command"]).filter(|verb| verb.len() < 20).unwrap_or_default();
    let look = look_of_name(&verb).or_else(|| look_of_name(&format!("{verb} {name}")))?;
    let pattern = member_text(object, &["pattern", "query", "regex", "q", "glob", "url", "search_term", "keyword"]);
    let path = member_text(object, PATHS).or_else(|| member_text(object, &["directory", "dir", "dir_path", "include"]));
    let target = match (pattern, path) {
        (Some(pattern), Some(path)) => format!("{pattern} in {path}"),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => return None,
    };
    Some(CallKind::Lookup { look, target: target + &lines_read(look, object) })
}

/// The lines that a call asks for, if not for all.
fn lines_read(look: Look, object: Value<'_>) -> String {
    if look != Look::Read {
        return String::new();
    }
    let mut range = items(object, "view_range").map(|line| line.raw().parse().ok());
    let from = member_number(object, &["offset", "start_line", "line_start", "startLine"]).or(range.next().flatten());
    let to = member_number(object, &["end_line", "line_end", "endLine"]).or(range.next().flatten());
    let count = member_number(object, &["limit"]).or_else(|| Some(to?.saturating_sub(from?).saturating_add(1)));
    // Some tools number lines from 0, so that a number of 0 is the beginning of the file.
    match (from.filter(|from| *from > 0), count.filter(|count| *count > 0)) {
        (Some(from), Some(count)) => format!(", lines {from} to {}", from.saturating_add(count).saturating_sub(1)),
        (Some(from), None) => format!(", from line {from}"),
        (None, Some(count)) => format!(", {count} lines"),
        (None, None) => String::new(),
    }
}

/// The first of the members `names` of `object` that is a number.
fn member_number(object: Value<'_>, names: &[&str]) -> Option<u64> {
    names.iter().find_map(|name| object.some(name)?.raw().parse().ok())
}
