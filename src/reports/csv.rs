//! Fields of CSV as RFC 4180 defines it, for programs and spreadsheets.

use std::borrow::Cow;

use curtail_core::visible::one_line;

/// A field on one line, in quotation marks if it needs them. A text that a spreadsheet would run as a formula gets an
/// apostrophe in front, which makes it a text there.
pub(crate) fn csv_field(text: &str) -> String {
    let field = one_line(text);
    let is_number = text.parse::<f64>().is_ok_and(f64::is_finite);
    let formula = text.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']) && !is_number;
    let field = if formula { Cow::Owned(format!("'{field}")) } else { field };
    match field.contains(['"', ',']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.into_owned(),
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
