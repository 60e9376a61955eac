//! What `git` commands do to files and to the history, and which files their output names as changed. A word that may as well be a
//! branch or a commit is no file.

use foldhash::HashSet;

use super::kinds::Effect;
use super::paths;
use super::shell::Simple;

/// Flags of `git` itself whose value is the next word.
const VALUED: &[&str] = &["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env"];

/// What `git` with these arguments of `command` does.
pub(super) fn git_effects(arguments: &[String], command: &Simple) -> Vec<Effect> {
    let mut command = command.clone();
    let mut words = arguments.iter().map(String::as_str);
    let verb = loop {
        match words.next() {
            None => return Vec::new(),
            Some("-C") => command.folder = words.next().map(|folder| command.resolved(folder)),
            Some(flag) if VALUED.contains(&flag) => {
                words.next();
            }
            Some(flag) if flag.starts_with('-') => {}
            Some(verb) => break verb,
        }
    };
    let rest: Vec<&str> = words.collect();
    let (before, after) = rest.split_at(rest.iter().position(|word| *word == "--").unwrap_or(rest.len()));
    Subcommand { before, after, command: &command }.effects(verb)
}

/// Subcommands that only show files or changes, whose text may begin like an error. What others print tells how they went.
const SHOWING: &[&str] = &[
    "annotate", "blame", "cat-file", "describe", "diff", "grep", "log", "ls-files", "ls-tree", "reflog", "rev-list",
    "shortlog", "show", "status", "whatchanged",
];

/// Whether `git` with these arguments does something, and does not only show files or changes.
pub(super) fn acts(arguments: &[String]) -> bool {
    let mut words = arguments.iter().map(String::as_str);
    while let Some(word) = words.next() {
        if VALUED.contains(&word) {
            words.next();
        } else if !word.starts_with('-') {
            return !SHOWING.contains(&word);
        }
    }
    false
}

/// The arguments of a subcommand of `git`.
struct Subcommand<'g> {
    /// Those before a `--`.
    before: &'g [&'g str],
    /// The `--` and those behind it.
    after: &'g [&'g str],
    command: &'g Simple,
}

impl<'g> Subcommand<'g> {
    fn effects(&self, verb: &str) -> Vec<Effect> {
        match verb {
            "commit" if !self.has(&["--dry-run"]) => self.commit(),
            "revert" | "cherry-pick" if !self.has(&["-n", "--no-commit", "--abort", "--quit", "--skip"]) => {
                vec![Effect::Commits]
            }
            "mv" => self.command.moved(self.operands()),
            "rm" if self.has(&["--cached"]) => Vec::new(),
            "rm" if self.has_letter('r') => {
                self.operands().filter_map(|word| self.command.folder_at(word)).map(Effect::RemoveBelow).collect()
            }
            "rm" => self.operands().filter_map(|word| self.command.file(word)).map(Effect::Remove).collect(),
            "add" | "stage" => vec![self.add()],
            "status" => vec![Effect::Changes(None)],
            "diff" if !self.has(&["--no-index"]) => {
                let mut compared = self.before.iter().filter(|word| !is_flag(word) && !matches!(**word, "HEAD" | "."));
                vec![Effect::Changes(compared.next().map(|word| (*word).to_owned()))]
            }
            // Another branch may keep the commits that this one no longer has.
            "reset" if self.has(&["--hard"]) => vec![Effect::Restore(None)],
            "restore" if !self.has(&["--staged", "-S"]) || self.has(&["--worktree", "-W"]) => {
                self.restored(&self.restored_words())
            }
            // Without a `--`, only a word with a mark of paths is looked up among the known files: others are branches.
            "checkout" if !self.has(&["-b", "-B", "--orphan"]) => {
                let mut words = self.restored_words();
                words.retain(|word| !self.after.is_empty() || word.contains(['.', '/']));
                self.restored(&words)
            }
            _ => Vec::new(),
        }
    }

    fn has(&self, flags: &[&str]) -> bool {
        self.before.iter().any(|word| flags.contains(word))
    }

    /// Whether a one-letter flag is set, alone or combined with others. What follows one that takes a value is that.
    fn has_letter(&self, letter: char) -> bool {
        let words = self.before.iter().zip(std::iter::once(&"").chain(self.before));
        let flags = words.filter(|(word, previous)| !word.starts_with("--") && !takes_value(previous));
        flags
            .filter_map(|(word, _)| word.strip_prefix('-')?.split(['m', 'F', 'C', 'c', 't', 'S', 'u']).next())
            .any(|set| set.contains(letter))
    }

    /// The arguments that are not flags.
    fn operands(&self) -> impl Iterator<Item = &'g str> + use<'g> {
        self.before.iter().chain(self.after).copied().filter(|word| !is_flag(word))
    }

    /// What a commit names is added to it.
    fn commit(&self) -> Vec<Effect> {
        let mut words: Vec<&str> = self.committed_words().collect();
        let names_any = words.iter().any(|word| *word == "." || word.contains(['*', '?']));
        words.retain(|_| !names_any);
        let any = names_any || self.has(&["--all"]) || self.has_letter('a');
        let places = words.into_iter().filter_map(|word| self.command.folder_at(word)).collect();
        vec![
            Effect::Add { places, any },
            Effect::Commit { subject: subject(self.before), amend: self.has(&["--amend"]) },
        ]
    }

    /// The words of `git commit` that may be files or folders: not the values of flags.
    fn committed_words(&self) -> impl Iterator<Item = &'g str> + use<'g> {
        let words = self.before.iter().zip(std::iter::once(&"").chain(self.before));
        let operands = words.filter(|(word, previous)| !is_flag(word) && !takes_value(previous)).map(|(word, _)| word);
        operands.chain(self.after.iter().skip(1)).copied()
    }

    /// The effect of adding the files and folders that words name, and without words or for a pattern, others.
    fn add(&self) -> Effect {
        let mut places = Vec::new();
        let mut any = self.operands().next().is_none();
        for word in self.operands() {
            let slash = if word.ends_with('/') { "/" } else { "" };
            match self.command.file(word.trim_end_matches('/')) {
                Some(place) => places.push(place + slash),
                None => any = true,
            }
        }
        Effect::Add { places, any }
    }

    /// The files and folders that a command restores: what stands behind a `--`, or else all words that are no flags and no sources.
    fn restored_words(&self) -> Vec<&'g str> {
        if let Some((_, words)) = self.after.split_first() {
            return words.to_vec();
        }
        let words = self.before.iter().zip(std::iter::once(&"").chain(self.before));
        let operands = words.filter(|(word, previous)| !is_flag(word) && !matches!(**previous, "-s" | "--source"));
        operands.map(|(word, _)| *word).collect()
    }

    /// The effects of discarding the changes of these files and folders.
    fn restored(&self, words: &[&str]) -> Vec<Effect> {
        if words.is_empty() {
            return Vec::new();
        }
        let all = words.iter().any(|word| matches!(*word, "." | ":/" | "*"));
        let places = (!all).then(|| words.iter().filter_map(|word| self.command.folder_at(word)).collect());
        vec![Effect::Restore(places)]
    }
}

/// Whether the word after this flag of `git commit` is its value.
fn takes_value(flag: &str) -> bool {
    message_in(flag) == Some("") || matches!(flag, "-F" | "-aF" | "--file" | "-C" | "-c" | "-t" | "--template")
}

fn is_flag(word: &str) -> bool {
    word.starts_with('-')
}

/// The first line of the commit message in the arguments of `git commit`; `None` if the shell makes it.
fn subject(arguments: &[&str]) -> Option<String> {
    let mut words = arguments.iter().copied();
    let message = loop {
        let word = words.next()?;
        if let Some(message) = message_in(word) {
            break if message.is_empty() { words.next()? } else { message };
        }
    };
    let heredoc = message.strip_prefix("$(cat <<").and_then(|rest| rest.split_once('\n'));
    let text = heredoc.map_or(message, |(_, body)| body);
    let subject = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    (!subject.starts_with('$')).then(|| subject.to_owned())
}

/// The message in a flag such as `-mTEXT`; empty if the next word is the message.
fn message_in(word: &str) -> Option<&str> {
    if let Some(long) = word.strip_prefix("--message") {
        return if long.is_empty() { Some("") } else { long.strip_prefix('=') };
    }
    // Flags that take no value may stand before it: `-am`.
    let (flags, message) = word.strip_prefix('-')?.split_once('m')?;
    flags.chars().all(|flag| "aeinopqsvz".contains(flag)).then_some(message)
}

/// The files that the output of `git status` or `git diff` lists as changed, each with whether it was removed. None if what is
/// `compared`, the first operand, may be another commit, from which this work did not make the changes: behind the first file, all
/// operands are files.
pub(super) fn changes(output: &str, compared: Option<&str>) -> Vec<(String, bool)> {
    let listed = listed_files(output);
    if compared.is_none_or(|word| looks_like_path(word) || names_listed(word, &listed)) { listed } else { Vec::new() }
}

/// Whether a word has a mark of paths or patterns that no name of a commit has: `v1.2`, `main...topic` and `upstream/main` have none.
fn looks_like_path(word: &str) -> bool {
    let ending = paths::name(word).rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_commit = word.contains("..") || word.starts_with("origin/");
    ["/", "./", "../"].iter().any(|start| word.starts_with(start))
        || word.ends_with('/')
        || word.contains(['*', '?'])
        || ending.starts_with(char::is_alphabetic) && !is_commit
}

/// Whether a word names one of these files, or a folder of them.
fn names_listed(word: &str, listed: &[(String, bool)]) -> bool {
    listed.iter().any(|(path, _)| paths::same_file(path, word) || paths::is_below(path, word, ""))
}

/// Where in a patch a line stands.
#[derive(Clone, Copy)]
enum Place {
    Outside,
    Head,
    /// Before this many lines of the old file and of the new one.
    Hunk(usize, usize),
}

impl Place {
    /// The place of `line`, which follows a line at this place. Behind the last line of a hunk, a patch may end.
    fn next(self, line: &str) -> Self {
        if line.starts_with("diff --git ") {
            return Self::Head;
        }
        match self {
            Self::Hunk(..) if line.starts_with('\\') => self,
            Self::Hunk(old, new) if (old, new) != (0, 0) => {
                let is_old = !line.starts_with('+');
                let is_new = !line.starts_with('-');
                Self::Hunk(old.saturating_sub(usize::from(is_old)), new.saturating_sub(usize::from(is_new)))
            }
            Self::Outside => self,
            Self::Head => hunk_at(line).unwrap_or(self),
            Self::Hunk(..) => hunk_at(line).unwrap_or(Self::Outside),
        }
    }
}

/// The hunk that a line begins, by how many lines it has: `@@ -1,2 +1 @@`.
fn hunk_at(line: &str) -> Option<Place> {
    let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    Some(Place::Hunk(lines_of(old)?, lines_of(new)?))
}

/// How many lines a range has: `1,2`, or one without a number.
fn lines_of(range: &str) -> Option<usize> {
    range.split_once(',').map_or(Some(1), |(_, lines)| lines.parse().ok())
}

fn listed_files(output: &str) -> Vec<(String, bool)> {
    let mut found: Vec<(String, bool)> = Vec::new();
    let mut known: HashSet<&str> = HashSet::default();
    let mut place = Place::Outside;
    for line in output.lines() {
        place = place.next(line);
        let is_patch = !matches!(place, Place::Outside);
        // Every other line of a patch may be one of a file.
        let listed = if is_patch { named_by_patch(line) } else { listed_on(line) };
        if is_patch
            && line.starts_with("deleted file mode")
            && let Some((_, is_removed)) = found.last_mut()
        {
            *is_removed = true;
        }
        if let Some((path, is_removed)) = listed
            && let Some(path) = paths::project_path(path).filter(|path| !path.contains(" => "))
            && known.insert(path)
        {
            found.push((path.to_owned(), is_removed));
        }
    }
    found
}

/// The file that a line of a patch is about.
fn named_by_patch(line: &str) -> Option<(&str, bool)> {
    let renamed = line.strip_prefix("rename to ").or_else(|| line.strip_prefix("copy to "));
    let path = renamed.or_else(|| named_twice(line.strip_prefix("diff --git ")?));
    path.map(|path| (path, false))
}

/// The file that the head of a patch names twice: `a/x b/x`, with other letters before the slash, or without them.
fn named_twice(names: &str) -> Option<&str> {
    let (old, new) = names.split_at_checked(names.len() / 2)?;
    let new = new.strip_prefix(' ')?;
    if old == new {
        return Some(new);
    }
    let (old, new) = (old.split_once('/')?, new.split_once('/')?);
    (old.0.len() == 1 && new.0.len() == 1 && old.1 == new.1).then_some(new.1)
}

/// The file that a line of `--stat`, or of a long or short status, lists as changed.
fn listed_on(line: &str) -> Option<(&str, bool)> {
    const LABELS: &[(&str, bool)] = &[
        ("modified:", false),
        ("new file:", false),
        ("renamed:", false),
        ("copied:", false),
        ("typechange:", false),
        ("both modified:", false),
        ("both added:", false),
        ("deleted:", true),
    ];
    let trimmed = line.trim_start();
    if trimmed.len() < line.len()
        && let Some((path, is_removed)) =
            LABELS.iter().find_map(|(label, is_removed)| Some((trimmed.strip_prefix(label)?, *is_removed)))
    {
        return Some((path.rsplit(" -> ").next().unwrap_or(path).trim(), is_removed));
    }
    if let Some((path, counts)) = line.strip_prefix(' ').and_then(|rest| rest.rsplit_once(" | ")) {
        let is_counted = counts.trim_start().starts_with(|c: char| c.is_ascii_digit()) || counts.contains("Bin ");
        let path = path.trim_end();
        return (is_counted && !path.contains(' ') && !path.starts_with("...")).then_some((path, false));
    }
    // Two letters say what became of a file since the last commit and since it was added.
    let (state, path) = line.split_at_checked(2)?;
    let path = path.strip_prefix(' ')?;
    let is_state = state.bytes().all(|byte| b" MTADRCU".contains(&byte)) && state != "  ";
    let is_plain = !path.is_empty() && !path.starts_with(' ') && path.split(" -> ").all(|path| !path.contains(' '));
    let is_removed = state.contains('D') && !state.contains('U');
    (is_state && is_plain).then(|| (path.rsplit(" -> ").next().unwrap_or(path), is_removed))
}

#[cfg(test)]
mod tests {
    use super::changes;

    fn names(output: &str, compared: Option<&str>) -> Vec<String> {
        changes(output, compared).into_iter().map(|(path, _)| path).collect()
    }

    #[test]
    fn files_that_version_control_lists_are_found() {
        for (output, expected) in [
            (
                "On branch main\nChanges not staged for commit:\n\tmodified:   src/a.rs\n\tdeleted:    b.rs\n\tboth modified:   my c.rs\n\nUntracked files:\n\tnew.py\n",
                &["src/a.rs", "b.rs", "my c.rs"][..],
            ),
            (
                " M src/a.rs\nA  b.rs\nR  c.rs -> d.rs\n?? new.py\nUU e.rs\nMD f.rs\nAM g.rs\n",
                &["src/a.rs", "b.rs", "d.rs", "e.rs", "f.rs", "g.rs"],
            ),
            (
                " src/a.rs | 4 ++--\n img.png  | Bin 0 -> 12 bytes\n 2 files changed, 2 insertions(+)",
                &["src/a.rs", "img.png"],
            ),
            (
                "diff --git a/src/a.rs b/src/a.rs\nindex 1..2 100644\n--- a/src/a.rs\n+++ b/src/a.rs\n-M  x\n+ M y z\n M w\n a.py | 12\n",
                &["src/a.rs"],
            ),
            (
                "diff --git i/src/a.rs w/src/a.rs\ndiff --git b.rs b.rs\ndiff --git src/c.rs src/c.rs\n",
                &["src/a.rs", "b.rs", "src/c.rs"],
            ),
            (
                "diff --git a/my a.rs b/my a.rs\ndiff --git a/b.rs b/c.rs\nrename from b.rs\nrename to c.rs\n",
                &["my a.rs", "c.rs"],
            ),
            (
                "diff --git a/a.rs b/a.rs\n--- a/a.rs\n+++ b/a.rs\n@@ -1,3 +1,2 @@ fn a\n M x.rs\n-M  y.rs\n-\n+A  z.rs\n\\ No newline at end of file\n M b.rs\nA  c.rs",
                &["a.rs", "b.rs", "c.rs"],
            ),
            ("nothing to commit, working tree clean", &[]),
        ] {
            assert_eq!(names(output, None), expected, "{output}");
        }
        for (output, removed) in [(" D gone.rs", true), ("MD gone.rs", true), ("UD gone.rs", false)] {
            assert_eq!(changes(output, None), [(String::from("gone.rs"), removed)]);
        }
        let patch = "diff --git a/gone.rs b/gone.rs\ndeleted file mode 100644\n-deleted file mode\n";
        assert_eq!(changes(patch, None), [(String::from("gone.rs"), true)]);
    }

    #[test]
    fn another_commit_is_no_file() {
        let patch = "diff --git a/src/a.rs b/src/a.rs\n";
        for word in ["src/a.rs", "a.rs", "src", "./src/", "src/unchanged.rs", "src/*.rs", "below/", "../below"] {
            assert_eq!(names(patch, Some(word)), ["src/a.rs"], "{word}");
        }
        for word in ["v1.2", "upstream/main", "main", "main...topic", "main..topic.x", "..main", "origin/v1.x"] {
            assert!(names(patch, Some(word)).is_empty(), "{word}");
        }
    }

    #[test]
    fn long_lists_are_read_in_linear_time() {
        let status: String = (0..60_000).map(|nth| format!(" M src/file{nth}.rs\n")).collect();
        assert_eq!(names(&status, None).len(), 60_000);
        assert!(names(&status, Some("main")).is_empty());
    }
}
