// The health of the site on the overview.
import { type Server, startServer } from "../harness/server.ts";
import { signInAt } from "./admin.ts";
import { expect, expectAccessibleInBothSchemes, expectNoSidewaysScroll, test } from "./fixtures.ts";
import { languages, repetition, text } from "./texts.ts";

let server: Server;

test.beforeAll(async ({ demoFolder }) => {
  server = await startServer("sqlite", { demo: demoFolder });
});
test.afterAll(() => server.stop());

for (const language of languages) {
  test(`A-health-line A-health-same-disk A-health-problem A-health-release A-dash-5: a quiet line, its details, a problem and a newer release in ${repetition(language)}`, async ({
    page,
  }) => {
    await page.setViewportSize({ width: 390, height: 844 });
    await signInAt(page, server, "/admin", language);
    const health = page.getByRole("region", { name: text(language, "health.title") });
    await expect(health).toContainText(/\d+ [GM]B/);
    await expect(health).toContainText(text(language, "health.sameDisk"));
    await expect(page.getByRole("alert")).toHaveCount(0);

    const details = health.getByRole("button", { name: text(language, "health.details") });
    await details.focus();
    await page.keyboard.press("Enter");
    await expect(details).toHaveAttribute("aria-expanded", "true");
    await expect(
      health.getByText(text(language, "health.label.disk"), { exact: true }),
    ).toBeVisible();
    await expectNoSidewaysScroll(page);
    await expectAccessibleInBothSchemes(page);

    // With SQLite, the server never writes the row of the kind 'snapshot', so the row stays as this test writes it.
    const since = new Date(Date.now() - 2 * 3_600_000).toISOString().replace("Z", "+00:00");
    await server.sql(
      `insert into backup_status (kind, last_error_at, error_since, error, detail) values ('snapshot', '${since}', '${since}', 'the bucket copies.example does not answer', '{}')`,
    );
    await page.reload();
    const alert = page.getByRole("alert");
    await expect(alert).toContainText("atelie backup status");
    await expect(alert).toContainText(
      text(language, "health.cause", { cause: "the bucket copies.example does not answer" }),
    );
    await expectNoSidewaysScroll(page);
    await expectAccessibleInBothSchemes(page);
    await server.sql("delete from backup_status where kind = 'snapshot'");

    // A program that was not built from a release never reports a newer one, so the test adds it to the response.
    await page.route("**/rpc/get_site_health", async (route) => {
      const response = await route.fetch();
      const newer = { version: "9.0.0", date: "2026-12-01", notes: "https://example.com/9.0.0" };
      const release = { newer, read_at: since, failing_since: null };
      await route.fulfill({ response, json: { ...(await response.json()), release } });
    });
    await page.reload();
    await expect(health).toContainText("9.0.0");
    await expect(page.getByRole("alert")).toHaveCount(0);
    await expectNoSidewaysScroll(page);
    await expectAccessibleInBothSchemes(page);
  });
}
