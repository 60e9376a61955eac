//! The terms of facts: names in one spelling, words in any of their forms, pairs of Chinese or Japanese characters. A text is
//! searched for the terms of all facts at once.

use foldhash::{HashMap, HashSet};

use super::grammar::Grammar;
use super::languages::LANGUAGES;
use super::spelling::{Number, PathName, Spelling, spelling};
use super::tokens::{Class, Token, is_han, tokens};
use super::word_forms::{forms, same_word, without_ge};

/// The number of a term.
pub(super) type Term = u32;

/// A term that a statement cannot do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Need {
    pub(super) term: Term,
    /// How much it carries: [`NAME`] for a name, 2 for a word, 1 for a word that is in statements about almost anything.
    pub(super) weight: u32,
    /// Whether it is a name, a number or a proper noun: another one in its place makes another statement.
    pub(super) is_name: bool,
}

/// The terms of the facts.
#[derive(Debug, Default)]
pub(super) struct Lexicon {
    count: Term,
    /// Names by their key. A short end of a path may belong to several.
    names: HashMap<String, Vec<Term>>,
    /// Full paths that are relative, which a longer absolute path may end with.
    relative: HashMap<String, Term>,
    /// Hashes by their first digits.
    hashes: HashMap<String, Vec<(String, Term)>>,
    /// Words by their first letters.
    words: HashMap<String, Vec<Word>>,
    /// The words of each grammar by their text.
    by_text: HashMap<(String, Grammar), Term>,
    /// Paths and pairs of characters by their text.
    exact: HashMap<String, Term>,
    /// The terms of words such as `file`.
    fillers: HashSet<Term>,
    /// The terms of words of the searched text.
    known: HashMap<String, Vec<Term>>,
}

/// A word in lower case.
#[derive(Debug, Clone)]
struct Word {
    text: String,
    /// The languages that say which other words are forms of it.
    grammar: Grammar,
    term: Term,
}

/// The weight of a name.
const NAME: u32 = 4;

/// The letters of a word by which it is found.
const PREFIX: usize = 3;

/// The digits of a hash by which it is found.
const HASH_DIGITS: usize = 7;

fn prefix(word: &str) -> &str {
    word.char_indices().nth(PREFIX).map_or(word, |(at, _)| &word[..at])
}

impl Lexicon {
    fn next(&mut self) -> Term {
        self.count += 1;
        self.count
    }

    /// The term of a name.
    pub(super) fn name(&mut self, name: &str) -> Term {
        match spelling(name) {
            Spelling::Number(number) => self.number(&number),
            Spelling::Hash(hash) => self.hash(hash),
            Spelling::Path(path) => self.path(&path),
            Spelling::Other(text) => self.key(format!("i:{text}")),
        }
    }

    /// The term of a number with its unit, which a text may leave out.
    fn number(&mut self, number: &Number) -> Term {
        let term = self.key(format!("n:{}{}", number.value, number.unit));
        for value in number.values() {
            self.list(format!("n:{value}{}", number.unit), term);
            if !number.unit.is_empty() {
                self.list(format!("u:{value}"), term);
            }
        }
        term
    }

    /// Lists a term under another key of its name. Of two, nobody can tell which is meant, and of more neither.
    fn list(&mut self, key: String, term: Term) {
        let terms = self.names.entry(key).or_default();
        if terms.len() < 2 && !terms.contains(&term) {
            terms.push(term);
        }
    }

    /// The term of a key that one name has.
    fn key(&mut self, key: String) -> Term {
        if let Some(&term) = self.names.get(&key).and_then(|terms| terms.first()) {
            return term;
        }
        let term = self.next();
        self.names.insert(key, vec![term]);
        term
    }

    /// The term of a hash, or of one that is known and begins with it, or with which it begins.
    fn hash(&mut self, hash: String) -> Term {
        let start = hash[..HASH_DIGITS].to_owned();
        let mut known = self.hashes.get(&start).into_iter().flatten();
        if let Some((_, term)) = known.find(|(other, _)| is_same_hash(other, &hash)) {
            return *term;
        }
        let term = self.next();
        self.hashes.entry(start).or_default().push((hash, term));
        term
    }

    /// The term of a path. Its shorter ends name it as well, as long as no other path has them.
    fn path(&mut self, path: &PathName) -> Term {
        let full = path.from(0);
        let key = format!("{}:{full}", if path.absolute { "P" } else { "p" });
        if let Some(&term) = self.exact.get(&key) {
            return term;
        }
        // A relative path may be the end of an absolute one that is known, or the other way around.
        let same = self.same_path(path);
        let term = same.unwrap_or_else(|| self.next());
        self.exact.insert(key, term);
        for from in 0..path.parts.len() {
            self.list(format!("p:{}", path.from(from)), term);
        }
        if !path.absolute {
            self.relative.insert(full, term);
        }
        term
    }

    /// The term of the one known path that `path` is another spelling of.
    fn same_path(&self, path: &PathName) -> Option<Term> {
        if path.absolute {
            let ends = (1..path.parts.len().saturating_sub(1)).map(|from| path.from(from));
            return ends.into_iter().find_map(|end| self.relative.get(&end)).copied();
        }
        let listed = self.names.get(&format!("p:{}", path.from(0)))?;
        match listed.as_slice() {
            [term] => Some(*term),
            _ => None,
        }
    }

    /// The term of a word in lower case.
    fn word(&mut self, text: String, grammar: Grammar) -> Term {
        let key = (text, grammar);
        if let Some(&term) = self.by_text.get(&key) {
            return term;
        }
        let term = self.next();
        let word = Word { text: key.0.clone(), grammar, term };
        self.words.entry(prefix(&key.0).to_owned()).or_default().push(word.clone());
        if without_ge(&key.0) != key.0 {
            self.words.entry(prefix(without_ge(&key.0)).to_owned()).or_default().push(word.clone());
        }
        for form in forms(&key.0) {
            self.words.entry(prefix(form).to_owned()).or_default().push(word.clone());
        }
        self.by_text.insert(key, term);
        term
    }

    /// The terms that carry `text`, whose words are inflected as in `grammar`.
    pub(super) fn needs(&mut self, text: &str, grammar: Grammar) -> Vec<Need> {
        let tokens = tokens(text);
        let mut needs: Vec<Need> = Vec::new();
        let mut begins = true;
        for (nth, token) in tokens.iter().enumerate() {
            let is_divided = tokens.get(nth + 1).is_some_and(|next| next.inner && token.text.contains(next.text));
            let starts_sentence = std::mem::take(&mut begins);
            match token.class {
                Class::Han => self.han_needs(token.text, &mut needs),
                // The words that hyphens join stand for the whole, and a name for its pieces.
                Class::Word if is_divided && !token.inner => {}
                Class::Name if token.inner => {}
                Class::Name => {
                    let term = self.name(token.text);
                    needs.push(Need { term, weight: NAME, is_name: true });
                }
                Class::Word => {
                    let is_proper =
                        !starts_sentence && token.text.starts_with(char::is_uppercase) && token.text.len() > 2;
                    let is_folder = text[token.at + token.text.len()..].starts_with('/');
                    needs.extend(self.word_need(token.text, grammar, is_proper, is_folder));
                }
            }
        }
        self.without_fillers(&mut needs);
        let mut seen = HashSet::default();
        needs.retain(|need| seen.insert(need.term));
        needs
    }

    /// Leaves out words such as `file` and `folder` if a name says which one.
    fn without_fillers(&self, needs: &mut Vec<Need>) {
        let has_name = needs.iter().any(|need| need.weight == NAME);
        if has_name && needs.len() > 2 {
            needs.retain(|need| !self.fillers.contains(&need.term));
        }
    }

    fn word_need(&mut self, word: &str, grammar: Grammar, is_proper: bool, is_folder: bool) -> Option<Need> {
        let word = word.to_lowercase();
        if LANGUAGES.stop.contains(&word) || is_modal(&word) || word.chars().count() < 2 {
            return None;
        }
        let weight = match () {
            () if is_folder => NAME,
            () if LANGUAGES.weak.contains(&word) => 1,
            () => 2,
        };
        let is_filler = LANGUAGES.filler.contains(&word);
        let term = self.word(word, grammar);
        if is_filler {
            self.fillers.insert(term);
        }
        Some(Need { term, weight, is_name: is_proper || is_folder })
    }

    /// Chinese is compared by pairs of characters, without those that carry nothing; of Japanese, also without Hiragana, which
    /// only inflects.
    fn han_needs(&mut self, run: &str, needs: &mut Vec<Need>) {
        for pair in han_pairs(run) {
            let known = self.exact.get(&pair).copied();
            let term = known.unwrap_or_else(|| self.next());
            self.exact.insert(pair, term);
            needs.push(Need { term, weight: 2, is_name: false });
        }
    }

    /// Calls `each` with the terms that a token of the searched text is.
    pub(super) fn each_term(&mut self, token: &Token<'_>, each: &mut impl FnMut(Term)) {
        match token.class {
            Class::Han => {
                han_pairs(token.text).iter().filter_map(|pair| self.exact.get(pair)).for_each(|term| each(*term));
            }
            Class::Word => {
                self.word_terms(token.text).iter().for_each(|term| each(*term));
                // A name without a mark, such as `main`, is a word as well.
                self.names.get(&format!("i:{}", token.text)).into_iter().flatten().for_each(|term| each(*term));
            }
            Class::Name => self.name_terms(token.text, each),
        }
    }

    fn word_terms(&mut self, word: &str) -> &[Term] {
        if !self.known.contains_key(word) {
            let lower = word.to_lowercase();
            let bare = Some(without_ge(&lower)).filter(|bare| *bare != lower);
            let starts = [Some(lower.as_str()), bare].into_iter().flatten().map(prefix);
            let listed = starts.filter_map(|start| self.words.get(start)).flatten();
            let same = listed.filter(|other| same_word(&other.text, &lower, other.grammar));
            let terms = same.map(|word| word.term).collect();
            self.known.insert(word.to_owned(), terms);
        }
        self.known.get(word).map_or(&[], Vec::as_slice)
    }

    fn name_terms(&mut self, name: &str, each: &mut impl FnMut(Term)) {
        let unique = |key: &str, each: &mut dyn FnMut(Term)| {
            if let Some([term]) = self.names.get(key).map(Vec::as_slice) {
                each(*term);
            }
        };
        match spelling(name) {
            Spelling::Number(number) => {
                for value in number.values() {
                    unique(&format!("n:{value}"), each);
                    let with_unit = if number.unit.is_empty() { "u:" } else { "n:" };
                    unique(&format!("{with_unit}{value}{}", number.unit), each);
                }
            }
            Spelling::Hash(hash) => {
                let known = self.hashes.get(&hash[..HASH_DIGITS]).map_or(&[][..], Vec::as_slice);
                let mut same = known.iter().filter(|(other, _)| is_same_hash(other, &hash));
                if let (Some((_, term)), None) = (same.next(), same.next()) {
                    each(*term);
                }
            }
            Spelling::Other(text) => {
                unique(&format!("i:{text}"), each);
                // A word of a sentence that another text writes with capitals.
                if !text.contains(['/', '_', '.', ':']) {
                    self.word_terms(name).iter().for_each(|term| each(*term));
                }
            }
            Spelling::Path(path) => {
                if let Some(&term) =
                    self.exact.get(&format!("{}:{}", if path.absolute { "P" } else { "p" }, path.from(0)))
                {
                    each(term);
                } else {
                    unique(&format!("p:{}", path.from(0)), each);
                }
                if path.absolute {
                    let longest = (1..path.parts.len()).find_map(|from| self.relative.get(&path.from(from)));
                    longest.into_iter().for_each(|term| each(*term));
                }
            }
        }
    }
}

/// Whether one of two hashes is the beginning of the other.
fn is_same_hash(one: &str, other: &str) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

/// The words of a statement that carry it, in lower case.
pub(super) fn content_words(text: &str) -> Vec<String> {
    let words = tokens(text).into_iter().filter(|token| !token.inner).flat_map(|token| match token.class {
        Class::Word => vec![token.text.to_lowercase()],
        Class::Han => han_pairs(token.text),
        Class::Name => vec![token.text.to_owned()],
    });
    words.filter(|word| !LANGUAGES.stop.contains(word) && !is_modal(word)).collect()
}

/// Whether a word begins a rule or a negation.
fn is_modal(word: &str) -> bool {
    [&LANGUAGES.rule, &LANGUAGES.negation].iter().any(|words| words.first_in(word) == Some(0))
}

/// Pairs of characters of a run that carry something; a single character stands for itself.
fn han_pairs(run: &str) -> Vec<String> {
    let is_japanese = run.contains(|c: char| matches!(c, '\u{3040}'..='\u{30ff}'));
    let mut text = run.to_owned();
    for silent in &LANGUAGES.silent {
        if text.contains(silent.as_str()) {
            text = text.replace(silent.as_str(), " ");
        }
    }
    let mut pairs = Vec::new();
    let pieces = text.split(|c: char| c != 'ー' && (!is_han(c) || is_japanese && matches!(c, '\u{3040}'..='\u{309f}')));
    for piece in pieces.filter(|piece| !piece.is_empty()) {
        let letters: Vec<char> = piece.chars().collect();
        match letters.as_slice() {
            [single] => pairs.push(single.to_string()),
            letters => pairs.extend(letters.windows(2).map(|pair| pair.iter().collect::<String>())),
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::{Grammar, Lexicon, Term};
    use crate::verify::tokens::tokens;

    /// Whether `text` contains every term of `fact`.
    fn says(fact: &str, text: &str) -> bool {
        let mut lexicon = Lexicon::default();
        let needs = lexicon.needs(fact, Grammar::default());
        let mut found: Vec<Term> = Vec::new();
        tokens(text).iter().for_each(|token| lexicon.each_term(token, &mut |term| found.push(term)));
        !needs.is_empty() && needs.iter().all(|need| found.contains(&need.term))
    }

    #[test]
    fn other_forms_and_spellings_say_the_same() {
        for (fact, text) in [
            ("Never commit to main", "The agent must never have committed to main"),
            ("Set the limit to 3,600", "limit set: 3600"),
            ("Set the limit to 3600s", "limit set: 3600"),
            ("Set the limit to 3600", "limit set: 3600s"),
            ("edit src/app.py", "edited /repo/src/app.py"),
            ("edit /repo/src/app.py", "edited app.py"),
            ("commit 3fa9c21e77d0b1aa42cc90d3ce7bd1a2f3b4c5d6", "commit 3fa9c21"),
            ("修改登录页面", "登录页面已修改，登录 改登"),
            ("パスワード検証を修正してください", "修正：パスワード検証"),
        ] {
            assert!(says(fact, text), "{fact} | {text}");
        }
    }

    #[test]
    fn a_number_that_is_said_twice_is_one() {
        assert!(says("set the limits to 120.500 and the base to 120.500", "limits and base: set to 120.5"));
    }

    #[test]
    fn another_name_says_another_thing() {
        for (fact, text) in [
            ("edit app.conf", "edit app.conf.bak"),
            ("edit src/app.py", "edit lib/src/app.py"),
            ("use 2.3.1", "use 2.3.11"),
            ("order 48213", "order 148213"),
            ("wait 30s", "wait 30ms"),
            ("wait 30s", "wait 30%"),
            ("use 500MB", "use 500k"),
        ] {
            assert!(!says(fact, text), "{fact} | {text}");
        }
    }
}
