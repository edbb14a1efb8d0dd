//! How rough it gets.

use std::time::Duration;

use super::Dice;

/// How often what goes wrong, of a service in memory and on the way to it. What each kind of trouble means is the service's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weather {
    /// The longest that a request or a reply is under way.
    pub delay: Duration,
    /// The longest that a server lags behind what the ensemble has decided.
    pub lag: Duration,
    /// Of a thousand requests, how many are lost with their connection before they reach a server.
    pub lost_requests: u32,
    /// Of a thousand requests, how many are carried out, and the reply lost with the connection.
    pub lost_replies: u32,
    /// Of a thousand requests, how many are carried out late, and the connection lost meanwhile.
    pub late_requests: u32,
    /// Of a thousand notifications, how many wait before their waiter gets to run.
    pub late_wakers: u32,
    /// The longest that they wait.
    pub late_by: Duration,
    /// The mean time from one connection that breaks by itself to the next; zero: none does.
    pub breaks_every: Duration,
    /// Of a thousand connections that break, how many stay so for longer than the session or lease lasts.
    pub long_outages: u32,
    /// Of a thousand connections that break, how many do so in silence: neither side is told.
    pub silent: u32,
    /// The mean time from one worker that stands still to the next; zero: none does.
    pub pauses_every: Duration,
    /// The mean time from one worker that dies to the next; zero: none does.
    pub deaths_every: Duration,
    /// Of a thousand acquisitions, how many are given up after a while.
    pub cancelled: u32,
    /// From when on nothing goes wrong any more, so that everything can come to an end.
    pub calm_after: Duration,
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Nothing unusual.
    Answered,
    /// It is lost on the way there.
    LostRequest,
    /// It is carried out, and its reply is lost.
    LostReply,
    /// It is carried out late, when its connection is gone.
    Late,
}

impl Weather {
    /// Nothing takes any time, and nothing goes wrong.
    pub const STILL: Weather = Weather {
        delay: Duration::ZERO,
        lag: Duration::ZERO,
        lost_requests: 0,
        lost_replies: 0,
        late_requests: 0,
        late_wakers: 0,
        late_by: Duration::ZERO,
        breaks_every: Duration::ZERO,
        long_outages: 0,
        silent: 0,
        pauses_every: Duration::ZERO,
        deaths_every: Duration::ZERO,
        cancelled: 0,
        calm_after: Duration::ZERO,
    };

    /// The weather of a run. A third of all runs sees nothing but delays, in which the order of things is all that varies; a
    /// third loses connections, for a while; in the last third workers lose sessions, stand still and die as well.
    pub fn drawn(dice: &mut Dice) -> Weather {
        let ms = Duration::from_millis;
        let delays = Weather {
            delay: ms(dice.between(1, 40)),
            lag: ms([0, 20, 200][dice.below(3)]),
            late_wakers: [0, 100, 400][dice.below(3)],
            late_by: ms(dice.between(10, 400)),
            cancelled: [0, 0, 200][dice.below(3)],
            calm_after: Duration::from_secs(dice.between(2, 10)),
            ..Weather::STILL
        };
        let roughness = dice.below(3);
        if roughness == 0 {
            return delays;
        }
        let connections = Weather {
            lost_requests: [0, 10, 40][dice.below(3)],
            lost_replies: [0, 10, 40][dice.below(3)],
            late_requests: [0, 10, 40][dice.below(3)],
            breaks_every: ms([0, 300, 1000][dice.below(3)]),
            silent: [0, 300][dice.below(2)],
            ..delays
        };
        if roughness == 1 {
            return connections;
        }
        Weather {
            long_outages: [0, 300, 700][dice.below(3)],
            pauses_every: ms([0, 700, 2000][dice.below(3)]),
            deaths_every: ms([0, 1000, 3000][dice.below(3)]),
            ..connections
        }
    }

    /// The fate of a request.
    pub fn fate(&self, dice: &mut Dice) -> Fate {
        if dice.happens(self.lost_requests) {
            Fate::LostRequest
        } else if dice.happens(self.lost_replies) {
            Fate::LostReply
        } else if dice.happens(self.late_requests) {
            Fate::Late
        } else {
            Fate::Answered
        }
    }

    /// The time until the next of what comes every `mean`; `None` where none does.
    pub fn gap(mean: Duration, dice: &mut Dice) -> Option<Duration> {
        let mean = u64::try_from(mean.as_millis()).unwrap_or(u64::MAX);
        (mean > 0).then(|| Duration::from_millis(dice.between(1, mean.saturating_mul(2))))
    }
}
