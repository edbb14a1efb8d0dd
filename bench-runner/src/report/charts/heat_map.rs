//! Acquisition latency over time, one heat map for each arm.

use super::Chart;
use crate::measure::figures;
use crate::report::format::{self, Unit};
use crate::report::plot::{Axis, HeatCell, Key, Mark, Panel, Picture, Plot, heat_level};
use crate::report::table::Table;
use crate::report::view::ArmView;

pub(super) struct HeatMap;

impl Chart for HeatMap {
    fn name(&self) -> &'static str {
        "latency-over-time"
    }

    fn title(&self) -> &'static str {
        "Latency over time"
    }

    fn caption(&self) -> &'static str {
        "When grants came and how long they had been waited for; all trials laid over one another. The darker a cell (in the \
         dark theme: the brighter), the more grants fell into it; all arms have the same axes and the same colours."
    }

    fn picture(&self, arms: &[ArmView]) -> Result<Picture, String> {
        let missing = || "No acquisition was granted, so there is no latency over time to show.".to_owned();
        let map = |view: &ArmView| -> Vec<HeatCell> { cells(&view.arm.series.heat_map, most(arms)) };
        let with: Vec<&ArmView> = arms.iter().filter(|view| most_of(&view.arm.series.heat_map) > 0).collect();
        // The axes span what has grants, not the empty rows and columns around it.
        let spanned: Vec<HeatCell> = with.iter().flat_map(|view| map(view)).collect();
        let x = Axis::time("seconds since the trial began", spanned.iter().map(|cell| cell.x.1));
        let edges: Vec<f64> = spanned.iter().flat_map(|cell| [cell.y.0, cell.y.1]).collect();
        let y = Axis::log_ms("called or due → granted", edges).ok_or_else(missing)?;
        let panels = with
            .iter()
            .map(|view| {
                Panel::Plot(Plot {
                    title: view.label.clone(),
                    x: x.clone(),
                    y: y.clone(),
                    rules: Vec::new(),
                    marks: vec![Mark::Heat(map(view))],
                })
            })
            .collect();
        Ok(Picture { columns: 2, key: Key::Heat(most(arms)), panels })
    }

    fn tables(&self, arms: &[ArmView]) -> Vec<Table> {
        let mut table = Table::new(
            "Grants by time and latency; empty cells left out",
            1,
            &["arm", "from second", "from", "to", "grants"],
        );
        for view in arms {
            let map = &view.arm.series.heat_map;
            for (column, rows) in map.counts.iter().enumerate() {
                for (row, grants) in rows.iter().enumerate().filter(|(_, grants)| **grants > 0) {
                    let edge = |at: usize| map.row_edges_ms.get(at).map(|ms| Unit::Milliseconds.show(*ms));
                    table.row([
                        view.label.clone(),
                        format::trimmed(column as f64 * map.column_seconds),
                        edge(row).unwrap_or_default(),
                        edge(row + 1).unwrap_or_default(),
                        format::count(*grants),
                    ]);
                }
            }
        }
        vec![table]
    }
}

fn most_of(map: &figures::HeatMap) -> u64 {
    map.counts.iter().flatten().copied().max().unwrap_or(0)
}

fn most(arms: &[ArmView]) -> u64 {
    arms.iter().map(|view| most_of(&view.arm.series.heat_map)).max().unwrap_or(0)
}

/// The map's cells that have grants; neighbours in a row that have the same colour are one rectangle.
fn cells(map: &figures::HeatMap, most: u64) -> Vec<HeatCell> {
    let mut cells = Vec::new();
    for (row, edges) in map.row_edges_ms.windows(2).enumerate() {
        let mut open: Option<HeatCell> = None;
        for (column, rows) in map.counts.iter().enumerate() {
            let x = (column as f64 * map.column_seconds, (column + 1) as f64 * map.column_seconds);
            let level = rows.get(row).filter(|grants| **grants > 0).map(|grants| heat_level(*grants, most));
            match (&mut open, level) {
                (Some(cell), Some(level)) if cell.level == level => cell.x.1 = x.1,
                (_, level) => {
                    cells.extend(open.take());
                    open = level.map(|level| HeatCell { x, y: (edges[0], edges[1]), level });
                }
            }
        }
        cells.extend(open);
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_one_colour_become_one_rectangle() {
        let map = figures::HeatMap {
            column_seconds: 0.5,
            row_edges_ms: vec![1.0, 2.0, 4.0],
            counts: vec![vec![5, 0], vec![5, 1], vec![0, 1], vec![5, 0]],
        };
        let cells = cells(&map, 5);
        let spans: Vec<_> = cells.iter().map(|cell| (cell.x, cell.y)).collect();
        assert_eq!(spans, [((0.0, 1.0), (1.0, 2.0)), ((1.5, 2.0), (1.0, 2.0)), ((0.5, 1.5), (2.0, 4.0))]);
    }
}
