//! A key of a table is a flag with a long name.

use std::any::TypeId;
use std::path::PathBuf;

use clap::{Arg, ArgAction, Command, ValueHint};

/// The keys of a table, in the order of the command's help.
pub(super) fn keys(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|flag| flag.get_long().is_some())
}

pub(super) fn name_of(flag: &Arg) -> &str {
    flag.get_long().unwrap_or_default()
}

/// The name of a key, and its aliases.
pub(super) fn names(flag: &Arg) -> Vec<&str> {
    flag.get_long_and_visible_aliases().unwrap_or_default()
}

pub(super) fn flag_named<'c>(command: &'c Command, name: &str) -> Option<&'c Arg> {
    keys(command).find(|flag| names(flag).contains(&name))
}

pub(super) fn is_switch(flag: &Arg) -> bool {
    !flag.get_action().takes_values()
}

pub(super) fn is_list(flag: &Arg) -> bool {
    matches!(flag.get_action(), ArgAction::Append)
}

/// Whether a value is always a file.
pub(super) fn is_file(flag: &Arg) -> bool {
    flag.get_value_parser().type_id() == TypeId::of::<PathBuf>()
}

/// Whether a value may be a file or a name.
pub(super) fn may_be_file(flag: &Arg) -> bool {
    flag.get_value_hint() == ValueHint::FilePath
}

pub(super) fn in_group(command: &Command, group: &str, flag: &Arg) -> bool {
    let mut groups = command.get_groups().filter(|other| other.get_id() == group);
    groups.any(|group| group.get_args().any(|id| id == flag.get_id()))
}

/// Whether the switch `one` is the switch `other` with `no-`.
pub(super) fn negates(one: &Arg, other: &Arg) -> bool {
    is_switch(one) && is_switch(other) && name_of(one).strip_prefix("no-") == Some(name_of(other))
}

pub(super) fn are_opposite(one: &Arg, other: &Arg) -> bool {
    negates(one, other) || negates(other, one)
}

/// Why a table cannot have both keys, if it cannot.
pub(super) fn exclusion(command: &Command, one: &Arg, other: &Arg) -> Option<&'static str> {
    if one == other || are_opposite(one, other) {
        return Some("set the same option");
    }
    let conflicts =
        [(one, other), (other, one)].map(|(one, other)| command.get_arg_conflicts_with(one).contains(&other));
    conflicts.contains(&true).then_some("exclude each other")
}
