//! A tool call on one line: its name and its short arguments. It reads JSON arguments of any dialect, and guesses from
//! names what a tool does.

use std::collections::{HashMap, VecDeque};

use serde_json::Value;

use super::lexicon::{CHANGE_VERBS, READ_VERBS};
use crate::summarizers::{Speaker, Utterance};

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
    let (letters, lines) = (text.chars().count(), text.trim_end().lines().count());
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
    let (first, last) = (&letters[..head], &letters[letters.len() - tail.min(letters.len())..]);
    first.iter().chain(['…'].iter()).chain(last).collect()
}

/// For every utterance, whether it is the result of a call that only reads. Results belong to the calls of the same name, in
/// order.
pub(super) fn read_only_results(utterances: &[&Utterance<'_>]) -> Vec<bool> {
    let mut waiting: HashMap<&str, VecDeque<bool>> = HashMap::new();
    let mut shown = Vec::with_capacity(utterances.len());
    for utterance in utterances {
        shown.push(match &utterance.speaker {
            Speaker::Call(name) => {
                waiting.entry(name).or_default().push_back(only_reads(name, &utterance.text));
                false
            }
            Speaker::Tool(name) => waiting.get_mut(name.as_str()).and_then(VecDeque::pop_front).unwrap_or(false),
            _ => false,
        });
    }
    shown
}

fn only_reads(name: &str, arguments: &str) -> bool {
    let members = serde_json::from_str::<Value>(arguments).ok();
    let command = members.as_ref().and_then(|members| COMMAND_KEYS.iter().find_map(|key| members.get(*key)));
    let command = command.and_then(|command| match command {
        Value::String(line) => Some(line.as_str()),
        // A list of words. If they run a shell, the last one is its script.
        Value::Array(words) => words.last()?.as_str(),
        _ => None,
    });
    command.map_or_else(|| effect(name), effect_of_command) == CallEffect::None
}

/// The effect of a call, as far as its name or the command that it runs shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallEffect {
    /// It only reads.
    None,
    /// It makes, changes, moves or removes something.
    Change,
    /// It is unknown.
    Unknown,
}

/// The effect of a tool or program called `name`: `get_user`, `readFile`, `sed -i …`.
pub(super) fn effect(name: &str) -> CallEffect {
    let first = name.split(|c: char| !c.is_alphanumeric()).find(|part| !part.is_empty()).unwrap_or_default();
    let verb = first
        .char_indices()
        .skip(1)
        .find(|(_, c)| c.is_uppercase())
        .map_or(first, |(at, _)| &first[..at])
        .to_lowercase();
    if READ_VERBS.binary_search(&verb.as_str()).is_ok() {
        CallEffect::None
    } else if CHANGE_VERBS.binary_search(&verb.as_str()).is_ok() {
        CallEffect::Change
    } else {
        CallEffect::Unknown
    }
}

/// The effect of a shell command line: the strongest effect of its commands.
pub(super) fn effect_of_command(line: &str) -> CallEffect {
    let joined = line.replace(">&", ">");
    let parts = joined.split(['&', ';', '|', '\n']).map(str::trim).filter(|part| !part.is_empty());
    let effects: Vec<CallEffect> = parts.map(effect_of_part).collect();
    let has = |effect| effects.contains(&effect);
    match () {
        () if writes_a_file(line) || has(CallEffect::Change) => CallEffect::Change,
        () if has(CallEffect::Unknown) || effects.is_empty() => CallEffect::Unknown,
        () => CallEffect::None,
    }
}

/// The effect of one command of a line.
fn effect_of_part(part: &str) -> CallEffect {
    let mut words = part.split_whitespace();
    match words.next().unwrap_or_default() {
        "cd" | "echo" | "export" | "source" | "sort" | "wc" | "true" => CallEffect::None,
        "sed" | "perl" if words.any(|word| word.starts_with("-i")) => CallEffect::Change,
        "sed" | "awk" => CallEffect::None,
        "git" => effect(words.next().unwrap_or_default()),
        _ => effect(part),
    }
}

/// Whether the output of a command is written to a file: `cat > a.py << EOF`, but not `2>&1` or `>/dev/null`.
fn writes_a_file(line: &str) -> bool {
    let mut words = line.split_whitespace();
    while let Some(word) = words.next() {
        let Some(file) = word.strip_prefix(">>").or_else(|| word.strip_prefix('>')) else { continue };
        let file = if file.is_empty() { words.next().unwrap_or_default() } else { file };
        if file.starts_with(|c: char| c.is_alphanumeric() || "/._~$".contains(c)) && file != "/dev/null" {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{CallEffect, effect, effect_of_command, line, read_only_results};
    use crate::summarizers::{Speaker, Utterance};

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

    #[test]
    fn results_of_calls_that_only_read_are_recognized() {
        let spoken = [
            (Speaker::Call("bash".into()), r#"{"command":"cat a.rs"}"#),
            (Speaker::Call("bash".into()), r#"{"command":"cargo test"}"#),
            (Speaker::Tool("bash".into()), "fn a() {}"),
            (Speaker::Tool("bash".into()), "ok"),
            (Speaker::Call("Read".into()), "{}"),
            (Speaker::Tool("Read".into()), "fn a() {}"),
        ];
        let utterances: Vec<Utterance<'_>> =
            spoken.into_iter().map(|(speaker, text)| Utterance::new(speaker, text)).collect();
        assert_eq!(read_only_results(&utterances.iter().collect::<Vec<_>>()), [false, false, true, false, false, true]);
    }

    #[test]
    fn a_command_line_has_the_effect_of_its_strongest_part() {
        for (line, expected) in [
            ("cd /testbed && grep -rn x . | head -5", CallEffect::None),
            ("sed -n '1,20p' a.py", CallEffect::None),
            ("cat a.py 2>/dev/null", CallEffect::None),
            ("ls > /dev/null 2>&1", CallEffect::None),
            ("cd /testbed && sed -i 's/1/2/' a.py", CallEffect::Change),
            ("cat > a.py << 'EOF'", CallEffect::Change),
            ("echo x >>notes.txt", CallEffect::Change),
            ("cd app; rm -rf build", CallEffect::Change),
            ("git apply p.patch", CallEffect::Change),
            ("python3 test.py", CallEffect::Unknown),
            ("", CallEffect::Unknown),
        ] {
            assert_eq!(effect_of_command(line), expected, "{line}");
        }
    }

    #[test]
    fn the_effect_of_a_call_follows_from_its_verb() {
        for (name, expected) in [
            ("get_user", CallEffect::None),
            ("readFile", CallEffect::None),
            ("Grep", CallEffect::None),
            ("__view", CallEffect::None),
            ("ls -la /tmp", CallEffect::None),
            ("edit_file", CallEffect::Change),
            ("Write", CallEffect::Change),
            ("book_reservation", CallEffect::Change),
            ("MultiEdit", CallEffect::Change),
            ("rm -rf x", CallEffect::Change),
            ("getter", CallEffect::Unknown),
            ("", CallEffect::Unknown),
        ] {
            assert_eq!(effect(name), expected, "{name}");
        }
    }
}
