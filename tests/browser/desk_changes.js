// Cases of desk_test.py: what an open page learns of by itself.

const assert = require("node:assert/strict");
const { told, blank, open, openAs, quiet, accessible, say } = require("./kit.js");

const bearer = () => ({ Authorization: `Bearer ${told.operator}` });

/// By another person, while the page is open.
async function change(verb, body) {
  const answer = await fetch(`${told.orders}/_rf/dead/${told.dead}/${verb}`, {
    method: "POST", headers: bearer(), body: body && JSON.stringify(body),
  });
  assert.ok(answer.ok, await answer.text());
}

/// In the page, before its own code: the node tells what the test says, when the test says it.
function tellInPlace(first) {
  const ask = window.fetch;
  window.fetch = (path, how) => {
    if (path !== "/_rf/live") return ask(path, how);
    const start = (into) => {
      window.tellStamp = (stamp) =>
        into.enqueue(new TextEncoder().encode(`event: node\ndata: ${JSON.stringify({ ...first, stamp })}\n\n`));
      window.tellStamp(1);
    };
    return Promise.resolve(new Response(new ReadableStream({ start })));
  };
}

module.exports = {
  // A page of one message, and the list of dead letters, learn of a change from the node.
  async changes(browser) {
    const page = await openAs(browser, told.operator, told.orders, `messages/${told.dead}`);
    await page.locator(".mark", { hasText: "Dead" }).first().waitFor();
    await change("resolve", { reason: "elsewhere" });
    await page.locator(".timeline").getByText("Resolved by a person").waitFor();
    await page.goto(`${told.orders}/desk/dead?endpoint=Reserve`);
    await page.locator("table.list tr[data-row]").first().waitFor();
    const link = page.getByRole("link", { name: told.dead.slice(-12) });
    assert.equal(await link.count(), 0);
    await change("reopen");
    await link.waitFor();
    await quiet(page);
  },

  // While nothing is written, by what the node tells, it is asked little; and soon once something is.
  async idle(browser) {
    const page = await blank(browser, { hasClock: true });
    const signedIn = await page.context().request.post(`${told.orders}/_rf/session`, { data: { key: told.operator } });
    assert.ok(signedIn.ok(), await signedIn.text());
    const health = await (await fetch(`${told.orders}/_rf/health`, { headers: bearer() })).json();
    await page.addInitScript(tellInPlace, { health, counters: { sent: 0, processed: 0, duplicates: 0 } });
    const path = `/_rf/dead/${told.dead}`;
    let asked = 0;
    page.on("request", (request) => (asked += new URL(request.url()).pathname === path ? 1 : 0));
    await page.goto(`${told.orders}/desk/messages/${told.dead}`);
    await page.getByText("Committed with its transaction").waitFor();
    await page.waitForFunction(() => window.tellStamp);
    await page.clock.pauseAt(Date.now() + 60000); // From now on time is what the test makes of it.
    await page.clock.runFor(2000);
    await page.waitForLoadState("networkidle");
    const before = asked;
    await page.clock.runFor(9000); // It would have asked three times.
    assert.equal(asked, before);
    const next = page.waitForRequest((request) => new URL(request.url()).pathname === path);
    await page.evaluate(() => window.tellStamp(2));
    await page.clock.resume();
    await next;
    await quiet(page);
  },

  // The node itself goes away, and comes back.
  async away(browser) {
    const page = await open(browser, told.lone, "messages");
    const ids = page.locator("table.list td.id");
    await ids.nth(1).waitFor();
    const shown = await ids.allTextContents();
    await say("stop");
    const banner = page.getByText("The node does not answer. What you see is what it said last");
    await banner.waitFor();
    assert.deepEqual(await ids.allTextContents(), shown);
    await accessible(page);
    await say("start");
    await banner.waitFor({ state: "detached" });
    await ids.nth(2).waitFor(); // What came meanwhile.
    await page.locator("main .failure").waitFor({ state: "detached" });
    // The browser itself writes a line for each request that found no one.
    assert.deepEqual(page.faults.filter((each) => !/net::ERR_/.test(each)), []);
  },
};
