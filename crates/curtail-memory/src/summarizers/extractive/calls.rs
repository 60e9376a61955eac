//! A tool call on one line: its name and its short arguments.

use serde_json::Value;

/// The most characters of a value, and of all arguments, that are shown: enough for a path and a command, too little for the
/// content of a file.
const MAX_VALUE: usize = 80;
const MAX_ARGUMENTS: usize = 200;

/// Arguments that contain code or a file. If they are longer than `MAX_CODE` characters, only their size is shown.
const CODE_KEYS: &[&str] = &[
    "old_string", "new_string", "oldText", "newText", "old_str", "new_str", "file_text", "content", "contents",
    "edits", "code_edit", "code", "new_source", "patch", "diff", "input", "replacement", "insert_text", "text",
];
const MAX_CODE: usize = 40;

/// Arguments that contain a command. They are shown even if they have several lines, and cut if they are long.
const COMMAND_KEYS: &[&str] = &["command", "cmd", "script"];

/// A call on one line: `name(path: src/main.rs, command: cargo test)`.
pub(super) fn line(name: &str, arguments: &str) -> String {
    let shown = match serde_json::from_str::<Value>(arguments) {
        Ok(Value::Object(members)) => {
            joined(members.iter().filter_map(|(key, value)| Some(format!("{key}: {}", shown_value(key, value)?))))
        }
        Ok(value) => shown_value("", &value).unwrap_or_default(),
        Err(_) => middle_cut(&one_line(arguments), MAX_ARGUMENTS),
    };
    format!("{name}({shown})")
}

/// As many arguments as may be shown, with commas between them.
fn joined(arguments: impl Iterator<Item = String>) -> String {
    let mut line = String::new();
    for argument in arguments {
        let gap = if line.is_empty() { "" } else { ", " };
        if line.chars().count() + gap.len() + argument.chars().count() > MAX_ARGUMENTS {
            line.push_str(gap);
            line.push('…');
            break;
        }
        line.push_str(gap);
        line.push_str(&argument);
    }
    line
}

/// A value on one line; `None` if it is empty, `null` or `false`.
fn shown_value(key: &str, value: &Value) -> Option<String> {
    let text = match value {
        Value::Null | Value::Bool(false) => return None,
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let letters = text.chars().count();
    let lines = text.trim_end().lines().count();
    let code = CODE_KEYS.contains(&key) && letters > MAX_CODE;
    if lines > 1 && !key.is_empty() && !COMMAND_KEYS.contains(&key) {
        return Some(format!("{lines} lines"));
    } else if code {
        return Some(format!("{letters} characters"));
    }
    let text = middle_cut(&one_line(&text), MAX_VALUE);
    (!text.is_empty()).then_some(text)
}

/// `text` with every run of white space replaced by a space.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// At most `longest` characters of `text`: its beginning and its end. The file name of a path is kept whole if it fits.
fn middle_cut(text: &str, longest: usize) -> String {
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= longest {
        return text.to_owned();
    }
    let is_path = !text.contains(' ') && text.contains('/');
    let name =
        if is_path { letters.iter().rev().take_while(|&&letter| letter != '/').count() + 1 } else { longest / 3 };
    let tail = name.clamp(longest / 3, longest.saturating_sub(1));
    let head = longest.saturating_sub(tail + 1);
    let first = &letters[..head];
    let last = &letters[letters.len() - tail.min(letters.len())..];
    first.iter().chain(['…'].iter()).chain(last).collect()
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn calls_show_what_is_short() {
        for (arguments, expected) in [
            (r#"{"path":"src/a.rs","n":3,"x":null,"y":""}"#, "f(path: src/a.rs, n: 3)"),
            (r#"{"cmd":["ls","-l"]}"#, r#"f(cmd: ["ls","-l"])"#),
            ("\"just\\ntext\"", "f(just text)"),
            ("not {json", "f(not {json)"),
            ("", "f()"),
        ] {
            assert_eq!(line("f", arguments), expected);
        }
        let long = format!(r#"{{"content":"{}","path":"a"}}"#, "é".repeat(500));
        assert_eq!(line("f", &long), "f(content: 500 characters, path: a)");
        let many = format!("{:?}", "word ".repeat(100));
        assert!(line("f", &many).chars().count() < 90);
        let edit = r#"{"file_path":"a.rs","old_string":"fn a() {\n}","new_string":"b","replace_all":false}"#;
        assert_eq!(line("Edit", edit), "Edit(file_path: a.rs, old_string: 2 lines, new_string: b)");
    }

    #[test]
    fn long_values_are_cut_in_the_middle() {
        let path = format!("{{\"path\":\"/{}/the_file_name.rs\"}}", "folder/".repeat(30));
        let shown = line("f", &path);
        assert!(shown.starts_with("f(path: /folder/") && shown.ends_with("/the_file_name.rs)"), "{shown}");
        assert_eq!(shown.chars().count(), 80 + "f(path: )".len());
        let command = format!("{{\"command\":\"cargo test {} --end\"}}", "x ".repeat(100));
        let shown = line("f", &command);
        assert!(shown.starts_with("f(command: cargo test") && shown.ends_with("--end)"), "{shown}");
        assert_eq!(line("f", &format!("{{\"path\":\"a/{}\"}}", "n".repeat(100))).chars().count(), 80 + 9);
    }
}
