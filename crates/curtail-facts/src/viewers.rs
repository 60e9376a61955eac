//! Whether a program that usually only shows text does more with its arguments: writes a file, runs another program, or does what its
//! verb says.

use super::programs::{Language, PROGRAMS, WritingViewer, lists};
use super::{filters, git, paths};

/// Verbs of `gh` that only show something.
const GH_SHOWS: &[&str] = &["checks", "diff", "list", "search", "status", "view"];

/// Whether a program of the viewers, with its arguments, writes a file or runs another program, or does something by its verb.
pub(super) fn writes_or_runs(words: &[String]) -> bool {
    let Some((program, arguments)) = words.split_first() else { return false };
    let name = paths::name(program);
    let does = match name {
        "git" => !git::only_shows(arguments),
        "gh" => !arguments.iter().any(|word| GH_SHOWS.contains(&word.as_str())),
        _ => false,
    };
    let mut listed = PROGRAMS.writing_viewers.iter().filter(|listed| lists(&listed.programs, name));
    does || listed.any(|listed| listed.writes(arguments))
}

/// The arguments of `git`, if that is the program.
pub(super) fn git_arguments(words: &[String]) -> Option<&[String]> {
    let (program, arguments) = words.split_first()?;
    (paths::name(program) == "git").then_some(arguments)
}

impl WritingViewer {
    fn writes(&self, arguments: &[String]) -> bool {
        self.operands.is_some_and(|most| self.operands(arguments).count() > most)
            || arguments.iter().any(|word| self.is_sign(word))
            || match self.script {
                Some(Language::Awk) => arguments.iter().any(|word| filters::awk_writes(word)),
                Some(Language::Sed) => filters::sed_writes(arguments),
                None => false,
            }
    }

    /// The arguments that are neither flags nor their values, and no format such as `+%F`.
    fn operands<'w>(&self, arguments: &'w [String]) -> impl Iterator<Item = &'w String> {
        let before = std::iter::once("").chain(arguments.iter().map(String::as_str));
        let words = arguments.iter().zip(before);
        let operands = words.filter(|(word, before)| !word.starts_with(['-', '+']) && !self.takes_next(before));
        operands.map(|(word, _)| word)
    }

    /// Whether the word behind a flag is its value.
    fn takes_next(&self, flag: &str) -> bool {
        let letters = flag.strip_prefix('-').unwrap_or_default();
        letters.find(|letter| self.valued.contains(letter)).is_some_and(|at| at + 1 == letters.len())
    }

    /// Whether an argument is a flag with which the program writes.
    fn is_sign(&self, word: &str) -> bool {
        let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default();
        let mut letters = letters.chars().take_while(|c| c.is_ascii_alphabetic() && !self.valued.contains(*c));
        let name = word.split('=').next().unwrap_or_default();
        let is_abbreviated = name.len() > 2 && name.starts_with("--");
        letters.any(|letter| self.flags.contains(letter))
            || self.words.iter().any(|flag| flag == name || is_abbreviated && flag.starts_with(name))
    }
}
