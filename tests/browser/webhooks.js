// The cases of webhooks_test.py in a browser.

const assert = require("node:assert/strict");
const { told, phone, openAs, quiet, accessible, accessibleInBoth, narrow, run } = require("./kit.js");

async function openShop(browser, path, key = told.operator, options = {}) {
  const page = await openAs(browser, key, told.shop, path, options);
  await page.locator("main .waiting").waitFor({ state: "detached" });
  return page;
}

const dialog = (page, name) => page.getByRole("dialog", { name });
const rows = (page) => page.locator("tr[data-row]");

async function press(page, name) {
  await page.getByRole("button", { name, exact: true }).click();
}

const cases = {
  async make(browser) {
    const page = await openShop(browser, "webhooks");
    await page.getByRole("heading", { name: "No endpoint is subscribed yet" }).waitFor();
    await press(page, "New endpoint…");
    const form = dialog(page, "New endpoint");
    const fault = (text) => form.locator("label.wrong", { hasText: text });
    await form.locator("[name=eventType]").fill("order.*");
    for (const [label, field, wrong, right, says] of [
      ["URL", "url", "nope", told.good, "is not one that can be called"],
      ["Events", "eventType", "two words", "order.*", "is not a type of events"],
      ["Retries", "maxRetries", "99", "7", "maxRetries cannot be 99"],
      ["Retries", "maxRetries", "many", "7", "maxRetries is a whole number"],
      ["Filter", "filter", "{", "", "the filter is not a JSON object"],
      ["Headers", "headers", '{"Host": "x"}', "", "Host"],
      ["Secret", "secret", "short", "", "secret"],
    ]) {
      if (label !== "URL") await form.locator("[name=url]").fill(told.good);
      await form.locator(`[name=${field}]`).fill(wrong);
      await press(form, "Make it");
      await fault(label).getByRole("alert").getByText(says).waitFor();
      assert.equal(await form.getByRole("alert").count(), 1);
      await accessible(page);
      await form.locator(`[name=${field}]`).fill(right);
    }
    await press(form, "Make it");
    const secret = await dialog(page, "Its secret, shown this once").locator("[data-secret]").textContent();
    assert.match(secret, /^whsec_/);
    await press(page, "Close");
    await rows(page).getByText("quiet").waitFor();
    await rows(page).getByRole("link", { name: told.good }).click();
    await page.getByText("Nothing was sent to it yet. Send a test").waitFor();
    assert.ok(!(await page.content()).includes(secret));
    await quiet(page);
  },

  async delivered(browser) {
    const page = await openShop(browser, "webhooks");
    await rows(page).getByText("delivering").waitFor();
    await rows(page).getByRole("link", { name: told.good }).click();
    const row = rows(page).first();
    await row.getByText("taken").waitFor();
    await row.getByText("order.paid").waitFor();
    assert.equal(await row.locator("td.id").getAttribute("title"), told.event);
    await row.getByRole("button").click();
    const shown = dialog(page, "Attempt 1 of order.paid");
    await shown.getByText(`thanks ${told.markup}`).waitFor();
    await shown.getByText("HTTP 200 after").waitFor();
    const headers = await shown.getByLabel("Headers").textContent();
    assert.ok(headers.includes(`POST ${told.good}`) && headers.includes(`webhook-id: ${told.event}`), headers);
    assert.ok(headers.includes(`webhook-signature: ${told.signature}`), headers);
    const sent = await shown.getByLabel("Body").textContent();
    assert.deepEqual(JSON.parse(sent).data, { amount: 7, by: told.markup });
    await press(shown, "Close");
    await page.getByRole("heading", { name: "Types of events it was sent lately" }).waitFor();
    await press(page, "History");
    const charts = dialog(page, `History of ${told.good}`);
    for (const title of ["Sent per second", "Time to be answered", "Waiting", "Oldest that waits"])
      await charts.getByRole("img", { name: new RegExp(`^${title}\\. `) }).waitFor();
    await press(charts, "Close");
    assert.equal(await page.locator("main img").count(), 0);
    assert.notEqual(await page.title(), "run");
    await quiet(page);
  },

  async recover(browser) {
    const page = await openShop(browser, "webhooks");
    await rows(page).nth(1).waitFor();
    const first = rows(page).first();
    assert.match(await first.textContent(), /^failing.*acme.*0 of 2.*2HTTP 500/);
    assert.match(await rows(page).nth(1).textContent(), /^delivering.*the one that works.*all tenants2 of 2/);
    await page.getByRole("heading", { name: "Types of events" }).waitFor();
    await page.getByRole("cell", { name: "An order was paid" }).waitFor();

    // The filters are in the address.
    await page.getByLabel("State").selectOption("delivering");
    await page.waitForURL("**/webhooks?state=delivering");
    await rows(page).nth(1).waitFor({ state: "detached" });
    await first.getByText("the one that works").waitFor();
    await page.getByLabel("State").selectOption("");
    await page.getByLabel("Tenant").fill("globex");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "No endpoint fits these filters" }).waitFor();
    await page.getByRole("link", { name: "Show all" }).click();
    await page.getByLabel("URL, events or text").fill(told.bad);
    await page.keyboard.press("Enter");
    await rows(page).nth(1).waitFor({ state: "detached" });
    await first.getByText("failing").waitFor();

    await first.getByRole("link").click();
    await page.getByText("The last attempt failed with HTTP 500").waitFor();
    await rows(page).filter({ hasText: "given up" }).nth(1).waitFor();
    assert.equal(await rows(page).filter({ hasText: "given up" }).count(), 2);
    await press(page, "Recover 2…");
    const asked = dialog(page, "Send what it missed");
    await asked.getByLabel("2 given up or expired").waitFor();
    await asked.getByLabel("0 it has no delivery of").check();
    await asked.getByRole("button", { name: "Recover 0" }).waitFor();
    await asked.getByLabel("2 given up or expired").check();
    await press(asked, "Recover 2");
    await page.getByText("2 deliveries will be tried.").waitFor();
    await page.getByText("It took the last delivery").waitFor();
    await rows(page).filter({ hasText: "taken" }).nth(1).waitFor();
    await page.getByRole("button", { name: "Recover…", exact: true }).waitFor();
    await page.getByLabel("Attempts").selectOption("true");
    await rows(page).filter({ hasText: "taken" }).first().waitFor({ state: "detached" });
    await quiet(page);
  },

  async turns(browser) {
    const page = await openShop(browser, `webhooks/${told.id}`);
    await press(page, "Send a test");
    const test = dialog(page, "Test delivery");
    await test.getByText("taken", { exact: true }).waitFor();
    await test.getByText("HTTP 200 after").waitFor();
    assert.match(await test.getByLabel("Headers").textContent(), /webhook-signature: v1,/);
    await test.getByLabel("Body").getByText("This is a test.").waitFor();
    await press(test, "Close");

    await press(page, "Rotate the secret…");
    await press(dialog(page, "Give it a new secret"), "Rotate");
    const shown = dialog(page, "Its secret, shown this once");
    const secret = await shown.locator("[data-secret]").textContent();
    assert.match(secret, /^whsec_/);
    assert.notEqual(secret, told.secret);
    await press(shown, "Close");
    await page.getByText("The one before signs until").waitFor();
    await page.reload();
    await page.getByText("The one before signs until").waitFor();
    const content = await page.content();
    assert.ok(!content.includes(secret) && !content.includes(told.secret));

    await press(page, "Pause");
    await page.locator(".title").getByText("paused").waitFor();
    await press(page, "Resume");
    await page.locator(".title").getByText("quiet").waitFor();
    await press(page, "Disable");
    await page.locator(".title").getByText("disabled").waitFor();
    await press(page, "Enable");
    await page.locator(".title").getByText("quiet").waitFor();

    await press(page, "Edit…");
    const form = dialog(page, "Change the endpoint");
    await form.locator("[name=eventType]").fill("a b");
    await press(form, "Save");
    await form.getByRole("alert").getByText("is not a type of events").waitFor();
    await form.locator("[name=eventType]").fill("invoice.*");
    await press(form, "Save");
    await page.locator("dd", { hasText: "invoice.*" }).waitFor();

    await press(page, "Delete…");
    await press(dialog(page, "Delete the endpoint"), "Delete");
    await page.getByRole("heading", { name: "No endpoint is subscribed yet" }).waitFor();
    await page.goto(`${told.shop}/desk/webhooks/${told.id}`);
    await page.getByRole("heading", { name: "This endpoint cannot be shown" }).waitFor();
    await quiet(page);
  },

  async viewer(browser) {
    const page = await openShop(browser, `webhooks/${told.id}`, told.viewer);
    await rows(page).first().getByRole("button").click();
    const shown = dialog(page, /Attempt 1/);
    await shown.getByText("out of order").waitFor();
    await shown.getByText("reading payloads needs a key with that right").waitFor();
    assert.equal(await shown.getByLabel("Body").count(), 0);
    await press(shown, "Close");
    await press(page, "Pause");
    await page.getByText("this needs a key with the role operator, and yours has viewer").waitFor();
    await quiet(page);
  },

  async looks(browser) {
    const page = await openShop(browser, "webhooks");
    await accessibleInBoth(page);
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/webhooks/${told.id}`);
    await rows(page).first().waitFor();
    await accessibleInBoth(page);
    for (const [button, title] of [["Edit…", "Change the endpoint"], ["Recover 2…", "Try again what was given up"]]) {
      await press(page, button);
      await dialog(page, title).locator(".waiting").waitFor({ state: "detached" });
      await accessibleInBoth(page);
      await page.keyboard.press("Escape");
      await dialog(page, title).waitFor({ state: "detached" });
    }
    await rows(page).first().getByRole("button").click();
    await dialog(page, /Attempt 1/).getByLabel("Body").waitFor();
    await accessibleInBoth(page);

    await page.setViewportSize(phone.viewport);
    await page.goto(`${told.shop}/desk/webhooks`);
    await rows(page).first().waitFor();
    await narrow(page, "the list");
    await rows(page).first().getByRole("link").click();
    await rows(page).first().waitFor();
    await narrow(page, "an endpoint");
    await press(page, "Edit…");
    await narrow(page, "the form");
    await quiet(page);
  },
};

run(cases);
