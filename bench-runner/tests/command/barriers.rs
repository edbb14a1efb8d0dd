//! Runs of barriers: what they cost is what the closed forms say, in all books; and whoever passes early fails the run.

use std::fs;

use bench_runner::exit;
use zookeeper_client::{Acls, Client, CreateMode};

use crate::place::{Place, SMALL};
use crate::running::{Running, Server, finished};
use crate::written::summary;

/// The small scenario without its arm.
fn settings(workers: &str) -> String {
    let (settings, _) = SMALL.split_once("[[arm]]").unwrap();
    settings.replace("count = 10\n", workers).replace("duration = \"1s\"", "limit = \"2m\"")
}

#[test]
fn rounds_cost_what_the_closed_forms_say_in_all_books() {
    const MEMBERS: [u64; 2] = [6, 12];
    const BARRIERS: u64 = 3;
    let arms: String = ["zookeeper", "etcd"]
        .into_iter()
        .flat_map(|service| ["single", "double", "double-naive"].map(|recipe| (service, recipe)))
        .map(|(service, recipe)| {
            format!("[[arm]]\nlabel = \"{recipe} {service}\"\nrecipe = \"barrier/{recipe}\"\nservice = \"{service}\"\n")
        })
        .collect();
    let place = Place::with_servers();
    let settings = settings("mode = \"rounds\"\nhold = \"1ms\"\nbarriers = 3\n");
    place.write("mine.toml", &format!("{settings}[grid]\ncount = [6, 12]\n{arms}"));
    finished(&mut place.command(&["run", "mine.toml"])).expect(exit::DONE);
    place.assert_nothing_left();

    let run = place.only_run_of("mine");
    let summary = summary(&run);
    assert_eq!(summary.arms.len(), 12);
    let mut operations = 0;
    for arm in &summary.arms {
        let n = u64::from(arm.workers);
        assert!(MEMBERS.contains(&n));
        let (service, recipe) = (arm.service.to_string(), arm.recipe.to_string());
        let each = match (service.as_str(), recipe.as_str()) {
            (_, "barrier/single") => n - 1,
            ("zookeeper", "barrier/double") => 2 * n - 1,
            ("etcd", "barrier/double") => 2 * (n - 1),
            ("zookeeper", "barrier/double-naive") => n * n,
            ("etcd", "barrier/double-naive") => n * (n - 1),
            other => panic!("{other:?}"),
        };
        let books = &arm.notifications;
        let all = BARRIERS * each;
        assert_eq!((books.client, books.server, books.expected), (all, Some(all), Some(all)), "{}", arm.label);
        let barriers = arm.barriers.as_ref().unwrap();
        assert_eq!((barriers.early_entries, barriers.early_leaves), (0, 0));
        let single = recipe == "barrier/single";
        assert_eq!(barriers.operations, if single { BARRIERS * (n - 1) } else { 2 * BARRIERS * n });
        assert_eq!(barriers.enter_skew_ms.count, BARRIERS);
        assert_eq!(barriers.door.len() as u64, n);
        operations += BARRIERS * n;
    }
    let growth: Vec<(String, f64)> =
        summary.growth.iter().map(|growth| (growth.recipe.to_string(), growth.exponent)).collect();
    assert_eq!(growth.len(), 6);
    for (recipe, exponent) in growth {
        let expected = if recipe.ends_with("naive") { 2.0 } else { 1.0 };
        assert!((exponent - expected).abs() < 0.2, "{recipe}: {exponent}");
    }
    let rows = fs::read_to_string(run.join("passages.csv")).unwrap();
    assert_eq!(rows.lines().count() as u64, 1 + operations);
    assert!(fs::read_to_string(run.join("report.html")).unwrap().contains("Notifications against members"));
}

/// The barriers are opened from outside before anybody has come, as a `ready` that somebody left behind would.
#[test]
fn a_member_that_passes_early_fails_the_run() {
    let place = Place::with_servers();
    let settings = settings("count = 10\nmode = \"barriers\"\nbarriers = 200\n");
    place.write("mine.toml", &format!("{settings}[[arm]]\nrecipe = \"barrier/double\"\n"));
    let running = Running::start(&mut place.command(&["run", "mine.toml"]));
    let server = Server::wait_for(&place, "zookeeper-1");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(open_from_outside(&format!("127.0.0.1:{}", server.port)));

    let done = running.finish().expect(exit::UNSAFE).tells(&["error: safety violated: barrier/double: ", "too early"]);
    assert!(done.stdout.contains("Do not trust this barrier"), "{}", done.stdout);
    let run = place.only_run_of("mine");
    let summary = summary(&run);
    assert!(summary.complete && summary.arms[0].safety.early_passages > 0);
    assert!(summary.arms[0].barriers.as_ref().unwrap().early_entries > 0);
    place.assert_nothing_left();
}

/// Creates `ready` in all barriers but the first few, as soon as they are there.
async fn open_from_outside(server: &str) {
    let options = CreateMode::Persistent.with_acls(Acls::anyone_all());
    let client = Client::connect(server).await.unwrap();
    let children = async |path: String| {
        let names = client.list_children(&path).await.unwrap_or_default();
        names.into_iter().map(|name| format!("{path}/{name}")).collect::<Vec<_>>()
    };
    let trial = loop {
        let run = children("/bench-runner".to_owned()).await;
        if let [run] = run.as_slice()
            && let Some(trial) = children(run.clone()).await.into_iter().find(|path| path.contains("trial"))
        {
            break trial;
        }
    };
    let mut opened = 0;
    for barrier in (0..200).rev() {
        while client.check_stat(&format!("{trial}/barrier-0")).await.unwrap().is_none() {}
        // Made by now, or by this: the steward finds what it is to make.
        let at = format!("{trial}/barrier-{barrier}");
        let _ = client.create(&at, b"", &CreateMode::Container.with_acls(Acls::anyone_all())).await;
        if client.create(&format!("{at}/ready"), b"", &options).await.is_ok() {
            opened += 1;
        }
        if opened == 150 {
            return;
        }
    }
}
