//! Facts that somebody states in words: rules, the task, the last instruction, decisions, to-dos in a list, commands that a person
//! gives.

mod commands;
mod overtaken;
mod quotes;
mod rules;
mod tasks;
mod todos;

use super::clauses::{Clause, each_clause, segments};
use super::fact::{Fact, Kind};
use super::fact_grammars::find_grammars;
use super::languages::LANGUAGES;
use super::voices::{Spoken, Voice};
use commands::commands;
use overtaken::{Permission, Replacement, mark_lifted, mark_overtaken};
use quotes::{mask_quotations, without_json, without_quotes};
use rules::{is_rule, is_rule_heading, labelled_rules};
use tasks::Tasks;
use todos::{Todos, todos};

pub(super) use overtaken::replaced_words;

/// The longest statement, in characters.
const LONGEST: usize = 400;

/// The most statements of one kind.
const MOST: usize = 2000;

/// The rank of a rule of a project file, among those of [`super::facts`]: an agent can read it again.
const PROJECT_RULE: u32 = 65;

/// How many bytes before words of a decision are searched for a negation.
const NEAR: usize = 24;

/// What was stated so far.
#[derive(Debug, Default)]
pub(super) struct Statements {
    rules: Vec<Fact>,
    decisions: Vec<Fact>,
    commands: Vec<Fact>,
    todos: Todos,
    tasks: Tasks,
    replacements: Vec<Replacement>,
    permissions: Vec<Permission>,
}

impl Statements {
    /// Reads a text.
    pub(super) fn hear(&mut self, spoken: &Spoken) {
        if matches!(spoken.voice, Voice::Arguments | Voice::Content | Voice::Result | Voice::Program) {
            return;
        }
        if spoken.voice == Voice::Summary {
            self.tasks.hear_summary();
        }
        // What a person pastes may belong to what is asked.
        let is_declared = matches!(spoken.voice, Voice::Instructions | Voice::Project);
        let text = if is_declared { without_quotes(&without_json(&spoken.text)) } else { without_quotes(&spoken.text) };
        let document = if spoken.voice == Voice::Person { document_in(&text) } else { text.len() };
        let mut rest: Vec<String> = Vec::new();
        let mut listed = Vec::new();
        each_clause(&text, |clause| {
            let is_pasted = clause.at >= document;
            let asked = self.hear_clause(&clause, spoken, is_pasted);
            // The title of a document says what is asked, if a person says little else.
            let is_title = clause.is_heading && rest.len() == 1;
            if !is_pasted || is_title {
                rest.extend(asked);
            }
            listed.extend(todos(&clause, spoken));
        });
        self.todos.hear(listed);
        if spoken.voice == Voice::Person {
            let own: Vec<&str> = spoken.text.lines().filter(|line| !line.trim_start().starts_with('>')).collect();
            let own = own.join("\n");
            let given = commands(&own).into_iter().map(|command| Fact::new(Kind::Command, command, spoken.message));
            self.commands.extend(given);
            let asked = if rest.is_empty() { spoken.text.clone() } else { rest.join("\n") };
            self.tasks.hear(&asked, spoken.message);
        }
    }

    /// Reads a sentence; what it says besides rules and decisions. In a document that somebody pasted, only lists under such a
    /// heading are rules.
    fn hear_clause(&mut self, clause: &Clause<'_>, spoken: &Spoken, is_pasted: bool) -> Option<String> {
        let introduces = clause.is_heading && !(spoken.voice == Voice::Person && asks_before_list(clause.text));
        if introduces || clause.text.ends_with(['?', '？']) {
            return Some(clause.text.to_owned());
        }
        let masked = mask_quotations(clause.text);
        let labelled = labelled_rules(&masked);
        let is_listed = labelled.is_some() || clause.is_item && clause.heading.is_some_and(is_rule_heading);
        let may_rule = !is_pasted || is_listed;
        let parts = match labelled {
            _ if is_long(clause.text) => Vec::new(),
            Some(rules) => rules,
            None => segments(&masked),
        };
        let mut others: Vec<&str> = Vec::new();
        let mut rules = 0;
        for segment in parts {
            let start = segment.as_ptr().addr() - masked.as_ptr().addr();
            let words = &clause.text[start..start + segment.len()];
            if may_rule && is_rule(segment, spoken.voice, is_listed) && self.rules.len() < MOST {
                let rule = Fact::new(Kind::Rule, bare(words), spoken.message);
                self.rules.push(if spoken.voice == Voice::Project { rule.ranked(PROJECT_RULE) } else { rule });
                rules += 1;
            } else {
                others.push(words);
            }
        }
        let is_decision = matches!(spoken.voice, Voice::Person | Voice::Model | Voice::Summary)
            && !clause.text.starts_with(['{', '['])
            && !is_long(clause.text)
            && (decides(clause.text)
                || spoken.voice == Voice::Person && LANGUAGES.decided_by_person.are_in(clause.text))
            && !negates_decision(clause.text);
        if is_decision && rules == 0 && self.decisions.len() < MOST {
            self.decisions.push(Fact::new(Kind::Decision, bare(clause.text), spoken.message));
        }
        if matches!(spoken.voice, Voice::Person | Voice::Model) {
            self.replacements.extend(Replacement::of(clause.text, spoken.message));
        }
        if spoken.voice == Voice::Person && LANGUAGES.permit.are_in(clause.text) {
            self.permissions.push(Permission::of(clause.text, spoken.message));
        }
        match rules {
            _ if is_decision => None,
            0 => Some(clause.text.to_owned()),
            _ => (!others.is_empty()).then(|| others.join(", ")),
        }
    }

    /// The facts, with those that later ones overtook.
    pub(super) fn finish(mut self) -> Vec<Fact> {
        find_grammars([&mut self.rules, &mut self.decisions, &mut self.commands]);
        for facts in [&mut self.rules, &mut self.decisions, &mut self.commands] {
            mark_overtaken(facts, &self.replacements);
        }
        mark_lifted(&mut self.rules, &self.permissions);
        [self.todos.finish(), self.rules, self.decisions, self.commands, self.tasks.finish()].concat()
    }
}

/// Where a document begins that a person pasted below own words: at its title, if it has more headings or is announced.
fn document_in(text: &str) -> usize {
    let mut own = "";
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with("# ") && !own.is_empty() {
            let has_sections = text[at + line.len()..].lines().any(|line| line.starts_with("##"));
            return if has_sections || own.ends_with([':', '：']) { at } else { text.len() };
        }
        if !line.trim().is_empty() {
            own = line.trim();
        }
        at += line.len();
    }
    text.len()
}

/// Whether a text is too long for a statement.
fn is_long(text: &str) -> bool {
    text.chars().count() > LONGEST
}

/// Whether a line before a list or a quotation is a sentence that asks for something, as opposed to a title.
fn asks_before_list(text: &str) -> bool {
    text.split_whitespace().count() >= 5 && !LANGUAGES.rule_heading.are_in(text) && !text.contains("**")
}

/// Whether a sentence says that something is decided, or has a label that does.
fn decides(text: &str) -> bool {
    LANGUAGES.decided.are_in(text) || decision_label(text).is_some()
}

/// Where the label ends with which a decision begins: `Design decision: use tabs`.
pub(super) fn decision_label(text: &str) -> Option<usize> {
    let bare = text.trim_start_matches('*');
    let (start, end) = *LANGUAGES.decision_label.places(bare).first()?;
    let rest = bare[end..].trim_start_matches(['*', ' ', '\u{a0}']);
    let colon = rest.chars().next().filter(|c| start == 0 && matches!(c, ':' | '：'))?;
    Some(text.len() - rest.len() + colon.len_utf8())
}

/// Whether a sentence says that something is not decided.
fn negates_decision(text: &str) -> bool {
    let Some(at) = LANGUAGES.decided.first_in(text) else { return false };
    let before = text[..at].rsplit([',', ';', '，']).next().unwrap_or_default();
    let near = before.ceil_char_boundary(before.len().saturating_sub(NEAR));
    LANGUAGES.negation.are_in(&before[near..])
}

/// A statement without the marks of a list around it.
fn bare(text: &str) -> String {
    text.replace("**", "")
        .trim()
        .trim_start_matches(['*', '_', '-', ' '])
        .trim_end_matches(['*', '_', ' '])
        .trim_end_matches(['.', '。', ';', '；', ',', ':', '：'])
        .to_owned()
}
