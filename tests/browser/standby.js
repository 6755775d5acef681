// The cases of standby_test.py in a browser.

const { told, phone, openAs, quiet, accessible, narrow, resize, say, run } = require("./kit.js");

async function openPage(browser) {
  const page = await openAs(browser, told.viewer, told.orders, "standby");
  await page.locator("main .waiting").waitFor({ state: "detached" });
  return page;
}

const fact = (page, name) => page.locator("dt", { hasText: name }).locator("xpath=following-sibling::dd[1]");

const cases = {
  async pair(browser) {
    const page = await openPage(browser);
    await page.locator(".mark", { hasText: "following" }).waitFor();
    await fact(page, "Primary").getByText("this node").waitFor();
    await fact(page, "Epoch").getByText("1", { exact: true }).waitFor();
    await fact(page, "A promotion now would lose").waitFor();
    await fact(page, "Newest moment").locator("time").waitFor();
    await fact(page, "Oldest moment").locator("time").waitFor();
    await page.getByText("1 base and").waitFor();
    await accessible(page);
    await resize(page, phone.viewport);
    await narrow(page);
    await say("lose the standby");
    await page.locator(".mark", { hasText: "away" }).waitFor();
    await fact(page, "A promotion now would lose").getByText("what was answered since the standby left").waitFor();
    await accessible(page);
    await quiet(page);
  },

  async none(browser) {
    const page = await openPage(browser);
    await page.getByRole("heading", { name: "This node has no standby" }).waitFor();
    await page.getByRole("heading", { name: "There is no archive" }).waitFor();
    await accessible(page);
    await quiet(page);
  },
};

run(cases);
