// Receives text messages as a sender behind the signed webhook would, and checks each signature.
import { createHmac, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export type Text = { otp: string; phone: string; sms_type: string };

export type Texts = {
  /** What the server under test needs to use it. */
  env: Record<string, string>;
  /** The next message to this number that no earlier call has got; waits for it up to 15 s. */
  next: (phone: string) => Promise<Text>;
  stop: () => Promise<void>;
};

export async function startTexts(): Promise<Texts> {
  const key = randomBytes(32);
  const waiting: Text[] = [];
  const wanted: { phone: string; done: (text: Text) => void }[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      const { "webhook-id": id, "webhook-timestamp": at } = request.headers;
      const signature = createHmac("sha256", key)
        .update(`${String(id)}.${String(at)}.${body}`)
        .digest("base64");
      const good = request.headers["webhook-signature"] === `v1,${signature}`;
      response.writeHead(good ? 200 : 401, { "Content-Type": "application/json" }).end("{}");
      if (!good) return;
      const text = (JSON.parse(body) as { sms: Text }).sms;
      const first = wanted.findIndex((w) => w.phone === text.phone);
      if (first < 0) waiting.push(text);
      else wanted.splice(first, 1)[0]!.done(text);
    });
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
        const here = waiting.findIndex((text) => text.phone === phone);
        if (here >= 0) return done(waiting.splice(here, 1)[0]!);
        const timer = setTimeout(() => fail(new Error(`no text message to ${phone}`)), 15_000);
        wanted.push({
          phone,
          done: (text) => {
            clearTimeout(timer);
            done(text);
          },
        });
      }),
    stop: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}
