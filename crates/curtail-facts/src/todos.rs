//! To-do lists and plans, by the shape of the call that writes them: a list of objects with a text and a state, a list in
//! Markdown, or one item at a time.

use serde_json::{Map, Value};

use super::kinds::{Action, TodoChange};
use super::quotes::one_line;
use super::words::has_any;
use super::{Progress, Todo};

/// Words in the names of tools that keep to-do lists.
const LIST_WORDS: &[&str] = &["todo", "todos", "todowrite", "plan", "task", "tasks", "checklist", "tracker"];

/// Members that are a list of items, also if it is empty.
const LISTS: &[&str] = &["todos", "plan", "items", "task_list", "tasks", "checklist"];

/// Members that contain the text of an item, the best first.
const ITEM_TEXT_KEYS: &[&str] =
    &["content", "step", "title", "subject", "description", "text", "task", "label", "name"];

/// Those of them that name an item anew; the others only say more of it.
const NAME_KEYS: &[&str] = &["content", "step", "title", "subject"];

/// Members that contain the state of an item.
const STATE_KEYS: &[&str] = &["status", "state", "completed", "done"];

/// Members that identify an item.
const ID_KEYS: &[&str] = &["id", "taskId", "task_id", "key"];

/// States of finished items, and of those in progress.
const DONE_STATES: &[&str] =
    &["completed", "complete", "done", "finished", "cancelled", "canceled", "deleted", "skipped", "closed", "true"];
const BEGUN_STATES: &[&str] =
    &["in_progress", "in-progress", "inprogress", "in progress", "active", "doing", "started", "current"];

/// What a call does to the to-do list; `None` if nothing. `words` are the words of the tool's name.
pub(super) fn todo_action(words: &[String], members: &Map<String, Value>) -> Option<Action> {
    let is_of_list = has_any(words, LIST_WORDS);
    let lists = members.iter().filter_map(|(key, value)| Some((key, value.as_array()?)));
    let lists = lists.filter(|(key, list)| LISTS.contains(&key.as_str()) || is_of_list && !list.is_empty());
    let merges = is_of_list && members.get("merge").is_some_and(|merge| *merge == true);
    let mut lists = lists.map(|(_, list)| list);
    if merges && let Some(changes) = lists.clone().find_map(|list| list.iter().map(change).collect()) {
        return Some(Action::MergeTodos(changes));
    }
    let items = lists.find_map(|list| all_items(list).filter(|items| is_of_list || !items.is_empty()));
    if let Some(items) = items {
        return Some(Action::Todos(items));
    }
    if !is_of_list {
        return None;
    }
    if let Some(items) = members.values().filter_map(Value::as_str).map(markdown).find(|items| !items.is_empty()) {
        return Some(Action::Todos(items));
    }
    let key = first_text(members, ID_KEYS);
    let text = first_text(members, ITEM_TEXT_KEYS);
    let progress = first_text(members, STATE_KEYS).map(|state| progress(&state));
    match (key, text) {
        (key, Some(text)) if has_any(words, &["create", "add", "new"]) => {
            Some(Action::AddTodo(Todo { key, text, progress: progress.unwrap_or_default(), ..Todo::default() }))
        }
        (Some(key), _) if has_any(words, &["update", "set", "complete", "finish", "edit"]) => {
            let progress = progress.or_else(|| has_any(words, &["complete", "finish"]).then_some(Progress::Done));
            let text = first_text(members, NAME_KEYS);
            let change = TodoChange { key: Some(key), text, progress };
            (change.text.is_some() || progress.is_some()).then(|| Action::MergeTodos(vec![change]))
        }
        _ => None,
    }
}

/// An item of a list: an object with a text and a state.
fn item(value: &Value) -> Option<Todo> {
    let members = value.as_object()?;
    let text = first_text(members, ITEM_TEXT_KEYS)?;
    let state = first_text(members, STATE_KEYS)?;
    Some(Todo { key: first_text(members, ID_KEYS), text, progress: progress(&state), ..Todo::default() })
}

/// The items of a list, if all are.
fn all_items(list: &[Value]) -> Option<Vec<Todo>> {
    list.iter().map(item).collect()
}

/// What an item of a list that is merged changes: an object with a text, or with an id and a state.
fn change(value: &Value) -> Option<TodoChange> {
    let members = value.as_object()?;
    let key = first_text(members, ID_KEYS);
    let text = first_text(members, ITEM_TEXT_KEYS);
    let progress = first_text(members, STATE_KEYS).map(|state| progress(&state));
    (text.is_some() || key.is_some() && progress.is_some()).then_some(TodoChange { key, text, progress })
}

/// The first of these members that is not empty, as text.
fn first_text(members: &Map<String, Value>, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| match members.get(*name)? {
        Value::String(text) => Some(one_line(text)).filter(|text| !text.is_empty()),
        value @ (Value::Bool(_) | Value::Number(_)) => Some(value.to_string()),
        _ => None,
    })
}

fn progress(state: &str) -> Progress {
    let state = state.to_lowercase();
    match state.as_str() {
        state if DONE_STATES.contains(&state) => Progress::Done,
        state if BEGUN_STATES.contains(&state) => Progress::InProgress,
        _ => Progress::Pending,
    }
}

/// The items of a list in Markdown: `- [ ] open`, `- [x] done`, `1. [completed] done`.
fn markdown(text: &str) -> Vec<Todo> {
    let items = text.lines().filter_map(|line| {
        let line = line.trim_start().trim_start_matches(['-', '*', '+', '•', ' ']);
        let line = line.trim_start_matches(|c: char| c.is_ascii_digit() || ".)".contains(c)).trim_start();
        let (mark, text) = line.strip_prefix('[')?.split_once(']')?;
        let progress = progress_of_box(mark)?;
        let text = one_line(text);
        (!text.is_empty()).then(|| Todo { text, progress, ..Todo::default() })
    });
    items.collect()
}

/// How far an item is whose box has this mark, or this word.
pub(super) fn progress_of_box(mark: &str) -> Option<Progress> {
    match mark.trim() {
        "" | "pending" => Some(Progress::Pending),
        "x" | "X" | "✓" | "✔" | "completed" => Some(Progress::Done),
        "~" | "-" | ">" | "/" | "in_progress" => Some(Progress::InProgress),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Progress, Todo, TodoChange};
    use crate::calls::actions;
    use crate::kinds::Action;

    fn list(name: &str, arguments: &str) -> Vec<(String, Progress)> {
        match actions(name, arguments).pop() {
            Some(Action::Todos(items)) => items.into_iter().map(|item| (item.text, item.progress)).collect(),
            other => panic!("{name}: {other:?}"),
        }
    }

    #[test]
    fn lists_of_any_agent_are_read() {
        let expected = [
            (String::from("One"), Progress::Done),
            (String::from("Two"), Progress::InProgress),
            (String::from("Three"), Progress::Pending),
        ];
        for (name, arguments) in [
            (
                "TodoWrite",
                r#"{"todos":[{"content":"One","status":"completed"},{"content":"Two","status":"in_progress"},{"content":"Three","status":"pending"}]}"#,
            ),
            (
                "update_plan",
                r#"{"explanation":"…","plan":[{"step":"One","status":"completed"},{"step":"Two","status":"in_progress"},{"step":"Three","status":"pending"}]}"#,
            ),
            (
                "write_todos",
                r#"{"todos":[{"description":"One","status":"cancelled"},{"description":"Two","status":"in_progress"},{"description":"Three","status":"pending"}]}"#,
            ),
            (
                "task_tracker",
                r#"{"command":"plan","task_list":[{"title":"One","status":"done"},{"title":"Two","status":"in_progress"},{"title":"Three","status":"todo"}]}"#,
            ),
            ("update_todo_list", r#"{"todos":"[x] One\n[-] Two\n[ ] Three"}"#),
            ("update_todo_list", r#"{"todos":"1) [✔] One\n• [-] Two\n* [ ] Three"}"#),
            ("TodoWrite", r#"{"todos":"1. [completed] One\n2. [in_progress] Two\n3. [pending] Three"}"#),
        ] {
            assert_eq!(list(name, arguments), expected, "{name}");
        }
        assert_eq!(list("update_plan", r#"{"explanation":"All done.","plan":[]}"#), []);
        assert_eq!(list("todowrite", r#"{"todos":[]}"#), []);
        for (name, arguments) in [
            ("TaskUpdate", r#"{"addBlockedBy":[],"taskId":"1","status":"in_progress"}"#),
            ("update_records", r#"{"rows":[{"name":"Ann","status":"active"}]}"#),
        ] {
            let found = actions(name, arguments);
            assert!(!found.iter().any(|action| matches!(action, Action::Todos(_))), "{name}: {found:?}");
        }
        assert_eq!(actions("update_records", r#"{"merge":true,"items":[{"id":"1","name":"Ann"}]}"#), []);
    }

    #[test]
    fn items_come_one_by_one() {
        let added = actions("TaskCreate", r#"{"subject":"One","description":"All of it"}"#);
        assert_eq!(added, [Action::AddTodo(Todo { text: "One".into(), ..Todo::default() })]);
        let change = |text: Option<&str>, progress| {
            Action::MergeTodos(vec![TodoChange { key: Some("2".into()), text: text.map(String::from), progress }])
        };
        let update = r#"{"taskId":"2","status":"completed","description":"More"}"#;
        assert_eq!(actions("TaskUpdate", update), [change(None, Some(Progress::Done))]);
        assert_eq!(actions("TaskUpdate", r#"{"taskId":"2","subject":"Two"}"#), [change(Some("Two"), None)]);
        let merged = r#"{"merge":true,"todos":[{"id":"2","status":"completed"}]}"#;
        assert_eq!(actions("TodoWrite", merged), [change(None, Some(Progress::Done))]);
        assert_eq!(actions("TaskUpdate", r#"{"taskId":"2","addBlocks":["3"]}"#), []);
        assert_eq!(actions("TaskList", "{}"), []);
        assert_eq!(actions("Task", r#"{"description":"Look","prompt":"…"}"#), []);
    }
}
