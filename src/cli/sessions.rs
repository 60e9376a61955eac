//! `curtail sessions`: lists the sessions that agents keep on this machine, the newest first.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use clap::ValueEnum;
use serde_json::json;

use crate::console;
use crate::options::counting::CountingOptions;
use crate::options::global::Global;
use crate::options::numbers::time_span;
use crate::reports::remarks;
use crate::reports::screen::Screen;
use crate::reports::session_list;
use crate::sessions::found::{FoundSessions, find_sessions};
use crate::sessions::listed::{ListedSession, ProjectFolder, Selection, SessionList, Sort};
use curtail_core::dialects::{AGENTS, Agent, agent_named};
use curtail_core::numbers::counted;
use curtail_core::suggest::unknown;
use curtail_core::visible::one_line;

/// List the sessions of coding agents on this machine, newest first
///
/// Other commands take a session by its name instead of a path: `@last` is the newest one, `@codex` the newest of Codex, and
/// `@claude:2` the second newest of Claude Code. Only the beginnings of sessions are read, unless
/// their tokens are counted, and nothing is written.
#[derive(Debug, clap::Args)]
pub(super) struct SessionsArgs {
    /// List only sessions of this agent: claude, codex, gemini, pi, qwen, kimi, droid, copilot, grok, cursor,
    /// goose, antigravity, opencode
    #[arg(long, value_name = "NAME")]
    agent: Vec<String>,

    /// List only sessions of a project: those that worked in DIR or below it
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,

    /// List only sessions that were used in the last 30m, 12h, 7d or 2w
    #[arg(long, value_name = "TIME", value_parser = since, allow_hyphen_values = true)]
    since: Option<Duration>,

    /// List at most N sessions (0 = all) [default: 20 in a table, otherwise all]
    #[arg(short = 'n', value_name = "N")]
    count: Option<usize>,

    /// Order of the list
    #[arg(long, value_enum, value_name = "KEY", default_value = "time")]
    sort: Sort,

    /// Show the path of each session below it
    #[arg(long)]
    paths: bool,

    /// Count messages and tokens, for which whole sessions are read
    #[arg(long)]
    tokens: bool,

    /// Format of the list
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    output_format: SessionsFormat,

    #[command(flatten)]
    counting: CountingOptions,
}

fn since(text: &str) -> Result<Duration, &'static str> {
    time_span(text, "mhdw").ok_or("expected a time such as 30m, 12h, 7d or 2w")
}

/// `--output-format`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SessionsFormat {
    /// A table
    Table,
    /// One JSON object
    Json,
    /// The path of each session on a line
    Paths,
    /// The paths, each followed by a zero byte, for `xargs -0`
    Paths0,
}

impl SessionsArgs {
    /// Lists the sessions.
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let now = global.environment.now()?;
        let agents = self.agents()?;
        let selection = self.selection(now)?;
        let FoundSessions { sessions, failed } = find_sessions(&agents);
        // All sessions of an agent can be in one database.
        failed.iter().for_each(|reason| console::warning(&format!("skipped: {reason}")));
        let list = selection.list(sessions);
        if list.without_file > 0 {
            console::note(&format!(
                "{} without a file left out; `curtail sessions --paths` shows the command that writes each to one",
                list.without_file
            ));
        }
        if let Some(counting) = &selection.counting {
            remarks::counted(counting);
        }
        for reason in list.failed.iter().filter(|_| global.verbose) {
            console::note(&format!("skipped: {reason}"));
        }
        list.losses.iter().for_each(console::error);
        self.print(&list.listed, now)?;
        if self.output_format == SessionsFormat::Table {
            if list.listed.is_empty() {
                agents.iter().filter_map(|agent| agent.unread).for_each(|unread| console::note(&unread));
            }
            note_rest(&list);
        }
        Ok(())
    }

    fn agents(&self) -> anyhow::Result<Vec<&'static Agent>> {
        let known: Vec<&str> = AGENTS.iter().map(|agent| agent.words[0]).collect();
        let agents = self
            .agent
            .iter()
            .map(|name| agent_named(name).ok_or_else(|| anyhow::anyhow!(unknown("there is no agent", name, &known))));
        agents.collect()
    }

    fn selection(&self, now: SystemTime) -> anyhow::Result<Selection> {
        let counts = self.sort == Sort::Tokens || self.tokens;
        Ok(Selection {
            // Nothing is older than a time that cannot be represented.
            since: self.since.and_then(|time| now.checked_sub(time)),
            project: self.project.clone().map(ProjectFolder::new),
            sort: self.sort,
            limit: self.count.unwrap_or(if self.output_format == SessionsFormat::Table { 20 } else { 0 }),
            only_paths: matches!(self.output_format, SessionsFormat::Paths | SessionsFormat::Paths0),
            counting: counts.then(|| self.counting.without_reserve()).transpose()?,
        })
    }

    fn print(&self, listed: &[ListedSession], now: SystemTime) -> anyhow::Result<()> {
        match self.output_format {
            SessionsFormat::Table => console::out(&session_list::table(listed, now, self.paths, Screen::of_stdout()))?,
            SessionsFormat::Json => {
                let sessions: Vec<_> = listed.iter().map(ListedSession::entry).collect();
                console::out_json(&format!("{}\n", json!({"version": 1, "sessions": sessions})))?;
            }
            SessionsFormat::Paths | SessionsFormat::Paths0 => {
                console::data(&self.paths_of(listed))?;
            }
        }
        Ok(())
    }

    /// The paths of `listed`, byte for byte: a path need not be text. On a terminal, each is a line.
    fn paths_of(&self, listed: &[ListedSession]) -> Vec<u8> {
        let end = if self.output_format == SessionsFormat::Paths { b'\n' } else { b'\0' };
        let mut paths = Vec::new();
        for path in listed.iter().map(|one| &one.session.path) {
            if console::out_is_terminal() {
                paths.extend_from_slice(one_line(&path.to_string_lossy()).as_bytes());
                paths.push(b'\n');
            } else {
                paths.extend_from_slice(path.as_os_str().as_encoded_bytes());
                paths.push(end);
            }
        }
        paths
    }
}

/// Notes what of the sessions the list does not show.
fn note_rest(list: &SessionList) {
    let shared: usize = list.listed.iter().filter_map(|one| one.sums.as_ref()).map(|sums| sums.shared).sum();
    if shared > 0 {
        let shared = counted(shared, "request");
        console::note(&format!("shared: {shared} repeated from older sessions, whose messages count once"));
    }
    if let Some(all) = list.cut_from {
        console::note(&format!("{} of {all} sessions; -n 0 lists all", list.listed.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::since;
    use std::time::Duration;

    #[test]
    fn times_have_units() {
        assert_eq!(since("2w"), Ok(Duration::from_hours(336)));
        for wrong in ["", "d", "7", "7x", "99999999999999999999d"] {
            assert!(since(wrong).is_err(), "{wrong}");
        }
    }
}
