//! What was made of large files, kept in a folder: to read a `tokenizer.json` takes up to half a second, its tables a tenth of it.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use sha2::{Digest as _, Sha256};

use super::file::Outline;
use crate::tokenizers::tiktoken::{Vocabulary, read_section, write_section};
use curtail_core::temporary::{PREFIX, RANDOM, SUFFIX};

/// The folder. It is global to the process, as the tokenizers that were loaded are, and affects only speed.
static FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// The size from which a file is kept, in bytes: smaller ones are read in 60 milliseconds.
const LARGE: usize = 4 << 20;

/// The largest file that is read, in bytes: twice as large as the tables of the largest vocabulary.
const LARGEST: u64 = 64 << 20;

/// The length of a checksum.
const SUM: usize = 32;

/// Keeps what is made of large `tokenizer.json` files in `folder`, from now on and in this process, and finds there what was made
/// before: 3 to 6 MB for most models, named after the content of the `tokenizer.json`. Only the first folder is used. What
/// cannot be kept or was damaged is made again.
pub fn keep_prepared_in(folder: PathBuf) {
    let _ = FOLDER.set(folder);
}

/// Where what is made of a file with this content is kept; `None` if it is not.
pub(super) fn place(content: &[u8]) -> Option<PathBuf> {
    let folder = FOLDER.get().filter(|_| content.len() >= LARGE)?;
    Some(folder.join(format!("{:x}", Sha256::digest(content))))
}

/// What was kept, whole and by this version; `None` otherwise.
pub(super) fn load(place: &Path) -> Option<(Outline, &'static Vocabulary)> {
    fs::metadata(place).ok().filter(|found| found.is_file() && found.len() <= LARGEST)?;
    let bytes = fs::read(place).ok()?;
    let (sum, content) = bytes.split_first_chunk::<SUM>()?;
    if *sum != sum_of(content) {
        return None;
    }
    let mut rest = &bytes.leak()[SUM..];
    let outline = serde_json::from_slice(read_section(&mut rest)?).ok()?;
    Some((outline, Box::leak(Box::new(Vocabulary::from_bytes(rest)?))))
}

/// Keeps it, if that is possible.
pub(super) fn keep(place: &Path, outline: &Outline, vocabulary: &Vocabulary) {
    let Ok(outline) = serde_json::to_vec(outline) else { return };
    let mut content = Vec::new();
    write_section(&mut content, &outline);
    content.extend(vocabulary.to_bytes());
    // Without the folder, the next process makes it again.
    let _ = write(place, &content);
}

/// Writes a file whole or not at all, whatever other processes do.
fn write(place: &Path, content: &[u8]) -> std::io::Result<()> {
    let folder = place.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(folder)?;
    // Named and locked like every temporary file of this program, so that a later run removes it if this one is killed.
    let mut file = tempfile::Builder::new().prefix(PREFIX).rand_bytes(RANDOM).suffix(SUFFIX).tempfile_in(folder)?;
    let _ = file.as_file().lock();
    file.write_all(&sum_of(content))?;
    file.write_all(content)?;
    file.persist(place)?;
    Ok(())
}

/// The checksum of what this version of the tables wrote.
fn sum_of(content: &[u8]) -> [u8; SUM] {
    Sha256::new().chain_update(env!("CURTAIL_TABLES")).chain_update(content).finalize().into()
}
