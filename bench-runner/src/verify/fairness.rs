//! Who got how much.

use super::figures::TrialVerdict;
use super::plan::Arm;
use super::rows::{Ending, Row};

/// Judges how the grants of a trial were shared out among its workers.
pub fn judge(arm: &Arm, rows: &[Row], trial: &mut TrialVerdict) {
    let mut grants = vec![0u64; arm.workers as usize];
    let mut hungry = vec![false; arm.workers as usize];
    let mut ended = vec![false; arm.workers as usize];
    for row in rows {
        let worker = row.worker as usize;
        grants[worker] += u64::from(row.is_granted());
        hungry[worker] = true;
        ended[worker] |= row.outcome == Ending::Ended;
    }
    trial.jain = jain(&grants);
    if !arm.for_ever {
        let starved =
            hungry.iter().zip(&ended).zip(&grants).filter(|((tried, ended), got)| **tried && !**ended && **got == 0);
        trial.starved = starved.count() as u64;
    }
}

/// Jain's index of fairness, (Σx)² / (n Σx²): 1 where all got the same, 1/n where one got everything (Jain, Chiu and Hawe 1984);
/// `None` where nobody got anything.
pub fn jain(shares: &[u64]) -> Option<f64> {
    let sum: f64 = shares.iter().map(|share| *share as f64).sum();
    let squares: f64 = shares.iter().map(|share| (*share as f64).powi(2)).sum();
    (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jains_index_is_one_for_equals_and_small_for_a_monopoly() {
        assert_eq!(jain(&[7, 7, 7, 7]), Some(1.0));
        assert_eq!(jain(&[9, 0, 0, 0]), Some(0.25));
        assert_eq!(jain(&[4, 2]), Some(0.9));
        assert_eq!(jain(&[0, 0]), None);
        assert_eq!(jain(&[]), None);
    }
}
