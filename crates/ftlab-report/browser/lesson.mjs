// Opens a lesson in headless Chromium and does what a teacher does. Prints what is wrong, and fails if anything is.
//
//   node lesson.mjs PAGE.html [DIRECTORY FOR SCREENSHOTS]

import { expect, isAccessible, read } from "./reader.mjs";

/** All that the panels show. */
const picture = (page) => page.locator("#ftls").innerHTML();
const position = async (page) => Number(await page.locator("#position").inputValue());
const said = (page) => page.locator(".says").allTextContents();

async function isDrawn(page, name) {
  const data = await page.evaluate(() => JSON.parse(document.getElementById("data").textContent));
  const panels = page.locator(".stage");
  expect((await panels.count()) === data.runs.length, `${name}: not every FTL has a panel`);
  expect((await page.locator(".block").count()) === data.runs.length * data.blocks, `${name}: blocks are missing`);
  await page.keyboard.press("n");
  expect((await page.locator(".choice.now .chosen").count()) > 0, `${name}: no victim is marked where one is chosen`);
  // Texts of cells fit in them.
  const cut = await page.evaluate(() => [...document.querySelectorAll(".cell, .head, .says, .choice td")].filter((box) => box.scrollWidth > box.clientWidth + 1).length);
  expect(cut === 0, `${name}: ${cut} texts are cut`);
}

async function steps(page) {
  await page.keyboard.press("Home");
  const start = await picture(page);
  expect((await position(page)) === 0, "Home is not the start");
  const pictures = [start];
  for (let step = 1; step <= 40; step += 1) {
    await page.keyboard.press("ArrowRight");
    pictures.push(await picture(page));
    expect(pictures[step] !== pictures[step - 1], `step ${step} shows nothing new`);
  }
  for (let step = 39; step >= 0; step -= 1) {
    await page.keyboard.press("ArrowLeft");
    expect((await picture(page)) === pictures[step], `step ${step} looks different on the way back`);
  }
  await page.locator("#forward").click();
  expect((await picture(page)) === pictures[1], "the button and the key differ");
  await page.locator("#back").click();
  expect((await picture(page)) === start, "back is not the opposite of forward");
  await page.locator("#position").fill("30");
  expect((await picture(page)) === pictures[30], "the slider and the keys differ");
}

async function tells(page) {
  await page.keyboard.press("Home");
  const seen = new Set();
  const kinds = [/^The drive is (full|empty)/, / is written to block \d+/, /its old version in block \d+ becomes invalid/, /is the victim: |are the victims: /, / is moved from block \d+ to block \d+/, / is erased: \d+ pages? can be programmed/];
  for (let step = 0; step < 200; step += 1) {
    for (const text of await said(page)) kinds.filter((kind) => kind.test(text)).forEach((kind) => seen.add(kind));
    if (seen.size === kinds.length) break;
    // Nothing is collected as long as blocks are free.
    await page.keyboard.press(step === 20 ? "n" : "ArrowRight");
  }
  for (const kind of kinds) expect(seen.has(kind), `no sentence is like ${kind}`);
}

async function counts(page) {
  await page.keyboard.press("End");
  const runs = await page.evaluate(() => {
    const { runs } = JSON.parse(document.getElementById("data").textContent);
    const count = (run, letter) => run.steps.slice(run.fill).filter(([kind]) => kind === letter).length;
    return runs.map((run) => ["w", "m", "e"].map((letter) => count(run, letter)));
  });
  for (const [index, [writes, moves, erases]] of runs.entries()) {
    const shown = await page.locator(".stage").nth(index).locator(".counts dd").allTextContents();
    const expected = [writes, moves, erases].map(String);
    expect(shown.slice(0, 3).join() === expected.join(), `${shown} is shown, and ${expected} happened`);
    expect(shown.at(-1) === ((writes + moves) / writes).toFixed(2), `the write amplification is ${shown.at(-1)}`);
  }
}

/** At every step, the valid pages of each block are as many as its choice and its label say. */
async function agrees(page) {
  await page.keyboard.press("Home");
  for (let choice = 0; choice < 5; choice += 1) {
    await page.keyboard.press("n");
    const wrong = await page.evaluate(() =>
      [...document.querySelectorAll(".stage")].filter((stage) => {
        if (!stage.querySelector(".choice.now")) return false;
        const [blocks, valid] = [...stage.querySelectorAll(".choice tr")].map((row) => [...row.children].slice(1).map((cell) => parseInt(cell.textContent, 10)));
        return blocks.some((block, index) => stage.querySelectorAll(".block")[block].querySelectorAll(".cell.valid").length !== valid[index]);
      }).length,
    );
    expect(wrong === 0, "the choice and the picture differ");
  }
}

async function plays(page) {
  await page.keyboard.press("Home");
  await page.locator("#speed").selectOption("15");
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("Space");
  await page.waitForTimeout(700);
  expect((await page.locator(".says").first().getAttribute("aria-live")) === "off", "a screen reader is told every step while it plays");
  await page.keyboard.press("Space");
  const paused = await position(page);
  expect(paused > 2, `it does not play: ${paused}`);
  await page.waitForTimeout(300);
  expect((await position(page)) === paused, "it does not pause");
  expect((await page.locator(".says").first().getAttribute("aria-live")) === "polite", "a screen reader is told nothing");
  const spoken = await page.locator("#position").getAttribute("aria-valuetext");
  expect(/^host write \d+ of \d+/.test(spoken), `the slider does not tell the step: ${spoken}`);
}

/** Whether anything moves by itself when a step is taken. */
const moves = async (page) => {
  await page.keyboard.press("Home");
  await page.keyboard.press("n");
  for (let step = 0; step < 30; step += 1) {
    await page.keyboard.press("ArrowRight");
    if ((await page.evaluate(() => document.getAnimations().length)) > 0) return true;
  }
  return false;
};

async function turnsDark(page) {
  const colour = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const before = await colour();
  await page.locator("#theme").click();
  expect((await colour()) !== before, "the button does not change the colours");
}

await read(isDrawn, async (page, open) => {
  await steps(page);
  await tells(page);
  await agrees(page);
  await plays(page);
  await counts(page);
  expect(await moves(page), "pages do not slide to their new place");
  await turnsDark(page);
  await isAccessible(page, "after all");
  expect(!(await moves(await open({ name: "still", reducedMotion: "reduce" }))), "pages slide where motion is to be reduced");
});
