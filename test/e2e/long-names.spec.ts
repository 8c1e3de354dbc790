// A site's name may have 60 characters: the navigation stays usable at every width.
import { asOwner } from "../harness/clients.ts";
import { expect, expectNoSidewaysScroll, test } from "./fixtures.ts";
import { startServer } from "../harness/server.ts";

const names = [
  "Maria Antónia de Vasconcelos e Sousa Pinto Ribeiro da Silva",
  "Wolkenkuckucksheimgemäldewerkstättenverzeichnisverwaltungen",
];
const widths = [320, 390, 768, 1024, 1280, 2560];

test("S2-nav-12: the bar and the footer hold the longest names", async ({ page, demoFolder }) => {
  const server = await startServer("sqlite", { demo: demoFolder });
  try {
    const owner = await asOwner(server);
    for (const name of names) {
      const { data: known } = await owner.rpc("get_site_settings");
      const { version, settings } = known as { version: string; settings: { site: object } };
      const saved = await owner.rpc("save_site_settings", {
        version,
        settings: { ...settings, site: { ...settings.site, name } },
      });
      expect(saved.error).toBeNull();
      for (const language of ["en", "pt"]) {
        await page.setViewportSize({ width: widths[0]!, height: 700 });
        await page.goto(`${server.url}/gallery/all?lang=${language}`);
        for (const width of widths) {
          await page.setViewportSize({ width, height: 700 });
          await expectNoSidewaysScroll(page);
          const bar = page.getByRole("banner");
          const way = bar.getByRole("button", {
            name: width < 1024 ? "Menu" : /^(Let's Talk|Vamos conversar)$/,
          });
          await expect(way).toBeInViewport({ ratio: 1 });
          const mark = bar.getByRole("link").first();
          await expect(mark).toBeInViewport({ ratio: 1 });
          const [left, right] = await Promise.all([mark.boundingBox(), way.boundingBox()]);
          expect(left!.x + left!.width, `${width}`).toBeLessThanOrEqual(right!.x);
        }
        await page.setViewportSize({ width: 390, height: 700 });
        await page.getByRole("button", { name: "Menu" }).click();
        await expect(page.getByRole("navigation").first()).toBeVisible();
      }
    }
  } finally {
    await page.close(); // an open page would send requests to the stopped server
    await server.stop();
  }
});
