// Each page at each width, with text at 200 %, and without layout shifts.
import type { Page } from "@playwright/test";

import {
  expect,
  expectNoShift,
  expectNoSidewaysScroll,
  loadAllPictures,
  test,
  watchShifts,
} from "./fixtures.ts";
import { inLanguage, languages, repetition, text } from "./texts.ts";

test.use({ allowedConsole: [/status of 404 .*\/nothing\/here/] });

const widths = [320, 390, 768, 1024, 1440, 1920];
const pages = [
  "/",
  "/gallery/all",
  "/gallery/mural",
  "/politica-privacidade",
  "/admin/auth",
  "/nothing/here",
];

/**
 * Returns texts and controls that are cut off, extend beyond the window or overlap. The slides of a carousel may be
 * beyond the window, because its arrows show them.
 */
function layoutFaults(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const faults: string[] = [];
    const name = (e: Element) =>
      `<${e.tagName.toLowerCase()}> ${(e.getAttribute("aria-label") ?? e.textContent ?? "").trim().slice(0, 40)}`;
    const shown = (e: Element) =>
      e.checkVisibility({ visibilityProperty: true, opacityProperty: true }) &&
      !e.closest(".sr-only, [inert], [aria-hidden=true]") &&
      e.getBoundingClientRect().width > 1;

    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const holder = node.parentElement!;
      if (!node.textContent?.trim() || !shown(holder)) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const box = range.getBoundingClientRect();
      const frame = holder.closest(".swipeable > *")?.getBoundingClientRect();
      const [from, to] = frame ? [frame.left, frame.right] : [0, innerWidth];
      if (box.left < from - 1 || box.right > to + 1)
        faults.push(`${name(holder)} reaches from ${box.left} to ${box.right} of ${from} to ${to}`);
      for (let up: Element | null = holder; up && up !== document.body; up = up.parentElement) {
        const { overflowX, overflowY, webkitLineClamp } = getComputedStyle(up);
        if (webkitLineClamp !== "none" || up.closest(".swipeable, [class*=overflow-clip]")) break;
        if (overflowX === "visible" && overflowY === "visible") continue;
        const edge = up.getBoundingClientRect();
        const cutAside =
          overflowX !== "visible" && (box.left < edge.left - 1 || box.right > edge.right + 1);
        const cutBelow =
          overflowY === "hidden" && (box.top < edge.top - 1 || box.bottom > edge.bottom + 1);
        if (cutAside || cutBelow) faults.push(`${name(holder)} is cut off by ${name(up)}`);
      }
    }
    const boxes = [...document.querySelectorAll("a, button, input, textarea, img, video")];
    for (const e of boxes.filter((one) => shown(one) && !one.closest(".swipeable"))) {
      const box = e.getBoundingClientRect();
      if (box.left < -1 || box.right > innerWidth + 1)
        faults.push(`${name(e)} sticks out: ${box.left} to ${box.right} of ${innerWidth}`);
    }

    // Only the controls of one layer are compared, because the header covers the page by design.
    for (const layer of ["header.site-header", "main", "footer", "[role=dialog]"]) {
      const controls = [...document.querySelectorAll(`${layer} :is(a, button, input, textarea)`)]
        .filter((e) => shown(e))
        .map((e) => ({ e, box: e.getBoundingClientRect() }));
      for (const [n, one] of controls.entries()) {
        for (const other of controls.slice(n + 1)) {
          if (one.e.contains(other.e) || other.e.contains(one.e)) continue;
          // The show-password button is inside its field.
          if (other.e.closest(".relative") === one.e.closest(".relative") && one.e.matches("input"))
            continue;
          const across =
            Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
          const down =
            Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
          if (across > 1 && down > 1)
            faults.push(`${name(one.e)} and ${name(other.e)} overlap by ${across} × ${down}`);
        }
      }
    }
    return faults;
  });
}

async function expectNoLayoutFaults(page: Page): Promise<void> {
  await expectNoSidewaysScroll(page);
  await expect.poll(() => layoutFaults(page)).toEqual([]);
}

/** Reports whether the close button of the open dialog covers a line of its text before scrolling. */
function closeButtonCoversText(page: Page): Promise<boolean> {
  return page.getByRole("dialog").evaluate((dialog) => {
    const cross = dialog.querySelector("button")!.getBoundingClientRect();
    const lines = document.createRange();
    lines.selectNodeContents(dialog.querySelector("p")!);
    return [...lines.getClientRects()].some(
      (line) => line.right > cross.left && line.top < cross.bottom && line.bottom > cross.top,
    );
  });
}

for (const language of languages) {
  test(`responsive: every page in ${repetition(language)} at ${widths.join(", ")} px`, async ({
    page,
    demo,
  }) => {
    for (const path of pages) {
      await page.goto(demo.url + inLanguage(language, path));
      await expect(page.getByRole("heading", { level: 1 })).toBeAttached();
      await loadAllPictures(page);
      for (const width of widths) {
        await test.step(`${path} at ${width} px`, async () => {
          await page.setViewportSize({ width, height: 900 });
          await expectNoLayoutFaults(page);
        });
      }
    }
  });

  test(`responsive: the open dialogs in ${repetition(language)} at ${widths.join(", ")} px`, async ({
    page,
    demo,
  }) => {
    await page.goto(demo.url + inLanguage(language, "/gallery/all"));
    await page
      .getByRole("link", { name: text(language, "gallery.open", { title: "Telhados, manhã" }) })
      .click();
    await expect(page.getByRole("dialog")).toBeVisible();
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      await expectNoLayoutFaults(page);
    }
    await page.goto(demo.url + inLanguage(language, "/"));
    await page.getByRole("button", { name: /Beatriz/ }).click();
    await expect(page.getByRole("dialog")).toBeVisible();
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      await expectNoLayoutFaults(page);
      await expect.poll(() => closeButtonCoversText(page)).toBe(false);
    }
  });

  for (const width of [390, 1280]) {
    test(`responsive: text at 200 % in ${repetition(language)} at ${width} px`, async ({
      page,
      demo,
    }) => {
      await page.setViewportSize({ width, height: 900 });
      // Sets the browser's size of text, to which breakpoints in rem also respond.
      const session = await page.context().newCDPSession(page);
      await session.send("Page.setFontSizes", { fontSizes: { standard: 32, fixed: 26 } });
      for (const path of pages) {
        await test.step(path, async () => {
          await page.goto(demo.url + inLanguage(language, path));
          await expect(page.locator("html")).toHaveCSS("font-size", "32px");
          await expect(page.getByRole("heading", { level: 1 })).toBeAttached();
          await loadAllPictures(page);
          await expectNoLayoutFaults(page);
        });
      }
      await test.step("phone panel", async () => {
        await page.goto(demo.url + inLanguage(language, "/"));
        await page.getByRole("button", { name: text(language, "nav.menu"), exact: true }).click();
        await expectNoLayoutFaults(page);
        // The header keeps its height, and the panel begins below it.
        const barEnd = await page.locator("header > div.page-container").boundingBox();
        const panel = page.locator("header > div:has(nav)").last();
        await expect
          .poll(async () => (await panel.boundingBox())!.y)
          .toBe(Math.ceil(barEnd!.y + barEnd!.height) + 1);
        const contact = page
          .getByRole("banner")
          .getByRole("button", { name: text(language, "nav.contact") });
        await contact.click();
        await expect(
          page.getByRole("heading", { name: text(language, "contact.title") }),
        ).toBeInViewport();
      });
      await test.step("artwork dialog", async () => {
        await page.goto(demo.url + inLanguage(language, "/gallery/watercolour"));
        await page
          .getByRole("link", {
            name: text(language, "gallery.open", { title: "Telhados, manhã" }),
          })
          .click();
        const ask = page
          .getByRole("dialog")
          .getByRole("button", { name: text(language, "gallery.ask") });
        await ask.scrollIntoViewIfNeeded();
        await expect(ask).toBeInViewport({ ratio: 0.9 });
        await expectNoLayoutFaults(page);
      });
      await test.step("review dialog", async () => {
        await page.goto(demo.url + inLanguage(language, "/"));
        await page.getByRole("button", { name: /Beatriz/ }).click();
        await expect(page.getByRole("dialog")).toBeVisible();
        await expectNoLayoutFaults(page);
      });
    });
  }
}

for (const path of ["/", "/gallery/all"]) {
  for (const width of [390, 1440]) {
    test(`responsive: the layout of ${path} at ${width} px does not shift while it loads and scrolls`, async ({
      page,
      demo,
    }) => {
      await page.setViewportSize({ width, height: 900 });
      const shifts = await watchShifts(page);
      await page.goto(demo.url + path);
      await expect(page.getByRole("heading", { level: 1 })).toBeAttached();
      await loadAllPictures(page);
      await page.evaluate(async () => {
        for (let y = 0; y < document.documentElement.scrollHeight; y += 300) {
          scrollTo({ top: y, behavior: "instant" });
          await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        }
      });
      await expectNoShift(shifts);
    });
  }
}
