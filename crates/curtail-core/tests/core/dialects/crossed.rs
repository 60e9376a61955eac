//! No format is taken for another: no item of a fixture fits another dialect for certain that fits it as well as its own.

use curtail_core::dialects::{ALL, Dialect, Fit, Framing, description_of, detect_framing, dialect_named, rows};
use curtail_core::json::Document;

use super::files::fixtures;

#[test]
fn no_fixture_fits_another_dialect_better() {
    let (mut taken, mut unread) = (Vec::new(), Vec::new());
    for file in fixtures() {
        let folder = file.name.split('/').next().unwrap_or_default();
        let framing = detect_framing(&file.text, None);
        let parse = if framing == Framing::Document { Document::parse } else { Document::parse_log };
        let Ok(document) = parse(&file.text) else {
            unread.push(file.name);
            continue;
        };
        let named = dialect_named(folder).expect("the folder has the name of a dialect");
        for row in rows(&document, framing, None).expect("rows") {
            let best = |dialect: &dyn Dialect| row.items.iter().map(|item| dialect.fit(*item)).max();
            // The marks of a description decide before any code is asked.
            let is_asked =
                |other: &dyn Dialect| description_of(folder).is_none() || description_of(other.name()).is_some();
            let others = ALL.iter().filter(|other| other.name() != folder && best(**other) >= Some(Fit::Certain));
            let others = others.filter(|other| is_asked(**other));
            let better = others.filter(|other| best(**other) >= best(named));
            taken.extend(better.map(|other| format!("{} is taken for {}", file.name, other.name())));
        }
    }
    assert!(taken.is_empty() && unread.is_empty(), "{taken:#?} {unread:#?}");
}
