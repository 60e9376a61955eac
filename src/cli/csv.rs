//! CSV as RFC 4180 defines it.

use crate::visible::one_line;

/// A field on one line, in quotation marks if it needs them.
pub(super) fn field(text: &str) -> String {
    let field = one_line(text);
    if field.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.into_owned()
    }
}
