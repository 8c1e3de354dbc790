// What search engines, link previews and feed readers get from the real binary with the demo content.
import { HtmlValidate } from "html-validate";

import { pictureSize } from "../harness/picture-size.ts";
import { expect, waitForHydration, test } from "./fixtures.ts";
import { inLanguage, languages } from "./texts.ts";

const paths = [
  "/",
  "/gallery",
  "/gallery/all",
  "/gallery/digital",
  "/gallery/mural",
  "/gallery/watercolour",
  "/politica-privacidade",
];

const unescaped = (text: string) =>
  text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&#34;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");

/** Returns the first group of all matches in a text. */
const allMatches = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([, value]) => unescaped(value!));

/** Returns the URLs in the sitemap, in its order. */
async function readSitemap(url: string): Promise<{ pages: string[]; images: string[] }> {
  const response = await fetch(`${url}/sitemap.xml`);
  expect(response.status).toBe(200);
  const text = await response.text();
  return {
    pages: allMatches(text, /<loc>([^<]+)<\/loc>/g),
    images: [...new Set(allMatches(text, /<image:loc>([^<]+)<\/image:loc>/g))],
  };
}

/** Calls `visit` for all items, with the limited concurrency of a crawler. */
async function forEach<T>(items: readonly T[], visit: (item: T) => Promise<void>): Promise<void> {
  const rest = [...items];
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (let item = rest.shift(); item !== undefined; item = rest.shift()) await visit(item);
    }),
  );
}

test("P-found-html: every public page is valid HTML in both languages", async ({ demo }) => {
  const validator = new HtmlValidate({ extends: ["html-validate:standard"] });
  const { pages } = await readSitemap(demo.url);
  const work = pages.find((page) => page.includes("?art="))!;
  const wanted = [...paths, new URL(work).pathname + new URL(work).search, "/nothing/here"];
  for (const path of wanted.flatMap((one) => languages.map((l) => inLanguage(l, one)))) {
    const report = await validator.validateString(await (await fetch(demo.url + path)).text());
    expect(
      report.results.flatMap(({ messages }) =>
        messages.map(({ ruleId, message, line }) => `${path}:${line} ${ruleId}: ${message}`),
      ),
    ).toEqual([]);
  }
});

test("P-found-canonical P-found-picture P-found-crawl: all pages and pictures of the sitemap exist, with the canonical URL and picture that they name", async ({
  demo,
}) => {
  const { pages, images } = await readSitemap(demo.url);
  expect(pages).toHaveLength(2 * (6 + 22));
  expect(new Set(pages).size).toBe(pages.length);
  const further = new Set<string>(images);
  await forEach(pages, async (url) => {
    const response = await fetch(url, { redirect: "manual" });
    const page = await response.text();
    expect([url, response.status, response.headers.get("content-type")]).toEqual([
      url,
      200,
      "text/html; charset=utf-8",
    ]);
    expect(page).not.toContain('content="noindex"');
    expect(allMatches(page, /<link rel="canonical" href="([^"]+)">/g)).toEqual([url]);
    const alternates = allMatches(page, /<link rel="alternate" hreflang="[^"]+" href="([^"]+)">/g);
    expect(alternates).toContain(url);
    for (const other of alternates) expect(pages).toContain(other);
    for (const name of ["og:image", "og:url"]) {
      const [value] = allMatches(
        page,
        new RegExp(`<meta property="${name}" content="([^"]+)">`, "g"),
      );
      if (name === "og:url") expect(value).toBe(url);
      else further.add(value!);
    }
    for (const link of allMatches(
      page,
      /<link rel="(?:manifest|apple-touch-icon|icon)" href="([^"]+)"/g,
    ))
      further.add(new URL(link, url).href);
    for (const feed of allMatches(page, /<link [^>]*atom\+xml[^>]* href="([^"]+)">/g))
      further.add(new URL(feed, url).href);
  });
  const icons = (await (await fetch(`${demo.url}/site.webmanifest`)).json()) as {
    icons: { src: string }[];
  };
  for (const { src } of icons.icons) further.add(demo.url + src);
  await forEach([...further], async (url) => {
    // Without this header, the server would make the picture in its original format on request.
    const response = await fetch(url, { headers: { accept: "image/webp,*/*" } });
    const bytes = Buffer.from(await response.arrayBuffer());
    expect([url, response.status]).toEqual([url, 200]);
    if (!url.includes("/render/image/")) return;
    expect(response.headers.get("cache-control")).toContain("immutable");
    if (!url.includes("resize=frame")) return;
    expect([url, pictureSize(bytes)]).toEqual([url, "jpeg 1200x630"]);
    expect(bytes.length).toBeLessThan(300_000);
  });
  // Each work has its own preview picture.
  expect([...further].filter((url) => url.includes("resize=frame")).length).toBeGreaterThan(20);
});

test("P-found-crawl: links lead to every page of the sitemap, and cards to every work", async ({
  page,
  demo,
}) => {
  const { pages } = await readSitemap(demo.url);
  const met = new Set([`${demo.url}/`]);
  const named = new Set<string>();
  for (const url of met) {
    await page.goto(url);
    await page.waitForLoadState("networkidle");
    const found = await page.evaluate(() =>
      [...document.querySelectorAll<HTMLAnchorElement | HTMLLinkElement>("a[href], link[hreflang]")]
        .map(({ href }) => href.replace(/#.*/, ""))
        .filter((href) => href.startsWith(`${location.origin}/`)),
    );
    // The Portuguese pages have the same links, so only their presence in the sitemap is checked.
    for (const href of found) {
      if (href.includes("?art=")) continue;
      if (href.includes("lang=pt")) named.add(href);
      else met.add(href);
    }
  }
  const works = pages.filter((url) => url.includes("?art=") && !url.includes("lang="));
  for (const url of pages) if (!url.includes("?art=")) expect([...met, ...named]).toContain(url);
  for (const type of ["digital", "mural", "watercolour"]) {
    const here = works.filter((url) => url.includes(`/gallery/${type}?`));
    expect(here.length).toBeGreaterThan(0);
    await page.goto(`${demo.url}/gallery/${type}`);
    const cards = page.getByRole("link", { name: /^Open / });
    await expect(cards).toHaveCount(here.length);
    await cards.first().click();
    await expect(page).toHaveURL((url) => here.includes(url.href));
  }
});

test.describe("after a navigation without a page load", () => {
  test.use({ allowedConsole: [/status of 404 .*\/nowhere/] });

  test("P-found-moved: the metadata of the first page is removed from the head, and the rest stays", async ({
    page,
    demo,
  }) => {
    const head = () =>
      page.evaluate(() =>
        [...document.querySelectorAll("head > :is(meta, link, script)")].map((element) =>
          ["charset", "name", "property", "rel", "hreflang", "type"]
            .map((name) => element.getAttribute(name))
            .filter(Boolean)
            .join(" "),
        ),
      );
    const ofOne =
      /^(canonical|alternate (en|pt|x-default)|description|og:.+|twitter:.+|robots|application\/ld\+json)$/;
    const gallery = page.getByRole("banner").getByRole("link", { name: "Gallery", exact: true });
    for (const [path, atLeast] of [
      ["/", 22],
      ["/gallery/mural", 22],
      ["/nowhere", 1],
    ] as const) {
      await page.goto(demo.url + path);
      await waitForHydration(page);
      const before = await head();
      expect(before.filter((one) => ofOne.test(one)).length).toBeGreaterThanOrEqual(atLeast);
      await gallery.click();
      await expect(page).toHaveURL(`${demo.url}/gallery/all`);
      // A visitor would share the URL of the current page, so metadata of the first page would be wrong.
      await expect.poll(async () => (await head()).filter((one) => ofOne.test(one))).toEqual([]);
      const after = await head();
      for (const one of before) if (!ofOne.test(one)) expect(after).toContain(one);
    }
  });
});

test("P-found-title P-found-policy: the tab keeps the title of the server's HTML, and the data block complies with the policy", async ({
  page,
  demo,
}) => {
  const titles = async () => [
    ...new Set(
      await page.evaluate(() => (window as unknown as { titles: string[] }).titles.filter(Boolean)),
    ),
  ];
  await page.addInitScript(() => {
    const seen: string[] = [];
    Object.assign(window, { titles: seen });
    new MutationObserver(() => seen.push(document.title)).observe(document, {
      subtree: true,
      childList: true,
      characterData: true,
    });
  });
  const { pages } = await readSitemap(demo.url);
  const work = pages.find((url) => url.includes("/gallery/mural?art="))!;
  const few = ["/", "/gallery", "/gallery/mural", "/politica-privacidade"];
  const open = [...few.map((path) => demo.url + path), work];
  for (const url of open.flatMap((one) => languages.map((l) => inLanguage(l, one)))) {
    const [title] = allMatches(await (await fetch(url)).text(), /<title>([^<]*)<\/title>/g);
    await page.goto(url); // a violation of the policy is a console error, which fails the test
    await expect(page.locator("h1").first()).toBeAttached();
    if (url.includes("?art=")) await expect(page.getByRole("dialog")).toBeVisible();
    await page.waitForLoadState("networkidle");
    expect([url, await titles()]).toEqual([url, [title]]);
    const data = await page.locator('script[type="application/ld+json"]').textContent();
    expect((JSON.parse(data!) as { "@context": string })["@context"]).toBe("https://schema.org");
  }
});
