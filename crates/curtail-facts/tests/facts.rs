//! The facts that are read from messages and calls.

#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

use curtail_core::dialects::{Framing, Reading};
use curtail_core::transcript::Pairs;
use curtail_facts::{Facts, Verdict, failed};

use serde_json::json;

/// A transcript in the making.
#[derive(Clone, Default)]
struct Log {
    lines: String,
    calls: usize,
}

impl Log {
    fn message(mut self, role: &str, text: &str) -> Self {
        self.lines += &(json!({"role": role, "content": text}).to_string() + "\n");
        self
    }

    fn calls(mut self, name: &str, arguments: &serde_json::Value, result: &str) -> Self {
        self.calls += 1;
        let id = format!("c{}", self.calls);
        let call =
            json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments.to_string()}});
        self.lines += &(json!({"role": "assistant", "content": null, "tool_calls": [call]}).to_string() + "\n");
        self.lines += &(json!({"role": "tool", "tool_call_id": id, "content": result}).to_string() + "\n");
        self
    }

    fn runs(self, command: &str, result: &str) -> Self {
        self.calls("bash", &json!({"command": command}), result)
    }

    fn edits(self, path: &str, old: &str, new: &str) -> Self {
        self.calls("Edit", &json!({"file_path": path, "old_string": old, "new_string": new}), "ok")
    }

    /// The facts of all messages, read in parts of `part` messages.
    fn facts(&self, part: usize) -> Facts {
        let reading = Reading::new(Framing::Lines, None, None).unwrap();
        let document = reading.parse(&self.lines).unwrap();
        let read = reading.transcripts(&document).unwrap();
        let messages = &read[0].1.messages;
        let pairs = Pairs::from_messages(messages);
        let mut facts = Facts::default();
        for start in (0..messages.len()).step_by(part) {
            facts.read_range(messages, &pairs, start..(start + part).min(messages.len()));
        }
        facts
    }

    fn whole(&self) -> Facts {
        self.facts(usize::MAX >> 1)
    }
}

fn changed(facts: &Facts) -> Vec<(&str, usize)> {
    facts.changed.iter().map(|change| (change.path.as_str(), change.times)).collect()
}

#[test]
fn a_log_of_a_sub_agent_alone_has_its_own_task() {
    let line = |role: &str, sidechain: bool, text: &str, parent: Option<&str>| {
        json!({"type": role, "isSidechain": sidechain, "uuid": text, "parentUuid": parent, "sessionId": "s",
            "version": "2.0.0", "message": {"role": role, "content": [{"type": "text", "text": text}]}})
        .to_string()
            + "\n"
    };
    let side = line("user", true, "Find the bug", None) + &line("assistant", true, "Found it.", Some("Find the bug"));
    let facts = Log { lines: side.clone(), calls: 0 }.facts(1);
    assert_eq!(facts.goal.map(|goal| goal.text).as_deref(), Some("Find the bug"));
    assert_eq!(facts.said.map(|said| said.text).as_deref(), Some("Found it."));
    let facts = Log { lines: side + &line("user", false, "Mend it", None), calls: 0 }.facts(1);
    assert_eq!(facts.goal.map(|goal| goal.text).as_deref(), Some("Mend it"));
    assert_eq!(facts.said, None);
}

#[test]
fn files_are_counted_and_discarded_ones_leave() {
    let log = Log::default()
        .edits("/r/src/a.rs", "x", "y")
        .edits("src/a.rs", "y", "z")
        .edits("/r/src/c.rs", "x", "y")
        .calls("Write", &json!({"file_path": "/r/d.rs", "content": "x"}), "<tool_use_error>File has not been read yet")
        .runs("git checkout -- src/c.rs", "")
        .runs("cat > try.py <<'E'\nx\nE", "")
        .runs("python try.py; rm try.py", "");
    assert_eq!(changed(&log.whole()), [("/r/src/a.rs", 2)]);
    let committed = log.runs("git commit -qm x", "[main 1a2b3c4] x").runs("git restore .", "");
    assert_eq!(changed(&committed.whole()), [("/r/src/a.rs", 2)]);
}

#[test]
fn what_a_script_writes_is_changed_and_the_script_is_listed_apart() {
    let log = Log::default()
        .message("user", "Fix it")
        .runs("cat > fix.py <<'E'\nopen('src/a.py', 'w').write(x)\nE", "")
        .calls(
            "Write",
            &json!({"file_path": "/tmp/other.py", "content": "p = 'src/b.py'\nopen(p, 'w').write(x)"}),
            "ok",
        )
        .runs("python fix.py", "")
        .runs("python /tmp/other.py", "Exit code 1\nTraceback")
        .calls("Write", &json!({"file_path": "/tmp/gone.py", "content": "open('d.py', 'w').write(x)"}), "ok")
        .runs("rm /tmp/gone.py", "")
        .edits("src/c.py", "x", "y")
        .message("assistant", "Done.");
    let facts = log.whole();
    let files: Vec<&str> =
        facts.changed.iter().filter(|change| !change.is_script()).map(|change| change.path.as_str()).collect();
    assert_eq!(files, ["src/a.py", "src/c.py"]);
    let text = facts.text(4000, false, &str::len);
    assert!(text.contains("Changed below src/ [m13]: a.py [m5], c.py [m13]"), "{text}");
    assert!(text.contains("Written and run [m3]: fix.py [m1], /tmp/other.py [m3]"), "{text}");
    assert_eq!(Facts::from_text(&text).text(4000, false, &str::len), text);
    assert!(facts.handoff("").contains("## Scripts written and run\n\n- `/tmp/other.py` [m3]\n- `fix.py` [m1]"));
}

#[test]
fn files_that_version_control_names_are_changed() {
    let log = Log::default()
        .runs("cat > new.py <<'E'\nx\nE\npython new.py", "")
        .runs("cat > tool.py <<'E'\nx\nE\npython tool.py", "")
        .runs("git add tool.py && git status -s", "A  tool.py\n M src/a.rs\n?? new.py")
        .runs("git diff main --stat", " src/b.rs | 4 ++--")
        .runs("git diff v1.2", "diff --git a/src/b.rs b/src/b.rs")
        .runs("git diff v1.2 src/b.rs", "diff --git a/src/b.rs b/src/b.rs")
        .runs("git diff src/c.rs src/unchanged.rs && git diff src/*.rs", "diff --git a/src/c.rs b/src/c.rs")
        .runs("git diff --name-only", "src/d.rs\n\"src/caf\\303\\251.rs\"")
        .runs("git diff main --name-only", "src/e.rs")
        .runs("bash -lc 'git diff --name-only; cat src/f.rs'", "src/f.rs\nf.g();");
    let facts = log.whole();
    let scripts: Vec<&str> =
        facts.changed.iter().filter(|change| change.is_script()).map(|change| change.path.as_str()).collect();
    assert_eq!(scripts, ["new.py"]);
    let named = [("src/a.rs", 1), ("src/c.rs", 1), ("src/d.rs", 1), ("src/café.rs", 1)];
    assert_eq!(changed(&facts), [&[("new.py", 1), ("tool.py", 1)][..], &named].concat());
}

#[test]
fn a_long_list_of_files_pushes_out_none_that_a_call_changed() {
    let status: String = (0..1_000).map(|nth| format!(" M src/file{nth}.rs\n")).collect();
    let facts = Log::default().edits("/r/a.rs", "x", "y").runs("git status -s", &status).whole();
    assert_eq!(facts.changed[0].path, "/r/a.rs");
}

#[test]
fn files_go_with_their_folder() {
    let log = Log::default().edits("src/old/a.rs", "x", "y").edits("src/b.rs", "x", "y").edits("c.rs", "x", "y");
    let gone = log.runs("rm -rf src/old docs", "").runs("git checkout -- src/b.rs", "").whole();
    assert_eq!(
        gone.changed.iter().map(|change| (change.path.as_str(), change.deleted)).collect::<Vec<_>>(),
        [("c.rs", false), ("src/old/a.rs", true)]
    );
    let log = Log::default().edits("src/a.rs", "x", "y").edits("src/b/c.rs", "x", "y").edits("d.rs", "x", "y");
    assert_eq!(changed(&log.runs("git checkout -- src/", "").whole()), [("d.rs", 1)]);
    let added = Log::default().edits("src/a.rs", "x", "y").runs("git add src docs Makefile b.rs", "").whole();
    let named: Vec<_> = added.changed.iter().map(|change| (change.path.as_str(), change.named)).collect();
    assert_eq!(named, [("src/a.rs", true), ("docs", true), ("Makefile", true), ("b.rs", true)]);
}

#[test]
fn a_commit_to_restore_from_is_no_folder() {
    let log = Log::default().edits("/r/src/main/java/A.java", "x", "y").edits("/r/README.md", "x", "y");
    for line in ["git checkout main -- README.md", "git restore --source main README.md"] {
        assert_eq!(changed(&log.clone().runs(line, "").whole()), [("/r/src/main/java/A.java", 1)], "{line}");
    }
}

#[test]
fn files_keep_their_changes_when_they_are_moved() {
    let log = Log::default()
        .edits("/r/src/old/a.rs", "x", "y")
        .edits("/r/src/old/b.rs", "x", "y")
        .edits("/r/c.rs", "x", "y")
        .runs("git -C /r mv src/old src/new", "")
        .runs("cd /r && mv c.rs lib", "");
    let facts = log.whole();
    assert_eq!(changed(&facts), [("/r/src/new/a.rs", 1), ("/r/src/new/b.rs", 1), ("/r/lib/c.rs", 2)]);
    let above = Log::default().edits("/r/src/old/a.rs", "x", "y").runs("mv src lib", "");
    assert_eq!(changed(&above.whole()), [("/r/lib/old/a.rs", 1)]);
}

#[test]
fn a_file_that_is_moved_out_of_the_project_is_gone_and_no_other_has_its_changes() {
    for target in ["/tmp/a.rs", "src/$id.rs"] {
        let log = Log::default()
            .edits("src/a.rs", "a", "b")
            .edits("src/a.rs", "b", "c")
            .edits("src/b.rs", "a", "b")
            .calls("apply_patch", &json!({"input": format!("*** Begin Patch\n*** Update File: src/a.rs\n*** Move to: {target}\n@@\n-c\n+d\n*** End Patch")}), "Done!");
        let facts = log.whole();
        assert!(changed(&facts).contains(&("src/b.rs", 1)), "{target}: {:?}", changed(&facts));
    }
}

#[test]
fn a_later_run_retires_what_it_covers() {
    let fails = "FAILED tests/a.py::x - E\nFAILED tests/b.py::y - E\n2 failed in 1s";
    let names = |facts: &Facts| facts.failing.iter().map(|failure| failure.name.clone()).collect::<Vec<_>>();
    let log = Log::default().runs("pytest", fails).runs("pytest tests/a.py", "3 passed in 1s");
    let facts = log.whole();
    assert_eq!(names(&facts), ["tests/b.py::y"]);
    assert_eq!(facts.passed_since, ["tests/a.py::x"]);
    let log = log.runs("pytest -q 2>&1 | tail -3", "9 passed in 1s");
    let facts = log.whole();
    assert!(facts.failing.is_empty(), "{:?}", facts.failing);
    assert_eq!(facts.check.map(|check| check.verdict), Some(Verdict::Passed));
    let shown = Log::default().runs("cat log.txt", fails).whole();
    assert!(shown.failing.is_empty() && shown.check.is_none(), "a file is shown");
}

/// The names of the tests that fail after a first run and then a second.
fn failing_after(first: (&str, &str), second: (&str, &str)) -> Vec<String> {
    let facts = Log::default().runs(first.0, first.1).runs(second.0, second.1).whole();
    facts.failing.into_iter().map(|failure| failure.name).collect()
}

#[test]
fn a_run_that_failed_or_leaves_tests_out_passes_none_that_it_does_not_list() {
    let both = "FAILED tests/a.py::one - E\nFAILED tests/b.py::two - E\n==== 2 failed, 10 passed in 1.20s ====";
    let one = "FAILED tests/a.py::one - E\n==== 1 failed, 3 passed in 0.2s ====";
    let listed = "tests/a.py::one FAILED [ 50%]\ntests/b.py::two PASSED [100%]\n==== 1 failed, 1 passed in 0.2s ====";
    let passed = "==== 11 passed in 0.2s ====";
    for (second, output, expected) in [
        ("pytest", one, &["a.py::one"][..]),
        ("pytest -x", one, &["b.py::two", "a.py::one"]),
        ("pytest tests/a.py tests/b.py", one, &["b.py::two", "a.py::one"]),
        ("pytest -xv", listed, &["a.py::one"]),
        ("pytest -x", passed, &[]),
        ("pytest --ignore=tests/b.py", passed, &["a.py::one", "b.py::two"]),
        ("pytest tests/a.py --ignore tests/b.py", passed, &["a.py::one", "b.py::two"]),
        ("pytest -k 'not two'", passed, &["a.py::one", "b.py::two"]),
        ("pytest -m 'not slow' -v", listed, &["a.py::one"]),
        ("pytest -k one", passed, &["b.py::two"]),
    ] {
        let expected: Vec<String> = expected.iter().map(|name| format!("tests/{name}")).collect();
        assert_eq!(failing_after(("pytest", both), (second, output)), expected, "{second}: {output}");
    }
    // What both runs leave out says nothing of a test that failed in the first.
    assert!(failing_after(("pytest -m 'not slow'", both), ("pytest -q -m 'not slow'", passed)).is_empty());
}

#[test]
fn other_runners_that_failed_or_leave_tests_out() {
    let cargo = "test a::one ... FAILED\ntest b::two ... FAILED\ntest result: FAILED. 1 passed; 2 failed; 0 ignored\n";
    let cargo_one = "test a::one ... FAILED\ntest a::ok ... ok\ntest result: FAILED. 1 passed; 1 failed; 0 ignored\n";
    let cargo_listed =
        "test a::one ... FAILED\ntest b::two ... ok\ntest result: FAILED. 1 passed; 1 failed; 0 ignored\n";
    let quiet_ok = "test result: ok. 2 passed; 0 failed; 0 ignored\n";
    let jest = "FAIL src/a.test.js\n  ● Cart › one\nFAIL src/b.test.js\n  ● Cart › two\nTests:       2 failed, 3 passed, 5 total";
    let jest_one = "FAIL src/a.test.js\n  ● Cart › one\nTests:       1 failed, 1 total";
    let go = "--- FAIL: TestOne (0.00s)\nFAIL\tm/a\t0.1s\n--- FAIL: TestTwo (0.00s)\nFAIL\tm/b\t0.1s";
    let go_one = "--- FAIL: TestOne (0.00s)\nFAIL\tm/a\t0.1s";
    for (first, output, second, next, fails) in [
        ("cargo test --no-fail-fast", cargo, "cargo test", cargo_one, true),
        ("cargo test --no-fail-fast", cargo, "make test", cargo_one, true),
        ("cargo test --no-fail-fast", cargo, "cargo test", cargo_listed, false),
        ("cargo test --no-fail-fast", cargo, "cargo test --workspace --exclude b", quiet_ok, true),
        ("cargo test --no-fail-fast", cargo, "cargo test -- --skip two", quiet_ok, true),
        ("cargo test --no-fail-fast", cargo, "cargo test --lib", quiet_ok, true),
        ("cargo test --lib", cargo, "cargo test --lib -q", quiet_ok, false),
        ("cargo test --no-fail-fast", cargo, "cargo test b::two", quiet_ok, false),
        ("cargo test --no-fail-fast", cargo, "cargo test", quiet_ok, false),
        ("jest", jest, "jest --bail", jest_one, true),
        ("jest", jest, "jest --testPathPattern=src/a", "Tests:       2 passed, 2 total", true),
        ("go test ./...", go, "go test -failfast ./...", go_one, true),
        ("go test ./...", go, "go test ./...", go_one, false),
        ("go test ./...", go, "go test -short ./...", "ok  \tm/a\t0.1s\nok  \tm/b\t0.1s", true),
    ] {
        let failing = failing_after((first, output), (second, next));
        let still = failing.iter().any(|name| name.to_lowercase().contains("two"));
        assert_eq!(still, fails, "{second}: {next}: {failing:?}");
    }
}

#[test]
fn an_exit_code_is_that_of_a_check_or_of_another_command() {
    let verdict = |line: &str, code: u8| {
        let check = Log::default().runs(line, &format!("Exit code {code}\n3 lines")).whole().check;
        check.map(|check| check.verdict)
    };
    assert_eq!(verdict("cd r && make check", 0), Some(Verdict::Passed));
    assert_eq!(verdict("make check | tail -3", 0), None);
    assert_eq!(verdict("make check || true", 0), None);
    assert_eq!(verdict("make check > log; tail -3 log", 0), None);
    assert_eq!(verdict("make check > log; grep -c warning log", 1), None);
}

#[test]
fn a_check_that_prints_nothing_passed() {
    let verdict = |line: &str, result: &str| Log::default().runs(line, result).whole().check.map(|check| check.verdict);
    assert_eq!(verdict("cd web && npx tsc --noEmit", ""), Some(Verdict::Passed));
    assert_eq!(verdict("go vet ./...", "(Bash completed with no output)"), Some(Verdict::Passed));
    assert_eq!(verdict("npm run lint", "\n> web@1.0 lint\n> eslint .\n"), Some(Verdict::Passed));
    assert_eq!(verdict("npx tsc --noEmit", "Exit code 2"), Some(Verdict::Failed));
    for line in [
        "pytest",
        "tsc --noEmit > log",
        "cargo check 2>/dev/null",
        "tsc --noEmit | grep src/a.ts",
        "tsc --noEmit; ls b",
    ] {
        assert_eq!(verdict(line, ""), None, "{line}");
    }
}

/// A listed program fails if what it checks does, and the log says beside the output whether it failed.
#[test]
fn a_check_that_did_not_fail_passed() {
    let verdict = |name: &str, line: &str, output: &str, flag: Option<bool>| {
        let call = json!({"type": "tool_use", "id": "c", "name": name, "input": {"command": line}});
        let mut result = json!({"type": "tool_result", "tool_use_id": "c", "content": output});
        result["is_error"] = flag.into();
        let message = |role: &str, block| json!({"role": role, "content": [block]}).to_string() + "\n";
        let lines = message("assistant", call) + &message("user", result);
        Log { lines, calls: 1 }.whole().check.map(|check| check.verdict)
    };
    for (line, output) in [
        ("cmake --build build", "[ 50%] Building C object a.o\n[100%] Linking C executable a"),
        ("shellcheck a.sh", ""),
        ("stylelint a.css", ""),
        ("golangci-lint run", ""),
        ("zig build test", ""),
        ("mvn -q test", ""),
        ("bazel test //...", "//a:b PASSED in 0.1s"),
        ("flutter test", "00:02 +3: All tests passed!"),
        ("mix compile", "Compiling 3 files (.ex)"),
        ("swift build", "Compiling a\nBuild complete! (1.20s)"),
        ("ninja", "[3/3] Linking a"),
        ("tox", "  py311: OK"),
        ("pre-commit run -a", "ruff.......Passed"),
        ("pylint a", "Your code has been rated at 10.00/10"),
        ("terraform validate", "Success! The configuration is valid."),
        ("cypress run", "1 spec"),
        ("ava", "  2 tests passed"),
        ("pnpm build", "▲ Next.js 15\n✓ Compiled successfully in 2s"),
        ("make", "a.c:3:4: warning: unused variable 'x'\ncc -o a a.o"),
        ("dotnet build", "0 files"),
    ] {
        assert_eq!(verdict("Bash", line, output, Some(false)), Some(Verdict::Passed), "{line}");
        assert_eq!(verdict("Bash", line, "Exit code 1\nno", Some(true)), Some(Verdict::Failed), "{line}");
    }
    for (name, line, output, flag) in [
        ("Bash", "make", "cc -o a a.o", None),
        ("Bash", "make | tail -3", "cc -o a a.o", Some(false)),
        ("Bash", "make; ls", "a.o", Some(false)),
        ("Bash", "make", "Command running in background with ID: b1", Some(false)),
        ("Bash", "pylint a", "a.py:1:0: C0114: Missing module docstring", Some(false)),
        ("Bash", "shellcheck a.sh", "In a.sh line 3:\nrm $x\n   ^-- SC2086 (info): Quote it.", Some(false)),
        ("run_tests", "all", "3 suites", Some(false)),
    ] {
        assert_eq!(verdict(name, line, output, flag), None, "{line}: {output}");
    }
}

#[test]
fn the_failure_of_one_check_is_not_that_of_another() {
    let output = "FAIL src/a.test.ts\n  ● Cart › adds\n\nTests:       1 failed, 2 passed, 3 total";
    let facts = Log::default().runs("npx tsc --noEmit && npx jest", output).whole();
    assert_eq!(facts.check.map(|check| check.command).as_deref(), Some("jest"));
}

#[test]
fn commits_have_a_hash_and_a_subject() {
    let log = Log::default()
        .runs("git commit -am 'Fix it'", "[main (root-commit) 1a2b3c4] Fix it\n 1 file changed")
        .runs("git commit -m 'Nothing'", "nothing to commit, working tree clean")
        .runs("git commit --amend -m 'Fix all'", "[main 5d6e7f8] Fix all");
    let facts = log.whole();
    for line in [
        "git commit -q -am 'Add a'; git push; git checkout develop",
        "git add develop; git add a.py; git commit -qm 'Add a'; echo done",
        "git commit -qm 'Add a' a.py; git checkout develop",
    ] {
        let output = "Everything up-to-date\nerror: pathspec 'develop' did not match any file(s) known to git";
        assert_eq!(Log::default().runs(line, output).whole().commits.len(), 1, "{line}");
    }
    let commits: Vec<_> =
        facts.commits.iter().map(|commit| (commit.hash.as_deref(), commit.subject.as_str())).collect();
    assert_eq!(commits, [(Some("5d6e7f8"), "Fix all")]);
}

/// The changed files, each with whether a commit contains its last change.
fn committed(log: &Log) -> Vec<(String, bool)> {
    log.whole().changed.into_iter().map(|change| (change.path, change.committed)).collect()
}

#[test]
fn a_commit_contains_what_was_added_to_it() {
    let edited = Log::default().edits("/r/src/a.rs", "x", "y").edits("/r/b.rs", "x", "y");
    let output = "[main 1a2b3c4] One\n 1 file changed";
    for (line, expected) in [
        ("git add src/a.rs && git commit -m One", [true, false]),
        ("git add src/ && git commit -m One", [true, false]),
        ("git commit -m One -- src/a.rs", [true, false]),
        ("git add src/a.rs && git commit -m One .", [true, true]),
        ("git add src/a.rs && git commit -am One", [true, true]),
        ("git add -A && git commit -m One", [true, true]),
        ("git add src/*.rs && git commit -m One", [true, true]),
        ("git add elsewhere/ && git commit -m One", [true, true]),
        ("git commit -m One", [true, true]),
        ("git stage src/a.rs && git commit -F b.rs", [true, false]),
        ("git commit -m One -m '- first item' b.rs", [false, true]),
    ] {
        let found = committed(&edited.clone().runs(line, output));
        assert_eq!(found, [("/r/src/a.rs".into(), expected[0]), ("/r/b.rs".into(), expected[1])], "{line}");
    }
    let added = edited.runs("git add src/a.rs", "").edits("/r/src/a.rs", "y", "z").runs("git add b.rs", "");
    let found = committed(&added.runs("git commit -m One", output));
    assert_eq!(found, [("/r/b.rs".into(), true), ("/r/src/a.rs".into(), false)], "the last change was not added");
}

#[test]
fn what_a_commit_contains_is_not_discarded_and_not_taken_back_in_silence() {
    let log = Log::default()
        .edits("/r/a.rs", "x", "y")
        .calls("Write", &json!({"file_path": "/r/b.rs", "content": "x"}), "ok")
        .runs("git add -A && git commit -m One", "[main 1a2b3c4] One")
        .edits("/r/a.rs", "y", "x")
        .edits("/r/b.rs", "x", "y");
    assert_eq!(changed(&log.whole()), [("/r/a.rs", 2), ("/r/b.rs", 2)], "a commit is not undone by an edit");
    let restored = log.clone().runs("git checkout -- .", "");
    assert_eq!(committed(&restored), [("/r/a.rs".into(), true), ("/r/b.rs".into(), true)]);
    assert_eq!(changed(&restored.whole()), [("/r/a.rs", 1), ("/r/b.rs", 1)]);
    let removed = log.runs("rm b.rs", "").whole();
    assert!(removed.changed.iter().any(|change| change.path == "/r/b.rs" && change.deleted));
}

#[test]
fn a_commit_that_another_branch_has_is_kept() {
    let log = Log::default()
        .edits("/r/a.rs", "x", "y")
        .runs("git commit -am One", "[main 1111111] One")
        .edits("/r/b.rs", "x", "y")
        .runs("git commit -am Two", "[main 2222222] Two");
    let kept = log.runs("git branch b && git reset --hard HEAD~1 && git checkout b", "HEAD is now at 1111111 One");
    assert_eq!(committed(&kept), [("/r/a.rs".into(), true), ("/r/b.rs".into(), true)], "another branch has the commit");
    assert_eq!(kept.whole().commits.len(), 2);
    let failed = Log::default()
        .edits("/r/a.rs", "x", "y")
        .runs("git reset --hard HEAD~1", "fatal: ambiguous argument 'HEAD~1': unknown revision\nExit code: 128");
    assert_eq!(changed(&failed.whole()), [("/r/a.rs", 1)]);
}

#[test]
fn commits_that_are_made_from_others_are_recorded() {
    let log = Log::default()
        .edits("/r/a.rs", "x", "y")
        .runs("git revert --no-edit HEAD", "[main 1111111] Revert \"One\"\n 1 file changed")
        .runs("git cherry-pick main~2 main~1", "[main 2222222] Two\n Date: now\n[main 3333333] Three");
    let facts = log.whole();
    let subjects: Vec<&str> = facts.commits.iter().map(|commit| commit.subject.as_str()).collect();
    assert_eq!(subjects, ["Revert \"One\"", "Two", "Three"]);
    assert!(!facts.changed[0].committed);
    let mixed = log.runs("git cherry-pick main && git commit -am Five", "[main 4444444] Four\n[main 5555555] Five");
    let facts = mixed.whole();
    let hashes: Vec<_> =
        facts.commits.iter().skip(3).map(|commit| commit.hash.as_deref().unwrap_or_default()).collect();
    assert_eq!(hashes, ["4444444", "5555555"]);
    assert!(facts.changed[0].committed);
}

#[test]
fn an_edit_of_several_places_is_no_new_file() {
    let edits = json!({"file_path": "/r/app.py", "edits": [{"old_string": "x", "new_string": "y"}]});
    let log = Log::default().calls("MultiEdit", &edits, "ok");
    assert!(!log.clone().runs("python app.py", "").whole().changed[0].is_script());
    assert!(log.runs("rm /r/app.py", "").whole().changed[0].deleted);
}

#[test]
fn two_commits_of_a_call_have_their_own_lines() {
    let log = Log::default().runs("git commit -m One && git commit -m Two", "[main 1111111] One\n[main 2222222] Two");
    let commits = log.whole().commits.into_iter().map(|commit| (commit.hash.unwrap_or_default(), commit.subject));
    assert!(commits.eq([("1111111", "One"), ("2222222", "Two")].map(|(hash, subject)| (hash.into(), subject.into()))));
}

#[test]
fn a_merged_list_keeps_what_it_leaves_out() {
    let item = |id: &str, text: &str, state: &str| json!({"id": id, "content": text, "status": state});
    let log = Log::default()
        .calls(
            "todo_write",
            &json!({"merge": false, "todos": [item("1", "One", "pending"), item("2", "Two", "pending")]}),
            "ok",
        )
        .calls(
            "todo_write",
            &json!({"merge": true, "todos": [item("1", "One", "completed"), item("3", "Three", "pending")]}),
            "ok",
        );
    assert_eq!(log.whole().open().map(|todo| todo.text.clone()).collect::<Vec<_>>(), ["Two", "Three"]);
    let log = log.calls("todo_write", &json!({"merge": true, "todos": [{"id": "2", "status": "completed"}]}), "ok");
    assert_eq!(log.whole().open().map(|todo| todo.text.clone()).collect::<Vec<_>>(), ["Three"]);
}

#[test]
fn items_and_questions_are_open_until_they_are_done() {
    let list = |state: &str| json!({"todos": [{"content": "One", "status": "completed"}, {"content": "Two", "status": state}]});
    let log = Log::default()
        .message("user", "Fix it")
        .calls("TodoWrite", &list("pending"), "ok")
        .calls("TodoWrite", &list("in_progress"), "ok")
        .message("assistant", "It is done. Shall I commit it?");
    let facts = log.whole();
    assert_eq!(facts.open().map(|todo| todo.text.as_str()).collect::<Vec<_>>(), ["Two"]);
    assert_eq!(facts.question.map(|question| question.text).as_deref(), Some("Shall I commit it?"));
    assert_eq!(log.message("user", "No, wait.").whole().question, None);
}

fn long() -> Log {
    let mut log = Log::default().message("user", "Make the export faster.");
    for n in 0..12 {
        log = log
            .message("assistant", &format!("Step {n}."))
            .edits(&format!("/r/src/part{n}/file{n}.rs"), "x", &format!("y{n}"))
            .runs("cargo test", &format!("test a::t{n} ... FAILED\ntest result: FAILED. 0 passed; 1 failed"))
            .runs("git commit -am x", &format!("[main 1a2b3c{n:x}] Step {n}"))
            .message("user", &format!("No, use number {n} instead."));
    }
    log.calls("update_plan", &json!({"plan": [{"step": "Measure", "status": "pending"}]}), "ok")
}

#[test]
fn reading_in_parts_is_reading_at_once() {
    let log = long();
    let whole = log.whole();
    // Parts end behind results: a result outside of a part is not read.
    assert_eq!(log.facts(96), whole);
    assert_eq!(whole.goal.as_ref().map(|goal| goal.text.as_str()), Some("Make the export faster."));
    assert_eq!((whole.changed.len(), whole.commits.len(), whole.asked.len()), (12, 12, 12));
}

#[test]
fn a_text_keeps_its_budget_and_is_read_back() {
    let facts = long().whole();
    let count = |text: &str| text.split(|c: char| !c.is_alphanumeric()).count();
    for tokens in (0..700).step_by(7) {
        let text = facts.text(tokens, true, &count);
        assert!(count(&text) <= tokens.max(1), "{tokens}: {text}");
    }
    let text = facts.text(2000, true, &count);
    let back = Facts::from_text(&text);
    assert_eq!(changed(&back), changed(&facts), "{text}");
    assert_eq!((&back.goal, &back.asked, &back.said), (&facts.goal, &facts.asked, &facts.said));
    assert_eq!((&back.commits, back.messages), (&facts.commits, facts.messages));
    assert_eq!(back.text(2000, true, &count), text);
}

#[test]
fn a_talk_has_no_facts_but_its_goal() {
    let talk = Log::default().message("user", "Is it raining?").message("assistant", "No.").whole();
    let count = |text: &str| text.split_whitespace().count();
    assert_eq!(talk.text(100, false, &count), "");
    assert_eq!(talk.text(100, true, &count), "Goal [m0]: Is it raining?");
}

/// Whether each result of a transcript says that its tool failed.
fn failures(text: &str) -> Vec<bool> {
    let reading = Reading::new(Framing::Lines, None, None).unwrap();
    let document = reading.parse(text).unwrap();
    let read = reading.transcripts(&document).unwrap();
    let messages = &read[0].1.messages;
    let pairs = Pairs::from_messages(messages);
    let results = pairs.results().iter().map(|result| {
        let call = pairs.counterpart(*result).and_then(|call| call.part_in(messages).content.call());
        failed(call, result.part_in(messages))
    });
    results.collect()
}

/// Each pair has a result that failed and one that did not.
#[test]
fn a_failure_is_recognized_in_every_spelling() {
    let anthropic = |id: &str, flag: bool| {
        let call =
            json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "edit", "input": {}}]});
        let block = json!({"type": "tool_result", "tool_use_id": id, "is_error": flag, "content": "tide.ts"});
        format!("{call}\n{}\n", json!({"role": "user", "content": [block]}))
    };
    let bedrock = |id: &str, status: &str| {
        let call =
            json!({"role": "assistant", "content": [{"toolUse": {"toolUseId": id, "name": "edit", "input": {}}}]});
        let result = json!({"toolUseId": id, "status": status, "content": [{"text": "tide.ts"}]});
        format!("{call}\n{}\n", json!({"role": "user", "content": [{"toolResult": result}]}))
    };
    let gemini = |response: &serde_json::Value| {
        let call = json!({"role": "model", "parts": [{"functionCall": {"name": "edit", "args": {}}}]});
        let part = json!({"functionResponse": {"name": "edit", "response": response}});
        format!("{call}\n{}\n", json!({"role": "user", "parts": [part]}))
    };
    let ai_sdk = |id: &str, kind: &str| {
        let call = json!({"type": "tool-call", "toolCallId": id, "toolName": "edit", "input": {}});
        let output = json!({"type": kind, "value": "tide.ts"});
        let result = json!({"type": "tool-result", "toolCallId": id, "toolName": "edit", "output": output});
        let message = |role: &str, part: serde_json::Value| json!({"role": role, "content": [part]});
        format!("{}\n{}\n", message("assistant", call), message("tool", result))
    };
    for text in [
        anthropic("a", true) + &anthropic("b", false),
        bedrock("a", "error") + &bedrock("b", "success"),
        gemini(&json!({"error": "no such file"})) + &gemini(&json!({"output": "tide.ts", "error": null})),
        ai_sdk("a", "error-text") + &ai_sdk("b", "text"),
        Log::default()
            .runs("make", "make: *** [all] Error 2\nexited with code 2")
            .runs("make", "Exit code: 0\nok")
            .lines,
        Log::default().runs("ls x", "<returncode>2</returncode>").runs("ls", "error.log").lines,
        Log::default().runs("run", "Failed: 1, passed: 3").runs("run", "Failed: 0, passed: 3").lines,
        Log::default().runs("run", "Error: 0 occurrences of old_string found").runs("run", "Errors: 0").lines,
        Log::default().runs("run", "Failed: 0 of 1 hunks applied").runs("run", "Failed: 0").lines,
        Log::default().runs("run", "Failed tests: 10").runs("run", "Failed tests: 0\nPassed: 12").lines,
        Log::default().runs("run", "Invalid port: 0").runs("run", "Invalid rows: 0\nValid rows: 500").lines,
        Log::default().runs("run", "Invalid sample rate: 0").runs("run", "Error rate: 0.0 %\np50 12 ms").lines,
        Log::default().runs("run", "Failure rate 0.5%").runs("run", "Failure rate 0%").lines,
        Log::default().runs("run", "Error at lines 0, 3").runs("run", "error count 0").lines,
        Log::default().runs("run", "Error: 0 hunks could be applied").runs("run", "0 failed").lines,
        Log::default()
            .calls("book_flight", &json!({}), "Error: no seats")
            .calls("read_file", &json!({"path": "a.log"}), "Error: no seats\nError: no trains")
            .lines,
        Log::default()
            .runs("git push", "error: failed to push some refs to 'origin'")
            .runs("cd r && git -C a --no-pager log -1", "error: no")
            .lines,
        Log::default().runs("git checkout a", "error: pathspec 'a' did not match").runs("git diff", "error: no").lines,
        Log::default().runs("cd r && git pull", "error: no").runs("gh pr view 7", "error: no").lines,
        Log::default().runs("make", "Exit code: 1\nno").runs("sleep 5; tail -3 server.log", "Error: no\n  at x").lines,
        Log::default().runs("ls a", "Exit code 2\nno").runs("[ -f e.log ] && cat e.log", "error: no").lines,
        Log::default()
            .runs("yarn lint", "yarn run v1\nerror Command failed with exit code 1.")
            .runs("cat yarn.log", "yarn run v1\nerror Command failed with exit code 1.")
            .lines,
        Log::default()
            .calls("read_file", &json!({"path": "a"}), "Error, a.md does not exist")
            .calls("read_file", &json!({"path": "a"}), "Error codes of the service")
            .lines,
        Log::default()
            .calls("read_file", &json!({"path": "a"}), "File does not exist: a")
            .calls("Grep", &json!({"pattern": "Error"}), "Error: bad id")
            .lines,
        Log::default()
            .runs("git -C a merge topic", "error: no")
            .calls("read_file", &json!({"path": "a"}), "{\"content\":\"# Codes\\nExit code: 2\\nBad usage\"}")
            .lines,
        Log::default()
            .calls("read_file", &json!({"path": "a"}), "Error: file not found")
            .calls("fetch", &json!({"url": "a"}), "Error codes\nError: 404")
            .lines,
        Log::default()
            .calls("get_weather", &json!({"city": "a"}), "Error: unknown city")
            .calls("web_search", &json!({"query": "a"}), "Error codes\nError: 404")
            .lines,
        Log::default()
            .runs("git apply a.patch && sed -i s/a/b/ a.py", "error: a.py: no")
            .runs("cat a", "error: no")
            .lines,
    ] {
        assert_eq!(failures(&text), [true, false], "{text}");
    }
}

#[test]
fn a_command_that_failed_changes_nothing() {
    let patch = "*** Begin Patch\n*** Add File: d.rs\n+y\n*** End Patch";
    let failed = r#"{"output":"Invalid patch","metadata":{"exit_code":1}}"#;
    let log = Log::default()
        .runs("sed -i s/a/b/ a.rs", "Exit code 2\nsed: can't read a.rs: No such file or directory")
        .runs("rm b.rs", "rm: cannot remove 'b.rs': No such file or directory\n(exit code 1)")
        .runs("grep x y > c.txt", "Exit code 1")
        .calls("shell", &json!({"command": ["apply_patch", patch]}), failed);
    assert_eq!(changed(&log.whole()), [("c.txt", 1)]);
}

#[test]
fn what_failed_may_have_changed_some_files() {
    let log = Log::default()
        .runs("python3 - <<'E'\nopen('a.py', 'w').write(x)\nfail()\nE", "Exit code 1\nTraceback")
        .runs("node -e \"fs.writeFileSync('b.js', x); fail()\"", "Exit code 1")
        .runs("sed -i s/a/b/ c.rs missing.rs", "Exit code 2\nsed: can't read missing.rs")
        .runs("bash -c 'sed -i s/a/b/ d.rs && make'", "Exit code 1")
        .runs("bash -c 'sed -i s/a/b/ e.rs'", "Exit code 2\nsed: can't read e.rs");
    assert_eq!(changed(&log.whole()), [("a.py", 1), ("b.js", 1), ("c.rs", 1), ("missing.rs", 1), ("d.rs", 1)]);
}

#[test]
fn an_edit_that_failed_changes_nothing() {
    let call = json!({"type": "tool_use", "id": "t", "name": "Edit",
        "input": {"file_path": "/r/tide.ts", "old_string": "a", "new_string": "b"}});
    let block = json!({"type": "tool_result", "tool_use_id": "t", "is_error": true, "content": "tide.ts: read-only"});
    let lines = format!(
        "{}\n{}\n",
        json!({"role": "assistant", "content": [call]}),
        json!({"role": "user", "content": [block]})
    );
    assert_eq!(changed(&Log { lines, calls: 1 }.whole()), []);
}

#[test]
fn what_a_call_shows_is_not_what_it_did() {
    let log = Log::default()
        .runs("gh run view 7", "X build\nProcess completed with exit code 1.")
        .runs("grep -n exit a.py", "3: fail('exit code 2')")
        .runs("sed -n 1,3p a.md", "Error codes of the service")
        .calls("Grep", &json!({"pattern": "Error"}), "Error codes of the service\nError classes")
        .calls("edit_file", &json!({"path": "a", "old_string": "a", "new_string": "b"}), "Error codes of the service");
    assert_eq!(failures(&log.lines), [false, false, false, false, true]);
}

/// The tests that fail, and those that passed since.
fn tests_of(log: &Log) -> (Vec<String>, Vec<String>) {
    let facts = log.whole();
    (facts.failing.into_iter().map(|test| test.name).collect(), facts.passed_since)
}

#[test]
fn only_a_run_of_tests_resolves_a_test() {
    let cargo = "test a::b ... FAILED\ntest result: FAILED. 0 passed; 1 failed";
    let pytest = "FAILED tests/a.py::x - E\n1 failed in 1s";
    let done = "    Finished `dev` profile [unoptimized] target(s) in 0.1s";
    for (failing, output, passing, passed) in [
        ("cargo test", cargo, "cargo clippy", done),
        ("cargo test", cargo, "cargo test --no-run", done),
        ("cargo test", cargo, "make", done),
        ("pytest", pytest, "ruff check src tests", "All checks passed!"),
        ("pytest", pytest, "mypy tests", "Success: no issues found in 14 source files"),
    ] {
        let log = Log::default().runs(failing, output).runs(passing, passed);
        assert_eq!(tests_of(&log).1, Vec::<String>::new(), "{passing}");
    }
    for (failing, output, passing, passed) in [
        ("cargo test", cargo, "cargo t", "test result: ok. 1 passed; 0 failed"),
        ("pytest", pytest, "pytest tests", "1 passed in 1s"),
        ("mise run test 2>&1 | tail -20", pytest, "mise run test 2>&1", "1 passed in 1s"),
        ("npm test", "Tests: 1 failed, 2 passed, 3 total\n  ● a › b", "npm run check", "Tests: 3 passed, 3 total"),
        ("pytest", pytest, "make", "3 passed in 0.1s"),
        ("go test ./...", "--- FAIL: TestA (0.00s)\nFAIL\tx", "make", "go vet ./...\nok  \tx\t0.1s"),
        ("cargo test", cargo, "make", "test result: ok. 3 passed; 0 failed"),
        ("./all.sh 2>&1 | tail -20", pytest, "cd /r && ./all.sh > out.txt 2>&1; cat out.txt", "1 passed in 1s"),
    ] {
        let log = Log::default().runs(failing, output).runs(passing, passed);
        assert_eq!(tests_of(&log).0, Vec::<String>::new(), "{passing}");
        let check = log.whole().check.unwrap();
        assert!(!check.command.contains(['>', '|']), "{check:?}");
    }
}
