//! Extended attributes; the access list of a file is one of them.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{XattrFlags, fremovexattr, fsetxattr, getxattr, listxattr};
use rustix::io::Errno;

const ACCESS_LIST: &str = "system.posix_acl_access";

/// Prefixes of attributes that the system sets itself, or only root may set: a file without them is no less
/// protected.
const SYSTEM_PREFIXES: [&str; 3] = ["security.", "trusted.", "com.apple."];

/// Copies all attributes. Without `has_group`, the group of its model, an access list cannot be copied, because it also applies to
/// the file's group.
pub(super) fn copy_all(file: &File, model: &Path, has_group: bool) -> io::Result<()> {
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
    Ok(())
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
