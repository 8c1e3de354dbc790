// Runs a SAML identity provider with independent code (the npm package samlp) on a free port. It has its own key, and one account
// that is always signed in.
import { execFile } from "node:child_process";
import { createPublicKey, X509Certificate } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";

import samlp, { type Options, type Profile, type Request } from "samlp";

/** The account of the provider. */
export const person: Profile = {
  id: "person-1",
  emails: [{ value: "Ana@corp.example" }],
  displayName: "Ana Silva",
  name: { givenName: "Ana", familyName: "Silva" },
};

/** The form with which the provider's page sends its response to Ateliê. */
export type Form = { action: string; SAMLResponse: string; RelayState: string };

export type IdentityProvider = {
  metadataURL: string;
  entityID: string;
  set: (change: Partial<Options>) => void; // changes later responses; an empty object restores the defaults
  visit: (url: string) => Promise<Form>; // opens a URL to which Ateliê has redirected
  unsolicited: () => Promise<Form>; // starts a sign-in at the provider
  stop: () => Promise<void>;
};

/** Starts a provider for the Ateliê server at base, whose metadata it reads. */
export async function startIdentityProvider(base: string): Promise<IdentityProvider> {
  // Ateliê's metadata name its entity id (the audience of responses), the URL to which responses are posted (acs, assertion
  // consumer service), and its certificate.
  const ours = await (await fetch(`${base}/auth/v1/sso/saml/metadata`)).text();
  const audience = /entityID="([^"]+)"/.exec(ours)![1]!;
  const acs = /<AssertionConsumerService [^>]*Location="([^"]+)"/.exec(ours)![1]!;
  const der = /<X509Certificate[^>]*>([^<]+)</.exec(ours)![1]!;
  const certificate = new X509Certificate(Buffer.from(der, "base64")).toString();
  const encryption: Pick<Options, "encryptionCert" | "encryptionPublicKey"> = {
    encryptionCert: certificate,
    encryptionPublicKey: createPublicKey(certificate).export({ type: "spki", format: "pem" }),
  };

  const { key, cert } = await makeKey();
  const entityID = "urn:corp:idp";
  const plain: Options = {
    issuer: entityID,
    cert,
    key,
    destination: acs,
    recipient: acs,
    nameIdentifierFormat: "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
    sessionIndex: "_session-1",
    signingCert: certificate, // the provider rejects requests that Ateliê has not signed
    getPostURL: (_audience, _request, _req, done) => done(null, acs),
    getUserFromRequest: () => person,
  };
  let change: Partial<Options> = {};
  const options = (): Options => ({
    ...plain,
    ...(change.encryptionAlgorithm ? encryption : {}),
    ...change,
  });

  const server = createServer((incoming, answer) => {
    const url = new URL(incoming.url!, "http://idp");
    const req: Request = Object.assign(incoming, {
      query: Object.fromEntries(url.searchParams),
      originalUrl: incoming.url!,
      protocol: "http",
    });
    const res = {
      set: (name: string, value: string) => void answer.setHeader(name, value),
      send: (body: string | number) => {
        if (typeof body === "number") answer.writeHead(body).end();
        else answer.end(body);
      },
    };
    const fail = (error?: Error) => void answer.writeHead(500).end(String(error));
    if (url.pathname === "/metadata")
      samlp.metadata({ issuer: entityID, cert, redirectEndpointPath: "/sso" })(req, res, fail);
    else samlp.auth(options())(req, res, fail);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;

  return {
    metadataURL: `http://127.0.0.1:${port}/metadata`,
    entityID,
    set: (next) => (change = next),
    visit: async (url) => {
      const answer = await fetch(url);
      const page = await answer.text();
      if (!answer.ok) throw new Error(`the identity provider refuses: ${page}`);
      return readForm(page);
    },
    unsolicited: () =>
      new Promise((done, fail) => {
        samlp.getSamlResponse({ ...options(), audience }, person, (error, response) => {
          if (error) fail(error);
          else
            done({
              action: acs,
              SAMLResponse: Buffer.from(response).toString("base64"),
              RelayState: "",
            });
        });
      }),
    stop: () =>
      new Promise((done, fail) => {
        server.closeAllConnections();
        server.close((error) => (error ? fail(error) : done()));
      }),
  };
}

/** Posts the form as a browser does, and returns the URL to which Ateliê redirects. */
export async function submit(form: Form): Promise<URL> {
  const answer = await fetch(form.action, {
    method: "POST",
    body: new URLSearchParams({ SAMLResponse: form.SAMLResponse, RelayState: form.RelayState }),
    redirect: "manual",
  });
  if (answer.status !== 303) throw new Error(`${answer.status}: ${await answer.text()}`);
  return new URL(answer.headers.get("location")!);
}

function readForm(page: string): Form {
  const attribute = (tag: string, name: string) =>
    unescape(new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? "");
  const field = (name: string) =>
    attribute(new RegExp(`<input [^>]*name="${name}"[^>]*>`).exec(page)?.[0] ?? "", "value");
  const form = {
    action: attribute(/<form [^>]*>/.exec(page)?.[0] ?? "", "action"),
    SAMLResponse: field("SAMLResponse"),
    RelayState: field("RelayState"),
  };
  if (!form.action || !form.SAMLResponse) throw new Error(`the page has no form: ${page}`);
  return form;
}

const unescape = (text: string) =>
  text.replace(/&#(x?)([0-9a-fA-F]+);/g, (_, hex, digits) =>
    String.fromCodePoint(parseInt(digits, hex ? 16 : 10)),
  );

// Uses openssl, because Node cannot make certificates.
async function makeKey(): Promise<{ key: string; cert: string }> {
  const { stdout } = await promisify(execFile)("openssl", [
    ..."req -x509 -newkey rsa:2048 -nodes -sha256 -days 30 -subj /CN=idp".split(" "),
    ..."-keyout - -out -".split(" "),
  ]);
  const part = (name: string) =>
    new RegExp(`-----BEGIN ${name}-----[^-]+-----END ${name}-----`).exec(stdout)![0];
  return { key: part("PRIVATE KEY"), cert: part("CERTIFICATE") };
}
