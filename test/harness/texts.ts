// Receives the text messages that Ateliê sends to its signed SMS webhook, and checks each signature.
import { createHmac, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

type Text = { otp: string; phone: string; sms_type: string };

export type Texts = {
  /** Environment variables by which Ateliê sends its text messages here. */
  env: Record<string, string>;
  /** Returns the next message to this number that no earlier call has returned. Waits up to 45 s. */
  next: (phone: string) => Promise<Text>;
  stop: () => Promise<void>;
};

/** Starts the receiver of the webhook. */
export async function startTexts(): Promise<Texts> {
  const key = randomBytes(32);
  const received: Text[] = [];
  // Calls of `next` that wait for a message.
  const waiters: { phone: string; done: (text: Text) => void }[] = [];
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
      const first = waiters.findIndex((w) => w.phone === text.phone);
      if (first < 0) received.push(text);
      else waiters.splice(first, 1)[0]!.done(text);
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
        const index = received.findIndex((text) => text.phone === phone);
        if (index >= 0) return done(received.splice(index, 1)[0]!);
        const waiter = {
          phone,
          done: (text: Text) => {
            clearTimeout(timer);
            done(text);
          },
        };
        const timer = setTimeout(() => {
          waiters.splice(waiters.indexOf(waiter), 1);
          fail(new Error(`no text message to ${phone}`));
        }, 45_000);
        waiters.push(waiter);
      }),
    stop: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}
