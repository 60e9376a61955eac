//! Which files of two folders belong together.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use curtail_io::Packing;

/// The endings of a file that may belong to another one, after the ending of that one.
const ENDINGS: &[&str] = &["jsonl", "json", "ndjson", "md", "txt"];

/// The file below `folder` that belongs to the file `relative` of another folder: with the same name, or with the ending of
/// another format or of a text, compressed or not.
pub(crate) fn counterpart(folder: &Path, relative: &Path) -> Option<PathBuf> {
    let same = folder.join(relative);
    let bare = same.with_file_name(Packing::bare_name(&same)?);
    let own = bare.extension().and_then(OsStr::to_str).unwrap_or_default();
    let endings = std::iter::once(own).chain(ENDINGS.iter().copied());
    let others = endings.flat_map(|ending| {
        let plain = bare.with_extension(ending);
        [Packing::Plain, Packing::Gzip, Packing::Zstd].map(|packing| packing.name_of(&plain))
    });
    std::iter::once(same.clone()).chain(others).find(|path| path.is_file())
}
