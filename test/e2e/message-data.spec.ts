// The owner exports all messages, and finds, exports and erases everything that is stored about an email address: by
// keyboard, on a phone, in both languages and colour schemes, and without a network.
import { readFile } from "node:fs/promises";

import type { Page } from "@playwright/test";

import { asAnon, asService } from "../harness/clients.ts";
import { type Server, startServer } from "../harness/server.ts";
import { signInAt } from "./admin.ts";
import { expect, expectAccessibleInBothSchemes, expectNoSidewaysScroll, test } from "./fixtures.ts";
import { type Language, languages, repetition, text } from "./texts.ts";

test.use({
  contextOptions: { reducedMotion: "reduce" },
  // Where a test cuts the network, and where the server refuses the address of an account with a role.
  allowedConsole: [/net::ERR_INTERNET_DISCONNECTED|status of 409 .*\/address-data/],
});
const owner = { email: "ana@example.com", password: "a wall of whitewash" };
const dataPage = "/admin/contact-messages?box=data";
let server: Server;

test.beforeEach(async () => {
  server = await startServer("sqlite");
  await server.command(["owner", "add", owner.email, "--password-stdin"], `${owner.password}\n`);
  for (const [name, email, reason] of [
    ["=Rui", "rui@example.com", ""],
    ["Inês", "ines@example.com", "commission"],
    ["Inês", "INES@example.com", ""],
    ["Bot", "ines@example.com", "http://watches"],
  ]) {
    const { error } = await asAnon(server).functions.invoke("submit-contact", {
      body: { name, email, message: "Temos uma parede.", reason },
    });
    expect(error).toBeNull();
  }
});
test.afterEach(async ({ page }) => {
  await page.close(); // an open page would send requests to the stopped server
  await server.stop();
});

const signIn = (page: Page, path: string, language: Language = "en") =>
  signInAt(page, { ...server, owner }, path, language);

/** Presses the button and returns the name and the text of the file that the browser saves. */
async function download(page: Page, button: string): Promise<{ name: string; content: string }> {
  const arriving = page.waitForEvent("download");
  await page.getByRole("button", { name: button, exact: true }).press("Enter");
  const file = await arriving;
  return { name: file.suggestedFilename(), content: await readFile(await file.path(), "utf8") };
}

async function lookUp(page: Page, address: string, language: Language = "en"): Promise<void> {
  await page.getByLabel(text(language, "messages.data.email"), { exact: true }).fill(address);
  await page.keyboard.press("Enter");
}

test("AM-export-1 AM-export-2 AM-address-3: all messages are exported, and one address is found, exported and erased, by keyboard", async ({
  page,
}) => {
  await signIn(page, "/admin/contact-messages");
  await page.getByRole("link", { name: "Export and erase" }).press("Enter");
  await expect(page.getByRole("heading", { level: 1, name: "Export and erase" })).toBeVisible();

  const csv = await download(page, "Download CSV");
  expect(csv.name).toMatch(/^messages-\d{4}-\d\d-\d\d\.csv$/);
  expect(csv.content).toMatch(/^\uFEFFid,created_at,name,email,reason,status,message\r\n/);
  expect(csv.content).toContain(",'=Rui,rui@example.com,general,new,Temos uma parede.\r\n");
  const json = await download(page, "Download JSON");
  expect(json.name).toMatch(/\.json$/);
  const all = JSON.parse(json.content) as { name: string; status: string }[];
  expect(all.map(({ name, status }) => `${name} ${status}`)).toEqual([
    "=Rui new",
    "Inês new",
    "Inês new",
    "Bot quarantine",
  ]);

  await lookUp(page, "nobody");
  await expect(page.getByLabel("Email address")).toHaveAccessibleDescription(
    "Please enter a valid email address",
  );
  await lookUp(page, "nobody@example.com");
  await expect(page.getByText("Nothing is kept about nobody@example.com.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Erase all of it" })).toBeHidden();
  await lookUp(page, " Ines@example.com ");
  const status = page.getByRole("status").filter({ hasText: "ines@example.com" });
  await expect(status.getByText("Kept about ines@example.com")).toBeVisible();
  const found = status.getByRole("listitem");
  await expect(found).toContainText(["Messages2", "Messages in quarantine1", "Notices"]);
  const own = await download(page, "Download all of it");
  expect(own.name).toMatch(/^address-\d{4}-\d\d-\d\d\.json$/);
  const saved = JSON.parse(own.content) as { messages: unknown[]; quarantine: unknown[] };
  expect([saved.messages.length, saved.quarantine.length]).toEqual([2, 1]);

  await page.getByRole("button", { name: "Erase all of it" }).press("Enter");
  const dialog = page.getByRole("alertdialog", { name: "Erase everything" });
  await expect(dialog).toContainText(
    "Everything that is kept about ines@example.com will be erased. This action cannot be undone. Backups keep it for up to 33 days more; if one from before is restored, it has to be erased again.",
  );
  await expect(dialog.getByRole("button", { name: "Cancel" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(dialog).toBeHidden();
  await page.getByRole("button", { name: "Erase all of it" }).press("Enter");
  await dialog.getByRole("button", { name: "Erase", exact: true }).press("Enter");
  await expect(status.getByText("Erased about ines@example.com")).toBeVisible();
  await expect(found).toContainText(["Messages2", "Messages in quarantine1", "Notices"]);
  await expect(status.getByText("Backups keep it for up to 33 days more.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Erase all of it" })).toBeHidden();
  // A job deletes mails that are files.
  await expect(async () => {
    await lookUp(page, "ines@example.com");
    await expect(status.getByText("kept about ines@example.com")).toBeVisible(); // either result
    expect(await page.getByText("Nothing is kept about ines@example.com.").isVisible()).toBe(true);
  }).toPass();
  await page.getByRole("link", { name: "All messages" }).press("Enter");
  await expect(page.getByRole("list", { name: "Messages" }).getByRole("listitem")).toHaveText([
    /=Rui/,
  ]);
});

test("AM-address-2: the address of an account with a role is rejected with a message", async ({
  page,
}) => {
  await signIn(page, dataPage);
  await lookUp(page, "Ana@example.com");
  const refusal = page.getByText("This address belongs to an account with a role", { exact: true });
  await expect(refusal).toBeVisible();
  await expect(page.getByRole("button", { name: "Erase all of it" })).toBeHidden();
  // The account gets its role after the address was found.
  const { data } = await asService(server).auth.admin.createUser({ email: "zita@example.com" });
  await lookUp(page, "zita@example.com");
  await expect(page.getByRole("listitem").filter({ hasText: "Accounts" })).toContainText("1");
  await expect(refusal).toBeHidden();
  await asService(server).from("user_roles").insert({ user_id: data.user!.id, role: "admin" });
  await page.getByRole("button", { name: "Erase all of it" }).click();
  await page.getByRole("button", { name: "Erase", exact: true }).click();
  await expect(refusal).toBeVisible();
  await expect(page.getByText(/^Nothing was read or erased/)).toBeVisible();
  expect((await asService(server).auth.admin.getUserById(data.user!.id)).error).toBeNull();
});

test("AM-address-4: without a network each action shows its error and keeps the typed text", async ({
  page,
}) => {
  await signIn(page, dataPage);
  await lookUp(page, "ines@example.com");
  await expect(page.getByText("Kept about ines@example.com")).toBeVisible();
  await page.context().setOffline(true);
  const toast = (key: Parameters<typeof text>[1]) =>
    page.locator("[data-sonner-toast]").getByText(text("en", key), { exact: true }).last();
  await page.getByRole("button", { name: "Download JSON" }).click();
  await expect(toast("messages.data.toast.exportError")).toBeVisible();
  await page.getByRole("button", { name: "Erase all of it" }).click();
  await page.getByRole("button", { name: "Erase", exact: true }).click();
  await expect(toast("messages.data.toast.eraseError")).toBeVisible();
  await lookUp(page, "rui@example.com");
  await expect(toast("messages.data.toast.findError")).toBeVisible();
  await expect(page.getByLabel("Email address")).toHaveValue("rui@example.com");
  await page.context().setOffline(false);
  await lookUp(page, "ines@example.com");
  await expect(page.getByText("Kept about ines@example.com")).toBeVisible();
});

for (const language of languages) {
  test(`AM-address-5: axe: export and erasing on wide and narrow screens, in ${repetition(language)}`, async ({
    page,
  }) => {
    await asService(server).auth.admin.createUser({ email: "ines@example.com" });
    await signIn(page, dataPage, language);
    const shots = process.env.SCREENSHOTS;
    const checkPage = async (name: string) => {
      for (const width of [1440, 768, 390]) {
        await page.setViewportSize({ width, height: 900 });
        await expectAccessibleInBothSchemes(page, async (scheme) => {
          if (shots)
            await page.screenshot({
              path: `${shots}/${name}-${language}-${width}-${scheme}.png`,
              fullPage: true,
            });
        });
        await expectNoSidewaysScroll(page);
      }
    };
    const t = (key: Parameters<typeof text>[1]) => text(language, key);
    await lookUp(page, owner.email, language);
    await page.getByText(t("messages.data.role"), { exact: true }).waitFor();
    await checkPage("data-refused");
    await lookUp(page, "ines@example.com", language);
    await page.getByText(t("messages.data.place.accounts"), { exact: true }).waitFor();
    await checkPage("data-found");
    await page.getByRole("button", { name: t("messages.data.erase") }).click();
    await page.getByRole("alertdialog").waitFor();
    await checkPage("data-question");
    await page.getByRole("button", { name: t("messages.data.eraseNow"), exact: true }).click();
    await expect(page.getByRole("alertdialog")).toBeHidden();
    await checkPage("data-erased");
  });
}
