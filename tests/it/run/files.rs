//! Where the file is found, the content of a new one, and what takes precedence over it.

use std::path::Path;

use super::{curtail, folder, output, root, stderr, stdout};

const NARROW: &str = "[[history.processors]]\ntype = 'window'\nsize = 1\n";

#[test]
fn the_nearest_file_counts() {
    let outer = folder(NARROW);
    let inner = outer.path().join("a/b");
    std::fs::create_dir_all(&inner).expect("folders");
    let printed = |folder: &Path, args: &[&str]| stdout(folder, &[&["run", "--print"], args].concat());
    assert!(printed(&inner, &[]).contains("window { size = 1 }  # "), "found upwards");
    std::fs::write(outer.path().join("a/.curtail.toml"), NARROW.replace('1', "2")).expect("a file");
    assert!(printed(&inner, &[]).contains("size = 2"), "the nearest");
    assert!(printed(&inner, &["-c", "../../curtail.toml"]).contains("size = 1"), "the one that is named");
    let by_variable = curtail(&inner, &["run", "--print"]).env("CURTAIL_CONFIG", "../../curtail.toml").output();
    assert!(String::from_utf8_lossy(&by_variable.expect("curtail runs").stdout).contains("size = 1"));
    std::fs::create_dir_all(inner.join(".git")).expect("a folder");
    assert!(stderr(&inner, &["run"]).contains("no `curtail.toml`"), "not beyond the repository");
    assert!(stderr(outer.path(), &["run", "--no-config"]).contains("--no-config"));
    assert!(stderr(&inner, &["run", "-c", "gone.toml"]).starts_with("curtail: gone.toml: no such file"));
}

#[test]
fn the_users_own_file_stands_behind_all() {
    let home = tempfile::tempdir().expect("a folder");
    let settings = home.path().join(".config/curtail");
    std::fs::create_dir_all(&settings).expect("folders");
    std::fs::write(settings.join("curtail.toml"), NARROW).expect("a file");
    let elsewhere = tempfile::tempdir().expect("a folder");
    let output =
        curtail(elsewhere.path(), &["run", "--print"]).env("HOME", home.path()).output().expect("curtail runs");
    assert!(String::from_utf8_lossy(&output.stdout).contains("size = 1"));
}

#[test]
fn a_new_file_runs_and_is_never_overwritten() {
    let folder = tempfile::tempdir().expect("a folder");
    let written = output(folder.path(), &["init"]);
    assert_eq!(written.stderr, b"curtail: wrote curtail.toml; `curtail run --print` shows its chain\n");
    let other = output(folder.path(), &["init", "agent.toml"]);
    assert_eq!(other.stderr, b"curtail: wrote agent.toml; `curtail run -c agent.toml --print` shows its chain\n");
    assert_eq!(stdout(folder.path(), &["run", "--print"]), "1. history  window { size = 200 }  # curtail.toml:8\n");
    std::fs::write(folder.path().join("curtail.toml"), NARROW).expect("a file");
    let again = output(folder.path(), &["init"]);
    assert_eq!(again.status.code(), Some(2));
    assert_eq!(std::fs::read_to_string(folder.path().join("curtail.toml")).expect("a file"), NARROW);
}

/// Commented examples in a new file are as valid as the rest.
#[test]
fn every_example_in_a_new_file_holds() {
    let text = std::fs::read_to_string(root().join("src/cli/init.toml")).expect("the file");
    let lines = text.lines().map(|line| {
        let code = line.strip_prefix("# ").filter(|rest| rest.starts_with("[[") || rest.contains(" = "));
        code.unwrap_or(line)
    });
    let folder = folder(&lines.collect::<Vec<_>>().join("\n"));
    let printed = stdout(folder.path(), &["run", "--print", "--network", "support", "--agent", "greeter"]);
    assert_eq!(printed.lines().count(), 5, "{printed}");
    assert_eq!(stdout(folder.path(), &["run", "--print", "--agent", "writer"]).lines().count(), 5);
}

/// `config show` reads all of a file, the levels of a check as well.
#[test]
fn the_levels_of_a_check_are_shown_and_checked() {
    let place = folder("[check]\ndeny = 'pairing'\n[[check.paths]]\npath = 'a/**'\nskip = true\n");
    let shown = stdout(place.path(), &["config", "show"]);
    assert!(shown.contains("check\n  deny = \"pairing\"  # curtail.toml:2\n"), "{shown}");
    assert!(shown.contains("check.paths\n  path = \"a/**\"  # curtail.toml:4\n  skip = true"), "{shown}");
    // The place is that of the rule, not of the tool with its name.
    let toml = "[[history.processors]]\ntype = 'filter'\nexclude = 'paring'\n[check]\ndeny = 'paring'\n";
    let wrong = stderr(folder(toml).path(), &["config", "show"]);
    assert_eq!(wrong, "curtail: curtail.toml:5:9: unknown rule `paring`; did you mean `pairing`?\n");
}

/// `config show` names the dialects that a file describes.
#[test]
fn the_dialects_of_a_file_are_shown() {
    let part = "fits = { who = true }\nrole = { at = 'who', user = 'me' }\npart = [{ is = 'text', at = 'body' }]\n";
    let dialect = |name: &str| format!("[[dialects]]\nname = '{name}'\nabout = 'Letters.'\n{part}");
    let place = folder(&(dialect("letters") + &dialect("notes")));
    let shown = stdout(place.path(), &["config", "show", "-c", "curtail.toml"]);
    let names = "dialects: letters  # curtail.toml:1\ndialects: notes  # curtail.toml:7\n";
    assert_eq!(shown, format!("file: curtail.toml\n{names}"));
}

/// What a flag accepts, a key accepts; a file is where the configuration is, whatever is before its name.
#[test]
fn a_key_reads_what_its_flag_reads() {
    let place = folder("[[history.processors]]\ntype = 'window'\nunit = 'turn'\n");
    assert!(stdout(place.path(), &["run", "--print"]).contains("unit = \"turn\""));
    std::fs::create_dir(place.path().join("sub")).expect("a folder");
    let limit = "[[history.processors]]\ntype = 'limit'\nmax-tokens = 9\ntokenizer = 'usage:own.json'\n";
    std::fs::write(place.path().join("sub/curtail.toml"), limit).expect("a file");
    let error = stderr(place.path(), &["run", "-c", "sub/curtail.toml", "none.jsonl"]);
    assert!(error.contains(" own.json: cannot be used"), "a file that is not there: {error}");
    std::fs::write(place.path().join("sub/own.json"), "{}").expect("a file");
    let error = stderr(place.path(), &["run", "-c", "sub/curtail.toml", "none.jsonl"]);
    assert!(error.contains(" sub/own.json: cannot be used"), "{error}");
}

#[test]
fn a_flag_beats_the_environment_and_the_environment_the_file() {
    let toml = "[[history.processors]]\ntype = 'limit'\nmax-tokens = 9\ntokenizer = 'gpt2'\n[networks.a]\n[networks.b]\n\
                [[networks.b.processors]]\ntype = 'filter'\n";
    let folder = folder(toml);
    let printed = |args: &[&str], variables: &[(&str, &str)]| {
        let output = curtail(folder.path(), args).envs(variables.iter().copied()).output().expect("curtail runs");
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    };
    let print = ["run", "--print"];
    assert!(printed(&print, &[]).contains("tokenizer = \"gpt2\""));
    assert!(printed(&print, &[("CURTAIL_TOKENIZER", "r50k_base")]).contains("tokenizer = \"r50k_base\""));
    assert!(
        printed(&["config", "show"], &[("CURTAIL_TOKENIZER", "r50k_base")])
            .contains("\"r50k_base\"  # CURTAIL_TOKENIZER")
    );
    assert!(printed(&["config", "show"], &[]).contains("\"gpt2\"  # curtail.toml:4"));
    assert!(printed(&["config", "show"], &[]).contains("\"error\"  # default"));
    assert!(printed(&print, &[("CURTAIL_NETWORK", "b")]).contains("network b"));
    assert!(!printed(&["run", "--print", "--network", "a"], &[("CURTAIL_NETWORK", "b")]).contains("network b"));
    // A flag that says the same in other words beats the environment, too.
    let flags = ["limit", "-t", "9", "--model", "gpt-4"];
    assert_eq!(printed(&flags, &[("CURTAIL_TOKENIZER", "nobody")]), "");
}

#[test]
fn paths_are_meant_from_where_the_file_stands() {
    let outer = folder("[[history.processors]]\ntype = 'memory'\nstate = 'notes.txt'\n");
    std::fs::write(outer.path().join("notes.txt"), "likes tea").expect("a file");
    let inner = outer.path().join("deep");
    std::fs::create_dir_all(&inner).expect("a folder");
    std::fs::write(inner.join("a.jsonl"), "{\"role\":\"user\",\"content\":\"hi\"}\n").expect("a file");
    assert!(stdout(&inner, &["run", "--trust", "a.jsonl"]).contains("likes tea"));
}

#[test]
fn a_stage_that_leaves_nothing_warns() {
    let folder = folder("[[agents.mute.processors]]\ntype = 'filter'\nrole = 'tool'\n");
    std::fs::write(folder.path().join("a.jsonl"), "{\"role\":\"user\",\"content\":\"hi\"}\n").expect("a file");
    let error = stderr(folder.path(), &["run", "--agent", "mute", "a.jsonl"]);
    assert!(error.contains("filter at agent mute drops all of 1 message"), "{error}");
}
