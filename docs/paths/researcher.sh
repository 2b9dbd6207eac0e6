#!/bin/sh
# A researcher: a figure for a paper. Three FTLs over four skews with three seeds, as lines with error bars, in PDF, as
# wide as a column; and the works to cite. Writes to the current directory; $1 is the logical size of the drive.
set -e
ftlab=${FTLAB:-ftlab} logical=${1:-1GiB}

cat > skew.toml <<TOML
title = "How much does skew help?"
workloads = ["zipf:theta={theta}"]
ftls = ["1r-greedy", "2r++", "hazard"]
seeds = [1, 2, 3]

[drive]
logical = "$logical"
op = "10%"

[run]
fill = "random"
drive-writes = 4

[grid]
theta = [0.5, 0.7, 0.9, 1.1]

[[expect]]
what = "separation pays under skew"
metric = "waf"
of = { theta = [0.9, 1.1] }
ascending = [{ ftl = "hazard" }, { ftl = "1r-greedy" }]

[[figure]]
kind = "lines"
x = "theta"
x-label = "skew (theta of Zipf's law)"
y = "waf"
TOML

$ftlab reproduce skew.toml --out paper --width 330 --height 240
$ftlab cite 2r++ hazard > paper/works.bib
ls paper/skew.pdf paper/skew.csv paper/works.bib
