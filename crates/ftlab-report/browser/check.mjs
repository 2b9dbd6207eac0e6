// Opens a report in headless Chromium and does what a reader does. Prints what is wrong, and fails if anything is.
//
//   node check.mjs PAGE.html [DIRECTORY FOR SCREENSHOTS]

import { expect, isAccessible, listsContents, read, saves } from "./reader.mjs";

async function isDrawn(page, name) {
  const blank = await page.evaluate(() =>
    [...document.querySelectorAll("canvas")].filter((canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return data.every((value) => value === 0);
    }).length,
  );
  expect(blank === 0, `${name}: ${blank} canvases are blank`);
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
  if ((await chip.count()) === 0) return;
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
  await page.locator("#waf .help > button").click();
}

/** Blocks by valid share change with the moment, and each bar is as wide as all others. */
async function tellsHowFull(page) {
  const ends = () =>
    page.locator("#fullness svg").evaluate((svg) => {
      const parts = [...svg.querySelectorAll("rect.part")].map((part) => part.getBBox());
      return [...new Set(parts.map(({ y }) => y))].map((y) => Math.max(...parts.filter((part) => part.y === y).map((part) => part.x + part.width)));
    });
  const all = await ends();
  const shown = await page.locator("#ftls button").count();
  expect(all.length === Math.max(shown, 1), `${all.length} bars for ${shown} FTLs`);
  expect(Math.max(...all) - Math.min(...all) < 1, `the bars of shares end at ${all}`);
  const before = await page.locator("#fullness svg").innerHTML();
  await page.locator("#moment").press("Home");
  expect((await page.locator("#fullness svg").innerHTML()) !== before, "the bars do not follow the slider");
  await page.locator("#moment").press("End");
}

async function turnsDark(page) {
  const colour = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const before = await colour();
  await page.locator("#theme").click();
  expect((await colour()) !== before, "the button does not change the colours");
}

await read(isDrawn, async (page) => {
  await sorts(page);
  await shows(page);
  await slides(page);
  await zooms(page);
  await tellsHowFull(page);
  await listsContents(page);
  await saves(page);
  await turnsDark(page);
  await isAccessible(page, "after all");
});
