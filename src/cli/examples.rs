//! The examples at the end of each command's help.

use std::fmt::Write as _;

use clap::builder::{StyledStr, Styles};

/// A command line and what it does.
type Example = (&'static str, &'static str);

/// The examples of each command: three for every command of the first screen.
const EXAMPLES: &[(&str, &[Example])] = &[
    (
        "window",
        &[
            ("curtail window -n 40 chat.jsonl", "keep the last 40 items"),
            ("curtail window -n 8 --unit turns chat.jsonl -o short.jsonl", "keep the last 8 turns"),
            ("curtail window -n 40 --dry-run data/", "list what would be dropped, and why"),
        ],
    ),
    (
        "limit",
        &[
            ("curtail limit -t 8k chat.jsonl", "keep what fits 8,000 tokens"),
            ("curtail limit -t 16k --model gpt-4o chat.jsonl", "count as gpt-4o does"),
            ("curtail limit -t 8k data/ -O cut/ --stats", "cut a folder, with totals"),
        ],
    ),
    (
        "filter",
        &[
            ("curtail filter -x 'debug_*' chat.jsonl", "drop calls of some tools"),
            ("curtail filter --strip reasoning,media chat.jsonl", "drop reasoning and images"),
            ("curtail filter --supersede-reads --keep-last-results 5 chat.jsonl", "clear old results"),
        ],
    ),
    (
        "summarize",
        &[
            ("curtail summarize -n 20 chat.jsonl", "keep 20 messages and summaries"),
            ("curtail summarize --dry-run chat.jsonl", "list the summaries that are due"),
            ("curtail summarize --thread demo chat.jsonl", "continue a stored memory"),
        ],
    ),
    (
        "repair",
        &[
            ("curtail repair chat.jsonl -o fixed.jsonl", "drop broken calls and results"),
            ("curtail repair --mode stub data/ --in-place=.bak", "answer calls, keep backups"),
            ("curtail repair --dry-run data/", "list what would be repaired"),
        ],
    ),
    (
        "run",
        &[
            ("curtail run --print", "show the chain"),
            ("curtail run chat.jsonl -o short.jsonl", "cut with the closest curtail.toml"),
            ("curtail run -c curtail.toml data/ -O cut/ --stats", "cut a folder, with totals"),
        ],
    ),
    (
        "check",
        &[
            ("curtail check data/", "report findings, exit with 1 if any is denied"),
            ("curtail check --fix data/", "repair broken pairs in place"),
            ("curtail check --output-format github data/", "annotate a pull request"),
        ],
    ),
    (
        "rule",
        &[
            ("curtail rule", "list all rules"),
            ("curtail rule orphan-result", "show a rule by name"),
            ("curtail rule T002", "show a rule by code"),
        ],
    ),
    (
        "view",
        &[
            ("curtail view chat.jsonl -o page.html", "write a page to look at"),
            ("curtail view chat.jsonl --policy 'limit -t 8k' -o cut.html", "show what would be dropped"),
            ("curtail view chat.jsonl --text", "read it in the terminal"),
        ],
    ),
    (
        "show",
        &[
            ("curtail show chat.jsonl", "list messages, parts and pairs"),
            ("curtail show --output-format json data/", "write one JSON object per transcript"),
            ("curtail show --dialect openai chat.jsonl", "read it as one dialect"),
        ],
    ),
    (
        "count",
        &[
            ("curtail count data/", "count each file"),
            ("curtail count --by tool chat.jsonl", "count each tool"),
            ("curtail count --model gpt-4o --output-format csv data/", "count as gpt-4o does"),
        ],
    ),
    (
        "replay",
        &[
            ("curtail replay data/", "compare the presets"),
            ("curtail replay --policy 'limit -t 60k' --missing chat.jsonl", "list what one policy loses"),
            ("curtail replay --sweep 'window -n {20,40}' --price gpt-5 data/", "find the best of several"),
        ],
    ),
    (
        "dialects",
        &[
            ("curtail dialects", "list all dialects"),
            ("curtail dialects | grep anthropic", "show how one is detected"),
            ("curtail dialects --output-format json", "write one JSON object per dialect"),
        ],
    ),
    (
        "tokenizers",
        &[
            ("curtail tokenizers", "list all tokenizers"),
            ("curtail tokenizers | grep gpt-4o", "find the tokenizer of a model"),
            ("curtail tokenizers --output-format json", "write a JSON array"),
        ],
    ),
    (
        "memory",
        &[
            ("curtail memory apply --thread demo chat.jsonl", "store the updates of a transcript"),
            ("curtail memory recall --thread demo chat.jsonl", "insert the stored state"),
            ("curtail memory list", "list the stored states"),
        ],
    ),
    ("memory apply", &[("curtail memory apply --thread demo chat.jsonl", "update the stored state")]),
    ("memory recall", &[("curtail memory recall --thread demo chat.jsonl -o next.jsonl", "insert the stored state")]),
    ("memory update", &[(r#"curtail memory update --thread demo '{"name":"Ada"}'"#, "merge an object into the state")]),
    ("memory show", &[("curtail memory show --thread demo", "print the stored state")]),
    ("memory set", &[("curtail memory set --thread demo 'Prefers trains.'", "replace the stored state")]),
    ("memory clear", &[("curtail memory clear --thread demo", "delete the stored state")]),
    ("memory spawn", &[("curtail memory spawn --resource ada --to child", "copy a resource's state")]),
    ("memory list", &[("curtail memory list --older-than 30d", "list states unchanged for 30 days")]),
    ("memory prune", &[("curtail memory prune --older-than 30d --dry-run", "list what would be deleted")]),
    ("memory tool-schema", &[("curtail memory tool-schema --dialect anthropic", "print the tool for Anthropic")]),
    (
        "store",
        &[
            ("curtail store export backup.jsonl", "write all states to a file"),
            ("curtail store import backup.jsonl --on-clash keep", "read them, keep existing states"),
            ("curtail store export | wc -l", "count the states"),
        ],
    ),
    ("store export", &[("curtail store export backup.jsonl", "write all states to a file")]),
    ("store import", &[("curtail store import backup.jsonl --on-clash replace", "read states from a file")]),
    (
        "init",
        &[
            ("curtail init", "write curtail.toml"),
            ("curtail init agent.toml", "write another file"),
            ("curtail init demo.toml && curtail run -c demo.toml --print", "write a file and show its chain"),
        ],
    ),
    (
        "config",
        &[
            ("curtail config show", "show each value and its origin"),
            ("curtail config show -c curtail.toml", "show a certain file"),
            ("curtail config --schema > curtail.schema.json", "write the schema for an editor"),
        ],
    ),
    ("config show", &[("curtail config show", "show each value and its origin")]),
    ("config schema", &[("curtail config schema > curtail.schema.json", "write the schema for an editor")]),
    (
        "completions",
        &[
            ("curtail completions bash > ~/.local/share/bash-completion/completions/curtail", "bash"),
            ("curtail completions zsh > ~/.zfunc/_curtail", "zsh"),
            ("curtail completions fish > ~/.config/fish/completions/curtail.fish", "fish"),
        ],
    ),
    (
        "man",
        &[
            ("curtail man --out ~/.local/share/man/man1", "install all pages"),
            ("curtail man --out man", "write all pages below man/"),
            ("curtail man > curtail.1", "write the first page"),
        ],
    ),
];

/// The examples of the command at `path`, with a heading; nothing for a command without examples.
pub(super) fn of_command(path: &str, styles: &Styles) -> StyledStr {
    let mut text = StyledStr::new();
    let Some((_, examples)) = EXAMPLES.iter().find(|(name, _)| *name == path) else { return text };
    let header = styles.get_header();
    let width = examples.iter().map(|(line, _)| line.len()).max().unwrap_or_default();
    // Writing to a styled string cannot fail.
    let _ = write!(text, "{header}Examples:{header:#}");
    for (line, what) in *examples {
        let _ = write!(text, "\n  {line:width$}  # {what}");
    }
    text
}
