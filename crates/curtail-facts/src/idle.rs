//! Which command lines change nothing: they run programs that only show something, without the flags with which these write a file
//! or run another program.

use super::effects::{acts, may_check};
use super::prefixes::without_prefixes;
use super::programs::{PROGRAMS, WritingViewer, lists};
use super::shell::{Simple, commands};
use super::{git, paths};

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
    let Some((program, arguments)) = without_prefixes(&command.words).split_first() else { return false };
    let name = paths::name(program);
    let does = if name == "git" { !git::only_shows(arguments) } else { acts(command) };
    let mut listed = PROGRAMS.writing_viewers.iter().filter(|listed| lists(&listed.programs, name));
    command.is_redirected() || does || listed.any(|listed| listed.writes(arguments))
}

impl WritingViewer {
    fn writes(&self, arguments: &[String]) -> bool {
        let operands = arguments.iter().filter(|word| !word.starts_with('-')).count();
        self.operands.is_some_and(|most| operands > most) || arguments.iter().any(|word| self.is_sign(word))
    }

    /// Whether an argument says that the program writes.
    fn is_sign(&self, word: &str) -> bool {
        let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default();
        let letters = &letters[..letters.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(letters.len())];
        letters.contains(|letter| self.flags.contains(letter))
            || self.words.iter().any(|start| word.starts_with(start))
            || self.texts.iter().any(|text| word.contains(text))
    }
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
            "diff <(rm a) b",
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
