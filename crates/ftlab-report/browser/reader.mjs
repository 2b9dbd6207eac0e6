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
