//! What the system knows of a file besides its bytes: its identity, which is independent of its names; its stamp, which shows
//! whether it has changed; and its permissions, which are copied to the file that replaces it.

use std::collections::HashSet;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

/// The identity of a file, which all of its names share.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum FileId {
    /// A file that exists: its device and inode.
    #[cfg_attr(not(unix), expect(dead_code, reason = "other systems identify files by their full path"))]
    Existing(u64, u64),
    /// A file that does not exist yet: its full path.
    Path(PathBuf),
}

impl FileId {
    /// The file at `path`: by device and inode if it exists and the system reports them, otherwise by its full path.
    pub(super) fn at_path(path: &Path) -> Self {
        #[cfg(unix)]
        if let Ok(metadata) = std::fs::metadata(path) {
            return Self::from_metadata(&metadata);
        }
        Self::Path(full_path(path))
    }

    /// All identities of the file at `path`: it gets another one when it is first written.
    pub(super) fn all_at_path(path: &Path) -> HashSet<Self> {
        HashSet::from([Self::at_path(path), Self::Path(full_path(path))])
    }

    #[cfg(unix)]
    fn from_metadata(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self::Existing(metadata.dev(), metadata.ino())
    }
}

/// The path without links and `..`, as far as it exists.
fn full_path(path: &Path) -> PathBuf {
    if let Ok(full) = path.canonicalize() {
        return full;
    }
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for folder in absolute.ancestors().skip(1) {
        let (Ok(mut full), Ok(rest)) = (folder.canonicalize(), absolute.strip_prefix(folder)) else { continue };
        for step in rest.components() {
            match step {
                Component::ParentDir => _ = full.pop(),
                _ => full.push(step),
            }
        }
        // Once `..` is resolved, the path may exist.
        return full.canonicalize().unwrap_or(full);
    }
    absolute
}

/// Size, time of the last change and identity of a file. If all are the same, the content is assumed to be the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    #[cfg(unix)]
    id: FileId,
    len: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    /// The stamp of a regular file; `None` for pipes and devices.
    pub fn from_metadata(metadata: &Metadata) -> Option<Self> {
        metadata.is_file().then(|| Self {
            #[cfg(unix)]
            id: FileId::from_metadata(metadata),
            len: metadata.len(),
            modified: metadata.modified().ok(),
        })
    }

    /// The number of bytes from the offset `at` to the end; `None` if the file had none there.
    pub(super) fn bytes_from(&self, at: u64) -> Option<usize> {
        self.len.checked_sub(at).filter(|&rest| rest > 0).and_then(|rest| usize::try_from(rest).ok())
    }

    /// When the file was written, in nanoseconds since 1970, and its length in bytes.
    pub(super) fn time_and_len(&self) -> Option<(u128, u64)> {
        let since = self.modified?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        Some((since.as_nanos(), self.len))
    }

    /// The stamp of the file at `path`, if there is a regular file.
    pub(super) fn at_path(path: &Path) -> Option<Self> {
        Self::from_metadata(&std::fs::metadata(path).ok()?)
    }

    /// Whether the file at `path` still has this stamp.
    pub(super) fn holds(&self, path: &Path) -> io::Result<bool> {
        Ok(Self::from_metadata(&std::fs::metadata(path)?).as_ref() == Some(self))
    }
}

// Permissions: mode, owner, access list and other extended attributes.

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

/// The folder that contains the file at `path`.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The file at `folder`, or above it, that prevents a directory there.
pub(super) fn file_as_directory(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|path| path.exists()).filter(|path| !path.is_dir())
}
