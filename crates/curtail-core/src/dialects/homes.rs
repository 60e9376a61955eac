//! Where the programs that write each dialect keep their sessions, and what the items of a session say about it.

use super::Dialect;
use super::new_session::{IdForm, NewSession, ProjectName};
use crate::json::{Text, Value};

/// A program that keeps sessions on the machine of its user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Agent {
    /// Its name, as its makers write it.
    pub name: &'static str,
    /// The names by which users ask for it, the shortest first.
    pub words: &'static [&'static str],
    /// The name of the dialect that it writes.
    pub dialect: &'static str,
    /// The environment variables that move its folder, the strongest first, each with what is below the folder that it names.
    pub variables: &'static [(&'static str, &'static str)],
    /// Its folder below the home of the user.
    pub home: &'static str,
    /// Folders below its folder that contain sessions, at any depth.
    pub folders: &'static [&'static str],
    /// How the names of its sessions begin and end.
    pub names: (&'static str, &'static [&'static str]),
    /// A folder that contains its sessions directly or deeper; empty if any does.
    pub within: &'static str,
    /// What tells a session that another one started, if its place does not.
    pub started: Option<StartedMark>,
    /// The command that, followed by an id, writes a session to standard output, if the program keeps its sessions in a store
    /// of its own in place of a file for each.
    pub export: Option<&'static str>,
    /// The environment variable that names the database that is this store, in its folder or anywhere.
    pub database: Option<&'static str>,
    /// What the program keeps that is not read, or keeps in another form.
    pub unread: Option<&'static str>,
    /// How a cut becomes a session of its own; `None` if it is not known how the program would find and resume one.
    pub new_session: Option<NewSession>,
}

/// What only a session has that another one started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartedMark {
    /// The file beside its log that has it; `None` for the first record of the log.
    pub file: Option<&'static str>,
    /// Members, each in the one before it.
    pub path: &'static [&'static str],
    /// How the text there begins; empty if it is enough that something is there.
    pub begins: &'static str,
}

/// A program with sessions as `*.jsonl` in `folders`.
const fn agent(name: &'static str, words: &'static [&'static str], dialect: &'static str, home: &'static str) -> Agent {
    Agent {
        name,
        words,
        dialect,
        variables: &[],
        home,
        folders: &["sessions"],
        names: ("", &[".jsonl"]),
        within: "",
        started: None,
        export: None,
        database: None,
        unread: None,
        new_session: None,
    }
}

/// A session at `place` that `resume` resumes: by default, its file name and every record have its random id, and the program
/// is started in the folder of the project.
const fn new_session(place: &'static str, resume: &'static str) -> NewSession {
    NewSession {
        id: IdForm::Random,
        head: None,
        ids: &["sessionId"],
        record_ids: &[],
        subagent: None,
        place,
        project: ProjectName::Alphanumeric,
        project_file: None,
        in_project: true,
        resume,
        resume_file: None,
    }
}

/// The programs whose sessions can be read.
pub const AGENTS: &[Agent] = &[
    Agent {
        variables: &[("CLAUDE_CONFIG_DIR", "")],
        folders: &["projects"],
        new_session: Some(NewSession {
            subagent: Some(("isSidechain", "true")),
            ..new_session("projects/{project}/{id}.jsonl", "claude --resume {id}")
        }),
        ..agent("Claude Code", &["claude", "claude-code"], "claude-code", ".claude")
    },
    Agent {
        variables: &[("CODEX_HOME", "")],
        folders: &["sessions", "archived_sessions"],
        names: ("rollout-", &[".jsonl"]),
        started: Some(StartedMark { file: None, path: &["payload", "source", "subagent"], begins: "" }),
        new_session: Some(NewSession {
            id: IdForm::Timed,
            head: Some(("type", "session_meta")),
            ids: &["payload.id", "payload.session_id", "payload.thread_id"],
            in_project: false,
            ..new_session("sessions/{year}/{month}/{day}/rollout-{time:19}-{id}.jsonl", "codex resume {id}")
        }),
        ..agent("Codex", &["codex"], "codex", ".codex")
    },
    Agent {
        variables: &[("GEMINI_CLI_HOME", ".gemini")],
        folders: &["tmp"],
        names: ("session-", &[".json", ".jsonl"]),
        within: "chats",
        new_session: Some(NewSession {
            ids: &["sessionId", "$set.sessionId"],
            subagent: Some(("kind", "\"subagent\"")),
            project_file: Some(".project_root"),
            resume_file: Some("gemini --session-file {file}"),
            ..new_session("tmp/{project}/chats/session-{time:16}-{id:8}.{end}", "gemini --resume {id}")
        }),
        ..agent("Gemini CLI", &["gemini", "gemini-cli"], "gemini", ".gemini")
    },
    Agent {
        variables: &[("PI_CODING_AGENT_DIR", "")],
        new_session: Some(NewSession {
            id: IdForm::Timed,
            head: Some(("type", "session")),
            ids: &["id"],
            project: ProjectName::Separators,
            resume_file: Some("pi --session {file}"),
            ..new_session("sessions/--{project}--/{time}_{id}.jsonl", "pi --session {file}")
        }),
        ..agent("pi", &["pi"], "pi", ".pi/agent")
    },
    Agent {
        variables: &[("QWEN_RUNTIME_DIR", ""), ("QWEN_HOME", "")],
        folders: &["projects", "tmp"],
        within: "chats",
        new_session: Some(new_session("projects/{project}/chats/{id}.jsonl", "qwen --resume {id}")),
        ..agent("Qwen Code", &["qwen", "qwen-code"], "qwen", ".qwen")
    },
    Agent {
        variables: &[("KIMI_CODE_HOME", "")],
        names: ("wire", &[".jsonl"]),
        within: "main",
        ..agent("Kimi Code", &["kimi", "kimi-code"], "kimi", ".kimi-code")
    },
    Agent {
        started: Some(StartedMark { file: None, path: &["callingSessionId"], begins: "" }),
        ..agent("Droid", &["droid", "factory"], "droid", ".factory")
    },
    Agent {
        variables: &[("COPILOT_HOME", "")],
        folders: &["session-state"],
        ..agent("Copilot CLI", &["copilot", "copilot-cli"], "copilot", ".copilot")
    },
    Agent {
        variables: &[("GROK_HOME", "")],
        names: ("chat_history", &[".jsonl"]),
        started: Some(StartedMark { file: Some("summary.json"), path: &["session_kind"], begins: "subagent" }),
        ..agent("Grok", &["grok"], "grok", ".grok")
    },
    Agent { folders: &["projects"], within: "agent-transcripts", ..agent("Cursor", &["cursor"], "cursor", ".cursor") },
    Agent {
        variables: &[("XDG_DATA_HOME", "goose")],
        unread: Some(
            "Goose keeps its sessions in a database since version 1.11; `goose session export` writes one to a file",
        ),
        ..agent("Goose", &["goose"], "goose", ".local/share/goose")
    },
    Agent {
        folders: &["antigravity-cli/brain", "antigravity/brain", "antigravity-ide/brain"],
        names: ("transcript", &[".jsonl"]),
        within: "logs",
        unread: Some(
            "Antigravity keeps its conversations as protobuf (`conversations/*.pb` and `*.db`), which is not read; only the \
             logs that it writes beside them are",
        ),
        ..agent("Antigravity", &["antigravity", "agy"], "antigravity", ".gemini")
    },
    Agent {
        variables: &[("XDG_DATA_HOME", "opencode")],
        folders: &["storage/session"],
        names: ("ses_", &[".json"]),
        export: Some("opencode export"),
        database: Some("OPENCODE_DB"),
        new_session: Some(NewSession {
            id: IdForm::Backwards,
            ids: &["info.id", "messages.*.info.sessionID", "messages.*.parts.*.sessionID"],
            record_ids: &[
                "info.revert.messageID",
                "info.revert.partID",
                "messages.*.info.id",
                "messages.*.info.parentID",
                "messages.*.parts.*.id",
                "messages.*.parts.*.messageID",
                "messages.*.parts.*.tail_start_id",
            ],
            resume_file: Some("opencode import {file} && opencode --session {id}"),
            ..new_session("{id}.json", "opencode import {file} && opencode --session {id}")
        }),
        ..agent("OpenCode", &["opencode"], "opencode", ".local/share/opencode")
    },
];

/// The agent with this name, or with this word for it, in either case.
#[must_use]
pub fn agent_named(word: &str) -> Option<&'static Agent> {
    AGENTS.iter().find(|agent| {
        agent.words.iter().any(|known| known.eq_ignore_ascii_case(word)) || agent.name.eq_ignore_ascii_case(word)
    })
}

/// The agent whose log `dialect` is; `None` for a format that is no log, or of no known agent.
#[must_use]
pub fn agent_of(dialect: &dyn Dialect) -> Option<&'static Agent> {
    if dialect.is_log() { agent_writing(dialect.name()) } else { None }
}

/// The first agent that writes the dialect called `name`.
#[must_use]
pub fn agent_writing(name: &str) -> Option<&'static Agent> {
    AGENTS.iter().find(|agent| agent.dialect == name)
}

/// The folder that an agent worked in, if `item` says it.
#[must_use]
pub fn project(item: Value<'_>) -> Option<Text<'_>> {
    item.get_text("cwd")
        .or_else(|| item.get_text("working_dir"))
        .or_else(|| item.some("payload")?.get_text("cwd"))
        .or_else(|| item.some("data")?.get_text("cwd"))
        .or_else(|| item.some("data")?.some("context")?.get_text("cwd"))
        .or_else(|| item.some("info")?.get_text("directory"))
        .filter(|text| !text.is_blank())
}

#[cfg(test)]
mod tests {
    use super::{AGENTS, agent_named, project};
    use crate::dialects::dialect_named;
    use crate::json::Document;

    #[test]
    fn every_agent_writes_a_dialect_and_has_names_of_its_own() {
        for agent in AGENTS {
            assert!(dialect_named(agent.dialect).is_some(), "{}", agent.name);
            for word in agent.words {
                assert_eq!(agent_named(word), Some(agent));
            }
        }
        assert_eq!(agent_named("CLAUDE"), AGENTS.first());
    }

    #[test]
    fn the_project_is_the_folder_of_the_session() {
        for (item, expected) in [
            (r#"{"cwd": "/home/ada/mill"}"#, Some("/home/ada/mill")),
            (r#"{"type": "session_meta", "payload": {"cwd": "/work"}}"#, Some("/work")),
            (r#"{"data": {"context": {"cwd": "/tmp/repo"}}}"#, Some("/tmp/repo")),
            (r#"{"working_dir": "/lighthouse", "description": "The lamp"}"#, Some("/lighthouse")),
            (r#"{"cwd": ""}"#, None),
            (r#"{"role": "user"}"#, None),
        ] {
            let document = Document::parse_all(item).unwrap();
            let found = document.roots().next().and_then(project).map(|text| text.decode().into_owned());
            assert_eq!(found.as_deref(), expected, "{item}");
        }
    }
}
