// The quarantine, and notices of new messages, including a crash of the program before a notice is sent.
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { SupabaseClient } from "@supabase/supabase-js";
import { afterAll, describe, expect, it } from "vitest";

import { asAnon, asOwner, asService, ownerEmail } from "../harness/clients.ts";
import { startMailServer } from "../harness/mail-server.ts";
import { freshPostgres, stopPostgres } from "../harness/postgres.ts";
import { engines, startServer } from "../harness/server.ts";

const visitor = { name: "Inês", email: "ines@example.com", message: "Bom dia! Temos uma parede." };

afterAll(stopPostgres);

async function submit(client: SupabaseClient, reason = ""): Promise<void> {
  const { error } = await client.functions.invoke("submit-contact", {
    body: { ...visitor, reason },
  });
  expect(error).toBeNull();
}

type Notice = { message_id: string; channel: string; recipient: string; state: string };

async function notices(client: SupabaseClient, id: string): Promise<Notice[]> {
  const { data, error } = await client.functions.invoke<{ items: Notice[] }>("contact-notices", {
    body: { ids: [id] },
  });
  expect(error).toBeNull();
  return data!.items;
}

describe.each(engines)("messages on %s", (engine) => {
  it("AM-quarantine-2 FN-admin-who: only administrators list the quarantine and restore messages from it", async () => {
    const server = await startServer(engine);
    try {
      const owner = await asOwner(server);
      await submit(asAnon(server), "http://watches");
      const refused = await asAnon(server).functions.invoke("contact-quarantine");
      expect(refused.error?.context.status).toBe(403);
      const { data, error } = await owner.functions.invoke("contact-quarantine");
      expect(error).toBeNull();
      expect(data).toMatchObject({ success: true, total: 1 });
      expect(data.items[0]).toMatchObject({ ...visitor, filled: "http://watches" });
      const life = Date.parse(data.items[0].expires_at) - Date.parse(data.items[0].created_at);
      expect(life).toBe(30 * 24 * 3600 * 1000);

      const received = new Promise((done) => {
        const channel = owner
          .channel("restored")
          .on(
            "postgres_changes",
            { event: "INSERT", schema: "public", table: "contact_submissions" },
            ({ new: row }) => done(row),
          )
          .on("system", {}, ({ status }) => {
            if (status !== "ok") return;
            void owner.functions
              .invoke("contact-quarantine", {
                body: { action: "restore", id: data.items[0].id },
              })
              .then((response) => expect(response.error).toBeNull());
          });
        channel.subscribe();
      });
      expect(await received).toMatchObject({ ...visitor, reason: "general", status: "new" });
      await owner.removeAllChannels();
      const again = await owner.functions.invoke("contact-quarantine", {
        body: { action: "restore", id: data.items[0].id },
      });
      expect(again.error?.context.status).toBe(404);
      expect((await owner.from("contact_submissions").select("id")).data).toEqual([
        { id: data.items[0].id },
      ]);
      expect(await notices(owner, data.items[0].id)).toEqual([]);
    } finally {
      await server.stop();
    }
  });

  it(
    "AM-notice-1: the owner is notified of a message although the program was killed before it could send the mail",
    { timeout: 300_000 },
    async () => {
      const dataDir = await mkdtemp(join(tmpdir(), "atelie-killed-"));
      const env: Record<string, string> = { ATELIE_DATA_DIR: dataDir };
      if (engine === "postgres") env.ATELIE_DATABASE_URL = await freshPostgres();
      // No mail server responds at this address: mails stay queued.
      const first = await startServer(engine, {
        env: {
          ...env,
          ATELIE_SMTP_URL: "smtp://127.0.0.1:1?tls=none",
          ATELIE_MAIL_FROM: "ola@atelie.example",
        },
      });
      await first.command(
        ["owner", "add", ownerEmail, "--password-stdin"],
        "a wall of whitewash\n",
      );
      await submit(asAnon(first));
      // Killed between two attempts: after a kill during an attempt, the next one waits two minutes for the lease.
      await expect.poll(() => first.log(), { timeout: 45_000 }).toContain("another try follows");
      const before = await asService(first).from("contact_submissions").select("id").single();
      expect(before.error).toBeNull();
      process.kill(first.pid, "SIGKILL");

      const mailServer = await startMailServer();
      const second = await startServer(engine, { env: { ...env, ...mailServer.env } });
      try {
        const { data } = await asService(second).from("contact_submissions").select("id").single();
        const states = (await notices(asService(second), data!.id)).map(({ state }) => state);
        expect(states).toHaveLength(1);
        expect(["waiting", "retrying", "sent"]).toContain(states[0]); // its attempt begins when the program starts
        const mail = await mailServer.next(ownerEmail, 150_000);
        expect(mail.subject).toContain("message from Inês");
        expect(mail.headers["Reply-To"]?.[0]).toContain("<ines@example.com>");
        expect(mail.text).toContain(`/admin/contact-messages?message=${data!.id}`);
        await expect
          .poll(() => notices(asService(second), data!.id))
          .toMatchObject([{ channel: "mail", recipient: ownerEmail, state: "sent" }]);
        expect(mailServer.all()).toHaveLength(1);
        expect(await notices(asService(second), randomUUID())).toEqual([]);
      } finally {
        await second.stop();
        await mailServer.stop();
        await rm(dataDir, { recursive: true, force: true });
      }
    },
  );
});
