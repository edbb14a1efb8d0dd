//! How far the members come apart at the door: from the first who is inside to the last.

use super::{Chart, first, places};
use crate::measure::figures::SkewBin;
use crate::report::format::{self, Unit};
use crate::report::plot::{Axis, Key, Mark, Panel, Picture, Plot};
use crate::report::table::Table;
use crate::report::view::ArmView;

pub(super) struct ReleaseSkew;

fn bins<'a>(view: &ArmView<'a>) -> &'a [SkewBin] {
    view.arm.barriers.as_ref().map_or(&[], |barriers| barriers.skew_bins.as_slice())
}

/// The middle of each bin and its share of the arm's barriers in per cent.
fn shares(view: &ArmView) -> Vec<(f64, f64)> {
    let all: u64 = bins(view).iter().map(|bin| bin.barriers).sum();
    let share = |bin: &SkewBin| ((bin.from_ms + bin.to_ms) / 2.0, 100.0 * bin.barriers as f64 / all.max(1) as f64);
    bins(view).iter().filter(|bin| bin.barriers > 0).map(share).collect()
}

impl Chart for ReleaseSkew {
    fn name(&self) -> &'static str {
        "release-skew"
    }

    fn title(&self) -> &'static str {
        "Release skew"
    }

    fn caption(&self) -> &'static str {
        "How long it took from the first member inside to the last, of each barrier of all trials: how often each skew \
         occurred. The axis of time runs in equal ratios. Of each recipe the arm with the most members is drawn; the table has all."
    }

    fn picture(&self, arms: &[ArmView]) -> Result<Picture, String> {
        let largest = super::door::drawn(arms);
        let drawn = places(arms, |view| !bins(view).is_empty() && largest.contains(&view.index));
        let shown = || arms.iter().filter(|view| drawn.contains(&view.index));
        let all = || shown().flat_map(shares);
        let x = Axis::log_ms("first to last member inside", all().map(|(ms, _)| ms).collect::<Vec<_>>())
            .ok_or("No barrier was passed by all of its members.")?;
        let plot = Plot {
            title: String::new(),
            x,
            y: Axis::from_zero("barriers, % of the arm's", all().map(|(_, share)| share), format::tick),
            rules: Vec::new(),
            marks: shown().map(|view| Mark::Stems { arm: view.index, points: shares(view) }).collect(),
        };
        Ok(Picture { columns: 1, key: Key::Arms(drawn), panels: vec![Panel::Plot(plot)] })
    }

    fn tables(&self, arms: &[ArmView]) -> Vec<Table> {
        let mut table = Table::new("How often each skew occurred, all trials", 1, &["arm", "from", "to", "barriers"]);
        for view in arms {
            for bin in bins(view).iter().filter(|bin| bin.barriers > 0) {
                let ms = |value| Unit::Milliseconds.show(value);
                table.row([first(view), ms(bin.from_ms), ms(bin.to_ms), format::count(bin.barriers)]);
            }
        }
        vec![table]
    }
}
