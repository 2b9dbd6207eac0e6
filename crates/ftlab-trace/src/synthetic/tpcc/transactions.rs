//! The five transactions of TPC-C, as the pages that they read and change.

use super::super::database::tables::{Appended, Fixed, Index, Loaded};
use super::super::database::{Database, Files, Transactions, Undo};
use super::inputs::{Customer, Inputs, Line, Transaction, warehouse_of};
use super::scale::{DISTRICTS, LINES_MEAN, SPECIFIED_ITEMS, Scale, row_bytes};
use rand_xoshiro::Xoshiro256PlusPlus;
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

impl Order {
    fn pages(&self) -> [u32; 4] {
        [self.new_orders, self.orders, self.first_line, self.last_line]
    }
}

/// All tables and indexes, and what is drawn.
pub(super) struct Tpcc {
    inputs: Inputs,
    files: Files,
    warehouses: u32,
    items: u64,
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
    /// Pages that the next transactions will use, to look for.
    ahead: Vec<u32>,
}

impl Tpcc {
    /// Loads the initial tables.
    pub(super) fn new(
        scale: &Scale,
        is_skewed: bool,
        mut files: Files,
        random: Xoshiro256PlusPlus,
    ) -> Self {
        let loading = &mut files;
        let (districts, warehouses) = (scale.districts(), scale.warehouses);
        let (customers, items) = (scale.customers(), scale.items());
        let all_customers = customers * u64::from(districts);
        let lines = all_customers * LINES_MEAN;
        let stock_rows = items * u64::from(warehouses);
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
            inputs: Inputs::new(scale, is_skewed, random),
            warehouses,
            items,
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
            changes: 0,
            ahead: Vec::new(),
        }
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
            database.make_half(other);
        }
    }

    /// Looks for the pages of the next transactions that may be far apart.
    fn look_ahead(&mut self, database: &Database) {
        let Self { inputs, ahead, .. } = self;
        let drawn = || inputs.transactions.iter();
        let stock = || inputs.lines.iter().map(|line| line.stock);
        ahead.clear();
        self.order_line_by_item.look_ahead(stock(), ahead);
        let ordering = drawn().filter_map(|(_, transaction)| match transaction {
            Transaction::NewOrder { customer, .. } => Some(*customer),
            _ => None,
        });
        self.orders_by_customer.look_ahead(ordering.clone(), ahead);
        let paying = drawn().filter_map(|(_, transaction)| match transaction {
            Transaction::Payment(customer) => Some(customer.row),
            _ => None,
        });
        self.history_by_customer.look_ahead(paying, ahead);
        ahead.extend(stock().map(|row| self.stock.page(row)));
        let delivered = inputs.delivered.iter().copied();
        ahead.extend(ordering.chain(delivered).map(|customer| self.customer.page(customer)));
        for (district, transaction) in drawn() {
            match transaction {
                Transaction::Payment(customer) | Transaction::OrderStatus(customer) => {
                    ahead.push(self.customer.page(customer.row));
                    if let Some(name) = customer.by_name {
                        ahead.push(self.customer_by_name.page(name.row));
                        ahead.extend(name.customers().map(|row| self.customer.page(row)));
                    }
                }
                Transaction::Delivery => {
                    let orders =
                        self.waiting[warehouse_of(*district)].iter().filter_map(VecDeque::front);
                    ahead.extend(orders.flat_map(Order::pages));
                }
                Transaction::NewOrder { .. } | Transaction::StockLevel => {}
            }
        }
        database.look_ahead(ahead);
    }

    fn new_order(&mut self, database: &mut Database, district: usize, customer: u64, lines: u32) {
        let home = district as u64 / u64::from(DISTRICTS);
        database.read(self.warehouse.page(home));
        database.read(self.customer.page(customer));
        self.change(database, self.district.page(district as u64));
        let orders = self.orders.insert(district, &mut self.files);
        let orders = self.append(database, orders);
        let leaf = self.orders_by_customer.insert(customer, &mut self.files);
        self.change_leaf(database, leaf);
        let new_orders = self.new_orders.insert(district, &mut self.files);
        let new_orders = self.append(database, new_orders);
        let mut pages = (0, 0);
        for index in 0..lines {
            let line = self.inputs.lines.pop_front().expect("drawn with the order");
            let page = self.order_line(database, district, line);
            pages = (if index == 0 { page } else { pages.0 }, page);
        }
        let order = Order { new_orders, orders, first_line: pages.0, last_line: pages.1 };
        self.waiting[district].push_back(order);
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

    fn payment(&mut self, database: &mut Database, district: usize, customer: Customer) {
        let home = district as u64 / u64::from(DISTRICTS);
        self.change(database, self.warehouse.page(home));
        self.change(database, self.district.page(district as u64));
        self.find_by_name(database, customer);
        self.change(database, self.customer.page(customer.row));
        let history = self.history.insert(0, &mut self.files);
        self.append(database, history);
        let leaf = self.history_by_customer.insert(customer.row, &mut self.files);
        self.change_leaf(database, leaf);
        let page = self.history_by_district.insert(district, &mut self.files);
        self.append(database, page);
    }

    /// Looks at the customers who have the name that is asked for, if one is.
    fn find_by_name(&self, database: &mut Database, customer: Customer) {
        if let Some(name) = customer.by_name {
            database.read(self.customer_by_name.page(name.row));
            for row in name.customers() {
                database.read(self.customer.page(row));
            }
        }
    }

    fn delivery(&mut self, database: &mut Database, district: usize) {
        for district in warehouse_of(district) {
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
            let customer = self.inputs.delivered.pop_front().expect("drawn with the delivery");
            self.change(database, self.customer.page(customer));
        }
    }

    fn order_status(&mut self, database: &mut Database, district: usize, customer: Customer) {
        self.find_by_name(database, customer);
        database.read(self.customer.page(customer.row));
        database.read(self.orders_by_customer.page(customer.row));
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
        if self.inputs.transactions.is_empty() {
            self.inputs.draw();
            self.look_ahead(database);
        }
        let (district, transaction) = self.inputs.transactions.pop_front().expect("just drawn");
        match transaction {
            Transaction::NewOrder { customer, lines } => {
                self.new_order(database, district, customer, lines);
            }
            Transaction::Payment(customer) => self.payment(database, district, customer),
            Transaction::Delivery => self.delivery(database, district),
            Transaction::OrderStatus(customer) => self.order_status(database, district, customer),
            Transaction::StockLevel => self.stock_level(database, district),
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
