//! Flags that can have no effect are errors or warnings, on the command line, in policies and in configurations.

use serde_json::{Value, json};

use crate::program::{Place, chats, run, text};

/// Two calls with their results, and an answer.
fn trip() -> String {
    let call = |id: &str, name: &str| {
        json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}}]})
    };
    let lines = [
        json!({"role": "user", "content": "When does the ferry leave?"}),
        call("c1", "timetable"),
        json!({"role": "tool", "tool_call_id": "c1", "content": "At nine in the morning, from the second pier, and again at noon and at three."}),
        call("c2", "weather"),
        json!({"role": "tool", "tool_call_id": "c2", "content": "The sea is calm, the wind is light, and no rain is expected before tomorrow night."}),
        json!({"role": "assistant", "content": "At nine, and the sea is calm."}),
    ];
    lines.map(|line| line.to_string()).join("\n") + "\n"
}

struct Done {
    status: i32,
    out: String,
    errors: String,
}

fn curtail(place: &Place, arguments: &str) -> Done {
    let words: Vec<&str> = arguments.split(' ').filter(|word| !word.is_empty()).collect();
    let output = place.curtail(&words).output().unwrap();
    Done { status: output.status.code().unwrap(), out: text(&output.stdout), errors: text(&output.stderr) }
}

fn place() -> Place {
    let place = Place::new();
    place.write("a.jsonl", trip().as_bytes());
    place
}

/// Command lines with a flag that changes only what another flag does, and what the error names.
const ALONE: &[(&str, &str)] = &[
    ("filter --exempt-tool x", "--exempt-tool needs --keep-last-results, --protect-tokens, --supersede-reads,"),
    ("filter --exempt-tool x -x y", "--exempt-tool needs"),
    ("filter --exempt-tool x", "-x '*' drops the calls of all tools"),
    ("filter --cap-keep tail", "-x '*' drops the calls of all tools"),
    ("filter --pin system", "--pin needs --role, --range, --drop or --drop-turn; -x '*'"),
    ("filter --placeholder gone", "-x '*' drops the calls of all tools"),
    ("filter --clear-inputs", "-x '*' drops the calls of all tools"),
    ("filter --clear-tool x", "-x '*' drops the calls of all tools"),
    ("filter --trigger 5", "-x '*' drops the calls of all tools"),
    ("filter --clear-at-least 5", "-x '*' drops the calls of all tools"),
    ("filter --repair stub", "--repair needs a flag that chooses what to drop; -x '*'"),
    ("filter --thinking drop", "-x '*' drops the calls of all tools"),
    ("filter --live", "-x '*' drops the calls of all tools"),
    ("filter --persist-results --strip media", "--persist-results needs --exclude-tool or --include-tool"),
    ("filter --step 2 --supersede-reads", "--step needs --keep-last-results"),
    ("filter --read-tool x", "--read-tool needs --supersede-reads"),
    ("window --max-expansion 2 --strategy sliding", "--max-expansion needs --strategy history"),
    ("window --cap-in-flight --strategy sliding", "--cap-in-flight needs --strategy history"),
    ("window --repair-pending", "--repair-pending needs --repair"),
    ("window --follow-links -O out", "--follow-links needs --in-place"),
    ("window --resume -o out.jsonl", "--resume needs --output-dir or --in-place"),
    ("limit -t 5 --tools a.jsonl", "--tools needs --template"),
    ("count --messages-key x --framing lines", "--messages-key needs --framing auto, records or document"),
    ("limit -t 5 --step 0", "--step must be at least 1"),
    ("limit -t 5 --step 0%", "--step must be more than 0 %"),
    ("split --at boundaries --on-overflow keep", "--on-overflow needs --max-tokens"),
    ("check --repair-pending", "--repair-pending needs --fix or --diff"),
    ("check --diff --max-findings 3", "--max-findings cannot be used with --diff"),
    ("check --statistics --output-format sarif", "--statistics needs --output-format text or json"),
    ("check --statistics --write-baseline b.json", "--statistics cannot be used with --write-baseline"),
    ("check --max-findings 3 --write-baseline b.json", "--max-findings cannot be used with --write-baseline"),
    ("check --tokenizer approx", "pass --max-tokens"),
    ("summarize --rewind", "--rewind needs --thread"),
    ("summarize --retries 2 --summarizer command", "--retries needs --summarizer openai or anthropic"),
    ("summarize --summarizer extractive --summarizer-cmd cat", "--summarizer-cmd needs --summarizer command"),
    ("view --full", "--full needs --text"),
    ("view --agent x", "--agent needs --config"),
    ("run --preset keep-40 --agent x", "--preset cannot be used with --agent"),
    ("run --list-presets", "--list-presets takes no other flag and no file"),
    ("replay --allow-summarizer", "--allow-summarizer needs --policy, --sweep or --config"),
    ("replay --policy filter,--pin,system", "--pin needs --role"),
    ("replay --missing --output-format csv", "--missing needs --output-format text or json"),
    ("show --live --message 0", "--live cannot be used with --message"),
    ("count --usage --output-format csv", "--usage needs --output-format table or json"),
    ("check --error 400 --profile mistral", "--profile cannot be used with --error"),
    ("filter --strip media --tokenizer approx", "--tokenizer needs --max-tokens"),
    ("filter --cap-result 100 --model gpt-4", "applies to rules of --drop-records-with"),
    ("run --print --preset keep-40", "--print takes no file, and no other flag than --network, --agent, --preset"),
    ("summarize --print-prompt --prompt a.jsonl", "--print-prompt takes no file, and no other flag than --prompt"),
    ("summarize --handoff --thread t", "--handoff cannot be used with --thread"),
    ("summarize --handoff --live", "--live cannot be used with --handoff"),
    ("summarize --emit state --live", "--live cannot be used with --emit state"),
    ("summarize --follow --on-error skip", "--on-error cannot be used with --follow"),
    ("summarize --thread t --dry-run", "--dry-run cannot be used with --thread"),
    ("summarize --dry-run --stats", "--stats cannot be used with --dry-run"),
];

#[test]
fn a_flag_without_effect_is_an_error_that_names_what_it_needs() {
    let place = place();
    for (arguments, words) in ALONE {
        // A comma stands for a space in an argument.
        let given: Vec<String> = arguments.split(' ').map(|word| word.replace(',', " ")).collect();
        let given: Vec<&str> = given.iter().map(String::as_str).chain(["a.jsonl"]).collect();
        let output = place.curtail(&given).output().unwrap();
        let errors = text(&output.stderr);
        assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(2), ""), "{arguments}: {errors}");
        assert!(errors.contains(words), "{arguments}: {errors}");
    }
    assert_eq!(place.list(), ["a.jsonl"]);
}

#[test]
fn a_flag_that_does_no_harm_without_effect_is_reported() {
    let place = place();
    for (flag, words) in [
        ("--force", "--force has no effect without --output, --output-dir, --in-place or --rejects"),
        ("--no-sync", "--no-sync has no effect without --output, --output-dir, --in-place or --as-new-session"),
    ] {
        let done = curtail(&place, &format!("window {flag} a.jsonl"));
        assert_eq!((done.status, done.out), (0, trip()));
        assert_eq!(done.errors, format!("curtail: {words}\n"));
        assert_eq!(curtail(&place, &format!("window {flag} -q a.jsonl")).errors, "");
    }
}

#[test]
fn lists_name_the_flags_that_do_not_change_them() {
    let place = place();
    for (arguments, words) in [
        ("sessions --tokens --output-format paths", "--tokens needs --output-format table or json"),
        ("sessions --paths --output-format json", "--paths needs --output-format table"),
        ("memory show --thread t --set-aside --output-format json", "--output-format cannot be used with --set-aside"),
        ("run --print -o b.jsonl", "--print takes no file"),
    ] {
        let done = curtail(&place, arguments);
        assert_eq!((done.status, done.out.as_str()), (2, ""), "{arguments}");
        assert!(done.errors.contains(words), "{arguments}: {}", done.errors);
    }
}

/// A reserve is a part of a budget, not of what a command without a budget counts.
#[test]
fn a_reserve_changes_no_count() {
    let place = place();
    for command in ["view --text a.jsonl", "verify a.jsonl a.jsonl", "replay a.jsonl"] {
        let done = curtail(&place, &format!("{command} --reserve 50"));
        assert_eq!(done.out, curtail(&place, command).out, "{command}");
        assert!(done.errors.contains("--reserve has no effect; it is a part of a budget"), "{command}");
    }
}

#[test]
fn a_replay_is_calibrated_in_any_case() {
    let place = place();
    let done = curtail(&place, "replay a.jsonl --tokenizer usage");
    assert_eq!((done.status, done.out), (0, curtail(&place, "replay a.jsonl").out));
    assert!(done.errors.contains("--tokenizer usage has no effect; a replay is always calibrated"), "{}", done.errors);
}

/// What is compared anyway, what nothing updates, and files that were named and not searched for.
#[test]
fn flags_that_change_nothing_are_reported() {
    let place = place();
    place.write("state.json", b"{}");
    for (arguments, words) in [
        ("verify a.jsonl a.jsonl --live", "--live has no effect; what the model still reads"),
        ("verify a.jsonl a.jsonl --hidden", "--hidden applies to files in directories"),
        ("verify a.jsonl a.jsonl --glob *.jsonl", "`*.jsonl` applies to files in directories"),
        ("verify a.jsonl a.jsonl --stdin-filename x", "standard input is not read"),
        ("memory show --thread t --read-only", "--read-only has no effect; nothing is updated"),
        ("memory set --thread t {} --template state.json", "--template has no effect; the state is the one"),
        ("memory recall --state state.json --template state.json a.jsonl", "--template has no effect with --state"),
        ("memory recall --state state.json --read-only a.jsonl", "--read-only has no effect with --state"),
        ("memory apply --state state.json --template state.json a.jsonl", "--template has no effect with --state"),
    ] {
        let done = curtail(&place, arguments);
        assert!(done.status == 0 && done.errors.contains(words), "{arguments}: {}", done.errors);
    }
}

/// Who unsets a variable in a file of settings often leaves it empty.
#[test]
fn an_empty_variable_is_not_set() {
    let place = place();
    let names = ["TOKENIZER", "ON_ERROR", "JOBS", "COLOR", "PROGRESS", "QUIET", "VERBOSE", "CONFIG", "ENDPOINT"];
    let variables = || names.map(|name| (format!("CURTAIL_{name}"), ""));
    for arguments in [&["limit", "-t", "50"][..], &["check", "--exit-zero"], &["summarize", "-n", "1"]] {
        let expected = place.curtail(arguments).arg("a.jsonl").output().unwrap();
        let done = place.curtail(arguments).arg("a.jsonl").envs(variables()).output().unwrap();
        assert_eq!(done, expected, "{arguments:?}");
    }
    place.write("curtail.toml", b"[[history.processors]]\ntype = 'limit'\nmax-tokens = 9\ntokenizer = 'gpt2'\n");
    let shown = place.curtail(&["config", "show"]).envs(variables()).output().unwrap();
    assert!(text(&shown.stdout).contains("tokenizer = \"gpt2\"  # curtail.toml:4"), "{}", text(&shown.stdout));
    let sent = ["summarize", "-n", "1", "--summarizer", "openai", "--summary-model", "m", "--dry-run", "a.jsonl"];
    let sent = place.curtail(&sent).envs(variables()).env("OPENAI_API_KEY", "k").output().unwrap();
    assert!(text(&sent.stdout).contains("to https://api.openai.com"), "{}", text(&sent.stderr));
}

/// Without `--quiet`, each of these says something.
#[test]
fn a_quiet_run_prints_only_errors() {
    let place = place();
    for arguments in [
        "init -q new.toml",
        "count -q --model claude-sonnet-4-5 a.jsonl",
        "memory spawn -q --resource a --to b",
        "window -q --hidden a.jsonl",
    ] {
        assert_eq!(curtail(&place, arguments).errors, "", "{arguments}");
    }
}

#[test]
fn beside_what_it_changes_each_flag_is_accepted() {
    let place = place();
    for arguments in [
        "filter --exempt-tool weather --keep-last-results 0",
        "filter --exempt-tool weather --cap-result 40",
        "filter --pin system --drop 0",
        "filter --persist-results",
        "filter --persist-results -x weather",
        "filter --repair stub -x weather",
        "filter --live --drop-records-with P001 --framing records --dry-run",
        "filter --protect-tokens 5 --placeholder gone",
        "window --max-expansion 2",
        "window --force --dry-run -o b.jsonl",
        "check --diff --repair-pending",
        "summarize --summarizer-cmd cat --timeout 5 --dry-run",
    ] {
        let done = curtail(&place, &format!("{arguments} a.jsonl"));
        assert!(!done.errors.contains(" needs "), "{arguments}: {}", done.errors);
    }
}

#[test]
fn a_key_without_effect_is_an_error_with_its_place() {
    let place = place();
    for (keys, words) in [
        ("type = 'filter'\nexempt-tool = 'x'", "3:1: `exempt-tool` needs `keep-last-results`, `protect-tokens`,"),
        ("type = 'filter'\nrole = 'user'\npersist-results = true", "4:1: `persist-results` needs `exclude-tool` or"),
        ("type = 'window'\nstrategy = 'sliding'\nmax-expansion = 2", "4:1: `max-expansion` needs `strategy` history"),
        ("type = 'summarize'\ntimeout = 5", "3:1: `timeout` needs"),
    ] {
        place.write("curtail.toml", format!("[[history.processors]]\n{keys}\n").as_bytes());
        let done = curtail(&place, "run a.jsonl");
        assert_eq!((done.status, done.out.as_str()), (2, ""), "{keys}");
        assert!(done.errors.contains(&format!("curtail.toml:{words}")), "{keys}: {}", done.errors);
    }
}

#[test]
fn a_variable_that_is_set_for_other_runs_conflicts_with_no_flag() {
    let place = place();
    for (name, value, arguments) in [
        ("CURTAIL_JOBS", "1", "run --list-presets"),
        ("CURTAIL_CONFIG", "missing.toml", "run --preset keep-40 a.jsonl"),
        ("CURTAIL_AGENT", "writer", "run --preset keep-40 a.jsonl"),
        ("CURTAIL_CONFIG", "missing.toml", "check --no-config a.jsonl"),
        ("CURTAIL_ENDPOINT", "http://localhost:1", "summarize a.jsonl"),
        ("CURTAIL_TOKENIZER", "approx", "check a.jsonl"),
    ] {
        let words: Vec<&str> = arguments.split(' ').collect();
        let output = place.curtail(&words).env(name, value).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{name} {arguments}: {}", text(&output.stderr));
    }
}

#[test]
fn filter_alone_drops_all_calls_and_says_how_many() {
    let place = place();
    let done = curtail(&place, "filter a.jsonl");
    assert_eq!((done.status, done.out.lines().count()), (0, 2));
    assert_eq!(done.errors, "curtail: filter: dropped all tool calls: 2 calls; -x GLOB drops those of some tools\n");
    assert_eq!(curtail(&place, "filter -q a.jsonl").errors, "");
    assert_eq!(curtail(&place, "filter -x * a.jsonl").errors, "");
    // A call that waits for a person stays.
    let pending = std::fs::read(crate::program::root().join("fixtures/dialects/ai-sdk/pending.jsonl")).unwrap();
    place.write("pending.jsonl", &pending);
    assert!(curtail(&place, "filter pending.jsonl").errors.contains("all tool calls: 1 call;"));
}

#[test]
fn numbers_past_the_end_are_reported_once() {
    let place = Place::new();
    place.write("a.jsonl", chats(3).as_bytes());
    let done = curtail(&place, "filter --drop 2,9999.. --drop-turn 99 a.jsonl");
    assert_eq!(
        done.errors,
        "curtail: filter: --drop 9999: there is no such message; the longest transcript has 13, numbered from 0\n\
         curtail: filter: --drop-turn 99: there is no such turn; the longest transcript has 4, numbered from 0\n"
    );
    let largest = curtail(&place, "filter --drop 18446744073709551615 a.jsonl");
    assert!(largest.status == 0 && largest.errors.contains("there is no such message"), "{}", largest.errors);
    // A number that only the longest transcript has is in range.
    assert_eq!(curtail(&place, "filter --drop 12 a.jsonl").errors, "");
    assert!(curtail(&place, "filter --range 50.. a.jsonl").errors.contains("--range 50: there is no such message"));
    assert!(!curtail(&place, "filter --range 0.. a.jsonl").errors.contains("--range"));
}

#[test]
fn globs_of_tools_may_be_listed() {
    let place = place();
    let both = curtail(&place, "filter -x timetable,weather a.jsonl");
    assert_eq!((both.out.lines().count(), both.errors.as_str()), (2, ""));
    assert_eq!(curtail(&place, "filter -x {time*,x},weather a.jsonl").out, both.out);
    assert_eq!(curtail(&place, "filter -k timetable,weather a.jsonl").out, trip());
    let cleared = curtail(&place, "filter --keep-last-results 0 --clear-tool timetable,weather a.jsonl");
    assert_eq!(cleared.out.matches("[cleared]").count(), 2);
    let exempt = curtail(&place, "filter --keep-last-results 0 --exempt-tool timetable,weather a.jsonl");
    assert_eq!(exempt.out, trip());
    let missed = curtail(&place, "filter -x timetable,wheather a.jsonl");
    assert!(missed.errors.contains("no tool matches `wheather`"), "{}", missed.errors);
    // A tool is there, whether or not something had to be asked of it.
    for flags in [
        "--dedupe-results --exempt-tool weather",
        "--keep-last-results 5 --exempt-tool weather --trigger 100000",
        "--cap-tool wea*=100 --cap-tool weather=50",
        "--supersede-reads --exempt-tool weather",
        "--keep-last-results 0 --exempt-tool weather --clear-tool w*",
    ] {
        assert_eq!(curtail(&place, &format!("filter {flags} a.jsonl")).errors, "", "{flags}");
    }
    assert!(curtail(&place, "filter --cap-tool a=40,b=50 a.jsonl").errors.contains("each number needs a --cap-tool"));
    let denied = curtail(&place, "check -A all -D P001,P002 a.jsonl");
    assert_eq!((denied.status, denied.errors.as_str()), (0, ""));
}

#[test]
fn a_value_after_a_space_is_no_file() {
    let place = place();
    for (arguments, words) in [
        ("check --fix drop a.jsonl", "--fix drop: the value follows `=`, as in --fix=drop"),
        ("limit -t 9 --stats json a.jsonl", "as in --stats=json"),
        ("limit -t 9 a.jsonl --explain json", "as in --explain=json"),
        ("limit -t 9 -i.bak a.jsonl", "`-i=.bak`"),
        ("limit -t 9 -ibak a.jsonl", "`-i=bak`"),
    ] {
        let done = curtail(&place, arguments);
        assert_eq!((done.status, done.out.as_str()), (2, ""), "{arguments}: {}", done.errors);
        assert!(done.errors.contains(words), "{arguments}: {}", done.errors);
    }
    // A file of that name is a file.
    place.write("json", trip().as_bytes());
    assert_eq!(curtail(&place, "limit -t 999 --stats json").status, 0);
    assert_eq!(place.read("a.jsonl"), trip().as_bytes());
}

/// `-iq` is `-i -q`.
#[test]
fn the_suffix_of_backups_is_no_tip_for_another_flag() {
    let place = place();
    for arguments in ["window -iq a.jsonl --siez 5", "window --siez 5 a.jsonl -iq"] {
        let errors = curtail(&place, arguments).errors;
        assert!(errors.contains("a similar argument exists: '--size'"), "{arguments}: {errors}");
        assert!(!errors.contains("suffix"), "{arguments}: {errors}");
    }
    assert_eq!(place.read("a.jsonl"), trip().as_bytes());
}

/// Providers without a format of their own have profiles, too.
#[test]
fn a_profile_is_a_dialect_or_a_provider() {
    let place = place();
    for command in ["check", "repair"] {
        let done = curtail(&place, &format!("{command} --profile groq a.jsonl"));
        assert_eq!(done.status, 0, "{command}: {}", done.errors);
        for (wrong, meant) in [("groqq", "groq"), ("mistrall", "mistral"), ("antropic", "anthropic")] {
            let done = curtail(&place, &format!("{command} --profile {wrong} a.jsonl"));
            let words = format!("there is no profile `{wrong}`; did you mean `{meant}`? known: openai, ");
            assert!(done.status == 2 && done.errors.contains(&words), "{command}: {}", done.errors);
        }
    }
}

#[test]
fn a_name_of_another_format_is_an_error() {
    let place = place();
    for name in ["out.parquet", "out.arrow", "out.FEATHER"] {
        let done = curtail(&place, &format!("window a.jsonl -o {name}"));
        assert_eq!(done.status, 2, "{name}");
        assert!(done.errors.contains("the output has the format of the input, JSON; name it accordingly"));
        assert!(!place.path(name).exists());
    }
}

#[test]
fn globs_of_files_that_match_nothing_are_reported() {
    let place = place();
    place.write("data/a.jsonl", trip().as_bytes());
    let cases = [
        ("window --glob *.txt data -O out", "no file in a directory matches `*.txt`"),
        ("count --exclude-path old data", "no file in a directory matches `old`"),
        ("count --glob *.jsonl a.jsonl", "`*.jsonl` applies to files in directories, and no directory is named"),
        ("count --column x a.jsonl", "--column x: no input is a Parquet or Arrow file"),
        ("count --stdin-filename x a.jsonl", "--stdin-filename x: standard input is not read"),
    ];
    for (arguments, words) in cases {
        let done = curtail(&place, arguments);
        assert!(done.status == 0 && done.errors.contains(words), "{arguments}: {}", done.errors);
        assert!(!curtail(&place, &format!("{arguments} --force -q")).errors.contains(words));
    }
    assert_eq!(curtail(&place, "count --glob *.jsonl data").errors, "");
}

#[test]
fn notes_of_one_kind_are_counted() {
    let place = Place::new();
    place.write("a.jsonl", chats(30).as_bytes());
    let done = curtail(&place, "limit -t 4 --on-overflow keep-newest a.jsonl");
    let noted: Vec<&str> = done.errors.lines().collect();
    assert!(noted.len() <= 6, "{}", done.errors);
    assert!(done.errors.contains("30 records, first at a.jsonl:1: "), "{}", done.errors);
    let all = curtail(&place, "limit -t 4 --on-overflow keep-newest -v a.jsonl");
    assert!(all.errors.lines().count() > 30 && !all.errors.contains("30 records, first"), "{}", all.errors);
}

#[test]
fn totals_have_the_faults_before_and_after() {
    let place = place();
    let orphan = json!({"role": "tool", "tool_call_id": "c9", "content": "lost"}).to_string();
    place.write("broken.jsonl", format!("{}{orphan}\n", trip()).as_bytes());
    let totals = |arguments: &str| -> Value {
        let done = curtail(&place, &format!("{arguments} --stats=json broken.jsonl"));
        serde_json::from_str(done.errors.lines().last().unwrap()).unwrap()
    };
    assert_eq!((totals("repair")["faults"].clone(), totals("repair")["faults_after"].clone()), (json!(1), json!(0)));
    assert_eq!(totals("window")["faults_after"], json!(1));
    let table = curtail(&place, "repair --stats broken.jsonl").errors;
    let row = table.lines().find(|line| line.contains("pairing faults")).unwrap();
    assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["pairing", "faults", "1", "0"]);
}

#[test]
fn a_line_that_was_cut_off_is_called_that() {
    let torn = "{\"messages\":[{\"role\":\"user\",\"content\":\"cut of\n{\"messages\":[]}\n";
    for arguments in [&["limit", "-t", "80"][..], &["check"]] {
        let output = run(arguments, torn);
        let printed = text(&output.stdout) + &text(&output.stderr);
        assert!(printed.contains("the line ends inside a string: it was cut off, or"), "{arguments:?}: {printed}");
    }
    let tab = run(&["window"], "{\"role\":\"user\",\"content\":\"a\tb\"}\n");
    assert!(text(&tab.stderr).contains("control character in a string"));
}

#[test]
fn logs_among_several_inputs_are_refused_before_anything_is_written() {
    let place = place();
    place.write("data/a.jsonl", chats(40).as_bytes());
    place.write("data/b.jsonl", trip().as_bytes());
    place.write("data/package.json", b"{\"name\": \"x\"}");
    let done = curtail(&place, "window data");
    assert_eq!((done.status, done.out.as_str(), done.errors.lines().count()), (2, "", 1), "{}", done.errors);
    assert!(done.errors.contains("data/b.jsonl: several inputs share standard output"), "{}", done.errors);
    assert!(done.errors.contains("--output-dir DIR"), "{}", done.errors);
}

#[test]
fn other_programs_names_for_commands_and_flags_get_fitting_tips() {
    for (arguments, tip) in [
        ("version", "`curtail --version`"),
        ("explain a.jsonl", "--explain --dry-run"),
        ("redact a.jsonl", "`curtail view FILE --mask -o PAGE`"),
        ("frobnicate a.jsonl", ""),
        ("limit -n 5 a.jsonl", "`curtail window -n N`"),
        ("limit --last 5 a.jsonl", "`curtail window -n N`"),
        ("window -t 5 a.jsonl", "`curtail limit -t N`"),
        ("check -o b.jsonl a.jsonl", "`curtail repair FILE -o FIXED`"),
        ("check --fix --output-dir out a.jsonl", "`curtail repair FILE -o FIXED`"),
        ("count --json a.jsonl", "`--output-format json`"),
        ("window --json a.jsonl", "--explain=json and --stats=json"),
    ] {
        let done = curtail(&place(), arguments);
        assert_eq!(done.status, 2, "{arguments}");
        assert_eq!(done.errors.matches("tip: ").count(), usize::from(!tip.is_empty()), "{}", done.errors);
        assert!(done.errors.contains(tip), "{arguments}: {}", done.errors);
    }
}
