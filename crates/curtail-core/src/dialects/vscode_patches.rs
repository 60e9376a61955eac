//! Chats that are written as a log of patches: the first line is the document, each later one sets a member of it, adds to a
//! list or deletes.

use serde_json::Value as Json;

use super::ReadError;
use super::loose_json::loose;
use crate::json::{Document, ParseErrorKind, Value};

/// A document that was made of a log of patches.
#[derive(Debug)]
pub struct Rebuilt {
    /// The document, on one line.
    pub text: String,
    /// The lines that could not be applied, in order.
    pub faults: Vec<ReadError>,
}

/// The document that a log of patches makes, on one line; `None` if `text` is no such log. A last line that is incomplete is left
/// out, because the editor may have been killed while it wrote it.
///
/// # Errors
/// The first line that is no patch, or whose path is not in the document.
#[must_use]
pub fn rebuilt(text: &str) -> Option<Result<String, ReadError>> {
    is_patch_log(text).then(|| {
        let Rebuilt { text, faults } = replayed(text, OnDamage::Stop);
        faults.into_iter().next().map_or(Ok(text), Err)
    })
}

/// As [`rebuilt`], for a reader of what can be read: lines that cannot be applied are left out.
#[must_use]
pub fn rebuilt_around(text: &str) -> Option<Rebuilt> {
    is_patch_log(text).then(|| replayed(text, OnDamage::ReadAround))
}

/// How far into a text its first line names the kind of a patch.
const HEAD: usize = 64;

/// Whether `text` begins with the document that later lines change.
#[must_use]
pub fn is_patch_log(text: &str) -> bool {
    // White space stands for what was damaged before it.
    let text = text.trim_start();
    let head = text.get(..text.floor_char_boundary(HEAD)).unwrap_or_default();
    let Some(first) = text.lines().next().filter(|_| head.contains("\"kind\"")) else {
        return false;
    };
    let Ok(document) = Document::parse_all(first) else { return false };
    document.roots().next().is_some_and(|root| {
        let is_first = root.get("kind").is_some_and(|kind| kind.raw() == "0");
        is_first && root.get("v").and_then(|value| value.get("requests")).is_some_and(Value::is_array)
    })
}

/// What is done at a line that is damaged: that cannot be applied, or has several patches, which can be read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OnDamage {
    /// It is a fault, and the last line that is read.
    Stop,
    /// Only what cannot be applied is a fault, and everything else is read.
    ReadAround,
}

/// Applies the lines of a log.
fn replayed(text: &str, on_damage: OnDamage) -> Rebuilt {
    let mut document = Json::Null;
    let mut faults = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        for (nth, patch) in patches(line).into_iter().enumerate() {
            let applied = match patch {
                Ok(_) if nth > 0 && on_damage == OnDamage::Stop => Err("a second patch begins on this line".to_owned()),
                Ok(patch) => patch.apply(&mut document).map_err(str::to_owned),
                Err(error) => Err(format!("this line is not a patch of a chat: {error}")),
            };
            if let Err(what) = applied {
                faults.push(ReadError { offset: at, what });
            }
        }
        if on_damage == OnDamage::Stop && !faults.is_empty() {
            break;
        }
        at += line.len();
    }
    Rebuilt { text: format!("{document}\n"), faults }
}

/// The patches on a line, and why what is behind them is none. A last line that is incomplete has none.
fn patches(line: &str) -> Vec<Result<LogPatch, String>> {
    let mut patches = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        match Document::parse_first(rest) {
            Ok(document) => {
                let Some(root) = document.roots().next() else { break };
                patches.push(
                    LogPatch::read(root).ok_or_else(|| String::from("it has no `kind`, or a path of other steps")),
                );
                rest = rest[root.span().end as usize..].trim_start();
            }
            Err(error) => {
                let is_torn = error.offset == rest.len()
                    || matches!(error.kind, ParseErrorKind::UnfinishedValue | ParseErrorKind::UnfinishedString);
                if !is_torn || line.ends_with('\n') {
                    patches.push(Err(error.kind.to_string()));
                }
                break;
            }
        }
    }
    patches
}

/// A line of a log.
struct LogPatch {
    kind: u8,
    path: Vec<PathStep>,
    value: Json,
    /// Where the values are added to a list, instead of at its end.
    from: Option<i64>,
}

/// A step of the path of a patch.
enum PathStep {
    Index(usize),
    Key(String),
}

impl PathStep {
    fn read(step: Value<'_>) -> Option<Self> {
        match step.text() {
            Some(key) => Some(Self::Key(key.into_decoded().into_owned())),
            None => Some(Self::Index(step.raw().parse().ok()?)),
        }
    }
}

/// Why a patch cannot be applied.
const NO_PLACE: &str = "this patch changes a path that the lines before it do not create";

impl LogPatch {
    fn read(patch: Value<'_>) -> Option<Self> {
        let path = match patch.get("k") {
            Some(path) if path.is_array() => path.items().map(PathStep::read).collect::<Option<_>>()?,
            Some(_) => return None,
            None => Vec::new(),
        };
        let from = match patch.some("i") {
            Some(from) => Some(from.raw().parse().ok()?),
            None => None,
        };
        Some(Self {
            kind: patch.get("kind")?.raw().parse().ok()?,
            path,
            value: patch.get("v").map_or(Json::Null, loose),
            from,
        })
    }

    /// Changes `document`, or says why that cannot be done.
    fn apply(self, document: &mut Json) -> Result<(), &'static str> {
        match self.kind {
            0 => *document = self.value,
            1 => *slot(document, &self.path)? = self.value,
            2 => add(document, &self.path, self.value, self.from)?,
            3 => delete(document, &self.path)?,
            _ => return Err("this patch has an unknown `kind`; known: 0 to 3"),
        }
        Ok(())
    }
}

/// The value at a path, or a new one at its last step.
fn slot<'d>(document: &'d mut Json, path: &[PathStep]) -> Result<&'d mut Json, &'static str> {
    let Some((last, before)) = path.split_last() else { return Ok(document) };
    match (found(document, before)?, last) {
        (Json::Object(members), PathStep::Key(key)) => Ok(members.entry(key.clone()).or_insert(Json::Null)),
        (Json::Array(items), PathStep::Index(index)) => {
            if *index == items.len() {
                items.push(Json::Null);
            }
            items.get_mut(*index).ok_or(NO_PLACE)
        }
        _ => Err(NO_PLACE),
    }
}

/// The value at a path.
fn found<'d>(document: &'d mut Json, path: &[PathStep]) -> Result<&'d mut Json, &'static str> {
    path.iter().try_fold(document, |holder, step| match (holder, step) {
        (Json::Object(members), PathStep::Key(key)) => members.get_mut(key).ok_or(NO_PLACE),
        (Json::Array(items), PathStep::Index(index)) => items.get_mut(*index).ok_or(NO_PLACE),
        _ => Err(NO_PLACE),
    })
}

/// Adds `items` to the list at a path, at its end or in place of everything from `from` on.
fn add(document: &mut Json, path: &[PathStep], items: Json, from: Option<i64>) -> Result<(), &'static str> {
    let items = match items {
        Json::Array(items) => items,
        Json::Null => Vec::new(),
        _ => return Err("this patch adds a value that is not a list"),
    };
    let list = slot(document, path)?;
    if list.is_null() {
        *list = Json::Array(Vec::new());
    }
    let Json::Array(list) = list else { return Err("this patch adds to a value that is not a list") };
    if let Some(from) = from {
        list.truncate(usize::try_from(from).unwrap_or(0));
    }
    list.extend(items);
    Ok(())
}

/// Deletes a member. An element of a list becomes `null`, because the editor keeps the place of the others.
fn delete(document: &mut Json, path: &[PathStep]) -> Result<(), &'static str> {
    let Some((last, before)) = path.split_last() else { return Err(NO_PLACE) };
    match (found(document, before)?, last) {
        (Json::Object(members), PathStep::Key(key)) => drop(members.remove(key)),
        (Json::Array(items), PathStep::Index(index)) => *items.get_mut(*index).ok_or(NO_PLACE)? = Json::Null,
        _ => return Err(NO_PLACE),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{rebuilt, rebuilt_around};

    /// The list `requests` after these patches.
    fn after(patches: &[&str]) -> Result<String, String> {
        let first =
            r#"{"kind":0,"v":{"version":3,"requests":[{"requestId":"a"},{"requestId":"b"},{"requestId":"c"}]}}"#;
        let log: String = std::iter::once(&first).chain(patches).map(|line| format!("{line}\n")).collect();
        let text = rebuilt(&log).unwrap().map_err(|error| format!("{}: {}", error.offset, error.what))?;
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        let names = document["requests"].as_array().unwrap().iter().map(|request| match &request["requestId"] {
            serde_json::Value::String(id) => format!("{id}{}", request["done"].as_str().unwrap_or_default()),
            _ => String::from("-"),
        });
        Ok(names.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn patches_set_add_replace_and_delete() {
        let added = r#""v":[{"requestId":"d"}]}"#;
        for (patch, expected) in [
            (r#"{"kind":1,"k":["requests",1,"done"],"v":"!"}"#.to_owned(), "a b! c"),
            (r#"{"kind":1,"k":["requests",3],"v":{"requestId":"d"}}"#.to_owned(), "a b c d"),
            (format!(r#"{{"kind":2,"k":["requests"],{added}"#), "a b c d"),
            (format!(r#"{{"kind":2,"k":["requests"],"i":1,{added}"#), "a d"),
            (format!(r#"{{"kind":2,"k":["requests"],"i":-1,{added}"#), "d"),
            (r#"{"kind":2,"k":["requests"],"i":2}"#.to_owned(), "a b"),
            (r#"{"kind":3,"k":["requests",0,"requestId"]}"#.to_owned(), "- b c"),
            (r#"{"kind":3,"k":["requests",0]}"#.to_owned(), "- b c"),
            (r#"{"kind":2,"k":["requests",0,"response"],"v":[{"value":"new"}]}"#.to_owned(), "a b c"),
            // The editor cuts the output of a terminal in the middle of a character.
            (r#"{"kind":1,"k":["requests",1,"done"],"v":"\ud83d"}"#.to_owned(), "a b\u{fffd} c"),
        ] {
            assert_eq!(after(&[&patch]).as_deref(), Ok(expected), "{patch}");
        }
    }

    #[test]
    fn what_cannot_be_applied_is_an_error_at_its_line() {
        let start = 96;
        for (patch, reason) in [
            (r#"{"kind":1,"k":["requests",7,"done"],"v":1}"#, "this patch changes a path"),
            (r#"{"kind":1,"k":[null],"v":1}"#, "this line is not a patch"),
            (r#"{"kind":1,"k":"requests","v":1}"#, "this line is not a patch"),
            (r#"{"kind":2,"k":["requests"],"v":[],"i":"0"}"#, "this line is not a patch"),
            (r#"{"kind":1,"k":["requests","x"],"v":1}"#, "this patch changes a path"),
            (r#"{"kind":2,"k":["version"],"v":[1]}"#, "that is not a list"),
            (r#"{"kind":9,"k":[]}"#, "an unknown `kind`"),
            (r#"{"kind":1,"k":["#, "this line is not a patch"),
            (r#"{"say":1}"#, "this line is not a patch"),
            (r#"{"kind":1,"k":["a"],"v":1}{"kind":1,"k":["a"],"v":1}"#, "a second patch begins"),
        ] {
            let error = after(&[patch]).unwrap_err();
            assert!(error.starts_with(&format!("{start}: ")) && error.contains(reason), "{patch}: {error}");
        }
    }

    #[test]
    fn what_cannot_be_applied_is_left_out_by_whoever_reads_around_it() {
        let first = r#"{"kind":0,"v":{"requests":[{"requestId":"a"}]}}"#;
        let set = r#"{"kind":1,"k":["title"],"v":"b"}"#;
        for lost in [
            r#"{"kind":1,"k":["requests",7,"done"],"v":1}"#,
            r#"{"kind":3,"k":["requests",1,"done"]}"#,
            r#"{"kind":3,"k":["notes","done"]}"#,
            r#"{"kind":2,"k":["requests",1],"v":5}"#,
            r#"{"kind":2,"k":["notes"],"v":5}"#,
        ] {
            let chat = rebuilt_around(&format!("{first}\n{lost}\n{set}{set}\n")).unwrap();
            assert_eq!(chat.text, "{\"requests\":[{\"requestId\":\"a\"}],\"title\":\"b\"}\n", "{lost}");
            assert_eq!(chat.faults.iter().map(|fault| fault.offset).collect::<Vec<_>>(), [first.len() + 1], "{lost}");
        }
    }

    #[test]
    fn only_a_chat_is_rebuilt_and_a_torn_line_is_left_out() {
        assert!(rebuilt("{\"kind\":0,\"v\":{\"rows\":[]}}\n").is_none());
        assert!(rebuilt("{\"role\":\"user\",\"content\":\"Hello\"}\n").is_none());
        let torn = "{\"kind\":0,\"v\":{\"requests\":[]}}\n{\"kind\":1,\"k\":[\"a\"],\"v\":\"to";
        assert_eq!(rebuilt(torn).unwrap().unwrap(), "{\"requests\":[]}\n");
    }
}
