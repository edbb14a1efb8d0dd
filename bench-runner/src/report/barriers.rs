//! Double barriers beside those of Hunt et al.: the table of 2010, and what this run measured.

use crate::measure::barrier::growth::two_axes;
use crate::report::format::{self, Unit};
use crate::report::table::Table;
use crate::report::view::ArmView;

/// Hunt, Konar, Junqueira, Reed: "ZooKeeper: Wait-free coordination for Internet-scale systems", USENIX ATC 2010, table 3:
/// barriers, clients, and the mean seconds for a client to enter all barriers and leave all, over five runs.
const HUNT_2010: [(u32, u32, f64); 12] = [
    (200, 50, 9.4),
    (200, 100, 19.8),
    (200, 200, 41.0),
    (400, 50, 16.4),
    (400, 100, 34.1),
    (400, 200, 62.0),
    (800, 50, 28.9),
    (800, 100, 55.9),
    (800, 200, 112.1),
    (1600, 50, 54.0),
    (1600, 100, 102.7),
    (1600, 200, 234.4),
];

/// What the paper's text gives for an enter or leave.
const HUNT_REQUESTS: f64 = 5.5;

/// One row: barriers, clients, seconds.
type Point = (u32, u32, f64);

/// This run's points, each with its label and requests for each operation; of arms that enter all barriers and then leave all.
fn points(arms: &[ArmView]) -> Vec<(Point, String, Option<f64>)> {
    arms.iter()
        .filter_map(|view| {
            let barriers =
                view.arm.barriers.as_ref().filter(|barriers| !barriers.settled && barriers.operations > 0)?;
            let point = (barriers.barriers, view.arm.workers, barriers.client_seconds.mean);
            let who = format!("{}, this run", view.arm.service);
            Some((point, format!("{} on {who}", view.arm.recipe), barriers.requests_per_operation))
        })
        .collect()
}

/// Whether there is anything to compare.
pub(super) fn is_comparable(arms: &[ArmView]) -> bool {
    !points(arms).is_empty()
}

fn row(table: &mut Table, who: &str, (barriers, clients, seconds): Point, requests: Option<f64>) {
    let each = seconds * 1e3 / f64::from(barriers) / f64::from(clients);
    // Each client enters and leaves each barrier.
    let rate = 2.0 * f64::from(barriers) * f64::from(clients) / seconds;
    table.row([
        who.to_owned(),
        format::count(u64::from(clients)),
        format::count(u64::from(barriers)),
        format::seconds(seconds),
        Unit::Milliseconds.show(each),
        Unit::Number.show(rate),
        requests.map_or_else(|| format::ABSENT.to_owned(), |requests| Unit::Number.show(requests)),
    ]);
}

/// The paper's table and this run's, row by row.
pub(super) fn tables(arms: &[ArmView]) -> Vec<Table> {
    let ours = points(arms);
    let head = ["who", "clients", "barriers", "time", "per barrier and client", "operations/s", "requests"];
    let mut table = Table::new(
        "Time for a client to enter all barriers and leave all, and requests for each of these operations",
        1,
        &head,
    );
    for point in HUNT_2010 {
        row(&mut table, "Hunt et al. 2010", point, Some(HUNT_REQUESTS));
    }
    for (point, who, requests) in &ours {
        row(&mut table, who, *point, *requests);
    }
    let head = ["who", "with the barriers", "with the clients"];
    let mut growth = Table::new("How the seconds grow: exponents, of which 1 is in proportion", 1, &head);
    let mut grown = |who: &str, points: &[Point]| {
        let show = |exponent: Option<f64>| exponent.map_or_else(|| format::ABSENT.to_owned(), |e| format!("{e:.2}"));
        let (with_barriers, with_clients) = two_axes(points);
        growth.row([who.to_owned(), show(with_barriers), show(with_clients)]);
    };
    grown("Hunt et al. 2010", &HUNT_2010);
    let mut names: Vec<&String> = ours.iter().map(|(_, who, _)| who).collect();
    names.dedup();
    for name in names {
        let points: Vec<Point> = ours.iter().filter(|(_, who, _)| who == name).map(|(point, ..)| *point).collect();
        grown(name, &points);
    }
    vec![growth, table]
}
