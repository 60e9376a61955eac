//! What a person asks: the task, the last instruction, and those before them.

use super::super::clauses::each_clause;
use super::super::fact::{Fact, Kind};
use super::super::languages::LANGUAGES;
use super::super::lexicon::content_words;
use super::super::tokens::is_han;
use super::LONGEST;

/// How much of a message is searched for words that announce a new plan, in bytes.
const BEGINNING: usize = 400;

/// What a person asked so far.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    /// What a person said, without rules.
    asked: Vec<Asked>,
    /// Whether a summary comes before the first of them: the task is in it.
    is_summarized: bool,
}

/// A message of a person.
#[derive(Debug)]
struct Asked {
    text: String,
    message: Option<usize>,
    is_new_plan: bool,
}

impl Asked {
    /// Whether it asks for something: a greeting or a word of assent does not.
    fn asks(&self) -> bool {
        content_words(&self.text).len() > 1
    }
}

impl Tasks {
    /// Reads a summary.
    pub(super) fn hear_summary(&mut self) {
        self.is_summarized |= self.asked.is_empty();
    }

    /// Reads what a person said in a message.
    pub(super) fn hear(&mut self, text: &str, message: Option<usize>) {
        let text = text.trim();
        if !text.is_empty() {
            let is_new_plan = LANGUAGES.new_plan.are_in(&text[..text.floor_char_boundary(BEGINNING)]);
            self.asked.push(Asked { text: text.to_owned(), message, is_new_plan });
        }
    }

    /// The task, the last instruction, and those before them.
    pub(super) fn finish(&self) -> Vec<Fact> {
        let mut asking = self.asked.iter().filter(|asked| asked.asks());
        let Some(first) = asking.clone().next().or(self.asked.first()) else { return Vec::new() };
        let task = self.asked.iter().skip(1).rev().find(|asked| asked.is_new_plan).unwrap_or(first);
        let last = asking.next_back().or(self.asked.last()).unwrap_or(first);
        let mut facts = Vec::new();
        for asked in &self.asked {
            let text = main_words(&asked.text, asked.is_new_plan);
            let follows_summary = self.is_summarized && !asked.is_new_plan;
            if std::ptr::eq(asked, task) && !follows_summary {
                facts.push(Fact::new(Kind::Task, text, asked.message));
            } else if std::ptr::eq(asked, last) {
                facts.push(Fact::new(Kind::Instruction, text, asked.message));
            } else if std::ptr::eq(asked, first) && !follows_summary || asked.is_new_plan {
                facts.push(Fact::new(Kind::Task, text, asked.message).overtaken());
            } else {
                facts.push(Fact::new(Kind::Instruction, text, asked.message).overtaken());
            }
        }
        facts
    }
}

/// Sentences of a task that are compared.
const SENTENCES: usize = 4;

/// The beginning of what a person asks, without greetings and without the words that announce a change of plan.
fn main_words(text: &str, is_new_plan: bool) -> String {
    let mut found: Vec<String> = Vec::new();
    each_clause(text, |clause| {
        let words =
            if is_new_plan { LANGUAGES.new_plan.without(new_part(clause.text)) } else { clause.text.to_owned() };
        let words = words.trim().trim_start_matches([':', ',', '.', '-', '，', '：']).trim().to_owned();
        // A name or a date alone answers a question.
        let carries = content_words(&words).len() > 1 && says_something(&words);
        let length: usize = found.iter().map(|words| words.chars().count()).sum();
        if carries && found.len() < SENTENCES && length < LONGEST {
            found.push(words);
        }
    });
    if found.is_empty() {
        return text.lines().next().unwrap_or_default().trim().to_owned();
    }
    found.join(" ").chars().take(LONGEST * 2).collect()
}

/// A sentence about a new plan without the old one, which it may name at its end.
fn new_part(text: &str) -> &str {
    let old = LANGUAGES.instead.first_in(text).filter(|at| content_words(&text[..*at]).len() > 1);
    &text[..old.unwrap_or(text.len())]
}

/// Whether a sentence has a word that is no name and announces nothing.
fn says_something(text: &str) -> bool {
    let mut words = text.split_whitespace();
    words.any(|word| word.starts_with(|c: char| c.is_lowercase() || is_han(c)))
        && LANGUAGES.announcing.first_in(text) != Some(0)
}
