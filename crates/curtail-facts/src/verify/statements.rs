//! Facts that somebody states in words: rules, the task, the last instruction, decisions, to-dos in a list, commands that a person
//! gives.

use super::clauses::{Clause, each_clause, segments, without_condition};
use super::fact::{Fact, Kind, State};
use super::languages::{LANGUAGES, are_opposite, forms, negates, same_word, without_ge};
use super::lexicon::han_pairs;
use super::tokens::{Class, tokens};
use super::voices::{Spoken, Voice};
use crate::effects::plain_commands;
use curtail_core::steps;

/// The longest statement, in bytes.
const LONGEST: usize = 400;

/// The rank of a rule of a project file, among those of [`super::facts`]: an agent can read it again.
const PROJECT_RULE: u32 = 65;

/// The most statements of one kind.
const MOST: usize = 2000;

/// The most to-dos, the last ones, that a list of to-dos changes.
const MOST_OPEN: usize = 400;

/// The most sentences that replace something, of which the last ones count.
const MOST_REPLACEMENTS: usize = 500;

/// The most sentences that lift a rule, of which the last ones count.
const MOST_PERMITTING: usize = 200;

/// What was stated so far.
#[derive(Debug, Default)]
pub(super) struct Statements {
    rules: Vec<Fact>,
    decisions: Vec<Fact>,
    todos: Vec<Fact>,
    commands: Vec<Fact>,
    /// What a person said, without rules, each with its message.
    asked: Vec<Asked>,
    /// Whether a summary comes before the first of them: the task is in it.
    is_summarized: bool,
    /// Sentences that replace something by something else, each with its message.
    replacing: Vec<(String, Option<usize>)>,
    /// Sentences of a person that lift a rule, each with its message.
    permitting: Vec<(Vec<String>, Option<usize>)>,
}

/// A message of a person.
#[derive(Debug)]
struct Asked {
    text: String,
    message: Option<usize>,
    is_new_plan: bool,
}

impl Statements {
    /// Reads a text.
    pub(super) fn hear(&mut self, spoken: &Spoken) {
        if matches!(spoken.voice, Voice::Arguments | Voice::Content | Voice::Result | Voice::Program) {
            return;
        }
        self.is_summarized |= spoken.voice == Voice::Summary && self.asked.is_empty();
        let text = without_quotes(&spoken.text);
        let document = if spoken.voice == Voice::Person { document_in(&text) } else { text.len() };
        let mut rest: Vec<String> = Vec::new();
        let mut todos = Vec::new();
        each_clause(&text, |clause| {
            let is_pasted = clause.text.as_ptr() as usize - text.as_ptr() as usize >= document;
            let asked = self.hear_clause(&clause, spoken, is_pasted);
            // The title of a document says what is asked, if a person says little else.
            let is_title = clause.is_heading && rest.len() == 1;
            if !is_pasted || is_title {
                rest.extend(asked);
            }
            todos.extend(todo(&clause, spoken));
            todos.extend(labelled_todos(&clause, spoken));
        });
        self.hear_todos(todos);
        if spoken.voice == Voice::Person {
            self.hear_person(&spoken.text, &rest, spoken.message);
        }
    }

    /// Reads a sentence; what it says besides rules and decisions. In a document that somebody pasted, only lists under such a
    /// heading are rules.
    fn hear_clause(&mut self, clause: &Clause<'_>, spoken: &Spoken, is_pasted: bool) -> Option<String> {
        let introduces = clause.is_heading && !(spoken.voice == Voice::Person && asks_before_list(clause.text));
        if introduces || clause.text.ends_with(['?', '？']) {
            return Some(clause.text.to_owned());
        }
        let text = without_quotations(clause.text);
        let labelled = labelled_rules(&text);
        let is_listed = labelled.is_some() || clause.is_item && clause.heading.is_some_and(is_rule_heading);
        let may_rule = !is_pasted || is_listed;
        let parts = match labelled {
            _ if clause.text.len() > LONGEST => Vec::new(),
            Some(rules) => rules,
            None => segments(&text),
        };
        let mut others: Vec<&str> = Vec::new();
        let mut rules = 0;
        for segment in parts {
            if may_rule && is_rule(segment, spoken.voice, is_listed) && self.rules.len() < MOST {
                let rule = Fact::new(Kind::Rule, bare(segment), spoken.message);
                self.rules.push(if spoken.voice == Voice::Project { rule.ranked(PROJECT_RULE) } else { rule });
                rules += 1;
            } else {
                others.push(segment);
            }
        }
        let is_decision = matches!(spoken.voice, Voice::Person | Voice::Model | Voice::Summary)
            && !clause.text.starts_with(['{', '['])
            && clause.text.len() <= LONGEST
            && LANGUAGES.decided.are_in(clause.text)
            && !negates_decision(clause.text);
        if is_decision && rules == 0 && self.decisions.len() < MOST {
            self.decisions.push(Fact::new(Kind::Decision, bare(clause.text), spoken.message));
        }
        if matches!(spoken.voice, Voice::Person | Voice::Model) && LANGUAGES.instead.are_in(clause.text) {
            self.replacing.push((clause.text.to_owned(), spoken.message));
        }
        if spoken.voice == Voice::Person && LANGUAGES.permit.are_in(clause.text) {
            self.permitting.push((content_words(clause.text), spoken.message));
        }
        match rules {
            _ if is_decision => None,
            0 => Some(clause.text.to_owned()),
            _ => (!others.is_empty()).then(|| others.join(", ")),
        }
    }

    fn hear_person(&mut self, whole: &str, rest: &[String], message: Option<usize>) {
        let mut before = "";
        for (nth, span) in whole.split('`').enumerate() {
            let near = before.ceil_char_boundary(before.len().saturating_sub(24));
            if nth % 2 == 1 && is_command(span) && !LANGUAGES.instead.are_in(&before[near..]) {
                self.commands.push(Fact::new(Kind::Command, span.trim(), message));
            }
            before = span;
        }
        let text = if rest.is_empty() { whole.to_owned() } else { rest.join("\n") };
        let text = text.trim();
        if !text.is_empty() {
            let is_new_plan = LANGUAGES.new_plan.are_in(text.get(..text.floor_char_boundary(400)).unwrap_or(text));
            self.asked.push(Asked { text: text.to_owned(), message, is_new_plan });
        }
    }

    /// Takes the to-dos of a text, which change the states of those that are known.
    fn hear_todos(&mut self, todos: Vec<Fact>) {
        for todo in todos {
            if let Some(known) =
                self.todos.iter_mut().rev().take(MOST_OPEN).find(|known| known.text == todo.text && !known.overtaken)
            {
                if known.state == todo.state {
                    known.message = todo.message;
                    continue;
                }
                known.overtaken = true;
            }
            self.todos.push(todo);
        }
    }

    /// The facts, with those that later ones overtook.
    pub(super) fn finish(mut self) -> Vec<Fact> {
        mark_overtaken(&mut self.rules, &self.replacing);
        for rule in &mut self.rules {
            let words = content_words(&rule.text);
            let has = |said: &[String]| words.iter().all(|word| said.iter().any(|other| same_word(other, word)));
            rule.overtaken |= self
                .permitting
                .iter()
                .rev()
                .take(MOST_PERMITTING)
                .any(|(said, message)| *message > rule.message && has(said));
        }
        mark_overtaken(&mut self.decisions, &self.replacing);
        mark_overtaken(&mut self.commands, &self.replacing);
        let is_done = |todo: &Fact| todo.state == Some(State::Done);
        let todos = std::mem::take(&mut self.todos)
            .into_iter()
            .map(|todo| if is_done(&todo) { todo.overtaken() } else { todo });
        let mut facts: Vec<Fact> = todos.collect();
        facts.append(&mut self.rules);
        facts.append(&mut self.decisions);
        facts.append(&mut self.commands);
        facts.extend(self.tasks());
        facts
    }

    /// The task, the last instruction, and those before them.
    fn tasks(&self) -> Vec<Fact> {
        // A greeting or a word of assent asks for nothing.
        let asks = |asked: &&Asked| content_words(&asked.text).len() > 1;
        let Some(first) = self.asked.iter().find(asks).or(self.asked.first()) else { return Vec::new() };
        let task = self.asked.iter().skip(1).rev().find(|asked| asked.is_new_plan).unwrap_or(first);
        let last = self.asked.iter().rev().find(asks).or(self.asked.last()).unwrap_or(first);
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

/// The rules of a line such as `Rules: no new dependencies, keep the API`.
fn labelled_rules(text: &str) -> Option<Vec<&str>> {
    let (label, rest) = text.split_once([':', '：']).filter(|(label, _)| label.len() <= 32)?;
    if LANGUAGES.rule_heading.first_in(label) != Some(0) || label.split(' ').count() > 2 {
        return None;
    }
    let items = rest.split([',', ';', '，', '；', '、']).map(str::trim);
    let bare = |item| {
        let (start, end) = LANGUAGES.and.places(item).first().copied().unwrap_or_default();
        if start == 0 { str::trim(&item[end..]) } else { item }
    };
    Some(items.map(bare).filter(|item| !item.is_empty()).collect())
}

/// Whether a line before a list or a quotation is a sentence that asks for something, as opposed to a title.
fn asks_before_list(text: &str) -> bool {
    text.split_whitespace().count() >= 5 && !LANGUAGES.rule_heading.are_in(text) && !text.contains("**")
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

/// Whether a heading introduces rules: it is short, and names them.
fn is_rule_heading(heading: &str) -> bool {
    heading.split_whitespace().count() <= 4 && LANGUAGES.rule_heading.are_in(heading)
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
        let length: usize = found.iter().map(String::len).sum();
        if carries && found.len() < SENTENCES && length < LONGEST {
            found.push(words);
        }
    });
    if found.is_empty() {
        return text.lines().next().unwrap_or_default().trim().to_owned();
    }
    let text = found.join(" ");
    text[..text.floor_char_boundary(LONGEST * 2)].to_owned()
}

/// A sentence about a new plan without the old one, which it may name at its end.
fn new_part(text: &str) -> &str {
    let old = LANGUAGES.instead.first_in(text).filter(|at| content_words(&text[..*at]).len() > 1);
    &text[..old.unwrap_or(text.len())]
}

/// Whether a sentence has a word that is no name and announces nothing.
fn says_something(text: &str) -> bool {
    let is_plain = |c: char| c.is_lowercase() || super::tokens::is_han(c);
    text.split_whitespace().any(|word| word.starts_with(is_plain)) && LANGUAGES.announcing.first_in(text) != Some(0)
}

/// Whether a segment gives a rule.
fn is_rule(segment: &str, voice: Voice, is_listed: bool) -> bool {
    let is_short = content_words(segment).is_empty() || segment.chars().count() < 4;
    // `Build tool: make` describes.
    let label = segment.split([':', '：']).next().filter(|label| label.len() < segment.len());
    if label.is_some_and(|label| label.split(' ').count() <= 2) && !LANGUAGES.rule.are_in(segment) {
        return is_listed;
    }
    let is_code = segment.contains(" = ") || segment.ends_with(['{', ')']) && !segment.contains(['(', '（']);
    if is_short
        || is_code
        || segment.ends_with(['?', '？'])
        || segment.ends_with([':', '：']) && voice != Voice::Person
        || segment.starts_with(['"', '“', '«', '「', '|'])
    {
        return false;
    }
    let says = || LANGUAGES.rule.are_in(segment) && !LANGUAGES.story.are_in(segment);
    match voice {
        Voice::Instructions => is_listed || says() || orders(segment) || bans(segment) || is_order_by_form(segment),
        Voice::Project => is_listed || says() || orders(segment) || bans(segment),
        Voice::Person => is_listed || says() || bans(segment),
        _ => false,
    }
}

/// A sentence without what it quotes, if that is more than a few words: what somebody else said is no rule.
fn without_quotations(text: &str) -> String {
    const QUOTES: &[(char, char)] = &[('"', '"'), ('“', '”'), ('„', '“'), ('«', '»'), ('「', '」'), ('『', '』')];
    let mut rest = text.to_owned();
    for (open, close) in QUOTES {
        let mut from = 0;
        while let Some(start) = rest[from..].find(*open).map(|at| from + at)
            && let Some(length) = rest[start + open.len_utf8()..].find(*close)
        {
            let end = start + open.len_utf8() + length + close.len_utf8();
            if length > 16 {
                rest.replace_range(start..end, " ");
                from = start;
            } else {
                from = end;
            }
        }
    }
    rest
}

/// Whether a sentence begins with a verb that gives an order, or ends as one.
fn orders(segment: &str) -> bool {
    let segment = without_condition(segment);
    let ends = |place: &(usize, usize)| segment[place.1..].trim_end_matches(['。', '.', '！', ' ']).is_empty();
    LANGUAGES.order.first_in(segment) == Some(0) || LANGUAGES.order_end.places(segment).last().is_some_and(ends)
}

/// Whether a sentence has the form of an English order, whatever its verb: a word that is no plural and no participle, and after it
/// what a verb takes.
fn is_order_by_form(segment: &str) -> bool {
    let segment = without_condition(segment);
    let mut words = segment.split(' ');
    let verb = words.next().unwrap_or_default();
    let next = words.next().unwrap_or_default();
    let is_plural = verb.ends_with('s') && !verb.ends_with("ss");
    let is_other = is_plural || ["ed", "ing", "ly", "ion"].iter().any(|ending| verb.ends_with(ending));
    verb.bytes().all(|byte| byte.is_ascii_alphabetic())
        && verb.len() >= 3
        && !is_other
        && !LANGUAGES.stop.contains(&verb.to_lowercase())
        && LANGUAGES.object.places(next) == [(0, next.len())]
        && !LANGUAGES.telling.are_in(segment)
}

/// Whether a sentence bans something without a verb of its own: `no unsafe code`.
fn bans(segment: &str) -> bool {
    let segment = without_condition(segment);
    let begins = LANGUAGES.ban.places(segment).first().filter(|(start, _)| *start == 0).copied();
    begins.is_some_and(|(_, end)| {
        segment[end..].starts_with(' ') && !LANGUAGES.telling.are_in(segment) && content_words(segment).len() <= 12
    })
}

/// Whether a sentence says that something is not decided.
fn negates_decision(text: &str) -> bool {
    let Some(at) = LANGUAGES.decided.first_in(text) else { return false };
    let before = text[..at].rsplit([',', ';', '，']).next().unwrap_or_default();
    let near = before.ceil_char_boundary(before.len().saturating_sub(24));
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

/// A text without code blocks and without lines that quote somebody.
fn without_quotes(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut fence = None;
    let mut heads_mail = false;
    for line in text.lines() {
        let line = line.trim_end();
        let start = line.trim_start();
        // A mail that somebody pasted: its sender, and then its subject.
        let begins = |words: &[&str]| words.iter().any(|word| start.starts_with(word));
        if heads_mail && begins(&["Subject:", "Betreff:", "Objet :", "Objet:", "Asunto:", "主题", "件名"]) {
            break;
        }
        heads_mail =
            begins(&["From:", "Von:", "De :", "De:", "发件人", "差出人"]) || heads_mail && start.contains([':', '：']);
        let mark = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) if !start.starts_with('>') => {
                kept.push_str(line);
                kept.push('\n');
            }
            _ => {}
        }
    }
    kept
}

/// Whether a text between backticks is a command: a program with arguments, in lower case.
fn is_command(span: &str) -> bool {
    let span = span.trim();
    let program = span.split(' ').next().unwrap_or_default();
    let begins = |c: char| c.is_ascii_lowercase() || c == '.' || c == '/';
    let names_file = program.contains('.') && !program.starts_with('.');
    let is_program = program.len() >= 2
        && program.starts_with(begins)
        && !program.starts_with("//")
        && !names_file
        && !span.contains('<')
        && !span.contains(" = ")
        && program.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_./".contains(&byte));
    is_program && span.contains(' ') && span.len() <= 200 && !span.contains('\n') && !plain_commands(span).is_empty()
}

/// The to-do that an item of a list is: it has a box, its heading says so, or it begins with a mark.
fn todo(clause: &Clause<'_>, spoken: &Spoken) -> Option<Fact> {
    if !matches!(spoken.voice, Voice::Person | Voice::Model | Voice::Summary) || clause.text.len() > LONGEST {
        return None;
    }
    let text = clause.text;
    if let Some((mark, rest)) =
        text.strip_prefix('[').and_then(|rest| rest.split_once(']')).filter(|(mark, _)| mark.len() <= 3)
    {
        let state = match mark.trim() {
            "" | "~" | "-" | ">" | "/" => State::Open,
            "x" | "X" | "✓" => State::Done,
            _ => return None,
        };
        return Some(Fact::new(Kind::Todo, bare(rest), spoken.message).in_state(state))
            .filter(|todo| !todo.text.is_empty());
    }
    let heading = clause.heading.filter(|_| clause.is_item)?;
    let is_open =
        LANGUAGES.todo_heading.first_in(heading).is_some_and(|at| at < 12) && !LANGUAGES.done_heading.are_in(heading);
    is_open.then(|| Fact::new(Kind::Todo, bare(text), spoken.message).in_state(State::Open))
}

/// The to-dos of a line such as `Open: validate the rows, document the errors`.
fn labelled_todos(clause: &Clause<'_>, spoken: &Spoken) -> Vec<Fact> {
    let is_read = matches!(spoken.voice, Voice::Person | Voice::Model | Voice::Summary) && clause.text.len() <= LONGEST;
    let labelled = clause
        .text
        .split_once([':', '：'])
        .filter(|(label, rest)| is_read && label.len() <= 32 && !rest.starts_with("//"));
    let Some((label, rest)) = labelled else { return Vec::new() };
    if LANGUAGES.todo_heading.first_in(label) != Some(0) || LANGUAGES.done_heading.are_in(label) {
        return Vec::new();
    }
    let items = rest.split([',', ';', '，', '；', '、']).map(bare).filter(|item| !content_words(item).is_empty());
    items.map(|item| Fact::new(Kind::Todo, item, spoken.message).in_state(State::Open)).collect()
}

/// The words of a statement that carry it, in lower case.
pub(super) fn content_words(text: &str) -> Vec<String> {
    let carries = |word: &String| {
        !LANGUAGES.stop.contains(word)
            && LANGUAGES.rule.first_in(word) != Some(0)
            && LANGUAGES.negation.first_in(word) != Some(0)
    };
    let words = tokens(text).into_iter().filter(|token| !token.inner).flat_map(|token| match token.class {
        Class::Word => vec![token.text.to_lowercase()],
        Class::Han => han_pairs(token.text),
        Class::Name => vec![token.text.to_owned()],
    });
    words.filter(carries).collect()
}

// What a later statement overtakes.

/// Marks the statements that a later one replaces: it names them after words such as `instead of`, it says the contrary, or it
/// gives the same setting another value.
fn mark_overtaken(facts: &mut [Fact], replacing: &[(String, Option<usize>)]) {
    let words: Vec<Vec<String>> = facts.iter().map(|fact| content_words(&fact.text)).collect();
    let beginnings: Vec<Vec<String>> = words.iter().map(|words| beginnings(words)).collect();
    let replaced: Vec<Replacement> = replacing
        .iter()
        .rev()
        .take(MOST_REPLACEMENTS)
        .map(|(text, message)| Replacement {
            named: replaced_words(text),
            words: content_words(text),
            message: *message,
        })
        .filter(|replacement| !replacement.named.is_empty())
        .collect();
    let marked: Vec<usize> = (0..facts.len())
        .filter(|&at| {
            LANGUAGES.anew.are_in(&facts[at].text)
                || LANGUAGES.instead.are_in(&facts[at].text)
                || !negates(&facts[at].text)
        })
        .rev()
        .take(200)
        .collect();
    for at in 0..facts.len() {
        let is_later = |other: Option<usize>| other > facts[at].message;
        let is_named = || replaced.iter().any(|one| is_later(one.message) && one.names(&words[at]));
        let is_contrary = || {
            marked.iter().any(|&later| {
                is_later(facts[later].message)
                    && share_most(&beginnings[later], &beginnings[at])
                    && replaces(&facts[later].text, &words[later], &facts[at].text, &words[at])
            })
        };
        facts[at].overtaken |= is_named() || is_contrary();
    }
}

/// The first letters of words, sorted: forms of one word have them in common.
fn beginnings(words: &[String]) -> Vec<String> {
    let bare = words.iter().map(|word| forms(word).next().map_or_else(|| without_ge(word), String::as_str));
    let mut found: Vec<String> = bare.map(|word| word.chars().take(3).collect()).collect();
    found.sort_unstable();
    found
}

/// Whether two statements may have all words but one or two in common. Most have not, which their beginnings tell faster than the
/// words.
fn share_most(later: &[String], earlier: &[String]) -> bool {
    steps::count(1);
    let is_missing = |start: &&String| later.binary_search(*start).is_err();
    later.len().abs_diff(earlier.len()) <= 2 && earlier.iter().filter(is_missing).take(2).count() < 2
}

/// The words that a sentence says are replaced: those after `instead of`, up to three.
pub(super) fn replaced_words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (_, end) in LANGUAGES.instead.places(text) {
        let rest = &text[end..];
        let clause = rest.find([',', ';', '.', '，', '。', '；']).map_or(rest, |at| {
            if rest[at..].starts_with('.') && rest[at + 1..].starts_with(char::is_alphanumeric) {
                rest
            } else {
                &rest[..at]
            }
        });
        found.extend(content_words(clause).into_iter().take(3));
    }
    found
}

/// A sentence that replaces something by something else.
struct Replacement {
    /// The words of what it replaces.
    named: Vec<String>,
    /// All its words.
    words: Vec<String>,
    message: Option<usize>,
}

impl Replacement {
    /// Whether it replaces what a statement is about: both name it, and they have another word in common.
    fn names(&self, statement: &[String]) -> bool {
        let has = |words: &[String], word: &String| words.iter().any(|other| same_word(other, word));
        let Some(first) = self.named.iter().find(|word| !LANGUAGES.weak.contains(*word)) else { return false };
        let shares = || statement.iter().filter(|word| has(&self.words, word)).take(2).count() > 1;
        has(statement, first) && (statement.len() == 1 || shares())
    }
}

/// Whether a later statement says the contrary of an earlier one, or the same of another value.
fn replaces(later: &str, later_words: &[String], earlier: &str, earlier_words: &[String]) -> bool {
    let shared = earlier_words.iter().filter(|word| later_words.iter().any(|other| same_word(word, other))).count();
    let most = earlier_words.len().max(later_words.len());
    if shared == earlier_words.len() && shared > 0 && most - shared <= 1 {
        return negates(later) != negates(earlier);
    }
    let other = later_words.iter().filter(|word| !earlier_words.iter().any(|known| same_word(known, word)));
    let gone = earlier_words.iter().filter(|word| !later_words.iter().any(|known| same_word(known, word)));
    let mut pairs = gone.zip(other);
    let changes = LANGUAGES.anew.are_in(later);
    let is_value =
        pairs.any(|(gone, other)| are_opposite(gone, other) || changes && is_number(gone) == is_number(other));
    shared >= 2 && earlier_words.len() - shared == 1 && most - shared <= 2 && is_value
}

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::{is_command, is_rule, replaced_words};
    use crate::verify::voices::Voice;

    #[test]
    fn rules_are_told_from_stories() {
        for text in [
            "Never commit to main",
            "do not touch vendor/",
            "You must ask first",
            "Lösche niemals Dateien",
            "不要修改配置",
            "必ず日本語で答えること",
            "Ne modifie jamais ce fichier",
            "Nunca borres la base",
            "From now on use tabs",
        ] {
            assert!(is_rule(text, Voice::Person, false), "{text}");
        }
        for text in
            ["It never worked", "It must have been the cache", "Fix the parser", "I always get an error", "Should we?"]
        {
            assert!(!is_rule(text, Voice::Person, false), "{text}");
        }
        assert!(is_rule("Hand over to a person", Voice::Instructions, false));
        assert!(!is_rule("Customers in the north pay less", Voice::Instructions, false));
        assert!(is_rule("Use tabs", Voice::Instructions, false) && !is_rule("Use tabs", Voice::Model, true));
    }

    #[test]
    fn what_is_replaced_is_named() {
        assert_eq!(replaced_words("use Redis instead of RabbitMQ for jobs"), ["RabbitMQ", "jobs"]);
        assert_eq!(replaced_words("No longer use `make deploy-eu`; go"), ["make", "deploy-eu"]);
    }

    #[test]
    fn commands_are_told_from_names() {
        assert!(is_command("make deploy") && is_command("npm run build"));
        assert!(!is_command("read_rows") && !is_command("Open the file") && !is_command("parse"));
    }
}
