//! Response bytes per grant, by arm and by kind of request.

use super::{Chart, first, places};
use crate::report::format::{self, Unit};
use crate::report::plot::{Axis, Bar, Form, Group, Key, Panel, Picture, Rows};
use crate::report::table::Table;
use crate::report::view::ArmView;

pub(super) struct ResponseBytes;

impl Chart for ResponseBytes {
    fn name(&self) -> &'static str {
        "response-bytes"
    }

    fn title(&self) -> &'static str {
        "Response bytes per grant"
    }

    fn caption(&self) -> &'static str {
        "Bytes that the servers answered for each grant, headers included, notifications not; all trials. Herd-free is not \
         free: whoever lists the children of a queue of N names is answered with N names."
    }

    fn picture(&self, arms: &[ArmView]) -> Result<Picture, String> {
        let drawn = places(arms, |view| view.arm.requests.response_bytes_per_grant.is_some());
        if drawn.is_empty() {
            return Err("No arm had a grant, so there are no response bytes per grant to show.".to_owned());
        }
        let bar = |arm: usize, bytes: f64| Bar { arm, form: Form::Plain, to: bytes, text: Unit::Bytes.show(bytes) };
        let by_arm: Vec<Group> = arms
            .iter()
            .filter_map(|view| {
                let bytes = view.arm.requests.response_bytes_per_grant?;
                Some(Group { name: view.label.clone(), bars: vec![bar(view.index, bytes)] })
            })
            .collect();
        let mut kinds: Vec<&String> = arms.iter().flat_map(|view| view.arm.requests.by_kind.keys()).collect();
        kinds.sort();
        kinds.dedup();
        let by_kind: Vec<Group> = kinds
            .into_iter()
            .map(|kind| Group {
                name: format::plain(kind),
                bars: arms
                    .iter()
                    .filter_map(|view| {
                        Some(bar(view.index, per_grant(view, view.arm.requests.by_kind.get(kind)?.response_bytes)?))
                    })
                    .collect(),
            })
            // Where no byte was counted, as of keep-alives, 0 would be a number that nobody counted.
            .filter(|group| group.bars.iter().any(|bar| bar.to > 0.0))
            .collect();
        let panel = |title: &str, groups: Vec<Group>| {
            let values: Vec<f64> = groups.iter().flat_map(|group| &group.bars).map(|bar| bar.to).collect();
            let x = Axis::from_zero("response bytes per grant", values, |bytes| format::unit_tick(bytes, Unit::Bytes));
            Panel::Rows(Rows { title: title.to_owned(), x, groups })
        };
        let mut panels = vec![panel("In all", by_arm)];
        if !by_kind.is_empty() {
            panels.push(panel("By kind of request", by_kind));
        }
        Ok(Picture { columns: 2, key: Key::Arms(drawn), panels })
    }

    fn tables(&self, arms: &[ArmView]) -> Vec<Table> {
        let head = ["arm", "request", "requests", "requests per grant", "response bytes", "bytes per grant"];
        let mut table = Table::new("Requests and response bytes by kind, all trials", 2, &head);
        for view in arms {
            for (kind, of_kind) in &view.arm.requests.by_kind {
                let each = |value: u64, unit: Unit| {
                    per_grant(view, value).map_or_else(|| format::ABSENT.to_owned(), |value| unit.show(value))
                };
                let (bytes, each_bytes) = match of_kind.response_bytes {
                    0 => (format::ABSENT.to_owned(), format::ABSENT.to_owned()),
                    bytes => (format::count(bytes), each(bytes, Unit::Bytes)),
                };
                table.row([
                    first(view),
                    format::plain(kind),
                    format::count(of_kind.requests),
                    each(of_kind.requests, Unit::Number),
                    bytes,
                    each_bytes,
                ]);
            }
        }
        vec![table]
    }
}

/// `value` for each grant of the arm; `None` without grants.
fn per_grant(view: &ArmView, value: u64) -> Option<f64> {
    (view.arm.grants > 0).then(|| value as f64 / view.arm.grants as f64)
}
