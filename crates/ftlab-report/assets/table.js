"use strict";
// Tables that are sorted by clicking a heading.

/** Sorts rows by a column: numbers by size, names alphabetically, missing values last. */
ftlab.sortTable = (table, column) => {
  const headings = [...table.tHead.rows[0].cells];
  const heading = headings[column];
  const isAscending = heading.getAttribute("aria-sort") !== "ascending";
  const direction = isAscending ? 1 : -1;
  const number = (row) => parseFloat(row.cells[column].dataset.number ?? "NaN");
  const text = (row) => row.cells[column].textContent.trim();
  const rows = [...table.tBodies[0].rows].sort((a, b) => {
    if (column === 0) return direction * text(a).localeCompare(text(b), "en", { numeric: true });
    const [first, second] = [number(a), number(b)];
    if (Number.isNaN(first) || Number.isNaN(second)) return Number.isNaN(first) - Number.isNaN(second);
    return direction * (first - second);
  });
  headings.forEach((other) => other.removeAttribute("aria-sort"));
  heading.setAttribute("aria-sort", isAscending ? "ascending" : "descending");
  table.tBodies[0].append(...rows);
};

ftlab.setUpTables = () => {
  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((heading, column) => {
      heading.querySelector("button").addEventListener("click", () => ftlab.sortTable(table, column));
    });
  }
};
