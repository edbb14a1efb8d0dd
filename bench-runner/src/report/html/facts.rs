//! What was run, on what, and how each figure is measured.

use maud::{Markup, html};

use super::tables;
use crate::report::format::{self, Unit, maybe_ms, plain};
use crate::report::table::Table;
use crate::results::summary::Summary;

/// Environment, nodes, settings, method.
pub(super) fn section(summary: &Summary) -> Markup {
    html! {
        section {
            h2 { "What was run, and on what" }
            (pairs(&environment(summary)))
            h3 { "Nodes and generator" }
            (tables::table(&processes(summary)))
            @if !summary.settings.is_empty() {
                h3 { "Settings" }
                p.lead { "The scenario as it was run, overrides included: enough to repeat the run." }
                pre.scroll tabindex="0" { code { (tame(&summary.settings)) } }
            }
        }
        section.method {
            h2 { "How it is measured" }
            dl {
                @for (name, text) in METHOD {
                    dt { (name) }
                    dd { (text) }
                }
            }
        }
        footer {
            p { "Run by bench-runner " (plain(&summary.environment.bench_runner)) "; drawn from summary.json, schema " (summary.schema_version) "." }
        }
    }
}

/// Control characters replaced, but for those that lay out lines.
fn tame(text: &str) -> String {
    text.lines().map(|line| line.split('\t').map(plain).collect::<Vec<_>>().join("\t")).collect::<Vec<_>>().join("\n")
}

fn pairs(pairs: &[(String, String)]) -> Markup {
    html! {
        dl.pairs {
            @for (name, value) in pairs {
                div {
                    dt { (name) }
                    dd { (value) }
                }
            }
        }
    }
}

fn environment(summary: &Summary) -> Vec<(String, String)> {
    let environment = &summary.environment;
    let mut pairs: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: &str| {
        if !value.is_empty() {
            pairs.push((plain(name), plain(value)));
        }
    };
    for (service, version) in &summary.ensemble.versions {
        add(service, version);
    }
    let ensemble = &summary.ensemble;
    add("ensemble", &format!("{}, {}", format::plural(u64::from(ensemble.nodes), "node", "nodes"), ensemble.provider));
    for (name, value) in &ensemble.settings {
        add(name, value);
    }
    add("bench-runner", &environment.bench_runner);
    add("git revision", environment.git_revision.as_deref().unwrap_or("outside a checkout"));
    add("java", environment.java.as_deref().unwrap_or_default());
    add("kernel", &environment.kernel);
    add("processor", &format!("{} × {}", format::count(u64::from(environment.cpus)), environment.cpu_model));
    add("memory", &Unit::Bytes.show(environment.memory_bytes as f64));
    add("started", &summary.started);
    add("took", &format::seconds(summary.elapsed_seconds));
    add("scenario SHA-256", &environment.scenario_sha256);
    pairs
}

fn processes(summary: &Summary) -> Table {
    let head = ["process", "role", "CPU", "peak memory", "timer lag p99"];
    let mut table = Table::new("Over the whole run", 2, &head);
    for node in &summary.nodes {
        table.row([
            plain(&node.name),
            plain(&node.role),
            format::seconds(node.cpu_seconds),
            Unit::Bytes.show(node.peak_rss_bytes as f64),
            format::ABSENT.to_owned(),
        ]);
    }
    let generator = &summary.generator;
    table.row([
        "generator".to_owned(),
        if generator.saturated { "saturated".to_owned() } else { "not saturated".to_owned() },
        format::seconds(generator.cpu_seconds),
        Unit::Bytes.show(generator.peak_rss_bytes as f64),
        maybe_ms(generator.lag_ms.p99),
    ]);
    table
}

/// One short paragraph for each figure.
const METHOD: [(&str, &str); 9] = [
    (
        "Fan-out",
        "The notifications that a release caused. A waiter knows which instance it watches (the czxid of its znode), so each \
         notification is counted to the instance whose end caused it, not to whatever release was last.",
    ),
    (
        "Three books",
        "The workers' count, the servers' own counters and the closed form. A settled drain, in which each of N workers \
         acquires once and a holder releases only when every remaining waiter has armed its watch, costs exactly N(N−1)/2 \
         notifications with lock/naive and N−1 with lock/sequential.",
    ),
    (
        "Requests and response bytes",
        "What the workers' sessions sent, by kind, and the bytes of the responses, headers included. The client library's \
         own pings and connects are not among them.",
    ),
    (
        "Spikes",
        "Requests and notifications in buckets of 10 ms for the whole run: the peak, the mean, and what follows each release.",
    ),
    (
        "Latency",
        "HDR histograms of microseconds with three significant digits, merged over the trials and never averaged. \
         Acquisition runs from the call, in an open loop from the moment due (so that no omission is coordinated), to the \
         grant; handoff from the moment a release is sent to the next grant.",
    ),
    (
        "Safety",
        "All workers of one process share one clock, so an overlap of two grants is decided, not guessed. The fencing token \
         of a grant must be larger than that of the grant before.",
    ),
    (
        "Bystanders",
        "A few sessions read and write a znode that has nothing to do with the lock, at a steady rate: at rest, while the \
         workers are connected and idle, and during, while they contend.",
    ),
    (
        "The generator",
        "It watches its own CPU, memory and scheduling lag. Where it was saturated, the numbers are the generator's, not the \
         ensemble's.",
    ),
    (
        "Trials",
        "Warm-up is not measured. Arms run on the same ensemble in balanced order (A B B A …), and figures that carry a \
         claim come from several trials with their spread. KB, MB and GB are powers of 1,000.",
    ),
];
