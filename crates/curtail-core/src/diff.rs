//! The differing lines of two texts, as the hunks of a unified diff without context.

use std::fmt::Write as _;

/// Appends the hunks that turn `old` into `new` to `out`. `first` is the number of the first line of both.
///
/// Equal lines are found greedily, which is exact for texts in which some lines were removed, added or changed, and the
/// others kept their order.
pub fn hunks(old: &str, new: &str, first: usize, out: &mut String) {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let mut i = 0;
    let mut j = 0;
    while i < old.len() || j < new.len() {
        if old.get(i) == new.get(j) {
            (i, j) = (i + 1, j + 1);
            continue;
        }
        let (gone, come) = run(&old[i..], &new[j..]);
        hunk(&old[i..i + gone], &new[j..j + come], first + i, first + j, out);
        (i, j) = (i + gone, j + come);
    }
}

/// Maximum number of lines to look ahead for equal lines; the work grows with its square.
const HORIZON: usize = 4096;

/// The smallest numbers of lines to remove and to add before both texts agree again; all lines past the horizon.
fn run(old: &[&str], new: &[&str]) -> (usize, usize) {
    for sum in 1..(old.len() + new.len()).min(HORIZON) {
        // Of runs of equal length, the most even one is tried first: a changed line is one removed and one added.
        let gone = |come: usize| sum - come;
        let mut splits: Vec<usize> = (sum.saturating_sub(old.len())..=sum.min(new.len())).collect();
        splits.sort_by_key(|come| gone(*come).abs_diff(*come));
        let agree =
            splits.into_iter().find(|&come| old.get(gone(come)).is_some_and(|line| new.get(come) == Some(line)));
        if let Some(come) = agree {
            return (gone(come), come);
        }
    }
    (old.len(), new.len())
}

fn hunk(old: &[&str], new: &[&str], from: usize, to: usize, out: &mut String) {
    // An empty range names the line before it.
    let range = |start: usize, len: usize| if len == 0 { format!("{},0", start - 1) } else { format!("{start},{len}") };
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
}
