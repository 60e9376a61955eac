//! Commands that a CI runner finds in a log. GitHub's runner obeys a line that begins with `::`, and, as others do, `##[…]`
//! anywhere in a line.

use std::borrow::Cow;

use super::colors::without_escapes;

/// `##`, the second character shown by its code.
pub(super) const MARKED: &str = "#\u{27e8}U+0023\u{27e9}";

/// `text` without the marks that CI runners obey anywhere in a line, in which `marked` stands for `##`.
pub(super) fn without_marker<'t>(text: Cow<'t, str>, marked: &str) -> Cow<'t, str> {
    if !text.contains("##") {
        return text;
    }
    let mut text = text.into_owned();
    for opening in ["[", "vso[", "teamcity["] {
        text = text.replace(&format!("##{opening}"), &format!("{marked}{opening}"));
    }
    Cow::Owned(text)
}

/// A line without anything that a CI runner takes for a command.
pub(super) fn without_command(line: &str) -> String {
    let mut line = without_marker(Cow::Borrowed(line), MARKED).into_owned();
    if without_escapes(&line).trim_start().starts_with("::") {
        line = line.replacen(':', "\u{27e8}U+003A\u{27e9}", 1);
    }
    line
}
