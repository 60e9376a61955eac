//! Suggests the known flag or value that is closest to an unknown one.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::suggest::closest;

/// Names of flags and values in other programs, each with the name here.
const SYNONYMS: &[(&str, &str)] = &[
    ("--budget", "--max-tokens"),
    ("--keep-last", "--size"),
    ("--last", "--size"),
    ("--limit", "--max-tokens"),
    ("--max", "--max-tokens"),
    ("--messages", "--size"),
    ("--tail", "--size"),
    ("--tokens", "--max-tokens"),
    ("--turns", "--unit"),
    ("audio", "media"),
    ("files", "media"),
    ("images", "media"),
    ("thinking", "reasoning"),
    ("thought", "reasoning"),
    ("thoughts", "reasoning"),
];

/// Flags that only other commands have, each with what to do.
const ELSEWHERE: &[(&str, &str)] = &[(
    "--template",
    "`count`, `check`, `limit` and `split` count what a chat template renders; this command counts message by message",
)];

/// `error` with a suggestion, if a known name is close to the wrong one. `known` are the flags of the command.
pub(super) fn corrected(mut error: clap::Error, known: &[String]) -> clap::Error {
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let flag = text(&error, ContextKind::InvalidArg).unwrap_or_default();
            if let Some((_, advice)) = ELSEWHERE.iter().find(|(other, _)| flag.split('=').next() == Some(other)) {
                error.remove(ContextKind::SuggestedArg);
                error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![(*advice).into()]));
                return error;
            }
            let suggestion = suggestion(&flag, known);
            if let Some(suggestion) = suggestion {
                error.insert(ContextKind::SuggestedArg, ContextValue::String(suggestion));
            }
        }
        ErrorKind::InvalidValue => {
            let valid = match error.get(ContextKind::ValidValue) {
                Some(ContextValue::Strings(valid)) => valid.clone(),
                _ => Vec::new(),
            };
            let suggestion = text(&error, ContextKind::InvalidValue).and_then(|value| suggestion(&value, &valid));
            if let Some(suggestion) = suggestion {
                error.insert(ContextKind::SuggestedValue, ContextValue::String(suggestion));
            }
        }
        _ => {}
    }
    error
}

/// The long flags of the subcommand that `arguments` name, with their dashes.
pub(super) fn flags_of(program: &clap::Command, arguments: impl Iterator<Item = String>) -> Vec<String> {
    let mut command = program;
    for argument in arguments {
        command = command.find_subcommand(&argument).unwrap_or(command);
    }
    let names = command.get_arguments().filter_map(clap::Arg::get_long_and_visible_aliases);
    names.flatten().map(|name| format!("--{name}")).collect()
}

fn suggestion(name: &str, known: &[String]) -> Option<String> {
    let name = name.split('=').next().unwrap_or(name);
    let synonym = SYNONYMS.iter().find(|(other, ours)| *other == name && known.iter().any(|known| known == ours));
    if let Some((_, ours)) = synonym {
        return Some((*ours).to_owned());
    }
    // The dashes that all flags share would make any two of them similar.
    let dashes = if name.starts_with("--") { "--" } else { "" };
    let bare = known.iter().filter_map(|known| known.strip_prefix(dashes));
    closest(name.strip_prefix(dashes)?, bare).map(|suggestion| format!("{dashes}{suggestion}"))
}

fn text(error: &clap::Error, which: ContextKind) -> Option<String> {
    match error.get(which) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::suggestion;

    #[test]
    fn a_name_of_other_programs_is_translated_where_ours_exists() {
        let known = ["--size", "--strategy", "reasoning", "media"].map(String::from);
        let cases = [
            ("--last", Some("--size")),
            ("--last=4", Some("--size")),
            ("--keep-last", Some("--size")),
            ("--tail", Some("--size")),
            ("--siez", Some("--size")),
            ("--budget", None),
            ("thinking", Some("reasoning")),
            ("reasonin", Some("reasoning")),
            ("zzz", None),
        ];
        for (name, expected) in cases {
            assert_eq!(suggestion(name, &known).as_deref(), expected, "{name}");
        }
    }
}
