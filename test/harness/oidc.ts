// Runs a real OpenID Connect provider (the certified npm package oidc-provider) on a free port, and a simple browser that signs
// in on the provider's pages.
import {
  createHash,
  createHmac,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
  sign,
} from "node:crypto";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

import Provider from "oidc-provider";

/** The accounts at the provider: the claims of each account by its name. */
export type Accounts = Record<string, { email?: string; email_verified?: boolean; name?: string }>;

const clientId = "atelie";
const clientSecret = "the-secret-of-atelie-at-the-provider";

export type OIDC = {
  issuer: string;
  /** The environment variables with which Ateliê offers this provider. "house" is only its name in Ateliê. */
  env: Record<string, string>;
  /** Starts to respond. `serverUrl` is the URL of Ateliê, to which the provider redirects. */
  serve: (serverUrl: string) => void;
  /** Returns an ID token signed with the provider's key. */
  idToken: (claims: Record<string, unknown>) => string;
  /** Returns an ID token that Ateliê must reject: without a signature, signed with the client secret (HS256), or with another key. */
  forged: (how: "none" | "secret" | "other key", claims: Record<string, unknown>) => string;
  /** The PKCE code verifiers (RFC 7636) of the requests to the token endpoint so far. */
  verifiers: string[];
  stop: () => Promise<void>;
};

/**
 * Starts a provider. It listens immediately, so that Ateliê can be started with the issuer's URL. Call `serve` before the
 * first sign-in.
 */
export async function startOIDC(accounts: Accounts): Promise<OIDC> {
  let listener: RequestListener = (_, response) => response.writeHead(503).end();
  const server = createServer((request, response) => listener(request, response));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const otherKey = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
  const verifiers: string[] = [];

  const withStandardClaims = (claims: Record<string, unknown>) => {
    const now = Math.floor(Date.now() / 1000);
    return { iss: issuer, aud: clientId, iat: now, exp: now + 300, ...claims };
  };
  return {
    issuer,
    env: {
      ATELIE_OIDC_HOUSE_ISSUER: issuer,
      ATELIE_OIDC_HOUSE_CLIENT_ID: clientId,
      ATELIE_OIDC_HOUSE_CLIENT_SECRET: clientSecret,
    },
    serve: (serverUrl) => {
      const provider = new Provider(issuer, configuration(serverUrl, accounts, privateKey));
      listener = recordVerifiers(provider.callback(), verifiers);
    },
    idToken: (claims) => rs256(privateKey, withStandardClaims(claims)),
    forged: (how, claims) => {
      if (how === "other key") return rs256(otherKey, withStandardClaims(claims));
      if (how === "none") return jwt({ alg: "none" }, withStandardClaims(claims), () => "");
      return jwt({ alg: "HS256", kid: "the-key" }, withStandardClaims(claims), (text) =>
        createHmac("sha256", clientSecret).update(text).digest("base64url"),
      );
    },
    verifiers,
    stop: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

function configuration(
  serverUrl: string,
  accounts: Accounts,
  key: KeyObject,
): Record<string, unknown> {
  return {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [`${serverUrl}/auth/v1/callback`],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
      },
    ],
    jwks: {
      keys: [{ ...key.export({ format: "jwk" }), kid: "the-key", use: "sig", alg: "RS256" }],
    },
    cookies: { keys: [randomUUID()] },
    pkce: { required: () => true },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    issueRefreshToken: () => true,
    ttl: Object.fromEntries(
      [
        "AccessToken",
        "AuthorizationCode",
        "Grant",
        "IdToken",
        "Interaction",
        "RefreshToken",
        "Session",
      ].map(
        (kind) => [kind, 600], // seconds
      ),
    ),
    findAccount: (_: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, ...accounts[id] }),
    }),
  };
}

function recordVerifiers(next: RequestListener, verifiers: string[]): RequestListener {
  return (request, response) => {
    if (request.method === "POST" && request.url === "/token") {
      let body = "";
      request.on("data", (chunk: Buffer) => {
        body += chunk.toString();
        const verifier = new URLSearchParams(body).get("code_verifier");
        if (verifier) verifiers.push(verifier);
      });
    }
    next(request, response);
  };
}

function jwt(header: object, claims: object, signature: (text: string) => string): string {
  const text = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  return `${text}.${signature(text)}`;
}

const rs256 = (key: KeyObject, claims: object): string =>
  jwt({ alg: "RS256", kid: "the-key" }, claims, (text) =>
    sign("sha256", Buffer.from(text), key).toString("base64url"),
  );

/** Returns a nonce in the form that an ID token contains: its SHA-256 in hexadecimal. */
export const hashClaim = (nonce: string): string =>
  createHash("sha256").update(nonce).digest("hex");

/** A simple browser that stores cookies by host, follows redirects and fills in the provider's forms. */
export class Browser {
  private readonly cookies = new Map<string, Map<string, string>>();

  /** Sends one request, a POST if there is a form, and does not follow redirects. */
  async visit(url: string, form?: Record<string, string>): Promise<Response> {
    const host = new URL(url).host;
    const jar = this.cookies.get(host) ?? new Map<string, string>();
    this.cookies.set(host, jar);
    const init: RequestInit = {
      redirect: "manual",
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; ") },
    };
    if (form) Object.assign(init, { method: "POST", body: new URLSearchParams(form) });
    const response = await fetch(url, init);
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = "", ...attributes] = cookie.split(";");
      const name = pair.slice(0, pair.indexOf("="));
      const isExpired = attributes.some((a) =>
        /^\s*(max-age=(0|-\d+)|expires=thu, 01 jan 1970)/i.test(a),
      );
      if (isExpired) jar.delete(name);
      else jar.set(name, pair.slice(pair.indexOf("=") + 1));
    }
    return response;
  }

  /**
   * Opens the URL, signs in as `name` and consents or aborts on the provider's pages. It returns the URL of the first
   * redirect for which `until` returns true, without requesting it.
   */
  async signIn(
    url: string,
    name: string,
    until: (url: URL) => boolean,
    answer: "agree" | "abort" = "agree",
  ): Promise<URL> {
    let next: { url: string; form?: Record<string, string> } = { url };
    for (let step = 0; step < 20; step++) {
      const response = await this.visit(next.url, next.form);
      const location = response.headers.get("location");
      if (location) {
        const to = new URL(location, next.url);
        if (until(to)) return to;
        next = { url: to.href };
        continue;
      }
      const page = await response.text();
      const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1];
      const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1];
      if (!action || !prompt) throw new Error(`${response.status} at ${next.url}: ${page}`);
      if (prompt === "consent" && answer === "abort") {
        const abort = /href="([^"]+\/abort)"/.exec(page)?.[1];
        if (!abort) throw new Error(`no way out of ${page}`);
        next = { url: new URL(abort, next.url).href };
        continue;
      }
      next = {
        url: new URL(action, next.url).href,
        form: prompt === "login" ? { prompt, login: name, password: "any" } : { prompt },
      };
    }
    throw new Error(`no end of redirects from ${url}`);
  }
}
