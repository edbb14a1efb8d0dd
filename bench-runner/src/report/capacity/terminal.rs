//! A sweep on the terminal: the answer first, then the tables that it rests on.

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthStr;

use super::{tables, words};
use crate::capacity::document::Capacity;
use crate::report::format::{self, plain};
use crate::report::table::Table;
use crate::report::terminal::COLUMNS;

/// What came of a sweep as text that ends with a line break; with `styled` in ANSI colours.
pub fn terminal(capacity: &Capacity, styled: bool) -> String {
    let paint = |text: &str, style: Style| match styled {
        true => format!("{style}{text}{style:#}"),
        false => text.to_owned(),
    };
    let mut text = String::new();
    // On one line, whatever its length: scripts take the first.
    text += &format!("{}\n", paint(&words::headline(capacity), Style::new().bold()));
    if let Some(why) = &capacity.incomplete_reason {
        text +=
            &format!("\n{}\n", paint(&format!("Incomplete sweep: {}", plain(why)), AnsiColor::Red.on_default().bold()));
    }
    for table in
        [tables::limits(capacity), tables::measured(capacity), tables::growth(capacity), tables::sizing(capacity)]
    {
        text += &laid_out(&table, &paint);
    }
    if capacity.points.iter().any(|point| point.mode == "closed") {
        text += &laid_out(&tables::per_thousand(capacity), &paint);
    }
    for stopped in &capacity.stopped {
        let branch = words::branch(capacity, &stopped.arm, stopped.y);
        let at = capacity.variables.first().map(|axis| words::place(axis.variable, stopped.at)).unwrap_or_default();
        for line in wrap(&format!("{branch} was ended at {at}: {}", plain(&stopped.why)), COLUMNS) {
            text += &format!("\n{line}");
        }
    }
    text += &format!("\n{}\n", order(capacity));
    for warning in &capacity.warnings {
        for line in wrap(&format!("Warning: {}", plain(&warning.text)), COLUMNS) {
            text += &format!("{}\n", paint(&line, AnsiColor::Yellow.on_default()));
        }
        for line in wrap(&plain(&warning.remedy), COLUMNS - 2) {
            text += &format!("  {line}\n");
        }
    }
    text
}

/// How many points there are, and in which order.
pub(super) fn order(capacity: &Capacity) -> String {
    let points = format::plural(capacity.points.len() as u64, "point", "points");
    let time = format::seconds(capacity.spent_seconds.round());
    match capacity.method {
        crate::capacity::document::Method::Sweep => format!(
            "{points} in {time}; the first round climbs, later ones are in random order, drawn by seed {}",
            capacity.seed
        ),
        crate::capacity::document::Method::Search => format!("{points} in {time}, by bisection"),
    }
}

/// A table; where it is too wide, its columns go on below.
fn laid_out(table: &Table, paint: &dyn Fn(&str, Style) -> String) -> String {
    if table.rows.is_empty() {
        return String::new();
    }
    let width = |column: usize| {
        let cells = table.rows.iter().map(|row| row[column].width());
        cells.chain([table.head[column].width()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..table.head.len()).map(width).collect();
    let mut text = String::new();
    // Words lead each line, so that a row is told where its columns are broken.
    let words = table.words.min(table.head.len());
    let leading: usize = widths[..words].iter().map(|width| width + 2).sum();
    let mut from = words;
    while from < table.head.len() {
        let mut to = from;
        let mut used = leading;
        while to < table.head.len() && (to == from || used + widths[to] + 2 <= COLUMNS) {
            used += widths[to] + 2;
            to += 1;
        }
        let columns: Vec<usize> = (0..words).chain(from..to).collect();
        let line = |cells: &[String]| {
            let cell = |column: &usize| {
                let pad = " ".repeat(widths[*column].saturating_sub(cells[*column].width()));
                if *column < words { format!("{}{pad}", cells[*column]) } else { format!("{pad}{}", cells[*column]) }
            };
            columns.iter().map(cell).collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        let head = line(&table.head);
        text += &format!(
            "\n{}\n{}\n",
            paint(&head, Style::new().bold()),
            paint(&"─".repeat(used.saturating_sub(2).max(head.width())), Style::new().dimmed())
        );
        for row in &table.rows {
            text += &format!("{}\n", line(row));
        }
        from = to;
    }
    text
}

/// The text in lines of at most `columns`, broken at spaces.
fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().map_or(0, |line| line.width());
        if last > 0 && last + 1 + word.width() > columns {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}
