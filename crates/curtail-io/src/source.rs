//! Finds the inputs: the files, directories and globs that the user names, and standard input. It opens none of them, except to tell
//! folders of events.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use globset::GlobSet;
use ignore::{DirEntry, WalkBuilder};

use crate::Packing;
use crate::error::{ErrorKind, FileError};
use crate::event_folders::event_folders;
use crate::walk_globs::WalkGlobs;
use curtail_core::globs::{self, InvalidGlob, Stars};
use curtail_core::system_error::system_message;

/// Extensions of the files that are read from a directory, each also followed by `.gz` or `.zst`.
#[cfg(feature = "parquet")]
const ENDINGS: &[&str] = &["jsonl", "ndjson", "json", "parquet", "arrow", "feather", "ipc"];
#[cfg(not(feature = "parquet"))]
const ENDINGS: &[&str] = &["jsonl", "ndjson", "json"];

/// A directory that is never walked: it contains the history of a repository and no transcripts.
const GIT: &str = ".git";

/// One input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Its path; `None` for standard input.
    pub path: Option<PathBuf>,
    /// Its name in messages.
    pub name: String,
    /// The path of its output below an output directory.
    pub relative: PathBuf,
    /// Whether it was found in a directory and its name ends in `.json`, which other files end in too: it may not be a
    /// transcript.
    pub doubtful: bool,
}

impl Source {
    /// Standard input, called `name`.
    pub fn stdin(name: Option<&str>) -> Self {
        let name = name.unwrap_or("stdin");
        let mut relative = below(Path::new(name));
        // A walk finds the output under this name.
        if !is_transcript(&relative) {
            relative.as_mut_os_string().push(".jsonl");
        }
        Self { path: None, name: name.to_owned(), relative, doubtful: false }
    }

    /// A text in memory, called `name`.
    pub fn in_memory(name: &str) -> Self {
        Self { path: None, name: name.to_owned(), relative: PathBuf::new(), doubtful: false }
    }

    /// The file at `path`, whose output is at `relative` below an output directory.
    pub fn file(path: PathBuf, relative: PathBuf) -> Self {
        Self { name: path.to_string_lossy().into_owned(), path: Some(path), relative, doubtful: false }
    }

    /// Its length in bytes, if it is known in advance.
    pub fn len_hint(&self) -> Option<u64> {
        let metadata = std::fs::metadata(self.path.as_ref()?).ok()?;
        metadata.is_file().then_some(metadata.len())
    }
}

/// The inputs that the user named.
#[derive(Debug, Clone, Default)]
pub struct Wanted<'w> {
    /// Files, directories, globs or `-` for standard input; if empty, standard input is read.
    pub paths: &'w [PathBuf],
    /// The name of standard input in messages.
    pub stdin_name: Option<&'w str>,
    /// The directory of the outputs, which is never walked.
    pub except: Option<&'w Path>,
    /// If not empty, a walk finds only files that match one of these globs.
    pub globs: &'w [String],
    /// A walk skips files and directories that match one of these globs.
    pub excludes: &'w [String],
    /// Whether a walk skips symbolic links, because the files that it finds are changed in place.
    pub skips_links: bool,
    /// What a walk finds beside the files that git would show.
    pub beside: Beside,
}

/// What a walk of a directory finds beside the files that git would show. Paths and globs that the user names find all of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Beside {
    /// Files that a `.gitignore`, an `.ignore` or git's other lists exclude.
    pub ignored: bool,
    /// Files and directories whose names begin with a dot.
    pub hidden: bool,
}

impl Beside {
    /// Everything.
    const ALL: Self = Self { ignored: true, hidden: true };
}

/// The inputs that were found.
#[derive(Debug, Default)]
pub struct Inputs {
    /// The inputs, in the order in which they were named; files of directories and globs in the order of their names. A file
    /// that is named twice is read only the first time.
    pub sources: Vec<Source>,
    /// The errors of inputs that cannot be found or read.
    pub errors: Vec<FileError>,
    /// Symbolic links that a walk skipped.
    pub links: Vec<PathBuf>,
    /// Those of [`Wanted::globs`] and [`Wanted::excludes`] that match nothing.
    pub unmatched: Vec<String>,
    /// Whether a directory was walked.
    pub has_walked: bool,
    /// Number of transcripts that are ignored or hidden in directories in which nothing else was found.
    pub passed_over: usize,
}

/// Finds the inputs.
///
/// # Errors
/// `-` is named twice, or a glob is invalid.
pub fn find_sources(wanted: &Wanted<'_>) -> Result<Inputs, FileError> {
    if wanted.paths.is_empty() {
        return Ok(Inputs { sources: vec![Source::stdin(wanted.stdin_name)], ..Inputs::default() });
    }
    let mut finder = Finder {
        except: wanted.except.and_then(|path| path.canonicalize().ok()),
        globs: (!wanted.globs.is_empty()).then(|| WalkGlobs::compile(wanted.globs).map(Arc::new)).transpose()?,
        excludes: Arc::new(WalkGlobs::compile(wanted.excludes)?),
        skips_links: wanted.skips_links,
        beside: wanted.beside,
        ..Finder::default()
    };
    for path in wanted.paths {
        if path.as_os_str() == "-" {
            if finder.found.sources.iter().any(|source| source.path.is_none()) {
                return Err(FileError::new(ErrorKind::Usage, "", "standard input, `-`, can be named only once"));
            }
            finder.found.sources.push(Source::stdin(wanted.stdin_name));
        } else {
            finder.add(path);
        }
    }
    finder.reject_event_folders();
    let unmatched = finder.globs.iter().chain([&finder.excludes]).flat_map(|globs| globs.unmatched()).collect();
    Ok(Inputs { unmatched, ..finder.found })
}

/// The inputs found so far, and where to look for more.
#[derive(Default)]
struct Finder {
    found: Inputs,
    except: Option<PathBuf>,
    globs: Option<Arc<WalkGlobs>>,
    excludes: Arc<WalkGlobs>,
    skips_links: bool,
    beside: Beside,
    seen: HashSet<PathBuf>,
    /// How many files were found again.
    repeated: usize,
}

/// A file that a walk found.
struct WalkedFile {
    source: Source,
    /// Its path without symbolic links; `None` if it is gone.
    real: Option<PathBuf>,
    /// Whether a symbolic link below the root of the walk led to it.
    is_linked: bool,
}

/// A glob that the user named as an input, in two parts.
struct PathGlob {
    /// The directory before its first component with a wildcard that is not the name of an existing directory.
    base: PathBuf,
    /// The rest, matched below that directory.
    set: GlobSet,
    /// How many levels below the directory the rest can match; `None` for any.
    depth: Option<usize>,
}

impl Finder {
    /// Adds the inputs that `path` names.
    fn add(&mut self, path: &Path) {
        match std::fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => self.add_directory(path),
            Ok(_) => {
                let source = Source::file(path.to_owned(), below(path));
                let real = real_path(&source);
                self.push(source, real);
            }
            Err(error) => match path_glob(path) {
                Some(Ok(glob)) => self.add_glob(path, &glob),
                Some(Err(error)) => self.fail(path, &error.to_string()),
                None => self.found.errors.push(FileError::system(path.to_string_lossy(), &error)),
            },
        }
    }

    fn add_directory(&mut self, path: &Path) {
        self.found.has_walked = true;
        let before = self.count();
        self.walk(path, None, self.beside);
        if before == self.count() && self.beside != Beside::ALL {
            self.found.passed_over += self.transcripts_in(path);
        }
    }

    /// The number of wanted transcripts below `path`, ignored and hidden ones included.
    fn transcripts_in(&self, path: &Path) -> usize {
        let Self { except, globs, excludes, .. } = self;
        let (except, globs, excludes) = (except.clone(), globs.clone(), Arc::clone(excludes));
        let mut all = Self { except, globs, excludes, ..Self::default() };
        all.walk(path, None, Beside::ALL);
        all.found.sources.iter().filter(|source| !source.doubtful).count()
    }

    fn add_glob(&mut self, path: &Path, glob: &PathGlob) {
        let before = self.count();
        self.walk(&glob.base, Some(glob), Beside::ALL);
        if before == self.count() {
            self.fail(path, "no file matches");
        }
    }

    fn fail(&mut self, path: &Path, message: &str) {
        self.found.errors.push(FileError::new(ErrorKind::System, path.to_string_lossy(), message));
    }

    /// Adds all transcripts below `root`, or the files that match a glob. Symlink loops are errors, except to a glob, whose files
    /// are all found on the way to the loop.
    fn walk(&mut self, root: &Path, glob: Option<&PathGlob>, beside: Beside) {
        // The walk of an empty root starts at `.`, which is not part of the path of an input.
        let walked = if root.as_os_str().is_empty() { Path::new(".") } else { root };
        let mut walk = WalkBuilder::new(walked);
        walk.standard_filters(!beside.ignored).hidden(!beside.hidden).max_depth(glob.and_then(|glob| glob.depth));
        walk.follow_links(!self.skips_links).sort_by_file_name(Ord::cmp);
        let except = self.except.clone();
        let excludes = Arc::clone(&self.excludes);
        let base = walked.to_owned();
        walk.filter_entry(move |entry| {
            let path = entry.path();
            let inside = path.strip_prefix(&base).unwrap_or(path);
            let excluded = entry.depth() > 0 && (entry.file_name() == GIT || excludes.is_match(inside));
            !excluded
                && !leads_out_of_files(entry)
                && (except.is_none() || !path.is_dir() || path.canonicalize().ok() != except)
        });
        let real_root = walked.canonicalize().unwrap_or_default();
        let mut found = Vec::new();
        for entry in walk.build() {
            match entry {
                Ok(entry) => {
                    let inside = entry.path().strip_prefix(walked).unwrap_or(entry.path());
                    let is_skipped = self.skips_links && entry.depth() > 0 && entry.path_is_symlink();
                    if let Some(source) = self.source_at(root.join(inside), inside, is_skipped, glob) {
                        let real = real_path(&source);
                        let is_linked = real.as_deref() != Some(&real_root.join(inside));
                        found.push(WalkedFile { source, real, is_linked });
                    }
                }
                Err(error) => {
                    let (path, message, is_loop) = walk_error(&error);
                    if !is_loop || glob.is_none() {
                        self.fail(path.unwrap_or(Path::new("")), &message);
                    }
                }
            }
        }
        self.push_walked(found);
    }

    /// Adds the files that a walk found. A file that links lead to as well has its own name.
    fn push_walked(&mut self, found: Vec<WalkedFile>) {
        let direct = found.iter().filter(|file| !file.is_linked);
        let direct: HashSet<PathBuf> = direct.filter_map(|file| file.real.clone()).collect();
        for WalkedFile { source, real, is_linked } in found {
            match is_linked && real.as_ref().is_some_and(|real| direct.contains(real)) {
                true => self.repeated += 1,
                false => self.push(source, real),
            }
        }
    }

    /// The input that a walk found at `path`, which is `inside` its root. A link that is skipped is noted.
    fn source_at(&mut self, path: PathBuf, inside: &Path, is_skipped: bool, glob: Option<&PathGlob>) -> Option<Source> {
        let is_named = glob.map_or_else(|| is_transcript(&path), |glob| glob.set.is_match(inside));
        let is_selected = is_named && path.is_file() && self.globs.as_ref().is_none_or(|globs| globs.is_match(inside));
        let is_entered = glob.and_then(|glob| glob.depth).is_none_or(|depth| inside.components().count() < depth);
        // The directory that is skipped here may contain selected files.
        if is_skipped && (is_selected || is_entered && path.is_dir()) {
            self.found.links.push(path);
            return None;
        }
        is_selected.then(|| {
            let relative = if glob.is_some() { below(&path) } else { inside.to_owned() };
            // A glob names the files that it matches.
            let doubtful = glob.is_none() && ending(&path) == Some("json");
            Source { doubtful, ..Source::file(path, relative) }
        })
    }

    /// Replaces the files of each folder of events by one error, because a single event is not a transcript.
    fn reject_event_folders(&mut self) {
        let folders = event_folders(&self.found.sources);
        self.found.sources.retain(|source| {
            let folder = source.path.as_deref().and_then(Path::parent).filter(|_| source.doubtful);
            folder.is_none_or(|folder| !folders.contains_key(folder))
        });
        for (folder, reason) in folders {
            self.fail(&folder, &reason);
        }
    }

    /// Adds `source`, whose path without symbolic links is `real`, unless it was added before.
    fn push(&mut self, source: Source, real: Option<PathBuf>) {
        match real.is_none_or(|real| self.seen.insert(real)) {
            true => self.found.sources.push(source),
            false => self.repeated += 1,
        }
    }

    /// How much was found, or failed.
    fn count(&self) -> usize {
        let Inputs { sources, errors, links, .. } = &self.found;
        sources.len() + errors.len() + links.len() + self.repeated
    }
}

/// The path of `source` without symbolic links.
fn real_path(source: &Source) -> Option<PathBuf> {
    source.path.as_ref()?.canonicalize().ok()
}

/// Whether an entry is a symbolic link to something that the system makes up while it is read, such as a file of `/proc`. It may
/// never end, and a directory there contains all others.
fn leads_out_of_files(entry: &DirEntry) -> bool {
    let is_link = entry.depth() > 0 && entry.path_is_symlink();
    is_link && entry.path().canonicalize().is_ok_and(|real| is_made_up(&real))
}

#[cfg(target_os = "linux")]
fn is_made_up(path: &Path) -> bool {
    // As `linux/magic.h` names them: what has files and no disk, except memory.
    const MADE_UP: [u32; 8] =
        [0x9fa0, 0x6265_6572, 0x6462_6720, 0x7472_6163, 0x7363_6673, 0x0027_e0eb, 0x6367_7270, 0x1cd1];
    let kind = rustix::fs::statfs(path).ok().and_then(|system| u32::try_from(system.f_type).ok());
    path.starts_with("/dev") || kind.is_some_and(|kind| MADE_UP.contains(&kind))
}

#[cfg(not(target_os = "linux"))]
fn is_made_up(path: &Path) -> bool {
    path.starts_with("/dev")
}

/// The path and the words of an error, and whether it is a loop of links.
fn walk_error(error: &ignore::Error) -> (Option<&Path>, String, bool) {
    match error {
        ignore::Error::WithPath { path, err } => {
            let (_, message, is_loop) = walk_error(err);
            (Some(path), message, is_loop)
        }
        ignore::Error::WithDepth { err, .. } => walk_error(err),
        ignore::Error::Loop { ancestor, child } => {
            (Some(child), format!("a symbolic link leads back to {}; it is not followed", ancestor.display()), true)
        }
        ignore::Error::Io(error) => (None, system_message(error), false),
        other => (None, other.to_string(), false),
    }
}

/// The path of an output below an output directory: the path of the input as it was named, or only its name if the path
/// is absolute or contains `..`.
fn below(path: &Path) -> PathBuf {
    let is_relative = path.components().all(|step| matches!(step, Component::Normal(_) | Component::CurDir));
    match path.file_name() {
        Some(name) if !is_relative => PathBuf::from(name),
        _ => path.components().filter(|step| matches!(step, Component::Normal(_))).collect(),
    }
}

fn is_transcript(path: &Path) -> bool {
    ending(path).is_some()
}

/// The ending of a transcript's name, before that of its compression; `None` if the name is not that of a transcript.
fn ending(path: &Path) -> Option<&'static str> {
    let name = Packing::bare_name(path)?.as_encoded_bytes().to_ascii_lowercase();
    ENDINGS.iter().copied().find(|ending| name.strip_suffix(ending.as_bytes()).is_some_and(|stem| stem.ends_with(b".")))
}

/// Whether `path` does not exist and looks like the suffix of a backup, such as `.bak`, `~` or `orig`.
pub fn is_like_suffix(path: &Path) -> bool {
    let name = path.as_os_str().to_string_lossy();
    !name.contains(['/', '\\']) && name.len() <= 8 && is_missing_name(path)
}

/// Whether `path` does not exist and is neither a glob nor the name of a transcript.
pub(super) fn is_missing_name(path: &Path) -> bool {
    path.as_os_str() != "-" && !is_wild(path.as_os_str()) && !is_transcript(path) && !path.exists()
}

/// The glob at `path`; `None` without wildcards. What exists under a name with wildcards is meant by it.
fn path_glob(path: &Path) -> Option<Result<PathGlob, InvalidGlob>> {
    let steps: Vec<Component<'_>> = path.components().collect();
    let first_wild = (0..steps.len()).find(|&nth| {
        let named: PathBuf = steps[..=nth].iter().collect();
        is_wild(steps[nth].as_os_str()) && !named.exists()
    });
    let (base, rest) = steps.split_at(first_wild?);
    let pattern: PathBuf = rest.iter().collect();
    let pattern = pattern.to_str()?;
    let depth = (!pattern.contains("**")).then_some(rest.len());
    let set = globs::compile([pattern], Stars::OneComponent);
    Some(set.map(|set| PathGlob { base: base.iter().collect(), set, depth }))
}

/// Whether a name has wildcards.
fn is_wild(name: &OsStr) -> bool {
    name.to_string_lossy().contains(['*', '?', '[', '{'])
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::{Inputs, Wanted, find_sources};

    fn found(folder: &Path, names: &[&str]) -> Inputs {
        let paths: Vec<PathBuf> = names.iter().map(|name| folder.join(name)).collect();
        find_sources(&Wanted { paths: &paths, ..Wanted::default() }).unwrap()
    }

    #[test]
    fn a_file_that_is_found_again_is_no_missing_one() -> std::io::Result<()> {
        let folder = tempfile::tempdir()?;
        fs::write(folder.path().join("a.jsonl"), "")?;
        for again in ["*.jsonl", "."] {
            let Inputs { sources, errors, passed_over, .. } = found(folder.path(), &["a.jsonl", again]);
            assert_eq!((sources.len(), errors, passed_over), (1, Vec::new(), 0), "{again}");
        }
        assert_eq!(found(folder.path(), &["a.jsonl", "*.json"]).errors.len(), 1);
        Ok(())
    }

    /// What another glob excludes is neither ignored nor hidden.
    #[test]
    fn only_wanted_transcripts_are_passed_over() -> std::io::Result<()> {
        let folder = tempfile::tempdir()?;
        for name in ["a.jsonl", ".b.jsonl"] {
            fs::write(folder.path().join(name), "")?;
        }
        for (glob, passed_over, unmatched) in [("a*", 0, 0), ("c*", 0, 1), (".b*", 1, 0)] {
            let globs = [glob.to_owned()];
            let wanted = Wanted { paths: &[folder.path().to_owned()], globs: &globs, ..Wanted::default() };
            let found = find_sources(&wanted).unwrap();
            assert_eq!((found.passed_over, found.unmatched.len()), (passed_over, unmatched), "{glob}");
        }
        Ok(())
    }

    #[test]
    fn an_existing_name_is_no_glob() -> std::io::Result<()> {
        let folder = tempfile::tempdir()?;
        for name in ["d[1]", "d1"] {
            fs::create_dir(folder.path().join(name))?;
            fs::write(folder.path().join(name).join("a.jsonl"), "")?;
        }
        for (name, file) in
            [("d[1]/*.jsonl", "d[1]/a.jsonl"), ("d[1]", "d[1]/a.jsonl"), ("d[12]/*.jsonl", "d1/a.jsonl")]
        {
            let Inputs { sources, errors, .. } = found(folder.path(), &[name]);
            let paths: Vec<_> = sources.into_iter().filter_map(|source| source.path).collect();
            assert_eq!((paths, errors), (vec![folder.path().join(file)], Vec::new()), "{name}");
        }
        let Inputs { errors, .. } = found(folder.path(), &["d[1]/b.jsonl"]);
        assert!(!errors[0].what.contains("no file matches"), "{errors:?}");
        Ok(())
    }

    /// A walk says the name of a file itself, whether links to it or to its folder come first; a link that the user names is said.
    #[cfg(unix)]
    #[test]
    fn a_file_has_its_own_name_and_not_that_of_a_link() -> std::io::Result<()> {
        let folder = tempfile::tempdir()?;
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("logs"))?;
        fs::write(at("logs/b.jsonl"), "")?;
        fs::write(at("outside"), "")?;
        for (target, link) in [("logs/b.jsonl", "a.jsonl"), ("logs", "latest"), ("outside", "z.jsonl")] {
            std::os::unix::fs::symlink(target, at(link))?;
        }
        for (names, files) in [
            (&["."][..], &["logs/b.jsonl", "z.jsonl"][..]),
            (&["**/*.jsonl"], &["logs/b.jsonl", "z.jsonl"]),
            (&["a.jsonl", "."], &["a.jsonl", "z.jsonl"]),
            (&["latest"], &["latest/b.jsonl"]),
        ] {
            let paths = found(folder.path(), names).sources.into_iter().filter_map(|source| source.path);
            let paths: Vec<_> = paths.map(|path| path.components().collect::<PathBuf>()).collect();
            assert_eq!(paths, files.iter().map(|file| at(file)).collect::<Vec<_>>(), "{names:?}");
        }
        Ok(())
    }

    #[cfg(unix)]
    #[test]
    fn a_glob_looks_no_deeper_than_it_can_match() -> std::io::Result<()> {
        let folder = tempfile::tempdir()?;
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("below/deep"))?;
        for name in ["a.jsonl", "below/b.jsonl", "below/deep/c.jsonl"] {
            fs::write(at(name), "")?;
        }
        std::os::unix::fs::symlink("..", at("below/up"))?;
        std::os::unix::fs::symlink(".", at("loop"))?;
        for (glob, files) in [("*.jsonl", 1), ("*/*.jsonl", 1), ("{a,below/b}.jsonl", 2), ("**/*.jsonl", 3)] {
            let Inputs { sources, errors, .. } = found(folder.path(), &[glob]);
            assert_eq!((sources.len(), errors), (files, Vec::new()), "{glob}");
        }
        assert_eq!(found(folder.path(), &["."]).errors.len(), 2);
        // Links that are not followed are named where files behind them could match.
        for (glob, links) in [("*.jsonl", 0), ("*/*.jsonl", 1), ("**/*.jsonl", 2)] {
            let wanted = Wanted { paths: &[at(glob)], skips_links: true, ..Wanted::default() };
            assert_eq!(find_sources(&wanted).unwrap().links.len(), links, "{glob}");
        }
        Ok(())
    }
}
