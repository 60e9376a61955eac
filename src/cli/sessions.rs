//! `curtail sessions`: lists the sessions that agents keep on this machine, the newest first.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use clap::ValueEnum;
use rayon::prelude::*;
use serde_json::json;

use crate::console;
use crate::options::counting::CountingOptions;
use crate::options::global::Global;
use crate::options::numbers::time_span;
use crate::reports::remarks;
use crate::reports::screen::Screen;
use crate::reports::session_list::{self, ListedSession};
use crate::sessions::content::{SessionHead, SessionSums};
use crate::sessions::found::{FoundSessions, KeptSession, find_sessions};
use curtail_core::dialects::{AGENTS, Agent, agent_named};
use curtail_core::numbers::counted;
use curtail_core::suggest::unknown;
use curtail_core::visible::one_line;
use curtail_lab::SeenRequests;

/// List the sessions of coding agents on this machine, newest first
///
/// Other commands take a session by its name instead of a path: `@last` is the newest one, `@codex` the newest of Codex, and
/// `@claude:2` the second newest of Claude Code. Only the beginnings of sessions are read, and nothing is written.
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

/// `--sort`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Sort {
    /// The one used last first
    Time,
    /// The one with the most tokens first
    Tokens,
    /// The largest file first
    Size,
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

fn passed_over<'w>(reasons: impl Iterator<Item = &'w String>, global: &Global) {
    for reason in reasons.filter(|_| global.verbose) {
        console::note(&format!("skipped: {reason}"));
    }
}

/// Leaves the first `limit` sessions, or all with 0. How many there were, if some are left out.
fn cut_to(limit: usize, listed: &mut Vec<ListedSession>) -> Option<usize> {
    let total = listed.len();
    let is_cut = limit > 0 && total > limit;
    if is_cut {
        listed.truncate(limit);
    }
    is_cut.then_some(total)
}

/// The sessions, the newest first, each with its name for other commands.
fn with_names(sessions: Vec<KeptSession>) -> Vec<ListedSession> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let named = sessions.into_iter().map(|session| {
        let word = session.agent.words[0];
        let count = counts.entry(word).or_default();
        *count += 1;
        let name = if *count == 1 { format!("@{word}") } else { format!("@{word}:{count}") };
        ListedSession { name, session, head: SessionHead::default(), sums: None }
    });
    named.collect()
}

impl SessionsArgs {
    /// Lists the sessions.
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let now = global.environment.now()?;
        let agents = self.agents()?;
        let FoundSessions { sessions, failed } = find_sessions(&agents);
        passed_over(failed.iter(), global);
        let mut listed = with_names(sessions);
        if let Some(time) = self.since {
            listed.retain(|one| {
                now.duration_since(one.session.modified).is_ok_and(|age| age <= time) || one.session.modified > now
            });
        }
        self.drop_stored(&mut listed, global);
        let limit = self.count.unwrap_or(if self.output_format == SessionsFormat::Table { 20 } else { 0 });
        if self.sort == Sort::Size {
            listed.sort_by_key(|one| std::cmp::Reverse(one.session.size));
        }
        // To filter by project or sort by tokens, all sessions must be read. Otherwise, only those that are listed are.
        let reads_all = self.project.is_some() || self.sort == Sort::Tokens;
        let mut total = None;
        if !reads_all {
            total = cut_to(limit, &mut listed);
        }
        self.read(&mut listed, global)?;
        if reads_all {
            total = cut_to(limit, &mut listed);
        }
        self.print(&listed, now)?;
        if self.output_format != SessionsFormat::Table || global.quiet {
            return Ok(());
        }
        if listed.is_empty() {
            agents.iter().filter_map(|agent| agent.unread).for_each(|unread| console::note(&unread));
        }
        let shared: usize = listed.iter().filter_map(|one| one.sums.as_ref()).map(|sums| sums.shared).sum();
        if shared > 0 {
            let shared = counted(shared, "request");
            console::note(&format!("shared: {shared} repeated from older sessions, whose messages count once"));
        }
        if let Some(total) = total {
            console::note(&format!("{} of {total} sessions; -n 0 lists all", listed.len()));
        }
        Ok(())
    }

    fn agents(&self) -> anyhow::Result<Vec<&'static Agent>> {
        let known: Vec<&str> = AGENTS.iter().map(|agent| agent.words[0]).collect();
        let agent = |name: &String| {
            agent_named(name).ok_or_else(|| anyhow::anyhow!(unknown("there is no agent", name, &known)))
        };
        self.agent.iter().map(agent).collect()
    }

    fn lists_paths(&self) -> bool {
        matches!(self.output_format, SessionsFormat::Paths | SessionsFormat::Paths0)
    }

    /// Drops stored sessions from a list of paths, because they have none.
    fn drop_stored(&self, listed: &mut Vec<ListedSession>, global: &Global) {
        if !self.lists_paths() {
            return;
        }
        let all = listed.len();
        listed.retain(|one| one.session.stored.is_none());
        if listed.len() < all && !global.quiet {
            let dropped = all - listed.len();
            console::note(&format!(
                "{dropped} without a file left out; `curtail sessions --paths` shows the command that writes each to one"
            ));
        }
    }

    /// Reads what the list shows, and drops sessions of other projects and sessions that cannot be read.
    fn read(&self, listed: &mut Vec<ListedSession>, global: &Global) -> anyhow::Result<()> {
        let project = self.project.as_ref().map(|path| path.canonicalize().unwrap_or_else(|_| path.clone()));
        if self.lists_paths() && project.is_none() && self.sort != Sort::Tokens {
            return Ok(());
        }
        let counting = (self.tokens || self.sort == Sort::Tokens).then(|| self.counting.counting()).transpose()?;
        if let Some(counting) = &counting {
            remarks::counted(counting, global);
        }
        let failed: Vec<Option<String>> = listed
            .par_iter_mut()
            .map(|one| {
                match SessionHead::read(&one.session) {
                    Ok(head) => one.head = head,
                    Err(error) => return Some(format!("{}: {error}", one.session.path.display())),
                }
                let is_listed = project.as_ref().is_none_or(|folder| one.is_in(folder));
                one.sums = counting
                    .as_ref()
                    .filter(|_| is_listed)
                    .and_then(|counting| SessionSums::count(&one.session, counting));
                None
            })
            .collect();
        count_once(listed);
        passed_over(failed.iter().flatten(), global);
        listed.iter().filter_map(|one| one.sums.as_ref()).flat_map(|sums| &sums.losses).for_each(console::error);
        let mut read = failed.iter();
        listed.retain(|_| read.next().is_some_and(Option::is_none));
        listed.retain(|one| project.as_ref().is_none_or(|folder| one.is_in(folder)));
        if self.sort == Sort::Tokens {
            listed.sort_by_key(|one| std::cmp::Reverse(one.sums.as_ref().map_or(0, |sums| sums.tokens)));
        }
        Ok(())
    }

    fn print(&self, listed: &[ListedSession], now: SystemTime) -> anyhow::Result<()> {
        match self.output_format {
            SessionsFormat::Table => console::out(&session_list::table(listed, now, self.paths, Screen::of_stdout()))?,
            SessionsFormat::Json => {
                let sessions: Vec<_> = listed.iter().map(ListedSession::entry).collect();
                console::out_json(&format!("{}\n", json!({"version": 1, "sessions": sessions})))?;
            }
            SessionsFormat::Paths | SessionsFormat::Paths0 => {
                let end = if self.output_format == SessionsFormat::Paths { '\n' } else { '\0' };
                let path = |one: &ListedSession| match console::out_is_terminal() {
                    true => format!("{}\n", one_line(&one.session.path.to_string_lossy())),
                    false => format!("{}{end}", one.session.path.display()),
                };
                console::data(&listed.iter().map(path).collect::<String>())?;
            }
        }
        Ok(())
    }
}

/// Leaves out of each session what it repeats of an older one, up to the last request that both contain: an agent that resumes
/// or forks a session can write a new file, with the history.
fn count_once(listed: &mut [ListedSession]) {
    let mut oldest: Vec<&mut ListedSession> = listed.iter_mut().filter(|one| one.sums.is_some()).collect();
    oldest.sort_by(|one, other| {
        let one = &one.session;
        let other = &other.session;
        one.modified.cmp(&other.modified).then_with(|| one.path.cmp(&other.path))
    });
    let mut earlier = SeenRequests::default();
    for sums in oldest.into_iter().filter_map(|one| one.sums.as_mut()) {
        let requests = std::mem::take(&mut sums.requests);
        let shared = earlier.shared(requests.iter().map(|request| &request.keys));
        sums.shared = shared.iter().filter(|shared| **shared).count();
        let repeated = requests.iter().zip(&shared).filter(|(_, shared)| **shared).map(|(request, _)| request);
        if let Some(last) = repeated.max_by_key(|request| request.messages) {
            sums.messages -= last.messages;
            sums.tokens -= last.tokens;
        }
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
