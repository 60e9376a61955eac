//! Wrong files, and what is said of each: where, what is allowed, and the nearest name.

use super::{folder, stderr};

const WRONG: &[(&str, &[&str], &str)] = &[
    (
        "[[history.processors]]\ntype = \"filter\"\nexlude = [\"debug_tool\"]\n",
        &[],
        "curtail: curtail.toml:3:1: unknown key of a `filter` `exlude`; did you mean `exclude`? known: type, exclude-tool, \
         exclude, include-tool, include, persist-results, role, strip, keep-last-results, placeholder, exempt-tool\n",
    ),
    (
        "[[history.processors]]\ntype = \"filter\"\nexclude = [\"debug_*\"]\ninclude = [\"search\"]\n",
        &[],
        "curtail: curtail.toml:3:1: `exclude` and `include` cannot stand together; give one of them\n",
    ),
];

#[test]
fn wrong_files_are_told_what_would_be_right() {
    for (toml, args, expected) in WRONG {
        let folder = folder(toml);
        let args: Vec<&str> = ["run", "--print"].iter().chain(*args).copied().collect();
        assert_eq!(stderr(folder.path(), &args), *expected, "{toml}");
    }
}
