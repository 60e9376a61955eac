//! Messages of which a dataset can have one for every record. Those that say the same are one kind: the first of them are printed,
//! and the others are counted.

use std::collections::HashMap;

use curtail_io::FileError;

/// Messages that say the same.
pub(super) struct Repeated {
    /// The first of them, with its place.
    pub(super) first: FileError,
    /// What each is about, or what became of it.
    pub(super) label: Option<&'static str>,
    pub(super) count: usize,
    /// Whether they differ in what does not tell kinds apart.
    pub(super) differ: bool,
}

/// Messages by kind.
#[derive(Default)]
pub(super) struct Repeats {
    /// In the order in which they appeared.
    pub(super) kinds: Vec<Repeated>,
    numbers: HashMap<String, usize>,
}

impl Repeats {
    /// Counts `message`, and returns how many of its `kind` there were before; `None` if there are `most_kinds` already.
    pub(super) fn count(
        &mut self,
        kind: String,
        label: Option<&'static str>,
        message: &FileError,
        most_kinds: usize,
    ) -> Option<usize> {
        let number = match self.numbers.get(&kind) {
            Some(number) => *number,
            None if self.kinds.len() >= most_kinds => return None,
            None => {
                self.kinds.push(Repeated { first: message.clone(), label, count: 0, differ: false });
                self.numbers.insert(kind, self.kinds.len() - 1);
                self.kinds.len() - 1
            }
        };
        let repeated = &mut self.kinds[number];
        repeated.differ |= repeated.first.what != message.what;
        repeated.count += 1;
        Some(repeated.count - 1)
    }
}

/// What messages of one kind have in common: their text without numbers and without what is quoted.
pub(super) fn kind_of(message: &str) -> String {
    let mut kind = String::new();
    let mut quote = None;
    for c in message.chars() {
        match quote {
            Some(end) => quote = Some(end).filter(|end| *end != c),
            None if matches!(c, '`' | '"') => quote = Some(c),
            None if !c.is_ascii_digit() && c != ',' => kind.push(c),
            None => {}
        }
    }
    kind
}
