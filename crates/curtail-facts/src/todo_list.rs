//! The to-do list as the calls leave it.

use super::call_result::CallWithResult;
use super::kinds::TodoChange;
use super::{Facts, MAX_FACTS, Todo, keep_newest};

impl Facts {
    /// Replaces the list.
    pub(super) fn set_todos(&mut self, items: Vec<Todo>, call: &CallWithResult<'_>) {
        self.todos = items.into_iter().map(|item| Todo { at: call.at.clone(), ..item }).collect();
        keep_newest(&mut self.todos, MAX_FACTS);
        self.trace_todos();
    }

    /// Changes the items with the same ids, and adds the others that have a text. What changes leave out stays as it is.
    pub(super) fn merge_todos(&mut self, changes: Vec<TodoChange>, call: &CallWithResult<'_>) {
        for change in changes {
            match self.todos.iter_mut().find(|known| known.key.is_some() && known.key == change.key) {
                Some(known) => {
                    known.text = change.text.unwrap_or_else(|| std::mem::take(&mut known.text));
                    if let Some(progress) = change.progress {
                        known.progress = progress;
                        known.at = call.at.clone();
                    }
                }
                None if change.text.is_some() => {
                    self.todos.extend(change.into_todo().map(|item| Todo { at: call.at.clone(), ..item }));
                }
                None => {}
            }
        }
        keep_newest(&mut self.todos, MAX_FACTS);
        self.trace_todos();
    }

    /// Adds an item. Without an id of its own, it has the one that the result gives it, or its number.
    pub(super) fn add_todo(&mut self, item: Todo, call: &CallWithResult<'_>) {
        let key = item.key.clone().or_else(|| call.result_text().and_then(key_in));
        let key = key.or_else(|| Some((self.todos.len() + 1).to_string()));
        self.todos.push(Todo { key, at: call.at.clone(), ..item });
        keep_newest(&mut self.todos, MAX_FACTS);
        self.trace_todos();
    }
}

/// The id that the result of a call gives to a new item: the first number after a `#`.
fn key_in(result: &str) -> Option<String> {
    result.split('#').skip(1).find_map(|after| {
        let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
        (!digits.is_empty()).then_some(digits)
    })
}

#[cfg(test)]
mod tests {
    use super::key_in;

    #[test]
    fn the_result_names_the_id_of_a_new_item() {
        assert_eq!(key_in("Task #12 created successfully: One").as_deref(), Some("12"));
        assert_eq!(key_in("Created # 12"), None);
    }
}
