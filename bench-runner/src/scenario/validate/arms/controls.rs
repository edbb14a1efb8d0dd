//! What holders do to a shared counter, and arms that are wrong on purpose.

use workloads::settings::{Recipe, Service};

use super::super::super::delay::DelayText;
use super::super::super::file::ModeName;
use super::super::super::path::KeyPath;
use super::super::super::problem::{Problem, Problems};
use super::{Merged, service};

impl Merged<'_> {
    /// A shared counter where somebody holds.
    pub(super) fn updates(&self, problems: &mut Problems) {
        let Some(updates) = self.workers.updates else { return };
        let at = self.place("updates", self.arm.workers.updates.is_some());
        if updates == DelayText::Forever {
            let problem = Problem::value(&at, "an update that lasts for ever is never written");
            problems.add(&[&at], problem.remedy("write for example \"200ms\"; only `hold` can be \"forever\""));
        }
        let mode_at = self.place("mode", self.arm.workers.mode.is_some());
        let recipe_at = self.path.key("recipe");
        let mode = self.workers.mode.unwrap_or_default();
        let nobody_holds = self.arm.recipe == Some(Recipe::IdleSession);
        if nobody_holds || !matches!(mode, ModeName::Closed | ModeName::Open) {
            let problem = Problem::value(&at, "only holders in the modes `closed` and `open` update a counter")
                .remedy("take `updates` out of this arm, or use the closed mode")
                .related(if nobody_holds { &recipe_at } else { &mode_at }, "nobody updates here");
            problems.add(&[&at, &mode_at, &recipe_at], problem);
        }
    }

    /// Sessions that workers share, where that is to be found.
    pub(super) fn sessions(&self, problems: &mut Problems) {
        let Some(sessions) = self.workers.sessions else { return };
        let at = self.place("sessions", self.arm.workers.sessions.is_some());
        let count_at = self.place("count", self.arm.workers.count.is_some());
        let recipe_at = self.path.key("recipe");
        if sessions == 0 || self.workers.count.is_some_and(|count| sessions >= count) {
            let problem = Problem::value(&at, format!("{sessions} sessions are not shared by anybody"))
                .remedy("write at least 1 and less than the workers, or leave it out: each worker then has its own")
                .related(&count_at, "the workers");
            problems.add(&[&at, &count_at], problem);
        }
        let shows = match service(self.file, self.arm) {
            Service::Zookeeper => Recipe::NaiveLock,
            Service::Etcd => Recipe::SequentialLock,
        };
        if self.arm.recipe.is_some_and(|recipe| recipe != shows) {
            let service = service(self.file, self.arm);
            let problem =
                Problem::value(&at, format!("on {service}, what shared sessions do shows in `{shows}` alone"))
                    .remedy(format!("set `recipe = \"{shows}\"`, or take `sessions` out"))
                    .related(&recipe_at, "the recipe");
            problems.add(&[&at, &recipe_at, &self.path.key("service")], problem);
        }
        let telemetry_at = self.place("telemetry", self.arm.workers.telemetry.is_some());
        if self.workers.telemetry == Some(false) {
            let problem =
                Problem::value(&at, "what shared sessions do shows in the counts, and nothing is counted here")
                    .remedy("take `telemetry = false` out")
                    .related(&telemetry_at, "no counts");
            problems.add(&[&at, &telemetry_at], problem);
        }
        if !self.file.fault.is_empty() {
            let fault_at = KeyPath::from("fault.0.kind");
            let problem = Problem::value(&at, "a control takes no faults: nobody would know what they found")
                .remedy("take the faults out, or `sessions`")
                .related(&fault_at, "a fault");
            problems.add(&[&at, &fault_at], problem);
        }
    }
}
