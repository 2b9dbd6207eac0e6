// Opens a report in headless Chromium and does what a reader does. Prints what is wrong, and fails if anything is.
//
//   node check.mjs PAGE.html [DIRECTORY FOR SCREENSHOTS]

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [, , file, screenshots] = process.argv;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const wrong = [];
const expect = (is, message) => is || wrong.push(message);

const SCREENS = [
  { name: "light", viewport: { width: 1280, height: 900 }, colorScheme: "light" },
  { name: "dark", viewport: { width: 1280, height: 900 }, colorScheme: "dark" },
  { name: "phone", viewport: { width: 390, height: 844 }, colorScheme: "light", hasTouch: true, isMobile: true },
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

async function isAccessible(page, name) {
  // The page lets no script in but its own; this one comes from outside.
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  for (const { id, impact, help, nodes } of violations) {
    expect(!["serious", "critical"].includes(impact), `${name}: ${id} (${impact}): ${help}: ${nodes[0].html}`);
  }
}

async function isDrawn(page, name) {
  const blank = await page.evaluate(() =>
    [...document.querySelectorAll("canvas")].filter((canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return data.every((value) => value === 0);
    }).length,
  );
  expect(blank === 0, `${name}: ${blank} canvases are blank`);
  const { wide, seen } = await page.evaluate(() => ({
    wide: document.documentElement.scrollWidth,
    seen: innerWidth,
  }));
  expect(wide <= seen, `${name}: the page is ${wide} pixels wide, and ${seen} are seen`);
}

async function sorts(page) {
  const names = () => page.locator("#results tbody th").allTextContents();
  const before = await names();
  await page.locator("#results thead button").nth(1).click();
  const wafs = (await page.locator("#results tbody td:nth-child(2)").allTextContents()).map(Number);
  expect(wafs.every((waf, index) => index === 0 || wafs[index - 1] <= waf), `not in ascending order: ${wafs}`);
  await page.locator("#results thead button").nth(1).press("Enter");
  const heading = page.locator("#results thead th").nth(1);
  expect((await heading.getAttribute("aria-sort")) === "descending", "the heading does not tell its order");
  expect((await names()).length === before.length, "rows got lost by sorting");
}

async function shows(page) {
  const panels = page.locator("#flash .panel:not([hidden])");
  const before = await panels.count();
  const chip = page.locator("#ftls button").first();
  await chip.focus();
  await page.keyboard.press("Space");
  expect((await chip.getAttribute("aria-pressed")) === "false", "the button of an FTL does not tell that it is off");
  expect((await panels.count()) === before - 1, "a hidden FTL is still in the picture");
  await chip.click();
  expect((await panels.count()) === before, "an FTL does not come back");
}

async function slides(page) {
  const slider = page.locator("#moment");
  const picture = () => page.locator("#flash canvas").first().evaluate((canvas) => canvas.toDataURL());
  const after = await picture();
  await slider.focus();
  await page.keyboard.press("Home");
  expect((await slider.getAttribute("aria-valuetext")) === "at the beginning", "the slider does not tell the moment");
  expect((await picture()) !== after, "the picture stays the same at the beginning");
  await page.locator("#play").click();
  await page.waitForTimeout(600);
  await page.locator("#play").click();
  expect((await slider.inputValue()) > 0, "the picture does not play");
  await page.locator("#flash canvas").first().press("ArrowRight");
  const reading = await page.locator("#flash .reading").first().textContent();
  expect(/^Blocks? 0/.test(reading), `the arrows do not read a block: ${reading}`);
}

async function zooms(page) {
  const plot = page.locator("#waf .plot");
  if ((await plot.count()) === 0) return;
  await plot.focus();
  await page.keyboard.press("ArrowRight");
  const spoken = await page.locator("#waf [aria-live]").textContent();
  expect(/drive writes?: /.test(spoken), `the chart does not tell its values: ${spoken}`);
  const picture = () => page.locator("#waf canvas").first().evaluate((canvas) => canvas.toDataURL());
  const before = await picture();
  await page.keyboard.press("+");
  await page.waitForTimeout(100);
  expect((await picture()) !== before, "the chart does not zoom");
  await page.locator("#waf .help button").click();
}

async function turnsDark(page) {
  const colour = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const before = await colour();
  await page.locator("#theme").click();
  expect((await colour()) !== before, "the button does not change the colours");
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
try {
  for (const screen of SCREENS) {
    const page = await open(browser, screen);
    await isDrawn(page, screen.name);
    await isAccessible(page, screen.name);
    if (screenshots) await page.screenshot({ path: `${screenshots}/${screen.name}.png`, fullPage: true });
    await page.close();
  }
  const page = await open(browser, SCREENS[0]);
  await sorts(page);
  await shows(page);
  await slides(page);
  await zooms(page);
  await turnsDark(page);
  await isAccessible(page, "after all");
} finally {
  await browser.close();
}
if (wrong.length > 0) {
  console.log(wrong.join("\n"));
  process.exit(1);
}
