//! Rows of counts that are complete, and may be left out.

use std::cmp::Reverse;

use crate::works::count_rows::CountRow;

/// Complete rows. Those that are left out are only counted and added up.
#[derive(Default)]
pub(crate) struct Rows {
    kept: Vec<(String, CountRow)>,
    left_out: usize,
    left_out_sum: CountRow,
}

impl Rows {
    pub(crate) fn kept(&self) -> &[(String, CountRow)] {
        &self.kept
    }

    /// The number of rows that were left out.
    pub(crate) const fn left_out(&self) -> usize {
        self.left_out
    }

    /// What the rows that were left out add up to.
    pub(crate) const fn left_out_sum(&self) -> &CountRow {
        &self.left_out_sum
    }

    pub(crate) fn extend(&mut self, rows: impl IntoIterator<Item = (String, CountRow)>) {
        self.kept.extend(rows);
    }

    /// Sorts the rows by their tokens, the largest first; of equals, the first stays the first.
    pub(crate) fn sort(&mut self) {
        self.kept.sort_by_key(|(_, counts)| Reverse(counts.tokens));
    }

    /// Leaves out the rows after the first `most`.
    pub(crate) fn leave_out_after(&mut self, most: usize) {
        for (_, counts) in self.kept.drain(most.min(self.kept.len())..) {
            self.left_out += 1;
            self.left_out_sum.add(counts);
        }
    }

    /// Removes all rows, because they were written.
    pub(crate) fn clear(&mut self) {
        self.kept.clear();
    }
}
