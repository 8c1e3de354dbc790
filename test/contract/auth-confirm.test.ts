// Reauthentication and the expiry of sessions, with supabase-js against the built program. Elapsed time is
// simulated by changing rows.
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { asAnon, asService } from "../harness/clients.ts";
import { type MailServer, startMailServer } from "../harness/mail-server.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { engines, type Server, startServer } from "../harness/server.ts";

afterAll(stopPostgres);

const password = "a green umbrella stand";
const needed = { status: 400, code: "reauthentication_needed" };

describe.each(engines)("an old sign-in on %s", (engine) => {
  let mailServer: MailServer;
  let server: Server;
  let counter = 0;
  beforeAll(async () => {
    mailServer = await startMailServer();
    server = await startServer(engine, {
      env: {
        ...mailServer.env,
        ATELIE_RATE_LIMITS: "off",
        ATELIE_MAIL_MIN_INTERVAL: "0s",
        ATELIE_MAILS_PER_DAY: "0",
        ATELIE_SESSION_IDLE: "1h",
        ATELIE_SESSION_MAX: "2h",
      },
    });
  });
  afterAll(async () => {
    await server.stop();
    await mailServer.stop();
  });

  async function signedIn(email: string) {
    const client = asAnon(server);
    const { data, error } = await client.auth.signInWithPassword({ email, password });
    expect(error).toBeNull();
    return { client, email, userId: data.user!.id };
  }

  async function anOwner() {
    const email = `owner${++counter}@example.com`;
    await server.command(["owner", "add", email, "--password-stdin"], `${password}\n`);
    return signedIn(email);
  }

  async function aMember() {
    const email = `member${++counter}@example.com`;
    const made = await asService(server).auth.admin.createUser({
      email,
      password,
      email_confirm: true,
    });
    expect(made.error).toBeNull();
    return signedIn(email);
  }

  const age = (userId: string) =>
    server.sql(
      `update auth_sessions set amr = '[{"method":"password","timestamp":1700000000}]' where user_id = '${userId}'`,
    );
  const codeFor = async (email: string) => {
    for (;;) {
      const code = /: (\d{6})\s*$/m.exec((await mailServer.next(email)).text)?.[1];
      if (code) return code;
    }
  };

  type Client = Awaited<ReturnType<typeof signedIn>>["client"];
  const enrol = (client: Client, friendlyName: string) =>
    client.auth.mfa.enroll({ factorType: "totp", friendlyName });
  const confirm = async (client: Client, proof: object) => {
    const { data } = await client.auth.getSession();
    const response = await fetch(`${server.url}/auth/v1/reauthenticate`, {
      method: "POST",
      headers: {
        apikey: server.anonKey,
        authorization: `Bearer ${data.session!.access_token}`,
        "content-type": "application/json",
      },
      body: JSON.stringify(proof),
    });
    const body = (await response.json()) as { error_code?: string; code?: string };
    return [response.status, body.error_code ?? body.code];
  };

  it("A-confirm-1: an owner must give the password before changing password, email address or factors", async () => {
    const { client, email, userId } = await anOwner();
    await age(userId);
    expect((await client.auth.refreshSession()).error).toBeNull(); // no sign-in
    const change = { password: "another umbrella stand" };
    expect((await client.auth.updateUser(change)).error).toMatchObject(needed);
    expect((await client.auth.updateUser({ email: `new-${email}` })).error).toMatchObject(needed);
    expect((await enrol(client, "app")).error).toMatchObject(needed);
    expect((await client.auth.updateUser({ data: { name: "Ana" } })).error).toBeNull();
    const guessed = await client.auth.updateUser({ ...change, current_password: "not this one" });
    expect(guessed.error).toMatchObject({ status: 400, code: "current_password_mismatch" });
    const shown = await client.auth.updateUser({ ...change, current_password: password });
    expect(shown.error).toBeNull();
    const again = await asAnon(server).auth.signInWithPassword({ email, ...change });
    expect(again.error).toBeNull();
  });

  it("A-confirm-2: an owner can confirm with a mailed code, which works once", async () => {
    const { client, email, userId } = await anOwner();
    await age(userId);
    expect((await client.auth.reauthenticate()).error).toBeNull();
    const nonce = await codeFor(email);
    const wrong = await client.auth.updateUser({ password: "another stand", nonce: "000000" });
    expect(wrong.error).toMatchObject({ status: 422, code: "reauthentication_not_valid" });
    const changed = await client.auth.updateUser({ password: "another stand", nonce });
    expect(changed.error).toBeNull();
    const again = await client.auth.updateUser({ password: "a third stand", nonce });
    expect(again.error).toMatchObject({ status: 422, code: "reauthentication_not_valid" });
  });

  it("A-confirm-3: after the password or a code was sent to /reauthenticate, calls that carry neither are accepted", async () => {
    const { client, email, userId } = await anOwner();
    await age(userId);
    expect(await confirm(client, {})).toEqual([400, "validation_failed"]);
    expect(await confirm(client, { current_password: "not this one" })).toEqual([
      400,
      "current_password_mismatch",
    ]);
    expect((await enrol(client, "app")).error).toMatchObject(needed);
    expect((await confirm(client, { current_password: password }))[0]).toBe(200);
    expect((await enrol(client, "app")).error).toBeNull();

    await age(userId);
    expect((await enrol(client, "phone")).error).toMatchObject(needed);
    expect((await client.auth.reauthenticate()).error).toBeNull();
    const nonce = await codeFor(email);
    expect((await confirm(client, { nonce }))[0]).toBe(200);
    expect(await confirm(client, { nonce })).toEqual([422, "reauthentication_not_valid"]);
    expect((await client.auth.updateUser({ email: `new-${email}` })).error).toBeNull();
  });

  it("A-confirm-1 A-confirm-3: an owner must give the password before a verified factor is removed", async () => {
    const { client, userId } = await anOwner();
    const { data } = await enrol(client, "app");
    await server.sql(`update auth_factors set status = 'verified' where user_id = '${userId}'`);
    await server.sql(
      `update auth_sessions set aal = 'aal2', amr = '[{"method":"totp","timestamp":1700000000},{"method":"password","timestamp":1700000000}]' where user_id = '${userId}'`,
    );
    expect((await client.auth.refreshSession()).error).toBeNull(); // the token names the level
    const remove = () => client.auth.mfa.unenroll({ factorId: data!.id });
    expect((await remove()).error).toMatchObject(needed);
    expect((await confirm(client, { current_password: password }))[0]).toBe(200);
    expect((await remove()).error).toBeNull();
  });

  it("A-confirm-4: an account without a role is not asked to confirm", async () => {
    const { client, userId } = await aMember();
    await age(userId);
    expect((await enrol(client, "app")).error).toBeNull();
    const { error } = await client.auth.updateUser({ password: "another umbrella stand" });
    expect(error).toBeNull();
  });

  it("A-sessions-3 A-sessions-4: a session ends if it is not refreshed in time or too old; the limits depend on the account's role", async () => {
    const past = (hours: number) =>
      new Date(Date.now() - hours * 3_600_000).toISOString().replace("Z", "+00:00");
    for (const [who, column, lives, ends] of [
      [anOwner, "refreshed_at", 24 * 29, 24 * 30 + 1],
      [anOwner, "created_at", 24 * 179, 24 * 180 + 1],
      [aMember, "refreshed_at", 0.9, 1.1],
      [aMember, "created_at", 1.9, 2.1],
    ] as const) {
      const { client, userId } = await who();
      const set = (hours: number) =>
        server.sql(
          `update auth_sessions set ${column} = '${past(hours)}' where user_id = '${userId}'`,
        );
      await set(lives);
      expect((await client.auth.getUser()).error).toBeNull();
      await set(ends);
      const { data } = await client.auth.getSession();
      const refused = await asAnon(server).auth.getUser(data.session!.access_token);
      // How the client treats session_not_found.
      expect(refused.error?.name).toBe("AuthSessionMissingError");
      const refreshed = await client.auth.refreshSession();
      expect(refreshed.error).toMatchObject({ status: 400, code: "session_expired" });
    }
  });
});
