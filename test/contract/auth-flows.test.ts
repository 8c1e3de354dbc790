// Sign-up, codes, links and changes to one's own account, with supabase-js against the built program, a real
// mail server and a receiver of text messages.
import { createClient, type EmailOtpType, type SupabaseClient } from "@supabase/supabase-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { asAnon, asService, ownerEmail, ownerPassword } from "../harness/clients.ts";
import { type Mail, type MailServer, startMailServer } from "../harness/mail-server.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { engines, type Server, startServer } from "../harness/server.ts";
import { startTexts, type Texts } from "../harness/texts.ts";

afterAll(stopPostgres);

const password = "a green umbrella stand";
const linkOf = (mail: Mail) => new URL(/^https?:\S+$/m.exec(mail.text)?.[0] ?? "");
const hashOf = (mail: Mail) => linkOf(mail).searchParams.get("token")!;
const codeOf = (mail: Mail) => /: (\d{6})\s*$/m.exec(mail.text)?.[1] ?? "";

describe.each(engines)("sign-up, codes and links on %s", (engine) => {
  let mailServer: MailServer;
  let texts: Texts;
  let server: Server;
  let counter = 0;
  beforeAll(async () => {
    mailServer = await startMailServer();
    texts = await startTexts();
    server = await startServer(engine, {
      env: {
        ...mailServer.env,
        ...texts.env,
        ATELIE_SIGNUP: "open",
        ATELIE_PHONE_ENABLED: "on",
        ATELIE_RATE_LIMITS: "off",
        ATELIE_MAIL_MIN_INTERVAL: "0s",
        ATELIE_MAILS_PER_DAY: "0",
        ATELIE_TEXTS_PER_DAY: "0",
        ATELIE_SMS_MIN_INTERVAL: "0s",
        ATELIE_REDIRECT_URLS: "https://app.example.com/**",
      },
    });
  });
  afterAll(async () => {
    await server.stop();
    await texts.stop();
    await mailServer.stop();
  });

  const address = () => `person${++counter}@example.com`;
  const number = () => `35191${String(++counter).padStart(7, "0")}`;

  /** Returns a client that uses the PKCE flow, as a server-rendered site does. */
  const withPKCE = () => {
    const storage = new Map<string, string>();
    return createClient(server.url, server.anonKey, {
      auth: {
        flowType: "pkce",
        autoRefreshToken: false,
        detectSessionInUrl: false,
        storage: {
          getItem: (key) => storage.get(key) ?? null,
          setItem: (key, value) => void storage.set(key, value),
          removeItem: (key) => void storage.delete(key),
        },
      },
    });
  };

  const member = async (client = asAnon(server)) => {
    const email = address();
    const made = await client.auth.signUp({ email, password });
    expect(made.error).toBeNull();
    const token = codeOf(await mailServer.next(email));
    const { data, error } = await client.auth.verifyOtp({ email, token, type: "signup" });
    expect(error).toBeNull();
    return { client, email, user: data.user!, session: data.session! };
  };

  /** Requests a link without following its redirect. */
  const openWithoutRedirect = async (url: URL | string, method = "GET") => {
    const answer = await fetch(url, { method, redirect: "manual" });
    return { status: answer.status, to: new URL(answer.headers.get("location") ?? "about:blank") };
  };
  const behindHash = (url: URL) => new URLSearchParams(url.hash.slice(1));

  it("S7-signup-1 S7-verify-6 S7-verify-8 A-set-5: a visitor signs up with email address, user data and redirect URL", async () => {
    const email = address();
    const { data, error } = await asAnon(server).auth.signUp({
      email,
      password,
      options: {
        data: { name: "Inês", locale: "pt-PT" },
        emailRedirectTo: "https://app.example.com/welcome",
        captchaToken: "any",
      },
    });
    expect(error).toBeNull();
    expect(data.session).toBeNull();
    expect(data.user).toMatchObject({ email, user_metadata: { name: "Inês" } });
    expect(data.user?.confirmation_sent_at).toBeTruthy();
    expect(data.user?.identities).toHaveLength(1);
    const early = await asAnon(server).auth.signInWithPassword({ email, password });
    expect(early.error).toMatchObject({ status: 400, code: "email_not_confirmed" });

    const mail = await mailServer.next(email);
    expect(mail.html).toContain('<html lang="pt"');
    expect(await openWithoutRedirect(linkOf(mail), "HEAD")).toMatchObject({ status: 200 });
    const { status, to } = await openWithoutRedirect(linkOf(mail));
    expect([status, to.origin + to.pathname]).toEqual([303, "https://app.example.com/welcome"]);
    expect(behindHash(to).get("type")).toBe("signup");
    const client = asAnon(server);
    const { error: noSession } = await client.auth.setSession({
      access_token: behindHash(to).get("access_token")!,
      refresh_token: behindHash(to).get("refresh_token")!,
    });
    expect(noSession).toBeNull();
    const again = await openWithoutRedirect(linkOf(mail));
    expect(behindHash(again.to).get("error_code")).toBe("otp_expired");
    const { data: role } = await client.rpc("get_user_role", { user_id: data.user!.id });
    expect(role).not.toBe("admin");
    const late = await asAnon(server).auth.signInWithPassword({ email, password });
    expect(late.error).toBeNull();
  });

  it("S5-rule-8 S7-token-2 S7-signup-2 A-set-4: a visitor signs up with a phone number", async () => {
    const phone = number();
    const client = asAnon(server);
    const { data, error } = await client.auth.signUp({
      phone: `+${phone}`,
      password,
      options: { channel: "sms", data: { name: "Rui" } },
    });
    expect(error).toBeNull();
    expect(data.user).toMatchObject({ phone, user_metadata: { name: "Rui" } });
    const text = await texts.next(phone);
    expect(text.sms_type).toBe("sms");
    const wrong = text.otp === "000000" ? "000001" : "000000";
    const refused = await client.auth.verifyOtp({ phone, token: wrong, type: "sms" });
    expect(refused.error).toMatchObject({ status: 403, code: "otp_expired" });
    const right = await client.auth.verifyOtp({ phone, token: text.otp, type: "sms" });
    expect(right.error).toBeNull();
    expect(right.data.user?.phone_confirmed_at).toBeTruthy();
    const known = await asAnon(server).auth.signInWithPassword({ phone, password });
    expect(known.error).toBeNull();
  });

  it("S7-signup-3: signing up with a used address gives the same response as with a new one", async () => {
    const { email, user } = await member();
    const { data, error } = await asAnon(server).auth.signUp({ email, password });
    expect(error).toBeNull();
    expect(data.user).toMatchObject({ email, identities: [] });
    expect(data.user?.id).not.toBe(user.id);
  });

  it("S8-form-3 A-safe-16: weak and common passwords are rejected, and the response gives the reasons", async () => {
    const short = await asAnon(server).auth.signUp({ email: address(), password: "k3v9-x" });
    expect(short.error).toMatchObject({ status: 422, code: "weak_password", reasons: ["length"] });
    const common = await asAnon(server).auth.signUp({ email: address(), password: "Password123!" });
    expect(common.error).toMatchObject({ code: "weak_password", reasons: ["pwned"] });
  });

  it("W-auth-11: anonymous sign-in is rejected", async () => {
    const { error } = await asAnon(server).auth.signInAnonymously();
    expect(error).toMatchObject({ status: 422, code: "anonymous_provider_disabled" });
  });

  it("S7-otp-1 S7-verify-5: an emailed code signs in; unknown addresses get the same response, and an account is created only on request", async () => {
    const email = address();
    const client = asAnon(server);
    const unknown = address();
    const unregistered = await client.auth.signInWithOtp({
      email: unknown,
      options: { shouldCreateUser: false },
    });
    expect(unregistered.error).toBeNull(); // the same response as for a known address; no account is created
    const users = await asService(server).auth.admin.listUsers({ perPage: 1000 });
    expect(users.data.users.map((user) => user.email)).not.toContain(unknown);
    const first = await client.auth.signInWithOtp({ email, options: { data: { name: "Eva" } } });
    expect(first).toMatchObject({ error: null, data: { user: null, session: null } });
    const token = codeOf(await mailServer.next(email));
    const opened = await client.auth.verifyOtp({ email, token, type: "email" });
    expect(opened.error).toBeNull();
    expect(opened.data.user?.user_metadata).toMatchObject({ name: "Eva", email_verified: true });

    expect((await client.auth.signInWithOtp({ email })).error).toBeNull();
    const mail = await mailServer.next(email);
    expect(linkOf(mail).searchParams.get("type")).toBe("magiclink");
    const used = await client.auth.verifyOtp({ email, token: codeOf(mail), type: "email" });
    expect(used.error).toBeNull();
    const twice = await client.auth.verifyOtp({ email, token: codeOf(mail), type: "email" });
    expect(twice.error).toMatchObject({ status: 403, code: "otp_expired" });
  });

  it("S7-otp-2: a code sent to a phone signs in", async () => {
    const phone = number();
    const client = asAnon(server);
    expect((await client.auth.signInWithOtp({ phone })).error).toBeNull();
    const first = await texts.next(phone);
    expect((await client.auth.resend({ type: "sms", phone })).error).toBeNull();
    const second = await texts.next(phone);
    const opened = await client.auth.verifyOtp({ phone, token: second.otp, type: "sms" });
    expect(opened.error).toBeNull();
    const old = await client.auth.verifyOtp({ phone, token: first.otp, type: "sms" });
    expect(old.error).toMatchObject({ code: "otp_expired" });
    const bad = await client.auth.signInWithOtp({ phone: "not a number" });
    expect(bad.error).toMatchObject({ status: 400, code: "validation_failed" });
  });

  describe.each<[EmailOtpType, (client: SupabaseClient, email: string) => Promise<unknown>]>([
    ["signup", (client, email) => client.auth.signUp({ email, password })],
    ["magiclink", (client, email) => client.auth.signInWithOtp({ email })],
    ["recovery", (client, email) => client.auth.resetPasswordForEmail(email)],
    ["email", (client, email) => client.auth.signInWithOtp({ email })],
    ["invite", (_client, email) => asService(server).auth.admin.inviteUserByEmail(email)],
  ])("a mail of type %s", (type, send) => {
    it.each(["code", "hash of the link"])(
      "S7-verify-1 S7-admin-1: the %s confirms the account once",
      async (way) => {
        const client = asAnon(server);
        const email =
          type === "signup" || type === "invite" ? address() : (await member(client)).email;
        await client.auth.signOut();
        await send(client, email);
        const mail = await mailServer.next(email);
        const verify = () =>
          way === "code"
            ? client.auth.verifyOtp({ email, token: codeOf(mail), type })
            : client.auth.verifyOtp({ token_hash: hashOf(mail), type });
        const { data, error } = await verify();
        expect(error).toBeNull();
        expect(data.user).toMatchObject({ email });
        expect((await client.auth.getUser()).data.user?.email_confirmed_at).toBeTruthy();
        expect((await verify()).error).toMatchObject({ status: 403, code: "otp_expired" });
      },
    );
  });

  it("S7-resend-1: a confirmation is sent again; the first or the second mail works, once", async () => {
    const email = address();
    const client = asAnon(server);
    await client.auth.signUp({ email, password });
    const first = await mailServer.next(email);
    const { error } = await client.auth.resend({ type: "signup", email });
    expect(error).toBeNull();
    const second = await mailServer.next(email);
    const good = await client.auth.verifyOtp({ token_hash: hashOf(first), type: "signup" });
    expect(good.error).toBeNull();
    const other = await client.auth.verifyOtp({ token_hash: hashOf(second), type: "signup" });
    expect(other.error).toMatchObject({ code: "otp_expired" });
    const wrong = await client.auth.resend({ type: "recovery" as never, email });
    expect(wrong.error).toMatchObject({ status: 400, code: "validation_failed" });
  });

  it("S7-verify-9 S7-recover-1 S7-user-3: a request for a new password gives the same response for all addresses; the mailed link lets the owner set one", async () => {
    const { email, session } = await member();
    const unknown = await asAnon(server).auth.resetPasswordForEmail("nobody@example.com");
    const somebody = await asAnon(server).auth.resetPasswordForEmail(email, {
      redirectTo: "https://evil.example.org",
    });
    expect(somebody).toEqual(unknown);
    expect(somebody).toEqual({ data: {}, error: null });
    const mail = await mailServer.next(email);
    expect(linkOf(mail).searchParams.get("redirect_to")).toBe(server.url);

    const client = asAnon(server);
    await client.auth.verifyOtp({ email, token: codeOf(mail), type: "recovery" });
    const same = await client.auth.updateUser({ password });
    expect(same.error).toMatchObject({ status: 422, code: "same_password" });
    const changed = await client.auth.updateUser({ password: "another umbrella stand" });
    expect(changed.error).toBeNull();
    expect((await mailServer.next(email)).text).not.toMatch(/\btoken=/);
    const elsewhere = await asAnon(server).auth.getUser(session.access_token);
    expect(elsewhere.error?.name).toBe("AuthSessionMissingError");
    expect((await client.auth.getUser()).error).toBeNull();
    const old = await asAnon(server).auth.signInWithPassword({ email, password });
    expect(old.error).toMatchObject({ code: "invalid_credentials" });
  });

  it("S7-token-10 S7-verify-7: a PKCE client exchanges a code for its session", async () => {
    const client = withPKCE();
    const { email } = await member(client);
    await client.auth.signOut();
    const { error } = await client.auth.resetPasswordForEmail(email, {
      redirectTo: "https://app.example.com/reset?from=mail",
    });
    expect(error).toBeNull();
    const mail = await mailServer.next(email);
    expect(hashOf(mail)).toMatch(/^pkce_/);
    const { to } = await openWithoutRedirect(linkOf(mail));
    expect(to.searchParams.get("from")).toBe("mail");
    const stranger = withPKCE();
    expect((await stranger.auth.exchangeCodeForSession("x")).error).not.toBeNull();
    const got = await client.auth.exchangeCodeForSession(to.searchParams.get("code")!);
    expect(got.error).toBeNull();
    expect(got.data).toMatchObject({ user: { email }, redirectType: "recovery" });
    const again = await openWithoutRedirect(linkOf(mail));
    expect(again.to.searchParams.get("error_code")).toBe("otp_expired");
  });

  it("S7-user-2: user data changes immediately", async () => {
    const { client } = await member();
    await client.auth.updateUser({ data: { name: "Inês", colour: "blue" } });
    const { data, error } = await client.auth.updateUser({ data: { colour: null } });
    expect(error).toBeNull();
    expect(data.user?.user_metadata).toMatchObject({ name: "Inês" });
    expect(data.user?.user_metadata).not.toHaveProperty("colour");
  });

  it("S7-verify-4 S7-user-4: the email address changes after both addresses have confirmed", async () => {
    const { client, email } = await member();
    const fresh = address();
    const response = await client.auth.updateUser({ email: fresh });
    expect(response.error).toBeNull();
    expect(response.data.user).toMatchObject({ email, new_email: fresh });
    const [here, there] = [await mailServer.next(email), await mailServer.next(fresh)];
    const first = await fetch(`${server.url}/auth/v1/verify`, {
      method: "POST",
      headers: { apikey: server.anonKey, "Content-Type": "application/json" },
      body: JSON.stringify({ type: "email_change", email, token: codeOf(here) }),
    });
    expect([first.status, await first.json()]).toEqual([
      200,
      {
        code: "200",
        msg: "Confirmation link accepted. Please proceed to confirm link sent to the other email",
      },
    ]);
    expect((await client.auth.getUser()).data.user?.email).toBe(email);
    const done = await client.auth.verifyOtp({ token_hash: hashOf(there), type: "email_change" });
    expect(done.error).toBeNull();
    expect(done.data.user?.email).toBe(fresh);
    const signedIn = await asAnon(server).auth.signInWithPassword({ email: fresh, password });
    expect(signedIn.error).toBeNull();
  });

  it("S7-user-4: the first of the two links says that the other address must confirm too", async () => {
    const { client, email } = await member();
    const fresh = address();
    await client.auth.updateUser({ email: fresh }, { emailRedirectTo: "https://app.example.com/" });
    await client.auth.resend({ type: "email_change", email });
    const earlier = [await mailServer.next(email), await mailServer.next(fresh)];
    const sent = [await mailServer.next(email), await mailServer.next(fresh)];
    const first = await openWithoutRedirect(linkOf(earlier[1]!)); // a later mail does not invalidate it
    expect(behindHash(first.to).get("message")).toContain("Confirmation link accepted");
    const second = await openWithoutRedirect(linkOf(sent[0]!));
    expect(behindHash(second.to).get("access_token")).toBeTruthy();
  });

  it("S7-verify-3 S7-user-6: a code changes the phone number", async () => {
    const { client } = await member();
    const phone = number();
    const response = await client.auth.updateUser({ phone });
    expect(response.error).toBeNull();
    expect(response.data.user).toMatchObject({ new_phone: phone });
    expect((await texts.next(phone)).sms_type).toBe("phone_change");
    expect((await client.auth.resend({ type: "phone_change", phone })).error).toBeNull();
    const { otp: token } = await texts.next(phone);
    const done = await client.auth.verifyOtp({ phone, token, type: "phone_change" });
    expect(done.error).toBeNull();
    expect(done.data.user).toMatchObject({ phone });
    expect(done.data.user?.identities?.map((i) => i.provider)).toEqual(["email", "phone"]);
  });

  it("S7-reauth-1 S8-client-3: a nonce for reauthentication is sent", async () => {
    const { client, email } = await member();
    expect((await client.auth.reauthenticate()).error).toBeNull();
    const nonce = codeOf(await mailServer.next(email));
    expect(nonce).toMatch(/^\d{6}$/);
    const changed = await client.auth.updateUser({ password: "a third umbrella", nonce });
    expect(changed.error).toBeNull();
    const out = await asAnon(server).auth.reauthenticate();
    expect(out.error?.name).toBe("AuthSessionMissingError");
  });

  it("S7-user-7: a used or malformed address or phone number is rejected", async () => {
    const { client } = await member();
    const other = await member();
    const taken = await client.auth.updateUser({ email: other.email });
    expect(taken.error).toMatchObject({ status: 422, code: "email_exists" });
    const bad = await client.auth.updateUser({ email: "nobody" });
    expect(bad.error).toMatchObject({ status: 400, code: "validation_failed" });
  });
});

describe.each(engines)("a closed site on %s", (engine) => {
  let mailServer: MailServer;
  let server: Server;
  beforeAll(async () => {
    mailServer = await startMailServer();
    server = await startServer(engine, { env: mailServer.env });
    await server.command(["owner", "add", ownerEmail, "--password-stdin"], ownerPassword + "\n");
  });
  afterAll(async () => {
    await server.stop();
    await mailServer.stop();
  });

  it("A-set-2: a site with closed sign-up creates no accounts", async () => {
    const email = "stranger@example.com";
    const up = await asAnon(server).auth.signUp({ email, password });
    expect(up.error).toMatchObject({ status: 422, code: "signup_disabled" });
    const otp = await asAnon(server).auth.signInWithOtp({ email: "no-guest@example.com" });
    expect(otp.error).toBeNull(); // as for the owner's address: the response does not reveal whether an account exists
    const sms = await asAnon(server).auth.signInWithOtp({ phone: "351912345678" });
    expect(sms.error).toMatchObject({ status: 400, code: "phone_provider_disabled" });
  });

  it("A-set-6: only one mail of a kind per minute is sent, and unknown addresses get the same error", async () => {
    for (const email of [ownerEmail, "stranger@example.com"]) {
      const client = asAnon(server);
      expect((await client.auth.resetPasswordForEmail(email)).error).toBeNull();
      const soon = await client.auth.resetPasswordForEmail(email);
      expect(soon.error).toMatchObject({ status: 429, code: "over_email_send_rate_limit" });
      expect(soon.error?.message).toMatch(
        /^For security purposes, you can only request this after \d+ seconds\.$/,
      );
    }
    const mail = await mailServer.next(ownerEmail);
    const { error } = await asAnon(server).auth.verifyOtp({
      token_hash: hashOf(mail),
      type: "recovery",
    });
    expect(error).toBeNull();
  });
});
