//! What shell commands do to files, to the history of a repository, and which of them are checks.
//! The rules are tables of programs. Nothing is run: a program that is not listed has no known effect.

use super::paths::{self, below, path};
use super::shell::{self, Simple};
use super::{git, scripts};

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
    /// Takes back changes that were not committed, of these files or of all.
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

/// Programs that run the program after them, with the number of their own arguments.
const WRAPPERS: &[(&str, usize)] = &[
    ("sudo", 0),
    ("env", 0),
    ("time", 0),
    ("timeout", 1),
    ("nice", 0),
    ("nohup", 0),
    ("npx", 0),
    ("bunx", 0),
    ("uvx", 0),
    ("command", 0),
    ("exec", 0),
    ("xvfb-run", 0),
    ("then", 0),
    ("do", 0),
    ("else", 0),
    ("if", 0),
    ("!", 0),
];

/// The same for programs of two words, such as `uv run`.
const RUNNERS: &[(&str, &str)] = &[
    ("uv", "run"),
    ("poetry", "run"),
    ("pipenv", "run"),
    ("hatch", "run"),
    ("pdm", "run"),
    ("bundle", "exec"),
    ("pnpm", "exec"),
    ("yarn", "exec"),
    ("npm", "exec"),
    ("python", "-m"),
    ("python3", "-m"),
    ("mise", "exec"),
];

/// Programs that check, each with the first arguments that make it a check; without any, it always is one.
const CHECKS: &[(&str, &[&str])] = &[
    ("pytest", &[]),
    ("py.test", &[]),
    ("unittest", &[]),
    ("tox", &[]),
    ("nox", &[]),
    ("mypy", &[]),
    ("pyright", &[]),
    ("ruff", &["check"]),
    ("flake8", &[]),
    ("cargo", &["test", "t", "build", "b", "check", "c", "clippy", "nextest"]),
    ("go", &["test", "build", "vet"]),
    ("golangci-lint", &["run"]),
    ("jest", &[]),
    ("vitest", &[]),
    ("mocha", &[]),
    ("tsc", &[]),
    ("eslint", &[]),
    ("npm", &["test", "t"]),
    ("yarn", &["test", "build", "lint", "typecheck", "check"]),
    ("pnpm", &["test", "build", "lint", "typecheck", "check"]),
    ("bun", &["test"]),
    ("deno", &["test", "check", "lint"]),
    ("node", &["--test"]),
    ("make", &[]),
    ("gmake", &[]),
    ("ninja", &[]),
    ("cmake", &["--build"]),
    ("ctest", &[]),
    ("bazel", &["test", "build"]),
    ("mvn", &[]),
    ("mvnw", &[]),
    ("gradle", &[]),
    ("gradlew", &[]),
    ("sbt", &["test", "compile"]),
    ("dotnet", &["test", "build"]),
    ("swift", &["test", "build"]),
    ("mix", &["test", "compile"]),
    ("rspec", &[]),
    ("phpunit", &[]),
    ("prove", &[]),
    ("bats", &[]),
    ("zig", &["build", "test"]),
    ("just", &[]),
    ("runtests.py", &[]),
    ("bin/test", &[]),
    ("flutter", &["test", "analyze"]),
    ("terraform", &["validate"]),
];

/// Words in the name of a script by which it is a check: `npm run test:unit`.
const SCRIPTS: &[&str] = &["test", "build", "lint", "check", "tsc"];

/// Programs that only show something: what they print is another program's output.
const SHOWS: &[&str] = &[
    "cat", "head", "tail", "grep", "rg", "less", "sed", "awk", "ls", "find", "git", "echo", "cd", "wc", "sort", "diff",
    "gh",
];

/// Flags whose value narrows a check.
const NARROW: &[&str] =
    &["-k", "-m", "-run", "--run", "-t", "--test", "-p", "--package", "--testNamePattern", "--tests", "-Dtest"];

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
    let folder = command.folder.as_deref();
    let file = |text: &str| path(text).map(|path| below(folder, path));
    let mut found: Vec<Effect> = command.writes.iter().filter_map(|text| file(text)).map(Effect::Write).collect();
    let words = unwrapped(&command.words);
    let Some((program, arguments)) = words.split_first() else { return found };
    let plain = || arguments.iter().filter(|word| !word.starts_with('-'));
    let files = || plain().filter_map(|text| file(text));
    if let Some(body) = &command.input {
        let written = command.writes.iter().chain(plain().filter(|_| program == "tee"));
        found.extend(written.filter_map(|path| script_at(folder, path, body)));
    }
    let flagged = |letter: char| {
        arguments.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
    };
    match paths::name(program) {
        "tee" => found.extend(files().map(Effect::Write)),
        "sed" if flagged('i') || arguments.iter().any(|word| word.starts_with("--in-place")) => {
            let script = usize::from(!arguments.iter().any(|word| matches!(word.as_str(), "-e" | "-f")));
            found.extend(files_after_script(command, arguments, script).map(Effect::Edit));
        }
        "perl" if flagged('i') && flagged('e') => {
            let script = usize::from(!arguments.iter().any(|word| word == "-e"));
            found.extend(files_after_script(command, arguments, script).map(Effect::Edit));
        }
        "cp" => found.extend(plain().nth(1).and_then(|to| copied(plain().next()?, to, &file))),
        "mv" => found.extend(moved(plain().map(String::as_str), &file)),
        "rm" if !flagged('r') && !flagged('R') => found.extend(plain().filter_map(|text| removed(folder, text))),
        "git" => found.extend(git::effects(arguments, &file)),
        name if scripts::is_interpreter(name) && check(name, arguments).is_none() => {
            found.extend(interpreted(name, arguments, command));
        }
        name => match check(name, arguments) {
            Some(run) => found.push(Effect::Check(run)),
            None if program.contains('/') => found.extend(paths::any(program).map(|path| run_script(folder, path))),
            None => {}
        },
    }
    found
}

/// A script with this text; `None` if it changes no files.
fn script_at(folder: Option<&str>, path: &str, body: &str) -> Option<Effect> {
    let path = paths::any(path)?;
    let writes: Vec<String> = scripts::writes(path, body).iter().map(|file| below(folder, file)).collect();
    (!writes.is_empty()).then(|| Effect::Script { path: below(folder, path), writes })
}

/// Scripts in a folder for scratch files are removed as others are.
fn removed(folder: Option<&str>, text: &str) -> Option<Effect> {
    paths::any(text).map(|path| Effect::Remove(below(folder, path)))
}

fn run_script(folder: Option<&str>, path: &str) -> Effect {
    Effect::RunScript(below(folder, path))
}

/// What an interpreter does: it runs a script, or a text in its arguments or its input.
fn interpreted(name: &str, arguments: &[String], command: &Simple) -> Vec<Effect> {
    let folder = command.folder.as_deref();
    let edits = |body: &str| -> Vec<Effect> {
        scripts::writes(name, body).iter().map(|file| Effect::Edit(below(folder, file))).collect()
    };
    match arguments.iter().find(|word| !word.starts_with('-') || matches!(word.as_str(), "-c" | "-e" | "-lc" | "-")) {
        Some(flag) if matches!(flag.as_str(), "-c" | "-e" | "-lc") => {
            arguments.iter().skip_while(|word| *word != flag).nth(1).map(|body| edits(body)).unwrap_or_default()
        }
        Some(path) if path != "-" => paths::any(path).map(|path| run_script(folder, path)).into_iter().collect(),
        _ => command.input.as_deref().map(edits).unwrap_or_default(),
    }
}

/// A copy beside a file, made to return to it, is no change.
fn copied(from: &str, to: &str, file: &dyn Fn(&str) -> Option<String>) -> Option<Effect> {
    const ENDS: [&str; 5] = [".bak", ".backup", ".orig", ".old", "~"];
    let backup = to.starts_with(from) && ENDS.iter().any(|end| to.ends_with(end));
    if backup { None } else { file(&into(from, to)).map(Effect::Write) }
}

/// The files behind the script of `sed` and its like.
fn files_after_script<'w>(
    command: &'w Simple,
    arguments: &'w [String],
    script: usize,
) -> impl Iterator<Item = String> + 'w {
    let plain = arguments.iter().enumerate().filter(|(at, word)| {
        let value = *at > 0 && matches!(arguments[at - 1].as_str(), "-e" | "-f");
        !word.starts_with('-') && !value && !word.is_empty()
    });
    plain.skip(script).filter_map(|(_, word)| path(word)).map(|path| below(command.folder.as_deref(), path))
}

/// The path of `from` after a move to `to`, which may be a folder.
fn into(from: &str, to: &str) -> String {
    if to.ends_with('/') { format!("{to}{}", paths::name(from)) } else { to.to_owned() }
}

pub(super) fn moved<'w>(
    mut words: impl Iterator<Item = &'w str>,
    file: &dyn Fn(&str) -> Option<String>,
) -> Option<Effect> {
    let (from, to) = (words.next()?, words.next()?);
    Some(Effect::Move { from: file(from)?, to: file(&into(from, to))? })
}

/// The program and its arguments, without variables, wrappers and runners in front:
/// `RUST_LOG=debug timeout 60 uv run pytest -q tests` is `pytest -q tests`.
fn unwrapped(words: &[String]) -> &[String] {
    let mut words = words;
    while let Some((first, rest)) = words.split_first() {
        let name = paths::name(first);
        let sets =
            first.split_once('=').is_some_and(|(name, _)| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'));
        if sets {
            words = rest;
        } else if let Some((_, own)) = WRAPPERS.iter().find(|(wrapper, _)| *wrapper == name) {
            let flags = rest.iter().take_while(|word| word.starts_with('-')).count();
            words = rest.get(flags + own..).unwrap_or_default();
        } else if RUNNERS.iter().any(|(runner, verb)| *runner == name && rest.first().is_some_and(|word| word == verb))
        {
            words = &rest[1..];
        } else if name.starts_with("python")
            && rest.first().is_some_and(|script| check(paths::name(script), &[]).is_some())
        {
            words = rest;
        } else {
            return words;
        }
    }
    words
}

/// The check that this program with these arguments is.
fn check(program: &str, arguments: &[String]) -> Option<Run> {
    let first = arguments.iter().find(|word| !word.starts_with('+')).map_or("", String::as_str);
    let (_, verbs) = CHECKS.iter().find(|(name, _)| *name == program).or_else(|| script(program, arguments))?;
    let own = usize::from(!verbs.is_empty());
    let is_script = runs_script(program, arguments);
    if !verbs.is_empty() && !verbs.contains(&first) && !is_script {
        return None;
    }
    if is_script && !arguments.get(1).is_some_and(|name| SCRIPTS.iter().any(|word| name.contains(word))) {
        return None;
    }
    if arguments
        .iter()
        .any(|word| matches!(word.as_str(), "--version" | "--help" | "--collect-only" | "-n" if program != "pytest"))
    {
        return None;
    }
    let rest = arguments.get(own + usize::from(is_script)..).unwrap_or_default();
    let command = std::iter::once(program).chain(arguments.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
    Some(Run { command, targets: targets(rest) })
}

/// A script of a package: `npm run test`.
fn script(program: &str, arguments: &[String]) -> Option<&'static (&'static str, &'static [&'static str])> {
    runs_script(program, arguments).then(|| CHECKS.iter().find(|(name, _)| *name == "npm"))?
}

fn runs_script(program: &str, arguments: &[String]) -> bool {
    let runs = arguments.first().is_some_and(|word| word == "run" || word == "run-script");
    runs && matches!(program, "npm" | "yarn" | "pnpm" | "bun")
}

fn targets(arguments: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for (at, word) in arguments.iter().enumerate() {
        let narrows = |word: &str| NARROW.contains(&word);
        if at > 0 && narrows(&arguments[at - 1]) {
            found.push(word.clone());
        } else if let Some((flag, value)) = word.split_once('=').filter(|(flag, _)| flag.starts_with('-')) {
            found.extend(narrows(flag).then(|| value.to_owned()));
        } else if !word.starts_with('-')
            && !matches!(word.as_str(), "." | "./..." | "--" | "run")
            && !word.bytes().all(|b| b.is_ascii_digit())
        {
            found.push(word.clone());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Effect, Run, effects};

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
}
