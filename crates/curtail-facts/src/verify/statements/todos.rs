//! To-dos in lists, and their states.

use super::super::clauses::{Clause, labelled_list};
use super::super::fact::{Fact, Kind, State};
use super::super::languages::LANGUAGES;
use super::super::lexicon::content_words;
use super::super::voices::{Spoken, Voice};
use super::{bare, is_long};
use crate::Progress;
use crate::todos::progress_of_box;

/// The most to-dos, the last ones, that a list of to-dos changes.
const MOST_OPEN: usize = 400;

/// The most bytes before the words by which a heading of to-dos is known.
const LONGEST_ARTICLE: usize = 11;

/// The to-dos so far, each with its last state.
#[derive(Debug, Default)]
pub(super) struct Todos(Vec<Fact>);

impl Todos {
    /// Takes the to-dos of a text, which change the states of those that are known.
    pub(super) fn hear(&mut self, todos: Vec<Fact>) {
        for todo in todos {
            let mut last = self.0.iter_mut().rev().take(MOST_OPEN);
            if let Some(known) = last.find(|known| known.text == todo.text && !known.overtaken) {
                if known.state == todo.state {
                    known.message = todo.message;
                    continue;
                }
                known.overtaken = true;
            }
            self.0.push(todo);
        }
    }

    /// The facts; what is done is overtaken.
    pub(super) fn finish(self) -> Vec<Fact> {
        let todos = self.0.into_iter();
        todos.map(|todo| if todo.state == Some(State::Done) { todo.overtaken() } else { todo }).collect()
    }
}

/// The to-dos of a sentence or an item of a list.
pub(super) fn todos(clause: &Clause<'_>, spoken: &Spoken) -> Vec<Fact> {
    if !matches!(spoken.voice, Voice::Person | Voice::Model | Voice::Summary) || is_long(clause.text) {
        return Vec::new();
    }
    let todo = |text: &str, state| Fact::new(Kind::Todo, bare(text), spoken.message).in_state(state);
    let listed = listed_todo(clause).map(|(text, state)| todo(text, state)).filter(|todo| !todo.text.is_empty());
    let labelled = labelled_todos(clause.text).into_iter().map(|text| todo(text, State::Open));
    listed.into_iter().chain(labelled).collect()
}

/// The to-do that an item of a list is, and its state: it has a box, or its heading says so.
fn listed_todo<'t>(clause: &Clause<'t>) -> Option<(&'t str, State)> {
    let boxed = clause.text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    if let Some((mark, rest)) = boxed.filter(|(mark, _)| mark.len() <= '✓'.len_utf8()) {
        let progress = progress_of_box(mark)?;
        return Some((rest, if progress == Progress::Done { State::Done } else { State::Open }));
    }
    let heading = clause.heading.filter(|_| clause.is_item)?;
    let is_near = LANGUAGES.todo_heading.first_in(heading).is_some_and(|at| at <= LONGEST_ARTICLE);
    (is_near && !LANGUAGES.done_heading.are_in(heading)).then_some((clause.text, State::Open))
}

/// The to-dos of a line such as `Open: validate the rows, document the errors`.
fn labelled_todos(text: &str) -> Vec<&str> {
    let Some((label, items)) = labelled_list(text) else { return Vec::new() };
    if LANGUAGES.todo_heading.first_in(label) != Some(0) || LANGUAGES.done_heading.are_in(label) {
        return Vec::new();
    }
    items.filter(|item| !content_words(&bare(item)).is_empty()).collect()
}
