//! Points as a sweep would store them, drawn from laws with known coefficients.

use std::collections::BTreeMap;

use bench_runner::capacity::Capacity;
use bench_runner::capacity::compose::{self, header};
use bench_runner::capacity::document::Method;
use bench_runner::capacity::little::Little;
use bench_runner::capacity::point::{Cell, Point};
use bench_runner::results::environment;
use bench_runner::scenario::{self, Scenario};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// A sweep of both locks.
pub const SWEEP: &str = r#"version = 1
question = "How many?"
seed = 3
[workers]
mode = "drain"
[sweep]
workers = [10, 20, 35, 60, 100, 160, 250, 400, 650, 1000]
repeats = 3
[slo]
limits = ["acquire_ms.p99 < 1000", "bystander_ms.p99 < 50"]
[[arm]]
recipe = "lock/naive"
[[arm]]
recipe = "lock/sequential"
"#;

/// The same over two variables.
pub const TWO: &str = r#"version = 1
question = "How many, on how many?"
[workers]
mode = "closed"
think = "100ms"
[sweep]
workers = [10, 40, 160]
nodes = [1, 3, 5]
repeats = 2
[slo]
limits = ["acquire_ms.p99 < 1000"]
[[arm]]
recipe = "lock/sequential"
[[arm]]
recipe = "lock/naive"
"#;

pub fn scenario(text: &str) -> Scenario {
    scenario::parse("synthetic", text, &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// Draws figures.
pub struct Source {
    random: StdRng,
    /// Spread of times and rates, of their logarithm.
    pub noise: f64,
    order: u32,
}

impl Source {
    pub fn new(seed: u64, noise: f64) -> Source {
        Source { random: StdRng::seed_from_u64(seed), noise, order: 0 }
    }

    /// A factor around 1 whose logarithm is normal (Box and Muller).
    pub fn factor(&mut self) -> f64 {
        let (u, v): (f64, f64) = (self.random.random::<f64>().max(1e-300), self.random.random());
        (self.noise * (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()).exp()
    }

    /// A point of the naive (0) or the herd-free lock (1): a grant takes 2 ms and 0.1 ms for each worker, or 4 ms.
    pub fn point(&mut self, scenario: &Scenario, cell: Cell) -> Point {
        self.order += 1;
        let (n, arm) = (cell.x, &scenario.arms[cell.arm]);
        let is_naive = arm.label == "lock/naive";
        let grant_ms = if is_naive { 2.0 + 0.1 * n } else { 4.0 } * cell.y.map_or(1.0, |nodes| 1.0 + 0.1 * nodes);
        let mut figures = BTreeMap::new();
        let mut add = |name: &str, value: f64| figures.insert(name.to_owned(), value);
        let (times, rates) = (self.factor(), self.factor());
        add("grants_per_second", 1e3 / grant_ms * rates);
        add("acquire_ms.p99", n * grant_ms * times);
        add("acquire_ms.p50", n * grant_ms / 2.0 * self.factor());
        add("bystander_ms.during.p99", 2.0 * self.factor());
        add("requests.per_grant", if is_naive { n + 2.0 } else { 5.0 });
        add("notifications.per_grant", if is_naive { (n - 1.0) / 2.0 } else { (n - 1.0) / n });
        add("requests.response_bytes_per_grant", if is_naive { 100.0 * n } else { 300.0 + 57.0 * n });
        add("nodes_cpu_percent", 40.0 * self.factor());
        add("nodes_rss_bytes", 3e8 + 40e3 * n);
        add("nodes_sessions", n);
        let ratio = 1.0;
        Point {
            cell,
            order: self.order,
            started: "2026-11-30T09:12:44Z".to_owned(),
            spent_seconds: 2.0,
            label: arm.label.clone(),
            recipe: arm.workers.recipe,
            service: arm.service,
            mode: if scenario.arms[0].workers.mode == workloads::settings::Mode::Drain { "drain" } else { "closed" }
                .to_owned(),
            workers: n as u32,
            locks: 1,
            nodes: cell.y.unwrap_or(3.0) as u32,
            think_ms: 0.0,
            incomplete: None,
            saturated: false,
            held_back: 0,
            violation: None,
            little: Some(Little {
                population: n,
                done_per_second: 1e3 / grant_ms,
                residence_seconds: n * grant_ms / 1e3,
                rest_seconds: 0.0,
                ratio,
            }),
            figures,
        }
    }
}

/// A whole sweep of the scenario, as the plan has it.
pub fn sweep(scenario: &Scenario, seed: u64, noise: f64, search: bool) -> Vec<Point> {
    use bench_runner::capacity::plan::Plan;
    let settings = scenario.sweep.as_ref().unwrap();
    let rules = compose::rules(&scenario.slo, settings);
    let plan = Plan::of(scenario, search).unwrap();
    let mut source = Source::new(seed, noise);
    let mut points = Vec::new();
    while let Some(cell) = plan.next(&rules, settings, scenario.arms.len(), &points) {
        points.push(source.point(scenario, cell));
        assert!(points.len() < 5_000, "the plan comes to an end");
    }
    points
}

/// What is made of it.
pub fn capacity(scenario: &Scenario, points: Vec<Point>, search: bool) -> Capacity {
    let header = header(scenario, search, "2026-11-30T09:12:44Z".to_owned(), environment::collect(scenario, &[]));
    assert_eq!(header.method == Method::Search, search);
    compose::compose(&header, scenario, scenario.sweep.as_ref().unwrap(), points, None)
}
