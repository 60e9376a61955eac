//! Names in one spelling: `./a.py` and `C:\a.py` are paths, `3,600` is a number, `v2.3.1` a version. It knows no text around them.

use std::iter;

/// A name in one spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Spelling {
    Number(Number),
    /// A file or folder, by its components.
    Path(PathName),
    /// A hash, in lower case.
    Hash(String),
    /// Any other name.
    Other(String),
}

/// A number with its unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Number {
    /// Without separators of thousands, and with a point.
    pub(super) value: String,
    /// The other number that it may be: `3.600` does not say what its point means.
    pub(super) other: Option<String>,
    /// The unit that follows without a space, in lower case; without one, it may be any.
    pub(super) unit: String,
}

/// A path by its components.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PathName {
    /// Folders and the name, with a drive as `c:`.
    pub(super) parts: Vec<String>,
    /// Whether it begins at the root or at a home folder.
    pub(super) absolute: bool,
}

/// The most components of a path; a longer name is compared as a whole.
const DEEPEST: usize = 24;

impl PathName {
    /// The path as one text, from the component at `from` on.
    pub(super) fn from(&self, from: usize) -> String {
        self.parts[from.min(self.parts.len())..].join("/")
    }
}

impl Number {
    /// The numbers that it may be.
    pub(super) fn values(&self) -> impl Iterator<Item = &String> {
        iter::once(&self.value).chain(&self.other)
    }
}

/// The spelling of a name.
pub(super) fn spelling(name: &str) -> Spelling {
    let name = name.strip_suffix("()").unwrap_or(name);
    if let Some(url) = url(name) {
        return Spelling::Other(url);
    }
    if let Some(number) = number(name) {
        return Spelling::Number(number);
    }
    let is_hex = name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mixed = name.bytes().any(|byte| byte.is_ascii_digit()) && name.bytes().any(|byte| byte.is_ascii_alphabetic());
    if is_hex && mixed && (7..=64).contains(&name.len()) {
        return Spelling::Hash(name.to_ascii_lowercase());
    }
    if let Some(version) = version(name) {
        return Spelling::Other(version);
    }
    path(name).map_or_else(|| Spelling::Other(name.to_owned()), Spelling::Path)
}

fn url(name: &str) -> Option<String> {
    let (scheme, rest) = name.split_once("://")?;
    if scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    let (host, path) = rest.find(['/', '?', '#']).map_or((rest, ""), |at| rest.split_at(at));
    Some(format!("{}://{}{}", scheme.to_ascii_lowercase(), host.to_ascii_lowercase(), path.trim_end_matches('/')))
}

/// Units that may follow a number without a space.
const UNITS: &[&str] = &["s", "ms", "us", "ns", "min", "h", "k", "kb", "mb", "gb", "b", "px", "em", "rem", "%", "x"];

fn number(name: &str) -> Option<Number> {
    let digits_end = name.rfind(|c: char| c.is_ascii_digit())? + 1;
    let unit = name[digits_end..].to_lowercase();
    if !unit.is_empty() && !UNITS.contains(&unit.as_str()) {
        return None;
    }
    let (value, other) = values(&name[..digits_end])?;
    Some(Number { value, other, unit })
}

/// A number without separators. `3.600` may be two numbers.
fn values(name: &str) -> Option<(String, Option<String>)> {
    let is_separator = |c: char| matches!(c, ',' | '.' | '\'' | '’' | ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}' | '_');
    if !name.starts_with(|c: char| c.is_ascii_digit()) || !name.chars().all(|c| c.is_ascii_digit() || is_separator(c)) {
        return None;
    }
    let groups: Vec<&str> = name.split(is_separator).collect();
    let separators: Vec<char> = name.chars().filter(|c| is_separator(*c)).collect();
    match separators.as_slice() {
        [] => {
            let digits = name.trim_start_matches('0');
            Some((String::from(if digits.is_empty() { "0" } else { digits }), None))
        }
        ['.' | ','] => {
            let fraction = fraction(groups[0], groups[1]);
            if are_thousands(&groups) && groups[0] != "0" {
                Some((groups.concat(), Some(fraction)))
            } else {
                Some((fraction, None))
            }
        }
        [mark, rest @ ..] if rest.iter().all(|other| other == mark) => {
            (*mark != '.' || groups.len() > 2).then_some(())?;
            are_thousands(&groups).then(|| (groups.concat(), None))
        }
        [mark, rest @ .., last]
            if rest.iter().all(|other| other == mark) && last != mark && matches!(last, '.' | ',') =>
        {
            let (part, whole) = groups.split_last()?;
            are_thousands(whole).then(|| (fraction(&whole.concat(), part), None))
        }
        _ => None,
    }
}

/// Whether separators divide a number into thousands.
fn are_thousands(groups: &[&str]) -> bool {
    groups[0].len() <= 3 && groups[1..].iter().all(|group| group.len() == 3)
}

/// A number with a fraction, without the zeros at its end unless it may be a version: 3.10 is not 3.1.
fn fraction(whole: &str, part: &str) -> String {
    let part = if whole.len() > 2 { part.trim_end_matches('0') } else { part };
    if part.is_empty() { whole.to_owned() } else { format!("{whole}.{part}") }
}

/// A version without its `v`: pieces between dots that begin with a digit, as in `1.0.0-beta.2`, or are an `x` for any number.
fn version(name: &str) -> Option<String> {
    let text = name.strip_prefix(['v', 'V']).unwrap_or(name);
    let is_numbered = |piece: &str| piece.starts_with(|c: char| c.is_ascii_digit());
    let is_version = text.contains('.')
        && !text.contains(['/', '\\'])
        && is_numbered(text)
        && text.split('.').all(|piece| piece == "x" || is_numbered(piece));
    is_version.then(|| text.to_owned())
}

fn path(name: &str) -> Option<PathName> {
    let name = name.strip_prefix("file://").unwrap_or(name);
    let slashes = name.contains(['/', '\\']);
    if !slashes && !has_ending(name) {
        return None;
    }
    let mut absolute = name.starts_with(['/', '~', '\\']);
    let mut parts: Vec<String> =
        name.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".").map(str::to_owned).collect();
    if let [mount, drive, ..] = parts.as_slice()
        && absolute
        && mount == "mnt"
        && drive.len() == 1
    {
        parts[1].push(':');
        parts.remove(0);
    }
    if let Some(drive) = parts.first_mut().filter(|part| part.len() == 2 && part.ends_with(':')) {
        drive.make_ascii_lowercase();
        absolute = true;
    }
    (!parts.is_empty() && parts.len() <= DEEPEST).then_some(PathName { parts, absolute })
}

/// Whether a name without folders is that of a file: its ending has one to five letters or digits.
fn has_ending(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, ending)| {
        let is_short = (1..=5).contains(&ending.len())
            || ending.len() <= 8 && ending.bytes().all(|byte| byte.is_ascii_lowercase());
        !stem.contains(':')
            && is_short
            && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && !ending.bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::{Number, Spelling, spelling};

    /// The spelling of a name, or the first of two.
    fn first(name: &str) -> Spelling {
        match spelling(name) {
            Spelling::Number(number) => Spelling::Number(Number { other: None, ..number }),
            other => other,
        }
    }

    #[test]
    fn spellings_of_one_name_are_equal() {
        for group in [
            &["3,600", "3600", "3'600", "3 600"][..],
            &["1.120,9", "1120.9", "1,120.9", "1,120.90"],
            &["v2.3.1", "2.3.1"],
            &["https://Example.org/a/", "https://example.org/a"],
            &["./src/a.py", "src/a.py", "src\\a.py"],
            &["C:\\w\\a.py", "/mnt/c/w/a.py"],
            &["500MB", "500mb"],
            &["./2024-report.md", "2024-report.md"],
        ] {
            for name in group {
                assert_eq!(first(name), first(group[0]), "{name}");
            }
        }
        assert_ne!(spelling("2.3.1"), spelling("2.3.11"));
        let either = Number { value: "3600".into(), other: Some("3.600".into()), unit: String::new() };
        assert_eq!(spelling("3.600"), Spelling::Number(either));
    }

    #[test]
    fn a_file_that_begins_with_a_digit_is_no_version() {
        for name in ["0001_initial.py", "2024-report.md", "2024.05.01.log", "1.c", "v1.html"] {
            assert!(matches!(spelling(name), Spelling::Path(_)), "{name}");
        }
        for name in ["v1.2", "2.0rc1", "1.0.0-beta.2", "3.x", "10.0.0.1", "10:30.5"] {
            assert!(matches!(spelling(name), Spelling::Other(_)), "{name}");
        }
    }
}
