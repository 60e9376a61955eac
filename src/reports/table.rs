//! Rows with aligned columns, for people.

use anstyle::Style;

use crate::reports::screen::{COUNT, DIM, NAME, PATH, Screen, broken, columns, painted, without_end, without_middle};
use curtail_core::visible::one_line;

/// What a column contains, and so what becomes of a cell that does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Names, which lose their ends.
    Name,
    /// Paths, which lose their middles.
    Path,
    /// Numbers, which are aligned at their ends and always shown whole.
    Count,
    /// Texts, which lose their ends.
    Text,
    /// Texts of the last column, which are continued below their beginning.
    Prose,
}

impl Kind {
    const fn style(self) -> Style {
        match self {
            Self::Name => NAME,
            Self::Path => PATH,
            Self::Count => COUNT,
            Self::Text | Self::Prose => Style::new(),
        }
    }
}

/// Blanks between two columns.
const GAP: usize = 2;

/// The fewest columns of a cell that is shortened.
const NARROWEST: usize = 8;

/// The lines of columns that are printed together.
#[derive(Debug)]
pub(crate) struct TablePart {
    /// Those of the titles.
    pub(crate) titles: Vec<String>,
    /// Those of each row.
    pub(crate) rows: Vec<Vec<String>>,
}

/// Rows below titles.
#[derive(Debug, Default)]
pub(crate) struct Table {
    titles: Vec<String>,
    kinds: Vec<Kind>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub(crate) fn new<T: Into<String>>(columns: impl IntoIterator<Item = (T, Kind)>) -> Self {
        let (titles, kinds) = columns.into_iter().map(|(title, kind)| (title.into(), kind)).unzip();
        Self { titles, kinds, rows: Vec::new() }
    }

    /// Adds a row, one cell for each column. What a cell quotes cannot break its line.
    pub(crate) fn add<C: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = C>) {
        self.rows.push(cells.into_iter().map(|cell| one_line(cell.as_ref()).into_owned()).collect());
    }

    /// The table with these rows.
    pub(crate) fn with<C: AsRef<str>, R: IntoIterator<Item = C>>(mut self, rows: impl IntoIterator<Item = R>) -> Self {
        rows.into_iter().for_each(|row| self.add(row));
        self
    }

    /// Its lines, which fit on `screen`; titles that are all empty take none. Counts that do not fit beside each other follow in a
    /// table of their own, with the first column again.
    pub(crate) fn lines(&self, screen: Screen) -> Vec<String> {
        TablePart::lines_of(self.parts(screen))
    }

    /// The same, with the lines of the titles and of each row apart.
    pub(crate) fn parts(&self, screen: Screen) -> Vec<TablePart> {
        let widths = self.widths(screen);
        let has_titles = !self.titles.iter().all(String::is_empty);
        let parts = parts(&widths, screen).into_iter().map(|columns| TablePart {
            titles: if has_titles { self.title_lines(&columns, &widths) } else { Vec::new() },
            rows: self.rows.iter().map(|row| self.row_lines(row, &columns, &widths)).collect(),
        });
        parts.collect()
    }

    /// Its text, with a line break after each line.
    pub(crate) fn text(&self, screen: Screen) -> String {
        self.lines(screen).into_iter().map(|line| line + "\n").collect()
    }

    /// The width of each column: that of its widest cell, or less if the table does not fit.
    fn widths(&self, screen: Screen) -> Vec<usize> {
        let cells: Vec<usize> = (0..self.kinds.len()).map(|at| widest(self.rows.iter().map(|row| &*row[at]))).collect();
        let titled = cells.iter().zip(&self.titles);
        let natural: Vec<usize> = titled.clone().map(|(cell, title)| columns(title).max(*cell)).collect();
        let Some(room) = screen.width.filter(|room| total(&natural) > *room) else { return natural };
        // Titles of several words are continued first, which loses nothing.
        let least: Vec<usize> = titled.map(|(cell, title)| widest(title.split(' ')).max(*cell)).collect();
        let mut widths = least.clone();
        while total(&widths) > room {
            let shrinking = (0..widths.len()).filter(|at| self.kinds[*at] != Kind::Count && widths[*at] > NARROWEST);
            let Some(at) = shrinking.max_by_key(|at| widths[*at]) else {
                // It is printed in parts, so names need not be that short.
                return least.iter().map(|width| (*width).min(room / 2)).collect();
            };
            widths[at] -= 1;
        }
        widths
    }

    fn title_lines(&self, part: &[usize], widths: &[usize]) -> Vec<String> {
        let mut titles: Vec<Vec<String>> =
            part.iter().map(|at| broken(&self.titles[*at], widths[*at], widths[*at])).collect();
        // Short titles stand directly above their columns.
        let height = titles.iter().map(Vec::len).max().unwrap_or(0);
        for title in &mut titles {
            title.splice(..0, vec![String::new(); height - title.len()]);
        }
        self.cell_lines(&titles, part, widths, |_| DIM)
    }

    fn row_lines(&self, row: &[String], part: &[usize], widths: &[usize]) -> Vec<String> {
        let cells = part.iter().map(|&at| match self.kinds[at] {
            Kind::Prose => broken(&row[at], widths[at], widths[at]),
            Kind::Path => vec![without_middle(&row[at], widths[at]).into_owned()],
            Kind::Count => vec![row[at].clone()],
            Kind::Name | Kind::Text => vec![without_end(&row[at], widths[at]).into_owned()],
        });
        self.cell_lines(&cells.collect::<Vec<_>>(), part, widths, Kind::style)
    }

    /// The lines of `cells`, which can have several each.
    fn cell_lines(
        &self,
        cells: &[Vec<String>],
        part: &[usize],
        widths: &[usize],
        style: impl Fn(Kind) -> Style,
    ) -> Vec<String> {
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        let lines = (0..height).map(|nth| {
            let cells: Vec<String> = cells.iter().map(|cell| cell.get(nth).cloned().unwrap_or_default()).collect();
            self.line(&cells, part, widths, &style)
        });
        lines.collect()
    }

    /// A line of cells of the columns in `part`, each filled to the width of its column.
    fn line(&self, cells: &[String], part: &[usize], widths: &[usize], style: impl Fn(Kind) -> Style) -> String {
        let mut line = String::new();
        let mut blanks = 0;
        for (cell, &at) in cells.iter().zip(part) {
            let kind = self.kinds[at];
            let fill = widths[at].saturating_sub(columns(cell));
            let (before, after) = if kind == Kind::Count { (fill, 0) } else { (0, fill) };
            blanks += before;
            if !cell.is_empty() {
                line.push_str(&" ".repeat(blanks));
                line.push_str(&painted(style(kind), cell));
                blanks = 0;
            }
            blanks += after + GAP;
        }
        line
    }
}

impl TablePart {
    /// The lines of all parts of a table, with an empty one between two.
    pub(crate) fn lines_of(parts: Vec<Self>) -> Vec<String> {
        let mut lines = Vec::new();
        for part in parts {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            lines.extend(part.titles);
            lines.extend(part.rows.into_iter().flatten());
        }
        lines
    }
}

/// The width of the widest of `texts`.
fn widest<'t>(texts: impl Iterator<Item = &'t str>) -> usize {
    texts.map(columns).max().unwrap_or(0)
}

/// The columns of a table with columns of these widths.
fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

/// The columns that are printed together: as many as fit beside the first one.
fn parts(widths: &[usize], screen: Screen) -> Vec<Vec<usize>> {
    let room = screen.width.unwrap_or(usize::MAX);
    let mut parts: Vec<Vec<usize>> = vec![vec![0]];
    let mut used = widths.first().copied().unwrap_or(0);
    for (at, width) in widths.iter().enumerate().skip(1) {
        if used + GAP + width > room && parts.last().is_some_and(|part| part.len() > 1) {
            parts.push(vec![0]);
            used = widths[0];
        }
        used += GAP + width;
        if let Some(part) = parts.last_mut() {
            part.push(at);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::{Kind, Table};
    use crate::reports::screen::{Screen, columns};

    fn table() -> Table {
        let kinds = [("file", Kind::Path), ("tokens sent", Kind::Count), ("note", Kind::Prose)];
        Table::new(kinds).with([
            ["projects/one/chats/2026/january.jsonl", "1,234", "counted with an estimate of the provider"],
            ["b.jsonl", "5", "exact"],
        ])
    }

    #[test]
    fn a_table_fits_and_loses_no_number() {
        for width in 30..140 {
            let lines = table().lines(Screen { width: Some(width) });
            assert!(lines.iter().all(|line| columns(line) <= width), "{width}: {lines:#?}");
            let text = lines.join(" ");
            let words = ["1,234", "january.jsonl", "exact", "provider"];
            assert!(words.iter().filter(|word| text.contains(*word)).count() >= 3, "{width}: {text}");
        }
    }

    #[test]
    fn a_cell_is_one_line() {
        let table = Table::new([("policy", Kind::Name)]).with([["a\nb\u{1b}[2J"]]);
        assert_eq!(table.lines(Screen::default()).len(), 2);
    }

    #[test]
    fn a_pipe_gets_whole_cells() {
        let lines = table().lines(Screen::default());
        assert!(lines[1].contains("projects/one/chats/2026/january.jsonl"));
        assert_eq!(lines.len(), 3);
    }
}
