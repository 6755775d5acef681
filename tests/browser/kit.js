// What the cases in a browser share.

const assert = require("node:assert/strict");
const fs = require("node:fs");
const { chromium } = require("playwright-core");

/// A page on which every word on the console is a fault.
async function open(browser, base, path, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.faults = [];
  page.on("console", (line) => {
    // A refusal is what some cases ask for; the browser writes a line for each.
    if (!/status of 40[0134]/.test(line.text())) page.faults.push(line.text());
  });
  page.on("pageerror", (fault) => page.faults.push(String(fault)));
  await page.goto(`${base}/desk/${path}`);
  return page;
}

async function signIn(page, key) {
  await page.getByLabel("Key", { exact: true }).fill(key);
  await page.getByRole("button", { name: "Go on" }).click();
}

async function quiet(page) {
  assert.deepEqual(page.faults, []);
}

async function accessible(page) {
  // The page's policy lets no script in, so the debugger brings it.
  await page.evaluate(fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8"));
  const seen = await page.evaluate(() => globalThis.axe.run());
  assert.deepEqual(seen.violations.map((each) => [each.id, each.nodes.map((node) => node.html)]), []);
}

/// Runs the case that the command line names: CASE JSON. Ends with an exception if it fails.
async function run(cases) {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  try {
    await cases[process.argv[2]](browser);
  } catch (fault) {
    console.error(fault);
    process.exitCode = 1;
  } finally {
    await browser.close();
  }
}

module.exports = { open, signIn, quiet, accessible, run };
