// The row of tabs in the admin area, on phones and in the dark colour scheme.
import { finishAnimations, expect, test } from "./fixtures.ts";
import { signInAt } from "./admin.ts";

test("A-tabs-1: on a phone the row of tabs shows the current tab, and that there are more tabs", async ({
  page,
  demo,
}) => {
  await page.setViewportSize({ width: 390, height: 844 });
  for (const [path, left, right] of [
    ["/admin", false, true],
    ["/admin/contact-messages", true, true],
    ["/admin/account", true, false],
  ] as const) {
    await signInAt(page, demo, path);
    const row = page.getByRole("navigation", { name: "Dashboard" });
    await expect(row.locator("[aria-current=page]")).toBeInViewport({ ratio: 1 });
    await expect(row.locator("svg.lucide-chevron-left")).toHaveCount(left ? 1 : 0);
    await expect(row.locator("svg.lucide-chevron-right")).toHaveCount(right ? 1 : 0);
  }
  // Scrolled back to its beginning, the row shows again that there is more on the right.
  const row = page.getByRole("navigation", { name: "Dashboard" });
  await row.getByRole("list").evaluate((list) => list.scrollTo({ left: 0 }));
  await expect(row.locator("svg.lucide-chevron-left")).toHaveCount(0);
  await expect(row.locator("svg.lucide-chevron-right")).toHaveCount(1);
});

test("A-tabs-2: the line under the current tab has enough contrast in both colour schemes", async ({
  page,
  demo,
}) => {
  await page.setViewportSize({ width: 1280, height: 844 });
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await signInAt(page, demo, "/admin/products");
    const tab = page.getByRole("navigation", { name: "Dashboard" }).locator("[aria-current=page]");
    await finishAnimations(page);
    const ratio = await tab.evaluate((one) => {
      // A canvas converts any notation of a colour to sRGB bytes.
      const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true })!;
      const luminance = (colour: string) => {
        pen.fillStyle = colour;
        pen.fillRect(0, 0, 1, 1);
        const [r, g, b] = [...pen.getImageData(0, 0, 1, 1).data].map((byte) => {
          const c = byte / 255;
          return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
      };
      const band = luminance(getComputedStyle(one).borderBottomColor);
      const ground = luminance(getComputedStyle(document.body).backgroundColor);
      return (Math.max(band, ground) + 0.05) / (Math.min(band, ground) + 0.05);
    });
    expect(ratio, colorScheme).toBeGreaterThanOrEqual(3);
  }
});
