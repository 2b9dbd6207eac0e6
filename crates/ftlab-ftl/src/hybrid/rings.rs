//! Numbers on doubly linked rings, each of them on one at most.

/// Rings that begin and end at a node of their own. Nothing is allocated after construction.
pub(super) struct Rings {
    /// Before and after; the ends of rings come after the members. Who is on no ring is linked with itself.
    neighbours: Vec<[u32; 2]>,
    members: u32,
}

impl Rings {
    /// Empty rings for the numbers below `members`.
    pub(super) fn new(members: u32, rings: u32) -> Self {
        Self { neighbours: (0..members + rings).map(|node| [node; 2]).collect(), members }
    }

    /// Who has been on `ring` longest.
    #[inline]
    pub(super) fn first(&self, ring: u32) -> Option<u32> {
        self.iter(ring).next()
    }

    /// Who is on `ring`, from who has been there longest on.
    #[inline]
    pub(super) fn iter(&self, ring: u32) -> impl Iterator<Item = u32> + '_ {
        let end = self.members + ring;
        let after = |node: u32| self.neighbours[node as usize][1];
        std::iter::successors(Some(after(end)), move |&node| Some(after(node)))
            .take_while(move |&node| node != end)
    }

    /// Puts `member`, which is on no ring, at the end of `ring`.
    #[inline]
    pub(super) fn push(&mut self, ring: u32, member: u32) {
        let end = self.members + ring;
        let last = self.neighbours[end as usize][0];
        self.link(last, member);
        self.link(member, end);
    }

    /// Takes `member` off its ring, if it is on one.
    #[inline]
    pub(super) fn remove(&mut self, member: u32) {
        let [before, after] = self.neighbours[member as usize];
        self.link(before, after);
        self.neighbours[member as usize] = [member; 2];
    }

    /// Bytes of memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.neighbours[..])
    }

    fn link(&mut self, before: u32, after: u32) {
        self.neighbours[before as usize][1] = after;
        self.neighbours[after as usize][0] = before;
    }
}

#[cfg(test)]
mod tests {
    use super::Rings;

    #[test]
    fn a_number_is_on_one_ring_until_it_is_taken_off() {
        let mut rings = Rings::new(4, 2);
        let on = |rings: &Rings| [0, 1].map(|ring| rings.iter(ring).collect::<Vec<_>>());
        for (ring, member) in [(0, 2), (1, 0), (0, 3), (0, 1)] {
            rings.push(ring, member);
        }
        assert_eq!(on(&rings), [vec![2, 3, 1], vec![0]]);
        rings.remove(3);
        rings.remove(3);
        rings.push(1, 3);
        assert_eq!(on(&rings), [vec![2, 1], vec![0, 3]]);
        assert_eq!(rings.first(1), Some(0));
        rings.remove(0);
        rings.remove(3);
        assert_eq!(rings.first(1), None);
    }
}
