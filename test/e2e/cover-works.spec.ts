// Covers with the pictures of works, and the times of covers, on a phone.
import type { Locator, Page } from "@playwright/test";

import { asAnon, asService } from "../harness/clients.ts";
import { type Server, startServer } from "../harness/server.ts";
import { signInAt } from "./admin.ts";
import {
  expect,
  expectAccessibleInBothSchemes,
  expectNoSidewaysScroll,
  finishAnimations,
  keepToastOpen,
  test,
} from "./fixtures.ts";
import { languages, repetition, text } from "./texts.ts";

let server: Server;

test.use({
  viewport: { width: 390, height: 844 },
  hasTouch: true,
  timezoneId: "Europe/Lisbon",
  contextOptions: { reducedMotion: "reduce" },
});
test.beforeAll(async ({ demoFolder }) => {
  server = await startServer("sqlite", { demo: demoFolder });
});
test.afterAll(() => server.stop());

const covers = () => asService(server).from("cover_images");
const cards = (page: Page) => page.getByRole("listitem").filter({ has: page.getByRole("switch") });
const isShown = (picture: Locator) =>
  expect
    .poll(() => picture.evaluate((img: HTMLImageElement) => img.complete && img.naturalWidth > 0))
    .toBe(true);

test("A-cov-13: a cover gets the picture of a work with two taps on a phone, keeps it when the work is deleted, and gets its own picture back", async ({
  page,
}) => {
  let taps = 0;
  const tap = async (target: Locator) => {
    taps++;
    await target.tap();
  };
  const first = async () =>
    (await covers().select("id,title,image_url,media_type").eq("display_order", 1).single()).data!;
  const before = await first();
  await signInAt(page, server, "/admin/cover-images");
  await expect(cards(page).first()).toBeVisible();
  await tap(cards(page).first().getByRole("button", { name: "Choose from works for" }));
  const dialog = page.getByRole("dialog", { name: "Choose from works" });
  await tap(dialog.getByRole("button", { name: "Choose Onda", exact: true }));
  await expect(page.getByText("Cover image updated successfully")).toBeVisible();
  expect(taps).toBe(2);
  await expect(dialog).toBeHidden();
  const after = await first();
  expect(after).toMatchObject({ id: before.id, title: before.title, media_type: "image" });
  expect(after.image_url).toContain("/cover-images/");
  await isShown(cards(page).first().locator("img").last());

  // The copy belongs to the cover: the work and its file are deleted, and the cover stays.
  const work = (
    await asService(server).from("products").select("id,image_url").eq("title", "Onda").single()
  ).data!;
  const name = work.image_url.split("/product-images/")[1]!;
  await asService(server).from("products").delete().eq("id", work.id).throwOnError();
  const removed = await asService(server).storage.from("product-images").remove([name]);
  expect(removed.error).toBeNull();
  expect((await fetch(new URL(work.image_url, server.url))).status).not.toBe(200);
  expect((await fetch(new URL(after.image_url, server.url))).status).toBe(200);

  await page.getByRole("button", { name: "Undo" }).tap();
  await expect(page.getByText("The change is undone")).toBeVisible();
  expect(await first()).toEqual(before);
});

for (const language of languages)
  test(`A-cov-14: works become covers with one tap each on a phone, in ${repetition(language)}, and axe finds nothing`, async ({
    page,
  }) => {
    const say = (key: Parameters<typeof text>[1], vars?: Record<string, string>) =>
      text(language, key, vars);
    const count = (await covers().select("id")).data!.length;
    await signInAt(page, server, "/admin/cover-images", language);
    await expect(cards(page).first()).toBeVisible();
    await page.getByRole("button", { name: say("covers.fromWorks"), exact: true }).tap();
    const dialog = page.getByRole("dialog", { name: say("covers.fromWorks") });
    const choose = (title: string) =>
      dialog.getByRole("button", { name: say("covers.chooseWork", { title }), exact: true });
    const titles = (
      await asAnon(server).from("products").select("title").order("created_at").limit(2)
    ).data!.map(({ title }) => title);
    for (const title of titles) await choose(title).tap();
    await isShown(dialog.locator("img").first());
    await finishAnimations(page);
    await expectNoSidewaysScroll(page);
    await expectAccessibleInBothSchemes(page);
    await dialog.getByRole("button", { name: say("covers.addChosen", { n: "2" }) }).tap();
    await keepToastOpen(page.getByText(say("covers.toast.added", { n: "2" })));
    const { data } = await covers().select("title").order("display_order");
    expect(data!.slice(count).map(({ title }) => title)).toEqual(titles);
    await page.getByRole("button", { name: say("common.undo") }).tap();
    await expect(page.getByText(say("common.undone"))).toBeVisible();
    expect((await covers().select("id")).data).toHaveLength(count);
  });

test("A-cov-15: a cover is scheduled and ended on a phone, and only the owner can get its picture meanwhile, in en", async ({
  page,
}) => {
  const language = "en";
  const say = (key: Parameters<typeof text>[1], vars?: Record<string, string>) =>
    text(language, key, vars);
  const row = async () =>
    (
      await covers()
        .select("image_url,visible_from,visible_until,has_begun,has_ended")
        .eq("display_order", 1)
        .single()
    ).data!;
  const { image_url } = await row();
  const seen = async () =>
    (await asAnon(server).from("cover_images").select("id").eq("display_order", 1)).data!.length;
  const file = async () =>
    (await fetch(new URL(image_url, server.url), { cache: "no-store" })).status;
  await signInAt(page, server, "/admin/cover-images", language);
  const card = cards(page).first();
  expect([await seen(), await file()]).toEqual([1, 200]);
  await card.getByText(say("covers.schedule"), { exact: true }).tap();
  const from = card.getByLabel(say("covers.visibleFrom"));
  const until = card.getByLabel(say("covers.visibleUntil"));
  const save = () => card.getByRole("button", { name: say("common.save"), exact: true }).tap();
  await from.fill("2999-06-01T10:00");
  await until.fill("2999-06-01T10:00");
  await save();
  await expect(card.getByText(say("covers.untilError"))).toBeVisible();
  await expect(until).toBeFocused();
  await expectAccessibleInBothSchemes(page);
  await until.fill("2999-06-02T10:00");
  await save();
  await expect(page.getByText(say("covers.toast.updated")).last()).toBeVisible();
  await expect(card.getByText(say("covers.scheduled"), { exact: true })).toBeVisible();
  const day = language === "en" ? "1 Jun 2999, 10:00" : "1 jun. 2999, 10:00";
  await expect(card.getByText(say("covers.fromTime", { when: day }))).toBeVisible();
  expect(await row()).toMatchObject({
    visible_from: "2999-06-01T09:00:00+00:00",
    visible_until: "2999-06-02T09:00:00+00:00",
    has_begun: false,
    has_ended: false,
  });
  expect([await seen(), await file()]).toEqual([0, 400]);
  await page.reload();
  await isShown(card.locator("img").last());
  await finishAnimations(page);
  await expectNoSidewaysScroll(page);
  await expectAccessibleInBothSchemes(page);

  // The cover is shown at its start and hidden at its end.
  await covers()
    .update({ visible_from: new Date(Date.now() + 1500).toISOString() })
    .eq("display_order", 1)
    .throwOnError();
  await expect.poll(async () => [await seen(), await file()]).toEqual([1, 200]);
  await covers()
    .update({ visible_until: new Date(Date.now() + 1500).toISOString() })
    .eq("display_order", 1)
    .throwOnError();
  await expect.poll(async () => [await seen(), await file()]).toEqual([0, 400]);
  await page.reload();
  await expect(card.getByText(say("covers.ended"), { exact: true })).toBeVisible();
  await covers()
    .update({ visible_from: null, visible_until: null })
    .eq("display_order", 1)
    .throwOnError();
  expect([await seen(), await file()]).toEqual([1, 200]);
});

test("A-cov-16: a finger drags a cover by its handle, with one request, and the change can be undone", async ({
  page,
}) => {
  const titles = async () =>
    (await covers().select("title").order("display_order")).data!.map(({ title }) => title);
  const before = await titles();
  await page.setViewportSize({ width: 1440, height: 900 });
  await signInAt(page, server, "/admin/cover-images");
  const handle = (n: number) =>
    cards(page)
      .nth(n)
      .getByRole("button", { name: /^Reorder/ });
  await isShown(cards(page).nth(2).locator("img").last());
  const [start, end] = [(await handle(0).boundingBox())!, (await handle(1).boundingBox())!];
  const at = (box: typeof start) => ({ x: box.x + box.width / 2, y: box.y + box.height / 2 });
  const session = await page.context().newCDPSession(page);
  const touch = (type: "touchStart" | "touchMove" | "touchEnd", point?: { x: number; y: number }) =>
    session.send("Input.dispatchTouchEvent", { type, touchPoints: point ? [point] : [] });
  const writes: string[] = [];
  page.on("request", (request) => {
    // The count of unread messages uses HEAD.
    if (!["GET", "HEAD"].includes(request.method()) && request.url().includes("/rest/v1/"))
      writes.push(new URL(request.url()).pathname);
  });
  await touch("touchStart", at(start));
  for (const share of [0.2, 0.5, 0.8, 1])
    await touch("touchMove", {
      x: at(start).x + (at(end).x - at(start).x) * share,
      y: at(start).y + (at(end).y - at(start).y) * share,
    });
  // A busy page follows the finger with a delay.
  await expect(page.locator("[id^=DndLiveRegion]")).toHaveText(
    text("en", "reviews.moved", { name: before[0]!, n: 2, total: before.length }),
  );
  await touch("touchEnd");
  await expect(page.getByText("Cover image updated successfully")).toBeVisible();
  expect(writes).toEqual(["/rest/v1/rpc/reorder_covers"]);
  expect(await titles()).toEqual([before[1], before[0], ...before.slice(2)]);
  // By mouse: right after such a drag Chromium sometimes makes no click of a tap, although the button gets the touch
  // events.
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByText("The change is undone")).toBeVisible();
  expect(await titles()).toEqual(before);
});
