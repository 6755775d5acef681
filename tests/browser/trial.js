// The cases of trial_test.py in a browser.

const assert = require("node:assert/strict");
const { told, phone, openAs, quiet, accessible, narrow, say, run } = require("./kit.js");

async function openOverview(browser, options = {}) {
  const page = await openAs(browser, told.operator, told.orders, "", options);
  await page.locator(".light h1").waitFor();
  return page;
}

/// A reason that the light gives, and the link beside it that leads to the cure.
const reason = (page, words) => page.locator(".reasons li", { hasText: words });
const destination = (page, name) => page.getByRole("row", { name: new RegExp(`^${name}`) });

/// Begins at the overview, as a person does, and counts what is clicked and where that leads.
async function counted(page, steps) {
  await page.locator("nav a", { hasText: "Overview" }).click();
  const places = new Set([new URL(page.url()).pathname]);
  let clicks = 0;
  await steps(async (target) => {
    await target.click();
    ++clicks;
    places.add(new URL(page.url()).pathname);
  });
  return [clicks, places.size];
}

const cases = {
  // One look: every fault stands on the first page, with its reason and since when.
  async look(browser) {
    const page = await openOverview(browser);
    for (const words of [
      /\d messages are dead/,
      /2 messages wait behind one of their order key .*'aisle 7'/,
      /'billing' gives no answer that counts: .*Connection refused; its messages wait since .* ago/,
      /'vault' gives no answer that counts: .*certificate/,
      /'bank' gives no answer that counts: .*the key that orders signs with is unknown/,
      /2 messages expired before they were delivered/,
      /'webhook:.*' gives no answer that counts: HTTP 500/,
      /endpoint 'Label' fails \(\d+ times since .* ago/,
    ])
      await reason(page, words).getByRole("link").waitFor();
    for (const name of ["billing", "vault", "bank"]) await destination(page, name).locator("time").waitFor();
    await destination(page, "bank").getByRole("link", { name: "Compare the keys" }).waitFor();
    await destination(page, "stock").getByRole("link", { name: "2 parked behind a dead one" }).waitFor();
    await accessible(page);
    await quiet(page);
  },

  // What was wrong elsewhere is mended; what is left to do here are clicks. It is mended when they are
  // made, since a node finds out by itself after a while.
  async cure(browser) {
    const page = await openOverview(browser);
    const mend = (path, nameOf) =>
      page.route(path, async (route) => {
        if (route.request().method() === "POST") await say(nameOf(new URL(route.request().url()).pathname));
        await route.continue();
      });
    await mend("**/_rf/outbox/lanes/*/try", (path) => path.split("/").at(-2));
    await mend("**/_rf/webhooks/*/recover", () => "webhook");
    const found = {};
    for (const name of ["billing", "vault", "bank"])
      found[name] = await counted(page, async (click) => {
        await click(reason(page, `'${name}' gives`).getByRole("link"));
        await click(destination(page, name).getByRole("button", { name: "Try now" }));
        await destination(page, name).locator(".mark", { hasText: "running" }).waitFor();
      });
    found.parked = await counted(page, async (click) => {
      await click(reason(page, "wait behind one of their order key").getByRole("link"));
      await click(page.getByRole("button", { name: "Resolve…" }));
      await page.getByLabel("Reason").fill("counted by hand");
      await click(page.getByRole("button", { name: "Resolve 1", exact: true }));
      await page.getByRole("button", { name: "Close" }).click();
      await page.locator(".mark", { hasText: "Resolved" }).waitFor();
    });
    found.dead = await counted(page, async (click) => {
      await click(reason(page, "dead").getByRole("link", { name: "See why they died" }));
      await click(page.locator(".cause", { hasText: "no such table: shipped" }));
      await click(page.getByRole("button", { name: "Requeue all of this filter…" }));
      await click(page.getByRole("button", { name: "Requeue 3", exact: true }));
      await page.getByText("3 messages changed.").waitFor();
      await page.getByRole("button", { name: "Close" }).click();
    });
    found.expired = await counted(page, async (click) => {
      await click(reason(page, "expired before").getByRole("link"));
      await click(page.getByRole("button", { name: "Requeue all…" }));
      await page.getByLabel("It may take").selectOption("a day from now on");
      await click(page.getByRole("button", { name: "Requeue 2", exact: true }));
      await page.getByText("2 messages changed.").waitFor();
      await page.getByRole("button", { name: "Close" }).click();
    });
    found.webhook = await counted(page, async (click) => {
      await click(reason(page, /'webhook:[^']*' gives/).getByRole("link"));
      await page.getByText("HTTP 500").first().waitFor();
      await click(page.getByRole("button", { name: /^Recover \d…/ }));
      await click(page.locator("dialog button.primary"));
      await page.getByText(/^\d deliver(y|ies) will be tried\.$/).waitFor();
    });
    assert.deepEqual(found, {
      billing: [2, 2],
      vault: [2, 2],
      bank: [2, 2],
      expired: [3, 2],
      parked: [3, 2],
      dead: [4, 2],
      webhook: [3, 2],
    });
    await quiet(page);
  },

  // The same page with keys alone, narrow, and in other colours.
  async keyboard(browser) {
    const page = await openOverview(browser, { ...phone, colorScheme: "dark" });
    await narrow(page);
    await accessible(page);
    await page.keyboard.press("4");
    await page.waitForURL("**/desk/destinations");
    await destination(page, "billing").waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("Tab"); // Into the row: its link, then what can be done.
    const reached = async (name) => {
      for (let i = 0; i < 12; ++i) {
        if ((await page.evaluate(() => document.activeElement.textContent)) === name) return true;
        await page.keyboard.press("Tab");
      }
      return false;
    };
    assert.ok(await reached("Try now"), "'Try now' cannot be reached by keys");
    await page.keyboard.press("Enter");
    await page.getByText(/^Trying '.*' now\.$/).waitFor();
    await page.keyboard.press("5");
    await page.waitForURL("**/desk/inbox");
    const label = page.getByRole("row", { name: /^Label/ });
    await label.getByText("no such table: labels").waitFor();
    await label.getByRole("button", { name: "History" }).click();
    await page.getByRole("heading", { name: "History of 'Label'" }).waitFor();
    await page.locator("dialog figure", { hasText: "Taken in per second" }).waitFor();
    await accessible(page);
    await quiet(page);
  },

  // Each reason that a node can give leads to where it is cured.
  async advice(browser) {
    const page = await openOverview(browser);
    const health = await (await page.request.get(`${told.orders}/_rf/health`)).json();
    const leads = {
      "the store cannot be written: database is locked (SQLite 5); another process holds the database": "/desk/store",
      "a write has waited for 12 s; another program may hold the database's lock, or a transaction takes long": "/desk/store",
      "the last backup failed: No space left on device": "/desk/store",
      "the clock shows 2026-01-01T00:00:00.000Z, but the database was used at 2026-02-01T00:00:00.000Z": "/desk/store",
      "requests in the name of 'orders' do not pass the check (9 times): the key that orders signs with is unknown": "/desk/keys",
      "'bank' gives no answer that counts: bad_signature: the key that orders signs with is unknown": "/desk/destinations",
      "'the store ' gives no answer that counts: unreachable: database is dead": "/desk/destinations",
      "the handler of endpoint 'dead' fails (3 times): database is locked": "/desk/inbox",
      "3 messages expired before they were delivered; see 'posthorn dead list'": "/desk/dead?status=Expired",
    };
    await page.route("**/_rf/live", (route) => route.fulfill({ status: 404, body: "" }));
    await page.route("**/_rf/health", (route) => route.fulfill({ json: { ...health, reasons: Object.keys(leads) } }));
    await page.reload();
    for (const [words, link] of Object.entries(leads))
      assert.equal(await reason(page, words.split(" 2026")[0]).getByRole("link").getAttribute("href"), link, words);
    await page.locator("nav a", { hasText: "Store" }).click();
    await page.getByRole("alert").getByText("the last backup failed").waitFor();
    await quiet(page);
  },

  // What a page is for is asked for with the first requests, not behind those for its frame.
  async first(browser) {
    const page = await openOverview(browser);
    for (const [path, list] of Object.entries({ messages: "/_rf/outbox", dead: "/_rf/dead" })) {
      const asked = [];
      page.on("request", (request) => {
        const { pathname } = new URL(request.url());
        if (!pathname.startsWith("/desk")) asked.push(pathname);
      });
      await page.goto(`${told.orders}/desk/${path}`);
      await page.locator("tr[data-row]").first().waitFor();
      page.removeAllListeners("request");
      const before = asked.slice(0, asked.indexOf(list)).sort();
      assert.deepEqual(before.filter((each) => each !== "/_rf/dead/groups"), ["/_rf", "/_rf/live", "/_rf/whoami"]);
    }
    // A proxy that keeps back what is told does not keep the page waiting.
    await page.route("**/_rf/live", () => undefined);
    await page.goto(`${told.orders}/desk/`);
    await page.locator(".light h1").waitFor();
    await quiet(page);
  },
};

run(cases);
