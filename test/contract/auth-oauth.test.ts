// Sign-in by identity providers: unmodified supabase-js against a real OpenID Connect provider.
import { createClient, type Provider, type SupabaseClient } from "@supabase/supabase-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { ownerEmail, ownerPassword } from "../harness/clients.ts";
import { Browser, hashClaim, type OIDC, startOIDC } from "../harness/oidc.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { engines, type Server, startServer } from "../harness/server.ts";

const house = "custom:house" as Provider;
const aSubject = () => `person-${crypto.randomUUID()}`;

afterAll(stopPostgres);

describe.each(engines)("sign-in by identity providers on %s", (engine) => {
  const people: Parameters<typeof startOIDC>[0] = {};
  let oidc: OIDC;
  let server: Server;

  const person = (claims: (typeof people)[string] = {}) => {
    const sub = aSubject();
    people[sub] = {
      email: `${sub}@example.com`,
      email_verified: true,
      name: "Rui Costa",
      ...claims,
    };
    return sub;
  };
  const client = (flowType: "implicit" | "pkce" = "implicit"): SupabaseClient =>
    createClient(server.url, server.anonKey, {
      auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false, flowType },
    });
  const home = (path = "/welcome") => server.url + path;
  const isHome = (url: URL) => url.href.startsWith(home());
  const isCallback = (url: URL) => url.href.startsWith(home("/auth/v1/callback"));
  const addressOf = async (supabase: SupabaseClient, options: Record<string, unknown> = {}) => {
    const { data, error } = await supabase.auth.signInWithOAuth({
      provider: house,
      options: { redirectTo: home(), skipBrowserRedirect: true, ...options },
    });
    expect(error).toBeNull();
    return data.url!;
  };
  const fragment = (url: URL) => Object.fromEntries(new URLSearchParams(url.hash.slice(1)));
  const query = (url: URL) => Object.fromEntries(url.searchParams);
  const owner = async () => {
    const supabase = client();
    const { error } = await supabase.auth.signInWithPassword({
      email: ownerEmail,
      password: ownerPassword,
    });
    expect(error).toBeNull();
    return supabase;
  };

  beforeAll(async () => {
    oidc = await startOIDC(people);
    // The provider responds with 503 until serve(): the server must start while a provider is down.
    server = await startServer(engine, {
      env: {
        ...oidc.env,
        ATELIE_SIGNUP: "open",
        ATELIE_MANUAL_LINKING: "on",
        ATELIE_RATE_LIMITS: "off",
      },
    });
    oidc.serve(server.url);
    await server.command(["owner", "add", ownerEmail, "--password-stdin"], ownerPassword + "\n");
  });
  afterAll(async () => {
    await server.stop();
    await oidc.stop();
  });

  it("S6-role-2 S7-oauth-1 S7-oauth-2 S7-oauth-6: a provider signs a person in by the implicit flow", async () => {
    const sub = person();
    const to = await new Browser().signIn(await addressOf(client()), sub, isHome);
    expect(to.search).toBe("");
    const got = fragment(to);
    expect(got).toMatchObject({ token_type: "bearer", expires_in: "3600" });
    expect(got.provider_token).toBeTruthy();
    expect(got.provider_refresh_token).toBeTruthy();
    expect(oidc.verifiers.length).toBeGreaterThan(0);

    const supabase = client();
    const { data, error } = await supabase.auth.setSession({
      access_token: got.access_token!,
      refresh_token: got.refresh_token!,
    });
    expect(error).toBeNull();
    expect(data.user).toMatchObject({
      email: `${sub}@example.com`,
      role: "authenticated",
      app_metadata: { provider: "house", providers: ["house"] },
      user_metadata: { full_name: "Rui Costa", email_verified: true, provider_id: sub },
    });
    const { data: role } = await supabase.rpc("get_user_role", { user_id: data.user!.id });
    expect(role).not.toBe("admin");
  });

  it("S7-token-10 S7-oauth-2: a provider signs a person in by the PKCE flow, which returns the provider's tokens once", async () => {
    const sub = person();
    const supabase = client("pkce");
    const to = await new Browser().signIn(await addressOf(supabase), sub, isHome);
    expect(to.hash).toBe("");
    const { data, error } = await supabase.auth.exchangeCodeForSession(query(to).code!);
    expect(error).toBeNull();
    expect(data.session).toMatchObject({ token_type: "bearer" });
    expect(data.session!.provider_token).toBeTruthy();
    expect(data.session!.provider_refresh_token).toBeTruthy();
    expect(data.user!.email).toBe(`${sub}@example.com`);

    const again = client("pkce");
    const second = await new Browser().signIn(await addressOf(again), sub, isHome);
    const other = client("pkce");
    await addressOf(other); // creates its own code verifier
    const stolen = await other.auth.exchangeCodeForSession(query(second).code!);
    expect(stolen.error).toMatchObject({ code: "bad_code_verifier" });
    const used = client("pkce");
    await addressOf(used);
    const replayed = await used.auth.exchangeCodeForSession(query(to).code!);
    expect(replayed.error).toMatchObject({ code: "flow_state_not_found" });
  });

  it("S7-oauth-10: a sign-in joins an existing account only if the provider has verified the email address", async () => {
    const sub = person({ email: ownerEmail });
    const to = await new Browser().signIn(await addressOf(client()), sub, isHome);
    const supabase = client();
    const { data } = await supabase.auth.setSession({
      access_token: fragment(to).access_token!,
      refresh_token: fragment(to).refresh_token!,
    });
    expect(data.user!.email).toBe(ownerEmail);
    const { data: role } = await supabase.rpc("get_user_role", { user_id: data.user!.id });
    expect(role).toBe("admin");
    const { data: list } = await supabase.auth.getUserIdentities();
    const { error } = await supabase.auth.unlinkIdentity(
      list!.identities.find((i) => i.provider === "house")!,
    );
    expect(error).toBeNull();

    const liar = person({ email: ownerEmail, email_verified: false });
    const back = await new Browser().signIn(await addressOf(client()), liar, isHome);
    expect(fragment(back)).toMatchObject({
      error: "access_denied",
      error_code: "provider_email_needs_verification",
    });
    expect(fragment(back).access_token).toBeUndefined();
  });

  it("S7-identity-1 S7-identity-3: identities are linked to an account and removed from it", async () => {
    const supabase = await owner();
    const sub = person();
    const { data, error } = await supabase.auth.linkIdentity({
      provider: house,
      options: { redirectTo: home() },
    });
    expect(error).toBeNull();
    const to = await new Browser().signIn(data.url!, sub, isHome);
    expect(fragment(to).access_token).toBeTruthy();

    const { data: list } = await supabase.auth.getUserIdentities();
    expect(list!.identities.map((i) => i.provider)).toEqual(["email", "house"]);
    expect(list!.identities[1]).toMatchObject({ id: sub, identity_data: { sub } });

    const twice = await supabase.auth.linkIdentity({
      provider: house,
      options: { redirectTo: home() },
    });
    const refused = await new Browser().signIn(twice.data.url!, sub, isHome);
    expect(query(refused)).toMatchObject({ error_code: "identity_already_exists" });

    expect((await supabase.auth.unlinkIdentity(list!.identities[1]!)).error).toBeNull();
    expect((await supabase.auth.unlinkIdentity(list!.identities[1]!)).error).toMatchObject({
      status: 422,
      code: "single_identity_not_deletable",
    });
    expect((await supabase.auth.getUserIdentities()).data!.identities).toHaveLength(1);
  });

  it("S7-identity-5: an identity of another account cannot be linked", async () => {
    const sub = person();
    await new Browser().signIn(await addressOf(client()), sub, isHome);
    const supabase = await owner();
    const { data } = await supabase.auth.linkIdentity({
      provider: house,
      options: { redirectTo: home() },
    });
    const to = await new Browser().signIn(data.url!, sub, isHome);
    expect(query(to)).toMatchObject({
      error_code: "identity_already_exists",
      error_description: "Identity is already linked to another user",
    });
    expect((await supabase.auth.getUserIdentities()).data!.identities).toHaveLength(1);
  });

  it("S7-token-12: an ID token signs in, and can be linked to an account", async () => {
    const sub = person();
    const claims = { sub, email: `${sub}@example.com`, email_verified: true };
    const { data, error } = await client().auth.signInWithIdToken({
      provider: house,
      token: oidc.idToken({ ...claims, nonce: hashClaim("a nonce") }),
      nonce: "a nonce",
    });
    expect(error).toBeNull();
    expect(data.user!.identities!.map((i) => i.id)).toEqual([sub]);
    expect(data.session!.access_token).toBeTruthy();

    const supabase = await owner();
    const mine = person();
    const linked = await supabase.auth.linkIdentity({
      provider: house,
      token: oidc.idToken({ sub: mine, email: `${mine}@example.com`, email_verified: true }),
    });
    expect(linked.error).toBeNull();
    const { data: list } = await supabase.auth.getUserIdentities();
    expect(list!.identities.map((i) => i.id)).toContain(mine);
    await supabase.auth.unlinkIdentity(list!.identities.find((i) => i.id === mine)!);
  });

  it.each([
    ["a wrong nonce", { nonce: hashClaim("another") }, { nonce: "a nonce" }, "Nonces mismatch"],
    ["no nonce", { nonce: hashClaim("a nonce") }, {}, "Passed nonce and nonce in id_token"],
    ["another audience", { aud: "somebody-else" }, {}, "Unacceptable audience in id_token"],
    ["another issuer", { iss: "https://evil.example" }, {}, "Bad ID token"],
    ["an expired token", { exp: 1_700_000_000 }, {}, "Bad ID token"],
    [
      "another access token",
      { at_hash: "AAAAAAAAAAAAAAAAAAAAAA" },
      { access_token: "x" },
      "Bad ID token",
    ],
  ])("S7-token-13: refuses an ID token with %s", async (_name, claims, options, message) => {
    const sub = person();
    const { error } = await client().auth.signInWithIdToken({
      provider: house,
      token: oidc.idToken({ sub, email: `${sub}@example.com`, email_verified: true, ...claims }),
      ...options,
    });
    expect(error).toMatchObject({ status: 400, code: "bad_oauth_callback" });
    expect(error!.message).toContain(message);
  });

  it.each(["none", "secret", "other key"] as const)(
    "S7-token-13: refuses an ID token that is forged: %s",
    async (how) => {
      const token = oidc.forged(how, { sub: person(), email: ownerEmail, email_verified: true });
      const { error } = await client().auth.signInWithIdToken({ provider: house, token });
      expect(error).toMatchObject({ status: 400, code: "bad_oauth_callback" });
    },
  );

  it("S7-oauth-4: a wrong or used state, a used code and another browser are rejected", async () => {
    const browser = new Browser();
    const callback = await browser.signIn(await addressOf(client()), person(), isCallback);
    const refused = async (from: Browser, change: (url: URL) => void) => {
      const url = new URL(callback);
      change(url);
      const to = new URL((await from.visit(url.href)).headers.get("location")!);
      expect(to.origin).toBe(server.url);
      for (const got of [query(to), fragment(to)]) {
        expect(got).toMatchObject({ error: "invalid_request", error_code: "bad_oauth_state" });
      }
    };
    await refused(browser, (url) => url.searchParams.set("state", crypto.randomUUID()));
    const first = new URL((await browser.visit(callback.href)).headers.get("location")!);
    expect(fragment(first).access_token).toBeTruthy();
    await refused(browser, () => undefined);

    // The code of one sign-in is refused with the state of another, and cannot be used again.
    const second = await browser.signIn(await addressOf(client()), person(), isCallback);
    second.searchParams.set("code", callback.searchParams.get("code")!);
    const mixed = new URL((await browser.visit(second.href)).headers.get("location")!);
    expect(query(mixed)).toMatchObject({ error_code: "unexpected_failure" });

    const mine = await browser.signIn(await addressOf(client()), person(), isCallback);
    const elsewhere = new URL((await new Browser().visit(mine.href)).headers.get("location")!);
    expect(query(elsewhere)).toMatchObject({ error_code: "bad_oauth_state" });
  });

  it("S7-oauth-5: the page gets an error if the user has denied consent", async () => {
    const to = await new Browser().signIn(await addressOf(client()), person(), isHome, "abort");
    for (const got of [query(to), fragment(to)]) {
      expect(got).toMatchObject({
        error: "access_denied",
        error_description: "End-User aborted interaction",
      });
    }
    expect(fragment(to).access_token).toBeUndefined();
  });

  it("A-safe-13: a redirect to a URL that is not allowed is replaced by the site's URL", async () => {
    for (const redirectTo of ["https://evil.example/", "//evil.example", "javascript:alert(1)"]) {
      const to = await new Browser().signIn(
        await addressOf(client(), { redirectTo }),
        person(),
        (url) => !url.href.startsWith(oidc.issuer) && !isAuth(url),
      );
      expect(to.origin).toBe(server.url);
    }
  });
  const isAuth = (url: URL) => url.href.startsWith(home("/auth/"));

  it("S7-oauth-8: a provider without settings is rejected with Supabase's error", async () => {
    const response = await fetch(`${server.url}/auth/v1/authorize?provider=google`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error_code: "validation_failed",
      msg: "Unsupported provider: provider is not enabled",
    });
    const { error } = await client().auth.signInWithIdToken({ provider: "google", token: "x.y.z" });
    expect(error).toMatchObject({ status: 400, code: "provider_disabled" });
  });

  it("S7-identity-6: linking and new accounts are rejected unless the settings allow them", async () => {
    const closed = await startServer(engine, { env: oidc.env });
    try {
      await closed.command(["owner", "add", ownerEmail, "--password-stdin"], ownerPassword + "\n");
      const supabase = createClient(closed.url, closed.anonKey, {
        auth: { persistSession: false, autoRefreshToken: false },
      });
      await supabase.auth.signInWithPassword({ email: ownerEmail, password: ownerPassword });
      const linked = await supabase.auth.linkIdentity({ provider: house });
      expect(linked.error).toMatchObject({ status: 404, code: "manual_linking_disabled" });
      const sub = person();
      const stranger = await supabase.auth.signInWithIdToken({
        provider: house,
        token: oidc.idToken({ sub, email: `${sub}@example.com`, email_verified: true }),
      });
      expect(stranger.error).toMatchObject({ status: 422, code: "signup_disabled" });
    } finally {
      await closed.stop();
    }
  });
});
