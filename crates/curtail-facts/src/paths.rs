//! Paths in tool calls: whether a text is a path, whether two paths name the same file, and the common folder of several.

/// The longest text that can be a path, in bytes.
const LONGEST: usize = 400;

/// The path of a file that may be part of the work's result, if `text` is one: no pattern or device, and nothing below `/tmp`.
pub(super) fn project_path(text: &str) -> Option<&str> {
    any_path(text).filter(|path| !is_scratch(path))
}

/// Whether a file is in a folder of temporary files or devices.
pub(super) fn is_scratch(path: &str) -> bool {
    ["/dev/", "/tmp/", "/proc/"].iter().any(|start| path.starts_with(start))
}

/// The path of a file in any folder, if `text` is one.
pub(super) fn any_path(text: &str) -> Option<&str> {
    let text = text.trim().trim_matches(['"', '\'']);
    let text = text.strip_prefix("file://").unwrap_or(text);
    let text = text.strip_prefix("./").unwrap_or(text);
    let is_literal = !text.is_empty() && text.len() <= LONGEST && !text.contains(['*', '?', '`', '\n', '<', '>', '|']);
    let is_file = text.chars().any(char::is_alphanumeric) && !text.ends_with('/') && !text.starts_with('&');
    (is_literal && is_file).then_some(text)
}

/// Whether a shell or a script expands something in a word: then it is no path. In an argument of a tool, the same signs are letters,
/// as in `routes/$id.tsx`.
pub(super) fn is_expanded(word: &str) -> bool {
    word.contains(['$', '{'])
}

/// `path`, resolved against the folder in which a command ran.
pub(super) fn resolved(folder: Option<&str>, path: &str) -> String {
    match folder {
        Some(folder) if !path.starts_with(['/', '~']) && !is_drive(path) => {
            without_steps(&format!("{}/{path}", folder.trim_end_matches('/')))
        }
        _ => path.to_owned(),
    }
}

/// `path` without `.`, and without the folders that a `..` leaves again.
fn without_steps(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| !matches!(*last, "" | "~" | "..")) => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    if parts.is_empty() { String::from(".") } else { parts.join("/") }
}

fn is_drive(path: &str) -> bool {
    path.as_bytes().get(1) == Some(&b':')
}

/// Whether two paths name one file: they are equal, or one is a relative path at the end of the other.
pub(super) fn same_file(one: &str, other: &str) -> bool {
    let (long, short) = if one.len() >= other.len() { (one, other) } else { (other, one) };
    let before = long.strip_suffix(short);
    before.is_some_and(|before| before.is_empty() || !short.starts_with(['/', '~']) && before.ends_with(['/', '\\']))
}

/// The new path of a file if the folder `from` is moved to `to`; `None` if the file is not below it. Where a relative folder begins is
/// unknown: the shell may have been anywhere.
pub(super) fn moved_with(path: &str, from: &str, to: &str) -> Option<String> {
    let (before, after) =
        around(path, from).find(|(before, _)| before.is_empty() || !from.starts_with('/') && before.ends_with('/'))?;
    Some(format!("{}{after}", resolved(Some(before).filter(|before| !before.is_empty()), to)))
}

/// Whether a file is below `folder`. In an absolute path, a relative folder begins in `root`, the folder that all files share, or
/// above it if it contains that: one of the same name farther below is another.
pub(super) fn is_below(path: &str, folder: &str, root: &str) -> bool {
    let is_alike = path.starts_with('/') == folder.starts_with('/');
    around(path, folder).any(|(before, after)| {
        let has_root = before.len() <= root.len() && path.len() - after.len() + 1 >= root.len();
        before.is_empty() && is_alike || before.ends_with('/') && !is_alike && has_root
    })
}

/// What stands in `path` before and after each `folder` of this name.
fn around<'p>(path: &'p str, folder: &str) -> impl Iterator<Item = (&'p str, &'p str)> {
    let found = path.match_indices(folder).map(|(at, name)| (&path[..at], &path[at + name.len()..]));
    found.filter(|(_, after)| after.starts_with('/'))
}

/// What follows the last dot of a name; all of a name without a dot.
pub(super) fn extension(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or_default()
}

/// The file name at the end of a path.
pub(super) fn name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// The folder of a path, with its final slash; empty if it names none.
fn folder(path: &str) -> &str {
    &path[..path.rfind('/').map_or(0, |at| at + 1)]
}

/// The deepest folder that contains all paths, with its final slash; empty if there is none.
pub(super) fn common_root<'p>(mut paths: impl Iterator<Item = &'p str>) -> &'p str {
    let Some(mut root) = paths.next().map(folder) else { return "" };
    for path in paths {
        while !path.starts_with(root) {
            root = folder(&root[..root.len() - 1]);
            if root.is_empty() {
                return "";
            }
        }
    }
    root
}

#[cfg(test)]
mod tests {
    use super::{common_root, is_below, moved_with, name, project_path, resolved, same_file};

    #[test]
    fn paths_are_distinguished_from_patterns_and_scratch_files() {
        for (text, expected) in [
            ("./src/a.rs", Some("src/a.rs")),
            ("\"/repo/a b.txt\"", Some("/repo/a b.txt")),
            ("file:///repo/a.rs", Some("/repo/a.rs")),
            ("/dev/null", None),
            ("&1", None),
            ("src/*.rs", None),
            ("app/routes/$id.tsx", Some("app/routes/$id.tsx")),
            ("src/", None),
            ("", None),
        ] {
            assert_eq!(project_path(text), expected, "{text}");
        }
    }

    #[test]
    fn relative_and_absolute_paths_name_one_file() {
        assert!(same_file("/repo/src/a.rs", "src/a.rs") && same_file("a.rs", "a.rs"));
        assert!(!same_file("/repo/src/aa.rs", "a.rs") && !same_file("/a/b", "/b"));
        assert_eq!(resolved(Some("/repo/"), "a.rs"), "/repo/a.rs");
        assert_eq!(resolved(Some("/repo"), "/a.rs"), "/a.rs");
        assert_eq!(resolved(Some("src/b"), ".././a.rs"), "src/a.rs");
        assert_eq!(resolved(Some(&resolved(Some("src"), "..")), "../a.rs"), "../a.rs");
    }

    #[test]
    fn files_are_moved_with_their_folder() {
        for (path, from, to, expected) in [
            ("src/old/a.rs", "src/old", "src/new", Some("src/new/a.rs")),
            ("/r/src/old/b/a.rs", "src/old", "lib", Some("/r/lib/b/a.rs")),
            ("/r/old/a.rs", "/r/old", "/q", Some("/q/a.rs")),
            ("/r/older/old/a.rs", "old", "new", Some("/r/older/new/a.rs")),
            ("older/old/a.rs", "old", "new", Some("older/new/a.rs")),
            ("/r/src/old/a.rs", "src", "lib", Some("/r/lib/old/a.rs")),
            ("app/src/old/a.rs", "src/old", "src/new", Some("app/src/new/a.rs")),
            ("src/older/a.rs", "src/old", "new", None),
            ("old", "old", "new", None),
        ] {
            assert_eq!(moved_with(path, from, to).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn files_are_below_a_folder_of_their_project() {
        let below = |path, folder| is_below(path, folder, "/usr/src/app/");
        assert!(below("src/a.rs", "src") && below("/usr/src/app/src/a.rs", "src") && below("/r/a/b.rs", "/r/a"));
        assert!(below("/usr/src/app/a.rs", "app") && below("/usr/src/app/src/a.rs", "app/src"));
        for (path, folder) in [
            ("/usr/src/app/lib/a.rs", "src"),
            ("lib/src/a.rs", "src"),
            ("/usr/src/app/lib/src/a.rs", "src"),
            ("src/a.rs", "/r/src"),
            ("/usr/src/app/srcs/a.rs", "src"),
        ] {
            assert!(!below(path, folder), "{path} {folder}");
        }
    }

    #[test]
    fn the_root_is_whole_folders() {
        assert_eq!(common_root(["/r/src/a.rs", "/r/src/b/c.rs"].into_iter()), "/r/src/");
        assert_eq!(common_root(["/r/src/a.rs", "/r/srv/b.rs"].into_iter()), "/r/");
        assert_eq!(common_root(["a.rs", "src/b.rs"].into_iter()), "");
        assert_eq!(common_root(["src/b.rs"].into_iter()), "src/");
        assert_eq!(name("src/b.rs"), "b.rs");
    }
}
