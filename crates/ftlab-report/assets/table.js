"use strict";
// Tables that a heading sorts.

/** Puts rows in the order of a column: numbers by size, names by the alphabet, missing ones last. */
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
