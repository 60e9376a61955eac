//! What stands before a program on a command line and runs it: variables, wrappers such as `timeout`, runners such as `uv run`. They
//! are in `programs.toml`.

use super::checks::check;
use super::paths;
use super::programs::{PROGRAMS, lists};

/// The program and its arguments, without variables, wrappers and runners in front:
/// `RUST_LOG=debug timeout 60 uv run pytest -q tests` is `pytest -q tests`.
pub(super) fn without_prefixes(mut words: &[String]) -> &[String] {
    while let Some((first, rest)) = words.split_first() {
        let name = paths::name(first);
        let next = rest.first().map_or("", String::as_str);
        let is_variable = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let is_assignment = first.split_once('=').is_some_and(|(name, _)| is_variable(name));
        let runs_check = || name.starts_with("python") && check(paths::name(next), &[]).is_some();
        if is_assignment {
            words = rest;
        } else if lists(&PROGRAMS.wrappers, name) {
            words = behind_flags(name, rest).get(usize::from(name == "timeout")..).unwrap_or_default();
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

/// What stands behind the flags of a wrapper and their values.
fn behind_flags<'w>(wrapper: &str, mut words: &'w [String]) -> &'w [String] {
    /// Flags whose next word is their value.
    const WITH_VALUE: &[(&str, &[&str])] = &[
        ("timeout", &["-s", "-k", "--signal", "--kill-after"]),
        ("nice", &["-n"]),
        ("env", &["-u", "-C"]),
        ("sudo", &["-u", "-g", "-h", "-p", "-D"]),
    ];
    let with_value = WITH_VALUE.iter().find(|(name, _)| *name == wrapper).map_or(&[][..], |(_, flags)| flags);
    while let Some((flag, rest)) = words.split_first()
        && flag.starts_with('-')
    {
        words = rest.get(usize::from(with_value.contains(&flag.as_str()))..).unwrap_or_default();
    }
    words
}
