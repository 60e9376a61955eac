//! What a tool call does, judged by the names and shapes of its arguments, so that the tools of unknown agents are understood
//! too, also by the shape of a to-do list. The rules are tables. `effects` decides what a shell command does.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::effects::{self, effects, files_written_by};
use super::kinds::{Action, CheckRun, Effect, Todo, TodoChange};
use super::patches::patch_effects;
use super::paths;
use super::programs::{PROGRAMS, lists};
use super::todos::todo_action;
use super::words::{has_any, name_words};

/// Names of arguments that contain the path of a file, in lower case without separators.
pub const PATH_KEYS: &[&str] = &[
    "filepath", "path", "filename", "file", "notebookpath", "targetfile", "absolutepath", "relativeworkspacepath",
    "target", "uri",
];

/// Names of arguments that contain a part of a file, and of those that contain all of it. Tools that write no file have some of the
/// latter as well.
const PART_KEYS: &[&str] = &[
    "oldstring", "newstring", "oldtext", "newtext", "oldstr", "newstr", "edits", "codeedit", "replacement",
    "replacementcontent", "replacementchunks", "replace", "diff", "patch", "insertline", "inserttext", "newsource",
];
const WHOLE_KEYS: &[&str] = &["filetext", "content", "contents", "codecontent", "newcontent"];

/// Names of the arguments of a tool that moves a file: from where, and where to.
const SOURCE_KEYS: &[&str] = &["source", "sourcepath", "oldpath"];
const DESTINATION_KEYS: &[&str] = &["destination", "destinationpath", "newpath"];

/// Names of arguments that contain a command line, in lower case without separators.
pub const COMMAND_KEYS: &[&str] = &["command", "cmd", "commandline", "script", "commands", "bash"];

/// Words in the names of tools that change files, and of those that only read.
const CHANGE_WORDS: &[&str] =
    &["edit", "write", "create", "patch", "replace", "insert", "apply", "update", "append", "save", "overwrite"];
const READ_WORDS: &[&str] =
    &["read", "view", "open", "list", "grep", "search", "find", "glob", "cat", "get", "fetch", "show", "diff"];

/// Words with which the names of tools begin or end that say or ask something about a file.
const TALK_WORDS: &[&str] = &["comment", "comments", "ask", "question", "reply", "review"];

/// Values of the argument `command` of a tool that both views and edits.
const VIEW_MODES: &[&str] = &["view", "undo_edit"];
const EDIT_MODES: &[&str] = &["create", "str_replace", "insert"];

/// Words in the names of tools that return what is in a file. The other tools that only read list and search.
const SHOW_WORDS: &[&str] = &["read", "view", "open", "cat"];

/// Words in the names of tools that build or test.
const CHECK_WORDS: &[&str] = &["test", "tests", "build", "lint", "typecheck", "compile", "diagnostics"];

/// What the call of `name` does, in order.
pub(super) fn actions(name: &str, arguments: &str) -> Vec<Action> {
    match serde_json::from_str(arguments) {
        Ok(Value::Object(members)) => actions_of_object(name, &members),
        Ok(Value::String(text)) => actions_of_text(name, &text),
        Ok(_) => Vec::new(),
        Err(_) => actions_of_text(name, arguments),
    }
}

/// Whether the call of a tool changes a file, as far as its name and its arguments show.
fn changes(name: &str, arguments: &str) -> bool {
    actions(name, arguments).iter().any(|action| match action {
        Action::Effect(effect) => effect.is_change(),
        Action::Command(line) => effects(line).iter().any(Effect::is_change),
        Action::Todos(_) | Action::MergeTodos(_) | Action::AddTodo(_) => false,
    })
}

/// The items of the to-do list that a call writes, as far as its name and its arguments show; of a call that updates a list, those
/// that it names.
pub fn todos(name: &str, arguments: &str) -> Option<Vec<Todo>> {
    let Ok(Value::Object(members)) = serde_json::from_str(arguments) else { return None };
    match todo_action(&name_words(name), &members)? {
        Action::Todos(items) => Some(items),
        Action::MergeTodos(changes) => Some(changes.into_iter().filter_map(TodoChange::into_todo).collect()),
        _ => None,
    }
}

/// Whether `output` is a text that a call only shows: that of a file, what a search finds, or what `grep` prints. One line of a tool
/// that reads may as well say why it failed.
pub(super) fn only_shows(name: &str, arguments: &str, output: &str) -> bool {
    if changes(name, arguments) {
        return false;
    }
    match serde_json::from_str(arguments) {
        Ok(Value::Object(members)) => match command_in(&members).and_then(|command| command_line(&command)) {
            Some(line) => effects::only_shows(&line),
            None => only_reads(name, READ_WORDS, &members) && (searches(name) || !tells_failure(output)),
        },
        _ => looks_like_shell(name) && effects::only_shows(arguments),
    }
}

fn searches(name: &str) -> bool {
    has_any(&name_words(name), &["grep", "search", "find", "glob"])
}

/// What a line says that tells why a file was not read.
const UNREAD: &[&str] = &["not found", "does not exist", "no such", "permission", "could not find", "is a directory"];

/// How such a line begins.
const UNREAD_STARTS: &[&str] =
    &["error:", "failed:", "error reading", "error executing", "failed to", "could not", "invalid path"];

/// Whether an output is one line that tells why a tool failed, and not what a file contains.
fn tells_failure(output: &str) -> bool {
    let line = output.trim().to_lowercase();
    let is_labelled = UNREAD_STARTS.iter().any(|start| line.starts_with(start));
    !line.contains('\n') && (is_labelled || UNREAD.iter().any(|reason| line.contains(reason)))
}

/// The files that a call shows: the path of a tool that reads, not of one that searches, or the operands of a command that shows files.
pub(super) fn read_path(name: &str, arguments: &str) -> Vec<String> {
    let Ok(Value::Object(members)) = serde_json::from_str(arguments) else { return Vec::new() };
    match path_at(&members, PATH_KEYS) {
        Some(path) if only_reads(name, SHOW_WORDS, &members) => vec![path.to_owned()],
        Some(_) => Vec::new(),
        None if only_reads(name, SHOW_WORDS, &members) && members.contains_key("paths") => {
            let listed = members.get("paths").and_then(Value::as_array).into_iter().flatten();
            listed.filter_map(Value::as_str).filter_map(paths::any_path).map(str::to_owned).collect()
        }
        None => command_in(&members)
            .and_then(|command| command_line(&command))
            .map(|line| effects::shown_files(&line))
            .unwrap_or_default(),
    }
}

/// The file whose content a tool returns, as far as its name and its arguments show. A command line is not read.
pub fn file_read(name: &str, arguments: &str) -> Option<String> {
    let Ok(Value::Object(members)) = serde_json::from_str(arguments) else { return None };
    path_at(&members, PATH_KEYS).filter(|_| only_reads(name, SHOW_WORDS, &members)).map(str::to_owned)
}

/// Whether a tool only reads: by a word of its name that is in `reading`, and none of a change, or by a mode that views.
fn only_reads(name: &str, reading: &[&str], members: &Map<String, Value>) -> bool {
    let words = name_words(name);
    has_any(&words, reading) && !has_any(&words, CHANGE_WORDS) || VIEW_MODES.contains(&mode_in(members))
}

/// Whether a tool says or asks something about a file. One that creates a comment does, but no other that changes something.
fn talks(words: &[String], members: &Map<String, Value>) -> bool {
    let mut ends = [words.first(), words.last()].into_iter().flatten();
    ends.any(|word| TALK_WORDS.contains(&word.as_str()))
        && !words.iter().any(|word| word != "create" && CHANGE_WORDS.contains(&word.as_str()))
        && member(members, PART_KEYS).is_none()
}

/// The argument `command`, which is the mode of some tools.
fn mode_in(members: &Map<String, Value>) -> &str {
    member(members, COMMAND_KEYS).and_then(Value::as_str).unwrap_or_default()
}

/// The path of a file in the first argument with one of these keys.
fn path_at<'m>(members: &'m Map<String, Value>, keys: &[&str]) -> Option<&'m str> {
    member(members, keys).and_then(Value::as_str).and_then(paths::any_path)
}

/// The actions of a call whose arguments are a text: a patch, or a command line.
fn actions_of_text(name: &str, text: &str) -> Vec<Action> {
    let patch = patch_effects(text);
    if !patch.is_empty() {
        return patch.into_iter().map(Action::Effect).collect();
    }
    if looks_like_shell(name) && !text.trim().is_empty() { vec![Action::Command(text.to_owned())] } else { Vec::new() }
}

/// The actions of a call whose arguments are an object.
fn actions_of_object(name: &str, members: &Map<String, Value>) -> Vec<Action> {
    let words = name_words(name);
    if let Some(action) = todo_action(&words, members) {
        return vec![action];
    }
    let mode = mode_in(members);
    let path = path_at(members, PATH_KEYS);
    let is_mode = VIEW_MODES.contains(&mode) || EDIT_MODES.contains(&mode);
    if let Some(command) = command_in(members).filter(|_| !is_mode) {
        let patch = patch_of(&command);
        if !patch.is_empty() {
            return patch.into_iter().map(Action::Effect).collect();
        }
        return command_line(&command).map(Action::Command).into_iter().collect();
    }
    // What is written to a file may quote a patch.
    if path.is_none() {
        let patch: Vec<Effect> = members.values().filter_map(Value::as_str).flat_map(patch_effects).collect();
        if !patch.is_empty() {
            return patch.into_iter().map(Action::Effect).collect();
        }
    }
    let has = |list: &[&str]| has_any(&words, list);
    if has(&["move", "rename"])
        && let (Some(from), Some(to)) = (path_at(members, SOURCE_KEYS), path_at(members, DESTINATION_KEYS))
        && from.contains(['/', '\\', '.'])
    {
        return vec![Action::Effect(Effect::Move { from: from.to_owned(), to: to.to_owned() })];
    }
    let only_reads = only_reads(name, READ_WORDS, members) || talks(&words, members);
    let all = member(members, WHOLE_KEYS);
    // Some logs list each argument that a tool has, also those without a value.
    let part = values(members, PART_KEYS).find(|value| all.is_none() || !value.is_null() && *value != "");
    let text = all.or(part);
    let writes = text.is_some() || has(CHANGE_WORDS) && !has(&["directory", "folder", "dir"]);
    match path {
        Some(path) if writes && !only_reads => {
            let body = text.and_then(Value::as_str).unwrap_or_default();
            let whole = mode == "create" || part.is_none() && !has(&["append", "insert"]);
            let change = Effect::Change { path: path.to_owned(), whole };
            let script = Effect::script(path.to_owned(), files_written_by(path, body));
            std::iter::once(change).chain(script).map(Action::Effect).collect()
        }
        Some(path) if has(&["delete", "remove"]) && !only_reads => {
            vec![Action::Effect(Effect::Remove(path.to_owned()))]
        }
        _ if has(CHECK_WORDS) => {
            vec![Action::Effect(Effect::Check(CheckRun { command: name.to_owned(), ..CheckRun::default() }))]
        }
        _ => Vec::new(),
    }
}

/// The effects of a patch that the value of an argument is, or hands to `apply_patch`.
fn patch_of(command: &Value) -> Vec<Effect> {
    if let Value::Array(words) = command
        && let [Value::String(program), Value::String(patch)] = &words[..]
        && effects::is_patcher(program)
    {
        return patch_effects(patch);
    }
    match command_line(command) {
        Some(line) if line.trim_start().starts_with("*** ") => patch_effects(&line),
        Some(line) if effects::only_patches(&line) => effects(&line),
        _ => Vec::new(),
    }
}

/// The argument that is a command; a list of `commands` is one text.
fn command_in(members: &Map<String, Value>) -> Option<Cow<'_, Value>> {
    let value = member(members, COMMAND_KEYS)?;
    let lines = member(members, &["commands"]).filter(|lines| *lines == value).and_then(Value::as_array);
    Some(lines.map_or(Cow::Borrowed(value), |lines| {
        let lines: Vec<&str> = lines.iter().filter_map(Value::as_str).collect();
        Cow::Owned(Value::String(lines.join("\n")))
    }))
}

/// The command line in an argument: a string, or a list of words, which may run a shell with a script.
fn command_line(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(unquoted(text).into_owned()),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            match words.as_slice() {
                [shell, flag, script, ..] if is_shell(shell) && flag.starts_with('-') && flag.ends_with('c') => {
                    Some((*script).to_owned())
                }
                [] => None,
                words => Some(words.iter().map(|word| as_word(word)).collect::<Vec<_>>().join(" ")),
            }
        }
        _ => None,
    }
}

/// `text` as one word of a command line.
fn as_word(text: &str) -> Cow<'_, str> {
    if !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_-./:=@%+,~^".contains(c)) {
        return text.into();
    }
    format!("'{}'", text.replace('\'', r"'\''")).into()
}

/// Whether a program is a shell, such as `/bin/bash`.
fn is_shell(program: &str) -> bool {
    lists(&PROGRAMS.shells, paths::name(program))
}

/// The first member with one of these keys.
fn member<'m>(members: &'m Map<String, Value>, keys: &[&str]) -> Option<&'m Value> {
    values(members, keys).next()
}

/// The members with one of these keys.
fn values<'m>(members: &'m Map<String, Value>, keys: &[&str]) -> impl Iterator<Item = &'m Value> {
    members.iter().filter(|(key, _)| keys.contains(&normalized(key).as_str())).map(|(_, value)| value)
}

/// A key in lower case without separators: `filePath` and `file_path` are equal.
pub fn normalized(key: &str) -> String {
    key.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// The text that `text` is in JSON, or `text` itself: some logs write values as JSON inside strings.
fn unquoted(text: &str) -> Cow<'_, str> {
    let inside = if text.starts_with('"') { serde_json::from_str(text).ok() } else { None };
    inside.map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Whether a tool whose arguments are raw text runs them as a command.
fn looks_like_shell(name: &str) -> bool {
    const SHELLS: [&str; 7] = ["shell", "bash", "terminal", "exec", "command", "run", "console"];
    name_words(name).iter().any(|word| SHELLS.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::{Action, CheckRun, Effect, actions};

    fn change(path: &str) -> Vec<Action> {
        vec![Action::Effect(Effect::write(path.to_owned()))]
    }

    #[test]
    fn edits_of_any_agent_are_recognized() {
        for (name, arguments) in [
            ("replace_file_content", r#"{"TargetFile":"\"a.rs\"","ReplacementChunks":[]}"#),
            ("NotebookEdit", r#"{"notebook_path":"a.rs","new_source":"x"}"#),
            ("my_tool", r#"{"file":"a.rs","new_string":"y","old":"x"}"#),
            ("MultiEdit", r#"{"file_path":"a.rs","edits":[{"old_string":"x","new_string":"y"}]}"#),
            ("apply_diff", r#"{"path":"a.rs","diff":"@@ -1 +1 @@"}"#),
            ("str_replace_editor", r#"{"command":"insert","path":"a.rs","insert_line":1,"file_text":"x"}"#),
            ("NotebookEdit", r#"{"notebook_path":"a.rs","new_source":""}"#),
            ("append_file", r#"{"path":"a.rs","content":"x"}"#),
        ] {
            assert_eq!(actions(name, arguments), [Action::Effect(Effect::edit("a.rs".into()))], "{name}");
        }
        for (name, arguments) in [
            ("Write", r#"{"file_path":"a.rs","content":"x"}"#),
            ("write_file", r#"{"path":"a.rs","content":"x"}"#),
            ("create_file", r#"{"filePath":"a.rs"}"#),
            ("str_replace_based_edit_tool", r#"{"command":"create","path":"a.rs","file_text":"x"}"#),
            ("edit_file", r#"{"command":"create","path":"a.rs","file_text":"x","old_str":null,"insert_line":0}"#),
            ("write_file", r#"{"path":"a.rs","content":"x","diff":"","edits":null}"#),
            ("apply_patch", "*** Begin Patch\n*** Add File: a.rs\n+y\n*** End Patch"),
            ("shell", r#"{"command":["apply_patch","*** Begin Patch\n*** Add File: a.rs\n+y\n*** End Patch"]}"#),
        ] {
            assert_eq!(actions(name, arguments), change("a.rs"), "{name}");
        }
    }

    #[test]
    fn a_patch_that_is_only_quoted_changes_nothing() {
        let patch = "*** Begin Patch\n*** Delete File: b.rs\n*** End Patch";
        let written = serde_json::json!({"file_path": "a.rs", "content": format!("How to patch:\n{patch}")});
        assert_eq!(actions("Write", &written.to_string()), change("a.rs"));
        for (line, expected) in [
            (format!("cat > a.rs <<'E'\n{patch}\nE"), change("a.rs")),
            (format!("apply_patch <<'E'\n{patch}\nE"), vec![Action::Effect(Effect::Remove("b.rs".into()))]),
            (format!("cd r && apply_patch '{patch}'"), vec![Action::Effect(Effect::Remove("r/b.rs".into()))]),
        ] {
            let arguments = serde_json::json!({"command": ["bash", "-lc", line]}).to_string();
            let found = actions("shell", &arguments).into_iter().flat_map(|action| match action {
                Action::Command(line) => super::effects(&line).into_iter().map(Action::Effect).collect(),
                other => vec![other],
            });
            assert_eq!(found.collect::<Vec<_>>(), expected, "{line}");
        }
    }

    #[test]
    fn a_script_is_recognized_by_what_it_writes() {
        let actions = actions("Write", r#"{"file_path":"/tmp/fix.py","content":"open('a.py', 'w').write(x)"}"#);
        let script = Effect::Script { path: "/tmp/fix.py".into(), writes: vec!["a.py".into()] };
        assert_eq!(actions, [change("/tmp/fix.py"), vec![Action::Effect(script)]].concat());
    }

    #[test]
    fn reading_changes_nothing() {
        for (name, arguments) in [
            ("Read", r#"{"file_path":"a.rs"}"#),
            ("str_replace_based_edit_tool", r#"{"command":"view","path":"a.rs"}"#),
            ("Grep", r#"{"path":"src","pattern":"x","content":true}"#),
            ("find_file", r#"{"path":"a.rs","text":"x"}"#),
            ("book_flight", r#"{"user":"u"}"#),
            ("create_directory", r#"{"path":"src/new"}"#),
            ("call_api", r#"{"path":"/api/users","data":{"name":"Ann"}}"#),
            ("call_api", r#"{"path":"/api/users.json","data":{"name":"Ann"}}"#),
            ("call_api", r#"{"path":"/api/users","data":"Ann"}"#),
            ("add_review_comment", r#"{"path":"a.rs","text":"x","line":3}"#),
            ("create_comment", r#"{"path":"a.rs","content":"x"}"#),
            ("ask_user", r#"{"file":"a.rs","text":"x"}"#),
            ("create_pull_request_review", r#"{"path":"a.rs","text":"x"}"#),
            ("remove_comments", r#"{"path":"a.rs"}"#),
            ("Read", "not json"),
        ] {
            assert_eq!(actions(name, arguments), [], "{name}");
        }
    }

    #[test]
    fn tools_that_change_what_was_said_of_a_file_change_it() {
        for (name, arguments) in [
            ("apply_review_edit", r#"{"path":"a.rs","old_string":"x","new_string":"y"}"#),
            ("fix_review_comments", r#"{"path":"a.rs","old_string":"x","new_string":"y"}"#),
            ("write_code_review_report", r#"{"file_path":"a.rs","content":"x"}"#),
            ("save_review", r#"{"path":"a.rs","content":"x"}"#),
            ("insert_comment", r#"{"path":"a.rs","line":3,"text":"x"}"#),
            ("delete_review_file", r#"{"path":"a.rs"}"#),
        ] {
            assert!(matches!(actions(name, arguments)[..], [Action::Effect(_), ..]), "{name}");
        }
    }

    #[test]
    fn commands_and_moves_are_recognized() {
        let command = vec![Action::Command(String::from("ls -l"))];
        for (name, arguments) in [
            ("Bash", r#"{"command":"ls -l","description":"List"}"#),
            ("shell", r#"{"command":["bash","-lc","ls -l"]}"#),
            ("exec_command", r#"{"cmd":"ls -l"}"#),
            ("run_command", r#"{"CommandLine":"\"ls -l\""}"#),
            ("shell", "ls -l"),
            ("shell", r#"{"command":["ls","-l"]}"#),
        ] {
            assert_eq!(actions(name, arguments), command, "{name}");
        }
        for (arguments, line) in [
            (r#"{"commands":["cd a && ls","rm 'b c'"]}"#, "cd a && ls\nrm 'b c'"),
            (r#"{"command":["git","commit","-m","It's all"]}"#, r"git commit -m 'It'\''s all'"),
            (r#"{"command":"\"./my run\" > out.txt \"y\""}"#, r#""./my run" > out.txt "y""#),
        ] {
            assert_eq!(actions("shell", arguments), [Action::Command(line.to_owned())]);
        }
        let moved = "*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** Delete File: c\n*** End Patch";
        assert_eq!(
            actions("apply_patch", moved),
            [Effect::Move { from: "a".into(), to: "b".into() }, Effect::Remove("c".into())].map(Action::Effect)
        );
        let moved = Effect::Move { from: "a.rs".into(), to: "b.rs".into() };
        assert_eq!(actions("move_file", r#"{"source":"a.rs","destination":"b.rs"}"#), [Action::Effect(moved)]);
        let tests = CheckRun { command: "run_tests".into(), ..CheckRun::default() };
        assert_eq!(actions("run_tests", "{}"), [Action::Effect(Effect::Check(tests))]);
    }
}
