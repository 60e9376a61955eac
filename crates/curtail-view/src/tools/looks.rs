//! Which tools change nothing, as their names say, and what they look at in few words.

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

/// What a tool that opens something shows. What else is opened, such as an issue or an account, is made.
const OPENED: &[&str] =
    &["browser", "document", "file", "files", "folder", "image", "link", "page", "tab", "uri", "url", "website"];

/// Verbs in the names of tools that change something, whatever else their names say.
const CHANGES: &[&str] = &[
    "add", "append", "apply", "cancel", "clear", "close", "create", "delete", "edit", "insert", "kill", "remove",
    "rename", "replace", "save", "send", "submit", "update", "upload", "write",
];

/// Verbs that change something, but are nouns behind a verb that looks, as in `get_merge_request`.
const CHANGES_OR_NOUNS: &[&str] = &[
    "approve", "archive", "assign", "book", "commit", "deploy", "disable", "dismiss", "drop", "enable", "fix",
    "format", "install", "lock", "mark", "merge", "move", "order", "patch", "post", "publish", "push", "reset",
    "resolve", "restore", "set", "start", "toggle", "unlock",
];

/// Those of them that change nothing before a search, as in `start_search`.
const BEFORE_SEARCHES: &[&str] = &["book", "order", "post", "start"];

/// What a tool called `name` looks at, if it does and changes nothing.
pub(super) fn look_of_name(name: &str) -> Option<Look> {
    let words = name_words(name);
    let first_look = (0..words.len()).find(|at| look_at(&words, *at).is_some())?;
    let changes = words.iter().enumerate().any(|(at, word)| {
        let is_before = at < first_look && !begins_search(&words[at..]);
        CHANGES.contains(&word.as_str()) || is_before && CHANGES_OR_NOUNS.contains(&word.as_str())
    });
    if changes || does_more(&words) {
        return None;
    }
    LOOKS.iter().find(|(verb, _)| words.iter().any(|word| word == verb)).map(|(_, look)| *look)
}

/// What the word at `at` looks at, if it is such a verb.
fn look_at(words: &[String], at: usize) -> Option<Look> {
    let is_made = words[at] == "open" && words.get(at + 1).is_some_and(|what| !OPENED.contains(&what.as_str()));
    LOOKS.iter().find(|(verb, _)| words[at] == *verb && !is_made).map(|(_, look)| *look)
}

/// Whether a tool does something else behind what it looks at, as in `find_and_fix`.
fn does_more(words: &[String]) -> bool {
    let mut behind = words.windows(2).filter(|pair| pair[0] == "and" || pair[0] == "or");
    behind.any(|pair| !LOOKS.iter().any(|(verb, _)| pair[1] == *verb))
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

#[cfg(test)]
mod tests {
    use super::look_of_name;

    #[test]
    fn tools_that_change_something_do_not_look() {
        for name in [
            "read_file", "WebSearch", "list_dir", "get_issue", "open", "get_merge_request", "search_books",
            "start_search", "post_search", "bookSearch", "open_file", "browser_open", "find_and_read", "get_commit",
        ] {
            assert!(look_of_name(name).is_some(), "{name}");
        }
        for name in [
            "find_and_replace",
            "update_list",
            "get_or_create",
            "reply_to_thread",
            "thread",
            "checklist",
            "move_card_to_list",
            "get_and_set",
            "cancel_search",
            "set_search",
            "post_list",
            "search_and_post",
            "find_and_fix",
            "mark_all_notifications_read",
            "mark_as_read",
            "open_pull_request",
            "openIssue",
        ] {
            assert!(look_of_name(name).is_none(), "{name}");
        }
    }
}
