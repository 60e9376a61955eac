//! The list of sessions: as a table for people, or each as JSON.

use std::path::Path;
use std::time::SystemTime;

use serde_json::{Value, json};

use crate::options::global::iso_time;
use crate::sessions::content::{SessionHead, SessionSums};
use crate::sessions::found::KeptSession;
use curtail_core::dialects::media;
use curtail_core::visible::one_line;

/// A session, and what was read of it.
pub(crate) struct ListedSession {
    /// Its name for other commands.
    pub(crate) name: String,
    pub(crate) session: KeptSession,
    pub(crate) head: SessionHead,
    pub(crate) sums: Option<SessionSums>,
}

impl ListedSession {
    pub(crate) fn is_in(&self, folder: &Path) -> bool {
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
    pub(crate) fn entry(&self) -> Value {
        let session = &self.session;
        let stored = self.session.stored.as_ref();
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

/// The sessions as a table; `now` is compared with when each was used.
pub(crate) fn table(listed: &[ListedSession], now: SystemTime) -> String {
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

#[cfg(test)]
mod tests {
    use super::{age, clipped, size};
    use std::time::{Duration, SystemTime};

    #[test]
    fn times_and_sizes_are_short() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(10_000_000);
        let ago = |seconds| age(now, now - Duration::from_secs(seconds));
        assert_eq!([ago(5), ago(3_599), ago(7_300), ago(200_000)], ["now", "59 min ago", "2 h ago", "2 d ago"]);
        assert_eq!(age(now, now + Duration::from_secs(9)), "now");
        assert_eq!([size(12), size(1_001), size(2_340_000)], ["12 B", "2 KB", "2.3 MB"]);
        assert_eq!((clipped("short", 5), clipped("longer", 5)), (String::from("short"), String::from("long…")));
    }
}
