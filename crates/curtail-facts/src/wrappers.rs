//! Exit codes and output, extracted from the wrappers that agents put around them.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

/// What a line of a wrapper, in lower case, has before an exit code: its label, or a sentence that says how the command ended. What a
/// program printed has it elsewhere: a compiler says `error: command 'gcc' failed with exit code 1` of what it runs itself.
static EXIT_CODE_LABEL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let label = r"(?:exit (?:code|status):? |exited with code )";
    let command = r"(?:the |shell )?(?:command|terminal|tool|bash)\b";
    let ended = r"\b(?:executed|exited|finished|completed|failed|succeeded|ran)\b";
    let lines = [
        String::from("(?:error: )?<returncode>"),
        format!(r"(?:error: )?(?:exited )?(?:with )?\(?{label}"),
        format!(r"(?:error:? (?:the )?command failed|(?:process|program) (?:exited|finished)) (?:with )?\(?{label}"),
        format!("(?:process|program) {label}|{command}[^\\n]*? exited with code "),
        format!(r"{command}[^\n]*?{ended}(?:[^\n]*?(?:\(|\. | with ))? ?{label}"),
        String::from("- exit code: "),
    ];
    Regex::new(&format!(r"(?m)^[\s\[(<>]*(?:system>)?(?:{})", lines.join("|"))).ok()
});

/// The key of an exit code in a result that is JSON, in lower case.
static EXIT_CODE_KEY: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r#""exit_?code":"#).ok());

/// The exit code that an output reports, in its first or its last lines.
pub fn exit_code(output: &str) -> Option<i32> {
    code_in(output, |text| code_behind(&EXIT_CODE_LABEL, text))
}

/// The exit code that a wrapper reports around a text which may contain others: on the first or the last line, or behind lines such as
/// `Wall time: 0.1 seconds`. A package manager writes the last line of its log with `error` and no colon.
pub(super) fn exit_code_around(output: &str) -> Option<i32> {
    code_in(output, |text| code_on_edge(text.lines()).or_else(|| code_on_edge(text.lines().rev())))
}

/// The most lines of a wrapper before an output, or behind it.
const MOST_AROUND: usize = 8;

/// The code on the first line, or on one that only lines with a label are before.
fn code_on_edge<'o>(lines: impl Iterator<Item = &'o str>) -> Option<i32> {
    for line in lines.filter(|line| !line.trim().is_empty()).take(MOST_AROUND) {
        let code = code_behind(&EXIT_CODE_LABEL, line).filter(|_| !line.starts_with("error "));
        let goes_on = LABELLED.as_ref()?.is_match(line)
            || ["Command executed", "The command"].iter().any(|start| line.starts_with(start));
        if code.is_some() || line.starts_with("Output:") || !goes_on {
            return code;
        }
    }
    None
}

/// A line in which a label names a value.
static LABELLED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("^[A-Z][A-Za-z ]{1,20}: ").ok());

/// The exit code beside an output, or else in it. A text in JSON that is no output is what a file contains.
fn code_in(output: &str, find: impl Fn(&str) -> Option<i32>) -> Option<i32> {
    if !is_object(output) {
        return find(output);
    }
    code_behind(&EXIT_CODE_KEY, output).or_else(|| {
        let members: Map<String, Value> = serde_json::from_str(output).ok()?;
        // Between two long outputs, it is neither at the beginning nor at the end.
        let code = ["exit_code", "exitCode"].iter().find_map(|key| members.get(*key)?.as_i64());
        if let Some(code) = code {
            return i32::try_from(code).ok();
        }
        find(["output", "stdout"].iter().find_map(|key| members.get(*key)?.as_str())?)
    })
}

/// Whether a text is an object in JSON.
fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// The number behind a label in the first or the last lines of a text.
fn code_behind(label: &LazyLock<Option<Regex>>, text: &str) -> Option<i32> {
    let label = label.as_ref()?;
    let head = &text[..text.floor_char_boundary(400)];
    let tail = &text[text.ceil_char_boundary(text.len().saturating_sub(400))..];
    [head, tail].iter().find_map(|part| {
        let lower = part.to_ascii_lowercase();
        let mut labels =
            label.find_iter(&lower).filter(|found| !found.as_str().ends_with("- exit code: ") || has_output(&lower));
        labels.find_map(|found| code_at(&part[found.end()..]))
    })
}

/// Whether a list names the output beside the exit code: a list of all exit codes does not.
fn has_output(lower: &str) -> bool {
    lower.lines().any(|line| line.starts_with("- output:"))
}

/// The number at the beginning of `text`, after white space; `None` if a sentence about exit codes goes on behind it.
fn code_at(text: &str) -> Option<i32> {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(text.len());
    let next = text[end..].strip_prefix(' ').and_then(|rest| rest.split_whitespace().next()).unwrap_or_default();
    let goes_on = next.starts_with(char::is_lowercase) && !matches!(next, "in" | "after");
    text[..end].parse().ok().filter(|_| !goes_on)
}

/// The output inside a wrapper: `{"output":"…"}`, `{"stdout":"…","stderr":"…"}`, or `<output>…</output>` after other tags or at the
/// beginning of a line.
pub fn unwrapped(result: &str) -> Cow<'_, str> {
    if result.trim_start().starts_with('{')
        && let Ok(Value::Object(members)) = serde_json::from_str(result)
    {
        let output = ["output", "stdout", "content"].iter().find_map(|key| members.get(*key)?.as_str());
        let errors = members.get("stderr").and_then(Value::as_str);
        match (output, errors) {
            (None, None) => {}
            (Some(output), Some(errors)) if !output.is_empty() && !errors.is_empty() => {
                return Cow::Owned(format!("{output}\n{errors}"));
            }
            _ => return Cow::Owned([output, errors].into_iter().flatten().collect()),
        }
    }
    let tag = if result.starts_with('<') { "<output>" } else { "\n<output>" };
    let inside = result.split_once(tag).and_then(|(_, rest)| rest.rsplit_once("</output>"));
    Cow::Borrowed(inside.map_or(result, |(output, _)| output))
}

/// Whether an output is empty, or only what an agent says of an empty one, or the script that a package manager runs.
pub(super) fn says_nothing(output: &str) -> bool {
    const EMPTY: &[&str] = &["no output", "no content", "Bash completed with no output", "Tool ran without output"];
    let bare = output.trim().trim_start_matches("<system>").trim_end_matches("</system>");
    EMPTY.contains(&bare.trim_matches(['(', ')', '.']))
        || output.lines().all(|line| line.trim().is_empty() || line.starts_with("> "))
}

#[cfg(test)]
mod tests {
    use super::{exit_code, exit_code_around, says_nothing, unwrapped};

    #[test]
    fn an_empty_output_has_several_names() {
        for output in [
            "",
            " \n",
            "(Bash completed with no output)",
            "<system>Tool ran without output</system>",
            "\n> web@1.0 lint\n> eslint .\n",
        ] {
            assert!(says_nothing(output), "{output}");
        }
        assert!(!says_nothing("0 errors"));
    }

    #[test]
    fn the_output_is_in_the_wrapper_and_not_in_a_file() {
        assert_eq!(unwrapped("<returncode>0</returncode>\n<output>\na\n</output>"), "\na\n");
        assert_eq!(unwrapped("{\"output\":\"a\\nb\",\"metadata\":{}}"), "a\nb");
        assert_eq!(unwrapped("{\"stdout\":\"a\",\"stderr\":\"b\"}"), "a\nb");
        assert_eq!(unwrapped("{\"stdout\":\"\",\"stderr\":\"error: no\",\"exit_code\":1}"), "error: no");
        assert_eq!(unwrapped("Done.\n<output> M a.rs\n</output>"), " M a.rs\n");
        let page = "1 failed\n<p><output>0</output></p>";
        assert_eq!(unwrapped(page), page);
    }

    #[test]
    fn exit_codes_are_told_from_sentences_about_them() {
        for (output, code) in [
            ("Exit code 1\nerror: no such file", Some(1)),
            ("[Command finished with exit code 2]", Some(2)),
            ("Process exited with code 3 in 0.2 s", Some(3)),
            ("{\"exit_code\": 4}", Some(4)),
            ("Output: no such file\nExit Code: 1\nSignal: 0", Some(1)),
            ("{\"stdout\":\"\",\"exitCode\":2}", Some(2)),
            ("The tool returns exit code 2 if the file is missing.", None),
            ("It returns exit code 2 if it fails.\n(exit code 5)", Some(5)),
            ("Error: Command failed (exit code: 3)", Some(3)),
            ("[The command completed with exit code 4.]", Some(4)),
            ("X Process completed with exit code 1.", None),
            ("Process completed with exit code 1.", None),
            ("error: command '/usr/bin/gcc' failed with exit code 1", None),
            ("a.py:3: raise Failure('exit code 2')", None),
            ("    // exit code 2", None),
            ("a.sh:3:  # fails with exit code 2", None),
            ("assert_eq!(text, \"Command failed with exit code 2\")", None),
            ("rm: cannot remove 'a.py'\n<exited with exit code 1>", Some(1)),
            ("On branch main\n<exited with exit code 128>", Some(128)),
            ("Command executed in terminal within working directory '/x'. Exit code: 0\nOutput:\n", Some(0)),
            ("ok\n[Command succeeded with exit code 0]", Some(0)),
            ("<system>ERROR: Command failed with exit code: 1.</system>\nno", Some(1)),
            ("Command \"cargo clippy\" failed with exit code 1.\n\nno", Some(1)),
            ("Command `cargo clippy` exited with code 1\nno", Some(1)),
            ("no\n[Command -1 finished with exit code 1]", Some(1)),
            ("no\n\nProgram exited with code 1.", Some(1)),
            ("Command failed: cargo clippy (exit code 1)", Some(1)),
            ("Tool ran without output. Exit code: 1", Some(1)),
            ("Command line tools that failed return exit code 1", None),
            ("> exit code: 1\nno", Some(1)),
            ("- Exit code: 1\n- Output: no", Some(1)),
            ("no\nerror Command failed with exit code 1.", Some(1)),
            ("{\"level\":\"error\"}\nno\nCommand exited with code 1", Some(1)),
            ("{\"exit_code\": 0, \"x\": 1}\nExit code: 1", Some(1)),
            ("{\"output\":\"no\\nExit code: 1\"}", Some(1)),
            ("{\"content\":\"# Codes\\nExit code: 2\\nBad usage\"}", None),
            ("# Codes\n\n- Exit code: 2 - bad usage\n- Exit code: 1 - other", None),
            ("The program '[1] a.exe' has exited with code 1 (0x1).", None),
            (" {\"output\":\"exit code 2\",\"metadata\":{\"exit_code\":1}}", Some(1)),
        ] {
            assert_eq!(exit_code(output), code, "{output}");
        }
    }

    #[test]
    fn an_exit_code_is_found_between_long_outputs() {
        let long = "x".repeat(500);
        let result = format!("{{\"stdout\":\"{long}\",\"exitCode\":3,\"stderr\":\"{long}\"}}");
        assert_eq!((exit_code(&result), exit_code_around(&result)), (Some(3), Some(3)));
    }

    #[test]
    fn exit_codes_in_a_text_that_is_shown_are_not_its_own() {
        for (output, code) in [
            ("Exit code: 1\ncat: a.md: No such file or directory", Some(1)),
            ("# Codes\n[Command finished with exit code 0]\n\n", Some(0)),
            (
                "Command executed in terminal within '/w'. It was not successful.\nExit code: 1\nOutput:\nls: no",
                Some(1),
            ),
            ("Chunk ID: a\nWall time: 0.1 seconds\nProcess exited with code 1\nOutput:\nExit code: 2", Some(1)),
            ("Output: # Codes\nExit code: 2\nError: (none)\nExit Code: 0\nSignal: (none)", Some(0)),
            ("{\"output\":\"# Codes\",\"exit_code\":0}", Some(0)),
            ("{\"output\":\"# Codes\\nExit code: 2\\nBad usage\"}", None),
            ("# Codes\nExit code: 2\nBad usage", None),
            ("yarn run v1\nerror Command failed with exit code 1.\n", None),
        ] {
            assert_eq!(exit_code_around(output), code, "{output}");
        }
    }
}
