//! Finds what a page should not show to others, in the text of a log: strings that look like keys, and names of home folders.
//! Masked, a text is as long as before, so that places in it stay what they are.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// Its place says what it is, and so it may be words.
const PASSWORD: &str = "password in an address";
/// Kinds of keys, and what each looks like. The part that is secret is a group if it is not all of it.
const KINDS: &[(&str, &str)] = &[
    ("Anthropic key", r"sk-ant-[A-Za-z0-9_-]{20,}"),
    ("API key", r"sk-[A-Za-z0-9_-]{20,}"),
    ("GitHub token", r"gh[pousr]_[A-Za-z0-9]{30,}"),
    ("GitHub token", r"github_pat_[A-Za-z0-9_]{40,}"),
    ("GitLab token", r"glpat-[A-Za-z0-9_-]{20,}"),
    ("Slack token", r"xox[abeoprs]-[A-Za-z0-9-]{16,}"),
    ("AWS key", r"(?:AKIA|ASIA)[A-Z0-9]{16}"),
    ("Google key", r"AIza[A-Za-z0-9_-]{35}"),
    ("Hugging Face token", r"hf_[A-Za-z0-9]{30,}"),
    ("npm token", r"npm_[A-Za-z0-9]{36}"),
    ("PyPI token", r"pypi-[A-Za-z0-9_-]{50,}"),
    ("Stripe key", r"[rs]k_live_[A-Za-z0-9]{20,}"),
    ("JSON web token", r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    ("private key", r"-----BEGIN [A-Z ]*PRIVATE KEY-----((?:\\{1,4}[nr]|[A-Za-z0-9+/=\s:,]){64,})"),
    ("bearer token", r"[Bb]earer +([A-Za-z0-9._~+/-]{24,})"),
    (PASSWORD, r#"[a-z]://[^/\s:@"\\]{1,64}:([^/\s:@"\\]{8,100})@"#),
    (
        "secret",
        r#"(?i)(?:api[_-]?key|secret(?:[_-]?(?:access[_-]?)?key)?|access[_-]?token|auth[_-]?token|passw(?:or)?d)["'\\]{0,6} ?[:=] ?["'\\]{0,6}([A-Za-z0-9+/._-]{20,})"#,
    ),
];
/// Paths of home folders, whose name is a group. Where dashes stand for slashes, none is in the name.
const HOMES: &str = r#"(?:/home/|/Users/|\\{1,4}Users\\{1,4})([^/\s"'`\\:;,<>|*?$&(){}\[\]]{1,64})|(?:-home-|-Users-)([A-Za-z][A-Za-z0-9._]*)"#;
/// Fewer different characters than these are a placeholder.
const DISTINCT: usize = 8;
/// At most so many keys are found in a text.
const MAX_KEYS: usize = 1_000;

static KEYS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let kinds: Vec<String> = KINDS.iter().map(|(_, pattern)| format!("({pattern})")).collect();
    Regex::new(&kinds.join("|")).ok()
});
static HOME_FOLDERS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(HOMES).ok());

/// What a text should not show to others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exposure {
    /// Different strings that look like keys, where each is first.
    pub keys: Vec<ExposedKey>,
    /// Paths below home folders.
    pub homes: usize,
    /// The home folder that most of them are below.
    pub home: Option<String>,
}

/// A string that looks like a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExposedKey {
    /// What it looks like.
    pub kind: &'static str,
    /// Its bytes in the text.
    pub place: Range<usize>,
}

impl Exposure {
    /// Looks through `text`, which may be JSON.
    pub fn of_text(text: &str) -> Self {
        let mut seen = HashSet::new();
        let keys = keys(text).filter(|key| seen.insert(&text[key.place.clone()])).take(MAX_KEYS).collect();
        let mut homes: BTreeMap<&str, usize> = BTreeMap::new();
        for found in home_folders(text) {
            *homes.entry(&text[found.whole]).or_default() += 1;
        }
        let home = homes.iter().max_by_key(|(_, count)| **count).map(|(home, _)| (*home).to_owned());
        Self { keys, homes: homes.values().sum(), home }
    }
}

/// `text` with what looks like a key, and the names of home folders, replaced by as many `x`.
pub fn masked(text: &str) -> Cow<'_, str> {
    let mut places: Vec<Range<usize>> = keys(text).map(|key| hidden(text, key)).collect();
    places.extend(home_folders(text).map(|found| found.name));
    places.sort_by_key(|place| place.start);
    let mut out = String::new();
    let mut from = 0;
    for place in places.into_iter().filter(|place| !place.is_empty()) {
        if place.end <= from {
            continue;
        }
        let start = place.start.max(from);
        out.push_str(&text[from..start]);
        // What is escaped stays, so that JSON stays JSON.
        let mut is_escaped = false;
        for byte in text[start..place.end].bytes() {
            let is_kept = is_escaped || matches!(byte, b'\\' | b'\n' | b'\r');
            out.push(if is_kept { char::from(byte) } else { 'x' });
            is_escaped = byte == b'\\' && !is_escaped;
        }
        from = place.end;
    }
    if from == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[from..]);
    Cow::Owned(out)
}

/// The bytes of a key that are hidden: all but a beginning that says what it is.
fn hidden(text: &str, ExposedKey { kind, place }: ExposedKey) -> Range<usize> {
    // What is known by the words around it begins with nothing but itself.
    if KINDS.iter().any(|(name, pattern)| *name == kind && has_group(pattern)) {
        return place;
    }
    let head = &text[place.clone()];
    let sign = head.as_bytes().iter().take(8).rposition(|byte| matches!(byte, b'-' | b'_'));
    place.start + sign.map_or(0, |at| at + 1)..place.end
}

fn keys(text: &str) -> impl Iterator<Item = ExposedKey> {
    let found = KEYS.iter().flat_map(move |keys| keys.captures_iter(text));
    found.filter_map(move |captures| key(text, &captures))
}

fn key(text: &str, captures: &Captures<'_>) -> Option<ExposedKey> {
    let mut groups = captures.iter().skip(1);
    let mut found = None;
    for (name, pattern) in KINDS {
        let whole = groups.next().flatten();
        // A pattern with a group of its own has two.
        let inner = if has_group(pattern) { groups.next().flatten() } else { None };
        if let Some(whole) = whole {
            found = Some((*name, inner.unwrap_or(whole).range()));
            break;
        }
    }
    let (kind, place) = found?;
    // The header of a private key ends in dashes, and most kinds begin as no word does: behind an escape, such as that of a
    // color, a letter may be before them.
    let is_whole = kind != "API key" && kind != "secret" || begins_word(text, place.start);
    let is_secret = if kind == PASSWORD { has_many_characters } else { is_random };
    (is_whole && is_secret(&text[place.clone()])).then_some(ExposedKey { kind, place })
}

/// Whether a pattern marks its secret part.
fn has_group(pattern: &str) -> bool {
    pattern.replace("(?", "").contains('(')
}

/// Whether no word goes on at `at`; the letter of an escape in JSON does not count.
fn begins_word(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let before = |back: usize| at.checked_sub(back).map(|at| bytes[at]);
    let is_word = before(1).is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    !is_word || matches!(before(1), Some(b'n' | b't' | b'r')) && before(2) == Some(b'\\')
}

/// Whether a text is random rather than a name or a placeholder: letters and digits, and many different ones.
fn is_random(text: &str) -> bool {
    let has = |kind: fn(&u8) -> bool| text.as_bytes().iter().any(kind);
    has_many_characters(text) && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
}

fn has_many_characters(text: &str) -> bool {
    text.bytes().collect::<HashSet<u8>>().len() >= DISTINCT
}

/// A path of a home folder: all of it, and its name.
struct HomeFolder {
    whole: Range<usize>,
    name: Range<usize>,
}

fn home_folders(text: &str) -> impl Iterator<Item = HomeFolder> {
    let found = HOME_FOLDERS.iter().flat_map(move |homes| homes.captures_iter(text));
    found.filter_map(|captures| {
        let whole = captures.get(0)?.range();
        // `take-home-pay` is a word.
        if captures.get(2).is_some() && !begins_word(text, whole.start) {
            return None;
        }
        let name = captures.get(1).or_else(|| captures.get(2))?.range();
        Some(HomeFolder { whole, name })
    })
}

#[cfg(test)]
mod tests {
    use curtail_core::json::{Document, quote};

    use super::{Exposure, masked};

    const KEY: &str = "sk-ant-api03-Zk3vQ9xLr7Tn2WbY5uHd";

    #[test]
    fn what_looks_like_a_key_is_found_and_masked() {
        let random = "Zk3vQ9xLr7Tn2WbY5uHdZk3vQ9xLr7Tn2WbY5uHd";
        for (text, kind) in [
            (format!(r#"{{"a":"\n{KEY}"}}"#), "Anthropic key"),
            (format!("OPENAI=sk-proj-{random}"), "API key"),
            (format!("ghp_{random}"), "GitHub token"),
            (String::from("AKIA3VQ9XLR7TN2WBY5U"), "AWS key"),
            (format!("Authorization: Bearer {random}"), "bearer token"),
            (String::from("postgres://ada:tide-9level3@db/x"), "password in an address"),
            (String::from("postgres://ada:correct-horse-battery@db/x"), "password in an address"),
            (format!(r"\u001b[Kghp_{random} and %3D"), "GitHub token"),
            (format!(r#""api_key\": \"{random}\""#), "secret"),
            (format!(r#"{{"access_token": "ya29.{random}"}}"#), "secret"),
            (format!("AWS_SECRET_ACCESS_KEY={random}"), "secret"),
            (format!("SECRET_KEY={}", random.repeat(8)), "secret"),
            (format!("-----BEGIN RSA PRIVATE KEY-----\\n{random}{random}\\n-----END"), "private key"),
        ] {
            let found = Exposure::of_text(&text).keys;
            assert_eq!(found.iter().map(|key| key.kind).collect::<Vec<_>>(), [kind], "{text}");
            let safe = masked(&text);
            assert_eq!(safe.len(), text.len());
            assert!(
                Exposure::of_text(&safe).keys.is_empty() && !safe.contains("Q9xLr7") && !safe.contains("9level3"),
                "{safe}"
            );
        }
        for text in [
            "sk-your-api-key-goes-here-please",
            "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "task-force-of-the-old-harbor-1234567890",
            "api_key = process.env.API_KEY_OF_THE_HARBOR",
            "https://example.com/a:b@c",
        ] {
            assert!(Exposure::of_text(text).keys.is_empty(), "{text}");
            assert_eq!(masked(text), text);
        }
    }

    #[test]
    fn the_same_key_is_counted_once_and_home_folders_by_path() {
        let text = format!(r"{KEY} {KEY} /home/ada/a /home/ada/b C:\\Users\\Ada\\c -Users-ada-kiln /home/");
        let found = Exposure::of_text(&text);
        assert_eq!((found.keys.len(), found.homes, found.home.as_deref()), (1, 4, Some("/home/ada")));
        assert!(masked(&text).ends_with(r"/home/xxx/a /home/xxx/b C:\\Users\\xxx\\c -Users-xxx-kiln /home/"));
        assert_eq!(masked("/home/mary-ann/a /Users/Zoë/b"), "/home/xxxxxxxx/a /Users/xxxx/b");
        assert_eq!(masked("the take-home-pay"), "the take-home-pay");
    }

    #[test]
    fn masked_json_is_json_and_shows_nothing_of_a_secret() {
        let line = "Zk3vQ9xLr7Tn2WbY5uHdZk3vQ9xLr7Tn2WbY5uHd";
        let key = format!("-----BEGIN PRIVATE KEY-----\n{line}\n{line}\n-----END PRIVATE KEY-----\n");
        for said in [key.as_str(), "Look for -----BEGIN PRIVATE KEY----- in the log", "password=Ab3-Xy9Qk2Lm5Np8Rt1Vw4"]
        {
            let arguments = quote(&format!("{{\"text\":{}}}", quote(said)));
            let behind = "\"What is behind it stays, whatever was said before it.\"";
            let record = format!("{{\"arguments\":{arguments},\"text\":{},\"behind\":{behind}}}", quote(said));
            let safe = masked(&record);
            let document = Document::parse(&safe).unwrap();
            assert_eq!(document.roots().next().unwrap().get("behind").unwrap().raw(), behind);
            assert!(!safe.contains("Q9xLr7") && !safe.contains("Ab3"), "{safe}");
        }
        assert_eq!(masked("postgres://ada:tide-9level3@db/x"), "postgres://ada:xxxxxxxxxxxx@db/x");
    }
}
