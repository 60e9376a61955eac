//! The differing lines of two texts, as the hunks of a unified diff without context.

use std::collections::HashMap;
use std::fmt::Write as _;

/// Appends the hunks that turn `old` into `new` to `out`. `first` is the number of the first line of both.
///
/// After a line that differs, both texts are followed to the nearest pair of equal lines. The hunks are therefore correct for all
/// texts, and the shortest possible for those in which lines were removed, added or changed and the others are distinct.
pub fn hunks(old: &str, new: &str, first: usize, out: &mut String) {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, line) in new.iter().enumerate() {
        places.entry(line).or_default().push(at);
    }
    let mut i = 0;
    let mut j = 0;
    while i < old.len() || j < new.len() {
        if old.get(i) == new.get(j) {
            (i, j) = (i + 1, j + 1);
            continue;
        }
        let end = nearest_pair(&old, i, j, &places).unwrap_or((old.len(), new.len()));
        hunk(&old[i..end.0], &new[j..end.1], first + i, first + j, out);
        (i, j) = end;
    }
}

/// The nearest line of `old` from `i` on that equals one of the other text from `j` on, and that one: the fewest lines are removed
/// and added before them. Of several, those with the most even numbers: a changed line is one removed and one added.
fn nearest_pair(old: &[&str], i: usize, j: usize, places: &HashMap<&str, Vec<usize>>) -> Option<(usize, usize)> {
    let mut best: Option<((usize, usize), (usize, usize))> = None;
    for (at, line) in old.iter().enumerate().skip(i) {
        if best.is_some_and(|((sum, _), _)| at - i > sum) {
            break;
        }
        let Some(places) = places.get(line) else { continue };
        let Some(&other) = places.get(places.partition_point(|place| *place < j)) else { continue };
        let distance = (at - i + other - j, (at - i).abs_diff(other - j));
        if best.is_none_or(|(least, _)| distance <= least) {
            best = Some((distance, (at, other)));
        }
    }
    best.map(|(_, pair)| pair)
}

/// A range of lines as a hunk names it: an empty one by the line before it.
fn range(start: usize, len: usize) -> String {
    if len == 0 { format!("{},0", start - 1) } else { format!("{start},{len}") }
}

fn hunk(old: &[&str], new: &[&str], from: usize, to: usize, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "@@ -{} +{} @@", range(from, old.len()), range(to, new.len()));
    for (mark, lines) in [('-', old), ('+', new)] {
        for line in lines {
            out.push(mark);
            out.push_str(line);
            if !line.ends_with('\n') {
                out.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::hunks;

    fn diff(old: &str, new: &str) -> String {
        let mut out = String::new();
        hunks(old, new, 1, &mut out);
        out
    }

    #[test]
    fn hunks_name_what_goes_and_comes() {
        let cases = [
            ("a\nb\nc\n", "a\nb\nc\n", ""),
            ("a\nb\nc\n", "a\nc\n", "@@ -2,1 +1,0 @@\n-b\n"),
            ("a\nc\n", "a\nb\nc\n", "@@ -1,0 +2,1 @@\n+b\n"),
            ("a\nb\nc\n", "a\nB\nc\n", "@@ -2,1 +2,1 @@\n-b\n+B\n"),
            ("a\nb", "a\nc", "@@ -2,1 +2,1 @@\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"),
            (
                "a\nb\nc\nd\ne\n",
                "A\nb\nd\ne\nf\n",
                "@@ -1,1 +1,1 @@\n-a\n+A\n@@ -3,1 +2,0 @@\n-c\n@@ -5,0 +5,1 @@\n+f\n",
            ),
        ];
        for (old, new, expected) in cases {
            assert_eq!(diff(old, new), expected, "{old:?} to {new:?}");
        }
    }

    #[test]
    fn what_is_left_after_many_removed_lines_is_not_in_a_hunk() {
        let lines: Vec<String> = (0..10_000).map(|nth| format!("{nth}\n")).collect();
        let hunk = diff(&lines.concat(), &lines[9_000..].concat());
        assert!(hunk.starts_with("@@ -1,9000 +0,0 @@\n-0\n") && hunk.ends_with("-8999\n"));
    }
}
