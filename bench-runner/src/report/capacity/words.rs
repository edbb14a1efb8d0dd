//! Places, figures, laws and answers in words.

use crate::capacity::document::{Answer, Capacity, Coefficient, Curve, Reach};
use crate::capacity::figure::Kind;
use crate::capacity::models::Law;
use crate::report::format::{self, ABSENT, Unit, plain, plural, trimmed};
use crate::scenario::Variable;

/// A value of a variable with its name: `140 workers`, `hold 5 ms`.
pub fn place(variable: Variable, value: f64) -> String {
    let number = || format::count(value.round().max(0.0) as u64);
    let one = value.round() == 1.0;
    match variable {
        Variable::Workers => format!("{} {}", number(), if one { "worker" } else { "workers" }),
        Variable::Locks => format!("{} {}", number(), if one { "lock" } else { "locks" }),
        Variable::Nodes => format!("{} {}", number(), if one { "node" } else { "nodes" }),
        Variable::ArrivalRate => format!("{} arrivals a second", trimmed(value)),
        Variable::Hold => format!("hold {}", span(value)),
        Variable::SessionTimeout => format!("session timeout {}", span(value)),
    }
}

/// A value of a variable alone, where its name stands elsewhere.
pub(super) fn value_of(variable: Variable, value: f64) -> String {
    match variable {
        Variable::Workers | Variable::Locks | Variable::Nodes => format::count(value.round().max(0.0) as u64),
        Variable::ArrivalRate => trimmed(value),
        Variable::Hold | Variable::SessionTimeout => span(value),
    }
}

/// The name of a variable's axis.
pub(super) fn axis_name(variable: Variable) -> &'static str {
    match variable {
        Variable::Workers => "workers",
        Variable::Locks => "locks",
        Variable::Nodes => "nodes",
        Variable::ArrivalRate => "arrivals a second",
        Variable::Hold => "hold",
        Variable::SessionTimeout => "session timeout",
    }
}

fn span(ms: f64) -> String {
    Unit::Milliseconds.figure(ms, None).trimmed().to_string()
}

/// A figure of this kind.
pub(super) fn amount(kind: Kind, value: f64) -> String {
    match kind {
        Kind::Rate | Kind::Count => Unit::Number.figure(value, None).trimmed().to_string(),
        Kind::Latency => Unit::Milliseconds.figure(value, None).trimmed().to_string(),
        Kind::Bytes => Unit::Bytes.figure(value, None).trimmed().to_string(),
        Kind::Percent => format!("{} %", trimmed(value)),
    }
}

/// A figure as a tick of an axis.
pub(super) fn tick(kind: Kind) -> fn(f64) -> String {
    match kind {
        Kind::Rate | Kind::Count => format::tick,
        Kind::Latency => |ms| format::unit_tick(ms, Unit::Milliseconds),
        Kind::Bytes => |bytes| format::unit_tick(bytes, Unit::Bytes),
        Kind::Percent => |percent| format!("{} %", trimmed(percent)),
    }
}

/// What a figure's axis is in.
pub(super) fn unit(kind: Kind) -> &'static str {
    match kind {
        Kind::Rate => "a second",
        Kind::Count => "number",
        Kind::Latency => "time",
        Kind::Bytes => "bytes",
        Kind::Percent => "% of one processor",
    }
}

/// `label`, or `label, 3 nodes` where a second variable tells curves apart.
pub(super) fn branch(capacity: &Capacity, arm: &str, y: Option<f64>) -> String {
    let second = capacity.variables.get(1).zip(y).map(|(axis, y)| format!(", {}", place(axis.variable, y)));
    format!("{}{}", plain(arm), second.unwrap_or_default())
}

/// How much an arm carries: `lock/naive: 140 workers (120–165), acquire_ms.p99 < 1000 breaks first`.
pub(super) fn answer(capacity: &Capacity, answer: &Answer) -> String {
    let Some(first) = capacity.variables.first() else { return String::new() };
    let variable = first.variable;
    let label = branch(capacity, &answer.arm, answer.y);
    let breaks = match &answer.breaks_first {
        Some(limit) => format!(", {} breaks first", plain(limit)),
        None => match capacity.stopped.iter().find(|stopped| stopped.arm == answer.arm && stopped.y == answer.y) {
            Some(stopped) => format!(", beyond that {}", plain(&stopped.why)),
            None => String::new(),
        },
    };
    let most = first.values.last().copied().unwrap_or_default();
    match answer.reach {
        Reach::Breaks => {
            let value = answer.value.unwrap_or_default();
            let low = answer.low.map_or_else(|| "less".to_owned(), |low| value_of(variable, low));
            let high = answer.high.map_or_else(|| "more".to_owned(), |high| value_of(variable, high));
            let beyond = if answer.extrapolated { ", beyond what was measured" } else { "" };
            format!("{label}: {} ({low}–{high}){breaks}{beyond}", place(variable, value))
        }
        Reach::AtOnce => {
            let least = answer.broken.or(first.values.first().copied()).unwrap_or_default();
            format!("{label}: fewer than {}{breaks}", place(variable, least))
        }
        Reach::NotReached => {
            let most = answer.kept.unwrap_or(most);
            format!("{label}: more than {}, no limit breaks", place(variable, most))
        }
        Reach::Unknown => format!("{label}: too little was measured to tell"),
    }
}

/// The answers in one line.
pub(super) fn headline(capacity: &Capacity) -> String {
    if capacity.answers.is_empty() {
        let points = plural(capacity.points.len() as u64, "point", "points");
        return match capacity.limits.is_empty() {
            true => format!("{points} measured; without limits in [slo] there is no load to tell"),
            false => format!("{points} measured; what varies is no load, so no limit has a place to break at"),
        };
    }
    let all: Vec<String> = capacity.answers.iter().map(|one| answer(capacity, one)).collect();
    all.join("; ")
}

/// A law's name.
pub(super) fn law(law: Law) -> &'static str {
    match law {
        Law::Constant => "constant",
        Law::PowerLaw => "power law",
        Law::OffsetPowerLaw => "power law with an offset",
        Law::ScalabilityLaw => "scalability law",
        Law::ClosedQueue => "closed queue",
        Law::OpenQueue => "open queue (M/G/1)",
    }
}

/// A coefficient with its interval: `contention 0.0277 (0.0201–0.0388)`.
pub(super) fn coefficient(coefficient: &Coefficient) -> String {
    let name = coefficient.name.replace('_', " ");
    format!("{name} {}", with_interval(coefficient))
}

/// `1.02 (0.98–1.05)`.
pub(super) fn with_interval(coefficient: &Coefficient) -> String {
    let show = significant;
    match (coefficient.low, coefficient.high) {
        (Some(low), Some(high)) => format!("{} ({}–{})", show(coefficient.value), show(low), show(high)),
        _ => show(coefficient.value),
    }
}

/// Three significant digits, also of what is very small: `0.0277`, `1.04e-4`.
pub(super) fn significant(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || size < 1e-9 {
        return "0".to_owned();
    }
    if size < 1e-3 {
        return format!("{value:.2e}");
    }
    if size < 1.0 {
        let places = (2 - size.log10().floor() as i32).clamp(0, 6) as usize;
        return format!("{value:.places$}").replace('-', "−");
    }
    trimmed(value)
}

/// A share in per cent, or the sign that there is none.
pub(super) fn share(value: Option<f64>) -> String {
    value.map_or_else(|| ABSENT.to_owned(), |share| format!("{} %", significant(share * 100.0)))
}

/// Whether a figure grows with the first variable, in words for a table.
pub(super) fn growth(curve: &Curve) -> String {
    curve.exponent.as_ref().map_or_else(|| ABSENT.to_owned(), with_interval)
}
