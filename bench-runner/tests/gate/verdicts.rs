//! Each verdict, for the reason that it is given for.

use bench_runner::gate::{Accepted, Aspect, Finding, Judgement, Pairing, Rules, Verdict, judge};
use bench_runner::results::summary::Summary;
use bench_runner::scenario::GateFile;
use bench_runner::scenario::gate::Metric;

use crate::recordings::{Change, NOTHING, Source, judged, judged_in_turn};

const FREE: &str = "lock/sequential";

fn of(judgement: &Judgement, metric: Metric) -> &Finding {
    judgement.findings.iter().find(|finding| finding.arm == FREE && finding.metric == metric).unwrap()
}

fn two(change: Change) -> (Summary, Summary) {
    let mut source = Source::new(7);
    (source.run(NOTHING), source.run(change))
}

fn plain(baseline: &Summary, candidate: &Summary) -> Judgement {
    judged(baseline, candidate, &GateFile::default(), None)
}

#[test]
fn slower_and_faster() {
    let (baseline, slower) = two(Change { handoff: 1.5, ..NOTHING });
    let worse = plain(&baseline, &slower);
    assert_eq!(worse.verdict, Verdict::Regressed);
    let handoff = of(&worse, Metric::HandoffP50);
    let ratio = handoff.ratio.unwrap();
    assert!(
        handoff.verdict == Verdict::Regressed && ratio.low.unwrap() > 1.3 && ratio.high.unwrap() < 1.7,
        "{ratio:?}"
    );
    // More grants a second is better: the ratio goes down where it gets worse.
    let grants = of(&worse, Metric::GrantsPerSecond);
    assert!(grants.verdict == Verdict::Regressed && grants.ratio.unwrap().estimate < 0.8, "{grants:?}");
    let better = plain(&slower, &baseline);
    assert_eq!(better.verdict, Verdict::Inconclusive.min(better.verdict));
    assert_eq!(of(&better, Metric::HandoffP50).verdict, Verdict::Improved);
    assert_eq!(of(&better, Metric::GrantsPerSecond).verdict, Verdict::Improved);
}

#[test]
fn a_run_against_itself_is_unchanged_where_its_trials_suffice() {
    let (baseline, _) = two(NOTHING);
    let same = plain(&baseline, &baseline);
    assert_eq!(of(&same, Metric::HandoffP50).verdict, Verdict::Unchanged);
    assert_eq!(of(&same, Metric::FanOut).verdict, Verdict::Unchanged);
    assert_eq!(of(&same, Metric::Overlaps).verdict, Verdict::Unchanged);
}

#[test]
fn too_few_trials_are_inconclusive_and_say_how_many_more() {
    let mut source = Source::new(8);
    let few = Change { trials: 3, ..NOTHING };
    let (baseline, candidate) = (source.run(few), source.run(few));
    let judgement = plain(&baseline, &candidate);
    assert_eq!(judgement.verdict, Verdict::Inconclusive);
    let inconclusive = |finding: &&Finding| finding.verdict == Verdict::Inconclusive;
    let more = judgement.findings.iter().find(inconclusive).unwrap().more_trials.unwrap();
    // Twelve times and rates share an α of 0.01: below 7 trials of each side no rank test gets there.
    assert!((4..=200).contains(&more), "{more}");
    assert!(judgement.more_trials().unwrap() >= more);
}

#[test]
fn what_differs_is_named_and_nothing_is_judged() {
    let (baseline, candidate) = two(NOTHING);
    type Edit = fn(&mut Summary);
    let edits: [(Aspect, &str, Edit); 9] = [
        (Aspect::Scenario, "name", |summary| summary.scenario = "other".to_owned()),
        (Aspect::Scenario, "duration", |summary| summary.settings = summary.settings.replace("20s", "21s")),
        (Aspect::Service, "service", |summary| summary.service = "etcd".to_owned()),
        (Aspect::Version, "zookeeper", |summary| {
            summary.ensemble.versions.insert("zookeeper".to_owned(), "3.9.0".to_owned());
        }),
        (Aspect::Nodes, "nodes", |summary| summary.ensemble.nodes = 5),
        (Aspect::Provider, "provider", |summary| summary.ensemble.provider = "docker".to_owned()),
        (Aspect::Machine, "processor", |summary| summary.environment.cpu_model = "other".to_owned()),
        (Aspect::Machine, "processors", |summary| summary.environment.cpus = 64),
        (Aspect::Incomplete, "run", |summary| summary.complete = false),
    ];
    for (aspect, what, edit) in edits {
        let mut other = baseline.clone();
        edit(&mut other);
        let judgement = plain(&other, &candidate);
        assert_eq!(judgement.verdict, Verdict::NotComparable, "{aspect:?}");
        let [difference] = &judgement.differences[..] else { panic!("{:?}", judgement.differences) };
        assert_eq!((difference.aspect, difference.what.as_str()), (aspect, what));
        assert_ne!(difference.baseline, difference.candidate);
        assert!(judgement.findings.is_empty());
        // Unless it is accepted by name.
        let (gate, accepted) = (GateFile::default(), Accepted::default());
        let rules = Rules { gate: &gate, pairing: Pairing::Apart, allowed: &[aspect], accepted: &accepted, only: None };
        assert_ne!(judge(&other, &candidate, &rules).verdict, Verdict::NotComparable);
    }
}

#[test]
fn a_busy_neighbour_makes_times_inconclusive_and_leaves_counts_alone() {
    let (baseline, candidate) = two(Change { neighbour: Some((2.0, 0.5)), fan_out: 2.0, ..NOTHING });
    let judgement = plain(&baseline, &candidate);
    let handoff = of(&judgement, Metric::HandoffP50);
    assert_eq!(handoff.verdict, Verdict::Inconclusive);
    assert!(handoff.note.as_ref().unwrap().contains("--against"), "{handoff:?}");
    assert_eq!(of(&judgement, Metric::FanOut).verdict, Verdict::Regressed);
    // A neighbour of both is no better where it takes half of the machine.
    let mut source = Source::new(12);
    let crowded = Change { neighbour: Some((1.0, 0.5)), ..NOTHING };
    let (baseline, candidate) = (source.run(crowded), source.run(Change { handoff: 2.0, ..crowded }));
    assert_eq!(of(&plain(&baseline, &candidate), Metric::HandoffP50).verdict, Verdict::Inconclusive);
    assert_eq!(of(&judged_in_turn(&baseline, &candidate), Metric::FanOut).verdict, Verdict::Unchanged);
}

#[test]
fn a_check_that_is_not_made_any_more_is_a_regression() {
    let (mut baseline, candidate) = two(NOTHING);
    for trial in baseline.arms.iter_mut().flat_map(|arm| &mut arm.trial) {
        trial.safety.lost_updates = Some(0);
    }
    let judgement = plain(&baseline, &candidate);
    assert_eq!(of(&judgement, Metric::LostUpdates).verdict, Verdict::Regressed);
    assert_eq!(judgement.verdict, Verdict::Regressed);
}

#[test]
fn the_counts_of_a_drain_are_exact() {
    let (mut baseline, _) = two(NOTHING);
    for arm in &mut baseline.arms {
        arm.notifications.expected = Some(1_990);
        for trial in &mut arm.trial {
            (trial.notifications.client, trial.fan_out.mean) = (199, Some(1.0));
        }
    }
    assert_eq!(of(&plain(&baseline, &baseline), Metric::Notifications).verdict, Verdict::Unchanged);
    let mut one_more = baseline.clone();
    one_more.arms[1].trial[4].notifications.client += 1;
    assert_eq!(of(&plain(&baseline, &one_more), Metric::Notifications).verdict, Verdict::Regressed);
    assert_eq!(of(&plain(&one_more, &baseline), Metric::Notifications).verdict, Verdict::Unchanged);
}

#[test]
fn bands_directions_and_metrics_are_the_scenarios() {
    let (baseline, candidate) = two(Change { handoff: 1.5, ..NOTHING });
    let gate = |text: &str| -> GateFile { toml::from_str(text).unwrap() };
    let wide = judged(&baseline, &candidate, &gate("[metric.\"handoff_ms.p50\"]\nband = 1.0\n"), None);
    assert_eq!(of(&wide, Metric::HandoffP50).verdict, Verdict::Unchanged);
    let turned = judged(&baseline, &candidate, &gate("[metric.\"handoff_ms.p50\"]\nbetter = \"higher\"\n"), None);
    assert_eq!(of(&turned, Metric::HandoffP50).verdict, Verdict::Improved);
    let off = judged(&baseline, &candidate, &gate("[metric.\"handoff_ms.p50\"]\ngated = false\n"), None);
    assert!(!off.findings.iter().any(|finding| finding.metric == Metric::HandoffP50));
}

#[test]
fn limits_are_absolute() {
    let (baseline, candidate) = two(NOTHING);
    let gate = |text: &str| -> GateFile { toml::from_str(text).unwrap() };
    let judgement = judged(&baseline, &candidate, &gate("slo = [\"lock/sequential: fan_out.mean <= 1.5\"]"), None);
    assert!(judgement.slo.len() == 1 && judgement.slo[0].kept, "{:?}", judgement.slo);
    let judgement = judged(&baseline, &candidate, &gate("slo = [\"fan_out.mean <= 1.5\"]"), None);
    assert_eq!(judgement.slo.iter().map(|slo| slo.kept).collect::<Vec<_>>(), [false, true]);
    assert_eq!(judgement.verdict, Verdict::Regressed);
}

#[test]
fn an_accepted_change_does_not_fail_up_to_its_limit() {
    let (baseline, candidate) = two(Change { fan_out: 2.0, ..NOTHING });
    let verdict = |text: &str| {
        let (gate, accepted) = (GateFile::default(), Accepted::parse(text).unwrap());
        let rules = Rules { gate: &gate, pairing: Pairing::Apart, allowed: &[], accepted: &accepted, only: None };
        let judgement = judge(&baseline, &candidate, &rules);
        let finding = of(&judgement, Metric::FanOut).clone();
        assert_eq!(finding.verdict, Verdict::Regressed);
        (judgement.verdict == Verdict::Regressed, finding.accepted)
    };
    let accepted = |rest: &str| format!("[[accepted]]\nmetric = \"fan_out.mean\"\nreason = \"asked for\"\n{rest}");
    assert_eq!(verdict(&accepted("up_to = 2.5\n")), (false, Some("asked for".to_owned())));
    assert_eq!(verdict(&accepted("up_to = 1.5\n")), (true, None));
    assert_eq!(verdict(&accepted("arm = \"lock/naive\"\n")), (true, None));
}

#[test]
fn trials_in_turn_see_through_a_machine_that_changes() {
    // The machine's mood swings by a factor of three from pair to pair; the second side is a fifth slower in each.
    // Ten pairs would be too few: twelve times and rates share an α of 0.01, and 2⁻¹⁰ is more than that.
    let mut source = Source::new(7);
    let pairs = Change { trials: 12, ..NOTHING };
    let (mut baseline, mut candidate) = (source.run(pairs), source.run(pairs));
    for (which, summary) in [&mut baseline, &mut candidate].into_iter().enumerate() {
        for trial in summary.arms.iter_mut().flat_map(|arm| &mut arm.trial) {
            let mood = 1.0 + f64::from(trial.position * 7 % 10) / 3.0;
            let slower = 1.0 + 0.2 * which as f64 + 0.001 * f64::from(trial.position);
            trial.handoff_ms.p50 = Some(5.0 * mood * slower);
        }
    }
    assert_eq!(of(&plain(&baseline, &candidate), Metric::HandoffP50).verdict, Verdict::Inconclusive);
    assert_eq!(of(&judged_in_turn(&baseline, &candidate), Metric::HandoffP50).verdict, Verdict::Regressed);
}
