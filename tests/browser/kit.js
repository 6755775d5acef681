// What the cases in a browser share. One browser runs all cases of a file, and one page most of them,
// since to start these takes longer than what most cases do.

const assert = require("node:assert/strict");
const fs = require("node:fs");
const readline = require("node:readline");
const { chromium } = require("playwright-core");

/// What the test tells the case that runs.
const told = {};

/// As in tests/interop/node.py: a machine that is busy is not a fault.
const patience = Number(process.env.POSTHORN_TEST_PATIENCE ?? 90) * 1000;
const usual = { viewport: { width: 1280, height: 900 }, colorScheme: "light", contrast: "no-preference" };
let shared = null; // The page that most cases use.
let isTaken = false; // By the case that runs.
let others = []; // Contexts of its own that the case that runs has opened.

/// A page in a context of its own.
async function makePage(browser, { hasClock, ...options }) {
  const context = await browser.newContext({ reducedMotion: "reduce", ...usual, ...options });
  context.setDefaultTimeout(patience);
  if (hasClock) await context.clock.install();
  return context.newPage();
}

/// The shared page as if it were new, but for what the browser has read of the desk already.
async function cleanPage(browser, { viewport, ...colours }) {
  shared ??= await makePage(browser, {});
  await shared.setViewportSize(viewport);
  await shared.emulateMedia(colours);
  return shared;
}

async function leavePage() {
  const seen = shared.url();
  shared.removeAllListeners();
  await shared.unrouteAll({ behavior: "ignoreErrors" });
  if (seen.startsWith("http")) await shared.evaluate(() => localStorage.clear());
  await shared.goto("about:blank");
  await shared.context().clearCookies();
}

/// A page on which every word on the console is a fault, still empty. What a page in use can be given are
/// its size and colours; with other options, and for a second page, there is a context of its own. Those
/// with a clock wait for nothing that the case does not want to wait for (`page.clock`).
async function blank(browser, options = {}) {
  const look = { ...usual, ...options };
  const isUsual = Object.keys(look).length === Object.keys(usual).length;
  let page;
  if (isUsual && !isTaken) {
    isTaken = true;
    page = await cleanPage(browser, look);
  } else {
    page = await makePage(browser, options);
    others.push(page.context());
  }
  page.faults = [];
  page.on("console", (line) => {
    // A refusal is what some cases ask for; the browser writes a line for each. And one where a field that
    // takes the focus appears while a button has it, which a dialog that opens does.
    if (!/status of 40[0134]|^Autofocus processing was blocked/.test(line.text())) page.faults.push(line.text());
  });
  page.on("pageerror", (fault) => page.faults.push(String(fault)));
  return page;
}

async function open(browser, base, path, options) {
  const page = await blank(browser, options);
  await page.goto(`${base}/desk/${path}`);
  return page;
}

/// The same for somebody who has signed in.
async function openAs(browser, key, base, path, options) {
  const page = await blank(browser, options);
  const answer = await page.context().request.post(`${base}/_rf/session`, { data: { key } });
  assert.ok(answer.ok(), await answer.text());
  await page.goto(`${base}/desk/${path}`);
  await page.locator("main h1").waitFor();
  return page;
}

async function signIn(page, key) {
  await page.getByLabel("Key", { exact: true }).fill(key);
  await page.getByRole("button", { name: "Go on" }).click();
}

async function quiet(page) {
  assert.deepEqual(page.faults, []);
}

const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

/// Looks at what the page shows now; with `rule`, for that alone.
async function accessible(page, rule) {
  // The page's policy lets no script in, so the debugger brings it.
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe);
  const options = { resultTypes: ["violations"], ...(rule && { runOnly: { type: "rule", values: [rule] } }) };
  const seen = await page.evaluate((how) => globalThis.axe.run(how), options);
  assert.deepEqual(seen.violations.map((each) => [each.id, each.nodes.map((node) => node.html)]), []);
}

/// The same in light and dark. The two differ in colours only, so in the dark these are looked at.
async function accessibleInBoth(page) {
  await accessible(page);
  await page.emulateMedia({ colorScheme: "dark" });
  await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
  await accessible(page, "color-contrast");
  await page.emulateMedia({ colorScheme: "light" });
  await page.waitForFunction(() => document.documentElement.dataset.theme === "light");
}

async function narrow(page, what = "the page") {
  const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wider <= 0, `${what} is ${wider} pixels too wide for a phone`);
}

/// What follows the size of a page does so in the frames after it.
async function resize(page, viewport) {
  await page.setViewportSize(viewport);
  await page.evaluate(async () => {
    for (let i = 0; i < 3; ++i) await new Promise(requestAnimationFrame);
  });
}

const phone = { viewport: { width: 360, height: 740 } };

const lines = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const write = (what) => process.stdout.write(`${JSON.stringify(what)}\n`);

/// Tells the test something, and goes on when the test has done what it does then.
async function say(what) {
  write({ said: what });
  await lines.next();
}

async function runCase(browser, { name, told: next }, cases) {
  for (const each of Object.keys(told)) delete told[each];
  Object.assign(told, next);
  let fault = "";
  try {
    await cases[name](browser);
    if (isTaken) await leavePage();
  } catch (thrown) {
    fault = String(thrown.stack ?? thrown);
    await shared?.context().close();
    shared = null;
  }
  await Promise.all(others.map((each) => each.close()));
  [isTaken, others] = [false, []];
  write({ ended: fault });
}

/// Runs the cases that the test names, a line of JSON each, until it names no more.
async function run(cases) {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"], timeout: patience });
  try {
    for (let line = await lines.next(); !line.done; line = await lines.next())
      await runCase(browser, JSON.parse(line.value), cases);
  } finally {
    await browser.close();
  }
}

module.exports = {
  told, usual, phone, blank, open, openAs, signIn, quiet, accessible, accessibleInBoth, narrow, resize, say, run,
};
