#!/bin/sh
# A teacher: garbage collection on a page that needs no network. Two FTLs on the same writes, step by step, and a report
# of what separation brings. Writes lesson.html and report.html to the current directory.
set -e
ftlab=${FTLAB:-ftlab}

$ftlab teach --ftl 1r-greedy --ftl 2r-fifo --out lesson.html
$ftlab run hotcold:writes=0.9,pages=0.1 --logical "${1:-256MiB}" --ftl 1r-greedy --ftl 2r-fifo --report report.html
