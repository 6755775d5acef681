// The cases of portal_test.py in a browser.

const assert = require("node:assert/strict");
const { told, phone, blank, quiet, accessible, accessibleInBoth, narrow, say, run } = require("./kit.js");

const dialog = (page, name) => page.getByRole("dialog", { name });
const rows = (page) => page.locator("tr[data-row]");
const main = (page) => page.locator("main");

async function press(page, name) {
  await page.getByRole("button", { name, exact: true }).click();
}

/// The portal by a link, as a service would give it.
async function openLink(browser, token = told.token, more = "", options = {}) {
  const page = await blank(browser, options);
  page.asked = [];
  page.on("request", (request) => page.asked.push(request.url() + (request.headers().referer ?? "")));
  await page.goto(`${told.portal}#token=${encodeURIComponent(token)}${more}`);
  return page;
}

async function openList(browser, more, options) {
  const page = await openLink(browser, told.token, more, options);
  await page.getByRole("heading", { name: "Webhooks" }).waitFor();
  await main(page).locator(".waiting").waitFor({ state: "detached" });
  return page;
}

async function openOne(browser, id, more, options) {
  const page = await openList(browser, more, options);
  await page.locator(`a[href$="?endpoint=${id}"]`).click();
  await page.getByRole("heading", { name: "Deliveries, the newest first" }).waitFor();
  await main(page).locator(".waiting").waitFor({ state: "detached" });
  return page;
}

/// From now on the node is shown a token that is over in place of this one.
async function end(page, token) {
  await page.route("**/webhooks/portal/**", (route) => {
    const headers = route.request().headers();
    if (headers.authorization === `Bearer ${token}`) headers.authorization = `Bearer ${told.ended}`;
    return route.continue({ headers });
  });
}

/// Hands over another token, as a service may by the address of its frame.
async function handOver(page, token) {
  await page.evaluate((next) => (location.hash = `token=${encodeURIComponent(next)}`), token);
}

/// The token is where a script of the page has it, and nowhere else.
async function keepsNo(page, token) {
  const kept = await page.evaluate(async () =>
    JSON.stringify([
      { ...localStorage }, { ...sessionStorage }, document.cookie, await indexedDB.databases(), await caches.keys(),
      location.href, history.state, document.documentElement.outerHTML,
    ]),
  );
  const bare = token.slice(0, 40);
  assert.ok(!kept.includes(bare), "the token is kept in the browser");
  assert.ok(!page.asked.some((each) => each.includes(bare)), "the token is a part of an address");
  assert.deepEqual(await page.context().cookies(), []);
}

async function showsNothingOf(page, text) {
  assert.ok(!(await page.content()).includes(text), `${text} is on the page`);
}

const cases = {
  async link(browser) {
    const page = await openList(browser);
    await page.getByRole("heading", { name: "No endpoint is subscribed yet" }).waitFor();
    await page.locator("header").getByText("acme", { exact: true }).waitFor();
    await page.getByRole("cell", { name: "An order was paid" }).waitFor();
    assert.equal(new URL(page.url()).hash, "");
    await keepsNo(page, told.token);

    await press(page, "New endpoint…");
    const form = dialog(page, "New endpoint");
    assert.equal(await form.locator("[name=tenant]").count(), 0);
    await form.locator("datalist option[value='order.paid']").waitFor({ state: "attached" });
    await form.locator("[name=url]").fill("nope");
    await press(form, "Make it");
    await form.locator("label.wrong", { hasText: "URL" }).getByRole("alert").waitFor();
    await form.locator("[name=url]").fill(told.good);
    await form.locator("[name=description]").fill(told.markup);
    await press(form, "Make it");
    const made = dialog(page, "Its secret, shown this once");
    const secret = await made.locator("[data-secret]").textContent();
    assert.match(secret, /^whsec_/);
    await made.getByRole("link", { name: "Open the endpoint" }).click();
    await page.getByText("Nothing was sent to it yet. Send a test").waitFor();
    await page.locator("dd", { hasText: told.markup }).waitFor();

    await press(page, "Send a test");
    const test = dialog(page, "Test delivery");
    await test.getByText("HTTP 200 after").waitFor();
    await test.getByLabel("Body").getByText("This is a test.").waitFor();
    await press(test, "Close");

    await press(page, "Rotate the secret…");
    await press(dialog(page, "Give it a new secret"), "Rotate");
    const shown = dialog(page, "Its secret, shown this once");
    const next = await shown.locator("[data-secret]").textContent();
    assert.match(next, /^whsec_/);
    assert.notEqual(next, secret);
    await press(shown, "Close");
    await showsNothingOf(page, secret);
    await showsNothingOf(page, next);

    await press(page, "Edit…");
    const change = dialog(page, "Change the endpoint");
    await change.locator("[name=eventType]").fill("invoice.*");
    await press(change, "Save");
    await page.locator("dd", { hasText: "invoice.*" }).waitFor();
    await press(page, "Pause");
    await page.locator(".title").getByText("paused").waitFor();
    await press(page, "Resume");
    await page.locator(".title").getByText("quiet").waitFor();
    await press(page, "Disable");
    await page.locator(".title").getByText("disabled").waitFor();
    await press(page, "Enable");
    await page.locator(".title").getByText("quiet").waitFor();
    await press(page, "Delete…");
    await press(dialog(page, "Delete the endpoint"), "Delete");
    await page.getByRole("heading", { name: "No endpoint is subscribed yet" }).waitFor();
    assert.equal(await main(page).locator("img").count(), 0);
    await keepsNo(page, told.token);

    // It is in memory alone, so a page that is loaded anew knows nothing.
    await page.reload();
    await page.getByRole("heading", { name: "This page does not know who you are" }).waitFor();
    await accessible(page);
    await quiet(page);
  },

  async again(browser) {
    const page = await openOne(browser, told.id);
    await page.getByText("The last attempt failed with HTTP 500").waitFor();
    const row = rows(page).filter({ has: page.locator(`[title="${told.event}"]`) });
    await row.getByRole("button").click();
    const shown = dialog(page, "Attempt 1 of order.paid");
    await shown.getByText("out of order").waitFor();
    assert.match(await shown.getByLabel("Headers").textContent(), new RegExp(`webhook-id: ${told.event}`));
    assert.deepEqual(JSON.parse(await shown.getByLabel("Body").textContent()).data, { amount: 9 });
    await press(shown, "Try again");
    await page.getByText("It will be tried again.").waitFor();
    await page.getByText("It took the last delivery").waitFor();
    await press(page, "Recover 1…");
    const asked = dialog(page, "Send what it missed");
    await asked.getByLabel("1 given up or expired").waitFor();
    await press(asked, "Recover 1");
    await page.getByText("1 delivery will be tried.").waitFor();
    await rows(page).filter({ hasText: "taken" }).nth(1).waitFor();
    await page.getByLabel("Attempts").selectOption("true");
    await rows(page).filter({ hasText: "taken" }).first().waitFor({ state: "detached" });
    assert.equal(await rows(page).filter({ hasText: "given up" }).count(), 2);
    await quiet(page);
  },

  async others(browser) {
    const page = await openList(browser);
    await rows(page).nth(1).waitFor();
    assert.equal(await rows(page).count(), 2);
    await showsNothingOf(page, "globex");
    const words = [];
    for (const id of [told.other, told.absent]) {
      const one = await openLink(browser, told.token, "");
      await one.getByRole("heading", { name: "Webhooks" }).waitFor();
      await one.evaluate((to) => history.pushState(null, "", `?endpoint=${to}`), id);
      await one.evaluate(() => dispatchEvent(new PopStateEvent("popstate")));
      await one.getByRole("heading", { name: "This endpoint cannot be shown" }).waitFor();
      words.push((await main(one).textContent()).replaceAll(id, "ID"));
      await showsNothingOf(one, "globex");
      await one.getByRole("link", { name: "All endpoints" }).last().click();
      await rows(one).nth(1).waitFor();
      await quiet(one);
    }
    assert.equal(words[0], words[1]);
    await quiet(page);
  },

  async reader(browser) {
    const page = await openList(browser);
    await page.getByText("You can look here, and change nothing.").waitFor();
    await rows(page).nth(1).waitFor();
    assert.deepEqual(await page.getByRole("button").allTextContents(), []);
    await page.locator(`a[href$="?endpoint=${told.id}"]`).click();
    // The list has rows, too: of the endpoint's page are those with a button.
    const show = rows(page).first().getByRole("button", { name: "Show" });
    await show.waitFor();
    assert.deepEqual(await page.getByRole("button").allTextContents(), ["Show"]);
    await show.click();
    const shown = dialog(page, "Attempt 1 of order.paid");
    const headers = await shown.getByLabel("Headers").textContent();
    assert.ok(headers.includes("Authorization: (hidden)"), headers);
    assert.equal(await shown.getByRole("button", { name: "Try again" }).count(), 0);
    await showsNothingOf(page, "acmes-own");
    await accessible(page);
    await quiet(page);
  },

  async frame(browser) {
    const page = await blank(browser, { hasClock: true });
    page.asked = [];
    page.on("request", (request) => page.asked.push(request.url() + (request.headers().referer ?? "")));
    const tokens = [];
    const handedOver = async () => {
      const answer = await page.waitForResponse((each) => each.url().endsWith("/portal-token"));
      tokens.push((await answer.json()).token);
    };
    await Promise.all([handedOver(), page.goto(told.service)]);
    const portal = page.frameLocator("#portal");
    await portal.locator("header").getByText("acme", { exact: true }).waitFor();
    await portal.locator("tr[data-row]").nth(1).waitFor();
    const button = portal.getByRole("button", { name: "New endpoint…" });
    await button.click();
    const form = portal.getByRole("dialog", { name: "New endpoint" });
    await form.locator("[name=url]").fill(told.good);
    const save = form.getByRole("button", { name: "Make it" });
    assert.equal(await save.evaluate((one) => getComputedStyle(one).backgroundColor), "rgb(11, 92, 171)");
    assert.equal(await save.evaluate((one) => getComputedStyle(one).borderRadius), "2px");
    // A minute before it ends there is another one, and after it has ended too; what is typed stays.
    await Promise.all([handedOver(), page.clock.fastForward(3_541_000)]);
    const taken = page.waitForResponse((each) => each.url().endsWith("/portal/token") && each.ok());
    await Promise.all([handedOver(), end(page, tokens[1])]);
    await taken;
    assert.equal(await form.locator("[name=url]").inputValue(), told.good);
    await form.getByRole("button", { name: "Cancel" }).click();
    await say("sign out");
    await page.unrouteAll();
    await end(page, tokens[2]);
    await portal.getByRole("dialog", { name: "Your access to this page has ended." }).waitFor();
    await portal.getByText("Load the page around this one anew").waitFor();
    for (const token of tokens) assert.ok(!page.asked.some((each) => each.includes(token.slice(0, 40))));
    await quiet(page);
  },

  async frame_of_globex(browser) {
    const page = await blank(browser);
    await page.goto(told.service);
    const portal = page.frameLocator("#portal");
    await portal.locator("header").getByText("globex", { exact: true }).waitFor();
    await portal.locator("tr[data-row]").first().waitFor();
    assert.equal(await portal.locator("tr[data-row]").count(), 1);
    assert.ok(!(await portal.locator("body").textContent()).includes("the one that works"));
    await quiet(page);
  },

  async strangers(browser) {
    const page = await blank(browser, { ignoreHTTPSErrors: true });
    await page.goto(told.stranger);
    await page.evaluate((to) => {
      const frame = document.createElement("iframe");
      frame.id = "foreign";
      frame.src = to;
      document.body.append(frame);
    }, told.portal);
    await page.waitForEvent("console", (line) => /frame-ancestors/.test(line.text()));
    assert.ok(!page.frames().some((each) => each.url().startsWith(told.portal)));

    // Neither the page that opened it nor the portal's own frames are the page around it.
    const [opened] = await Promise.all([
      page.context().waitForEvent("page"),
      page.evaluate((to) => (globalThis.opened = window.open(to)) && undefined, told.portal),
    ]);
    await opened.getByRole("heading", { name: "This page does not know who you are" }).waitFor();
    const message = { type: "posthorn-portal", token: told.token };
    await page.evaluate((what) => globalThis.opened.postMessage(what, "*"), message);
    await opened.evaluate((what) => window.postMessage(what, "*"), message);
    await opened.evaluate(() => new Promise((resolve) => setTimeout(resolve))); // After both were heard.
    await opened.getByRole("heading", { name: "This page does not know who you are" }).waitFor();
    assert.equal(await opened.getByText("acme").count(), 0);
  },

  async over(browser) {
    const page = await openOne(browser, told.id);
    const ended = dialog(page, "Your access to this page has ended.");
    await end(page, told.token);
    await ended.getByText("Go back to the service whose webhooks these are").waitFor();
    await accessible(page);
    await page.keyboard.press("Escape");
    await ended.waitFor();
    await handOver(page, told.next);
    await ended.waitFor({ state: "detached" });
    await page.getByRole("heading", { name: told.bad }).waitFor(); // Where they were.
    assert.equal(new URL(page.url()).hash, "");

    // Another tenant's token: what was looked at is gone.
    await handOver(page, told.globex);
    await page.locator("header").getByText("globex", { exact: true }).waitFor();
    await rows(page).getByText("of-globex").waitFor();
    assert.equal(await rows(page).count(), 1);
    await showsNothingOf(page, told.bad);
    await quiet(page);

    for (const broken of ["pht_", "nonsense", told.next.slice(0, -4), told.next.toUpperCase()]) {
      const other = await openLink(browser, broken);
      await dialog(other, /^This link does not let you in/).waitFor();
      await other.goto("about:blank");
    }
  },

  async looks(browser) {
    const page = await openList(browser);
    await accessibleInBoth(page);
    // By the keyboard alone.
    await page.keyboard.press("Tab");
    for (let i = 0; i < 20; ++i) {
      const at = await page.evaluate(() => document.activeElement?.getAttribute("href") ?? "");
      if (at.endsWith(`?endpoint=${told.id}`)) break;
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: told.bad }).waitFor();
    await rows(page).first().waitFor();
    await accessibleInBoth(page);
    for (const [button, title] of [["Edit…", "Change the endpoint"], ["Recover 1…", "Send what it missed"]]) {
      await page.getByRole("button", { name: button, exact: true }).focus();
      await page.keyboard.press("Enter");
      await dialog(page, title).locator(".waiting").waitFor({ state: "detached" });
      await accessibleInBoth(page);
      await page.keyboard.press("Escape");
      await dialog(page, title).waitFor({ state: "detached" });
    }
    await rows(page).first().getByRole("button").click();
    await dialog(page, /Attempt 1/).getByLabel("Body").waitFor();
    await accessibleInBoth(page);
    await page.keyboard.press("Escape");

    await page.setViewportSize(phone.viewport);
    await narrow(page, "an endpoint");
    await press(page, "Edit…");
    await narrow(page, "the form");
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "All endpoints" }).first().click();
    await rows(page).first().waitFor();
    await narrow(page, "the list");
    await quiet(page);

    const look = "&theme=dark&--paper=%23102030&--ink=url(http://x)&--nonsense=red&--radius=var(--s7)&--sans=serif";
    const own = await openList(browser, look, { colorScheme: "light", contrast: "no-preference", locale: "en-GB" });
    const shown = () =>
      own.evaluate(() => {
        const { style, dataset } = document.documentElement;
        return [dataset.theme, getComputedStyle(document.body).backgroundColor, [...style].sort().join(" ")];
      });
    assert.deepEqual(await shown(), ["dark", "rgb(16, 32, 48)", "--paper --sans"]);
    // Who needs contrast gets it.
    await own.emulateMedia({ contrast: "more" });
    await own.waitForFunction(() => document.documentElement.dataset.theme === "contrast");
    assert.deepEqual(await shown(), ["contrast", "rgb(0, 0, 0)", ""]);
    await quiet(own);
  },
};

run(cases);
