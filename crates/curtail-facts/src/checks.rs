//! Which programs build or test, and what of it their arguments select. The programs are in `programs.toml`.

use super::kinds::CheckRun;
use super::programs::{PROGRAMS, behind_flags, lists};
use super::words::name_words;

/// The check that the program runs with these arguments; `None` if it runs none.
pub(super) fn check(program: &str, arguments: &[String]) -> Option<CheckRun> {
    let listed = PROGRAMS.checks.iter().find(|listed| lists(&listed.programs, program))?;
    // `cargo +nightly test`
    let own = &arguments[usize::from(arguments.first().is_some_and(|word| word.starts_with('+')))..];
    let is_verb = |word: &str| lists(&listed.verbs, word);
    // `pnpm --filter web test`
    let own = if listed.verbs.is_empty() { own } else { behind_flags(own, &listed.valued, is_verb) };
    let [first, second] = [0, 1].map(|at| own.get(at).map_or("", String::as_str));
    let is_script = lists(&PROGRAMS.package_managers, program) && matches!(first, "run" | "run-script");
    let checks = match is_script {
        true => name_words(second).iter().any(|part| lists(&PROGRAMS.check_scripts, part)),
        false => listed.verbs.is_empty() || is_verb(first),
    };
    let is_dry = lists(&PROGRAMS.dry_runs, program) && own.iter().any(|word| word == "-n");
    if !checks || is_dry || own.iter().any(|word| lists(&PROGRAMS.idle_flags, word)) {
        return None;
    }
    let subcommands = usize::from(!listed.verbs.is_empty()) + usize::from(is_script);
    let has_parts = subcommands > 0 || listed.runner.is_some();
    let verb = own.iter().take(subcommands).map(String::as_str);
    let scope = has_parts.then(|| std::iter::once(program).chain(verb).collect::<Vec<_>>().join(" "));
    let command = std::iter::once(program).chain(arguments.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
    let targets = targets(own.get(subcommands..).unwrap_or_default(), &listed.valued);
    let runner = listed.runner.as_deref();
    Some(CheckRun { command, scope, targets, runner, is_quiet: listed.quiet, ..CheckRun::default() })
}

/// The operands of a check, and the values of flags that narrow it; not those of `valued` flags.
fn targets(arguments: &[String], valued: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    let before = std::iter::once("").chain(arguments.iter().map(String::as_str));
    for (word, before) in arguments.iter().zip(before).filter(|(_, before)| !lists(valued, before)) {
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
        if lists(&PROGRAMS.narrowing_flags, before) {
            found.push(word.clone());
        } else if let Some((flag, value)) = word.split_once('=').filter(|(flag, _)| flag.starts_with('-')) {
            found.extend(lists(&PROGRAMS.narrowing_flags, flag).then(|| value.to_owned()));
        } else if !word.starts_with('-') && !matches!(word.as_str(), "." | "./..." | "--" | "run") && !is_number {
            found.push(word.clone());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::check;

    fn targets(line: &str) -> Option<Vec<String>> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        check(&words[0], &words[1..]).map(|run| run.targets)
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
}
