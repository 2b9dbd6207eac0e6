"use strict";
// What all scripts of the page share: its data, its colours, which FTLs are shown, the tooltip.

const ftlab = {
  data: JSON.parse(document.getElementById("data").textContent),
  // Redrawn when FTLs are shown or hidden, or colours change.
  drawings: [],
};

// Colours that colour-blind readers can distinguish (Okabe and Ito, 2008); black is the colour of the text.
ftlab.palette = ["#d55e00", "#0072b2", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "text"];

// The dash pattern distinguishes FTLs that share a colour.
ftlab.dashes = [[], [8, 4], [2, 3], [8, 3, 2, 3]];

ftlab.runs = ftlab.data.runs.map((run, index) => ({
  ...run,
  index,
  colour: ftlab.palette[run.colour],
  dash: ftlab.dashes[run.dash % ftlab.dashes.length],
  isShown: true,
}));

/** The current value of a colour of the palette, or of a variable of the style sheet. */
ftlab.css = (name) =>
  name.startsWith("#") ? name : getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** An element with attributes and children; texts are never taken as HTML. */
ftlab.element = (name, attributes = {}, ...children) => {
  const isDrawing = ["svg", "g", "image", "rect", "line", "path", "text", "title"].includes(name);
  const made = isDrawing
    ? document.createElementNS("http://www.w3.org/2000/svg", name)
    : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "colour") made.style.setProperty("--swatch", value);
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
};

/** The colour of an FTL, for a style. */
ftlab.colourOf = (run) => (run.colour.startsWith("#") ? run.colour : `var(--${run.colour})`);

/** A piece of the line of an FTL, in its colour and with its dashes. */
ftlab.mark = (run) => {
  const line = { x1: 0, x2: 26, y1: 5, y2: 5, style: `stroke:${ftlab.colourOf(run)}`, "stroke-width": 3, "stroke-dasharray": run.dash.join(" ") || "none" };
  return ftlab.element("svg", { class: "mark", width: 26, height: 10, viewBox: "0 0 26 10", "aria-hidden": "true" }, ftlab.element("line", line));
};

/** What stands in place of a chart without numbers. */
ftlab.nothing = () => ftlab.element("p", { class: "help" }, "Nothing to draw.");

ftlab.swatch = (colour) => ftlab.element("span", { class: "swatch", "aria-hidden": "true", colour });

ftlab.redraw = () => ftlab.drawings.forEach((draw) => draw());

// Numbers for readers.
ftlab.grouped = (number) => Math.round(number).toLocaleString("en");
ftlab.digits = (number, digits = 4) =>
  number === 0 || !Number.isFinite(number) ? "0" : Number(number.toPrecision(digits)).toLocaleString("en", { maximumFractionDigits: 8 });
ftlab.drives = (drives) => `${ftlab.digits(drives, 3)} drive write${ftlab.digits(drives, 3) === "1" ? "" : "s"}`;
ftlab.percent = (share) => `${(100 * share).toFixed(share > 0 && share < 0.0995 ? 1 : 0)}%`;

/** The bytes of a base64 text. */
ftlab.bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

/** Shows lines of a mark or swatch, a name and a value next to a point of the window; hides the tooltip if there is no point. */
ftlab.tooltip = (place, title, lines) => {
  const tooltip = document.getElementById("tooltip");
  tooltip.hidden = !place;
  if (!place) return;
  const rows = lines.map(({ colour, run, name, value }) =>
    ftlab.element("div", {}, ...(colour ? [ftlab.swatch(colour)] : run ? [ftlab.mark(run)] : []), name, ftlab.element("b", {}, value)),
  );
  tooltip.replaceChildren(ftlab.element("strong", {}, title), ...rows);
  const { width, height } = tooltip.getBoundingClientRect();
  const left = place.x + 16 + width > innerWidth ? place.x - 16 - width : place.x + 16;
  const top = Math.min(place.y + 12, innerHeight - height - 8);
  tooltip.style.left = `${Math.max(4, left)}px`;
  tooltip.style.top = `${Math.max(4, top)}px`;
};

/** The button that switches the colours, and remembers the choice if the browser allows it. */
ftlab.setUpTheme = () => {
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  const show = () => {
    button.setAttribute("aria-pressed", String(isDark()));
    ftlab.redraw();
  };
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    try {
      localStorage.setItem("ftlab-theme", document.documentElement.dataset.theme);
    } catch {
      // Pages opened from files may not store anything.
    }
    show();
  });
  try {
    const kept = localStorage.getItem("ftlab-theme");
    if (kept === "dark" || kept === "light") document.documentElement.dataset.theme = kept;
  } catch {
    // Use the system's choice.
  }
  system.addEventListener("change", show);
  show();
};

/** Buttons that show and hide FTLs in all charts; one always stays. */
ftlab.setUpChips = () => {
  const { runs } = ftlab;
  const buttons = runs.map((run) => {
    const button = ftlab.element("button", { type: "button", "aria-pressed": "true" }, ftlab.mark(run), run.ftl);
    button.addEventListener("click", () => {
      const isLast = run.isShown && runs.filter((other) => other.isShown).length === 1;
      run.isShown = isLast || !run.isShown;
      button.setAttribute("aria-pressed", String(run.isShown));
      ftlab.redraw();
    });
    return button;
  });
  if (runs.length > 1) document.getElementById("ftls").replaceChildren(ftlab.element("span", {}, "Shown"), ...buttons);
  const named = new Map(runs.map((run) => [run.ftl, run]));
  for (const row of document.querySelectorAll("tr[data-ftl]")) {
    const run = named.get(row.dataset.ftl);
    if (run) row.cells[0].prepend(ftlab.mark(run));
  }
};

/** Copies the command at the end of the page. */
ftlab.setUpCopy = () => {
  const copy = document.getElementById("copy");
  copy?.addEventListener("click", async () => {
    const command = document.getElementById("command");
    try {
      await navigator.clipboard.writeText(command.textContent);
      copy.textContent = "Copied";
    } catch {
      // Pages from files may not use the clipboard: select it, so that it can be copied by hand.
      getSelection().selectAllChildren(command);
      copy.textContent = "Selected";
    }
  });
};

/** Marks the entry of the section that is read in the list of contents, and keeps it in view. */
ftlab.setUpContents = () => {
  const links = [...document.querySelectorAll(".contents a")];
  if (links.length === 0) return;
  const list = links[0].closest("ul");
  const titles = links.map((link) => document.getElementById(link.hash.slice(1)));
  let here = null;
  const mark = () => {
    const isAtEnd = scrollY > 0 && innerHeight + scrollY >= document.documentElement.scrollHeight - 4;
    const passed = titles.findLastIndex((title) => title.getBoundingClientRect().top < 0.3 * innerHeight);
    const link = links[isAtEnd ? links.length - 1 : passed];
    if (link === here) return;
    here?.classList.remove("here");
    here?.removeAttribute("aria-current");
    here = link ?? null;
    if (!here) return;
    here.classList.add("here");
    here.setAttribute("aria-current", "true");
    list.scrollLeft = here.offsetLeft - list.offsetLeft - (list.clientWidth - here.offsetWidth) / 2;
  };
  addEventListener("scroll", mark, { passive: true });
  mark();
};
