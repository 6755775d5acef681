// The cases of forward_test.py in a browser.

const assert = require("node:assert/strict");
const { told, phone, openAs, quiet, accessible, narrow, run } = require("./kit.js");

async function openSite(browser, path, options = {}) {
  const page = await openAs(browser, told.operator, told.site, path, options);
  await page.locator("main .waiting").first().waitFor({ state: "detached" });
  return page;
}

const mark = (page, text) => page.locator(".title .mark", { hasText: text });

async function press(page, name) {
  await page.getByRole("button", { name, exact: true }).click();
}

const cases = {
  async cure(browser) {
    const page = await openSite(browser, "");
    const seen = page.locator("section", { has: page.getByRole("heading", { name: "Store-and-forward" }) });
    await seen.getByRole("link", { name: "2", exact: true }).click();
    await page.waitForURL(/category=ExternalSystem&status=parked/);
    await page.getByTitle(told.second, { exact: true }).waitFor();
    await accessible(page);

    await page.getByTitle(told.first, { exact: true }).click();
    await mark(page, "parked").waitFor();
    await page.locator("pre.error", { hasText: `HTTP 404: no such line ${told.markup}` }).waitFor();
    await page.getByText("press").first().waitFor();
    await accessible(page);
    await press(page, "Retry");
    await mark(page, "Delivered").waitFor();
    await page.getByLabel("Tracking").getByText("200", { exact: true }).waitFor();

    await page.goto(`${told.site}/desk/forward/${told.second.replaceAll("-", "").toUpperCase()}`);
    await press(page, "Discard");
    await mark(page, "Discarded").waitFor();
    assert.equal(await page.locator("main img").count(), 0);
    assert.notEqual(await page.title(), "run");
    await quiet(page);
  },

  async retry_all(browser) {
    const page = await openSite(browser, "forward", phone);
    await narrow(page);
    await press(page, "Retry all…");
    const ask = page.getByRole("dialog", { name: "Retry what 'ExternalSystem' has parked" });
    await ask.getByText(`${told.number} operations`).waitFor();
    await accessible(page);
    await press(ask, `Retry ${told.number}`);
    await page.getByText(`${told.number} operations of 'ExternalSystem' are tried again.`).waitFor();
    await page.getByRole("heading", { name: "Nothing is held" }).waitFor();
    await quiet(page);
  },

  async centre(browser) {
    const page = await openSite(browser, "forward");
    const all = page.getByLabel("Parked at all sites");
    await all.getByText("plant press").waitFor();
    await all.getByText("depot press").waitFor();
    await page.getByLabel("Sites", { exact: true }).getByText("$unknown-site").first().waitFor();
    await accessible(page);
    const ofPlant = all.locator("tr", { hasText: told.ids.plant });
    await press(ofPlant, "Retry");
    await page.getByText("plant 7 tries it again.").waitFor();
    await page.getByLabel("Sites", { exact: true }).getByRole("link", { name: "$unknown-site" }).click();
    const there = page.getByLabel("Parked at this site");
    const one = there.locator("tr", { hasText: told.ids.depot });
    await one.getByText("depot press").waitFor();
    await accessible(page);
    await press(one, "Discard");
    await page.getByText("depot has discarded it.").waitFor();
    await there.getByRole("heading", { name: "Nothing is parked there" }).waitFor();
    assert.equal(await page.locator("main img").count(), 0);
    await quiet(page);
  },

  async unknown(browser) {
    const page = await openSite(browser, "forward");
    await page.getByLabel("Where does an operation stand?").fill(told.id);
    await press(page, "Track");
    await page.waitForURL(`**/desk/forward/${told.id}`);
    await page.getByText("nothing is held under").waitFor();
    await page.getByRole("link", { name: "All that is held" }).click();
    await page.getByRole("heading", { name: "Nothing is held" }).waitFor();
    await accessible(page);
    await quiet(page);
  },
};

run(cases);
