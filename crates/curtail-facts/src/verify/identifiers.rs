//! Identifiers: names that a person gave, or that the model took up; what was only printed is counted and not listed.

use foldhash::{HashMap, HashSet};

use super::fact::{Fact, Kind};
use super::languages::LANGUAGES;
use super::outdated_names::OutdatedNames;
use super::spelling::{Spelling, spelling};
use super::tokens::{Class, Token, tokens};
use super::voices::{Spoken, Voice};
use crate::references::{COMMON, digest};

/// At each multiple of this many identifiers, the older half of them is forgotten, except for those that a person gave.
const FORGOTTEN_EVERY: usize = 4000;

/// The last messages, in which the model uses what it is at.
const RECENT: usize = 10;

/// Messages of the model that use a name often.
const OFTEN: usize = 3;

/// The rank of a name among those of [`super::facts`], to which its uses are added.
const NAME: u32 = 40;

/// Lines of pasted text above which its names are printed, and not given.
const PASTED: usize = 20;

#[derive(Debug, Default)]
pub(super) struct Identifiers {
    /// Each identifier by its text.
    uses: HashMap<String, Uses>,
    /// The order in which they came.
    order: Vec<String>,
    /// Digests of names that results contain.
    printed: HashSet<u64>,
    /// What sentences say of names that no longer hold.
    outdated: OutdatedNames,
    /// The last message.
    last: usize,
}

/// Who used an identifier, and where.
#[derive(Debug, Clone, Default)]
struct Uses {
    given: bool,
    /// Number of messages of the model that use it.
    taken_up: usize,
    /// Whether the model says it in text.
    told: bool,
    /// The last message with it.
    message: Option<usize>,
}

impl Identifiers {
    /// Reads a text.
    pub(super) fn hear(&mut self, spoken: &Spoken) {
        self.last = self.last.max(spoken.message.unwrap_or_default());
        match spoken.voice {
            Voice::Result => self.hear_printed(&spoken.text),
            // A number alone is a setting of the tool.
            Voice::Arguments if spoken.text.parse::<f64>().is_ok() => {}
            Voice::Instructions | Voice::Project | Voice::Program | Voice::Summary | Voice::Content => {}
            Voice::Person | Voice::Model => {
                self.hear_names(spoken);
                self.outdated.hear(spoken);
            }
            Voice::Arguments => self.hear_names(spoken),
        }
    }

    fn hear_printed(&mut self, text: &str) {
        let names = tokens(text).into_iter().filter(|token| !token.inner && identifies(token, ""));
        self.printed.extend(names.map(|token| digest(token.text)));
    }

    fn hear_names(&mut self, spoken: &Spoken) {
        let is_pasted = spoken.voice == Voice::Person && spoken.text.lines().count() > PASTED;
        let mut before = "";
        for token in tokens(&spoken.text) {
            if identifies(&token, before) && !is_tag(&spoken.text, &token) && is_whole(&spoken.text, &token) {
                self.add(token.text, spoken, is_pasted);
            }
            before = token.text;
        }
    }

    fn add(&mut self, name: &str, spoken: &Spoken, is_pasted: bool) {
        if !self.uses.contains_key(name) {
            if !self.order.is_empty() && self.order.len().is_multiple_of(FORGOTTEN_EVERY) {
                self.forget_older();
            }
            self.order.push(name.to_owned());
        }
        let uses = self.uses.entry(name.to_owned()).or_default();
        let is_new = uses.message != spoken.message;
        uses.given |= spoken.voice == Voice::Person && !is_pasted;
        uses.taken_up += usize::from(spoken.voice != Voice::Person && is_new);
        uses.told |= spoken.voice == Voice::Model;
        uses.message = spoken.message;
    }

    /// Forgets the half of the names that came first, but for those that a person gave.
    fn forget_older(&mut self) {
        let newer = self.order.split_off(self.order.len() / 2);
        let uses = &mut self.uses;
        self.order.retain(|name| {
            let is_given = uses.get(name).is_some_and(|uses| uses.given);
            if !is_given {
                uses.remove(name);
            }
            is_given
        });
        self.order.extend(newer);
    }

    /// How many names results contain that nobody used.
    pub(super) fn printed(&self) -> usize {
        let used: HashSet<u64> = self.uses.keys().map(|name| digest(name)).collect();
        self.printed.difference(&used).count()
    }

    /// The identifiers, without the files of `files`.
    pub(super) fn finish(self, files: &HashSet<String>) -> Vec<Fact> {
        let half = self.last / 2;
        let recent = self.last - (self.last / 4).min(RECENT);
        let ends: HashSet<String> = files.iter().flat_map(|file| spellings(file)).collect();
        let mut facts = Vec::new();
        for name in &self.order {
            let Some(uses) = self.uses.get(name) else { continue };
            if spellings(name).next().is_some_and(|whole| ends.contains(&whole))
                && matches!(spelling(name), Spelling::Path(_))
            {
                continue;
            }
            let is_taken_up = self.is_taken_up(name, uses);
            let since = if uses.taken_up >= OFTEN { half } else { recent };
            let is_needed = is_taken_up && uses.message.is_some_and(|at| at >= since);
            let rank = NAME + u32::try_from(uses.taken_up.min(OFTEN)).unwrap_or_default();
            let mut fact =
                Fact::new(Kind::Identifier, name, uses.message).important_if(uses.given || is_needed).ranked(rank);
            fact.overtaken = self.outdated.has(name, uses.message);
            facts.push(fact);
        }
        facts
    }

    /// Whether the model took up a name: it told what a tool printed, or came back to it. What only stands in arguments is a
    /// pattern or a place that can be found again, unless nobody can guess it.
    fn is_taken_up(&self, name: &str, uses: &Uses) -> bool {
        let is_printed = self.printed.contains(&digest(name));
        if uses.told { uses.taken_up > 1 || is_printed } else { is_printed && cannot_be_guessed(name) }
    }
}

/// The path that a name spells, and then the ends of it, each shorter by one part. Nothing if it is no path.
fn spellings(name: &str) -> impl Iterator<Item = String> + use<> {
    let parts = if let Spelling::Path(path) = spelling(name) { path.parts } else { Vec::new() };
    (0..parts.len()).map(move |from| parts[from..].join("/"))
}

/// Whether a name is one that somebody gave out, such as a hash, a number, a version or an address.
fn cannot_be_guessed(name: &str) -> bool {
    name.contains(|c: char| c.is_ascii_digit()) || name.contains("://")
}

/// Whether a token is the name of a tag, such as `</output>`.
fn is_tag(text: &str, token: &Token<'_>) -> bool {
    text[..token.at].ends_with('<') || text[..token.at].ends_with("</")
}

/// Whether a token is a name of its own. Of a setting, such as `PORT=8080`, that is the value; another piece of a name, such as
/// the port of an address, is none.
fn is_whole(text: &str, token: &Token<'_>) -> bool {
    match token.inner {
        true => text[..token.at].ends_with('=') && !token.text.contains(['=', ':']),
        false => !token.text.contains('=') || token.text.contains("://"),
    }
}

/// Whether a token identifies something: a number has four digits or follows the name of a setting.
fn identifies(token: &Token<'_>, before: &str) -> bool {
    let text = token.text;
    let escapes = text.contains('\\') && text.as_bytes().get(1) != Some(&b':');
    if token.class != Class::Name || escapes || text.len() < 2 || text.starts_with('-') || is_common(text) {
        return false;
    }
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    match spelling(text) {
        Spelling::Number(_) => digits >= 4 || LANGUAGES.setting.first_in(before) == Some(0),
        Spelling::Hash(_) => true,
        Spelling::Path(path) => path.parts.len() > 1 && text.len() >= 5 || text.len() >= 4,
        Spelling::Other(text) => text.len() >= 4 && text.contains(|c: char| c.is_alphanumeric()),
    }
}

fn is_common(text: &str) -> bool {
    // States and places that every tool knows.
    const KNOWN: &[&str] =
        &["in_progress", "/dev/null", "file_path", "files_with_matches", "true/false", "stdin/stdout"];
    // A range of lines, or a rough number.
    let mut parts = text.split(['-', '~']);
    let is_range = text.contains(['-', '~'])
        && parts.all(|part| part.len() <= 3 && part.bytes().all(|byte| byte.is_ascii_digit()));
    // `.html` is an ending, `.env` a file.
    let is_ending = text.len() <= 5
        && text != ".env"
        && text.starts_with('.')
        && text[1..].bytes().all(|byte| byte.is_ascii_lowercase());
    let is_known = is_range || is_ending || KNOWN.contains(&text);
    let is_listed = is_known || COMMON.iter().any(|common| common.eq_ignore_ascii_case(text));
    // A list of short words, such as `read/write`, is no path.
    let is_list = text.contains('/')
        && !text.contains(['.', '_', ':'])
        && !text.starts_with(['/', '~'])
        && text.matches('/').count() == 1
        && !text.contains(|c: char| c.is_ascii_digit());
    is_listed || is_list && text.split('/').all(|word| word.len() <= 4)
}
