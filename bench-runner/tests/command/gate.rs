//! `gate`, `compare` and `history`: on small real runs, and on files that are not what they should be.

use std::fs;

use bench_runner::exit;
use bench_runner::gate::{Judgement, Verdict};
use bench_runner::scenario::gate::Metric;
use serde_json::Value;

use crate::place::{Place, SMALL};
use crate::running::{Finished, finished};

/// Two drains of the herd-free lock: their counts are known.
fn drains() -> String {
    scenario().replace("count = 10", "count = 10\nmode = \"drain\"")
}

/// Two short trials of the herd-free lock.
fn scenario() -> String {
    let text = SMALL.replace("count = 1\n", "count = 2\n").replace("\"1s\"", "\"300ms\"");
    text.replace("lock/naive", "lock/sequential")
}

fn place_with_baseline() -> Place {
    let place = Place::with_servers();
    place.write("mine.toml", &drains());
    let update = ["gate", "mine.toml", "--baseline", "baseline.json", "--update-baseline"];
    let done = finished(&mut place.command(&update)).expect(exit::DONE);
    assert!(done.stdout.contains("baseline: baseline.json"), "{}", done.stdout);
    place
}

fn gate(place: &Place, arguments: &[&str]) -> Finished {
    let arguments = [&["gate", "mine.toml", "--quiet"], arguments].concat();
    finished(place.command(&arguments).env("GITHUB_STEP_SUMMARY", place.path("job.md")))
}

#[test]
fn a_gate_against_its_baseline_and_what_it_leaves() {
    let place = place_with_baseline();
    let done = gate(&place, &["--baseline", "baseline.json", "--format", "json"]);
    // Two trials tell nothing of times; what they tell of counts is that nothing changed.
    let judgement: Judgement = serde_json::from_str(&done.stdout).unwrap();
    let done = done.expect(exit::INCONCLUSIVE);
    assert_eq!(judgement.verdict, Verdict::Inconclusive);
    assert!(judgement.more_trials().unwrap() > 2);
    let counts = [Metric::Notifications, Metric::FanOut, Metric::Overlaps, Metric::TokenRegressions];
    for finding in judgement.findings.iter().filter(|finding| counts.contains(&finding.metric)) {
        assert_eq!(finding.verdict, Verdict::Unchanged, "{finding:?}");
    }

    let page = done.stderr.lines().find_map(|line| line.strip_prefix("gate: ")).unwrap();
    let run = place.path(page);
    let run = run.parent().unwrap();
    let read = |name: &str| fs::read_to_string(run.join(name)).unwrap();
    assert!(read("gate.html").contains("<svg") && !read("gate.html").contains("http"));
    assert_eq!(read("gate.json"), done.stdout);
    assert_eq!(read("gate.md"), fs::read_to_string(place.path("job.md")).unwrap());
    assert!(read("junit.xml").contains("<testcase classname=\"lock/sequential\" name=\"handoff_ms.p50\">"));
    let benchmark: Value = serde_json::from_str(&read("benchmark.json")).unwrap();
    assert!(benchmark.as_array().unwrap().iter().all(|entry| entry["name"].is_string() && entry["value"].is_number()));

    let history = finished(&mut place.command(&["history", "--page", "history.html"])).expect(exit::DONE);
    assert!(
        history.stdout.contains("fan_out.mean") && history.stdout.contains("lock/sequential"),
        "{}",
        history.stdout
    );
    assert!(fs::read_to_string(place.path("history.html")).unwrap().contains("<svg"));
    place.assert_nothing_left();
}

/// Everything that makes a baseline unfit is known before anything runs.
#[test]
fn a_baseline_that_does_not_fit_is_told_before_anything_runs() {
    let place = place_with_baseline();
    let runs = place.runs_of("mine").len();
    let against_it = ["--baseline", "baseline.json"];
    let other = gate(&place, &[&against_it[..], &["--set", "workers.count=11"]].concat()).expect(exit::NOT_COMPARABLE);
    assert!(
        other.stdout.contains("workers.count") && other.stdout.contains("10 in the baseline, 11 now"),
        "{}",
        other.stdout
    );

    let text = fs::read_to_string(place.path("baseline.json")).unwrap();
    let refused = |text: &str, words: &[&str]| {
        place.write("baseline.json", text);
        gate(&place, &against_it).expect(exit::USAGE).tells(words);
    };
    refused(&text[..text.len() / 2], &["baseline.json", "truncated", "--update-baseline"]);
    refused(&text.replacen("\"overlaps\": 0", "\"overlaps\": 1", 1), &["edited by hand", "checksum"]);
    refused("{}", &["no baseline"]);
    fs::remove_file(place.path("baseline.json")).unwrap();
    gate(&place, &against_it).expect(exit::USAGE).tells(&["there is none", "--update-baseline"]);
    assert_eq!(place.runs_of("mine").len(), runs, "nothing was run");
    assert!(!place.path("results/history.jsonl").exists());
}

#[test]
fn a_herd_is_found_against_the_recipe_without_one() {
    let place = Place::with_servers();
    place.write("mine.toml", &scenario());
    let done = gate(&place, &["--against", "arm.0.recipe=lock/naive"]).expect(exit::REGRESSION);
    for words in ["as it is", "fan_out.mean", "regressed", "confirmed by a second round"] {
        assert!(done.stdout.contains(words), "{words}: {}", done.stdout);
    }
    // Two rounds of two variants.
    assert_eq!(place.runs_of("mine").len(), 4);
    place.assert_nothing_left();
}

#[test]
fn two_stored_runs_are_compared() {
    let place = Place::with_servers();
    place.write("mine.toml", &scenario());
    finished(&mut place.command(&["run", "mine.toml"])).expect(exit::DONE);
    let run = place.only_run_of("mine");
    let run = run.to_str().unwrap();
    let file = format!("{run}/summary.json");
    let done = finished(&mut place.command(&["compare", run, &file, "--write", "verdict"])).expect(exit::INCONCLUSIVE);
    assert!(done.stdout.contains("handoff_ms.p50") && done.stdout.contains("inconclusive"), "{}", done.stdout);
    assert!(place.path("verdict/gate.html").exists());

    let mut summary: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    summary["environment"]["cpu_model"] = "another".into();
    place.write("elsewhere.json", &summary.to_string());
    let done = finished(&mut place.command(&["compare", "elsewhere.json", run])).expect(exit::NOT_COMPARABLE);
    assert!(done.stdout.contains("machine (processor) differs: another in the baseline"), "{}", done.stdout);
    let allowed = ["compare", "elsewhere.json", run, "--allow", "machine"];
    finished(&mut place.command(&allowed)).expect(exit::INCONCLUSIVE);

    summary["environment"]["cpu_model"] = Value::Null;
    place.write("broken.json", &summary.to_string());
    finished(&mut place.command(&["compare", "broken.json", run])).expect(exit::USAGE).tells(&["no summary of a run"]);
}

#[test]
fn what_a_gate_needs_is_told() {
    let place = Place::without_servers();
    place.write("mine.toml", &scenario());
    gate(&place, &[]).expect(exit::USAGE).tells(&["--baseline"]);
    gate(&place, &["--against", "trials.count=3"]).expect(exit::USAGE).tells(&["the same trials"]);
    gate(&place, &["--against", "workers.cuont=3"]).expect(exit::USAGE).tells(&["did you mean `count`?"]);
    let fixed = ["--set", "ensemble.zookeeper.base_port=4000", "--against", "workers.count=3"];
    gate(&place, &fixed).expect(exit::USAGE).tells(&["base_port"]);
    gate(&place, &["--baseline", "b.json", "--accepted", "no.toml"]).expect(exit::USAGE).tells(&["no.toml"]);
    place.write("mine.toml", &format!("{}[gate]\nslo = [\"acquire_ms.p98 < 5\"]\n", scenario()));
    gate(&place, &["--baseline", "b.json"]).expect(exit::USAGE).tells(&["mine.toml:19", "did you mean `acquire_ms.p9"]);
    finished(&mut place.command(&["history"])).expect(exit::USAGE).tells(&["there is none yet"]);
    place.assert_no_results();
}
