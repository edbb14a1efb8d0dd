//! A table of text: what stands behind each chart, and what both faces of the report lay out.

/// Rows of text under a heading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Table {
    /// What the rows are.
    pub caption: String,
    /// Names of the columns, units included.
    pub head: Vec<String>,
    /// How many columns, from the left, are words rather than numbers.
    pub words: usize,
    /// The cells.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table with these columns, of which the first `words` hold words.
    pub fn new(caption: impl Into<String>, words: usize, head: &[&str]) -> Self {
        let head = head.iter().map(|name| (*name).to_owned()).collect();
        Self { caption: caption.into(), head, words, rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }
}
