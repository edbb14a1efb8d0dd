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
                @if summary.arms.iter().any(|arm| arm.failovers.is_some()) {
                    @for (name, text) in FAULTS {
                        dt { (name) }
                        dd { (text) }
                    }
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
            node.cpu_seconds.map_or_else(|| format::ABSENT.to_owned(), format::seconds),
            node.peak_rss_bytes.map_or_else(|| format::ABSENT.to_owned(), |bytes| Unit::Bytes.show(bytes as f64)),
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
        "The notifications that a release caused. A waiter knows which instance it watches (the czxid of its znode, the create revision of its key), so each \
         notification is counted to the instance whose end caused it, not to whatever release was last.",
    ),
    (
        "Three books",
        "The workers' count, the servers' own counters and the closed form. A settled drain, in which each of N workers \
         acquires once and a holder releases only when every remaining waiter has armed its watch, costs exactly N(N−1)/2 \
         notifications with lock/naive and N−1 with lock/sequential. ZooKeeper counts the watches that it fires, by kind; \
         etcd the events that it hands to its watch streams. Where no counter gives a book, it is missing, with the reason.",
    ),
    (
        "Requests and response bytes",
        "What the workers' sessions sent, by kind, and the bytes of the responses, headers included. The client library's \
         own pings and connects are not among them, nor is what keeps an etcd lease alive, which stands by its kind alone. For \
         etcd a response is its gRPC message, without what HTTP/2 puts around it.",
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
        "A few sessions read and write a znode or key that has nothing to do with the lock, at a steady rate: at rest, while the \
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

/// The same for a run with faults.
const FAULTS: [(&str, &str); 3] = [
    (
        "Failover",
        "t0 the fault strikes, with a last sign of life of the victim; t1 its znode or key is gone, looked for every 5 ms \
         without a watch; t2 the first waiter is notified; t3 the next grant; t4 the grants of a second are back to 90 % of \
         their rate in the five seconds before. Detection is t1 − t0, takeover t3 − t1.",
    ),
    (
        "What detection cannot be shorter than",
        "The session timeout, or the lease's ttl. ZooKeeper puts a session into the bucket of the tick after its timeout, and \
         hears every half tick which sessions its followers have heard from. etcd grants no lease shorter than one and a half \
         election timeouts (2 s by default), looks every 500 ms for leases that have run out, and revokes 1,000 a second at \
         the most.",
    ),
    (
        "What faults cost the generator",
        "Where workers may be paused each runs on a thread of its own; where they may be cut off each talks through a relay of \
         its own in the generator; where they may crash ZooKeeper sessions are left to expire at the end of a trial. Compare \
         such arms with each other, and not with those of a run without faults.",
    ),
];
