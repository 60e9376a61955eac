//! Exit codes and output, extracted from the wrappers that agents put around them.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

/// What a line of a wrapper, in lower case, has before an exit code. What a program printed has it elsewhere.
static EXIT_CODE_LABEL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let command =
        r"(?:the )?(?:command|process) exited|process finished|(?:the )?command (?:finished|completed|failed)";
    let label = format!(
        r"(?:(?:{command}) )?(?:with )?\(?exit (?:code|status):? |(?:(?:the )?(?:command|process) )?exited with code "
    );
    Regex::new(&format!(r"(?m)^[\s\[(]*(?:error: )?(?:<returncode>|{label})")).ok()
});

/// The key of an exit code in a result that is JSON, in lower case.
static EXIT_CODE_KEY: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r#""exit_?code":"#).ok());

/// The exit code that an output reports, in its first or its last lines.
pub fn exit_code(output: &str) -> Option<i32> {
    let head = &output[..output.floor_char_boundary(400)];
    let tail = &output[output.ceil_char_boundary(output.len().saturating_sub(400))..];
    let label = if output.starts_with('{') { &EXIT_CODE_KEY } else { &EXIT_CODE_LABEL };
    let label = label.as_ref()?;
    [head, tail].iter().find_map(|part| {
        let lower = part.to_ascii_lowercase();
        label.find_iter(&lower).find_map(|found| code_at(&part[found.end()..]))
    })
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
    if result.starts_with('{')
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
    use super::{exit_code, says_nothing, unwrapped};

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
        ] {
            assert_eq!(exit_code(output), code, "{output}");
        }
    }
}
