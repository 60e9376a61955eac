//! Fenced code in Markdown: which lines of a text are in it.

/// Reads a text line by line, and knows whether a fence is open.
#[derive(Debug, Default)]
pub struct Fences<'t> {
    open: Option<Fence<'t>>,
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FenceLine {
    /// It is in no fenced block.
    Outside,
    /// The first line of a fenced block.
    Opening,
    /// Any other line of it, the last one included.
    Inside,
}

impl<'t> Fences<'t> {
    /// Whether a block is open after the lines so far.
    pub const fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Takes the next line.
    pub fn take(&mut self, line: &'t str) -> FenceLine {
        let open = self.open.take().filter(|open| open.contains(line) || open.is_closed_by(line));
        let Some(open) = open else {
            self.open = Fence::opened_by(line);
            return if self.is_open() { FenceLine::Opening } else { FenceLine::Outside };
        };
        self.open = (!open.is_closed_by(line)).then(|| open.behind(line));
        FenceLine::Inside
    }
}

/// The first line of a block that is open.
#[derive(Debug)]
struct Fence<'t> {
    /// Its run of back-ticks or tildes.
    mark: &'t str,
    /// How many quotations it is in.
    quotes: usize,
    /// The column of the list item that begins on its line.
    item: usize,
    /// Whether no line of code was read.
    is_empty: bool,
}

impl<'t> Fence<'t> {
    /// The fence in a line, which may stand behind the marks of quotations and list items.
    fn opened_by(line: &'t str) -> Option<Self> {
        let mut rest = line.trim_start();
        let mut quotes = 0;
        let mut before = "";
        loop {
            if let Some(quoted) = rest.strip_prefix('>') {
                quotes += 1;
                rest = quoted.trim_start();
            } else if let Some(item) = behind_list_mark(rest) {
                rest = item.trim_start();
                before = &line[..line.len() - rest.len()];
            } else {
                return Some(Self { mark: fence_mark(rest)?, quotes, item: width(before), is_empty: true });
            }
        }
    }

    /// Whether a line goes on with the quotation and the list item that the block is in. An item whose code is not indented does not
    /// end with it.
    fn contains(&self, line: &str) -> bool {
        let (quotes, code) = unquoted(line, self.quotes);
        let is_indented = self.is_empty || code.is_empty() || width(&line[..line.len() - code.len()]) >= self.item;
        quotes == self.quotes && is_indented
    }

    /// Whether a line is the last one of the block. It may be indented less than its list item.
    fn is_closed_by(&self, line: &str) -> bool {
        let (_, rest) = unquoted(line, self.quotes);
        fence_mark(rest).is_some_and(|close| close.starts_with(self.mark) && rest.trim_end().len() == close.len())
    }

    /// The fence behind a line of code.
    fn behind(self, line: &str) -> Self {
        let (_, code) = unquoted(line, self.quotes);
        if !self.is_empty || code.is_empty() {
            return self;
        }
        let item = self.item.min(width(&line[..line.len() - code.len()]));
        Self { item, is_empty: false, ..self }
    }
}

/// How many of `most` marks of quotations a line begins with, and what is behind them.
fn unquoted(line: &str, most: usize) -> (usize, &str) {
    let mut rest = line.trim_start();
    for quotes in 0..most {
        let Some(quoted) = rest.strip_prefix('>') else { return (quotes, rest) };
        rest = quoted.trim_start();
    }
    (most, rest)
}

/// What is behind the mark of a list item: `-`, `*`, `+`, `1.` or `1)`, and a space.
fn behind_list_mark(line: &str) -> Option<&str> {
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let marks: &[char] = if number.len() == line.len() { &['-', '*', '+'] } else { &['.', ')'] };
    number.strip_prefix(marks).filter(|rest| rest.starts_with([' ', '\t']))
}

/// How many columns a text takes, with tabs to each fourth one.
fn width(text: &str) -> usize {
    text.chars().fold(0, |width, c| if c == '\t' { (width / 4 + 1) * 4 } else { width + 1 })
}

/// The run of three or more back-ticks or tildes that a line starts with.
fn fence_mark(line: &str) -> Option<&str> {
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let run = line.len() - line.trim_start_matches(mark).len();
    // A line with ```inline``` code opens no block.
    let inline = mark == '`' && line[run..].contains('`');
    (run >= 3 && !inline).then(|| &line[..run])
}

#[cfg(test)]
mod tests {
    use super::{FenceLine, Fences};

    /// The lines of a text that are in no block.
    fn outside(text: &str) -> Vec<&str> {
        let mut fences = Fences::default();
        text.lines().filter(|line| fences.take(line) == FenceLine::Outside).collect()
    }

    #[test]
    fn a_block_may_begin_behind_a_list_mark() {
        for text in [
            "1. ```bash\n   npm ci\n   ```\nend",
            "12) ```\n    npm ci\n\n    npm test\n    ```\nend",
            "- ```sh\n  make\n  ```\nend",
            "* ~~~\n  ```\n  ~~~\nend",
            "+\t```\n\tmake\n\t```\nend",
            "- 1. ```\n     make\n     ```\nend",
            "> ```\n> make\n>\n> ```\nend",
            "> - ```\n>   make\n>   ```\nend",
            "- > ```\n  > make\n  > ```\nend",
        ] {
            assert_eq!(outside(text), ["end"], "{text}");
        }
    }

    #[test]
    fn a_block_ends_with_its_list_item_or_quotation() {
        for text in [
            "- ```sh\n  make\n\nend",
            "> ```\n> make\nend",
            "> ```\nend",
            "- ```\n  a\n- ```\n  b\nend",
            "- ```\n  a\n```sh\nb\n```\nend",
        ] {
            assert_eq!(outside(text), ["end"], "{text}");
        }
    }

    #[test]
    fn code_and_last_line_may_be_indented_less_than_their_item() {
        for text in ["1. ```sh\nmake\n```\nend", "1. ```sh\n   make\n```\nend", "  ```\nmake\n  ```\nend"] {
            assert_eq!(outside(text), ["end"], "{text}");
        }
    }

    #[test]
    fn marks_in_code_close_no_block() {
        for text in ["```\n- ```\n> ```\n``` x\n~~~\n````\nend", "````\n```\n````\nend"] {
            assert_eq!(outside(text), ["end"], "{text}");
        }
    }

    #[test]
    fn no_block_begins_with_other_marks() {
        for text in ["-```", "- ``", "1 ```", "a. ```", "1.```", "- ```x``` is code", "**```**"] {
            assert_eq!(outside(text), [text]);
        }
    }
}
