// Signing in and out, refresh tokens, keys, roles and the first owner, with supabase-js against the built
// program.
import { createHmac } from "node:crypto";

import { createClient } from "@supabase/supabase-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { asAnon, asOwner, asService, ownerEmail, ownerPassword } from "../harness/clients.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { engines, type Server, startServer } from "../harness/server.ts";

afterAll(stopPostgres);

describe.each(engines)("authentication on %s", (engine) => {
  let server: Server;
  beforeAll(async () => {
    server = await startServer(engine);
    await server.command(["owner", "add", ownerEmail, "--password-stdin"], ownerPassword + "\n");
  });
  afterAll(() => server.stop());

  const signIn = async () => {
    const client = asAnon(server);
    const { data, error } = await client.auth.signInWithPassword({
      email: ownerEmail,
      password: ownerPassword,
    });
    expect(error).toBeNull();
    return { client, session: data.session! };
  };

  it("S5-rule-7: the client throws without a URL or a key", () => {
    expect(() => createClient("", "key")).toThrow("supabaseUrl is required.");
    expect(() => createClient(server.url, "")).toThrow("supabaseKey is required.");
  });

  it("S7-token-1 S7-token-15: a password signs in, and the response has the whole session", async () => {
    const { session } = await signIn();
    expect(session.token_type).toBe("bearer");
    expect(session.expires_in).toBe(3600);
    expect(session.expires_at).toBeGreaterThan(Date.now() / 1000 + 3500);
    expect(session.user).toMatchObject({
      email: ownerEmail,
      role: "authenticated",
      aud: "authenticated",
      is_anonymous: false,
    });
    const claims = JSON.parse(
      atob(session.access_token.split(".")[1]!.replaceAll("-", "+").replaceAll("_", "/")),
    );
    for (const name of [
      "iss",
      "sub",
      "aud",
      "role",
      "email",
      "phone",
      "app_metadata",
      "user_metadata",
      "aal",
      "amr",
      "session_id",
      "is_anonymous",
      "iat",
      "exp",
    ]) {
      expect(claims, name).toHaveProperty(name);
    }
    expect(claims).toMatchObject({ sub: session.user.id, role: "authenticated", aal: "aal1" });
  });

  it.each([
    ["a wrong password", ownerEmail, "not the password"],
    ["an unknown user", "nobody@example.com", ownerPassword],
  ])("S7-token-3: gives the same error for %s", async (_name, email, password) => {
    const { error } = await asAnon(server).auth.signInWithPassword({ email, password });
    expect(error).toMatchObject({
      status: 400,
      code: "invalid_credentials",
      message: "Invalid login credentials",
    });
  });

  it("S7-user-1: the client reads the user of its session", async () => {
    const { client, session } = await signIn();
    const { data, error } = await client.auth.getUser();
    expect(error).toBeNull();
    expect(data.user?.id).toBe(session.user.id);
  });

  it("S7-token-5 S7-token-6: each refresh gives a new token, and the previous one is accepted once more", async () => {
    const { client, session } = await signIn();
    const first = await client.auth.refreshSession();
    expect(first.error).toBeNull();
    expect(first.data.session!.refresh_token).not.toBe(session.refresh_token);
    const again = await asAnon(server).auth.refreshSession({
      refresh_token: session.refresh_token,
    });
    expect(again.error).toBeNull();
    expect(again.data.session!.refresh_token).toBe(first.data.session!.refresh_token);
  });

  it("S7-token-8: 64 concurrent refreshes of one token get the same new token", async () => {
    const { session } = await signIn();
    const answers = await Promise.all(
      Array.from({ length: 64 }, () =>
        asAnon(server).auth.refreshSession({ refresh_token: session.refresh_token }),
      ),
    );
    expect(answers.map((a) => a.error)).toEqual(Array(64).fill(null));
    expect(new Set(answers.map((a) => a.data.session!.refresh_token)).size).toBe(1);
  });

  it("S7-token-9: an unknown refresh token is rejected", async () => {
    const { session } = await signIn();
    const unknown =
      session.refresh_token.slice(0, -1) + (session.refresh_token.endsWith("a") ? "b" : "a");
    const { error } = await asAnon(server).auth.refreshSession({ refresh_token: unknown });
    expect(error).toMatchObject({ status: 400, code: "refresh_token_not_found" });
    const malformed = await asAnon(server).auth.refreshSession({ refresh_token: "nope" });
    expect(malformed.error).toMatchObject({ status: 400, code: "validation_failed" });
  });

  it("S7-logout-1 S7-logout-4: signing out ends only this session, and its tokens stop working", async () => {
    const thisSession = await signIn();
    const otherSession = await signIn();
    expect((await thisSession.client.auth.signOut({ scope: "local" })).error).toBeNull();
    const dead = await fetch(`${server.url}/auth/v1/user`, {
      headers: {
        apikey: server.anonKey,
        authorization: `Bearer ${thisSession.session.access_token}`,
      },
    });
    expect([dead.status, (await dead.json()).error_code]).toEqual([403, "session_not_found"]);
    expect((await asAnon(server).auth.getUser(thisSession.session.access_token)).error?.name).toBe(
      "AuthSessionMissingError",
    ); // as the client reads it
    const refused = await asAnon(server).auth.refreshSession({
      refresh_token: thisSession.session.refresh_token,
    });
    expect(refused.error?.code).toBe("refresh_token_not_found");
    const read = await fetch(`${server.url}/rest/v1/contact_submissions?select=id`, {
      method: "DELETE",
      headers: {
        apikey: server.anonKey,
        authorization: `Bearer ${thisSession.session.access_token}`,
      },
    });
    expect(read.status).toBe(403); // no longer an administrator
    expect((await otherSession.client.auth.getUser()).error).toBeNull();
  });

  it.each(["user", "logout"])(
    "S6-key-3: answers 401 to forged, expired and unsigned tokens at %s",
    async (path) => {
      const part = (v: object) => Buffer.from(JSON.stringify(v)).toString("base64url");
      const body = part({
        sub: "00000000-0000-4000-8000-000000000000",
        role: "authenticated",
        exp: 4102444800,
      });
      const forged = `${part({ alg: "HS256", typ: "JWT" })}.${body}.${createHmac("sha256", "guess").update("x").digest("base64url")}`;
      for (const token of [forged, `${part({ alg: "none" })}.${body}.`, "a.b.c"]) {
        const response = await fetch(`${server.url}/auth/v1/${path}`, {
          method: path === "user" ? "GET" : "POST",
          headers: { apikey: server.anonKey, authorization: `Bearer ${token}` },
        });
        expect(response.status, token).toBe(401);
        expect(await response.json()).toMatchObject({ error_code: "bad_jwt" });
      }
    },
  );

  it("S6-key-2: a request without a key gets 401", async () => {
    expect((await fetch(`${server.url}/auth/v1/settings`)).status).toBe(401);
    const settings = await fetch(`${server.url}/auth/v1/settings`, {
      headers: { apikey: server.anonKey },
    });
    expect(await settings.json()).toMatchObject({
      disable_signup: true,
      external: { email: true },
    });
  });

  it("S8-form-1 S8-form-2: errors have the shape that the requested API version defines", async () => {
    const requestToken = (headers: Record<string, string>) =>
      fetch(`${server.url}/auth/v1/token?grant_type=password`, {
        method: "POST",
        headers: { apikey: server.anonKey, ...headers },
        body: "{",
      });
    const old = await requestToken({});
    expect(old.status).toBe(400);
    expect(await old.json()).toMatchObject({
      code: 400,
      error_code: "bad_json",
      msg: expect.any(String),
    });
    const dated = await requestToken({ "X-Supabase-Api-Version": "2024-01-01" });
    expect(dated.headers.get("X-Supabase-Api-Version")).toBe("2024-01-01");
    expect(await dated.json()).toMatchObject({ code: "bad_json", message: expect.any(String) });
  });

  it("S6-role-1: the page's query for the role returns the owner's role", async () => {
    const { client, session } = await signIn();
    const row = await client
      .from("user_roles")
      .select("role")
      .eq("user_id", session.user.id)
      .single();
    expect(row.data).toEqual({ role: "admin" });
    expect((await client.rpc("get_user_role", { user_id: session.user.id })).data).toBe("admin");
    const anon = await asAnon(server)
      .from("user_roles")
      .select("role")
      .eq("user_id", session.user.id)
      .single();
    expect(anon.error).toMatchObject({ code: "PGRST116" });
    expect(anon.status).toBe(406);
  });

  it("A-setup-3 S2-route-10: the command line adds, lists and removes owners", async () => {
    expect(await server.command(["owner", "list"])).toContain(ownerEmail);
    await server.command(
      ["owner", "add", "second@example.com", "--password-stdin"],
      "another long one\n",
    );
    const { client } = await signIn();
    await server.command(
      ["owner", "password", "second@example.com", "--password-stdin", "--reset-factors"],
      "a third long one\n",
    );
    const second = await asAnon(server).auth.signInWithPassword({
      email: "second@example.com",
      password: "a third long one",
    });
    expect(second.error).toBeNull();
    expect(await server.command(["owner", "remove", "second@example.com"])).toContain(
      "not an owner",
    );
    const role = await asService(server).rpc("get_user_role", { user_id: second.data.user!.id });
    expect(role.data).toBeNull();
    await expect(server.command(["owner", "remove", ownerEmail])).rejects.toThrow("last owner");
    await expect(
      server.command(["owner", "add", "x@example.com", "--password-stdin"], "short\n"),
    ).rejects.toThrow("at least 10 characters");
    expect((await client.auth.getUser()).error).toBeNull();
  });
});

describe.each(engines)("the first owner on %s", (engine) => {
  it("A-setup-1: the link that the first start prints creates the first owner, once", async () => {
    const server = await startServer(engine);
    try {
      const token = new URL(server.setupLink!).searchParams.get("setup");
      const redeem = (body: object) =>
        fetch(`${server.url}/auth/v1/setup`, {
          method: "POST",
          headers: { apikey: server.anonKey, "content-type": "application/json" },
          body: JSON.stringify(body),
        });
      const weak = await redeem({ token, email: ownerEmail, password: "short" });
      expect([weak.status, (await weak.json()).error_code]).toEqual([422, "weak_password"]);
      const forged = await redeem({
        token: token + "x",
        email: ownerEmail,
        password: ownerPassword,
      });
      expect([forged.status, (await forged.json()).error_code]).toEqual([
        403,
        "setup_link_invalid",
      ]);
      const made = await redeem({ token, email: ownerEmail, password: ownerPassword });
      expect(made.status).toBe(200);
      const session = await made.json();
      const client = asAnon(server);
      expect((await client.auth.setSession(session)).error).toBeNull();
      expect((await client.rpc("get_user_role", { user_id: session.user.id })).data).toBe("admin");
      const again = await redeem({ token, email: "thief@example.com", password: ownerPassword });
      expect(again.status).toBe(403);
      await expect(asOwner(server)).resolves.toBeDefined(); // adding an existing owner is no error
    } finally {
      await server.stop();
    }
  });
});
