//! What other programs call their commands, flags and values, each with the name here or with what to do instead.

/// Names that other programs have for flags and values, each with the name here.
pub(super) const SYNONYMS: &[(&str, &str)] = &[
    ("--budget", "--max-tokens"),
    ("--keep-last", "--size"),
    ("--last", "--size"),
    ("--limit", "--max-tokens"),
    ("--max", "--max-tokens"),
    ("--messages", "--size"),
    ("--tail", "--size"),
    ("--tokens", "--max-tokens"),
    ("--tool", "--include-tool"),
    ("--tools", "--include-tool"),
    ("--turns", "--unit"),
    ("audio", "media"),
    ("files", "media"),
    ("images", "media"),
    ("thinking", "reasoning"),
    ("thought", "reasoning"),
    ("thoughts", "reasoning"),
];

/// What other programs call the number of messages to keep.
const COUNTS_OF_MESSAGES: &[&str] = &["-n", "--size", "--keep-last", "--last", "--messages", "--tail"];

/// Flags that a command does not have, each with what to do instead. The commands are those with this name or this flag, or all
/// that do not call the flag by another name.
pub(super) const MISSING: &[(&str, &[&str], &str)] = &[
    (
        "check",
        &["-o", "--output", "-O", "--output-dir", "-i", "--in-place"],
        "`check --fix` repairs in place; `curtail repair FILE -o FIXED` writes a repaired copy",
    ),
    (
        "--deny",
        &["--select", "--ignore", "--rule", "--rules", "--enable", "--disable", "--only", "--extend-select"],
        "-D, -W and -A RULE choose what is denied, warned of and allowed; `-A all -D pairing` checks one group",
    ),
    ("--output-format", &["--json"], "`--output-format json` writes JSON"),
    ("--explain", &["--json"], "a cut has the format of its input; --explain=json and --stats=json report it as JSON"),
    ("limit", COUNTS_OF_MESSAGES, "`limit` takes tokens, -t N; `curtail window -n N` keeps the newest N messages"),
    ("split", COUNTS_OF_MESSAGES, "`split` takes tokens, -t N; `curtail window -n N` keeps the newest N messages"),
    ("window", &["-t"], "`window` takes messages, -n N; `curtail limit -t N` keeps what fits into N tokens"),
    ("summarize", &["-t"], "`summarize` takes interactions, -n N; `curtail limit -t N` keeps what fits into N tokens"),
    (
        "filter",
        &["--exclude"],
        "-x GLOB (--exclude-tool) drops calls of tools, and --exclude-path GLOB passes over files",
    ),
    ("filter", &["-n"], "`filter` takes no size; `curtail window -n N` and `curtail limit -t N` do"),
    ("export", &["--force"], "an export never overwrites a file; name another file, or delete the existing one first"),
    (
        "",
        &["--template"],
        "`count`, `check`, `limit` and `split` count what a chat template renders; this command counts message by message",
    ),
    ("", &["--max-tokens", "--tokens", "--budget"], "`limit` and `split` take a budget of tokens: --max-tokens N"),
];

/// Names that other programs have for commands, each with the command here.
pub(super) const COMMANDS: &[(&str, &str)] = &[
    ("cat", "show"),
    ("cost", "replay"),
    ("history", "sessions"),
    ("inspect", "show"),
    ("list", "sessions"),
    ("ls", "sessions"),
    ("open", "view"),
    ("print", "show"),
    ("simulate", "replay"),
    ("compact", "summarize"),
    ("compress", "summarize"),
    ("fix", "repair"),
    ("lint", "check"),
    ("stats", "count"),
    ("tokens", "count"),
    ("validate", "check"),
];

/// Names of commands that have no equivalent here, below this command or, if it is empty, the program, each with what to do.
pub(super) const ADVICE: &[(&str, &[&str], &str)] = &[
    ("store", &["list", "ls", "show", "get"], "`curtail memory list` and `curtail memory show` print what is stored"),
    (
        "memory",
        &["export", "import"],
        "`curtail store export` and `curtail store import` write and read all that is stored",
    ),
    ("config", &["check", "validate", "test", "print"], "`curtail config show` checks the file and prints its values"),
    (
        "",
        &["convert", "export", "import", "translate", "transform"],
        "curtail converts no formats: what it cuts keeps its format; `dialects` lists the formats, and `show` tells how a file is \
         read",
    ),
    ("", &["version"], "`curtail --version` prints the version"),
    (
        "",
        &["explain", "why", "dry-run"],
        "`curtail window --explain --dry-run FILE` explains a cut; other commands that cut take these flags as well",
    ),
    (
        "",
        &["redact", "mask", "anonymize", "sanitize", "scrub", "censor"],
        "`curtail view FILE --mask -o PAGE` blanks what looks like a key on a page; transcripts themselves are not masked: `filter` \
         drops tools, roles, media and reasoning from them",
    ),
    (
        "",
        &["search", "find", "grep", "rg"],
        "`curtail view FOLDER -O PAGES` writes pages with a search, and an index that searches all texts of all of them",
    ),
    ("", &["error", "400", "answer"], "`curtail check --error TEXT` finds what an answer of a provider means"),
    ("", &["diff", "compare"], "`curtail view ONE OTHER` compares two transcripts on a page"),
    (
        "",
        &["dedupe", "dedup"],
        "`filter --dedupe-results` clears repeated results, `filter --drop-records-with D003` drops copies",
    ),
    ("", &["preset", "presets"], "`curtail run --list-presets` lists the presets"),
    ("", &["clip", "cut", "prune", "shorten", "trim", "truncate"], "`window` cuts by messages, `limit` by tokens"),
    ("", &["head", "tail"], "`window -n N` keeps the newest N messages; `filter --range A..B` keeps a range"),
];

/// Required flags, each with an example.
pub(super) const EXAMPLES: &[(&str, &str)] = &[
    ("--max-tokens", "a budget is `-t N`, as in `curtail limit -t 8k FILE`"),
    ("--to", SPAWN),
    (
        "--drop-records-with",
        "`filter` drops records with more than N tokens as `--drop-records-with too-long -t N`; `curtail limit -t N FILE` cuts to N tokens",
    ),
];

pub(super) const SPAWN: &str =
    "`curtail memory spawn --resource SHARED --to THREAD` copies a shared state to a new thread";
