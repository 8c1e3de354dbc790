// The header, the phone panel, the language and navigation in a real browser.
import type { Locator, Page } from "@playwright/test";

import { startServer } from "../harness/server.ts";
import { signInAt } from "./admin.ts";
import { expect, pauseClock, recordToasts, test, waitUntilInteractive } from "./fixtures.ts";

declare global {
  interface Window {
    scrolls: { id: string; at: number }[];
  }
}

const bar = (page: Page) => page.getByRole("banner");
const logo = (page: Page) => bar(page).getByRole("link", { name: "Alvor, home" });
const scrollTop = (page: Page) => page.evaluate(() => scrollY);

async function fillSignIn(page: Page, { email, password }: { email: string; password: string }) {
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

test("S2-nav-1: the header stays at the top; the logo leads to the home page and scrolls to its top", async ({
  page,
  demo,
}) => {
  await page.goto(demo.url);
  await page.waitForFunction(() => document.documentElement.scrollHeight > 3500); // the sections are rendered
  await page.evaluate(() => scrollTo({ top: 2000, behavior: "instant" }));
  await expect.poll(() => scrollTop(page)).toBe(2000);
  expect((await bar(page).boundingBox())!.y).toBe(0);
  await logo(page).click();
  await expect.poll(() => scrollTop(page)).toBe(0);
  await page.goto(`${demo.url}/gallery/all`);
  await expect(page.getByRole("link", { name: /^Open / }).first()).toBeVisible();
  await page.evaluate(() => scrollTo({ top: 600, behavior: "instant" }));
  await logo(page).click();
  await expect(page).toHaveURL(`${demo.url}/`);
  await expect.poll(() => scrollTop(page)).toBe(0);
});

test("S2-nav-3: the gallery's submenu opens immediately under the mouse and closes 100 ms after the mouse has left", async ({
  page,
  demo,
}) => {
  await page.clock.install();
  await page.goto(demo.url);
  const link = bar(page).getByRole("link", { name: "Gallery", exact: true });
  await expect(link).toHaveAttribute("href", "/gallery/all");
  await pauseClock(page);
  const item = bar(page).getByRole("link", { name: "Watercolour" });
  await expect(item).toBeHidden();
  await link.hover();
  await expect(item).toBeVisible();
  const items = bar(page).getByRole("listitem").getByRole("link");
  await expect(items).toHaveText(["All Paintings", "Digital Painting", "Mural", "Watercolour"]);
  expect(await items.evaluateAll((links) => links.map((one) => one.getAttribute("href")))).toEqual([
    "/gallery/all",
    "/gallery/digital",
    "/gallery/mural",
    "/gallery/watercolour",
  ]);
  await page.mouse.move(10, 600);
  await page.clock.runFor(99);
  await expect(item).toBeVisible();
  await page.clock.runFor(1);
  await expect(item).toBeHidden();
});

for (const { button, id } of [
  { button: "About", id: "about" },
  { button: "Testimonials", id: "testimonials" },
  { button: "Contact", id: "contact" },
  { button: "Let's Talk", id: "contact" },
]) {
  test(`S2-nav-6: ${button} scrolls smoothly to its section`, async ({ page, demo }) => {
    await page.goto(demo.url);
    await expect(page.locator(`#${id}`)).toBeAttached();
    await page.evaluate(() => {
      const behaviors: unknown[] = [];
      const scroll = Element.prototype.scrollIntoView;
      Element.prototype.scrollIntoView = function (options) {
        behaviors.push((options as ScrollIntoViewOptions).behavior);
        document.body.dataset.behaviors = [...new Set(behaviors)].join();
        scroll.call(this, options);
      };
    });
    await bar(page).getByRole("button", { name: button }).click();
    await expect(page.locator(`#${id}`)).toBeInViewport();
    const { height } = (await bar(page).boundingBox())!;
    // The section stops below the header, with a small gap.
    let last = Number.NaN;
    await expect
      .poll(async () => {
        const top = await page.locator(`#${id}`).evaluate((e) => e.getBoundingClientRect().top);
        const rests = top === last;
        last = top;
        return rests && top >= height - 1 && top <= height + 24;
      })
      .toBe(true);
    // The page scrolls smoothly. The number of frames depends on the machine.
    expect(await page.locator("body").getAttribute("data-behaviors")).toBe("smooth");
    await expect(page).toHaveURL(`${demo.url}/`);
  });
}

for (const [way, approach, follow] of [
  ["a pointer", (link: Locator) => link.hover(), (link: Locator) => link.click()],
  ["the keyboard", (link: Locator) => link.focus(), (link: Locator) => link.press("Enter")],
] as const)
  test(`P-near-gallery: the gallery is prefetched when ${way} is on its link, and shown immediately when the link is followed`, async ({
    page,
    demo,
  }) => {
    const requestedUrls: string[] = [];
    page.on("request", (request) => {
      if (["fetch", "script"].includes(request.resourceType())) requestedUrls.push(request.url());
    });
    // The last script that the page loads by itself. A slow machine may pause between two requests, so an idle network
    // is not enough.
    const last = page.waitForEvent("requestfinished", (request) =>
      request.url().includes("/toast-area-"),
    );
    await page.goto(demo.url, { waitUntil: "networkidle" });
    await waitUntilInteractive(page);
    await last;
    expect(requestedUrls.filter((url) => url.includes("/rest/v1/"))).toEqual([]);
    await page.evaluate(() => {
      new MutationObserver(() => {
        if (document.querySelector("[data-loading]")) console.error("An empty gallery was shown");
      }).observe(document, { subtree: true, childList: true });
    });
    const link = page.getByRole("link", { name: "Explore Gallery" });
    const answer = page.waitForResponse((response) => response.url().includes("/rest/v1/products"));
    await approach(link);
    await (await answer).finished();
    await page.evaluate(() => new Promise((done) => requestIdleCallback(done))); // the page has read it
    requestedUrls.length = 0;
    await follow(link);
    await expect(page).toHaveURL(`${demo.url}/gallery/all`);
    await expect(page.getByRole("link", { name: /^Open / })).toHaveCount(22);
    await page.waitForLoadState("networkidle");
    expect(requestedUrls).toEqual([]);
  });

test("S2-nav-7: from another page a link to a section first leads home and scrolls 100 ms later", async ({
  page,
  demo,
}) => {
  await page.addInitScript(() => {
    window.scrolls = [];
    const scroll = Element.prototype.scrollIntoView;
    Element.prototype.scrollIntoView = function (...options) {
      window.scrolls.push({ id: this.id, at: performance.now() });
      scroll.apply(this, options);
    };
  });
  await page.clock.install();
  // Afterwards the covers are in the query cache. Sections without them are not displayed, and their response needs
  // timers.
  await page.goto(demo.url);
  await expect(page.locator("#about")).toBeVisible();
  await page.getByRole("link", { name: "Política de Privacidade" }).click();
  await expect(page).toHaveURL(`${demo.url}/politica-privacidade`);
  await expect(page.locator("#about")).toBeHidden();
  await pauseClock(page);
  await page.evaluate(() => (window.scrolls = []));
  await bar(page).getByRole("button", { name: "About" }).click();
  await expect(page).toHaveURL(`${demo.url}/`);
  await expect(page.locator("#about")).toBeVisible();
  await page.clock.runFor(99);
  expect(await page.evaluate(() => window.scrolls)).toEqual([]);
  await page.clock.runFor(1);
  expect((await page.evaluate(() => window.scrolls)).map(({ id }) => id)).toContain("about");
  await page.clock.resume();
  await expect(page.locator("#about")).toBeInViewport();
});

test("S4-lang-1 S4-lang-4: the language is English at first; switching it changes all texts except the Portuguese ones, and nothing is stored", async ({
  page,
  context,
  demo,
}) => {
  await page.goto(demo.url);
  const html = page.locator("html");
  const footer = page.getByRole("contentinfo");
  await expect(html).toHaveAttribute("lang", "en");
  await expect(footer).toHaveAttribute("lang", "pt");
  await expect(footer).toContainText("Política de Privacidade");
  await bar(page).getByRole("button", { name: "Mudar para português" }).click();
  await expect(html).toHaveAttribute("lang", "pt");
  await expect(bar(page).getByRole("button", { name: "Testemunhos" })).toBeVisible();
  await expect(
    page.getByRole("heading", { name: "A confiança de mais de 500 clientes" }),
  ).toBeVisible();
  await expect(footer).toContainText("Política de Privacidade");

  // It survives navigation, but not a reload.
  await bar(page).getByRole("link", { name: "Galeria", exact: true }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Galeria" })).toBeVisible();
  await expect(html).toHaveAttribute("lang", "pt");
  const stored = await page.evaluate(() => [localStorage.length, sessionStorage.length]);
  expect(stored).toEqual([0, 0]);
  expect(await context.cookies()).toEqual([]);
  await page.reload();
  await expect(html).toHaveAttribute("lang", "en");
  await expect(page.getByRole("heading", { level: 1, name: "Gallery" })).toBeVisible();
});

test("S4-lang-3: ?lang=pt shows any page in Portuguese, and one press switches to English", async ({
  page,
  demo,
}) => {
  for (const path of ["/", "/gallery/mural", "/politica-privacidade", "/admin/auth"]) {
    await page.goto(`${demo.url}${path}?lang=pt`);
    await expect(page.locator("html")).toHaveAttribute("lang", "pt");
    await expect(bar(page).getByRole("button", { name: "Switch to English" })).toBeVisible();
  }
  await bar(page).getByRole("button", { name: "Switch to English" }).click();
  await expect(page.locator("html")).toHaveAttribute("lang", "en");
});

test("S2-route-5 S2-privacy-1: the privacy page is in Portuguese in both languages, with eight numbered sections and today's date", async ({
  page,
  demo,
}) => {
  await page.goto(`${demo.url}/politica-privacidade`);
  await expect(page.locator("html")).toHaveAttribute("lang", "en");
  const text = page.getByRole("article");
  await expect(text).toHaveAttribute("lang", "pt");
  await expect(text.getByRole("listitem")).toHaveCount(8);
  await expect(text.getByRole("listitem").first()).toContainText("1Informação recolhida");
  const boot = JSON.parse((await page.locator("#boot").textContent())!) as { today: string };
  const [year, month, day] = boot.today.split("-");
  await expect(text).toContainText(`Última atualização: ${day}/${month}/${year}`);
  await page.clock.setFixedTime(new Date(`${boot.today}T12:00:00Z`));
  expect(await page.evaluate(() => new Date().toLocaleDateString("pt-PT"))).toBe(
    `${day}/${month}/${year}`,
  );
});

test.describe("an unknown URL", () => {
  test.use({ allowedConsole: [/status of 404 .*\/nothing\/here/] });

  test("S2-route-8: the page says that it was not found, and links to the home page", async ({
    page,
    demo,
  }) => {
    await page.goto(`${demo.url}/nothing/here`);
    await expect(page.getByRole("heading", { name: "Oops! Page not found" })).toBeVisible();
    await page.getByRole("link", { name: "Return to Home" }).click();
    await expect(page).toHaveURL(`${demo.url}/`);
    await expect(page.getByRole("heading", { name: "Get in Touch" })).toBeAttached();
  });
});

test("S2-home-7: the footer links to the profiles, the chat and the privacy page", async ({
  page,
  demo,
}) => {
  await page.goto(demo.url);
  const footer = page.getByRole("contentinfo");
  const links = { Instagram: /instagram\.com/, Facebook: /facebook\.com/, WhatsApp: /wa\.me/ };
  for (const [name, href] of Object.entries(links)) {
    await expect(footer.getByRole("link", { name })).toHaveAttribute("href", href);
  }
  await footer.getByRole("link", { name: "Política de Privacidade" }).click();
  await expect(page).toHaveURL(`${demo.url}/politica-privacidade`);
});

test("A-set-page A-log-in S2-nav-9 S8-signout-3: the header shows the owner the pages of the dashboard and Sign Out", async ({
  page,
  demo,
}) => {
  await signInAt(page, demo, "/admin");
  await page.goto(`${demo.url}/admin/auth`);
  await expect(page).toHaveURL(/\/admin$/);
  await page.goto(demo.url);
  await bar(page).getByRole("link", { name: "Dashboard" }).hover();
  await expect(
    bar(page).getByRole("listitem").getByRole("link").filter({ visible: true }),
  ).toHaveText(["Overview", "Products", "Series", "Cover Images", "Reviews", "Messages"]);
  const toasts = await recordToasts(page);
  await bar(page).getByRole("button", { name: "Sign Out" }).filter({ visible: true }).click();
  await expect.poll(toasts).toContain("Signed out successfully");
  await expect(page).toHaveURL(`${demo.url}/`);
  await expect(bar(page).getByRole("link", { name: "Dashboard" })).toHaveCount(0);
  await expect(bar(page).getByRole("button", { name: "Sign Out" })).toHaveCount(0);
});

test.describe("without the owner's role", () => {
  // The browser's console message for the role request when there is no role.
  test.use({ allowedConsole: [/status of 406 .*\/rest\/v1\/user_roles/] });

  test("S2-nav-11: an account without a role is led to the home page, and its header has only Sign Out", async ({
    page,
  }) => {
    const server = await startServer("sqlite");
    try {
      const owner = { email: "ana@example.com", password: "a wall of whitewash" };
      const former = { email: "rui@example.com", password: "quatro andorinhas" };
      for (const { email, password } of [owner, former])
        await server.command(["owner", "add", email, "--password-stdin"], `${password}\n`);
      await server.command(["owner", "remove", former.email]);

      await page.goto(`${server.url}/admin/products`);
      await expect(page).toHaveURL(`${server.url}/admin/auth`);
      await fillSignIn(page, former);
      await expect(page.getByText("Welcome back!")).toBeVisible();
      await expect(page).toHaveURL(`${server.url}/`);
      const out = bar(page).getByRole("button", { name: "Sign Out" });
      await expect(out).toBeVisible();
      await expect(bar(page).getByRole("link", { name: "Dashboard" })).toHaveCount(0);
      for (const path of ["/admin", "/admin/products", "/admin/auth"]) {
        await page.goto(server.url + path);
        await expect(page).toHaveURL(`${server.url}/`);
        await expect(out).toBeVisible();
      }
      await out.click();
      await expect(out).toHaveCount(0);
      await page.goto(`${server.url}/admin`);
      await expect(page).toHaveURL(`${server.url}/admin/auth`);
    } finally {
      await page.close(); // an open page would send requests to the stopped server
      await server.stop();
    }
  });
});

test.describe("on a phone", () => {
  test.use({ viewport: { width: 390, height: 844 } });
  const menu = (page: Page) => bar(page).getByRole("button", { name: /^(Menu|Close)$/ });

  test("S2-panel-1 S2-panel-2: the panel has the links of the site, locks the page, and closes by Escape or a choice", async ({
    page,
    demo,
  }) => {
    await page.goto(demo.url);
    await expect(bar(page).getByRole("button", { name: "Let's Talk" })).toBeHidden();
    await menu(page).click();
    const rows = bar(page).getByRole("listitem");
    await expect(rows).toHaveText(["Gallery", "About", "Testimonials", "Contact"]);
    await expect(bar(page).getByRole("button", { name: "Mudar para português" })).toBeVisible();
    await expect(bar(page).getByRole("button", { name: "Sair" })).toHaveCount(0);
    await page.mouse.move(200, 500);
    await page.mouse.wheel(0, 800);
    await page.evaluate(
      () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
    );
    expect(await scrollTop(page)).toBe(0);

    await page.keyboard.press("Escape");
    await expect(rows).toHaveCount(0);
    await expect(menu(page)).toBeFocused();
    // The browser drops wheel events until, after a frame, its compositor knows that the page scrolls again.
    await expect
      .poll(async () => {
        await page.mouse.wheel(0, 800);
        return scrollTop(page);
      }, "the page scrolls again")
      .toBeGreaterThan(0);

    await menu(page).click();
    await rows.getByRole("button", { name: "Contact" }).click();
    await expect(rows).toHaveCount(0);
    await expect(page.locator("#contact")).toBeInViewport();
    await menu(page).click();
    await rows.getByRole("link", { name: "Gallery" }).click();
    await expect(page).toHaveURL(`${demo.url}/gallery/all`);
    await expect(rows).toHaveCount(0);
  });

  test("S2-panel-2 S4-lang-4: the owner's panel omits Messages and ends with Sair, marked as Portuguese", async ({
    page,
    demo,
  }) => {
    await signInAt(page, demo, "/admin");
    await page.goto(demo.url);
    await menu(page).click();
    const admin = bar(page).getByRole("list", { name: "Dashboard" });
    await expect(admin.getByRole("link")).toHaveText([
      "Overview",
      "Products",
      "Series",
      "Cover Images",
      "Reviews",
    ]);
    const out = bar(page).getByRole("button", { name: "Sair" });
    await expect(out).toHaveAttribute("lang", "pt");
    const toasts = await recordToasts(page);
    await out.click();
    await expect.poll(toasts).toContain("Signed out successfully");
    await expect(page).toHaveURL(`${demo.url}/`);
  });
});
