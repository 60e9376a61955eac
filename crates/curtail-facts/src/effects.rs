//! What shell commands and scripts do: which files they change, what they do to the history of a repository, which checks they run.
//! The known programs are in `programs.toml`.

use super::arguments::Arguments;
use super::checks::check;
use super::git::{self, git_effects};
use super::kinds::{CheckRun, Effect};
use super::patches::patch_effects;
use super::prefixes::without_prefixes;
use super::programs::{FileAction, FileProgram, PROGRAMS, is_interpreter, lists};
use super::shell::{Simple, commands};
use super::viewers::{git_arguments, writes_or_runs};
use super::{paths, scripts};

/// A simple command of a line, without what wraps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PlainCommand {
    /// The program and its arguments.
    pub(super) words: Vec<String>,
    /// Whether it only shows text and changes nothing, or its effect is known: a file that it changes, a check that it runs.
    pub(super) is_told: bool,
}

impl PlainCommand {
    /// Whether it is one of the viewers, whatever its flags do.
    fn views(&self) -> bool {
        self.words.first().is_some_and(|program| lists(&PROGRAMS.viewers, paths::name(program)))
    }
}

/// The simple commands of a line, without folders, variables, wrappers and runners in front of them.
pub(super) fn plain_commands(line: &str) -> Vec<PlainCommand> {
    let plain = commands(line).into_iter().filter_map(|command| {
        let words = without_prefixes(&command.words).to_vec();
        let views = lists(&PROGRAMS.viewers, paths::name(words.first()?));
        let is_told = views && !writes_or_runs(&words)
            || effects_of(&command).iter().any(|effect| !matches!(effect, Effect::RemoveBelow(_)));
        Some(PlainCommand { words, is_told })
    });
    plain.collect()
}

/// What a line runs whose effect no table knows, without what only shows its output.
pub(super) fn unlisted(line: &str) -> String {
    let plain = plain_commands(line);
    let is_known = plain.iter().all(|command| command.is_told || command.views());
    let kept = plain.iter().filter(|command| !command.views() && (is_known || !command.is_told));
    kept.map(|command| command.words.join(" ")).collect::<Vec<_>>().join(" && ")
}

/// The files that commands of the line show.
pub(super) fn shown_files(line: &str) -> Vec<String> {
    const SHOWS: &[&str] = &["cat", "head", "tail", "less", "sed", "bat", "nl"];
    let mut found = Vec::new();
    for command in commands(line) {
        let words = without_prefixes(&command.words);
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

/// Whether the line does nothing but apply patches.
pub(super) fn only_patches(line: &str) -> bool {
    let commands = commands(line);
    !commands.is_empty() && commands.iter().all(|command| command.words.first().is_some_and(|name| is_patcher(name)))
}

/// Whether a program applies patches in the format of `apply_patch`.
pub(super) fn is_patcher(program: &str) -> bool {
    paths::name(program) == "apply_patch"
}

/// Whether the line did nothing if it failed: it runs one command, which has one effect or applies a patch. Of several files, or in a
/// script, some may have been changed before the failure.
pub(super) fn is_whole_or_nothing(line: &str) -> bool {
    let commands = commands(line);
    let [command] = &commands[..] else { return false };
    let Some((program, arguments)) = without_prefixes(&command.words).split_first() else { return false };
    let call = Call { command, program, name: paths::name(program), arguments };
    match call.shell_script() {
        Some(script) => is_whole_or_nothing(script),
        None => {
            let effects = effects_of(command);
            let changes = effects.iter().filter(|effect| !matches!(effect, Effect::Add { .. })).count();
            is_patcher(program) || !is_interpreter(call.name) && changes <= 1
        }
    }
}

/// Whether the line runs a program whose output may be that of a check, even if no table lists it.
pub(super) fn may_check(line: &str) -> bool {
    commands(line).iter().any(|command| {
        let words = without_prefixes(&command.words);
        words.first().is_some_and(|program| !lists(&PROGRAMS.viewers, paths::name(program)))
    })
}

/// Whether the line is one command, which prints all of its output.
pub(super) fn is_one_command(line: &str) -> bool {
    let commands = commands(line);
    let [command] = &commands[..] else { return false };
    let Some((program, arguments)) = without_prefixes(&command.words).split_first() else { return false };
    let call = Call { command, program, name: paths::name(program), arguments };
    call.shell_script().is_none_or(is_one_command)
}

/// Whether the line only shows text, which may begin like an error.
pub(super) fn only_shows(line: &str) -> bool {
    !may_check(line) && !commands(line).iter().any(acts)
}

/// Whether a command of the viewers does something: it writes a file, or what its verb or its flags say does more than show text.
pub(super) fn acts(command: &Simple) -> bool {
    let words = without_prefixes(&command.words);
    command.is_redirected() || git_arguments(words).map_or_else(|| writes_or_runs(words), git::acts)
}

fn effects_of(command: &Simple) -> Vec<Effect> {
    let mut found: Vec<Effect> =
        command.writes.iter().filter_map(|word| command.file(word)).map(Effect::write).collect();
    let Some((program, arguments)) = without_prefixes(&command.words).split_first() else { return found };
    let call = Call { command, program, name: paths::name(program), arguments };
    if let Some(script) = call.shell_script() {
        found.extend(commands_in(script, command).iter().flat_map(effects_of));
        return found;
    }
    if let Some(body) = &command.input {
        let written = command.writes.iter().chain(call.operands().filter(|_| program == "tee"));
        found.extend(written.filter_map(|path| command.script(path, body)));
    }
    let changing = PROGRAMS.files.iter().find(|listed| listed.applies_to(&call));
    found.extend(changing.map_or_else(|| call.run(), |listed| call.change(listed)));
    found
}

/// The commands of a script that `outer` runs, in its folder.
fn commands_in(script: &str, outer: &Simple) -> Vec<Simple> {
    let mut inner = commands(script);
    for command in &mut inner {
        command.folder = match command.folder.take() {
            Some(folder) => Some(paths::resolved(outer.folder.as_deref(), &folder)),
            None => outer.folder.clone(),
        };
        command.status = command.status.max(outer.status);
        command.is_filtered |= outer.is_filtered;
    }
    inner
}

impl FileProgram {
    fn applies_to(&self, call: &Call<'_>) -> bool {
        if self.program != call.name {
            return false;
        }
        let arguments = Arguments::of(self, call.arguments);
        self.flags.chars().all(|flag| arguments.has(flag))
    }
}

impl Simple {
    /// The file that a word names, resolved against the command's folder; `None` in a folder of temporary files.
    pub(super) fn file(&self, word: &str) -> Option<String> {
        self.any_file(word).filter(|path| !paths::is_scratch(path))
    }

    /// Like [`Simple::file`], but also in a folder of temporary files, where scripts are often written, run and removed.
    fn any_file(&self, word: &str) -> Option<String> {
        paths::any_path(word).filter(|path| !paths::is_expanded(path)).map(|path| self.resolved(path))
    }

    /// The file or folder that a word names.
    pub(super) fn folder_at(&self, word: &str) -> Option<String> {
        self.any_file(word.trim_end_matches('/'))
    }

    pub(super) fn resolved(&self, path: &str) -> String {
        paths::resolved(self.folder.as_deref(), path)
    }

    /// The files that `body` changes when it is run. `place` is the path of the script, or the program that runs it.
    fn files_written(&self, place: &str, body: &str) -> Vec<String> {
        files_written_by(place, body).iter().map(|file| self.resolved(file)).collect()
    }

    /// The effect of writing `body` to a script at `word`; `None` if the script changes no files.
    fn script(&self, word: &str, body: &str) -> Option<Effect> {
        let path = paths::any_path(word).filter(|path| !paths::is_expanded(path))?;
        Effect::script(self.resolved(path), self.files_written(path, body))
    }

    /// The effects of moving all of these words but the last to that one, which is a folder if there are several.
    pub(super) fn moved<'w>(&self, words: impl Iterator<Item = &'w str>) -> Vec<Effect> {
        let words: Vec<&str> = words.collect();
        let Some((to, moved)) = words.split_last() else { return Vec::new() };
        let folder = if moved.len() > 1 { format!("{}/", to.trim_end_matches('/')) } else { (*to).to_owned() };
        let effects = moved.iter().filter_map(|from| {
            Some(Effect::Move { from: self.file(from)?, to: self.file(&destination(from, &folder))? })
        });
        effects.collect()
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

    /// The effects of a listed program on its files.
    fn change(&self, listed: &FileProgram) -> Vec<Effect> {
        let arguments = Arguments::of(listed, self.arguments);
        let words = arguments.operands.iter().copied();
        let file = |word: &str| self.command.file(word);
        match listed.does {
            FileAction::Write => words.filter_map(file).map(Effect::write).collect(),
            FileAction::Edit => {
                let has_script = listed.scripts.chars().any(|flag| arguments.has(flag));
                words.skip(usize::from(!has_script)).filter_map(file).map(Effect::edit).collect()
            }
            // The files in the folder are unknown.
            FileAction::Copy if "rRa".chars().any(|flag| arguments.has(flag)) => Vec::new(),
            FileAction::Copy => self.copied(&arguments.sources_and_target()),
            FileAction::Move => self.command.moved(arguments.sources_and_target().iter().map(String::as_str)),
            FileAction::Remove if arguments.has('r') || arguments.has('R') => {
                words.filter_map(|word| self.command.folder_at(word)).map(Effect::RemoveBelow).collect()
            }
            FileAction::Remove => words.filter_map(|word| self.command.any_file(word)).map(Effect::Remove).collect(),
            FileAction::Git => git_effects(self.arguments, self.command),
        }
    }

    /// The effects of copying all of these words but the last to that one, without backups beside the originals.
    fn copied(&self, words: &[String]) -> Vec<Effect> {
        let Some((to, copied)) = words.split_last() else { return Vec::new() };
        let is_backup = PROGRAMS.backups.iter().any(|end| to.ends_with(end.as_str()));
        let folder = if copied.len() > 1 { format!("{}/", to.trim_end_matches('/')) } else { to.clone() };
        let originals = copied.iter().filter(|from| !(is_backup && to.starts_with(from.as_str())));
        originals.filter_map(|from| self.command.file(&destination(from, &folder))).map(Effect::write).collect()
    }

    /// The effects of a program that changes no files in its arguments: it may be a check, or a script.
    fn run(&self) -> Vec<Effect> {
        if let Some(run) = check(self.name, self.arguments) {
            let is_quiet = run.is_quiet && self.command.writes.is_empty() && !self.command.is_filtered;
            return vec![Effect::Check(CheckRun { status: self.command.status, is_quiet, ..run })];
        }
        if is_patcher(self.program) {
            return self.patch();
        }
        if is_interpreter(self.name) {
            return self.interpret();
        }
        let script = if self.program.contains('/') { self.command.any_file(self.program) } else { None };
        script.map(Effect::RunScript).into_iter().collect()
    }

    /// The effects of a patch in the argument or in the input, in the folder of the command.
    fn patch(&self) -> Vec<Effect> {
        let Some(patch) = self.arguments.first().or(self.command.input.as_ref()) else { return Vec::new() };
        let below = patch_effects(patch).into_iter().map(|effect| match effect {
            Effect::Change { path, whole } => Effect::Change { path: self.command.resolved(&path), whole },
            Effect::Move { from, to } => {
                Effect::Move { from: self.command.resolved(&from), to: self.command.resolved(&to) }
            }
            Effect::Remove(path) => Effect::Remove(self.command.resolved(&path)),
            other => other,
        });
        below.collect()
    }

    /// The script of a shell that runs its argument: `bash -lc 'rm a.py'`. Before its flag, `-o` and `--rcfile` have a value.
    fn shell_script(&self) -> Option<&'c str> {
        let mut words = self.arguments.iter().filter(|_| lists(&PROGRAMS.shells, self.name));
        loop {
            match words.next()?.strip_prefix('-')? {
                "-rcfile" | "-init-file" => {
                    words.next();
                }
                long if long.starts_with('-') => {}
                flags if flags.ends_with('c') => return words.next().map(String::as_str),
                flags if flags.ends_with('o') => {
                    words.next();
                }
                _ => {}
            }
        }
    }

    /// The effects of an interpreter: it runs a script file, or code in its arguments or its input.
    fn interpret(&self) -> Vec<Effect> {
        // A shell with code in its arguments was read as commands.
        let is_code_flag = |word: &str| matches!(word, "-c" | "-e") && !lists(&PROGRAMS.shells, self.name);
        let mut words =
            self.arguments.iter().skip_while(|word| word.starts_with('-') && *word != "-" && !is_code_flag(word));
        let code = match words.next() {
            Some(flag) if is_code_flag(flag) => words.next(),
            Some(path) if path != "-" => {
                return self.command.any_file(path).map(Effect::RunScript).into_iter().collect();
            }
            _ => self.command.input.as_ref(),
        };
        let written = code.map(|code| self.command.files_written(self.name, code));
        written.unwrap_or_default().into_iter().map(Effect::edit).collect()
    }
}

/// The path of `from` after a move to `to`, which may be a folder: a name without an ending is one, unless the move removes
/// the ending.
fn destination(from: &str, to: &str) -> String {
    let name = paths::name(from);
    let last = paths::name(to);
    let is_folder = to.ends_with('/')
        || matches!(last, "." | "..")
        || name.contains('.') && !last.contains('.') && !name.starts_with(last);
    if is_folder { format!("{}/{name}", to.trim_end_matches('/')) } else { to.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::{Effect, PROGRAMS, effects, files_written_by, only_shows, plain_commands, unlisted};
    use crate::shell::LineStatus;

    fn written(line: &str) -> Vec<String> {
        let path = |effect| if let Effect::Change { path, .. } = effect { Some(path) } else { None };
        effects(line).into_iter().filter_map(path).collect()
    }

    #[test]
    fn the_table_is_valid() {
        assert!(!PROGRAMS.checks.is_empty());
    }

    #[test]
    fn what_a_shell_or_a_script_expands_is_no_path() {
        assert!(written("echo x > $OUT; touch a{1,2}.txt ${D}/b; sed -i s/a/b/ $f").is_empty());
        assert!(files_written_by("python3", "open(f'a{n}.txt', 'w')").is_empty());
        assert_eq!(written("echo x > a.txt; touch b.txt"), ["a.txt", "b.txt"]);
    }

    #[test]
    fn files_that_commands_remove_are_found() {
        for (line, expected) in [
            ("cd infra && rm -f main.tf", &["infra/main.tf"][..]),
            ("git rm -q a.py b.py", &["a.py", "b.py"]),
            ("rm -rf build/ && bash -lc 'rm a.py'", &["build", "a.py"]),
            ("git rm -rq docs/ && bash -eo pipefail -c 'rm a.py'", &["docs", "a.py"]),
            ("bash --noprofile --norc -c 'rm a.py'", &["a.py"]),
            ("bash --rcfile /dev/null -c 'rm a.py'", &["a.py"]),
            ("bash -e build.sh; bash run.sh -c 'rm a.py'", &[]),
            ("terraform plan main.tf; git commit -m 'rm a.py'; confirm a.py; npm run rm a.py", &[]),
        ] {
            let removed = effects(line).into_iter().filter_map(|effect| match effect {
                Effect::Remove(path) | Effect::RemoveBelow(path) => Some(path),
                _ => None,
            });
            assert_eq!(removed.collect::<Vec<_>>(), expected, "{line}");
        }
    }

    #[test]
    fn files_that_commands_write_are_found() {
        for (line, expected) in [
            ("cd /r && sed -i 's/a/b/' src/x.py", &["/r/src/x.py"][..]),
            ("sed -i.bak -e 's/a/b/' x y", &["x", "y"]),
            ("sed -E -i.orig -es/a/b/ x; sed -i --expression='s/a/b/' y; sed --in-pl --file s.sed z", &["x", "y", "z"]),
            ("sed -i -l 5 's/a/b/' x; sed -i '' -e p -- y -z", &["x", "y", "-z"]),
            ("sed -n 1,20p x", &[]),
            ("perl -pi -e 's/a/b/' x", &["x"]),
            ("cat > src/new.py <<'EOF'\nrm y\nEOF", &["src/new.py"]),
            ("echo x | tee -a log.txt", &["log.txt"]),
            ("cp a.py b/", &["b/a.py"]),
            ("cp a.py a.py.bak", &[]),
            ("cp a.py b.py lib/", &["lib/a.py", "lib/b.py"]),
            ("cp -t lib a.py b.py", &["lib/a.py", "lib/b.py"]),
            ("cp --target-directory=lib a.py b.py", &["lib/a.py", "lib/b.py"]),
            ("cp -ptlib a.py; cp -S .old --target-directory doc b.py", &["lib/a.py", "doc/b.py"]),
            ("cp -rt lib a.py; cp --archive a.py b.py", &[]),
            (
                "touch -r a.py b.py; touch -d '1 May' c.py --date=now; touch -t202601010000 d.py",
                &["b.py", "c.py", "d.py"],
            ),
            ("cp -r src build; cp -a src out; cp --recursive src dist", &[]),
            ("cd r && cp lib/a.py . && cp lib/b.py ..", &["r/a.py", "b.py"]),
            ("perl -MList::Util=sum -ne 'print' data.txt; sed -es/this/that/ data.txt", &[]),
            ("perl -0777pi -e 's/a/b/' x", &["x"]),
            ("cd r && bash -lc \"cd src && sed -i s/a/b/ x.py\"", &["r/src/x.py"]),
            ("(cd frontend && npm ci) && sed -i s/a/b/ server/x.py", &["server/x.py"]),
            ("cd \"$REPO\" && sed -i s/a/b/ src/x.py", &["src/x.py"]),
            ("if (( n > 3 )) && [[ a > b ]]; then echo x > y.txt; fi", &["y.txt"]),
            ("cd r && python3 - <<'EOF'\nopen('a.py', 'w')\nEOF", &["r/a.py"]),
            ("node -e \"fs.writeFileSync('a.js', x)\"", &["a.js"]),
            ("grep x y > /tmp/out 2>&1", &[]),
        ] {
            assert_eq!(written(line), expected, "{line}");
        }
    }

    #[test]
    fn a_command_is_told_if_its_effect_is_known_or_it_has_none() {
        for (line, expected) in [
            ("for f in a.py b.py; do sed -i s/a/b/ $f; done", &["sed -i s/a/b/ $f"][..]),
            ("sed -i s/a/b/ src/*.py", &["sed -i s/a/b/ src/*.py"]),
            ("sed -i s/a/b/ $(git ls-files '*.py')", &["sed -i s/a/b/ $(git ls-files '*.py')"]),
            ("find . -name '*.pyc' -delete", &["find . -name *.pyc -delete"]),
            ("git apply a.patch; git merge dev; git push", &["git apply a.patch", "git merge dev", "git push"]),
            ("gh pr create; sort -o a a", &["gh pr create", "sort -o a a"]),
            ("sed -i s/a/b/ a.py; git add a.py; git commit -m One; rm a.py; touch b.py", &[]),
            ("sed -n 1,5p a.py | sort; find . -name '*.pyc'; gh pr view; git branch -vv; git stash list", &[]),
            ("git rev-parse HEAD; git log > a.txt; cd src && ls; echo a > /tmp/a", &[]),
        ] {
            let listed = plain_commands(line).into_iter().filter(|command| !command.is_told);
            assert_eq!(listed.map(|command| command.words.join(" ")).collect::<Vec<_>>(), expected, "{line}");
        }
        assert_eq!(unlisted("git checkout main && sed -i s/a/b/ $f && ./run"), "./run");
        assert!(!only_shows("sed -i s/a/b/ a.py") && !only_shows("find . -delete") && only_shows("sed -n 1,5p a.py"));
    }

    #[test]
    fn scripts_are_recognized_by_what_they_write() {
        let path = String::from("/tmp/fix.py");
        let writes = vec![String::from("/r/a.py")];
        let ran = Effect::RunScript(path.clone());
        let line = "cd /r && cat > /tmp/fix.py <<'EOF'\nopen('a.py', 'w').write(x)\nEOF\npython3 /tmp/fix.py a";
        assert_eq!(effects(line), [Effect::Script { path, writes }, ran]);
        assert_eq!(effects("./fix.sh"), [Effect::RunScript("fix.sh".into())]);
        assert_eq!(effects("bash -e fix.sh"), [Effect::RunScript("fix.sh".into())]);
    }

    #[test]
    fn checks_are_recognized_by_their_programs() {
        for (line, command, targets) in [
            (
                "cd /r && RUST_LOG=x timeout 60 cargo test --lib parse 2>&1 | tail -5",
                "cargo test --lib parse",
                &["parse"][..],
            ),
            ("timeout -s KILL -k 5 300 sudo -u bob nice -n 10 cargo test", "cargo test", &[]),
            ("bash -c 'cargo test --lib parse'", "cargo test --lib parse", &["parse"]),
            ("python -m pytest -q tests/a.py::x", "pytest -q tests/a.py::x", &["tests/a.py::x"]),
            ("python tests/runtests.py basic", "runtests.py basic", &["basic"]),
            ("npm run test:unit", "npm run test:unit", &[]),
            ("go test ./... -run TestA", "go test ./... -run TestA", &["TestA"]),
            ("./gradlew test", "gradlew test", &["test"]),
            ("npx vitest run", "vitest run", &[]),
        ] {
            let [Effect::Check(run)] = &effects(line)[..] else { panic!("{line}") };
            assert_eq!(
                (run.command.as_str(), run.targets.as_slice()),
                (command, &*targets.iter().map(|&t| t.to_owned()).collect::<Vec<_>>()),
                "{line}"
            );
        }
        for line in ["npm install", "go run .", "cargo fmt", "npm run dev", "git log", "echo pytest"] {
            assert_eq!(effects(line), [], "{line}");
        }
    }

    #[test]
    fn the_status_of_a_line_is_that_of_a_check_or_of_another_command() {
        let status = |line: &str| {
            let check = effects(line).into_iter().find_map(|effect| match effect {
                Effect::Check(run) => Some(run.status),
                _ => None,
            });
            check.unwrap_or_else(|| panic!("{line}"))
        };
        for line in ["cd r && pytest -q", "pytest && echo ok"] {
            assert_eq!(status(line), LineStatus::Own, "{line}");
        }
        for line in ["pytest | tail -3", "pytest || true", "(pytest && ls) | tail -3"] {
            assert_eq!(status(line), LineStatus::Hidden, "{line}");
        }
        for line in ["pytest; ls", "pytest > log\ntail log", "if pytest; then ls; fi", "pytest &", "bash -c pytest; ls"]
        {
            assert_eq!(status(line), LineStatus::Other, "{line}");
        }
    }

    #[test]
    fn git_moves_removes_restores_and_commits() {
        let commit = |subject: Option<&str>, amend| Effect::Commit { subject: subject.map(str::to_owned), amend };
        let none = Effect::Add { places: Vec::new(), any: false };
        let moved = |from: &str, to: &str| Effect::Move { from: from.into(), to: to.into() };
        let added =
            |places: &[&str], any| Effect::Add { places: places.iter().map(|&place| place.into()).collect(), any };
        for (line, expected) in [
            ("git mv a.rs b/", vec![moved("a.rs", "b/a.rs")]),
            ("git mv a.rs b.rs lib", vec![moved("a.rs", "lib/a.rs"), moved("b.rs", "lib/b.rs")]),
            ("mv a.rs b.rs ./lib/", vec![moved("a.rs", "lib/a.rs"), moved("b.rs", "lib/b.rs")]),
            ("mv src/a.rs lib", vec![moved("src/a.rs", "lib/a.rs")]),
            ("mv Makefile.new Makefile", vec![moved("Makefile.new", "Makefile")]),
            ("mv src/old src/new", vec![moved("src/old", "src/new")]),
            ("mv -t lib a.rs b.rs", vec![moved("a.rs", "lib/a.rs"), moved("b.rs", "lib/b.rs")]),
            ("git --no-pager -C /r rm a.rs", vec![Effect::Remove("/r/a.rs".into())]),
            ("git rm -r docs", vec![Effect::RemoveBelow("docs".into())]),
            ("mv src/a.rs .", vec![moved("src/a.rs", "a.rs")]),
            ("cd /r && mv -f a.rs b.rs", vec![moved("/r/a.rs", "/r/b.rs")]),
            ("git -C /r mv a.rs b.rs", vec![moved("/r/a.rs", "/r/b.rs")]),
            ("git -C /r -C sub -c x=y rm a.rs", vec![Effect::Remove("/r/sub/a.rs".into())]),
            ("cd /r && git -C sub add a.rs", vec![added(&["/r/sub/a.rs"], false)]),
            ("git -C /r checkout -- a.rs", vec![Effect::Restore(Some(vec!["/r/a.rs".into()]))]),
            ("git -C /r commit -m One", vec![none.clone(), commit(Some("One"), false)]),
            ("git rm a.rs", vec![Effect::Remove("a.rs".into())]),
            ("git checkout -- a.rs", vec![Effect::Restore(Some(vec!["a.rs".into()]))]),
            ("git checkout main; git checkout -b b/c", vec![]),
            ("git checkout main -- a.rs", vec![Effect::Restore(Some(vec!["a.rs".into()]))]),
            ("git checkout main src/a.rs", vec![Effect::Restore(Some(vec!["src/a.rs".into()]))]),
            ("git restore --source main a.rs", vec![Effect::Restore(Some(vec!["a.rs".into()]))]),
            ("git restore -s main -- a.rs", vec![Effect::Restore(Some(vec!["a.rs".into()]))]),
            ("git checkout src/a.rs", vec![Effect::Restore(Some(vec!["src/a.rs".into()]))]),
            (
                "git checkout -- src/ && git checkout .",
                vec![Effect::Restore(Some(vec!["src".into()])), Effect::Restore(None)],
            ),
            ("git restore --staged a.rs; git restore -S .; git reset; git stash", vec![]),
            ("git restore .", vec![Effect::Restore(None)]),
            ("git -C sub restore .", vec![Effect::Restore(Some(vec!["sub".into()]))]),
            ("cd sub && git checkout .", vec![Effect::Restore(Some(vec!["sub".into()]))]),
            ("cd /r && git checkout .", vec![Effect::Restore(None)]),
            ("git -C sub restore :/", vec![Effect::Restore(None)]),
            ("cd sub && git add .", vec![Effect::Add { places: vec!["sub/".into()], any: false }]),
            ("git -C /r reset --hard", vec![Effect::Restore(None)]),
            ("git commit -qm 'Fix it'", vec![none.clone(), commit(Some("Fix it"), false)]),
            ("git commit -q -m'Fix program' --no-verify", vec![none.clone(), commit(Some("Fix program"), false)]),
            ("git commit --no-verify --message='Fix it' -F x", vec![none.clone(), commit(Some("Fix it"), false)]),
            ("git --git-dir /r/.git commit --amend -m \"$TEXT\"", vec![none.clone(), commit(None, true)]),
            (
                "git commit -m \"$(cat <<'EOF'\nFix it\n\nMore\nEOF\n)\"",
                vec![none.clone(), commit(Some("Fix it"), false)],
            ),
            ("git commit --amend --no-edit", vec![none.clone(), commit(None, true)]),
            ("cd r && git add a.rs", vec![added(&["r/a.rs"], false)]),
            ("git --no-pager diff --stat HEAD -- src/a.rs", vec![Effect::Changes(None)]),
            ("git diff main a.rs", vec![Effect::Changes(Some("main".into()))]),
            ("git diff --name-only HEAD", vec![Effect::ChangedNames(None)]),
            ("git status -s", vec![Effect::Changes(None)]),
            ("git commit -am One", vec![added(&[], true), commit(Some("One"), false)]),
            ("git commit -m One -- src/", vec![added(&["src"], false), commit(Some("One"), false)]),
            ("git commit src -m One b.rs", vec![added(&["src", "b.rs"], false), commit(Some("One"), false)]),
            ("git add -A; git stage . b.rs", vec![added(&[], true), added(&["b.rs"], true)]),
            ("git reset --hard HEAD^^", vec![Effect::Restore(None)]),
            ("git revert --no-edit HEAD; git cherry-pick -n 1a2b3c4", vec![Effect::Commits]),
        ] {
            assert_eq!(effects(line), expected, "{line}");
        }
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
            (
                "fix.py",
                "p = 'a.py'\nopen(p, 'w').write(x)\np = 'b.py'\nopen(p, 'w').write(x)\np = f()\nopen(p, 'w')",
                &["a.py", "b.py"],
            ),
            ("fix.js", "const file = 'a.ts';\nfs.writeFileSync(file, x);\nfs.readFileSync('b.ts')", &["a.ts"]),
            ("fix.sh", "cd src\nsed -i s/a/b/ x.rs\ncat > /tmp/y <<E\nE\n", &["src/x.rs"]),
            ("fix.py", "open(f'{root}/a.py', 'w'); open('/tmp/x', 'w'); reopen('z', 'w'); open('b' + '.py', 'w')", &[]),
            ("notes.md", "open('a.py', 'w')", &[]),
            (
                "fix.py",
                "# open('a.py', 'w')\nopen('b.py', encoding='utf-8', mode='w')\nopen(r'c.py', 'w')",
                &["b.py", "c.py"],
            ),
            (
                "fix.py",
                "OUT: str = 'a.py'\nopen(OUT, 'w')\nopen('b,c.py', 'w')\nopen('d (1).py', 'w')",
                &["a.py", "b,c.py", "d (1).py"],
            ),
            ("fix.py", "open(\n    'a.py',\n    'w',\n)", &["a.py"]),
        ] {
            assert_eq!(files_written_by(place, text), expected, "{text}");
        }
    }
}
