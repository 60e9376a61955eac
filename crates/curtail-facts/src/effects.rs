//! What shell commands and scripts do to files and to the history of a repository, and which of them build or test.
//! The known programs are in `programs.toml`.

use super::programs::{CheckProgram, FileAction, FileProgram, PROGRAMS, is_interpreter, lists};
use super::shell::{Simple, commands};
use super::{outcomes, paths, scripts};

/// An effect of a command, or of another call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Effect {
    /// Changes a file, or writes the `whole` file; `edit` is a digest of the text that it replaces and one of the text that it
    /// writes, if both are known.
    Change { path: String, edit: Option<(u32, u32)>, whole: bool },
    /// Removes a file.
    Remove(String),
    /// Gives a file another path.
    Move { from: String, to: String },
    /// Commits what was changed; the subject is `None` if the command does not contain it.
    Commit { subject: Option<String>, amend: bool },
    /// Discards uncommitted changes: of these files, or of all if `None`.
    Restore(Option<Vec<String>>),
    /// Adds these files to version control.
    Add(Vec<String>),
    /// Prints the files that version control lists as changed.
    Changes,
    /// Writes a script that changes these files when it is run.
    Script { path: String, writes: Vec<String> },
    /// Runs a script.
    RunScript(String),
    /// Builds or tests.
    Check(CheckRun),
}

impl Effect {
    /// Writes a whole file.
    fn write(path: String) -> Self {
        Self::Change { path, edit: None, whole: true }
    }

    /// Changes a part of a file.
    fn edit(path: String) -> Self {
        Self::Change { path, edit: None, whole: false }
    }

    /// Writes a script at `path`, which `writes` these files; `None` if the script changes no files.
    pub(super) fn script(path: String, writes: Vec<String>) -> Option<Self> {
        (!writes.is_empty()).then_some(Self::Script { path, writes })
    }
}

/// A run of a build or of tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CheckRun {
    /// The command without variables, wrappers and redirections.
    pub(super) command: String,
    /// The files, packages or tests that it is limited to; empty if it checks everything.
    pub(super) targets: Vec<String>,
}

/// A simple command of a line, without what wraps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PlainCommand {
    /// The program and its arguments.
    pub(super) words: Vec<String>,
    /// Whether it only shows text, or its effect is known: a file that it changes, a check that it runs.
    pub(super) is_told: bool,
}

/// The simple commands of a line, without folders, variables, wrappers and runners in front of them.
pub(super) fn plain_commands(line: &str) -> Vec<PlainCommand> {
    let plain = |command: &Simple| {
        let words = unwrapped(&command.words).to_vec();
        let program = words.first().map(|program| paths::name(program))?;
        let is_told = lists(&PROGRAMS.viewers, program) || !effects_of(command).is_empty();
        Some(PlainCommand { words, is_told })
    };
    commands(line).iter().filter_map(plain).collect()
}

/// The files that commands of the line show.
pub(super) fn shown_files(line: &str) -> Vec<String> {
    const SHOWS: &[&str] = &["cat", "head", "tail", "less", "sed", "bat", "nl"];
    let mut found = Vec::new();
    for command in commands(line) {
        let words = unwrapped(&command.words);
        let Some((program, arguments)) = words.split_first() else { continue };
        let skipped = usize::from(program == "sed");
        if SHOWS.contains(&paths::name(program)) && effects_of(&command).is_empty() {
            let operands = arguments
                .iter()
                .filter(|word| !word.starts_with('-') && !word.bytes().all(|byte| byte.is_ascii_digit()));
            found.extend(operands.skip(skipped).filter_map(|word| command.file(word)));
        }
    }
    found
}

/// What the command line does, in order.
pub(super) fn effects(line: &str) -> Vec<Effect> {
    commands(line).iter().flat_map(effects_of).collect()
}

/// The files that the script `text` writes: those that it opens for writing, or those that the commands of a shell script write.
/// `place` is its path, or the program that runs it.
pub(super) fn files_written_by(place: &str, text: &str) -> Vec<String> {
    let text = &text[..text.floor_char_boundary(scripts::MAX_SCRIPT)];
    let name = paths::name(place);
    if !lists(&PROGRAMS.shells, paths::extension(name)) {
        return scripts::opened_files(name, text);
    }
    let mut found: Vec<String> = Vec::new();
    for effect in effects(text) {
        if let Effect::Change { path, .. } = effect {
            scripts::add(&mut found, &path);
        }
    }
    found
}

/// Whether the line runs a program whose output may be that of a check, even if `CHECKS` does not list it.
pub(super) fn may_check(line: &str) -> bool {
    commands(line).iter().any(|command| {
        let words = unwrapped(&command.words);
        words.first().is_some_and(|program| !lists(&PROGRAMS.viewers, paths::name(program)))
    })
}

fn effects_of(command: &Simple) -> Vec<Effect> {
    let mut found: Vec<Effect> =
        command.writes.iter().filter_map(|word| command.file(word)).map(Effect::write).collect();
    let Some((program, arguments)) = unwrapped(&command.words).split_first() else { return found };
    let call = Call { command, program, name: paths::name(program), arguments };
    if let Some(body) = &command.input {
        let written = command.writes.iter().chain(call.operands().filter(|_| program == "tee"));
        found.extend(written.filter_map(|path| command.script(path, body)));
    }
    let changing = PROGRAMS.files.iter().find(|listed| listed.applies_to(&call));
    found.extend(changing.map_or_else(|| call.run(), |listed| call.change(listed)));
    found
}

impl FileProgram {
    fn applies_to(&self, call: &Call<'_>) -> bool {
        self.program == call.name && self.flags.chars().all(|flag| call.has_flag(flag))
    }
}

impl Simple {
    /// The file that a word names, resolved against the command's folder; `None` in a folder of temporary files.
    pub(super) fn file(&self, word: &str) -> Option<String> {
        paths::project_path(word).map(|path| self.resolved(path))
    }

    /// Like [`Simple::file`], but also in a folder of temporary files, where scripts are often written, run and removed.
    fn any_file(&self, word: &str) -> Option<String> {
        paths::any_path(word).map(|path| self.resolved(path))
    }

    fn resolved(&self, path: &str) -> String {
        paths::resolved(self.folder.as_deref(), path)
    }

    /// The files that `body` changes when it is run. `place` is the path of the script, or the program that runs it.
    fn files_written(&self, place: &str, body: &str) -> Vec<String> {
        files_written_by(place, body).iter().map(|file| self.resolved(file)).collect()
    }

    /// The effect of writing `body` to a script at `word`; `None` if the script changes no files.
    fn script(&self, word: &str, body: &str) -> Option<Effect> {
        let path = paths::any_path(word)?;
        Effect::script(self.resolved(path), self.files_written(path, body))
    }

    /// The effects of moving all of these words but the last to that one, which is a folder if there are several.
    fn moved<'w>(&self, words: impl Iterator<Item = &'w str>) -> Vec<Effect> {
        let words: Vec<&str> = words.collect();
        let Some((to, moved)) = words.split_last() else { return Vec::new() };
        let folder = if moved.len() > 1 { format!("{}/", to.trim_end_matches('/')) } else { (*to).to_owned() };
        let effect =
            |from: &&str| Some(Effect::Move { from: self.file(from)?, to: self.file(&destination(from, &folder))? });
        moved.iter().filter_map(effect).collect()
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
    /// The arguments that are not flags.
    fn operands(&self) -> impl Iterator<Item = &'c String> + use<'c> {
        self.arguments.iter().filter(|word| !word.starts_with('-'))
    }

    /// Whether the one-letter flag is set, alone or combined with others.
    fn has_flag(&self, letter: char) -> bool {
        let is_flag = |word: &str| word.starts_with('-') && !word.starts_with("--") && word.contains(letter);
        self.arguments.iter().any(|word| is_flag(word) || letter == 'i' && word.starts_with("--in-place"))
    }

    /// The effects of a listed program on its files.
    fn change(&self, listed: &FileProgram) -> Vec<Effect> {
        let mut words = self.operands().map(String::as_str);
        let file = |word: &str| self.command.file(word);
        match listed.does {
            FileAction::Write => words.filter_map(file).map(Effect::write).collect(),
            FileAction::Edit => {
                let has_script_flag = self.arguments.iter().any(|word| lists(&listed.scripts, word));
                self.files_and_script().skip(usize::from(!has_script_flag)).filter_map(file).map(Effect::edit).collect()
            }
            FileAction::Copy => {
                words.next().zip(words.next()).and_then(|(from, to)| self.copied(from, to)).into_iter().collect()
            }
            FileAction::Move => self.command.moved(words),
            // The files in the folder are unknown.
            FileAction::Remove if self.has_flag('r') || self.has_flag('R') => Vec::new(),
            FileAction::Remove => words.filter_map(|word| self.command.any_file(word)).map(Effect::Remove).collect(),
            FileAction::Git => git_effects(self.arguments, self.command),
        }
    }

    /// The operands, without the script that follows `-e` or `-f`. If there is no such flag, the first one is the script.
    fn files_and_script(&self) -> impl Iterator<Item = &'c str> {
        let before = std::iter::once("").chain(self.arguments.iter().map(String::as_str));
        let words = self.arguments.iter().map(String::as_str).zip(before);
        let plain = |word: &str| !word.starts_with('-') && !word.is_empty();
        words.filter(move |(word, before)| plain(word) && !matches!(*before, "-e" | "-f")).map(|(word, _)| word)
    }

    /// The effect of a copy; `None` if it is a backup beside the original.
    fn copied(&self, from: &str, to: &str) -> Option<Effect> {
        let backup = to.starts_with(from) && PROGRAMS.backups.iter().any(|end| to.ends_with(end.as_str()));
        if backup { None } else { self.command.file(&destination(from, to)).map(Effect::write) }
    }

    /// The effects of a program that changes no files in its arguments: it may be a check, or a script.
    fn run(&self) -> Vec<Effect> {
        if let Some(run) = check(self.name, self.arguments) {
            return vec![Effect::Check(run)];
        }
        if is_interpreter(self.name) {
            return self.interpret();
        }
        let script = if self.program.contains('/') { self.command.any_file(self.program) } else { None };
        script.map(Effect::RunScript).into_iter().collect()
    }

    /// The effects of an interpreter: it runs a script file, or code in its arguments or its input.
    fn interpret(&self) -> Vec<Effect> {
        let edits = |body: &String| -> Vec<Effect> {
            self.command.files_written(self.name, body).into_iter().map(Effect::edit).collect()
        };
        let is_code_flag = |word: &str| matches!(word, "-c" | "-e" | "-lc");
        let mut words =
            self.arguments.iter().skip_while(|word| word.starts_with('-') && *word != "-" && !is_code_flag(word));
        match words.next() {
            Some(flag) if is_code_flag(flag) => words.next().map(edits).unwrap_or_default(),
            Some(path) if path != "-" => self.command.any_file(path).map(Effect::RunScript).into_iter().collect(),
            _ => self.command.input.as_ref().map(edits).unwrap_or_default(),
        }
    }
}

/// The path of `from` after a move to `to`, which may be a folder: a name without an ending is one, unless the move removes
/// the ending.
fn destination(from: &str, to: &str) -> String {
    let name = paths::name(from);
    let last = paths::name(to);
    let is_folder = to.ends_with('/') || name.contains('.') && !last.contains('.') && !name.starts_with(last);
    if is_folder { format!("{}/{name}", to.trim_end_matches('/')) } else { to.to_owned() }
}

/// The program and its arguments, without variables, wrappers and runners in front:
/// `RUST_LOG=debug timeout 60 uv run pytest -q tests` is `pytest -q tests`.
fn unwrapped(mut words: &[String]) -> &[String] {
    while let Some((first, rest)) = words.split_first() {
        let name = paths::name(first);
        let next = rest.first().map_or("", String::as_str);
        let is_variable = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let is_assignment = first.split_once('=').is_some_and(|(name, _)| is_variable(name));
        let runs_check = || name.starts_with("python") && check(paths::name(next), &[]).is_some();
        if is_assignment {
            words = rest;
        } else if lists(&PROGRAMS.wrappers, name) {
            let flags = rest.iter().take_while(|word| word.starts_with('-')).count();
            words = rest.get(flags + usize::from(name == "timeout")..).unwrap_or_default();
        } else if PROGRAMS.runners.iter().any(|runner| lists(&runner.programs, name) && runner.verb == next) {
            words = &rest[1..];
        } else if runs_check() {
            words = rest;
        } else {
            break;
        }
    }
    words
}

/// The check that the program runs with these arguments; `None` if it runs none.
fn check(program: &str, arguments: &[String]) -> Option<CheckRun> {
    let CheckProgram { verbs, .. } = PROGRAMS.checks.iter().find(|listed| lists(&listed.programs, program))?;
    let word = |at: usize| arguments.get(at).map_or("", String::as_str);
    let is_script = lists(&PROGRAMS.package_managers, program) && matches!(word(0), "run" | "run-script");
    let verb = arguments.iter().find(|word| !word.starts_with('+')).map_or("", String::as_str);
    let checks = match is_script {
        true => PROGRAMS.check_scripts.iter().any(|part| word(1).contains(part.as_str())),
        false => verbs.is_empty() || lists(verbs, verb),
    };
    let idle = program != "pytest" && arguments.iter().any(|word| lists(&PROGRAMS.idle_flags, word));
    if !checks || idle {
        return None;
    }
    let subcommands = usize::from(!verbs.is_empty()) + usize::from(is_script);
    let command = std::iter::once(program).chain(arguments.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
    Some(CheckRun { command, targets: targets(arguments.get(subcommands..).unwrap_or_default()) })
}

/// The operands of a check, and the values of flags that narrow it.
fn targets(arguments: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    let mut before = "";
    for word in arguments {
        let is_number = || word.bytes().all(|byte| byte.is_ascii_digit());
        if lists(&PROGRAMS.narrowing_flags, before) {
            found.push(word.clone());
        } else if let Some((flag, value)) = word.split_once('=').filter(|(flag, _)| flag.starts_with('-')) {
            found.extend(lists(&PROGRAMS.narrowing_flags, flag).then(|| value.to_owned()));
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
    let mut folder = command.folder.clone();
    while let [flag, value, rest @ ..] = words
        && matches!(flag.as_str(), "-C" | "-c")
    {
        if flag == "-C" {
            folder = Some(paths::resolved(folder.as_deref(), value));
        }
        words = rest;
    }
    let command = &Simple { folder, ..command.clone() };
    let words: Vec<&String> = words.iter().skip_while(|word| word.as_str() == "--no-pager").collect();
    let Some((verb, rest)) = words.split_first() else { return Vec::new() };
    let has = |flags: &[&str]| rest.iter().any(|word| flags.contains(&word.as_str()));
    let plain = || rest.iter().map(|word| word.as_str()).filter(|word| !word.starts_with('-'));
    let files = || -> Vec<String> { plain().filter_map(|word| command.file(word)).collect() };
    match verb.as_str() {
        "commit" if !has(&["--dry-run"]) => vec![Effect::Commit { subject: subject(rest), amend: has(&["--amend"]) }],
        "mv" => command.moved(plain()),
        "rm" if !has(&["--cached"]) => files().into_iter().map(Effect::Remove).collect(),
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
    let output = outcomes::unwrapped(result);
    let mut found: Vec<(String, bool)> = Vec::new();
    for line in output.lines() {
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
    use super::{CheckRun, Effect, PROGRAMS, changes, effects, files_written_by};

    fn written(line: &str) -> Vec<String> {
        let path = |effect| if let Effect::Change { path, .. } = effect { Some(path) } else { None };
        effects(line).into_iter().filter_map(path).collect()
    }

    #[test]
    fn the_table_is_valid() {
        assert!(!PROGRAMS.checks.is_empty());
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
    fn scripts_are_recognized_by_what_they_write() {
        let path = String::from("/tmp/fix.py");
        let writes = vec![String::from("/r/a.py")];
        let ran = Effect::RunScript(path.clone());
        let line = "cd /r && cat > /tmp/fix.py <<'EOF'\nopen('a.py', 'w').write(x)\nEOF\npython3 /tmp/fix.py a";
        assert_eq!(effects(line), [Effect::Script { path, writes }, ran]);
        assert_eq!(effects("./fix.sh"), [Effect::RunScript("fix.sh".into())]);
    }

    #[test]
    fn checks_are_recognized_by_their_programs() {
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
            let run = CheckRun { command: command.into(), targets: targets.iter().map(|&t| t.to_owned()).collect() };
            assert_eq!(effects(line), [Effect::Check(run)], "{line}");
        }
        for line in ["npm install", "go run .", "cargo fmt", "npm run dev", "git log", "echo pytest"] {
            assert_eq!(effects(line), [], "{line}");
        }
    }

    #[test]
    fn git_moves_removes_restores_and_commits() {
        let commit = |subject: Option<&str>, amend| Effect::Commit { subject: subject.map(str::to_owned), amend };
        let moved = |from: &str, to: &str| Effect::Move { from: from.into(), to: to.into() };
        for (line, expected) in [
            ("git mv a.rs b/", vec![Effect::Move { from: "a.rs".into(), to: "b/a.rs".into() }]),
            ("git mv a.rs b.rs lib", vec![moved("a.rs", "lib/a.rs"), moved("b.rs", "lib/b.rs")]),
            ("mv a.rs b.rs ./lib/", vec![moved("a.rs", "lib/a.rs"), moved("b.rs", "lib/b.rs")]),
            ("mv src/a.rs lib", vec![moved("src/a.rs", "lib/a.rs")]),
            ("mv Makefile.new Makefile", vec![moved("Makefile.new", "Makefile")]),
            ("mv src/old src/new", vec![moved("src/old", "src/new")]),
            ("cd /r && mv -f a.rs b.rs", vec![moved("/r/a.rs", "/r/b.rs")]),
            ("git -C /r mv a.rs b.rs", vec![moved("/r/a.rs", "/r/b.rs")]),
            ("git -C /r -C sub -c x=y rm a.rs", vec![Effect::Remove("/r/sub/a.rs".into())]),
            ("cd /r && git -C sub add a.rs", vec![Effect::Add(vec!["/r/sub/a.rs".into()])]),
            ("git -C /r checkout -- a.rs", vec![Effect::Restore(Some(vec!["/r/a.rs".into()]))]),
            ("git -C /r commit -m One", vec![commit(Some("One"), false)]),
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

    #[test]
    fn files_that_a_script_writes_are_found() {
        for (place, text, expected) in [
            (
                "fix.py",
                "with open('src/a.py', 'r') as f:\n    x = f.read()\nwith open('src/a.py', 'w') as f:\n    f.write(x)",
                &["src/a.py"][..],
            ),
            ("fix.py", "path = \"src/a.py\"\nwith open(path, mode=\"w\") as f: pass\nopen(other, 'w')", &["src/a.py"]),
            (
                "python3",
                "p = Path('a.py')\np.write_text(p.read_text())\nPath(\"b.py\").write_text('')",
                &["a.py", "b.py"],
            ),
            ("fix.js", "const file = 'a.ts';\nfs.writeFileSync(file, x);\nfs.readFileSync('b.ts')", &["a.ts"]),
            ("fix.sh", "cd src\nsed -i s/a/b/ x.rs\ncat > /tmp/y <<E\nE\n", &["src/x.rs"]),
            ("fix.py", "open(f'{root}/a.py', 'w'); open('/tmp/x', 'w'); reopen('z', 'w'); open('b' + '.py', 'w')", &[]),
            ("notes.md", "open('a.py', 'w')", &[]),
        ] {
            assert_eq!(files_written_by(place, text), expected, "{text}");
        }
    }
}
