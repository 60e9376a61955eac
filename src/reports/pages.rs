//! Writes pages: one for all transcripts, or one for each with an index.

use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::search_texts::SearchTexts;
use super::spool::Spool;
use crate::console;
use crate::options::files::is_standard;
use crate::options::pages::PageFlags;
use curtail_core::visible::one_line;
use curtail_io::{
    DIRECTORY_ADVICE, FileSink, FileUses, Packing, Replace, Scratch, Source, refuse_directory_as_file,
    refuse_file_as_directory,
};
use curtail_view::{Compared, LIST_END, List, Rendered, Sums, comparison, page};

/// Bytes of transcripts on one page. Further transcripts are listed without their messages.
const PAGE_BYTES: usize = 100_000_000;

/// The pages of a run.
pub(crate) struct Pages<'a> {
    args: &'a PageFlags,
    /// The file of the page; `None` for standard output.
    output: Option<&'a Path>,
    policy: bool,
    /// The sums of the transcripts.
    pub(crate) sums: Sums,
    /// Their rows in the list of transcripts.
    rows: Spool,
    /// Where each row is, for an index, which is sorted.
    places: Vec<Row>,
    /// The sections of the page, if all transcripts are on one.
    sections: Spool,
    bytes: usize,
    /// The paths of the inputs.
    inputs: Vec<PathBuf>,
    /// What is compared if there are two transcripts.
    compared: Vec<Compared>,
    /// The texts that the search of an index looks through.
    texts: SearchTexts,
    /// What the page is called.
    title: Option<String>,
    /// The files of the run.
    uses: FileUses,
    scratch: Scratch,
}

impl<'a> Pages<'a> {
    /// Plans the pages of `sources`, before any is written.
    ///
    /// # Errors
    /// A page exists already, would replace a file of the run, or belongs to two inputs.
    pub(crate) fn plan(args: &'a PageFlags, policy: bool, uses: FileUses, sources: &[Source]) -> anyhow::Result<Self> {
        let output = args.output.as_deref().filter(|file| !is_standard(file));
        if let Some(path) = output {
            refuse_directory_as_file(path)?;
            refuse_existing(args, path)?;
            uses.flag(path, "--output")?;
        }
        if let Some(directory) = &args.output_dir {
            refuse_file_as_directory(directory, DIRECTORY_ADVICE)?;
            let index = directory.join("index.html");
            refuse_existing(args, &index)?;
            uses.flag(&index, "the index of --output-dir")?;
            uses.flag(&directory.join(text_file(1)), "the search of --output-dir")?;
            for source in sources {
                let path = directory.join(page_name(source, ""));
                refuse_existing(args, &path)?;
                uses.output(&path, source)?;
            }
        }
        Ok(Self {
            args,
            output,
            policy,
            sums: Sums::default(),
            rows: Spool::default(),
            places: Vec::new(),
            sections: Spool::default(),
            bytes: 0,
            inputs: sources.iter().filter_map(|source| source.path.clone()).collect(),
            compared: Vec::new(),
            texts: SearchTexts::default(),
            title: None,
            uses,
            scratch: Scratch::default(),
        })
    }

    /// Adds the transcripts of `source`; writes them if each has a page of its own.
    pub(crate) fn add(&mut self, source: &Source, drawn: Vec<Rendered>) -> anyhow::Result<()> {
        for Rendered { mut listed, html, compared, texts } in drawn {
            self.compared.extend(compared.filter(|_| self.sums.transcripts < 2));
            if let Some(directory) = &self.args.output_dir {
                let name = page_name(source, &listed.within);
                let (before, after) = page(listed.prompt.as_deref().unwrap_or(&listed.name), None, self.policy);
                let path = directory.join(&name);
                self.uses.output(&path, source)?;
                write(&path, source.path.as_slice(), self.args.force, &self.scratch, |put| {
                    [&before, html.as_str(), after].into_iter().try_for_each(put)
                })?;
                let link = link(&name);
                if let Some(texts) = texts {
                    self.texts.add(&link, &texts)?;
                }
                listed.link = Some(link);
            } else if self.bytes == 0 || self.args.text || self.bytes + html.len() <= PAGE_BYTES {
                if self.bytes > 0 && self.args.text {
                    self.sections.push("\n")?;
                }
                self.bytes += html.len();
                self.sections.push(&html)?;
            } else {
                listed.link = None;
            }
            self.title = Some(match self.title.take() {
                None => listed.prompt.clone().unwrap_or_else(|| listed.name.clone()),
                Some(_) => String::from("Transcripts"),
            });
            self.sums.add(&listed);
            let bytes = self.rows.push(&listed.row(self.policy))?;
            self.places.push(Row { began: listed.began().unwrap_or(f64::NEG_INFINITY), bytes });
        }
        Ok(())
    }

    /// The transcripts one after another, as text.
    pub(crate) fn into_text(self) -> anyhow::Result<String> {
        let mut text = String::with_capacity(self.bytes);
        self.sections.copy(|piece| {
            text.push_str(piece);
            Ok(())
        })?;
        Ok(text)
    }

    /// Writes the page, or the index of the pages, and opens it with `--open`. A page that would be printed on a terminal is
    /// written to a temporary file and opened instead.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        let open = self.args.open;
        let on_terminal =
            self.args.output_dir.is_none() && self.output.is_none() && !open && console::out_is_terminal();
        let path = match (&self.args.output_dir, self.output) {
            (Some(directory), _) => Some(directory.join("index.html")),
            (None, Some(path)) => Some(path.to_owned()),
            (None, None) if open || on_terminal => Some(temporary()?),
            (None, None) => None,
        };
        // A closed pipe is not an error.
        let Some(path) = path else { return self.put(&mut |piece| Ok(console::data(piece)?)) };
        let force = self.args.force || (open || on_terminal) && self.args.output_dir.is_none();
        let scratch = std::mem::take(&mut self.scratch);
        let inputs = std::mem::take(&mut self.inputs);
        if let Some(directory) = &self.args.output_dir {
            for (nth, script) in self.texts.scripts()?.enumerate() {
                let path = directory.join(text_file(nth + 1));
                if nth > 0 {
                    self.uses.flag(&path, "the search of --output-dir")?;
                }
                let script = script?;
                write(&path, &inputs, force, &scratch, |put| put(&script))?;
            }
        }
        write(&path, &inputs, force, &scratch, |put| self.put(put))?;
        if !open && !on_terminal {
            return Ok(());
        }
        let shown = path.canonicalize().unwrap_or(path);
        match open::that_detached(&shown) {
            Err(_) if on_terminal => console::note(&format!(
                "the page is in {}, and no browser could be started; open it, write it with -o FILE, or print it with --text",
                shown.display()
            )),
            opened => opened.with_context(|| format!("{}: no browser could be started", shown.display()))?,
        }
        if on_terminal {
            console::out(&format!("{}\n", one_line(&shown.to_string_lossy())))?;
        }
        Ok(())
    }

    /// Writes the page in pieces.
    fn put(mut self, put: &mut dyn FnMut(&str) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let title = self.title.as_deref().unwrap_or("Transcripts");
        let has_list = self.sums.transcripts > 1 || self.args.output_dir.is_some();
        let title = if has_list { "Transcripts" } else { title };
        let list = List { sums: &self.sums, text_files: self.texts.file_count() };
        let (before, after) = page(title, has_list.then_some(list), self.policy);
        put(&before)?;
        if has_list {
            // An index begins with the newest session; a list on one page has the order of the page.
            if self.args.output_dir.is_some() {
                self.places.sort_by(|one, other| other.began.total_cmp(&one.began));
            }
            for row in self.places {
                put(&self.rows.piece(row.bytes)?)?;
            }
            put(LIST_END)?;
        }
        if let ([one, other], 2) = (self.compared.as_slice(), self.sums.transcripts) {
            put(&comparison(one, other))?;
        }
        self.sections.copy(&mut *put)?;
        put(after)
    }
}

/// Without `--force`, no page replaces a file. A device or a pipe is not overwritten.
fn refuse_existing(args: &PageFlags, path: &Path) -> anyhow::Result<()> {
    if !args.force && path.is_file() {
        anyhow::bail!("{}: the output exists already; --force overwrites it", path.display());
    }
    Ok(())
}

/// The file name of the page of `source`, or of the transcript at this place `within` it.
fn page_name(source: &Source, within: &str) -> PathBuf {
    let mut name = source.relative.clone().into_os_string();
    if !within.is_empty() {
        name.push("-");
        name.push(within);
    }
    name.push(".html");
    PathBuf::from(name)
}

/// A temporary file for a page that is only opened. It is not removed, because the browser may read it later.
fn temporary() -> anyhow::Result<PathBuf> {
    let file = tempfile::Builder::new().prefix("curtail-").suffix(".html").tempfile()?;
    Ok(file.keep()?.1)
}

/// Writes the file at `path`, which shows what is in `inputs`. `pieces` calls its argument with each piece of the text.
fn write(
    path: &Path,
    inputs: &[PathBuf],
    force: bool,
    scratch: &Scratch,
    pieces: impl FnOnce(&mut dyn FnMut(&str) -> anyhow::Result<()>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let sink = FileSink::create(path, Packing::of_name(path), None, scratch)?;
    let mut sink = sink.copied_from(inputs.iter().map(PathBuf::as_path));
    pieces(&mut |piece| Ok(sink.write(piece.as_bytes())?))?;
    sink.commit(if force { Replace::Yes } else { Replace::No }, scratch)?;
    Ok(())
}

/// A relative path as a link.
fn link(path: &Path) -> String {
    let mut url = String::from("./");
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'/' => url.push(char::from(byte)),
            // Elsewhere, a name may contain one.
            b'\\' if cfg!(windows) => url.push('/'),
            _ => url.push_str(&format!("%{byte:02X}")),
        }
    }
    url
}

/// The name of a file beside an index with the texts of its sessions.
fn text_file(number: usize) -> String {
    format!("search-{number}.js")
}

/// A row of the list of transcripts.
struct Row {
    /// When the session began, in seconds since 1970.
    began: f64,
    /// Where its text is in the spool of the rows.
    bytes: Range<u64>,
}

#[cfg(test)]
mod tests {
    use super::link;

    #[cfg(unix)]
    #[test]
    fn a_link_leads_to_any_name() {
        use std::os::unix::ffi::OsStrExt as _;
        let name = std::ffi::OsStr::from_bytes(b"a b/c\\d\xff.html");
        assert_eq!(link(name.as_ref()), "./a%20b/c%5Cd%FF.html");
    }
}
