//! Which programs build or test, and what of it their arguments select. The programs are in `programs.toml`.

use super::kinds::CheckRun;
use super::programs::{CheckProgram, PROGRAMS, lists};
use super::words::name_words;

/// The check that the program runs with these arguments; `None` if it runs none.
pub(super) fn check(program: &str, arguments: &[String]) -> Option<CheckRun> {
    let CheckProgram { verbs, .. } = PROGRAMS.checks.iter().find(|listed| lists(&listed.programs, program))?;
    let word = |at: usize| arguments.get(at).map_or("", String::as_str);
    let is_script = lists(&PROGRAMS.package_managers, program) && matches!(word(0), "run" | "run-script");
    let verb = arguments.iter().find(|word| !word.starts_with('+')).map_or("", String::as_str);
    let checks = match is_script {
        true => name_words(word(1)).iter().any(|part| lists(&PROGRAMS.check_scripts, part)),
        false => verbs.is_empty() || lists(verbs, verb),
    };
    let idle = program != "pytest" && arguments.iter().any(|word| lists(&PROGRAMS.idle_flags, word));
    if !checks || idle {
        return None;
    }
    let subcommands = usize::from(!verbs.is_empty()) + usize::from(is_script);
    let command = std::iter::once(program).chain(arguments.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
    let targets = targets(arguments.get(subcommands..).unwrap_or_default());
    Some(CheckRun { command, targets, ..CheckRun::default() })
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
