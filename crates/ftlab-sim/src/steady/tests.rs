use super::looks::{deviations, is_look, up_to};
use super::statistic::{batches, window};
use super::*;

/// Numbers that look random, the same in every run.
struct Noise(u64);

impl Noise {
    /// From 0 to 1.
    fn uniform(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Of mean 0 and standard deviation 1, nearly normal.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    /// An autoregression of first order with standard deviation 1.
    fn correlated(&mut self, correlation: f64) -> impl FnMut() -> f64 {
        let mut last = self.normal();
        move || {
            last = correlation * last + (1.0 - correlation * correlation).sqrt() * self.normal();
            last
        }
    }
}

/// What is concluded at each look of a run of up to `rounds`, whose rounds move the given pages for each host page; `pass`
/// rounds are a pass.
fn looks(rounds: u64, pass: u64, mut moved: impl FnMut(u64) -> f64) -> Vec<Settling> {
    let mut kept = Rounds::default();
    let mut found = Vec::new();
    for round in 0..rounds {
        kept.push(1.0 + moved(round), 1, if pass > 0 { Pass::Of(100 * pass) } else { Pass::Only });
        if kept.is_look() {
            found.push(kept.settling(given(None)));
        }
    }
    found
}

fn given(turnovers: Option<f64>) -> Circumstances {
    Circumstances { round_writes: 100, turnovers, was_looked_at: true }
}

/// The first look that says steady.
fn first_steady(looks: &[Settling]) -> Option<Settling> {
    looks.iter().copied().find(|look| look.verdict == Verdict::Steady)
}

/// How many of 400 runs end at a value that is more than the tolerance from `limit`, and how many end at all.
fn passes(correlation: f64, deviation: f64, transient: impl Fn(u64) -> f64) -> [usize; 2] {
    let limit = 1.0;
    let mut found = [0; 2];
    for seed in 0..400 {
        let mut noise = Noise(seed * 7919 + 1);
        let mut next = noise.correlated(correlation);
        let run = looks(400, 0, |round| (limit + transient(round) + deviation * next()).max(0.0));
        if let Some(steady) = first_steady(&run) {
            let off = (steady.steady_waf().unwrap() - 1.0 - limit).abs();
            found[0] += usize::from(off > TOLERANCE * limit);
            found[1] += 1;
        }
    }
    found
}

#[test]
fn of_stationary_series_hardly_any_is_called_steady_at_a_wrong_value() {
    // Of noise of 5% with a correlation of 0.9, the means of a whole run differ by 1%: most runs end with a bound.
    for (correlation, deviation, least) in
        [(0.0, 0.05, 340), (0.5, 0.05, 80), (0.5, 0.02, 340), (0.9, 0.05, 0)]
    {
        let [wrong, ended] = passes(correlation, deviation, |_| 0.0);
        assert!(ended >= least, "{ended} end with a correlation of {correlation}");
        assert!(
            wrong * 20 <= 400,
            "{wrong} of 400, {ended} of which end, with a correlation of {correlation}"
        );
    }
}

#[test]
fn a_slow_approach_is_waited_for() {
    for drive_writes in [1.0, 4.0, 16.0, 64.0] {
        let rounds = 4.0 * drive_writes;
        let [wrong, ended] = passes(0.3, 0.03, |round| -0.6 * (-(round as f64) / rounds).exp());
        assert!(
            wrong * 20 <= 400,
            "{wrong} of {ended} are wrong, approaching in {drive_writes} drive writes"
        );
        assert!(drive_writes > 4.0 || ended >= 350, "only {ended}, approaching in {drive_writes}");
    }
}

#[test]
fn a_ramp_is_rising_and_has_a_bound_below_what_comes() {
    let ramp = |round: u64| 0.5 + 0.005 * round as f64;
    let run = looks(400, 0, ramp);
    assert_eq!(first_steady(&run), None);
    let last = run.last().unwrap();
    let end = 1.0 + ramp(last.rounds);
    assert_eq!(last.verdict, Verdict::Rising);
    let low = last.at_least.unwrap();
    assert!(low > end - 0.02 * end && low <= end, "{low} of {end}");
    let waf = last.window_waf.unwrap();
    assert!((last.change_per_drive_write - 0.02 / waf).abs() < 1e-6, "{last:?}");
    let text = last.bound().unwrap();
    assert!(text.starts_with("at least 3.") && text.contains(", still rising 0."), "{text}");
    let falling = looks(400, 0, |round| 3.0 - 0.005 * round as f64);
    let last = falling.last().unwrap();
    assert_eq!((last.verdict, last.at_least), (Verdict::Falling, None));
    let end = 4.0 - 0.005 * last.rounds as f64;
    assert!(last.at_most.unwrap() < 1.02 * end && last.bound().unwrap().starts_with("at most "));
}

#[test]
fn a_pair_of_rounds_that_changed_places_silences_no_rise() {
    let rise = |round: u64| 0.5 + 0.01 * round as f64;
    let swapped = |round: u64| {
        rise(if round % 7 == 3 {
            round + 1
        } else if round % 7 == 4 {
            round - 1
        } else {
            round
        })
    };
    assert_eq!(first_steady(&looks(300, 0, swapped)), None);
}

#[test]
fn a_step_is_the_end_of_a_transient() {
    let run = looks(200, 0, |round| if round < 20 { 0.2 } else { 1.0 });
    assert_eq!(run[0].verdict, Verdict::Unsettled, "a step is no line: {:?}", run[0]);
    let steady = first_steady(&run).unwrap();
    assert!((steady.steady_waf().unwrap() - 2.0).abs() < 1e-9, "{steady:?}");
    assert!(steady.rounds - steady.window_rounds >= 20, "{steady:?}");
}

#[test]
fn one_round_that_erases_nothing_begins_it_again() {
    let mut rounds = Rounds::default();
    (0..20).for_each(|_| rounds.push(1.0, 0, Pass::Only));
    (0..31).for_each(|_| rounds.push(2.0, 1, Pass::Only));
    let short = rounds.settling(given(None));
    assert_eq!(
        (short.verdict, short.needed_rounds, short.steady_waf()),
        (Verdict::TooShort, 52, None)
    );
    assert_eq!((short.rounds, short.needed_rounds), (51, 52));
    rounds.push(2.0, 1, Pass::Only);
    assert_eq!(rounds.settling(given(None)).steady_waf(), Some(2.0), "and 1.0 is not in the mean");
}

#[test]
fn the_slowest_stream_is_collected_twice_or_waited_for_no_longer() {
    let mut rounds = Rounds::default();
    (0..64).for_each(|_| rounds.push(2.0, 1, Pass::Only));
    let verdict = |turnovers| rounds.settling(given(Some(turnovers)));
    assert_eq!(verdict(2.0).verdict, Verdict::Steady);
    assert_eq!((verdict(1.5).verdict, verdict(1.5).needed_rounds), (Verdict::TooShort, 86));
    assert_eq!(verdict(0.0).needed_rounds, 128, "frozen");
    (0..64).for_each(|_| rounds.push(2.0, 1, Pass::Only));
    assert_eq!(rounds.settling(given(Some(0.0))).verdict, Verdict::Steady);
}

#[test]
fn a_repeated_trace_is_compared_pass_by_pass() {
    // A pass moves nothing in its first half.
    let phases = |round: u64| if round % 20 < 10 { 0.0 } else { 1.0 };
    let by_pass = looks(400, 20, phases);
    let steady = first_steady(&by_pass).unwrap();
    assert!((steady.steady_waf().unwrap() - 1.5).abs() < 1e-9, "{steady:?}");
    assert!(steady.rounds >= 213, "eight passes without a quarter: {steady:?}");
    assert_eq!(by_pass[0].verdict, Verdict::TooShort);
    let before = by_pass.iter().rfind(|look| look.verdict == Verdict::TooShort).unwrap();
    assert!(before.rounds < before.needed_rounds && before.needed_rounds >= 213, "{before:?}");
    assert!((steady.change_per_drive_write).abs() < 1e-9);
}

#[test]
fn windows_leave_out_what_differs_and_batches_are_whole_passes() {
    let climbing: Vec<f64> = (0..100).map(|round| f64::from(round.min(30))).collect();
    assert!(window(&climbing).iter().all(|value| *value > 28.0));
    assert_eq!(window(&[1.0; 100]).len(), 75);
    let saw: Vec<f64> = (0..100).map(|round| f64::from(round % 7)).collect();
    let means = batches(&saw, 7.0);
    assert_eq!(means.len(), 14);
    assert!(means.iter().all(|mean| (mean - 3.0).abs() < 1e-9), "{means:?}");
    assert_eq!(batches(&saw, 0.0).len(), 20);
    assert!(batches(&saw[..10], 7.5).len() == 1 && batches(&[1.0], 0.0).len() == 1);
}

#[test]
fn looks_are_paid_for() {
    let looks: Vec<u64> = (1..100).filter(|rounds| is_look(*rounds)).collect();
    assert_eq!(looks, [32, 37, 43, 50, 58, 67, 78, 90]);
    assert_eq!([1, 32, 33, 37, 100].map(up_to), [1, 1, 2, 2, 9]);
    let wrong: f64 = (1..1000).map(|look| 2.0 * (-deviations(look).powi(2) / 2.0).exp()).sum();
    assert!(wrong < 0.05 && wrong > 0.049, "{wrong}");
}

#[test]
fn where_nothing_is_moved_the_value_is_one() {
    let steady = first_steady(&looks(64, 0, |_| 0.0)).unwrap();
    assert_eq!((steady.steady_waf(), steady.rounds), (Some(1.0), 32));
}
