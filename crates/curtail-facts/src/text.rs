//! Facts as text: the first lines of a summary, which are read back from it, and a page for the session that continues.
//! In a summary, every section first gets its minimum share of the tokens; then the tokens that remain go to the sections that
//! were cut, the most important ones first.

use std::cell::RefCell;
use std::fmt::Write as _;

use foldhash::HashMap;

use super::quotes::{cut, cut_at};
use super::writers::corrects;
use super::{Change, Check, Commit, Facts, FailedTest, Pointer, Progress, Quote, Todo, Verdict, is_hash, paths};

/// The share of the tokens that the sections may take, in percent; the rest is for the summary's own sentences.
const MAX_PERCENT: usize = 88;

/// The smallest budget, in tokens, at which a first line explains the pointers.
const LEAST_WITH_HEAD: usize = 150;

/// The beginning of the first line, before the number of the last message.
const HEAD: &str = "Facts of messages 0 to ";

impl Facts {
    /// The facts in at most `tokens` tokens; empty if there are none that fit.
    ///
    /// For a conversation without calls, only the first message of the user is written, and only if `carried`: if an earlier
    /// summary covers that message, so that the summarizer no longer reads it. `count` counts the tokens of a text.
    pub fn text(&self, tokens: usize, carried: bool, count: &dyn Fn(&str) -> usize) -> String {
        let work = self.shows_work();
        if self.is_empty() || !work && !carried {
            return String::new();
        }
        let counts = RefCell::new(HashMap::default());
        let count = &|text: &str| count_once(&counts, text, count);
        let head = if work && tokens >= LEAST_WITH_HEAD { self.head() } else { String::new() };
        let room = (tokens * MAX_PERCENT / 100).saturating_sub(count(&head));
        let sections = if work { SECTIONS } else { &SECTIONS[..1] };
        let mut written = self.write_minimum(sections, tokens, room, count);
        self.grow(sections, &mut written, tokens, room, count);
        let mut text = joined(&head, &written);
        let mut ranks: Vec<usize> = (0..sections.len()).collect();
        ranks.sort_by_key(|&at| sections[at].rank);
        // The sum of the parts may be less than the whole.
        while count(&text) > tokens {
            let Some(last) = ranks.pop() else { return String::new() };
            written[last] = Written::default();
            text = joined(&head, &written);
        }
        text
    }

    /// The line that explains the pointers and names the last message that the facts cover.
    fn head(&self) -> String {
        format!("{HEAD}{}; [m7] is message 7.\n", self.messages.saturating_sub(1))
    }

    /// Writes each section within its minimum share.
    fn write_minimum(&self, sections: &[Section], tokens: usize, room: usize, count: Count<'_>) -> Vec<Written> {
        let cap = |section: &Section| (tokens * section.least / 100).min(room);
        sections.iter().map(|section| (section.write)(self, Room { tokens: cap(section), count })).collect()
    }

    /// Writes sections that were cut again, in the order of their rank, with the tokens that are left.
    ///
    /// Of 1,000 tokens, the list of changed files gets 280 at first, and all sections 880. If the other sections need 200, the
    /// list is written again with 600 tokens: 680 are left, but 600 is its maximum.
    fn grow(&self, sections: &[Section], written: &mut [Written], tokens: usize, room: usize, count: Count<'_>) {
        let mut order: Vec<usize> = (0..sections.len()).filter(|&at| !written[at].whole).collect();
        order.sort_by_key(|&at| sections[at].rank);
        let mut spent: usize = written.iter().map(|section| count(&section.text)).sum();
        for at in order {
            let before = count(&written[at].text);
            let cap = (tokens * sections[at].most / 100).min(before + room.saturating_sub(spent));
            // A section may have a few tokens more than the sum of its parts.
            for cap in [cap, cap.saturating_sub(4), cap * 7 / 8] {
                let more = (sections[at].write)(self, Room { tokens: cap, count });
                let after = count(&more.text);
                if cap > before && after >= before && spent - before + after <= room {
                    spent = spent - before + after;
                    written[at] = more;
                    break;
                }
            }
        }
    }
}

/// The tokens of a text, counted only once: each section is written several times.
fn count_once(counts: &RefCell<HashMap<String, usize>>, text: &str, count: Count<'_>) -> usize {
    if let Some(&tokens) = counts.borrow().get(text) {
        return tokens;
    }
    let tokens = count(text);
    counts.borrow_mut().insert(text.to_owned(), tokens);
    tokens
}

fn joined(head: &str, written: &[Written]) -> String {
    let body: String = written.iter().map(|section| section.text.as_str()).collect();
    if body.is_empty() { String::new() } else { format!("{head}{}", body.trim_end()) }
}

// The sections of facts as text. A [`Room`] fits quotes, lists and names into a number of tokens; a short writer for each
// section decides what the section contains and what is dropped first.

/// Labels of the sections, by which they are recognized when they are read back.
const GOAL: &str = "Goal";
const ASKED: &str = "Asked, newest first";
const CHANGED: &str = "Changed";
const SCRIPTS: &str = "Written and run";
const BELOW: &str = "below";
const COMMITS: &str = "Commits, newest first";
const CHECK: &str = "Last check";
const FAILING: &str = "Failing";
const PASSED: &str = "Passed since";
const OPEN: &str = "Open";
const UNANSWERED: &str = "Unanswered";
const EARLIER: &str = "Earlier summary";
const SAID: &str = "Said last";

/// Marks an item in progress, and a file that was removed.
const BEGUN: &str = " (in progress)";
const DELETED: &str = " (deleted)";

/// Precedes a file name whose folder is left out.
const SHORT: &str = "…/";

/// The fewest tokens for which a cut quote is worth a line.
const LEAST_QUOTE: usize = 10;

/// More characters than the tokens of any text have on average: a text with more per token than this exceeds its budget, and
/// need not be counted.
const CHARS_PER_TOKEN: usize = 16;

/// The characters of a cut list item, pointer included, that are worth a line: fewer do not show what it is about.
const SHORT_ITEM: usize = 44;

/// A cut list item with at least this many tokens keeps its beginning and its end; a smaller one keeps only its beginning.
const LEAST_WITH_END: usize = 40;

/// Counts the tokens of a text.
type Count<'c> = &'c dyn Fn(&str) -> usize;

/// The tokens that a section may take, and how they are counted.
#[derive(Clone, Copy)]
struct Room<'c> {
    tokens: usize,
    count: Count<'c>,
}

/// A section within its tokens.
#[derive(Debug, Clone, Default)]
struct Written {
    /// Its lines; empty if nothing fits.
    text: String,
    /// Whether nothing was left out.
    whole: bool,
}

impl Written {
    /// A section without facts.
    const EMPTY: Self = Self { text: String::new(), whole: true };

    /// These lines and those of `next`.
    fn and(self, next: &Self) -> Self {
        Self { text: self.text + &next.text, whole: self.whole && next.whole }
    }
}

/// A section of the text.
struct Section {
    write: fn(&Facts, Room<'_>) -> Written,
    /// The share of the tokens that it gets before others get more, in percent.
    least: usize,
    /// The largest share of the tokens that it may get, in percent.
    most: usize,
    /// The order in which sections get more tokens; the section with the highest rank is dropped first.
    rank: usize,
}

/// The sections in the order in which they are read.
const SECTIONS: &[Section] = &[
    Section { write: |facts, room| room.quote(GOAL, facts.goal.as_ref(), 7), least: 7, most: 14, rank: 5 },
    Section { write: asked, least: 18, most: 44, rank: 3 },
    Section { write: |facts, room| room.quote(EARLIER, facts.earlier.as_ref(), 7), least: 3, most: 12, rank: 7 },
    Section { write: |facts, room| file_list(CHANGED, facts, false, room), least: 28, most: 60, rank: 6 },
    Section { write: |facts, room| file_list(SCRIPTS, facts, true, room), least: 4, most: 40, rank: 8 },
    Section { write: commits, least: 8, most: 20, rank: 1 },
    Section { write: checks, least: 9, most: 20, rank: 0 },
    Section { write: open, least: 10, most: 30, rank: 2 },
    Section { write: last_reply, least: 9, most: 15, rank: 4 },
];

/// The assistant's last text. If it ends with an unanswered question, the question gets a line of its own.
fn last_reply(facts: &Facts, room: Room<'_>) -> Written {
    let question = room.quote(UNANSWERED, facts.question.as_ref(), 7);
    let asked = facts.question.as_ref().map_or("", |question| question.text.as_str());
    let before = facts.said.as_ref().map(|last_reply| Quote {
        text: last_reply.text.strip_suffix(asked).unwrap_or(&last_reply.text).trim_end().to_owned(),
        ..last_reply.clone()
    });
    let last =
        room.without(&question.text).quote(SAID, before.as_ref().filter(|last_reply| !last_reply.text.is_empty()), 4);
    question.and(&last)
}

/// The user's further messages. Corrections get tokens first, then the newest messages; the list is written newest first.
fn asked(facts: &Facts, room: Room<'_>) -> Written {
    let mut order: Vec<&Quote> = facts.asked.iter().rev().collect();
    order.sort_by_key(|quote| !quote.correction);
    let items: Vec<String> = order.iter().map(|quote| bullet(&quote.at, &quote.text)).collect();
    room.list(&format!("{ASKED}:"), &items, |number| std::cmp::Reverse(order[number].at.message))
}

/// The commits. As many hashes as fit are kept, with as much of the subjects as fits beside them.
fn commits(facts: &Facts, room: Room<'_>) -> Written {
    let line = |letters: usize, commit: &Commit| {
        let subject = cut(&commit.subject, letters);
        let text = match &commit.hash {
            Some(hash) if letters == 0 => hash.clone(),
            Some(hash) => format!("{hash} {subject}"),
            None => cut(&commit.subject, letters.max(24)),
        };
        bullet(&commit.at, &text)
    };
    let list = |letters: usize| facts.commits.iter().rev().map(|commit| line(letters, commit)).collect::<Vec<_>>();
    let head = format!("{COMMITS}:");
    let left = room.without(&format!("{head}\n")).tokens;
    let fits = |items: &[String]| items.iter().map(|item| (room.count)(item) + 1).sum::<usize>() <= left;
    let letters = [200, 72, 48, 30].into_iter().find(|&letters| fits(&list(letters))).unwrap_or(0);
    let mut items = list(letters);
    while !fits(&items) && items.pop().is_some() {}
    lines(&head, &items, letters == 200)
}

/// The last check, the failing tests, and those that passed since.
fn checks(facts: &Facts, room: Room<'_>) -> Written {
    let names: Vec<&str> = facts.failing.iter().rev().map(|failure| failure.name.as_str()).collect();
    let at = facts.failing.last().map(|failure| failure.at.clone()).unwrap_or_default();
    let failing = Room { tokens: room.tokens * 3 / 5, ..room }.names(&labelled(FAILING, &at), &names);
    let run = facts.check.as_ref().map(|check| {
        let text = format!("{}: {}", check.command, outcome(check));
        Quote { text, at: check.at.clone(), correction: false }
    });
    let written = room.without(&failing.text).quote(CHECK, run.as_ref(), 7).and(&failing);
    let passed: Vec<&str> = facts.passed_since.iter().rev().map(String::as_str).collect();
    let since = room.without(&written.text).names(&format!("{PASSED}:"), &passed);
    written.and(&since)
}

/// The verdict of a check, and why it failed.
fn outcome(check: &Check) -> String {
    match &check.error {
        Some(error) if check.verdict == Verdict::Failed => format!("{}: {error}", check.verdict.name()),
        _ => check.verdict.name().to_owned(),
    }
}

/// The open items of the to-do list.
fn open(facts: &Facts, room: Room<'_>) -> Written {
    let Some(newest) = facts.open().max_by_key(|todo| todo.at.message) else { return Written::EMPTY };
    let begun = |todo: &Todo| if todo.progress == Progress::InProgress { BEGUN } else { "" };
    let items: Vec<String> = facts.open().map(|todo| format!("- {}{}", todo.text, begun(todo))).collect();
    room.list(&labelled(OPEN, &newest.at), &items, |number| number)
}

fn labelled(label: &str, at: &Pointer) -> String {
    if at.message.is_none() { format!("{label}:") } else { format!("{label} {at}:") }
}

fn bullet(at: &Pointer, text: &str) -> String {
    if at.message.is_none() { format!("- {text}") } else { format!("- {at} {text}") }
}

fn lines(head: &str, items: &[String], whole: bool) -> Written {
    let text = if items.is_empty() { String::new() } else { format!("{head}\n{}\n", items.join("\n")) };
    Written { text, whole }
}

/// An item of a list that is about to be fitted.
struct ListedItem {
    /// Its index in the list.
    number: usize,
    /// Its tokens, with a line break.
    size: usize,
    /// The fewest tokens of it that are worth a line.
    least: usize,
}

impl Room<'_> {
    /// The room that is left beside `text`.
    fn without(self, text: &str) -> Self {
        Self { tokens: self.tokens.saturating_sub((self.count)(text)), ..self }
    }

    /// A line with one quote, which keeps `tenths` of its letters at its beginning if it is cut.
    fn quote(self, label: &str, quote: Option<&Quote>, tenths: usize) -> Written {
        let Some(quote) = quote else { return Written::EMPTY };
        let head = labelled(label, &quote.at);
        let tokens = self.tokens.saturating_sub((self.count)(&head) + 1);
        let text = (Room { tokens, ..self }).fit(&quote.text, tenths);
        let line = |text: String| Written { whole: text == quote.text, text: format!("{head} {text}\n") };
        text.map(line).unwrap_or_default()
    }

    /// `text`, cut in the middle; `None` if too little would be left.
    fn fit(self, text: &str, tenths: usize) -> Option<String> {
        let letters = text.chars().count();
        let most = self.tokens * CHARS_PER_TOKEN;
        let fits = |text: &str| (self.count)(text) <= self.tokens;
        if letters <= most && fits(text) {
            return Some(text.to_owned());
        }
        if self.tokens < LEAST_QUOTE {
            return None;
        }
        let mut low = 0;
        let mut high = letters.min(most);
        while low + 1 < high {
            let middle = usize::midpoint(low, high);
            if fits(&cut_at(text, middle, tenths)) { low = middle } else { high = middle }
        }
        (low > 0).then(|| cut_at(text, low, tenths))
    }

    /// A list of the `items` whose beginning fits, sorted by `key` of their index. Long items are cut to the same number of
    /// tokens: of items with 10, 100 and 100 tokens, 60 tokens hold the first one whole and 25 of each of the others.
    fn list<K: Ord>(self, head: &str, items: &[String], key: impl Fn(usize) -> K) -> Written {
        let room = self.without(&format!("{head}\n"));
        let taken = room.fitting_items(items);
        let tokens = |item: &ListedItem, level: usize| item.size.min(level.max(item.least));
        let sum = |level: usize| taken.iter().map(|item| tokens(item, level)).sum::<usize>();
        let level = (0..=room.tokens).rev().find(|&level| sum(level) <= room.tokens).unwrap_or(0);
        let fit = |item: &ListedItem| {
            let tokens = tokens(item, level);
            let within = Room { tokens: tokens.saturating_sub(1), ..room };
            Some((item.number, within.fit(&items[item.number], if tokens < LEAST_WITH_END { 10 } else { 7 })?))
        };
        let mut chosen: Vec<(usize, String)> = taken.iter().filter_map(fit).collect();
        let whole = chosen.len() == items.len() && chosen.iter().all(|(number, text)| items[*number] == *text);
        chosen.sort_by_key(|(number, _)| key(*number));
        lines(head, &chosen.into_iter().map(|(_, text)| text).collect::<Vec<_>>(), whole)
    }

    /// The first items, as long as at least the beginning of each fits.
    fn fitting_items(self, items: &[String]) -> Vec<ListedItem> {
        let mut left = self.tokens;
        let mut taken = Vec::new();
        for (number, item) in items.iter().enumerate() {
            let size = (self.count)(item) + 1;
            let beginning = || (self.count)(&cut_at(item, SHORT_ITEM, 10)).max(LEAST_QUOTE + 5) + 1;
            let least = if size <= LEAST_QUOTE + 6 { size } else { size.min(beginning()) };
            if least <= left {
                left -= least;
                taken.push(ListedItem { number, size, least });
            }
            if left < LEAST_QUOTE {
                break;
            }
        }
        taken
    }

    /// A label, as many names as fit, and the number of the others.
    fn names(self, label: &str, names: &[&str]) -> Written {
        if names.is_empty() {
            return Written::EMPTY;
        }
        // The sum of single counts is at least the count of the whole, give or take a few tokens.
        let mut sum = 0;
        let fits = |name: &&&str| {
            sum += (self.count)(name);
            sum <= self.tokens + 16
        };
        let most = names.iter().take(60).take_while(fits).count();
        for taken in (1..=most.max(1)).rev() {
            let more = if taken < names.len() { format!(", {} more", names.len() - taken) } else { String::new() };
            let text = format!("{label} {}{more}\n", names[..taken].join(", "));
            if (self.count)(&text) <= self.tokens {
                return Written { text, whole: taken == names.len() };
            }
        }
        Written::default()
    }
}

// The changed files as text, and the scripts that were only written to be run.

/// The fewest tokens that a file in a list takes, with its comma.
const LEAST_ENTRY: usize = 3;

/// How much of a changed file is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Only its name.
    Name,
    /// Its path below the common folder.
    Path,
    /// Its path, the number of changes, and the pointer to the last one.
    Full,
}

/// Precedes a path that is not below the common folder of its list.
const OUTSIDE: &str = "./";

/// The changed files, or the helper `scripts` that the work wrote and ran, the one that changed last at the end, with their paths
/// below a common folder. If not all fit, numbers and pointers are left out first, then folders, then
/// files that were written once, then the oldest.
fn file_list(label: &str, facts: &Facts, scripts: bool, room: Room<'_>) -> Written {
    let changed: Vec<&Change> = facts.changed.iter().filter(|change| change.is_script() == scripts).collect();
    let Some(last) = changed.last() else { return Written::EMPTY };
    let root = root(&changed);
    let place = if root.is_empty() { String::new() } else { format!(" {BELOW} {root}") };
    let head = labelled(&format!("{label}{place}"), &last.at);
    let room = Room { tokens: room.tokens.saturating_sub((room.count)(&head) + 1), ..room };
    let entry = |change: &Change, form: Form| entry(change, root, form);
    for form in [Form::Full, Form::Path] {
        let list: Vec<String> = changed.iter().map(|change| entry(change, form)).collect();
        let line = list.join(", ");
        if line.len() <= room.tokens * CHARS_PER_TOKEN && (room.count)(&line) <= room.tokens {
            return Written { text: format!("{head} {line}\n"), whole: form == Form::Full };
        }
    }
    let list = shortened(&changed, room, &entry);
    if list.is_empty() { Written::default() } else { Written { text: format!("{head} {list}\n"), whole: false } }
}

/// The common folder of the paths: of the absolute ones if there are several, otherwise of all. Empty for a single path, or if
/// they share no folder.
fn root<'c>(changed: &[&'c Change]) -> &'c str {
    let paths = || changed.iter().map(|change| change.path.as_str());
    let absolute = || paths().filter(|path| path.starts_with('/'));
    let (count, root) = match absolute().count() {
        0 | 1 => (changed.len(), paths::common_root(paths())),
        count => (count, paths::common_root(absolute())),
    };
    if count > 1 && root.len() > 1 { root } else { "" }
}

fn entry(change: &Change, root: &str, form: Form) -> String {
    let outside = || if root.is_empty() { change.path.clone() } else { format!("{OUTSIDE}{}", change.path) };
    let below = change.path.strip_prefix(root).map_or_else(outside, str::to_owned);
    let name = paths::name(&change.path);
    let path = if form == Form::Name && name.len() + 4 < below.len() { format!("{SHORT}{name}") } else { below };
    let times = if change.times > 1 && form == Form::Full { format!(" ×{}", change.times) } else { String::new() };
    let at = if form == Form::Full && change.at.message.is_some() { format!(" {}", change.at) } else { String::new() };
    format!("{path}{}{times}{at}", if change.deleted { DELETED } else { "" })
}

/// As many files as fit, by name or by path, and the number of the others.
fn shortened(changed: &[&Change], room: Room<'_>, entry: &dyn Fn(&Change, Form) -> String) -> String {
    let price = |text: &str| (room.count)(&format!(", {text}"));
    let mut forms: Vec<Option<Form>> = vec![None; changed.len()];
    // Room for the number of files left out.
    let mut spent = 4;
    // Files that were written once, as trials are, come after those that were edited or that version control lists.
    let mut order: Vec<(usize, &&Change)> = changed.iter().enumerate().rev().collect();
    order.sort_by_key(|(_, change)| change.whole && change.times == 1 && !change.named);
    for form in [Form::Name, Form::Path] {
        for &(at, change) in &order {
            if spent + LEAST_ENTRY > room.tokens {
                break;
            }
            let before = if form == Form::Name { 0 } else { price(&entry(change, Form::Name)) };
            let after = price(&entry(change, form));
            let known = form == Form::Name || forms[at].is_some();
            if known && spent + after - before.min(after) <= room.tokens {
                spent = spent + after - before.min(after);
                forms[at] = Some(form);
            }
        }
    }
    let left_out = forms.iter().filter(|form| form.is_none()).count();
    let mut list: Vec<String> = Vec::new();
    list.extend((left_out > 0 && left_out < changed.len()).then(|| format!("{left_out} more")));
    list.extend(changed.iter().zip(forms).filter_map(|(change, form)| Some(entry(change, form?))));
    list.join(", ")
}

// The facts, read back from the text of a summary, for a transcript that no longer contains the summarized messages. Facts that
// the text left out are lost. Pointers stay valid, because the numbers of later messages continue.

impl Facts {
    /// The facts at the beginning of `text`, which [`Facts::text`] wrote; empty if it did not.
    pub fn from_text(text: &str) -> Self {
        let mut facts = Self::default();
        let mut list = None;
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix(HEAD) {
                let digits = rest.split(';').next().unwrap_or_default();
                facts.messages = digits.parse().map_or(0, |last: usize| last + 1);
                facts.calls = 1;
            } else if let Some(item) = line.strip_prefix("- ").filter(|_| list.is_some()) {
                facts.recall_item(list.unwrap_or_default(), item);
            } else if let Some(label) = facts.recall_line(line) {
                facts.calls = facts.calls.max(usize::from(label != GOAL));
                list = Some(label);
            } else {
                break;
            }
        }
        // The oldest come first in the facts, and last in its text.
        facts.asked.reverse();
        facts.commits.reverse();
        facts
    }

    /// Reads a line with a label; `None` if it has none.
    fn recall_line(&mut self, line: &str) -> Option<&'static str> {
        let begins = |label: &&&str| line.strip_prefix(**label).is_some_and(|rest| rest.starts_with([':', ' ']));
        let label = *LABELS.iter().find(begins)?;
        let rest = line[label.len()..].trim_start();
        let (root, rest) = root_and_rest(rest);
        let (at, rest) = pointer(rest);
        let text = rest.strip_prefix(':')?.trim();
        let quote = || Some(Quote { text: text.to_owned(), at: at.clone(), correction: false });
        match label {
            GOAL => self.goal = quote(),
            EARLIER => self.earlier = quote(),
            SAID => self.said = quote(),
            UNANSWERED => self.question = quote(),
            CHANGED => self.changed.extend(listed_changes(text, root, &at)),
            SCRIPTS => {
                let scripts = listed_changes(text, root, &at);
                let scripts: Vec<_> = scripts.map(|change| Change { whole: true, ran: true, ..change }).collect();
                self.changed.splice(0..0, scripts);
            }
            CHECK => self.check = written_check(text, &at),
            FAILING => {
                let failure = |name| FailedTest { name, at: at.clone(), ..FailedTest::default() };
                self.failing = oldest_first(text).map(failure).collect();
            }
            PASSED => self.passed_since = oldest_first(text).collect(),
            OPEN => self.todos = vec![Todo { at: at.clone(), ..Todo::default() }],
            _ => {}
        }
        Some(label)
    }

    /// Reads an item of the list under `label`.
    fn recall_item(&mut self, label: &str, item: &str) {
        let (at, text) = pointer(item);
        match label {
            ASKED => {
                self.asked.push(Quote { text: text.to_owned(), at, correction: corrects(text) });
            }
            COMMITS => {
                let hash = text.split(' ').next().filter(|word| is_hash(word));
                let subject = hash.map_or(text, |hash| text[hash.len()..].trim_start());
                self.commits.push(Commit { hash: hash.map(str::to_owned), subject: subject.to_owned(), at });
            }
            OPEN => {
                let listed = self.todos.last().map(|todo| todo.at.clone()).unwrap_or_default();
                self.todos.retain(|todo| !todo.text.is_empty());
                let begun = text.strip_suffix(BEGUN);
                let progress = if begun.is_some() { Progress::InProgress } else { Progress::Pending };
                self.todos.push(Todo { key: None, text: begun.unwrap_or(text).to_owned(), progress, at: listed });
            }
            _ => {}
        }
    }
}

/// Labels of the sections that are read again.
const LABELS: &[&str] =
    &[GOAL, ASKED, CHANGED, SCRIPTS, COMMITS, CHECK, FAILING, PASSED, OPEN, UNANSWERED, EARLIER, SAID];

/// The folder of `below FOLDER [m7]: …`, and the text after it.
fn root_and_rest(text: &str) -> (&str, &str) {
    let Some(after) = text.strip_prefix(BELOW).map(str::trim_start) else { return ("", text) };
    let end = after.find(" [m").or_else(|| after.find(": ")).unwrap_or(after.len());
    (&after[..end], after[end..].trim_start())
}

/// The pointer at the beginning of a text, and the text after it.
fn pointer(text: &str) -> (Pointer, &str) {
    let found = text.strip_prefix("[m").and_then(|rest| rest.split_once(']'));
    match found.and_then(|(number, rest)| Some((number.parse::<usize>().ok()?, rest))) {
        Some((number, rest)) => (Pointer::from(number), rest.trim_start()),
        None => (Pointer::default(), text),
    }
}

/// The names in a list, which begins with the newest, without the number of those left out.
fn oldest_first(list: &str) -> impl Iterator<Item = String> {
    list.rsplit(", ").filter(|entry| !is_remainder(entry)).map(str::to_owned)
}

/// Whether an entry of a list is the number of those left out: `3 more`.
fn is_remainder(entry: &str) -> bool {
    entry.strip_suffix(" more").is_some_and(|count| count.parse::<usize>().is_ok())
}

/// The changed files in a list, whose last change is at `at`.
fn listed_changes(list: &str, root: &str, at: &Pointer) -> impl Iterator<Item = Change> {
    list.split(", ").filter(|entry| !is_remainder(entry)).map(move |entry| listed_change(entry, root, at))
}

/// The changed file in an entry such as `a.rs (deleted) ×2 [m7]`.
fn listed_change(entry: &str, root: &str, at: &Pointer) -> Change {
    let (entry, own_pointer) = entry
        .rfind(" [m")
        .map_or((entry, Pointer::default()), |found| (&entry[..found], pointer(&entry[found + 1..]).0));
    let at = if own_pointer.message.is_none() { at.clone() } else { own_pointer };
    let (entry, times) =
        entry.split_once(" ×").map_or((entry, 1), |(entry, times)| (entry, times.parse().unwrap_or(1)));
    let path = entry.strip_suffix(DELETED);
    let deleted = path.is_some();
    let path = path.unwrap_or(entry);
    let not_below_root = path.strip_prefix(SHORT).or_else(|| path.strip_prefix(OUTSIDE));
    let path = not_below_root.map_or_else(|| format!("{root}{path}"), str::to_owned);
    Change { path, times, at, deleted, ..Change::default() }
}

/// The check in a text such as `cargo test: failed: error`.
fn written_check(text: &str, at: &Pointer) -> Option<Check> {
    let verdicts = [Verdict::Passed, Verdict::Failed, Verdict::Unknown];
    verdicts.into_iter().find_map(|verdict| {
        let mark = format!(": {}", verdict.name());
        let (command, rest) = text.split_once(&mark)?;
        let error = rest.strip_prefix(": ").map(str::to_owned);
        Some(Check { command: command.to_owned(), verdict, error, at: at.clone() })
    })
}

// The facts as a page in Markdown, for the session that continues the work.

impl Facts {
    /// The page: a section for each kind of fact, and `notes` at its end. Sections without facts are left out.
    pub fn handoff(&self, notes: &str) -> String {
        let mut page = String::from("# Handoff\n\n");
        let messages = self.messages;
        // Writing to a string cannot fail.
        let _ =
            writeln!(page, "From {messages} messages. `[m7]` is message 7; `curtail show --message 7 FILE` prints it.");
        section(&mut page, "Goal", self.goal.iter().map(quote_line));
        section(&mut page, "Asked since, newest first", self.asked.iter().rev().map(quote_line));
        let newest = self.changed.iter().rev();
        section(&mut page, "Changed files", newest.clone().filter(|change| !change.is_script()).map(change_line));
        section(&mut page, "Scripts written and run", newest.filter(|change| change.is_script()).map(change_line));
        let commits = self.commits.iter().rev().map(|commit| {
            let hash = commit.hash.as_ref().map_or_else(String::new, |hash| format!("`{hash}` "));
            format!("{hash}{} {}", commit.subject, commit.at)
        });
        section(&mut page, "Commits, newest first", commits);
        section(&mut page, "Checks", self.checks());
        let open = self.open().map(|todo| {
            let begun = if todo.progress == Progress::InProgress { "in progress: " } else { "" };
            format!("[ ] {begun}{} {}", todo.text, todo.at)
        });
        let unanswered = self.question.iter().map(|question| format!("unanswered: {}", quote_line(question)));
        section(&mut page, "Open", open.chain(unanswered));
        section(&mut page, "Said last", self.said.iter().map(quote_line));
        section(&mut page, "Earlier summary", self.earlier.iter().map(quote_line));
        if !notes.trim().is_empty() {
            let _ = writeln!(page, "\n## Notes\n\n{}", notes.trim());
        }
        page
    }

    /// The last check, the failing tests, and those that pass again.
    fn checks(&self) -> impl Iterator<Item = String> {
        let last = self.check.iter().map(|check| format!("`{}` {} {}", check.command, outcome(check), check.at));
        let failing = self.failing.iter().rev().map(|failure| format!("fails: {} {}", failure.name, failure.at));
        let passed = self.passed_since.iter().rev().map(|name| format!("passed since: {name}"));
        last.chain(failing).chain(passed)
    }
}

fn quote_line(quote: &Quote) -> String {
    format!("{} {}", quote.text, quote.at).trim_end().to_owned()
}

fn change_line(change: &Change) -> String {
    let deleted = if change.deleted { ", deleted" } else { "" };
    let times = if change.times > 1 { format!(", {} times", change.times) } else { String::new() };
    let committed = if change.committed { ", committed" } else { "" };
    format!("`{}`{deleted}{times}{committed} {}", change.path, change.at).trim_end().to_owned()
}

fn section(page: &mut String, title: &str, items: impl Iterator<Item = String>) {
    let items: Vec<String> = items.map(|item| format!("- {item}\n")).collect();
    if !items.is_empty() {
        let _ = write!(page, "\n## {title}\n\n{}", items.concat());
    }
}
