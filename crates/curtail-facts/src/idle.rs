//! Which command lines change nothing: they run programs that only show something, without the flags with which these write a file
//! or run another program.

use super::effects::may_check;
use super::prefixes::without_prefixes;
use super::shell::{Simple, commands};
use super::viewers::writes_or_runs;

/// Longer lines are scripts.
const LONGEST: usize = 2_000;

/// Whether a shell's command line only shows something and changes nothing, as far as the table of programs tells. What runs in a
/// substitution is not known.
pub fn changes_nothing(line: &str) -> bool {
    !line.trim().is_empty()
        && line.len() < LONGEST
        && !may_check(line)
        && !commands(line).iter().any(|command| substitutes(command) || changes(command))
}

fn substitutes(command: &Simple) -> bool {
    let mut texts = command.words.iter().chain(&command.input);
    texts.any(|text| text.contains("$(") || text.contains('`'))
}

/// Whether a command of the viewers changes something.
fn changes(command: &Simple) -> bool {
    command.is_redirected() || writes_or_runs(without_prefixes(&command.words))
}

#[cfg(test)]
mod tests {
    use super::changes_nothing;

    #[test]
    fn commands_that_only_show_change_nothing() {
        for line in [
            "ls -la",
            "cd src",
            "cd src && cat a.rs | head -n 5",
            "git -C . log 2>/dev/null",
            "git log --format=\"%h | %s\"",
            "git remote -v",
            "git rev-parse HEAD 2>&1",
            "git ls-tree HEAD",
            "sed -n 1,20p a",
            "sed -n '/error/p' a",
            "grep -rn x . || true",
            "grep -E \"foo|bar\" a",
            "grep -n '->' a.rs",
            "rg 'a|b;c&d' src",
            "jq '.a | .b' x.json",
            "awk '$1 > 5' a",
            "cat a 2> /dev/null",
            "cat a > /dev/null 2>&1",
            "find . -iname '*.rs'",
            "uniq -c a",
            "uniq -f 1 a",
            "rg --pretty foo",
            "date -Iseconds",
            "date -d 20260101 +%s",
            "fd -e xml -txo",
            "sort -to -k2 a",
            "tree -I node_modules -P '*.o'",
            "awk '$3 > $2' a",
            "awk -Fi '{ print $1 \" -> \" $2 }' a",
            "awk '/\"|x/ { print }' a",
            "awk '{ if ($1 > 2 || $2 / 2 > 1) n++ } END { print n }' a",
            "sed -n '/new foo/p' f",
            "sed -n -e '/[x w]/,$p' -e 5q f",
            "sed -E 's/ (a|b)/ w /g; s#w x#e#2p; $!d' f",
            "git log -S'OUT' --oneline",
            "git reflog show main",
            "git branch --show-current",
            "git branch -vv && git tag && git tag -l 'v*'",
            "git stash list",
        ] {
            assert!(changes_nothing(line), "{line}");
        }
        for line in [
            "rm a",
            "cat a > b",
            "cat a >> b",
            "sed -i s/a/b/ c",
            "sed -n -i s/a/b/p c",
            "sed -ni s/a/b/p c",
            "sed -n 's/a/b/w out' c",
            "find . -delete",
            "find . -ok rm {} ;",
            "git push",
            "git diff --output=a",
            "git remote add origin a",
            "git rev-parse HEAD > a",
            "sort -o a a",
            "sort -uo a a",
            "uniq a b",
            "rg --pre rm x",
            "awk -i inplace '{ print $1 }' a",
            "awk 'BEGIN{system(\"rm a\")}'",
            "awk '{ print > \"b\" }' a",
            "fd a -x rm",
            "fd a --exec=rm",
            "diff <(rm a) b",
            "awk '{print > FILENAME\".out\"}' a",
            "awk -v o=x '{print > o}' a",
            "awk '/\"/ {print $1 > \"x\"}' a",
            "awk '{ print $1 | \"sh\" }' a",
            "awk -o '{ print }' a",
            "sed -n 's/a/b/wout' c",
            "sed 's/x/rm y/e' c",
            "sed 's/[/]/p/w x/' c",
            "sed -n -e p -e 'w out' c",
            "sed -ne '/x/w out' c",
            "sed --in-pl s/a/b/ c",
            "sed '1e rm y' c",
            "tree --output f",
            "tree -o f",
            "date 010100002026",
            "date -us 12:00",
            "git reflog expire --all",
            "git branch new",
            "git branch -D old",
            "git tag v1",
            "git stash",
            "git grep -Ovim x",
            "uniq -f 1 a b",
            "ls; make",
            "cat $(rm x)",
            "cat `rm x`",
            "cat <<E\n$(rm x)\nE",
            "for f in *; do rm $f; done",
            "",
        ] {
            assert!(!changes_nothing(line), "{line}");
        }
    }
}
