// Exports of all messages and of everything about an email address, with supabase-js and each role.
import type { SupabaseClient } from "@supabase/supabase-js";
import { afterAll, describe, expect, it } from "vitest";

import { asAnon, asOwner, asService } from "../harness/clients.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { engines, startServer } from "../harness/server.ts";

const visitor = {
  name: "=Inês",
  email: "ines@example.com",
  message: "Temos uma parede.",
  reason: "",
};

afterAll(stopPostgres);

const call = (client: SupabaseClient, name: string, body: object) =>
  client.functions.invoke(name, { body });

describe.each(engines)("exports and erasing on %s", (engine) => {
  it("AM-export-1 AM-export-2 FN-admin-who FN-export-file FN-address-find FN-address-role: only administrators export and erase; the address of an owner cannot be erased", async () => {
    const server = await startServer(engine);
    try {
      const owner = await asOwner(server);
      const service = asService(server);
      const anon = asAnon(server);
      const account = { email: "rui@example.com", password: "a wall of whitewash" };
      const made = await service.auth.admin.createUser({ ...account, email_confirm: true });
      expect(made.error).toBeNull();
      const user = asAnon(server);
      expect((await user.auth.signInWithPassword(account)).error).toBeNull();
      for (const email of [visitor.email, account.email])
        expect((await call(anon, "submit-contact", { ...visitor, email })).error).toBeNull();

      for (const client of [anon, user])
        for (const [name, body] of [
          ["contact-export", { format: "csv" }],
          ["address-data", { address: visitor.email }],
          ["address-data", { action: "export", address: account.email }],
          ["address-data", { action: "erase", address: account.email }],
        ] as const)
          expect((await call(client, name, body)).error?.context.status).toBe(403);

      for (const client of [owner, service]) {
        const csv = await call(client, "contact-export", { format: "csv" });
        expect(csv.data).toBeInstanceOf(Blob);
        const bytes = new Uint8Array(await (csv.data as Blob).arrayBuffer());
        expect([...bytes.subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
        expect(await (csv.data as Blob).text()).toContain(",'=Inês,ines@example.com,");
        const json = await call(client, "contact-export", { format: "json" });
        const all = JSON.parse(await (json.data as Blob).text()) as { name: string }[];
        expect(all.map(({ name }) => name)).toEqual(["=Inês", "=Inês"]);
      }

      const found = await call(owner, "address-data", { address: account.email });
      const counts = Object.fromEntries(
        found.data.places.map(({ name, count }: { name: string; count: number }) => [name, count]),
      );
      expect(counts).toMatchObject({ messages: 1, quarantine: 0, accounts: 1, queued_mails: 0 });
      expect(counts.sign_ins).toBeGreaterThanOrEqual(2);
      const own = await call(owner, "address-data", { action: "export", address: account.email });
      const file = JSON.parse(await (own.data as Blob).text());
      expect(file).toMatchObject({
        address: account.email,
        messages: [{ name: "=Inês", message: visitor.message, status: "new" }],
        accounts: [{ id: made.data.user!.id, sessions: [{ aal: "aal1" }] }],
      });
      const erased = await call(owner, "address-data", { action: "erase", address: account.email });
      expect(erased.data.places.slice(0, 5)).toEqual(found.data.places.slice(0, 5));
      expect((await service.auth.admin.getUserById(made.data.user!.id)).error?.status).toBe(404);
      expect((await user.auth.getUser()).error).not.toBeNull();
      const remaining = await owner.from("contact_submissions").select("email");
      expect(remaining.data).toEqual([{ email: visitor.email }]);

      for (const client of [owner, service]) {
        const refused = await call(client, "address-data", {
          action: "erase",
          address: "OWNER@example.com",
        });
        expect(refused.error?.context.status).toBe(409);
        expect((await refused.error!.context.json()).error).toContain("an account with a role");
      }
      expect((await owner.auth.getUser()).error).toBeNull();
    } finally {
      await server.stop();
    }
  });
});
