"use strict";
// An FTL at work: a sentence, its counters, its blocks, and the last choice of victims.

{
  const { blocks, pages_per_block: perBlock } = ftlab.data;
  const { element } = ftlab;

  /** Letters of the streams: initials where these differ. */
  const letters = (streams) => {
    const initials = streams.map(({ name }) => name[0].toUpperCase());
    const differ = new Set(initials).size === initials.length;
    return differ ? initials : streams.map((_, index) => String.fromCharCode(65 + index));
  };

  const PATTERNS = 6;

  const streamKeys = (run) => {
    if (run.streams.length < 2) return element("p", { class: "keys" }, "one stream");
    const items = run.streams.map(({ name }, index) =>
      element("li", {}, element("span", { class: `badge pattern-${index % PATTERNS}`, "aria-hidden": "true" }, run.letters[index]), ` ${name}`),
    );
    return element("ul", { class: "keys", "aria-label": `Streams of ${run.ftl}` }, ...items);
  };

  const counter = (name) => {
    const value = element("dd", {}, "0");
    return { value, row: element("div", {}, element("dt", {}, name), value) };
  };

  const blockElement = (block) => {
    const cells = Array.from({ length: perBlock }, () => element("span", { class: "cell" }));
    const badge = element("span", { class: "badge" });
    const state = element("span", { class: "state" });
    const valid = element("span", { class: "valid-count" });
    const head = element("div", { class: "head" }, element("b", {}, String(block)), badge, state, valid);
    const made = element("div", { class: "block", role: "img" }, head, element("div", { class: "cells" }, ...cells));
    return { made, cells, badge, state, valid };
  };

  /** Changes an attribute only where it differs: most cells stay as they are. */
  const set = (made, name, value) => {
    if (made.getAttribute(name) !== value) made.setAttribute(name, value);
  };
  const write = (made, text) => {
    if (made.textContent !== text) made.textContent = text;
  };

  const stateOf = (drive, block) => {
    if (drive.touched.erased === block) return "erased";
    if (drive.victims.includes(block)) return "victim";
    if (drive.programmed[block] === 0) return "free";
    return drive.programmed[block] === perBlock ? "full" : "open";
  };

  const showBlock = (run, drive, block, shown) => {
    const state = stateOf(drive, block);
    const stream = drive.stream[block];
    const valid = ftlab.validIn(drive, block);
    const isCandidate = drive.touched.choice && drive.choice.candidates.some(([candidate]) => candidate === block);
    set(shown.made, "class", `block ${state}${isCandidate ? " candidate" : ""}`);
    const hasBadge = stream !== null && run.streams.length > 1;
    set(shown.badge, "class", hasBadge ? `badge pattern-${stream % PATTERNS}` : "badge");
    write(shown.badge, hasBadge ? run.letters[stream] : "");
    write(shown.state, state);
    write(shown.valid, drive.programmed[block] === 0 ? "" : `${valid}/${perBlock}`);
    const of = hasBadge ? `, stream ${run.streams[stream].name}` : "";
    const invalid = drive.programmed[block] - valid;
    set(shown.made, "aria-label", `Block ${block}, ${state}${of}: ${valid} valid, ${invalid} invalid, ${perBlock - valid - invalid} erased`);
    shown.cells.forEach((cell, index) => {
      const place = block * perBlock + index;
      const page = drive.owner[place];
      const kinds = ["cell"];
      if (page !== null) kinds.push(ftlab.isValid(drive, place) ? "valid" : "invalid");
      if (page !== null && ftlab.isOften(page)) kinds.push("often");
      if (hasBadge && page !== null) kinds.push(`tint-${stream % PATTERNS}`);
      if (place === drive.touched.to) kinds.push("to");
      if (place === drive.touched.from) kinds.push("from");
      set(cell, "class", kinds.join(" "));
      write(cell, page === null ? "" : String(page));
    });
  };

  /** A table with a column for each candidate. */
  const showChoice = (run, drive, shown) => {
    const { choice } = drive;
    const candidates = choice?.candidates ?? [];
    write(shown.title, choice ? `The choice at host write ${choice.write}` : "No victim has been chosen yet");
    const victims = candidates.map(([block]) => choice.victims.includes(block));
    const fewest = Math.min(...candidates.map(([, valid]) => valid));
    const row = (name, cells) => element("tr", {}, element("th", { scope: "row" }, name), ...cells);
    const marked = (text, isBest, what) =>
      isBest ? element("td", {}, element("span", { class: "best" }, text, element("span", { class: "unseen" }, ` (${what})`))) : element("td", {}, text);
    const rows = [
      element("tr", {}, element("th", { scope: "row" }, "full block"), ...candidates.map(([block]) => element("th", { scope: "col" }, String(block)))),
      row("valid pages", candidates.map(([, valid]) => marked(String(valid), valid === fewest, "fewest"))),
    ];
    if (run.formula) {
      const values = candidates.map(([, , score]) => (score === "∞" ? Infinity : score === null ? -Infinity : Number(score)));
      const highest = Math.max(...values);
      rows.push(row("score", candidates.map(([, , score], index) => marked(score ?? "–", score !== null && values[index] === highest, "highest"))));
    }
    rows.push(row("victim", victims.map((is) => element("td", is ? { class: "chosen" } : {}, is ? "◆" : "–"))));
    shown.rows.replaceChildren(...(choice ? rows : []));
  };

  /** Lets the page slide from its old place to the new one. */
  const slide = (drive, cells, milliseconds) => {
    const { to, from } = drive.touched;
    const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (to === undefined || from === undefined || isStill || milliseconds < 100) return;
    const [start, end] = [cells[from], cells[to]].map((cell) => cell.getBoundingClientRect());
    const move = `translate(${start.x - end.x}px, ${start.y - end.y}px)`;
    cells[to].animate([{ transform: move, zIndex: 3 }, { transform: "none", zIndex: 3 }], { duration: milliseconds, easing: "ease-in-out" });
  };

  /** The panel of a run; `run.show(position, milliseconds)` draws it. */
  ftlab.stage = (run) => {
    run.letters = letters(run.streams);
    const sentence = element("p", { class: "says", "aria-live": "polite", "aria-atomic": "true" });
    const counters = ["host writes", "pages moved", "blocks erased", "free blocks", "write amplification"].map(counter);
    const shown = Array.from({ length: blocks }, (_, block) => blockElement(block));
    const cells = shown.flatMap((block) => block.cells);
    const title = element("caption", {});
    const rows = element("tbody", {});
    const table = element("table", {}, title, rows);
    const choice = element("div", { class: "choice", tabindex: "0", role: "region", "aria-label": `Choices of victims of ${run.ftl}` }, table);
    choice.classList.toggle("scored", run.formula !== null);
    const id = `ftl-${run.index}`;
    const panel = element(
      "section",
      { class: "panel stage", "aria-labelledby": id },
      element("div", { class: "name" }, element("h2", { id }, run.ftl), streamKeys(run)),
      element("p", { class: "summary" }, run.summary),
      sentence,
      element("dl", { class: "counts" }, ...counters.map(({ row }) => row)),
      element("div", { class: "drive-box" }, element("div", { class: "drive" }, ...shown.map(({ made }) => made))),
      choice,
      element("p", { class: "boxed" }, run.formula ? `Boxed: fewest valid pages, highest score (${run.formula})` : "Boxed: fewest valid pages"),
    );
    run.says = sentence;
    run.show = (position, milliseconds) => {
      const { count, waits } = ftlab.stepsAt(run, position);
      const { drive, sentence: said } = ftlab.driveAfter(run, count);
      const isChoice = count > 0 && run.steps[run.fill + count - 1][0] === "c";
      if (waits) drive.touched = {};
      drive.touched.choice = isChoice && !waits;
      write(sentence, waits ? ftlab.runs.length > 2 ? "Done with this write; waits for the others." : "Done with this write; waits for the other." : said);
      panel.classList.toggle("waiting", waits);
      const { writes, moves, erases } = drive.count;
      const waf = writes === 0 ? "–" : ((writes + moves) / writes).toFixed(2);
      [writes, moves, erases, ftlab.freeBlocks(drive), waf].forEach((value, index) => write(counters[index].value, String(value)));
      shown.forEach((block, number) => showBlock(run, drive, number, block));
      showChoice(run, drive, { title, rows });
      choice.classList.toggle("now", Boolean(drive.touched.choice));
      if (milliseconds) slide(drive, cells, milliseconds);
    };
    return panel;
  };
}
