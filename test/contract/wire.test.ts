// Requests of curl and of clients in other languages, which supabase-js does not send.
import { createHmac } from "node:crypto";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { asAnon, asOwner, asService, ownerEmail, ownerPassword } from "../harness/clients.ts";
import { png } from "../harness/png.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { engines, type Server, startServer } from "../harness/server.ts";

afterAll(stopPostgres);

const secret = "a signing secret that only this file's servers share";

function signed(claims: object): string {
  const part = (v: object) => Buffer.from(JSON.stringify(v)).toString("base64url");
  const text = `${part({ alg: "HS256", typ: "JWT" })}.${part(claims)}`;
  return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
}

type WireResponse = { status: number; headers: Headers; body: Record<string, unknown> };

describe.each(engines)("raw requests on %s", (engine) => {
  let server: Server;
  let owner: Awaited<ReturnType<typeof asOwner>>;
  let service: ReturnType<typeof asService>;
  beforeAll(async () => {
    server = await startServer(engine, { env: { ATELIE_JWT_SECRET: secret } });
    owner = await asOwner(server);
    service = asService(server);
  });
  afterAll(() => server.stop());

  async function call(
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: unknown,
  ): Promise<WireResponse> {
    const response = await fetch(server.url + path, {
      method,
      headers: { "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>),
    };
  }

  it("W-auth-1: an apikey header alone does not count as a user or as the service key", async () => {
    const { data } = await owner.auth.getSession();
    for (const apikey of [server.anonKey, server.serviceKey, data.session!.access_token]) {
      for (const [method, path] of [
        ["GET", "user"],
        ["PUT", "user"],
        ["POST", "logout"],
        ["GET", "reauthenticate"],
        ["POST", "factors"],
        ["GET", "admin/users"],
        ["POST", "invite"],
        ["GET", "admin/audit"],
      ] as const) {
        const response = await call(method, `/auth/v1/${path}`, { apikey });
        expect([response.status, response.body], `${method} ${path}`).toEqual([
          401,
          {
            code: 401,
            error_code: "no_authorization",
            msg: "This endpoint requires a valid Bearer token",
          },
        ]);
      }
    }
    const apikey = server.anonKey;
    expect((await call("GET", "/auth/v1/settings", { apikey })).status).toBe(200);
    const credentials = { email: ownerEmail, password: ownerPassword };
    const session = await call(
      "POST",
      "/auth/v1/token?grant_type=password",
      { apikey },
      credentials,
    );
    expect(session.status).toBe(200);
  });

  it("W-auth-2 F-wire-method: another method for a known path gets 405 with Allow, in the error format of the surface", async () => {
    for (const [method, path, allow, shape] of [
      ["DELETE", "/auth/v1/token", "POST", { error_code: "method_not_allowed", code: 405 }],
      ["PATCH", "/auth/v1/user", "GET, HEAD, PUT", { error_code: "method_not_allowed" }],
      ["PATCH", "/rest/v1/rpc/get_user_role", "OPTIONS,GET,HEAD,POST", { code: "PGRST101" }],
      ["PUT", "/storage/v1/object/move", "POST, DELETE", { statusCode: "405" }],
      ["PATCH", "/storage/v1/bucket", "GET, HEAD, POST", { code: "MethodNotAllowed" }],
      ["DELETE", "/functions/v1/submit-contact", "GET, HEAD, POST, OPTIONS", { success: false }],
      ["GET", "/realtime/v1/api/broadcast", "POST", { code: "method_not_allowed" }],
    ] as const) {
      const response = await call(method, path, {
        apikey: server.anonKey,
        authorization: `Bearer ${server.anonKey}`,
      });
      expect([response.status, response.headers.get("allow")], `${method} ${path}`).toEqual([
        405,
        allow,
      ]);
      expect(response.body).toMatchObject(shape);
    }
  });

  it("W-auth-3: a bad token gets Supabase's error messages", async () => {
    const header = Buffer.from('{"alg":"HS256"}').toString("base64url");
    const hour = Math.floor(Date.now() / 1000) + 3600;
    for (const [token, fault] of [
      ["garbage", "token is malformed"],
      [`${header}.e30.AAAA`, "token signature is invalid"],
      [
        signed({ role: "authenticated", sub: "x", exp: hour - 7200 }),
        "token has invalid claims: token is expired",
      ],
      [signed({ role: "authenticated", sub: "x" }), "token has invalid claims"],
      [signed({ role: "wizard", exp: hour }), "token has invalid claims"],
    ] as const) {
      const { error } = await asAnon(server).auth.getUser(token);
      expect([error?.status, error?.code, error?.message]).toEqual([
        401,
        "bad_jwt",
        `invalid JWT: unable to parse or verify signature, ${fault}`,
      ]);
    }
  });

  it("W-auth-4: keys are valid without exp, users' tokens are not", async () => {
    for (const [key, status] of [
      [signed({ role: "service_role", iss: "supabase" }), 200],
      [signed({ role: "anon", iss: "supabase" }), 403],
      [signed({ role: "authenticated", sub: "00000000-0000-4000-8000-000000000000" }), 401],
    ] as const) {
      const response = await call("GET", "/auth/v1/admin/users", {
        apikey: server.anonKey,
        authorization: `Bearer ${key}`,
      });
      expect(response.status).toBe(status);
    }
  });

  it("W-auth-5: sign-in with a wallet is rejected, as by Supabase when it is off", async () => {
    const { error } = await asAnon(server).auth.signInWithWeb3({
      chain: "solana",
      message: "somebody wants to sign in",
      signature: new Uint8Array(64),
    });
    expect([error?.status, error?.code]).toEqual([422, "web3_provider_disabled"]);
  });

  it("W-auth-11: OAuth clients of the server, passkeys and anonymous accounts are not supported", async () => {
    const elevated = {
      apikey: server.serviceKey,
      authorization: `Bearer ${server.serviceKey}`,
    };
    for (const [method, path] of [
      ["POST", "/auth/v1/admin/oauth/clients"],
      ["GET", "/auth/v1/admin/oauth/clients"],
      ["GET", "/auth/v1/passkeys"],
      ["POST", "/auth/v1/passkeys/registration/options"],
    ] as const) {
      const response = await call(method, path, elevated, method === "POST" ? {} : undefined);
      expect([path, response.status, response.body.error_code]).toEqual([path, 404, "not_found"]);
    }
    const anonymous = await asAnon(server).auth.signInAnonymously();
    expect([anonymous.error?.status, anonymous.error?.code]).toEqual([
      422,
      "anonymous_provider_disabled",
    ]);
    const factor = await owner.auth.mfa.enroll({ factorType: "webauthn", friendlyName: "key" });
    expect([factor.error?.status, factor.error?.code]).toEqual([
      422,
      "mfa_webauthn_enroll_not_enabled",
    ]);
  });

  it("W-auth-12: an error for a code does not reveal whether an address has an account", async () => {
    const { data, error } = await asAnon(server).auth.signInWithOtp({
      email: "nobody@example.com",
      options: { shouldCreateUser: false },
    });
    expect([error, data]).toEqual([null, { user: null, session: null, messageId: undefined }]);
  });

  it("W-auth-7: setting the role of an account is rejected, not ignored", async () => {
    const { error } = await service.auth.admin.createUser({
      email: "role@example.com",
      role: "service_role",
    });
    expect([error?.status, error?.code]).toEqual([400, "validation_failed"]);
    const made = await service.auth.admin.createUser({
      email: "role@example.com",
      role: "authenticated",
    });
    expect(made.data.user?.role).toBe("authenticated");
    const changed = await service.auth.admin.updateUserById(made.data.user!.id, { role: "editor" });
    expect(changed.error?.code).toBe("validation_failed");
  });

  it("W-auth-6: the parameters of a link are in the order token, type, redirect_to", async () => {
    const { data } = await service.auth.admin.generateLink({
      type: "recovery",
      email: ownerEmail,
      options: { redirectTo: server.url + "/admin" },
    });
    expect(data.properties!.action_link).toBe(
      `${server.url}/auth/v1/verify?token=${data.properties!.hashed_token}&type=recovery&redirect_to=${encodeURIComponent(server.url + "/admin")}`,
    );
  });

  it("W-auth-8: audit entries have Supabase's names", async () => {
    const client = asAnon(server);
    await client.auth.signInWithPassword({ email: ownerEmail, password: ownerPassword });
    await client.auth.refreshSession();
    await client.auth.signOut({ scope: "local" });
    const log = await fetch(`${server.url}/auth/v1/admin/audit?per_page=3`, {
      headers: { apikey: server.serviceKey, authorization: `Bearer ${server.serviceKey}` },
    });
    const entries = (await log.json()) as { payload: { action: string; log_type: string } }[];
    expect(entries.map((e) => `${e.payload.log_type}/${e.payload.action}`)).toEqual([
      "account/logout",
      "token/token_refreshed",
      "account/login",
    ]);
  });

  it("F-wire-coerce: numbers and lists are accepted as text", async () => {
    const headers = { authorization: `Bearer ${server.serviceKey}` };
    const files = service.storage.from("product-images");
    for (const name of ["one.png", "two.png"])
      expect((await files.upload(name, png(4, 4), { contentType: "image/png" })).error).toBeNull();
    const at = "/storage/v1/object";
    const one = await call("POST", `${at}/sign/product-images/one.png`, headers, {
      expiresIn: "60",
      transform: { width: "100" },
    });
    expect(one.body).toEqual({ signedURL: expect.stringMatching(/^\/render\/image\/sign\//) });
    const many = await call("POST", `${at}/sign/product-images`, headers, {
      expiresIn: "60",
      paths: "one.png",
    });
    expect(many.body).toMatchObject([{ path: "one.png", error: null }]);
    const list = await call("POST", `${at}/list/product-images`, headers, {
      limit: "1",
      offset: "1",
      prefix: "",
    });
    expect(list.body).toMatchObject([{ name: "two.png" }]);
    const bucket = await call("POST", "/storage/v1/bucket", headers, {
      name: "loose",
      public: "true",
      allowed_mime_types: "image/png",
    });
    expect(bucket.status).toBe(200);
    expect((await service.storage.getBucket("loose")).data).toMatchObject({
      public: true,
      allowed_mime_types: ["image/png"],
    });
    const removed = await call("DELETE", `${at}/product-images`, headers, { prefixes: "one.png" });
    expect(removed.body).toMatchObject([{ name: "one.png" }]);
    const refused = await call("POST", `${at}/sign/product-images/two.png`, headers, {
      expiresIn: "soon",
    });
    expect([refused.status, refused.body.statusCode]).toEqual([400, "400"]);
  });

  it("F-wire-info: an object without metadata can be described", async () => {
    const { data } = await service.storage.from("product-images").info("two.png");
    expect(data!.metadata).toEqual({});
  });

  it("F-sign-put: a signed upload can be retried after a lost response, or the error says why not", async () => {
    const files = service.storage.from("product-images");
    const put = (upload: { path: string; token: string }) =>
      asAnon(server)
        .storage.from("product-images")
        .uploadToSignedUrl(upload.path, upload.token, png(5, 5), { contentType: "image/png" });
    const again = (await files.createSignedUploadUrl("again.png", { upsert: true })).data!;
    for (let i = 0; i < 3; i++) expect((await put(again)).error).toBeNull();
    const once = (await files.createSignedUploadUrl("once.png")).data!;
    expect((await put(once)).error).toBeNull();
    expect((await put(once)).error).toMatchObject({
      statusCode: "409",
      message: "The resource already exists",
    });
  });

  it("F-tus-told: the metadata of a resumable upload is returned as it was sent, with the upload's expiry", async () => {
    const base64 = (text: string) => Buffer.from(text).toString("base64");
    const metadata = `objectName ${base64("told.png")},own,bucketName ${base64("product-images")},metadata ${base64('{"b":1,"a":2}')},contentType ${base64("image/png")}`;
    const headers = { authorization: `Bearer ${server.serviceKey}`, "tus-resumable": "1.0.0" };
    const address = `${server.url}/storage/v1/upload/resumable`;
    const options = await fetch(address, { method: "OPTIONS" });
    expect(options.headers.get("tus-extension")!.split(",")).toContain("expiration");
    const made = await fetch(address, {
      method: "POST",
      headers: { ...headers, "upload-length": "1000", "upload-metadata": metadata },
    });
    expect(made.status).toBe(201);
    const ends = made.headers.get("upload-expires");
    expect(Date.parse(ends!)).toBeGreaterThan(Date.now());
    const head = await fetch(made.headers.get("location")!, { method: "HEAD", headers });
    expect(head.headers.get("upload-metadata")).toBe(metadata);
    expect(Date.parse(head.headers.get("upload-expires")!)).toBeGreaterThan(Date.now());
  });
});
