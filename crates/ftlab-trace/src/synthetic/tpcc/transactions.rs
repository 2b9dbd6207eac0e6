//! The five transactions of TPC-C, as the pages that they read and change.

use super::super::database::tables::{Appended, Fixed, Index, Loaded};
use super::super::database::{Database, Files, Transactions, Undo};
use super::super::uniform::draw_below;
use super::scale::{DISTRICTS, LINES_MEAN, SPECIFIED_ITEMS, Scale, row_bytes};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;
use std::collections::VecDeque;

/// Bytes of redo log and of undo records for a changed row or index entry: the captured database wrote
/// two pages of log with a commit, and filled a page of undo records in four.
const REDO_BYTES: u32 = 150;
const UNDO_BYTES: u32 = 40;

/// Orders that a look at the stock goes back.
const STOCK_LEVEL_ORDERS: usize = 20;

/// An order that waits for delivery: where its rows are.
#[derive(Debug, Clone, Copy)]
struct Order {
    new_orders: u32,
    orders: u32,
    first_line: u32,
    last_line: u32,
}

/// Lines of an order at most.
const LINES_MAX: usize = 15;

/// A line that is ordered: an item, and its row of stock.
#[derive(Debug, Clone, Copy)]
struct Line {
    item: u64,
    stock: u64,
}

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

/// All tables and indexes, and who draws.
pub(super) struct Tpcc {
    random: Xoshiro256PlusPlus,
    files: Files,
    warehouses: u32,
    customers: u64,
    items: u64,
    draw_item: NuRand,
    draw_customer: NuRand,
    draw_name: NuRand,
    warehouse: Fixed,
    district: Fixed,
    item: Fixed,
    stock: Fixed,
    customer: Fixed,
    customer_by_name: Fixed,
    orders: Appended,
    orders_by_customer: Index,
    order_line: Appended,
    order_line_by_item: Index,
    new_orders: Appended,
    history: Appended,
    history_by_customer: Index,
    history_by_district: Appended,
    undo: Undo,
    /// Orders of each district that wait for delivery, the oldest first.
    waiting: Vec<VecDeque<Order>>,
    /// Stock pages of each district's last orders.
    recent_stock: Vec<VecDeque<u32>>,
    /// Rows changed by the transaction that runs.
    changes: u32,
}

impl Tpcc {
    /// Loads the initial tables.
    pub(super) fn new(
        scale: &Scale,
        is_skewed: bool,
        mut files: Files,
        mut random: Xoshiro256PlusPlus,
    ) -> Self {
        let loading = &mut files;
        let (districts, warehouses) = (scale.districts(), scale.warehouses);
        let (customers, items) = (scale.customers(), scale.items());
        let all_customers = customers * u64::from(districts);
        let lines = all_customers * LINES_MEAN;
        let stock_rows = items * u64::from(warehouses);
        let mut draw =
            |mask, specified, values| NuRand::new(mask, specified, values, is_skewed, &mut random);
        let draw_item = draw(8191, SPECIFIED_ITEMS, items);
        let draw_customer = draw(1023, 3_000, customers);
        let draw_name = draw(255, 1_000, customers.min(1_000));
        let rows = |bytes| scale.rows(bytes);
        let fixed = |files: &mut Files, of, bytes| Fixed::new(files, of, rows(bytes));
        let index = |files: &mut Files, keys, of, bytes, order, share| {
            Index::new(files, keys, of, rows(bytes), order, scale.pages_max / share)
        };
        let appended = |bytes| Appended::new(districts as usize, rows(bytes));
        // As many rows of these fit into a page as in a page of 4 KiB with little in it.
        let warehouse = Fixed::new(loading, u64::from(warehouses), 30);
        let district = Fixed::new(loading, u64::from(districts), 30);
        let item = fixed(loading, items, row_bytes::ITEM);
        let stock = fixed(loading, stock_rows, row_bytes::STOCK);
        let customer = fixed(loading, all_customers, row_bytes::CUSTOMER);
        let customer_by_name = fixed(loading, all_customers, row_bytes::CUSTOMER_BY_NAME);
        let old_orders = fixed(loading, all_customers, row_bytes::ORDERS);
        let old_lines = fixed(loading, lines, row_bytes::ORDER_LINE);
        fixed(loading, all_customers, row_bytes::HISTORY);
        fixed(loading, all_customers, row_bytes::HISTORY_BY_DISTRICT);
        let mut new_orders = appended(row_bytes::NEW_ORDERS);
        let waiting = waiting_orders(scale, loading, &mut new_orders, &old_orders, &old_lines);
        Self {
            warehouses,
            customers,
            items,
            draw_item,
            draw_customer,
            draw_name,
            orders: appended(row_bytes::ORDERS),
            orders_by_customer: index(
                loading,
                all_customers,
                all_customers,
                row_bytes::ORDERS_BY_CUSTOMER,
                Loaded::AnyOrder,
                16,
            ),
            order_line: appended(row_bytes::ORDER_LINE),
            order_line_by_item: index(
                loading,
                stock_rows,
                lines,
                row_bytes::ORDER_LINE_BY_ITEM,
                Loaded::AnyOrder,
                3,
            ),
            history: Appended::new(1, rows(row_bytes::HISTORY)),
            history_by_customer: index(
                loading,
                all_customers,
                all_customers,
                row_bytes::HISTORY_BY_CUSTOMER,
                Loaded::InOrder,
                16,
            ),
            history_by_district: appended(row_bytes::HISTORY_BY_DISTRICT),
            undo: Undo::new(loading, scale.undo_pages, scale.page_bytes),
            waiting,
            recent_stock: vec![VecDeque::new(); districts as usize],
            warehouse,
            district,
            item,
            stock,
            customer,
            customer_by_name,
            new_orders,
            files,
            random,
            changes: 0,
        }
    }

    #[inline]
    fn below(&mut self, limit: u64) -> u64 {
        draw_below(&mut self.random, limit)
    }

    #[inline]
    fn change(&mut self, database: &mut Database, page: u32) {
        self.changes += 1;
        database.change(page, REDO_BYTES);
    }

    /// Changes the page that a row was appended to, which may be a new one.
    #[inline]
    fn append(&mut self, database: &mut Database, (page, is_new): (u32, bool)) -> u32 {
        self.changes += 1;
        if is_new {
            database.make(page, REDO_BYTES);
        } else {
            database.change(page, REDO_BYTES);
        }
        page
    }

    /// Changes the page into which an index entry went, and the other half of a leaf that split.
    #[inline]
    fn change_leaf(&mut self, database: &mut Database, (page, other): (u32, Option<u32>)) {
        self.change(database, page);
        if let Some(other) = other {
            // Half of a page of rows goes through the log.
            database.make(other, 2048);
        }
    }

    fn new_order(&mut self, database: &mut Database, district: usize) {
        let home = district as u64 / u64::from(DISTRICTS);
        let customer = self.draw_customer.draw(&mut self.random);
        let customer = district as u64 * self.customers + customer;
        database.read(self.warehouse.page(home));
        database.read(self.customer.page(customer));
        self.change(database, self.district.page(district as u64));
        let orders = self.orders.insert(district, &mut self.files);
        let orders = self.append(database, orders);
        let leaf = self.orders_by_customer.insert(customer, &mut self.files);
        self.change_leaf(database, leaf);
        let new_orders = self.new_orders.insert(district, &mut self.files);
        let new_orders = self.append(database, new_orders);
        let lines = self.draw_lines(home);
        self.look_ahead(database, &lines);
        let mut pages = (0, 0);
        for (index, line) in lines.iter().flatten().enumerate() {
            let page = self.order_line(database, district, *line);
            pages = (if index == 0 { page } else { pages.0 }, page);
        }
        let order = Order { new_orders, orders, first_line: pages.0, last_line: pages.1 };
        self.waiting[district].push_back(order);
    }

    /// The lines of a new order: 5 to 15, and then none.
    #[inline]
    fn draw_lines(&mut self, home: u64) -> [Option<Line>; LINES_MAX] {
        let lines = 5 + self.below(11) as usize;
        let mut drawn = [None; LINES_MAX];
        for line in &mut drawn[..lines] {
            let item = self.draw_item.draw(&mut self.random);
            // One line in a hundred comes from another warehouse.
            let is_remote = self.below(100) == 0;
            let from = if is_remote { self.below(u64::from(self.warehouses)) } else { home };
            *line = Some(Line { item, stock: from * self.items + item });
        }
        drawn
    }

    /// Looks for the pages of lines that are far apart.
    #[inline]
    fn look_ahead(&self, database: &Database, lines: &[Option<Line>; LINES_MAX]) {
        let rows = lines.map(|line| line.map_or(0, |line| line.stock));
        database.look_ahead(&rows.map(|row| self.stock.page(row)));
        database.look_ahead(&self.order_line_by_item.pages(rows));
    }

    /// A line of a new order; returns the page that it is in.
    #[inline]
    fn order_line(&mut self, database: &mut Database, district: usize, line: Line) -> u32 {
        database.read(self.item.page(line.item));
        let stock = self.stock.page(line.stock);
        self.change(database, stock);
        let recent = &mut self.recent_stock[district];
        if recent.len() == STOCK_LEVEL_ORDERS * LINES_MEAN as usize {
            recent.pop_front();
        }
        recent.push_back(stock);
        let page = self.order_line.insert(district, &mut self.files);
        let page = self.append(database, page);
        let leaf = self.order_line_by_item.insert(line.stock, &mut self.files);
        self.change_leaf(database, leaf);
        page
    }

    fn payment(&mut self, database: &mut Database, district: usize) {
        let home = district as u64 / u64::from(DISTRICTS);
        self.change(database, self.warehouse.page(home));
        self.change(database, self.district.page(district as u64));
        // Fifteen in a hundred customers are of another district.
        let is_remote = self.below(100) < 15;
        let of = if is_remote { self.below(self.waiting.len() as u64) } else { district as u64 };
        let customer = self.find_customer(database, of);
        self.change(database, self.customer.page(customer));
        let history = self.history.insert(0, &mut self.files);
        self.append(database, history);
        let leaf = self.history_by_customer.insert(customer, &mut self.files);
        self.change_leaf(database, leaf);
        let page = self.history_by_district.insert(district, &mut self.files);
        self.append(database, page);
    }

    /// A customer of a district, by number or, in six of ten cases, by a name that about three have.
    fn find_customer(&mut self, database: &mut Database, district: u64) -> u64 {
        let first = district * self.customers;
        if self.below(10) >= 6 {
            return first + self.draw_customer.draw(&mut self.random);
        }
        let name = self.draw_name.draw(&mut self.random);
        database.read(
            self.customer_by_name.page(first + name * self.customers / self.draw_name.values),
        );
        // Customers of the same name have numbers that are a thousand apart, as they were loaded.
        let mut customer = name;
        while customer + self.draw_name.values < self.customers {
            database.read(self.customer.page(first + customer));
            customer += self.draw_name.values;
        }
        let middle = name + (customer - name) / self.draw_name.values / 2 * self.draw_name.values;
        first + middle
    }

    fn delivery(&mut self, database: &mut Database, district: usize) {
        let first = district - district % DISTRICTS as usize;
        for district in first..first + DISTRICTS as usize {
            let Some(order) = self.waiting[district].pop_front() else { continue };
            self.change(database, order.new_orders);
            let next = self.waiting[district].front();
            let is_last = next.is_none_or(|next| next.new_orders != order.new_orders);
            if is_last && !self.new_orders.is_open(district, order.new_orders) {
                self.new_orders.release(order.new_orders);
            }
            self.change(database, order.orders);
            // Ten lines, in one page or in two.
            database.change(order.first_line, REDO_BYTES * LINES_MEAN as u32 / 2);
            database.change(order.last_line, REDO_BYTES * LINES_MEAN as u32 / 2);
            self.changes += LINES_MEAN as u32;
            let customer = self.below(self.customers);
            let page = self.customer.page(district as u64 * self.customers + customer);
            self.change(database, page);
        }
    }

    fn order_status(&mut self, database: &mut Database, district: usize) {
        let customer = self.find_customer(database, district as u64);
        database.read(self.customer.page(customer));
        database.read(self.orders_by_customer.page(customer));
        if let Some(order) = self.waiting[district].back() {
            database.read(order.orders);
            database.read(order.last_line);
        }
    }

    fn stock_level(&mut self, database: &mut Database, district: usize) {
        database.read(self.district.page(district as u64));
        if let Some(order) = self.waiting[district].back() {
            database.read(order.last_line);
        }
        for page in &self.recent_stock[district] {
            database.read(*page);
        }
    }
}

impl Transactions for Tpcc {
    #[inline]
    fn run_one(&mut self, database: &mut Database) -> bool {
        if self.files.is_full() {
            return false;
        }
        let district = self.below(self.waiting.len() as u64) as usize;
        match self.below(23) {
            0..10 => self.new_order(database, district),
            10..20 => self.payment(database, district),
            20 => self.delivery(database, district),
            21 => self.order_status(database, district),
            _ => self.stock_level(database, district),
        }
        if self.changes > 0 {
            database.write_undo(&mut self.undo, UNDO_BYTES * self.changes);
            self.changes = 0;
            database.commit();
        }
        true
    }

    fn files(&self) -> &Files {
        &self.files
    }

    fn properties(&self) -> Vec<(&'static str, String)> {
        let share = self.items as f64 / SPECIFIED_ITEMS as f64;
        vec![("warehouses", format!("{:.3}", f64::from(self.warehouses) * share))]
    }
}

/// The orders of the initial database that wait, the last of each district; their pages are among those
/// that have been loaded.
fn waiting_orders(
    scale: &Scale,
    files: &mut Files,
    new_orders: &mut Appended,
    orders: &Fixed,
    lines: &Fixed,
) -> Vec<VecDeque<Order>> {
    let (customers, waiting) = (scale.customers(), scale.waiting_orders());
    let of_district = |district: u64| {
        let numbers = (district + 1) * customers - waiting..(district + 1) * customers;
        let order = |number: u64| Order {
            new_orders: new_orders.insert(district as usize, files).0,
            orders: orders.page(number),
            first_line: lines.page(number * LINES_MEAN),
            last_line: lines.page(number * LINES_MEAN + LINES_MEAN - 1),
        };
        numbers.map(order).collect()
    };
    (0..u64::from(scale.districts())).map(of_district).collect()
}
