//! The owner of a file that was found: a configuration that another user wrote could silence a check.

use std::path::Path;

use crate::options::variables::Variables;

/// The owner of the file at `path`, or of a link to it, if the owner is neither the user nor the administrator.
#[cfg(unix)]
pub(super) fn foreign_owner(path: &Path, variables: &Variables) -> std::io::Result<Option<u32>> {
    use std::os::unix::fs::MetadataExt as _;

    let user = rustix::process::geteuid().as_raw();
    let sudo = variables.text("SUDO_UID").and_then(|id| id.parse().ok());
    let owners = [std::fs::metadata(path)?.uid(), std::fs::symlink_metadata(path)?.uid()];
    Ok(owners.into_iter().find(|owner| !is_trusted_owner(*owner, user, sudo)))
}

/// Other systems have no owner to compare.
#[cfg(not(unix))]
pub(super) fn foreign_owner(_: &Path, _: &Variables) -> std::io::Result<Option<u32>> {
    Ok(None)
}

/// Whether `owner` is `user`, the administrator, or the user that became the administrator with `sudo`.
#[cfg(unix)]
fn is_trusted_owner(owner: u32, user: u32, sudo: Option<u32>) -> bool {
    owner == 0 || owner == user || user == 0 && sudo == Some(owner)
}

#[cfg(all(test, unix))]
mod tests {
    use super::is_trusted_owner;

    #[test]
    fn only_the_user_and_the_administrator_are_trusted() {
        for (owner, user, sudo, trusted) in [
            (1000, 1000, None, true),
            (0, 1000, None, true),
            (1001, 1000, None, false),
            (1001, 1000, Some(1001), false),
            (1000, 0, None, false),
            (1000, 0, Some(1000), true),
            (1001, 0, Some(1000), false),
        ] {
            assert_eq!(is_trusted_owner(owner, user, sudo), trusted, "{owner} {user} {sudo:?}");
        }
    }
}
