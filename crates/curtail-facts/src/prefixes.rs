//! What stands before a program on a command line and runs it: variables, wrappers such as `timeout`, runners such as `uv run`. They
//! are in `programs.toml`, with their flags.

use super::checks::{check, is_check_script};
use super::paths;
use super::programs::{PROGRAMS, Runner, Wrapper, behind_flags, lists};

/// The program and its arguments, without variables, wrappers and runners in front:
/// `RUST_LOG=debug timeout 60 uv run pytest -q tests` is `pytest -q tests`.
pub(super) fn without_prefixes(mut words: &[String]) -> &[String] {
    while let Some((first, rest)) = words.split_first()
        && let Some(behind) = behind_prefix(first, rest)
    {
        words = behind;
    }
    words
}

/// What stands behind `first` if that is a prefix of the program in `rest`.
fn behind_prefix<'w>(first: &str, rest: &'w [String]) -> Option<&'w [String]> {
    if is_assignment(first) {
        return Some(rest);
    }
    let name = paths::name(first);
    if let Some(wrapper) = PROGRAMS.wrappers.iter().find(|wrapper| lists(&wrapper.programs, name)) {
        return Some(wrapper.behind(rest));
    }
    let mut runners = PROGRAMS.runners.iter().filter(|runner| lists(&runner.programs, name));
    runners.find_map(|runner| runner.behind(rest)).or_else(|| {
        // A check that is run as a script: `python tests/runtests.py`.
        let script = paths::name(rest.first()?);
        (name.starts_with("python") && check(script, &[]).is_some()).then_some(rest)
    })
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
}

impl Wrapper {
    /// What stands behind its flags and operands.
    fn behind<'w>(&self, arguments: &'w [String]) -> &'w [String] {
        behind_flags(arguments, &self.valued, |_| false).get(self.operands..).unwrap_or_default()
    }
}

impl Runner {
    /// What stands behind its verb and its flags; `None` if that is a script that checks, or it does something else.
    fn behind<'w>(&self, arguments: &'w [String]) -> Option<&'w [String]> {
        let (verb, rest) = behind_flags(arguments, &self.valued, |word| word == self.verb).split_first()?;
        let behind = behind_flags(rest, &self.valued, |_| false);
        let is_script = self.scripts && behind.first().is_some_and(|name| is_check_script(name));
        (*verb == self.verb && !is_script).then_some(behind)
    }
}

#[cfg(test)]
mod tests {
    use super::without_prefixes;

    #[test]
    fn prefixes_are_taken_off_with_their_flags() {
        for (line, program) in [
            ("RUST_LOG=debug timeout 60 uv run pytest -q tests", "pytest -q tests"),
            ("uv run --frozen mypy src", "mypy src"),
            ("uv run --group dev mypy src", "mypy src"),
            ("uv --directory api run --with=rich -- mypy src", "mypy src"),
            ("uv run python -m mypy src", "mypy src"),
            ("uv sync --frozen", "uv sync --frozen"),
            ("pnpm --filter web exec tsc --noEmit", "tsc --noEmit"),
            ("pnpm exec tsc", "tsc"),
            ("poetry run pytest tests", "pytest tests"),
            ("poetry run ./test.sh", "./test.sh"),
            ("pixi run cat a", "cat a"),
            ("pixi run -e dev test", "pixi run -e dev test"),
            ("hatch run lint:all", "hatch run lint:all"),
            ("conda run -n dev test", "test"),
            ("pnpm --filter web test", "pnpm --filter web test"),
            ("npm exec -w web -- tsc", "tsc"),
            ("npx --yes tsc", "tsc"),
            ("npx -p typescript tsc --noEmit", "tsc --noEmit"),
            ("sudo -u bob mypy src", "mypy src"),
            ("sudo --user bob mypy src", "mypy src"),
            ("sudo --user=bob -E -- mypy src", "mypy src"),
            ("env -u FOO mypy src", "mypy src"),
            ("env --unset FOO A=1 mypy src", "mypy src"),
            ("env --chdir sub sed -i s/a/b/ src/b.py", "sed -i s/a/b/ src/b.py"),
            ("python -m mypy src", "mypy src"),
            ("python -X dev -m mypy src", "mypy src"),
            ("python -c pass -m mypy", "python -c pass -m mypy"),
            ("python3.12 tests/runtests.py -v", "tests/runtests.py -v"),
            ("python", "python"),
            ("time -f %e mypy src", "mypy src"),
            ("time -p mypy src", "mypy src"),
            ("timeout --signal KILL -k 5 60 mypy src", "mypy src"),
            ("timeout 60", ""),
            ("stdbuf -o L -eL setsid mypy src", "mypy src"),
            ("conda run -n dev mypy src", "mypy src"),
            ("nice -n 5 xvfb-run -a -s screen mypy src", "mypy src"),
            ("! mypy src", "mypy src"),
        ] {
            let words: Vec<String> = line.split(' ').map(String::from).collect();
            assert_eq!(without_prefixes(&words).join(" "), program, "{line}");
        }
    }
}
