//! Which programs build or test, and what of it their arguments select. The programs are in `programs.toml`.

use super::kinds::CheckRun;
use super::programs::{CheckProgram, PROGRAMS, behind_flags, lists};
use super::words::name_words;

/// The check that the program runs with these arguments; `None` if it runs none.
pub(super) fn check(program: &str, arguments: &[String]) -> Option<CheckRun> {
    let listed = PROGRAMS.checks.iter().find(|listed| lists(&listed.programs, program))?;
    // `cargo +nightly test`
    let own = &arguments[usize::from(arguments.first().is_some_and(|word| word.starts_with('+')))..];
    let is_verb = |word: &str| lists(&listed.verbs, word);
    // `pnpm --filter web test`
    let own = if listed.verbs.is_empty() { own } else { behind_flags(own, &listed.valued, is_verb) };
    let (first, rest) = own.split_first().map_or(("", own), |(first, rest)| (first.as_str(), rest));
    let is_script = lists(&PROGRAMS.package_managers, program) && matches!(first, "run" | "run-script");
    // `pixi run -e dev test`
    let rest = if is_script { behind_flags(rest, &listed.valued, |_| false) } else { rest };
    let script = rest.first().filter(|_| is_script);
    let checks = match script {
        Some(script) => has_check_word(script),
        None if listed.verbs.is_empty() => listed.reaches_goal(own),
        None => is_verb(first),
    };
    let is_dry = lists(&PROGRAMS.dry_runs, program) && own.iter().any(|word| word == "-n");
    if !checks || is_dry || own.iter().any(|word| lists(&PROGRAMS.idle_flags, word)) {
        return None;
    }
    let has_verb = !listed.verbs.is_empty();
    let has_parts = has_verb || listed.runner.is_some();
    let verb = has_verb.then_some(first).into_iter().chain(script.map(String::as_str));
    let scope = has_parts.then(|| std::iter::once(program).chain(verb).collect::<Vec<_>>().join(" "));
    let command = std::iter::once(program).chain(arguments.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
    let arguments = if has_verb { rest.get(usize::from(is_script)..).unwrap_or_default() } else { own };
    let Selection { targets, left_out } = Selection::of(arguments, listed);
    let runner = listed.runner.as_deref();
    // A runner of tests prints something all the same.
    let is_silenced = runner.is_none() && own.iter().any(|word| lists(&PROGRAMS.silencing_flags, word));
    let is_quiet = listed.quiet || is_silenced;
    Some(CheckRun { command, scope, targets, left_out, runner, is_quiet, is_listed: true, ..CheckRun::default() })
}

/// Whether a name that a runner of scripts is given is that of a script that checks, and not a program or a file.
pub(super) fn is_check_script(name: &str) -> bool {
    let is_program = PROGRAMS.checks.iter().any(|listed| lists(&listed.programs, name));
    !is_program && !name.contains(['/', '.']) && has_check_word(name)
}

/// Whether a script or a target is named like one that checks.
fn has_check_word(name: &str) -> bool {
    name_words(name).iter().any(|word| lists(&PROGRAMS.check_scripts, word))
}

impl CheckProgram {
    /// Whether one of its targets checks, if they may do anything.
    fn reaches_goal(&self, arguments: &[String]) -> bool {
        let before = std::iter::once("").chain(arguments.iter().map(String::as_str));
        let words = arguments.iter().zip(before).filter(|(_, before)| !lists(&self.placing, before));
        let mut targets = words.map(|(word, _)| word).filter(|word| is_target(word)).peekable();
        self.goals.is_empty() || targets.peek().is_none() || targets.any(|target| self.is_goal(target))
    }

    fn is_goal(&self, target: &str) -> bool {
        target.contains('.') || has_check_word(target) || name_words(target).iter().any(|word| lists(&self.goals, word))
    }
}

/// Whether an argument is the target of a build: no flag, no variable and no number.
fn is_target(word: &str) -> bool {
    !word.starts_with('-') && !word.contains('=') && !word.bytes().all(|byte| byte.is_ascii_digit())
}

/// What the arguments of a check select.
#[derive(Default)]
struct Selection {
    /// The operands, and the values of flags that narrow it; not those of `valued` flags.
    targets: Vec<String>,
    /// The flags that leave tests out, each with its value, or limit it to a kind of its tests.
    left_out: Vec<String>,
}

impl Selection {
    fn of(arguments: &[String], listed: &CheckProgram) -> Self {
        let mut found = Self::default();
        let before = std::iter::once("").chain(arguments.iter().map(String::as_str));
        for (word, before) in arguments.iter().zip(before).filter(|(_, before)| !lists(&listed.valued, before)) {
            found.add(word, before, listed);
        }
        found
    }

    /// Adds an argument, which may be the value of the flag `before` it.
    fn add(&mut self, word: &str, before: &str, listed: &CheckProgram) {
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
        if excludes(before, listed)
            || lists(&PROGRAMS.limiting_flags, before) && word.starts_with(|c: char| c.is_ascii_digit())
        {
            self.left_out.push(format!("{before} {word}"));
        } else if lists(&PROGRAMS.narrowing_flags, before) {
            self.select(word, &format!("{before} {word}"));
        } else if lists(&listed.parts, word)
            || lists(&PROGRAMS.limiting_flags, word.split(['=', ':']).next().unwrap_or_default())
        {
            self.left_out.push(word.to_owned());
        } else if let Some((flag, value)) = word.split_once('=').filter(|(flag, _)| flag.starts_with('-')) {
            if lists(&PROGRAMS.narrowing_flags, flag) {
                self.select(value, word);
            } else if excludes(flag, listed) {
                self.left_out.push(word.to_owned());
            }
        } else if !word.starts_with('-') && !matches!(word, "." | "./..." | "--" | "run") && !is_number {
            self.select(word, word);
        }
    }

    /// Adds a target that is `written` so on the line; one with a negation says what is left out.
    fn select(&mut self, target: &str, written: &str) {
        let is_negated = target.starts_with(['!', '~']) || target.split([' ', '(', ')']).any(|word| word == "not");
        if is_negated {
            self.left_out.push(written.to_owned());
        } else {
            self.targets.push(target.to_owned());
        }
    }
}

/// Whether a word of a command is a flag with which a check is another one, such as one for races, though it runs the same tests.
pub(super) fn is_variant(word: &str) -> bool {
    lists(&PROGRAMS.variant_flags, word.split('=').next().unwrap_or_default())
}

/// Whether the value of a flag says what a check leaves out; a linter's `--ignore` may name what it does not complain of.
fn excludes(flag: &str, listed: &CheckProgram) -> bool {
    lists(&listed.excluding, flag) || lists(&PROGRAMS.excluding_flags, flag) && !lists(&listed.valued, flag)
}

#[cfg(test)]
mod tests {
    use super::{CheckRun, check};

    fn run(line: &str) -> Option<CheckRun> {
        let words: Vec<String> = line.split(' ').map(|word| word.replace('·', " ")).collect();
        check(&words[0], &words[1..])
    }

    fn targets(line: &str) -> Option<Vec<String>> {
        run(line).map(|run| run.targets)
    }

    #[test]
    fn values_of_flags_are_no_targets() {
        for (line, expected) in [
            ("pytest -n auto -p no:warnings --tb short", &[][..]),
            ("pytest -n 4 tests -k parse -m slow", &["tests", "parse", "slow"]),
            ("cargo +nightly test -p core --features a,b parse", &["core", "parse"]),
            ("go test ./... -timeout 60s -run TestA", &["TestA"]),
            ("npm run test:unit -- a.test.ts", &["a.test.ts"]),
            ("npm --prefix web run build", &[]),
            ("pnpm --filter web typecheck", &[]),
            ("pnpm -r build", &[]),
            ("yarn workspace web test a.test.ts", &["a.test.ts"]),
            ("cargo --locked test parse", &["parse"]),
            ("node --enable-source-maps --test", &[]),
        ] {
            assert_eq!(targets(line).unwrap_or_default(), expected, "{line}");
            assert!(targets(line).is_some(), "{line}");
        }
        for line in [
            "pytest --collect-only -q",
            "pytest --version",
            "make -n all",
            "cargo test -- --list",
            "cargo +nightly fmt",
        ] {
            assert_eq!(targets(line), None, "{line}");
        }
    }

    #[test]
    fn a_target_or_a_script_checks_by_its_name() {
        for line in [
            "make",
            "make -j4",
            "make -j 4 CC=gcc",
            "make -C web",
            "make all",
            "make clean test",
            "make build/x.o",
            "make fmt-check",
            "just lint",
            "mvn -q clean verify",
            "mvn -pl core test-compile",
            "gradlew :app:assembleDebug",
            "ninja cart",
            "pixi run -e dev test",
            "pdm run lint",
            "hatch run test:unit",
            "npm run -w web test",
        ] {
            assert!(run(line).is_some(), "{line}");
        }
        for line in [
            "make deploy", "make -C test clean", "just deploy", "mvn clean", "gradle bootRun -x test", "pdm install",
            "pixi run serve",
        ] {
            assert_eq!(run(line), None, "{line}");
        }
        let script = run("pixi run -e dev test tests/a.py").unwrap_or_default();
        assert_eq!((script.scope.as_deref(), script.targets), (Some("pixi run test"), owned(&["tests/a.py"])));
    }

    #[test]
    fn what_a_check_leaves_out_is_no_target() {
        for (line, targets, left_out) in [
            ("pytest --ignore=tests/b.py tests", &["tests"][..], &["--ignore=tests/b.py"][..]),
            ("pytest --ignore tests/b.py -q", &[], &["--ignore tests/b.py"]),
            ("pytest tests --deselect tests/b.py::y", &["tests"], &["--deselect tests/b.py::y"]),
            ("pytest -k not·two -m slow", &["slow"], &["-k not·two"]),
            ("pytest -k test_not_found -m=!slow", &["test_not_found"], &["-m=!slow"]),
            ("cargo test --workspace --exclude b", &[], &["--exclude b"]),
            ("cargo test parse --lib -- --skip two", &["parse"], &["--lib", "--skip two"]),
            ("cargo nextest run -E not·test(two)", &[], &["not·test(two)"]),
            ("go test ./... -short -skip TestA", &[], &["-short", "-skip TestA"]),
            ("ctest -E slow", &[], &["-E slow"]),
            ("mvn test -Dtest=!CartTest", &["test"], &["-Dtest=!CartTest"]),
            ("jest --testPathIgnorePatterns=b --shard=1/2", &[], &["--testPathIgnorePatterns=b", "--shard=1/2"]),
            ("npm test -- --shard 1/2", &[], &["--shard", "--shard 1/2"]),
            ("dotnet test --filter=Cart", &["Cart"], &[]),
            ("xcodebuild test -skip-testing:App/B", &["test"], &["-skip-testing:App/B"]),
            ("ruff check --ignore E501 src", &["src"], &[]),
        ] {
            let run = run(line).unwrap_or_default();
            let left_out: Vec<String> = left_out.iter().map(|text| text.replace('·', " ")).collect();
            assert_eq!((run.targets.as_slice(), run.left_out), (&*owned(targets), left_out), "{line}");
        }
    }

    fn owned(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }
}
