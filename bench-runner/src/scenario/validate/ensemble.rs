//! The servers under test.

use std::time::Duration;

use super::super::duration::Span;
use super::super::ensemble::{EnsembleFile, ZookeeperFile};
use super::super::path::KeyPath;
use super::super::problem::{Problem, Problems};
use super::super::settings::Provider;

/// The shortest and the longest tick. Below, servers lose each other on a busy machine; above, a dead session lives for
/// twenty minutes.
const TICKS: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(60));

/// Judges `[ensemble]`.
pub fn validate(ensemble: &EnsembleFile, problems: &mut Problems) {
    let path = KeyPath::from("ensemble");
    if ensemble.provider != Provider::External {
        nodes(ensemble.nodes, &path.key("nodes"), problems);
    }
    zookeeper(&ensemble.zookeeper, ensemble.nodes, &path.key("zookeeper"), problems);
    super::etcd::validate(&ensemble.etcd, ensemble.nodes, &path.key("etcd"), problems);
}

fn nodes(nodes: u32, path: &KeyPath, problems: &mut Problems) {
    let problem = match nodes {
        0 => Problem::value(path, "an ensemble has at least one node").remedy("write 1, 3, 5, 7 or 9"),
        10.. => Problem::value(path, format!("{nodes} nodes are too many: at most 9"))
            .remedy("each write waits for a majority of them; write 1, 3, 5, 7 or 9"),
        even if even % 2 == 0 => {
            let survives = match (even - 1) / 2 {
                0 => "none".to_owned(),
                some => some.to_string(),
            };
            let message = format!(
                "{even} nodes survive the loss of {survives}, no more than {} do, and each write waits for one more",
                even - 1
            );
            Problem::value(path, message).remedy(format!("write {} or {}", even - 1, even + 1))
        }
        _ => return,
    };
    problems.spoil(path, problem);
}

fn zookeeper(zookeeper: &ZookeeperFile, nodes: u32, path: &KeyPath, problems: &mut Problems) {
    tick(zookeeper.tick, &path.key("tick"), problems);
    heap(&zookeeper.heap, &path.key("heap"), problems);
    if let Some(port) = zookeeper.base_port {
        base_port(port, nodes, 3, &path.key("base_port"), problems);
    }
    let path = path.key("jvm_flags");
    for (index, flag) in zookeeper.jvm_flags.iter().enumerate() {
        let path = path.index(index);
        let problem = if !flag.starts_with('-') {
            Problem::value(&path, format!("`{flag}` is no flag of the Java virtual machine"))
                .remedy("each flag is a text of its own and begins with `-`: [\"-XX:+UseZGC\", \"-Xss512k\"]")
        } else if let Some(size) = flag.strip_prefix("-Xmx") {
            Problem::value(&path, "the heap has a key of its own").remedy(format!("set `heap = \"{size}\"`"))
        } else {
            continue;
        };
        problems.spoil(&path, problem);
    }
}

fn tick(tick: Span, path: &KeyPath, problems: &mut Problems) {
    let (least, most) = TICKS;
    let problem = if !(least..=most).contains(&tick.0) {
        Problem::value(path, format!("`tick` is {tick}, and must be {} to {}", Span(least), Span(most)))
            .remedy("write for example \"1s\"")
    } else if !whole_millis(tick.0) {
        Problem::value(path, format!("`tick` is {tick}, and the server counts whole milliseconds"))
            .remedy(format!("write \"{}ms\"", tick.0.as_millis()))
    } else {
        return;
    };
    problems.spoil(path, problem);
}

/// Whether the servers can express it.
pub fn whole_millis(length: Duration) -> bool {
    length.subsec_nanos().is_multiple_of(1_000_000)
}

fn heap(heap: &str, path: &KeyPath, problems: &mut Problems) {
    // `strip_suffix` cuts between characters, whatever the text is.
    let digits = heap.strip_suffix(['k', 'K', 'm', 'M', 'g', 'G']);
    let fits = |digits: &str| {
        !digits.is_empty()
            && digits.len() <= 9
            && !digits.starts_with('0')
            && digits.bytes().all(|digit| digit.is_ascii_digit())
    };
    if !digits.is_some_and(fits) {
        let problem = Problem::value(path, format!("`{heap}` is no heap size"))
            .remedy("write a whole number with k, m or g, as for Java's -Xmx: \"512m\" or \"2g\"");
        problems.spoil(path, problem);
    }
}

/// Judges the first port of a service whose servers need `each` ports.
pub fn base_port(port: u16, nodes: u32, each: u32, path: &KeyPath, problems: &mut Problems) {
    let nodes_path = KeyPath::from("ensemble.nodes");
    if port < 1024 {
        let problem = Problem::value(path, format!("port {port} is reserved for the system"))
            .remedy("write a port from 1024 on, or leave the key out to take free ones");
        problems.spoil(path, problem);
        return;
    }
    let last = u32::from(port) + each * nodes.min(9) - 1;
    if last > u32::from(u16::MAX) {
        let message = format!("{nodes} nodes need the ports {port} to {last}, and the last one is 65535");
        let remedy = format!("write at most {}, or leave the key out to take free ones", 65_536 - each * nodes.min(9));
        problems.add(&[path, &nodes_path], Problem::value(path, message).remedy(remedy));
    }
}
