//! Patches in the format of `apply_patch`: the files that they add, change, move and delete.

use std::borrow::Cow;

use super::kinds::Effect;

/// The first line of a patch.
const BEGIN: &str = "*** Begin Patch";

/// The effects of the patches in `text`; none if it contains none.
pub(super) fn patch_effects(text: &str) -> Vec<Effect> {
    if !text.contains(BEGIN) {
        return Vec::new();
    }
    // A patch in the source of a program has escapes for its line breaks; elsewhere, they are parts of paths.
    let is_escaped = text
        .lines()
        .filter_map(|line| line.split_once("*** "))
        .any(|(_, head)| head.contains("\\n***") || head.contains("\\n@@"));
    let text = if is_escaped { Cow::Owned(text.replace("\\n", "\n")) } else { Cow::Borrowed(text) };
    let mut found: Vec<Effect> = Vec::new();
    for line in text.lines() {
        if let Some(path) = line.strip_prefix("*** Add File: ") {
            found.push(Effect::write(path.trim().to_owned()));
        } else if let Some(path) = line.strip_prefix("*** Update File: ") {
            found.push(Effect::edit(path.trim().to_owned()));
        } else if let Some(path) = line.strip_prefix("*** Delete File: ") {
            found.push(Effect::Remove(path.trim().to_owned()));
        } else if let Some(to) = line.strip_prefix("*** Move to: ")
            && let Some(Effect::Change { path: from, .. }) = found.pop_if(|last| matches!(last, Effect::Change { .. }))
        {
            found.push(Effect::Move { from, to: to.trim().to_owned() });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Effect, patch_effects};

    #[test]
    fn line_breaks_are_told_from_parts_of_paths() {
        for (text, path) in [
            ("*** Begin Patch\n*** Delete File: src\\notes.py\n*** End Patch", r"src\notes.py"),
            (
                "*** Begin Patch\n*** Delete File: src\\notes.py\n+print(\"\\n*** done\")\n*** End Patch",
                r"src\notes.py",
            ),
            (r#"patch = "*** Begin Patch\n*** Delete File: a.py\n*** End Patch""#, "a.py"),
            ("*** Begin Patch\n*** Delete File: a.py\\n*** End Patch", "a.py"),
        ] {
            assert_eq!(patch_effects(text), [Effect::Remove(path.to_owned())]);
        }
    }
}
