//! The help: every command in one group, a page that fits a screen, examples that run; completions and manual pages.

use std::path::Path;
use std::process::{Command, Output};

use crate::program::{self, Place, chats, command, root, text};

/// The most lines of a `-h` page at a width of 100 columns.
const SCREEN: usize = 48;

/// Commands that read no transcripts.
const NO_TRANSCRIPTS: &[&str] = &[
    "rule", "schema", "init", "config", "dialects", "tokenizers", "store", "completions", "man", "memory list",
    "memory set",
];

const CHAT: &str =
    r#"{"messages":[{"role":"user","content":"Is the train late?"},{"role":"assistant","content":"No."}]}"#;

fn curtail(words: &[&str]) -> Output {
    command(root(), words).env("COLUMNS", "100").output().expect("the program runs")
}

/// Runs a command line in `folder`.
fn shell(line: &str, folder: &Path) -> Output {
    program::shell(line, folder).output().expect("a shell")
}

fn page(path: &str, flag: &str) -> String {
    let output = curtail(&path.split_whitespace().chain([flag]).collect::<Vec<_>>());
    assert!(output.status.success(), "{path} {flag}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The commands that clap lists itself: every command that exists.
fn commands() -> Vec<String> {
    let script = curtail(&["completions", "fish"]).stdout;
    let script = String::from_utf8(script).expect("UTF-8");
    let first = script.lines().filter(|line| line.contains("__fish_curtail_needs_command"));
    let names = first.filter_map(|line| line.split_once(" -a \"")?.1.split_once('"').map(|(name, _)| name.to_owned()));
    names.filter(|name| name != "help").collect()
}

/// The names below a heading such as `Commands:`, and the lines of their pages.
fn inner(path: &str) -> Vec<String> {
    let page = page(path, "-h");
    let lines = page.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    names.map(|name| format!("{path} {name}")).collect()
}

fn all() -> Vec<String> {
    commands()
        .into_iter()
        .flat_map(|name| std::iter::once(name.clone()).chain(inner(&name)).collect::<Vec<_>>())
        .collect()
}

/// The command lines below `Examples:`.
fn examples(page: &str) -> Vec<String> {
    let lines = page.lines().skip_while(|line| *line != "Examples:").skip(1);
    let commands = lines.filter(|line| !line.starts_with("  # "));
    commands.map(|line| line.split("  # ").next().unwrap_or_default().trim().to_owned()).collect()
}

#[test]
fn the_first_screen_has_every_command_in_exactly_one_group() {
    let commands = commands();
    assert!(commands.len() >= 18, "{commands:?}");
    let screen = page("", "-h");
    for group in ["Cut:", "Check:", "Look:", "Remember:", "Set up:"] {
        assert_eq!(screen.lines().filter(|line| *line == group).count(), 1, "{group}\n{screen}");
    }
    let listed: Vec<&str> = screen
        .lines()
        .take_while(|line| *line != "Options:")
        .filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next())
        .collect();
    for command in &commands {
        assert_eq!(listed.iter().filter(|name| *name == command).count(), 1, "{command} in\n{screen}");
    }
    assert_eq!(listed.len(), commands.len(), "{screen}");
    let bare = curtail(&[]);
    assert_eq!(bare.status.code(), Some(2));
    assert_eq!(String::from_utf8(bare.stderr).expect("UTF-8"), screen);
}

#[test]
fn short_help_fits_a_screen_and_long_help_has_more() {
    for path in all() {
        let (short, long) = (page(&path, "-h"), page(&path, "--help"));
        assert!(short.lines().count() <= SCREEN, "{path}: {} lines\n{short}", short.lines().count());
        assert!(short.lines().all(|line| line.chars().count() <= 100), "{path}: too wide\n{short}");
        assert!(long.lines().count() >= short.lines().count(), "{path}");
        assert!(examples(&short).len() >= 3, "{path}: {short}");
    }
}

/// A manual page has a line about each flag, as the long help has.
#[test]
fn manual_pages_describe_every_flag() {
    let place = Place::new();
    assert!(text(&place.curtail(&["man"]).output().unwrap().stdout).contains("Print errors only"));
    place.curtail(&["man", "--out", "pages"]).assert().success();
    let page = text(&place.read("pages/curtail-window.1"));
    for line in ["Count the in\\-flight round toward N", "Find hidden files", "Number of threads", "Print errors only"]
    {
        assert!(page.contains(line), "{line}: {page}");
    }
}

#[test]
fn commands_without_transcripts_show_no_flags_of_a_batch() {
    for path in NO_TRANSCRIPTS {
        let long = page(path, "--help");
        for flag in ["--jobs", "--progress", "--verbose", "--quiet"] {
            assert!(!long.contains(flag), "{path}: {flag}");
        }
    }
    assert!(page("window", "--help").contains("--jobs"));
    // A hidden flag still works, before and after the command.
    assert!(curtail(&["rule", "--quiet", "--jobs", "2"]).status.success());
    assert!(curtail(&["--jobs", "2", "rule"]).status.success());
}

#[test]
fn each_format_flag_describes_its_own_values() {
    let window = page("window", "--help");
    let stats = window.split("--stats").nth(1).expect("the flag");
    assert!(stats.split("--fail-on-change").next().unwrap().contains("A table"), "{stats}");
    assert!(page("dialects", "--help").contains("One JSON object per dialect"));
    let summarize = page("summarize", "--help");
    let arguments = summarize.split("Arguments:").nth(1).expect("a heading").split("\n\n").next().unwrap();
    assert!(arguments.contains("[PATH]..."), "{summarize}");
}

#[test]
fn examples_run() {
    for path in all() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        for name in [".zfunc", ".config/fish/completions", ".local/share/bash-completion/completions", "data"] {
            std::fs::create_dir_all(at(name)).expect("a folder");
        }
        std::fs::write(at("chat.jsonl"), CHAT).expect("a file");
        std::fs::write(at("data/chat.jsonl"), CHAT).expect("a file");
        if path == "store import" {
            shell("curtail memory set --thread other note && curtail store export backup.jsonl", folder.path());
        }
        if path != "init" {
            shell("curtail init", folder.path());
        }
        shell("curtail memory set --thread demo 'Prefers trains.'", folder.path());
        shell("curtail memory set --resource ada 'Prefers trains.'", folder.path());
        for example in examples(&page(&path, "-h")) {
            let output = shell(&example, folder.path());
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.code().is_some_and(|code| code < 2), "{example}: {stderr}");
        }
    }
}

#[test]
fn every_shell_gets_completions() {
    for name in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = curtail(&["completions", name]);
        assert!(output.status.success(), "{name}");
        let script = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(script.contains("max-tokens") && script.contains("tool-schema"), "{name} lacks flags or commands");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("curtail.bash");
    std::fs::write(&script, curtail(&["completions", "bash"]).stdout).expect("a file");
    let parsed = Command::new("bash").arg("-n").arg(&script).status().expect("bash");
    assert!(parsed.success());
}

#[test]
fn every_command_gets_a_manual_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("man/man1");
    assert!(curtail(&["man", "--out", out.to_str().expect("UTF-8")]).status.success());
    for path in all() {
        let name = format!("curtail-{}.1", path.replace(' ', "-"));
        let page = std::fs::read_to_string(out.join(&name)).unwrap_or_else(|_| panic!("{name} is missing"));
        assert!(page.contains(".TH") && page.contains(".SH OPTIONS"), "{name}");
    }
    let first = String::from_utf8(curtail(&["man"]).stdout).expect("UTF-8");
    assert!(first.contains(".TH curtail 1") && first.contains("window"), "{first}");
}

#[test]
fn flags_and_kinds_of_other_programs_are_understood() {
    for flag in ["--last", "--keep-last", "--tail"] {
        let output = curtail(&["window", flag, "3"]);
        assert_eq!(output.status.code(), Some(2), "{flag}");
        let message = String::from_utf8(output.stderr).expect("UTF-8");
        assert!(message.contains("'--size'"), "{flag}: {message}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("chat.jsonl"), CHAT).expect("a file");
    let kind = |name: &str| shell(&format!("curtail filter --strip {name} chat.jsonl"), folder.path());
    assert_eq!(kind("thinking").stdout, kind("reasoning").stdout);
    assert!(kind("thinking").status.success());
}

/// The tip about a command that does not exist names one that does.
#[test]
fn a_command_of_other_programs_is_answered() {
    let place = Place::new();
    place.write("chat.jsonl", chats(1).as_bytes());
    for (arguments, part) in [
        (&["convert", "chat.jsonl"][..], "tip: curtail converts no formats: what it cuts keeps its format"),
        (&["trim", "chat.jsonl"], "tip: `window` cuts by messages, `limit` by tokens"),
        (&["truncate", "chat.jsonl"], "tip: `window` cuts by messages, `limit` by tokens"),
        (&["validate", "chat.jsonl"], "tip: a similar subcommand exists: 'check'"),
        (&["compact", "chat.jsonl"], "tip: a similar subcommand exists: 'summarize'"),
        (&["chat.jsonl"], "tip: a command comes first, as in `curtail window -n 20 chat.jsonl`"),
        (&["limit", "8k", "chat.jsonl"], "tip: a budget is `-t N`, as in `curtail limit -t 8k FILE`"),
        (&["grep", "timetable"], "tip: `curtail view FOLDER -O PAGES` writes pages with a search"),
        (&["redact", "chat.jsonl"], "tip: `curtail view FILE --mask -o PAGE` blanks what looks like a key"),
        (&["window", "-n", "10turns", "chat.jsonl"], "expected a number alone; `--unit turns` sets what it counts"),
        (&["window", "-n", "10", "--unit", "turn", "no.jsonl"], "no.jsonl: no such file"),
        (
            &["rule", "messages.3: tool_use ids"],
            "`curtail check --error TEXT` finds what an answer of a provider means",
        ),
        (&["memory", "export", "b.jsonl"], "tip: `curtail store export` and `curtail store import` write and read"),
        (&["filter", "-t", "5", "chat.jsonl"], "`curtail limit -t N FILE` cuts to N tokens"),
        (&["memory", "spawn"], "tip: `curtail memory spawn --resource SHARED --to THREAD` copies"),
        (&["memory", "spawn", "child"], "tip: `curtail memory spawn --resource SHARED --to THREAD` copies"),
        (&["window", "5", "chat.jsonl"], "5: no such file or directory; a number needs a flag (see --help)"),
    ] {
        let done = place.curtail(arguments).output().unwrap();
        let stderr = text(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(stderr.contains(part), "{arguments:?}: {stderr}");
        assert!(stderr.matches("tip: ").count() <= 1, "{arguments:?}: {stderr}");
    }
}
