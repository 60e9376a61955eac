//! The work tree as the calls leave it: the changed files, and the commits that contain them.

use super::call_result::CallWithResult;
use super::kinds::is_hash;
use super::quotes::short_line;
use super::trace::Moved;
use super::{Change, Commit, Facts, MAX_FACTS, keep_newest, paths};

impl Facts {
    /// Records a change of a file. `whole` is set if it writes the whole file.
    pub(super) fn change(&mut self, path: &str, whole: bool, call: &CallWithResult<'_>) {
        let Some(path) = paths::project_path(path) else { return };
        let mut change = self.take(path).unwrap_or_else(|| Change { whole, ..Change::default() });
        if path.len() > change.path.len() {
            path.clone_into(&mut change.path);
        }
        self.put(Change { deleted: false, ..changed_again(change, call) });
    }

    /// Records a script that was written, with the files that it changes when it is run. A script in a folder of temporary
    /// files is recorded only for this.
    pub(super) fn script(&mut self, path: &str, writes: Vec<String>, call: &CallWithResult<'_>) {
        let known = self.take(path);
        let change = known.unwrap_or_else(|| Change {
            path: path.to_owned(),
            times: 1,
            whole: true,
            ran: true,
            ..Change::default()
        });
        self.put(Change { writes, at: call.at.clone(), ..change });
    }

    /// Records the changes that a known script makes, unless its run failed.
    pub(super) fn run_script(&mut self, path: &str, call: &CallWithResult<'_>) {
        let Some(change) = self.changed.iter_mut().find(|change| paths::same_file(&change.path, path)) else { return };
        change.ran = true;
        let writes = if call.failed_or_refused() { Vec::new() } else { change.writes.clone() };
        writes.iter().for_each(|file| self.change(file, false, call));
    }

    /// Records that changes were added to the next commit: those of files, or of the files of folders that are known, or of `any`
    /// files. Of a place that is not known, the shell may have been in another folder, so they may be those of any file as well.
    pub(super) fn add(&mut self, places: &[String], any: bool, call: &CallWithResult<'_>) {
        let root = self.root();
        let mut adds_any = any;
        for place in places {
            let (folder, mut is_known) = (place.trim_end_matches('/'), false);
            for change in self.changed.iter_mut().filter(|change| is_at_or_below(&change.path, folder, &root)) {
                (change.named, change.staged, is_known) = (true, true, true);
            }
            if !is_known && !place.ends_with('/') {
                self.mark_named(place, false, call);
            }
            adds_any |= !is_known;
        }
        self.changed.iter_mut().for_each(|change| change.staged |= adds_any);
    }

    /// Records that version control lists a file: it was changed, even if no call shows how.
    pub(super) fn mark_named(&mut self, path: &str, deleted: bool, call: &CallWithResult<'_>) {
        if let Some(change) = self.changed.iter_mut().find(|change| paths::same_file(&change.path, path)) {
            change.named = true;
            change.deleted |= deleted;
            return;
        }
        // What is only listed does not push out what calls changed.
        if self.changed.len() < MAX_FACTS {
            let change = Change { path: path.to_owned(), times: 1, at: call.at.clone(), ..Change::default() };
            self.put(Change { deleted, named: true, ..change });
        }
    }

    /// Records that a file was removed. If the work itself had written it, and no commit contains it, nothing is left to
    /// record.
    pub(super) fn remove(&mut self, path: &str, call: &CallWithResult<'_>) {
        let Some(path) = paths::any_path(path) else { return };
        let change = self.take(path);
        if change.as_ref().is_some_and(|change| change.whole && !change.is_in_commit()) || paths::is_scratch(path) {
            return;
        }
        let change = change.unwrap_or_else(|| Change { path: path.to_owned(), ..Change::default() });
        self.put(Change { deleted: true, ..changed_again(change, call) });
    }

    /// Records that a folder was removed, with the files in it that are known, or a file that is.
    pub(super) fn remove_below(&mut self, path: &str, call: &CallWithResult<'_>) {
        let root = self.root();
        let known = self.changed.iter().map(|change| &change.path);
        let files: Vec<String> = known.filter(|file| is_at_or_below(file, path, &root)).cloned().collect();
        files.iter().for_each(|file| self.remove(file, call));
    }

    /// Records that a file was moved, or a folder with files that are known.
    pub(super) fn rename(&mut self, from: &str, to: &str, call: &CallWithResult<'_>) {
        if let Some(trace) = &mut self.trace {
            trace.moved.push(Moved { from: from.to_owned(), at: call.at.message.unwrap_or_default() });
        }
        let mut moved_folder = false;
        for change in &mut self.changed {
            if let Some(path) = paths::moved_with(&change.path, from, to) {
                change.path = path;
                (change.committed, change.staged) = (false, false);
                moved_folder = true;
            }
        }
        if moved_folder {
            return;
        }
        // What is moved out of the project is gone.
        let Some(to) = paths::project_path(to) else { return self.remove(from, call) };
        let before = self.take(from).unwrap_or_default();
        let replaced = self.take(to).unwrap_or_default();
        let times = before.times + replaced.times;
        self.put(Change { deleted: false, ..changed_again(Change { path: to.to_owned(), times, ..before }, call) });
    }

    /// Drops changes that were discarded: of those of a file, commits contain the first ones. `files` is `None` for all files.
    pub(super) fn restore(&mut self, files: Option<&[String]>) {
        let root = self.root();
        let is_discarded =
            |path: &str| files.is_none_or(|places| places.iter().any(|place| is_at_or_below(path, place, &root)));
        self.changed.retain_mut(|change| {
            if !change.committed && is_discarded(&change.path) {
                (change.times, change.committed) = (change.in_commits, change.in_commits > 0);
                (change.deleted, change.staged) = (false, false);
                return change.committed;
            }
            true
        });
    }

    /// Records a commit, unless its result shows that there is none. `amend` is set if it takes the place of the last one.
    pub(super) fn commit(&mut self, subject: Option<String>, amend: bool, call: &CallWithResult<'_>) {
        let output = call.output();
        let mut lines = output.lines().filter_map(hash_and_subject);
        // Of several commits in one call, each has its own line; a command before it may have taken all of them.
        let new = lines.clone().find(|(hash, _)| !self.has_commit(hash));
        let shown = new.or_else(|| lines.rfind(|(_, text)| Some(text) == subject.as_ref()));
        let failed = call.failed_or_refused();
        let is_empty = output.contains("nothing to commit") || output.contains("no changes added to commit");
        if shown.is_none() && (failed || is_empty || call.result_text().is_none()) {
            return;
        }
        self.commits.retain(|commit| shown.as_ref().is_none_or(|(hash, _)| commit.hash.as_ref() != Some(hash)));
        let before = self.commits.pop_if(|_| amend);
        let (hash, shown_subject) = shown.unzip();
        let Some(subject) = shown_subject.or(subject).or(before.map(|commit| commit.subject)) else { return };
        self.commits.push(Commit { hash, subject: short_line(&subject), at: call.at.clone() });
        keep_newest(&mut self.commits, MAX_FACTS);
        self.mark_committed();
    }

    /// Records that a commit contains the changes that were added to it, or all if no call shows which. A removal may have been
    /// added with its command.
    fn mark_committed(&mut self) {
        let is_any_staged = self.changed.iter().any(|change| change.staged);
        for change in &mut self.changed {
            if change.staged || change.deleted || !is_any_staged {
                (change.committed, change.in_commits, change.staged) = (true, change.times, false);
            }
        }
    }

    /// Records the commits in the output of a command that makes them from others. They contain nothing of the work tree.
    pub(super) fn shown_commits(&mut self, call: &CallWithResult<'_>) {
        for (hash, subject) in call.output().lines().filter_map(hash_and_subject) {
            if !self.has_commit(&hash) {
                self.commits.push(Commit { hash: Some(hash), subject: short_line(&subject), at: call.at.clone() });
            }
        }
        keep_newest(&mut self.commits, MAX_FACTS);
    }

    fn has_commit(&self, hash: &str) -> bool {
        self.commits.iter().any(|commit| commit.hash.as_deref() == Some(hash))
    }

    /// The folder that all changed files with absolute paths share.
    fn root(&self) -> String {
        let absolute = self.changed.iter().map(|change| change.path.as_str()).filter(|path| path.starts_with('/'));
        paths::common_root(absolute).to_owned()
    }

    /// Takes out what is known of a file.
    fn take(&mut self, path: &str) -> Option<Change> {
        let at = self.changed.iter().position(|change| paths::same_file(&change.path, path))?;
        Some(self.changed.remove(at))
    }

    /// Adds what is known of a file now.
    fn put(&mut self, change: Change) {
        self.changed.push(change);
        keep_newest(&mut self.changed, MAX_FACTS);
    }
}

/// What is known of a file after one more change.
fn changed_again(change: Change, call: &CallWithResult<'_>) -> Change {
    Change { times: change.times + 1, at: call.at.clone(), committed: false, staged: false, ..change }
}

/// Whether a changed file is at a place or below it.
fn is_at_or_below(path: &str, place: &str, root: &str) -> bool {
    paths::same_file(path, place) || paths::is_below(path, place, root)
}

/// The hash and the subject in a line such as `[main 1a2b3c4] Fix it`.
fn hash_and_subject(line: &str) -> Option<(String, String)> {
    let (place, subject) = line.trim().strip_prefix('[')?.split_once("] ")?;
    let hash = place.rsplit(' ').next().filter(|_| place.contains(' '))?;
    is_hash(hash).then(|| (hash.to_owned(), subject.to_owned()))
}
