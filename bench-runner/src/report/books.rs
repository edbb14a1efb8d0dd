//! The three books: notifications as the clients counted them, as the servers counted them, and by the closed form.

use crate::measure::figures::Notifications;
use crate::report::format;
use crate::report::table::Table;
use crate::report::view::ArmView;

/// What comparing the books yields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Every book that was kept says the same.
    Agree,
    /// Only the clients counted.
    OneBook,
    /// How the others differ from the clients' count.
    Differ(String),
}

impl Verdict {
    /// Compares the books of one arm or trial.
    pub fn of(books: &Notifications) -> Self {
        let others = [("server", books.server), ("closed form", books.expected)];
        if others.iter().all(|(_, kept)| kept.is_none()) {
            return Verdict::OneBook;
        }
        let differing: Vec<String> = others
            .iter()
            .filter_map(|(name, kept)| kept.map(|kept| (name, kept)))
            .filter(|(_, kept)| *kept != books.client)
            .map(|(name, kept)| format!("{name} {}", difference(books.client, kept)))
            .collect();
        if differing.is_empty() { Verdict::Agree } else { Verdict::Differ(differing.join(", ")) }
    }

    /// The verdict in words.
    pub fn text(&self) -> String {
        match self {
            Verdict::Agree => "agree".to_owned(),
            Verdict::OneBook => "one book only".to_owned(),
            Verdict::Differ(how) => how.clone(),
        }
    }
}

/// How much `kept` is above or below `client`: `+12 (0.06 %)`.
fn difference(client: u64, kept: u64) -> String {
    let (sign, by) = if kept >= client { ("+", kept - client) } else { ("−", client - kept) };
    if client == 0 {
        return format!("{sign}{}", format::count(by));
    }
    let share = by as f64 / client as f64;
    let share = if share < 0.0001 { "< 0.01 %".to_owned() } else { format::Unit::Share.show(share) };
    format!("{sign}{} ({share})", format::count(by))
}

/// One line of the reconciliation.
pub(super) struct Line {
    /// The arm's label.
    pub arm: String,
    /// `all` for the sum, else the trial's position in the run.
    pub trial: String,
    /// Whether this line is the arm's sum.
    pub is_sum: bool,
    /// Clients, servers and closed form as text.
    pub books: [String; 3],
    /// What the comparison says.
    pub verdict: Verdict,
    /// Notifications of which the instance could not be told.
    pub untracked: u64,
}

impl Line {
    fn new(arm: &str, trial: String, is_sum: bool, books: &Notifications) -> Self {
        let absent = |kept: Option<u64>, words: &str| kept.map_or_else(|| words.to_owned(), format::count);
        Self {
            arm: arm.to_owned(),
            trial,
            is_sum,
            books: [format::count(books.client), absent(books.server, "not counted"), absent(books.expected, "none")],
            verdict: Verdict::of(books),
            untracked: books.untracked,
        }
    }

    /// The verdict, and what is missing from the fan-out.
    pub fn remark(&self) -> String {
        match self.untracked {
            0 => self.verdict.text(),
            untracked => format!("{}; {} untracked", self.verdict.text(), format::count(untracked)),
        }
    }
}

/// Every arm's sum, each followed by its trials where there are several.
pub(super) fn lines(arms: &[ArmView]) -> Vec<Line> {
    let mut lines = Vec::new();
    for view in arms {
        lines.push(Line::new(&view.label, "all".to_owned(), true, &view.arm.notifications));
        if view.arm.trial.len() > 1 {
            lines.extend(
                view.arm
                    .trial
                    .iter()
                    .map(|trial| Line::new(&view.label, trial.position.to_string(), false, &trial.notifications)),
            );
        }
    }
    lines
}

/// The books by kind of notification, for the table behind the reconciliation.
pub(super) fn by_kind(arms: &[ArmView]) -> Table {
    let mut table = Table::new("Notifications by kind", 2, &["arm", "kind", "client", "server"]);
    for view in arms {
        let books = &view.arm.notifications;
        let mut kinds: Vec<&String> = books.client_by_kind.keys().chain(books.server_by_kind.keys()).collect();
        kinds.sort();
        kinds.dedup();
        for kind in kinds {
            // With counters at hand, a kind that is not among them was counted, as 0.
            let server = books.server_by_kind.get(kind).copied();
            let server = if books.server_by_kind.is_empty() { server } else { Some(server.unwrap_or(0)) };
            table.row([
                view.label.clone(),
                format::plain(kind),
                format::count(books.client_by_kind.get(kind).copied().unwrap_or(0)),
                format::maybe_count(server),
            ]);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(client: u64, server: Option<u64>, expected: Option<u64>) -> String {
        Verdict::of(&Notifications { client, server, expected, ..Notifications::default() }).text()
    }

    #[test]
    fn books_agree_or_say_by_how_much_they_differ() {
        assert_eq!(verdict(19_900, Some(19_900), Some(19_900)), "agree");
        assert_eq!(verdict(199, Some(199), None), "agree");
        assert_eq!(verdict(199, None, None), "one book only");
        assert_eq!(verdict(200, Some(212), Some(199)), "server +12 (6.00 %), closed form −1 (0.500 %)");
        assert_eq!(verdict(0, Some(3), None), "server +3");
        assert_eq!(verdict(1_000_000, Some(1_000_001), None), "server +1 (< 0.01 %)");
    }
}
