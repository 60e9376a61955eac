//! Which calls change nothing: those of tools whose name says so, and commands that only show something.

use curtail_facts::name_words;

/// What a call that changes nothing does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
    ("ripgrep", Look::Search),
    ("search", Look::Search),
    ("websearch", Look::Search),
    ("codesearch", Look::Search),
    ("find", Look::Search),
    ("glob", Look::Search),
    ("list", Look::List),
    ("ls", Look::List),
    ("listdir", Look::List),
    ("fetch", Look::Fetch),
    ("webfetch", Look::Fetch),
    ("browse", Look::Fetch),
    ("get", Look::Fetch),
    ("read", Look::Read),
    ("readfile", Look::Read),
    ("view", Look::Read),
    ("cat", Look::Read),
    ("open", Look::Read),
];

/// Verbs in the names of tools that change something, whatever else their names say.
const CHANGES: &[&str] = &[
    "add", "append", "apply", "cancel", "clear", "close", "create", "delete", "edit", "insert", "kill", "remove",
    "rename", "replace", "save", "send", "submit", "update", "upload", "write",
];

/// Verbs that change something, but are nouns behind a verb that looks, as in `get_merge_request`.
const CHANGES_OR_NOUNS: &[&str] = &["book", "merge", "move", "post", "set", "start"];

/// Those of them that change nothing before a search, as in `start_search`.
const BEFORE_SEARCHES: &[&str] = &["book", "post", "start"];

/// What a tool called `name` looks at, if it does and changes nothing.
pub(super) fn look_of_name(name: &str) -> Option<Look> {
    let words = name_words(name);
    let first_look = words.iter().position(|word| LOOKS.iter().any(|(verb, _)| word == verb))?;
    let changes = words.iter().enumerate().any(|(at, word)| {
        let is_verb =
            at < first_look && !begins_search(&words[at..]) || at > 0 && matches!(words[at - 1].as_str(), "and" | "or");
        CHANGES.contains(&word.as_str()) || is_verb && CHANGES_OR_NOUNS.contains(&word.as_str())
    });
    if changes {
        return None;
    }
    LOOKS.iter().find(|(verb, _)| words.iter().any(|word| word == verb)).map(|(_, look)| *look)
}

/// Whether `words` say that a search is started, and nothing more.
fn begins_search(words: &[String]) -> bool {
    let [first, second] = words else { return false };
    BEFORE_SEARCHES.contains(&first.as_str()) && LOOKS.contains(&(second.as_str(), Look::Search))
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
const GIT_VIEWERS: &[&str] = &["status", "diff", "log", "show", "blame", "grep", "ls-files", "rev-parse", "shortlog"];
/// What makes a program that shows something change a file, or run another program.
const WRITING: &[(&str, &[&str])] = &[
    ("awk", &["-i", "inplace", "system("]),
    ("date", &["-s", "--set"]),
    ("fd", &["-x", "-X", "--exec"]),
    ("find", &["-exec", "-ok", "-delete", "-fprint", "-fls"]),
    ("git", &["--output"]),
    ("sed", &["-i", "-ni", "--in-place"]),
    ("sort", &["-o", "--output"]),
    ("tree", &["-o"]),
];

/// Whether a command line only shows something.
pub(super) fn only_looks(line: &str) -> bool {
    let quiet = line.replace("2>/dev/null", "").replace("2>&1", "").replace(">/dev/null", "");
    if line.len() >= 2_000 || quiet.contains(['>', '`']) || quiet.contains("$(") || quiet.contains("<(") {
        return false;
    }
    let mut commands =
        quiet.split(['\n', ';', '|', '&']).map(str::trim).filter(|command| !command.is_empty()).peekable();
    commands.peek().is_some() && commands.all(shows)
}

/// Whether a single command only shows something.
fn shows(command: &str) -> bool {
    let mut words = command.split_whitespace();
    let Some(program) = words.next() else { return true };
    let writing = WRITING.iter().find(|(name, _)| *name == program).map_or(&[][..], |(_, words)| words);
    for sign in writing {
        // A function can be called anywhere in a script.
        if words.clone().any(|word| if sign.ends_with('(') { word.contains(sign) } else { word.starts_with(sign) }) {
            return false;
        }
    }
    match program {
        "git" => {
            let mut words = words.skip_while(|word| word.starts_with('-') || *word == "." || word.contains('/'));
            match words.next() {
                Some("remote") => matches!(words.next(), None | Some("-v" | "show" | "get-url")),
                command => command.is_some_and(|command| GIT_VIEWERS.contains(&command)),
            }
        }
        "sed" => words.next() == Some("-n"),
        program => VIEWERS.contains(&program),
    }
}

#[cfg(test)]
mod tests {
    use super::{look_of_name, only_looks};

    #[test]
    fn commands_that_only_show_are_looks() {
        for command in [
            "ls -la",
            "cd src && cat a.rs | head -n 5",
            "git -C . log 2>/dev/null",
            "sed -n 1,20p a",
            "grep -rn x . || true",
            "find . -iname '*.rs'",
            "git remote -v",
        ] {
            assert!(only_looks(command), "{command}");
        }
        for command in [
            "rm a",
            "cat a > b",
            "sed -i s/a/b/ c",
            "sed -n -i s/a/b/p c",
            "find . -delete",
            "find . -ok rm {} ;",
            "git push",
            "git diff --output=a",
            "git remote add origin a",
            "sort -o a a",
            "awk -i inplace '{ print $1 }' a",
            "awk 'BEGIN{system(\"rm a\")}'",
            "fd a -x rm",
            "diff <(rm a) b",
            "ls; make",
            "cat $(rm x)",
            "",
        ] {
            assert!(!only_looks(command), "{command}");
        }
    }

    #[test]
    fn tools_that_change_something_do_not_look() {
        for name in [
            "read_file", "WebSearch", "list_dir", "get_issue", "open", "get_merge_request", "search_books",
            "start_search", "post_search", "bookSearch",
        ] {
            assert!(look_of_name(name).is_some(), "{name}");
        }
        for name in [
            "find_and_replace", "update_list", "get_or_create", "reply_to_thread", "thread", "checklist",
            "move_card_to_list", "get_and_set", "cancel_search", "set_search", "post_list", "search_and_post",
        ] {
            assert!(look_of_name(name).is_none(), "{name}");
        }
    }
}
