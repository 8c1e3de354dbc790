// Mails rendered by a browser, on phones and desktops, light and dark.

import { asAnon, asService } from "../harness/clients.ts";
import { type Mail, startMailServer } from "../harness/mail-server.ts";
import { startServer } from "../harness/server.ts";
import {
  expect,
  expectAccessible,
  expectAccessibleColours,
  expectNoSidewaysScroll,
  test,
} from "./fixtures.ts";

const mails: Record<string, Mail> = {};

test.beforeAll(async () => {
  const mailServer = await startMailServer();
  const server = await startServer("sqlite", { env: mailServer.env });
  for (const language of ["en", "pt"]) {
    await server.command([
      "mail",
      "test",
      `test-${language}@example.com`,
      `--language=${language}`,
    ]);
    const { error } = await asService(server).auth.admin.inviteUserByEmail(
      `invite-${language}@example.com`,
      { data: { locale: language } },
    );
    expect(error).toBeNull();
    for (const kind of ["test", "invite"])
      mails[`${kind}-${language}`] = await mailServer.next(`${kind}-${language}@example.com`);

    // An owner with this language gets the notice about a visitor's message.
    const service = asService(server);
    const owner = await service.auth.admin.createUser({
      email: `owner-${language}@example.com`,
      email_confirm: true,
      user_metadata: { locale: language },
    });
    expect(owner.error).toBeNull();
    const role = await service
      .from("user_roles")
      .insert({ user_id: owner.data.user!.id, role: "admin" });
    expect(role.error).toBeNull();
  }
  const { error } = await asAnon(server).functions.invoke("submit-contact", {
    body: {
      name: "Inês de Castro e Albuquerque",
      email: "a-rather-long-address-for-a-visitor.with-parts@subdomain.example.com",
      message: `Bom dia!\nTemos uma parede de 6 × 3 metros.\n\nhttps://example.com/${"photographs-of-the-wall/".repeat(12)}\n\nObrigada`,
      reason: "commission",
    },
  });
  expect(error).toBeNull();
  for (const language of ["en", "pt"])
    mails[`notice-${language}`] = await mailServer.next(`owner-${language}@example.com`);
  await server.stop();
  await mailServer.stop();
});

test("AM-mail-1 A-mail-4: mails fit every width and are accessible, in light and dark", async ({
  page,
}) => {
  const requestedUrls: string[] = [];
  page.on("request", (request) => requestedUrls.push(request.url()));
  for (const [name, mail] of Object.entries(mails)) {
    await page.setContent(mail.html);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      for (const width of [320, 390, 700, 1280]) {
        await test.step(`${name}, ${colorScheme}, at ${width}`, async () => {
          await page.setViewportSize({ width, height: 800 });
          await expectNoSidewaysScroll(page);
          const background = await page
            .locator("body")
            .evaluate((body) => getComputedStyle(body).backgroundColor);
          expect(background).toBe(
            colorScheme === "dark" ? "rgb(17, 20, 27)" : "rgb(250, 250, 248)",
          );
          // A mail client shows a mail within its own page, so rules about landmarks do not apply.
          if (colorScheme === "light") await expectAccessible(page, []);
          else await expectAccessibleColours(page);
        });
      }
    }
  }
  expect(requestedUrls, "requests of the mail").toEqual([]);
});

test("the button of a mail is a link that is large enough for a finger", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await page.setContent(mails["invite-pt"]!.html);
  const button = page.getByRole("link", { name: "Aceitar o convite" });
  expect(await button.getAttribute("href")).toContain("/auth/v1/verify?");
  const box = await button.boundingBox();
  expect(box!.height).toBeGreaterThanOrEqual(44);
  expect(box!.width).toBeGreaterThan(300);
});
