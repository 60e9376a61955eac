//! Finds what a page should not show to others, in the text of a log: strings in the forms of keys that are listed here, and names
//! of home folders. A secret in another form is not found. Masked, a text is as long as before, so that places in it stay what they
//! are.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// Its place says what it is, and so it may be words.
const PASSWORD: &str = "password in an address";
/// Other words may end like its beginning.
const API_KEY: &str = "API key";
/// Kinds of keys, and what each looks like. The group is the part that is secret.
const KINDS: &[(&str, &str)] = &[
    ("Anthropic key", r"sk-ant-([A-Za-z0-9_-]{20,})"),
    (API_KEY, r"sk-(?:(?:proj|svcacct|admin|or)-)?([A-Za-z0-9_-]{20,})"),
    ("GitHub token", r"gh[pousr]_([A-Za-z0-9]{30,})"),
    ("GitHub token", r"github_(pat_[A-Za-z0-9_]{40,})"),
    ("GitLab token", r"glpat-([A-Za-z0-9_.-]{20,})"),
    ("Slack token", r"(?:xox[abeoprs]|xapp)-([A-Za-z0-9-]{16,})"),
    ("AWS key", r"((?:AKIA|ASIA)[A-Z0-9]{16})"),
    ("Google key", r"(AIza[A-Za-z0-9_-]{35})"),
    ("Hugging Face token", r"hf_([A-Za-z0-9]{30,})"),
    ("npm token", r"npm_([A-Za-z0-9]{36})"),
    ("PyPI token", r"pypi-([A-Za-z0-9_-]{50,})"),
    ("Stripe key", r"[rs]k_(?:live|test)_([A-Za-z0-9]{20,})"),
    ("Groq key", r"gsk_([A-Za-z0-9]{40,})"),
    ("xAI key", r"xai-([A-Za-z0-9]{40,})"),
    ("JSON web token", r"(eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})"),
    // Up to its end, or else the lines behind its beginning. Between them may be a header, or the numbers of the lines. Nothing in
    // it has five dashes: one that is cut off is not read on behind the beginning of the next one. In a diff, a dash more is before
    // its end.
    ("private key", r#"-----BEGIN [A-Z ]*PRIVATE KEY-----((?s:-{0,4}(?:[^"\\-]|\\.))+?)-{5,8}END"#),
    (
        "private key",
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----((?:\\{1,4}(?:[nrt]|u[0-9A-Fa-f]{4})|[\s\d:,|→])*[A-Za-z0-9+/=]{20}(?:\\{1,4}(?:[nrt]|u[0-9A-Fa-f]{4})|[A-Za-z0-9+/=\s:,|→])*)",
    ),
    ("bearer token", r"[Bb]earer +([A-Za-z0-9._~+/-]{24,})"),
    (
        "credentials",
        r#"(?i:authorization)["'\\]{0,6} ?[:=] ?(?:\\{0,5}["']){0,6}(?i:basic|token) +([A-Za-z0-9+/._-]{16,})"#,
    ),
    (PASSWORD, r#"[a-z]://[^/\s:@"\\]{0,64}:([^/\s:@"\\]{8,100})@"#),
    (
        "secret",
        r#"(?i:api[_-]?key|secret(?:[_-]?(?:access[_-]?)?key)?|(?:access|auth|refresh|session)[_-]?token|passw(?:or)?d)["'\\]{0,6} ?[:=] ?(?:\\{0,5}["']){0,6}([A-Za-z0-9+/._-]{20,})"#,
    ),
];
/// A variable in place of a password, such as `${NAME}`, `{{name}}`, `$NAME` or `<name>`.
const VARIABLE: &str = r"^(?:\$\{[^{}]*\}|\$?\{\{[^{}]*\}\}|\$[A-Z_][A-Z0-9_]*|<[^<>]*>)$";
/// A character of the name of a home folder.
const LETTER: &str = r#"[^/\s"'`\\:;,<>|*?$&(){}\[\]]"#;
/// A character that JSON writes by its code.
const CODE: &str = r"\\+u[0-9A-Fa-f]{4}";
/// The most bytes of a name of a home folder in which dashes stand for other characters.
const MAX_NAME: usize = 64;
/// Fewer different characters than these are a placeholder.
const DISTINCT: usize = 8;

static KEYS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(&KINDS.iter().map(|(_, pattern)| *pattern).collect::<Vec<_>>().join("|")).ok());
static VARIABLES: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(VARIABLE).ok());
static CODES: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(CODE).ok());
/// Paths of home folders. The group that matches is the name.
static HOME_FOLDERS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let name = format!("({LETTER}{{1,64}})");
    // On Windows, a name can have blanks if a separator follows.
    let with_blanks = format!("({LETTER}+(?: {LETTER}+)+)");
    // JSON doubles backslashes, and a line can end behind `Users`: the backslash of `\n` is no separator.
    let mut paths = Vec::from([r"\\", r"\\\\", r"\\\\\\\\"].map(|separator| {
        let users = format!(r"(?:(?:[A-Za-z]:|^|[^\\]){separator}Users|[A-Za-z]:{separator}users)");
        let linux = format!(r"wsl(?:\.localhost|\$){separator}[^\\\s]+{separator}home");
        format!("(?:{users}|{linux}){separator}(?:{with_blanks}{separator}|{name})")
    }));
    paths.push(format!("(?:[A-Za-z]:|/[A-Za-z])/(?i:users)/{with_blanks}/"));
    paths.push(format!("[A-Za-z]:/users/({LETTER}{{1,64}})"));
    paths.push(format!(r"\\{{0,4}}/(?:home|Users)\\{{0,4}}/((?:{LETTER}|{CODE}){{1,64}})"));
    // Where dashes stand for slashes, as in the names of folders of sessions.
    paths.push(String::from("(?:-home-|-Users-)([A-Za-z][A-Za-z0-9._]*)"));
    Regex::new(&paths.join("|")).ok()
});

/// What a text should not show to others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exposure {
    /// Strings that look like keys, in order.
    pub keys: Vec<ExposedKey>,
    /// The bytes of the home folders of paths in the text, in order.
    pub homes: Vec<Range<usize>>,
}

/// A string that looks like a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExposedKey {
    /// What it looks like.
    pub kind: &'static str,
    /// The bytes of its secret part in the text.
    pub place: Range<usize>,
}

impl Exposure {
    /// Looks through `text`, which may be JSON.
    pub fn of_text(text: &str) -> Self {
        Self { keys: keys(text).collect(), homes: home_folders(text).into_iter().map(|home| home.whole).collect() }
    }
}

/// `text` with what looks like a key, and the names of home folders, replaced by as many `x`.
pub fn masked(text: &str) -> Cow<'_, str> {
    let mut places: Vec<Range<usize>> = keys(text).map(|key| key.place).collect();
    places.extend(home_folders(text).into_iter().map(|found| found.name));
    places.sort_by_key(|place| place.start);
    let mut out = String::new();
    let mut from = 0;
    for place in places {
        if place.end <= from {
            continue;
        }
        let start = place.start.max(from);
        out.push_str(&text[from..start]);
        // Escapes stay, so that JSON stays JSON; those that write a character by its code become as many `x`.
        let hidden = &text[start..place.end];
        let hidden = CODES.as_ref().map_or(Cow::Borrowed(hidden), |codes| {
            codes.replace_all(hidden, |code: &Captures<'_>| "x".repeat(code[0].len()))
        });
        let mut is_escaped = false;
        for byte in hidden.bytes() {
            let is_kept = is_escaped && byte.is_ascii() || matches!(byte, b'\\' | b'\n' | b'\r');
            out.push(if is_kept { char::from(byte) } else { 'x' });
            is_escaped = byte == b'\\';
        }
        from = place.end;
    }
    if from == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[from..]);
    Cow::Owned(out)
}

fn keys(text: &str) -> impl Iterator<Item = ExposedKey> {
    let found = KEYS.iter().flat_map(move |keys| keys.captures_iter(text));
    found.filter_map(move |captures| key(text, &captures))
}

fn key(text: &str, captures: &Captures<'_>) -> Option<ExposedKey> {
    let (nth, secret) = captures.iter().skip(1).enumerate().find_map(|(nth, group)| Some((nth, group?)))?;
    let kind = KINDS[nth].0;
    // Most kinds begin as no word does: behind an escape, such as that of a color, a letter may be before them.
    let is_whole = kind != API_KEY || begins_word(text, captures.get(0)?.start());
    let is_secret = if kind == PASSWORD { is_password } else { is_random };
    (is_whole && is_secret(secret.as_str())).then(|| ExposedKey { kind, place: secret.range() })
}

/// Whether no word goes on at `at`; the letter of an escape in JSON, or at the end of one of a terminal, does not count.
fn begins_word(text: &str, at: usize) -> bool {
    let escape = text[..at].strip_suffix(|c: char| c.is_ascii_alphabetic()).unwrap_or_default();
    if escape.trim_end_matches(|c: char| c.is_ascii_digit() || c == ';').ends_with('[') {
        return true;
    }
    match text.as_bytes()[..at] {
        [] | [.., b'\\', b'n' | b't' | b'r'] => true,
        [.., byte] => !byte.is_ascii_alphanumeric() && !matches!(byte, b'_' | b'-'),
    }
}

/// Whether a text is random rather than a name or a placeholder: letters and digits, and many different ones.
fn is_random(text: &str) -> bool {
    has_many_characters(text)
        && text.bytes().any(|byte| byte.is_ascii_digit())
        && text.bytes().any(|byte| byte.is_ascii_alphabetic())
}

fn is_password(text: &str) -> bool {
    has_many_characters(text) && !VARIABLES.as_ref().is_some_and(|variables| variables.is_match(text))
}

fn has_many_characters(text: &str) -> bool {
    text.bytes().collect::<HashSet<u8>>().len() >= DISTINCT
}

/// A path of a home folder: all of it, and its name.
struct HomeFolder {
    whole: Range<usize>,
    name: Range<usize>,
}

impl HomeFolder {
    /// Whether dashes stand for its slashes in `text`.
    fn has_dashes(&self, text: &str) -> bool {
        text[self.whole.clone()].starts_with('-')
    }
}

fn home_folders(text: &str) -> Vec<HomeFolder> {
    let mut found: Vec<HomeFolder> = Vec::new();
    for captures in HOME_FOLDERS.iter().flat_map(|homes| homes.captures_iter(text)) {
        let Some((whole, name)) = captures.get(0).zip(captures.iter().skip(1).flatten().next()) else { continue };
        // `take-home-pay` is a word, and `src/home/page` a path below a folder of somebody's project.
        let is_home = match whole.as_str().as_bytes() {
            [b'-', ..] => begins_word(text, whole.start()),
            [b'/' | b'\\', ..] => is_below_root(text, whole.start()),
            _ => true,
        };
        if is_home {
            found.push(HomeFolder { whole: whole.start()..name.end(), name: name.range() });
        }
    }
    let names = found.iter().filter(|home| !home.has_dashes(text)).map(|home| &text[home.name.clone()]);
    let names: HashSet<String> = names.map(|name| name.replace(|c: char| !c.is_alphanumeric(), "-")).collect();
    // Only a name that is known tells how many dashes are in it.
    for home in found.iter_mut().filter(|home| home.has_dashes(text)) {
        let start = home.name.start;
        let known = (home.name.len()..=MAX_NAME)
            .rev()
            .find(|end| text.get(start..start + end).is_some_and(|name| names.contains(name)));
        home.name.end = start + known.unwrap_or(home.name.len());
        home.whole.end = home.name.end;
    }
    found
}

/// The most characters before a home folder in its path. What is longer counts as a path, so that nothing of it is shown.
const MAX_ROOT: usize = 256;

/// Whether what goes on at `at` begins there, or is in a path that begins at the root of a file system: `/srv/home/ada` and
/// `-I/home/ada`, but not `src/home/ada`, `~/home/ada` and `https://example.com/home/ada`.
fn is_below_root(text: &str, at: usize) -> bool {
    let run = text[..at].chars().rev().take(MAX_ROOT).take_while(|c| is_of_path(*c)).map(char::len_utf8);
    let start = at - run.sum::<usize>();
    let slash = text[start..at].find('/').map_or(at, |slash| start + slash);
    let is_address = text[slash..].starts_with("//") && !text[slash..].starts_with("///");
    let before = &text[..slash];
    let head = &text[start..slash];
    let is_flag = head.len() == 2 && head.starts_with('-');
    let begins =
        begins_word(text, slash) && !before.ends_with('~') && (!before.ends_with('.') || before.ends_with("..."));
    !is_address && (is_flag || begins)
}

fn is_of_path(c: char) -> bool {
    c.is_alphanumeric() || "/._-~@+%".contains(c)
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
            (format!(r"KEY\u001b[0m=\u001b[1;32msk-proj-{random}\u001b[0m"), "API key"),
            (format!("\u{1b}[32msk-proj-{random}"), "API key"),
            (format!("Authorization: Basic {random}"), "credentials"),
            (format!(r#"{{"SessionToken": "{random}"}}"#), "secret"),
            (format!(r#""api_key\": \"{random}\""#), "secret"),
            (format!(r#"{{"access_token": "ya29.{random}"}}"#), "secret"),
            (format!("AWS_SECRET_ACCESS_KEY={random}"), "secret"),
            (format!("SECRET_KEY={}", random.repeat(8)), "secret"),
            (format!("-----BEGIN RSA PRIVATE KEY-----\\n{random}{random}\\n-----END"), "private key"),
            (format!("-----BEGIN RSA PRIVATE KEY-----\\nDEK-Info: AES,7\\n\\n{random}\\n-----END"), "private key"),
            (format!("1→-----BEGIN PRIVATE KEY-----\\n2→{random}\\n3→-----END PRIVATE KEY-----"), "private key"),
            (format!("-----BEGIN PRIVATE KEY-----\\n{random}"), "private key"),
            (format!("-----BEGIN PRIVATE KEY-----\n{}\n{}", &random[..29], &random[..37]), "private key"),
            (format!("-----BEGIN PRIVATE KEY-----\\n     2\\t{random}\\n     3\\t{random}"), "private key"),
            (format!("------BEGIN PRIVATE KEY-----\n-{random}\n------END PRIVATE KEY-----"), "private key"),
            (String::from("redis://:Zk3vQ9xLr7Tn2@cache/0"), "password in an address"),
            (String::from("postgres://ada:$Q9xLr7Tide@db/x"), "password in an address"),
            (String::from("postgres://ada:{Q9xLr7Tide@db/x"), "password in an address"),
            (String::from("postgres://ada:<Q9xLr7Tide@db/x"), "password in an address"),
            (format!("export API_KEY=\"'{random}'\""), "secret"),
            (format!("api_key = ''{random}''"), "secret"),
            (format!(r#""password: \"\"\"{random}\"\"\"""#), "secret"),
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
            r"OPENAI_API_KEY=\nANTHROPIC_MODEL_3_NAME=",
            r"C:\\Users\nAda",
            "postgres://ada:${DATABASE_PASSWORD}@db/x",
            "postgres://ada:$DATABASE_PASSWORD@db/x",
            "postgres://ada:{{database_password}}@db/x",
            "postgres://ada:<the-password>@db/x",
            "It begins with -----BEGIN PRIVATE KEY----- and lists all of the 12 words that are in it, one after another, until it ends",
        ] {
            assert!(Exposure::of_text(text).keys.is_empty(), "{text}");
            assert_eq!(masked(text), text);
        }
    }

    /// Otherwise, each one that is cut off would be looked for up to the end of the text.
    #[test]
    fn a_private_key_that_is_cut_off_ends_before_the_next_one() {
        let [begin, end] = ["-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"];
        let line = "Zk3vQ9xLr7Tn2WbY5uHdZk3vQ9xLr7Tn2WbY5uHd";
        let text = format!("{begin} {line}. Cut off.\n{begin}\nA-B: 1\n{line}\n{end}\n");
        let hidden = "x".repeat(line.len());
        let safe = masked(&text);
        assert_eq!(safe, format!("{begin}x{hidden}. Cut off.\n{begin}\nxxxxxx\n{hidden}\n{end}\n"));
    }

    #[test]
    fn home_folders_are_counted_by_path() {
        let text = format!(r"{KEY} /home/ada/a /home/ada/b C:\\Users\\Ada\\c -Users-ada-kiln /home/");
        let found = Exposure::of_text(&text);
        let homes: Vec<&str> = found.homes.iter().map(|home| &text[home.clone()]).collect();
        assert_eq!(found.keys.len(), 1);
        assert_eq!(homes, ["/home/ada", "/home/ada", r"C:\\Users\\Ada", "-Users-ada"]);
        assert!(masked(&text).ends_with(r"/home/xxx/a /home/xxx/b C:\\Users\\xxx\\c -Users-xxx-kiln /home/"));
        assert_eq!(masked("/home/mary-ann/a /Users/Zoë/b"), "/home/xxxxxxxx/a /Users/xxxx/b");
        assert_eq!(masked(r"/Users/Zo\u00eb/b /c/Users/Mary Ann/a"), "/Users/xxxxxxxx/b /c/Users/xxxxxxxx/a");
        assert_eq!(masked(r"\n/mnt/c/Users/ada/a c:\users\ada\b"), r"\n/mnt/c/Users/xxx/a c:\users\xxx\b");
        assert_eq!(masked(r"\\wsl.localhost\Ubuntu\home\ada\x"), r"\\wsl.localhost\Ubuntu\home\xxx\x");
        assert_eq!(masked("file:///home/ada/a /var/home/ada/b"), "file:///home/xxx/a /var/home/xxx/b");
        for text in
            ["take-home-pay", "src/Api/Users/CreateUser.cs", "./home/page.tsx", "https://example.com/home/dashboard"]
        {
            assert_eq!(masked(text), text);
        }
        assert_eq!(masked(r"C:\Users\Mary Ann\a C:/Users/Mary Ann/b"), r"C:\Users\xxxxxxxx\a C:/Users/xxxxxxxx/b");
        assert_eq!(
            masked(r"C:\\Users\\Mary Ann\\a, C:\\Users\\Ada is\nb"),
            r"C:\\Users\\xxxxxxxx\\a, C:\\Users\\xxx is\nb"
        );
        assert_eq!(
            masked(r"\/home\/ada /home/mary-ann/a -home-mary-ann-b"),
            r"\/home\/xxx /home/xxxxxxxx/a -home-xxxxxxxx-b"
        );
    }

    #[test]
    fn masked_json_is_json_and_shows_nothing_of_a_secret() {
        let line = "Zk3vQ9xLr7Tn2WbY5uHdZk3vQ9xLr7Tn2WbY5uHd";
        let key = format!("-----BEGIN PRIVATE KEY-----\n{line}\n{line}\n-----END PRIVATE KEY-----\n");
        let numbered = key.replace('\n', "\n1→");
        for said in [
            key.as_str(),
            numbered.as_str(),
            "Look for -----BEGIN PRIVATE KEY----- in the log",
            "password=Ab3-Xy9Qk2Lm5Np8Rt1Vw4",
            "password=\"'Ab3-Xy9Qk2Lm5Np8Rt1Vw4'\"",
            &numbered[..numbered.len() - 40],
        ] {
            let arguments = quote(&format!("{{\"text\":{}}}", quote(said)));
            let behind = "\"What is behind it stays, whatever was said before it.\"";
            let record = format!("{{\"arguments\":{arguments},\"text\":{},\"behind\":{behind}}}", quote(said));
            let record = record.replace('→', "\\u2192");
            let safe = masked(&record);
            let document = Document::parse(&safe).unwrap();
            let root = document.roots().next().unwrap();
            assert_eq!(root.get("behind").unwrap().raw(), behind);
            assert!(Document::parse(&root.get_text("arguments").unwrap().decode()).is_ok(), "{safe}");
            assert!(!safe.contains("Q9xLr7") && !safe.contains("Ab3"), "{safe}");
        }
        assert_eq!(masked("postgres://ada:tide-9level3@db/x"), "postgres://ada:xxxxxxxxxxxx@db/x");
    }
}
