// The endpoints under /auth/v1/admin: supabase-js manages accounts with the service key.
import type { SupabaseClient } from "@supabase/supabase-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { asAnon, asOwner, asService } from "../harness/clients.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { engines, type Server, startServer } from "../harness/server.ts";

afterAll(stopPostgres);

const password = "a wall of whitewash";
const bcryptOfPassword = "$2a$10$EO3s8MJizZV5ykU1mSDA4u6JCV0Wo.TLCMD1SVfR0QXXQhZac4l7i"; // as stored by another service

describe.each(engines)("accounts by the service key on %s", (engine) => {
  let server: Server;
  let service: SupabaseClient;
  let owner: SupabaseClient;
  beforeAll(async () => {
    server = await startServer(engine, { env: { ATELIE_RATE_LIMITS: "off" } });
    service = asService(server);
    owner = await asOwner(server);
  });
  afterAll(() => server.stop());

  let made = 0;
  const freshEmail = () => `u${++made}@example.com`;
  const create = async (more: object = {}) => {
    const { data, error } = await service.auth.admin.createUser({
      email: freshEmail(),
      password,
      email_confirm: true,
      ...more,
    });
    expect(error).toBeNull();
    return data.user!;
  };
  const signIn = async (email: string) => {
    const client = asAnon(server);
    const { data, error } = await client.auth.signInWithPassword({ email, password });
    return { client, session: data.session, user: data.user, error };
  };

  it("S7-admin-7: the service key creates an account that can sign in immediately", async () => {
    const user = await create({ user_metadata: { name: "Rui" }, app_metadata: { team: "a" } });
    expect(user).toMatchObject({
      aud: "authenticated",
      role: "authenticated",
      user_metadata: { name: "Rui" },
      app_metadata: { provider: "email", providers: ["email"], team: "a" },
    });
    expect(user.email_confirmed_at).toBeTruthy();
    expect(user.identities).toHaveLength(1);
    const { user: signedIn, error } = await signIn(user.email!);
    expect(error).toBeNull();
    expect(signedIn?.id).toBe(user.id);
  });

  it("an account can be created with a given id; a used email address and a weak password are rejected", async () => {
    const id = crypto.randomUUID();
    const user = await create({ id });
    expect(user.id).toBe(id);
    const taken = await service.auth.admin.createUser({ email: user.email!, password });
    expect(taken.error).toMatchObject({ status: 422, code: "email_exists" });
    const weak = await service.auth.admin.createUser({ email: freshEmail(), password: "short" });
    expect(weak.error).toMatchObject({ status: 422, code: "weak_password", reasons: ["length"] });
    const nobody = await service.auth.admin.createUser({ password });
    expect(nobody.error).toMatchObject({ status: 400, code: "validation_failed" });
  });

  it("S7-admin-18: only one of several concurrent calls creates the account with an email address", async () => {
    const email = freshEmail();
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => service.auth.admin.createUser({ email })),
    );
    expect(answers.filter((a) => a.data.user)).toHaveLength(1);
    const codes = answers.filter((a) => a.error).map((a) => a.error!.code);
    expect(codes).toEqual(Array(11).fill("email_exists"));
  });

  it("A-safe-1: an imported bcrypt hash lets its password sign in, twice", async () => {
    const email = freshEmail();
    const { error } = await service.auth.admin.createUser({
      email,
      password_hash: bcryptOfPassword,
      email_confirm: true,
    });
    expect(error).toBeNull();
    expect((await signIn(email)).error).toBeNull(); // replaces the hash
    expect((await signIn(email)).error).toBeNull();
    const wrong = await asAnon(server).auth.signInWithPassword({ email, password: "not it, no" });
    expect(wrong.error?.code).toBe("invalid_credentials");
    const unknown = await service.auth.admin.createUser({
      email: freshEmail(),
      password_hash: "5f4dcc3b5aa765d61d8327deb882cf99",
    });
    expect(unknown.error).toMatchObject({ status: 400, code: "validation_failed" });
  });

  it("S7-admin-8: accounts are listed in pages with the headers Link and X-Total-Count that the client reads", async () => {
    for (let i = 0; i < 3; i++) await create();
    const first = await service.auth.admin.listUsers({ page: 1, perPage: 2 });
    expect(first.error).toBeNull();
    if (first.error) return;
    const { users, total, lastPage, nextPage, aud } = first.data;
    expect(users).toHaveLength(2);
    expect(aud).toBe("authenticated");
    expect(total).toBeGreaterThanOrEqual(4);
    expect(lastPage).toBe(Math.ceil(total / 2));
    expect(nextPage).toBe(2);
    const seen: string[] = [];
    let page: number | null = 1;
    while (page !== null) {
      const { data, error }: Awaited<ReturnType<typeof service.auth.admin.listUsers>> =
        await service.auth.admin.listUsers({ page, perPage: 2 });
      expect(error).toBeNull();
      seen.push(...data.users.map((u) => u.id));
      page = "nextPage" in data ? data.nextPage : null;
    }
    expect(new Set(seen).size).toBe(total);
    const all = await service.auth.admin.listUsers();
    expect(all.data.users.map((u) => u.id)).toEqual(seen);
    const times = all.data.users.map((u) => Date.parse(u.created_at));
    expect(times).toEqual(times.toSorted((a, b) => b - a));
  });

  it("S7-admin-10: the service key reads and changes an account", async () => {
    const user = await create({ user_metadata: { a: 1, b: 2 } });
    const read = await service.auth.admin.getUserById(user.id);
    expect(read.data.user).toEqual(user);
    const email = freshEmail();
    const changed = await service.auth.admin.updateUserById(user.id, {
      email,
      user_metadata: { a: null, c: 3 },
      app_metadata: { team: "b" },
    });
    expect(changed.error).toBeNull();
    expect(changed.data.user).toMatchObject({
      email,
      app_metadata: { provider: "email", team: "b" },
    });
    expect(changed.data.user?.user_metadata).not.toHaveProperty("a");
    expect(changed.data.user?.user_metadata).toMatchObject({ b: 2, c: 3 });
    expect((await signIn(email)).error).toBeNull();
    const unknown = await service.auth.admin.getUserById(crypto.randomUUID());
    expect(unknown.error).toMatchObject({ status: 404, code: "user_not_found" });
  });

  it("a new password ends the sessions of the account", async () => {
    const user = await create();
    const { client } = await signIn(user.email!);
    const { error } = await service.auth.admin.updateUserById(user.id, {
      password: "a wall of limewash",
    });
    expect(error).toBeNull();
    expect((await client.auth.refreshSession()).error?.code).toBe("refresh_token_not_found");
    expect((await signIn(user.email!)).error?.code).toBe("invalid_credentials");
  });

  it("S7-admin-10: a banned account cannot sign in until the ban is lifted", async () => {
    const user = await create();
    const { client, session } = await signIn(user.email!);
    const banned = await service.auth.admin.updateUserById(user.id, { ban_duration: "24h" });
    expect(banned.data.user).toHaveProperty("banned_until");
    expect((await signIn(user.email!)).error).toMatchObject({ status: 400, code: "user_banned" });
    const seen = await asAnon(server).auth.getUser(session!.access_token);
    expect(seen.error).toMatchObject({ status: 403, code: "user_banned" });
    expect((await client.auth.refreshSession(session!)).error).toMatchObject({
      status: 400,
      code: "user_banned",
    });
    await service.auth.admin.updateUserById(user.id, { ban_duration: "none" });
    expect((await signIn(user.email!)).error).toBeNull();
  });

  it.each([
    ["soft deletion", true],
    ["deletion", false],
  ])(
    "S7-admin-13 S7-admin-14: %s removes the account, and its address can be used again",
    async (_name, soft) => {
      const user = await create();
      const { session } = await signIn(user.email!);
      expect((await service.auth.admin.deleteUser(user.id, soft)).error).toBeNull();
      const byToken = await asAnon(server).auth.getUser(session!.access_token);
      expect(byToken.error?.code).toBe("user_not_found");
      expect((await signIn(user.email!)).error?.code).toBe("invalid_credentials");
      const byId = await service.auth.admin.getUserById(user.id);
      if (soft) {
        expect(byId.data.user).toHaveProperty("deleted_at");
        expect(JSON.stringify(byId.data.user)).not.toContain("@example.com");
      } else {
        expect(byId.error?.code).toBe("user_not_found");
      }
      await create({ email: user.email });
    },
  );

  it("S7-admin-15: the last owner cannot be deleted", async () => {
    const { data } = await owner.auth.getUser();
    const { error } = await service.auth.admin.deleteUser(data.user!.id);
    expect(error).toMatchObject({ status: 409, code: "conflict" });
    expect((await owner.auth.getUser()).error).toBeNull();
  });

  it("S7-admin-1: an invitation can be sent again until the address is confirmed", async () => {
    const email = freshEmail();
    const options = { data: { name: "Ana" }, redirectTo: server.url + "/admin" };
    const first = await service.auth.admin.inviteUserByEmail(email, options);
    expect(first.error).toBeNull();
    expect(first.data.user).toMatchObject({ email, user_metadata: { name: "Ana" } });
    expect(first.data.user!.invited_at).toBeTruthy();
    const second = await service.auth.admin.inviteUserByEmail(email, options);
    expect(second.data.user?.id).toBe(first.data.user!.id);
    await service.auth.admin.updateUserById(first.data.user!.id, { email_confirm: true });
    const third = await service.auth.admin.inviteUserByEmail(email, options);
    expect(third.error).toMatchObject({ status: 422, code: "email_exists" });
  });

  it("S7-admin-3: an invited person signs in by the link and then chooses a password", async () => {
    const email = freshEmail();
    const { data, error } = await service.auth.admin.generateLink({ type: "invite", email });
    expect(error).toBeNull();
    const client = asAnon(server);
    const { hashed_token: token_hash } = data.properties!;
    const verified = await client.auth.verifyOtp({ type: "invite", token_hash });
    expect(verified.error).toBeNull();
    expect(verified.data.user?.email).toBe(email);
    expect((await client.auth.updateUser({ password })).error).toBeNull();
    expect((await signIn(email)).error).toBeNull();
    const again = await asAnon(server).auth.verifyOtp({ type: "invite", token_hash });
    expect(again.error).toMatchObject({ status: 403, code: "otp_expired" });
  });

  it.each(["signup", "magiclink", "recovery"] as const)(
    "S7-admin-2: a link of type %s works by its hash, its code and its URL",
    async (type) => {
      const redirectTo = server.url + "/admin";
      for (const way of ["hash", "code", "address"]) {
        const email = freshEmail();
        if (type !== "signup") await create({ email });
        const { data, error } = await service.auth.admin.generateLink({
          type,
          email,
          password,
          options: { redirectTo },
        });
        expect(error).toBeNull();
        expect(data.user).toMatchObject({ email });
        const link = data.properties!;
        expect(link).toMatchObject({ verification_type: type, redirect_to: redirectTo });
        expect(link.email_otp).toMatch(/^\d{6}$/);
        if (way === "address") {
          const response = await fetch(link.action_link, { redirect: "manual" });
          expect(response.status).toBe(303);
          const to = new URL(response.headers.get("location")!);
          expect(to.origin + to.pathname).toBe(redirectTo);
          expect(new URLSearchParams(to.hash.slice(1)).get("access_token")).toBeTruthy();
          continue;
        }
        const client = asAnon(server);
        const verified =
          way === "hash"
            ? await client.auth.verifyOtp({ type, token_hash: link.hashed_token })
            : await client.auth.verifyOtp({ type, email, token: link.email_otp });
        expect(verified.error).toBeNull();
        expect(verified.data.user?.email).toBe(email);
      }
    },
  );

  it("S7-admin-3: two links change the email address of an account", async () => {
    const user = await create();
    const newEmail = freshEmail();
    const answers = [];
    for (const type of ["email_change_current", "email_change_new"] as const) {
      const { data, error } = await service.auth.admin.generateLink({
        type,
        email: user.email!,
        newEmail,
      });
      expect(error).toBeNull();
      expect(data.user?.new_email).toBe(newEmail);
      expect(data.properties?.verification_type).toBe(type);
      answers.push(data.properties!.hashed_token);
    }
    const client = asAnon(server);
    const one = await client.auth.verifyOtp({ type: "email_change", token_hash: answers[0]! });
    expect(one.error).toBeNull();
    expect(one.data.session).toBeNull();
    const two = await client.auth.verifyOtp({ type: "email_change", token_hash: answers[1]! });
    expect(two.error).toBeNull();
    expect(two.data.user?.email).toBe(newEmail);
    expect((await signIn(newEmail)).error).toBeNull();
  });

  it("S7-admin-6: a link for an unknown address or an invitation to a confirmed one is rejected", async () => {
    const user = await create();
    const unknown = await service.auth.admin.generateLink({
      type: "recovery",
      email: freshEmail(),
    });
    expect(unknown.error).toMatchObject({ status: 404, code: "user_not_found" });
    const known = await service.auth.admin.generateLink({ type: "invite", email: user.email! });
    expect(known.error).toMatchObject({ status: 422, code: "email_exists" });
    const signup = await service.auth.admin.generateLink({
      type: "magiclink",
      email: freshEmail(),
    });
    expect(signup.data.properties?.verification_type).toBe("signup");
  });

  it("S7-admin-16: second factors are listed and deleted", async () => {
    const user = await create();
    const { client } = await signIn(user.email!);
    const enrolled = await client.auth.mfa.enroll({ factorType: "totp", friendlyName: "app" });
    expect(enrolled.error).toBeNull();
    const listed = await service.auth.admin.mfa.listFactors({ userId: user.id });
    expect(listed.error).toBeNull();
    expect(listed.data!.factors).toMatchObject([
      { id: enrolled.data!.id, friendly_name: "app", factor_type: "totp", status: "unverified" },
    ]);
    expect(JSON.stringify(listed.data)).not.toContain("secret");
    const ids = { userId: user.id, id: enrolled.data!.id };
    expect((await service.auth.admin.mfa.deleteFactor(ids)).error).toBeNull();
    const none = await service.auth.admin.mfa.listFactors({ userId: user.id });
    expect(none.data).toEqual({ factors: [] });
    const again = await service.auth.admin.mfa.deleteFactor(ids);
    expect(again.error).toMatchObject({ status: 404, code: "mfa_factor_not_found" });
  });

  it.each([
    ["local", false, true],
    ["others", true, false],
    ["global", false, false],
  ] as const)(
    "S7-logout-2: signing out with scope %s ends the right sessions",
    async (scope, firstWorks, secondWorks) => {
      const user = await create();
      const first = await signIn(user.email!);
      const second = await signIn(user.email!);
      const { error } = await service.auth.admin.signOut(first.session!.access_token, scope);
      expect(error).toBeNull();
      expect((await first.client.auth.refreshSession(first.session!)).error === null).toBe(
        firstWorks,
      );
      expect((await second.client.auth.refreshSession(second.session!)).error === null).toBe(
        secondWorks,
      );
    },
  );

  it("S6-key-1: the public key and an owner's token are rejected on all admin endpoints", async () => {
    const user = await create();
    const { data } = await owner.auth.getSession();
    const token = data.session!.access_token;
    const id = user.id;
    for (const [name, key] of [
      ["public key", server.anonKey],
      ["owner", token],
    ]) {
      for (const [method, path] of [
        ["POST", "invite"],
        ["GET", "admin/users"],
        ["POST", "admin/users"],
        ["GET", `admin/users/${id}`],
        ["PUT", `admin/users/${id}`],
        ["DELETE", `admin/users/${id}`],
        ["GET", `admin/users/${id}/factors`],
        ["PUT", `admin/users/${id}/factors/${id}`],
        ["DELETE", `admin/users/${id}/factors/${id}`],
        ["POST", "admin/generate_link"],
      ] as const) {
        const response = await fetch(`${server.url}/auth/v1/${path}`, {
          method,
          headers: { apikey: server.anonKey, authorization: `Bearer ${key}` },
          ...(method === "GET" ? {} : { body: JSON.stringify({ email: freshEmail() }) }),
        });
        const body = (await response.json()) as { error_code: string };
        expect([response.status, body.error_code], `${name}: ${method} ${path}`).toEqual([
          403,
          "not_admin",
        ]);
      }
    }
    expect((await owner.auth.admin.listUsers()).error?.code).toBe("not_admin");
    expect((await service.auth.admin.getUserById(id)).data.user?.id).toBe(id);
  });
});
