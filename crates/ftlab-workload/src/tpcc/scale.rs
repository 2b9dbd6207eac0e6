//! How large a TPC-C database is: rows of the specification, bytes of MariaDB.

use crate::database::tables::{Loaded, pages_of, rows_per_page};
use crate::database::{Database, Layout, too_small};
use ftlab_trace::TraceError;

ftlab_spec::choices! {
    /// Which indexes the tables have besides their primary keys.
    pub enum Schema {
        /// Customers by name and orders by customer, which transactions look for; and history, which has no
        /// primary key, by its foreign keys: customer, and district.
        Tpcc = "tpcc",
        /// Those of sysbench-tpcc: the same, and order lines by their other foreign key, item and warehouse.
        Sysbench = "sysbench",
        /// Only what transactions look for.
        Lookups = "lookups",
    }
}

impl Schema {
    pub(super) fn has_history_indexes(self) -> bool {
        self != Self::Lookups
    }

    pub(super) fn has_order_line_by_item(self) -> bool {
        self == Self::Sysbench
    }
}

/// Bytes of a row in a page, what InnoDB adds to it included, of the tables and indexes of
/// sysbench-tpcc. Tables are in the order of their primary keys.
pub(super) mod row_bytes {
    pub(crate) const STOCK: u32 = 330;
    pub(crate) const CUSTOMER: u32 = 600;
    pub(crate) const CUSTOMER_BY_NAME: u32 = 40;
    pub(crate) const ITEM: u32 = 95;
    pub(crate) const ORDERS: u32 = 39;
    pub(crate) const ORDERS_BY_CUSTOMER: u32 = 17;
    pub(crate) const ORDER_LINE: u32 = 67;
    pub(crate) const ORDER_LINE_BY_ITEM: u32 = 21;
    pub(crate) const NEW_ORDERS: u32 = 26;
    pub(crate) const HISTORY: u32 = 64;
    pub(crate) const HISTORY_BY_CUSTOMER: u32 = 20;
    pub(crate) const HISTORY_BY_DISTRICT: u32 = 16;
}

/// Lines of an order on average: 5 to 15.
pub(super) const LINES_MEAN: u64 = 10;

/// Of the initial database, what undo records take: 1,544 of 43,000 pages in the captured database.
const UNDO_SHARE: f64 = 0.035;

/// Items of the specification.
pub(super) const SPECIFIED_ITEMS: u64 = 100_000;

/// Districts of a warehouse.
pub(super) const DISTRICTS: u32 = 10;

/// Rows of the initial database. A share of a warehouse is one with as many fewer (or more) rows.
#[derive(Debug, Clone)]
pub(super) struct Scale {
    pub(super) schema: Schema,
    pub(super) warehouses: u32,
    /// Rows, relative to those of the specification.
    factor: f64,
    pub(super) page_bytes: u32,
    pub(super) undo_pages: u32,
    /// Pages that all tables together may come to.
    pub(super) pages_max: u32,
}

impl Scale {
    /// The number of warehouses of a database that takes `pages` pages, all included.
    pub(super) fn new(schema: Schema, pages: u32, layout: &Layout) -> Result<Self, TraceError> {
        let system = Database::system_pages(layout);
        let undo_pages = (UNDO_SHARE * f64::from(pages)) as u32 + 1;
        let mut scale = Self {
            schema,
            warehouses: 1,
            factor: 1.0,
            page_bytes: layout.page_bytes,
            undo_pages,
            pages_max: layout.pages,
        };
        // Half an extent for each of the 14 files is not filled.
        let fixed = system + undo_pages + 14 * 32;
        if pages <= fixed {
            return Err(too_small(fixed + 1, pages, "start"));
        }
        let tables = f64::from(pages - fixed);
        let (shared, each) = (f64::from(scale.shared_pages()), f64::from(scale.warehouse_pages()));
        let warehouses = ((tables - shared) / each).round().max(1.0);
        scale.warehouses = warehouses as u32;
        scale.factor = tables / (shared + warehouses * each);
        Ok(scale)
    }

    fn scaled(&self, rows: f64) -> u64 {
        ((rows * self.factor).round() as u64).max(1)
    }

    /// Districts of all warehouses.
    pub(super) fn districts(&self) -> u32 {
        self.warehouses * DISTRICTS
    }

    /// Items; as many rows of stock in each warehouse.
    pub(super) fn items(&self) -> u64 {
        self.scaled(SPECIFIED_ITEMS as f64)
    }

    /// Customers of a district, and as many orders at first.
    pub(super) fn customers(&self) -> u64 {
        self.scaled(3_000.0)
    }

    /// Orders of a district that wait for delivery.
    pub(super) fn waiting_orders(&self) -> u64 {
        self.scaled(900.0)
    }

    /// Rows of `bytes` that fit into a page.
    pub(super) fn rows(&self, bytes: u32) -> u32 {
        rows_per_page(self.page_bytes, bytes)
    }

    /// Pages of the table that all warehouses share: item.
    fn shared_pages(&self) -> u32 {
        pages_of(self.items(), self.rows(row_bytes::ITEM))
    }

    /// Pages of all other tables and indexes of one warehouse.
    fn warehouse_pages(&self) -> u32 {
        let customers = self.customers() * u64::from(DISTRICTS);
        let lines = customers * LINES_MEAN;
        let mut in_order = vec![
            (self.items(), row_bytes::STOCK),
            (customers, row_bytes::CUSTOMER),
            (customers, row_bytes::CUSTOMER_BY_NAME),
            (customers, row_bytes::ORDERS),
            (lines, row_bytes::ORDER_LINE),
            (self.waiting_orders() * u64::from(DISTRICTS), row_bytes::NEW_ORDERS),
            (customers, row_bytes::HISTORY),
        ];
        let mut in_any_order = vec![(customers, row_bytes::ORDERS_BY_CUSTOMER)];
        if self.schema.has_history_indexes() {
            in_order.push((customers, row_bytes::HISTORY_BY_CUSTOMER));
            in_order.push((customers, row_bytes::HISTORY_BY_DISTRICT));
        }
        if self.schema.has_order_line_by_item() {
            in_any_order.push((lines, row_bytes::ORDER_LINE_BY_ITEM));
        }
        let leaf_rows = |bytes| Loaded::AnyOrder.rows_of_a_leaf(self.rows(bytes));
        let in_order = in_order.iter().map(|(rows, bytes)| pages_of(*rows, self.rows(*bytes)));
        let in_any_order =
            in_any_order.iter().map(|(rows, bytes)| pages_of(*rows, leaf_rows(*bytes)));
        in_order.chain(in_any_order).sum()
    }
}
