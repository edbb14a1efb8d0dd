//! How the notifications of a barrier grow with its members: a power law through the arms that differ in their number.

use std::collections::BTreeMap;

use workloads::settings::{Recipe, Service};

use super::figures::{Growth, GrowthPoint};
use crate::measure::figures::Arm;

/// One for each recipe and service that at least two numbers of members were measured of.
pub fn growths(arms: &[Arm]) -> Vec<Growth> {
    let mut points: BTreeMap<(Recipe, Service), BTreeMap<u32, (u64, u64)>> = BTreeMap::new();
    for arm in arms {
        let Some(barriers) = &arm.barriers else { continue };
        let of_members = points.entry((arm.recipe, arm.service)).or_default().entry(arm.workers).or_default();
        of_members.0 += arm.notifications.client;
        of_members.1 += u64::from(barriers.barriers) * u64::from(arm.trials);
    }
    points.into_iter().filter_map(|((recipe, service), points)| growth(recipe, service, &points)).collect()
}

fn growth(recipe: Recipe, service: Service, points: &BTreeMap<u32, (u64, u64)>) -> Option<Growth> {
    let points: Vec<GrowthPoint> = points
        .iter()
        .filter(|(_, (notifications, barriers))| *notifications > 0 && *barriers > 0)
        .map(|(members, (notifications, barriers))| GrowthPoint {
            members: *members,
            notifications: *notifications as f64 / *barriers as f64,
        })
        .collect();
    let (exponent, factor) = power_law(&points)?;
    Some(Growth { recipe, service, points, exponent, factor })
}

/// The exponent and the factor of the power law nearest to the points, by least squares of the logarithms; `None` where all
/// points have the same number of members.
fn power_law(points: &[GrowthPoint]) -> Option<(f64, f64)> {
    let logs: Vec<(f64, f64)> =
        points.iter().map(|point| (f64::from(point.members).ln(), point.notifications.ln())).collect();
    let n = logs.len() as f64;
    let (mean_x, mean_y) = logs.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 / n, y + point.1 / n));
    let (xy, xx) = logs
        .iter()
        .fold((0.0, 0.0), |(xy, xx), (x, y)| (xy + (x - mean_x) * (y - mean_y), xx + (x - mean_x) * (x - mean_x)));
    if logs.len() < 2 || xx < 1e-9 {
        return None;
    }
    let exponent = xy / xx;
    Some((exponent, (mean_y - exponent * mean_x).exp()))
}

/// How seconds grow with the barriers and with the clients: the exponents a and b of c·barriersᵃ·clientsᵇ, by least squares of the
/// logarithms; `None` for a number that is the same in all points.
pub fn two_axes(points: &[(u32, u32, f64)]) -> (Option<f64>, Option<f64>) {
    let n = points.len() as f64;
    let logs = points.iter().map(|(barriers, clients, seconds)| {
        [f64::from(*barriers).ln(), f64::from(*clients).ln(), seconds.max(f64::MIN_POSITIVE).ln()]
    });
    let mean = logs.clone().fold([0.0; 3], |sum, log| [0, 1, 2].map(|axis| sum[axis] + log[axis] / n));
    // Sums of products of the deviations.
    let sum = |one: usize, other: usize| -> f64 {
        logs.clone().map(|log| (log[one] - mean[one]) * (log[other] - mean[other])).sum()
    };
    let (xx, yy, xy, xz, yz) = (sum(0, 0), sum(1, 1), sum(0, 1), sum(0, 2), sum(1, 2));
    let determinant = xx * yy - xy * xy;
    match (xx > 1e-9, yy > 1e-9) {
        (true, true) if determinant > 1e-9 => {
            (Some((xz * yy - yz * xy) / determinant), Some((yz * xx - xz * xy) / determinant))
        }
        (true, false) => (Some(xz / xx), None),
        (false, true) => (None, Some(yz / yy)),
        _ => (None, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(law: impl Fn(f64) -> f64) -> Option<(f64, f64)> {
        let point = |members: u32| GrowthPoint { members, notifications: law(f64::from(members)) };
        power_law(&[25, 50, 100, 200].map(point))
    }

    #[test]
    fn a_power_law_is_found_again() {
        let (exponent, factor) = fit(|n| 3.0 * n.powf(1.7)).unwrap();
        assert!((exponent - 1.7).abs() < 1e-9 && (factor - 3.0).abs() < 1e-9, "{exponent} {factor}");
    }

    /// What the closed forms give over 25 to 200 members.
    #[test]
    fn the_closed_forms_have_the_exponents_that_they_are_to_have() {
        for (law, expected) in [
            (fit(|n| n * n), 2.0),
            (fit(|n| n * (n - 1.0)), 2.0),
            (fit(|n| 2.0 * n - 1.0), 1.0),
            (fit(|n| 2.0 * (n - 1.0)), 1.0),
        ] {
            let (exponent, _) = law.unwrap();
            assert!((exponent - expected).abs() < 0.1, "{exponent}, not {expected}");
        }
    }

    #[test]
    fn growth_with_two_axes_is_told_apart() {
        let seconds = |b: u32, n: u32| 0.002 * f64::from(b).powf(0.9) * f64::from(n).powf(1.1);
        let grid: Vec<_> = [(10, 5), (20, 5), (40, 20), (10, 20)].map(|(b, n)| (b, n, seconds(b, n))).into();
        let (with_barriers, with_clients) = two_axes(&grid);
        assert!((with_barriers.unwrap() - 0.9).abs() < 1e-9 && (with_clients.unwrap() - 1.1).abs() < 1e-9);
        let (with_barriers, with_clients) = two_axes(&grid[..2]);
        assert!((with_barriers.unwrap() - 0.9).abs() < 1e-9 && with_clients.is_none());
        assert_eq!(two_axes(&[]), (None, None));
    }

    #[test]
    fn one_number_of_members_tells_no_growth() {
        assert_eq!(power_law(&[GrowthPoint { members: 25, notifications: 10.0 }; 3]), None);
        assert_eq!(power_law(&[]), None);
    }
}
