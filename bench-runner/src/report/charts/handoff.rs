//! Handoff by percentile.

use super::{Chart, percentiles};
use crate::report::plot::Picture;
use crate::report::table::Table;
use crate::report::view::ArmView;

pub(super) struct Handoff;

impl Chart for Handoff {
    fn name(&self) -> &'static str {
        "handoff"
    }

    fn title(&self) -> &'static str {
        "Handoff"
    }

    fn caption(&self) -> &'static str {
        "From the moment at which a release was sent to the next grant of the same lock, where somebody was waiting: the \
         time for which the lock stands idle. All trials."
    }

    fn picture(&self, arms: &[ArmView]) -> Result<Picture, String> {
        percentiles::picture(arms, "handoff", "release sent → next grant")
            .ok_or_else(|| "No lock was handed on while somebody waited, so there is no handoff to show.".to_owned())
    }

    fn tables(&self, arms: &[ArmView]) -> Vec<Table> {
        vec![percentiles::table(arms, "handoff")]
    }
}
