//! The pages as a site: every page is in its table of contents once, and every link finds its file and its heading.

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

/// The pages beside those of the site.
fn other_pages() -> Vec<PathBuf> {
    let files = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", ".github/packaging/README.md"];
    files.map(|file| Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).into()
}

/// The page that `.ci/site` makes of a fixture.
const EXAMPLE: &str = "example.html";

#[test]
fn the_site_makes_its_live_page() {
    let script = std::fs::read_to_string(docs().join("../.ci/site")).expect(".ci/site");
    let line = script.lines().find(|line| line.contains(EXAMPLE)).expect("a line that makes the page");
    let words: Vec<&str> = line.split_whitespace().collect();
    let fixture = words.iter().find(|word| word.starts_with("fixtures/")).expect("a fixture");
    assert!(docs().join("..").join(fixture).is_file(), "{fixture}");
}

/// mdBook renames `README.md` to `index.html`, and copies nothing from outside the folder.
#[test]
fn the_site_has_what_its_pages_link_to() {
    let book = std::fs::read_to_string(docs().join("book.toml")).expect("docs/book.toml");
    let root = docs().canonicalize().expect("docs exists");
    for page in pages() {
        let text = std::fs::read_to_string(&page).expect("a page can be read");
        let files = links(&text).map(|target| target.split('#').next().unwrap_or_default());
        for file in files.filter(|file| !file.is_empty() && !file.contains(':') && *file != EXAMPLE) {
            let Ok(target) = page.with_file_name(file).canonicalize() else { continue };
            let inside = target.strip_prefix(&root);
            let inside = inside.unwrap_or_else(|_| panic!("{}: {file} is not part of the site", page.display()));
            let redirect = format!("\"/{}\"", inside.with_extension("html").display());
            assert!(
                !inside.ends_with("README.md") || book.contains(&redirect),
                "{}: docs/book.toml has no redirect of {redirect}",
                page.display()
            );
        }
    }
}

/// The targets of the links of a page.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let prose = text.split("```").step_by(2);
    let links = prose.flat_map(|prose| prose.split("](").skip(1));
    links.filter_map(|rest| rest.split_once(')')).map(|(target, _)| target)
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

/// What a model reads first. Pages of single rules, dialects and presets are behind their lists.
#[test]
fn llms_txt_lists_the_pages() {
    let list = std::fs::read_to_string(docs().join("llms.txt")).expect("docs/llms.txt");
    let listed: HashSet<PathBuf> = links(&list).map(|target| docs().join(target)).collect();
    let missing: Vec<PathBuf> = pages()
        .into_iter()
        .filter(|page| {
            page.ends_with("README.md")
                || !page.iter().any(|name| name == "rules" || name == "dialects" || name == "presets")
        })
        .filter(|page| !page.ends_with("SUMMARY.md") && *page != docs().join("README.md") && !listed.contains(page))
        .collect();
    assert!(missing.is_empty(), "add these to docs/llms.txt: {missing:?}");
    assert!(listed.iter().all(|page| page.exists()), "docs/llms.txt lists a page that does not exist");
}

#[test]
fn links_lead_to_files_and_headings() {
    let texts: HashMap<PathBuf, String> = pages()
        .into_iter()
        .chain(other_pages())
        .map(|page| (page.canonicalize().expect("a page"), std::fs::read_to_string(&page).expect("a page")))
        .collect();
    let mut dead = Vec::new();
    for (page, text) in &texts {
        let folder = page.parent().expect("a folder");
        let is_here = |link: &&str| !link.contains("://") && !link.starts_with("mailto:") && *link != EXAMPLE;
        for link in links(text).filter(is_here) {
            let (file, anchor) = link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
            let target = if file.is_empty() { page.clone() } else { folder.join(file) };
            let found = target.canonicalize().ok().filter(|found| {
                anchor.is_none_or(|anchor| texts.get(found).is_some_and(|text| anchors(text).contains(anchor)))
            });
            if found.is_none() {
                dead.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert_eq!(dead, [] as [String; 0]);
}
