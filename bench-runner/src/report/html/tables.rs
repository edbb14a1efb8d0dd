//! Tables: the arms side by side, the books, safety, and any other.

use maud::{Markup, html};

use crate::report::barriers;
use crate::report::books::{self, Verdict};
use crate::report::format;
use crate::report::metrics::{self, Cell, Row};
use crate::report::table::Table;
use crate::report::view::ArmView;

/// The arms side by side.
pub(super) fn side_by_side(arms: &[ArmView]) -> Markup {
    html! {
        section {
            h2 { "The arms side by side" }
            (grid("The arms side by side", arms, &metrics::rows(arms), true))
            p.note {
                "± is the sample standard deviation over the trials; latencies are read off the histograms of all trials \
                 merged. “–” was not measured."
            }
        }
    }
}

/// The counts behind the verdict of safety.
pub(super) fn safety(arms: &[ArmView]) -> Markup {
    html! {
        section {
            h2 { "Safety" }
            p.lead {
                "Judged in the same run as the speed. Overlaps, token regressions and lost updates must be 0 for a lock to be \
                 one."
            }
            (grid("Safety", arms, &metrics::safety_rows(arms), false))
        }
    }
}

/// Barriers beside those of 2010; nothing where there is nothing to compare.
pub(super) fn hunt(arms: &[ArmView]) -> Markup {
    html! {
        @if barriers::is_comparable(arms) {
            section {
                h2 { "Beside Hunt et al. 2010" }
                p.lead {
                    "The experiment of table 3 of the ZooKeeper paper: every client enters all barriers, then leaves all. What \
                     compares is the shape, not the seconds: servers and network were others. In proportion to barriers and \
                     clients means exponents of 1 and the same time for each barrier and client."
                }
                @for table in barriers::tables(arms) {
                    h3 { (table.caption) }
                    (self::table(&table))
                }
            }
        }
    }
}

/// Metrics as rows, arms as columns.
fn grid(name: &str, arms: &[ArmView], rows: &[Row], with_setup: bool) -> Markup {
    let many = if arms.len() > 2 { "grid many" } else { "grid" };
    html! {
        div.scroll tabindex="0" role="region" aria-label=(name) {
            table class=(many) {
                thead {
                    tr {
                        td {}
                        @for view in arms {
                            th scope="col" {
                                span.key style=(format!("--key:var({})", crate::report::palette::arm(view.index).property())) {}
                                (label(&view.label))
                            }
                        }
                    }
                    @if with_setup {
                        tr.setup {
                            td {}
                            @for view in arms { td { (setup(view)) } }
                        }
                    }
                }
                tbody {
                    @for (at, row) in rows.iter().enumerate() {
                        tr.group[at > 0 && rows[at - 1].group != row.group] {
                            th scope="row" { (row.name) }
                            @for cell in &row.cells { (shown(cell)) }
                        }
                    }
                }
            }
        }
    }
}

/// A label that may be broken after each slash.
fn label(label: &str) -> Markup {
    html! { @for part in label.split_inclusive('/') { (part) wbr; } }
}

/// What an arm is, in a line.
fn setup(view: &ArmView) -> String {
    let arm = view.arm;
    let trials = format::plural(u64::from(arm.trials), "trial", "trials");
    let locks = match arm.resources {
        0 | 1 => String::new(),
        many => format!(", {} locks", format::count(u64::from(many))),
    };
    let connections = match arm.connections {
        None => String::new(),
        Some(shared) => {
            format!(" over {}", format::plural(u64::from(shared), "shared connection", "shared connections"))
        }
    };
    format!(
        "{}, {}, {}{connections}{locks}, {trials}, {}",
        arm.service,
        format::plain(&arm.mode),
        format::plural(u64::from(arm.workers), "worker", "workers"),
        format::plural(arm.grants, "grant", "grants"),
    )
}

fn shown(cell: &Cell) -> Markup {
    html! {
        @match cell {
            Cell::Absent => td { span.spread { (format::ABSENT) } },
            Cell::Figure(figure) => td {
                (figure.value)
                @if let Some(spread) = &figure.spread { span.spread { " ± " (spread) } }
                @if !figure.symbol.is_empty() { " " (figure.symbol) }
            },
            Cell::Words(words) => td.words { (words) },
            Cell::Alarm(words) => td.words.alarm { strong { (words) } },
        }
    }
}

/// The three books, reconciled.
pub(super) fn books(arms: &[ArmView]) -> Markup {
    let lines = books::lines(arms);
    let kinds = books::by_kind(arms);
    html! {
        section {
            h2 { "Three books" }
            p.lead {
                "Notifications as the workers counted them, as the servers' own counters say, and by the closed form, which \
                 only a settled drain or barrier has (elsewhere: none). Trials are numbered in the order in which they ran."
            }
            div.scroll tabindex="0" role="region" aria-label="Three books" {
                table.books {
                    thead {
                        tr {
                            th scope="col" { "trial" }
                            th.number scope="col" { "client" }
                            th.number scope="col" { "server" }
                            th.number scope="col" { "closed form" }
                            th scope="col" { "verdict" }
                        }
                    }
                    @for lines in lines.chunk_by(|_, next| !next.is_sum) {
                        tbody {
                            tr.arm { th colspan="5" scope="rowgroup" { (lines[0].arm) } }
                            @for line in lines {
                                tr.sum[line.is_sum] {
                                    th scope="row" { (line.trial) }
                                    @for book in &line.books { td.number { (book) } }
                                    td class=(tone(&line.verdict)) { (line.remark()) }
                                }
                            }
                        }
                    }
                }
            }
            @if !kinds.rows.is_empty() {
                details {
                    summary { "By kind of notification" }
                    (table(&kinds))
                }
            }
        }
    }
}

fn tone(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Agree => "verdict good",
        Verdict::OneBook => "verdict quiet",
        Verdict::Differ(_) => "verdict caution",
    }
}

/// Any table of text.
pub(in crate::report) fn table(table: &Table) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(table.caption) {
            table.raw {
                caption { (table.caption) }
                thead {
                    tr {
                        @for (at, name) in table.head.iter().enumerate() {
                            th.number[at >= table.words] scope="col" { (name) }
                        }
                    }
                }
                tbody {
                    @for row in &table.rows {
                        tr {
                            @for (at, cell) in row.iter().enumerate() { td.number[at >= table.words] { (cell) } }
                        }
                    }
                }
            }
        }
    }
}
