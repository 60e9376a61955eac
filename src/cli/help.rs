//! The help besides the flags: commands in groups, examples, and a short page for `-h` with the most frequent flags.

use std::fmt::Write as _;

use clap::builder::StyledStr;
use clap::{Arg, Command};

use super::examples;
use super::options::signed;

/// The commands of the first screen, each in exactly one group.
const GROUPS: &[(&str, &[&str])] = &[
    ("Cut", &["window", "limit", "split", "filter", "summarize", "repair", "run"]),
    ("Check", &["check", "rule", "schema"]),
    ("Look", &["sessions", "view", "show", "count", "replay", "dialects", "tokenizers"]),
    ("Remember", &["memory", "store"]),
    ("Set up", &["init", "config", "completions", "man"]),
];

/// The headings of flags that several commands share: `-h` shows only the flags of [`SHORT`] below them.
const SHARED: &[&str] = &[
    "Input",
    "Repair",
    "Output",
    "Report",
    "Counting",
    "Configuration",
    "Store",
    "Summaries",
    "Rolling memory",
    "Global",
];

/// Shared flags that `-h` shows.
const SHORT: &[&str] = &[
    "config",
    "dialect",
    "diff",
    "dry_run",
    "explain",
    "fix",
    "in_place",
    "model",
    "output",
    "output_dir",
    "output_format",
    "repair",
    "resource",
    "stats",
    "summarizer",
    "thread",
    "tokenizer",
];

/// Flags of a single command that only `--help` shows.
const LONG: &[&str] = &[
    "protect_tokens",
    "clear_tool",
    "clear_inputs",
    "drop_untrained",
    "drop_records_with",
    "clear_at_least",
    "max_media_bytes",
    "max_media_pixels",
    "cap_tool",
    "cap_keep",
    "summary_role",
    "allow_http",
    "ca_file",
    "allow_empty",
    "api_key_file",
    "at",
    "cache",
    "cap_in_flight",
    "concurrency",
    "exempt_tool",
    "exit_zero",
    "extra_body",
    "from",
    "id_key",
    "max_findings",
    "max_text",
    "on_summary_error",
    "placeholder",
    "print_prompt",
    "profile",
    "prompt",
    "range",
    "read_tool",
    "read_only",
    "reserve",
    "retries",
    "start_on",
    "stateful",
    "statistics",
    "template",
    "timeout",
];

/// Flags that are not listed because the command itself does the same: `curtail repair --mode` is a repair.
const REDUNDANT: &[(&str, &[&str])] = &[("repair", &["repair", "repair_pending"])];

/// The global flags that have an effect on each command; `--color` has one on all of them.
const GLOBAL: &[(&[&str], &[&str])] = &[
    (
        &["window", "limit", "split", "filter", "summarize", "repair", "run", "memory recall"],
        &["jobs", "quiet", "verbose", "progress", "color"],
    ),
    (&["check", "replay"], &["jobs", "quiet", "verbose", "progress", "color"]),
    (&["view", "show", "count"], &["jobs", "verbose", "color"]),
    (&["sessions"], &["quiet", "verbose", "color"]),
];

/// `root` with grouped commands, examples and short pages.
pub(super) fn with_pages(root: Command) -> Command {
    with_screen(with_flags(root))
}

/// `root` with its first screen alone.
pub(super) fn outlined(root: Command) -> Command {
    with_screen(root.mut_args(concise))
}

fn with_screen(root: Command) -> Command {
    let template = first_screen(&root);
    let footer = "See `curtail COMMAND -h` for a command's most used flags and examples, `--help` for all of them.";
    root.help_template(template).after_help(footer)
}

/// `root`, each of whose commands has its own page and takes the global flags.
pub(super) fn with_flags(root: Command) -> Command {
    let global: Vec<Arg> = root.get_arguments().filter(|arg| arg.is_global_set()).cloned().map(concise).collect();
    let names: Vec<String> = root.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    names
        .iter()
        .fold(root.mut_args(concise), |root, name| root.mut_subcommand(name, |command| page(command, name, &global)))
}

/// The page of the command at `path`, such as `memory apply`, and of the commands below it.
fn page(command: Command, path: &str, global: &[Arg]) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|inner| inner.get_name().to_owned()).collect();
    let command = names.iter().fold(excluding(command).mut_args(concise), |command, name| {
        command.mut_subcommand(name, |inner| page(inner, &format!("{path} {name}"), global))
    });
    let redundant = REDUNDANT.iter().filter(|(name, _)| *name == path).flat_map(|(_, flags)| flags.iter());
    let command = redundant.fold(command, |command, flag| command.mut_arg(*flag, |arg| arg.hide(true)));
    let shown = global.iter().map(|arg| arg.clone().hide(!has_effect(path, arg.get_id().as_str())));
    let examples = examples::of_command(path, command.get_styles());
    // A command that defines a global flag itself keeps its own definition, which hides the flag where it has no effect.
    command.args(shown).after_help(examples)
}

/// The command with `--exclude` for `--exclude-path`, unless `--exclude` is a flag of its own there.
fn excluding(command: Command) -> Command {
    let takes = |arg: &Arg| arg.get_all_aliases().is_some_and(|names| names.contains(&EXCLUDE));
    let has_flag = command.get_arguments().any(|arg| arg.get_id() == "exclude_path");
    if has_flag && !command.get_arguments().any(takes) {
        command.mut_arg("exclude_path", |arg| arg.visible_alias(EXCLUDE))
    } else {
        command
    }
}

/// The short name of `--exclude-path`.
const EXCLUDE: &str = "exclude";

/// Whether the global flag `id` changes anything in the command at `path`.
fn has_effect(path: &str, id: &str) -> bool {
    let flags = GLOBAL.iter().find(|(paths, _)| paths.contains(&path)).map_or(&["color"][..], |(_, flags)| flags);
    flags.contains(&id)
}

/// The flag without the values of environment variables, and hidden from `-h` if few runs need it.
fn concise(arg: Arg) -> Arg {
    let id = arg.get_id().as_str();
    let shared = arg.get_help_heading().is_some_and(|heading| SHARED.contains(&heading));
    let is_long = arg.is_hide_short_help_set() || LONG.contains(&id) || shared && !SHORT.contains(&id);
    signed(arg.hide_env_values(true).hide_short_help(is_long))
}

/// The template of the first screen: every command with its summary, group by group.
fn first_screen(root: &Command) -> StyledStr {
    let styles = root.get_styles();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let mut text = StyledStr::new();
    // Writing to a styled string cannot fail.
    let _ = write!(text, "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n");
    for (group, names) in GROUPS {
        let _ = writeln!(text, "{header}{group}:{header:#}");
        for name in *names {
            let about = root.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string);
            let _ = writeln!(text, "  {literal}{name:<11}{literal:#}  {}", about.unwrap_or_default());
        }
        text.write_char('\n').unwrap_or_default();
    }
    let _ = write!(text, "{header}Options:{header:#}\n{{options}}{{after-help}}");
    text
}
