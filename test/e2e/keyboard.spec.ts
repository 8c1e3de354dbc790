// Everything that a visitor can do, by keyboard only. Each tab stop must show its focus.
import type { Locator, Page } from "@playwright/test";

import {
  expect,
  holdRequests,
  waitForHydration,
  loadAllPictures,
  openWithPausedClock,
  test,
} from "./fixtures.ts";
import { text } from "./texts.ts";

const t = (key: Parameters<typeof text>[1], vars?: Parameters<typeof text>[2]) =>
  text("en", key, vars);

test.use({
  viewport: { width: 1440, height: 900 },
  allowedConsole: [/status of 404 .*\/nothing\/here/],
});

const stripTitle = t("testimonials.trustedBy");
const aboutTitle = t("about.title");

/** Returns what hides the focus, as texts. The list is empty if the focus is visible. */
function focusFaults(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const at = document.activeElement;
    if (!(at instanceof HTMLElement) || at === document.body) return ["nothing has the focus"];
    const name = `<${at.tagName.toLowerCase()}> ${(at.getAttribute("aria-label") ?? at.textContent ?? "").trim().slice(0, 40)}`;
    const faults: string[] = [];
    const box = at.getBoundingClientRect();
    // Focus targets of the skip link and of finished actions have no ring, but must be in view.
    const isStop = at.tabIndex >= 0;
    const { outlineStyle, outlineWidth, outlineColor, opacity } = getComputedStyle(at);
    if (isStop && (outlineStyle === "none" || parseFloat(outlineWidth) < 2))
      faults.push("has no ring");
    if (isStop && / 0\)$|transparent/.test(outlineColor)) faults.push("has an invisible ring");
    if (opacity === "0") faults.push("is transparent");
    if (box.width < 8 || box.height < 8) faults.push("has no size");

    const header = document.querySelector("header.site-header")!;
    const covers =
      header.contains(at) || at.closest("[role=dialog]") || at.closest("a[href='#main']");
    const top = covers || at.id === "main" ? 0 : header.getBoundingClientRect().bottom;
    const taller = box.height > innerHeight - top;
    if (isStop && box.top < top - 1 && !taller)
      faults.push(`starts under the header at ${box.top}`);
    if (box.bottom <= top || box.top >= innerHeight) faults.push("is out of view");
    // The browser scrolls a tall text box to the line with the caret.
    const end = at instanceof HTMLTextAreaElement ? box.top + 60 : box.bottom;
    if (isStop && end > innerHeight + 1 && !taller) faults.push("ends below the window");
    if (box.left < -1 || box.right > innerWidth + 1) faults.push("sticks out sideways");

    // The topmost element at the centre of the focused element must be a part of it.
    const x = (Math.max(box.left, 0) + Math.min(box.right, innerWidth)) / 2;
    const y = (Math.max(box.top, top) + Math.min(box.bottom, innerHeight)) / 2;
    const hit = document.elementFromPoint(x, y);
    if (isStop && !(hit && (at.contains(hit) || hit.contains(at))))
      faults.push(`lies behind <${hit?.tagName.toLowerCase()} class="${hit?.className}">`);
    return faults.map((fault) => `${name}: ${fault}`);
  });
}

/** Waits for the end of animations, such as an opening dialog or a smooth scroll. */
async function expectFocusSeen(page: Page): Promise<void> {
  await expect.poll(() => focusFaults(page)).toEqual([]);
}

/** Presses Tab until the element has the focus, and checks each stop on the way. */
async function tabTo(page: Page, target: Locator, key = "Tab"): Promise<void> {
  for (let presses = 0; presses < 90; presses++) {
    await page.keyboard.press(key);
    await expectFocusSeen(page);
    if (await target.evaluate((element) => element === document.activeElement)) return;
  }
  await expect(target).toBeFocused();
}

/** Opens a page and waits until it is rendered, because Tab has no effect before. */
async function openAndRender(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await waitForHydration(page);
}

const focused = (page: Page) => page.locator(":focus");
const focusedName = (page: Page) =>
  focused(page).evaluate((element: HTMLElement) =>
    (element.getAttribute("aria-label") ?? element.innerText).replace(/\s+/g, " "),
  );

const main = (page: Page) => page.getByRole("main");
const bar = (page: Page) => page.getByRole("banner");

test("keyboard: the skip link is the first stop and leads to the content", async ({
  page,
  demo,
}) => {
  await openAndRender(page, `${demo.url}/gallery`);
  const skip = page.getByRole("link", { name: t("nav.skip") });
  await expect(skip).not.toBeInViewport();
  await page.keyboard.press("Tab");
  await expect(skip).toBeFocused();
  await expect(skip).toBeInViewport({ ratio: 1 });
  await expectFocusSeen(page);
  await page.keyboard.press("Enter");
  await expect(main(page)).toBeFocused();
  await page.keyboard.press("Tab");
  await expect(main(page).getByRole("link", { name: t("gallery.filter.all") })).toBeFocused();
});

test("keyboard: the header, its submenu and the links to each section", async ({ page, demo }) => {
  await openAndRender(page, demo.url);
  await expect(page.getByRole("heading", { name: t("testimonials.title") })).toBeAttached();
  const gallery = bar(page).getByRole("link", { name: t("nav.gallery"), exact: true });
  const toggle = bar(page).getByRole("button", { name: t("nav.galleryTypes") });
  const item = bar(page).getByRole("link", { name: t("type.all") });
  const mural = bar(page).getByRole("link", { name: t("type.mural"), exact: true });

  await tabTo(page, gallery);
  await expect(item).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(item).toBeHidden();
  await expect(toggle).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(toggle).toHaveAttribute("aria-expanded", "true");
  await tabTo(page, mural);
  await page.keyboard.press("Escape");
  await expect(item).toBeHidden();
  await expect(toggle).toBeFocused();
  await expectFocusSeen(page);
  await page.keyboard.press("Space");
  await expect(item).toBeVisible();

  // The submenu closes when the focus leaves it.
  const about = bar(page).getByRole("button", { name: t("nav.about") });
  await tabTo(page, about);
  await expect(item).toBeHidden();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: aboutTitle })).toBeInViewport();
  // Tab continues from the section, not from the header.
  await expect(page.locator("#about")).toBeFocused();
  await page.keyboard.press("Tab");
  await expect(page.locator("#contact").locator(":focus")).toHaveCount(1);
  await expectFocusSeen(page);
  await tabTo(page, bar(page).getByRole("button", { name: t("nav.testimonials") }), "Shift+Tab");
  await page.keyboard.press("Enter");
  await expect(page.locator("#testimonials")).toBeFocused();
  await expect(page.getByRole("heading", { name: t("testimonials.title") })).toBeInViewport();

  await tabTo(page, gallery, "Shift+Tab");
  await tabTo(page, mural);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/gallery\/mural$/);
  await expect(main(page)).toBeFocused();

  // From another page the link leads to the section through the home page.
  await tabTo(page, bar(page).getByRole("button", { name: t("nav.contact") }), "Shift+Tab");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(`${demo.url}/`);
  await expect(page.getByRole("heading", { name: t("contact.title") })).toBeInViewport();
});

test("keyboard: the language toggle keeps the focus", async ({ page, demo }) => {
  await openAndRender(page, demo.url);
  const toPortuguese = bar(page).getByRole("button", { name: text("en", "nav.switchLanguage") });
  const toEnglish = bar(page).getByRole("button", { name: text("pt", "nav.switchLanguage") });
  await tabTo(page, toPortuguese);
  await page.keyboard.press("Enter");
  await expect(page.locator("html")).toHaveAttribute("lang", "pt");
  await expect(toEnglish).toBeFocused();
  await page.keyboard.press("Space");
  await expect(page.locator("html")).toHaveAttribute("lang", "en");
  await expect(toPortuguese).toBeFocused();
});

test("keyboard: the hero's arrows, arrow keys and pause button", async ({ page, demo }) => {
  await openWithPausedClock(page, demo.url);
  const hero = page.getByRole("region", { name: t("hero.label") });
  const pause = hero.getByRole("button", { name: t("hero.pause") });
  const at = (n: number) =>
    hero.getByText(t("carousel.position", { n, total: 3 }), { exact: true });
  await tabTo(page, hero.getByRole("link", { name: t("hero.exploreGallery") }));
  await tabTo(page, pause);
  await page.keyboard.press("Enter");
  await expect(hero.getByRole("button", { name: t("hero.play") })).toBeFocused();
  await page.clock.runFor(20_000);
  await expect(at(1)).toBeAttached();

  await tabTo(page, hero.getByRole("button", { name: t("hero.previous") }));
  await page.keyboard.press("Enter");
  await expect(at(3)).toBeAttached();
  await tabTo(page, hero.getByRole("button", { name: t("hero.next") }));
  await page.keyboard.press("Space");
  await expect(at(1)).toBeAttached();
  await page.keyboard.press("ArrowRight");
  await expect(at(2)).toBeAttached();
  await page.keyboard.press("ArrowLeft");
  await expect(at(1)).toBeAttached();
  await expectFocusSeen(page);
});

test("keyboard: the strip of works, and the dialog of a work", async ({ page, demo }) => {
  await openAndRender(page, demo.url);
  const strip = page.getByRole("region", { name: stripTitle });
  const open = (title: string) => strip.getByRole("link", { name: t("gallery.open", { title }) });
  await tabTo(page, strip.getByRole("button", { name: t("carousel.next") }));
  await page.keyboard.press("ArrowRight");
  await expect(strip.getByRole("button", { name: t("carousel.previous") })).not.toHaveAttribute(
    "aria-disabled",
    "true",
  );
  await expect(open("Sol de inverno")).not.toBeInViewport({ ratio: 0.5 });
  await page.keyboard.press("ArrowLeft");
  await expect(open("Sol de inverno")).toBeInViewport({ ratio: 0.5 });

  await tabTo(page, open("Telhados, manhã"));
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("heading", { name: "Telhados, manhã" })).toBeVisible();
  await expect(dialog.locator(":focus")).toHaveCount(1);
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await expect(open("Telhados, manhã")).toBeFocused();
  await expectFocusSeen(page);
});

test("keyboard: a card that has got the focus before the carousel's code has loaded is scrolled into view afterwards", async ({
  page,
  demo,
}) => {
  await page.setViewportSize({ width: 390, height: 664 });
  const arrive = await holdRequests(page, /carousel-driver-[^/]+\.js$/);
  await openAndRender(page, demo.url);
  const card = page.getByRole("region", { name: stripTitle }).getByRole("link").nth(2);
  for (let presses = 0; presses < 20; presses++) {
    await page.keyboard.press("Tab");
    if (await card.evaluate((element) => element === document.activeElement)) break;
  }
  await expect(card).toBeFocused();
  await expect(card).not.toBeInViewport();
  arrive();
  await expect(card).toBeInViewport();
  await expectFocusSeen(page);
});

test("keyboard: the gallery's filters, and the pictures of a work", async ({ page, demo }) => {
  await openAndRender(page, `${demo.url}/gallery`);
  const filters = page.getByRole("navigation", { name: t("gallery.filters") });
  await tabTo(page, filters.getByRole("link", { name: t("gallery.filter.watercolour") }));
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/gallery\/watercolour$/);
  await expect(filters.getByRole("link", { name: t("gallery.filter.watercolour") })).toBeFocused();

  const card = page.getByRole("link", { name: t("gallery.open", { title: "Telhados, manhã" }) });
  await tabTo(page, card);
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog");
  const at = (n: number) =>
    dialog.getByText(t("carousel.position", { n, total: 4 }), { exact: true });
  await expect(at(1)).toBeAttached();
  await expect(page).toHaveURL(/[?&]art=/);
  // The arrow keys work wherever the focus is in the dialog. The dialog gets the focus after it has rendered.
  await expect(dialog.locator(":focus")).toHaveCount(1);
  await page.keyboard.press("ArrowRight");
  await expect(at(2)).toBeAttached();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await expect(at(4)).toBeAttached();
  const next = dialog.getByRole("button", { name: t("carousel.next") });
  await tabTo(page, next);
  await page.keyboard.press("Enter");
  await expect(at(1)).toBeAttached();

  // The focus stays inside the dialog.
  const seen: string[] = [];
  for (let n = 0; n < 6; n++) {
    await page.keyboard.press("Tab");
    await expectFocusSeen(page);
    await expect(dialog.locator(":focus")).toHaveCount(1);
    seen.push(await focusedName(page));
  }
  expect(new Set(seen)).toEqual(
    new Set([
      t("nav.close"),
      t("zoom.open", { title: "Telhados, manhã" }),
      t("carousel.previous"),
      t("carousel.next"),
      t("gallery.ask"),
    ]),
  );
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await expect(page).toHaveURL(/\/gallery\/watercolour$/);
  await expect(card).toBeFocused();
  await expectFocusSeen(page);

  // The button in the dialog leads to the contact form.
  await page.keyboard.press("Enter");
  await tabTo(page, dialog.getByRole("button", { name: t("gallery.ask") }));
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(`${demo.url}/`);
  await expect(page.getByLabel(t("contact.form.message"))).toBeFocused();
  await expect(page.getByLabel(t("contact.form.message"))).toHaveValue(
    t("contact.ask.message", { title: "Telhados, manhã" }),
  );
  await expectFocusSeen(page);
});

test("keyboard: the reviews and the dialog with the full text", async ({ page, demo }) => {
  await openAndRender(page, demo.url);
  const reviews = page.getByRole("region", { name: t("testimonials.title") });
  const card = (name: string) => reviews.getByRole("button", { name: new RegExp(name) });
  const previous = reviews.getByRole("button", { name: t("carousel.previous") });
  await tabTo(page, reviews.getByRole("button", { name: t("carousel.next") }));
  await page.keyboard.press("ArrowRight");
  await expect(previous).not.toHaveAttribute("aria-disabled", "true");
  await page.keyboard.press("ArrowLeft");
  await expect(previous).toHaveAttribute("aria-disabled", "true");

  // A card outside the viewport scrolls into view when it gets the focus.
  await tabTo(page, card("Helena"));
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: t("testimonials.dialog", { name: "Helena" }) });
  await expect(dialog.getByRole("button", { name: t("nav.close") })).toBeFocused();
  await expectFocusSeen(page);
  await page.keyboard.press("Tab");
  await expect(dialog.locator(":focus")).toHaveCount(1);
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await expect(card("Helena")).toBeFocused();
  await expectFocusSeen(page);
});

for (const viewport of [
  { width: 1440, height: 900 },
  { width: 390, height: 664 },
]) {
  test(`keyboard: the form with errors, and its confirmation, at ${viewport.width} px`, async ({
    page,
    demo,
  }) => {
    await page.setViewportSize(viewport);
    await openAndRender(page, demo.url);
    const form = page.locator("#contact form");
    const name = form.getByLabel(t("contact.form.name"));
    const email = form.getByLabel(t("contact.form.email"));
    const message = form.getByLabel(t("contact.form.message"));
    const send = form.getByRole("button", { name: t("contact.form.send") });
    await tabTo(page, send);
    await page.keyboard.press("Enter");
    await expect(name).toBeFocused();
    await expectFocusSeen(page);
    await expect(name).toHaveAccessibleDescription(t("contact.error.name"));
    await page.keyboard.type("Inês");
    await page.keyboard.press("Enter");
    await expect(email).toBeFocused();
    await expect(email).toHaveAccessibleDescription(t("contact.error.email"));
    await page.keyboard.type("ines@example.com");
    await page.keyboard.press("Enter");
    await expect(message).toBeFocused();
    await expect(message).toHaveAccessibleDescription(t("contact.error.message"));
    await expectFocusSeen(page);
    await page.keyboard.type("We have a wall of 6 × 3 metres.");

    // The honeypot is no tab stop, so the button follows the message.
    await page.keyboard.press("Tab");
    await expect(send).toBeFocused();
    await page.keyboard.press("Space");
    const title = page.getByRole("heading", { name: t("contact.success.title") });
    await expect(title).toBeFocused();
    await expectFocusSeen(page);
    await page.keyboard.press("Tab");
    await expect(page.getByRole("button", { name: t("contact.success.again") })).toBeFocused();
    await expectFocusSeen(page);
    await page.keyboard.press("Enter");
    await expect(name).toBeFocused();
    await expectFocusSeen(page);
  });
}

// The browser decides by the current scroll position, not by the target of a smooth scroll, whether the field is in
// view.
test("keyboard: a running smooth scroll does not move the focused field out of view", async ({
  page,
  demo,
}) => {
  await page.setViewportSize({ width: 390, height: 664 });
  await openAndRender(page, demo.url);
  const contact = page.locator("#contact");
  const name = contact.getByLabel(t("contact.form.name"));
  const send = contact.getByRole("button", { name: t("contact.form.send") });
  await expect(send).toBeAttached();

  /**
   * Presses Enter on the button while the page scrolls so far down that the form ends above the window. The scroll is
   * retried until the key arrives, because on a busy machine that may take longer than one scroll.
   */
  async function pressInPassing(button: Locator) {
    await button.focus();
    const target = await button.evaluate((element) => {
      scrollTo({
        top: scrollY + element.getBoundingClientRect().bottom - innerHeight + 20,
        behavior: "instant",
      });
      let pressed = false;
      const onKey = () => {
        pressed = true;
        document.body.dataset.pressedAt = String(scrollY);
      };
      addEventListener("keydown", onKey, { capture: true, once: true });
      const start = scrollY;
      const end = start + innerHeight;
      scrollTo({ top: end, behavior: "smooth" });
      return new Promise<number>((done) => {
        const look = () => {
          if (pressed) return;
          if (scrollY > start) done(end);
          if (scrollY > start + innerHeight / 2) {
            scrollTo({ top: start, behavior: "instant" });
            scrollTo({ top: end, behavior: "smooth" });
          }
          requestAnimationFrame(look);
        };
        look();
      });
    });
    await page.keyboard.press("Enter");
    await expect(name).toBeFocused();
    const pressedAt = await page.locator("body").getAttribute("data-pressed-at");
    expect(Number(pressedAt)).toBeLessThan(target - 100);
    // Wait as long as a smooth scroll would take.
    await page.evaluate(
      () =>
        new Promise<void>((done) => {
          let still = 0;
          let last = scrollY;
          const look = () => {
            still = scrollY === last ? still + 1 : 0;
            last = scrollY;
            if (still > 20) done();
            else requestAnimationFrame(look);
          };
          look();
        }),
    );
    expect(await focusFaults(page)).toEqual([]);
  }

  await pressInPassing(send);
  await name.fill("Inês");
  await contact.getByLabel(t("contact.form.email")).fill("ines@example.com");
  await contact.getByLabel(t("contact.form.message")).fill("We have a wall of 6 × 3 metres.");
  await send.click();
  const again = page.getByRole("button", { name: t("contact.success.again") });
  await expect(again).toBeVisible();
  await pressInPassing(again);
});

test("keyboard: the footer's links", async ({ page, demo }) => {
  await openAndRender(page, demo.url);
  const footer = page.getByRole("contentinfo");
  for (const profile of ["Instagram", "WhatsApp", "Facebook"]) {
    await tabTo(page, footer.getByRole("link", { name: profile }));
    await expect(focused(page)).toHaveAttribute("href", /^https:\/\//);
  }
  await tabTo(page, footer.getByRole("link", { name: t("footer.privacy") }));
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/politica-privacidade$/);
  await expect(main(page)).toBeFocused();
  await expect(page.getByRole("heading", { level: 1 })).toBeInViewport();
});

test("keyboard: a page whose code loads late gets the focus when it is rendered", async ({
  page,
  demo,
}) => {
  const arrive = await holdRequests(page, /privacy-[^/]+\.js$/);
  await openAndRender(page, demo.url);
  await tabTo(page, page.getByRole("contentinfo").getByRole("link", { name: t("footer.privacy") }));
  await page.keyboard.press("Enter");
  await expect(page.getByRole("contentinfo")).toBeHidden(); // the previous page is gone
  arrive();
  await expect(page.getByRole("heading", { level: 1 })).toBeInViewport();
  await expect(main(page)).toBeFocused();
});

test("keyboard: the page for an unknown URL links to the home page", async ({ page, demo }) => {
  await openAndRender(page, `${demo.url}/nothing/here`);
  await tabTo(page, main(page).getByRole("link", { name: t("notFound.home") }));
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(`${demo.url}/`);
  await expect(main(page)).toBeFocused();
});

test("keyboard: the phone panel keeps the focus and returns it", async ({ page, demo }) => {
  await page.setViewportSize({ width: 390, height: 664 });
  await openAndRender(page, demo.url);
  const menu = bar(page).getByRole("button", { name: t("nav.menu"), exact: true });
  const close = bar(page).getByRole("button", { name: t("nav.close"), exact: true });

  await tabTo(page, menu);
  await page.keyboard.press("Enter");
  await expect(close).toBeFocused();
  await expect(page.locator("html")).toHaveCSS("overflow", "hidden");
  const round: string[] = [];
  for (let n = 0; n < 7; n++) {
    round.push(await focusedName(page));
    await page.keyboard.press("Tab");
    await expectFocusSeen(page);
  }
  expect(round.slice(0, 5)).toEqual([
    t("nav.close"),
    t("nav.gallery"),
    t("nav.about"),
    t("nav.testimonials"),
    t("nav.contact"),
  ]);
  expect(round[5]).toMatch(/^EN PT/);
  expect(round[6]).toBe(t("nav.home", { name: "Alvor" }));
  await expect(close).toBeFocused();
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Shift+Tab");
  expect(await focusedName(page)).toMatch(/^EN PT/);
  await page.keyboard.press("Enter");
  await expect(page.locator("html")).toHaveAttribute("lang", "pt");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  await expect(menu).toBeFocused();
  await expect(page.locator("html")).not.toHaveCSS("overflow", "hidden");
  await expectFocusSeen(page);

  await page.keyboard.press("Enter");
  await tabTo(page, bar(page).getByRole("button", { name: t("nav.contact") }));
  await page.keyboard.press("Enter");
  await expect(close).toBeHidden();
  await expect(page.getByRole("heading", { name: t("contact.title") })).toBeInViewport();
  await expect(page.locator("#contact")).toBeFocused();
});

for (const { path, width, height } of [
  { path: "/", width: 1440, height: 900 },
  { path: "/", width: 390, height: 664 },
  { path: "/gallery/all", width: 1440, height: 900 },
  { path: "/gallery/all", width: 390, height: 664 },
]) {
  test(`keyboard: every tab stop of ${path} at ${width} px is visible, forwards and backwards`, async ({
    page,
    demo,
  }) => {
    await page.setViewportSize({ width, height });
    await openAndRender(page, demo.url + path);
    await loadAllPictures(page);
    const last = page.getByRole("contentinfo").getByRole("link", { name: t("footer.privacy") });
    await tabTo(page, last);
    await tabTo(page, page.getByRole("link", { name: t("nav.skip") }), "Shift+Tab");
  });
}
