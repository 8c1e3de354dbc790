// The screens of works, series, covers, reviews and messages at the widths of a phone, a tablet and a desk: on a site of 5,000 works
// whose titles are long, with drafts and scheduled works, and on one that has nothing yet. Only in Portuguese, whose texts are the
// longer ones: SCREENSHOTS=folder looks at the English screens too, and takes pictures in both colour schemes; SCREENS=names limits
// them. Colours, names and roles do not depend on long titles: other tests run axe on these screens, and this one where they do not.
import type { Page } from "@playwright/test";

import { asOwner, asService, ownerEmail, ownerPassword } from "../harness/clients.ts";
import { type Server, startServer } from "../harness/server.ts";
import { signInAt } from "./admin.ts";
import { expect, expectAccessible, finishAnimations, test } from "./fixtures.ts";
import { inLanguage, type Language, languages, text } from "./texts.ts";

const WORKS = 5000;
/** Titles of 60 characters, the second without a space. */
const LONG = "Self-portrait with a straw hat, before the blue wall at noon";
const UNBROKEN = "Wolkenkuckucksheimgemaeldewerkstaettenverzeichnisverwaltung1";
const PAST = "2026-01-02T09:00:00Z";
const FUTURE = "2999-06-01T09:00:00Z";

const longId = crypto.randomUUID();
const unbrokenId = crypto.randomUUID();
const messageId = crypto.randomUUID();

let full: Server;
let empty: Server;

test.use({ contextOptions: { reducedMotion: "reduce" } });
// Taking all pictures needs several times as long as looking.
if (process.env.SCREENSHOTS) test.describe.configure({ timeout: 0 });

test.beforeAll(async ({ demoFolder }) => {
  empty = await startServer("sqlite");
  await asOwner(empty);
  empty.owner = { email: ownerEmail, password: ownerPassword };
  full = await startServer("sqlite", { demo: demoFolder });
  const owner = asService(full);
  const rows = Array.from({ length: WORKS }, (_, n) => ({
    title: `Study ${String(n + 1).padStart(4, "0")}`,
    artwork_type: "oil",
    created_at: new Date(Date.UTC(2020, 0, 1) - n * 60_000).toISOString(),
  }));
  for (let at = 0; at < rows.length; at += 1000)
    await owner
      .from("products")
      .insert(rows.slice(at, at + 1000))
      .throwOnError();
  const { data: shown } = await owner
    .from("products")
    .select("image_url")
    .eq("title", "Onda")
    .single()
    .throwOnError();
  const { image_url } = shown;
  // Each row names all columns: one that only other rows name would be null, and a work without published_at is a draft.
  const work = { image_url, medium: null, dimensions: null, published_at: PAST };
  const works = [
    {
      ...work,
      id: longId,
      title: LONG,
      artwork_type: "mural",
      medium: LONG,
      dimensions: UNBROKEN,
    },
    { ...work, id: unbrokenId, title: UNBROKEN, artwork_type: "watercolour" },
    {
      ...work,
      id: crypto.randomUUID(),
      title: LONG,
      artwork_type: "digital",
      image_url: null,
      published_at: null,
    },
    {
      ...work,
      id: crypto.randomUUID(),
      title: UNBROKEN,
      artwork_type: "digital",
      published_at: FUTURE,
    },
  ];
  await owner.from("products").insert(works).throwOnError();
  const { data: series } = await owner
    .from("series")
    .insert([
      { slug: "long", title: LONG, text: LONG, is_published: true },
      { slug: "unbroken", title: UNBROKEN, text: null, is_published: false },
    ])
    .select("id")
    .throwOnError();
  await owner
    .from("series_works")
    .insert(
      series.flatMap(({ id: series_id }) =>
        works.map(({ id: product_id }) => ({ series_id, product_id })),
      ),
    )
    .throwOnError();
  await owner
    .from("cover_images")
    .update({ title: LONG, title_pt: UNBROKEN, visible_until: FUTURE })
    .eq("display_order", 1)
    .throwOnError();
  await owner
    .from("reviews")
    .insert({ client_name: UNBROKEN, location: UNBROKEN, message: UNBROKEN, display_order: 0 })
    .throwOnError();
  await owner
    .from("contact_submissions")
    .insert({
      id: messageId,
      name: UNBROKEN,
      email: "ines@example.com",
      message: UNBROKEN,
      reason: "commission",
      artwork_id: unbrokenId,
    })
    .throwOnError();
  // Earlier versions for the history, and deleted works that come back.
  await owner.from("products").update({ medium: UNBROKEN }).eq("id", unbrokenId).throwOnError();
  await owner.from("series").update({ text: UNBROKEN }).eq("slug", "unbroken").throwOnError();
  const gone = languages.map((language) => ({
    title: `${language} ${UNBROKEN}`,
    artwork_type: "oil",
  }));
  await owner.from("products").insert(gone).throwOnError();
  await owner
    .from("products")
    .delete()
    .in(
      "title",
      gone.map(({ title }) => title),
    )
    .throwOnError();
});
test.afterAll(async () => {
  await full.stop();
  await empty.stop();
});

const widths = [1440, 390, 768];

/** Expects that nothing is wider than the window, a dialog or a toast that contains it. */
async function expectFits(page: Page): Promise<void> {
  await expect
    .poll(() =>
      page.evaluate(() =>
        [
          document.documentElement,
          ...document.querySelectorAll("[role$=dialog], :has(> [role$=dialog]), .toast"),
        ]
          .filter((element) => element.scrollWidth > element.clientWidth)
          .map((element) => [element.className, element.scrollWidth - element.clientWidth]),
      ),
    )
    .toEqual([]);
}

type Say = (key: Parameters<typeof text>[1], vars?: Record<string, string | number>) => string;
type Screen = {
  name: string;
  path: string;
  /** Opens a dialog of the page, or waits for its content. */
  open(page: Page, say: Say, language: Language): Promise<void>;
  /** Scrolls to what is looked at, or checks more, at each width. */
  look?(page: Page, say: Say): Promise<void>;
  /** The widths at which the screen is looked at. */
  at?: readonly number[];
  /** Whether axe runs. */
  axe?: boolean;
};

const button = (page: Page, name: string) =>
  page.getByRole("button", { name, exact: true }).locator("visible=true").first();
const heading = async (page: Page) =>
  expect(page.getByRole("heading", { level: 1 }).first()).toBeAttached();
const shows = async (page: Page, shown: string) =>
  expect(page.getByText(shown).locator("visible=true").first()).toBeVisible();

const WALL = "/admin/products?as=wall&sort=manual";
const ownersScreens: Screen[] = [
  { name: "overview", path: "/admin", open: heading },
  { name: "table", path: "/admin/products", open: (page) => shows(page, LONG) },
  {
    name: "wall",
    path: WALL,
    open: async (page, say) => {
      for (const index of [0, 2])
        await page.locator(`[data-index="${index}"] [data-picture][aria-pressed]`).click();
      await expect(page.getByRole("region", { name: say("wall.bar") })).toBeVisible();
    },
    look: async (page, say) => {
      const bar = await page.getByRole("region", { name: say("wall.bar") }).boundingBox();
      expect(bar!.height).toBeLessThan(3 * 44); // two rows of controls
    },
  },
  {
    name: "choose-series",
    path: WALL,
    open: async (page, say) => {
      await page.locator('[data-index="0"] [data-picture][aria-pressed]').click();
      await button(page, say("series.choose")).click();
      await expect(page.getByRole("dialog").getByText(LONG)).toBeVisible();
    },
    axe: true,
  },
  {
    name: "work-form",
    path: `/admin/products?q=${UNBROKEN}`,
    open: async (page, say) => {
      await button(page, say("products.editNamed", { title: UNBROKEN })).click();
      await expect(page.getByRole("dialog")).toBeVisible();
    },
  },
  {
    name: "work-history",
    path: `/admin/products?q=${UNBROKEN}&type=watercolour`,
    open: async (page, say) => {
      await button(page, say("history.ofNamed", { name: UNBROKEN })).click();
      await page.getByRole("dialog").locator("[aria-expanded]").first().click();
      await expect(page.getByRole("dialog").locator("dd:visible").last()).toBeVisible();
    },
  },
  {
    name: "deleted-works",
    path: "/admin/products",
    open: async (page, say) => {
      await button(page, say("deleted.open")).click();
      await expect(page.getByRole("dialog").getByText(UNBROKEN).first()).toBeVisible();
    },
  },
  {
    name: "work-is-back",
    path: "/admin/products",
    open: async (page, say, language) => {
      await page.setViewportSize({ width: 390, height: 900 });
      await button(page, say("deleted.open")).click();
      const name = `${language} ${UNBROKEN}`;
      await button(page, say("deleted.bringBackNamed", { name })).click();
      await expect(page.getByText(say("deleted.toast.back", { name })).first()).toBeVisible();
    },
    at: [390], // while the toast is shown
  },
  { name: "series-list", path: "/admin/series", open: (page) => shows(page, UNBROKEN) },
  {
    name: "series-form",
    path: "/admin/series",
    open: async (page, say) => {
      await button(page, say("series.editNamed", { title: UNBROKEN })).click();
      await expect(page.getByRole("dialog")).toBeVisible();
    },
  },
  {
    name: "series-works",
    path: "/admin/series",
    open: async (page, say) => {
      await page
        .getByRole("link", { name: say("series.worksOf", { title: UNBROKEN }) })
        .locator("visible=true")
        .click();
      await page.locator('[data-index="0"] [data-picture][aria-pressed]').click();
      await expect(page.getByRole("region", { name: say("wall.bar") })).toBeVisible();
    },
  },
  {
    name: "series-history",
    path: "/admin/series",
    open: async (page, say) => {
      await button(page, say("history.ofNamed", { name: UNBROKEN })).click();
      await page.getByRole("dialog").locator("[aria-expanded]").first().click();
      await expect(page.getByRole("dialog").locator("dd:visible").last()).toBeVisible();
    },
  },
  {
    name: "covers",
    path: "/admin/cover-images",
    open: (page) => expect(page.getByRole("switch").first()).toBeVisible(),
  },
  {
    name: "cover-works",
    path: "/admin/cover-images",
    open: async (page, say) => {
      await button(page, say("covers.fromWorks")).click();
      await expect(page.getByRole("dialog").getByText(LONG).first()).toBeVisible();
    },
  },
  { name: "reviews", path: "/admin/reviews", open: (page) => shows(page, UNBROKEN) },
  {
    name: "review-deletion",
    path: "/admin/reviews",
    open: async (page, say) => {
      await button(page, say("reviews.deleteNamed", { name: UNBROKEN })).click();
      await expect(page.getByRole("alertdialog").or(page.getByRole("dialog"))).toBeVisible();
    },
  },
  {
    name: "message",
    path: `/admin/contact-messages?message=${messageId}`,
    open: (page) => expect(page.getByRole("link", { name: UNBROKEN }).first()).toBeVisible(),
  },
  { name: "messages", path: "/admin/contact-messages", open: (page) => shows(page, UNBROKEN) },
  { name: "board", path: "/admin/contact-messages/board", open: (page) => shows(page, UNBROKEN) },
  {
    name: "settings-gallery",
    path: "/admin/settings",
    open: async (page, say) => {
      const group = page.getByRole("region", { name: say("settings.group.gallery") });
      await expect(group.getByRole("switch").first()).toBeVisible();
    },
    look: (page, say) =>
      page
        .getByRole("region", { name: say("settings.group.gallery") })
        .evaluate((group) => group.scrollIntoView({ behavior: "instant" })),
  },
];
const visitorsScreens: Screen[] = [
  {
    name: "gallery",
    path: "/gallery/all",
    open: (page) => shows(page, LONG),
    look: async (page, say) => {
      const row = await page.getByRole("navigation", { name: say("series.row") }).boundingBox();
      expect(row!.height).toBeLessThan(200); // a picture and three lines of a title
    },
  },
  { name: "series", path: "/gallery/all?series=long", open: heading },
  {
    name: "work",
    path: `/gallery/all?art=${unbrokenId}`,
    open: (page) => expect(page.getByRole("dialog").getByRole("heading").first()).toBeVisible(),
  },
  { name: "home", path: "/", open: heading },
];
const emptyScreens: Screen[] = [
  { name: "empty-overview", path: "/admin", open: heading },
  { name: "empty-table", path: "/admin/products", open: heading },
  { name: "empty-wall", path: WALL, open: heading, axe: true },
  { name: "empty-series-list", path: "/admin/series", open: heading, axe: true },
  { name: "empty-covers", path: "/admin/cover-images", open: heading, axe: true },
];
const emptyVisitorsScreens: Screen[] = [
  { name: "empty-gallery", path: "/gallery/all", open: heading },
  { name: "empty-home", path: "/", open: heading },
];

/** Opens each of the screens, and expects that it fits at each width. */
async function visit(
  page: Page,
  server: Server,
  screens: readonly Screen[],
  language: Language,
): Promise<void> {
  const say: Say = (key, vars) => text(language, key, vars);
  if (screens.some(({ path }) => path.startsWith("/admin")))
    await signInAt(page, server, "/admin", language);
  const only = process.env.SCREENS?.split(",");
  for (const { name, path, open, look, at = widths, axe } of screens.filter(
    (s) => !only || only.includes(s.name),
  ))
    await test.step(name, async () => {
      await page.setViewportSize({ width: widths[0]!, height: 900 });
      await page.goto(server.url + inLanguage(language, path));
      await open(page, say, language);
      for (const width of at) {
        await page.setViewportSize({ width, height: 900 });
        await expect(page.locator("[aria-busy=true]")).toHaveCount(0);
        await expectFits(page);
        await look?.(page, say);
        if (process.env.SCREENSHOTS)
          await takePictures(page, `${process.env.SCREENSHOTS}/${name}-${language}-${width}`);
      }
      if (axe) await expectAccessible(page);
    });
}

async function takePictures(page: Page, path: string): Promise<void> {
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    await finishAnimations(page);
    await page.screenshot({ path: `${path}-${colorScheme}.png` });
  }
}

for (const language of process.env.SCREENSHOTS ? languages : (["pt"] as const)) {
  test(`A-fits-long: the owner's screens with long titles and 5,000 works, in ${language}`, ({
    page,
  }) => visit(page, full, ownersScreens, language));

  test(`S2-fits-long: visitors' pages with long titles, in ${language}`, ({ page }) =>
    visit(page, full, visitorsScreens, language));

  test(`A-fits-empty S2-fits-empty: a site without works, series and covers, in ${language}`, async ({
    page,
  }) => {
    await visit(page, empty, emptyVisitorsScreens, language);
    await visit(page, empty, emptyScreens, language);
  });
}
