//! The laws that a figure may follow.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A law, by the form of its curve over the swept variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// `y = a`: the null model, that the variable does not matter.
    Constant,
    /// `y = a·x^b`.
    PowerLaw,
    /// `y = c + a·x^b`: a power law beside what does not grow.
    OffsetPowerLaw,
    /// The Universal Scalability Law, `y = λx / (1 + σ(x−1) + κx(x−1))`, with contention σ and coherence κ (Gunther, "Guerrilla
    /// Capacity Planning", Springer 2007).
    ScalabilityLaw,
    /// A closed queue at the lock: `N` workers that rest for Z between a grant and their next acquire, and a lock that takes
    /// `S = s + t·N` for each grant, since the handoff may grow with those who wait. Schweitzer's approximation of mean value
    /// analysis: `R = (NS − Z + √((NS − Z)² + 4SZ)) / 2`, which is `NS` without a rest (Schweitzer 1979; Bard 1979).
    ClosedQueue,
    /// An open queue at the lock, M/G/1: `R = S + v·x·S² / (1 − x·S)` at `x` arrivals a second, by Pollaczek and Khinchine,
    /// where `v = (1 + C²)/2` and C is the coefficient of variation of the service times.
    OpenQueue,
}

/// Whether a coefficient can have any sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// Zero or more.
    Positive,
    /// Any number.
    Any,
}

impl Law {
    /// Its coefficients by name, in order.
    pub fn coefficients(self) -> &'static [(&'static str, Domain)] {
        use Domain::{Any, Positive};
        match self {
            Law::Constant => &[("level", Positive)],
            Law::PowerLaw => &[("factor", Positive), ("exponent", Any)],
            Law::OffsetPowerLaw => &[("offset", Any), ("factor", Any), ("exponent", Any)],
            Law::ScalabilityLaw => &[("rate", Positive), ("contention", Positive), ("coherence", Positive)],
            Law::ClosedQueue => &[("service", Positive), ("service_per_worker", Positive)],
            Law::OpenQueue => &[("service", Positive), ("variation", Positive)],
        }
    }

    /// Its value at `x`, for milliseconds of rest `rest_ms` in a closed queue. Infinite beyond the capacity of an open queue.
    pub fn value(self, coefficients: &[f64], x: f64, rest_ms: f64) -> f64 {
        match (self, coefficients) {
            (Law::Constant, [level]) => *level,
            (Law::PowerLaw, [factor, exponent]) => factor * x.powf(*exponent),
            (Law::OffsetPowerLaw, [offset, factor, exponent]) => offset + factor * x.powf(*exponent),
            (Law::ScalabilityLaw, [rate, contention, coherence]) => {
                rate * x / (1.0 + contention * (x - 1.0) + coherence * x * (x - 1.0))
            }
            (Law::ClosedQueue, [service, per_worker]) => {
                let service = service + per_worker * x;
                let busy = x * service - rest_ms;
                // Written so that nothing is lost where the rest is long.
                let root = (busy * busy + 4.0 * service * rest_ms).sqrt();
                if busy >= 0.0 { (busy + root) / 2.0 } else { 2.0 * service * rest_ms / (root - busy) }
            }
            (Law::OpenQueue, [service, variation]) => {
                // Milliseconds each, arrivals a second.
                let utilisation = x * service / 1e3;
                if utilisation >= 1.0 {
                    return f64::INFINITY;
                }
                service + variation * utilisation * service / (1.0 - utilisation)
            }
            // Coefficients are always as many as the law names.
            _ => f64::NAN,
        }
    }

    /// Where a fit of these observations may begin.
    pub(super) fn starts(self, observed: &[(f64, f64)]) -> Vec<Vec<f64>> {
        let first = observed.iter().copied().reduce(|one, other| if other.0 < one.0 { other } else { one });
        let last = observed.iter().copied().reduce(|one, other| if other.0 > one.0 { other } else { one });
        let ((x0, y0), (x1, y1)) = (first.unwrap_or((1.0, 1.0)), last.unwrap_or((1.0, 1.0)));
        let mean = observed.iter().map(|(_, y)| y).sum::<f64>() / observed.len().max(1) as f64;
        let most = observed.iter().map(|(_, y)| *y).fold(f64::MIN_POSITIVE, f64::max);
        let slope = if x1 > x0 && y0 > 0.0 && y1 > 0.0 { (y1 / y0).ln() / (x1 / x0).ln() } else { 0.0 };
        let factor = |exponent: f64| (y1 / x1.powf(exponent)).max(f64::MIN_POSITIVE);
        match self {
            Law::Constant => vec![vec![mean.max(f64::MIN_POSITIVE)]],
            Law::PowerLaw => vec![vec![factor(slope), slope]],
            Law::OffsetPowerLaw => {
                let rising = [slope, 1.0, 2.0, 0.5].into_iter();
                let rising = rising
                    .flat_map(|exponent| [0.9, 0.3, 0.01].map(|share| vec![share * y0, factor(exponent), exponent]));
                // Towards a level, as the share of those who wait among those who are there.
                rising.chain([vec![y1, (y0 - y1) * x0, -1.0]]).collect()
            }
            Law::ScalabilityLaw => {
                let rate = (y0 / x0).max(f64::MIN_POSITIVE);
                let peak = most / rate;
                [(1e-2, 1e-4), (1e-1, 1e-6), (1e-3, 1e-3), (1.0 / peak.max(1.0), 1e-9)]
                    .into_iter()
                    .flat_map(|(contention, coherence)| {
                        [1.0, 1.5, 4.0].map(|more| vec![more * rate, contention, coherence])
                    })
                    .collect()
            }
            Law::ClosedQueue => {
                let service = (y1 / x1).max(f64::MIN_POSITIVE);
                [0.9, 0.5, 0.05].map(|share| vec![share * service, (1.0 - share) * service / x1]).into()
            }
            Law::OpenQueue => {
                // Below the capacity, or there is no way down for the fit.
                let service = y0.min(900.0 / x1).max(1e-9);
                [0.9, 0.5, 0.1].into_iter().flat_map(|share| [0.5, 2.0].map(|v| vec![share * service, v])).collect()
            }
        }
    }
}
