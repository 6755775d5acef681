// The cases of desk_test.py in a browser.

const assert = require("node:assert/strict");
const fs = require("node:fs");
const { told, blank, open, openAs, signIn, quiet, accessible, accessibleInBoth, narrow, resize, usual, phone, say, run } = require("./kit.js");

const pages = ["", "messages", "dead", "destinations", "inbox", "queues", "forward", "webhooks", "workflows", "store", "standby", "audit", "keys"];

const openOrders = (browser, path, key = told.operator, options = {}) => openAs(browser, key, told.orders, path, options);

const hour = 3600000;
/// As a field of a moment takes it: by the clock here, in minutes.
const inField = (at) => new Date(at - new Date(at).getTimezoneOffset() * 60000).toISOString().slice(0, 16);
const nextMinute = (at) => Math.ceil(at / 60000) * 60000 + 60000;

const cases = {
  ...require("./desk_changes.js"),

  async pages(browser) {
    const page = await openOrders(browser, "");
    for (const [i, path] of pages.entries()) {
      await page.locator("nav a").nth(i).click();
      await page.waitForURL(`**/desk/${path}`);
      await page.locator("main h1").waitFor();
      await page.locator("main .waiting").waitFor({ state: "detached" });
      await accessibleInBoth(page);
      await resize(page, phone.viewport);
      await narrow(page, `the page '${path}'`);
      await resize(page, usual.viewport);
    }
    await page.locator("nav a").nth(1).click();
    await page.locator("td.id a").first().click();
    await page.getByText("Committed with its transaction").waitFor();
    await accessibleInBoth(page);
    await page.goto(`${told.stock}/desk/inbox`);
    await page.locator("table.list tr[data-row]").first().waitFor();
    assert.equal(await page.locator("table.list tr[data-row]").count(), 42);
    await quiet(page);
  },

  // What is loaded in the dark or on a phone is so from its first moment.
  async first_look(browser) {
    const page = await openOrders(browser, "", told.operator, { ...phone, colorScheme: "dark" });
    await page.locator(".light h1").waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
    await narrow(page);
    await quiet(page);
  },

  async keys(browser) {
    const page = await open(browser, told.orders, "");
    await page.getByRole("heading", { name: "This needs an admin key" }).waitFor();
    assert.equal(await page.locator("main h1").count(), 0);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("heading", { name: "This node shows itself to those with a key" }).waitFor();
    await page.getByRole("button", { name: "Sign in" }).click();
    await signIn(page, "phk_wrong");
    await page.getByRole("alert").getByText("this key is not known here").waitFor();
    await signIn(page, told.viewer);
    await page.getByRole("heading", { name: "Something needs you" }).waitFor();
    await page.locator(".card", { hasText: "Dead" }).getByText("16", { exact: true }).waitFor();

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

    // No script can read what the browser keeps, and that is not the key.
    const kept = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie]));
    assert.ok(!kept.includes("phk_") && !kept.includes("posthorn_"), kept);
    const [cookie] = await page.context().cookies();
    assert.ok(cookie.httpOnly && cookie.sameSite === "Strict" && !cookie.value.includes("phk_"), cookie.name);

    // A reload keeps the session, and another node on this machine does not take its cookie away.
    await page.reload();
    await page.locator("main h1").waitFor();
    await page.goto(`${told.stock}/desk/`);
    await page.locator("main h1").waitFor();
    await page.goto(`${told.orders}/desk/`);
    await page.locator("main h1").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "This needs an admin key" }).waitFor();
    assert.deepEqual(await page.context().cookies(), []);
    await quiet(page);

    // On loopback without keys one may look, and is asked when one changes something.
    const stock = await open(browser, told.stock, "");
    await stock.getByText(/the handler of endpoint '\w+' fails/).first().waitFor();
    await quiet(stock);
  },

  // The key is taken back while the page is open.
  async revoked(browser) {
    const page = await openOrders(browser, "destinations", told.guest);
    await say("open");
    await page.getByRole("heading", { name: "Your session has ended" }).waitFor();
    await page.getByRole("alert").getByText("its key was taken back").waitFor();
    await signIn(page, told.guest);
    await page.getByRole("alert").getByText("this key is not known here").waitFor();
    await signIn(page, told.operator);
    await page.getByRole("heading", { name: "Your session has ended" }).waitFor({ state: "detached" });
    const row = page.getByRole("row", { name: /^stock/ });
    await row.getByRole("button", { name: "Pause…" }).click();
    await page.locator("dialog button.primary").click();
    await row.getByRole("button", { name: "Resume" }).click();
    await row.getByRole("button", { name: "Pause…" }).waitFor();
    await quiet(page);
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

    // What is no message's id is tried as one that messages share.
    const search = async (text) => {
      await page.keyboard.press("/");
      await page.keyboard.type(text);
      await page.keyboard.press("Enter");
    };
    const rows = (number) =>
      page
        .waitForFunction((wanted) => document.querySelectorAll("tr[data-row]").length === wanted, number)
        .catch(async () => assert.fail(`not ${number} rows: ${await page.locator("main").innerText()}`));
    await search("visit 7");
    await page.waitForURL("**/desk/messages?correlationId=visit%207");
    await rows(2);
    await page.locator("td.id a").first().click();
    await page.getByRole("link", { name: "nail-shelf" }).click();
    await page.waitForURL("**/desk/messages?orderKey=nail-shelf");
    await search("no such thing");
    await page.getByText("No message has the id, correlation id or order key 'no such thing'.").waitFor();
    await page.goto(`${told.orders}/desk/messages`);
    await page.getByLabel("More").selectOption("error");
    await page.getByLabel("Error has").fill("NO SUCH TABLE");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/desk/messages?error=NO+SUCH+TABLE");
    await rows(12);
    // Between two moments, which stand in the address.
    const end = nextMinute(Date.now());
    await page.getByLabel("Since").selectOption("between…");
    await page.getByLabel("From").fill(inField(end - 3 * hour));
    await page.getByLabel("Until before").fill(inField(end - 2 * hour));
    await page.getByRole("heading", { name: "No message fits these filters" }).waitFor();
    const asked = new URL(page.url()).searchParams;
    assert.deepEqual(["since", "until"].map((name) => Date.parse(asked.get(name))), [end - 3 * hour, end - 2 * hour]);
    await page.getByLabel("Until before").fill(inField(end));
    await rows(12);
    await page.reload();
    await rows(12);
    assert.ok((await page.getByLabel("Until before").inputValue()).startsWith(inField(end)));
    await page.getByLabel("From").fill(inField(end + hour));
    await page.getByText("so nothing lies between; give an earlier since, or a later until").waitFor();
    await accessible(page);
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
    const page = await openOrders(browser, "", told.operator, { hasClock: true });
    await page.locator(".light h1").waitFor();
    const asked = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    const later = async (where, path) => {
      const next = where.waitForRequest(path);
      await where.clock.fastForward(6000); // More than the charts wait.
      await next;
    };
    // What it is told, it does not ask for.
    for (let i = 0; i < 2; ++i) await later(page, "**/_rf/history**");
    assert.ok(asked.filter((each) => each === "/_rf/outbox/stats").length <= 1, asked.join(" "));
    await quiet(page);

    // Where nothing is told, it asks.
    const deaf = await blank(browser, { hasClock: true });
    await deaf.route("**/_rf/live", (route) => route.fulfill({ status: 404, body: "" }));
    await deaf.goto(`${told.stock}/desk/`);
    await deaf.getByRole("heading", { name: "All is well" }).waitFor();
    for (let i = 0; i < 3; ++i) await later(deaf, "**/_rf/outbox/stats");
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
    // Those that were selected are dead again by one click.
    const list = page.locator("table.list tr[data-row]");
    const left = await list.count();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("button", { name: "Undo" }).waitFor({ state: "detached" });
    await page.getByText("1 message changed.").waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    await list.nth(left - 1).waitFor();
    await page.getByRole("checkbox", { name: /^Select [0-9a-f]{8}/ }).first().check();
    await page.getByRole("button", { name: "Resolve 1…" }).click();
    await page.getByLabel("Reason").fill("counted by hand");
    await page.getByRole("button", { name: "Resolve 1", exact: true }).click();
    await page.getByText("1 message changed.").waitFor();
    await page.getByRole("button", { name: "Close" }).click();

    // What was not counted to its end is said so, and what cannot be undone.
    const one = (await (await page.request.get(`${told.orders}/_rf/dead?endpoint=Reserve&limit=1`)).json()).messages[0];
    const some = { messages: Array.from({ length: 1000 }, () => one), next: 7 };
    const counting = /\/_rf\/dead\?.*limit=1000/;
    await page.route(counting, (route) => route.fulfill({ json: some }));
    await page.getByRole("button", { name: "Requeue all of this filter…" }).click();
    await page.locator(".preview", { hasText: "more than 10,000 messages" }).waitFor();
    await page.locator(".destinations-of li", { hasText: "stock more than 10,000" }).waitFor();
    await page.getByRole("button", { name: "Requeue more than 10,000", exact: true }).waitFor();
    await page.locator("dialog").getByText("This cannot be undone").waitFor();
    await accessible(page);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.unroute(counting);
    await page.goto(`${told.orders}/desk/dead?status=Resolved`);
    await page.locator("td", { hasText: "counted by hand" }).waitFor();
    await quiet(page);
  },

  async discard(browser) {
    const page = await openOrders(browser, "dead?endpoint=Reserve");
    const messages = told.number === 1 ? "1 message" : `${told.number} messages`;
    await page.getByRole("button", { name: "Discard all of this filter…" }).click();
    await page.locator(".preview", { hasText: messages }).waitFor();
    await page.locator(".destinations-of li", { hasText: `stock ${told.number}` }).waitFor();
    await accessible(page);
    await page.getByLabel("Why, if others should know").fill("test data");
    await page.getByRole("button", { name: `Discard ${told.number}`, exact: true }).click();
    await page.getByText(`${messages} changed.`).waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("button", { name: "Undo" }).waitFor({ state: "detached" });
    await page.getByText(`${messages} changed.`).waitFor();
    await page.getByRole("button", { name: "Close" }).click();

    // One, later: from its own page.
    await page.locator("td.id a").first().click();
    await page.getByRole("button", { name: "Discard…" }).click();
    await page.getByRole("button", { name: "Discard 1", exact: true }).click();
    await page.getByRole("button", { name: "Close" }).click();
    await page.locator(".mark", { hasText: "Resolved" }).waitFor();
    await page.locator(".timeline", { hasText: "discarded (" }).waitFor();
    await page.getByRole("button", { name: "Reopen…" }).click();
    await page.getByRole("button", { name: "Reopen 1", exact: true }).click();
    await page.getByRole("button", { name: "Close" }).click();
    await page.locator(".mark", { hasText: "Dead" }).waitFor();
    await quiet(page);
  },

  async refused(browser) {
    const page = await openOrders(browser, "inbox");
    await page.locator(".figure", { hasText: "Failed" }).getByText(/^[1-9]/).waitFor();
    const failed = page.locator("section", { has: page.getByRole("heading", { name: "Not taken in" }) });
    await failed.getByRole("row", { name: /shop\s*Label/ }).getByText(/422|refused/).first().waitFor();
    await page.getByRole("button", { name: "Show what they answered" }).click();
    const answers = page.locator("section", { has: page.getByRole("heading", { name: "What web services refused" }) });
    const row = answers.getByRole("row", { name: /Label/ }).first();
    await row.getByRole("cell", { name: "422", exact: true }).waitFor();
    await row.locator("pre", { hasText: `no label for ${told.markup}` }).waitFor();
    assert.equal(await page.locator("main img").count(), 0);
    await accessible(page);
    const viewer = await openOrders(browser, "inbox", told.viewer);
    await viewer.getByRole("button", { name: "Show what they answered" }).click();
    await viewer.getByText("what a web service answered may repeat payloads").waitFor();
    await quiet(page);
    await quiet(viewer);
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

  async parked(browser) {
    const page = await openOrders(browser, "");
    const inTheWay = (row) => row.locator("a.id");
    const parked = page.locator("#parked").getByRole("row", { name: /aisle 7/ });
    await parked.waitFor();
    assert.equal(await parked.locator("td.number").first().textContent(), "2");
    const dead = await inTheWay(parked).textContent();
    await page.locator(".card", { hasText: "Parked" }).click();
    await page.waitForURL(`**/desk/messages/${dead}`);

    // Destinations say it too, and so does one that is parked.
    await page.locator("nav a", { hasText: "Destinations" }).click();
    await page.getByRole("row", { name: /^stock/ }).getByRole("link", { name: "2 parked behind a dead one" }).click();
    await page.waitForURL(`**/desk/messages/${dead}`);
    await page.getByText("2 messages of its order key 'aisle 7' are parked behind it").waitFor();
    await accessible(page);
    await page.locator("nav a", { hasText: "Messages" }).click();
    await page.locator("tr[data-row]", { has: page.locator(".mark", { hasText: "parked" }) }).first().locator("a").click();
    await page.getByRole("link", { name: "Waits behind one that was given up" }).click();
    await page.waitForURL(`**/desk/messages/${dead}`);

    await page.getByRole("button", { name: "Resolve…" }).click();
    await page.getByLabel("Reason").fill("counted anew");
    await page.getByRole("button", { name: "Resolve 1", exact: true }).click();
    await page.getByRole("button", { name: "Close" }).click();
    await page.locator(".mark", { hasText: "Resolved" }).waitFor();
    await page.locator("nav a", { hasText: "Overview" }).click();
    await page.locator(".light").waitFor();
    await page.locator("#parked").waitFor({ state: "detached" });
    await quiet(page);
  },

  async queues(browser) {
    const page = await openOrders(browser, "");
    const row = page.locator("section", { has: page.getByRole("heading", { name: "Queues" }) }).getByRole("row", { name: /^Pack/ });
    await row.waitFor();
    await page.keyboard.press("6");
    await page.waitForURL("**/desk/queues");
    const cells = page.getByRole("row", { name: /^Pack/ }).locator("td.number");
    await cells.first().waitFor();
    // Waiting, oldest, at work, workers, parked, given up.
    const [waiting, , atWork, workers, parked, givenUp] = await cells.allTextContents();
    assert.deepEqual([waiting, atWork, workers, parked, givenUp], ["2", "0", "0", "1", "1"]);

    // From the one that waits to the one in its way.
    await page.getByRole("link", { name: "2", exact: true }).click();
    await page.getByText("It waits behind job 1 of its order key").waitFor();
    await accessible(page);
    await page.getByRole("link", { name: "job 1" }).click();
    await page.locator("pre.error", { hasText: told.markup }).waitFor();
    assert.equal(await page.locator("main img").count(), 0);
    await page.getByRole("button", { name: "Show the payload" }).click();
    await page.locator("pre.payload", { hasText: told.markup }).waitFor();
    await page.getByRole("button", { name: "Retry" }).click();
    await page.getByText("Job 1 may be taken again.").waitFor();
    await page.getByText("It waits for a worker to take it.").waitFor();

    // One that is done otherwise, and one that never was.
    await page.goBack();
    await page.goBack();
    await page.getByRole("link", { name: "3", exact: true }).click();
    await page.getByRole("button", { name: "Finish…" }).click();
    await page.getByRole("button", { name: "Finish", exact: true }).click();
    await page.getByText("Job 3 is ended.").waitFor();
    await page.getByRole("heading", { name: "This job cannot be shown" }).waitFor();
    await quiet(page);
  },

  // A node without the feature: its page is neither in the menu nor at its address.
  async seam(browser) {
    const page = await blank(browser);
    await page.route("**/_rf", async (route) => {
      const told = await (await route.fetch()).json();
      await route.fulfill({ json: { ...told, routes: told.routes.filter((each) => !each.includes("/_rf/queue")) } });
    });
    await page.goto(`${told.stock}/desk/queues`);
    await page.getByRole("heading", { name: "This node has no page 'Queues'" }).waitFor();
    assert.equal(await page.locator("nav a", { hasText: "Queues" }).count(), 0);
    await page.keyboard.press("?");
    await page.getByRole("heading", { name: "Keys" }).waitFor();
    assert.equal(await page.locator(".keys dd", { hasText: "Queues" }).count(), 0);
    assert.equal(await page.locator(".keys dd", { hasText: "Inbox" }).count(), 1);
    await quiet(page);
  },

  async nodes(browser) {
    const page = await open(browser, told.hall, "nodes");
    const row = (name) => page.locator("tr[data-row]", { has: page.getByRole("link", { name, exact: true }) });
    await row("attic").getByText("needs you").waitFor();
    await row("attic").getByText(/does not answer: .*refused/).waitFor();
    await row("orders").getByText("needs you").waitFor(); // It has dead letters.
    await row("orders").getByText(/dead|given up/).waitFor();
    await row("stock").getByRole("img").first().waitFor();
    assert.equal(await row("orders").getByRole("link", { name: "its desk" }).getAttribute("href"), `${told.orders}/desk/`);
    await row("attic").locator("svg.strip rect.red").first().waitFor();
    await accessible(page);

    // Its light over time.
    await row("attic").getByRole("link", { name: "attic" }).click();
    await page.waitForURL("**/desk/nodes/attic");
    await page.getByRole("heading", { name: "Its light, the newest first" }).waitFor();
    await page.locator("tr[data-row]", { hasText: "refused" }).first().waitFor();
    await accessible(page);

    // One search: what this node and others have, and who did not answer.
    const search = async (text) => {
      await page.keyboard.press("/");
      await page.locator("[data-search]").fill(text);
      await page.keyboard.press("Enter");
    };
    await search("nail-shelf");
    await page.waitForURL("**/desk/nodes?orderKey=nail-shelf");
    await page.getByText("'attic' did not answer, so what it has is not here").waitFor();
    const hits = page.locator("table.list tr[data-row]");
    await hits.first().waitFor();
    assert.deepEqual((await hits.locator("td:first-child").allTextContents()).sort(),
                     ["hall (this node)", "orders", "orders"]);
    await accessible(page);
    const soon = nextMinute(Date.now());
    await page.getByLabel("Since").selectOption("between…");
    await page.getByLabel("Until before").fill(inField(soon - 24 * hour));
    await hits.first().waitFor({ state: "detached" });
    await page.getByLabel("Until before").fill(inField(soon));
    await hits.nth(2).waitFor();
    await page.getByLabel("Since").selectOption("any time");
    await hits.nth(2).waitFor();

    // A message of another node, whose texts are text; its payload stays there.
    await search(told.crm);
    await page.waitForURL("**/desk/nodes?messageId=*");
    await hits.first().getByText(told.markup).waitFor();
    await hits.first().getByRole("link").click();
    await page.waitForURL("**/desk/nodes/orders?message=*");
    await page.getByText("Committed with its transaction").waitFor();
    await page.getByText(told.markup).first().waitFor();
    assert.notEqual(await page.title(), "run");
    const link = page.getByRole("link", { name: "in the desk of 'orders'" });
    assert.equal(await link.getAttribute("href"), `${told.orders}/desk/messages/${told.crm}`);
    await accessible(page);
    // It is followed to its receiver, from whichever desk; the one that is gone is named.
    await page.goto(`${told.hall}/desk/nodes/orders?message=${told.shipped}`);
    await page.locator(".timeline").getByText("Took effect at 'stock'").waitFor();
    const traces = (label) => page.locator(".elsewhere li", { hasText: label });
    const taken = traces("Taken in by");
    await taken.getByText("Ship from orders, handled").waitFor();
    assert.equal(await taken.getByRole("link").getAttribute("href"), `${told.stock}/desk/inbox/${told.shipped}`);
    await traces("Sent by").getByText("'orders'").waitFor();
    await page.getByText("'attic' did not answer, so what it knows is not here").waitFor();
    await accessible(page);
    await page.goto(`${told.hall}/desk/messages/${told.own}`);
    await traces("Caused by").getByRole("link", { name: "Ship to stock" }).click();
    await page.waitForURL(`**/desk/nodes/orders?message=${told.shipped}`);
    // One that stands in an inbox alone: its sender is no node of this desk.
    await search(told.packed);
    await page.waitForURL(`**/desk/nodes?messageId=${told.packed}`);
    await traces("Taken in by").getByText("Pack from shop").waitFor();

    await search("no such thing");
    await page.getByText("No message has the id, correlation id or order key 'no such thing'. 'attic' did not answer.").waitFor();
    await quiet(page);

    await page.setViewportSize(phone.viewport);
    await page.goto(`${told.hall}/desk/nodes`);
    await page.getByText("needs you").first().waitFor();
    await narrow(page);
    // Where no others are named, there is no such page.
    await page.goto(`${told.stock}/desk/nodes`);
    await page.getByRole("heading", { name: "This node has no page 'Nodes'" }).waitFor();
  },

  async links(browser) {
    const page = await openOrders(browser, "inbox");
    const rows = page.locator("table.list tr[data-row]");
    await rows.first().waitFor();
    // It is searched by what is kept of each.
    const all = await rows.count();
    await page.getByLabel("State").selectOption("at work");
    await page.getByText("Nothing that fits was taken in").waitFor();
    await page.getByLabel("State").selectOption("any");
    await rows.nth(all - 1).waitFor();
    await page.getByLabel("More").selectOption("endpoint");
    await page.getByLabel("Endpoint").fill("Nothing");
    await page.getByLabel("Endpoint").press("Enter");
    await page.getByText("Nothing that fits was taken in").waitFor();
    await accessible(page);
    await page.goto(`${told.orders}/desk/inbox?endpoint=Pack`);
    await rows.nth(all - 1).waitFor();
    await page.goto(`${told.orders}/desk/inbox?error=no%20such%20reason`);
    await rows.first().waitFor();
    assert.equal(await page.getByRole("heading", { name: "Not taken in" }).count(), 0);
    // The newest was a Command; its Response was sent when its job was finished.
    await rows.first().locator("a").click();
    const leads = (label) => page.locator(".links li", { hasText: label });
    await leads("Taken in here").getByText("Pack from shop").waitFor();
    await accessible(page);
    await leads("Led to").getByRole("link", { name: "Pack to shop" }).click();
    await page.getByText("Committed with its transaction").waitFor();
    await leads("Caused by").getByRole("link", { name: /Pack from shop/ }).click();
    await leads("Led to").getByRole("link", { name: "Pack to shop" }).waitFor();
    await quiet(page);
  },

  async copies(browser) {
    const page = await openOrders(browser, "messages?destination=archive", told.operator, {
      permissions: ["clipboard-read", "clipboard-write"],
    });
    await page.locator("td.id a").first().click();
    await page.getByRole("button", { name: "Show the payload" }).click();
    await page.locator("pre.payload").first().waitFor();
    assert.equal(await page.locator("pre.payload").first().textContent(), told.hostile);
    const copied = async (label) => {
      await page.evaluate(() => navigator.clipboard.writeText(""));
      await page.getByRole("button", { name: label, exact: true }).click();
      await page.waitForFunction(async () => (await navigator.clipboard.readText()) !== "");
      return page.evaluate(() => navigator.clipboard.readText());
    };
    const texts = { curl: await copied("Copy as curl"), sql: await copied("Copy as SQL"), test: await copied("Copy as a test") };
    fs.writeFileSync(told.file, JSON.stringify(texts));
    await quiet(page);
  },

  async audit(browser) {
    const page = await openOrders(browser, "destinations");
    const row = page.getByRole("row", { name: /^billing/ });
    await row.getByRole("button", { name: "Pause…" }).click();
    await page.locator("dialog button.primary").click();
    await row.getByRole("button", { name: "Resume" }).click();
    await row.getByRole("button", { name: "Pause…" }).waitFor();
    await page.keyboard.press("0");
    await page.waitForURL("**/desk/store");
    await page.locator("nav a", { hasText: "Audit" }).click();
    await page.waitForURL("**/desk/audit");
    await page.getByLabel("On what").fill("billing");
    await page.keyboard.press("Enter");
    await page.waitForURL(/target=billing/);
    await page.getByLabel("Outcome").selectOption("done");
    const targets = page.locator("tr[data-row] td:nth-child(4)");
    await page.locator("tr[data-row]", { hasText: "/resume" }).first().waitFor();
    assert.deepEqual(await targets.allTextContents(), ["/_rf/outbox/lanes/billing/resume", "/_rf/outbox/lanes/billing/pause"]);
    const saved = async (button) => {
      const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: button }).click()]);
      return fs.readFileSync(await file.path(), "utf8");
    };
    const rows = JSON.parse(await saved("Save as JSON"));
    // Between two moments, in minutes of the clock here.
    const end = nextMinute(Date.parse(rows[0].at));
    await page.getByLabel("Since").selectOption("between…");
    await page.getByLabel("From").fill(inField(end - 2 * hour));
    await page.getByLabel("Until before").fill(inField(end - hour));
    await page.getByRole("heading", { name: "Nothing fits these filters" }).waitFor();
    const asked = new URL(page.url()).searchParams;
    assert.deepEqual([Date.parse(asked.get("since")), Date.parse(asked.get("until"))], [end - 2 * hour, end - hour]);
    await page.getByLabel("Until before").fill(inField(end));
    await targets.nth(1).waitFor();
    await page.getByLabel("Since").selectOption("any time");
    await page.waitForURL((url) => !/since|until/.test(url.search));
    await targets.nth(1).waitFor();
    assert.deepEqual(rows.map((each) => [each.who, each.outcome]), [["night-shift", "done"], ["night-shift", "done"]]);
    const lines = (await saved("Save as CSV")).trimEnd().split("\r\n");
    assert.equal(lines[0], "seq,at,who,what,target,outcome");
    assert.equal(lines[1], `${rows[0].seq},${rows[0].at},night-shift,POST,/_rf/outbox/lanes/billing/resume,done`);
    assert.equal(lines.length, 3);
    await page.getByLabel("Who").fill("nobody");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Nothing fits these filters" }).waitFor();
    await quiet(page);
  },

  async kept(browser) {
    const page = await openOrders(browser, "keys");
    const row = page.getByRole("row", { name: /^night-shift/ });
    await row.getByText("may read them").waitFor();
    await row.locator("time").waitFor(); // When it was made.
    await page.getByRole("row", { name: /^stock/ }).getByText("signs", { exact: true }).waitFor();
    const text = await page.evaluate(() => document.documentElement.outerHTML);
    for (const secret of [told.secret, told.hash, told.hash.replace("sha256:", ""), told.operator])
      assert.ok(!text.includes(secret), "a secret is on the page");
    await row.getByRole("link", { name: "What it did" }).click();
    await page.waitForURL(/audit\?who=night-shift/);
    await page.keyboard.press("0");
    await page.waitForURL("**/desk/store");
    await page.getByRole("heading", { name: /^SQLite/ }).waitFor();
    await page.locator(".facts", { hasText: "Log (WAL)" }).first().waitFor();
    await page.getByText("The node makes none.").waitFor();
    const finding = page.getByRole("row", { name: /^backups/ });
    await finding.locator(".mark.yellow", { hasText: "warn" }).waitFor();
    await quiet(page);
  },

  // A page on a phone with a stranger's megabyte in it: nothing runs, overflows or stands still.
  async hostile(browser) {
    const page = await openOrders(browser, "messages?destination=attic", told.operator, phone);
    await page.locator("tr[data-row]").nth(2).waitFor();
    await narrow(page);
    for (const [endpoint, size] of Object.entries(told.sizes)) {
      await page.goto(`${told.orders}/desk/messages?destination=attic&endpoint=${endpoint}`);
      await page.locator("td.id a").first().click();
      await page.getByRole("button", { name: "Show the payload" }).click();
      await page.locator("pre.payload").first().waitFor();
      const text = await page.locator("pre.payload").first().textContent();
      assert.equal(text.replace(/\s/g, "").length, size, `${endpoint} is shown whole`);
      assert.ok(text.length < 10_000_000, `${endpoint} takes ${text.length} characters`);
      await narrow(page);
    }
    assert.equal(await page.locator("main img").count(), 0);
    assert.notEqual(await page.title(), "run");
    await quiet(page);
  },
};

run(cases);
