//! Writes pages: one for all transcripts, or one for each with an index.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::spool::Spool;
use crate::cli::report;
use crate::console;
use crate::view::{LIST_END, Listed, Outline, Rendered, comparison, page};
use curtail_io::{FileSink, FileUses, Packing, Replace, Scratch, Source, refuse_file_as_directory};

/// Bytes of transcripts on one page. Further transcripts are listed without their messages.
const PAGE_BYTES: usize = 100_000_000;

/// The pages of a run.
pub(super) struct Pages {
    output: Option<PathBuf>,
    directory: Option<PathBuf>,
    force: bool,
    policy: bool,
    /// Number of transcripts.
    count: usize,
    /// Their rows in the list of transcripts.
    rows: Spool,
    /// The sections of the one page.
    sections: Spool,
    bytes: usize,
    /// What is compared, if there are two transcripts.
    outlines: Vec<Outline>,
    /// What separates them.
    between: &'static str,
    /// The name of the first input.
    title: Option<String>,
    /// The files of the run.
    uses: FileUses,
    scratch: Scratch,
}

impl Pages {
    pub(super) fn new(
        output: Option<PathBuf>,
        directory: Option<PathBuf>,
        (force, policy): (bool, bool),
        uses: FileUses,
    ) -> anyhow::Result<Self> {
        if let Some(path) = output.as_deref().filter(|path| !force && path.exists()) {
            anyhow::bail!("{}: the output exists already; --force overwrites it", path.display());
        }
        Ok(Self {
            output,
            directory,
            force,
            policy,
            count: 0,
            rows: Spool::default(),
            sections: Spool::default(),
            bytes: 0,
            outlines: Vec::new(),
            between: "",
            title: None,
            uses,
            scratch: Scratch::default(),
        })
    }

    /// Pages that are printed as text.
    pub(super) fn for_text(self) -> Self {
        Self { between: "\n", ..self }
    }

    /// Plans the pages of `sources`, before any is written.
    ///
    /// # Errors
    /// A page would replace an input, or belong to two.
    pub(super) fn plan(&self, sources: &[Source]) -> anyhow::Result<()> {
        if let Some(path) = &self.output {
            self.uses.flag(path, "--output")?;
        }
        let Some(directory) = &self.directory else { return Ok(()) };
        refuse_file_as_directory(directory)?;
        self.uses.flag(&directory.join("index.html"), "the index of --output-dir")?;
        for source in sources {
            self.uses.output(&directory.join(page_name(source, "")), source)?;
        }
        Ok(())
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds the transcripts of `source`; writes them if each has a page of its own.
    pub(super) fn add(&mut self, source: &Source, drawn: Vec<Rendered>) -> anyhow::Result<()> {
        match &mut self.title {
            None => self.title = Some(source.name.clone()),
            Some(title) if *title == source.name => {}
            Some(title) => *title = String::from("Transcripts"),
        }
        for Rendered { mut listed, html, outline } in drawn {
            self.outlines.extend(outline.filter(|_| self.count < 2));
            if let Some(directory) = &self.directory {
                let name = Self::name(source, &listed);
                let (before, after) = page(&listed.name, None, self.policy);
                let path = directory.join(&name);
                self.uses.output(&path, source)?;
                write(&path, self.force, &self.scratch, |put| {
                    [&before, html.as_str(), after].into_iter().try_for_each(put)
                })?;
                listed.link = Some(encoded(&name));
            } else if self.bytes == 0 || self.bytes + html.len() <= PAGE_BYTES {
                if self.bytes > 0 {
                    self.sections.push(self.between)?;
                }
                self.bytes += html.len();
                self.sections.push(&html)?;
            } else {
                listed.link = None;
            }
            self.count += 1;
            self.rows.push(&listed.row(self.policy))?;
        }
        Ok(())
    }

    /// The file name of a transcript's page: that of its input, with what distinguishes it from the others in there.
    fn name(source: &Source, listed: &Listed) -> PathBuf {
        let within = listed.name.strip_prefix(&source.name).unwrap_or_default();
        let within: String = within.chars().filter(char::is_ascii_digit).collect();
        page_name(source, &within)
    }

    /// The transcripts one after another, as text.
    pub(super) fn into_text(self) -> anyhow::Result<String> {
        let mut text = String::with_capacity(self.bytes);
        self.sections.copy(|piece| {
            text.push_str(piece);
            Ok(())
        })?;
        Ok(text)
    }

    /// Writes the page, or the index of the pages, and opens it if asked to. A terminal shows no page: instead of printing one
    /// there, it is written to a temporary file and opened.
    pub(super) fn finish(mut self, open: bool) -> anyhow::Result<()> {
        let on_terminal = self.directory.is_none() && self.output.is_none() && !open && console::out_is_terminal();
        let path = match (&self.directory, self.output.clone()) {
            (Some(directory), _) => Some(directory.join("index.html")),
            (None, Some(path)) => Some(path),
            (None, None) if open || on_terminal => Some(temporary()?),
            (None, None) => None,
        };
        // A closed pipe is not an error.
        let Some(path) = path else { return self.put(&mut |piece| Ok(console::data(piece)?)) };
        let force = self.force || (open || on_terminal) && self.directory.is_none();
        let scratch = std::mem::take(&mut self.scratch);
        write(&path, force, &scratch, |put| self.put(put))?;
        if !open && !on_terminal {
            return Ok(());
        }
        let shown = path.canonicalize().unwrap_or(path);
        match open::that_detached(&shown) {
            Err(_) if on_terminal => report::note(&format!(
                "the page is in {}, and no browser could be started; open it, write it with -o FILE, or print it with --text",
                shown.display()
            )),
            opened => opened.with_context(|| format!("{}: no browser could be started", shown.display()))?,
        }
        if on_terminal {
            console::out(&format!("{}\n", shown.display()))?;
        }
        Ok(())
    }

    /// Writes the page in pieces.
    fn put(self, put: &mut dyn FnMut(&str) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let title = self.title.as_deref().unwrap_or("Transcripts");
        let listed = (self.count > 1 || self.directory.is_some()).then_some(self.count);
        let (before, after) = page(title, listed, self.policy);
        put(&before)?;
        if listed.is_some() {
            self.rows.copy(&mut *put)?;
            put(LIST_END)?;
        }
        if let ([one, other], 2) = (self.outlines.as_slice(), self.count) {
            put(&comparison(one, other).0)?;
        }
        self.sections.copy(&mut *put)?;
        put(after)
    }
}

/// The file name of the page of `source`, or of the transcript `within` it.
fn page_name(source: &Source, within: &str) -> PathBuf {
    let mut name = source.relative.clone().into_os_string();
    if !within.is_empty() {
        name.push("-");
        name.push(within);
    }
    name.push(".html");
    PathBuf::from(name)
}

/// The file of a page that is only opened. It is not removed, because the browser may read it later.
fn temporary() -> anyhow::Result<PathBuf> {
    let file = tempfile::Builder::new().prefix("curtail-").suffix(".html").tempfile()?;
    Ok(file.keep()?.1)
}

/// Writes the file at `path`, in the pieces that `pieces` hands over.
fn write(
    path: &Path,
    force: bool,
    scratch: &Scratch,
    pieces: impl FnOnce(&mut dyn FnMut(&str) -> anyhow::Result<()>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut sink = FileSink::create(path, Packing::of_name(path), None, scratch)?;
    pieces(&mut |piece| Ok(sink.write(piece.as_bytes())?))?;
    sink.commit(if force { Replace::Yes } else { Replace::No }, scratch)?;
    Ok(())
}

/// A relative path as a link.
fn encoded(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "/");
    let mut link = String::from("./");
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'/' => link.push(char::from(byte)),
            _ => link.push_str(&format!("%{byte:02X}")),
        }
    }
    link
}
