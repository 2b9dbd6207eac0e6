//! What the transactions are about: all that is drawn of them.
//!
//! It depends on no table but for the orders that wait for delivery, which are counted here. So it is drawn
//! ahead, and the leaves of indexes that many transactions need can be looked for at once.

use super::scale::{DISTRICTS, SPECIFIED_ITEMS, Scale};
use ftlab_random::draw_below;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;
use std::collections::VecDeque;
use std::ops::Range;

/// Transactions that are drawn at a time.
const AHEAD: usize = 16;

/// The benchmark's skewed draw, NURand: some values are drawn much more often, and they lie scattered.
#[derive(Debug, Clone, Copy)]
struct NuRand {
    mask: u64,
    values: u64,
    /// Drawn once; `None` if it is drawn for each value, which leaves little of the skew.
    constant: Option<u64>,
}

impl NuRand {
    /// Draws of 0..`values`, with a mask for `specified` values scaled down with them.
    fn new(
        mask: u64,
        specified: u64,
        values: u64,
        is_skewed: bool,
        random: &mut Xoshiro256PlusPlus,
    ) -> Self {
        let mask = (1 << ((mask + 1) * values / specified).max(2).ilog2()) - 1;
        let mask = if mask >= values { values / 2 } else { mask };
        let constant = draw_below(random, mask + 1);
        Self { mask, values, constant: is_skewed.then_some(constant) }
    }

    #[inline]
    fn draw(&self, random: &mut Xoshiro256PlusPlus) -> u64 {
        let drawn = random.next_u64();
        let any = ((drawn >> 32) * self.values) >> 32;
        let constant = self.constant.unwrap_or(drawn >> 16 & self.mask);
        let mixed = ((drawn & self.mask) | any) + constant;
        // At most twice around: both terms are below twice the number of values.
        let once = if mixed >= self.values { mixed - self.values } else { mixed };
        if once >= self.values { once % self.values } else { once }
    }
}

/// A transaction, but for its lines and the customers who are delivered to.
#[derive(Debug, Clone, Copy)]
pub(super) enum Transaction {
    NewOrder { customer: u64, lines: u32 },
    Payment(Customer),
    Delivery,
    OrderStatus(Customer),
    StockLevel,
}

/// A customer, and how it is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Customer {
    pub(super) row: u64,
    /// Where it is asked for by name.
    pub(super) by_name: Option<Name>,
}

/// A name that about three customers of a district have: they have numbers that are a thousand apart, as
/// they were loaded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Name {
    /// Row in the index by name.
    pub(super) row: u64,
    /// Row of the first customer, how far apart they are, and how many, the last left out.
    first: u64,
    step: u64,
    others: u64,
}

impl Name {
    /// The rows of those who have it but for the last.
    #[inline]
    pub(super) fn customers(self) -> impl Iterator<Item = u64> {
        (0..self.others).map(move |number| self.first + number * self.step)
    }
}

/// A line that is ordered: an item, and its row of stock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    pub(super) item: u64,
    pub(super) stock: u64,
}

/// Who draws, and the transactions that have been drawn and wait for their turn.
pub(super) struct Inputs {
    random: Xoshiro256PlusPlus,
    warehouses: u64,
    customers: u64,
    items: u64,
    draw_item: NuRand,
    draw_customer: NuRand,
    draw_name: NuRand,
    /// Orders of each district that wait for delivery, after the transactions that have been drawn.
    undelivered: Vec<u32>,
    /// What comes next, each with its district.
    pub(super) transactions: VecDeque<(usize, Transaction)>,
    /// Lines of the new orders among them.
    pub(super) lines: VecDeque<Line>,
    /// Rows of customers whom the deliveries among them change.
    pub(super) delivered: VecDeque<u64>,
}

impl Inputs {
    pub(super) fn new(scale: &Scale, is_skewed: bool, mut random: Xoshiro256PlusPlus) -> Self {
        let (customers, items) = (scale.customers(), scale.items());
        let mut draw =
            |mask, specified, values| NuRand::new(mask, specified, values, is_skewed, &mut random);
        Self {
            draw_item: draw(8191, SPECIFIED_ITEMS, items),
            draw_customer: draw(1023, 3_000, customers),
            draw_name: draw(255, 1_000, customers.min(1_000)),
            random,
            warehouses: u64::from(scale.warehouses),
            customers,
            items,
            undelivered: vec![scale.waiting_orders() as u32; scale.districts() as usize],
            transactions: VecDeque::new(),
            lines: VecDeque::new(),
            delivered: VecDeque::new(),
        }
    }

    /// Draws the next transactions.
    pub(super) fn draw(&mut self) {
        for _ in 0..AHEAD {
            let district = self.below(self.undelivered.len() as u64) as usize;
            let transaction = match self.below(23) {
                0..10 => self.new_order(district),
                10..20 => self.payment(district),
                20 => self.delivery(district),
                21 => Transaction::OrderStatus(self.customer(district as u64)),
                _ => Transaction::StockLevel,
            };
            self.transactions.push_back((district, transaction));
        }
    }

    #[inline]
    fn below(&mut self, limit: u64) -> u64 {
        draw_below(&mut self.random, limit)
    }

    /// A new order with 5 to 15 lines.
    fn new_order(&mut self, district: usize) -> Transaction {
        self.undelivered[district] += 1;
        let home = district as u64 / u64::from(DISTRICTS);
        let customer = self.draw_customer.draw(&mut self.random);
        let lines = 5 + self.below(11) as u32;
        for _ in 0..lines {
            let item = self.draw_item.draw(&mut self.random);
            // One line in a hundred comes from another warehouse.
            let is_remote = self.below(100) == 0;
            let from = if is_remote { self.below(self.warehouses) } else { home };
            self.lines.push_back(Line { item, stock: from * self.items + item });
        }
        Transaction::NewOrder { customer: district as u64 * self.customers + customer, lines }
    }

    fn payment(&mut self, district: usize) -> Transaction {
        // Fifteen in a hundred customers are of another district.
        let is_remote = self.below(100) < 15;
        let districts = self.undelivered.len() as u64;
        let of = if is_remote { self.below(districts) } else { district as u64 };
        Transaction::Payment(self.customer(of))
    }

    /// A customer of a district, by number or, in six of ten cases, by name: the one in the middle.
    fn customer(&mut self, district: u64) -> Customer {
        let first = district * self.customers;
        if self.below(10) >= 6 {
            let row = first + self.draw_customer.draw(&mut self.random);
            return Customer { row, by_name: None };
        }
        let name = self.draw_name.draw(&mut self.random);
        let names = self.draw_name.values;
        let others = (self.customers - name - 1) / names;
        let by_name = Name {
            row: first + name * self.customers / names,
            first: first + name,
            step: names,
            others,
        };
        Customer { row: first + name + others / 2 * names, by_name: Some(by_name) }
    }

    /// A delivery of an order in each district of a warehouse where one waits.
    fn delivery(&mut self, district: usize) -> Transaction {
        for district in warehouse_of(district) {
            if self.undelivered[district] > 0 {
                self.undelivered[district] -= 1;
                let customer = self.below(self.customers);
                self.delivered.push_back(district as u64 * self.customers + customer);
            }
        }
        Transaction::Delivery
    }
}

/// The districts of the warehouse that `district` is of.
pub(super) fn warehouse_of(district: usize) -> Range<usize> {
    let first = district - district % DISTRICTS as usize;
    first..first + DISTRICTS as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::Layout;
    use super::super::scale::Schema;
    use rand_xoshiro::rand_core::SeedableRng;

    fn inputs() -> (Scale, Inputs) {
        let layout = Layout { pages: 60_000, pool_pages: 100, ..Layout::SMALL };
        let scale = Scale::new(Schema::Tpcc, 6_000, &layout).unwrap();
        let inputs = Inputs::new(&scale, true, Xoshiro256PlusPlus::seed_from_u64(1));
        (scale, inputs)
    }

    #[test]
    fn what_is_drawn_is_enough_for_the_transactions() {
        let (scale, mut inputs) = inputs();
        let mut waiting = vec![scale.waiting_orders(); scale.districts() as usize];
        for _ in 0..5_000 {
            inputs.draw();
            for (district, transaction) in inputs.transactions.drain(..) {
                match transaction {
                    Transaction::NewOrder { lines, .. } => {
                        assert!((5..=15).contains(&lines));
                        inputs.lines.drain(..lines as usize).for_each(drop);
                        waiting[district] += 1;
                    }
                    Transaction::Delivery => {
                        for district in warehouse_of(district).filter(|of| waiting[*of] > 0) {
                            let customer = inputs.delivered.pop_front().unwrap();
                            assert_eq!(customer / inputs.customers, district as u64);
                        }
                        waiting[warehouse_of(district)].iter_mut().for_each(|waiting| {
                            *waiting = waiting.saturating_sub(1);
                        });
                    }
                    _ => {}
                }
            }
            assert!(inputs.lines.is_empty() && inputs.delivered.is_empty());
        }
    }

    #[test]
    fn a_name_leads_to_the_customer_in_the_middle() {
        let (_, mut inputs) = inputs();
        inputs.customers = 3_000;
        inputs.draw_name.values = 1_000;
        let mut named = std::iter::repeat_with(|| inputs.customer(2));
        let (customer, name) =
            named.find_map(|customer| Some((customer, customer.by_name?))).unwrap();
        let rows: Vec<_> = name.customers().collect();
        assert_eq!(rows, [customer.row - 1_000, customer.row]);
        assert!((6_000..7_000).contains(&rows[0]));
        assert_eq!(name.row, 6_000 + (rows[0] - 6_000) * 3);
    }
}
