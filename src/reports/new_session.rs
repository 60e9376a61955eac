//! `--as-new-session`: writes a cut as a session of its own, where its agent finds it, and prints the command that resumes it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use crate::console;
use crate::options::cut::CutFlags;
use crate::options::files::is_standard;
use crate::options::global::Global;
use crate::sessions::found::folder_of;
use crate::works::output::CutOutput;
use curtail_core::dialects::{AGENTS, Agent, Framing, NewSession, SessionName, agent_writing};
use curtail_core::digest::fnv1a_128;
use curtail_core::visible::word;
use curtail_io::batch::Opened;
use curtail_io::{ErrorKind, FileError, FileSink, FileUses, Packing, Replace, Scratch, Source};

/// Writes the cut of the only input as a new session.
pub(crate) struct NewSessionWriter<'f> {
    flags: &'f CutFlags,
    uses: Arc<FileUses>,
    /// When the run began, in nanoseconds since 1970.
    now: u128,
    /// The cut, until its input was read to its end.
    cut: Option<HeldCut>,
}

/// A cut that is not written yet.
struct HeldCut {
    text: String,
    dialect: &'static str,
    /// The folder that the session worked in, if its records say so.
    project: Option<String>,
}

/// A session that can be written: whose it is, and its log under its new id.
struct RenamedSession<'s> {
    agent: &'static Agent,
    form: &'s NewSession,
    id: String,
    /// When it was made, in milliseconds since 1970.
    milliseconds: u64,
    text: String,
    /// The folder that it worked in, if that is known.
    project: Option<PathBuf>,
    /// How the name of its file ends.
    end: &'static str,
}

impl<'f> NewSessionWriter<'f> {
    /// A writer for the only one of `inputs`; `None` without `--as-new-session`.
    ///
    /// # Errors
    /// There are several inputs or none, or the output would be mixed with the path that is printed.
    pub(crate) fn new(
        flags: &'f CutFlags,
        global: &Global,
        uses: &Arc<FileUses>,
        inputs: usize,
    ) -> anyhow::Result<Option<Self>> {
        if !flags.output.as_new_session {
            return Ok(None);
        }
        anyhow::ensure!(inputs == 1, "--as-new-session writes one session, and there are {inputs} inputs; name one");
        anyhow::ensure!(
            !flags.output.output.as_deref().is_some_and(is_standard),
            "--as-new-session prints the path of the session on standard output; name a file with --output"
        );
        let now = global.environment.now()?.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        Ok(Some(Self { flags, uses: Arc::clone(uses), now, cut: None }))
    }

    /// Keeps the cut of `opened` until [`NewSessionWriter::write`].
    ///
    /// # Errors
    /// It is no log of one session, but rows or a transcript on each line.
    pub(crate) fn hold(&mut self, opened: &Opened, output: &mut CutOutput) -> Result<(), FileError> {
        if opened.table.is_some() || opened.reading.framing == Framing::Records {
            let reason = "holds a transcript in each record, and --as-new-session writes the log of one session";
            return Err(refusal(&opened.source, reason));
        }
        let project = output.project.take();
        self.cut =
            output.dialect.map(|dialect| HeldCut { text: std::mem::take(&mut output.text.valid), dialect, project });
        Ok(())
    }

    /// Writes the session, prints its path and how it is resumed.
    ///
    /// # Errors
    /// Its agent is unknown or has no place for it, something else is there already, or the system refused to write.
    pub(crate) fn write(&mut self, opened: &Opened) -> Result<(), FileError> {
        let source = &opened.source;
        let cut = self.cut.take().ok_or_else(|| refusal(source, "holds no transcript, so no session is written"))?;
        let session = self.renamed(&cut, opened).map_err(|reason| refusal(source, reason))?;
        let place = session.place(source);
        let path = match &self.flags.output.output {
            Some(path) => path.clone(),
            None => place.clone().map_err(|reason| refusal(source, reason))?,
        };
        self.put(&path, &session.text, source)?;
        if !self.flags.dry_run {
            console::data(&format!("{}\n", path.display()))?;
        }
        self.announce(&session, &path, place);
        Ok(())
    }

    /// The cut under a new id, which is made of its content and the time.
    fn renamed(&self, cut: &HeldCut, opened: &Opened) -> Result<RenamedSession<'static>, String> {
        let agent = agent_writing(cut.dialect).ok_or_else(|| {
            let dialect = cut.dialect;
            format!("`{dialect}` is not the log of an agent that resumes sessions; {}", instead())
        })?;
        let Some(form) = &agent.new_session else {
            return Err(format!("it is not known how {} resumes the copy of a session; {}", agent.name, instead()));
        };
        // The cut has just been written from a document of this reading.
        let document = opened.reading.parse(&cut.text).map_err(|error| error.what)?;
        if form.is_subagent(&document) {
            return Err(format!(
                "the log of a sub-agent, which {} does not resume; name that of its session",
                agent.name
            ));
        }
        let digest = fnv1a_128(cut.text.bytes().chain(self.now.to_le_bytes()));
        let milliseconds = u64::try_from(self.now / 1_000_000).unwrap_or(u64::MAX);
        let id = form.id.id(milliseconds, digest);
        let text = form.renamed(&document, &id).ok_or_else(|| {
            format!("names no session (`{}`), so {} could not find a copy; {}", form.ids[0], agent.name, instead())
        })?;
        let project = cut.project.as_ref().map(PathBuf::from).or_else(|| project_beside(form, &opened.source));
        let end = if opened.reading.framing == Framing::Document { "json" } else { "jsonl" };
        Ok(RenamedSession { agent, form, id, milliseconds, text, project, end })
    }

    fn put(&self, path: &Path, text: &str, source: &Source) -> Result<(), FileError> {
        self.uses.output(path, source)?;
        if Packing::of_name(path) != Packing::Plain {
            let reason = "no agent reads a compressed session; name a file without this ending";
            return Err(FileError::new(ErrorKind::Usage, path.to_string_lossy(), reason));
        }
        if path.exists() {
            let reason = "already exists, and a new session replaces no file; name another file with --output";
            return Err(FileError::new(ErrorKind::Exists, path.to_string_lossy(), reason));
        }
        if self.flags.dry_run {
            return Ok(());
        }
        let scratch = Scratch::new(!self.flags.output.no_sync);
        let sink = FileSink::create(path, Packing::Plain, None, &scratch)?;
        let mut sink = match &source.path {
            Some(input) => sink.copied_from([input.as_path()]),
            None => sink.private(),
        };
        sink.write(text.as_bytes())?;
        sink.commit(Replace::No, &scratch)?;
        scratch.sync_renames();
        Ok(())
    }

    /// Says how the session at `path` is resumed, whose agent looks for it at `place`.
    fn announce(&self, session: &RenamedSession<'_>, path: &Path, place: Result<PathBuf, String>) {
        let form = session.form;
        let path = absolute(path);
        if self.flags.dry_run {
            console::note(&format!("would write {}", path.display()));
        }
        let is_in_place = place.as_deref().is_ok_and(|place| absolute(place) == path);
        let project = session.project.as_deref().filter(|_| form.in_project);
        let folder = project.filter(|folder| folder.is_dir());
        let is_found = is_in_place && (folder.is_some() || !form.in_project);
        let by_file = form.resume_file.filter(|_| !is_found);
        let command = form.command(by_file.unwrap_or(form.resume), &session.id, &word(&path.to_string_lossy()));
        let only_in = match project {
            _ if folder.is_some() || by_file.is_some() || !form.in_project => String::new(),
            Some(missing) => format!(" (only in {}, which does not exist here)", missing.display()),
            None => String::from(" (only in the folder of its project)"),
        };
        let folder = folder.map_or_else(String::new, |folder| format!("cd {} && ", word(&folder.to_string_lossy())));
        let is_moved = !is_in_place && form.resume_file.is_none();
        let place = place.unwrap_or_else(|_| Path::new("~").join(session.agent.home).join(session.name()));
        let first = if is_moved { format!("move it to {}, and ", place.display()) } else { String::new() };
        console::note(&format!("{first}resume it with: {folder}{command}{only_in}"));
    }
}

fn refusal(source: &Source, reason: impl Into<String>) -> FileError {
    FileError::new(ErrorKind::Usage, &source.name, reason)
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

impl RenamedSession<'_> {
    /// The path of its file below the folder of its agent.
    fn name(&self) -> PathBuf {
        let project = self.project.as_deref().map(Path::to_string_lossy).unwrap_or_default();
        let Self { id, milliseconds, end, form, .. } = self;
        PathBuf::from(form.place_of(&SessionName { id, milliseconds: *milliseconds, project: &project, end }))
    }

    /// The path where its agent looks for it.
    fn place(&self, source: &Source) -> Result<PathBuf, String> {
        let Self { form, agent: Agent { name, .. }, .. } = self;
        let elsewhere = "name a file with --output (-o)";
        let project = self.project.as_deref();
        if form.in_project
            && let Some(project) = project.filter(|project| !project.is_dir())
        {
            return Err(format!(
                "the folder of its project, {}, does not exist, and {name} resumes a session only there; {elsewhere}",
                project.display()
            ));
        }
        let place = self.name();
        if !form.place.contains('/') {
            return Ok(place);
        }
        let folder = folder_of(self.agent).filter(|folder| folder.is_dir());
        let folder = folder.ok_or_else(|| format!("there is no folder of {name} on this machine; {elsewhere}"))?;
        let beside = source.path.as_deref().and_then(|input| place_beside(input, &folder, &place));
        match (form.place.contains("{project}"), beside, project) {
            (true, Some(beside), _) => Ok(beside),
            (true, None, None) => Err(format!("does not name the folder of its project; {elsewhere}")),
            _ => Ok(folder.join(place)),
        }
    }
}

/// The path of a new session beside `input`, if that is where its agent keeps sessions: as deep below `folder` as `place` is.
fn place_beside(input: &Path, folder: &Path, place: &Path) -> Option<PathBuf> {
    let input = input.canonicalize().ok()?;
    let below = input.strip_prefix(folder.canonicalize().ok()?).ok()?;
    let fits = below.components().count() == place.components().count()
        && below.components().next() == place.components().next();
    fits.then(|| input.with_file_name(place.file_name().unwrap_or_default()))
}

/// The folder that a session worked in, as a file beside the folder of the sessions says.
fn project_beside(form: &NewSession, source: &Source) -> Option<PathBuf> {
    let file = source.path.as_deref()?.parent()?.parent()?.join(form.project_file?);
    Some(PathBuf::from(std::fs::read_to_string(file).ok()?.trim_end()))
}

/// What to do instead.
fn instead() -> String {
    let known = AGENTS.iter().filter(|agent| agent.new_session.is_some()).map(|agent| agent.name);
    let known: Vec<&str> = known.collect();
    format!("write the cut with --output (-o); --as-new-session knows {}", known.join(", "))
}
