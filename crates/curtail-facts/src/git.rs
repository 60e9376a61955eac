//! What `git` commands do to files and to the history, and which files their output names as changed.

use super::kinds::Effect;
use super::shell::Simple;
use super::{paths, wrappers};

/// What `git` with these arguments of `command` does.
pub(super) fn git_effects(arguments: &[String], command: &Simple) -> Vec<Effect> {
    let mut words = arguments;
    let mut folder = command.folder.clone();
    while let Some((flag, rest)) = words.split_first()
        && flag.starts_with('-')
    {
        let has_value = matches!(flag.as_str(), "-C" | "-c");
        if let Some(value) = rest.first().filter(|_| flag == "-C") {
            folder = Some(paths::resolved(folder.as_deref(), value));
        }
        words = rest.get(usize::from(has_value)..).unwrap_or_default();
    }
    let mut command = command.clone();
    command.folder = folder;
    let command = &command;
    let words: Vec<&String> = words.iter().collect();
    let Some((verb, rest)) = words.split_first() else { return Vec::new() };
    let has = |flags: &[&str]| rest.iter().any(|word| flags.contains(&word.as_str()));
    let plain = || rest.iter().map(|word| word.as_str()).filter(|word| !word.starts_with('-'));
    let files = || -> Vec<String> { plain().filter_map(|word| command.file(word)).collect() };
    match verb.as_str() {
        "commit" if !has(&["--dry-run"]) => vec![Effect::Commit { subject: subject(rest), amend: has(&["--amend"]) }],
        "mv" => command.moved(plain()),
        // The files in the folder are unknown.
        "rm" if !has(&["--cached", "-r", "-rf", "-fr", "-rq", "-qr"]) => {
            files().into_iter().map(Effect::Remove).collect()
        }
        "add" => vec![Effect::Add(files())],
        "status" => vec![Effect::Changes],
        // A comparison with other commits shows changes that this work did not make.
        "diff" if !has(&["--no-index"]) && plain().all(is_file_or_head) => vec![Effect::Changes],
        "reset" if has(&["--hard"]) => vec![Effect::Restore(None)],
        "restore" if !has(&["--staged", "-S"]) || has(&["--worktree", "-W"]) => vec![restored(rest, command)],
        "checkout" => match rest.iter().position(|word| word.as_str() == "--") {
            Some(at) => vec![restored(&rest[at + 1..], command)],
            None if has(&["."]) => vec![Effect::Restore(None)],
            None => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// Whether an operand of `git diff` is a file or the last commit.
fn is_file_or_head(word: &str) -> bool {
    word == "HEAD" || word.contains(['.', '/']) && !word.contains("..") && !word.starts_with("origin/")
}

fn restored(words: &[&String], command: &Simple) -> Effect {
    let all = words.iter().any(|word| matches!(word.as_str(), "." | ":/" | "*"));
    let files = || words.iter().filter(|word| !word.starts_with('-')).filter_map(|word| command.file(word)).collect();
    Effect::Restore((!all).then(files))
}

/// The first line of the commit message in the arguments of `git commit`.
fn subject(arguments: &[&String]) -> Option<String> {
    let value = arguments.iter().enumerate().find_map(|(at, word)| {
        let short = word.starts_with('-') && !word.starts_with("--") && word.ends_with('m');
        if short || word.as_str() == "--message" {
            return arguments.get(at + 1).map(|text| text.as_str());
        }
        word.strip_prefix("--message=")
    })?;
    let heredoc = value.strip_prefix("$(cat <<").and_then(|rest| rest.split_once('\n'));
    let body = heredoc.map_or(value, |(_, body)| body);
    body.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

/// The files that the output of `git status` or `git diff` lists as changed, each with whether it was removed.
pub(super) fn changes(result: &str) -> Vec<(String, bool)> {
    let output = wrappers::unwrapped(result);
    let mut found: Vec<(String, bool)> = Vec::new();
    for line in output.lines() {
        if line.starts_with("deleted file mode")
            && let Some((_, deleted)) = found.last_mut()
        {
            *deleted = true;
        }
        if let Some((path, deleted)) = changed_on(line)
            && let Some(path) = paths::project_path(path).filter(|path| !path.contains(" => "))
            && found.iter().all(|(known, _)| known != path)
        {
            found.push((path.to_owned(), deleted));
        }
    }
    found
}

/// The file that a line lists as changed: a line of a patch, of `--stat`, or of a long or short status.
fn changed_on(line: &str) -> Option<(&str, bool)> {
    if let Some(rest) = line.strip_prefix("diff --git a/") {
        return rest.split_once(" b/").map(|(_, path)| (path, false));
    }
    let trimmed = line.trim_start();
    for (label, deleted) in [("modified: ", false), ("new file: ", false), ("renamed: ", false), ("deleted: ", true)] {
        if let Some(rest) = trimmed.strip_prefix(label).filter(|_| trimmed.len() < line.len()) {
            return Some((rest.rsplit(" -> ").next().unwrap_or(rest).trim(), deleted));
        }
    }
    if let Some((path, counts)) = line.strip_prefix(' ').and_then(|rest| rest.rsplit_once(" | ")) {
        let counted = counts.trim_start().starts_with(|c: char| c.is_ascii_digit()) || counts.contains("Bin ");
        let path = path.trim_end();
        return (counted && !path.contains(' ') && !path.starts_with("...")).then_some((path, false));
    }
    let (state, path) = line.split_at_checked(2)?;
    let path = path.strip_prefix(' ')?;
    let plain = !path.is_empty() && !path.starts_with(' ') && path.split(" -> ").all(|path| !path.contains(' '));
    let known = matches!(state, " M" | "M " | "MM" | "A " | "AM" | "R " | "RM" | " D" | "D ");
    (known && plain).then(|| (path.rsplit(" -> ").next().unwrap_or(path), state.contains('D')))
}

#[cfg(test)]
mod tests {
    use super::changes;

    #[test]
    fn files_that_version_control_lists_are_found() {
        let names = |output: &str| changes(output).into_iter().map(|(path, _)| path).collect::<Vec<_>>();
        for (output, expected) in [
            (
                "On branch main\nChanges not staged for commit:\n\tmodified:   src/a.rs\n\tdeleted:    b.rs\n\nUntracked files:\n\tnew.py\n",
                &["src/a.rs", "b.rs"][..],
            ),
            (" M src/a.rs\nA  b.rs\nR  c.rs -> d.rs\n?? new.py\n", &["src/a.rs", "b.rs", "d.rs"]),
            (
                " src/a.rs | 4 ++--\n img.png  | Bin 0 -> 12 bytes\n 2 files changed, 2 insertions(+)",
                &["src/a.rs", "img.png"],
            ),
            (
                "diff --git a/src/a.rs b/src/a.rs\nindex 1..2 100644\n--- a/src/a.rs\n+++ b/src/a.rs\n-M  x\n+ M y z\n",
                &["src/a.rs"],
            ),
            ("nothing to commit, working tree clean", &[]),
        ] {
            assert_eq!(names(output), expected, "{output}");
        }
        assert_eq!(changes(" D gone.rs"), [(String::from("gone.rs"), true)]);
    }
}
