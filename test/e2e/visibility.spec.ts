// The visibility of a work: the choice in its form on a phone, what visitors see meanwhile, and the pictures of a
// hidden work for its owner.
import type { Page } from "@playwright/test";

import { asAnon, asService } from "../harness/clients.ts";
import { type Server, startServer } from "../harness/server.ts";
import { signInAt } from "./admin.ts";
import {
  expect,
  expectAccessibleInBothSchemes,
  expectNoSidewaysScroll,
  finishAnimations,
  test,
} from "./fixtures.ts";
import { text } from "./texts.ts";

let server: Server;

test.use({
  viewport: { width: 390, height: 844 },
  timezoneId: "Europe/Lisbon",
  contextOptions: { reducedMotion: "reduce" },
  allowedConsole: [/ERR_FAILED .*\/rest\/v1\/products/], // for requests that a test aborts
});
test.beforeAll(async ({ demoFolder }) => {
  server = await startServer("sqlite", { demo: demoFolder });
});
test.afterAll(() => server.stop());

const inForm = (page: Page, label: string) =>
  page.getByRole("dialog").getByLabel(label, { exact: true });

test("A-visible-3: a work is hidden and scheduled on a phone, and only the owner can get its picture, in pt", async ({
  page,
}) => {
  const language = "pt";
  const say = (key: Parameters<typeof text>[1], vars?: Record<string, string>) =>
    text(language, key, vars);
  const works = asService(server).from("products");
  const row = async () =>
    (await works.select("published_at, is_published, image_url").eq("title", "Onda").single())
      .data!;
  const { image_url } = await row();
  const seen = async () =>
    (await asAnon(server).from("products").select("id").eq("title", "Onda")).data!.length;
  const file = async () => (await fetch(new URL(image_url, server.url))).status;
  const edit = () =>
    page
      .getByRole("button", { name: say("products.editNamed", { title: "Onda" }), exact: true })
      .locator("visible=true")
      .click();
  const save = async () => {
    await page.getByRole("button", { name: say("common.saveChanges") }).click();
    await expect(page.getByRole("dialog")).toBeHidden();
    await expect(page.getByText(say("products.toast.updated")).last()).toBeVisible();
  };
  const item = page.getByRole("listitem").filter({ hasText: "Onda" }).locator("visible=true");

  await signInAt(page, server, "/admin/products?q=Onda", language);
  expect([await seen(), await file()]).toEqual([1, 200]);
  await edit();
  const choice = inForm(page, say("products.visibility"));
  await expect(choice).toHaveValue("published");
  await choice.selectOption("draft");
  await expect(page.getByText(say("products.draftHint"))).toBeVisible();
  await save();
  await expect(item.getByText(say("products.draft"), { exact: true })).toBeVisible();
  expect([await seen(), await file()]).toEqual([0, 400]);

  // After the reload, the browser requests the picture as an owner.
  await page.reload();
  const picture = item.locator("img");
  await expect(picture).toBeVisible();
  await expect
    .poll(() => picture.evaluate((img: HTMLImageElement) => img.complete && img.naturalWidth > 0))
    .toBe(true);
  expect(
    await page.evaluate(async (url) => (await fetch(url, { cache: "no-store" })).status, image_url),
  ).toBe(200);

  await edit();
  await choice.selectOption("scheduled");
  const time = inForm(page, say("products.publishAt"));
  await expect(time).toHaveValue(/^\d{4}-\d\d-\d\dT09:00$/);
  await expect(
    page.getByText(say("products.publishAtHint", { zone: "Europe/Lisbon" })),
  ).toBeVisible();
  await time.fill("2020-01-01T10:00");
  await page.getByRole("button", { name: say("common.saveChanges") }).click();
  await expect(page.getByText(say("products.publishAtRequired"))).toBeVisible();
  await expect(time).toBeFocused();
  await expectNoSidewaysScroll(page);
  await expectAccessibleInBothSchemes(page);
  await time.fill("2999-06-01T10:00");
  await save();
  expect(await row()).toMatchObject({
    published_at: "2999-06-01T09:00:00+00:00",
    is_published: false,
  });
  await expect(item.getByText(say("products.scheduled"), { exact: true })).toBeVisible();
  await expect(item.getByText("1 jun. 2999, 10:00")).toBeVisible();
  await finishAnimations(page);
  await expectNoSidewaysScroll(page);
  await expectAccessibleInBothSchemes(page);
  expect([await seen(), await file()]).toEqual([0, 400]);

  // At its time the work is shown, and the owner's list has no mark for it any more.
  await works
    .update({ published_at: new Date(Date.now() + 1500).toISOString() })
    .eq("title", "Onda");
  await expect.poll(async () => [await seen(), await file()]).toEqual([1, 200]);
  await page.reload();
  await expect(item).toBeVisible();
  await expect(item.getByText(/^(?:Scheduled|Agendada)$/)).toHaveCount(0);
});

test("A-prod-15: a work that was published or scheduled, but whose response was lost, is saved again without a conflict", async ({
  page,
}) => {
  await page.setViewportSize({ width: 1280, height: 900 }); // toasts do not cover the button
  await asService(server)
    .from("products")
    .update({ published_at: null })
    .eq("title", "Limoeiro")
    .throwOnError();
  await signInAt(page, server, "/admin/products?q=Limoeiro");
  for (const visibility of ["published", "scheduled"]) {
    await page
      .getByRole("button", { name: "Edit Limoeiro", exact: true })
      .locator("visible=true")
      .click();
    await inForm(page, "Who sees it").selectOption(visibility);
    const save = page.getByRole("button", { name: "Save changes" });
    await page.route("**/rest/v1/products?*", async (route) => {
      if (route.request().method() !== "PATCH") return route.fallback();
      expect((await route.fetch()).status()).toBe(200);
      return route.abort();
    });
    await save.click();
    await expect(page.getByText("There was an error saving the product.").last()).toBeVisible();
    await page.unroute("**/rest/v1/products?*");
    await save.click();
    await expect(page.getByText("Product updated").last()).toBeVisible();
    await expect(page.getByRole("dialog")).toBeHidden();
    await expect(page.getByRole("alertdialog")).toHaveCount(0);
    await page.reload(); // closes the toasts
  }
});
