// Opens the page of an inspection in headless Chromium and does what a reader does.
//
//   node inspection.mjs PAGE.html [DIRECTORY FOR SCREENSHOTS]

import { expect, isAccessible, listsContents, read, saves } from "./reader.mjs";

async function hasCharts(page, name) {
  const charts = await page.locator(".chart").count();
  const drawn = await page.locator(".chart:has(canvas), .chart:has(svg), .chart:has(p.help)").count();
  expect(charts > 0 && drawn === charts, `${name}: ${drawn} of ${charts} charts are drawn`);
}

async function hides(page) {
  const maps = page.locator("#heat-map .map");
  const before = await maps.count();
  if (before < 2) return;
  await page.locator("#ftls button").first().click();
  expect((await maps.count()) === before - 1, "the map of a workload that is hidden stays");
  await page.locator("#ftls button").first().click();
}

async function readsCells(page) {
  const map = page.locator("#heat-map svg[role=img]").first();
  if ((await map.count()) === 0) return;
  await map.scrollIntoViewIfNeeded();
  const { x, y, width, height } = await map.boundingBox();
  await page.mouse.move(x + width / 2, y + height / 2);
  const text = await page.locator("#tooltip").textContent();
  expect(/ from .*page writes\d/.test(text), `the map does not tell its cells: ${text}`);
}

await read(hasCharts, async (page) => {
  await hides(page);
  await readsCells(page);
  await listsContents(page);
  await saves(page);
  await isAccessible(page, "after all");
});
