// Single sign-on by SAML, with supabase-js and a SAML identity provider of another code base.
import { createClient } from "@supabase/supabase-js";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import { asAnon } from "../harness/clients.ts";
import { stopPostgres } from "../harness/postgres.ts";
import {
  type IdentityProvider,
  person,
  startIdentityProvider,
  submit,
} from "../harness/saml-idp.ts";
import { engines, type Server, startServer } from "../harness/server.ts";

afterAll(stopPostgres);

const app = "https://app.example/signed-in";

describe.each(engines)("single sign-on on %s", (engine) => {
  let server: Server;
  let idp: IdentityProvider;
  let provider: string;

  const admin = async (method: string, path = "", body?: unknown) => {
    const response = await fetch(`${server.url}/auth/v1/admin/sso/providers${path}`, {
      method,
      headers: {
        apikey: server.anonKey,
        authorization: `Bearer ${server.serviceKey}`,
        "content-type": "application/json",
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  };

  beforeAll(async () => {
    server = await startServer(engine, {
      env: {
        ATELIE_SAML: "on",
        ATELIE_SIGNUP: "open",
        ATELIE_REDIRECT_URLS: "https://app.example/**",
      },
    });
    idp = await startIdentityProvider(server.url);
    const { status, body } = await admin("POST", "", {
      type: "saml",
      metadata_url: idp.metadataURL,
      domains: ["corp.example"],
      attribute_mapping: {
        keys: { name: { name: "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name" } },
      },
    });
    expect(status).toBe(201);
    provider = body.id;
  });
  afterEach(() => idp.set({}));
  afterAll(async () => {
    await idp.stop();
    await server.stop();
  });

  // The requests of a browser: to the provider, and back to the server with the provider's form.
  const signInAtProvider = async (client = asAnon(server)) => {
    const { data, error } = await client.auth.signInWithSSO({
      domain: "corp.example",
      options: { redirectTo: app },
    });
    expect(error).toBeNull();
    return submit(await idp.visit(data!.url));
  };

  const sessionAt = async (address: URL) => {
    const fragment = new URLSearchParams(address.hash.slice(1));
    const client = asAnon(server);
    const { data, error } = await client.auth.setSession({
      access_token: fragment.get("access_token")!,
      refresh_token: fragment.get("refresh_token")!,
    });
    expect(error).toBeNull();
    return { client, user: data.user! };
  };

  const expectRefusal = (address: URL, code: string) => {
    expect(address.hash).not.toContain("access_token");
    expect(address.searchParams.get("error_code")).toBe(code);
    expect(address.origin).toBe(server.url);
  };

  it("S7-sso-1 S7-sso-5: a person signs in by the domain of the address, and the session shows who it is", async () => {
    const address = await signInAtProvider();
    expect(address.origin + address.pathname).toBe(app);
    const { client, user } = await sessionAt(address);
    expect(user).toMatchObject({
      email: "ana@corp.example",
      app_metadata: { provider: `sso:${provider}`, providers: [`sso:${provider}`] },
      user_metadata: { name: person.displayName, iss: idp.entityID, sub: person.id },
    });
    expect(user.identities).toHaveLength(1);
    expect(user.identities![0]).toMatchObject({ provider: `sso:${provider}`, id: person.id });
    const { data } = await client.auth.refreshSession();
    expect(data.session?.user.id).toBe(user.id);
    const claims = (await client.auth.getClaims()).data!.claims;
    expect(claims.amr).toEqual([
      expect.objectContaining({ method: "sso/saml", provider: provider }),
    ]);
  });

  it("S7-sso-1: a second sign-in by the provider's id uses the same account", async () => {
    const first = await sessionAt(await signInAtProvider());
    const { data } = await asAnon(server).auth.signInWithSSO({ providerId: provider });
    const address = await submit(await idp.visit(data!.url));
    expect(address.origin).toBe(server.url); // without a requested URL: that of the site
    expect((await sessionAt(address)).user.id).toBe(first.user.id);
  });

  it.each([
    ["a signed response", { signResponse: true, signAssertion: false }],
    ["response and assertion signed", { signResponse: true }],
    ["AES-256-GCM", { encryptionAlgorithm: "http://www.w3.org/2009/xmlenc11#aes256-gcm" }],
    [
      "AES-256-CBC",
      {
        encryptionAlgorithm: "http://www.w3.org/2001/04/xmlenc#aes256-cbc",
        disallowEncryptionWithInsecureAlgorithm: false, // many providers support nothing else
      },
    ],
  ])("accepts %s", async (_name, change) => {
    idp.set(change);
    await sessionAt(await signInAtProvider());
  });

  it("S7-sso-10: accounts of a provider are separate from accounts with a password", async () => {
    await server.command(["owner", "add", "ana@corp.example", "--password-stdin"], "a blue tile\n");
    const { user } = await sessionAt(await signInAtProvider());
    const { data } = await asAnon(server).auth.signInWithPassword({
      email: "ana@corp.example",
      password: "a blue tile",
    });
    expect(data.user!.id).not.toBe(user.id);
  });

  it("S7-sso-4: a sign-in that begins at the provider is accepted once", async () => {
    const form = await idp.unsolicited();
    await sessionAt(await submit(form));
    expectRefusal(await submit(form), "validation_failed");
  });

  it("a provider's response to a request is accepted once", async () => {
    const { data } = await asAnon(server).auth.signInWithSSO({ domain: "corp.example" });
    const form = await idp.visit(data!.url);
    await sessionAt(await submit(form));
    expectRefusal(await submit(form), "saml_relay_state_not_found");
    expectRefusal(await submit({ ...form, RelayState: "" }), "validation_failed");
  });

  it.each([
    ["no signature", { signAssertion: false }],
    ["another recipient", { recipient: "https://other.example/acs" }],
    ["another destination", { destination: "https://other.example/acs" }],
    ["another audience", { audience: "https://other.example" }],
    ["another issuer", { issuer: "urn:other" }],
    ["another request", { inResponseTo: "_other" }],
    ["SHA-1", { signatureAlgorithm: "rsa-sha1", digestAlgorithm: "sha1" }],
  ])("A-safe-18: refuses an answer with %s", async (_name, change) => {
    idp.set(change);
    expectRefusal(await signInAtProvider(), "validation_failed");
  });

  it("A-safe-13: a redirect never goes to a URL that is not allowed", async () => {
    const { data } = await asAnon(server).auth.signInWithSSO({
      domain: "corp.example",
      options: { redirectTo: "https://evil.example/" },
    });
    expect((await submit(await idp.visit(data!.url))).origin).toBe(server.url);
  });

  it("a bad request gets an error that says what is wrong", async () => {
    const signIn = async (params: { domain: string } | { providerId: string }) =>
      (await asAnon(server).auth.signInWithSSO(params)).error;
    expect(await signIn({ domain: "nowhere.example" })).toMatchObject({
      status: 404,
      code: "sso_provider_not_found",
    });
    expect(await signIn({ providerId: "00000000-0000-4000-8000-000000000000" })).toMatchObject({
      status: 404,
      code: "sso_provider_not_found",
    });
    expect(await signIn({ providerId: "nonsense" })).toMatchObject({
      status: 400,
      code: "validation_failed",
    });
  });

  it("S7-sso-7: providers are listed, changed and disabled", async () => {
    const list = await admin("GET");
    expect(list.body.items).toMatchObject([
      { id: provider, domains: [{ domain: "corp.example" }] },
    ]);
    expect(
      (await admin("POST", "", { type: "saml", metadata_url: idp.metadataURL })).body,
    ).toMatchObject({ code: 422, error_code: "saml_idp_already_exists" });
    expect((await admin("PUT", `/${provider}`, { disabled: true })).body.disabled).toBe(true);
    const refused = await asAnon(server).auth.signInWithSSO({ domain: "corp.example" });
    expect(refused.error).toMatchObject({ status: 404, code: "sso_provider_disabled" });
    expect((await admin("PUT", `/${provider}`, { disabled: false })).body.disabled).toBe(false);
    await sessionAt(await signInAtProvider());
  });

  it("S7-sso-3: a client with PKCE gets a code at the end of the flow", async () => {
    const stored = new Map<string, string>();
    const client = createClient(server.url, server.anonKey, {
      auth: {
        flowType: "pkce",
        persistSession: true,
        autoRefreshToken: false,
        detectSessionInUrl: false,
        storage: {
          getItem: (key) => stored.get(key) ?? null,
          setItem: (key, value) => void stored.set(key, value),
          removeItem: (key) => void stored.delete(key),
        },
      },
    });
    const address = await signInAtProvider(client);
    expect(address.hash).toBe("");
    const { data, error } = await client.auth.exchangeCodeForSession(
      address.searchParams.get("code")!,
    );
    expect(error).toBeNull();
    expect(data.user?.email).toBe("ana@corp.example");
  });
});

it("S7-sso-9: single sign-on is off by default", async () => {
  const server = await startServer("sqlite");
  const { error } = await asAnon(server).auth.signInWithSSO({ domain: "corp.example" });
  expect(error).toMatchObject({ status: 404, code: "saml_provider_disabled" });
  await server.stop();
});
