//! The sessions of a list: which of those that were found, in which order, and what is read of them. It prints nothing.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use clap::ValueEnum;
use rayon::prelude::*;

use crate::sessions::content::{SessionHead, SessionSums};
use crate::sessions::found::KeptSession;
use curtail_core::processors::Counting;
use curtail_io::FileError;
use curtail_lab::SeenRequests;

/// Which sessions are listed, in which order, and what is read of them.
pub(crate) struct Selection {
    /// The earliest time at which they were used last.
    pub(crate) since: Option<SystemTime>,
    /// The folder in which they worked, or below it.
    pub(crate) project: Option<ProjectFolder>,
    pub(crate) sort: Sort,
    /// How many are listed at most; 0 for all.
    pub(crate) limit: usize,
    /// Whether only their paths are listed: no more is read than selects and sorts them, and those without a file are left out.
    pub(crate) only_paths: bool,
    /// How tokens are counted, if they are.
    pub(crate) counting: Option<Counting>,
}

/// The folder of a project. A session may record it by a link to it, and it may be gone.
pub(crate) struct ProjectFolder {
    /// As it was named.
    named: PathBuf,
    /// Where it is.
    real: PathBuf,
}

impl ProjectFolder {
    pub(crate) fn new(folder: PathBuf) -> Self {
        let named = std::path::absolute(&folder).unwrap_or(folder);
        Self { real: named.canonicalize().unwrap_or_else(|_| named.clone()), named }
    }

    fn contains(&self, project: &Path) -> bool {
        self.is_above(project) || project.canonicalize().is_ok_and(|real| self.is_above(&real))
    }

    fn is_above(&self, path: &Path) -> bool {
        path.starts_with(&self.named) || path.starts_with(&self.real)
    }
}

/// `--sort`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sort {
    /// The one used last first
    Time,
    /// The one with the most tokens first
    Tokens,
    /// The largest file first
    Size,
}

/// The sessions that were selected, in order, and what is not in the list.
#[derive(Default)]
pub(crate) struct SessionList {
    pub(crate) listed: Vec<ListedSession>,
    /// How many there were, if the list was cut to its limit.
    pub(crate) cut_from: Option<usize>,
    /// How many were left out because they have no file.
    pub(crate) without_file: usize,
    /// Those that could not be read, and why.
    pub(crate) failed: Vec<String>,
    /// What could not be read of damaged logs.
    pub(crate) losses: Vec<FileError>,
}

/// A session, and what was read of it.
pub(crate) struct ListedSession {
    /// Its name for other commands.
    pub(crate) name: String,
    pub(crate) session: KeptSession,
    pub(crate) head: SessionHead,
    pub(crate) sums: Option<SessionSums>,
}

impl Selection {
    /// The list of those of `sessions` that are selected. `sessions` begin with the newest.
    pub(crate) fn list(&self, sessions: Vec<KeptSession>) -> SessionList {
        let mut list = SessionList { listed: with_names(sessions), ..SessionList::default() };
        list.listed.retain(|one| self.since.is_none_or(|since| one.session.modified >= since));
        if self.only_paths {
            let all = list.listed.len();
            list.listed.retain(|one| one.session.stored.is_none());
            list.without_file = all - list.listed.len();
        }
        // To filter by project or sort by tokens, all sessions must be read. Otherwise, only those that are listed are.
        if self.project.is_some() || self.sort == Sort::Tokens {
            self.read(&mut list);
            self.sort_and_cut(&mut list);
        } else {
            self.sort_and_cut(&mut list);
            if !self.only_paths {
                self.read(&mut list);
            }
        }
        list
    }

    /// Reads the sessions, and drops those of other projects and those that cannot be read.
    fn read(&self, list: &mut SessionList) {
        let sessions = std::mem::take(&mut list.listed).into_par_iter();
        let read: Vec<Result<ListedSession, String>> = sessions.map(|one| self.read_session(one)).collect();
        for one in read {
            match one {
                Ok(one) if self.is_of_project(&one) => list.listed.push(one),
                Ok(_) => {}
                Err(reason) => list.failed.push(reason),
            }
        }
        for sums in list.listed.iter_mut().filter_map(|one| one.sums.as_mut()) {
            list.losses.append(&mut sums.losses);
        }
        count_once(&mut list.listed);
    }

    /// Reads a session, all of it if its tokens are counted and it is of the project.
    fn read_session(&self, mut one: ListedSession) -> Result<ListedSession, String> {
        let head = SessionHead::read(&one.session);
        one.head = head.map_err(|error| format!("{}: {error}", one.session.path.display()))?;
        let is_listed = self.is_of_project(&one);
        let counting = self.counting.as_ref().filter(|_| is_listed);
        one.sums = counting.and_then(|counting| SessionSums::count(&one.session, counting));
        Ok(one)
    }

    fn is_of_project(&self, one: &ListedSession) -> bool {
        let Some(folder) = &self.project else { return true };
        one.head.project.as_ref().is_some_and(|project| folder.contains(Path::new(project)))
    }

    fn sort_and_cut(&self, list: &mut SessionList) {
        match self.sort {
            Sort::Time => {}
            Sort::Tokens => {
                list.listed.sort_by_key(|one| Reverse(one.sums.as_ref().map_or(0, |sums| sums.tokens)));
            }
            Sort::Size => list.listed.sort_by_key(|one| Reverse(one.session.size)),
        }
        let all = list.listed.len();
        if self.limit > 0 && all > self.limit {
            list.listed.truncate(self.limit);
            list.cut_from = Some(all);
        }
    }
}

/// The sessions, each with its name for other commands.
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
    use super::ProjectFolder;

    #[cfg(unix)]
    #[test]
    fn a_project_is_found_by_a_link_to_it_and_when_it_is_gone() -> std::io::Result<()> {
        let place = tempfile::tempdir()?;
        let [real, link, gone] = ["real", "link", "gone"].map(|name| place.path().join(name));
        std::fs::create_dir(&real)?;
        std::os::unix::fs::symlink(&real, &link)?;
        for (folder, project, contains) in [
            (&real, &link, true),
            (&link, &real, true),
            (&link, &link, true),
            (&link, &real.join("sub"), true),
            (&gone, &gone, true),
            (&gone, &real, false),
        ] {
            assert_eq!(ProjectFolder::new(folder.clone()).contains(project), contains, "{folder:?} {project:?}");
        }
        Ok(())
    }
}
