// The cases of workflows_test.py in a browser.

const assert = require("node:assert/strict");
const { told, phone, openAs, quiet, accessible, accessibleInBoth, narrow, run } = require("./kit.js");

async function openShop(browser, path, key = told.operator, options = {}) {
  const page = await openAs(browser, key, told.shop, path, options);
  await page.locator("main .waiting").first().waitFor({ state: "detached" });
  return page;
}

const dialog = (page, name) => page.getByRole("dialog", { name });
const rows = (page) => page.locator("tr[data-row]");
const mark = (page, text) => page.locator(".title .mark", { hasText: text });

async function press(page, name) {
  await page.getByRole("button", { name, exact: true }).click();
}

const cases = {
  async none(browser) {
    const page = await openShop(browser, "workflows");
    await page.getByRole("heading", { name: "No workflow was started yet" }).waitFor();
    await page.getByText("tx.start(approve_order").waitFor();
    await accessible(page);
    await quiet(page);
  },

  async tell(browser) {
    const page = await openShop(browser, "workflows");
    await rows(page).getByText("running").waitFor();
    await rows(page).getByRole("link", { name: "o1" }).click();
    const waits = page.getByLabel("What it waits for");
    await waits.getByText('Decided where orderId == "o1"').waitFor();
    await waits.getByText("the time in 2 d").waitFor();
    await page.getByLabel("What step 1 did").getByText("call stock/v1/Reserve").waitFor();
    await rows(page).nth(1).getByText("the answer came: call stock/v1/Reserve").waitFor();
    await page.getByLabel("What step 2 changed").getByText('now "new" → "waiting"').waitFor();
    await page.getByLabel("Arguments").getByText('"cents": 995').waitFor();

    await press(page, "Signal…");
    const form = dialog(page, "Tell it a signal");
    assert.equal(await form.getByLabel("Signal", { exact: true }).inputValue(), "Decided");
    await form.getByLabel("Payload, as JSON").fill("nonsense");
    await press(form, "Tell it");
    await form.getByRole("alert").getByText("the payload of a signal is a JSON object").waitFor();
    await accessible(page);
    await form.getByLabel("Payload, as JSON").fill(JSON.stringify({ orderId: "o1", by: told.markup, approved: true }));
    await press(form, "Tell it");
    await mark(page, "completed").waitFor();
    await page.getByLabel("Result", { exact: true }).getByText("r-o1").waitFor();
    await page.getByText("It ended").waitFor();
    assert.equal(await page.getByRole("button", { name: "Signal…" }).count(), 0);
    await rows(page).nth(3).waitFor();
    await rows(page).nth(2).getByText("the signal came: wait for Decided").waitFor();
    await page.getByLabel("What step 3 did").getByText("no more: sleep").waitFor();
    await page.getByLabel("What step 4 did").getByText("completed").waitFor();

    // The state at each step, as it was.
    await press(page, "Show step 2");
    const second = dialog(page, "Step 2");
    assert.deepEqual(JSON.parse(await second.getByLabel("State after it").textContent()), { now: "waiting", by: "" });
    await press(second, "Close");
    await press(page, "Show step 3");
    const third = dialog(page, "Step 3");
    assert.equal(JSON.parse(await third.getByLabel("State after it").textContent()).by, told.markup);
    assert.equal(JSON.parse(await third.getByLabel("What came").textContent()).by, told.markup);
    assert.equal(await page.locator("main img").count(), 0);
    assert.notEqual(await page.title(), "run");
    await quiet(page);
  },

  async list(browser) {
    const page = await openShop(browser, "workflows");
    await rows(page).nth(49).waitFor();
    assert.match(await rows(page).first().textContent(), /^runningApproveo2/);
    await press(page, "Older ones");
    await rows(page).nth(61).waitFor();
    await page.getByLabel("Status").getByText("running (2)").waitFor({ state: "attached" });
    await page.getByLabel("Status").selectOption("running");
    await page.waitForURL("**/workflows?status=running");
    await rows(page).nth(2).waitFor({ state: "detached" });
    assert.equal(await rows(page).count(), 2);
    await page.getByLabel("Status").selectOption("");
    await page.getByLabel("Id", { exact: true }).fill("e7");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/workflows?id=e7");
    await rows(page).nth(1).waitFor({ state: "detached" });
    await rows(page).first().getByText("Old").waitFor();
    await page.getByLabel("Workflow", { exact: true }).fill("Approve");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "No workflow fits these filters" }).waitFor();
    await page.goto(`${told.shop}/desk/workflows?status=running&workflow=Approve`);
    await rows(page).nth(1).waitFor();
    assert.equal(await rows(page).count(), 2);

    await page.goto(`${told.shop}/desk/`);
    await page.getByRole("heading", { name: "Open workflows" }).waitFor();
    await page.getByRole("row", { name: /Approve/ }).getByRole("link", { name: "2" }).click();
    await page.waitForURL("**/workflows?status=running&workflow=Approve");
    await quiet(page);
  },

  async turns(browser) {
    const page = await openShop(browser, "workflows");
    await rows(page).getByRole("link", { name: "a/b c" }).click();
    await page.getByLabel("What it waits for").waitFor();
    await press(page, "Pause");
    await mark(page, "paused").waitFor();
    await page.getByText("What comes for it waits until it is resumed. It waits for").waitFor();
    await page.reload();
    await mark(page, "paused").waitFor();
    await press(page, "Resume");
    await mark(page, "running").waitFor();
    await press(page, "Cancel it…");
    const form = dialog(page, "Cancel Approve a/b c");
    await form.getByLabel("Reason").fill("ordered twice");
    await press(form, "Cancel the workflow");
    await mark(page, "cancelled").waitFor();
    await page.locator("pre.error", { hasText: "ordered twice" }).waitFor();
    await rows(page).getByText("call stock/v1/Release").first().waitFor();
    await page.goto(`${told.shop}/desk/workflows/Approve%2Fnone`);
    await page.getByRole("heading", { name: "This workflow cannot be shown" }).waitFor();
    await quiet(page);
  },

  async quarantine(browser) {
    const page = await openShop(browser, "workflows?status=quarantined");
    await rows(page).getByText("step 2: recorded wait for Decided").waitFor();
    await rows(page).getByRole("link", { name: "o1" }).click();
    await mark(page, "quarantined").waitFor();
    const differs = page.getByRole("row", { name: "2 wait for Decided sleeps" });
    await differs.waitFor();
    await page.getByText("Mend the code, start the program again, then resume").waitFor();
    await rows(page).nth(1).locator(".mark.red", { hasText: "2" }).waitFor();
    await accessible(page);
    await quiet(page);
  },

  async resume(browser) {
    const page = await openShop(browser, "workflows/Approve%2Fo1");
    await press(page, "Resume");
    await mark(page, "completed").waitFor();
    await quiet(page);
  },

  async viewer(browser) {
    const page = await openShop(browser, "workflows/Approve%2Fo1", told.viewer);
    await page.getByText("States and payloads need a key with the right to payloads.").waitFor();
    await rows(page).nth(1).waitFor();
    assert.equal(await page.getByLabel("Arguments").count(), 0);
    assert.ok(!(await page.content()).includes("cents"));
    await press(page, "Show step 1");
    await dialog(page, "Step 1").getByText("Payloads need a key with the right to them.").waitFor();
    await press(page, "Close");
    await press(page, "Pause");
    await page.getByText("this needs a key with the role operator, and yours has viewer").waitFor();
    await quiet(page);
  },

  async looks(browser) {
    const page = await openShop(browser, "workflows");
    await rows(page).first().waitFor();
    await accessibleInBoth(page);
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/workflows/Approve%2Fo1");
    await rows(page).nth(1).waitFor();
    await accessibleInBoth(page);
    for (const [button, title] of [["Signal…", "Tell it a signal"], ["Cancel it…", "Cancel Approve o1"], ["Show step 2", "Step 2"]]) {
      await press(page, button);
      await dialog(page, title).waitFor();
      await accessibleInBoth(page);
      await page.keyboard.press("Escape");
      await dialog(page, title).waitFor({ state: "detached" });
    }

    await page.setViewportSize(phone.viewport);
    await page.goto(`${told.shop}/desk/workflows`);
    await rows(page).first().waitFor();
    await narrow(page, "the list");
    await rows(page).first().getByRole("link").click();
    await rows(page).nth(1).waitFor();
    await narrow(page, "a workflow");
    await press(page, "Show step 2");
    await narrow(page, "a step");
    await quiet(page);
  },
};

run(cases);
