//! `curtail sessions`: lists the sessions that agents keep on this machine, the newest first.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use clap::ValueEnum;
use rayon::prelude::*;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Map, Value, json};

use super::input::{Global, iso_time};
use super::options::{CountingOptions, time_span};
use super::report;
use crate::console;
use curtail_core::dialects::{AGENTS, Agent, Framing, Reading, agent_named, project};
use curtail_core::processors::{Counting, View};
use curtail_core::suggest::unknown;
use curtail_core::transcript::{Content, Message, media};
use curtail_core::visible::{number_of, one_line};
use curtail_facts::{is_typed, without_tag};
use curtail_lab::calibration::{CountedRequest, SeenRequests, counted_requests};

/// List the sessions that coding agents keep on this machine, newest first
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

    /// Count messages and tokens, for which whole sessions are read
    #[arg(long)]
    tokens: bool,

    /// Format of the list
    #[arg(long, alias = "output-format", value_enum, value_name = "FORMAT", default_value = "table")]
    format: SessionsFormat,

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

/// `--format`
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

/// A session, and what was read of it.
struct ListedSession {
    /// Its name for other commands.
    name: String,
    session: Session,
    head: Head,
    sums: Option<SessionSums>,
}

fn passed_over<'w>(reasons: impl Iterator<Item = &'w String>, global: &Global) {
    for reason in reasons.filter(|_| global.verbose) {
        report::note(&format!("skipped: {reason}"));
    }
}

/// The sessions, the newest first, each with its name for other commands.
fn with_names(sessions: Vec<Session>) -> Vec<ListedSession> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let named = sessions.into_iter().map(|session| {
        let word = session.agent.words[0];
        let count = counts.entry(word).or_default();
        *count += 1;
        let name = if *count == 1 { format!("@{word}") } else { format!("@{word}:{count}") };
        ListedSession { name, session, head: Head::default(), sums: None }
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
        let limit = self.count.unwrap_or(if self.format == SessionsFormat::Table { 20 } else { 0 });
        if self.sort == Sort::Size {
            listed.sort_by_key(|one| std::cmp::Reverse(one.session.size));
        }
        // To filter by project or sort by tokens, all sessions must be read. Otherwise, only those that are listed are.
        let reads_all = self.project.is_some() || self.sort == Sort::Tokens;
        let mut total = listed.len();
        if !reads_all && limit > 0 {
            listed.truncate(limit);
        }
        self.read(&mut listed, global)?;
        if reads_all {
            total = listed.len();
            listed.truncate(if limit > 0 { limit } else { total });
        }
        self.print(&listed, now)?;
        if listed.is_empty() && self.format == SessionsFormat::Table && !global.quiet {
            agents.iter().filter_map(|agent| agent.unread).for_each(|unread| report::note(&unread));
        }
        let shared: usize = listed.iter().filter_map(|one| one.sums.as_ref()).map(|sums| sums.shared).sum();
        if shared > 0 && self.format == SessionsFormat::Table && !global.quiet {
            let shared = number_of(shared, "request");
            report::note(&format!("shared: {shared} repeated from older sessions, whose messages count once"));
        }
        if listed.len() < total && self.format == SessionsFormat::Table && !global.quiet {
            report::note(&format!("{} of {total} sessions; -n 0 lists all", listed.len()));
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
        matches!(self.format, SessionsFormat::Paths | SessionsFormat::Paths0)
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
            report::note(&format!(
                "{dropped} without a file left out; `curtail sessions` shows the command that writes each to one"
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
        counting.iter().for_each(|counting| report::counted(counting, global));
        let failed: Vec<Option<String>> = listed
            .par_iter_mut()
            .map(|one| {
                match Head::read(&one.session) {
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
        let mut read = failed.iter();
        listed.retain(|_| read.next().is_some_and(Option::is_none));
        listed.retain(|one| project.as_ref().is_none_or(|folder| one.is_in(folder)));
        if self.sort == Sort::Tokens {
            listed.sort_by_key(|one| std::cmp::Reverse(one.sums.as_ref().map_or(0, |sums| sums.tokens)));
        }
        Ok(())
    }

    fn print(&self, listed: &[ListedSession], now: SystemTime) -> anyhow::Result<()> {
        match self.format {
            SessionsFormat::Table => console::out(&table(listed, now))?,
            SessionsFormat::Json => {
                let sessions: Vec<_> = listed.iter().map(ListedSession::entry).collect();
                console::out_json(&format!("{}\n", json!({"version": 1, "sessions": sessions})))?;
            }
            SessionsFormat::Paths | SessionsFormat::Paths0 => {
                let end = if self.format == SessionsFormat::Paths { '\n' } else { '\0' };
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

impl ListedSession {
    fn is_in(&self, folder: &Path) -> bool {
        self.head.project.as_ref().is_some_and(|project| Path::new(project).starts_with(folder))
    }

    /// Its title in the store of its agent.
    fn title(&self) -> Option<&str> {
        self.session.stored.as_ref().map(|stored| stored.title.as_str())
    }

    /// Its first prompt, else its title.
    fn subject(&self) -> &str {
        self.head.prompt.as_deref().or_else(|| self.title()).unwrap_or("(none found)")
    }

    /// Its path, or the command that writes it to a file.
    fn place(&self) -> String {
        let place = self.session.export().unwrap_or_else(|| self.session.path.display().to_string());
        one_line(&place).into_owned()
    }

    /// Its entry in the list as JSON.
    fn entry(&self) -> Value {
        let (session, stored) = (&self.session, self.session.stored.as_ref());
        json!({
            "name": self.name,
            "id": stored.map(|stored| &stored.id),
            "agent": session.agent.name,
            "dialect": session.agent.dialect,
            "project": self.head.project,
            "prompt": self.head.prompt,
            "title": self.title(),
            "modified": iso_time(session.modified),
            "messages": self.sums.as_ref().map(|sums| sums.messages),
            "tokens": self.sums.as_ref().map(|sums| sums.tokens),
            "shared_requests": self.sums.as_ref().map(|sums| sums.shared),
            "bytes": session.size,
            "path": stored.is_none().then(|| session.path.to_string_lossy()),
            "export": session.export(),
        })
    }
}

fn table(listed: &[ListedSession], now: SystemTime) -> String {
    if listed.is_empty() {
        return String::from("no sessions\n");
    }
    let has_sums = listed.iter().any(|one| one.sums.is_some());
    let mut rows: Vec<Vec<String>> = vec![["name", "used", "size"].map(String::from).to_vec()];
    if has_sums {
        rows[0].extend(["messages", "tokens"].map(String::from));
    }
    rows[0].extend(["project", "first prompt", "path"].map(String::from));
    for one in listed {
        let bytes = one.session.size.map_or_else(String::new, size);
        let mut row = vec![one.name.clone(), age(now, one.session.modified), bytes];
        if has_sums {
            let shown = |number: fn(&SessionSums) -> usize| {
                one.sums.as_ref().map_or_else(String::new, |sums| number(sums).to_string())
            };
            row.extend([shown(|sums| sums.messages), shown(|sums| sums.tokens)]);
        }
        let project = one.head.project.as_deref().unwrap_or_default();
        let project = project.rsplit(['/', '\\']).find(|name| !name.is_empty()).unwrap_or_default();
        row.push(clipped(&one_line(project), 20));
        row.push(clipped(&one_line(one.subject()), 48));
        row.push(one.place());
        rows.push(row);
    }
    let widths: Vec<usize> =
        (0..rows[0].len()).map(|at| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0)).collect();
    let last = widths.len() - 1;
    let numbers = 1..if has_sums { 5 } else { 3 };
    let line = |row: &Vec<String>| {
        let cells = row.iter().enumerate().map(|(at, cell)| match at {
            at if at == last => cell.clone(),
            at if numbers.contains(&at) => format!("{cell:>width$}", width = widths[at]),
            at => format!("{cell:<width$}", width = widths[at]),
        });
        cells.collect::<Vec<_>>().join("  ") + "\n"
    };
    rows.iter().map(line).collect()
}

/// A text that is cut to `limit` characters.
fn clipped(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some(_) => text.chars().take(limit - 1).chain(['…']).collect(),
        None => text.to_owned(),
    }
}

/// How long ago something was, such as `3 h ago`.
fn age(now: SystemTime, then: SystemTime) -> String {
    let seconds = now.duration_since(then).map_or(0, |age| age.as_secs());
    match seconds {
        0..60 => String::from("now"),
        60..3_600 => format!("{} min ago", seconds / 60),
        3_600..86_400 => format!("{} h ago", seconds / 3_600),
        _ => format!("{} d ago", seconds / 86_400),
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        _ => media::size(bytes),
    }
}

// What is read of a session: its beginning for its project and first prompt, or all of it for its numbers of messages and tokens.

/// How many bytes to read: each next number applies if no prompt was found.
const HEADS: [u64; 3] = [8 * 1024, 128 * 1024, 1024 * 1024];
/// Maximum number of bytes to read of a document.
const DOCUMENT: u64 = 4 * 1024 * 1024;

/// The project and the first prompt of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Head {
    project: Option<String>,
    /// The first words of a person, on one line.
    prompt: Option<String>,
}

/// The sums of a session, without what it repeats of older ones.
#[derive(Debug, Clone, Default)]
struct SessionSums {
    messages: usize,
    tokens: usize,
    /// The number of requests that an older session contains as well.
    shared: usize,
    /// The requests that the provider counted.
    requests: Vec<SummedRequest>,
}

/// A request, and the sums up to the end of its reply.
#[derive(Debug, Clone)]
struct SummedRequest {
    keys: Vec<u64>,
    messages: usize,
    tokens: usize,
}

/// Leaves out of each session what it repeats of an older one, up to the last request that both contain: an agent that resumes
/// or forks a session can write a new file, with the history.
fn count_once(listed: &mut [ListedSession]) {
    let mut oldest: Vec<&mut ListedSession> = listed.iter_mut().filter(|one| one.sums.is_some()).collect();
    oldest.sort_by(|one, other| {
        let (one, other) = (&one.session, &other.session);
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

impl Head {
    /// Reads the beginning of `session`, and more of it while no prompt was found.
    ///
    /// # Errors
    /// The file cannot be read.
    fn read(session: &Session) -> std::io::Result<Self> {
        if let Some(stored) = &session.stored {
            let project = Some(stored.project.clone()).filter(|project| !project.is_empty());
            return Ok(Self { project, prompt: None });
        }
        let mut head = Self::default();
        let Some(reading) = reading(session) else { return Ok(head) };
        let mut beginning = Beginning::open(session)?;
        if reading.framing == Framing::Document {
            beginning.read(DOCUMENT)?;
            head.add(&reading, &String::from_utf8_lossy(&beginning.bytes));
            return Ok(head);
        }
        let mut done = 0;
        for limit in HEADS {
            beginning.read(limit)?;
            let fresh = &beginning.bytes[done..];
            // The last line may be incomplete.
            let whole =
                if beginning.is_all { fresh.len() } else { memchr::memrchr(b'\n', fresh).map_or(0, |at| at + 1) };
            head.add_lines(&reading, &String::from_utf8_lossy(&fresh[..whole]));
            done += whole;
            if head.prompt.is_some() || beginning.is_all {
                break;
            }
        }
        Ok(head)
    }

    /// Adds lines, up to the first prompt.
    fn add_lines(&mut self, reading: &Reading, text: &str) {
        for line in text.lines().filter(|line| line.starts_with('{')) {
            self.add(reading, line);
            if self.prompt.is_some() {
                break;
            }
        }
    }

    fn add(&mut self, reading: &Reading, text: &str) {
        let Ok(document) = reading.parse(text) else { return };
        if self.project.is_none() {
            self.project = document.roots().find_map(project).map(|text| text.decode().into_owned());
        }
        let transcripts = reading.transcripts_or_none(&document).unwrap_or_default();
        self.prompt = transcripts.iter().flat_map(|(_, transcript)| &transcript.messages).find_map(prompt);
    }
}

/// A file that is read only as far as needed.
struct Beginning {
    file: File,
    bytes: Vec<u8>,
    /// Whether `bytes` is all of it.
    is_all: bool,
    size: u64,
}

impl Beginning {
    fn open(session: &Session) -> std::io::Result<Self> {
        let size = session.size.unwrap_or(u64::MAX);
        Ok(Self { file: File::open(&session.path)?, bytes: Vec::new(), is_all: false, size })
    }

    /// Reads on, up to `limit` bytes of the file, with one call if the file has not grown since it was listed.
    fn read(&mut self, limit: u64) -> std::io::Result<()> {
        let rest = limit.saturating_sub(self.bytes.len() as u64);
        let capacity = limit.min(self.size.saturating_add(1)).saturating_sub(self.bytes.len() as u64);
        self.bytes.reserve_exact(usize::try_from(capacity).unwrap_or(0));
        let read = (&mut self.file).take(rest).read_to_end(&mut self.bytes)?;
        self.is_all = (read as u64) < rest;
        Ok(())
    }
}

impl SessionSums {
    /// Counts all of `session`; `None` if it cannot be read in the dialect of its agent.
    fn count(session: &Session, counting: &Counting) -> Option<Self> {
        let text = match &session.stored {
            Some(stored) => stored.text(&session.path)?,
            None => std::fs::read_to_string(&session.path).ok()?,
        };
        let reading = reading(session)?;
        let document = reading.parse(&text).ok()?;
        let mut sums = Self::default();
        for (dialect, transcript) in reading.transcripts_or_none(&document).ok()? {
            let view = View::of_layout(&transcript.layout, &transcript.messages);
            let mut before = vec![sums.tokens];
            for message in &transcript.messages {
                before.push(before[before.len() - 1] + counting.message(message));
            }
            let summed = |request: CountedRequest| {
                let (messages, tokens) = (sums.messages + request.end, before[request.end]);
                SummedRequest { keys: request.keys, messages, tokens }
            };
            let requests: Vec<SummedRequest> = counted_requests(dialect, &transcript).into_iter().map(summed).collect();
            sums.requests.extend(requests);
            sums.messages += transcript.messages.len();
            sums.tokens = before[before.len() - 1] + counting.outside(&view);
        }
        Some(sums)
    }
}

/// How `session` is read.
fn reading(session: &Session) -> Option<Reading> {
    let is_document = session.stored.is_some() || session.path.extension().is_some_and(|end| end == "json");
    let framing = if is_document { Framing::Document } else { Framing::Lines };
    Reading::new(framing, Some(session.agent.dialect), None).ok()
}

/// What a person typed in a message, on one line.
fn prompt(message: &Message<'_>) -> Option<String> {
    if !message.begins_turn() || message.standing.is_rolled_back() {
        return None;
    }
    let texts = message.parts.iter().filter(|part| !part.instructs()).filter_map(|part| match &part.content {
        Content::Text(text) => Some(text.decode()),
        _ => None,
    });
    let typed = texts.into_iter().find(|text| is_typed(text))?;
    let head: String = without_tag(&typed).chars().take(2_000).collect();
    Some(head.split_whitespace().collect::<Vec<_>>().join(" "))
}

// Finds the sessions on this machine: files in the folders of agents, and sessions in the databases of agents. Finding them
// opens no transcript.

/// How many levels of folders are searched.
const DEPTH: usize = 8;

/// A session of an agent.
#[derive(Debug, Clone)]
struct Session {
    agent: &'static Agent,
    /// The transcript, or the store that contains it.
    path: PathBuf,
    /// When something was last written to it.
    modified: SystemTime,
    /// In bytes; `None` in a store.
    size: Option<u64>,
    /// What its store records about it; `None` if it is a file.
    stored: Option<StoredSession>,
}

impl Session {
    /// The command that writes it to standard output, if it is not a file.
    fn export(&self) -> Option<String> {
        Some(format!("{} {}", self.agent.export?, self.stored.as_ref()?.id))
    }
}

/// The sessions of a machine, the newest first, and what could not be read.
#[derive(Debug, Default)]
struct FoundSessions {
    sessions: Vec<Session>,
    failed: Vec<String>,
}

/// The sessions of `agents`, or of all agents if there are none.
fn find_sessions(agents: &[&'static Agent]) -> FoundSessions {
    let mut found = FoundSessions::default();
    for agent in AGENTS.iter().filter(|agent| agents.is_empty() || agents.contains(agent)) {
        let Some(folder) = folder_of(agent) else { continue };
        if agent.export.is_some() {
            find_stored(agent, &folder, std::env::var_os("OPENCODE_DB"), &mut found);
            continue;
        }
        for below in agent.folders {
            search(agent, &folder.join(below), DEPTH, agent.within.is_empty(), &mut found.sessions);
        }
    }
    found.sessions.sort_by(|one, other| {
        let id = |session: &Session| session.stored.as_ref().map(|stored| stored.id.clone());
        let newest = other.modified.cmp(&one.modified);
        newest.then_with(|| one.path.cmp(&other.path)).then_with(|| id(one).cmp(&id(other)))
    });
    found
}

/// The folder of an agent: below the home of the user, or where an environment variable moves it.
pub(super) fn folder_of(agent: &Agent) -> Option<PathBuf> {
    let moved = agent.variables.iter().find_map(|(name, below)| {
        let folder = std::env::var_os(name).filter(|folder| !folder.is_empty())?;
        Some(PathBuf::from(folder).join(below))
    });
    moved.or_else(|| Some(std::env::home_dir()?.join(agent.home)))
}

/// The session that `reference` names, such as `last` or `claude:2`, without its `@`.
///
/// # Errors
/// There is no such agent or session.
fn session_named(reference: &str) -> Result<Session, String> {
    let (word, number) = match reference.split_once(':') {
        Some((word, number)) => (word, number.parse::<usize>().ok().filter(|number| *number > 0)),
        None => (reference, Some(1)),
    };
    let number =
        number.ok_or("expected a number from 1 on after the colon, such as @claude:2 for the second newest")?;
    let agent = agent_named(word);
    if agent.is_none() && word != "last" {
        let words: Vec<&str> = AGENTS.iter().map(|agent| agent.words[0]).collect();
        return Err(format!(
            "there is no agent `{word}`; sessions are named @last or by agent: @{} (a file: ./@{reference})",
            words.join(", @")
        ));
    }
    let FoundSessions { mut sessions, failed } = find_sessions(agent.as_slice());
    let of = agent.map_or_else(String::new, |agent| format!(" of {}", agent.name));
    if sessions.len() < number {
        return Err(match sessions.len() {
            0 if agent.is_some() && !failed.is_empty() => failed.join("; "),
            0 => match agent.and_then(|agent| agent.unread) {
                Some(unread) => format!("no session{of} was found on this machine; {unread}"),
                None => format!("no session{of} was found on this machine; `curtail sessions` lists them"),
            },
            1 => format!("there is only 1 session{of}"),
            count => format!("there are only {count} sessions{of}"),
        });
    }
    let session = sessions.swap_remove(number - 1);
    match session.export() {
        Some(export) => Err(format!(
            "{} keeps this session in a database; `{export} > FILE` writes it to a file",
            session.agent.name
        )),
        None => Ok(session),
    }
}

/// The path that `given` names: a file, or a session such as `@last`. A file with such a name comes first.
///
/// # Errors
/// There is no such session.
pub(super) fn named_path(given: &OsString) -> Result<PathBuf, String> {
    let path = PathBuf::from(given);
    match given.to_str().and_then(|text| text.strip_prefix('@')) {
        Some(reference) if !path.exists() => Ok(session_named(reference)?.path),
        _ => Ok(path),
    }
}

/// Adds the sessions of `agent` in `folder` and in `depth` levels below it; files of `folder` itself only if it `has_sessions`.
/// Links are not followed, and what cannot be read is skipped.
fn search(agent: &'static Agent, folder: &Path, depth: usize, has_sessions: bool, sessions: &mut Vec<Session>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { continue };
        let Some(name) = name.to_str() else { continue };
        if kind.is_dir() {
            // What a subagent did is part of the session that started it.
            if depth > 0 && name != "subagents" {
                search(agent, &entry.path(), depth - 1, has_sessions || name == agent.within, sessions);
            }
        } else if kind.is_file() && has_sessions && is_session(agent, name) && !is_shortened(folder, name) {
            let Ok(metadata) = entry.metadata() else { continue };
            let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            let size = Some(metadata.len());
            sessions.push(Session { agent, path: entry.path(), modified, size, stored: None });
        }
    }
}

fn is_session(agent: &Agent, name: &str) -> bool {
    let (start, ends) = agent.names;
    name.starts_with(start) && ends.iter().any(|end| name.ends_with(end)) && !name.starts_with("agent-")
}

/// Whether the full log of the session is beside it: Antigravity writes one log with long texts shortened, and one in full.
fn is_shortened(folder: &Path, name: &str) -> bool {
    name == "transcript.jsonl" && folder.join("transcript_full.jsonl").is_file()
}

// Sessions of an agent that keeps them in a database, or as one file for each message and part. No command takes the path of
// such a session: the agent itself exports it to a file. Stores are only read.

/// What a store records about one of its sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
struct StoredSession {
    id: String,
    title: String,
    /// The folder that the agent worked in.
    project: String,
}

/// Adds the sessions of `agent` in `folder`, or only in the database that is `named`.
fn find_stored(agent: &'static Agent, folder: &Path, named: Option<OsString>, found: &mut FoundSessions) {
    let databases = databases(folder, named);
    for path in &databases {
        match sessions_of_database(agent, path) {
            Ok(sessions) => found.sessions.extend(sessions),
            Err(error) => found.failed.push(format!("{}: {error}", path.display())),
        }
    }
    // A version with a database copies the files into it when it starts first, and does not delete them.
    if databases.is_empty() {
        for below in agent.folders {
            let folders = paths(&folder.join(below)).into_iter().flat_map(|project| paths(&project));
            found.sessions.extend(folders.filter_map(|path| session_of_file(agent, &path)));
        }
    }
}

/// `opencode.db`, and a database for each channel from which versions are installed, such as `opencode-dev.db`.
fn databases(folder: &Path, named: Option<OsString>) -> Vec<PathBuf> {
    let is_database = |path: &PathBuf| {
        let stem = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
        path.extension().is_some_and(|end| end == "db") && (stem == "opencode" || stem.starts_with("opencode-"))
    };
    let named = named.filter(|name| !name.is_empty() && name != ":memory:").map(|name| vec![folder.join(name)]);
    let mut found = named.unwrap_or_else(|| paths(folder).into_iter().filter(is_database).collect());
    found.retain(|path| path.is_file());
    found
}

fn sessions_of_database(agent: &'static Agent, path: &Path) -> rusqlite::Result<Vec<Session>> {
    let database = open(path)?;
    let mut statement =
        database.prepare("SELECT id, title, directory, time_updated FROM session WHERE parent_id IS NULL")?;
    let found = statement.query_map([], |row| {
        let stored = StoredSession { id: row.get(0)?, title: row.get(1)?, project: row.get(2)? };
        let modified = after_epoch(row.get::<_, i64>(3)?);
        Ok(Session { agent, path: path.to_owned(), modified, size: None, stored: Some(stored) })
    })?;
    found.collect()
}

/// A session from the file that describes it, unless another session started it.
fn session_of_file(agent: &'static Agent, path: &Path) -> Option<Session> {
    let description = object(&fs::read_to_string(path).ok()?)?;
    if description.get("parentID").is_some_and(|parent| !parent.is_null()) {
        return None;
    }
    let text = |key: &str| description.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let stored =
        StoredSession { id: path.file_stem()?.to_str()?.to_owned(), title: text("title"), project: text("directory") };
    let updated = description.get("time").and_then(|time| time.get("updated")).and_then(Value::as_i64);
    let modified = match updated {
        Some(updated) => after_epoch(updated),
        None => fs::metadata(path).ok()?.modified().ok()?,
    };
    Some(Session { agent, path: path.to_owned(), modified, size: None, stored: Some(stored) })
}

impl StoredSession {
    /// The session as its agent exports it; `path` is the store.
    fn text(&self, path: &Path) -> Option<String> {
        let is_file = path.extension().is_some_and(|end| end == "json");
        let messages = if is_file { self.messages_of_files(path) } else { self.messages_of_database(path).ok() }?;
        Some(json!({"info": {"id": self.id, "title": self.title}, "messages": messages}).to_string())
    }

    fn messages_of_database(&self, path: &Path) -> rusqlite::Result<Vec<Value>> {
        let database = open(path)?;
        let rows = |query: &str, id: &str| -> rusqlite::Result<Vec<(String, String)>> {
            let mut statement = database.prepare_cached(query)?;
            let rows = statement.query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        };
        let mut messages = Vec::new();
        for (id, info) in
            rows("SELECT id, data FROM message WHERE session_id = ?1 ORDER BY time_created, id", &self.id)?
        {
            let parts = rows("SELECT id, data FROM part WHERE message_id = ?1 ORDER BY id", &id)?;
            let parts = parts.iter().filter_map(|(part, data)| {
                let mut data = object(data)?;
                data.extend([(String::from("id"), json!(part)), (String::from("messageID"), json!(id))]);
                Some(data)
            });
            let parts: Vec<Map<String, Value>> = parts.collect();
            let Some(mut info) = object(&info) else { continue };
            info.extend([(String::from("id"), json!(id)), (String::from("sessionID"), json!(self.id))]);
            messages.push(json!({"info": info, "parts": parts}));
        }
        Ok(messages)
    }

    fn messages_of_files(&self, path: &Path) -> Option<Vec<Value>> {
        let storage = path.ancestors().nth(3)?;
        let read = |path: &Path| object(&fs::read_to_string(path).ok()?);
        let mut messages: Vec<(Option<i64>, Value)> = Vec::new();
        for file in paths(&storage.join("message").join(&self.id)) {
            let Some(info) = read(&file) else { continue };
            let parts = paths(&storage.join("part").join(file.file_stem()?));
            let parts: Vec<Map<String, Value>> = parts.iter().filter_map(|part| read(part)).collect();
            let created = info.get("time").and_then(|time| time.get("created")).and_then(Value::as_i64);
            messages.push((created, json!({"info": info, "parts": parts})));
        }
        messages.sort_by_key(|(created, _)| *created);
        Some(messages.into_iter().map(|(_, message)| message).collect())
    }
}

/// Opens a database to read it. While a program has it open, two files are beside it. Without them, it is opened as immutable,
/// so that these files are not created.
fn open(path: &Path) -> rusqlite::Result<Connection> {
    let beside = |end: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        Path::new(&name).exists()
    };
    let immutable = if beside("-wal") && beside("-shm") { "" } else { "&immutable=1" };
    let mut name = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    if cfg!(windows) {
        name = format!("/{}", name.replace('\\', "/"));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(format!("file:{name}?mode=ro{immutable}"), flags)
}

/// The paths in a folder, sorted.
fn paths(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn object(text: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(text).ok()
}

fn after_epoch(milliseconds: i64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(milliseconds).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::{age, clipped, since, size};
    use std::time::{Duration, SystemTime};

    #[test]
    fn times_and_sizes_are_short() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(10_000_000);
        let ago = |seconds| age(now, now - Duration::from_secs(seconds));
        assert_eq!([ago(5), ago(3_599), ago(7_300), ago(200_000)], ["now", "59 min ago", "2 h ago", "2 d ago"]);
        assert_eq!(age(now, now + Duration::from_secs(9)), "now");
        assert_eq!([size(12), size(1_001), size(2_340_000)], ["12 B", "2 KB", "2.3 MB"]);
        assert_eq!((clipped("short", 5), clipped("longer", 5)), (String::from("short"), String::from("long…")));
        assert_eq!(since("2w"), Ok(Duration::from_hours(336)));
        for wrong in ["", "d", "7", "7x", "99999999999999999999d"] {
            assert!(since(wrong).is_err(), "{wrong}");
        }
    }
}
