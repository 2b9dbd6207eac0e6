-- TPC-C for sysbench 1.0: the tables, the five transactions and their mix, after the standard
-- specification (revision 5.11, clauses 1 to 4). Not a benchmark result in the sense of the TPC: there
-- are no terminals, and nobody thinks between transactions.
--
--   sysbench tpcc.lua --warehouses=1 prepare
--   sysbench tpcc.lua --warehouses=1 --threads=4 --time=60 run

local DISTRICTS = 10

sysbench.cmdline.options = {
   warehouses = {"Number of warehouses", 1},
   items = {"Items, and as many in the stock of each warehouse", 100000},
   customers = {"Customers of each district", 3000},
}

local rand = sysbench.rand.uniform
local format = string.format

-- Clause 2.1.6: non-uniform random numbers; the constants may be any.
local function nurand(a, c, x, y)
   return (bit.bor(rand(0, a), rand(x, y)) + c) % (y - x + 1) + x
end

local function text(min, max)
   return sysbench.rand.string(string.rep("@", rand(min, max)))
end

-- Clause 4.3.2.3: last names are made of three syllables.
local SYLLABLES = {"BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"}
local function last_name(number)
   return SYLLABLES[math.floor(number / 100) + 1] .. SYLLABLES[math.floor(number / 10) % 10 + 1]
      .. SYLLABLES[number % 10 + 1]
end

-- Those of the first thousand customers of a district; fewer customers have fewer names.
local function any_name() return nurand(255, 123, 0, math.min(1000, sysbench.opt.customers) - 1) end

local TABLES = {
   [[warehouse (w_id INT PRIMARY KEY, w_name VARCHAR(10), w_address VARCHAR(80), w_tax DECIMAL(4,4),
     w_ytd DECIMAL(12,2))]],
   [[district (d_w_id INT, d_id INT, d_name VARCHAR(10), d_address VARCHAR(80), d_tax DECIMAL(4,4),
     d_ytd DECIMAL(12,2), d_next_o_id INT, PRIMARY KEY (d_w_id, d_id))]],
   [[customer (c_w_id INT, c_d_id INT, c_id INT, c_first VARCHAR(16), c_last VARCHAR(16),
     c_address VARCHAR(80), c_phone CHAR(16), c_since DATETIME, c_credit CHAR(2),
     c_credit_lim DECIMAL(12,2), c_discount DECIMAL(4,4), c_balance DECIMAL(12,2),
     c_ytd_payment DECIMAL(12,2), c_payment_cnt INT, c_delivery_cnt INT, c_data VARCHAR(500),
     PRIMARY KEY (c_w_id, c_d_id, c_id), KEY (c_w_id, c_d_id, c_last, c_first))]],
   [[history (h_id BIGINT AUTO_INCREMENT PRIMARY KEY, h_c_id INT, h_c_d_id INT, h_c_w_id INT,
     h_d_id INT, h_w_id INT, h_date DATETIME, h_amount DECIMAL(6,2), h_data VARCHAR(24))]],
   [[orders (o_w_id INT, o_d_id INT, o_id INT, o_c_id INT, o_entry_d DATETIME, o_carrier_id INT,
     o_ol_cnt INT, o_all_local INT, PRIMARY KEY (o_w_id, o_d_id, o_id),
     KEY (o_w_id, o_d_id, o_c_id, o_id))]],
   [[new_order (no_w_id INT, no_d_id INT, no_o_id INT, PRIMARY KEY (no_w_id, no_d_id, no_o_id))]],
   [[order_line (ol_w_id INT, ol_d_id INT, ol_o_id INT, ol_number INT, ol_i_id INT,
     ol_supply_w_id INT, ol_delivery_d DATETIME, ol_quantity INT, ol_amount DECIMAL(6,2),
     ol_dist_info CHAR(24), PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number))]],
   [[item (i_id INT PRIMARY KEY, i_im_id INT, i_name VARCHAR(24), i_price DECIMAL(5,2),
     i_data VARCHAR(50))]],
   [[stock (s_w_id INT, s_i_id INT, s_quantity INT, s_dist CHAR(240), s_ytd INT, s_order_cnt INT,
     s_remote_cnt INT, s_data VARCHAR(50), PRIMARY KEY (s_w_id, s_i_id))]],
}

local function bulk(con, table_name, rows)
   con:bulk_insert_init("INSERT INTO " .. table_name .. " VALUES")
   rows(function(...) con:bulk_insert_next(format(...)) end)
   con:bulk_insert_done()
end

local function load_district(con, w, d)
   -- Clause 4.3.3.1: an order for each customer, of which the last 900 of 3,000 are not delivered.
   local orders = sysbench.opt.customers
   local delivered_orders = math.floor(orders * 0.7)
   con:query(format("INSERT INTO district VALUES (%d, %d, '%s', '%s', %.4f, 30000, %d)", w, d,
      text(6, 10), text(30, 80), rand(0, 2000) / 10000, orders + 1))
   bulk(con, "customer", function(row)
      for c = 1, sysbench.opt.customers do
         local name = last_name(c <= 1000 and c - 1 or any_name())
         row("(%d, %d, %d, '%s', '%s', '%s', '%s', NOW(), '%s', 50000, %.4f, -10, 10, 1, 0, '%s')",
            w, d, c, text(8, 16), name, text(30, 80), text(16, 16), rand(1, 10) == 1 and "BC" or "GC",
            rand(0, 5000) / 10000, text(300, 500))
      end
   end)
   -- Each customer has one order, in random order.
   local customers = {}
   for c = 1, orders do
      local other = rand(1, c)
      customers[c] = customers[other]
      customers[other] = c
   end
   local lines = {}
   bulk(con, "orders", function(row)
      for o = 1, orders do
         lines[o] = rand(5, 15)
         local carrier = o <= delivered_orders and rand(1, 10) or "NULL"
         row("(%d, %d, %d, %d, NOW(), %s, %d, 1)", w, d, o, customers[o], carrier, lines[o])
      end
   end)
   bulk(con, "new_order", function(row)
      for o = delivered_orders + 1, orders do row("(%d, %d, %d)", w, d, o) end
   end)
   bulk(con, "order_line", function(row)
      for o = 1, orders do
         local delivered = o <= delivered_orders
         for line = 1, lines[o] do
            row("(%d, %d, %d, %d, %d, %d, %s, 5, %.2f, '%s')", w, d, o, line, rand(1, sysbench.opt.items), w,
               delivered and "NOW()" or "NULL", delivered and 0 or rand(1, 999999) / 100,
               text(24, 24))
         end
      end
   end)
end

local function prepare()
   local con = sysbench.sql.driver():connect()
   for _, definition in ipairs(TABLES) do con:query("CREATE TABLE " .. definition) end
   bulk(con, "item", function(row)
      for i = 1, sysbench.opt.items do
         row("(%d, %d, '%s', %.2f, '%s')", i, rand(1, 10000), text(14, 24), rand(100, 10000) / 100,
            text(26, 50))
      end
   end)
   for w = 1, sysbench.opt.warehouses do
      print("loading warehouse " .. w)
      con:query(format("INSERT INTO warehouse VALUES (%d, '%s', '%s', %.4f, 300000)", w, text(6, 10),
         text(30, 80), rand(0, 2000) / 10000))
      bulk(con, "stock", function(row)
         for i = 1, sysbench.opt.items do
            row("(%d, %d, %d, '%s', 0, 0, 0, '%s')", w, i, rand(10, 100), text(240, 240), text(26, 50))
         end
      end)
      for d = 1, DISTRICTS do load_district(con, w, d) end
   end
end

sysbench.cmdline.commands = { prepare = {prepare} }

local con

function thread_init() con = sysbench.sql.driver():connect() end
function thread_done() con:disconnect() end

local function query(...) return con:query(format(...)) end
local function row(...) return con:query_row(format(...)) end

-- Clause 2.4.
local function new_order(w)
   local d, c, lines = rand(1, DISTRICTS), nurand(1023, 259, 1, sysbench.opt.customers), rand(5, 15)
   local is_wrong = rand(1, 100) == 1
   row("SELECT c_discount, c_last, c_credit, w_tax FROM customer, warehouse WHERE w_id = %d AND " ..
      "c_w_id = w_id AND c_d_id = %d AND c_id = %d", w, d, c)
   local o = tonumber((row("SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = %d AND d_id = %d " ..
      "FOR UPDATE", w, d)))
   query("UPDATE district SET d_next_o_id = %d WHERE d_w_id = %d AND d_id = %d", o + 1, w, d)
   query("INSERT INTO orders VALUES (%d, %d, %d, %d, NOW(), NULL, %d, 1)", w, d, o, c, lines)
   query("INSERT INTO new_order VALUES (%d, %d, %d)", w, d, o)
   for line = 1, lines do
      if is_wrong and line == lines then return "ROLLBACK" end
      local i, quantity = nurand(8191, 7911, 1, sysbench.opt.items), rand(1, 10)
      local supply, warehouses = w, sysbench.opt.warehouses
      if warehouses > 1 and rand(1, 100) == 1 then supply = w % warehouses + 1 end
      local price = tonumber((row("SELECT i_price, i_name, i_data FROM item WHERE i_id = %d", i)))
      local left, info = row("SELECT s_quantity, SUBSTR(s_dist, %d, 24), s_data FROM stock WHERE " ..
         "s_w_id = %d AND s_i_id = %d FOR UPDATE", (d - 1) * 24 + 1, supply, i)
      left = tonumber(left) - quantity
      if left < 10 then left = left + 91 end
      query("UPDATE stock SET s_quantity = %d, s_ytd = s_ytd + %d, s_order_cnt = s_order_cnt + 1, " ..
         "s_remote_cnt = s_remote_cnt + %d WHERE s_w_id = %d AND s_i_id = %d", left, quantity,
         supply == w and 0 or 1, supply, i)
      query("INSERT INTO order_line VALUES (%d, %d, %d, %d, %d, %d, NULL, %d, %.2f, '%s')", w, d, o,
         line, i, supply, quantity, price * quantity, info)
   end
   return "COMMIT"
end

-- Clauses 2.5.2 and 2.6.2: six of ten customers are found by name, the one in the middle.
local function customer(w, d)
   if rand(1, 10) > 6 then return nurand(1023, 259, 1, sysbench.opt.customers) end
   local name = last_name(any_name())
   local found = query("SELECT c_id FROM customer WHERE c_w_id = %d AND c_d_id = %d AND c_last = '%s' " ..
      "ORDER BY c_first", w, d, name)
   local c
   for _ = 1, math.ceil(found.nrows / 2) do c = unpack(found:fetch_row(), 1, 1) end
   return tonumber(c) or 1
end

-- Clause 2.5.
local function payment(w)
   local d, amount = rand(1, DISTRICTS), rand(100, 500000) / 100
   local c = customer(w, d)
   query("UPDATE warehouse SET w_ytd = w_ytd + %.2f WHERE w_id = %d", amount, w)
   query("UPDATE district SET d_ytd = d_ytd + %.2f WHERE d_w_id = %d AND d_id = %d", amount, w, d)
   local where = format("WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d", w, d, c)
   query("UPDATE customer SET c_balance = c_balance - %.2f, c_ytd_payment = c_ytd_payment + %.2f, " ..
      "c_payment_cnt = c_payment_cnt + 1, c_data = IF(c_credit = 'BC', LEFT(CONCAT_WS(' ', c_id, " ..
      "c_d_id, c_w_id, %.2f, c_data), 500), c_data) %s", amount, amount, amount, where)
   query("INSERT INTO history VALUES (NULL, %d, %d, %d, %d, %d, NOW(), %.2f, '%s')", c, d, w, d, w,
      amount, text(12, 24))
   return "COMMIT"
end

-- Clause 2.6.
local function order_status(w)
   local d = rand(1, DISTRICTS)
   local c = customer(w, d)
   local o = row("SELECT o_id, o_entry_d, o_carrier_id FROM orders WHERE o_w_id = %d AND o_d_id = %d " ..
      "AND o_c_id = %d ORDER BY o_id DESC LIMIT 1", w, d, c)
   if o then
      query("SELECT ol_i_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line WHERE ol_w_id = %d " ..
         "AND ol_d_id = %d AND ol_o_id = %d", w, d, o)
   end
   return "COMMIT"
end

-- Clause 2.7: the oldest new order of each district.
local function delivery(w)
   local carrier = rand(1, 10)
   for d = 1, DISTRICTS do
      local o = row("SELECT no_o_id FROM new_order WHERE no_w_id = %d AND no_d_id = %d ORDER BY " ..
         "no_o_id LIMIT 1 FOR UPDATE", w, d)
      if o then
         local order = format("WHERE o_w_id = %d AND o_d_id = %d AND o_id = %d", w, d, o)
         local lines = format("WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id = %d", w, d, o)
         query("DELETE FROM new_order WHERE no_w_id = %d AND no_d_id = %d AND no_o_id = %d", w, d, o)
         local c = row("SELECT o_c_id FROM orders %s", order)
         query("UPDATE orders SET o_carrier_id = %d %s", carrier, order)
         query("UPDATE order_line SET ol_delivery_d = NOW() %s", lines)
         local amount = row("SELECT SUM(ol_amount) FROM order_line %s", lines)
         query("UPDATE customer SET c_balance = c_balance + %s, c_delivery_cnt = c_delivery_cnt + 1 " ..
            "WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d", amount, w, d, c)
      end
   end
   return "COMMIT"
end

-- Clause 2.8.
local function stock_level(w)
   local d = rand(1, DISTRICTS)
   local o = tonumber((row("SELECT d_next_o_id FROM district WHERE d_w_id = %d AND d_id = %d", w, d)))
   row("SELECT COUNT(DISTINCT s_i_id) FROM order_line, stock WHERE ol_w_id = %d AND ol_d_id = %d AND " ..
      "ol_o_id BETWEEN %d AND %d AND s_w_id = ol_w_id AND s_i_id = ol_i_id AND s_quantity < %d", w, d,
      o - 20, o - 1, rand(10, 20))
   return "COMMIT"
end

-- Clause 5.2.3: the mix.
local MIX = {{45, new_order}, {43, payment}, {4, order_status}, {4, delivery}, {4, stock_level}}

function event()
   local draw = rand(1, 100)
   for _, entry in ipairs(MIX) do
      draw = draw - entry[1]
      if draw <= 0 then
         con:query("BEGIN")
         con:query(entry[2](rand(1, sysbench.opt.warehouses)))
         return
      end
   end
end

-- A transaction that lost a deadlock begins again.
function sysbench.hooks.before_restart_event() con:query("ROLLBACK") end
