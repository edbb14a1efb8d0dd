//! What each further worker costs the servers in memory and CPU: straight lines through the points, by least squares.

use crate::capacity::document::Capacity;
use crate::capacity::figure;
use crate::scenario::Variable;

/// The arm, the second value, and bytes and per cent of a processor for each worker.
type Slopes = (String, Option<f64>, Option<f64>, Option<f64>);

/// Of each branch of the sweep; nothing where workers do not vary.
pub(super) fn of(capacity: &Capacity) -> Vec<Slopes> {
    if capacity.variables.first().is_none_or(|axis| axis.variable != Variable::Workers) {
        return Vec::new();
    }
    let mut branches: Vec<(String, Option<f64>)> = Vec::new();
    for curve in &capacity.curves {
        let branch = (curve.arm.clone(), curve.y);
        if !branches.contains(&branch) {
            branches.push(branch);
        }
    }
    let slope_of = |(label, y): &(String, Option<f64>), name: &str| {
        let own =
            capacity.points.iter().filter(|point| point.is_complete() && (&point.label, &point.cell.y) == (label, y));
        let pairs: Vec<(f64, f64)> = own.filter_map(|point| Some((point.cell.x, point.figure(name)?))).collect();
        slope(&pairs)
    };
    branches
        .into_iter()
        .map(|branch| {
            let (memory, cpu) = (slope_of(&branch, figure::RSS), slope_of(&branch, "nodes_cpu_percent"));
            (branch.0, branch.1, memory, cpu)
        })
        .collect()
}

/// The slope of the line nearest to the pairs; `None` where all have the same x.
fn slope(pairs: &[(f64, f64)]) -> Option<f64> {
    let n = pairs.len() as f64;
    let (mean_x, mean_y) = pairs.iter().fold((0.0, 0.0), |(x, y), pair| (x + pair.0 / n, y + pair.1 / n));
    let xx: f64 = pairs.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    let xy: f64 = pairs.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    (xx > 0.0).then(|| xy / xx)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_slope() {
        assert_eq!(slope(&[(1.0, 5.0), (2.0, 7.0), (4.0, 11.0)]), Some(2.0));
        assert_eq!(slope(&[(1.0, 5.0), (1.0, 7.0)]), None);
    }
}
