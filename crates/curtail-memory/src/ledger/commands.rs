//! What shell commands do to files, to the history of a repository, and which of them are checks.
//! The programs are tables, read by one interpreter. Nothing is run: a program that is not listed has no known effect.

use super::shell::{self, Simple};
use super::{checks, paths, scripts};

/// Something that a command does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Effect {
    /// Writes a whole file.
    Write(String),
    /// Changes a file.
    Edit(String),
    /// Removes a file.
    Remove(String),
    /// Gives a file another path.
    Move { from: String, to: String },
    /// Commits what was changed; the subject is `None` if the command does not contain it.
    Commit { subject: Option<String>, amend: bool },
    /// Discards changes that were not committed, of these files or of all.
    Restore(Option<Vec<String>>),
    /// Gives these files to version control.
    Add(Vec<String>),
    /// Prints which files version control sees as changed.
    Changes,
    /// Writes a script that changes these files when it is run.
    Script { path: String, writes: Vec<String> },
    /// Runs a script.
    RunScript(String),
    /// Builds or tests.
    Check(Run),
}

/// A check, as it was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Run {
    /// The command without what surrounds it.
    pub(super) command: String,
    /// What it was narrowed to: files, packages, names of tests. Empty if it checks everything.
    pub(super) targets: Vec<String>,
}

/// What a tool does to the files in its arguments.
#[derive(Clone, Copy)]
enum Does {
    Write,
    /// Edits the files behind its script, unless one of these flags gives the script.
    Edit(&'static [&'static str]),
    Copy,
    Move,
    Remove,
    Git,
}

/// Programs that change files, with the letters of flags without which they change none.
const TOOLS: &[(&str, &str, Does)] = &[
    ("tee", "", Does::Write),
    ("sed", "i", Does::Edit(&["-e", "-f"])),
    ("perl", "ie", Does::Edit(&["-e"])),
    ("cp", "", Does::Copy),
    ("mv", "", Does::Move),
    ("rm", "", Does::Remove),
    ("git", "", Does::Git),
];

/// Programs and words of a shell that run the program after them.
const WRAPPERS: &[&str] = &[
    "sudo", "env", "time", "timeout", "nice", "nohup", "npx", "bunx", "uvx", "command", "exec", "xvfb-run", "then",
    "do", "else", "if", "!",
];

/// The same for programs of two words, such as `uv run`.
const RUNNERS: &[(&[&str], &str)] = &[
    (&["uv", "poetry", "pipenv", "hatch", "pdm"], "run"),
    (&["bundle", "pnpm", "yarn", "npm", "mise"], "exec"),
    (&["python", "python3"], "-m"),
];

/// Programs that check, with the first arguments that make them a check; without any, they always are one.
const CHECKS: &[(&[&str], &[&str])] = &[
    (&["pytest", "py.test", "unittest", "runtests.py", "tox", "nox", "mypy", "pyright", "flake8"], &[]),
    (&["jest", "vitest", "mocha", "tsc", "eslint", "rspec", "phpunit", "prove", "bats"], &[]),
    (&["make", "gmake", "ninja", "ctest", "mvn", "mvnw", "gradle", "gradlew", "just"], &[]),
    (&["cargo"], &["test", "t", "build", "b", "check", "c", "clippy", "nextest"]),
    (&["yarn", "pnpm"], &["test", "build", "lint", "typecheck", "check"]),
    (&["bazel", "dotnet", "swift", "zig"], &["test", "build"]),
    (&["go"], &["test", "build", "vet"]),
    (&["deno"], &["test", "check", "lint"]),
    (&["sbt", "mix"], &["test", "compile"]),
    (&["flutter"], &["test", "analyze"]),
    (&["npm"], &["test", "t"]),
    (&["bun"], &["test"]),
    (&["node"], &["--test"]),
    (&["cmake"], &["--build"]),
    (&["golangci-lint"], &["run"]),
    (&["ruff"], &["check"]),
    (&["terraform"], &["validate"]),
];

/// Programs that run the scripts of a package, and words in the name of one by which it is a check: `npm run test:unit`.
const PACKAGES: &[&str] = &["npm", "yarn", "pnpm", "bun"];
const SCRIPTS: &[&str] = &["test", "build", "lint", "check", "tsc"];

/// Flags with which a program checks nothing, but for `pytest`, to which some of them mean something else.
const IDLE: &[&str] = &["--version", "--help", "--collect-only", "-n"];

/// Programs that only show something: what they print is another program's output.
const SHOWS: &[&str] = &[
    "cat", "head", "tail", "grep", "rg", "less", "sed", "awk", "ls", "find", "git", "echo", "cd", "wc", "sort", "diff",
    "gh",
];

/// Flags whose value narrows a check.
const NARROW: &[&str] =
    &["-k", "-m", "-run", "--run", "-t", "--test", "-p", "--package", "--testNamePattern", "--tests", "-Dtest"];

/// Ends of the names of copies that are made to return to them.
const BACKUPS: &[&str] = &[".bak", ".backup", ".orig", ".old", "~"];

/// What the command line does, in order.
pub(super) fn effects(line: &str) -> Vec<Effect> {
    shell::commands(line).iter().flat_map(effects_of).collect()
}

/// Whether the line runs a program that may print what a check prints.
pub(super) fn may_check(line: &str) -> bool {
    shell::commands(line).iter().any(|command| {
        let words = unwrapped(&command.words);
        words.first().is_some_and(|program| !SHOWS.contains(&paths::name(program)))
    })
}

fn effects_of(command: &Simple) -> Vec<Effect> {
    let mut found: Vec<Effect> =
        command.writes.iter().filter_map(|word| command.file(word)).map(Effect::Write).collect();
    let Some((program, arguments)) = unwrapped(&command.words).split_first() else { return found };
    let call = Call { command, program, name: paths::name(program), arguments };
    if let Some(body) = &command.input {
        let written = command.writes.iter().chain(call.plain().filter(|_| program == "tee"));
        found.extend(written.filter_map(|path| command.script(path, body)));
    }
    let does =
        |(name, flags, _): &&(&str, &str, Does)| *name == call.name && flags.chars().all(|flag| call.has_flag(flag));
    found.extend(TOOLS.iter().find(does).map_or_else(|| call.run(), |(_, _, does)| call.change(*does)));
    found
}

impl Simple {
    /// The file that a word names, from the folder in which the command runs.
    pub(super) fn file(&self, word: &str) -> Option<String> {
        paths::path(word).map(|path| self.below(path))
    }

    /// The same, also in a folder for scratch files: scripts there are written, run and removed as others are.
    fn any_file(&self, word: &str) -> Option<String> {
        paths::any(word).map(|path| self.below(path))
    }

    fn below(&self, path: &str) -> String {
        paths::below(self.folder.as_deref(), path)
    }

    /// The files that a text changes when it is run as the script `place`, or by the program `place`.
    fn files_written(&self, place: &str, body: &str) -> Vec<String> {
        scripts::writes(place, body).iter().map(|file| self.below(file)).collect()
    }

    /// A script with this text; `None` if it changes no files.
    fn script(&self, word: &str, body: &str) -> Option<Effect> {
        let path = paths::any(word)?;
        let writes = self.files_written(path, body);
        (!writes.is_empty()).then(|| Effect::Script { path: self.below(path), writes })
    }

    /// A move of the first of these words to the second, which may be a folder.
    pub(super) fn moved<'w>(&self, mut words: impl Iterator<Item = &'w str>) -> Option<Effect> {
        let (from, to) = (words.next()?, words.next()?);
        Some(Effect::Move { from: self.file(from)?, to: self.file(&into(from, to))? })
    }
}

/// A program with its arguments.
struct Call<'c> {
    command: &'c Simple,
    program: &'c str,
    /// The program without its folder.
    name: &'c str,
    arguments: &'c [String],
}

impl<'c> Call<'c> {
    /// The arguments that are no flags.
    fn plain(&self) -> impl Iterator<Item = &'c String> + use<'c> {
        self.arguments.iter().filter(|word| !word.starts_with('-'))
    }

    /// Whether there is a flag of one letter, alone or among others.
    fn has_flag(&self, letter: char) -> bool {
        let is_flag = |word: &str| word.starts_with('-') && !word.starts_with("--") && word.contains(letter);
        self.arguments.iter().any(|word| is_flag(word) || letter == 'i' && word.starts_with("--in-place"))
    }

    /// What a tool does to its files.
    fn change(&self, does: Does) -> Vec<Effect> {
        let mut words = self.plain().map(String::as_str);
        let file = |word: &str| self.command.file(word);
        match does {
            Does::Write => words.filter_map(file).map(Effect::Write).collect(),
            Does::Edit(flags) => {
                let given = self.arguments.iter().any(|word| flags.contains(&word.as_str()));
                self.behind_flags().skip(usize::from(!given)).filter_map(file).map(Effect::Edit).collect()
            }
            Does::Copy => {
                words.next().zip(words.next()).and_then(|(from, to)| self.copied(from, to)).into_iter().collect()
            }
            Does::Move => self.command.moved(words).into_iter().collect(),
            // What is in a folder is not known.
            Does::Remove if self.has_flag('r') || self.has_flag('R') => Vec::new(),
            Does::Remove => words.filter_map(|word| self.command.any_file(word)).map(Effect::Remove).collect(),
            Does::Git => git_effects(self.arguments, self.command),
        }
    }

    /// The arguments that are neither flags nor the scripts behind flags.
    fn behind_flags(&self) -> impl Iterator<Item = &'c str> {
        let before = std::iter::once("").chain(self.arguments.iter().map(String::as_str));
        let words = self.arguments.iter().map(String::as_str).zip(before);
        let plain = |word: &str| !word.starts_with('-') && !word.is_empty();
        words.filter(move |(word, before)| plain(word) && !matches!(*before, "-e" | "-f")).map(|(word, _)| word)
    }

    /// A copy beside a file, made to return to it, is no change.
    fn copied(&self, from: &str, to: &str) -> Option<Effect> {
        let backup = to.starts_with(from) && BACKUPS.iter().any(|end| to.ends_with(end));
        if backup { None } else { self.command.file(&into(from, to)).map(Effect::Write) }
    }

    /// What a program that is no tool does: it checks, or runs a script.
    fn run(&self) -> Vec<Effect> {
        if let Some(run) = check(self.name, self.arguments) {
            return vec![Effect::Check(run)];
        }
        if scripts::is_interpreter(self.name) {
            return self.interpret();
        }
        let script = if self.program.contains('/') { self.command.any_file(self.program) } else { None };
        script.map(Effect::RunScript).into_iter().collect()
    }

    /// What an interpreter does: it runs a script, or a text in its arguments or its input.
    fn interpret(&self) -> Vec<Effect> {
        let edits = |body: &String| -> Vec<Effect> {
            self.command.files_written(self.name, body).into_iter().map(Effect::Edit).collect()
        };
        let is_text = |word: &str| matches!(word, "-c" | "-e" | "-lc");
        let mut words =
            self.arguments.iter().skip_while(|word| word.starts_with('-') && *word != "-" && !is_text(word));
        match words.next() {
            Some(flag) if is_text(flag) => words.next().map(edits).unwrap_or_default(),
            Some(path) if path != "-" => self.command.any_file(path).map(Effect::RunScript).into_iter().collect(),
            _ => self.command.input.as_ref().map(edits).unwrap_or_default(),
        }
    }
}

/// The path of `from` after a move to `to`, which may be a folder.
fn into(from: &str, to: &str) -> String {
    if to.ends_with('/') { format!("{to}{}", paths::name(from)) } else { to.to_owned() }
}

/// The program and its arguments, without variables, wrappers and runners in front:
/// `RUST_LOG=debug timeout 60 uv run pytest -q tests` is `pytest -q tests`.
fn unwrapped(mut words: &[String]) -> &[String] {
    while let Some((first, rest)) = words.split_first() {
        let (name, next) = (paths::name(first), rest.first().map_or("", String::as_str));
        let is_variable = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let sets = first.split_once('=').is_some_and(|(name, _)| is_variable(name));
        let runs_check = || name.starts_with("python") && check(paths::name(next), &[]).is_some();
        if sets {
            words = rest;
        } else if WRAPPERS.contains(&name) {
            let flags = rest.iter().take_while(|word| word.starts_with('-')).count();
            words = rest.get(flags + usize::from(name == "timeout")..).unwrap_or_default();
        } else if RUNNERS.iter().any(|(runners, verb)| runners.contains(&name) && *verb == next) {
            words = &rest[1..];
        } else if runs_check() {
            words = rest;
        } else {
            break;
        }
    }
    words
}

/// The check that this program with these arguments is.
fn check(program: &str, arguments: &[String]) -> Option<Run> {
    let (_, verbs) = CHECKS.iter().find(|(programs, _)| programs.contains(&program))?;
    let word = |at: usize| arguments.get(at).map_or("", String::as_str);
    let is_script = PACKAGES.contains(&program) && matches!(word(0), "run" | "run-script");
    let verb = arguments.iter().find(|word| !word.starts_with('+')).map_or("", String::as_str);
    let checks = match is_script {
        true => SCRIPTS.iter().any(|part| word(1).contains(part)),
        false => verbs.is_empty() || verbs.contains(&verb),
    };
    let idle = program != "pytest" && arguments.iter().any(|word| IDLE.contains(&word.as_str()));
    if !checks || idle {
        return None;
    }
    let own = usize::from(!verbs.is_empty()) + usize::from(is_script);
    let command = std::iter::once(program).chain(arguments.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
    Some(Run { command, targets: targets(arguments.get(own..).unwrap_or_default()) })
}

fn targets(arguments: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    let mut before = "";
    for word in arguments {
        let is_number = || word.bytes().all(|byte| byte.is_ascii_digit());
        if NARROW.contains(&before) {
            found.push(word.clone());
        } else if let Some((flag, value)) = word.split_once('=').filter(|(flag, _)| flag.starts_with('-')) {
            found.extend(NARROW.contains(&flag).then(|| value.to_owned()));
        } else if !word.starts_with('-') && !matches!(word.as_str(), "." | "./..." | "--" | "run") && !is_number() {
            found.push(word.clone());
        }
        before = word;
    }
    found
}

// What `git` commands do to files and to the history, and which files their output names as changed.

/// What `git` with these arguments of `command` does.
fn git_effects(arguments: &[String], command: &Simple) -> Vec<Effect> {
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
    use super::{Effect, Run, changes, effects};

    fn written(line: &str) -> Vec<String> {
        let path = |effect| if let Effect::Write(path) | Effect::Edit(path) = effect { Some(path) } else { None };
        effects(line).into_iter().filter_map(path).collect()
    }

    #[test]
    fn files_that_commands_write_are_found() {
        for (line, expected) in [
            ("cd /r && sed -i 's/a/b/' src/x.py", &["/r/src/x.py"][..]),
            ("sed -i.bak -e 's/a/b/' x y", &["x", "y"]),
            ("sed -n 1,20p x", &[]),
            ("perl -pi -e 's/a/b/' x", &["x"]),
            ("cat > src/new.py <<'EOF'\nrm y\nEOF", &["src/new.py"]),
            ("echo x | tee -a log.txt", &["log.txt"]),
            ("cp a.py b/", &["b/a.py"]),
            ("cp a.py a.py.bak", &[]),
            ("cd r && python3 - <<'EOF'\nopen('a.py', 'w')\nEOF", &["r/a.py"]),
            ("node -e \"fs.writeFileSync('a.js', x)\"", &["a.js"]),
            ("grep x y > /tmp/out 2>&1", &[]),
        ] {
            assert_eq!(written(line), expected, "{line}");
        }
    }

    #[test]
    fn scripts_are_known_by_what_they_write() {
        let (path, writes) = (String::from("/tmp/fix.py"), vec![String::from("/r/a.py")]);
        let ran = Effect::RunScript(path.clone());
        let line = "cd /r && cat > /tmp/fix.py <<'EOF'\nopen('a.py', 'w').write(x)\nEOF\npython3 /tmp/fix.py a";
        assert_eq!(effects(line), [Effect::Script { path, writes }, ran]);
        assert_eq!(effects("./fix.sh"), [Effect::RunScript("fix.sh".into())]);
    }

    #[test]
    fn checks_are_known_by_their_programs() {
        for (line, command, targets) in [
            (
                "cd /r && RUST_LOG=x timeout 60 cargo test --lib parse 2>&1 | tail -5",
                "cargo test --lib parse",
                &["parse"][..],
            ),
            ("python -m pytest -q tests/a.py::x", "pytest -q tests/a.py::x", &["tests/a.py::x"]),
            ("python tests/runtests.py basic", "runtests.py basic", &["basic"]),
            ("npm run test:unit", "npm run test:unit", &[]),
            ("go test ./... -run TestA", "go test ./... -run TestA", &["TestA"]),
            ("./gradlew test", "gradlew test", &["test"]),
            ("npx vitest run", "vitest run", &[]),
        ] {
            let run = Run { command: command.into(), targets: targets.iter().map(|&t| t.to_owned()).collect() };
            assert_eq!(effects(line), [Effect::Check(run)], "{line}");
        }
        for line in ["npm install", "go run .", "cargo fmt", "npm run dev", "git log", "echo pytest"] {
            assert_eq!(effects(line), [], "{line}");
        }
    }

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
