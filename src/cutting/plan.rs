//! Plans the outputs of a run, before anything is written: where each goes, what an earlier run finished, and what must not be
//! overwritten.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::JobIdentity;
use crate::options::cut::{CutFlags, Output};
use crate::options::files::Reads;
use crate::options::global::Global;
use crate::options::input::Input;
use crate::reports::cut::shared_output;
use curtail_core::digest::fnv1a_128;
use curtail_core::small::{SMALL, read_small};
use curtail_io::batch::{InputOptions, first_without_records};
use curtail_io::{Destination, ErrorKind, Existing, FileError, FileUses, MANIFEST, Manifest, Scratch, Source, Targets};

/// What a run reads and writes.
pub(super) struct Plan {
    pub(super) sources: Vec<Source>,
    /// The errors of the inputs that cannot be found.
    pub(super) missing: Vec<FileError>,
    /// The number of inputs that an earlier run finished.
    pub(super) finished_before: usize,
    pub(super) targets: Targets,
    pub(super) manifest: Option<Manifest>,
    /// The files that it uses.
    pub(super) uses: Arc<FileUses>,
}

impl Plan {
    /// Plans the run of a job with this identity and map, which `reads` files besides its inputs; or why its outputs cannot be
    /// written.
    pub(super) fn new(
        flags: &CutFlags,
        global: &Global,
        input_options: &InputOptions,
        identity: &JobIdentity,
        reads: &Reads,
        map: Option<&Path>,
    ) -> anyhow::Result<Result<Self, Vec<FileError>>> {
        let (mut sources, missing) = flags.sources(global)?;
        let mut manifest = flags.manifest(identity, &reads.content)?;
        let uses = Arc::new(FileUses::new(&sources, reads.all()));
        let planned = flags.refuse_shared_output(&sources, input_options);
        let targets = match planned.and_then(|()| flags.targets(manifest.as_ref(), &sources, &uses, map)) {
            Ok(targets) => targets,
            Err(errors) => return Ok(Err(errors)),
        };
        let finished_before = remove_finished(&targets, flags, manifest.as_ref(), &mut sources);
        announce_backups(&targets, manifest.as_mut(), &sources)?;
        Ok(Ok(Self { sources, missing, finished_before, targets, manifest, uses }))
    }
}

impl CutFlags {
    /// The inputs, and the errors of those that cannot be found.
    fn sources(&self, global: &Global) -> Result<(Vec<Source>, Vec<FileError>), FileError> {
        match self.output.in_place.is_some() && !self.output.follow_links {
            true => self.input.sources_in_place(global),
            false => self.input.sources(self.output.output_dir.as_deref()),
        }
    }

    /// The record of finished outputs: kept for every run into a directory, and for --resume.
    fn manifest(&self, job: &JobIdentity, reads: &[PathBuf]) -> Result<Option<Manifest>, FileError> {
        let resume = self.output.resume.as_ref();
        let named = resume.filter(|path| !path.is_empty()).map(PathBuf::from);
        let path = match (named, &self.output.output_dir, resume) {
            _ if self.dry_run => return Ok(None),
            (Some(path), ..) => path,
            (None, Some(directory), _) => {
                curtail_io::refuse_file_as_directory(directory, curtail_io::DIRECTORY_ADVICE)?;
                directory.join(MANIFEST)
            }
            (None, None, Some(_)) => PathBuf::from(MANIFEST),
            (None, None, None) => return Ok(None),
        };
        Manifest::load(&path, &identity(self, &job.0, reads)).map(Some)
    }

    /// Refuses to write a log and other inputs to standard output, before anything is written: a part of the output is of no
    /// use.
    fn refuse_shared_output(&self, sources: &[Source], input_options: &InputOptions) -> Result<(), Vec<FileError>> {
        if self.destination() != Destination::Stdout || sources.len() < 2 {
            return Ok(());
        }
        let log = first_without_records(sources, input_options);
        let refusal = log.map(|log| FileError::new(ErrorKind::Usage, &log.name, shared_output(sources.len())));
        refusal.map_or(Ok(()), |refusal| Err(vec![refusal]))
    }

    /// Plans the outputs. Refuses a file that is named by a flag and is also an input or another output.
    fn targets(
        &self,
        manifest: Option<&Manifest>,
        sources: &[Source],
        uses: &Arc<FileUses>,
        map: Option<&Path>,
    ) -> Result<Targets, Vec<FileError>> {
        let output = &self.output;
        let existing = match manifest {
            _ if output.force => Existing::Overwrite,
            Some(manifest) if output.resume.is_some() => Existing::Resume(manifest),
            _ => Existing::Refuse,
        };
        let scratch = Scratch::new(!output.no_sync);
        let targets = Targets::plan(self.destination(), existing, sources, uses, scratch)?;
        let rejects = output.rejects.iter().map(|path| (path.as_path(), "--rejects"));
        let record = manifest.iter().map(|manifest| (manifest.path(), "--resume"));
        let errors: Vec<FileError> = rejects
            .chain(record)
            .chain(map.map(|map| (map, "--map")))
            .filter_map(|(path, flag)| uses.flag(path, flag).err())
            .collect();
        if errors.is_empty() { Ok(targets) } else { Err(errors) }
    }
}

/// Removes the inputs that an earlier run finished, and returns their number.
fn remove_finished(
    targets: &Targets,
    flags: &CutFlags,
    manifest: Option<&Manifest>,
    sources: &mut Vec<Source>,
) -> usize {
    let Some(manifest) = manifest.filter(|_| flags.output.resume.is_some()) else { return 0 };
    let before = sources.len();
    sources.retain(|source| match (&source.path, targets.path(source)) {
        (Some(input), Some(output)) => {
            let part = targets.path_of_part(source, Some(1));
            !manifest.is_done(input, &output) && !part.is_some_and(|part| manifest.is_done(input, &part))
        }
        _ => true,
    });
    before - sources.len()
}

/// Records the backups that are still to be made.
fn announce_backups(targets: &Targets, manifest: Option<&mut Manifest>, sources: &[Source]) -> Result<(), FileError> {
    let Some(manifest) = manifest else { return Ok(()) };
    for (backup, input) in targets.backups(sources) {
        if manifest.is_backup(&backup) {
            continue;
        }
        let announced = manifest.announce_backup(&backup, input);
        announced.map_err(|error| FileError::system("the record for --resume", &error))?;
    }
    Ok(())
}

/// The version and a digest of everything that affects the output: two runs with the same line make the same cuts. `chain` are
/// the options of the processors, and `reads` the files that these options name, whose content is part of the digest. Only flags
/// that find inputs, place outputs or report are left out, so that a new flag cannot be forgotten.
fn identity(flags: &CutFlags, chain: &str, reads: &[PathBuf]) -> String {
    let input = Input {
        paths: Vec::new(),
        glob: Vec::new(),
        exclude_path: Vec::new(),
        no_ignore: false,
        hidden: false,
        stdin_filename: None,
        // Their content tells.
        dialect_file: Vec::new(),
        ..flags.input.clone()
    };
    let output = Output { on_error: flags.output.on_error, ..Output::default() };
    let options =
        CutFlags { input, output, explain: None, dry_run: false, stats: None, fail_on_change: false, ..flags.clone() };
    let reads: Vec<_> = reads.iter().chain(&flags.input.dialect_file).map(|path| digest_of(path)).collect();
    let digest = fnv1a_128(format!("{:?}", (chain, reads, options)).into_bytes());
    format!("{} {} {digest:032x}", env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
}

/// A digest of the content of the file at `path`, if it can be read. The largest is a tokenizer.json.
fn digest_of(path: &Path) -> Option<u128> {
    read_small(File::open(path).ok()?, 4 * SMALL).ok().map(fnv1a_128)
}
