"use strict";
// Saves charts as SVG, PNG and CSV, without a network.

/** Properties that a drawing takes from the style sheet of the page. */
ftlab.drawnProperties = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "font-size", "font-weight", "font-family"];

/** A drawing as the text of a file: with its styles, and the background of the page. */
ftlab.standalone = (svg) => {
  const isLoose = !svg.isConnected;
  if (isLoose) {
    svg.style.cssText = "position:absolute;left:-200vw;top:0";
    document.body.append(svg);
  }
  const copy = svg.cloneNode(true);
  const originals = [svg, ...svg.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((element, index) => {
    const style = getComputedStyle(originals[index]);
    const isText = element.localName === "text";
    for (const property of ftlab.drawnProperties) {
      if (isText || !property.startsWith("font")) element.setAttribute(property, style.getPropertyValue(property));
    }
    element.removeAttribute("style");
    element.removeAttribute("class");
  });
  if (isLoose) svg.remove();
  const [width, height] = [Number(svg.getAttribute("width")), Number(svg.getAttribute("height"))];
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("viewBox", `-12 -12 ${width + 24} ${height + 24}`);
  copy.setAttribute("width", width + 24);
  copy.setAttribute("height", height + 24);
  copy.prepend(ftlab.element("rect", { x: -12, y: -12, width: width + 24, height: height + 24, fill: ftlab.css("card") }));
  return { text: new XMLSerializer().serializeToString(copy), width: width + 24, height: height + 24 };
};

/** The PNG of a drawing, with twice as many pixels as it has units. */
ftlab.png = ({ text, width, height }) =>
  new Promise((resolve, reject) => {
    const image = new Image();
    image.onload = () => {
      const canvas = ftlab.element("canvas", { width: 2 * width, height: 2 * height });
      canvas.getContext("2d").drawImage(image, 0, 0, 2 * width, 2 * height);
      // toBlob waits until the browser has nothing else to do.
      const bytes = ftlab.bytes(canvas.toDataURL().split(",")[1]);
      if (bytes.length === 0) reject(new Error("it is too large a picture for the browser; save it as SVG"));
      resolve(new Blob([bytes], { type: "image/png" }));
    };
    image.onerror = () => reject(new Error("the browser cannot draw this picture"));
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  });

/** Rows as CSV (RFC 4180). */
ftlab.csv = (rows) => {
  const quoted = (cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  return rows.map((row) => row.map((cell) => quoted(String(cell ?? ""))).join(",") + "\r\n").join("");
};

ftlab.download = (blob, name) => {
  const link = ftlab.element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
};

/** The menu that saves a chart: `svg()` is its drawing, `rows()` its numbers below their headings. */
ftlab.saveMenu = (name, title, { svg, rows }) => {
  const failed = ftlab.element("span", { role: "status" });
  const save = {
    SVG: () => new Blob([ftlab.standalone(svg()).text], { type: "image/svg+xml" }),
    PNG: () => ftlab.png(ftlab.standalone(svg())),
    CSV: () => new Blob([ftlab.csv(rows())], { type: "text/csv" }),
  };
  const buttons = Object.entries(save).map(([kind, blob]) => {
    const button = ftlab.element("button", { type: "button", "aria-label": `${kind} of ${title}` }, kind);
    button.addEventListener("click", async () => {
      failed.textContent = "";
      try {
        ftlab.download(await blob(), `${name}.${kind.toLowerCase()}`);
      } catch (error) {
        failed.textContent = `Not saved: ${error.message}`;
      }
    });
    return button;
  });
  const summary = ftlab.element("summary", { "aria-label": `Save ${title}` }, "Save");
  return ftlab.element("details", { class: "save", "data-chart": name }, summary, ...buttons, failed);
};

/** Drawings under their titles, side by side. */
ftlab.sheet = (panels) => {
  const columns = panels.length < 3 ? panels.length : Math.ceil(Math.sqrt(panels.length));
  const [wide, high] = ["width", "height"].map((of) => Math.max(...panels.map(({ svg }) => Number(svg.getAttribute(of)))));
  const [column, row] = [wide + 28, high + 44];
  const all = ftlab.element("svg", { width: columns * column - 28, height: Math.ceil(panels.length / columns) * row - 20 });
  panels.forEach(({ title, svg }, place) => {
    const at = { x: (place % columns) * column, y: Math.floor(place / columns) * row };
    const heading = ftlab.element("text", { ...at, y: at.y + 12, class: "heading" }, title);
    for (const [key, value] of Object.entries({ ...at, y: at.y + 20, overflow: "visible" })) svg.setAttribute(key, value);
    all.append(heading, svg);
  });
  return all;
};

/** What draws rectangles as a canvas does, into a drawing. */
ftlab.svgPen = (svg) => ({
  fillRect(x, y, width, height) {
    if (width > 0 && height > 0) svg.append(ftlab.element("rect", { x, y, width, height, fill: this.fillStyle }));
  },
  strokeRect(x, y, width, height) {
    svg.append(ftlab.element("rect", { x, y, width, height, fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth }));
  },
});
