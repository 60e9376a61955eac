//! Splits a shell's command line into simple commands, with their words, the files that they write, the folder that they run in,
//! and what the exit code of the line says of them. It follows quotes, here-documents and operators as POSIX shells do, and expands
//! nothing.

use super::paths;

/// One simple command of a line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Simple {
    /// The program and its arguments, unquoted.
    pub(super) words: Vec<String>,
    /// Files that its standard output goes to.
    pub(super) writes: Vec<String>,
    /// The folder that an earlier `cd` of the line changed to.
    pub(super) folder: Option<String>,
    /// The text of the here-document that it reads.
    pub(super) input: Option<String>,
    /// Whether its output goes to a program that shows something else than its first or last lines.
    pub(super) is_filtered: bool,
    /// What joins it to the next command; `None` at the end of the line or of a group.
    joint: Option<Joint>,
    /// What the exit code of the line says of it.
    pub(super) status: LineStatus,
}

/// What joins two commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joint {
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|`
    Pipe,
    /// `&`
    Background,
    /// `;`, or the end of a line.
    Next,
}

/// What the exit code of a line says of one of its commands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LineStatus {
    /// It is 0 only if the command succeeded.
    #[default]
    Own,
    /// It may be 0 although the command failed.
    Hidden,
    /// It is that of another command.
    Other,
}

/// The simple commands of `line`, in order.
pub(super) fn commands(line: &str) -> Vec<Simple> {
    let mut splitter = Splitter { rest: line, ..Splitter::default() };
    while splitter.step() {}
    splitter.end();
    // A mark at the end of the line joins nothing.
    if let Some(last) = splitter.done.last_mut() {
        last.joint.take_if(|joint| *joint == Joint::Next);
    }
    set_statuses(&mut splitter.done);
    splitter.done.retain(|command| !command.is_cd());
    splitter.done
}

impl Simple {
    /// Whether its output goes to a file.
    pub(super) fn is_redirected(&self) -> bool {
        self.writes.iter().any(|file| file != "/dev/null")
    }

    /// Whether it changes the folder and does nothing else.
    fn is_cd(&self) -> bool {
        matches!(self.words.as_slice(), [cd] | [cd, _] if cd == "cd")
    }

    /// The folder behind it, if it is a `cd` and says so.
    fn new_folder(&self) -> Option<String> {
        let to = self.words.get(1).filter(|to| !to.contains(['$', '`']) && *to != "-")?;
        Some(paths::resolved(self.folder.as_deref(), to))
    }
}

/// Sets what the exit code of the line says of each command, from the last one to the first.
fn set_statuses(commands: &mut [Simple]) {
    let mut next = LineStatus::Own;
    let mut is_filter = false;
    for command in commands.iter_mut().rev() {
        next = match command.joint {
            _ if is_condition(command) => LineStatus::Other,
            None => LineStatus::Own,
            Some(Joint::And) => next,
            Some(Joint::Pipe) => next.max(LineStatus::Hidden),
            Some(Joint::Or) => LineStatus::Hidden,
            Some(Joint::Background | Joint::Next) => LineStatus::Other,
        };
        command.status = next;
        command.is_filtered = is_filter && command.joint == Some(Joint::Pipe);
        is_filter =
            command.is_filtered || !command.words.first().is_some_and(|word| matches!(word.as_str(), "head" | "tail"));
    }
}

/// Whether what follows depends on the success of a command.
fn is_condition(command: &Simple) -> bool {
    command.words.first().is_some_and(|word| matches!(word.as_str(), "if" | "elif" | "while" | "until" | "!"))
}

#[derive(Default)]
struct Splitter<'l> {
    rest: &'l str,
    /// In how many `$(…)` the text is. The parenthesis that closes the innermost one ends it.
    depth: usize,
    word: Option<String>,
    /// Whether some of the word was quoted.
    is_quoted: bool,
    /// What the next word is: an argument, or the target of a redirection.
    target: Target,
    /// The command that is being read.
    current: Simple,
    done: Vec<Simple>,
    /// The here-documents that begin on the next line.
    heredocs: Vec<Heredoc>,
    /// The folders around the subshells that are open.
    folders: Vec<Option<String>>,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Target {
    #[default]
    Words,
    Output,
    /// The delimiter of a here-document; whether tabs may stand before it.
    Heredoc(bool),
    Ignored,
}

struct Heredoc {
    delimiter: String,
    is_indented: bool,
    /// The index of its command in `done`.
    command: usize,
}

/// The deepest `$(…)` in another whose end is looked for.
const DEEPEST: usize = 32;

impl Splitter<'_> {
    /// Reads one character or token; `false` at the end.
    fn step(&mut self) -> bool {
        let Some(letter) = self.rest.chars().next() else { return false };
        self.rest = &self.rest[letter.len_utf8()..];
        match letter {
            '\'' => self.single_quoted(),
            '"' => self.double_quoted(),
            '\\' => self.backslash(),
            '`' => self.backquoted(),
            '$' if self.rest.starts_with('(') => {
                self.push('$');
                self.parenthesized();
            }
            // The values of an array: `files=(a b)`.
            '(' if self.word.as_ref().is_some_and(|word| word.ends_with('=')) => {
                self.push('(');
                self.parenthesized();
            }
            '#' if self.word.is_none() => self.rest = self.rest.find('\n').map_or("", |end| &self.rest[end..]),
            '\n' => {
                self.end();
                self.join(Joint::Next);
                self.read_heredocs();
            }
            '(' if self.rest.starts_with('(') => self.arithmetic(),
            '(' => {
                self.end();
                self.folders.push(self.current.folder.clone());
            }
            ')' if self.depth > 0 && self.folders.is_empty() => return false,
            // A pattern of `case` ends with one, too.
            ')' => {
                self.end();
                if let Some(folder) = self.folders.pop() {
                    self.current.folder = folder;
                }
            }
            '>' | '<' if self.current.words.first().is_some_and(|word| word == "[[") => self.end_word(),
            ';' | '|' | '&' if letter != '&' || !self.rest.starts_with('>') => self.operator(letter),
            '>' | '<' | '&' => self.redirection(letter),
            letter if letter.is_whitespace() => self.end_word(),
            letter => self.push(letter),
        }
        true
    }

    fn push(&mut self, letter: char) {
        self.word.get_or_insert_default().push(letter);
    }

    /// Reads the rest of `;`, `|` or `&`, each alone or doubled, or of `|&`.
    fn operator(&mut self, first: char) {
        let is_doubled = self.rest.starts_with(first);
        if is_doubled || first == '|' && self.rest.starts_with('&') {
            self.rest = &self.rest[1..];
        }
        self.end();
        self.join(match (first, is_doubled) {
            ('&', true) => Joint::And,
            ('|', true) => Joint::Or,
            ('|', false) => Joint::Pipe,
            ('&', false) => Joint::Background,
            _ => Joint::Next,
        });
    }

    /// Joins the last command, or the group that ends with it, to what follows. A line break after an operator says nothing.
    fn join(&mut self, joint: Joint) {
        if let Some(last) = self.done.last_mut() {
            last.joint.get_or_insert(joint);
        }
    }

    /// Passes over the rest of `((…))`, which compares and writes nothing.
    fn arithmetic(&mut self) {
        self.end();
        self.rest = self.rest.find("))").map_or("", |end| &self.rest[end + 2..]);
    }

    /// Reads the rest of `'…'`.
    fn single_quoted(&mut self) {
        self.is_quoted = true;
        let end = self.rest.find('\'').unwrap_or(self.rest.len());
        self.word.get_or_insert_default().push_str(&self.rest[..end]);
        self.rest = self.rest.get(end + 1..).unwrap_or_default();
    }

    /// Reads the rest of `"…"`. A `$(…)` inside is copied unchanged, and a backslash, unless the shell reads it.
    fn double_quoted(&mut self) {
        self.is_quoted = true;
        self.word.get_or_insert_default();
        while let Some(letter) = self.rest.chars().next() {
            self.rest = &self.rest[letter.len_utf8()..];
            match letter {
                '"' => return,
                '\\' if self.rest.starts_with(['$', '`', '"', '\\', '\n']) => self.backslash(),
                '`' => self.backquoted(),
                '$' if self.rest.starts_with('(') => {
                    self.push('$');
                    self.parenthesized();
                }
                letter => self.push(letter),
            }
        }
    }

    /// Reads the character after a backslash; an escaped line break is dropped.
    fn backslash(&mut self) {
        let Some(letter) = self.rest.chars().next() else { return };
        self.rest = &self.rest[letter.len_utf8()..];
        if letter != '\n' {
            self.push(letter);
        }
    }

    /// Copies the rest of `` `…` `` unchanged.
    fn backquoted(&mut self) {
        self.push('`');
        self.copy(self.rest.find('`').map_or(0, |end| end + 1));
    }

    /// Copies the rest of `(…)` unchanged, with the quotes and here-documents in it.
    fn parenthesized(&mut self) {
        let inside = self.rest.strip_prefix('(').unwrap_or(self.rest);
        let mut inner = Splitter { rest: inside, depth: self.depth + 1, ..Splitter::default() };
        while self.depth < DEEPEST && inner.step() {}
        let rest = if self.depth < DEEPEST { inner.rest } else { "" };
        self.copy(self.rest.len() - rest.len());
    }

    fn copy(&mut self, length: usize) {
        let (copied, rest) = self.rest.split_at(length);
        self.word.get_or_insert_default().push_str(copied);
        self.rest = rest;
    }

    /// Reads a redirection that begins with `first`: `>`, `>>`, `2>`, `&>`, `<`, `<<` or `<<<`.
    fn redirection(&mut self, first: char) {
        let is_quoted = self.is_quoted;
        let descriptor = self.word.take_if(|word| !is_quoted && word.bytes().all(|byte| byte.is_ascii_digit()));
        self.end_word();
        let length = self.rest.find(|c| !matches!(c, '>' | '<' | '|' | '-')).unwrap_or(self.rest.len());
        let (more, rest) = self.rest.split_at(length);
        self.rest = rest;
        let input = first == '<';
        self.target = match more {
            "<" | "<-" if input => Target::Heredoc(more == "<-"),
            _ if input || descriptor.is_some_and(|number| number != "1") || self.rest.starts_with('&') => {
                Target::Ignored
            }
            _ => Target::Output,
        };
        if self.target == Target::Ignored && self.rest.starts_with('&') {
            self.rest = &self.rest[1..];
        }
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        self.is_quoted = false;
        match std::mem::take(&mut self.target) {
            Target::Words => self.current.words.push(word),
            Target::Output => self.current.writes.push(word),
            Target::Heredoc(is_indented) => {
                self.heredocs.push(Heredoc { delimiter: word, is_indented, command: self.done.len() });
            }
            Target::Ignored => {}
        }
    }

    /// Ends a simple command. A `cd` applies to the commands after it.
    fn end(&mut self) {
        self.end_word();
        self.target = Target::Words;
        let folder = self.current.folder.clone();
        let command = std::mem::replace(&mut self.current, Simple { folder, ..Simple::default() });
        if command.is_cd() {
            self.current.folder = command.new_folder();
        }
        if !command.words.is_empty() || !command.writes.is_empty() {
            self.done.push(command);
        }
    }

    /// Reads the here-documents that begin here into their commands.
    fn read_heredocs(&mut self) {
        for Heredoc { delimiter, is_indented, command } in std::mem::take(&mut self.heredocs) {
            let lines = self.rest.split_inclusive('\n').take_while(|line| {
                let line = line.trim_end_matches(['\r', '\n']);
                let text = if is_indented { line.trim_start_matches('\t') } else { line };
                text != delimiter
            });
            let body: usize = lines.map(str::len).sum();
            if let Some(command) = self.done.get_mut(command) {
                command.input = Some(self.rest[..body].to_owned());
            }
            let last = self.rest[body..].split_inclusive('\n').next().map_or(0, str::len);
            self.rest = &self.rest[body + last..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LineStatus, Simple, commands};

    fn words(line: &str) -> Vec<Vec<String>> {
        commands(line).into_iter().map(|command| command.words).collect()
    }

    #[test]
    fn lines_are_split_into_commands_and_words() {
        for (line, expected) in [
            ("a b && c 'd e' || f", &[&["a", "b"][..], &["c", "d e"], &["f"]][..]),
            ("x \"y \\\"z\\\"\" | w; v &", &[&["x", "y \"z\""], &["w"], &["v"]]),
            (
                "git commit -m \"$(cat <<'EOF'\nOne\n\nTwo (2)\nEOF\n)\"",
                &[&["git", "commit", "-m", "$(cat <<'EOF'\nOne\n\nTwo (2)\nEOF\n)"]],
            ),
            ("cat <<EOF\nrm x\nEOF\nls", &[&["cat"], &["ls"]]),
            (
                "git commit -m \"$(cat <<'EOF'\nRead \")\" and 1) as text\nrm x\nEOF\n)\" && ls",
                &[&["git", "commit", "-m", "$(cat <<'EOF'\nRead \")\" and 1) as text\nrm x\nEOF\n)"], &["ls"]],
            ),
            ("a $(b \")\"; c) `d; e` f=(g h)", &[&["a", "$(b \")\"; c)", "`d; e`", "f=(g h)"]]),
            ("cat <<E\n  E\nrm x\nE\ncat <<-E\n\tE\nls", &[&["cat"], &["cat"], &["ls"]]),
            ("echo \"a\\n \\\"b\\\"\" \"$(c", &[&["echo", "a\\n \"b\"", "$(c"]]),
            ("a \\\n b # c; d", &[&["a", "b"]]),
            ("", &[]),
        ] {
            assert_eq!(words(line), expected, "{line}");
        }
    }

    #[test]
    fn what_is_behind_a_cd_has_its_own_exit_code() {
        for (line, expected) in [
            ("a && cd b; c", LineStatus::Other),
            ("a && cd ..\nc", LineStatus::Other),
            ("a && cd b &&\nc", LineStatus::Own),
            ("a && cd b", LineStatus::Own),
            ("a && cd b | c", LineStatus::Hidden),
            ("a; cd b && c", LineStatus::Other),
        ] {
            assert_eq!(commands(line)[0].status, expected, "{line}");
        }
    }

    #[test]
    fn files_that_are_written_and_the_folder_are_found() {
        for (line, writes, folder) in [
            ("cd /r && a > x 2>&1", &["x"][..], Some("/r")),
            ("cd /r/s && cd ../t && a", &[], Some("/r/t")),
            ("cd s && cd && a", &[], None),
            ("a 2> err >> log", &["log"], None),
            ("a &> all", &["all"], None),
            ("cat > a.py <<'E'\nx > y\nE", &["a.py"], None),
            ("a < in 2>/dev/null", &[], None),
            ("echo \"42\">answer", &["answer"], None),
            ("echo ''>empty", &["empty"], None),
        ] {
            let found = commands(line);
            let Some(Simple { writes: found, folder: below, .. }) = found.last() else { panic!("{line}") };
            assert_eq!(
                (found.as_slice(), below.as_deref()),
                (writes.iter().map(|&w| w.to_owned()).collect::<Vec<_>>().as_slice(), folder),
                "{line}"
            );
        }
    }
}
