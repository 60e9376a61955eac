//! Permissions: mode, owner, access list and other extended attributes.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

#[cfg(unix)]
use crate::attributes;

/// A file whose permissions are copied to another one.
#[derive(Debug)]
pub(super) struct Model {
    path: PathBuf,
    metadata: Metadata,
}

impl Model {
    /// The regular file at `path`, if there is one.
    pub(super) fn at_path(path: &Path) -> Option<Self> {
        let metadata = std::fs::metadata(path).ok().filter(Metadata::is_file)?;
        Some(Self { path: path.to_owned(), metadata })
    }
}

/// Gives `file`, which only its user may read, the permissions of `model`, and never more. If it `replaces` the model,
/// all extended attributes are copied as well.
///
/// # Errors
/// The permissions cannot be set; or the file replaces the model, and an attribute or the access list cannot be kept.
#[cfg(unix)]
pub(super) fn take_over(file: &File, model: &Model, replaces: bool) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let mut mode = model.metadata.mode() & 0o7777;
    let has_group = keep_group(file, &model.metadata)?;
    let kept = if replaces {
        attributes::copy_all(file, &model.path, has_group)?;
        has_group
    } else {
        attributes::copy_access_list(file, &model.path, has_group)
    };
    // Without the model's group or access list, the group of the file gets only those permissions that everybody has.
    if !kept {
        mode = without_group(mode);
    }
    file.set_permissions(std::fs::Permissions::from_mode(mode))
}

/// Gives a file the owner and the group of its model, if permitted; returns whether it has the group. Only root may change the
/// owner: for any other user, a new file belongs to this user.
#[cfg(unix)]
fn keep_group(file: &File, model: &Metadata) -> io::Result<bool> {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let new = file.metadata()?;
    let is_same = (new.uid(), new.gid()) == (model.uid(), model.gid());
    Ok(is_same
        || fchown(file, Some(model.uid()), Some(model.gid())).is_ok()
        || new.gid() == model.gid()
        || fchown(file, None, Some(model.gid())).is_ok())
}

#[cfg(not(unix))]
pub(super) fn take_over(file: &File, model: &Model, _replaces: bool) -> io::Result<()> {
    file.set_permissions(model.metadata.permissions())
}

/// The mode of a new file with the content of `inputs`, before the umask: it grants what all of them grant. The
/// rights of an input's group are not passed on to another group.
pub(super) fn mode_of_copy<'p>(inputs: impl IntoIterator<Item = &'p Path>) -> u32 {
    let files = inputs.into_iter().filter_map(|input| std::fs::metadata(input).ok()).filter(Metadata::is_file);
    files.fold(0o666, |mode, metadata| mode & granted(&metadata)) | 0o600
}

#[cfg(unix)]
fn granted(metadata: &Metadata) -> u32 {
    use std::os::unix::fs::MetadataExt as _;
    let mode = metadata.mode();
    if metadata.gid() == rustix::process::getegid().as_raw() { mode } else { without_group(mode) }
}

/// `mode` with only those permissions for the group that everybody has.
#[cfg(unix)]
const fn without_group(mode: u32) -> u32 {
    mode & (!0o070 | (mode & 0o007) << 3)
}

#[cfg(not(unix))]
fn granted(_metadata: &Metadata) -> u32 {
    0o666
}

/// Options to create a file with content of `inputs`, which only those who may read all of them may read.
pub fn options_of_copy<'p>(inputs: impl IntoIterator<Item = &'p Path>) -> OpenOptions {
    let mut options = File::options();
    let mode = mode_of_copy(inputs);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    options
}

/// Gives `file`, which only its user may read, the `mode` of a new file.
#[cfg(unix)]
pub(super) fn open_up(file: &File, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
pub(super) fn open_up(_file: &File, _mode: u32) -> io::Result<()> {
    Ok(())
}
