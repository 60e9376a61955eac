//! Invalid files, and the error for each: the place, the allowed values, and the closest name.

use super::{folder, stderr};

/// A file, the flags of the run, and the error after the file's name.
const WRONG: &[(&str, &str, &str)] = &[
    (
        "[[history.processors]]\ntype = \"filter\"\nexlude = [\"debug_tool\"]\n",
        "",
        "3:1: a `filter` has no key `exlude`; did you mean `exclude`? known: type, exclude-tool, exclude, \
         include-tool, include, persist-results, role, strip, keep-last-results, \
         step, protect-tokens, supersede-reads, read-tool, dedupe-results, clear-inputs, placeholder, exempt-tool, clear-tool, trigger, \
         clear-at-least, cap-result, cap-tool, cap-keep, keep-last-media, max-media-bytes, max-media-pixels, range, drop, drop-turn, pin",
    ),
    (
        "[[history.processors]]\ntype = \"filter\"\nexclude = [\"debug_*\"]\ninclude = [\"search\"]\n",
        "",
        "3:1: `exclude` and `include` exclude each other; keep one of them",
    ),
    (
        "[[history.processors]]\ntype = \"fliter\"\n",
        "",
        "2:8: there is no processor `fliter`; did you mean `filter`? known: window, filter, limit, \
         summarize, memory, repair",
    ),
    (
        "[[history.processors]]\nsize = 40\n",
        "",
        "1:1: a processor needs a `type`: one of window, filter, limit, summarize, memory, repair",
    ),
    (
        "[[history.processors]]\ntype = \"window\"\nmax-tokens = 16000\n",
        "",
        "3:1: `max-tokens` is a key of a `limit`; a `window` takes type, size, strategy, unit, \
         step, max-expansion, cap-in-flight, preserve-system, no-preserve-system, pin, start-on, keep-first",
    ),
    (
        "[[history.processors]]\ntype = \"window\"\nsize = \"40\"\n",
        "",
        "3:8: `size` takes a whole number, found a string",
    ),
    ("[[history.processors]]\ntype = \"window\"\nsize = 0\n", "", "3:1: `size`: must be at least 1"),
    ("[[history.processors]]\ntype = \"window\"\nkeep-first = -1\n", "", "3:14: `keep-first` must not be negative"),
    (
        "[[history.processors]]\ntype = \"summarize\"\ntimeout = 5\n",
        "",
        "3:1: `timeout` needs `summarizer` openai, anthropic or command or `summarizer-cmd`",
    ),
    ("[[history.processors]]\ntype = \"limit\"\ntokenizer = \"gpt2\"\n", "", "1:1: this `limit` needs `max-tokens`"),
    (
        "[[history.processors]]\ntype = \"limit\"\nmax-tokens = \"16 kilo\"\n",
        "",
        "3:1: `max-tokens`: expected a whole number of tokens, such as 8000, 8k or 1.5m",
    ),
    (
        "[[history.processors]]\ntype = \"limit\"\nmax-tokens = 9\non-overflow = \"trunkate\"\n",
        "",
        "4:15: `on-overflow` cannot be `trunkate`; did you mean `truncate`? known: error, truncate, \
         keep-newest, empty",
    ),
    (
        "[[history.processors]]\ntype = \"limit\"\nmax-tokens = 9\nmodel = \"gpt-4\"\ntokenizer = \"gpt2\"\n",
        "",
        "1:1: model and tokenizer exclude each other; pass one of them",
    ),
    (
        "[[history.processors]]\ntype = \"filter\"\nexclude = []\n",
        "",
        "3:11: `exclude` is empty; give at least one value, or remove the key",
    ),
    (
        "[[history.processors]]\ntype = \"filter\"\nplaceholder = \"gone\"\n",
        "",
        "3:1: `placeholder` needs `keep-last-results`, `protect-tokens`, `supersede-reads` or `dedupe-results`",
    ),
    (
        "[[history.processors]]\ntype = \"window\"\npreserve-system = true\nno-preserve-system = true\n",
        "",
        "3:1: `no-preserve-system` and `preserve-system` set the same option; keep one of them",
    ),
    (
        "[histroy]\nprocessors = []\n",
        "",
        "1:2: there is no table `histroy`; did you mean `history`? known: history, networks, agents, check, dialects",
    ),
    (
        "[history.processors]\ntype = \"filter\"\n",
        "",
        "1:1: `processors` takes an array of tables, each under a `[[….processors]]` of its own, found a table",
    ),
    (
        "[history]\nprocessors = [1]\n",
        "",
        "2:15: `processors` takes an array of tables, each under a `[[….processors]]` of its own, found the number 1",
    ),
    (
        "[history]\nprocessors = [0x10]\n",
        "",
        "2:15: `processors` takes an array of tables, each under a `[[….processors]]` of its own, found the number 0x10",
    ),
    (
        "[networks.support]\nprocessor = []\n",
        "",
        "2:1: a network has no key `processor`; did you mean `processors`? known: processors, agents",
    ),
    ("[[history.processors]\ntype = \"filter\"\n", "", "1:22: unclosed array table, expected `]`"),
    (
        "[networks.support]\n",
        "--network suport",
        " there is no network `suport`; did you mean `support`? known: support",
    ),
    (
        "[agents.writer]\n[agents.editor]\n",
        "--agent writr",
        " there is no agent `writr`; did you mean `writer`? known: editor, writer",
    ),
    (
        "[networks.support.agents.greeter]\n",
        "--agent greeter",
        " no agent `greeter` at the top level; there is one with --network support",
    ),
    (
        "[networks.support.agents.greeter]\n[networks.sales]\n",
        "--network sales --agent greeter",
        " no agent `greeter` in `sales`; there is one with --network support",
    ),
    (
        "[networks.support.agents.greeter]\n[agents.writer]\n",
        "--agent greter",
        " no agent `greter` at the top level; did you mean `greeter`? there is one with --network support",
    ),
    (
        "[networks.support.agents.greeter]\n[networks.sales.agents.writer]\n",
        "--network sales --agent greter",
        " no agent `greter` in `sales`; did you mean `greeter`? there is one with --network support",
    ),
    ("[networks.support.agents.greeter]\n", "--agent zzz", " there is no agent `zzz`; known: greeter"),
];

#[test]
fn wrong_files_are_told_what_would_be_right() {
    for (toml, flags, expected) in WRONG {
        let folder = folder(toml);
        let args: Vec<&str> = ["run", "--print"].into_iter().chain(flags.split_whitespace()).collect();
        assert_eq!(stderr(folder.path(), &args), format!("curtail: curtail.toml:{expected}\n"), "{toml}");
    }
}

#[test]
fn what_cannot_be_had_is_told_with_its_place() {
    for (table, start, reason) in [
        ("type = 'limit'\nmax-tokens = 9\ntokenizer = 'cl100k'", "5:13: limit", "did you mean \"cl100k_base\""),
        ("type = 'filter'\nexclude = ['b', 'b,[a']", "4:17: filter", "invalid glob `[a`"),
        ("type = 'filter'\nexclude = ['x[b]', '[b']", "4:20: filter", "invalid glob `[b`"),
    ] {
        let folder = folder(&format!("\n[[history.processors]]\n{table}\n"));
        let error = stderr(folder.path(), &["run"]);
        assert!(error.starts_with(&format!("curtail: curtail.toml:{start} at history: ")), "{error}");
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn levels_of_rules_are_read_from_the_same_file() {
    let cases = [
        ("[check]\ndeni = []\n", "curtail: curtail.toml:2:1: `check` has no key `deni`; did you mean `deny`? known:"),
        ("[check]\ndeny = 3\n", "curtail: curtail.toml:2:8: `deny` takes a string, or several in an array, found"),
        ("[check]\nstrict = 'yes'\n", "curtail: curtail.toml:2:10: `strict` takes true or false, found a string"),
        ("[check]\nmax-tokens = '8 kilo'\n", "curtail: curtail.toml:2:1: `max-tokens`: expected a whole number of"),
        ("[check]\ndeny = 'paring'\n", "curtail: curtail.toml:2:9: unknown rule `paring`; did you mean `pairing`?"),
        (
            "# we never set 'paring' here\n[check]\ndeny = 'paring'\n",
            "curtail: curtail.toml:3:9: unknown rule `paring`; did you mean `pairing`?",
        ),
        ("check = 3\n", "curtail: curtail.toml:1:9: `check` takes a table, found the number 3"),
        ("[check]\npaths = 'a'\n", "curtail: curtail.toml:2:9: `paths` takes an array of tables, each under a"),
        ("[[check.paths]]\nskip = true\n", "curtail: curtail.toml:1:1: this `paths` needs `path`"),
        (
            "[[check.paths]]\npath = 'a'\nskp = true\n",
            "curtail: curtail.toml:3:1: `paths` has no key `skp`; did you mean",
        ),
        (
            "[check]\ndeny = ['orphan-results']\n",
            "curtail: curtail.toml:2:10: unknown rule `orphan-results`; did you mean `orphan-result`?",
        ),
    ];
    for (toml, expected) in cases {
        let folder = folder(toml);
        std::fs::write(folder.path().join("a.jsonl"), "{\"role\":\"user\",\"content\":\"hi\"}\n").expect("a file");
        let error = stderr(folder.path(), &["check", "a.jsonl"]);
        assert!(error.contains(expected), "{toml}: {error}");
        assert!(error.contains("curtail.toml"), "{toml}: {error}");
    }
}
