//! Suggests the known flag or value that is closest to an unknown one.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::elsewhere::{ADVICE, COMMANDS, EXAMPLES, MISSING, SPAWN, SYNONYMS};
use curtail_core::suggest::closest;

/// What to do about a command that does not exist, or about a missing or misplaced argument.
fn command_advice(error: &clap::Error) -> Option<String> {
    let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    match error.kind() {
        ErrorKind::InvalidSubcommand => unknown_command_advice(&text(error, ContextKind::InvalidSubcommand)?, &usage),
        ErrorKind::MissingRequiredArgument => {
            let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else { return None };
            missing_argument_advice(missing, &usage)
        }
        ErrorKind::UnknownArgument if usage.contains("memory spawn") => {
            text(error, ContextKind::InvalidArg).filter(|word| !word.starts_with('-')).map(|_| SPAWN.to_owned())
        }
        _ => None,
    }
}

/// What to do instead of the command `name`, which another program has or which is a file.
fn unknown_command_advice(name: &str, usage: &str) -> Option<String> {
    let meant = ADVICE.iter().find(|(parent, names, _)| parent_in(usage) == *parent && names.contains(&name));
    if let Some((.., advice)) = meant {
        return Some(String::from(*advice));
    }
    let is_file = name.contains(['.', '/', '\\']) || std::path::Path::new(name).exists();
    is_file.then(|| format!("a command comes first, as in `curtail window -n 20 {name}`"))
}

/// The command whose usage this is: the word behind `Usage:` and the name of the program; nothing for the program itself.
fn parent_in(usage: &str) -> &str {
    usage.split_whitespace().nth(2).filter(|word| !word.starts_with(['[', '<'])).unwrap_or_default()
}

/// An example with the first argument that is missing.
fn missing_argument_advice(missing: &[String], usage: &str) -> Option<String> {
    let (name, example) = EXAMPLES.iter().find(|(flag, _)| missing.iter().any(|name| name.starts_with(flag)))?;
    (*name != "--to" || usage.contains("memory spawn")).then(|| (*example).to_owned())
}

/// `error` with a suggestion, if a known name is close to the wrong one. `command` is the command that failed, and `given` are
/// all arguments.
pub(super) fn corrected(error: clap::Error, command: &clap::Command, given: &[String]) -> clap::Error {
    if let Some(advice) = command_advice(&error) {
        return with_tip(error, advice);
    }
    match error.kind() {
        ErrorKind::InvalidSubcommand => corrected_command(error, command),
        ErrorKind::ValueValidation => refused_value(&error, command, given).unwrap_or(error),
        ErrorKind::UnknownArgument => corrected_flag(error, command, given),
        ErrorKind::InvalidValue => corrected_value(error),
        _ => error,
    }
}

/// An error about an unknown command, with the one that is meant.
fn corrected_command(mut error: clap::Error, command: &clap::Command) -> clap::Error {
    // Clap's own threshold suggests `sessions` for `version`.
    error.remove(ContextKind::SuggestedSubcommand);
    let name = text(&error, ContextKind::InvalidSubcommand);
    if let Some(suggestion) = name.and_then(|name| command_for(&name, command)) {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![suggestion]));
    }
    error
}

/// An error about an unknown value, with the one that is meant.
fn corrected_value(mut error: clap::Error) -> clap::Error {
    let valid = match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(valid)) => valid.as_slice(),
        _ => &[],
    };
    let suggestion = text(&error, ContextKind::InvalidValue).and_then(|value| suggestion(&value, valid));
    if let Some(suggestion) = suggestion {
        error.insert(ContextKind::SuggestedValue, ContextValue::String(suggestion));
    }
    error
}

/// An error about an unknown flag, with what to do instead.
fn corrected_flag(mut error: clap::Error, command: &clap::Command, given: &[String]) -> clap::Error {
    let known = flags_of(command);
    let flag = text(&error, ContextKind::InvalidArg).unwrap_or_default();
    let name = flag.split('=').next().unwrap_or_default();
    let advice = flag_advice(name, command, &known)
        .or_else(|| suffix_advice(&flag, command, given))
        .or_else(|| bare_number_advice(&flag, command, given));
    if let Some(advice) = advice {
        return with_tip(error, advice);
    }
    error.remove(ContextKind::SuggestedArg);
    // "Use `-- --flag`" helps only with a file of that name.
    if !std::path::Path::new(&flag).exists() {
        error.remove(ContextKind::Suggested);
    }
    if let Some(suggestion) = suggestion(&flag, &known) {
        error.insert(ContextKind::SuggestedArg, ContextValue::String(suggestion));
    }
    error
}

/// The command that is meant by `name`, if one is close.
fn command_for(name: &str, parent: &clap::Command) -> Option<String> {
    let names: Vec<&str> = parent.get_subcommands().map(clap::Command::get_name).collect();
    let synonym = COMMANDS.iter().find(|(other, ours)| *other == name && names.contains(ours));
    synonym.map(|(_, ours)| *ours).or_else(|| closest(name, names)).map(str::to_owned)
}

/// What to do instead of `flag`, if no other flag replaces it.
fn flag_advice(flag: &str, command: &clap::Command, known: &[String]) -> Option<String> {
    let mut missing = MISSING.iter().filter(|(_, flags, _)| flags.contains(&flag));
    let missing = missing.find(|(place, ..)| match *place {
        "" => synonym(flag, known).is_none(),
        place => place == command.get_name() || known.iter().any(|known| known == place),
    });
    missing.map(|(.., advice)| (*advice).to_owned())
}

/// What to do about `-i.bak`, as sed takes the suffix of backups: `flag` is the first of its letters that is no flag.
fn suffix_advice(flag: &str, command: &clap::Command, given: &[String]) -> Option<String> {
    let letter = flag.strip_prefix('-').filter(|letter| letter.chars().count() == 1)?;
    command.get_arguments().find(|arg| arg.get_id() == "in_place")?;
    let mut suffixes = given.iter().filter_map(|word| word.strip_prefix("-i"));
    let suffix = suffixes.find(|suffix| suffix.contains(letter) && !suffix.starts_with('='))?;
    Some(format!("the suffix of backups follows `=`: `-i={suffix}`"))
}

/// The flag that takes a number which was given like `-5`, as `head` and `tail` take it.
fn bare_number_advice(flag: &str, command: &clap::Command, given: &[String]) -> Option<String> {
    let word = given.iter().find(|word| word.starts_with(flag))?;
    let number = word.strip_prefix('-').filter(|number| number.starts_with(|c: char| c.is_ascii_digit()))?;
    let flags = ["size", "max-tokens"];
    let flag = flags.iter().find_map(|name| command.get_arguments().find(|arg| arg.get_long() == Some(name)));
    let short = flag?.get_short()?;
    Some(format!("a number needs a flag, such as `-{short} {number}`"))
}

/// `error` with this advice and no other.
fn with_tip(mut error: clap::Error, advice: String) -> clap::Error {
    error.remove(ContextKind::SuggestedArg);
    error.remove(ContextKind::SuggestedSubcommand);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![advice.into()]));
    error
}

/// The error for an operand that names nothing, or for a number that is out of bounds. It names the operand, or the flag, short or
/// long, as it was `given`.
fn refused_value(error: &clap::Error, command: &clap::Command, given: &[String]) -> Option<clap::Error> {
    let message = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    let flag = text(error, ContextKind::InvalidArg)?;
    let value = text(error, ContextKind::InvalidValue)?;
    if flag.starts_with('[') {
        return Some(clap::Error::raw(error.kind(), format!("{value}: {message}\n")));
    }
    let long = flag.split([' ', '[']).next()?;
    let arg = command.get_arguments().find(|arg| match long.strip_prefix("--") {
        Some(name) => arg.get_long() == Some(name),
        None => arg.get_short().is_some_and(|short| long == format!("-{short}")),
    })?;
    let short = arg.get_short().map(|short| format!("-{short}"));
    let named = short.filter(|short| given.iter().any(|word| word.starts_with(short.as_str())));
    let named = named.as_deref().unwrap_or(long);
    let expected = if message.starts_with("must be") {
        message
    } else if value.parse::<f64>().is_ok_and(|number| number < 0.0) {
        String::from("must not be negative")
    } else if message.starts_with("invalid digit") {
        format!("takes a whole number, not `{value}`")
    } else if message.starts_with("range ") {
        return Some(clap::Error::raw(error.kind(), format!("{message}\n")));
    } else {
        return None;
    };
    Some(clap::Error::raw(error.kind(), format!("{named} {expected}\n")))
}

/// The subcommand of `program` that `arguments` name.
pub(super) fn subcommand<'p>(program: &'p clap::Command, arguments: &[String]) -> &'p clap::Command {
    arguments.iter().fold(program, |command, argument| command.find_subcommand(argument).unwrap_or(command))
}

/// The long flags of `command`, with their dashes.
fn flags_of(command: &clap::Command) -> Vec<String> {
    let names = command.get_arguments().filter_map(clap::Arg::get_long_and_visible_aliases);
    names.flatten().map(|name| format!("--{name}")).collect()
}

/// Our name for what other programs call `name`, if it is known.
fn synonym(name: &str, known: &[String]) -> Option<&'static str> {
    let mut names = SYNONYMS.iter().filter(|(other, _)| *other == name).map(|(_, our_name)| *our_name);
    names.find(|our_name| known.iter().any(|known| known == our_name))
}

fn suggestion(name: &str, known: &[String]) -> Option<String> {
    let name = name.split('=').next().unwrap_or(name);
    if let Some(our_name) = synonym(name, known) {
        return Some(our_name.to_owned());
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
