//! Texts of a message that belong to none of its parts: the format does not define their members, and their tokens are estimated.

use curtail_core::transcript::Estimated;

/// A text in a member that the format does not define.
pub(super) struct UnreadText {
    /// The name of the member.
    pub(super) name: String,
    pub(super) text: String,
    /// Its byte offset in the text that the transcript was read from.
    pub(super) byte: usize,
}

/// The texts among `estimated` that can be read: not what only the provider can decrypt.
pub(super) fn unread(estimated: &[Estimated<'_>]) -> impl Iterator<Item = UnreadText> {
    estimated.iter().filter(|estimated| !estimated.sealed).filter_map(|estimated| {
        let pointer = estimated.value.pointer();
        let name = pointer.rsplit('/').find(|step| step.parse::<usize>().is_err()).unwrap_or_default();
        Some(UnreadText {
            name: name.replace("~1", "/").replace("~0", "~"),
            text: estimated.value.text()?.into_decoded().into_owned(),
            byte: estimated.value.span().start as usize,
        })
    })
}
