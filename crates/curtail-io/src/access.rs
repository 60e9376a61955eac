//! Who may read a file: its mode, its owner, its access list and its other attributes.

use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// A file whose access another one takes over.
#[derive(Debug)]
pub(super) struct Model {
    path: PathBuf,
    metadata: Metadata,
}

impl Model {
    /// The regular file at `path`.
    pub(super) fn at_path(path: &Path) -> Option<Self> {
        let metadata = std::fs::metadata(path).ok().filter(Metadata::is_file)?;
        Some(Self { path: path.to_owned(), metadata })
    }
}

/// Gives `file`, which only its user may read, the access of `model`, and never more. If it `replaces` the model, it also takes
/// over all attributes.
///
/// # Errors
/// It replaces the model, and an attribute or the access list cannot be kept.
#[cfg(unix)]
pub(super) fn take_over(file: &File, model: &Model, replaces: bool) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let there = &model.metadata;
    let mut mode = there.mode() & 0o7777;
    let has_group = keep_group(file, there)?;
    let kept = match replaces {
        true => attributes::copy_all(file, &model.path, has_group)?,
        false => attributes::copy_access_list(file, &model.path, has_group),
    };
    // What the group, or the list in its place, was allowed is allowed to everybody, or to nobody here.
    if !kept {
        mode &= !0o070 | (mode & 0o007) << 3;
    }
    file.set_permissions(std::fs::Permissions::from_mode(mode))
}

/// Gives a file the owner and the group of its model, if permitted; returns whether it has the group. Only root may change the
/// owner; for any other user, a new file is their own.
#[cfg(unix)]
fn keep_group(file: &File, there: &Metadata) -> io::Result<bool> {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let own = file.metadata()?;
    let same = (own.uid(), own.gid()) == (there.uid(), there.gid());
    Ok(same
        || fchown(file, Some(there.uid()), Some(there.gid())).is_ok()
        || own.gid() == there.gid()
        || fchown(file, None, Some(there.gid())).is_ok())
}

#[cfg(not(unix))]
pub(super) fn take_over(file: &File, model: &Model, _replaces: bool) -> io::Result<()> {
    file.set_permissions(model.metadata.permissions())
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

/// Extended attributes; the access list of a file is one of them.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
mod attributes {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    use rustix::fs::{XattrFlags, fremovexattr, fsetxattr, getxattr, listxattr};
    use rustix::io::Errno;

    const ACCESS_LIST: &str = "system.posix_acl_access";

    /// What the system sets itself, or only root may set: a file without it is no less protected.
    const OF_THE_SYSTEM: [&str; 3] = ["security.", "trusted.", "com.apple."];

    /// Copies all attributes, and returns whether the file has the group of its model. An access list names a group by its place, so it needs the group to be kept.
    pub(super) fn copy_all(file: &File, model: &Path, has_group: bool) -> io::Result<bool> {
        let names = grown(|buffer| listxattr(model, buffer))?.unwrap_or_default();
        for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
            let name = String::from_utf8_lossy(name);
            let is_refused = name == ACCESS_LIST && !has_group;
            let copied = if is_refused { Err(Errno::PERM.into()) } else { copy(file, model, &name) };
            if copied.is_err() && !OF_THE_SYSTEM.iter().any(|prefix| name.starts_with(prefix)) {
                let what = format!("its attribute `{name}` cannot be kept; left as it was");
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
            }
        }
        if !names.split(|byte| *byte == 0).any(|name| name == ACCESS_LIST.as_bytes()) {
            remove_access_list(file);
        }
        Ok(has_group)
    }

    /// Copies the access list; returns whether the file has the same one, or both have none, and its group.
    pub(super) fn copy_access_list(file: &File, model: &Path, has_group: bool) -> bool {
        match grown(|buffer| getxattr(model, ACCESS_LIST, buffer)) {
            Ok(Some(_)) => has_group && copy(file, model, ACCESS_LIST).is_ok(),
            _ => {
                remove_access_list(file);
                has_group
            }
        }
    }

    fn copy(file: &File, model: &Path, name: &str) -> io::Result<()> {
        let Some(value) = grown(|buffer| getxattr(model, name, buffer))? else { return Ok(()) };
        Ok(fsetxattr(file, name, &value, XattrFlags::empty())?)
    }

    /// Removes the list that a folder gives to new files.
    fn remove_access_list(file: &File) {
        let _ = fremovexattr(file, ACCESS_LIST);
    }

    /// What `read` puts into a buffer, which grows until all fits; `None` if there is nothing, or the file system has no
    /// attributes.
    fn grown(read: impl Fn(&mut [u8]) -> rustix::io::Result<usize>) -> io::Result<Option<Vec<u8>>> {
        let mut buffer = vec![0; 256];
        loop {
            match read(&mut buffer) {
                Ok(length) => {
                    buffer.truncate(length);
                    return Ok(Some(buffer));
                }
                Err(Errno::RANGE) => buffer.resize(buffer.len() * 4, 0),
                #[cfg(target_vendor = "apple")]
                Err(Errno::NOATTR) => return Ok(None),
                #[cfg(not(target_vendor = "apple"))]
                Err(Errno::NODATA) => return Ok(None),
                Err(Errno::NOTSUP | Errno::NOSYS) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

#[cfg(all(unix, not(any(target_os = "linux", target_os = "android", target_vendor = "apple"))))]
mod attributes {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    pub(super) fn copy_all(_file: &File, _model: &Path, has_group: bool) -> io::Result<bool> {
        Ok(has_group)
    }

    pub(super) fn copy_access_list(_file: &File, _model: &Path, has_group: bool) -> bool {
        has_group
    }
}
