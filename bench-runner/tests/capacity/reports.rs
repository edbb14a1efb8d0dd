//! What people look at: pages and tables of synthetic sweeps, with everything odd in them that a sweep can have.

use bench_runner::capacity::Capacity;
use bench_runner::capacity::schema::capacity_schema_text;
use bench_runner::report;

use crate::synthetic::{SWEEP, TWO, capacity, scenario, sweep};

fn one() -> Capacity {
    let scenario = scenario(SWEEP);
    capacity(&scenario, sweep(&scenario, 1, 0.05, false), false)
}

fn two() -> Capacity {
    let scenario = scenario(TWO);
    let mut points = sweep(&scenario, 1, 0.05, false);
    points[0].incomplete = Some("every worker lost its session".to_owned());
    points[3].saturated = true;
    points[4].little.as_mut().unwrap().ratio = 0.4;
    capacity(&scenario, points, false)
}

#[test]
fn the_answer_is_in_the_first_line() {
    let capacity = one();
    let text = report::capacity::terminal(&capacity, false);
    let first = text.lines().next().unwrap();
    let answers: Vec<&str> = first.split("; ").collect();
    assert_eq!(answers.len(), 2, "{first}");
    for (answer, arm) in answers.iter().zip(["lock/naive: ", "lock/sequential: "]) {
        assert!(answer.starts_with(arm) && answer.ends_with("acquire_ms.p99 < 1000 breaks first"), "{answer}");
    }
    for words in ["exponent", "drawn by seed 3", "requests/s", "lock/naive was ended at 250 workers"] {
        assert!(text.contains(words), "`{words}` is not in {text}");
    }
    assert!(text.lines().skip(1).all(|line| line.chars().count() <= report::COLUMNS), "{text}");
}

#[test]
fn each_figure_has_a_chart_with_its_limit_and_says_where_it_extrapolates() {
    let capacity = one();
    let charts = report::capacity::charts(&capacity);
    let of = |name: &str| &charts.iter().find(|(file, _)| file == name).unwrap_or_else(|| panic!("{name}")).1;
    let p99 = of("acquire-ms-p99.svg");
    assert!(p99.contains("acquire_ms.p99 &lt; 1000") && p99.contains("extrapolated"), "{p99}");
    assert!(p99.contains("lock/naive") && p99.contains("lock/sequential"));
    assert!(of("requests-per-grant.svg").contains("<polygon") || of("requests-per-grant.svg").contains("<polyline"));
    // No curve goes beyond twice what was measured.
    for curve in &capacity.curves {
        let measured = |x: &&f64| capacity.points.iter().any(|point| point.label == curve.arm && point.cell.x == **x);
        let most = capacity.variables[0].values.iter().filter(measured).copied().fold(0.0, f64::max);
        assert!(curve.line.iter().all(|point| point.x <= 2.0 * most * 1.000_001), "{}", curve.figure);
        assert!(curve.line.iter().all(|point| point.extrapolated == (point.x > most)), "{}", curve.figure);
    }
}

#[test]
fn two_variables_are_a_heat_map_and_a_row_for_each_number_of_nodes() {
    let capacity = two();
    let charts = report::capacity::charts(&capacity);
    assert!(charts.iter().any(|(name, _)| name == "two-variables.svg"));
    let mut nodes: Vec<u32> = capacity.sizing.iter().map(|row| row.nodes).collect();
    nodes.dedup();
    assert_eq!(nodes, [1, 3, 5]);
    let page = report::capacity::page(&capacity);
    assert!(
        page.contains("Little&#39;s law does not hold at 1 of") || page.contains("Little's law does not hold at 1 of")
    );
    assert!(page.contains("every worker lost its session"));
    assert!(!page.contains("http"), "a page asks nobody");
}

#[test]
fn an_empty_sweep_is_a_page_too() {
    let scenario = scenario(SWEEP);
    let capacity = capacity(&scenario, Vec::new(), false);
    assert!(report::capacity::page(&capacity).contains("0 points"));
    assert!(report::capacity::terminal(&capacity, true).contains("0 points"));
}

#[test]
fn text_from_outside_does_no_harm() {
    let text = SWEEP
        .replace("recipe = \"lock/naive\"", "recipe = \"lock/naive\"\nlabel = \"<script>alert(1)</script>\"")
        .replace("How many?", "<b onclick=alert(2)>?</b>");
    let scenario = scenario(&text);
    let mut points = sweep(&scenario, 1, 0.05, false);
    points[0].incomplete = Some("<img src=x onerror=alert(3)>\u{1b}[31m".to_owned());
    let capacity = capacity(&scenario, points, false);
    let page = report::capacity::page(&capacity);
    assert!(!page.contains("<script>alert") && !page.contains("<b onclick") && !page.contains("<img"), "{page}");
    assert!(!report::capacity::terminal(&capacity, false).contains('\u{1b}'));
}

#[test]
fn the_schema_is_fresh() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../results/capacity.schema.json");
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    let command = "bench-runner schema capacity > results/capacity.schema.json";
    assert!(committed == capacity_schema_text(), "it is not what the types say now; renew it with: {command}");
}
