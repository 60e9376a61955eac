//! Globs of names and paths: `*`, `?`, `[…]`, `{a,b}`. A glob that cannot be compiled is an error wherever it comes from.

use std::fmt;

use globset::{ErrorKind, Glob, GlobBuilder, GlobSet, GlobSetBuilder};

/// The most bytes of a glob. No name or path that it could match is longer.
const MAX_LENGTH: usize = 4096;

/// How deep braces may be nested: each level uses the stack of what compiles them.
const MAX_DEPTH: usize = 16;

/// A glob that cannot be used, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidGlob {
    /// The glob as it was written; empty if several are too much together.
    pub glob: String,
    /// What is wrong with it, and how to write what was probably meant.
    pub reason: String,
}

impl fmt::Display for InvalidGlob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.glob.chars().count() {
            0 => write!(f, "invalid globs: {}", self.reason),
            length if length > 80 => {
                let start: String = self.glob.chars().take(80).collect();
                write!(f, "invalid glob `{start}…`: {}", self.reason)
            }
            _ => write!(f, "invalid glob `{}`: {}", self.glob, self.reason),
        }
    }
}

impl std::error::Error for InvalidGlob {}

/// What a `*` matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stars {
    /// Any text.
    Anything,
    /// Text without a `/`.
    OneComponent,
}

/// One matcher for all `globs`, each with the text that errors name.
///
/// # Errors
/// The first glob that cannot be compiled, or that all together are too large.
pub fn compile<'g>(globs: impl IntoIterator<Item = &'g str>, stars: Stars) -> Result<GlobSet, InvalidGlob> {
    let mut set = GlobSetBuilder::new();
    let mut only = None;
    for (nth, glob) in globs.into_iter().enumerate() {
        match build(glob, stars) {
            Ok(built) => set.add(built),
            Err(reason) => return Err(InvalidGlob { glob: glob.to_owned(), reason }),
        };
        only = (nth == 0).then_some(glob);
    }
    set.build().map_err(|error| {
        let glob = error.glob().or(only).unwrap_or_default().to_owned();
        InvalidGlob { glob, reason: reason(error.kind()) }
    })
}

fn build(glob: &str, stars: Stars) -> Result<Glob, String> {
    if let Some(reason) = excess(glob) {
        return Err(reason);
    }
    let built = GlobBuilder::new(glob).literal_separator(stars == Stars::OneComponent).build();
    built.map_err(|error| reason(error.kind()))
}

/// Why a glob is not even parsed.
fn excess(glob: &str) -> Option<String> {
    if glob.len() > MAX_LENGTH {
        return Some(format!("it is {} bytes long, and at most {MAX_LENGTH} are allowed", glob.len()));
    }
    let mut depth = 0_usize;
    for byte in glob.bytes() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Some(format!("its braces are nested more than {MAX_DEPTH} levels deep"));
        }
    }
    None
}

fn reason(kind: &ErrorKind) -> String {
    match kind {
        ErrorKind::UnclosedClass => "a `]` is missing after `[`; for the character itself, write `[[]`".to_owned(),
        ErrorKind::UnclosedAlternates => "a `}` is missing after `{`; for the character itself, write `[{]`".to_owned(),
        ErrorKind::UnopenedAlternates => {
            "a `{` is missing before `}`; for the character itself, write `[}]`".to_owned()
        }
        ErrorKind::InvalidRange(from, to) => {
            format!("the range `{from}-{to}` is empty: its start must not exceed its end")
        }
        ErrorKind::DanglingEscape => "nothing follows the last `\\`; for the character itself, write `\\\\`".to_owned(),
        ErrorKind::Regex(_) => "it is too large to be compiled; use a shorter one".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{InvalidGlob, Stars, compile};

    fn error(globs: &[&str]) -> Option<InvalidGlob> {
        compile(globs.iter().copied(), Stars::Anything).err()
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (glob, words) in [
            ("[", "invalid glob `[`: a `]` is missing after `[`; for the character itself, write `[[]`"),
            ("a{b", "a `}` is missing"),
            ("a}", "a `{` is missing"),
            ("[z-a]", "the range `z-a` is empty"),
            ("a\\", "nothing follows the last `\\`"),
        ] {
            let message = error(&["good", glob]).map(|error| error.to_string()).unwrap_or_default();
            assert!(message.contains(words), "{glob}: {message}");
        }
        assert_eq!(error(&["a*", "[[]x", "{a,b}", "[!a-z]?"]), None);
    }

    fn nested(depth: usize) -> String {
        format!("{}b{}", "{a,".repeat(depth), "}".repeat(depth))
    }

    /// Braces use the stack of the compiler of globs and of regular expressions, and both would panic or overflow.
    #[test]
    fn a_glob_of_any_size_is_compiled_or_refused() {
        assert_eq!(error(&[&nested(16)]), None);
        for depth in [17, 250, 1_000, 1_000_000] {
            let refused = error(&[&nested(depth)]).map(|error| error.to_string()).unwrap_or_default();
            assert!(refused.contains("levels deep") || refused.contains("bytes long"), "{depth}: {refused}");
            assert!(refused.len() < 300, "{refused}");
        }
        let large: Vec<String> = (0..2_000).map(|nth| format!("{nth}{{a,b}}{}", "[a-z]*?".repeat(40))).collect();
        assert!(compile(large.iter().map(String::as_str), Stars::Anything).is_err());
    }
}
