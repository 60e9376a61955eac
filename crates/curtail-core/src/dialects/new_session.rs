//! What makes a cut a session of its own: the ids that it needs, its place, and the command that resumes it. What differs from
//! agent to agent is data, in the table of agents beside it.

use std::borrow::Cow;

use super::iso_8601;
use crate::digest::fnv1a_128;
use crate::json::{Document, Span, Text, Value, quote};
use crate::steps;

/// How an agent names, finds and resumes its sessions. Paths lead from a record to members of members; `*` is every element of
/// a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewSession {
    /// How it makes ids.
    pub id: IdForm,
    /// The record that names the session, by a member and its value; `None` if every record does.
    pub head: Option<(&'static str, &'static str)>,
    /// Paths of the id of the session. With a head, only values that equal the first path's there are this id.
    pub ids: &'static [&'static str],
    /// Paths of the ids of messages and parts, for a store in which no two sessions share them.
    pub record_ids: &'static [&'static str],
    /// A path, and the JSON that all records with this path have in a session that another one started. No command resumes
    /// those.
    pub subagent: Option<(&'static str, &'static str)>,
    /// Where a session is below the folder of the agent; only a file name if the agent imports it from anywhere. `{id}`,
    /// `{project}`, `{year}`, `{month}`, `{day}`, `{time}` and `{end}` stand for values, and `{id:8}` for their first characters.
    pub place: &'static str,
    /// How `{project}` is made of the folder that the session worked in.
    pub project: ProjectName,
    /// A file beside the folder of the sessions of a project that contains the path of the project, if the sessions do not.
    pub project_file: Option<&'static str>,
    /// Whether it resumes a session only in the folder of the project.
    pub in_project: bool,
    /// The command that resumes a session that is in its place.
    pub resume: &'static str,
    /// The command that resumes a session from any `{file}`.
    pub resume_file: Option<&'static str>,
}

/// How an agent makes the ids of its sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdForm {
    /// A random UUID (version 4).
    Random,
    /// A UUID that begins with the time (version 7).
    Timed,
    /// `ses_`, the time counted backwards, and random letters and digits.
    Backwards,
}

/// How an agent names the folder of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProjectName {
    /// Its path with a dash for everything but ASCII letters and digits.
    Alphanumeric,
    /// Its path without the first separator, with a dash for each other one.
    Separators,
}

const DIGITS: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

impl IdForm {
    /// A new id, made of the time since 1970 and of `digest` in place of random bits: the same for the same two.
    #[must_use]
    pub fn id(self, milliseconds: u64, digest: u128) -> String {
        match self {
            Self::Random => versioned(digest, 4),
            Self::Timed => versioned(digest >> 48 | u128::from(milliseconds) << 80, 7),
            Self::Backwards => {
                let backwards = !(milliseconds << 12 | 1) & 0xffff_ffff_ffff;
                format!("ses_{backwards:012x}{}", letters(digest, 14))
            }
        }
    }
}

/// A UUID of this version, with all other bits of `bits`.
fn versioned(bits: u128, version: u128) -> String {
    let rest = bits & !(0xf << 76) & !(0x3 << 62);
    let digits = format!("{:032x}", rest | version << 76 | 0x2 << 62);
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

/// The first `count` letters and digits of `digest`.
fn letters(digest: u128, count: u32) -> String {
    (0..count).map(|place| char::from(DIGITS[(digest / 62_u128.pow(place) % 62) as usize])).collect()
}

impl ProjectName {
    fn name(self, folder: &str) -> String {
        match self {
            Self::Alphanumeric => dashed(folder, |c| c.is_ascii_alphanumeric()),
            Self::Separators => {
                dashed(folder.strip_prefix(['/', '\\']).unwrap_or(folder), |c| !matches!(c, '/' | '\\' | ':'))
            }
        }
    }
}

/// `text` with a dash for every code unit of UTF-16, in which agents count, of what is not `kept`.
fn dashed(text: &str, kept: impl Fn(char) -> bool) -> String {
    let mut name = String::with_capacity(text.len());
    for c in text.chars() {
        if kept(c) {
            name.push(c);
        } else {
            name.extend(std::iter::repeat_n('-', c.len_utf16()));
        }
    }
    name
}

/// A new session, as far as its name depends on it.
#[derive(Debug, Clone, Copy)]
pub struct SessionName<'s> {
    /// Its id.
    pub id: &'s str,
    /// When it was made, in milliseconds since 1970.
    pub milliseconds: u64,
    /// The folder that it worked in.
    pub project: &'s str,
    /// How the name of its file ends, such as `jsonl`.
    pub end: &'s str,
}

impl NewSession {
    /// The path of the file of a session, below the folder of the agent.
    #[must_use]
    pub fn place_of(&self, name: &SessionName<'_>) -> String {
        let time = iso_8601(name.milliseconds).replace([':', '.'], "-");
        let project = self.project.name(name.project);
        let date = [("year", &time[..4]), ("month", &time[5..7]), ("day", &time[8..10])];
        let rest = [("time", time.as_str()), ("id", name.id), ("project", &project), ("end", name.end)];
        filled(self.place, &[&date[..], &rest[..]].concat())
    }

    /// `document`, the log of a session, as the session `id`; `None` if it names no session.
    #[must_use]
    pub fn renamed(&self, document: &Document<'_>, id: &str) -> Option<String> {
        let mut ids = texts_at(document, self.ids);
        if let Some((key, value)) = self.head {
            let head = document.roots().find(|root| root.get_text(key).is_some_and(|text| text.is(value)))?;
            let old = at_path(head, self.ids.first()?).into_iter().find_map(Value::text)?.into_decoded();
            ids.retain(|(_, text)| text.is(&old));
        }
        if ids.is_empty() {
            return None;
        }
        let mut new: Vec<(Span, Cow<'_, str>)> = ids.into_iter().map(|(span, _)| (span, id.into())).collect();
        let records = texts_at(document, self.record_ids);
        new.extend(records.into_iter().map(|(span, old)| (span, record_id(&old.decode(), id).into())));
        new.sort_by_key(|(span, _)| span.start);
        Some(replaced(document.text(), &new))
    }

    /// Whether `document` is the log of a session that another session started.
    #[must_use]
    pub fn is_subagent(&self, document: &Document<'_>) -> bool {
        let Some((path, json)) = self.subagent else { return false };
        let values: Vec<Value<'_>> = document.roots().flat_map(|root| at_path(root, path)).collect();
        !values.is_empty() && values.iter().all(|value| value.raw() == json)
    }

    /// The command that resumes a session, in which `word` is the file as a word of a shell.
    #[must_use]
    pub fn command(&self, template: &str, id: &str, word: &str) -> String {
        filled(template, &[("id", id), ("file", word)])
    }
}

/// The texts at `paths` below the records of `document`, each with its place.
fn texts_at<'a>(document: &'a Document<'_>, paths: &[&str]) -> Vec<(Span, Text<'a>)> {
    let values = document.roots().flat_map(|root| paths.iter().flat_map(move |path| at_path(root, path)));
    values.filter_map(|value| Some((value.span(), value.text()?))).collect()
}

/// The values at `path` below `value`.
fn at_path<'a>(value: Value<'a>, path: &str) -> Vec<Value<'a>> {
    path.split('.').fold(vec![value], |values, step| match step {
        "*" => values.into_iter().flat_map(Value::items).collect(),
        key => {
            let members = values.into_iter().flat_map(Value::members);
            members.filter(|member| member.key.is(key)).map(|member| member.value).collect()
        }
    })
}

/// The id in the session `id` of what was called `old`: only its end is another, because the beginnings order the ids.
fn record_id(old: &str, id: &str) -> String {
    // The ids of the agent have 30 characters, of which the last 14 are random.
    let length = old.chars().count();
    let kept: String = old.chars().take(if length > 16 { length - 8 } else { length }).collect();
    let digest = fnv1a_128(old.bytes().chain([b'\n']).chain(id.bytes()));
    format!("{kept}{}", letters(digest, 8))
}

/// `text` with other strings at these spans, which ascend.
fn replaced(text: &str, strings: &[(Span, Cow<'_, str>)]) -> String {
    steps::count(text.len());
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (span, string) in strings {
        out.push_str(&text[at..span.start as usize]);
        out.push_str(&quote(string));
        at = span.end as usize;
    }
    out.push_str(&text[at..]);
    out
}

/// `template` with these values by their names.
fn filled(template: &str, values: &[(&str, &str)]) -> String {
    let mut pieces = template.split('{');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (field, rest) = piece.split_once('}').unwrap_or((piece, ""));
        let (name, length) = field.split_once(':').unwrap_or((field, ""));
        let value = values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value);
        text.extend(value.chars().take(length.parse().unwrap_or(usize::MAX)));
        text.push_str(rest);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::homes::{AGENTS, agent_named};
    use super::{IdForm, NewSession, SessionName, record_id};
    use crate::json::Document;

    const ID: &str = "0198f0a0-0000-7000-8000-00000000000a";

    fn session(agent: &str) -> NewSession {
        agent_named(agent).and_then(|agent| agent.new_session).unwrap()
    }

    #[test]
    fn ids_have_the_form_of_their_agent() {
        let digest = 0x0123_4567_89ab_cdef_0123_4567_89ab_cdef;
        assert_eq!(IdForm::Random.id(9, digest), "01234567-89ab-4def-8123-456789abcdef");
        assert_eq!(IdForm::Timed.id(0x0198_f0a0_1234, digest), "0198f0a0-1234-7123-8567-89abcdef0123");
        let early = IdForm::Backwards.id(1_000, digest);
        let late = IdForm::Backwards.id(2_000, digest);
        assert!(early > late && early.starts_with("ses_") && early.len() == 30, "{early} {late}");
    }

    #[test]
    fn places_are_those_of_the_agents() {
        let name = SessionName { id: ID, milliseconds: 1_775_894_400_123, project: "/home/ada/my.loom", end: "json" };
        for (agent, place) in [
            ("claude", format!("projects/-home-ada-my-loom/{ID}.jsonl")),
            ("codex", format!("sessions/2026/04/11/rollout-2026-04-11T08-00-00-{ID}.jsonl")),
            ("pi", format!("sessions/--home-ada-my.loom--/2026-04-11T08-00-00-123Z_{ID}.jsonl")),
            ("qwen", format!("projects/-home-ada-my-loom/chats/{ID}.jsonl")),
            ("opencode", format!("{ID}.json")),
        ] {
            assert_eq!(session(agent).place_of(&name), place);
        }
        assert_eq!(
            session("gemini").place_of(&name),
            "tmp/-home-ada-my-loom/chats/session-2026-04-11T08-00-0198f0a0.json"
        );
    }

    #[test]
    fn only_the_ids_of_the_session_change() {
        for (agent, log, expected) in [
            (
                "codex",
                r#"{"type": "session_meta", "payload": {"id": "\u0061", "session_id":"a", "forked_from_id": "a"}}
{"type":"session_meta","payload":{"id":"parent"}}
{"type":"response_item","payload":{"id":"rs_1","text":"a"}}
{"type":"event_msg","payload":{"thread_id":"a"}}"#,
                r#"{"type": "session_meta", "payload": {"id": "NEW", "session_id":"NEW", "forked_from_id": "a"}}
{"type":"session_meta","payload":{"id":"parent"}}
{"type":"response_item","payload":{"id":"rs_1","text":"a"}}
{"type":"event_msg","payload":{"thread_id":"NEW"}}"#,
            ),
            (
                "claude",
                r#"{"type":"summary","leafUuid":"a"}{"sessionId":"a","uuid":"a","forkedFrom":{"sessionId":"a"}}
{"sessionId":"older","sessionId" : "a"}"#,
                r#"{"type":"summary","leafUuid":"a"}{"sessionId":"NEW","uuid":"a","forkedFrom":{"sessionId":"a"}}
{"sessionId":"NEW","sessionId" : "NEW"}"#,
            ),
            (
                "pi",
                r#"{"type":"session","id":"a"}{"id":"a1","parentId":"a"}"#,
                r#"{"type":"session","id":"NEW"}{"id":"a1","parentId":"a"}"#,
            ),
        ] {
            let document = Document::parse_all(log).unwrap();
            assert_eq!(session(agent).renamed(&document, "NEW").as_deref(), Some(expected), "{agent}");
        }
        for (agent, log) in [("pi", r#"{"type":"message","id":"a"}"#), ("claude", r#"{"session_id":"a"}"#)] {
            assert_eq!(session(agent).renamed(&Document::parse_all(log).unwrap(), "NEW"), None, "{agent}");
        }
    }

    #[test]
    fn ids_of_records_change_together_and_keep_their_order() {
        let log = r#"{"info":{"id":"ses_0"},"messages":[{"info":{"id":"msg_1aaaaaaaaaaa00000000","sessionID":"ses_0"},
            "parts":[{"id":"prt_1","messageID":"msg_1aaaaaaaaaaa00000000","sessionID":"ses_0"}]}]}"#;
        let renamed = session("opencode").renamed(&Document::parse(log).unwrap(), "ses_9").unwrap();
        let message = record_id("msg_1aaaaaaaaaaa00000000", "ses_9");
        assert_eq!((renamed.matches("ses_9").count(), renamed.matches(&message).count()), (3, 2), "{renamed}");
        assert!(!renamed.contains("ses_0") && !renamed.contains("aa00000000") && !renamed.contains("\"prt_1\""));
        let ids = ["msg_1", "msg_20a000000000LampOilWickFog", "msg_20a000000001LampOilWickFog"];
        assert!(ids.map(|old| record_id(old, "ses_9")).is_sorted());
        assert_ne!(record_id(ids[1], "ses_9"), record_id(ids[1], "ses_8"));
    }

    #[test]
    fn every_template_names_known_values() {
        for (agent, session) in AGENTS.iter().filter_map(|agent| Some((agent, agent.new_session?))) {
            assert!(session.place.contains("{id"), "{}", agent.name);
            let name = SessionName { id: "I", milliseconds: 0, project: "P", end: "E" };
            assert!(!session.place_of(&name).contains("//"), "{}", agent.name);
            for template in [session.resume].into_iter().chain(session.resume_file) {
                let command = session.command(template, "ID", "FILE");
                assert!(command.contains("ID") || command.contains("FILE"), "{command}");
            }
        }
    }
}
