//! The parts of the help that clap does not generate: commands in groups, examples, and a short `-h` with the most used flags.

use std::fmt::Write as _;
use std::sync::LazyLock;

use clap::builder::{StyledStr, Styles};
use clap::{Arg, Command};

use crate::options::variables::lenient;
use curtail_tokens::tokenizers;

/// The commands of the first screen, each in exactly one group.
const GROUPS: &[(&str, &[&str])] = &[
    ("Cut", &["window", "limit", "split", "filter", "summarize", "repair", "run"]),
    ("Check", &["check", "verify", "rule", "schema"]),
    ("Look", &["sessions", "view", "show", "count", "replay", "dialects", "tokenizers"]),
    ("Remember", &["memory", "store"]),
    ("Set up", &["init", "config", "completions", "man"]),
];

/// Flags that the page of `repair` does not list, because the command itself does the same: `curtail repair --mode` is a repair.
const REDUNDANT: &[&str] = &["repair", "repair_pending"];

/// Flags that only the long page of a command lists, although other commands list them on their short pages.
const RARE: &[(&str, &[&str])] = &[("filter", &["tokenizer", "model"])];

/// What the flag `--config` does in `check`, which may use several files.
const CONFIG_OF_CHECK: &str = "Configuration file; by default the closest `curtail.toml` is used

For each file, its folder is searched, and then the folders above it up to the root of its repository. Where there is none, the \
one that applies to the working directory is used, or the one in `~/.config/curtail`.";

/// The global flags that each command shows; all show `--color`. A flag that is not shown works: `--quiet` also silences the notes of
/// the others.
const GLOBAL: &[(&[&str], &[&str])] = &[
    (
        &["window", "limit", "split", "filter", "summarize", "repair", "run", "memory recall", "check", "replay"],
        &["jobs", "quiet", "verbose", "progress", "color"],
    ),
    (&["view", "count", "show", "memory apply"], &["jobs", "quiet", "verbose", "color"]),
    (&["verify"], &["jobs", "quiet", "color"]),
    (&["sessions"], &["quiet", "verbose", "color"]),
];

/// `root` with grouped commands, examples and short pages.
pub(super) fn with_pages(root: Command) -> Command {
    let root = with_flags(root);
    let template = first_screen(&root);
    let footer = "See `curtail COMMAND -h` for a command's most used flags and examples, `--help` for all of them.";
    root.help_template(template).after_help(footer)
}

/// `root`, whose commands have their own pages and take the global flags.
pub(super) fn with_flags(root: Command) -> Command {
    let global: Vec<Arg> = root.get_arguments().filter(|arg| arg.is_global_set()).cloned().map(concise).collect();
    root.mut_args(concise).mut_subcommands(|command| page(command, "", &global))
}

/// The page of a command below `parent`, such as that of `memory apply` below `memory`, and of the commands below it.
fn page(command: Command, parent: &str, global: &[Arg]) -> Command {
    let path = format!("{parent} {}", command.get_name());
    let path = path.trim_start();
    let command = with_exclude_alias(command).mut_args(concise).mut_subcommands(|inner| page(inner, path, global));
    let redundant = REDUNDANT.iter().filter(|_| path == "repair");
    let command = redundant.fold(command, |command, flag| command.mut_arg(*flag, |arg| arg.hide(true)));
    let rare = RARE.iter().filter(|(command, _)| *command == path).flat_map(|(_, flags)| *flags);
    let command = rare.fold(command, |command, flag| command.mut_arg(*flag, |arg| arg.hide_short_help(true)));
    let command = match path {
        "check" => command.mut_arg("config", |arg| arg.long_help(CONFIG_OF_CHECK)),
        _ => command,
    };
    let shown = global.iter().map(|arg| arg.clone().hide(!is_shown(path, arg.get_id().as_str())));
    let examples = examples_of(path, command.get_styles());
    // A command that defines a global flag itself keeps its own definition, which hides the flag where it is not shown.
    command.args(shown).after_help(examples)
}

/// The command with `--exclude` for `--exclude-path`. In `filter`, it could be meant for tools, which it is as a key of a file, so
/// that the command line has neither.
fn with_exclude_alias(command: Command) -> Command {
    let [has_tool, has_path] =
        ["exclude_tool", "exclude_path"].map(|id| command.get_arguments().any(|arg| arg.get_id() == id));
    match (has_tool, has_path) {
        (true, _) => command.mut_arg("exclude_tool", |arg| arg.visible_alias(None::<&str>)),
        (false, true) => command.mut_arg("exclude_path", |arg| arg.visible_alias(EXCLUDE)),
        (false, false) => command,
    }
}

/// The short name of `--exclude-path`.
const EXCLUDE: &str = "exclude";

/// Whether the command at `path` shows the global flag `id`.
fn is_shown(path: &str, id: &str) -> bool {
    let flags = GLOBAL.iter().find(|(paths, _)| paths.contains(&path)).map_or(&["color"][..], |(_, flags)| flags);
    flags.contains(&id)
}

/// The flag without the values of environment variables, and hidden from `-h` if every command has it.
fn concise(arg: Arg) -> Arg {
    let is_long = arg.is_hide_short_help_set() || arg.is_global_set();
    let arg = if arg.get_id() == "output_format" { arg.alias("format") } else { arg };
    lenient(arg.hide_env_values(true).hide_short_help(is_long))
}

/// The template of the first screen: every command with its summary, group by group.
fn first_screen(root: &Command) -> StyledStr {
    let styles = root.get_styles();
    let header = styles.get_header();
    let literal = styles.get_literal();
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

// The examples at the end of each command's help.

/// The columns that a terminal has at least.
const SCREEN: usize = 80;

/// A command, a command line of it, and what that does.
type Example = (&'static str, &'static str, &'static str);

/// The examples of each command, in the order of its help.
const EXAMPLES: &[Example] = &[
    ("window", "curtail window -n 40 chat.jsonl", "keep the last 40 items"),
    ("window", "curtail window -n 8 --unit turns chat.jsonl -o short.jsonl", "keep 8 turns"),
    ("window", "curtail window -n 40 --dry-run data/", "list what would be dropped, and why"),
    ("limit", "curtail limit -t 8k chat.jsonl", "keep what fits into 8,000 tokens"),
    ("limit", "curtail limit -t 16k --model gpt-4o chat.jsonl", "count as gpt-4o does"),
    ("limit", "curtail limit -t 8k --on-error skip data/ -O cut/ --resume", "cut a dataset"),
    ("split", "curtail split -t 8k data/ -O rows/", "split a folder into rows that fit"),
    ("split", "curtail split -t 8k --overlap 1turn data/ -O more/", "repeat a turn"),
    ("split", "curtail split -t 8k chat.jsonl -o row.jsonl", "write row.part-001.jsonl and so on"),
    ("filter", "curtail filter -x 'debug_*' chat.jsonl", "drop calls of some tools"),
    ("filter", "curtail filter --strip reasoning,media chat.jsonl", "drop reasoning and images"),
    ("filter", "curtail filter --supersede-reads --keep-last-results 5 chat.jsonl", "clear old results"),
    ("summarize", "curtail summarize -n 20 chat.jsonl", "keep 20 interactions, and summaries"),
    ("summarize", "curtail summarize --handoff chat.jsonl > HANDOFF.md", "write a handoff page"),
    ("summarize", "curtail summarize --thread demo chat.jsonl", "continue a stored memory"),
    ("repair", "curtail repair chat.jsonl -o fixed.jsonl", "move results to their calls, drop the rest"),
    ("repair", "curtail repair --mode stub data/ --in-place=.bak", "answer calls, keep backups"),
    ("repair", "curtail repair --dry-run data/", "list what would be repaired"),
    ("run", "curtail run --print", "show the chain"),
    ("run", "curtail run chat.jsonl -o short.jsonl", "cut with the closest curtail.toml"),
    ("run", "curtail run --preset mask-10-steps chat.jsonl", "cut by a preset"),
    ("run", "curtail run -c curtail.toml data/ -O cut/ --stats", "cut a folder, with totals"),
    ("check", "curtail check data/", "report findings, exit with 1 if any is denied"),
    ("check", "curtail check --fix data/", "repair broken pairs in place"),
    ("check", "curtail check --output-format github data/", "annotate a pull request"),
    ("rule", "curtail rule", "list all rules"),
    ("rule", "curtail rule orphan-result", "show a rule by name"),
    ("rule", "curtail rule T002", "show a rule by code"),
    ("view", "curtail view chat.jsonl -o page.html", "write a page to look at"),
    ("view", "curtail view chat.jsonl --policy 'limit -t 8k' -o cut.html", "show what would be dropped"),
    ("view", "curtail view chat.jsonl --text", "read it in the terminal"),
    ("view", "curtail view data/ -O pages/", "write pages with an index that searches all"),
    ("sessions", "curtail sessions --since 7d", "list the sessions of the last week"),
    ("sessions", "curtail sessions --tokens --sort tokens -n 5", "list the five with the most tokens"),
    ("sessions", "curtail sessions --project . --output-format paths", "print the paths of a project's"),
    ("show", "curtail show chat.jsonl", "list messages, parts and pairs"),
    ("show", "curtail show --output-format json data/", "write one JSON object per transcript"),
    ("show", "curtail show --message 1 chat.jsonl", "print the message that a summary points to"),
    ("count", "curtail count data/", "count each file"),
    ("count", "curtail count --by tool chat.jsonl", "count each tool"),
    ("count", "curtail count --model gpt-4o --output-format csv data/", "count as gpt-4o does"),
    ("verify", "curtail window -n 20 chat.jsonl | curtail verify chat.jsonl -", "show what a cut lost"),
    ("verify", "curtail verify --min-kept 90% --require rule data/ data/", "fail on a loss"),
    ("verify", "curtail verify --all data/", "compare compactions"),
    ("replay", "curtail replay data/", "compare the presets"),
    ("replay", "curtail replay --policy 'limit -t 60k' --missing chat.jsonl", "list what one policy loses"),
    ("replay", "curtail replay --sweep 'window -n {20,40}' --price gpt-5 data/", "find the best of several"),
    ("dialects", "curtail dialects", "list all dialects"),
    ("dialects", "curtail dialects | grep anthropic", "show how one is detected"),
    ("dialects", "curtail dialects --output-format json", "write one JSON object per dialect"),
    ("tokenizers", "curtail tokenizers", "list all tokenizers"),
    ("tokenizers", "curtail tokenizers | grep gpt-4o", "find the tokenizer of a model"),
    ("tokenizers", "curtail tokenizers --output-format json", "write a JSON array"),
    ("memory", "curtail memory apply --thread demo chat.jsonl", "store the updates of a transcript"),
    ("memory", "curtail memory recall --thread demo chat.jsonl", "insert the stored state"),
    ("memory", "curtail memory list", "list the stored states"),
    ("memory apply", "curtail memory apply --thread demo chat.jsonl", "update the stored state"),
    ("memory apply", "curtail memory apply --explain chat.jsonl", "print the state, store nothing"),
    ("memory apply", "curtail memory apply --output-format json data/", "print a state per transcript"),
    ("memory recall", "curtail memory recall --thread demo chat.jsonl -o next.jsonl", "insert the stored state"),
    ("memory recall", "curtail memory recall --resource ada --budget 500 chat.jsonl", "insert at most 500 tokens"),
    ("memory recall", "curtail window -n 20 chat.jsonl | curtail memory recall --thread demo", "cut, then insert"),
    ("memory update", r#"curtail memory update --thread demo '{"name":"Ada"}'"#, "merge an object into the state"),
    ("memory update", r#"curtail memory update --resource ada '{"city":"Graz"}'"#, "update a shared state"),
    (
        "memory update",
        r#"echo '{"name":"Ada"}' | curtail memory update --thread demo -"#,
        "read the object from a pipe",
    ),
    ("memory show", "curtail memory show --thread demo", "print the stored state"),
    ("memory show", "curtail memory show --resource ada --output-format json", "print a shared state as JSON"),
    ("memory show", "curtail memory show --thread demo --set-aside", "print states that were unusable"),
    ("memory set", "curtail memory set --thread demo 'Prefers trains.'", "replace the stored state"),
    ("memory set", r#"curtail memory set --resource ada '{"city":"Graz"}'"#, "replace it with an object"),
    ("memory set", "echo 'Prefers trains.' | curtail memory set --thread demo -", "read the state from a pipe"),
    ("memory clear", "curtail memory clear --thread demo", "delete the stored state"),
    ("memory clear", "curtail memory clear --resource ada", "delete a shared state"),
    ("memory clear", "curtail memory clear --thread demo --forget", "delete the record of updates as well"),
    ("memory spawn", "curtail memory spawn --resource ada --to child", "copy a resource's state"),
    ("memory spawn", "curtail memory spawn --resource ada --to child --force", "replace the child's state"),
    ("memory spawn", "curtail memory spawn --resource ada --to second", "start another child"),
    ("memory list", "curtail memory list", "list all states"),
    ("memory list", "curtail memory list --older-than 30d", "list states unchanged for 30 days"),
    ("memory list", "curtail memory list --scope resource --output-format json", "list shared states as JSON"),
    ("memory prune", "curtail memory prune --older-than 30d --dry-run", "list what would be deleted"),
    ("memory prune", "curtail memory prune --older-than 12w", "delete states unchanged for 12 weeks"),
    ("memory prune", "curtail memory prune --older-than 90d --scope thread", "delete only states of threads"),
    ("memory tool-schema", "curtail memory tool-schema --dialect anthropic", "print the tool for Anthropic"),
    ("memory tool-schema", "curtail memory tool-schema --name updateWorkingMemory", "print it under one name"),
    ("memory tool-schema", "curtail memory tool-schema --dialect gemini > tool.json", "write it to a file"),
    ("store", "curtail store export backup.jsonl", "write all states to a file"),
    ("store", "curtail store import backup.jsonl --on-clash keep", "read them, keep existing states"),
    ("store", "curtail store export | wc -l", "count the states"),
    ("store export", "curtail store export backup.jsonl", "write all states to a file"),
    ("store export", "curtail store export | gzip > backup.jsonl.gz", "compress the backup"),
    ("store export", "curtail store export | wc -l", "count the states"),
    ("store import", "curtail store import backup.jsonl --on-clash replace", "replace existing states"),
    ("store import", "curtail store import backup.jsonl --on-clash keep", "keep existing states"),
    ("store import", "curtail store import --on-clash keep < backup.jsonl", "read standard input"),
    ("init", "curtail init", "write curtail.toml"),
    ("init", "curtail init agent.toml", "write another file"),
    ("init", "curtail init demo.toml && curtail run -c demo.toml --print", "write a file and show its chain"),
    ("config", "curtail config show", "show each value and its origin"),
    ("config", "curtail config show -c curtail.toml", "show a certain file"),
    ("config", "CURTAIL_TOKENIZER=cl100k_base curtail config show", "show what a variable overrides"),
    ("config show", "curtail config show", "show each value and its origin"),
    ("config show", "curtail config show -c curtail.toml", "show a certain file"),
    ("config show", "CURTAIL_TOKENIZER=cl100k_base curtail config show", "show what a variable overrides"),
    ("schema", "curtail schema", "list the outputs"),
    ("schema", "curtail schema check > check.schema.json", "write the schema of what `check` reports"),
    ("schema", "curtail schema configuration > curtail.schema.json", "write that of `curtail.toml`"),
    ("completions", "curtail completions bash > ~/.local/share/bash-completion/completions/curtail", "bash"),
    ("completions", "curtail completions zsh > ~/.zfunc/_curtail", "zsh"),
    ("completions", "curtail completions fish > ~/.config/fish/completions/curtail.fish", "fish"),
    ("man", "curtail man --out ~/.local/share/man/man1", "install all pages"),
    ("man", "curtail man --out man", "write all pages below man/"),
    ("man", "curtail man > curtail.1", "write the first page"),
];

/// Whether a command line of this `width` fits on a line with its purpose.
fn fits(width: usize, purpose: &str) -> bool {
    width + purpose.len() + "    # ".len() <= SCREEN
}

/// The examples of the command at `path`, with a heading; nothing for a command without examples.
fn examples_of(path: &str, styles: &Styles) -> StyledStr {
    let mut text = StyledStr::new();
    let examples: Vec<&Example> = EXAMPLES.iter().filter(|(command, ..)| *command == path).collect();
    if examples.is_empty() {
        return text;
    }
    let header = styles.get_header();
    let widest = examples.iter().map(|(_, line, _)| line.len()).max().unwrap_or_default();
    let are_aligned = examples.iter().all(|(_, _, purpose)| fits(widest, purpose));
    // Writing to a styled string cannot fail.
    let _ = write!(text, "{header}Examples:{header:#}");
    for (_, line, purpose) in examples {
        let width = if are_aligned { widest } else { line.len() };
        let _ = match fits(width, purpose) {
            true => write!(text, "\n  {line:width$}  # {purpose}"),
            // A command that the terminal breaks cannot be pasted.
            false => write!(text, "\n  # {purpose}\n  {line}"),
        };
    }
    text
}

// The long form of `--version`: the version, the commit, the features and the encodings of this build.

static LONG_VERSION: LazyLock<String> = LazyLock::new(|| {
    let features = if cfg!(feature = "parquet") { "parquet" } else { "none (without parquet)" };
    let encodings = tokenizers::all().into_iter().filter(|listed| listed.kind == "tiktoken");
    let encodings: Vec<&str> = encodings.map(|listed| listed.name).collect();
    let version = env!("CARGO_PKG_VERSION");
    let encodings = encodings.join(", ");
    let commit = option_env!("CURTAIL_COMMIT").unwrap_or("not recorded (development build)");
    format!("{version}\ncommit: {commit}\nfeatures: {features}\nencodings: {encodings}")
});

/// The long form, without the name of the program.
pub(super) fn long_version() -> &'static str {
    &LONG_VERSION
}
