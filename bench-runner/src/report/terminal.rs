//! The report on a terminal: the arms side by side, the three books, the answer, the notices. At most [`COLUMNS`] wide;
//! where the arms do not fit beside one another, they are laid out in several groups.

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthStr;

use crate::report::books::{self, Verdict};
use crate::report::controls;
use crate::report::format;
use crate::report::headline::headline;
use crate::report::metrics::{self, Cell, Row};
use crate::report::notices::{Level, notices};
use crate::report::view::{ArmView, arms};
use crate::results::summary::Summary;

/// The widest line, in terminal columns.
pub const COLUMNS: usize = 100;

/// The widest that an arm's label may make its column.
const LABEL_COLUMNS: usize = 28;

/// Space between columns.
const GAP: usize = 3;

/// The report of a run as text that ends with a line break. With `styled` it has ANSI colours; whether the terminal wants
/// them (`NO_COLOR`, a pipe) is the caller's to know.
pub fn terminal(summary: &Summary, styled: bool) -> String {
    let arms = arms(summary);
    let mut page = Page { text: String::new(), styled };
    if arms.is_empty() {
        page.line("no arm was measured");
    } else {
        page.side_by_side(&arms);
        page.books(&arms);
    }
    for sentence in headline(summary).sentences {
        page.blank();
        page.paragraph(&sentence, 0, BOLD);
    }
    for (view, one) in arms.iter().filter_map(|view| Some((view, controls::explain(view.arm)?))) {
        page.blank();
        let (word, style) = if one.caught { ("caught", BOLD) } else { ("not caught", ALARM) };
        page.paragraph(&format!("Control {}: {word}. {} {}", view.label, one.wrong, one.found), 0, style);
        page.paragraph(&one.why, 2, Style::new());
    }
    for notice in notices(summary) {
        page.blank();
        let style = match notice.level {
            Level::Violation | Level::Alarm => ALARM,
            Level::Caution => CAUTION,
        };
        page.paragraph(&format!("{}: {}", notice.title, notice.text), 0, style);
        if !notice.remedy.is_empty() {
            page.paragraph(&notice.remedy, 2, Style::new());
        }
    }
    page.text
}

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const ALARM: Style = AnsiColor::Red.on_default().bold();
const CAUTION: Style = AnsiColor::Yellow.on_default();
const GOOD: Style = AnsiColor::Green.on_default();

/// Text under construction.
struct Page {
    text: String,
    styled: bool,
}

/// A cell ready to be laid out.
struct Piece {
    text: String,
    style: Style,
}

impl Page {
    fn paint(&self, text: &str, style: Style) -> String {
        if self.styled && style != Style::new() { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn blank(&mut self) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
    }

    /// `text` broken at spaces so that it fits, each line indented.
    fn paragraph(&mut self, text: &str, indent: usize, style: Style) {
        let room = COLUMNS - indent;
        let mut current = String::new();
        let mut lines = Vec::new();
        for word in text.split_whitespace() {
            if !current.is_empty() && current.width() + 1 + word.width() > room {
                lines.push(std::mem::take(&mut current));
            }
            if !current.is_empty() {
                current.push(' ');
            }
            current.push_str(word);
        }
        lines.push(current);
        for line in lines {
            let line = self.paint(&line, style);
            self.line(&format!("{}{line}", " ".repeat(indent)));
        }
    }

    /// Metrics as rows, arms as columns; as many arms beside one another as fit.
    fn side_by_side(&mut self, arms: &[ArmView]) {
        let mut rows = metrics::rows(arms);
        rows.extend(metrics::safety_rows(arms));
        let first = rows.iter().map(|row| row.name.width()).max().unwrap_or(0);
        let labels: Vec<String> = arms.iter().map(|view| format::shorten(&view.label, LABEL_COLUMNS)).collect();
        let widths: Vec<usize> = labels
            .iter()
            .enumerate()
            .map(|(arm, label)| {
                rows.iter().map(|row| row.cells[arm].text().width()).max().unwrap_or(0).max(label.width())
            })
            .collect();
        let mut start = 0;
        while start < arms.len() {
            let mut end = start;
            let mut used = first;
            while end < arms.len() && (end == start || used + GAP + widths[end] <= COLUMNS) {
                used += GAP + widths[end];
                end += 1;
            }
            self.blank();
            self.group(&rows, &labels, &widths, first, start..end);
            start = end;
        }
    }

    fn group(&mut self, rows: &[Row], labels: &[String], widths: &[usize], first: usize, arms: std::ops::Range<usize>) {
        let gap = " ".repeat(GAP);
        let mut head = " ".repeat(first);
        let mut width = first;
        for arm in arms.clone() {
            head += &gap;
            head += &self.paint(&right(&labels[arm], widths[arm]), BOLD);
            width += GAP + widths[arm];
        }
        self.line(&head);
        let rule = self.paint(&"─".repeat(width), DIM);
        let mut group = "";
        for row in rows {
            if row.group != group && (group.is_empty() || row.group == "Safety") {
                self.line(&rule);
            }
            group = row.group;
            let mut line = left(row.name, first);
            for arm in arms.clone() {
                let style = match &row.cells[arm] {
                    Cell::Alarm(_) => ALARM,
                    Cell::Words(words) if words == "kept" => GOOD,
                    Cell::Absent => DIM,
                    Cell::Figure(_) | Cell::Words(_) => Style::new(),
                };
                let text = row.cells[arm].text();
                line += &gap;
                line += &" ".repeat(widths[arm].saturating_sub(text.width()));
                line += &self.paint(&text, style);
            }
            self.line(&line);
        }
    }

    /// Client, server and closed form, for each arm and trial.
    fn books(&mut self, arms: &[ArmView]) {
        let head = ["notifications", "trial", "client", "server", "closed form", "verdict"];
        let rows: Vec<[Piece; 6]> = books::lines(arms)
            .into_iter()
            .map(|line| {
                let remark = line.remark();
                let verdict = match line.verdict {
                    Verdict::Agree => GOOD,
                    Verdict::OneBook => DIM,
                    Verdict::Differ(_) => CAUTION,
                };
                let base = if line.is_sum { Style::new() } else { DIM };
                let [client, server, form] = line.books;
                let label = if line.is_sum { format::shorten(&line.arm, LABEL_COLUMNS) } else { String::new() };
                [
                    Piece { text: label, style: base },
                    Piece { text: line.trial, style: base },
                    Piece { text: client, style: base },
                    Piece { text: server, style: base },
                    Piece { text: form, style: base },
                    Piece { text: remark, style: verdict },
                ]
            })
            .collect();
        let mut widths = head.map(str::width);
        for row in &rows {
            for (width, piece) in widths.iter_mut().zip(row) {
                *width = (*width).max(piece.text.width());
            }
        }
        // A long remark gets a line of its own.
        let before: usize = widths[..5].iter().sum::<usize>() + 5 * GAP;
        widths[5] = widths[5].min(COLUMNS.saturating_sub(before));
        self.blank();
        let heads = if widths[5] < head[5].width() { &head[..5] } else { &head[..] };
        let names: Vec<String> =
            heads.iter().zip(widths).enumerate().map(|(at, (name, width))| cell(at, name, width)).collect();
        let names = self.paint(&names.join(&" ".repeat(GAP)), BOLD);
        self.line(&names);
        let rule = self.paint(&"─".repeat(before + widths[5]), DIM);
        self.line(&rule);
        for row in &rows {
            let fits = row[5].text.width() <= widths[5];
            let beside = if fits { 6 } else { 5 };
            let cells = row.iter().zip(widths).enumerate().take(beside);
            let cells: Vec<String> =
                cells.map(|(at, (piece, width))| self.paint(&cell(at, &piece.text, width), piece.style)).collect();
            self.line(&cells.join(&" ".repeat(GAP)));
            if !fits {
                self.paragraph(&row[5].text, 2, row[5].style);
            }
        }
    }
}

/// A cell of the books: words to the left, numbers to the right.
fn cell(at: usize, text: &str, width: usize) -> String {
    match at {
        0 => left(text, width),
        // Nothing follows the remark, so it is not padded.
        5 => text.to_owned(),
        _ => right(text, width),
    }
}

fn left(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

fn right(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(text.width())))
}
