//! The configuration of a check: which files its globs match, what a file that was found may not do, and that a report names
//! what is silenced.

use std::fs;

use serde_json::Value;

use super::{ASK, RESULT, SAY, curtail, lines, reported};
use crate::program::{Place, text};

const SILENT: &str = "[check]\nallow = ['all']\n";

/// Status, standard output and standard error.
fn run(place: &Place, folder: &str, args: &[&str]) -> (i32, String, String) {
    let output = place.command(args).current_dir(place.path(folder)).output().unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// A project with an orphan in `raw/k.jsonl`, and this configuration.
fn project(config: &str) -> Place {
    let place = Place::new();
    place.write("raw/deep/k.jsonl", lines(&[ASK, RESULT, SAY]).as_bytes());
    place.write("other/x.jsonl", lines(&[ASK, SAY]).as_bytes());
    place.write("curtail.toml", config.as_bytes());
    place
}

#[test]
fn a_glob_of_paths_matches_the_file_and_not_its_spelling() {
    let globs = ["raw/**", "raw/deep/k.jsonl", "./raw/deep/*", "raw/**/k.jsonl", "**/deep/*", "other/../../*/raw/**"];
    for (glob, matches) in globs.into_iter().zip([true, true, true, true, true, false]) {
        let place = project(&format!("[[check.paths]]\npath = '{glob}'\nallow = ['all']\n"));
        let absolute = place.path("raw/deep/k.jsonl").to_str().unwrap().to_owned();
        for (folder, path) in [
            (".", "raw/deep/k.jsonl"),
            (".", "./raw/deep/k.jsonl"),
            (".", "raw"),
            (".", "."),
            (".", "other/../raw/deep/k.jsonl"),
            (".", &absolute),
            ("raw", "deep/k.jsonl"),
            ("raw/deep", "k.jsonl"),
            ("raw/deep", "."),
            ("other", "../raw/deep"),
            ("other", &absolute),
        ] {
            let (status, out, err) = run(&place, folder, &["check", path]);
            assert_eq!(status, i32::from(!matches), "{glob} for {path} in {folder}: {out}{err}");
        }
    }
}

#[test]
fn a_glob_of_a_named_file_begins_at_its_folder() {
    let place = project("");
    place.write("ci/strict.toml", b"[[check.paths]]\npath = '../raw/**'\nskip = true\n");
    let (status, out, _) = run(&place, ".", &["check", "-c", "ci/strict.toml", "."]);
    assert_eq!(
        (status, out.as_str()),
        (0, "no findings in 1 transcript of 1 file; 1 file skipped by ci/strict.toml\n")
    );
}

#[cfg(unix)]
#[test]
fn a_link_to_an_exempt_file_is_exempt() {
    let place = project("[[check.paths]]\npath = 'raw/**'\nallow = ['all']\n");
    std::os::unix::fs::symlink(place.path("raw"), place.path("linked")).unwrap();
    let (status, out, _) = run(&place, ".", &["check", "linked"]);
    assert_eq!(status, 0, "{out}");
}

#[test]
fn the_name_of_standard_input_is_below_the_working_directory() {
    let place = project("[[check.paths]]\npath = 'raw/**'\nallow = ['all']\n");
    let orphan = lines(&[ASK, RESULT, SAY]);
    for (name, status) in [("raw/new.jsonl", 0), ("new.jsonl", 1)] {
        let check =
            place.curtail(&["check", "--stdin-filename", name]).write_stdin(orphan.as_bytes()).output().unwrap();
        assert_eq!(check.status.code(), Some(status), "{name}");
    }
}

#[test]
fn a_report_names_the_file_that_silences() {
    let cases = [
        (SILENT, &["check", "."][..], Some("levels lowered by curtail.toml")),
        ("[check]\nwarn = ['P001']\n", &["check", "--strict", "other"], None),
        ("[check]\nwarn = ['P001']\n", &["check", "other"], Some("levels lowered by curtail.toml")),
        ("[check]\nstrict = true\n", &["check", "other"], None),
        (SILENT, &["check", "-D", "all", "-A", "turn", "other"], None),
        ("[[check.paths]]\npath = 'raw/**'\nallow = ['all']\n", &["check", "other"], None),
        ("[[check.paths]]\npath = 'raw/**'\nskip = true\n", &["check", "."], Some("1 file skipped by curtail.toml")),
    ];
    for (config, args, words) in cases {
        let (_, out, _) = run(&project(config), ".", args);
        assert_eq!(out.contains("curtail.toml"), words.is_some(), "{config} {args:?}: {out}");
        assert!(out.contains(words.unwrap_or_default()), "{config} {args:?}: {out}");
    }
    for format in ["json", "github", "sarif", "junit", "gitlab"] {
        let (_, out, err) = run(&project(SILENT), ".", &["check", "--output-format", format, "."]);
        assert!(err.contains("levels lowered by curtail.toml"), "{format}: {out}{err}");
    }
    let (_, out, _) = run(&project(SILENT), ".", &["check", "--output-format", "json", "."]);
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        report["summary"]["silenced"],
        serde_json::json!({"config": "curtail.toml", "lowered": true, "skipped": 0})
    );
    assert_eq!(reported(&report), [""; 0]);
}

#[cfg(unix)]
#[test]
fn a_file_of_another_user_is_refused_unless_it_is_named() {
    let place = project("");
    place.write("shared/curtail.toml", SILENT.as_bytes());
    place.write("shared/mine/k.jsonl", lines(&[ASK, RESULT, SAY]).as_bytes());
    // Only the administrator can give a file away; the comparison of owners has a test of its own.
    if std::os::unix::fs::chown(place.path("shared/curtail.toml"), Some(65_534), None).is_err() {
        return;
    }
    for command in [&["check", "k.jsonl"][..], &["run", "k.jsonl"], &["check", "--fix", "."]] {
        let (status, out, err) = run(&place, "shared/mine", command);
        assert_eq!((status, out.as_str()), (2, ""), "{command:?}");
        assert!(
            err.contains("shared/curtail.toml: belongs to another user (uid 65534)") && err.contains("-c"),
            "{err}"
        );
    }
    assert_eq!(run(&place, "shared/mine", &["check", "--no-config", "k.jsonl"]).0, 1);
    assert_eq!(run(&place, "shared/mine", &["check", "-c", "../curtail.toml", "k.jsonl"]).0, 0);
    // Nor does it apply through a link that another user made to a file of one's own.
    std::fs::rename(place.path("shared/curtail.toml"), place.path("shared/theirs")).unwrap();
    place.write("own.toml", SILENT.as_bytes());
    std::os::unix::fs::symlink(place.path("own.toml"), place.path("shared/curtail.toml")).unwrap();
    std::os::unix::fs::lchown(place.path("shared/curtail.toml"), Some(65_534), None).unwrap();
    assert_eq!(run(&place, "shared/mine", &["check", "k.jsonl"]).0, 2);
}

#[test]
fn a_found_file_is_bounded_and_a_named_one_is_not() {
    let processors = "[[history.processors]]\ntype = 'window'\nsize = 2\n";
    let paths = "[[check.paths]]\npath = 'a'\nallow = ['all']\n";
    let cases = [
        (processors.repeat(300), "at most 256 processors"),
        (paths.repeat(1_001), "at most 1000 `check.paths` tables"),
        (format!("# {}\n", "x".repeat(1 << 20)), "at most 1 MiB"),
    ];
    for (config, words) in cases {
        let place = project(&config);
        let (status, _, err) = run(&place, ".", &["check", "other"]);
        assert!(status == 2 && err.contains("curtail.toml") && err.contains(words), "{words}: {err}");
        assert_eq!(run(&place, ".", &["check", "-c", "curtail.toml", "other"]).0, 0, "{words}");
    }
}

#[test]
fn a_glob_that_cannot_be_compiled_is_an_error_with_its_place() {
    let nested = format!("{}b{}", "{a,".repeat(250), "}".repeat(250));
    for (glob, reason) in [(nested.as_str(), "levels deep"), ("a[", "a `]` is missing"), ("a{b", "a `}` is missing")] {
        let place = project(&format!("[[check.paths]]\npath = '{glob}'\nallow = ['all']\n"));
        let (status, _, err) = run(&place, ".", &["check", "other"]);
        assert!(status == 2 && err.starts_with("curtail: curtail.toml:2:9: invalid glob"), "{err}");
        assert!(err.contains(reason), "{err}");
        let place = project(&format!("[[history.processors]]\ntype = 'filter'\nexclude = ['{glob}']\n"));
        let (status, _, err) = run(&place, ".", &["run", "other/x.jsonl"]);
        assert!(status == 2 && err.starts_with("curtail: curtail.toml:3:12: filter") && err.contains(reason), "{err}");
        let flags: [&[&str]; 5] = [
            &["filter", "-x", glob, "other/x.jsonl"],
            &["filter", "--include-tool", glob, "other/x.jsonl"],
            &["count", "--glob", glob, "."],
            &["check", "--exclude-path", glob, "."],
            &["count", glob],
        ];
        for args in flags {
            let (status, _, err) = run(&place, ".", &[args, &["--quiet"]].concat());
            assert!(status == 2 && err.contains(reason), "{args:?}: {err}");
        }
    }
}

#[test]
fn a_budget_and_a_profile_are_keys_as_well() {
    let place = project("[check]\nallow = 'all'\ndeny = 'too-long'\nmax-tokens = 1\n");
    let (status, out, _) = run(&place, ".", &["check", "other"]);
    assert!(status == 1 && out.contains("more than 1 (too-long)"), "{out}");
    // A flag takes precedence.
    assert_eq!(run(&place, ".", &["check", "--max-tokens", "1m", "other"]).0, 0);
    assert_eq!(run(&place, ".", &["check", "--tokenizer", "approx", "other"]).0, 1);
    let place = project("[check]\nprofile = 'opnai'\n");
    assert!(run(&place, ".", &["check", "other"]).2.contains("did you mean `openai`?"));
}

#[test]
fn a_configuration_that_skips_all_files_was_asked_to() {
    let place = project("[[check.paths]]\npath = 'raw/**'\nskip = true\n");
    let (status, out, err) = run(&place, ".", &["check", "raw/deep/k.jsonl"]);
    assert_eq!((status, err.as_str()), (0, ""));
    assert_eq!(out, "nothing was checked: no transcript in 0 files; 1 file skipped by curtail.toml\n");
    place.write("empty.jsonl", b"");
    assert_eq!(run(&place, ".", &["check", "empty.jsonl"]).0, 2);
}

#[test]
fn a_quiet_check_prints_only_what_fails() {
    let place = project("");
    assert_eq!(run(&place, ".", &["check", "-q", "other"]), (0, String::new(), String::new()));
    assert_eq!(run(&place, ".", &["check", "-q", "-W", "P001", "raw"]), (0, String::new(), String::new()));
    let (status, out, err) = run(&place, ".", &["check", "-q", "raw"]);
    assert_eq!((status, err.as_str(), out.lines().count()), (1, "", 8), "{out}");
    assert!(out.starts_with("error[P001]") && !out.contains("1 error"), "{out}");
    // What programs read is written all the same, and so is an error.
    assert!(run(&place, ".", &["check", "-q", "--output-format", "json", "raw"]).1.contains("P001"));
    assert!(run(&place, ".", &["check", "-q", "missing"]).2.contains("missing: no such file"));
}

#[test]
fn an_excerpt_of_a_log_shows_what_is_wrong() {
    let place = project("");
    let line = |payload: &str| {
        format!("{{\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"type\":\"response_item\",\"payload\":{payload}}}\n")
    };
    let said =
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"Is the ferry late today?"}]}"#;
    let orphan = r#"{"type":"function_call_output","call_id":"call_of_the_ferry","output":"It is five minutes late."}"#;
    place.write("log.jsonl", format!("{}{}", line(said), line(orphan)).as_bytes());
    let (_, out, _) = run(&place, ".", &["check", "-A", "all", "-D", "orphan-result", "log.jsonl"]);
    let shown = out.lines().find(|line| line.starts_with("2 | ")).unwrap();
    assert!(shown.contains("\"call_id\":\"call_of_the_ferry\""), "{out}");
}

/// As in a monorepo: each file is checked by the configuration that is closest to it.
#[test]
fn the_closest_configuration_applies_to_each_file() {
    let place = project("[check]\nallow = [\"all\"]\n");
    let broken = lines(&[ASK, RESULT, SAY]);
    for (name, config) in [
        ("p/one/curtail.toml", Some("[check]\nwarn = [\"orphan-result\"]\n")),
        ("p/two/curtail.toml", Some("")),
        ("p/two/inner/.curtail.toml", Some("[[check.paths]]\npath = \"chats\"\nskip = true\n")),
        ("p/one/a.jsonl", None),
        ("p/one/deep/er/a.jsonl", None),
        ("p/two/b.jsonl", None),
        ("p/two/inner/chats/c.jsonl", None),
        ("p/three/d.jsonl", None),
    ] {
        place.write(name, config.unwrap_or(&broken).as_bytes());
    }
    let (status, out, stderr) = run(&place, "p", &["check", "one", "two", "three"]);
    assert_eq!(status, 1, "{out}{stderr}");
    let summary = out.lines().last().unwrap();
    assert!(summary.starts_with("1 error, 2 warnings in 4 transcripts of 4 files"), "{out}");
    for (file, found) in [("two/b.jsonl", true), ("one/a.jsonl", true), ("three/d.jsonl", false), ("c.jsonl", false)] {
        assert_eq!(out.contains(&format!("{file}:2")), found, "{file}: {out}");
    }
    for silencing in ["one/curtail.toml", "two/inner/.curtail.toml"] {
        assert!(summary.contains(silencing), "{silencing}: {summary}");
    }
    // A configuration that is named applies to all, and so does none.
    let (status, out, _) = run(&place, "p", &["check", "one", "two", "three", "-c", "two/curtail.toml"]);
    assert!(status == 1 && out.contains("5 errors in 5 transcripts of 5 files"), "{out}");
    let (_, out, _) = run(&place, "p", &["check", "one", "two", "three", "--no-config"]);
    assert!(out.contains("5 errors in 5 transcripts of 5 files"), "{out}");
}

#[test]
fn levels_are_configured_by_path() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("raw")).unwrap();
    for name in ["raw/a.jsonl", "b.jsonl"] {
        fs::write(folder.path().join(name), lines(&[ASK, RESULT, SAY])).unwrap();
    }
    let config = "[check]\nwarn = ['orphan-result']\n[[check.paths]]\npath = 'raw/**'\nallow = ['all']\n";
    fs::write(folder.path().join("curtail.toml"), config).unwrap();
    let output = curtail(folder.path(), &["check", "--output-format", "json", "raw", "b.jsonl"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        (reported(&report), &report["findings"][0]["file"]),
        (vec!["orphan-result warn 2:1".into()], &"b.jsonl".into())
    );
    let flagged = curtail(folder.path(), &["check", "-D", "pairing", "raw", "b.jsonl"]);
    assert_eq!(flagged.status.code(), Some(1));
    fs::write(folder.path().join("curtail.toml"), "[check]\ndenny = ['x']\n").unwrap();
    let wrong = curtail(folder.path(), &["check", "b.jsonl"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("denny"), "{wrong:?}");
}
