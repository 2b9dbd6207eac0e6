//! Prose whose numbers are those of the results: `{waf: ftl=2r-fifo; op=5%}`.

use super::compare::{Numbers, measured, moved, places, text};
use super::file_error::Wrong;
use super::plan::Plan;
use super::report::Selector;
use super::scalar::{Choice, Pairs};
use crate::error::ExperimentsError;

/// `prose` with the number of every `{metric: axis=value; ...}`, or of `{metric: ... / axis=value}`, the
/// number divided by that of the point which differs in these axes.
pub fn filled_in(
    plan: &Plan,
    numbers: &dyn Numbers,
    prose: &str,
) -> Result<String, ExperimentsError> {
    let mut filled = String::new();
    let mut rest = prose;
    while let Some((before, after)) = rest.split_once('{') {
        filled += before;
        let Some((inside, later)) = after.split_once('}') else {
            return Err(wrong(plan, &format!("{{{after} has no closing brace")));
        };
        filled += &number(plan, numbers, inside).map_err(|message| wrong(plan, &message))?;
        rest = later;
    }
    Ok(filled + rest)
}

fn wrong(plan: &Plan, message: &str) -> ExperimentsError {
    Wrong::anywhere(format!("findings: {message}")).within(&plan.file.path, &plan.file.toml).into()
}

/// The number that `inside` names, as text.
fn number(plan: &Plan, numbers: &dyn Numbers, inside: &str) -> Result<String, String> {
    let (metric, of) = inside
        .split_once(": ")
        .ok_or_else(|| format!("{{{inside}}} is not {{metric: axis=value; axis=value}}"))?;
    numbers.check(metric).map_err(|error| error.to_string())?;
    let (of, over) = match of.split_once(" / ") {
        Some((of, over)) => (of, Some(selector(over)?)),
        None => (of, None),
    };
    let of = selector(of)?;
    let found = places(plan, &of);
    if found.is_empty() && plan.absent.is_empty() {
        return Err(format!("{{{inside}}} is of no point of the experiment"));
    }
    let of_place = |place| {
        let number = measured(plan, numbers, metric, place)?;
        match &over {
            Some(other) => Some(number / measured(plan, numbers, metric, &moved(place, other))?),
            None => Some(number),
        }
    };
    Ok(found.first().copied().and_then(of_place).map_or_else(|| "(not measured)".to_owned(), text))
}

/// `axis=value; axis=value`.
fn selector(text: &str) -> Result<Selector, String> {
    let pairs = text.split(';').map(|pair| {
        let (axis, value) =
            pair.split_once('=').ok_or_else(|| format!("{pair:?} is not axis=value"))?;
        Ok((axis.trim().to_owned(), Choice::of(value.trim())))
    });
    pairs.collect::<Result<Vec<_>, String>>().map(Pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::{ExperimentFile, Recorded, Scale};

    fn plan() -> Plan {
        let text = "title = \"t\"\nworkloads = [\"uniform\"]\nftls = [\"1r-greedy\", \"2r-fifo\"]\n\
                    [drive]\nlogical-pages = 4096\nop = \"{op}\"\n[grid]\nop = [\"10%\", \"20%\"]";
        Plan::new(ExperimentFile::parse("t.toml".as_ref(), text).unwrap(), Scale::FULL).unwrap()
    }

    const CSV: &str = "workload,op,ftl,seed,waf\nuniform,10%,1r-greedy,1,4\nuniform,10%,2r-fifo,1,5\n\
                       uniform,20%,1r-greedy,1,2\n";

    #[test]
    fn numbers_of_prose_are_those_of_the_results() {
        let plan = plan();
        let numbers = Recorded::parse(&plan, CSV).unwrap();
        let fill = |prose: &str| filled_in(&plan, &numbers, prose);
        assert_eq!(
            fill("A {waf: ftl=1r-greedy; op=10%}, {waf: ftl=2r-fifo; op=10% / ftl=1r-greedy}.")
                .unwrap(),
            "A 4.000, 1.250."
        );
        assert_eq!(fill("{waf: ftl=2r-fifo; op=20%}").unwrap(), "(not measured)");
        for bad in ["{waf", "{waf}", "{wax: ftl=2r-fifo}", "{waf: ftl}", "{waf: ftl=fifo}"] {
            assert!(fill(bad).is_err(), "{bad}");
        }
    }
}
