//! Which calls change nothing: those of tools whose name says so, and commands that only show something.

/// What a call that changes nothing does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    Read,
    Search,
    List,
    Fetch,
    Command,
}

impl Look {
    /// `count` of them in words.
    pub(crate) fn counted(self, count: usize) -> String {
        let (one, several) = match self {
            Self::Read => ("read", "reads"),
            Self::Search => ("search", "searches"),
            Self::List => ("listing", "listings"),
            Self::Fetch => ("fetch", "fetches"),
            Self::Command => ("command", "commands"),
        };
        format!("{count} {}", if count == 1 { one } else { several })
    }
}

/// Verbs in the names of tools that look, and what each does.
const LOOKS: &[(&str, Look)] = &[
    ("grep", Look::Search),
    ("search", Look::Search),
    ("find", Look::Search),
    ("glob", Look::Search),
    ("list", Look::List),
    ("ls", Look::List),
    ("listdir", Look::List),
    ("fetch", Look::Fetch),
    ("browse", Look::Fetch),
    ("get", Look::Fetch),
    ("read", Look::Read),
    ("readfile", Look::Read),
    ("view", Look::Read),
    ("cat", Look::Read),
    ("open", Look::Read),
];

/// What a tool called `name` looks at, if it does.
pub(super) fn look_of_name(name: &str) -> Option<Look> {
    let words = words_of_name(name);
    let is_named = |verb: &str| words.iter().any(|word| word == verb || verb.len() > 3 && word.ends_with(verb));
    LOOKS.iter().find(|(verb, _)| is_named(verb)).map(|(_, look)| *look)
}

/// The words of a name such as `read_file`, `ReadFile` or `web-search`, in lower case.
pub(crate) fn words_of_name(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || c.is_uppercase() && was_lower {
            words.push(String::new());
        }
        was_lower = c.is_lowercase();
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// What is looked at in few words: of a path, its last part.
pub(super) fn short_name(target: &str) -> &str {
    let target = target.split(", ").next().unwrap_or(target);
    if target.contains(' ') { target } else { target.rsplit(['/', '\\']).next().unwrap_or(target) }
}

/// Programs that only show something.
const VIEWERS: &[&str] = &[
    "cat", "ls", "head", "tail", "grep", "rg", "egrep", "find", "fd", "wc", "pwd", "which", "tree", "file", "stat",
    "du", "sort", "uniq", "cut", "nl", "less", "more", "awk", "jq", "diff", "echo", "cd", "type", "whoami", "date",
    "test", "true", "basename", "dirname", "column", "tr",
];
/// Commands of git that only show something.
const GIT_VIEWERS: &[&str] =
    &["status", "diff", "log", "show", "blame", "grep", "ls-files", "rev-parse", "remote", "shortlog"];

/// Whether a command line only shows something.
pub(super) fn only_looks(line: &str) -> bool {
    let quiet = line.replace("2>/dev/null", "").replace("2>&1", "").replace(">/dev/null", "");
    if line.len() >= 2_000 || quiet.contains(['>', '`']) || quiet.contains("$(") {
        return false;
    }
    let mut commands =
        quiet.split(['\n', ';', '|', '&']).map(str::trim).filter(|command| !command.is_empty()).peekable();
    commands.peek().is_some() && commands.all(shows)
}

/// Whether a single command only shows something.
fn shows(command: &str) -> bool {
    let mut words = command.split_whitespace();
    match words.next() {
        None => true,
        Some("git") => {
            let mut words = words.skip_while(|word| word.starts_with('-') || *word == "." || word.contains('/'));
            words.next().is_some_and(|word| GIT_VIEWERS.contains(&word))
        }
        Some("sed") => words.next() == Some("-n"),
        Some("find") => !["-exec", "-delete", " -i"].iter().any(|writes| command.contains(writes)),
        Some(program) => VIEWERS.contains(&program),
    }
}

#[cfg(test)]
mod tests {
    use super::only_looks;

    #[test]
    fn commands_that_only_show_are_looks() {
        for command in [
            "ls -la",
            "cd src && cat a.rs | head -n 5",
            "git -C . log 2>/dev/null",
            "sed -n 1,20p a",
            "grep -rn x . || true",
        ] {
            assert!(only_looks(command), "{command}");
        }
        for command in
            ["rm a", "cat a > b", "sed -i s/a/b/ c", "find . -delete", "git push", "ls; make", "cat $(rm x)", ""]
        {
            assert!(!only_looks(command), "{command}");
        }
    }
}
