// Opens every page of the documentation in headless Chromium; none may be wider than the window.
//
//   node docs.mjs DIRECTORY

import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [, , folder] = process.argv;
const pages = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".html") && !name.startsWith("_static"));
const wrong = pages.length === 0 ? [`no pages in ${folder}`] : [];

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  const page = await browser.newPage();
  for (const name of pages.sort()) {
    await page.goto(pathToFileURL(join(folder, name)).href, { waitUntil: "load" });
    for (const width of [1024, 1366]) {
      await page.setViewportSize({ width, height: 800 });
      const found = await page.evaluate(() => {
        const { scrollWidth, clientWidth } = document.documentElement;
        // What is wide and does not scroll by itself.
        const isWide = (element) => element.getBoundingClientRect().right > clientWidth + 1 && !element.closest("pre, .table-wrapper, .highlight");
        const widest = [...document.querySelectorAll("article *")].find(isWide);
        return { scrollWidth, clientWidth, widest: widest?.outerHTML.slice(0, 120) };
      });
      if (found.scrollWidth > found.clientWidth) {
        wrong.push(`${relative(folder, join(folder, name))}: ${found.scrollWidth} pixels wide in a window of ${width}: ${found.widest ?? "beside the text"}`);
      }
    }
    const broken = await page.evaluate(async () => {
      const images = [...document.images];
      images.forEach((image) => (image.loading = "eager"));
      await Promise.all(images.map((image) => image.decode().catch(() => null)));
      return images.filter((image) => image.naturalWidth === 0).map((image) => image.getAttribute("src"));
    });
    if (broken.length > 0) wrong.push(`${name}: no picture ${broken}`);
  }
} finally {
  await browser.close();
}
if (wrong.length > 0) {
  console.log(wrong.join("\n"));
  process.exit(1);
}
