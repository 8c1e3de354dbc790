// Bringing back what was changed or deleted: by the history of each row and of the settings, by the list of deleted
// rows, and by the button Undo.
import type { Page } from "@playwright/test";

import { asService } from "../harness/clients.ts";
import { type Server, startServer } from "../harness/server.ts";
import { noonZone, signInAt } from "./admin.ts";
import {
  expect,
  expectAccessibleInBothSchemes,
  expectNoSidewaysScroll,
  finishAnimations,
  keepToastOpen,
  makeJpeg,
  test,
} from "./fixtures.ts";
import { languages, repetition, text } from "./texts.ts";

let server: Server;

test.use({ timezoneId: noonZone });
test.beforeAll(async ({ demoFolder }) => {
  server = await startServer("sqlite", { demo: demoFolder });
});
test.afterAll(() => server.stop());

const history = (page: Page, name: string) =>
  page.getByRole("button", { name: text("en", "history.ofNamed", { name }), exact: true });
const openDeleted = (page: Page) =>
  page.getByRole("button", { name: text("en", "deleted.open"), exact: true }).click();
const toast = (page: Page, title: string) => page.getByText(title, { exact: true });

/** Opens the newest version in the dialog that is shown. */
const openNewest = (page: Page) =>
  page.getByRole("dialog").getByRole("button", { expanded: false }).first().click();

test("A-history-back: an earlier version of a work is compared with the current one and brought back, with its picture", async ({
  page,
}) => {
  const works = asService(server).from("products");
  const { data } = await works.select("id, title, image_url").eq("title", "Onda").single();
  const { id, image_url } = data!;
  await works.update({ title: "Maré", image_url: null }).eq("id", id);
  const [, path] = image_url!.split("/product-images/");
  await asService(server)
    .storage.from("product-images")
    .remove([decodeURIComponent(path)]);
  expect((await fetch(new URL(image_url, server.url))).status).toBe(400);

  await signInAt(page, server, "/admin/products");
  await history(page, "Maré").click();
  await openNewest(page);
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByText("Onda", { exact: true })).toBeVisible();
  await expect(dialog.getByText("Maré", { exact: true })).toBeVisible();
  await expect(dialog.getByText(text("en", "history.byProgram"))).toBeVisible();
  await dialog.getByRole("button", { name: text("en", "history.bringBack") }).click();
  await expect(toast(page, text("en", "history.toast.back"))).toBeVisible();
  await expect(dialog).toBeHidden();
  await expect(history(page, "Onda")).toBeFocused();
  expect((await works.select("title, image_url").eq("id", id).single()).data).toEqual({
    title: "Onda",
    image_url,
  });
  expect((await fetch(new URL(image_url, server.url))).status).toBe(200);

  // Bringing it back is itself a change, made by the owner.
  await history(page, "Onda").click();
  await expect(
    dialog.getByText(text("en", "history.by", { actor: server.owner!.email })),
  ).toBeVisible();
});

test("A-history-undo A-history-deleted: a deleted review is brought back by its toast, and another one later by keyboard", async ({
  page,
}) => {
  const reviews = asService(server).from("reviews");
  const stored = async () => (await reviews.select("*").order("display_order")).data!;
  const before = await stored();
  const { client_name: name } = before[1]!;
  await signInAt(page, server, "/admin/reviews");
  const remove = async () => {
    await page.getByRole("button", { name: text("en", "reviews.deleteNamed", { name }) }).click();
    await page.getByRole("button", { name: text("en", "common.delete"), exact: true }).click();
    await keepToastOpen(toast(page, text("en", "reviews.toast.deleted")));
    expect(await stored()).toHaveLength(before.length - 1);
  };
  await remove();
  await page.getByRole("button", { name: text("en", "common.undo"), exact: true }).click();
  await expect(toast(page, text("en", "deleted.toast.back", { name }))).toBeVisible();
  expect(await stored()).toEqual(before);

  await remove();
  await page.reload();
  await page.getByRole("button", { name: text("en", "deleted.open"), exact: true }).focus();
  await page.keyboard.press("Enter");
  const back = page.getByRole("button", { name: text("en", "deleted.bringBackNamed", { name }) });
  await expect(back).toBeVisible();
  while (!(await back.evaluate((button) => button === document.activeElement)))
    await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect(page.getByText(text("en", "deleted.empty"))).toBeVisible();
  await expect(page.getByRole("dialog")).toBeFocused();
  expect(await stored()).toEqual(before);
  await page.keyboard.press("Escape");
  await expect(
    page.getByRole("button", { name: text("en", "deleted.open"), exact: true }),
  ).toBeFocused();
});

test("A-history-undo A-history-deleted: works that were saved together are deleted by Undo on another page, and brought back; an order is undone too", async ({
  page,
}) => {
  const works = asService(server).from("products");
  const titles = async () => (await works.select("title").order("created_at")).data!;
  const before = await titles();
  await signInAt(page, server, "/admin/products");
  await expect(page.getByRole("button", { name: text("en", "bulk.choose") })).toBeVisible();
  const buffer = await makeJpeg(page, { width: 40, height: 30, plain: true });
  await page
    .locator("main input[type=file][multiple]")
    .first()
    .setInputFiles(
      ["Alvor 1.jpg", "Alvor 2.jpg"].map((name) => ({ name, mimeType: "image/jpeg", buffer })),
    );
  await page.getByRole("button", { name: text("en", "bulk.saveAll"), exact: true }).click();
  await keepToastOpen(toast(page, text("en", "bulk.saved", { n: 2 })));
  expect(await titles()).toHaveLength(before.length + 2);

  await page
    .getByRole("link", { name: text("en", "nav.reviews"), exact: true })
    .first()
    .click();
  await expect(page.getByRole("button", { name: /^Reorder / }).first()).toBeVisible();
  const undo = () => page.getByRole("button", { name: text("en", "common.undo"), exact: true });
  await undo().click();
  await expect(toast(page, text("en", "bulk.undone", { n: 2 }))).toBeVisible();
  expect(await titles()).toEqual(before);
  await expect(undo()).toHaveCount(0); // the next Undo is that of the order

  const reviews = asService(server).from("reviews");
  const order = async () =>
    (await reviews.select("id, display_order").order("display_order")).data!;
  const ordered = await order();
  await page
    .getByRole("button", { name: text("en", "reviews.down") })
    .first()
    .click();
  await keepToastOpen(toast(page, text("en", "reviews.toast.ordered")));
  expect(await order()).not.toEqual(ordered);
  await undo().click();
  await expect(toast(page, text("en", "common.undone"))).toBeVisible();
  expect(await order()).toEqual(ordered);

  await page
    .getByRole("link", { name: text("en", "nav.products"), exact: true })
    .first()
    .click();
  // The page of the reviews has a button of the same name.
  await expect(page.getByRole("button", { name: text("en", "bulk.choose") })).toBeVisible();
  await openDeleted(page);
  for (const name of ["Alvor 1", "Alvor 2"]) {
    await page
      .getByRole("button", { name: text("en", "deleted.bringBackNamed", { name }) })
      .click();
    await expect(toast(page, text("en", "deleted.toast.back", { name }))).toBeVisible();
  }
  const { data } = await works.select("image_url").like("title", "Alvor %");
  for (const { image_url } of data!)
    expect((await fetch(new URL(image_url, server.url))).status).toBe(200);
  await works.delete().like("title", "Alvor %");
});

test("A-history-deleted: a deleted cover is brought back with its file and at its place", async ({
  page,
}) => {
  const covers = asService(server).from("cover_images");
  const stored = async () => (await covers.select("*").order("display_order")).data!;
  const before = await stored();
  const cover = before[0]!;
  await signInAt(page, server, "/admin/cover-images");
  const card = page.getByRole("listitem", { name: cover.title! });
  await card.getByRole("button", { name: text("en", "common.delete") }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
  await expect(toast(page, text("en", "covers.toast.deleted"))).toBeVisible();
  expect((await fetch(new URL(cover.image_url, server.url))).status).toBe(400);
  await openDeleted(page);
  await page
    .getByRole("button", { name: text("en", "deleted.bringBackNamed", { name: cover.title! }) })
    .click();
  await expect(page.getByText(text("en", "deleted.empty"))).toBeVisible();
  expect(await stored()).toEqual(before);
  expect((await fetch(new URL(cover.image_url, server.url))).status).toBe(200);
});

test("A-history-back: earlier settings are brought back, and other settings stay unchanged", async ({
  page,
}) => {
  await signInAt(page, server, "/admin/settings");
  const name = page.getByLabel(text("en", "settings.name"));
  const instagram = page.getByLabel("Instagram");
  const old = [await name.inputValue(), await instagram.inputValue()];
  await name.fill("Outro nome");
  await instagram.fill("");
  await page.getByRole("button", { name: text("en", "common.saveChanges") }).click();
  await expect(toast(page, text("en", "settings.toast.saved"))).toBeVisible();
  await page.getByRole("button", { name: text("en", "history.open"), exact: true }).click();
  await openNewest(page);
  await expect(page.getByRole("dialog").getByText("Outro nome")).toBeVisible();
  await page.getByRole("button", { name: text("en", "history.bringBack") }).click();
  await expect(toast(page, text("en", "history.toast.back"))).toBeVisible();
  await expect(name).toHaveValue(old[0]!);
  await expect(instagram).toHaveValue(old[1]!);
});

for (const language of languages)
  test(`A-history-can: axe at 390 px: the history, the deleted rows and a toast with a button, in ${repetition(language)}`, async ({
    page,
  }) => {
    const reviews = asService(server).from("reviews");
    const [first, second] = (await reviews.select("*").order("display_order")).data!;
    await reviews.update({ message: `${first!.message} Obrigada!` }).eq("id", first!.id);
    await page.setViewportSize({ width: 390, height: 844 });
    await signInAt(page, server, "/admin/reviews", language);
    const named = { name: first!.client_name };
    await page.getByRole("button", { name: text(language, "history.ofNamed", named) }).click();
    await openNewest(page);
    await finishAnimations(page);
    await expectAccessibleInBothSchemes(page);
    await expectNoSidewaysScroll(page);
    await page.keyboard.press("Escape");
    const other = { name: second!.client_name };
    await page.getByRole("button", { name: text(language, "reviews.deleteNamed", other) }).click();
    await page.getByRole("button", { name: text(language, "common.delete"), exact: true }).click();
    await keepToastOpen(page.getByRole("button", { name: text(language, "common.undo") }));
    await expectAccessibleInBothSchemes(page);
    await page.getByRole("button", { name: text(language, "deleted.open"), exact: true }).click();
    const back = text(language, "deleted.bringBackNamed", other);
    await expect(page.getByRole("button", { name: back })).toBeVisible();
    await finishAnimations(page);
    await expectAccessibleInBothSchemes(page);
    await expectNoSidewaysScroll(page);
    await page.getByRole("button", { name: back }).click();
    await expect(page.getByText(text(language, "deleted.empty"))).toBeVisible();
  });
