// Series: the owner makes a series, chooses and orders its works, and visitors see its page, with and without scripts.
import type { Page } from "@playwright/test";

import { asAnon, asService } from "../harness/clients.ts";
import { type Server, startServer } from "../harness/server.ts";
import { signInAt } from "./admin.ts";
import { expect, expectAccessibleInBothSchemes, expectNoSidewaysScroll, test } from "./fixtures.ts";
import { inLanguage, languages, repetition, text } from "./texts.ts";

let server: Server;

test.use({
  contextOptions: { reducedMotion: "reduce" },
  allowedConsole: [/status of 404 .*\/gallery\/all\?series=nobody/],
});

test.beforeAll(async ({ demoFolder }) => {
  server = await startServer("sqlite", { demo: demoFolder });
  const owner = asService(server);
  const { data: works } = await owner
    .from("products")
    .select("id")
    .in("artwork_type", ["mural", "digital"])
    .order("title")
    .limit(3)
    .throwOnError();
  const { data: series } = await owner
    .from("series")
    .insert({ slug: "salt", title: "Salt and blue", text: "By the sea.", text_pt: "À beira-mar." })
    .select("id")
    .single()
    .throwOnError();
  await owner
    .from("series_works")
    .insert(works.map(({ id }) => ({ series_id: series.id, product_id: id })))
    .throwOnError();
});
test.afterAll(() => server.stop());

const widths = [390, 768, 1440];

/** Checks the page at each width. */
async function checkPage(page: Page, name: string): Promise<void> {
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    await expectNoSidewaysScroll(page);
    await expectAccessibleInBothSchemes(page, async (scheme) => {
      if (process.env.SHOTS)
        await page.screenshot({
          path: `${process.env.SHOTS}/${name}-${width}-${scheme}.png`,
          fullPage: true,
        });
    });
    await page.emulateMedia({ colorScheme: "light" });
  }
}

/** Returns the titles of the works of a series that visitors see, in order. */
async function worksOf(slug: string): Promise<string[]> {
  const visitor = asAnon(server);
  const { data: series } = await visitor.from("series").select("id").eq("slug", slug).single();
  const { data: pairs } = await visitor
    .from("series_works")
    .select("product_id")
    .eq("series_id", series!.id)
    .order("position")
    .throwOnError();
  const { data: works } = await visitor.from("products").select("id,title").throwOnError();
  return pairs.map(({ product_id }) => works.find(({ id }) => id === product_id)!.title);
}

const pictures = (page: Page) => page.getByRole("button", { name: /^Select / });
const titleOf = async (page: Page, n: number) =>
  (await pictures(page).nth(n).getAttribute("aria-label"))!.replace("Select ", "");

test("A-series-form A-series-works: a series is made, filled, ordered, deleted and brought back", async ({
  page,
}) => {
  await signInAt(page, server, "/admin/series");
  await page.getByRole("button", { name: "Add Series" }).first().click();
  const form = page.getByRole("dialog");
  await form.getByLabel("Title", { exact: true }).fill("Light on lime");
  await expect(form.getByLabel("Name in the address")).toHaveValue("light-on-lime");
  await form.getByLabel("Text", { exact: true }).fill("What the sun does to a wall.");
  await form.getByLabel("Text in Portuguese").fill("O que o sol faz a uma parede.");
  await form.getByRole("button", { name: "Add Series" }).click();
  await expect(page.getByText("Series added")).toBeVisible();

  await expect(page.getByText("This series has no works yet.")).toBeVisible();
  await page.getByRole("button", { name: "Add works" }).first().click();
  const first = await titleOf(page, 0);
  const second = await titleOf(page, 1);
  const third = await titleOf(page, 2);
  await pictures(page).first().click();
  await pictures(page)
    .nth(2)
    .click({ modifiers: ["Shift"] });
  await page.getByRole("button", { name: "Add to the series" }).click();
  await expect(page.getByText("Works added to the series: 3")).toBeVisible();
  expect(await worksOf("light-on-lime")).toEqual([first, second, third]);
  await expect(page.getByRole("button", { name: `Select ${first}`, exact: true })).toHaveCount(0);
  await page.getByRole("button", { name: "Done" }).click();

  await page.getByRole("button", { name: `Select ${third}`, exact: true }).focus();
  await page.keyboard.press("Alt+Home");
  await expect(page.getByText("Order saved")).toBeVisible();
  expect(await worksOf("light-on-lime")).toEqual([third, first, second]);
  await page.getByRole("button", { name: `Select ${first}`, exact: true }).click();
  await page.getByRole("button", { name: "Make it the cover" }).click();
  await expect(page.getByText("Series updated")).toBeVisible();
  await page.getByRole("button", { name: "Remove from the series" }).click();
  await expect(page.getByText("Works removed from the series: 1")).toBeVisible();
  expect(await worksOf("light-on-lime")).toEqual([third, second]);
  await page
    .locator("li", { hasText: "Works removed from the series" })
    .getByRole("button", { name: "Undo" })
    .click();
  await expect(page.getByText("The change is undone")).toBeVisible();
  expect(await worksOf("light-on-lime")).toEqual([third, first, second]);

  // A work that is deleted and brought back returns to its place; so do all works of a series.
  const owner = asService(server);
  const { data: work } = await owner.from("products").select("id").eq("title", first).single();
  await page.goto(`${server.url}/admin/products?q=${encodeURIComponent(first)}`);
  await page.getByRole("button", { name: `Delete ${first}` }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByText(`${first} is back`)).toBeVisible();
  expect((await owner.from("products").select("id").eq("title", first).single()).data).toEqual(
    work,
  );
  expect(await worksOf("light-on-lime")).toEqual([third, first, second]);
  await page.goto(`${server.url}/admin/series`);
  await page.getByRole("button", { name: "Delete Light on lime" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
  await expect(page.getByText("Series deleted")).toBeVisible();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByText("Light on lime is back")).toBeVisible();
  expect(await worksOf("light-on-lime")).toEqual([third, first, second]);

  // Adds selected works on the wall of all works.
  await page.goto(`${server.url}/admin/products?as=wall&sort=manual`);
  await page.getByRole("button", { name: `Select ${second}`, exact: true }).click();
  await page.getByRole("button", { name: "Series", exact: true }).click();
  await page.getByRole("button", { name: "Remove works from Light on lime" }).click();
  await expect(page.getByText("Works removed from the series: 1")).toBeVisible();
  expect(await worksOf("light-on-lime")).toEqual([third, first]);
  await page.getByRole("button", { name: "Add works to Light on lime" }).click();
  await expect(page.getByText("Works added to the series: 1")).toBeVisible();
  expect(await worksOf("light-on-lime")).toEqual([third, first, second]);
});

for (const language of languages)
  test(`S2-series-page S2-series-axe: the page of a series in ${repetition(language)}`, async ({
    page,
    browser,
  }) => {
    const url = server.url + inLanguage(language, "/gallery/all?series=salt");
    const about = language === "en" ? "By the sea." : "À beira-mar.";
    const wanted = await worksOf("salt");
    const titles = (of: Page) => of.locator("[role=listitem] span.italic").allTextContents();

    const still = await browser.newContext({ javaScriptEnabled: false });
    const plain = await still.newPage();
    await plain.goto(url);
    await expect(plain.getByRole("heading", { name: "Salt and blue", level: 1 })).toBeVisible();
    await expect(plain.getByText(about)).toBeVisible();
    expect(await titles(plain)).toEqual(wanted);
    await plain
      .getByRole("navigation", { name: text(language, "gallery.filters") })
      .getByRole("link", { name: text(language, "gallery.filter.all") })
      .click();
    await expect(
      plain.getByRole("heading", { name: text(language, "gallery.title"), level: 1 }),
    ).toBeVisible();
    await plain
      .getByRole("navigation", { name: text(language, "series.row") })
      .getByRole("link", { name: "Salt and blue" })
      .click();
    await expect(plain).toHaveURL(url);
    // The link to the other language keeps the open work and its series.
    const { data: work } = await asService(server)
      .from("products")
      .select("id")
      .eq("title", wanted[0]!)
      .single()
      .throwOnError();
    const opened = `/gallery/all?series=salt&art=${work.id}`;
    await plain.goto(server.url + inLanguage(language, opened));
    await plain.getByRole("link", { name: text(language, "nav.switchLanguage") }).click();
    const other = language === "en" ? "pt" : "en";
    await expect(plain).toHaveURL(server.url + inLanguage(other, opened));
    await still.close();

    const requests: string[] = [];
    page.on("request", (request) => {
      if (request.url().includes("/rest/v1/")) requests.push(request.url());
    });
    await page.goto(url);
    expect(await titles(page)).toEqual(wanted);
    expect(requests).toEqual([]); // the page contains all its data
    await checkPage(page, `series-page-${language}`);
    await page.goto(server.url + inLanguage(language, "/gallery/all"));
    await checkPage(page, `series-row-${language}`);
    const gone = await page.goto(server.url + inLanguage(language, "/gallery/all?series=nobody"));
    expect(gone!.status()).toBe(404);
    await expect(page.getByText(text(language, "series.gone"))).toBeVisible();
  });

test("S2-series-page: the menu's link to the gallery leads from a series to the top of all works", async ({
  page,
}) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${server.url}/gallery/all?series=salt`);
  await page.evaluate(() => scrollTo({ top: document.body.scrollHeight, behavior: "instant" }));
  await expect.poll(() => page.evaluate(() => scrollY)).toBeGreaterThan(100);
  await page.getByRole("button", { name: text("en", "nav.menu") }).click();
  await page
    .getByRole("banner")
    .getByRole("link", { name: text("en", "nav.gallery") })
    .click();
  await expect(page).toHaveURL(`${server.url}/gallery/all`);
  await expect.poll(() => page.evaluate(() => scrollY)).toBe(0);
});

for (const language of languages)
  test(`A-series-axe: axe: the admin pages of series, in ${repetition(language)}`, async ({
    page,
  }) => {
    await signInAt(page, server, "/admin/series", language);
    await expect(page.getByText("Salt and blue", { exact: true })).toBeVisible();
    await checkPage(page, `series-list-${language}`);
    await page
      .getByRole("button", { name: text(language, "series.add") })
      .first()
      .click();
    await expect(page.getByRole("dialog")).toBeVisible();
    await checkPage(page, `series-form-${language}`);
    await page.keyboard.press("Escape");
    await page
      .getByRole("link", { name: text(language, "series.worksOf", { title: "Salt and blue" }) })
      .click();
    await page.locator("[data-index='0'] [data-picture][aria-pressed]").click();
    await expect(page.getByRole("region", { name: text(language, "wall.bar") })).toBeVisible();
    await checkPage(page, `series-wall-${language}`);
  });

test("A-history-series A-history-can: texts, works and order of a series are compared with an earlier version and restored, in pt", async ({
  page,
}) => {
  const language = "pt";
  const say = (key: Parameters<typeof text>[1], vars?: Record<string, string | number>) =>
    text(language, key, vars);
  const owner = asService(server);
  const slug = `tide-${language}`;
  const before = {
    title: "Low tide",
    title_pt: "Maré baixa",
    text: "Twice a day.",
    text_pt: "Duas vezes.",
  };
  const after = { title: "High tide", title_pt: null, text_pt: "Duas por dia." };
  const { data: works } = await owner
    .from("products")
    .select("id,title")
    .in("artwork_type", ["mural", "digital"])
    .order("title")
    .limit(4)
    .throwOnError();
  const { data: series } = await owner
    .from("series")
    .insert({ slug, ...before })
    .select("id")
    .single()
    .throwOnError();
  const add = (...indexes: number[]) =>
    owner
      .from("series_works")
      .insert(indexes.map((n) => ({ series_id: series.id, product_id: works[n]!.id })))
      .throwOnError();
  await add(0, 1, 2);
  const wanted = await worksOf(slug);
  expect(wanted).toHaveLength(3);
  // A change of the row between two changes of the works gives each a revision of its own.
  await owner.from("series").update(after).eq("id", series.id).throwOnError();
  const taken = owner.from("series_works").delete().eq("series_id", series.id);
  await taken.eq("product_id", works[0]!.id).throwOnError();
  await add(3);
  const { data: pairs } = await owner
    .from("series_works")
    .select("id,product_id")
    .eq("series_id", series.id)
    .throwOnError();
  const last = pairs.find(({ product_id }) => product_id === works[3]!.id)!;
  const moved = await owner.rpc("move_series_work", {
    ids: [last.id],
    place: "first",
    target: null,
  });
  expect(moved.error).toBeNull();
  const changed = [works[3]!.title, ...wanted.slice(1)];
  expect(await worksOf(slug)).toEqual(changed);

  await signInAt(page, server, "/admin/series", language);
  await page.getByRole("button", { name: say("history.ofNamed", { name: "High tide" }) }).click();
  const dialog = page.getByRole("dialog");
  const versions = dialog.getByRole("button", { expanded: false });
  await expect(versions).toHaveCount(3); // the works, the row, and the works before they were added
  await versions.nth(1).click();
  // Both versions of each text, and of the works in their order.
  const shown = dialog.locator("dd:visible"); // those of the other versions are hidden
  for (const title of ["Low tide", "High tide", "Maré baixa", "Duas vezes.", "Duas por dia."])
    await expect(shown.filter({ hasText: title }).first()).toBeVisible();
  for (const titles of [wanted, changed])
    await expect(
      shown.filter({
        hasText: [say("series.workCount", { n: titles.length }), ...titles].join(" "),
      }),
    ).toBeVisible();
  await checkPage(page, `series-history-${language}`);

  await page.setViewportSize({ width: 390, height: 844 });
  await dialog.getByRole("button", { name: say("history.bringBack") }).click();
  await expect(page.getByText(say("history.toast.back"))).toBeVisible();
  await expect(dialog).toBeHidden();
  expect(await worksOf(slug)).toEqual(wanted);
  const restored = await owner
    .from("series")
    .select("title,title_pt,text,text_pt")
    .eq("id", series.id)
    .single();
  expect(restored.data).toEqual(before);
  await page.goto(server.url + inLanguage(language, `/gallery/all?series=${slug}`));
  await expect(
    page.getByRole("heading", { name: language === "pt" ? "Maré baixa" : "Low tide", level: 1 }),
  ).toBeVisible();
  expect(await page.locator("[role=listitem] span.italic").allTextContents()).toEqual(wanted);
  // This change can be undone too.
  await page.goto(server.url + inLanguage(language, "/admin/series"));
  await page.getByRole("button", { name: say("history.ofNamed", { name: "Low tide" }) }).click();
  await expect(
    dialog.getByText(say("history.by", { actor: server.owner!.email })).first(),
  ).toBeVisible();
  await owner.from("series").delete().eq("id", series.id).throwOnError();
});

test("A-draft-1: texts typed into a series on the page of its works survive a reload", async ({
  page,
}) => {
  const owner = asService(server);
  const { data: series } = await owner
    .from("series")
    .insert({ slug: "half", title: "Half", is_published: false })
    .select("id")
    .single()
    .throwOnError();
  await signInAt(page, server, `/admin/series?works=${series.id}`);
  const edit = page.locator("button", { hasText: text("en", "series.editTexts") });
  await edit.click();
  const dialog = page.getByRole("dialog");
  const title = dialog.getByLabel("Title", { exact: true });
  await title.fill("Half a title");
  await page.reload();
  await expect(edit).toBeVisible(); // the page of the works, which is mounted after the list of series has loaded
  await expect(title).toHaveValue("Half a title");
  await expect(dialog.getByText(/^Draft of .+ restored/)).toBeVisible();
  await dialog.getByRole("button", { name: text("en", "common.saveChanges") }).click();
  await expect(page.getByText(text("en", "series.toast.updated"))).toBeVisible();
  await expect(dialog).toBeHidden();
  const { data: saved } = await owner.from("series").select("title").eq("id", series.id).single();
  expect(saved).toEqual({ title: "Half a title" });
  await owner.from("series").delete().eq("id", series.id).throwOnError();
});
