//! The five transactions of TPC-C, as the pages that they read and change.

use super::inputs::{Customer, Inputs, Transaction, warehouse_of};
use super::scale::{DISTRICTS, LINES_MEAN, SPECIFIED_ITEMS, Scale, row_bytes};
use crate::database::tables::{Appended, Fixed, Index, Loaded};
use crate::database::{Files, Transactions, Undo, Uses};
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
    order_line_by_item: Option<Index>,
    new_orders: Appended,
    history: Appended,
    history_by_customer: Option<Index>,
    history_by_district: Option<Appended>,
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
        let schema = scale.schema;
        if schema.has_history_indexes() {
            fixed(loading, all_customers, row_bytes::HISTORY_BY_DISTRICT);
        }
        let mut new_orders = appended(row_bytes::NEW_ORDERS);
        let waiting = waiting_orders(scale, loading, &mut new_orders, &old_orders, &old_lines);
        let (orders_by_customer, order_line_by_item, history_by_customer) = indexes(scale, loading);
        Self {
            inputs: Inputs::new(scale, is_skewed, random),
            warehouses,
            items,
            orders: appended(row_bytes::ORDERS),
            orders_by_customer,
            order_line: appended(row_bytes::ORDER_LINE),
            order_line_by_item,
            history: Appended::new(1, rows(row_bytes::HISTORY)),
            history_by_customer,
            history_by_district: schema
                .has_history_indexes()
                .then(|| appended(row_bytes::HISTORY_BY_DISTRICT)),
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
        }
    }

    #[inline]
    fn change(&mut self, uses: &mut Uses, page: u32) {
        self.changes += 1;
        uses.change(page, REDO_BYTES);
    }

    /// Changes the page that a row was appended to, which may be a new one.
    #[inline]
    fn append(&mut self, uses: &mut Uses, page: (u32, bool)) -> u32 {
        self.append_rows(uses, page, 1)
    }

    /// Changes the page that rows were appended to.
    #[inline]
    fn append_rows(&mut self, uses: &mut Uses, (page, is_new): (u32, bool), rows: u32) -> u32 {
        self.changes += rows;
        uses.change_or_make(page, is_new, rows * REDO_BYTES);
        page
    }

    /// Changes the leaf that an index entry went into.
    #[inline]
    fn change_leaf(&mut self, uses: &mut Uses, leaf: (u32, Option<u32>)) {
        self.changes += 1;
        uses.change_leaf(leaf, REDO_BYTES);
    }

    /// Looks for the leaves that the next transactions need.
    fn look_ahead(&self) {
        let drawn = || self.inputs.transactions.iter();
        if let Some(index) = &self.order_line_by_item {
            index.look_ahead(self.inputs.lines.iter().map(|line| line.stock));
        }
        let ordering = drawn().filter_map(|(_, transaction)| match transaction {
            Transaction::NewOrder { customer, .. } => Some(*customer),
            _ => None,
        });
        self.orders_by_customer.look_ahead(ordering.clone());
        if let Some(index) = &self.history_by_customer {
            index.look_ahead(drawn().filter_map(|(_, transaction)| match transaction {
                Transaction::Payment(customer) => Some(customer.row),
                _ => None,
            }));
        }
    }

    fn new_order(&mut self, uses: &mut Uses, district: usize, customer: u64, lines: u32) {
        let home = district as u64 / u64::from(DISTRICTS);
        uses.read(self.warehouse.page(home));
        uses.read(self.customer.page(customer));
        self.change(uses, self.district.page(district as u64));
        let orders = self.orders.insert(district, &mut self.files);
        let orders = self.append(uses, orders);
        let leaf = self.orders_by_customer.insert(customer, &mut self.files);
        self.change_leaf(uses, leaf);
        let new_orders = self.new_orders.insert(district, &mut self.files);
        let new_orders = self.append(uses, new_orders);
        let (first_line, last_line) = self.order_lines(uses, district, lines);
        self.waiting[district].push_back(Order { new_orders, orders, first_line, last_line });
    }

    /// The lines of a new order; returns the pages that the first and the last of them are in.
    fn order_lines(&mut self, uses: &mut Uses, district: usize, lines: u32) -> (u32, u32) {
        let mut pages = None;
        let mut left = lines;
        while left > 0 {
            let (page, is_new, rows) = self.order_line.insert_some(district, left, &mut self.files);
            self.append_rows(uses, (page, is_new), rows);
            pages.get_or_insert((page, page)).1 = page;
            left -= rows;
        }
        // A row of stock each, and an entry of the index if there is one.
        self.changes += lines * (1 + u32::from(self.order_line_by_item.is_some()));
        let recent = &mut self.recent_stock[district];
        for line in self.inputs.lines.drain(..lines as usize) {
            let stock = self.stock.page(line.stock);
            uses.read(self.item.page(line.item));
            uses.change(stock, REDO_BYTES);
            if recent.len() == STOCK_LEVEL_ORDERS * LINES_MEAN as usize {
                recent.pop_front();
            }
            recent.push_back(stock);
            if let Some(index) = &mut self.order_line_by_item {
                uses.change_leaf(index.insert(line.stock, &mut self.files), REDO_BYTES);
            }
        }
        pages.expect("an order has lines")
    }

    fn payment(&mut self, uses: &mut Uses, district: usize, customer: Customer) {
        let home = district as u64 / u64::from(DISTRICTS);
        self.change(uses, self.warehouse.page(home));
        self.change(uses, self.district.page(district as u64));
        self.find_by_name(uses, customer);
        self.change(uses, self.customer.page(customer.row));
        let history = self.history.insert(0, &mut self.files);
        self.append(uses, history);
        if let Some(index) = &mut self.history_by_customer {
            let leaf = index.insert(customer.row, &mut self.files);
            self.change_leaf(uses, leaf);
        }
        if let Some(index) = &mut self.history_by_district {
            let page = index.insert(district, &mut self.files);
            self.append(uses, page);
        }
    }

    /// Looks at the customers who have the name that is asked for, if one is.
    fn find_by_name(&self, uses: &mut Uses, customer: Customer) {
        if let Some(name) = customer.by_name {
            uses.read(self.customer_by_name.page(name.row));
            for row in name.customers() {
                uses.read(self.customer.page(row));
            }
        }
    }

    fn delivery(&mut self, uses: &mut Uses, district: usize) {
        for district in warehouse_of(district) {
            let Some(order) = self.waiting[district].pop_front() else { continue };
            self.change(uses, order.new_orders);
            let next = self.waiting[district].front();
            let is_last = next.is_none_or(|next| next.new_orders != order.new_orders);
            if is_last && !self.new_orders.is_open(district, order.new_orders) {
                self.new_orders.release(order.new_orders);
            }
            self.change(uses, order.orders);
            // Ten lines, in one page or in two.
            uses.change(order.first_line, REDO_BYTES * LINES_MEAN as u32 / 2);
            uses.change(order.last_line, REDO_BYTES * LINES_MEAN as u32 / 2);
            self.changes += LINES_MEAN as u32;
            let customer = self.inputs.delivered.pop_front().expect("drawn with the delivery");
            self.change(uses, self.customer.page(customer));
        }
    }

    fn order_status(&mut self, uses: &mut Uses, district: usize, customer: Customer) {
        self.find_by_name(uses, customer);
        uses.read(self.customer.page(customer.row));
        uses.read(self.orders_by_customer.page(customer.row));
        if let Some(order) = self.waiting[district].back() {
            uses.read(order.orders);
            uses.read(order.last_line);
        }
    }

    fn stock_level(&mut self, uses: &mut Uses, district: usize) {
        uses.read(self.district.page(district as u64));
        if let Some(order) = self.waiting[district].back() {
            uses.read(order.last_line);
        }
        for page in &self.recent_stock[district] {
            uses.read(*page);
        }
    }
}

impl Transactions for Tpcc {
    #[inline]
    fn run_one(&mut self, uses: &mut Uses) -> bool {
        if self.files.is_full() {
            return false;
        }
        if self.inputs.transactions.is_empty() {
            self.inputs.draw();
            self.look_ahead();
        }
        let (district, transaction) = self.inputs.transactions.pop_front().expect("just drawn");
        match transaction {
            Transaction::NewOrder { customer, lines } => {
                self.new_order(uses, district, customer, lines);
            }
            Transaction::Payment(customer) => self.payment(uses, district, customer),
            Transaction::Delivery => self.delivery(uses, district),
            Transaction::OrderStatus(customer) => self.order_status(uses, district, customer),
            Transaction::StockLevel => self.stock_level(uses, district),
        }
        if self.changes > 0 {
            uses.write_undo(&mut self.undo, UNDO_BYTES * self.changes);
            self.changes = 0;
            uses.commit();
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

/// The indexes with keys in any order: orders by customer, and those of the schema, lines by item and history by
/// customer.
fn indexes(scale: &Scale, files: &mut Files) -> (Index, Option<Index>, Option<Index>) {
    let customers = scale.customers() * u64::from(scale.districts());
    let stock_rows = scale.items() * u64::from(scale.warehouses);
    let mut index = |keys, rows, bytes, order, share| {
        Index::new(files, keys, rows, scale.rows(bytes), order, scale.pages_max / share)
    };
    let bytes = row_bytes::ORDERS_BY_CUSTOMER;
    let orders_by_customer = index(customers, customers, bytes, Loaded::AnyOrder, 16);
    let order_line_by_item = scale.schema.has_order_line_by_item().then(|| {
        let bytes = row_bytes::ORDER_LINE_BY_ITEM;
        index(stock_rows, customers * LINES_MEAN, bytes, Loaded::AnyOrder, 3)
    });
    let history_by_customer = scale.schema.has_history_indexes().then(|| {
        let bytes = row_bytes::HISTORY_BY_CUSTOMER;
        index(customers, customers, bytes, Loaded::InOrder, 16)
    });
    (orders_by_customer, order_line_by_item, history_by_customer)
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
