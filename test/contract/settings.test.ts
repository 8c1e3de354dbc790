// The site's settings through supabase-js, on both databases: only administrators read and save them; every
// page contains the public part.
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { asAnon, asOwner, asService } from "../harness/clients.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { engines, type Server, startServer } from "../harness/server.ts";

afterAll(stopPostgres);

type SettingsResponse = {
  version: string;
  seed: string[];
  guide: string;
  settings: {
    site: { name: string; email?: string; texts: { pt: Record<string, string> } };
    noticeEmail: string[];
    noticeWebhook: string;
    noticeLanguage: string;
    thanksEnabled: boolean;
  };
};

describe.each(engines)("the site's settings on %s", (engine) => {
  let server: Server;
  beforeAll(async () => {
    server = await startServer(engine);
  });
  afterAll(() => server.stop());

  it("A-set-all A-guide-seed: the owner reads and saves the settings, and the next load of a page shows them", async () => {
    const owner = await asOwner(server);
    const { data: before } = await owner.rpc("get_site_settings");
    const { version, settings, seed, guide } = before as SettingsResponse;
    expect([guide, seed.includes("site.name")]).toEqual(["", true]);
    expect(settings.site.name).toBe("Ateliê");
    const change = {
      site: { name: "Alvor", texts: { pt: { "about.title": "Pinto paredes" } } },
      noticeEmail: ["owner@alvor.example"],
      noticeWebhook: "https://hooks.example/secret",
      noticeLanguage: "pt",
      thanksEnabled: true,
    };
    const saved = await owner.rpc("save_site_settings", { version, settings: change });
    expect(saved.error).toBeNull();
    expect((saved.data as SettingsResponse).settings).toMatchObject(change);
    const { data: after } = await owner.rpc("get_site_settings", undefined, { get: true });
    expect(after).toEqual(saved.data);
    const own = (after as SettingsResponse).seed;
    expect([own.includes("site.name"), own.includes("site.texts.en.about.title")]).toEqual([
      false,
      true,
    ]);
    const ended = await owner.rpc("save_site_settings", { guide: "done" });
    expect(ended.data).toEqual({ ...(after as SettingsResponse), guide: "done" });

    const page = await (await fetch(server.url)).text();
    expect(page).toContain("<title>Alvor</title>");
    expect(page).toContain("Pinto paredes");
    for (const secret of ["owner@alvor.example", "hooks.example", "notice", "thanks", "guide"])
      expect(page).not.toContain(secret);

    const stale = await owner.rpc("save_site_settings", { version, settings: change });
    expect([stale.status, stale.error?.code]).toEqual([409, "PT409"]);
    const bad = await owner.rpc("save_site_settings", {
      version: (saved.data as SettingsResponse).version,
      settings: { site: { email: "nobody" } },
    });
    expect([bad.status, bad.error?.code, bad.error?.details]).toEqual([400, "22023", "site.email"]);
  });

  it("A-set-secret A-guide-state: nobody else can read the settings, and they are not a table", async () => {
    const anon = asAnon(server);
    const user = asAnon(server);
    const service = asService(server);
    const account = { email: "visitor@example.com", password: "a wall of whitewash" };
    await service.auth.admin.createUser({ ...account, email_confirm: true });
    expect((await user.auth.signInWithPassword(account)).error).toBeNull();
    for (const [client, status] of [
      [anon, 401],
      [user, 403],
    ] as const) {
      for (const call of [
        client.rpc("get_site_settings"),
        client.rpc("save_site_settings", { version: "", settings: {} }),
        client.rpc("save_site_settings", { guide: "done" }),
      ]) {
        const response = await call;
        expect([response.status, response.error?.code]).toEqual([status, "42501"]);
      }
      expect((await client.from("site_settings").select()).error?.code).toBe("PGRST205");
    }
    expect((await service.rpc("get_site_settings")).error).toBeNull();
  });
});
