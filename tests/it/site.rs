//! The pages as a site: every page is in its table of contents once, and every link to a heading finds that heading.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs")
}

fn pages() -> Vec<PathBuf> {
    let walk = ignore::WalkBuilder::new(docs()).standard_filters(false).sort_by_file_path(Path::cmp).build();
    let paths = walk.map(|entry| entry.expect("docs can be read").into_path());
    paths.filter(|path| path.extension().is_some_and(|kind| kind == "md")).collect()
}

/// The targets of the links of a page.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target)
}

/// The anchors of a page, as GitHub and mdBook make them from its headings.
fn anchors(text: &str) -> HashSet<String> {
    let mut fenced = false;
    let mut anchors = HashSet::new();
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        let heading = line.strip_prefix('#').map(|rest| rest.trim_start_matches('#'));
        if let Some(heading) = heading.filter(|heading| !fenced && heading.starts_with(' ')) {
            let kept = heading.trim().to_lowercase().replace(' ', "-");
            anchors.insert(kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect());
        }
    }
    anchors
}

#[test]
fn every_page_is_in_the_table_of_contents_once() {
    let contents = std::fs::read_to_string(docs().join("SUMMARY.md")).expect("docs/SUMMARY.md");
    let mut listed: Vec<PathBuf> = links(&contents).map(|target| docs().join(target)).collect();
    listed.sort();
    let pages: Vec<PathBuf> = pages().into_iter().filter(|page| !page.ends_with("SUMMARY.md")).collect();
    let missing: Vec<_> = pages.iter().filter(|page| !listed.contains(page)).collect();
    assert!(missing.is_empty(), "add these to docs/SUMMARY.md: {missing:?}");
    assert_eq!(listed.len(), pages.len(), "docs/SUMMARY.md lists a page twice, or one that does not exist");
}

#[test]
fn links_to_headings_lead_to_headings() {
    let texts: HashMap<PathBuf, String> = pages()
        .into_iter()
        .map(|page| (page.canonicalize().expect("a page"), std::fs::read_to_string(&page).expect("a page")))
        .collect();
    let mut dead = Vec::new();
    for (page, text) in &texts {
        let folder = page.parent().expect("a folder");
        for (file, anchor) in links(text).filter_map(|target| target.split_once('#')) {
            if file.contains("://") {
                continue;
            }
            let target =
                if file.is_empty() { page.clone() } else { folder.join(file).canonicalize().unwrap_or_default() };
            if texts.get(&target).is_none_or(|text| !anchors(text).contains(anchor)) {
                dead.push(format!("{}: {file}#{anchor}", page.display()));
            }
        }
    }
    assert_eq!(dead, [] as [String; 0]);
}
