// The owner's own account: email address, password, second factor with recovery codes, and sessions. It runs on the
// real binary with a real mail server, on both databases.
import { readFile } from "node:fs/promises";

import type { Locator, Page } from "@playwright/test";

import { Authenticator } from "../harness/authenticator.ts";
import { asAnon } from "../harness/clients.ts";
import { type MailServer, startMailServer } from "../harness/mail-server.ts";
import { type Server, startServer } from "../harness/server.ts";
import { signInAt } from "./admin.ts";
import { expect, expectAccessibleInBothSchemes, expectNoSidewaysScroll, test } from "./fixtures.ts";
import { type Language, languages, repetition, text } from "./texts.ts";

test.use({
  // The browser's console messages for refused requests.
  allowedConsole: [
    /net::ERR_INTERNET_DISCONNECTED|WebSocket|status of (400 .*\/auth\/v1\/(token|user|factors)|4(01|03|22|29) .*\/auth\/v1\/)/,
  ],
  permissions: ["clipboard-read", "clipboard-write"],
});

type Owner = { email: string; password: string };
let ownerCount = 0;

async function makeOwner(server: Server): Promise<Owner> {
  const owner = { email: `account-${++ownerCount}@example.com`, password: "a wall of whitewash" };
  await server.command(["owner", "add", owner.email, "--password-stdin"], `${owner.password}\n`);
  return owner;
}

async function openAccount(page: Page, server: Server, owner: Owner, language: Language = "en") {
  await signInAt(page, { ...server, owner }, "/admin/account", language);
  await expect(
    page.getByRole("heading", { level: 1, name: text(language, "account.title") }),
  ).toBeVisible();
}

const button = (page: Page, name: string | RegExp) =>
  page.getByRole("button", { name, exact: true });

/** Sets up an authenticator app with the key that the dialog shows. The dialog with the recovery codes stays open. */
async function setUpApp(page: Page, language: Language = "en"): Promise<Authenticator> {
  const t = (key: Parameters<typeof text>[1]) => text(language, key);
  await button(page, t("account.factor.add")).click();
  const dialog = page.getByRole("dialog", { name: t("account.factor.add") });
  const key = dialog.getByText(t("account.factor.secret")).locator("+ p");
  const app = new Authenticator((await key.innerText()).replaceAll(" ", ""));
  await dialog.getByLabel(t("auth.factor.code")).fill(app.next());
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog", { name: t("account.codes.title") })).toBeVisible();
  return app;
}

async function mailedLink(mailServer: MailServer, email: string): Promise<string> {
  for (;;) {
    const mail = await mailServer.next(email);
    const link = /https?:\/\/\S+\/auth\/v1\/verify\?\S+/.exec(mail.text)?.[0];
    if (link) return link;
  }
}

// The calls behind it run on PostgreSQL in test/contract.
test.describe("the account page", () => {
  let server: Server;
  let mailServer: MailServer;
  test.beforeAll(async () => {
    mailServer = await startMailServer();
    server = await startServer("sqlite", {
      env: { ...mailServer.env, ATELIE_MAIL_MIN_INTERVAL: "0s", ATELIE_MAILS_PER_DAY: "0" },
    });
  });
  test.afterAll(async () => {
    await server.stop();
    await mailServer.stop();
  });

  test("A-acc-email: another e-mail counts once both mailed links were opened", async ({
    page,
  }) => {
    const owner = await makeOwner(server);
    await openAccount(page, server, owner);
    await expect(page.getByText(`You sign in with ${owner.email}.`)).toBeVisible();
    const field = page.getByLabel("New email");
    await field.fill("nobody");
    await page.keyboard.press("Enter");
    await expect(page.getByText("Please enter a valid email address")).toBeVisible();
    const taken = await makeOwner(server);
    await field.fill(taken.email);
    await page.keyboard.press("Enter");
    await expect(page.getByRole("alert")).toContainText("Another account uses this email.");
    await expect(field).toBeFocused();

    const next = `new-${owner.email}`;
    await field.fill(next);
    await page.keyboard.press("Enter");
    await expect(page.getByText(/Two mails are on their way/)).toContainText(next);
    const [first, second] = [
      await mailedLink(mailServer, owner.email),
      await mailedLink(mailServer, next),
    ];
    await page.goto(first);
    await expect(page).toHaveURL(/\/admin\/account/);
    // Still waiting for the other link, also after this link has reloaded the page.
    await expect(page.getByText(/Two mails are on their way/)).toContainText(next);
    await expect(page.getByText(`You sign in with ${owner.email}.`)).toBeVisible();
    await page.goto(second);
    await expect(page.getByText(`You sign in with ${next}.`)).toBeVisible();
    await expect(page.getByText(/Two mails are on their way/)).toHaveCount(0);
    const { error } = await asAnon(server).auth.signInWithPassword({
      email: next,
      password: owner.password,
    });
    expect(error).toBeNull();
  });

  test("A-acc-pass: a new password: the weak one, the old one, and the end of other sessions", async ({
    page,
  }) => {
    const owner = await makeOwner(server);
    const elsewhere = asAnon(server);
    await elsewhere.auth.signInWithPassword(owner);
    await openAccount(page, server, owner);
    const field = page.getByLabel("New password");
    await button(page, "Change password").click();
    await expect(page.getByText("Please enter a new password")).toBeVisible();
    await field.fill("short");
    await page.keyboard.press("Enter");
    await expect(page.getByText("Use at least 10 characters.")).toBeVisible();
    await field.fill(owner.password);
    await page.keyboard.press("Enter");
    await expect(page.getByText("This is the old password. Choose a new one.")).toBeVisible();
    await field.fill("four swallows over lime");
    await page.keyboard.press("Enter");
    await expect(page.getByText("Password changed")).toBeVisible();
    await expect(field).toHaveValue("");
    expect((await elsewhere.auth.getUser()).error?.name).toBe("AuthSessionMissingError");
    const { error } = await asAnon(server).auth.signInWithPassword({
      email: owner.email,
      password: "four swallows over lime",
    });
    expect(error).toBeNull();
  });

  test("A-acc-enrol: a second step: picture, key, codes to keep, signing in with it, and its end", async ({
    page,
  }) => {
    const owner = await makeOwner(server);
    await openAccount(page, server, owner);
    await expect(page.getByText("Signing in asks for the password alone.")).toBeVisible();
    await button(page, "Set up an authenticator app").click();
    const dialog = page.getByRole("dialog", { name: "Set up an authenticator app" });
    const picture = dialog.getByRole("img", { name: "QR code for the authenticator app" });
    await expect
      .poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth))
      .toBeGreaterThan(0);
    await dialog.getByLabel("Six-digit code").fill("000000");
    await page.keyboard.press("Enter");
    await expect(dialog.getByRole("alert")).toContainText("This code is not right");
    await page.keyboard.press("Escape"); // an enrolment that was cancelled is not continued by a later one
    const app = await setUpApp(page);

    const codes = page.getByRole("dialog", { name: "Recovery codes" });
    await expect(codes.getByRole("listitem")).toHaveCount(10);
    const shown = await codes.getByRole("listitem").allInnerTexts();
    await page.keyboard.press("Escape");
    await page.mouse.click(5, 5);
    await expect(codes).toBeVisible();
    await codes.getByRole("button", { name: "Copy" }).click();
    await expect(codes.getByText("Copied")).toBeVisible();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(shown[9]);
    const downloading = page.waitForEvent("download");
    await codes.getByRole("button", { name: "Download" }).click();
    const file = await readFile(await (await downloading).path(), "utf8");
    expect(file).toContain(shown.join("\n"));
    await page.emulateMedia({ media: "print" });
    await expect(codes.getByText(shown[0]!)).toBeVisible();
    await expect(codes.getByRole("button", { name: "Copy" })).toBeHidden();
    await expect(page.locator("#root")).toBeHidden();
    await page.emulateMedia({ media: "screen" });
    await page.evaluate(() => {
      window.print = () => document.body.setAttribute("data-printed", "");
    });
    await codes.getByRole("button", { name: "Print" }).click();
    await expect(page.locator("body[data-printed]")).toHaveCount(1);
    await codes.getByRole("button", { name: "I have kept them" }).click();
    await expect(page.getByText("Recovery codes left: 10")).toBeVisible();
    await page.reload();
    await expect(page.getByText("Authenticator app, App 1")).toBeVisible();
    await expect(page.getByText(shown[0]!)).toHaveCount(0);

    await button(page, "Sign Out").click();
    await expect(page).toHaveURL(`${server.url}/`);
    await page.goto(`${server.url}/admin/account`);
    await page.getByLabel("Email").fill(owner.email);
    await page.getByLabel("Password", { exact: true }).fill(owner.password);
    await page.keyboard.press("Enter");
    await button(page, "Use a recovery code instead").click();
    await page.getByLabel("Recovery code").fill(shown[0]!);
    await page.keyboard.press("Enter");
    await expect(page.getByText("Recovery codes left: 9")).toBeVisible();

    await button(page, "Make new recovery codes").click();
    await page
      .getByRole("alertdialog")
      .getByRole("button", { name: "Make new recovery codes" })
      .click();
    await expect(codes.getByRole("listitem")).toHaveCount(10);
    expect(await codes.getByRole("listitem").allInnerTexts()).not.toContain(shown[1]);
    await codes.getByRole("button", { name: "I have kept them" }).click();

    await button(page, "Remove Authenticator app, App 1").click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Remove" }).click();
    await expect(page.getByText("The second step is removed")).toBeVisible();
    await expect(page.getByText("Signing in asks for the password alone.")).toBeVisible();
    expect(app).toBeDefined();
    const { data } = await asAnon(server).auth.signInWithPassword(owner);
    expect(data.user?.factors ?? []).toEqual([]);
  });

  test("A-acc-sessions: the sessions: which device, when and from where; one ended, then all others", async ({
    page,
  }) => {
    const owner = await makeOwner(server);
    const others = [asAnon(server), asAnon(server), asAnon(server)];
    for (const other of others) await other.auth.signInWithPassword(owner);
    await openAccount(page, server, owner);
    const rows = page
      .getByRole("region", { name: "Where you are signed in" })
      .getByRole("listitem");
    await expect(rows).toHaveCount(4);
    const mine = rows.filter({ hasText: "This device" });
    await expect(mine).toContainText("Chrome, Linux");
    await expect(mine).toContainText(/Last used \d+ \w+ \d{4}, \d\d:\d\d, from 127\.0\.0\.1/);
    await expect(mine.getByRole("button")).toHaveCount(0);
    await rows
      .filter({ hasNotText: "This device" })
      .first()
      .getByRole("button", { name: /^Sign out / })
      .click();
    await expect(page.getByText("The session was ended")).toBeVisible();
    await expect(rows).toHaveCount(3);
    await button(page, "Sign out everywhere else").click();
    await expect(page.getByText("Signed out everywhere else")).toBeVisible();
    await expect(rows).toHaveCount(1);
    await expect(button(page, "Sign out everywhere else")).toBeDisabled();
    for (const other of others)
      expect((await other.auth.getUser()).error?.name).toBe("AuthSessionMissingError");
    await page.reload();
    await expect(rows).toHaveCount(1);
  });
});

test.describe("screens", () => {
  let server: Server;
  test.beforeAll(async () => {
    server = await startServer("sqlite");
  });
  test.afterAll(() => server.stop());

  test("A-acc-all-can: the owner ends other sessions and sets up a second factor by keyboard, at 390 px", async ({
    page,
  }) => {
    await page.setViewportSize({ width: 390, height: 844 });
    const owner = await makeOwner(server);
    const other = asAnon(server);
    await other.auth.signInWithPassword(owner);
    await openAccount(page, server, owner);
    const tabTo = async (target: Locator) => {
      for (let n = 0; n < 60; n++) {
        await page.keyboard.press("Tab");
        if (await target.evaluate((element) => element === document.activeElement)) {
          // Below the bar and inside the window: the focus is visible (WCAG 2.4.11).
          const box = (await target.boundingBox())!;
          expect(box.y).toBeGreaterThanOrEqual(0);
          expect(box.y + box.height).toBeLessThanOrEqual(844);
          return;
        }
      }
      throw new Error("Tab does not reach the element");
    };
    const press = async (target: Locator) => {
      await tabTo(target);
      await page.keyboard.press("Enter");
    };
    // Wait until the page is complete: content that loads later would move the focused element.
    await expect(button(page, "Set up an authenticator app")).toBeVisible();
    await expect(button(page, "Sign out everywhere else")).toBeEnabled();
    await page.locator("main").focus();
    // The other session is ended first, because setting up a second factor would end it as well.
    await press(button(page, "Sign out everywhere else"));
    await expect(page.getByText("Signed out everywhere else")).toBeVisible();
    expect((await other.auth.getUser()).error?.name).toBe("AuthSessionMissingError");
    // Wait until the toast is gone. When it closes, headless Chromium gives the focus to the element before it, not to
    // the page.
    await expect(page.getByText("Signed out everywhere else")).toHaveCount(0);
    await press(button(page, "Set up an authenticator app"));
    const dialog = page.getByRole("dialog", { name: "Set up an authenticator app" });
    const key = dialog.getByText("Or type this key into the app").locator("+ p");
    const app = new Authenticator((await key.innerText()).replaceAll(" ", ""));
    await tabTo(dialog.getByLabel("Six-digit code"));
    await page.keyboard.type(app.next());
    await page.keyboard.press("Enter");
    const codes = page.getByRole("dialog", { name: "Recovery codes" });
    await expect(codes.getByRole("listitem")).toHaveCount(10);
    await press(codes.getByRole("button", { name: "Copy" }));
    await expect(codes.getByText("Copied")).toBeVisible();
    await press(codes.getByRole("button", { name: "I have kept them" }));
    await expect(page.getByText("Recovery codes left: 10")).toBeVisible();
    await press(button(page, "Remove Authenticator app, App 1"));
    const question = page.getByRole("alertdialog");
    await expect(question).toContainText("Codes of this app will no longer be asked for.");
    await press(question.getByRole("button", { name: "Remove" }));
    await expect(page.getByText("The second step is removed")).toBeVisible();
    await expect(page.getByRole("alertdialog")).toHaveCount(0);
  });

  test("A-acc-fail: without a network each action of the account page shows its error, in pt", async ({
    page,
    context,
  }) => {
    const language = "pt";
    const t = (key: Parameters<typeof text>[1]) => text(language, key);
    const owner = await makeOwner(server);
    await openAccount(page, server, owner, language);
    await setUpApp(page, language);
    await asAnon(server).auth.signInWithPassword(owner); // a session to end
    await page.evaluate(() => {
      navigator.clipboard.writeText = () => Promise.reject(new Error("refused"));
    });
    await button(page, t("account.codes.copy")).click();
    await expect(page.getByText(t("account.codes.copyFailed"))).toBeVisible();
    await button(page, t("account.codes.kept")).click();
    await page.reload();
    // Before the network is cut, the sessions, the factors and the code of toasts must be loaded.
    await expect(button(page, t("account.sessions.endOthers"))).toBeEnabled();
    await expect(button(page, t("account.codes.renew"))).toBeVisible();
    await expect(page.getByRole("region", { name: t("toast.area") })).toBeAttached();
    await context.setOffline(true);
    const offline = t("auth.error.offline");
    const alert = (title: Parameters<typeof text>[1]) =>
      page.getByRole("alert").filter({ hasText: t(title) });
    const toast = (title: Parameters<typeof text>[1]) =>
      page
        .locator("[data-sonner-toast]")
        .filter({ hasText: t(title) })
        .last();
    await page.getByLabel(t("account.email.new")).fill("new@example.com");
    await page.keyboard.press("Enter");
    await expect(alert("account.email.failed")).toContainText(offline);
    await page.getByLabel(t("auth.setup.password")).fill("four swallows over lime");
    await page.keyboard.press("Enter");
    await expect(alert("auth.newPassword.failed")).toContainText(offline);
    await button(page, t("account.codes.renew")).click();
    const question = page.getByRole("alertdialog");
    await expect(question).toContainText(t("account.codes.renewQuestion"));
    await question.getByRole("button", { name: t("account.codes.renew") }).click();
    await expect(toast("account.codes.failed")).toContainText(offline);
    await button(page, t("account.sessions.endOthers")).click();
    await expect(toast("account.sessions.failed")).toContainText(offline);
    await button(page, t("account.factor.another")).click();
    await expect(alert("account.factor.failed")).toContainText(offline);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: /App 1/ }).click();
    await expect(question).toContainText(t("account.factor.removeQuestion"));
    await question.getByRole("button").last().click();
    await expect(toast("account.factor.removeFailed")).toContainText(offline);
    await context.setOffline(false);
  });

  for (const language of languages) {
    test(`A-acc-all-can A-confirm-5: axe: the account page and its dialogs, in ${repetition(language)}, also on a phone`, async ({
      page,
    }) => {
      const t = (key: Parameters<typeof text>[1]) => text(language, key);
      const owner = await makeOwner(server);
      await openAccount(page, server, owner, language);
      const both = async () => {
        await expectAccessibleInBothSchemes(page);
        await expectNoSidewaysScroll(page);
      };
      await page.getByLabel(t("account.email.new")).fill("nobody");
      await page.keyboard.press("Enter");
      await button(page, t("account.password.submit")).click();
      await expect(page.getByText(t("auth.newPassword.required"))).toBeVisible();
      await both();
      await page.setViewportSize({ width: 390, height: 844 });
      await both();
      // The owner signed in long ago, so the dialog asks for the password. Afterwards the focus returns to the button.
      await server.sql(
        `update auth_sessions set amr = '[{"method":"password","timestamp":1700000000}]'`,
      );
      const confirm = page.getByRole("dialog", { name: t("account.confirm.title") });
      const add = button(page, t("account.factor.add"));
      const secret = page.getByLabel(t("auth.setup.password"));
      await secret.fill("four swallows over lime");
      for (const opener of [add, secret]) {
        await opener.focus();
        await page.keyboard.press("Enter");
        await expect(
          confirm.getByLabel(t("account.confirm.password"), { exact: true }),
        ).toBeFocused();
        await page.keyboard.press("Enter");
        await expect(confirm.getByText(t("auth.passwordRequired"))).toBeVisible();
        await both();
        await page.keyboard.press("Escape");
        await expect(confirm).toHaveCount(0);
        await expect(opener).toBeFocused();
      }
      await add.press("Enter");
      await confirm.getByLabel(t("account.confirm.password"), { exact: true }).fill(owner.password);
      await page.keyboard.press("Enter");
      await expect(page.getByRole("img", { name: t("account.factor.qr") })).toBeVisible();
      await both();
      await page.keyboard.press("Escape");
      await expect(page.getByRole("dialog")).toHaveCount(0);
      await setUpApp(page, language);
      await expect(page.getByText(t("account.factor.added"))).toHaveCount(0);
      await both();
      await button(page, t("account.codes.kept")).click();
      await expect(page.getByText(t("account.codes.renew"))).toBeVisible();
      await both();
      const app = page.getByRole("button", { name: /App 1/ });
      await app.click();
      await expect(page.getByRole("alertdialog")).toBeVisible();
      await both();
      await page.keyboard.press("Escape");
      // Codes and factors ask for the password too, and the focus returns.
      await server.sql(
        `update auth_sessions set amr = '[{"method":"totp","timestamp":1700000000},{"method":"password","timestamp":1700000000}]'`,
      );
      for (const opener of [button(page, t("account.codes.renew")), app]) {
        await opener.press("Enter");
        await page.getByRole("alertdialog").getByRole("button").last().press("Enter");
        await expect(
          confirm.getByLabel(t("account.confirm.password"), { exact: true }),
        ).toBeFocused();
        await expect(page.getByRole("alertdialog")).toHaveCount(0);
        await page.keyboard.press("Escape");
        await expect(confirm).toHaveCount(0);
        await expect(opener).toBeFocused();
      }
    });
  }
});
