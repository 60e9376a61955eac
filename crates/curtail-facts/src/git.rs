//! What `git` commands do to files and to the history, and which files their output names as changed. A word that may as well be a
//! branch or a commit is no file.

use std::borrow::Cow;

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

/// Flags with which `git branch` and `git tag` list what there is.
const LISTING: &[&str] = &["-a", "--all", "-r", "--remotes", "-v", "-vv", "--show-current"];

/// Whether the first argument of `git branch` or `git tag` makes the others patterns of what is listed.
fn lists(arguments: &[String]) -> bool {
    arguments.first().is_some_and(|flag| matches!(&**flag, "-l" | "--list"))
}

/// Whether `git` with these arguments does something, and does not only show files or changes.
pub(super) fn acts(arguments: &[String]) -> bool {
    verb_and_more(arguments).is_some_and(|(verb, _)| !SHOWING.contains(&verb))
}

/// Whether `git` with these arguments only shows something, and be it what it is set to.
pub(super) fn only_shows(arguments: &[String]) -> bool {
    match verb_and_more(arguments) {
        Some(("rev-parse" | "ls-remote", _)) => true,
        Some(("reflog", more)) => {
            !more.first().is_some_and(|what| matches!(&**what, "delete" | "drop" | "expire" | "write"))
        }
        Some(("branch" | "tag", more)) => more.iter().all(|word| LISTING.contains(&word.as_str())) || lists(more),
        Some(("stash", more)) => more.first().is_some_and(|what| matches!(&**what, "list" | "show")),
        Some(("remote", more)) => more.first().is_none_or(|what| matches!(&**what, "-v" | "show" | "get-url")),
        _ => !acts(arguments),
    }
}

/// The subcommand in arguments of `git`, and its own arguments.
fn verb_and_more(arguments: &[String]) -> Option<(&str, &[String])> {
    let mut words = arguments.iter().enumerate();
    while let Some((at, word)) = words.next() {
        if VALUED.contains(&word.as_str()) {
            words.next();
        } else if !word.starts_with('-') {
            return Some((word, &arguments[at + 1..]));
        }
    }
    None
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
                let compared = compared.next().map(|word| (*word).to_owned());
                vec![if self.has(&["--name-only"]) {
                    Effect::ChangedNames(compared)
                } else {
                    Effect::Changes(compared)
                }]
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
        let words: Vec<&str> = self.committed_words().collect();
        let is_any = |word: &&str| self.here(word).is_none() && (is_here(word) || word.contains(['*', '?']));
        let names_any = words.iter().any(is_any);
        let any = names_any || self.has(&["--all"]) || self.has_letter('a');
        let places = words.into_iter().filter(|_| !names_any);
        let places = places.filter_map(|word| self.here(word).or_else(|| self.command.folder_at(word))).collect();
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
            match (self.here(word), self.command.file(word.trim_end_matches('/'))) {
                (Some(folder), _) => places.push(folder + "/"),
                (None, Some(place)) => places.push(place + slash),
                (None, None) => any = true,
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
        let all = words.iter().any(|word| *word == ":/" || is_here(word) && self.here(word).is_none());
        let places = words.iter().filter_map(|word| self.here(word).or_else(|| self.command.folder_at(word)));
        vec![Effect::Restore((!all).then(|| places.collect()))]
    }

    /// The folder that the command runs in, if `word` says so and the folder is a part of the repository: a path from the root may as
    /// well be the whole of it.
    fn here(&self, word: &str) -> Option<String> {
        self.command.folder.clone().filter(|folder| is_here(word) && !folder.starts_with(['/', '~', '.']))
    }
}

/// Whether the word after this flag of `git commit` is its value.
fn takes_value(flag: &str) -> bool {
    message_in(flag) == Some("") || matches!(flag, "-F" | "-aF" | "--file" | "-C" | "-c" | "-t" | "--template")
}

/// Whether a word names everything in the folder that the command runs in.
fn is_here(word: &str) -> bool {
    matches!(word, "." | "./" | "*")
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

/// The files that the output of `git status` or `git diff` lists as changed, each with whether it was removed: those of a patch, of
/// `--stat`, `--numstat` and `--name-status`. None if what is `compared`, the first operand, may be another commit, from which this
/// work did not make the changes: behind the first file, all operands are files.
pub(super) fn changes(output: &str, compared: Option<&str>) -> Vec<(String, bool)> {
    of_this_work(listed_files(output), compared)
}

/// The same of the output of `git diff --name-only`. Lines that are no name are those of a program around it.
pub(super) fn changed_names(output: &str, compared: Option<&str>) -> Vec<(String, bool)> {
    let names = output.lines().filter(|line| is_quoted(line) || line.contains(['.', '/']) && !line.contains(' '));
    let names = names.map(unquoted).filter_map(|name| paths::project_path(&name).map(|path| (path.to_owned(), false)));
    of_this_work(names.collect(), compared)
}

fn of_this_work(listed: Vec<(String, bool)>, compared: Option<&str>) -> Vec<(String, bool)> {
    if compared.is_none_or(|word| looks_like_path(word) || names_listed(word, &listed)) { listed } else { Vec::new() }
}

/// Whether a word has a mark of paths or patterns that no name of a commit has: `v1.2`, `release/2.x`, `main...topic` and
/// `upstream/main` have none.
fn looks_like_path(word: &str) -> bool {
    let (stem, ending) = paths::name(word).rsplit_once('.').unwrap_or_default();
    let is_version = ending == "x" && stem.ends_with(|c: char| c.is_ascii_digit());
    let is_commit = is_version || word.contains("..") || word.starts_with("origin/");
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
        if ["diff --git ", "diff --cc ", "diff --combined "].iter().any(|start| line.starts_with(start)) {
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
    let mut known: HashSet<String> = HashSet::default();
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
            && let Some(path) = paths::project_path(&path)
            && known.insert(path.to_owned())
        {
            found.push((path.to_owned(), is_removed));
        }
    }
    found
}

/// A name as `git` prints it: one with unusual characters in quotes, with an escape for each, or for each byte of it.
fn unquoted(name: &str) -> Cow<'_, str> {
    let Some(quoted) = name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else { return name.into() };
    let mut bytes = Vec::new();
    let mut rest = quoted.bytes();
    while let Some(byte) = rest.next() {
        let escaped = if byte == b'\\' { rest.next() } else { None };
        bytes.push(match escaped {
            None => byte,
            Some(b'n') => b'\n',
            Some(b't') => b'\t',
            Some(first @ b'0'..=b'3') => {
                rest.by_ref().take(2).fold(first - b'0', |value, digit| (value << 3) | (digit & 7))
            }
            Some(character) => character,
        });
    }
    String::from_utf8_lossy(&bytes).into_owned().into()
}

/// The file that a line of a patch is about.
fn named_by_patch(line: &str) -> Option<(Cow<'_, str>, bool)> {
    let starts = ["rename to ", "copy to ", "diff --cc ", "diff --combined "];
    let once = starts.iter().find_map(|start| line.strip_prefix(start)).map(unquoted);
    let path = once.or_else(|| named_twice(line.strip_prefix("diff --git ")?));
    path.map(|path| (path, false))
}

/// The file that the head of a patch names twice: `a/x b/x`, with other letters before the slash, or without them.
fn named_twice(names: &str) -> Option<Cow<'_, str>> {
    let (old, new) = names.split_at_checked(names.len() / 2)?;
    let [old, new] = [old, new.strip_prefix(' ')?].map(unquoted);
    if old == new {
        return Some(new);
    }
    let (old, new) = (old.split_once('/')?, new.split_once('/')?);
    (old.0.len() == 1 && new.0.len() == 1 && old.1 == new.1).then(|| new.1.to_owned().into())
}

/// The new name of a file that `--stat` or `--numstat` lists: `a.rs => b.rs`, `src/{a => b}/c.rs`, or one without a change.
fn new_name(path: &str) -> Cow<'_, str> {
    let Some((before, after)) = path.split_once(" => ") else { return unquoted(path) };
    match (before.split_once('{'), after.split_once('}')) {
        (Some((start, _)), Some((new, end))) => format!("{start}{new}{end}").replace("//", "/").into(),
        _ => unquoted(after),
    }
}

/// The file that a line of `--numstat` or `--name-status` lists as changed: `1 <tab> 0 <tab> a.rs`, `R100 <tab> a.rs <tab> b.rs`.
fn listed_by_tabs(line: &str) -> Option<(Cow<'_, str>, bool)> {
    let (first, rest) = line.split_once('\t')?;
    let is_count = |text: &str| text == "-" || !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_count(first) {
        let (removed, path) = rest.split_once('\t')?;
        return (is_count(removed) && !path.contains('\t')).then(|| (new_name(path), false));
    }
    let similarity = first.strip_prefix(['A', 'C', 'D', 'M', 'R', 'T', 'U'])?;
    let path = rest.rsplit('\t').next()?;
    similarity.bytes().all(|byte| byte.is_ascii_digit()).then(|| (unquoted(path), first == "D"))
}

/// The file that a line of `--stat`, `--numstat` or `--name-status`, or of a long or short status, lists as changed.
fn listed_on(line: &str) -> Option<(Cow<'_, str>, bool)> {
    const LABELS: &[(&str, bool)] = &[
        ("modified:", false),
        ("new file:", false),
        ("renamed:", false),
        ("copied:", false),
        ("typechange:", false),
        ("both modified:", false),
        ("both added:", false),
        ("added by us:", false),
        ("added by them:", false),
        ("deleted by us:", false),
        ("deleted by them:", false),
        ("both deleted:", true),
        ("deleted:", true),
    ];
    let trimmed = line.trim_start();
    if trimmed.len() < line.len()
        && let Some((path, is_removed)) =
            LABELS.iter().find_map(|(label, is_removed)| Some((trimmed.strip_prefix(label)?, *is_removed)))
    {
        return Some((unquoted(path.rsplit(" -> ").next().unwrap_or(path).trim()), is_removed));
    }
    if let Some((path, counts)) = line.strip_prefix(' ').and_then(|rest| rest.rsplit_once(" | ")) {
        let is_counted = counts.trim_start().starts_with(|c: char| c.is_ascii_digit()) || counts.contains("Bin ");
        let path = path.trim_end();
        // Other text has no signs behind the number.
        let is_plain =
            counts.ends_with(['+', '-']) || path.split(" => ").all(|name| !name.contains(' ') || is_quoted(name));
        return (is_counted && is_plain && !path.starts_with("...")).then(|| (new_name(path), false));
    }
    if let Some(listed) = listed_by_tabs(line) {
        return Some(listed);
    }
    // Two letters say what became of a file since the last commit and since it was added.
    let (state, path) = line.split_at_checked(2)?;
    let path = path.strip_prefix(' ')?;
    let is_state = state.bytes().all(|byte| b" MTADRCU".contains(&byte)) && state != "  ";
    let is_plain = !path.is_empty() && path.split(" -> ").all(|name| !name.contains(' ') || is_quoted(name));
    let is_removed = state.contains('D') && !state.contains('U');
    (is_state && is_plain).then(|| (unquoted(path.rsplit(" -> ").next().unwrap_or(path)), is_removed))
}

fn is_quoted(name: &str) -> bool {
    name.len() > 1 && name.starts_with('"') && name.ends_with('"')
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
            (
                " M \"src/caf\\303\\251.rs\"\nA  \"my file.rs\"\nR  \"a b.rs\" -> \"c \\\"d\\\".rs\"\n M my file.py\n",
                &["src/café.rs", "my file.rs", "c \"d\".rs"],
            ),
            (
                "\tmodified:   \"caf\\303\\251.rs\"\n\tdeleted by us:   a.rs\n\tadded by them:   b c.rs\n",
                &["café.rs", "a.rs", "b c.rs"],
            ),
            (
                "diff --git \"a/caf\\303\\251.rs\" \"b/caf\\303\\251.rs\"\ndiff --git a/b.rs \"b/\\303\\251.rs\"\nrename to \"\\303\\251.rs\"\ndiff --cc src/a.rs\n",
                &["café.rs", "é.rs", "src/a.rs"],
            ),
            (
                " src/{a.rs => b.rs} | 2 +-\n src/{ => sub}/c.rs | 0\n {old => new}/d.rs | 1 +\n e.rs => f.rs | 0\n \"\\303\\251.rs\" | 1 +\n my g.rs | 2 +-\n one of | 2\n",
                &["src/b.rs", "src/sub/c.rs", "new/d.rs", "f.rs", "é.rs", "my g.rs"],
            ),
            (
                "3\t1\tsrc/a.rs\n-\t-\timg.png\n0\t0\tsrc/{ => sub}/my c.rs\n",
                &["src/a.rs", "img.png", "src/sub/my c.rs"],
            ),
            ("M\tsrc/a.rs\nD\tb.rs\nR100\tmy c.rs\tmy d.rs\nMore\te.rs\n", &["src/a.rs", "b.rs", "my d.rs"]),
            ("nothing to commit, working tree clean", &[]),
        ] {
            assert_eq!(names(output, None), expected, "{output}");
        }
        for (output, removed) in [
            (" D gone.rs", true),
            ("MD gone.rs", true),
            ("UD gone.rs", false),
            ("D\tgone.rs", true),
            ("\tdeleted by us:   gone.rs", false),
            ("\tboth deleted:    gone.rs", true),
        ] {
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
        for word in [
            "v1.2", "upstream/main", "main", "main...topic", "main..topic.x", "..main", "origin/v1.x", "2.x",
            "release/2.x",
        ] {
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
