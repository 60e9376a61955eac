//! Each dialect's page, and the table of all, name the software that reads its cuts, or say that there is none.

use std::path::Path;

use crate::program::root;

/// The description at the top of a file of `tests/readers`.
struct Reader {
    name: String,
    dialects: Vec<String>,
    version: String,
}

fn strings(text: &str, key: &str) -> Vec<String> {
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("# {key} = ")));
    line.map(|list| serde_json::from_str(list).expect("a list of strings")).unwrap_or_default()
}

fn names(folder: &Path, kind: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let files = entries.filter(|path| path.extension().is_some_and(|found| found == kind));
    files.map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned()).collect()
}

fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).expect("a file")
}

fn readers() -> Vec<Reader> {
    let all = names(&root().join("tests/readers"), "py").into_iter().filter_map(|name| {
        let text = text(&format!("tests/readers/{name}.py"));
        let wanted = [strings(&text, "dependencies"), strings(&text, "npm")].concat();
        let version = wanted.first()?.rsplit(['=', '@']).next()?.to_owned();
        Some(Reader { name, dialects: strings(&text, "dialects"), version })
    });
    all.collect()
}

#[test]
fn every_dialect_names_its_readers_or_says_that_it_has_none() {
    let (all, table) = (readers(), text("docs/dialects/README.md"));
    let table =
        table.split_once("## Read by those").expect("the table of readers").1.split("\n## ").next().expect("text");
    let pages = names(&root().join("docs/dialects"), "md");
    for dialect in pages.iter().filter(|name| *name != "README") {
        let (page, link) = (text(&format!("docs/dialects/{dialect}.md")), format!("[`{dialect}`]({dialect}.md)"));
        let section = page.split_once("\n## Reader\n").map_or("", |(_, rest)| rest);
        assert!(!section.is_empty(), "docs/dialects/{dialect}.md has no section `Reader`");
        let row = table.lines().find(|line| line.starts_with(&format!("| {link} |")));
        let is_mine = |read: &String| read == dialect || dialect == "described" && !pages.contains(read);
        let mine: Vec<_> = all.iter().filter(|reader| reader.dialects.iter().any(is_mine)).collect();
        for Reader { name, version, .. } in &mine {
            assert!(
                section.contains(name) && section.contains(version),
                "docs/dialects/{dialect}.md names {name} {version}"
            );
            assert!(row.is_some_and(|row| row.contains(version)), "the table names {version} for {dialect}");
        }
        if mine.is_empty() {
            assert!(
                section.contains("No test gives") || section.contains("No software"),
                "{dialect} says that it has no reader"
            );
            assert!(row.is_none() && table.contains(&link), "the table says that {dialect} has no reader");
        }
    }
}
