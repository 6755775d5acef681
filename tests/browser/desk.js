// desk.js CASE JSON: one case of desk_test.py in a browser. Ends with an exception if it fails.

const assert = require("node:assert/strict");
const fs = require("node:fs");
const { chromium } = require("playwright-core");

const [, , name, text] = process.argv;
const told = JSON.parse(text);
const pages = ["", "messages", "dead", "destinations", "inbox"];

/// A page on which every word on the console is a fault.
async function open(browser, base, path, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.faults = [];
  page.on("console", (line) => {
    // A refusal is what some cases ask for; the browser writes a line for each.
    if (!/status of 40[134]/.test(line.text())) page.faults.push(line.text());
  });
  page.on("pageerror", (fault) => page.faults.push(String(fault)));
  await page.goto(`${base}/desk/${path}`);
  return page;
}

async function signIn(page, key) {
  await page.getByLabel("Key", { exact: true }).fill(key);
  await page.getByRole("button", { name: "Go on" }).click();
}

async function openOrders(browser, path, key = told.operator, options) {
  const page = await open(browser, told.orders, path, options);
  await signIn(page, key);
  await page.locator("main h1").waitFor();
  return page;
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

const cases = {
  async pages(browser) {
    for (const colorScheme of ["light", "dark"]) {
      const page = await openOrders(browser, "", told.operator, { colorScheme });
      for (const [i, path] of pages.entries()) {
        await page.locator("nav a").nth(i).click();
        await page.waitForURL(`**/desk/${path}`);
        await page.locator("main h1").waitFor();
        await page.locator("main .waiting").waitFor({ state: "detached" });
        await accessible(page);
      }
      await page.locator("nav a").nth(1).click();
      await page.locator("td.id a").first().click();
      await page.getByText("Committed with its transaction").waitFor();
      await accessible(page);
      await page.goto(`${told.stock}/desk/inbox`);
      await page.locator("tr[data-row]").first().waitFor();
      assert.equal(await page.locator("tr[data-row]").count(), 40);
      await quiet(page);
    }
    const phone = await openOrders(browser, "", told.operator, { viewport: { width: 360, height: 740 } });
    for (const [i] of pages.entries()) {
      await phone.locator("nav a").nth(i).click();
      await phone.locator("main .waiting").waitFor({ state: "detached" });
      const wider = await phone.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wider <= 0, `page ${i} is ${wider} pixels too wide for a phone`);
    }
    await quiet(phone);
  },

  async keys(browser) {
    const page = await open(browser, told.orders, "");
    await page.getByRole("heading", { name: "This needs an admin key" }).waitFor();
    assert.equal(await page.locator("main h1").count(), 0);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("heading", { name: "This node shows itself to those with a key" }).waitFor();
    await page.getByRole("button", { name: "Sign in" }).click();
    await signIn(page, "phk_wrong");
    await page.getByText("this key is not known here").waitFor({ state: "attached" });
    await signIn(page, told.viewer);
    await page.getByRole("heading", { name: "Something needs you" }).waitFor();
    await page.locator(".card", { hasText: "Dead" }).getByText("15").waitFor();

    // A viewer may look, and neither change nor read payloads.
    await page.locator("nav a", { hasText: "Destinations" }).click();
    await page.getByRole("row", { name: /billing/ }).getByRole("button", { name: "Pause…" }).click();
    await page.locator("dialog button.primary").click();
    await page.getByText("this needs a key with the role operator, and yours has viewer").waitFor();
    await page.locator("dialog button", { hasText: "Cancel" }).click();
    await page.locator("nav a", { hasText: "Messages" }).click();
    await page.locator("td.id a").first().click();
    await page.getByRole("button", { name: "Show the payload" }).click();
    await page.getByText("reading payloads needs a key with that right").waitFor();

    // The key is nowhere but in memory.
    const kept = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie]));
    assert.ok(!kept.includes("phk_"), kept);
    await page.reload();
    await page.getByRole("heading", { name: "This needs an admin key" }).waitFor();
    await quiet(page);

    // On loopback without keys one may look, and is asked when one changes something.
    const stock = await open(browser, told.stock, "");
    await stock.getByRole("heading", { name: "All is well" }).waitFor();
    await quiet(stock);
  },

  async markup(browser) {
    const page = await openOrders(browser, "messages?destination=crm");
    await page.locator("td", { hasText: told.markup }).waitFor();
    await page.locator("td.id a").first().click();
    await page.getByRole("button", { name: "Show the payload" }).click();
    await page.locator("pre.payload", { hasText: told.markup }).waitFor();
    assert.equal(await page.locator("main img").count(), 0);
    assert.notEqual(await page.title(), "run");
    await quiet(page);
  },

  async keyboard(browser) {
    const page = await openOrders(browser, "");
    await page.keyboard.press("?");
    await page.getByRole("heading", { name: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { name: "Keys" }).waitFor({ state: "detached" });
    await page.keyboard.press("2");
    await page.waitForURL("**/desk/messages");
    await page.locator("tr[data-row]").nth(2).waitFor();
    const id = (row) => page.locator("tr[data-row]").nth(row).locator("a").getAttribute("title");
    const second = await id(1);
    for (const key of ["j", "j", "j", "k", "Enter"]) await page.keyboard.press(key);
    await page.waitForURL(`**/desk/messages/${second}`);
    await page.keyboard.press("/");
    await page.keyboard.type(second);
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/desk/messages/${second}`);
    await page.getByText("Committed with its transaction").waitFor();
    await quiet(page);
  },

  async pause(browser) {
    const page = await openOrders(browser, "destinations");
    const row = page.getByRole("row", { name: /^stock/ });
    await row.getByRole("button", { name: "Pause…" }).click();
    await page.getByLabel(/^Why/).fill("counting the shelves");
    await page.locator("dialog button.primary").click();
    await row.getByText("paused: counting the shelves").waitFor();
    await row.getByRole("button", { name: "Resume" }).click();
    await row.getByRole("button", { name: "Pause…" }).waitFor();
    await page.getByRole("row", { name: /^billing/ }).getByRole("button", { name: "Try now" }).click();
    await page.getByText("Trying 'billing' now.").waitFor();
    await quiet(page);
  },

  async history(browser) {
    const page = await openOrders(browser, "inbox");
    let release;
    const held = new Promise((resolve) => (release = resolve));
    await page.route("**/_rf/history**", async (route) => {
      await held;
      await route.continue();
    });
    await page.locator("nav a", { hasText: "Overview" }).click();
    const below = page.getByRole("heading", { name: "What waits, by destination" });
    await page.locator(".chart.unread").first().waitFor();
    const before = await below.boundingBox();
    release();
    await page.locator(".chart canvas").nth(5).waitFor();
    assert.equal((await below.boundingBox()).y, before.y, "what is below the charts has moved");

    // What it shows is told in words too, and as numbers.
    const sent = page.getByRole("img", { name: /^Sent per second\. arrived: .* sent: .* at most [0-9.]*[1-9]/ });
    await sent.waitFor();
    await page.getByText("As numbers").click();
    await page.getByRole("columnheader", { name: "Sent per second: sent" }).waitFor();
    assert.equal(await page.locator(".numbers tbody tr").count(), 15);
    await accessible(page);
    await page.getByRole("button", { name: "7 days" }).click();
    await page.waitForURL("**/desk/?range=7d");
    await page.getByRole("heading", { name: "The last 7 days" }).waitFor();

    await page.locator("nav a", { hasText: "Destinations" }).click();
    await page.getByRole("row", { name: /^billing/ }).getByRole("button", { name: "History" }).click();
    await page.getByRole("heading", { name: "History of 'billing'" }).waitFor();
    await page.getByRole("img", { name: /^Waiting\. messages: 7 at the end/ }).waitFor();
    await accessible(page);
    await quiet(page);
  },

  async live(browser) {
    const page = await openOrders(browser, "");
    const asked = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    // What it is told, it does not ask for.
    const number = (path) => asked.filter((each) => each === path).length;
    await page.waitForRequest("**/_rf/inbox/stats");
    const before = number("/_rf/outbox/stats");
    for (let i = 0; i < 2; ++i) await page.waitForRequest("**/_rf/history**");
    assert.ok(number("/_rf/outbox/stats") - before <= 1, asked.join(" "));
    await quiet(page);

    // Where nothing is told, it asks.
    const deaf = await open(browser, told.stock, "");
    await deaf.getByRole("heading", { name: "All is well" }).waitFor();
    await deaf.route("**/_rf/live", (route) => route.fulfill({ status: 404, body: "" }));
    await deaf.reload();
    for (let i = 0; i < 3; ++i) await deaf.waitForRequest("**/_rf/outbox/stats");
    await quiet(deaf);
  },

  async edit(browser) {
    const page = await openOrders(browser, "dead?endpoint=Reserve");
    await page.locator("td.id a").first().click();
    await page.getByRole("button", { name: "Show the payload" }).click();
    await page.locator("pre.payload").first().waitFor();
    await page.getByRole("button", { name: "Edit and requeue…" }).click();
    await page.locator("textarea[name=payload]").fill('{"item":"mended","count":3}');
    await page.getByRole("button", { name: "Save and requeue" }).click();
    await page.locator(".mark", { hasText: "Sent" }).waitFor();
    await quiet(page);
  },

  async resolve(browser) {
    const page = await openOrders(browser, "dead?endpoint=Reserve");
    await page.getByRole("checkbox", { name: /^Select [0-9a-f]{8}/ }).first().check();
    await page.getByRole("button", { name: "Resolve 1…" }).click();
    await page.getByLabel("Reason").fill("counted by hand");
    await page.getByRole("button", { name: "Resolve 1", exact: true }).click();
    await page.getByText("1 message changed.").waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    await page.goto(`${told.orders}/desk/dead?status=Resolved`);
    await signIn(page, told.operator);
    await page.locator("td", { hasText: "counted by hand" }).waitFor();
    await quiet(page);
  },

  async requeue(browser) {
    const page = await openOrders(browser, "dead");
    await page.locator(".cause", { hasText: "Ship" }).click();
    await page.waitForURL(/cause=/);
    await page.getByRole("button", { name: "Requeue all of this filter…" }).click();
    await page.locator(".preview", { hasText: "12 messages" }).waitFor();
    await page.getByRole("button", { name: "Requeue 12" }).click();
    await page.getByText("12 messages changed.").waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    await quiet(page);
  },

  async screenshots(browser) {
    const size = { width: 1280, height: 800 };
    const shoot = (page, file) => page.screenshot({ path: `${told.folder}/${file}.png` });
    const page = await openOrders(browser, "", told.operator, { viewport: size, colorScheme: "light" });
    await page.locator("tr[data-row]").first().waitFor();
    // Some looks at the rates make a line.
    const isLine = () => document.querySelector(".line polyline").getAttribute("points").split(" ").length > 12;
    await page.waitForFunction(isLine, null, { timeout: 60000 });
    await shoot(page, "desk-overview");
    const dark = await openOrders(browser, "dead", told.operator, { viewport: size, colorScheme: "dark" });
    await dark.locator("tr[data-row]").first().waitFor();
    await dark.locator(".cause").first().waitFor();
    await shoot(dark, "desk-dead-letters");
  },

  // Every page in every colour and width, to be looked at.
  async gallery(browser) {
    for (const [look, options] of Object.entries({
      light: { colorScheme: "light" },
      dark: { colorScheme: "dark" },
      contrast: { contrast: "more" },
      phone: { viewport: { width: 360, height: 740 } },
    })) {
      const page = await openOrders(browser, "", told.operator, options);
      for (const [i, path] of pages.entries()) {
        await page.locator("nav a").nth(i).click();
        await page.locator("main .waiting").waitFor({ state: "detached" });
        await page.waitForTimeout(300);
        await page.screenshot({ path: `${told.folder}/${look}-${path || "overview"}.png`, fullPage: true });
      }
      await page.locator("nav a").nth(2).click();
      await page.locator("td.id a").first().click();
      await page.getByText("Given up").waitFor();
      await page.getByRole("button", { name: "Show the payload" }).click();
      await page.locator("pre.payload").first().waitFor();
      await page.screenshot({ path: `${told.folder}/${look}-message.png`, fullPage: true });
      await page.getByRole("button", { name: "Edit and requeue…" }).click();
      await page.screenshot({ path: `${told.folder}/${look}-edit.png` });
    }
  },
};

async function main() {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  try {
    await cases[name](browser);
  } finally {
    await browser.close();
  }
}

main().catch((fault) => {
  console.error(fault);
  process.exitCode = 1;
});
