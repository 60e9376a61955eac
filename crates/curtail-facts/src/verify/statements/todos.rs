//! To-dos in lists, and their states.

use foldhash::HashMap;

use super::super::clauses::{Clause, labelled_list};
use super::super::fact::{Fact, Kind, State};
use super::super::languages::LANGUAGES;
use super::super::lexicon::content_words;
use super::super::voices::{Spoken, Voice};
use super::{bare, is_long};
use crate::Progress;
use crate::todos::progress_of_box;

/// The most bytes before the words by which a heading of to-dos is known.
const LONGEST_ARTICLE: usize = 11;

/// What kind of list a to-do is in: a newer list replaces the last one of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct List {
    writer: Voice,
    has_boxes: bool,
}

/// A to-do as a text says it.
#[derive(Debug)]
pub(super) struct Todo {
    fact: Fact,
    /// Its list; `None` if it is alone behind a label such as `TODO:`, which replaces nothing.
    list: Option<List>,
}

/// The to-dos so far, each with its last state.
#[derive(Debug, Default)]
pub(super) struct Todos {
    todos: Vec<Todo>,
    /// Where each text is last.
    last: HashMap<String, usize>,
    /// The lists that hold, with the numbers of their to-dos.
    lists: Vec<(List, Vec<usize>)>,
}

impl Todos {
    /// Takes the to-dos of a text. They change the states of those that are known, and overtake what a newer list leaves out.
    pub(super) fn hear(&mut self, heard: Vec<Todo>) {
        let Some(message) = heard.first().map(|todo| todo.fact.message) else { return };
        // A text that only ticks items is no new list.
        let open = heard.iter().filter(|todo| todo.fact.state == Some(State::Open));
        let mut written: Vec<List> = open.filter_map(|todo| todo.list).collect();
        written.dedup();
        for todo in heard {
            self.set(todo);
        }
        let todos = &mut self.todos;
        for (_, numbers) in self.lists.iter_mut().filter(|(list, _)| written.contains(list)) {
            numbers.retain(|number| {
                let fact = &mut todos[*number].fact;
                fact.overtaken |= fact.message != message;
                !fact.overtaken
            });
        }
    }

    /// Sets the state of a to-do that is known, or adds it.
    fn set(&mut self, todo: Todo) {
        if let Some(number) = self.last.get(&todo.fact.text) {
            let known = &mut self.todos[*number].fact;
            if !known.overtaken && known.state == todo.fact.state {
                known.message = todo.fact.message;
                return;
            }
            known.overtaken = true;
        }
        let number = self.todos.len();
        self.last.insert(todo.fact.text.clone(), number);
        if let Some(list) = todo.list {
            match self.lists.iter_mut().find(|(known, _)| *known == list) {
                Some((_, numbers)) => numbers.push(number),
                None => self.lists.push((list, vec![number])),
            }
        }
        self.todos.push(todo);
    }

    /// The facts; what is done is overtaken.
    pub(super) fn finish(self) -> Vec<Fact> {
        let facts = self.todos.into_iter().map(|todo| todo.fact);
        facts.map(|fact| if fact.state == Some(State::Done) { fact.overtaken() } else { fact }).collect()
    }
}

/// The to-dos of a sentence or an item of a list.
pub(super) fn todos(clause: &Clause<'_>, spoken: &Spoken) -> Vec<Todo> {
    if !matches!(spoken.voice, Voice::Person | Voice::Model | Voice::Summary) || is_long(clause.text) {
        return Vec::new();
    }
    let fact = |text: &str, state| Fact::new(Kind::Todo, bare(text), spoken.message).in_state(state);
    let list = |has_boxes| Some(List { writer: spoken.voice, has_boxes });
    let mut found = Vec::new();
    if let Some((text, state)) = boxed_todo(clause.text) {
        found.push(Todo { fact: fact(text, state), list: list(true) });
    } else if is_under_todo_heading(clause) {
        found.push(Todo { fact: fact(clause.text, State::Open), list: list(false) });
    }
    found.retain(|todo| !todo.fact.text.is_empty());
    let labelled = labelled_todos(clause.text);
    let is_list = labelled.len() > 1;
    found.extend(
        labelled.into_iter().map(|text| Todo { fact: fact(text, State::Open), list: list(false).filter(|_| is_list) }),
    );
    found
}

/// The to-do behind a box, and its state.
fn boxed_todo(text: &str) -> Option<(&str, State)> {
    let (mark, rest) = text.strip_prefix('[')?.split_once(']')?;
    let progress = progress_of_box(mark)?;
    Some((rest, if progress == Progress::Done { State::Done } else { State::Open }))
}

/// Whether the heading of a list says that its items are to be done.
fn is_under_todo_heading(clause: &Clause<'_>) -> bool {
    let heading = clause.heading.filter(|_| clause.is_item).unwrap_or_default();
    let is_near = LANGUAGES.todo_heading.first_in(heading).is_some_and(|at| at <= LONGEST_ARTICLE);
    is_near && !LANGUAGES.done_heading.are_in(heading)
}

/// The to-dos of a line such as `Open: validate the rows, document the errors`.
fn labelled_todos(text: &str) -> Vec<&str> {
    let Some((label, items)) = labelled_list(text) else { return Vec::new() };
    if LANGUAGES.todo_heading.first_in(label) != Some(0) || LANGUAGES.done_heading.are_in(label) {
        return Vec::new();
    }
    items.filter(|item| !content_words(&bare(item)).is_empty()).collect()
}
