//! The arguments of a program that changes files: its flags, alone, combined or spelt long, with their values, and its operands.

use super::programs::FileProgram;

/// The arguments of a program, as its line in the table of programs reads them.
pub(super) struct Arguments<'w> {
    /// The one-letter flags, also those that are spelt long, each with its value.
    flags: Vec<(char, &'w str)>,
    /// The words that are neither flags nor their values.
    pub(super) operands: Vec<&'w str>,
}

impl<'w> Arguments<'w> {
    pub(super) fn of(listed: &FileProgram, words: &'w [String]) -> Self {
        let mut found = Self { flags: Vec::new(), operands: Vec::new() };
        let mut words = words.iter().map(String::as_str);
        while let Some(word) = words.next() {
            if word == "--" {
                found.operands.extend(words);
                break;
            }
            let waiting = match (word.strip_prefix("--"), word.strip_prefix('-')) {
                (Some(_), _) => found.read_long(word, listed),
                (None, Some(letters)) => found.read_letters(letters, listed),
                (None, None) => {
                    found.operands.extend(Some(word).filter(|word| !word.is_empty()));
                    None
                }
            };
            if let Some(flag) = waiting {
                found.flags.push((flag, words.next().unwrap_or_default()));
            }
        }
        found
    }

    /// Reads a flag that is spelt long, which may be abbreviated, and returns it if the next word is its value.
    fn read_long(&mut self, word: &'w str, listed: &FileProgram) -> Option<char> {
        let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        let exact = listed.long.get_key_value(name);
        let known = exact.or_else(|| listed.long.iter().find(|(long, _)| long.starts_with(name)));
        let (_, &flag) = known?;
        if value.is_none() && listed.valued.contains(flag) {
            return Some(flag);
        }
        self.flags.push((flag, value.unwrap_or_default()));
        None
    }

    /// Reads one-letter flags. What follows one that takes a value is that; without it, the flag waits for the next word.
    fn read_letters(&mut self, letters: &'w str, listed: &FileProgram) -> Option<char> {
        for (at, flag) in letters.char_indices() {
            let value = &letters[at + flag.len_utf8()..];
            if listed.valued.contains(flag) && value.is_empty() {
                return Some(flag);
            }
            if listed.valued.contains(flag) || listed.glued.contains(flag) {
                self.flags.push((flag, value));
                return None;
            }
            self.flags.push((flag, ""));
        }
        None
    }

    /// Whether a flag is set.
    pub(super) fn has(&self, flag: char) -> bool {
        self.flags.iter().any(|(set, _)| *set == flag)
    }

    /// The operands of a program that copies or moves; the last one is where to, also if it stands behind `-t`.
    pub(super) fn sources_and_target(&self) -> Vec<String> {
        let folder = self.flags.iter().find(|(flag, _)| *flag == 't');
        let folder = folder.map(|(_, folder)| format!("{}/", folder.trim_end_matches('/')));
        self.operands.iter().map(|word| (*word).to_owned()).chain(folder).collect()
    }
}
