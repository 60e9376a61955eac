//! What a call does follows from the names of its arguments and of its tool.

use super::looks::look_of_name;
use super::{Answer, CallKind, Edit, Look, MAX_ARGUMENTS, Question, member_text};
use crate::diffs::is_diff;
use curtail_core::json::{Document, Value, ValueKind};
use curtail_core::numbers::counted;
use curtail_facts::{COMMAND_KEYS, PATH_KEYS, name_words, normalized, todos};

// Names of arguments, in lower case without separators.
/// What also names something else than a file, such as a person or a page.
const NOT_ONLY_PATHS: &[&str] = &["target", "uri"];
/// What names a file or a folder.
const OTHER_PATH: &str = "relativepath";
const FOLDERS: &[&str] = &["workdir", "cwd", "workingdirectory"];
const PATCHES: &[&str] = &["input", "patch", "patchtext", "diff"];
const OLD_TEXTS: &[&str] = &["oldstring", "oldstr", "oldtext"];
const NEW_TEXTS: &[&str] = &["newstring", "newstr", "newtext"];
const SEARCHED: &[&str] = &["search"];
const REPLACING: &[&str] = &["replace"];
const CONTENTS: &[&str] = &["content", "contents", "filetext", "newsource", "codecontent", "codeedit", "inserttext"];
const REPLACEMENTS: &[&str] = &["edits", "replacements"];
const LISTS: &[&str] = &["todos", "plan", "items", "todolist", "tasklist", "tasks", "checklist"];
const ASKED: &[&str] = &["question", "prompt", "text"];
const OFFERS: &[&str] = &["options", "choices", "follow_up", "answers"];
const PLANS: &[&str] = &["plan"];
const WORDS: &[&str] = &["thought", "result", "message"];

/// Values of the argument `command` of an editor whose effect a diff shows.
const EDIT_MODES: &[&str] = &["create", "str_replace", "insert"];

/// The line that a patch begins with.
const PATCH: &str = "*** Begin Patch";

impl CallKind {
    /// What the call `name` with these arguments does.
    pub(crate) fn from_call(name: &str, raw: &str) -> Self {
        if raw.len() > MAX_ARGUMENTS {
            return Self::Other;
        }
        if raw.trim_start().starts_with(PATCH) {
            return Self::from_patch(raw, Vec::new());
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
                Self::Shell { command: raw.to_owned(), folder: None, drawn: Vec::new() }
            }
            None => Self::Other,
        }
    }

    fn from_patch(text: &str, drawn: Vec<String>) -> Self {
        let files: Vec<&str> = text.lines().filter_map(patched_file).collect();
        let path = if files.is_empty() { String::from("patch") } else { title(&files) };
        Self::Edit { path, edits: vec![Edit::new(text.to_owned(), None)], drawn }
    }

    /// The arguments that [`CallKind::draw`] shows whole, and of an edit, those that say nothing.
    pub(crate) fn shown(&self) -> &[String] {
        match self {
            Self::Shell { drawn, .. }
            | Self::Edit { drawn, .. }
            | Self::List { drawn, .. }
            | Self::Prose { drawn, .. }
            | Self::Ask { drawn, .. } => drawn,
            Self::Lookup { .. } | Self::Other => &[],
        }
    }
}

/// An argument of a call.
struct Argument<T> {
    key: String,
    value: T,
}

/// The member of `object` with the first of `keys` of which `read` returns something; of several with one key, the last one.
fn argument<'a, T>(object: Value<'a>, keys: &[&str], read: impl Fn(Value<'a>) -> Option<T>) -> Option<Argument<T>> {
    let mut best = keys.len();
    let mut found = None;
    for member in object.members() {
        let key = member.key.decode();
        let name = normalized(&key);
        let Some(rank) = keys.iter().position(|known| *known == name).filter(|rank| *rank <= best) else { continue };
        if let Some(value) = read(member.value) {
            best = rank;
            found = Some(Argument { key: key.into_owned(), value });
        }
    }
    found
}

/// The first of the arguments `keys` that is a text.
fn text_argument(object: Value<'_>, keys: &[&str]) -> Option<Argument<String>> {
    argument(object, keys, |value| value.text().map(|text| text.decode().into_owned()))
}

fn text_of(object: Value<'_>, keys: &[&str]) -> Option<String> {
    text_argument(object, keys).map(|found| found.value)
}

/// The path of the file that the arguments name.
fn path_argument(object: Value<'_>) -> Option<Argument<String>> {
    let certain = PATH_KEYS.iter().copied().filter(|key| !NOT_ONLY_PATHS.contains(key));
    text_argument(object, &certain.chain([OTHER_PATH]).collect::<Vec<_>>())
}

/// The first of several files, and the number of the others.
fn title(files: &[&str]) -> String {
    match files {
        [] => String::new(),
        [file] => (*file).to_owned(),
        [file, rest @ ..] => format!("{file} and {}", counted(rest.len(), "other file")),
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

/// The edits of a call, with the arguments that contain them.
struct Edits {
    edits: Vec<Edit>,
    keys: Vec<String>,
}

impl Edits {
    /// The edits that `read` finds in an argument, if it finds any.
    fn in_argument(argument: &Argument<String>, read: impl Fn(&str) -> Vec<Edit>) -> Option<Self> {
        let edits = read(&argument.value);
        (!edits.is_empty()).then(|| Self { edits, keys: vec![argument.key.clone()] })
    }
}

fn edit(name: &str, object: Value<'_>) -> Option<CallKind> {
    let patch = text_argument(object, PATCHES);
    if let Some(patch) = patch.as_ref().filter(|patch| patch.value.contains(PATCH)) {
        return Some(CallKind::from_patch(&patch.value, vec![patch.key.clone()]));
    }
    let own = path_argument(object);
    let mut files: Vec<String> = own.iter().map(|path| path.value.clone()).collect();
    let content =
        text_argument(object, CONTENTS).filter(|text| is_searched_and_replaced(&text.value, replaces(name, object)));
    let Edits { edits, mut keys } = replacements(object, &mut files)
        .or_else(|| replacement(object))
        .or_else(|| Edits::in_argument(&content?, searched_and_replaced))
        .or_else(|| written(object))
        .or_else(|| Edits::in_argument(&patch?, patched))?;
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    keys.extend(own.map(|path| path.key));
    (!files.is_empty()).then(|| CallKind::Edit { path: title(&files), edits, drawn: with_silent(keys, object) })
}

/// The edits in a list of them; their files are added to `files`. If they are in several files, each one names its own.
fn replacements(object: Value<'_>, files: &mut Vec<String>) -> Option<Edits> {
    let list =
        argument(object, REPLACEMENTS, |list| list.items().any(|item| replacement(item).is_some()).then_some(list))?;
    for path in list.value.items().filter_map(path_argument) {
        if !files.contains(&path.value) {
            files.push(path.value);
        }
    }
    let edits = list.value.items().filter_map(|item| {
        let Edits { mut edits, mut keys } = replacement(item)?;
        keys.extend(path_argument(item).filter(|_| files.len() == 1).map(|path| path.key));
        let edit = edits.pop()?;
        Some(Edit { item: item.raw().to_owned(), drawn: with_silent(keys, item), ..edit })
    });
    let edits: Vec<Edit> = edits.collect();
    let is_whole = edits.len() == list.value.items().count();
    Some(Edits { edits, keys: if is_whole { vec![list.key] } else { Vec::new() } })
}

/// `keys` and those of an edit that say nothing: they have no value, or a diff shows their mode.
fn with_silent(mut keys: Vec<String>, object: Value<'_>) -> Vec<String> {
    let tables = [PATCHES, OLD_TEXTS, NEW_TEXTS, SEARCHED, REPLACING, CONTENTS, REPLACEMENTS];
    for member in object.members() {
        let key = member.key.decode();
        let is_silent = match member.value.text() {
            Some(text) => text.is("") || key == "command" && EDIT_MODES.iter().any(|mode| text.is(mode)),
            None => member.value.kind() == ValueKind::Null,
        };
        if is_silent && (key == "command" || tables.iter().any(|table| table.contains(&normalized(&key).as_str()))) {
            keys.push(key.into_owned());
        }
    }
    keys
}

/// The text that `object` replaces by another, or removes.
fn replacement(object: Value<'_>) -> Option<Edits> {
    let (old, new) = match text_argument(object, OLD_TEXTS) {
        Some(old) => (old, text_argument(object, NEW_TEXTS)),
        None => (text_argument(object, SEARCHED)?, Some(text_argument(object, REPLACING)?)),
    };
    let mut keys = vec![old.key];
    let mut text = String::new();
    if let Some(new) = new {
        keys.push(new.key);
        text = new.value;
    }
    Some(Edits { edits: vec![Edit::new(old.value, Some(text))], keys })
}

/// The text that `object` inserts, or writes as a whole file.
fn written(object: Value<'_>) -> Option<Edits> {
    let text = text_argument(object, CONTENTS).or_else(|| text_argument(object, NEW_TEXTS))?;
    Some(Edits { edits: vec![Edit::new(String::new(), Some(text.value))], keys: vec![text.key] })
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
        return Some(CallKind::Ask { questions, drawn: if is_whole { vec!["questions".into()] } else { Vec::new() } });
    }
    let asks = name_words(name).iter().any(|word| word == "ask" || word.starts_with("question"));
    let one = object.some("question").filter(|_| asks).and_then(|_| question(object))?;
    let offers = offers(object).filter(|key| items(object, key).count() == one.answers.len());
    let drawn = asked(object).into_iter().chain(offers).map(str::to_owned).collect();
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
    let Argument { key, value } =
        argument(object, COMMAND_KEYS, |value| (value.kind() != ValueKind::Null).then_some(value))?;
    let words = command_words(value);
    let command = match words.as_slice() {
        [] => return None,
        lines if normalized(&key) == "commands" => lines.join("\n"),
        [program, patch] if program == "apply_patch" => {
            return Some(CallKind::from_patch(patch, vec![key]));
        }
        // Only the command line matters, not the shell that runs it.
        [program, flag, line] if flag.starts_with('-') && is_shell_program(program) => line.clone(),
        words => words.join(" "),
    };
    if let Some(patch) = applied_patch(&command) {
        return Some(CallKind::from_patch(patch, vec![key]));
    }
    // A single word may as well be what an editor does to a file, or the name of a skill.
    let is_line = command.contains(char::is_whitespace) && path_argument(object).is_none();
    let is_command = (is_shell(name) || is_line) && !has_own_commands(name);
    let folder = text_argument(object, FOLDERS);
    let drawn = std::iter::once(key).chain(folder.iter().map(|folder| folder.key.clone())).collect();
    is_command.then(|| CallKind::Shell { command, folder: folder.map(|folder| folder.value), drawn })
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
    let list = argument(object, LISTS, |value| (value.kind() != ValueKind::Null).then_some(value))?;
    let items = todos(name, raw).filter(|items| !items.is_empty())?;
    let says_more = match list.value.text() {
        Some(text) => text.decode().lines().filter(|line| !line.trim().is_empty()).count() > items.len(),
        None => list.value.items().any(has_notes),
    };
    Some(CallKind::List { items, drawn: if says_more { Vec::new() } else { vec![list.key] } })
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
    text_argument(object, keys).map(|text| CallKind::Prose { text: text.value, drawn: vec![text.key] })
}

fn lookup(name: &str, object: Value<'_>) -> Option<CallKind> {
    // An editor may name what it does to a file `command`.
    let verb = member_text(object, &["command"]).filter(|verb| verb.len() < 20).unwrap_or_default();
    let look = look_of_name(&verb).or_else(|| look_of_name(&format!("{verb} {name}")))?;
    let pattern = text_of(object, &["pattern", "query", "regex", "q", "glob", "url", "searchterm", "keyword"]);
    let path = path_argument(object).map(|path| path.value);
    let path = path.or_else(|| text_of(object, &["directory", "dir", "dirpath", "include"]));
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
    let from = member_number(object, &["offset", "startline", "linestart"]).or(range.next().flatten());
    let to = member_number(object, &["endline", "lineend"]).or(range.next().flatten());
    let count = member_number(object, &["limit"]).or_else(|| Some(to?.saturating_sub(from?).saturating_add(1)));
    // Some tools number lines from 0, so that a number of 0 is the beginning of the file.
    match (from.filter(|from| *from > 0), count.filter(|count| *count > 0)) {
        (Some(from), Some(count)) => format!(", lines {from} to {}", from.saturating_add(count).saturating_sub(1)),
        (Some(from), None) => format!(", from line {from}"),
        (None, Some(count)) => format!(", {count} lines"),
        (None, None) => String::new(),
    }
}

/// The first of the arguments `keys` that is a number.
fn member_number(object: Value<'_>, keys: &[&str]) -> Option<u64> {
    argument(object, keys, |value| value.raw().parse().ok()).map(|number| number.value)
}
