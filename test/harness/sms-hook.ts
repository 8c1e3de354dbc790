// Receives text messages as a signed webhook does (Standard Webhooks 1.0); what is not signed with its key is refused.
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Text = {
  user: { id: string };
  sms: { otp: string; phone: string; sms_type: string };
};

export type SMSHook = {
  /** What the server under test needs to use it. */
  env: Record<string, string>;
  /** The next message to this number that no earlier call has got; waits for it up to 15 s. */
  next: (phone: string) => Promise<Text>;
  /** Calls that were not signed as they should be. */
  refused: () => number;
  stop: () => Promise<void>;
};

export async function startSMSHook(): Promise<SMSHook> {
  const key = randomBytes(32);
  const texts: Text[] = [];
  const waiting = new Set<() => void>();
  let refused = 0;
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await read(request);
    if (!signed(request, body, key)) {
      refused++;
      response.writeHead(401).end();
      return;
    }
    texts.push(JSON.parse(body));
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
    for (const look of waiting) look();
  };
  const server = createServer((request, response) => {
    take(request, response).catch((error: Error) => response.destroy(error));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return {
    env: {
      ATELIE_SMS_HOOK_URL: `http://127.0.0.1:${port}/sms`,
      ATELIE_SMS_HOOK_SECRET: `v1,whsec_${key.toString("base64")}`,
    },
    next: (phone) =>
      new Promise((done, fail) => {
        const timer = setTimeout(() => {
          waiting.delete(look);
          fail(new Error(`no message to ${phone}`));
        }, 15_000);
        const look = () => {
          const at = texts.findIndex((text) => text.sms.phone === phone);
          if (at < 0) return;
          waiting.delete(look);
          clearTimeout(timer);
          done(texts.splice(at, 1)[0]!);
        };
        waiting.add(look);
        look();
      }),
    refused: () => refused,
    stop: () => new Promise((done) => server.close(() => done())),
  };
}

async function read(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

function signed(request: IncomingMessage, body: string, key: Buffer): boolean {
  const [id, sent, signature] = ["id", "timestamp", "signature"].map((name) =>
    String(request.headers[`webhook-${name}`]),
  ) as [string, string, string];
  const want = `v1,${createHmac("sha256", key).update(`${id}.${sent}.${body}`).digest("base64")}`;
  const got = Buffer.from(signature);
  return got.length === want.length && timingSafeEqual(got, Buffer.from(want));
}
