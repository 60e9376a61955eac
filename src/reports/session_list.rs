//! The list of sessions: as a table for people, or each as JSON.

use std::time::SystemTime;

use serde_json::{Value, json};

use crate::options::global::iso_time;
use crate::reports::screen::{PATH, Screen, painted, without_end};
use crate::reports::table::{Kind, Table, TablePart};
use crate::sessions::listed::ListedSession;
use curtail_core::dialects::media;
use curtail_core::visible::one_line;

impl ListedSession {
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

/// The most columns of a project's name on a screen.
const PROJECT: usize = 20;

/// The sessions as a table, a line for each; `now` is compared with when each was used. With `paths`, the path of each follows on
/// a line of its own, which is not shortened.
pub(crate) fn table(listed: &[ListedSession], now: SystemTime, paths: bool, screen: Screen) -> String {
    if listed.is_empty() {
        return String::from("no sessions\n");
    }
    let has_sums = listed.iter().any(|one| one.sums.is_some());
    let counts: &[&str] = if has_sums { &["used", "size", "messages", "tokens"] } else { &["used", "size"] };
    let counts = counts.iter().map(|title| (*title, Kind::Count));
    let columns = std::iter::once(("name", Kind::Name)).chain(counts);
    let columns = columns.chain([("project", Kind::Text), ("first prompt", Kind::Text)]);
    let table = Table::new(columns).with(listed.iter().map(|one| row(one, now, has_sums, screen)));
    let mut parts = table.parts(screen);
    // On a narrow screen, other columns follow in parts of their own.
    if let Some(first) = parts.first_mut().filter(|_| paths) {
        for (one, lines) in listed.iter().zip(&mut first.rows) {
            lines.push(format!("    {}", painted(PATH, &one.place())));
        }
    }
    TablePart::lines_of(parts).into_iter().map(|line| line + "\n").collect()
}

fn row(one: &ListedSession, now: SystemTime, has_sums: bool, screen: Screen) -> Vec<String> {
    let bytes = one.session.size.map_or_else(String::new, size);
    let mut row = vec![one.name.clone(), age(now, one.session.modified), bytes];
    if has_sums {
        let counts = one.sums.as_ref().map(|sums| [sums.messages, sums.tokens].map(|count| screen.number(count)));
        row.extend(counts.unwrap_or_default());
    }
    let project = one.head.project.as_deref().unwrap_or_default();
    let project = project.rsplit(['/', '\\']).find(|name| !name.is_empty()).unwrap_or_default();
    let project = one_line(project);
    // On a screen, a long name would take the columns of the prompt.
    let project =
        if screen.width.is_some() { without_end(&project, PROJECT).into_owned() } else { project.into_owned() };
    row.extend([project, one.subject().to_owned()]);
    row
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
    use super::{age, size, table};
    use crate::reports::screen::Screen;
    use crate::sessions::content::SessionHead;
    use crate::sessions::found::KeptSession;
    use crate::sessions::listed::ListedSession;
    use curtail_core::dialects::AGENTS;
    use std::time::{Duration, SystemTime};

    #[test]
    fn a_narrow_screen_hides_no_column() {
        let now = SystemTime::now();
        let listed = ["@claude", "@codex"].map(|name| {
            let path = format!("{name}.jsonl").into();
            let session = KeptSession { agent: &AGENTS[0], path, modified: now, size: None, stored: None };
            let head = SessionHead { project: Some("/home/ada/project".to_owned()), prompt: Some("hello".to_owned()) };
            ListedSession { name: name.to_owned(), session, head, sums: None }
        });
        for width in 20..100 {
            let text = table(&listed, now, true, Screen { width: Some(width) });
            assert!(text.contains("proje") && text.contains("hello"), "{text}");
            let lines: Vec<&str> = text.lines().collect();
            for ListedSession { name, .. } in &listed {
                let path = lines.iter().position(|line| line.contains(&format!("{name}.jsonl"))).unwrap();
                assert!(lines[path - 1].contains(name), "{width}: {text}");
            }
        }
    }

    #[test]
    fn a_long_project_leaves_the_prompt_its_columns() {
        let now = SystemTime::now();
        let path = "a.jsonl".into();
        let session = KeptSession { agent: &AGENTS[0], path, modified: now, size: None, stored: None };
        let head = SessionHead { project: Some("p".repeat(68)), prompt: Some("words ".repeat(20)) };
        let listed = [ListedSession { name: "@claude".to_owned(), session, head, sums: None }];
        let on_screen = table(&listed, now, false, Screen { width: Some(80) });
        assert!(on_screen.contains(&format!(" {}…  words words words words words ", "p".repeat(19))), "{on_screen}");
        let in_pipe = table(&listed, now, false, Screen { width: None });
        assert!(in_pipe.contains(&"p".repeat(68)) && in_pipe.contains(&"words ".repeat(20)), "{in_pipe}");
    }

    #[test]
    fn times_and_sizes_are_short() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(10_000_000);
        let ages = [5, 3_599, 7_300, 200_000].map(|seconds| age(now, now - Duration::from_secs(seconds)));
        assert_eq!(ages, ["now", "59 min ago", "2 h ago", "2 d ago"]);
        assert_eq!(age(now, now + Duration::from_secs(9)), "now");
        assert_eq!([size(12), size(1_001), size(2_340_000)], ["12 B", "2 KB", "2.3 MB"]);
    }
}
