//! Generates texts like those that models read, from words of the vocabulary, by frequency, and from names that the
//! vocabulary does not contain, which recur like real names. Of the pieces into which a pattern splits 4 MB, 4 of 100
//! occur for the first time, as in 4 MB of documentation, source code or program output; of Chinese phrases, 3 of 10.
//! Every run gives the same texts.

#![expect(clippy::format_push_string, reason = "nothing is measured here")]
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "ranks of words"
)]

/// A generator of pseudorandom numbers.
struct Dice(u64);

/// A kind of text: its name, and a function that makes a line or so of it.
type Kind = (&'static str, fn(&Words, &mut Dice) -> String);

/// Words, the most frequent first.
struct Words {
    english: Vec<String>,
    /// Two words written as one.
    names: Vec<String>,
    chinese: Vec<String>,
    phrases: Vec<String>,
}

/// One text of each kind, each of about `bytes` bytes, with its name.
pub(crate) fn all(bytes: usize) -> Vec<(String, String)> {
    let words = Words::from_vocabulary();
    let kinds: [Kind; 5] = [("chat", chat), ("code", code), ("chinese", chinese), ("logs", log), ("tool json", json)];
    let mut texts: Vec<(String, String)> = Vec::new();
    for (name, kind) in kinds {
        texts.push((name.to_owned(), repeated(bytes, 1, |dice| kind(&words, dice))));
    }
    let mixed = repeated(bytes, 2, |dice| {
        let (_, kind) = kinds[[0, 0, 0, 1, 1, 1, 2, 3, 4, 4][dice.below(10)]];
        (0..20).map(|_| kind(&words, dice)).collect()
    });
    texts.push(("mix".to_owned(), mixed));
    texts
}

/// Texts without splits or of one character, on which a counter may be slow.
pub(crate) fn runs(bytes: usize) -> Vec<(String, String)> {
    let mut dice = Dice(3);
    let ones = ["a", " ", "\t", "\n", "=", "1", "中", "👍", "\u{301}"];
    let mut runs: Vec<_> = ones.iter().map(|one| (format!("{one:?}"), one.repeat(bytes / one.len()))).collect();
    let mut draw =
        |alphabet: &[u8]| (0..bytes).map(|_| char::from(alphabet[dice.below(alphabet.len())])).collect::<String>();
    runs.push(("letters".to_owned(), draw(b"abcdefghijklmnopqrstuvwxyz")));
    runs.push(("base64".to_owned(), draw(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")));
    runs.push(("space, b".to_owned(), format!(" {}", "b".repeat(bytes))));
    runs
}

fn repeated(bytes: usize, seed: u64, mut part: impl FnMut(&mut Dice) -> String) -> String {
    let (mut dice, mut text) = (Dice(seed), String::new());
    while text.len() < bytes {
        text.push_str(&part(&mut dice));
    }
    text
}

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize * end) >> 31
    }

    fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    /// Draws a word: a frequent one about as often as the inverse of its rank, and a rare one still more rarely.
    fn rank<'a>(&mut self, words: &'a [String]) -> &'a str {
        let exponent = (self.below(1 << 20) as f64 / f64::from(1 << 20)).powf(1.8);
        &words[(words.len() as f64).powf(exponent) as usize - 1]
    }
}

impl Words {
    fn from_vocabulary() -> Self {
        let encoding = tiktoken_rs::o200k_base_singleton();
        let tokens = (0..199_998).filter_map(|id| String::from_utf8(encoding.decode_bytes(&[id]).ok()?).ok());
        let (mut english, mut chinese) = (Vec::new(), Vec::new());
        for token in tokens {
            let word = token
                .strip_prefix(' ')
                .filter(|word| word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_lowercase()));
            if let Some(word) = word {
                english.push(word.to_owned());
            } else if token.chars().all(|character| ('\u{4E00}'..'\u{A000}').contains(&character)) {
                chinese.push(token);
            }
        }
        english.truncate(12_000);
        let mut dice = Dice(4);
        let names = (0..5_000).map(|_| dice.rank(&english).to_owned() + dice.rank(&english)).collect();
        let phrases = (0..10_000).map(|_| phrase(&chinese, &mut dice)).collect();
        Self { english, names, chinese, phrases }
    }

    /// A word; one in twenty is a name.
    fn english(&self, dice: &mut Dice) -> String {
        let words = if dice.one_in(20) { &self.names } else { &self.english };
        dice.rank(words).to_owned()
    }

    fn capital(&self, dice: &mut Dice) -> String {
        let word = self.english(dice);
        word[..1].to_uppercase() + &word[1..]
    }

    fn name(&self, dice: &mut Dice) -> String {
        match dice.below(4) {
            0 => self.english(dice),
            1 => self.english(dice) + &self.capital(dice),
            2 => self.capital(dice) + &self.capital(dice),
            _ => format!("{}_{}", self.english(dice), self.english(dice)),
        }
    }
}

fn chat(words: &Words, dice: &mut Dice) -> String {
    let mut text = words.capital(dice);
    for _ in 0..4 + dice.below(14) {
        let before = [" ", " ", " ", " ", " ", " ", " ", ", ", "; ", " - ", "'s ", "n't ", " (", ") "][dice.below(14)];
        text += before;
        text += &if dice.one_in(12) { words.capital(dice) } else { words.english(dice) };
        if dice.one_in(40) {
            text += &format!(" {}", dice.below(3000));
        }
    }
    text + [". ", ". ", ". ", "? ", "! ", ".\n\n", ":\n\n- ", ".\n"][dice.below(8)]
}

fn code(words: &Words, dice: &mut Dice) -> String {
    let indent = "    ".repeat(dice.below(4));
    let (one, two, three) = (words.name(dice), words.name(dice), words.name(dice));
    match dice.below(9) {
        0 => format!("{indent}def {one}(self, {two}: str = None) -> {three}:\n"),
        1 => format!("{indent}{one} = {two}.{three}({}, \"{}\")\n", dice.below(500), words.english(dice)),
        2 => format!("{indent}if {one} != {two}[{}] and not {three}:\n{indent}    return None\n\n", dice.below(9)),
        3 => format!("{indent}// {} {} {}\n", words.capital(dice), words.english(dice), words.english(dice)),
        4 => format!("{indent}for ({one} = 0; {one} < {two}.len(); {one}++) {{\n"),
        5 => format!("{indent}let {one}: Vec<{two}> = {three}::new(&{});\n{indent}}}\n", words.name(dice)),
        6 => format!("use {}::{}::{{{two}, {three}}};\n", words.english(dice), words.english(dice)),
        7 => format!("{indent}self.{one}[\"{}\"] += 0x{:x} * {two}\n", words.english(dice), dice.below(1 << 24)),
        _ => format!(
            "{indent}    \"{one}\": {{\"{}\": {}.{}}},\n",
            words.english(dice),
            dice.below(100),
            dice.below(1000)
        ),
    }
}

fn chinese(words: &Words, dice: &mut Dice) -> String {
    let mut text = match dice.below(3) {
        0 => phrase(&words.chinese, dice),
        _ => dice.rank(&words.phrases).to_owned(),
    };
    if dice.one_in(8) {
        text += &format!("{}年", 1990 + dice.below(40));
    }
    if dice.one_in(10) {
        text += &words.capital(dice);
    }
    text + ["，", "，", "，", "。", "。", "。\n", "、", "：", "？", "“"][dice.below(10)]
}

/// The text between two punctuation characters.
fn phrase(words: &[String], dice: &mut Dice) -> String {
    (0..=dice.below(3) + dice.below(3) + dice.below(4)).map(|_| dice.rank(words)).collect()
}

fn log(words: &Words, dice: &mut Dice) -> String {
    let time = format!(
        "2026-{:02}-{:02}T{:02}:{:02}:{:02}",
        1 + dice.below(12),
        1 + dice.below(28),
        dice.below(24),
        dice.below(60),
        dice.below(60)
    );
    let level = ["INFO", "INFO", "INFO", "DEBUG", "WARN", "ERROR"][dice.below(6)];
    let place = format!("{}.{}", words.english(dice), words.english(dice));
    let id = format!("{:08x}-{:04x}", dice.below(1 << 30), dice.below(1 << 16));
    let message = match dice.below(4) {
        0 => format!("GET /api/v1/{}/{} 200 {}ms", words.english(dice), dice.below(100_000), dice.below(900)),
        1 => format!(
            "{} {} failed: {} (attempt {})",
            words.english(dice),
            words.english(dice),
            words.english(dice),
            dice.below(5)
        ),
        2 => format!(
            "connection from 10.{}.{}.{}:{}",
            dice.below(256),
            dice.below(256),
            dice.below(256),
            dice.below(65536)
        ),
        _ => format!(
            "{}={} {}={} took {}.{}s",
            words.english(dice),
            dice.below(10000),
            words.english(dice),
            dice.below(100),
            dice.below(60),
            dice.below(1000)
        ),
    };
    format!("{time}.{:03}Z {level:5} [{place}] request_id={id} {message}\n", dice.below(1000))
}

fn json(words: &Words, dice: &mut Dice) -> String {
    let mut text = String::from("{\n");
    for at in 0..4 + dice.below(8) {
        let key = words.name(dice);
        let value = match dice.below(7) {
            0 => dice.below(100_000).to_string(),
            1 => ["true", "false", "null"][dice.below(3)].to_owned(),
            2 => format!("\"{} {} {}\"", words.capital(dice), words.english(dice), words.english(dice)),
            3 => format!("[\"{}\", \"{}\"]", words.english(dice), words.english(dice)),
            4 => format!("{}.{}", dice.below(100), dice.below(10000)),
            5 => format!("\"/src/{}/{}.py\"", words.english(dice), words.name(dice)),
            _ => format!("\"{}\"", words.name(dice)),
        };
        text += &format!("{}  \"{key}\": {value}", if at == 0 { "" } else { ",\n" });
    }
    text + "\n}\n"
}
