//! What a tool call does, by the names and shapes of its arguments: any agent's tools, known or not.
//! The rules are tables. `commands` decides what a shell command does.

use serde_json::{Map, Value};

use super::{Todo, paths, scripts, todos};
use curtail_core::digest::fnv1a_64;

/// Something that a call does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    /// Changes a file; `edit` is a digest of the text that it replaces and one of the text that it writes.
    Change { path: String, edit: Option<(u32, u32)> },
    /// Writes a script that changes these files when it is run.
    Script { path: String, writes: Vec<String> },
    /// Removes a file.
    Remove(String),
    /// Gives a file another path.
    Move { from: String, to: String },
    /// Runs a command line.
    Command(String),
    /// Replaces the to-do list.
    Todos(Vec<Todo>),
    /// Adds an item to the to-do list; its id may be in the result.
    AddTodo(Todo),
    /// Changes the item with this id.
    UpdateTodo(Todo),
    /// Runs a check that is no command, such as a tool `run_tests`.
    Check(String),
}

/// Names of arguments that contain the path of a file, in lower case without separators.
const PATH_KEYS: &[&str] = &[
    "filepath",
    "path",
    "filename",
    "file",
    "notebookpath",
    "targetfile",
    "absolutepath",
    "relativeworkspacepath",
    "target",
    "uri",
];

/// Names of arguments that contain what is written.
const TEXT_KEYS: &[&str] = &[
    "oldstring",
    "newstring",
    "oldtext",
    "newtext",
    "oldstr",
    "newstr",
    "filetext",
    "content",
    "contents",
    "edits",
    "codeedit",
    "codecontent",
    "replacement",
    "replacementcontent",
    "replacementchunks",
    "replace",
    "diff",
    "patch",
    "insertline",
    "inserttext",
    "newsource",
    "newcontent",
    "text",
    "data",
];

/// Pairs of arguments of an edit: what it replaces, what it writes.
const EDIT_KEYS: &[(&str, &str)] = &[
    ("oldstring", "newstring"),
    ("oldtext", "newtext"),
    ("oldstr", "newstr"),
    ("find", "replace"),
    ("search", "replace"),
];

/// The digests of a patch: no edit is recognized as its inverse.
const PATCH: (u32, u32) = (1, 2);

/// Names of arguments that contain a command line.
const COMMAND_KEYS: &[&str] = &["command", "cmd", "commandline", "script", "commands", "bash"];

/// Words in the names of tools that change files, and of those that only read.
const CHANGES: &[&str] =
    &["edit", "write", "create", "patch", "replace", "insert", "apply", "update", "append", "save", "overwrite"];
const LOOKS: &[&str] =
    &["read", "view", "open", "list", "grep", "search", "find", "glob", "cat", "get", "fetch", "show", "diff"];

/// Values of `command` by which one tool does several things.
const VIEWS: &[&str] = &["view", "undo_edit"];
const EDITS: &[&str] = &["create", "str_replace", "insert"];

/// Words in the names of tools that check.
const CHECKS: &[&str] = &["test", "tests", "build", "lint", "typecheck", "compile", "diagnostics"];

/// What the call of `name` does, in order.
pub(super) fn actions(name: &str, arguments: &str) -> Vec<Action> {
    let patched = patched(arguments);
    if !patched.is_empty() {
        return patched;
    }
    match serde_json::from_str(arguments) {
        Ok(Value::Object(members)) => of_object(name, &members),
        Ok(Value::String(text)) if looks_like_shell(name) => vec![Action::Command(text)],
        Err(_) if looks_like_shell(name) && !arguments.trim().is_empty() => vec![Action::Command(arguments.to_owned())],
        _ => Vec::new(),
    }
}

fn of_object(name: &str, members: &Map<String, Value>) -> Vec<Action> {
    let words = words(name);
    if let Some(found) = todos::of_call(&words, members) {
        return vec![found];
    }
    let get =
        |keys: &[&str]| members.iter().find(|(key, _)| keys.contains(&folded(key).as_str())).map(|(_, value)| value);
    let mode = get(COMMAND_KEYS).and_then(Value::as_str).unwrap_or_default();
    let path = get(PATH_KEYS).and_then(Value::as_str).map(unquoted).and_then(paths::any);
    let is_mode = VIEWS.contains(&mode) || EDITS.contains(&mode);
    if let Some(command) = get(COMMAND_KEYS).filter(|_| !is_mode).and_then(command_line) {
        return vec![Action::Command(command)];
    }
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let looks = has(LOOKS) && !has(CHANGES) || VIEWS.contains(&mode);
    let writes = get(TEXT_KEYS).is_some() || has(CHANGES);
    match path {
        Some(path) if writes && !looks => {
            let body = get(TEXT_KEYS).and_then(Value::as_str).unwrap_or_default();
            let change = Action::Change { path: path.to_owned(), edit: digests(members) };
            std::iter::once(change).chain(script(path, body)).collect()
        }
        Some(path) if has(&["delete", "remove"]) && !looks => vec![Action::Remove(path.to_owned())],
        _ if has(CHECKS) => vec![Action::Check(name.to_owned())],
        _ => Vec::new(),
    }
}

/// A script with this text; `None` if it changes no files.
fn script(path: &str, body: &str) -> Option<Action> {
    let writes = scripts::writes(path, body);
    (!writes.is_empty()).then(|| Action::Script { path: path.to_owned(), writes })
}

/// Files of a patch in the form of `apply_patch`, wherever it is in the arguments.
fn patched(arguments: &str) -> Vec<Action> {
    const BEGIN: &str = "*** Begin Patch";
    if !arguments.contains(BEGIN) {
        return Vec::new();
    }
    let text = arguments.replace("\\n", "\n");
    let mut found: Vec<Action> = Vec::new();
    for line in text.lines() {
        let named = |mark: &str| line.strip_prefix(mark).map(|path| path.trim().to_owned());
        if let Some(path) = named("*** Add File: ") {
            found.push(Action::Change { path, edit: None });
        } else if let Some(path) = named("*** Update File: ") {
            found.push(Action::Change { path, edit: Some(PATCH) });
        } else if let Some(path) = named("*** Delete File: ") {
            found.push(Action::Remove(path));
        } else if let (Some(to), Some(Action::Change { path: from, .. })) =
            (named("*** Move to: "), found.last().cloned())
        {
            found.pop();
            found.push(Action::Move { from, to });
        }
    }
    found
}

/// A command line: a text, or a list of words of which the last one may be a script for a shell.
fn command_line(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(unquoted(text).to_owned()),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            match words.as_slice() {
                [shell, flag, script, ..] if shell.ends_with("sh") && flag.starts_with('-') && flag.ends_with('c') => {
                    Some((*script).to_owned())
                }
                [] => None,
                words => Some(words.join(" ")),
            }
        }
        _ => None,
    }
}

/// Digests of what an edit replaces and writes.
fn digests(members: &Map<String, Value>) -> Option<(u32, u32)> {
    let text = |name: &str| members.iter().find(|(key, _)| folded(key) == name).and_then(|(_, value)| value.as_str());
    let (old, new) = EDIT_KEYS.iter().find_map(|(old, new)| Some((text(old)?, text(new)?)))?;
    #[expect(clippy::cast_possible_truncation, reason = "32 bits tell the edits of one file apart")]
    let digest = |text: &str| fnv1a_64(text.bytes()) as u32;
    Some((digest(old), digest(new)))
}

/// A key in lower case without separators: `filePath` and `file_path` are one.
fn folded(key: &str) -> String {
    key.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// The words of a tool's name: `multiEdit`, `edit_file` and `edit-file` contain `edit`.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut before_is_lower = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || letter.is_uppercase() && before_is_lower {
            words.push(String::new());
        }
        before_is_lower = letter.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Some logs write values as JSON inside strings.
fn unquoted(text: &str) -> &str {
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
}

/// Whether a tool that takes raw text runs it as a command.
fn looks_like_shell(name: &str) -> bool {
    const SHELLS: [&str; 7] = ["shell", "bash", "terminal", "exec", "command", "run", "console"];
    words(name).iter().any(|word| SHELLS.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::{Action, actions};

    fn change(path: &str) -> Vec<Action> {
        vec![Action::Change { path: path.to_owned(), edit: None }]
    }

    #[test]
    fn edits_of_any_agent_are_seen() {
        for (name, arguments) in [
            ("Write", r#"{"file_path":"a.rs","content":"x"}"#),
            ("write_file", r#"{"path":"a.rs","content":"x"}"#),
            ("create_file", r#"{"filePath":"a.rs"}"#),
            ("str_replace_based_edit_tool", r#"{"command":"create","path":"a.rs","file_text":"x"}"#),
            ("replace_file_content", r#"{"TargetFile":"\"a.rs\"","ReplacementChunks":[]}"#),
            ("NotebookEdit", r#"{"notebook_path":"a.rs","new_source":"x"}"#),
            ("my_tool", r#"{"file":"a.rs","new_string":"y","old":"x"}"#),
            ("apply_patch", "*** Begin Patch\n*** Add File: a.rs\n+y\n*** End Patch"),
            ("shell", r#"{"command":["apply_patch","*** Begin Patch\n*** Add File: a.rs\n+y\n*** End Patch"]}"#),
        ] {
            assert_eq!(actions(name, arguments), change("a.rs"), "{name}");
        }
        let edit = actions("edit", r#"{"path":"a.rs","oldText":"x","newText":"y"}"#);
        assert!(matches!(&edit[..], [Action::Change { edit: Some((old, new)), .. }] if old != new), "{edit:?}");
    }

    #[test]
    fn a_script_is_known_by_what_it_writes() {
        let actions = actions("Write", r#"{"file_path":"/tmp/fix.py","content":"open('a.py', 'w').write(x)"}"#);
        let script = Action::Script { path: "/tmp/fix.py".into(), writes: vec!["a.py".into()] };
        assert_eq!(actions, [change("/tmp/fix.py"), vec![script]].concat());
    }

    #[test]
    fn looking_changes_nothing() {
        for (name, arguments) in [
            ("Read", r#"{"file_path":"a.rs"}"#),
            ("str_replace_based_edit_tool", r#"{"command":"view","path":"a.rs"}"#),
            ("Grep", r#"{"path":"src","pattern":"x","content":true}"#),
            ("find_file", r#"{"path":"a.rs","text":"x"}"#),
            ("book_flight", r#"{"user":"u"}"#),
            ("Read", "not json"),
        ] {
            assert_eq!(actions(name, arguments), [], "{name}");
        }
    }

    #[test]
    fn commands_and_moves_are_seen() {
        let command = vec![Action::Command(String::from("ls -l"))];
        for (name, arguments) in [
            ("Bash", r#"{"command":"ls -l","description":"List"}"#),
            ("shell", r#"{"command":["bash","-lc","ls -l"]}"#),
            ("exec_command", r#"{"cmd":"ls -l"}"#),
            ("run_command", r#"{"CommandLine":"\"ls -l\""}"#),
            ("shell", "ls -l"),
        ] {
            assert_eq!(actions(name, arguments), command, "{name}");
        }
        let moved = "*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** Delete File: c\n*** End Patch";
        assert_eq!(
            actions("apply_patch", moved),
            [Action::Move { from: "a".into(), to: "b".into() }, Action::Remove("c".into())]
        );
        assert_eq!(actions("run_tests", "{}"), [Action::Check("run_tests".into())]);
    }
}
