// Signing in on the real binary: second factors, recovery codes, forgotten passwords with real mail, and the error
// messages when one of them fails.
import type { SupabaseClient } from "@supabase/supabase-js";
import type { Page } from "@playwright/test";

import { Authenticator } from "../harness/authenticator.ts";
import { asAnon, asService } from "../harness/clients.ts";
import { type MailServer, startMailServer } from "../harness/mail-server.ts";
import { type Server, startServer } from "../harness/server.ts";
import { startTexts, type Texts } from "../harness/texts.ts";
import {
  expect,
  expectAccessible,
  expectAccessibleInBothSchemes,
  expectNoSidewaysScroll,
  test,
} from "./fixtures.ts";
import { inLanguage, languages, repetition, text } from "./texts.ts";

// The browser's console messages for refusals, the missing role and the cut network. One expression, because Playwright
// treats a list whose second entry is an object as a value with options.
test.use({
  allowedConsole: [
    /(status of (400 .*\/auth\/v1\/token|4(01|03|22|29) .*\/auth\/v1\/(factors|user|recover)|406 .*\/user_roles)|status of 4\d\d .*\/auth\/v1\/setup|net::ERR_INTERNET_DISCONNECTED)/,
  ],
});
let server: Server;
let mailServer: MailServer;
let texts: Texts;
let ownerCount = 0;

test.beforeAll(async () => {
  [mailServer, texts] = [await startMailServer(), await startTexts()];
  server = await startServer("sqlite", {
    env: {
      ...mailServer.env,
      ...texts.env,
      ATELIE_PHONE_ENABLED: "on",
      ATELIE_MAIL_MIN_INTERVAL: "0s",
      ATELIE_MAILS_PER_DAY: "0",
      ATELIE_TEXTS_PER_DAY: "0",
      ATELIE_SMS_MIN_INTERVAL: "0s",
    },
  });
});
test.afterAll(async () => {
  await server.stop();
  await mailServer.stop();
  await texts.stop();
});

type Owner = { email: string; password: string; client: SupabaseClient };

/** Creates an owner who is signed in with supabase-js on another device. */
async function makeOwner(): Promise<Owner> {
  const email = `login-${++ownerCount}@example.com`;
  const password = "a wall of whitewash";
  await server.command(["owner", "add", email, "--password-stdin"], password + "\n");
  const client = asAnon(server);
  const { error } = await client.auth.signInWithPassword({ email, password });
  expect(error).toBeNull();
  return { email, password, client };
}

/** Sets up an authenticator app on the other device. */
async function addApp({ client }: Owner): Promise<Authenticator> {
  const { data, error } = await client.auth.mfa.enroll({
    factorType: "totp",
    friendlyName: "Easel",
  });
  expect(error).toBeNull();
  if (data?.type !== "totp") throw new Error("no TOTP factor");
  const app = new Authenticator(data.totp.secret);
  const verified = await client.auth.mfa.challengeAndVerify({
    factorId: data.id,
    code: app.next(),
  });
  expect(verified.error).toBeNull();
  return app;
}

async function addPhone({ client }: Owner, phone: string): Promise<void> {
  const { data, error } = await client.auth.mfa.enroll({ factorType: "phone", phone });
  expect(error).toBeNull();
  const challenge = await client.auth.mfa.challenge({ factorId: data!.id });
  const { otp } = await texts.next(phone);
  const verified = await client.auth.mfa.verify({
    factorId: data!.id,
    challengeId: challenge.data!.id,
    code: otp,
  });
  expect(verified.error).toBeNull();
}

async function makeRecoveryCodes({ client }: Owner): Promise<string[]> {
  const { data } = await client.auth.getSession();
  const response = await fetch(`${server.url}/auth/v1/factors/recovery_codes`, {
    method: "POST",
    headers: { apikey: server.anonKey, Authorization: `Bearer ${data.session!.access_token}` },
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { codes: string[] }).codes;
}

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const code = (page: Page) => page.getByLabel("Six-digit code");

async function signIn(page: Page, { email, password }: Pick<Owner, "email" | "password">) {
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await button(page, "Sign in").click();
}

/** Returns the link of the newest mail to the address. */
async function mailedLink(email: string): Promise<string> {
  for (;;) {
    const mail = await mailServer.next(email);
    const link = /https?:\/\/\S+\/auth\/v1\/verify\?\S+/.exec(mail.text)?.[0];
    if (link) return link;
  }
}

async function askForLink(page: Page, email: string) {
  await page.getByRole("link", { name: "Lost your password?" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Lost password");
  await expect(page.getByLabel("Email")).toBeFocused();
  await page.getByLabel("Email").fill(email);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Look in your mail");
}

test("A-log-factor: the code of the authenticator app opens the deep link, also after a reload in between", async ({
  page,
}) => {
  const owner = await makeOwner();
  const app = await addApp(owner);
  await page.goto(`${server.url}/admin/products`);
  await signIn(page, owner);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("One more step");
  await expect(page).toHaveTitle(/One more step/);
  await expect(code(page)).toBeFocused();
  await expect(code(page)).toHaveAttribute("autocomplete", "one-time-code");
  await expect(code(page)).toHaveAttribute("inputmode", "numeric");
  await expect(page.getByText("Welcome back!")).toHaveCount(0);

  // The password alone gives no access to the admin area: the header has no link to it, and its URLs lead to the form
  // for the code.
  await expect(page.getByRole("banner").getByRole("link", { name: "Dashboard" })).toHaveCount(0);
  await page.reload();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("One more step");
  await page.goto(`${server.url}/admin/reviews`);
  await expect(page).toHaveURL(/\/admin\/auth$/);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("One more step");

  await code(page).fill("12345");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Please enter the six digits of the code")).toBeVisible();
  await code(page).fill("000000");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("alert")).toContainText("This code is not right");
  await expect(code(page)).toBeFocused();

  const digits = app.next();
  await code(page).fill(`${digits.slice(0, 3)} ${digits.slice(3)}`); // with a space, as apps show it and people paste it
  await page.keyboard.press("Enter");
  await expect(page.getByText("Welcome back!")).toBeVisible(); // checked first, because the toast closes after four seconds
  await expect(page).toHaveURL(/\/admin\/reviews$/);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Reviews");
  await page.reload();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Reviews");
});

test("A-codes-1: a recovery code replaces a lost phone, once", async ({ page }) => {
  const owner = await makeOwner();
  await addApp(owner);
  const [first] = await makeRecoveryCodes(owner);
  await page.goto(`${server.url}/admin/cover-images`);
  await signIn(page, owner);
  await button(page, "Use a recovery code instead").click();
  const field = page.getByLabel("Recovery code");
  await expect(field).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByText("Please enter a recovery code")).toBeVisible();
  await field.fill("aaaaa-aaaaa");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("alert")).toContainText("This code is not right");
  await field.fill(first!.toUpperCase());
  await page.keyboard.press("Enter");
  await expect(page.getByText("Welcome back!")).toBeVisible();
  await expect(page).toHaveURL(/\/admin\/cover-images$/);

  await button(page, "Sign Out").click();
  await expect(page).toHaveURL(`${server.url}/`);
  await page.goto(`${server.url}/admin`);
  await signIn(page, owner);
  await button(page, "Use a recovery code instead").click();
  await field.fill(first!);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("alert")).toContainText("it was used already");
  await button(page, "Use a six-digit code instead").click();
  await expect(code(page)).toBeFocused();
});

test("A-log-factor: with two factors the owner chooses one, and a text message is sent only on request", async ({
  page,
  context,
}) => {
  const owner = await makeOwner();
  await addApp(owner);
  await addPhone(owner, "351912000345");
  await page.goto(`${server.url}/admin`);
  await signIn(page, owner);
  await expect(code(page)).toBeFocused();
  await page.getByLabel("Where the code comes from").selectOption({
    label: "Text message, number ending in 345",
  });
  await expect(code(page)).toHaveCount(0);
  await expect(page.getByRole("status").filter({ hasText: "345" })).toHaveText(
    "A code goes by text message to the number ending in 345.",
  );
  await context.setOffline(true);
  await button(page, "Send code").click();
  await expect(page.getByRole("alert")).toContainText("Could not send the code");
  await context.setOffline(false);
  await button(page, "Send code").click();
  await expect(code(page)).toBeFocused();
  await expect(page.getByRole("status").filter({ hasText: "345" })).toContainText("on its way");
  await texts.next("351912000345");
  await button(page, "Send a new code").click();
  const { otp } = await texts.next("351912000345");
  await expect(button(page, "Send a new code")).toBeEnabled();
  await code(page).fill(otp);
  await button(page, "Confirm").click();
  await expect(page).toHaveURL(/\/admin$/);
});

test("A-log-back: Back to sign-in ends only this session, and keeps the deep link", async ({
  page,
}) => {
  const owner = await makeOwner();
  const app = await addApp(owner);
  await page.goto(`${server.url}/admin/cover-images`);
  await signIn(page, owner);
  await button(page, "Back to sign-in").click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Sign in");
  await expect(page.getByLabel("Email")).toBeFocused();
  expect((await owner.client.auth.getUser()).error).toBeNull();
  await signIn(page, owner);
  await code(page).fill(app.next());
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/admin\/cover-images$/);
});

test("a tab that was signed in with a password only loses access when a factor is set up on another device", async ({
  page,
}) => {
  const owner = await makeOwner();
  await page.goto(`${server.url}/admin/products`);
  await signIn(page, owner);
  await expect(page).toHaveURL(/\/admin\/products$/);
  await addApp(owner);
  await page.reload();
  await expect(page).toHaveURL(/\/admin\/auth$/);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Sign in");
});

test("A-log-forgot: a forgotten password: mail, reload, a weak password, a new password, and the deep link", async ({
  page,
}) => {
  const owner = await makeOwner();
  await page.goto(`${server.url}/admin/products`);
  await askForLink(page, owner.email);
  const known = await page.getByText(/If .* has an account here/).textContent();

  // An address without an account gets the same message.
  await button(page, "Ask again").click();
  await expect(page.getByLabel("Email")).toHaveValue(owner.email);
  await page.getByLabel("Email").fill("nobody@example.com");
  await page.keyboard.press("Enter");
  const unknown = page.getByText(/If .* has an account here/);
  await expect(unknown).toHaveText(known!.replace(owner.email, "nobody@example.com"));

  await page.goto(await mailedLink(owner.email));
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("New password");
  expect(page.url()).not.toContain("access_token");
  await expect(page.getByText(`For signing in as ${owner.email}.`)).toBeVisible();
  const field = page.getByLabel("New password");
  await expect(field).toBeFocused();
  await page.reload();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("New password");
  await expect(field).toBeFocused(); // the field gets the focus after the heading

  await page.keyboard.press("Enter");
  await expect(page.getByText("Please enter a new password")).toBeVisible();
  await field.fill("short");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Use at least 10 characters.")).toBeVisible();
  await expect(field).toBeFocused();
  await field.fill("password123456");
  await page.keyboard.press("Enter");
  await expect(page.getByText(/well known and easy to guess/)).toBeVisible();
  await field.fill(owner.password);
  await page.keyboard.press("Enter");
  await expect(page.getByText("This is the old password. Choose a new one.")).toBeVisible();

  await button(page, "Show password").click();
  await expect(field).toHaveAttribute("type", "text");
  await field.fill("four swallows over lime");
  await button(page, "Save and sign in").click();
  await expect(page.getByText("Welcome back!")).toBeVisible();
  await expect(page).toHaveURL(/\/admin\/products$/);

  const again = asAnon(server).auth;
  const old = await again.signInWithPassword(owner);
  expect(old.error?.code).toBe("invalid_credentials");
  const fresh = { email: owner.email, password: "four swallows over lime" };
  expect((await again.signInWithPassword(fresh)).error).toBeNull();
});

test("A-log-forgot: a forgotten password with a second factor: its code is asked for before the new password", async ({
  page,
}) => {
  const owner = await makeOwner();
  const app = await addApp(owner);
  await page.goto(`${server.url}/admin/auth`);
  await askForLink(page, owner.email);
  await page.goto(await mailedLink(owner.email));
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("One more step");
  await code(page).fill(app.next());
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("New password");
  await expect(page.getByLabel("New password")).toBeFocused();
  await page.getByLabel("New password").fill("four swallows over lime");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/admin$/);
});

test("A-log-spent: a used link says so in both languages, and offers a new one", async ({
  page,
}) => {
  const owner = await makeOwner();
  await page.goto(`${server.url}/admin/auth`);
  await askForLink(page, owner.email);
  const link = await mailedLink(owner.email);
  expect((await fetch(link, { redirect: "manual" })).status).toBe(303);

  await page.goto(link);
  await expect(page.getByRole("alert")).toHaveText(
    "This link does not workIt has expired or was already used. Ask for a new one.",
  );
  await page.getByRole("button", { name: "Mudar para português" }).click();
  await expect(page.getByRole("alert")).toHaveText(
    "Esta ligação não funcionaJá foi usada ou perdeu a validade. Peça uma nova.",
  );
  await page.getByLabel("E-mail").fill(owner.email);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Veja o seu correio");
  await page.goto(await mailedLink(owner.email));
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("New password");
});

test("A-log-spent: a link without a page leads from the home page to the sign-in page", async ({
  page,
}) => {
  const email = `invited-${++ownerCount}@example.com`;
  const { error } = await asService(server).auth.admin.inviteUserByEmail(email);
  expect(error).toBeNull();
  const link = await mailedLink(email);
  await page.goto(link);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("New password");
  await page.getByLabel("New password").fill("four swallows over lime");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(`${server.url}/`); // invited, but not an owner
  const response = await asAnon(server).auth.signInWithPassword({
    email,
    password: "four swallows over lime",
  });
  expect(response.error).toBeNull();

  await page.context().clearCookies();
  await page.evaluate(() => localStorage.clear());
  await page.goto("about:blank");
  await page.goto(link);
  await expect(page).toHaveURL(/\/admin\/auth#/);
  await expect(page.getByRole("alert")).toContainText("This link does not work");
});

test("A-log-limit: a rate limit and a lost network are reported in the language of the page", async ({
  page,
  context,
}) => {
  const owner = await makeOwner();
  await page.goto(server.url + inLanguage("pt", "/admin/auth"));
  await page.getByLabel("E-mail").fill(owner.email);
  await page.getByLabel("Senha", { exact: true }).fill("not it");
  await button(page, "Entrar").click();
  await expect(page.getByRole("alert")).toHaveText(
    "Não foi possível entrarO e-mail ou a senha não estão certos.",
  );
  await page.route("**/auth/v1/token*", (route) =>
    route.fulfill({
      status: 400,
      headers: { "X-Supabase-Api-Version": "2024-01-01" },
      json: { code: "over_request_rate_limit", message: "Request rate limit reached" },
    }),
  );
  await button(page, "Entrar").click();
  await expect(page.getByRole("alert")).toContainText("Demasiadas tentativas.");
  await page.unrouteAll();
  await context.setOffline(true);
  await button(page, "Entrar").click();
  await expect(page.getByRole("alert")).toContainText("Não há ligação ao serviço.");
  await page.getByText("Esqueceu a senha?").click();
  // The previous form has a field with the same name until the next step has rendered.
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(text("pt", "auth.forgot.title"));
  await page.getByLabel("E-mail").fill(owner.email);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("alert")).toHaveText(
    "Não foi possível enviar a ligaçãoNão há ligação ao serviço. Verifique a rede e tente de novo.",
  );
  await context.setOffline(false);
  await page.goto(server.url + inLanguage("pt", "/admin/auth?setup=spent"));
  await page.getByLabel("E-mail").fill("x@example.com");
  await page.getByLabel("Nova senha").fill(owner.password);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("alert")).toContainText("Não foi possível criar o acesso");
  await page.goto(server.url + inLanguage("pt", "/admin/auth"));
  await page.getByLabel("E-mail").fill(owner.email);
  await page.getByLabel("Senha", { exact: true }).fill(owner.password);
  await button(page, "Entrar").click();
  await expect(page).toHaveURL(/\/admin$/);
});

test("A-acc-all-can: every step is possible by keyboard", async ({ page }) => {
  const owner = await makeOwner();
  const app = await addApp(owner);
  await page.goto(`${server.url}/admin/auth`);
  const tabTo = async (name: string) => {
    for (let i = 0; i < 30; i++) {
      await page.keyboard.press("Tab");
      const focused = page.locator(":focus");
      if ((await focused.count()) > 0 && (await focused.textContent()) === name) return;
    }
    throw new Error(`Tab does not lead to ${name}`);
  };
  await expect(page.getByLabel("Email")).toBeVisible(); // the step's code loads after the page
  await tabTo("Lost your password?");
  await page.keyboard.press("Enter");
  await expect(page.getByLabel("Email")).toBeFocused();
  await tabTo("Back to sign-in");
  await page.keyboard.press("Enter");
  await expect(page.getByLabel("Email")).toBeFocused();
  await page.keyboard.type(owner.email);
  await page.keyboard.press("Tab");
  await page.keyboard.type(owner.password);
  await page.keyboard.press("Enter");
  await expect(code(page)).toBeFocused();
  await tabTo("Use a recovery code instead");
  await page.keyboard.press("Enter");
  await expect(page.getByLabel("Recovery code")).toBeFocused();
  await tabTo("Use a six-digit code instead");
  await page.keyboard.press("Enter");
  await expect(code(page)).toBeFocused();
  await page.keyboard.type(app.next());
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/admin$/);
});

/** Expects that the page fits at all widths and that axe finds no violation. */
async function checkPage(page: Page, name: string): Promise<void> {
  await test.step(name, async () => {
    for (const width of [1440, 768, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await expectNoSidewaysScroll(page);
    }
    await page.emulateMedia({ reducedMotion: "reduce" });
    await expectAccessibleInBothSchemes(page);
    await page.setViewportSize({ width: 1440, height: 900 });
    await expectAccessible(page);
  });
}

for (const language of languages) {
  test(`A-acc-all-can: every step fits at every width, in both colour schemes, in ${repetition(language)}`, async ({
    page,
  }) => {
    const t = (...key: Parameters<typeof text> extends [unknown, ...infer Rest] ? Rest : never) =>
      text(language, ...key);
    const owner = await makeOwner();
    const app = await addApp(owner);
    await addPhone(owner, language === "en" ? "351912000901" : "351912000902");
    const title = (key: Parameters<typeof t>[0]) =>
      expect(page.getByRole("heading", { level: 1 })).toHaveText(t(key));

    await page.goto(server.url + inLanguage(language, "/admin/auth"));
    await checkPage(page, "sign in");
    await page.getByRole("link", { name: t("auth.forgot.link") }).click();
    await title("auth.forgot.title"); // the previous form has a field with the same name
    await page.getByLabel(t("auth.email")).fill("no address");
    await button(page, t("auth.forgot.submit")).click();
    await expect(page.getByText(t("contact.error.email"))).toBeVisible();
    await checkPage(page, "forgotten password");
    await page.getByLabel(t("auth.email")).fill(owner.email);
    await button(page, t("auth.forgot.submit")).click();
    await title("auth.forgot.sentTitle");
    await checkPage(page, "link sent");

    // The mailed link opens the page in the language of the browser; the test adds its own.
    const link = new URL(await mailedLink(owner.email));
    link.searchParams.set("redirect_to", server.url + inLanguage(language, "/admin/auth"));
    await page.goto(link.href);
    await title("auth.factor.title");
    await checkPage(page, "code of the app");
    await page.getByLabel(t("auth.factor.code")).fill("000000");
    await button(page, t("auth.factor.submit")).click();
    await expect(page.getByRole("alert")).toContainText(t("auth.error.code"));
    await checkPage(page, "wrong code");
    await page.getByLabel(t("auth.factor.which")).selectOption({ index: 1 });
    await checkPage(page, "phone");
    await button(page, t("auth.factor.send")).click();
    await expect(button(page, t("auth.factor.sendAgain"))).toBeVisible();
    await checkPage(page, "code sent");
    await button(page, t("auth.factor.useRecovery")).click();
    await checkPage(page, "recovery code");
    await button(page, t("auth.factor.useCode")).click();
    await page.getByLabel(t("auth.factor.code")).fill(app.next());
    await button(page, t("auth.factor.submit")).click();
    await title("auth.newPassword.title");
    await page.getByLabel(t("auth.setup.password")).fill("short");
    await button(page, t("auth.setup.submit")).click();
    await expect(page.getByText(t("auth.weak.length", { n: 10 }))).toBeVisible();
    await checkPage(page, "new password");

    await page.evaluate(() => localStorage.clear());
    await page.goto("about:blank");
    await page.goto(link.href);
    await expect(page.getByRole("alert")).toContainText(t("auth.error.linkExpired"));
    await checkPage(page, "dead link");
  });
}
