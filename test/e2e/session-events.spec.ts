// Session events of unmodified supabase-js in two tabs (docs/product.md, rule 11).
import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { createClient, SupabaseClient } from "@supabase/supabase-js";
import type { BrowserContext, Page } from "@playwright/test";

import { Authenticator } from "../harness/authenticator.ts";
import { asService } from "../harness/clients.ts";
import { root } from "../harness/root.ts";
import { type Server, startServer } from "../harness/server.ts";
import { expect, test } from "./fixtures.ts";

const library = readFileSync(
  join(root, "node_modules/@supabase/supabase-js/dist/umd/supabase.js"),
  "utf8",
);

declare global {
  interface Window {
    client: SupabaseClient;
    events: string[];
  }
  // Set by the library's script.
  var supabase: { createClient: typeof createClient };
}

let server: Server;
let person: { email: string; password: string };
let personCount = 0;

test.beforeAll(async () => {
  server = await startServer("sqlite");
});
test.afterAll(() => server.stop());
test.beforeEach(async () => {
  person = { email: `tabs-${++personCount}@example.com`, password: "two tabs on one easel" };
  const { error } = await asService(server).auth.admin.createUser({
    ...person,
    email_confirm: true,
  });
  expect(error).toBeNull();
});

/**
 * Opens a tab on the site's origin that runs only supabase-js. This URL serves no page, so the site's own
 * client does not run.
 */
async function openTab(context: BrowserContext, address = "/health/live"): Promise<Page> {
  const page = await context.newPage();
  await page.clock.install();
  await page.goto(new URL(address, server.url).href);
  await page.evaluate(library);
  await page.evaluate(
    ({ url, key }) => {
      window.events = [];
      window.client = supabase.createClient(url, key);
      window.client.auth.onAuthStateChange((event, session) => {
        window.events.push(`${event} ${session?.user.email ?? "nobody"}`);
      });
    },
    { url: server.url, key: server.anonKey },
  );
  return page;
}

const eventsOf = (page: Page) => page.evaluate(() => window.events);

async function expectEvent(page: Page, event: string) {
  await expect.poll(() => eventsOf(page)).toContain(event);
}

async function signIn(page: Page) {
  const error = await page.evaluate(
    async (credentials) =>
      (await window.client.auth.signInWithPassword(credentials)).error?.message ?? "",
    person,
  );
  expect(error).toBe("");
}

test("S4-event-1: INITIAL_SESSION, SIGNED_IN, USER_UPDATED and SIGNED_OUT reach both tabs", async ({
  context,
}) => {
  const [a, b] = [await openTab(context), await openTab(context)];
  await expectEvent(a, "INITIAL_SESSION nobody");
  await expectEvent(b, "INITIAL_SESSION nobody");

  await signIn(a);
  await expectEvent(a, `SIGNED_IN ${person.email}`);
  await expectEvent(b, `SIGNED_IN ${person.email}`);

  const c = await openTab(context);
  await expectEvent(c, `INITIAL_SESSION ${person.email}`);

  const response = await b.evaluate(() =>
    window.client.auth.updateUser({ data: { easel: "oak" } }),
  );
  expect(response.error).toBeNull();
  expect(response.data.user?.user_metadata).toMatchObject({ easel: "oak" });
  await expectEvent(b, `USER_UPDATED ${person.email}`);
  await expectEvent(a, `USER_UPDATED ${person.email}`);

  await a.evaluate(() => window.client.auth.signOut());
  await expectEvent(a, "SIGNED_OUT nobody");
  await expectEvent(b, "SIGNED_OUT nobody");
  expect(
    await b.evaluate(async () => (await window.client.auth.getSession()).data.session),
  ).toBeNull();
});

test("S4-event-4 S9-auth-1: TOKEN_REFRESHED: the client refreshes its token 3 ticks of 30 s before it expires", async ({
  context,
}) => {
  const [a, b] = [await openTab(context), await openTab(context)];
  await signIn(a);
  await expectEvent(b, `SIGNED_IN ${person.email}`);
  // Read from the storage, because the client would refresh a session that is about to expire.
  const tokens = (page: Page) =>
    page.evaluate(() => {
      const key = Object.keys(localStorage).find((name) => /^sb-.*-auth-token$/.test(name))!;
      const session = JSON.parse(localStorage.getItem(key)!);
      return { access: session.access_token, refresh: session.refresh_token };
    });
  const before = await tokens(a);

  const refreshes: string[] = [];
  context.on("request", (request) => {
    if (request.url().includes("grant_type=refresh_token")) refreshes.push(request.url());
  });
  await a.clock.fastForward(56 * 60_000);
  await a.clock.runFor(60_000);
  expect(refreshes).toEqual([]); // three minutes are left

  // One tick at a time, because by this page's clock the new session expires soon as well.
  await expect
    .poll(async () => {
      await a.clock.runFor(30_000);
      return eventsOf(a);
    })
    .toContain(`TOKEN_REFRESHED ${person.email}`);
  await expectEvent(b, `TOKEN_REFRESHED ${person.email}`);
  expect((await tokens(a)).refresh).not.toBe(before.refresh);
  // Both tabs read the same storage, and the first may be about to refresh again.
  await expect(async () => expect(await tokens(b)).toEqual(await tokens(a))).toPass();
  expect(await b.evaluate(async () => (await window.client.auth.getUser()).error)).toBeNull();
});

test("S4-event-6 S7-verify-8: PASSWORD_RECOVERY: the mailed link opens a tab that can set a new password", async ({
  context,
}) => {
  const other = await openTab(context);
  const { data, error } = await asService(server).auth.admin.generateLink({
    type: "recovery",
    email: person.email,
    options: { redirectTo: `${server.url}/health/live` },
  });
  expect(error).toBeNull();

  const tab = await openTab(context, data.properties!.action_link);
  await expectEvent(tab, `PASSWORD_RECOVERY ${person.email}`);
  expect(new URL(tab.url()).hash).toBe(""); // the client has removed the session from the URL
  await expectEvent(other, `PASSWORD_RECOVERY ${person.email}`);

  const changed = await tab.evaluate(
    async () =>
      (await window.client.auth.updateUser({ password: "a third tab on a new easel" })).error
        ?.message ?? "",
  );
  expect(changed).toBe("");
  await expectEvent(tab, `USER_UPDATED ${person.email}`);

  // A second visit of the link gives an error in the URL, and no session.
  const again = await (await context.browser()!.newContext()).newPage();
  await again.goto(data.properties!.action_link);
  expect(again.url()).toContain("error_code=otp_expired");
  await again.context().close();
});

test("S4-event-7: MFA_CHALLENGE_VERIFIED: a second factor raises the session to aal2 in both tabs", async ({
  context,
}) => {
  const [a, b] = [await openTab(context), await openTab(context)];
  await signIn(a);
  await expectEvent(b, `SIGNED_IN ${person.email}`);
  const enrolled = await a.evaluate(async () =>
    window.client.auth.mfa.enroll({ factorType: "totp", friendlyName: "phone" }),
  );
  expect(enrolled.error).toBeNull();
  if (enrolled.data?.type !== "totp") throw new Error("no TOTP factor");
  const problem = await a.evaluate(
    async ({ factorId, code }) =>
      (await window.client.auth.mfa.challengeAndVerify({ factorId, code })).error?.message ?? "",
    { factorId: enrolled.data.id, code: new Authenticator(enrolled.data.totp.secret).next() },
  );
  expect(problem).toBe("");
  await expectEvent(a, `MFA_CHALLENGE_VERIFIED ${person.email}`);
  await expectEvent(b, `MFA_CHALLENGE_VERIFIED ${person.email}`);
  for (const tab of [a, b]) {
    expect(
      await tab.evaluate(
        async () => (await window.client.auth.mfa.getAuthenticatorAssuranceLevel()).data,
      ),
    ).toMatchObject({ currentLevel: "aal2", nextLevel: "aal2" });
  }
});
