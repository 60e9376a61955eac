//! Which column of a table holds its transcripts.

use curtail_core::error::{Error, ErrorKind};

/// The column `wanted` of the table `name`, or the only one that `fits`, among those `found` with their names; `None` in a
/// table without rows, where all fit.
///
/// # Errors
/// There is no such column, or no column or more than one that fits, or `fits` failed.
pub(crate) fn choose_column<C: Clone>(
    name: &str,
    found: &[(String, C)],
    wanted: Option<&str>,
    has_rows: bool,
    mut fits: impl FnMut(&C) -> Result<bool, Error>,
) -> Result<Option<C>, Error> {
    let refuse = |what: String| Err(Error::new(ErrorKind::Content, name, what));
    if let Some(wanted) = wanted {
        return match found.iter().find(|(name, _)| name == wanted) {
            Some((_, column)) => Ok(Some(column.clone())),
            None if found.is_empty() => refuse(format!("no column `{wanted}` of texts or of lists of structs")),
            None => refuse(format!("no column `{wanted}`; columns of texts or lists: {}", names(found))),
        };
    }
    let mut fitting = Vec::new();
    for column in found {
        if fits(&column.1)? {
            fitting.push(column.clone());
        }
    }
    match fitting.as_slice() {
        [(_, column)] => Ok(Some(column.clone())),
        [] if !has_rows => Ok(None),
        [] => refuse(String::from("no column holds transcripts; name one with --column")),
        several => refuse(format!("columns {} hold transcripts; name one with --column", names(several))),
    }
}

fn names<C>(found: &[(String, C)]) -> String {
    found.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
