//! Rows with aligned columns for people, and CSV as RFC 4180 defines it.

use comfy_table::{CellAlignment, Row, Table, presets};

use curtail_core::visible::one_line;

/// What the columns of a table after the first contain.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Columns {
    Texts,
    /// Numbers, which are aligned at their ends.
    Numbers,
}

/// A table of `rows` below `header`.
pub(crate) fn table<R: Into<Row>>(
    header: impl Into<Row>,
    rows: impl IntoIterator<Item = R>,
    columns: Columns,
) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header).add_rows(rows);
    for column in table.column_iter_mut().skip(1).filter(|_| columns == Columns::Numbers) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// The lines of a table, without white space around them.
pub(crate) fn trimmed(table: &Table) -> Vec<String> {
    table.lines().map(|line| line.trim().to_owned()).collect()
}

/// A field on one line, in quotation marks if it needs them. A text that a spreadsheet would run as a formula gets an
/// apostrophe in front, which makes it a text there.
pub(crate) fn csv_field(text: &str) -> String {
    let field = one_line(text);
    let number = || text.parse::<f64>().is_ok_and(f64::is_finite);
    let formula = text.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']) && !number();
    let field = if formula { format!("'{field}") } else { field.into_owned() };
    match field.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field,
    }
}

#[cfg(test)]
mod tests {
    use super::csv_field;

    #[test]
    fn formulas_are_texts() {
        for (text, shown) in [
            ("=1+2", "'=1+2"),
            ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
            ("-2+3", "'-2+3"),
            ("@SUM(A1,A2)", "\"'@SUM(A1,A2)\""),
            ("=HYPERLINK(\"x\")", "\"'=HYPERLINK(\"\"x\"\")\""),
            ("＝1", "'＝1"),
            ("-0.5", "-0.5"),
            ("Bash", "Bash"),
            ("a=b", "a=b"),
        ] {
            assert_eq!(csv_field(text), shown);
        }
    }
}
