//! What the whole machine's processors did, to tell what others took of them: a neighbour that builds, or a hypervisor that
//! gives the processors to another machine.

use procfs::{CurrentSI, KernelStats};

/// CPU time of all processors since the machine started, in ticks.
#[derive(Clone, Copy, Debug)]
pub struct MachineTime {
    busy: u64,
    all: u64,
    ticks_per_second: u64,
}

impl MachineTime {
    /// Until now; `None` where the kernel does not tell.
    pub fn now() -> Option<MachineTime> {
        let total = KernelStats::current().ok()?.total;
        let given = |part: Option<u64>| part.unwrap_or(0);
        // Time that the hypervisor gave to others is as lost to this run as a neighbour's.
        let busy = [total.user, total.nice, total.system, given(total.irq), given(total.softirq), given(total.steal)];
        let busy: u64 = busy.iter().sum();
        let all = busy + total.idle + given(total.iowait);
        Some(MachineTime { busy, all, ticks_per_second: procfs::ticks_per_second() })
    }

    /// Which share of all processors, 0 to 1, others have used since `before`, where this run used `own_seconds` of CPU time;
    /// `None` where too little time has passed to say.
    pub fn share_of_others(&self, before: &MachineTime, own_seconds: f64) -> Option<f64> {
        let all = self.all.checked_sub(before.all).filter(|all| *all > 0)? as f64;
        let busy = self.busy.saturating_sub(before.busy) as f64;
        let own = own_seconds * self.ticks_per_second as f64;
        Some(((busy - own) / all).clamp(0.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_our_own_is_others() {
        let at = |busy, all| MachineTime { busy, all, ticks_per_second: 100 };
        let share = |own| at(300, 1_000).share_of_others(&at(100, 600), own);
        assert_eq!(share(0.0), Some(0.5));
        assert_eq!(share(1.0), Some(0.25));
        assert_eq!(share(9.0), Some(0.0), "ticks are coarse");
        assert_eq!(at(1, 1).share_of_others(&at(1, 1), 0.0), None);
    }

    #[test]
    fn the_kernel_tells() {
        let now = MachineTime::now().unwrap();
        assert!(now.busy > 0 && now.all > now.busy);
    }
}
