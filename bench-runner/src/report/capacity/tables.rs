//! The tables of a sweep: how much each arm carries, how figures grow, which laws they follow, what the servers carried.

use super::words;
use crate::capacity::document::{Capacity, Reach};
use crate::capacity::figure::{self, Kind};
use crate::report::format::{self, ABSENT, Unit, plain};
use crate::report::table::Table;

/// Where each limit breaks, and what was measured of it.
pub(super) fn limits(capacity: &Capacity) -> Table {
    let mut table = Table::new("Where each limit breaks", 2, &["arm", "limit", "breaks at", "95 % interval", "law"]);
    let Some(first) = capacity.variables.first() else { return table };
    let show = |value: f64| words::value_of(first.variable, value);
    for answer in &capacity.answers {
        for limit in &answer.limits {
            let breaks = match limit.reach {
                Reach::Breaks => limit.value.map(show).unwrap_or_default(),
                Reach::AtOnce => "at once".to_owned(),
                Reach::NotReached => "nowhere".to_owned(),
                Reach::Unknown => ABSENT.to_owned(),
            };
            let low = limit.low.map_or_else(|| "less".to_owned(), show);
            let high = limit.high.map_or_else(|| "more".to_owned(), show);
            let interval = match limit.reach {
                Reach::Breaks => format!("{low} to {high}"),
                _ => ABSENT.to_owned(),
            };
            let mark = if limit.extrapolated { " (extrapolated)" } else { "" };
            table.row([
                words::branch(capacity, &answer.arm, answer.y),
                plain(&limit.limit.to_string()),
                format!("{breaks}{mark}"),
                interval,
                words::law(limit.law).to_owned(),
            ]);
        }
    }
    table
}

/// The largest load that was measured and kept every limit, and the smallest that broke one.
pub(super) fn measured(capacity: &Capacity) -> Table {
    let mut table =
        Table::new("What was measured of it", 1, &["arm", "largest kept", "smallest broken", "ended early at"]);
    let Some(first) = capacity.variables.first() else { return table };
    let show =
        |value: Option<f64>| value.map_or_else(|| ABSENT.to_owned(), |value| words::value_of(first.variable, value));
    for answer in &capacity.answers {
        let stopped = capacity.stopped.iter().find(|stopped| stopped.arm == answer.arm && stopped.y == answer.y);
        table.row([
            words::branch(capacity, &answer.arm, answer.y),
            show(answer.kept),
            show(answer.broken),
            show(stopped.map(|stopped| stopped.at)),
        ]);
    }
    table
}

/// The exponents of counts and bytes. Not of memory: most of what a server has it has before anybody comes.
pub(super) fn growth(capacity: &Capacity) -> Table {
    let mut table = Table::new("How it grows", 2, &["figure", "arm", "exponent (95 % interval)"]);
    let names = [figure::REQUESTS, figure::NOTIFICATIONS, figure::BYTES, figure::WATCHES];
    for name in names {
        for curve in capacity.curves.iter().filter(|curve| curve.figure == name && curve.exponent.is_some()) {
            let title = title(capacity, name);
            table.row([title, words::branch(capacity, &curve.arm, curve.y), words::growth(curve)]);
        }
    }
    table
}

fn title(capacity: &Capacity, name: &str) -> String {
    let all = figure::figures(capacity.limits.iter().map(|limit| limit.metric));
    all.into_iter().find(|figure| figure.name == name).map_or_else(|| name.to_owned(), |figure| figure.title.to_owned())
}

/// The law of each figure with its coefficients.
pub(super) fn laws(capacity: &Capacity) -> Table {
    let head = ["figure", "arm", "law", "coefficients (95 % interval)", "error at held-out places", "points"];
    let mut table = Table::new("Laws", 4, &head);
    for curve in &capacity.curves {
        let coefficients: Vec<String> = curve.coefficients.iter().map(words::coefficient).collect();
        table.row([
            title(capacity, &curve.figure),
            words::branch(capacity, &curve.arm, curve.y),
            words::law(curve.law).to_owned(),
            coefficients.join(", "),
            words::share(curve.held_out_error),
            format::count(u64::from(curve.points)),
        ]);
    }
    table
}

/// How each law did at the places that were held out.
pub(super) fn candidates(capacity: &Capacity) -> Table {
    let head = ["figure", "arm", "law", "chosen", "mean error", "median error"];
    let mut table = Table::new("Every law at the places that were held out", 4, &head);
    for curve in &capacity.curves {
        for candidate in &curve.candidates {
            table.row([
                title(capacity, &curve.figure),
                words::branch(capacity, &curve.arm, curve.y),
                words::law(candidate.law).to_owned(),
                if candidate.law == curve.law { "chosen".to_owned() } else { String::new() },
                words::share(candidate.mean_error),
                words::share(candidate.median_error),
            ]);
        }
    }
    table
}

/// What the servers carried, in the terms of sizing guides.
pub(super) fn sizing(capacity: &Capacity) -> Table {
    let head = [
        "nodes",
        "arm",
        "load",
        "clients",
        "sessions",
        "watches",
        "requests/s",
        "response bytes/s",
        "data",
        "CPU of nodes",
        "memory of nodes",
    ];
    let mut table = Table::new("What the servers carried", 3, &head);
    for row in &capacity.sizing {
        let figure = |name: &str, kind: Kind| {
            row.figures.get(name).map_or_else(|| ABSENT.to_owned(), |value| words::amount(kind, *value))
        };
        let kept = if row.kept || capacity.limits.is_empty() { "" } else { " (a limit broken)" };
        table.row([
            format::count(u64::from(row.nodes)),
            words::branch(capacity, &row.arm, row.y),
            format!("{}{kept}", words::place(row.variable, row.x)),
            format::count(u64::from(row.clients)),
            figure(figure::SESSIONS, Kind::Count),
            figure(figure::WATCHES, Kind::Count),
            figure(figure::REQUEST_RATE, Kind::Count),
            figure(figure::BYTE_RATE, Kind::Bytes),
            figure(figure::DATA, Kind::Bytes),
            figure("nodes_cpu_percent", Kind::Percent),
            figure(figure::RSS, Kind::Bytes),
        ]);
    }
    table
}

/// What each further thousand of sessions costs, where nothing but sessions is there or watches are held: slopes of memory and
/// CPU over workers.
pub(super) fn per_thousand(capacity: &Capacity) -> Table {
    let head = ["arm", "memory of nodes for a thousand", "CPU of nodes for a thousand"];
    let mut table = Table::new("For each thousand of workers", 1, &head);
    for (label, y, memory, cpu) in super::slopes::of(capacity) {
        table.row([
            words::branch(capacity, &label, y),
            memory.map_or_else(|| ABSENT.to_owned(), |slope| Unit::Bytes.show(slope * 1e3)),
            cpu.map_or_else(|| ABSENT.to_owned(), |slope| format!("{} %", words::significant(slope * 1e3))),
        ]);
    }
    table
}

/// Every point.
pub(super) fn points(capacity: &Capacity) -> Table {
    let second = capacity.variables.get(1).map(|axis| words::axis_name(axis.variable));
    let first = capacity.variables.first().map_or("", |axis| words::axis_name(axis.variable));
    let mut head = vec!["order", "arm", first];
    head.extend(second);
    head.extend([
        "repeat",
        "grants/s",
        "acquire p99",
        "requests/grant",
        "bytes/grant",
        "CPU of nodes",
        "Little",
        "remark",
    ]);
    let mut table = Table::new("Every point, in the order in which they were measured", 2, &head);
    for point in &capacity.points {
        let figure = |name: &str, kind: Kind| {
            point.figure(name).map_or_else(|| ABSENT.to_owned(), |value| words::amount(kind, value))
        };
        let show = |place: usize, value: f64| {
            capacity.variables.get(place).map(|axis| words::value_of(axis.variable, value)).unwrap_or_default()
        };
        let mut row = vec![format::count(u64::from(point.order)), plain(&point.label), show(0, point.cell.x)];
        row.extend(point.cell.y.map(|y| show(1, y)));
        row.extend([
            format::count(u64::from(point.cell.repeat)),
            figure("grants_per_second", Kind::Rate),
            figure("acquire_ms.p99", Kind::Latency),
            figure(figure::REQUESTS, Kind::Count),
            figure(figure::BYTES, Kind::Bytes),
            figure("nodes_cpu_percent", Kind::Percent),
            point.little.map_or_else(|| ABSENT.to_owned(), |little| format!("{:.2}", little.ratio)),
            remark(point),
        ]);
        table.row(row);
    }
    table
}

fn remark(point: &crate::capacity::point::Point) -> String {
    let mut words: Vec<String> = point.incomplete.iter().chain(&point.violation).map(|why| plain(why)).collect();
    if point.saturated {
        words.push("generator saturated".to_owned());
    }
    if point.held_back > 0 {
        words.push("held back by the ceiling".to_owned());
    }
    if point.little.is_some_and(|little| !little.holds()) {
        words.push("too short".to_owned());
    }
    words.join(", ")
}
