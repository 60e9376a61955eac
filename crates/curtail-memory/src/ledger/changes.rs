//! The changed files of a ledger as text: what is left out first where not all fit, and the scripts that were only run.

use super::facts::Change;
use super::sections::{BELOW, CHANGED, DELETED, LONGEST_TOKEN, Room, SCRIPTS, SHORT, Written, labelled};
use super::{Ledger, paths};

/// Fewest tokens of a file in a list, with its comma.
const LEAST: usize = 3;

/// How much of a changed file is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Name,
    Path,
    Pointed,
}

/// Changed files, the newest last.
pub(super) fn changed(ledger: &Ledger, room: Room<'_>) -> Written {
    let files: Vec<&Change> = ledger.changed.iter().filter(|change| !change.is_script()).collect();
    list(CHANGED, &files, room)
}

/// Scripts that the work wrote and ran, the newest last.
pub(super) fn scripts(ledger: &Ledger, room: Room<'_>) -> Written {
    let files: Vec<&Change> = ledger.changed.iter().filter(|change| change.is_script()).collect();
    list(SCRIPTS, &files, room)
}

/// In front of a path that a tool gave without its folder, in a list below a folder.
pub(super) const HERE: &str = "./";

/// Paths below their common folder. Where not all fit, folders are left out first, then the paths of files that were written
/// once, and of the oldest.
fn list(label: &str, changed: &[&Change], room: Room<'_>) -> Written {
    let Some(last) = changed.last() else { return Written::NOTHING };
    let root = root(changed);
    let place = if root.is_empty() { String::new() } else { format!(" {BELOW} {root}") };
    let head = labelled(&format!("{label}{place}"), &last.at);
    let room = Room { tokens: room.tokens.saturating_sub((room.count)(&head) + 1), ..room };
    let entry = |change: &Change, form: Form| entry(change, root, form);
    for form in [Form::Pointed, Form::Path] {
        let list: Vec<String> = changed.iter().map(|change| entry(change, form)).collect();
        let line = list.join(", ");
        if line.len() <= room.tokens * LONGEST_TOKEN && (room.count)(&line) <= room.tokens {
            return Written { text: format!("{head} {line}\n"), whole: form == Form::Pointed };
        }
    }
    let list = shortened(changed, room, &entry);
    if list.is_empty() { Written::default() } else { Written { text: format!("{head} {list}\n"), whole: false } }
}

/// The folder that the paths are below: of all, or of those that begin with `/`, if there are several.
fn root<'c>(changed: &[&'c Change]) -> &'c str {
    let paths = || changed.iter().map(|change| change.path.as_str());
    let absolute = || paths().filter(|path| path.starts_with('/'));
    let (count, root) = match absolute().count() {
        0 | 1 => (changed.len(), paths::common_root(paths())),
        count => (count, paths::common_root(absolute())),
    };
    if count > 1 && root.len() > 1 { root } else { "" }
}

fn entry(change: &Change, root: &str, form: Form) -> String {
    let outside = || if root.is_empty() { change.path.clone() } else { format!("{HERE}{}", change.path) };
    let below = change.path.strip_prefix(root).map_or_else(outside, str::to_owned);
    let name = paths::name(&change.path);
    let path = if form == Form::Name && name.len() + 4 < below.len() { format!("{SHORT}{name}") } else { below };
    let times = if change.times > 1 && form == Form::Pointed { format!(" ×{}", change.times) } else { String::new() };
    let at =
        if form == Form::Pointed && change.at.message.is_some() { format!(" {}", change.at) } else { String::new() };
    format!("{path}{}{times}{at}", if change.deleted { DELETED } else { "" })
}

fn shortened(changed: &[&Change], room: Room<'_>, entry: &dyn Fn(&Change, Form) -> String) -> String {
    let price = |text: &str| (room.count)(&format!(", {text}"));
    let mut forms: Vec<Option<Form>> = vec![None; changed.len()];
    let mut spent = 4;
    // Files that were written once, as trials are, come after those that were edited or that version control names.
    let mut order: Vec<(usize, &&Change)> = changed.iter().enumerate().rev().collect();
    order.sort_by_key(|(_, change)| change.whole && change.times == 1 && !change.named);
    for form in [Form::Name, Form::Path] {
        for &(at, change) in &order {
            if spent + LEAST > room.tokens {
                break;
            }
            let before = if form == Form::Name { 0 } else { price(&entry(change, Form::Name)) };
            let after = price(&entry(change, form));
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
    list.extend(changed.iter().zip(forms).filter_map(|(change, form)| Some(entry(change, form?))));
    list.join(", ")
}
