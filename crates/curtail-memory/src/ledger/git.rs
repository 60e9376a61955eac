//! What `git` commands do to files and to the history, and which files their output names as changed.

use super::checks;
use super::commands::Effect;
use super::paths;
use super::shell::Simple;

/// What `git` with these arguments of `command` does.
pub(super) fn effects(arguments: &[String], command: &Simple) -> Vec<Effect> {
    let mut words = arguments;
    while let [flag, _, rest @ ..] = words
        && matches!(flag.as_str(), "-C" | "-c")
    {
        words = rest;
    }
    let words: Vec<&String> = words.iter().skip_while(|word| word.as_str() == "--no-pager").collect();
    let Some((verb, rest)) = words.split_first() else { return Vec::new() };
    let has = |flags: &[&str]| rest.iter().any(|word| flags.contains(&word.as_str()));
    let plain = || rest.iter().map(|word| word.as_str()).filter(|word| !word.starts_with('-'));
    let files = || -> Vec<String> { plain().filter_map(|word| command.file(word)).collect() };
    match verb.as_str() {
        "commit" if !has(&["--dry-run"]) => vec![Effect::Commit { subject: subject(rest), amend: has(&["--amend"]) }],
        "mv" => command.moved(plain()).into_iter().collect(),
        "rm" if !has(&["--cached"]) => files().into_iter().map(Effect::Remove).collect(),
        "add" => vec![Effect::Add(files())],
        "status" => vec![Effect::Changes],
        // With names of commits, it shows the work of others.
        "diff" if !has(&["--no-index"]) && plain().all(is_of_now) => vec![Effect::Changes],
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

/// Whether a word behind `git diff` names files, or the last commit.
fn is_of_now(word: &str) -> bool {
    word == "HEAD" || word.contains(['.', '/']) && !word.contains("..") && !word.starts_with("origin/")
}

fn restored(words: &[&String], command: &Simple) -> Effect {
    let all = words.iter().any(|word| matches!(word.as_str(), "." | ":/" | "*"));
    let files = || words.iter().filter(|word| !word.starts_with('-')).filter_map(|word| command.file(word)).collect();
    Effect::Restore((!all).then(files))
}

/// The first line of a commit's message.
fn subject(arguments: &[&String]) -> Option<String> {
    let value = arguments.iter().enumerate().find_map(|(at, word)| {
        let short = word.starts_with('-') && !word.starts_with("--") && word.ends_with('m');
        if short || word.as_str() == "--message" {
            return arguments.get(at + 1).map(|text| text.as_str());
        }
        word.strip_prefix("--message=")
    })?;
    let here = value.strip_prefix("$(cat <<").and_then(|rest| rest.split_once('\n'));
    let body = here.map_or(value, |(_, body)| body);
    body.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

/// The files that the output of `git status` or `git diff` names as changed, each with whether it was removed.
pub(super) fn changes(result: &str) -> Vec<(String, bool)> {
    let output = checks::unwrapped(result);
    let mut found: Vec<(String, bool)> = Vec::new();
    for line in output.lines() {
        if let Some((path, deleted)) = changed_on(line)
            && let Some(path) = paths::path(path).filter(|path| !path.contains(" => "))
            && found.iter().all(|(known, _)| known != path)
        {
            found.push((path.to_owned(), deleted));
        }
    }
    found
}

/// The file that a line names: of a patch, of `--stat`, or of a status, long or short.
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
    use super::super::commands::effects;
    use super::{Effect, changes};

    #[test]
    fn git_moves_removes_restores_and_commits() {
        let commit = |subject: Option<&str>, amend| Effect::Commit { subject: subject.map(str::to_owned), amend };
        for (line, expected) in [
            ("git mv a.rs b/", vec![Effect::Move { from: "a.rs".into(), to: "b/a.rs".into() }]),
            ("git rm a.rs", vec![Effect::Remove("a.rs".into())]),
            ("git checkout -- a.rs", vec![Effect::Restore(Some(vec!["a.rs".into()]))]),
            ("git checkout main", vec![]),
            ("git restore --staged a.rs", vec![]),
            ("git restore .", vec![Effect::Restore(None)]),
            ("git -C /r reset --hard", vec![Effect::Restore(None)]),
            ("git commit -qm 'Fix it'", vec![commit(Some("Fix it"), false)]),
            ("git commit -m \"$(cat <<'EOF'\nFix it\n\nMore\nEOF\n)\"", vec![commit(Some("Fix it"), false)]),
            ("git commit --amend --no-edit", vec![commit(None, true)]),
            ("cd r && git add a.rs", vec![Effect::Add(vec!["r/a.rs".into()])]),
            ("git --no-pager diff --stat HEAD -- src/a.rs", vec![Effect::Changes]),
            ("git diff main...topic", vec![]),
            ("git diff main", vec![]),
            ("git status -s", vec![Effect::Changes]),
        ] {
            assert_eq!(effects(line), expected, "{line}");
        }
    }

    #[test]
    fn files_that_version_control_names_are_found() {
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
