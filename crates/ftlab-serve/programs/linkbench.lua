-- A load like LinkBench for sysbench 1.0: its three tables, its ten requests and their mix, after the
-- paper (SIGMOD 2013) and the benchmark's Facebook workload (FBWorkload.properties). Simplified: sizes of
-- rows are constants, and a node initially has the same number of links as any other.
--
--   sysbench linkbench.lua --nodes=10000 prepare
--   sysbench linkbench.lua --nodes=10000 --threads=32 --time=60 run

sysbench.cmdline.options = {
   nodes = {"Nodes that are loaded", 10000},
   links = {"Links of each node that are loaded", 7},
   node_bytes = {"Bytes of data of a node", 128},
   link_bytes = {"Bytes of data of a link, 255 at most", 8},
}

local rand = sysbench.rand.uniform
local format = string.format
local LINK_TYPES = {123456789, 123456790}
local NODE_TYPE, VISIBLE, HIDDEN = 2048, 1, 0
local LIST_MAX = 10000

local TABLES = {
   [[linktable (id1 BIGINT UNSIGNED NOT NULL, id2 BIGINT UNSIGNED NOT NULL, link_type BIGINT UNSIGNED NOT NULL,
     visibility TINYINT NOT NULL, data VARCHAR(255) NOT NULL, time BIGINT UNSIGNED NOT NULL,
     version INT UNSIGNED NOT NULL, PRIMARY KEY (link_type, id1, id2),
     KEY id1_type (id1, link_type, visibility, time, id2, version, data))]],
   [[counttable (id BIGINT UNSIGNED NOT NULL, link_type BIGINT UNSIGNED NOT NULL, count INT UNSIGNED NOT NULL,
     time BIGINT UNSIGNED NOT NULL, version BIGINT UNSIGNED NOT NULL, PRIMARY KEY (id, link_type))]],
   [[nodetable (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT, type INT UNSIGNED NOT NULL,
     version BIGINT UNSIGNED NOT NULL, time INT UNSIGNED NOT NULL, data MEDIUMTEXT NOT NULL, PRIMARY KEY (id))]],
}

local function text(bytes) return sysbench.rand.string(string.rep("@", bytes)) end

local function now() return os.time() * 1000 + rand(0, 999) end

-- A node by a Zipf distribution (continuous, its distribution function inverted); those drawn often are
-- scattered. The exponents are those of reads and writes of links, and of reads and updates of nodes.
local function draw(exponent)
   local rank = math.floor(sysbench.opt.nodes * sysbench.rand.uniform_double() ^ (1 / (1 - exponent)))
   return rank * 7919 % sysbench.opt.nodes + 1
end
local function read_link() return draw(0.8) end
local function write_link() return draw(0.741) end
local function read_node() return draw(0.625) end
local function write_node() return draw(0.606) end

local function type_of(id1, id2) return LINK_TYPES[(id2 - id1) % #LINK_TYPES + 1] end
local function any_type() return LINK_TYPES[rand(1, #LINK_TYPES)] end

-- Additions are for a link that is there in one of twenty cases, other requests mostly.
local function new_end(id) return id + rand(1, sysbench.opt.links * 20) end
local function old_end(id) return id + rand(1, sysbench.opt.links) end

local function bulk(con, table_name, rows)
   con:bulk_insert_init("INSERT INTO " .. table_name .. " VALUES")
   rows(function(...) con:bulk_insert_next(format(...)) end)
   con:bulk_insert_done()
end

local function prepare()
   local con = sysbench.sql.driver():connect()
   local opt = sysbench.opt
   for _, definition in ipairs(TABLES) do con:query("CREATE TABLE " .. definition) end
   bulk(con, "nodetable", function(row)
      for id = 1, opt.nodes do
         row("(%d, %d, 1, %d, '%s')", id, NODE_TYPE, os.time(), text(opt.node_bytes))
      end
   end)
   bulk(con, "linktable", function(row)
      for id = 1, opt.nodes do
         for other = 1, opt.links do
            row("(%d, %d, %d, %d, '%s', %d, 0)", id, id + other, type_of(id, id + other), VISIBLE,
               text(opt.link_bytes), now())
         end
      end
   end)
   con:query(format("INSERT INTO counttable SELECT id1, link_type, COUNT(*), %d, 0 FROM linktable " ..
      "GROUP BY id1, link_type", now()))
end

sysbench.cmdline.commands = { prepare = {prepare} }

local con

function thread_init() con = sysbench.sql.driver():connect() end
function thread_done() con:disconnect() end

local function query(...) return con:query(format(...)) end
local function row(...) return con:query_row(format(...)) end

local function key(id1, id2)
   return format("link_type = %d AND id1 = %d AND id2 = %d", type_of(id1, id2), id1, id2)
end

local function count_more(id, kind, more)
   query("INSERT INTO counttable VALUES (%d, %d, %d, %d, 0) ON DUPLICATE KEY UPDATE " ..
      "count = IF(%d < 0 AND count = 0, 0, count + (%d)), version = version + 1, time = VALUES(time)",
      id, kind, math.max(more, 0), now(), more, more)
end

-- Adds a link or, if it is there, changes it and shows it.
local function put_link(id1, id2)
   local kind = type_of(id1, id2)
   query("BEGIN")
   local visibility = row("SELECT visibility FROM linktable WHERE %s FOR UPDATE", key(id1, id2))
   query("INSERT INTO linktable VALUES (%d, %d, %d, %d, '%s', %d, 0) ON DUPLICATE KEY UPDATE " ..
      "visibility = VALUES(visibility), data = VALUES(data), time = VALUES(time), version = version + 1",
      id1, id2, kind, VISIBLE, text(sysbench.opt.link_bytes), now())
   if tonumber(visibility) ~= VISIBLE then count_more(id1, kind, 1) end
   query("COMMIT")
end

local function add_link() local id = write_link(); put_link(id, new_end(id)) end
local function update_link() local id = write_link(); put_link(id, old_end(id)) end

local function delete_link()
   local id1 = write_link()
   local id2 = old_end(id1)
   query("BEGIN")
   local visibility = row("SELECT visibility FROM linktable WHERE %s FOR UPDATE", key(id1, id2))
   if tonumber(visibility) == VISIBLE then
      query("UPDATE linktable SET visibility = %d WHERE %s", HIDDEN, key(id1, id2))
      count_more(id1, type_of(id1, id2), -1)
   end
   query("COMMIT")
end

local function count_link()
   row("SELECT count FROM counttable WHERE id = %d AND link_type = %d", read_link(), any_type())
end

local function get_link()
   local id1 = read_link()
   row("SELECT * FROM linktable WHERE %s", key(id1, old_end(id1)))
end

local function get_link_list()
   query("SELECT * FROM linktable FORCE INDEX (id1_type) WHERE id1 = %d AND link_type = %d AND visibility = %d " ..
      "ORDER BY time DESC LIMIT %d", read_link(), any_type(), VISIBLE, LIST_MAX)
end

local function get_node() row("SELECT * FROM nodetable WHERE id = %d", read_node()) end

local function add_node()
   query("INSERT INTO nodetable VALUES (NULL, %d, 1, %d, '%s')", NODE_TYPE, os.time(),
      text(sysbench.opt.node_bytes))
end

local function update_node()
   query("UPDATE nodetable SET version = version + 1, time = %d, data = '%s' WHERE id = %d", os.time(),
      text(sysbench.opt.node_bytes), write_node())
end

local function delete_node() query("DELETE FROM nodetable WHERE id = %d", rand(1, sysbench.opt.nodes)) end

-- Hundredths of a percent.
local MIX = {
   {5071, get_link_list}, {1293, get_node}, {899, add_link}, {801, update_link}, {737, update_node},
   {489, count_link}, {299, delete_link}, {257, add_node}, {101, delete_node}, {53, get_link},
}

function event()
   local draw = rand(1, 10000)
   for _, entry in ipairs(MIX) do
      draw = draw - entry[1]
      if draw <= 0 then return entry[2]() end
   end
end

-- A transaction that lost a deadlock begins again.
function sysbench.hooks.before_restart_event() con:query("ROLLBACK") end
