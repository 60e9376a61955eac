//! The changed files as text, and the scripts that were only written to be run.

use super::room::{BELOW, CHARS_PER_TOKEN, DELETED, Room, SHORT, Written, as_entry, labelled};
use super::{Change, Facts, paths};

/// The fewest tokens that a file in a list takes, with its comma.
const LEAST_ENTRY: usize = 3;

/// How much of a changed file is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Only its name.
    Name,
    /// Its path below the common folder.
    Path,
    /// Its path, the number of changes, and the pointer to the last one.
    Full,
}

/// Precedes a path that is not below the common folder of its list.
pub(super) const OUTSIDE: &str = "./";

/// The changed files, or the helper `scripts` that the work wrote and ran, the one that changed last at the end, with their paths
/// below a common folder. If not all fit, numbers and pointers are left out first, then folders, then
/// files that were written once, then the oldest.
pub(super) fn file_list(label: &str, facts: &Facts, scripts: bool, room: Room<'_>) -> Written {
    let changed: Vec<&Change> = facts.changed.iter().filter(|change| change.is_script() == scripts).collect();
    let Some(last) = changed.last() else { return Written::EMPTY };
    let root = root(&changed);
    let place = if root.is_empty() { String::new() } else { format!(" {BELOW} {root}") };
    let head = labelled(&format!("{label}{place}"), &last.at);
    let room = Room { tokens: room.tokens.saturating_sub((room.count)(&head) + 1), ..room };
    for form in [Form::Full, Form::Path] {
        let list: Vec<String> = changed.iter().map(|change| entry(change, root, form)).collect();
        let line = list.join(", ");
        if line.len() <= room.tokens * CHARS_PER_TOKEN && (room.count)(&line) <= room.tokens {
            return Written { text: format!("{head} {line}\n"), whole: form == Form::Full };
        }
    }
    let list = shortened(&changed, root, room);
    if list.is_empty() { Written::default() } else { Written { text: format!("{head} {list}\n"), whole: false } }
}

/// The common folder of the paths: of the absolute ones if there are several, otherwise of all. Empty for a single path, or if
/// they share no folder.
fn root<'c>(changed: &[&'c Change]) -> &'c str {
    let paths = changed.iter().map(|change| change.path.as_str());
    let absolute = paths.clone().filter(|path| path.starts_with('/'));
    let (count, root) = match absolute.clone().count() {
        0 | 1 => (changed.len(), paths::common_root(paths)),
        count => (count, paths::common_root(absolute)),
    };
    if count > 1 && root.len() > 1 { root } else { "" }
}

fn entry(change: &Change, root: &str, form: Form) -> String {
    let below = match change.path.strip_prefix(root) {
        Some(below) => below.to_owned(),
        None => format!("{OUTSIDE}{}", change.path),
    };
    let name = paths::name(&change.path);
    let path = if form == Form::Name && name.len() + 4 < below.len() { format!("{SHORT}{name}") } else { below };
    let times = if change.times > 1 && form == Form::Full { format!(" ×{}", change.times) } else { String::new() };
    let at = if form == Form::Full && change.at.message.is_some() { format!(" {}", change.at) } else { String::new() };
    format!("{}{}{times}{at}", as_entry(&path), if change.deleted { DELETED } else { "" })
}

/// As many files as fit, by name or by path, and the number of the others.
fn shortened(changed: &[&Change], root: &str, room: Room<'_>) -> String {
    let price = |change: &Change, form: Form| (room.count)(&format!(", {}", entry(change, root, form)));
    let mut forms: Vec<Option<Form>> = vec![None; changed.len()];
    // Room for the number of files left out.
    let mut spent = 4;
    // Files that were written once, as trials are, come after those that were edited or that version control lists.
    let mut order: Vec<(usize, &&Change)> = changed.iter().enumerate().rev().collect();
    order.sort_by_key(|(_, change)| change.whole && change.times == 1 && !change.named);
    for form in [Form::Name, Form::Path] {
        for &(at, change) in &order {
            if spent + LEAST_ENTRY > room.tokens {
                break;
            }
            let before = if form == Form::Name { 0 } else { price(change, Form::Name) };
            let after = price(change, form);
            let known = form == Form::Name || forms[at].is_some();
            if known && spent + after - before.min(after) <= room.tokens {
                spent = spent + after - before.min(after);
                forms[at] = Some(form);
            }
        }
    }
    let left_out = forms.iter().filter(|form| form.is_none()).count();
    let mut list: Vec<String> = Vec::new();
    list.extend((left_out > 0 && left_out < changed.len()).then(|| format!("{left_out} more")));
    list.extend(changed.iter().zip(forms).filter_map(|(change, form)| Some(entry(change, root, form?))));
    list.join(", ")
}
