//! Draws tool calls in the form that people know: commands, edits, to-do lists, and what is read or searched. The kind of a call
//! follows from the names of its arguments and of its tool.

use std::cell::OnceCell;

use maud::{Markup, html};

use super::content::{Diff, Passage, code, passage};
use super::markdown::markdown;
use super::visible::{Body, Shown, line};
use curtail_core::json::{Document, Value};
use curtail_core::numbers::counted;

/// Longer arguments, in bytes, are not parsed, and shown unchanged.
const MAX_ARGUMENTS: usize = 1_000_000;

/// What a call does.
pub(super) enum CallKind {
    /// It runs a command.
    Shell { command: String, folder: Option<String> },
    /// It changes a file.
    Edit { path: String, diffs: Vec<Edit> },
    /// It writes a plan or a list: the text of each item, and whether it is done (`x`), in progress (`>`) or neither.
    List(Vec<(char, String)>),
    /// It writes a text for people.
    Prose(String),
    /// It asks a person.
    Ask(Vec<Question>),
    /// It reads or searches something.
    Lookup { look: Look, target: String },
    /// Something else.
    Other,
}

/// A change of a file, which is compared when it is drawn.
pub(super) struct Edit {
    old: String,
    /// The text that replaces it; `None` if the first is a patch.
    new: Option<String>,
    diff: OnceCell<Diff>,
}

impl Edit {
    const fn new(old: String, new: Option<String>) -> Self {
        Self { old, new, diff: OnceCell::new() }
    }

    fn diff(&self) -> &Diff {
        self.diff.get_or_init(|| match &self.new {
            Some(new) => Diff::between(&self.old, new),
            None => Diff::from_patch(&self.old),
        })
    }
}

/// A question to a person, with the answers that it offers: each with its description.
pub(super) struct Question {
    text: String,
    answers: Vec<(String, String)>,
}

/// What a call that changes nothing does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    Read,
    Search,
    List,
    Fetch,
    Command,
}

impl Look {
    /// `count` of them in words.
    pub(super) fn counted(self, count: usize) -> String {
        let (one, several) = match self {
            Self::Read => ("read", "reads"),
            Self::Search => ("search", "searches"),
            Self::List => ("listing", "listings"),
            Self::Fetch => ("fetch", "fetches"),
            Self::Command => ("command", "commands"),
        };
        format!("{count} {}", if count == 1 { one } else { several })
    }
}

impl CallKind {
    /// What the call `name` with these arguments does.
    pub(super) fn from_call(name: &str, raw: &str) -> Self {
        if raw.len() > MAX_ARGUMENTS {
            return Self::Other;
        }
        if raw.trim_start().starts_with("*** Begin Patch") {
            return Self::patch(raw);
        }
        let document = Document::parse(raw).ok();
        let root = document.as_ref().and_then(|document| document.roots().next()).filter(|root| root.is_object());
        match root {
            Some(root) => edit(root)
                .or_else(|| ask(name, root))
                .or_else(|| shell(name, root))
                .or_else(|| list(root))
                .or_else(|| prose(name, root))
                .or_else(|| lookup(name, root))
                .unwrap_or(Self::Other),
            None if is_shell(name) && !raw.trim().is_empty() => Self::Shell { command: raw.to_owned(), folder: None },
            None => Self::Other,
        }
    }

    fn patch(text: &str) -> Self {
        let files = text.lines().filter_map(|line| {
            ["*** Update File: ", "*** Add File: ", "*** Delete File: "]
                .iter()
                .find_map(|start| line.strip_prefix(start))
        });
        let files: Vec<&str> = files.map(str::trim).collect();
        let path = match files.as_slice() {
            [] => String::from("patch"),
            [file] => (*file).to_owned(),
            [file, rest @ ..] => format!("{file} and {}", counted(rest.len(), "other file")),
        };
        Self::Edit { path, diffs: vec![Edit::new(text.to_owned(), None)] }
    }

    /// The class for the style of the call.
    pub(super) const fn class(&self) -> &'static str {
        match self {
            Self::Shell { .. } => "shell",
            Self::Edit { .. } => "edit",
            Self::List(_) => "todo",
            Self::Prose(_) => "plan",
            Self::Ask(_) => "ask",
            Self::Lookup { .. } => "look",
            Self::Other => "other",
        }
    }

    /// Whether it is shown without being unfolded.
    pub(super) const fn is_open(&self) -> bool {
        matches!(self, Self::Shell { .. } | Self::Edit { .. } | Self::List(_) | Self::Prose(_) | Self::Ask(_))
    }

    /// What it looks at, if it changes nothing: a short name of it.
    pub(super) fn look(&self) -> Option<(Look, String)> {
        match self {
            Self::Lookup { look, target } => {
                let target = target.split(", ").next().unwrap_or(target);
                let path =
                    if target.contains(' ') { target } else { target.rsplit(['/', '\\']).next().unwrap_or(target) };
                Some((*look, line(path, 40)))
            }
            Self::Shell { command, .. } if only_looks(command) => Some((Look::Command, line(command, 40))),
            _ => None,
        }
    }

    /// Whether its result adds little to the call, so that it is folded.
    pub(super) const fn folds_result(&self) -> bool {
        matches!(self, Self::Edit { .. } | Self::List(_) | Self::Prose(_) | Self::Ask(_))
    }

    /// The arguments that [`CallKind::draw`] shows.
    pub(super) const fn shown(&self) -> &'static [&'static [&'static str]] {
        match self {
            Self::Shell { .. } => &[COMMANDS, FOLDERS],
            Self::Edit { .. } => &[PATHS, PATCHES, OLD_TEXTS, NEW_TEXTS, CONTENTS, &["command", "edits"]],
            Self::List(_) => &[LISTS],
            Self::Prose(_) => &[PLANS, WORDS],
            Self::Ask(_) => &[&["questions", "question", "follow_up", "options"]],
            Self::Lookup { .. } | Self::Other => &[],
        }
    }

    /// The command, file or pattern that is shown on the line of its name.
    pub(super) fn target(&self) -> Markup {
        match self {
            Self::Shell { command, .. } => html! { span class="preview" { (Shown(&line(command, 90))) } },
            Self::Edit { path, diffs } => {
                let (added, removed) = diffs
                    .iter()
                    .map(Edit::diff)
                    .fold((0, 0), |sums, diff| (sums.0 + diff.added, sums.1 + diff.removed));
                html! {
                    code { (Shown(&line(path, 120))) } " "
                    span class="tally" { ins { "+" (added) } " " del { "−" (removed) } }
                }
            }
            Self::List(items) => {
                let done = items.iter().filter(|(state, _)| *state == 'x').count();
                html! { span class="tokens" { (done) " of " (items.len()) " done" } }
            }
            Self::Prose(_) | Self::Ask(_) | Self::Other => html! {},
            Self::Lookup { target, .. } => html! { code { (Shown(&line(target, 140))) } },
        }
    }

    /// The call in a form that people know; `None` to show only the arguments. `answer` is its result, if it asks.
    pub(super) fn draw(&self, byte: usize, max_chars: usize, answer: &str) -> Option<Markup> {
        Some(match self {
            Self::Shell { command, folder } => html! {
                pre class="command" { @if let Some(folder) = folder { span class="of" { (Shown(folder)) " " } } span class="sign" aria-hidden="true" { "$ " } (Body(command)) }
            },
            Self::Edit { diffs, .. } => html! { @for edit in diffs { (edit.diff().draw()) } },
            Self::List(items) => html! {
                ul class="todos" {
                    @for (state, words) in items {
                        li class=(match state { 'x' => "done", '>' => "begun", _ => "open" }) {
                            (match state { 'x' => "☑ ", '>' => "▸ ", _ => "☐ " }) (Shown(words))
                            @if *state == '>' { span class="of" { " in progress" } }
                        }
                    }
                }
            },
            Self::Prose(text) => {
                markdown(text).unwrap_or_else(|| passage(Passage { text, byte, max_chars, mono: false }))
            }
            Self::Ask(questions) => html! { @for question in questions { (question.draw(answer)) } },
            Self::Lookup { .. } | Self::Other => return None,
        })
    }
}

/// The first of the members `names` of `object` that is a text.
pub(super) fn member_text(object: Value<'_>, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| Some(object.some(name)?.text()?.decode().into_owned()))
}

const PATHS: &[&str] = &[
    "file_path", "path", "filePath", "filename", "file", "target_file", "absolute_path", "relative_path",
    "notebook_path", "AbsolutePath",
];
const COMMANDS: &[&str] = &["command", "cmd", "commands", "script", "CommandLine"];
const FOLDERS: &[&str] = &["workdir", "cwd", "working_directory"];
const PATCHES: &[&str] = &["input", "patch", "patchText", "diff"];
const OLD_TEXTS: &[&str] = &["old_string", "old_str", "oldText", "old_text", "oldString", "search"];
const NEW_TEXTS: &[&str] = &["new_string", "new_str", "newText", "new_text", "newString", "replace"];
const CONTENTS: &[&str] = &["content", "contents", "file_text", "new_source", "CodeContent", "insert_text"];
const LISTS: &[&str] = &["todos", "plan", "items", "todo_list"];
const PLANS: &[&str] = &["plan"];
const WORDS: &[&str] = &["thought", "result", "message"];

fn edit(object: Value<'_>) -> Option<CallKind> {
    if let Some(patch) = member_text(object, PATCHES).filter(|text| text.contains("*** Begin Patch")) {
        return Some(CallKind::patch(&patch));
    }
    let path = member_text(object, PATHS)?;
    let replaced = |object: Value<'_>| {
        let old = member_text(object, OLD_TEXTS)?;
        let new = member_text(object, NEW_TEXTS)?;
        Some(Edit::new(old, Some(new)))
    };
    if let Some(diff) = replaced(object) {
        return Some(CallKind::Edit { path, diffs: vec![diff] });
    }
    let several: Vec<Edit> = object.some("edits").into_iter().flat_map(Value::items).filter_map(replaced).collect();
    if !several.is_empty() {
        return Some(CallKind::Edit { path, diffs: several });
    }
    let whole = member_text(object, CONTENTS)?;
    Some(CallKind::Edit { path, diffs: vec![Edit::new(String::new(), Some(whole))] })
}

/// Whether a tool of this name runs commands. An editor that a server executes does not.
fn is_shell(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    if name.contains("edit") {
        return false;
    }
    ["bash", "shell", "exec", "terminal", "command", "execute", "run_in", "powershell"]
        .iter()
        .any(|part| name.contains(part))
}

fn shell(name: &str, object: Value<'_>) -> Option<CallKind> {
    let value = COMMANDS.iter().find_map(|key| object.some(key))?;
    let command = match value.text() {
        Some(text) => text.decode().into_owned(),
        None => {
            let words: Vec<String> =
                value.items().filter_map(|word| Some(word.text()?.decode().into_owned())).collect();
            match words.as_slice() {
                // Only the command line matters, not the shell that runs it.
                [shell, flag, line] if shell.ends_with("sh") && flag.starts_with('-') => line.clone(),
                [program, patch] if program == "apply_patch" => return Some(CallKind::patch(patch)),
                [] => return None,
                words => words.join(" "),
            }
        }
    };
    if let Some((_, patch)) = command
        .split_once("apply_patch")
        .filter(|(before, rest)| before.trim().is_empty() && rest.contains("*** Begin Patch"))
    {
        return Some(CallKind::patch(&patch[patch.find("*** Begin Patch").unwrap_or(0)..]));
    }
    // An editor may name what it does to a file `command`.
    let is_verb =
        || !command.contains(' ') && object.members().count() > 1 || name.to_ascii_lowercase().contains("edit");
    let is_command = is_shell(name) || member_text(object, PATHS).is_none() && !is_verb();
    is_command.then(|| CallKind::Shell { command, folder: member_text(object, FOLDERS) })
}

fn list(object: Value<'_>) -> Option<CallKind> {
    let items = LISTS.iter().find_map(|key| object.some(key).filter(|value| value.is_array()))?;
    let item = |item: Value<'_>| {
        let words = member_text(item, &["content", "step", "text", "title", "description", "task"])?;
        let state = member_text(item, &["status", "state"]).unwrap_or_default().to_ascii_lowercase();
        let state = match state.as_str() {
            "completed" | "complete" | "done" | "cancelled" => 'x',
            "in_progress" | "in-progress" | "active" => '>',
            _ => ' ',
        };
        Some((state, words))
    };
    let listed: Vec<(char, String)> = items.items().filter_map(item).collect();
    (!listed.is_empty() && listed.len() == items.items().count()).then_some(CallKind::List(listed))
}

fn prose(name: &str, object: Value<'_>) -> Option<CallKind> {
    let lower = name.to_ascii_lowercase();
    let keys: &[&str] = if lower.contains("plan") {
        PLANS
    } else if matches!(lower.as_str(), "think" | "attempt_completion" | "finish") {
        WORDS
    } else {
        return None;
    };
    member_text(object, keys).map(CallKind::Prose)
}

/// Names of tools that look, and what each does.
const LOOKS: &[(&str, Look)] = &[
    ("grep", Look::Search),
    ("search", Look::Search),
    ("find", Look::Search),
    ("glob", Look::Search),
    ("list", Look::List),
    ("ls", Look::List),
    ("listdir", Look::List),
    ("fetch", Look::Fetch),
    ("browse", Look::Fetch),
    ("get", Look::Fetch),
    ("read", Look::Read),
    ("readfile", Look::Read),
    ("view", Look::Read),
    ("cat", Look::Read),
    ("open", Look::Read),
];

/// The words of a name such as `read_file`, `ReadFile` or `web-search`, in lower case.
pub(super) fn words_of_name(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || c.is_uppercase() && was_lower {
            words.push(String::new());
        }
        was_lower = c.is_lowercase();
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// What a tool called `name` looks at, if it does.
fn look_of_name(name: &str) -> Option<Look> {
    let words = words_of_name(name);
    let is_named = |verb: &str| words.iter().any(|word| word == verb || verb.len() > 3 && word.ends_with(verb));
    LOOKS.iter().find(|(verb, _)| is_named(verb)).map(|(_, look)| *look)
}

/// Programs that only show something.
const VIEWERS: &[&str] = &[
    "cat", "ls", "head", "tail", "grep", "rg", "egrep", "find", "fd", "wc", "pwd", "which", "tree", "file", "stat",
    "du", "sort", "uniq", "cut", "nl", "less", "more", "awk", "jq", "diff", "echo", "cd", "type", "whoami", "date",
    "test", "true", "basename", "dirname", "column", "tr",
];
/// Commands of git that only show something.
const GIT_VIEWERS: &[&str] =
    &["status", "diff", "log", "show", "blame", "grep", "ls-files", "rev-parse", "remote", "shortlog"];

/// Whether a command line only shows something.
fn only_looks(command: &str) -> bool {
    let writes = |part: &str| part.contains("-exec") || part.contains("-delete") || part.contains(" -i");
    let shows = |part: &str| {
        let mut words = part.split_whitespace();
        match words.next() {
            None => true,
            Some("git") => {
                let words = words.skip_while(|word| word.starts_with('-') || *word == "." || word.contains('/'));
                words.take(1).any(|word| GIT_VIEWERS.contains(&word))
            }
            Some("sed") => words.next() == Some("-n"),
            Some("find") => !writes(part),
            Some(program) => VIEWERS.contains(&program),
        }
    };
    let quiet = command.replace("2>/dev/null", "").replace("2>&1", "").replace(">/dev/null", "");
    command.len() < 2_000 && !quiet.contains(['>', '`']) && !quiet.contains("$(") && {
        let parts = quiet.split(['\n', ';', '|', '&']).map(str::trim);
        parts.clone().any(|part| !part.is_empty()) && parts.into_iter().all(shows)
    }
}

/// Questions to a person: one, or a list of them.
fn ask(name: &str, object: Value<'_>) -> Option<CallKind> {
    let answer = |answer: Value<'_>| match answer.text() {
        Some(text) => Some((text.decode().into_owned(), String::new())),
        None => Some((
            member_text(answer, &["label", "text", "title", "value", "option"])?,
            member_text(answer, &["description", "detail"]).unwrap_or_default(),
        )),
    };
    let question = |object: Value<'_>| {
        let text = member_text(object, &["question", "prompt", "text"])?;
        let offered = ["options", "choices", "follow_up", "answers"].iter().find_map(|key| object.some(key));
        Some(Question { text, answers: offered.into_iter().flat_map(Value::items).filter_map(answer).collect() })
    };
    let several: Vec<Question> =
        object.some("questions").into_iter().flat_map(Value::items).filter_map(question).collect();
    if !several.is_empty() {
        return Some(CallKind::Ask(several));
    }
    let asks = words_of_name(name).iter().any(|word| word == "ask" || word.starts_with("question"));
    let one = object.some("question").filter(|_| asks).and_then(|_| question(object))?;
    Some(CallKind::Ask(vec![one]))
}

impl Question {
    /// The question with the answers that it offers; one that `answer` repeats was chosen.
    fn draw(&self, answer: &str) -> Markup {
        html! {
            div class="question" {
                (markdown(&self.text).unwrap_or_else(|| html! { p { (Shown(&self.text)) } }))
                @if !self.answers.is_empty() {
                    ul {
                        @for (label, description) in &self.answers {
                            @let is_chosen = !label.is_empty() && answer.contains(label.as_str());
                            li class=[is_chosen.then_some("chosen")] {
                                b { (if is_chosen { "● " } else { "○ " }) (Shown(label)) }
                                @if is_chosen { span class="hidden" { " (chosen)" } }
                                @if !description.is_empty() { span class="of" { (Shown(description)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn lookup(name: &str, object: Value<'_>) -> Option<CallKind> {
    // An editor may name what it does to a file `command`.
    let verb = member_text(object, &["command"]).filter(|verb| verb.len() < 20).unwrap_or_default();
    let look = look_of_name(&format!("{verb} {name}"))?;
    let pattern = member_text(object, &["pattern", "query", "regex", "q", "glob", "url", "search_term", "keyword"]);
    let path = member_text(object, PATHS).or_else(|| member_text(object, &["directory", "dir", "dir_path", "include"]));
    let target = match (pattern, path) {
        (Some(pattern), Some(path)) => format!("{pattern} in {path}"),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => return None,
    };
    let number = |keys: &[&str]| keys.iter().find_map(|key| object.some(key)?.raw().parse::<u64>().ok());
    let from = number(&["offset", "start_line", "line_start"]);
    let count = number(&["limit"]).or_else(|| Some(number(&["end_line", "line_end"])?.saturating_sub(from?) + 1));
    let range = match (from, count) {
        (Some(from), Some(count)) => format!(", lines {from} to {}", (from + count).saturating_sub(1)),
        (Some(from), None) => format!(", from line {from}"),
        (None, Some(count)) if look == Look::Read => format!(", {count} lines"),
        _ => String::new(),
    };
    Some(CallKind::Lookup { look, target: target + &range })
}

// The arguments of a tool call in a readable form: a name and a value per line, and texts with their line breaks.

/// The arguments of a call except those in `except`; `byte` is their offset in the file.
pub(super) fn arguments(raw: &str, byte: usize, max_chars: usize, except: &[&[&str]]) -> Markup {
    let mono = |text: &str| passage(Passage { text, byte, max_chars, mono: true });
    let document = (raw.len() <= MAX_ARGUMENTS).then(|| Document::parse(raw).ok()).flatten();
    let object = document.as_ref().and_then(|document| document.roots().next()).filter(|root| root.is_object());
    let Some(object) = object else {
        return html! { @if !raw.trim().is_empty() && except.is_empty() { (mono(raw)) } };
    };
    let is_shown = |name: &str| !except.iter().any(|names| names.contains(&name));
    if !object.members().any(|member| is_shown(&member.key.decode())) {
        return html! {};
    }
    html! {
        dl class="arguments" {
            @for member in object.members().filter(|member| is_shown(&member.key.decode())) {
                @let (name, text) = (member.key.decode(), shown(member.value));
                div {
                    dt { (Shown(&line(&name, 80))) }
                    dd {
                        @if text.len() <= 200 && !text.contains('\n') { (code(&text)) } @else { (mono(&text)) }
                    }
                }
            }
        }
    }
}

/// The characters of a string, or the JSON of another value with a line per element.
fn shown(value: Value<'_>) -> String {
    match value.text() {
        Some(text) => text.decode().into_owned(),
        None if value.raw().len() <= 60 => value.raw().to_owned(),
        None => indented(value.raw()),
    }
}

/// JSON with a line per element; its tokens stay as they are written.
fn indented(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len() * 2);
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    let mut empty = false;
    let newline = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth.min(40)));
    };
    for c in raw.chars() {
        if in_string {
            in_string = c != '"' || escaped;
            escaped = c == '\\' && !escaped;
            out.push(c);
            continue;
        }
        if c.is_ascii_whitespace() {
            continue;
        }
        if empty && !matches!(c, '}' | ']') {
            newline(&mut out, depth);
        }
        match c {
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                if !empty {
                    newline(&mut out, depth);
                }
                out.push(c);
            }
            ',' => {
                out.push(c);
                newline(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => out.push(c),
        }
        empty = matches!(c, '{' | '[');
        depth += usize::from(empty);
        in_string = c == '"';
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{CallKind, arguments, indented};

    fn drawn(name: &str, raw: &str) -> String {
        let call = CallKind::from_call(name, raw);
        let body = call.draw(0, 1_000, "").map(|body| body.0).unwrap_or_default();
        format!("{}: {} {body}", call.class(), call.target().0)
    }

    /// A tool, its arguments, and what is shown of them.
    const CALLS: &[(&str, &str, &[&str])] = &[
        (
            "Edit",
            r#"{"file_path":"a<b>","old_string":"x\ny","new_string":"x\n<z>"}"#,
            &["edit: <code>a&lt;b&gt;</code>", "+1</ins>", "<del>-y\n</del><ins>+&lt;z&gt;"],
        ),
        (
            "MultiEdit",
            r#"{"file_path":"a","edits":[{"old_string":"x","new_string":"y"},{"old_string":"z","new_string":""}]}"#,
            &["+1</ins> <del>−2</del>"],
        ),
        ("write", r#"{"path":"a","content":"x\n"}"#, &["<ins>+x"]),
        ("apply_patch", "*** Begin Patch\n*** Add File: n\n+1\n*** End Patch", &["edit: <code>n</code>", "<ins>+1"]),
        (
            "shell",
            r#"{"command":["bash","-lc","ls | <wc>"],"workdir":"/w"}"#,
            &["shell:", "/w", "</span>ls | &lt;wc&gt;"],
        ),
        (
            "shell",
            r#"{"command":["apply_patch","*** Begin Patch\n*** Update File: m\n-1\n*** End Patch"]}"#,
            &["edit: <code>m</code>"],
        ),
        ("str_replace_editor", r#"{"command":"view","path":"src"}"#, &["look: <code>src</code>"]),
        ("text_editor_execution", r#"{"command":"view","path":"src"}"#, &["look: <code>src</code>"]),
        ("text_editor_execution", r#"{"command":"undo_edit","document":"src"}"#, &["other: "]),
        ("runEditorCommand", r#"{"command":"format","note":"n"}"#, &["other: "]),
        ("toolbox", r#"{"command":"list"}"#, &["shell:"]),
        ("web-search", r#"{"query":"tides"}"#, &["look: <code>tides</code>"]),
        ("allocate", r#"{"path":"a"}"#, &["other: "]),
        (
            "AskUserQuestion",
            r#"{"questions":[{"question":"Glaze <it>?","options":[{"label":"Yes","description":"twice"},{"label":"No"}]}]}"#,
            &["ask:", "Glaze &lt;it&gt;?", "○ Yes", "twice", "○ No"],
        ),
        (
            "ask_followup_question",
            r#"{"question":"Which kiln?","follow_up":["The old one"]}"#,
            &["ask:", "○ The old one"],
        ),
        (
            "TodoWrite",
            r#"{"todos":[{"content":"<a>","status":"completed"},{"content":"b","status":"in_progress"}]}"#,
            &["1 of 2 done", "☑ &lt;a&gt;", "in progress"],
        ),
        ("update_plan", r#"{"plan":[{"step":"a","status":"pending"}]}"#, &["☐ a"]),
        ("ExitPlanMode", r##"{"plan":"# A <script>"}"##, &["<h4>A &lt;script&gt;</h4>"]),
        ("Read", r#"{"file_path":"a.rs","offset":10,"limit":5}"#, &["<code>a.rs, lines 10 to 14</code>"]),
        ("Grep", r#"{"pattern":"<x>","path":"src"}"#, &["<code>&lt;x&gt; in src</code>"]),
        ("timetable", r#"{"from":"Graz"}"#, &["other: "]),
        ("bash", "not json", &["shell:", "not json"]),
    ];

    #[test]
    fn calls_are_known_by_their_arguments() {
        for (name, raw, parts) in CALLS {
            let html = drawn(name, raw);
            for part in *parts {
                assert!(html.contains(part), "{name} {part}: {html}");
            }
        }
    }

    #[test]
    fn commands_that_only_show_are_looks() {
        for command in [
            "ls -la",
            "cd src && cat a.rs | head -n 5",
            "git -C . log 2>/dev/null",
            "sed -n 1,20p a",
            "grep -rn x . || true",
        ] {
            assert!(super::only_looks(command), "{command}");
        }
        for command in
            ["rm a", "cat a > b", "sed -i s/a/b/ c", "find . -delete", "git push", "ls; make", "cat $(rm x)", ""]
        {
            assert!(!super::only_looks(command), "{command}");
        }
    }

    #[test]
    fn nested_values_are_indented() {
        assert_eq!(
            indented(r#"{"a":[1,{"b":"x, [y]\""}],"c":{},"d":[]}"#),
            "{\n  \"a\": [\n    1,\n    {\n      \"b\": \"x, [y]\\\"\"\n    }\n  ],\n  \"c\": {},\n  \"d\": []\n}"
        );
    }

    #[test]
    fn names_and_values_are_escaped_and_repeated_keys_are_shown() {
        let html = arguments(r#"{"<b>":"<i>","a":1,"a":2}"#, 0, 100, &[]).0;
        assert!(html.contains("&lt;b&gt;") && html.contains("&lt;i&gt;") && !html.contains("<b>"), "{html}");
        assert_eq!(html.matches("<dt>a</dt>").count(), 2);
        assert_eq!(arguments(r#"{"a":1}"#, 0, 100, &[&["a"]]).0, "");
        assert!(arguments("not <json>", 0, 100, &[]).0.contains("not &lt;json&gt;"));
    }
}
