//! Acquisition latency by percentile.

use super::{Chart, percentiles};
use crate::report::plot::Picture;
use crate::report::table::Table;
use crate::report::view::ArmView;

pub(super) struct Acquire;

impl Chart for Acquire {
    fn name(&self) -> &'static str {
        "acquire"
    }

    fn title(&self) -> &'static str {
        "Acquisition latency by percentile"
    }

    fn caption(&self) -> &'static str {
        "From the moment at which a worker called (in an open loop: was due) to its grant, all trials. To the right each \
         further nine takes the same room: 99 is one acquisition in a hundred, 99.9 one in a thousand. A lock that is always \
         held makes everybody wait their turn; compare the shapes of the tails, not only their height."
    }

    fn picture(&self, arms: &[ArmView]) -> Result<Picture, String> {
        percentiles::picture(arms, "acquire", "called or due → granted")
            .ok_or_else(|| "No acquisition was granted, so there is no latency to show.".to_owned())
    }

    fn tables(&self, arms: &[ArmView]) -> Vec<Table> {
        vec![percentiles::table(arms, "acquire")]
    }
}
