// Second factors, recovery codes, sessions and ES256 keys, with supabase-js against the built program.
import { createClient, type SupabaseClient } from "@supabase/supabase-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { Authenticator } from "../harness/authenticator.ts";
import { asAnon, asService } from "../harness/clients.ts";
import { png } from "../harness/png.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { engines, type Server, startServer } from "../harness/server.ts";
import { startTexts, type Texts } from "../harness/texts.ts";

afterAll(stopPostgres);

const password = "a wall of whitewash";

/** Creates an owner with this address; returns a function that signs in as the owner. */
async function owner(server: Server, email: string) {
  await server.command(["owner", "add", email, "--password-stdin"], password + "\n");
  return async () => {
    const client = asAnon(server);
    const { data, error } = await client.auth.signInWithPassword({ email, password });
    expect(error).toBeNull();
    return { client, session: data.session! };
  };
}

/** Enrols and verifies a TOTP factor; the session of the client is then at aal2. */
async function enrolTotp(client: SupabaseClient) {
  const enrolled = await client.auth.mfa.enroll({ factorType: "totp", friendlyName: "phone" });
  expect(enrolled.error).toBeNull();
  const { id, totp } = enrolled.data!;
  const phone = new Authenticator(totp.secret);
  const verified = await client.auth.mfa.challengeAndVerify({ factorId: id, code: phone.next() });
  expect(verified.error).toBeNull();
  return { id, phone };
}

const call = async (server: Server, method: string, path: string, token: string, body?: object) => {
  const response = await fetch(`${server.url}/auth/v1/${path}`, {
    method,
    headers: {
      apikey: server.anonKey,
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text ? JSON.parse(text) : undefined,
  };
};

const tokenOf = async (client: SupabaseClient) =>
  (await client.auth.getSession()).data.session!.access_token;

describe.each(engines)("second factors on %s", (engine) => {
  let server: Server;
  let texts: Texts;
  beforeAll(async () => {
    texts = await startTexts();
    server = await startServer(engine, {
      env: { ...texts.env, ATELIE_PHONE_ENABLED: "on", ATELIE_SMS_MIN_INTERVAL: "0s" },
    });
  });
  afterAll(async () => {
    await server.stop();
    await texts.stop();
  });

  it("S3-session-3 S4-event-7 S7-factor-5 S7-factor-1: a TOTP factor is enrolled, challenged and verified", async () => {
    const signIn = await owner(server, "ana@example.com");
    const elsewhere = await signIn();
    const { client, session } = await signIn();
    const events: string[] = [];
    client.auth.onAuthStateChange((event) => void events.push(event));

    const enrolled = await client.auth.mfa.enroll({
      factorType: "totp",
      friendlyName: "phone",
      issuer: "Ateliê",
    });
    expect(enrolled.error).toBeNull();
    const factor = enrolled.data!;
    expect(factor).toMatchObject({ type: "totp", friendly_name: "phone" });
    expect(factor.totp.qr_code).toMatch(/^data:image\/svg\+xml;utf-8,<svg /);
    expect(factor.totp.uri).toContain(factor.totp.secret);
    expect((await client.auth.mfa.listFactors()).data).toMatchObject({
      totp: [],
      all: [{ id: factor.id, status: "unverified" }],
    });
    expect((await client.auth.mfa.getAuthenticatorAssuranceLevel()).data).toMatchObject({
      currentLevel: "aal1",
      nextLevel: "aal1",
    });

    const phone = new Authenticator(factor.totp.secret);
    const challenge = await client.auth.mfa.challenge({ factorId: factor.id });
    expect(challenge.error).toBeNull();
    expect(challenge.data!.type).toBe("totp");
    expect(challenge.data!.expires_at - Date.now() / 1000).toBeGreaterThan(290);
    const attempt = { factorId: factor.id, challengeId: challenge.data!.id };
    const wrong = await client.auth.mfa.verify({ ...attempt, code: "0000000" });
    expect(wrong.error).toMatchObject({ status: 422, code: "mfa_verification_failed" });
    const verified = await client.auth.mfa.verify({ ...attempt, code: phone.next() });
    expect(verified.error).toBeNull();
    expect(verified.data!.user.factors).toMatchObject([{ id: factor.id, status: "verified" }]);

    expect((await client.auth.mfa.getAuthenticatorAssuranceLevel()).data).toMatchObject({
      currentLevel: "aal2",
      nextLevel: "aal2",
      currentAuthenticationMethods: [{ method: "totp" }, { method: "password" }],
    });
    expect((await client.auth.mfa.listFactors()).data!.totp).toMatchObject([{ id: factor.id }]);
    expect(events).toContain("MFA_CHALLENGE_VERIFIED");
    const old = await asAnon(server).auth.refreshSession({ refresh_token: session.refresh_token });
    expect(old.error?.code).toBe("refresh_token_not_found");
    const renewed = await client.auth.refreshSession();
    expect(renewed.error).toBeNull();
    expect((await client.auth.mfa.getAuthenticatorAssuranceLevel()).data!.currentLevel).toBe(
      "aal2",
    );
    const dead = await call(server, "GET", "user", elsewhere.session.access_token);
    expect([dead.status, dead.body.error_code]).toEqual([403, "session_not_found"]);

    const twice = await client.auth.mfa.challengeAndVerify({
      factorId: factor.id,
      code: phone.again(),
    });
    expect(twice.error).toMatchObject({ status: 422, code: "mfa_verification_failed" });
  });

  it("S4-aal-2 S4-aal-3 S7-factor-8: an owner with a factor can do nothing before entering its code", async () => {
    const signIn = await owner(server, "bia@example.com");
    const first = await signIn();
    const { id, phone } = await enrolTotp(first.client);
    const { client, session } = await signIn();
    expect((await client.auth.mfa.getAuthenticatorAssuranceLevel()).data).toMatchObject({
      currentLevel: "aal1",
      nextLevel: "aal2",
    });

    // The response says that this is an owner, so that the page can ask for the code.
    const role = await client
      .from("user_roles")
      .select("role")
      .eq("user_id", session.user.id)
      .single();
    expect(role.data).toEqual({ role: "admin" });
    expect((await client.rpc("get_user_role", { user_id: session.user.id })).data).toBe("admin");

    const work = { title: "Cais", artwork_type: "mural" };
    const upload = (c: SupabaseClient) =>
      c.storage
        .from("product-images")
        .upload(`${engine}.png`, png(1, 1), { contentType: "image/png", upsert: true });
    expect((await client.from("products").insert(work)).error).toMatchObject({ code: "42501" });
    expect((await client.from("contact_submissions").select("id")).data).toEqual([]);
    expect((await client.from("reviews").delete().gte("display_order", 0)).status).toBe(403);
    expect((await upload(client)).error).not.toBeNull();
    expect((await client.storage.from("product-images").list()).data ?? []).toEqual([]);

    const second = await client.auth.mfa.enroll({ factorType: "totp", friendlyName: "tablet" });
    expect(second.error).toMatchObject({ status: 403, code: "insufficient_aal" });
    const removal = await client.auth.mfa.unenroll({ factorId: id });
    expect(removal.error).toMatchObject({ status: 422, code: "insufficient_aal" });
    const same = await first.client.auth.mfa.enroll({ factorType: "totp", friendlyName: "phone" });
    expect(same.error).toMatchObject({ status: 422, code: "mfa_factor_name_conflict" });

    const verified = await client.auth.mfa.challengeAndVerify({ factorId: id, code: phone.next() });
    expect(verified.error).toBeNull();
    expect((await client.from("products").insert(work)).error).toBeNull();
    expect((await upload(client)).error).toBeNull();
  });

  it("S4-aal-4 S7-factor-7: unenrolling a factor lowers the session to aal1", async () => {
    const signIn = await owner(server, "carla@example.com");
    const { client } = await signIn();
    const { id } = await enrolTotp(client);
    const removal = await client.auth.mfa.unenroll({ factorId: id });
    expect(removal).toMatchObject({ data: { id }, error: null });
    expect((await client.auth.refreshSession()).error).toBeNull();
    expect((await client.auth.mfa.getAuthenticatorAssuranceLevel()).data).toMatchObject({
      currentLevel: "aal1",
      nextLevel: "aal1",
    });
    expect((await client.auth.mfa.listFactors()).data!.all).toEqual([]);
  });

  it("S7-factor-3 A-sms-1: the code of a phone factor is sent through the signed webhook", async () => {
    const signIn = await owner(server, "dora@example.com");
    const { client } = await signIn();
    const enrolled = await client.auth.mfa.enroll({
      factorType: "phone",
      friendlyName: "mobile",
      phone: "+351910000001",
    });
    expect(enrolled.error).toBeNull();
    const factorId = enrolled.data!.id;
    const challenge = await client.auth.mfa.challenge({ factorId, channel: "sms" });
    expect(challenge.error).toBeNull();
    const sms = await texts.next("351910000001");
    expect(sms).toMatchObject({ otp: expect.stringMatching(/^\d{6}$/), sms_type: "mfa" });
    const verified = await client.auth.mfa.verify({
      factorId,
      challengeId: challenge.data!.id,
      code: sms.otp,
    });
    expect(verified.error).toBeNull();
    expect((await client.auth.mfa.listFactors()).data!.phone).toMatchObject([{ id: factorId }]);
    expect((await client.auth.mfa.getAuthenticatorAssuranceLevel()).data).toMatchObject({
      currentLevel: "aal2",
      currentAuthenticationMethods: [{ method: "mfa/phone" }, { method: "password" }],
    });
  });

  it("A-codes-1: a recovery code signs the owner in, once", async () => {
    const signIn = await owner(server, "eva@example.com");
    const { client } = await signIn();
    await enrolTotp(client);
    const path = "factors/recovery_codes";
    const made = await call(server, "POST", path, await tokenOf(client));
    expect(made.status).toBe(200);
    expect(made.body.codes).toHaveLength(10);

    const later = (await signIn()).session.access_token;
    const raised = await call(server, "POST", `${path}/verify`, later, {
      code: made.body.codes[0],
    });
    expect(raised.status).toBe(200);
    const restored = asAnon(server);
    const set = await restored.auth.setSession(raised.body);
    expect(set.error).toBeNull();
    expect((await restored.auth.mfa.getAuthenticatorAssuranceLevel()).data!.currentLevel).toBe(
      "aal2",
    );
    const left = await call(server, "GET", path, raised.body.access_token);
    expect(left.body).toEqual({ total: 10, remaining: 9 });
    const again = await call(
      server,
      "POST",
      `${path}/verify`,
      (await signIn()).session.access_token,
      {
        code: made.body.codes[0],
      },
    );
    expect([again.status, again.body.error_code]).toEqual([422, "mfa_verification_failed"]);
  });

  it("A-sessions-1 A-audit-1: sessions are listed and ended, and the service key can read the audit log", async () => {
    const signIn = await owner(server, "fina@example.com");
    const otherSession = await signIn();
    const thisSession = await signIn();
    const list = await call(server, "GET", "user/sessions", thisSession.session.access_token);
    expect(list.body).toHaveLength(2);
    const other = list.body.find((s: { current: boolean }) => !s.current);
    expect(other).toMatchObject({ aal: "aal1", user_agent: expect.any(String) });
    const ended = await call(
      server,
      "DELETE",
      `user/sessions/${other.id}`,
      thisSession.session.access_token,
    );
    expect(ended.status).toBe(204);
    const dead = await call(server, "GET", "user", otherSession.session.access_token);
    expect(dead.body.error_code).toBe("session_not_found");

    const log = await call(server, "GET", "admin/audit?per_page=5", server.serviceKey);
    expect(log.status).toBe(200);
    expect(log.body).toHaveLength(5);
    expect(log.body[0]).toMatchObject({
      payload: { action: "logout", actor_username: "fina@example.com" },
    });
    expect(Number(log.headers.get("x-total-count"))).toBeGreaterThan(5);
    const refused = await call(server, "GET", "admin/audit", thisSession.session.access_token);
    expect([refused.status, refused.body.error_code]).toEqual([403, "not_admin"]);
  });

  it("A-keys-1: no key is published while tokens are signed with the secret", async () => {
    const response = await fetch(`${server.url}/auth/v1/.well-known/jwks.json`);
    expect(response.headers.get("cache-control")).toBe("public, max-age=600");
    expect(await response.json()).toEqual({ keys: [] });
    const signIn = await owner(server, "gina@example.com");
    const { client, session } = await signIn();
    const claims = await client.auth.getClaims(); // the client asks the server
    expect(claims.error).toBeNull();
    expect(claims.data!.claims.sub).toBe(session.user.id);
  });
});

describe.each(engines)("access tokens with ES256 on %s", (engine) => {
  let server: Server;
  beforeAll(async () => {
    server = await startServer(engine, { env: { ATELIE_JWT_ALGORITHM: "ES256" } });
  });
  afterAll(() => server.stop());

  it("A-keys-1: supabase-js checks tokens with the published keys", async () => {
    const signIn = await owner(server, "ana@example.com");
    const { session } = await signIn();
    const requestedPaths: string[] = [];
    const client = createClient(server.url, server.anonKey, {
      auth: { persistSession: false, autoRefreshToken: false },
      global: {
        fetch: (input, init) => {
          requestedPaths.push(new URL(input as string).pathname);
          return fetch(input, init);
        },
      },
    });
    const claims = await client.auth.getClaims(session.access_token);
    expect(claims.error).toBeNull();
    expect(claims.data!.header.alg).toBe("ES256");
    expect(claims.data!.claims).toMatchObject({ sub: session.user.id, aal: "aal1" });
    expect(requestedPaths).toEqual(["/auth/v1/.well-known/jwks.json"]); // no request for the user
    const forged = session.access_token.slice(0, -6) + "AAAAAA";
    expect((await client.auth.getClaims(forged)).error).toMatchObject({
      code: "invalid_jwt",
    });
    expect((await client.auth.getUser(session.access_token)).error).toBeNull();
    expect((await asService(server).from("user_roles").select("role")).data).toEqual([
      { role: "admin" },
    ]);
  });

  it("A-keys-3: tokens stay valid while the keys are rotated", async () => {
    const signIn = await owner(server, "bia@example.com");
    const { client, session } = await signIn();
    expect(await server.command(["keys", "rotate"])).toMatch(/^Key [0-9a-f-]{36} is published now/);
    await expect(server.command(["keys", "rotate"])).rejects.toThrow("has not begun to sign yet");
    expect((await client.auth.getUser(session.access_token)).error).toBeNull();
    expect((await client.auth.refreshSession()).error).toBeNull();
    expect((await client.from("products").select("id").limit(1)).error).toBeNull();
  });
});
