//! No format is taken for another: an item of one dialect fits no other one for certain.

use curtail_core::dialects::{ALL, Dialect, Fit, Framing, description_of, detect_framing, dialect_named, rows};
use curtail_core::json::Document;

use super::files::fixtures;

#[test]
fn no_fixture_fits_another_dialect_for_certain() {
    let mut taken = Vec::new();
    for file in fixtures() {
        let folder = file.name.split('/').next().unwrap_or_default();
        let framing = detect_framing(&file.text, None);
        let Ok(document) = Document::parse_log(&file.text) else { continue };
        let text = if framing == Framing::Document { Document::parse(&file.text).ok() } else { None };
        let document = text.as_ref().unwrap_or(&document);
        let named = dialect_named(folder).expect("the folder has the name of a dialect");
        for row in rows(document, framing, None).unwrap_or_default() {
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
    assert!(taken.is_empty(), "{taken:#?}");
}
