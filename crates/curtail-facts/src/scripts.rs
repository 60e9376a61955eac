//! The files that a script changes when it is run, as far as its text names those that it opens for writing.

use foldhash::HashMap;

use super::paths;
use super::programs::{PROGRAMS, is_interpreter, lists};

/// Longest script that is searched, in bytes, and most files that are found in it.
pub(super) const MAX_SCRIPT: usize = 64 << 10;
const MAX_FILES: usize = 16;

/// The files that the script `text` opens for writing, if it is in a known language. `name` is its name, or that of the program
/// that runs it.
pub(super) fn opened_files(name: &str, text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    if !is_interpreter(name) && !lists(&PROGRAMS.script_endings, paths::extension(name)) {
        return found;
    }
    let variables = Variables::of(text);
    for call in &PROGRAMS.writers {
        add_files(text, call, |before, rest| variables.argument(arguments(rest).first()?, before.len()), &mut found);
    }
    for call in &PROGRAMS.openers {
        add_files(text, call, |before, rest| opened_file(&variables, before, rest), &mut found);
    }
    for call in &PROGRAMS.writing_methods {
        add_files(text, call, |before, _| receiver_path(&variables, before), &mut found);
    }
    found
}

/// Adds a path once, up to the limit.
pub(super) fn add(found: &mut Vec<String>, path: &str) {
    if let Some(path) =
        paths::project_path(path).filter(|path| !paths::is_expanded(path) && found.iter().all(|known| known != path))
        && found.len() < MAX_FILES
    {
        found.push(path.to_owned());
    }
}

/// Adds the files that `file` finds in the text before and after each occurrence of `call`.
fn add_files(text: &str, call: &str, file: impl Fn(&str, &str) -> Option<String>, found: &mut Vec<String>) {
    for (at, _) in text.match_indices(call) {
        let before = &text[..at];
        let whole = !before.ends_with(|c: char| c.is_alphanumeric() || c == '_') || call.starts_with('.');
        let line = before[before.rfind('\n').map_or(0, |end| end + 1)..].trim_start();
        let is_comment = line.starts_with('#') || line.starts_with("//");
        if whole
            && !is_comment
            && let Some(path) = file(&text[..at], &text[at + call.len()..])
        {
            add(found, &path);
        }
    }
}

/// The file of `open(…, "w")`; `None` if the mode does not write.
fn opened_file(variables: &Variables<'_>, before: &str, rest: &str) -> Option<String> {
    let arguments = arguments(rest);
    let named = arguments.iter().find_map(|argument| argument.strip_prefix("mode="));
    let (mode, after) = literal(named.or_else(|| arguments.get(1).copied())?)?;
    let writes = mode.starts_with(['w', 'a', 'x']) || mode.contains('+');
    let is_mode = after.is_empty() && mode.len() <= 3;
    if writes && is_mode { variables.argument(arguments.first()?, before.len()) } else { None }
}

/// The longest arguments of a call that are looked at.
const LONGEST_CALL: usize = 1_000;

/// The arguments at the beginning of `rest`, up to the parenthesis that ends them; of a longer call, the first ones.
fn arguments(rest: &str) -> Vec<&str> {
    let rest = &rest[..rest.floor_char_boundary(LONGEST_CALL)];
    let mut found = Vec::new();
    let mut start = 0;
    let mut depth = 0;
    let mut open: Option<char> = None;
    for (at, letter) in rest.char_indices() {
        match letter {
            '"' | '\'' if open.is_none() => open = Some(letter),
            _ if open == Some(letter) => open = None,
            _ if open.is_some() => {}
            ')' if depth == 0 => {
                found.push(rest[start..at].trim());
                return found;
            }
            ',' if depth == 0 => {
                found.push(rest[start..at].trim());
                start = at + 1;
            }
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
    }
    found
}

/// The path that a method is called on: `Path("a.py")`, or a variable.
fn receiver_path(variables: &Variables<'_>, before: &str) -> Option<String> {
    if let Some(inside) = before.strip_suffix(')') {
        let (_, path) = inside.rsplit_once("Path(")?;
        return literal(path).filter(|(_, after)| after.is_empty()).map(|(path, _)| path.to_owned());
    }
    let start = before.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
    variables.path(&before[start..], start)
}

/// What a script sets its variables to: for each, the value and where, in order.
struct Variables<'t>(HashMap<&'t str, Vec<(usize, &'t str)>>);

impl<'t> Variables<'t> {
    fn of(text: &'t str) -> Self {
        let mut values: HashMap<&str, Vec<(usize, &str)>> = HashMap::default();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let bare = line.trim().trim_end_matches(';');
            let bare = ["const ", "let ", "var ", "$"].iter().find_map(|word| bare.strip_prefix(word)).unwrap_or(bare);
            if let Some((name, value)) = bare.split_once('=') {
                // `name: str = "a.py"`
                let name = name.split_once(':').map_or(name, |(name, _)| name);
                values.entry(name.trim_end()).or_default().push((at, value.trim_start()));
            }
            at += line.len();
        }
        Self(values)
    }

    /// The path that an argument of a call at `place` is: a literal, or a variable that was set to one before.
    fn argument(&self, argument: &str, place: usize) -> Option<String> {
        let argument = argument.strip_prefix('r').filter(|raw| raw.starts_with(['"', '\''])).unwrap_or(argument);
        match literal(argument) {
            Some((path, after)) => after.is_empty().then(|| path.to_owned()),
            None => self.path(argument, place),
        }
    }

    /// The literal that a variable was set to last before a place: `name = "a.py"`, `const name = 'a.js'`, `name = Path("a.py")`.
    fn path(&self, name: &str, before: usize) -> Option<String> {
        let values = self.0.get(name)?;
        let (_, value) = values[..values.partition_point(|(at, _)| *at < before)].last()?;
        let inside =
            value.strip_suffix(')').and_then(|value| value.split_once("Path(")).map_or(*value, |(_, path)| path);
        let (path, after) = literal(inside)?;
        (after.is_empty() || after.trim_start().starts_with('#')).then(|| path.to_owned())
    }
}

/// The quoted text at the beginning, and what follows it.
fn literal(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    text[1..].split_once(quote).filter(|(inside, _)| !inside.contains(['\\', '\n']))
}
