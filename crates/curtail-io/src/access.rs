//! Copies the permissions of a file to the one that replaces it: mode, owner, access list and other extended
//! attributes.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

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
    let kept = match replaces {
        true => attributes::copy_all(file, &model.path, has_group)?,
        false => attributes::copy_access_list(file, &model.path, has_group),
    };
    // Without the model's group or access list, the group of the file gets only those permissions that everybody has.
    if !kept {
        mode &= !0o070 | (mode & 0o007) << 3;
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
    if metadata.gid() == rustix::process::getegid().as_raw() { mode } else { mode & !0o070 | (mode & 0o007) << 3 }
}

#[cfg(not(unix))]
fn granted(_metadata: &Metadata) -> u32 {
    0o666
}

/// Options to create a file with content of `inputs`, which only those who may read all of them may read.
#[must_use]
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

/// Extended attributes; the access list of a file is one of them.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
mod attributes {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    use rustix::fs::{XattrFlags, fremovexattr, fsetxattr, getxattr, listxattr};
    use rustix::io::Errno;

    const ACCESS_LIST: &str = "system.posix_acl_access";

    /// Prefixes of attributes that the system sets itself, or only root may set: a file without them is no less
    /// protected.
    const SYSTEM_PREFIXES: [&str; 3] = ["security.", "trusted.", "com.apple."];

    /// Copies all attributes, and returns `has_group`: whether the file has the group of its model. Without it, an
    /// access list cannot be copied, because it also applies to the file's group.
    pub(super) fn copy_all(file: &File, model: &Path, has_group: bool) -> io::Result<bool> {
        let names = read_all(|buffer| listxattr(model, buffer))?.unwrap_or_default();
        for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
            let name = String::from_utf8_lossy(name);
            let is_refused = name == ACCESS_LIST && !has_group;
            let copied = if is_refused { Err(Errno::PERM.into()) } else { copy(file, model, &name) };
            if copied.is_err() && !SYSTEM_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
                let message = format!("its attribute `{name}` cannot be kept; left as it was");
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
            }
        }
        if !names.split(|byte| *byte == 0).any(|name| name == ACCESS_LIST.as_bytes()) {
            remove_access_list(file);
        }
        Ok(has_group)
    }

    /// Copies the access list; returns whether the file has the model's group and access list, or neither has a list.
    pub(super) fn copy_access_list(file: &File, model: &Path, has_group: bool) -> bool {
        match read_all(|buffer| getxattr(model, ACCESS_LIST, buffer)) {
            Ok(Some(_)) => has_group && copy(file, model, ACCESS_LIST).is_ok(),
            _ => {
                remove_access_list(file);
                has_group
            }
        }
    }

    fn copy(file: &File, model: &Path, name: &str) -> io::Result<()> {
        let Some(value) = read_all(|buffer| getxattr(model, name, buffer))? else { return Ok(()) };
        Ok(fsetxattr(file, name, &value, XattrFlags::empty())?)
    }

    /// Removes the access list that the file got from its folder when it was created.
    fn remove_access_list(file: &File) {
        let _ = fremovexattr(file, ACCESS_LIST);
    }

    /// Calls `read` with a buffer that grows until the value fits into it; `None` if there is no value, or the file
    /// system has no attributes.
    fn read_all(read: impl Fn(&mut [u8]) -> rustix::io::Result<usize>) -> io::Result<Option<Vec<u8>>> {
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
