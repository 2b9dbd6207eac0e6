//! What a division into groups costs: a Markov chain of where a page is, from one host write of it to the next.

/// Groups of pages that are neither hot nor frozen, at most.
pub(super) const GROUPS_MAX: usize = 4;

/// The states: free, hot, and the groups from the shortest lives to the longest.
const FREE: usize = 0;
const HOT: usize = 1;
const FIRST: usize = 2;
const STATES: usize = FIRST + GROUPS_MAX;

/// Where pages go, as shares of those that are there.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Flows {
    /// The share of the host writes that are hot.
    pub(super) hot_writes: f64,
    /// The share of the hot pages that are rewritten before their block is collected.
    pub(super) hot_ends: f64,
    /// Group -> the share of the other host writes that it takes.
    pub(super) writes: [f64; GROUPS_MAX],
    /// Group -> the share of its pages that are rewritten before their block is collected.
    pub(super) ends: [f64; GROUPS_MAX],
}

/// The probabilities of going from one state to another at the next event of a page: a host write, or a collection.
pub(super) struct Chain([[f64; STATES]; STATES]);

impl Chain {
    /// Of `groups` groups: what a group does not end goes to the next one, and stays in the last one.
    pub(super) fn new(groups: usize, flows: &Flows) -> Self {
        let mut chain = [[0.0; STATES]; STATES];
        chain[FREE][HOT] = flows.hot_writes;
        chain[HOT][FREE] = flows.hot_ends;
        chain[HOT][FIRST] = 1.0 - flows.hot_ends;
        for group in 0..groups {
            let state = FIRST + group;
            chain[FREE][state] = (1.0 - flows.hot_writes) * flows.writes[group];
            chain[state][FREE] = flows.ends[group];
            chain[state][FIRST + (group + 1).min(groups - 1)] = 1.0 - flows.ends[group];
        }
        Self(chain)
    }

    /// How often each state is entered per host write in the long run. States only lead on, to themselves or back to
    /// free, so that each follows from those before it.
    fn visits(&self) -> [f64; STATES] {
        let mut visits = [0.0; STATES];
        visits[FREE] = 1.0;
        for state in HOT..STATES {
            let enters: f64 = (FREE..state).map(|from| visits[from] * self.0[from][state]).sum();
            visits[state] = enters / (1.0 - self.0[state][state]);
        }
        visits
    }

    /// Pages moved per host write.
    pub(super) fn relocations(&self) -> f64 {
        let visits = self.visits();
        let moved = |state: usize| visits[state] - visits[FREE] * self.0[FREE][state];
        (FIRST..STATES).map(moved).sum()
    }
}

/// The valid share of the victims of a first-in-first-out log under uniform writes, of which a share `fill` is valid:
/// v = -W(-x e^-x) / x with x = 1 / `fill` and Lambert's W, which is the v below 1 with (v - 1) / ln v = `fill`.
pub(super) fn fifo_valid(fill: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        if (middle - 1.0) / middle.ln() < fill { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flows() -> Flows {
        Flows {
            hot_writes: 0.5,
            hot_ends: 0.8,
            writes: [0.4, 0.6, 0.0, 0.0],
            ends: [0.75, 0.5, 0.0, 0.0],
        }
    }

    fn assert_near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} instead of {expected}");
    }

    #[test]
    fn relocations_are_those_worked_out_by_hand() {
        // Of 100 host writes 50 are hot, 20 go to the first group and 30 to the second. The hot group passes 10 on;
        // of the 30 that are then in the first group, 7.5 go on. Of 37.5 in the second group half are moved, and half
        // of these again: 37.5 in all.
        assert_near(Chain::new(2, &flows()).relocations(), 0.1 + 0.075 + 0.375);
        // All in one group: 60 enter it, and half are moved as often.
        let one = Flows { writes: [1.0, 0.0, 0.0, 0.0], ends: [0.5; GROUPS_MAX], ..flows() };
        assert_near(Chain::new(1, &one).relocations(), 0.1 + 0.6);
    }

    #[test]
    fn a_page_is_always_somewhere() {
        for groups in 1..=GROUPS_MAX {
            let share = 1.0 / groups as f64;
            let flows = Flows { writes: [share; GROUPS_MAX], ends: [0.3; GROUPS_MAX], ..flows() };
            let chain = Chain::new(groups, &flows);
            for row in &chain.0[..FIRST + groups] {
                assert_near(row.iter().sum(), 1.0);
            }
            // Step by step the chain comes to where the visits say it is.
            let mut at = [0.0; STATES];
            at[FREE] = 1.0;
            for _ in 0..10_000 {
                let next = |to| (FREE..STATES).map(|from| at[from] * chain.0[from][to]).sum();
                // Half of the pages wait, so that the chain has no period.
                let moved: [f64; STATES] = std::array::from_fn(next);
                at = std::array::from_fn(|state| f64::midpoint(at[state], moved[state]));
                assert_near(at.iter().sum(), 1.0);
            }
            let visits = chain.visits();
            let all: f64 = visits.iter().sum();
            for state in FREE..STATES {
                assert_near(at[state], visits[state] / all);
            }
        }
    }

    #[test]
    fn victims_of_a_log_are_as_valid_as_lamberts_function_says() {
        for fill in [0.4, 0.7, 0.9, 0.99] {
            let x = 1.0 / fill;
            let w = -x * fifo_valid(fill);
            // w is W(-x e^-x) on the principal branch, which is above -1.
            assert_near(w * w.exp(), -x * (-x).exp());
            assert!(w > -1.0 && fifo_valid(fill) < fill);
        }
        // Ten percent of over-provisioning: W(-1.1 e^-1.1) = -0.9063.
        assert!((fifo_valid(1.0 / 1.1) - 0.8239).abs() < 1e-3);
    }
}
