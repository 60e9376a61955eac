//! Fenced code in Markdown: which lines of a text are in it.

/// Reads a text line by line, and knows whether a fence is open.
#[derive(Debug, Default)]
pub struct Fences<'t> {
    open: Option<&'t str>,
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
        let mark = fence_mark(line);
        let Some(open) = self.open else {
            self.open = mark;
            return if mark.is_some() { FenceLine::Opening } else { FenceLine::Outside };
        };
        if mark.is_some_and(|close| close.starts_with(open) && line.trim().len() == close.len()) {
            self.open = None;
        }
        FenceLine::Inside
    }
}

/// The run of three or more back-ticks or tildes that a line starts with.
fn fence_mark(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let run = line.len() - line.trim_start_matches(mark).len();
    // A line with ```inline``` code opens no block.
    let inline = mark == '`' && line[run..].contains('`');
    (run >= 3 && !inline).then(|| &line[..run])
}
