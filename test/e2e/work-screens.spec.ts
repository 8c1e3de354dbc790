// The screens of works, series and covers at the widths of a phone, a tablet and a desk, in both colour schemes and languages: on a site
// of 5,000 works whose titles are long, drafts and scheduled works among them, and on one that has nothing yet.
import type { Page } from "@playwright/test";

import { asService } from "../harness/clients.ts";
import { type Server, startServer } from "../harness/server.ts";
import { signInAt } from "./admin.ts";
import {
  expect,
  expectAccessibleInBothSchemes,
  expectNoSidewaysScroll,
  finishAnimations,
  test,
} from "./fixtures.ts";
import { inLanguage, type Language, languages, text } from "./texts.ts";

const WORKS = 5000;
/** Titles of 60 characters, the second without a space. */
const PAST = "2026-01-02T09:00:00Z";
const LONG = "Self-portrait with a straw hat, before the blue wall at noon";
const UNBROKEN = "Wolkenkuckucksheimgemaeldewerkstaettenverzeichnisverwaltung1";

let full: Server;
let empty: Server;
let longId: string;

test.use({ contextOptions: { reducedMotion: "reduce" } });
test.describe.configure({ timeout: 300_000 });

test.beforeAll(async ({ demoFolder }) => {
  empty = await startServer("sqlite");
  full = await startServer("sqlite", { demo: demoFolder });
  const owner = asService(full);
  const rows = Array.from({ length: WORKS }, (_, n) => ({
    title: `Study ${String(n + 1).padStart(4, "0")}`,
    artwork_type: "oil",
    created_at: new Date(Date.UTC(2020, 0, 1) - n * 60_000).toISOString(),
  }));
  for (let at = 0; at < rows.length; at += 500)
    await owner
      .from("products")
      .insert(rows.slice(at, at + 500))
      .throwOnError();
  const { data: shown } = await owner
    .from("products")
    .select("image_url")
    .eq("title", "Onda")
    .single()
    .throwOnError();
  const { image_url } = shown;
  const { data: works } = await owner
    .from("products")
    .insert([
      // A column that only other rows name would be null here, and a work without published_at is a draft.
      {
        title: LONG,
        artwork_type: "mural",
        image_url,
        medium: LONG,
        dimensions: LONG,
        published_at: PAST,
      },
      {
        title: UNBROKEN,
        artwork_type: "watercolour",
        image_url,
        title_pt: UNBROKEN,
        published_at: PAST,
      },
      { title: LONG, artwork_type: "digital", published_at: null },
      { title: UNBROKEN, artwork_type: "digital", published_at: "2999-06-01T09:00:00Z" },
    ])
    .select("id,title,published_at")
    .throwOnError();
  longId = works.find((work) => work.title === LONG && work.published_at)!.id;
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
  const { data: cover } = await owner
    .from("cover_images")
    .select("id")
    .eq("display_order", 1)
    .single()
    .throwOnError();
  await owner
    .from("cover_images")
    .update({ title: LONG, title_pt: UNBROKEN, visible_until: "2999-06-01T09:00:00Z" })
    .eq("id", cover.id)
    .throwOnError();
});
test.afterAll(async () => {
  await full.stop();
  await empty.stop();
});

const widths = [1440, 768, 390];

/** Looks at a screen at each width in both colour schemes. SCREENSHOTS names a folder for pictures of it. */
async function look(page: Page, name: string): Promise<void> {
  for (const width of widths)
    await test.step(`${name} ${width}`, async () => {
      await page.setViewportSize({ width, height: 900 });
      await expect(page.locator("[aria-busy=true]")).toHaveCount(0);
      await expectNoSidewaysScroll(page);
      await expectAccessibleInBothSchemes(page, async (scheme) => {
        if (!process.env.SCREENSHOTS) return;
        await finishAnimations(page);
        await page.screenshot({
          path: `${process.env.SCREENSHOTS}/${name}-${width}-${scheme}.png`,
        });
      });
      await page.emulateMedia({ colorScheme: "light" });
    });
}

type Say = (key: Parameters<typeof text>[1], vars?: Record<string, string | number>) => string;
type Screen = {
  name: string;
  path: string;
  /** Opens a dialog of the page, or waits for its content. */
  open(page: Page, say: Say): Promise<void>;
};

const button = (page: Page, name: string) =>
  page.getByRole("button", { name, exact: true }).locator("visible=true").first();
const heading = async (page: Page) =>
  expect(page.getByRole("heading", { level: 1 }).first()).toBeAttached();

const WALL = "/admin/products?as=wall&sort=manual";
const ownersScreens: Screen[] = [
  { name: "overview", path: "/admin", open: heading },
  {
    name: "table",
    path: "/admin/products",
    open: (page) => expect(page.getByText(LONG).locator("visible=true").first()).toBeVisible(),
  },
  {
    name: "wall",
    path: WALL,
    open: async (page, say) => {
      for (const index of [0, 2])
        await page.locator(`[data-index="${index}"] button`).first().click();
      await expect(page.getByRole("region", { name: say("wall.bar") })).toBeVisible();
    },
  },
  {
    name: "choose-series",
    path: WALL,
    open: async (page, say) => {
      await page.locator('[data-index="0"] button').first().click();
      await button(page, say("series.choose")).click();
      await expect(page.getByRole("dialog").getByText(LONG)).toBeVisible();
    },
  },
  {
    name: "work-form",
    path: `/admin/products?q=${encodeURIComponent(UNBROKEN)}`,
    open: async (page, say) => {
      await button(page, say("products.editNamed", { title: UNBROKEN })).click();
      await expect(page.getByRole("dialog")).toBeVisible();
    },
  },
  {
    name: "series-list",
    path: "/admin/series",
    open: (page) => expect(page.getByText(LONG, { exact: true }).first()).toBeVisible(),
  },
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
        .getByRole("link", { name: say("series.worksOf", { title: LONG }) })
        .locator("visible=true")
        .click();
      await page.locator('[data-index="0"] [data-picture][aria-pressed]').click();
      await expect(page.getByRole("region", { name: say("wall.bar") })).toBeVisible();
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
  {
    name: "settings-gallery",
    path: "/admin/settings",
    open: async (page, say) => {
      const group = page.getByRole("region", { name: say("settings.group.gallery") });
      await group.scrollIntoViewIfNeeded();
      await expect(group.getByRole("switch").first()).toBeVisible();
    },
  },
];
const visitorsScreens: Screen[] = [
  {
    name: "gallery",
    path: "/gallery/all",
    open: (page) => expect(page.getByText(LONG).first()).toBeVisible(),
  },
  { name: "series", path: "/gallery/all?series=long", open: heading },
  {
    name: "work",
    path: "/gallery/all?art=",
    open: (page) => expect(page.getByRole("dialog").getByRole("heading").first()).toBeVisible(),
  },
  { name: "home", path: "/", open: heading },
];
const emptyScreens: Screen[] = [
  { name: "empty-overview", path: "/admin", open: heading },
  { name: "empty-table", path: "/admin/products", open: heading },
  { name: "empty-wall", path: WALL, open: heading },
  { name: "empty-series-list", path: "/admin/series", open: heading },
  { name: "empty-covers", path: "/admin/cover-images", open: heading },
  { name: "empty-gallery", path: "/gallery/all", open: heading },
  { name: "empty-home", path: "/", open: heading },
];

/** Looks at each of the screens. */
async function visit(
  page: Page,
  server: Server,
  screens: Screen[],
  language: Language,
): Promise<void> {
  const say: Say = (key, vars) => text(language, key, vars);
  for (const { name, path, open } of screens) {
    const address = path.endsWith("art=") ? path + longId : path;
    await page.setViewportSize({ width: 1440, height: 900 });
    if (address.startsWith("/admin")) await signInAt(page, server, address, language);
    else await page.goto(server.url + inLanguage(language, address));
    await open(page, say);
    await look(page, `${name}-${language}`);
  }
}

for (const language of languages) {
  test(`A-wall-axe A-series-axe A-cov-10 A-prod-19: the owner's screens with long titles and 5,000 works, in ${language}`, ({
    page,
  }) => visit(page, full, ownersScreens, language));

  test(`S2-route-2 S2-series-axe: visitors' pages with long titles and 5,000 works, in ${language}`, ({
    page,
  }) => visit(page, full, visitorsScreens, language));

  test(`A-wall-axe A-series-axe S2-route-2: a site without works, series and covers, in ${language}`, ({
    page,
  }) => visit(page, empty, emptyScreens, language));
}
