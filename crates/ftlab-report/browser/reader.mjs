// What the tests of all pages share: opening a page in headless Chromium, and what is wrong with it.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [, , file, screenshots] = process.argv;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const wrong = [];
export const expect = (is, message) => is || wrong.push(message);

const SCREENS = [
  { name: "light", viewport: { width: 1280, height: 900 }, colorScheme: "light" },
  { name: "dark", viewport: { width: 1280, height: 900 }, colorScheme: "dark" },
  { name: "phone", viewport: { width: 375, height: 812 }, colorScheme: "light", hasTouch: true, isMobile: true },
];

/** Opens the page, and takes note of whatever it asks of the network or complains of. */
async function open(browser, { name, ...options }) {
  const page = await browser.newPage(options);
  page.on("request", (request) => {
    const isOwn = request.url().startsWith("data:") || request.url() === pathToFileURL(file).href;
    expect(isOwn, `${name}: the page asks for ${request.url()}`);
  });
  page.on("console", (message) => expect(!["error", "warning"].includes(message.type()), `${name}: ${message.text()}`));
  page.on("pageerror", (error) => wrong.push(`${name}: ${error.stack}`));
  await page.goto(pathToFileURL(file).href);
  await page.waitForTimeout(100);
  return page;
}

export async function isAccessible(page, name) {
  // The page lets no script in but its own; this one comes from outside.
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  for (const { id, impact, help, nodes } of violations) {
    expect(!["serious", "critical"].includes(impact), `${name}: ${id} (${impact}): ${help}: ${nodes[0].html}`);
  }
}

async function isNarrow(page, name) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  const seen = page.viewportSize().width;
  expect(wide <= seen, `${name}: the page is ${wide} pixels wide, and ${seen} are seen`);
}

/** Labels of axes keep clear of the numbers: nothing is drawn between them. */
async function labelsAreClear(page, name) {
  const wrong = await page.evaluate(() =>
    [...document.querySelectorAll(".chart canvas")].flatMap((canvas) => {
      const { width, height } = canvas;
      const copy = Object.assign(document.createElement("canvas"), { width, height });
      const pen = copy.getContext("2d", { willReadFrequently: true });
      pen.drawImage(canvas, 0, 0);
      const { data } = pen.getImageData(0, 0, width, height);
      const isDrawn = (x) => Array.from({ length: height }, (_, y) => data[4 * (y * width + x) + 3]).some((alpha) => alpha > 40);
      // The label is leftmost; a column without ink comes before the numbers.
      let x = 0;
      while (x < width / 4 && !isDrawn(x)) x += 1;
      const label = x;
      while (x < width / 4 && isDrawn(x)) x += 1;
      return x - label > 26 * devicePixelRatio ? [canvas.closest(".chart").id] : [];
    }),
  );
  expect(wrong.length === 0, `${name}: the label of an axis lies over its numbers in ${wrong}`);
}

/** The list of contents names every section, and leads there. */
export async function listsContents(page) {
  const links = page.locator(".contents a");
  const titles = await page.locator("main h2").evaluateAll((titles) => titles.map((title) => title.id));
  const hashes = await links.evaluateAll((links) => links.map((link) => link.hash.slice(1)));
  expect(JSON.stringify(titles) === JSON.stringify(hashes), `the contents are ${hashes}, the sections ${titles}`);
  await links.last().click();
  const isMarked = () => document.querySelector(".contents li:last-child a").getAttribute("aria-current") === "true";
  const isThere = await page.waitForFunction(isMarked, undefined, { timeout: 5000 }).catch(() => null);
  expect(isThere, "the contents do not tell where the reader is");
  const top = await page.locator(`#${hashes.at(-1)}`).evaluate((title) => title.getBoundingClientRect().top);
  const bar = await page.locator(".contents").evaluate((list) => list.getBoundingClientRect().bottom);
  expect(top >= bar - 1 && top < page.viewportSize().height, `the last section is at ${top}, and the contents end at ${bar}`);
}

/** Every chart can be saved, as what its name says. */
export async function saves(page) {
  const charts = await page.locator(".save").evaluateAll((menus) => menus.map((menu) => menu.dataset.chart));
  const drawn = await page.locator(".chart, .panels").evaluateAll((places) => places.filter((place) => place.childElementCount).map((place) => place.id));
  const empty = await page.locator(".chart:not(:has(.save))").evaluateAll((places) => places.map((place) => place.textContent));
  expect(empty.every((text) => text === "Nothing to draw."), `a chart cannot be saved: ${empty}`);
  expect(charts.every((chart) => drawn.includes(chart)), `${charts} are saved, ${drawn} are drawn`);
  for (const chart of charts) {
    const menu = page.locator(`.save[data-chart=${chart}]`);
    await menu.locator("summary").press("Enter");
    for (const kind of ["SVG", "PNG", "CSV"]) {
      const [download] = await Promise.all([page.waitForEvent("download"), menu.getByRole("button", { name: kind }).click()]);
      expect(download.suggestedFilename() === `${chart}.${kind.toLowerCase()}`, `${chart} is saved as ${download.suggestedFilename()}`);
      await isA[kind](page, chart, readFileSync(await download.path()));
    }
    await menu.locator("summary").press("Enter");
  }
}

const isA = {
  async SVG(page, chart, file) {
    const found = await page.evaluate((text) => {
      const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
      const needs = [...parsed.querySelectorAll("*")].flatMap((element) => [...element.attributes].map(({ value }) => value));
      return {
        isWrong: parsed.querySelector("parsererror") !== null,
        shapes: parsed.querySelectorAll("rect, path, image").length,
        page: needs.filter((value) => value.includes("var(")),
      };
    }, file.toString());
    expect(!found.isWrong && found.shapes > 1, `${chart}: the SVG has ${found.shapes} shapes`);
    expect(found.page.length === 0, `${chart}: the SVG needs ${found.page} of the page`);
  },
  async PNG(page, chart, file) {
    const colours = await page.evaluate(async (base64) => {
      const image = new Image();
      image.src = `data:image/png;base64,${base64}`;
      await image.decode();
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [image.width, image.height];
      const pen = canvas.getContext("2d");
      pen.drawImage(image, 0, 0);
      return new Set(new Uint32Array(pen.getImageData(0, 0, image.width, image.height).data.buffer)).size;
    }, file.toString("base64"));
    expect(colours > 3, `${chart}: the PNG has ${colours} colours`);
  },
  async CSV(page, chart, file) {
    const lines = file.toString().split("\r\n");
    expect(lines.length > 2 && lines[0].includes(","), `${chart}: the CSV begins with ${lines.slice(0, 2)}`);
    expect(!/NaN|undefined|Infinity/.test(file.toString()), `${chart}: the CSV has no numbers in places`);
  },
};

/** Looks at the page with `look` on every screen, and then does what `use` does. */
export async function read(look, use) {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
  try {
    for (const screen of SCREENS) {
      const page = await open(browser, screen);
      await look(page, screen.name);
      await isNarrow(page, screen.name);
      await labelsAreClear(page, screen.name);
      await isAccessible(page, screen.name);
      if (screenshots) await page.screenshot({ path: `${screenshots}/${screen.name}.png`, fullPage: true });
      await page.close();
    }
    await use(await open(browser, SCREENS[0]), (options) => open(browser, { ...SCREENS[0], ...options }));
  } finally {
    await browser.close();
  }
  if (wrong.length > 0) {
    console.log(wrong.join("\n"));
    process.exit(1);
  }
}
