//! Which FTLs an answer is about: those to choose from, and for a real drive what it may have and what would be better.

use ftlab_sim::DriveClass;
use ftlab_sim::atlas::AtlasDrive;
use ftlab_spec::Spec;
use serde::Serialize;

/// What an FTL is to an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// One to choose from.
    Answer,
    /// Drives may have it instead: the range spans it.
    Instead,
    /// No drive is known to have it; what it would bring.
    Better,
}

/// From FTLs without statistics to those whose statistics are worth their memory.
const USUAL_FTLS: [&str; 7] =
    ["1r-greedy", "2r-fifo", "2r++", "dac-cb", "sepbit", "midas", "hazard"];

/// The FTL of the drives that were fitted: the one that explains both best (docs/real-drives.md).
const FITTED: &str = "sep-gc/cost-benefit";

/// What a drive has that does not keep moved pages apart.
const PLAIN: &str = "1r-greedy";

/// Those that would be better, from one without statistics to one that is worth its memory.
const BETTER: [&str; 3] = ["2r++", "sepbit", "hazard"];

/// The FTLs of a question.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Choice {
    /// To choose from.
    pub answer: Vec<Spec>,
    /// What drives may have instead.
    pub instead: Vec<Spec>,
    /// What no drive is known to have.
    pub better: Vec<Spec>,
}

impl Choice {
    /// Those that were `asked` for; if none were, the usual ones, or for a real drive its own, if it is known, and those
    /// that drives have.
    pub fn new(asked: &[Spec], real: Option<&DriveClass>) -> Self {
        let all = |names: &[&str]| names.iter().map(|name| Spec::bare(*name)).collect();
        if !asked.is_empty() {
            Self { answer: asked.to_vec(), ..Self::default() }
        } else if let Some(class) = real {
            let own = class.known.map_or_else(|| Spec::bare(FITTED), |known| known.ftl.clone());
            // What its fit does not tell from its own, if it says so.
            let as_good = class.known.and_then(AtlasDrive::as_good);
            let instead = as_good.unwrap_or_else(|| all(&[FITTED, PLAIN]));
            let mut of = Self { answer: vec![own], instead, better: all(&BETTER) };
            of.instead.retain(|ftl| !of.answer.contains(ftl));
            of.better.retain(|ftl| !of.answer.contains(ftl) && !of.instead.contains(ftl));
            of
        } else {
            Self { answer: all(&USUAL_FTLS), ..Self::default() }
        }
    }

    /// All of them.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Role, &Spec)> {
        let of = |role, ftls: &'_ [Spec]| std::iter::repeat_n(role, ftls.len());
        let roles = of(Role::Answer, &self.answer)
            .chain(of(Role::Instead, &self.instead))
            .chain(of(Role::Better, &self.better));
        roles.zip(self.answer.iter().chain(&self.instead).chain(&self.better))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_better_ftl_is_in_the_answer_only_if_it_is_asked_for() {
        let names = |choice: &Choice| -> Vec<(Role, String)> {
            choice.all().map(|(role, ftl)| (role, ftl.to_string())).collect()
        };
        let class: DriveClass = "7.68TB".parse().unwrap();
        let real = names(&Choice::new(&[], Some(&class)));
        assert_eq!(real[0], (Role::Answer, FITTED.into()));
        assert_eq!(real[1], (Role::Instead, PLAIN.into()));
        assert!(real[2..].iter().all(|(role, _)| *role == Role::Better));
        let asked = Choice::new(&["hazard".parse().unwrap()], Some(&class));
        assert_eq!(names(&asked), [(Role::Answer, "hazard".into())]);
        assert_eq!(Choice::new(&[], None).answer.len(), USUAL_FTLS.len());
        let known = names(&Choice::new(&[], Some(&"fdp-a".parse().unwrap())));
        let (own, other) = ("sepbit".to_owned(), FITTED.to_owned());
        assert_eq!(known[..2], [(Role::Answer, own.clone()), (Role::Instead, other)]);
        assert!(!known.contains(&(Role::Better, own)));
    }
}
