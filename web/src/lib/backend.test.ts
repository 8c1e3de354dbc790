import { beforeEach, describe, expect, it } from "vitest";
import { hasStoredSession, ownerBackend, publicBackend, sessionStorageKey } from "@/lib/backend";
import { answerRequests } from "@/test/answer-requests";
import { testBoot } from "@/test/render";

beforeEach(() => localStorage.clear());

describe("backend", () => {
  it("makes one client of each kind per page", async () => {
    expect(publicBackend(testBoot)).toBe(publicBackend(testBoot));
    expect(publicBackend(testBoot)).not.toBe(publicBackend({ ...testBoot }));
    expect(await ownerBackend(testBoot)).toBe(await ownerBackend(testBoot));
  });

  it("S4-session-1: reads the session under the key of supabase-js", async () => {
    for (const apiUrl of ["https://alvor.example", "http://127.0.0.1:8000"]) {
      const boot = { ...testBoot, apiUrl };
      const client = await ownerBackend(boot);
      expect((client.auth as unknown as { storageKey: string }).storageKey).toBe(
        sessionStorageKey(boot),
      );
    }
  });

  it("S9-client-4: the live connection has a heartbeat of 30 s and a timeout of 10 s", async () => {
    const { realtime } = await ownerBackend(testBoot);
    expect(realtime.heartbeatIntervalMs).toBe(30_000);
    expect(realtime.timeout).toBe(10_000);
  });

  it("detects a stored session", () => {
    expect(hasStoredSession(testBoot)).toBe(false);
    localStorage.setItem("sb-backend-auth-token", "{}");
    expect(hasStoredSession(testBoot)).toBe(true);
  });
});

describe("public backend", () => {
  it("sends the same request for rows as supabase-js, with the public key", async () => {
    const requests = answerRequests(() => ({ json: [{ id: "c1" }] }));
    const { read } = publicBackend(testBoot);
    const active = { select: "*", is_active: "eq.true", order: "display_order.asc" };
    expect(await read("cover_images", active)).toEqual([{ id: "c1" }]);
    const { data } = await (
      await ownerBackend(testBoot)
    )
      .from("cover_images")
      .select("*")
      .eq("is_active", true)
      .order("display_order", { ascending: true });
    expect(data).toEqual([{ id: "c1" }]);
    const [own, official] = requests.map(({ method, path, query, headers }) => ({
      method,
      path,
      query: [...query],
      key: headers.get("apikey"),
      bearer: headers.get("authorization"),
    }));
    expect(own).toEqual(official);
    expect(own).toMatchObject({ method: "GET", path: "/rest/v1/cover_images", key: "public-key" });
  });

  it("sends the same request to a function as supabase-js", async () => {
    const requests = answerRequests(() => ({ json: { success: true } }));
    const sent = { name: "Ana", reason: "" };
    expect(await publicBackend(testBoot).invoke("submit-contact", sent)).toEqual({ success: true });
    const owner = await ownerBackend(testBoot);
    expect((await owner.functions.invoke("submit-contact", { body: sent })).data).toEqual({
      success: true,
    });
    const [own, official] = requests.map(({ method, path, body, headers }) => ({
      method,
      path,
      body,
      type: headers.get("content-type"),
      key: headers.get("apikey"),
      bearer: headers.get("authorization"),
    }));
    expect(own).toEqual(official);
    expect(own).toMatchObject({ method: "POST", path: "/functions/v1/submit-contact", body: sent });
  });

  it("rejects with the server's message, or with the status if there is none", async () => {
    answerRequests(({ method }) =>
      method === "GET"
        ? { status: 400, json: { code: "PGRST100", message: "bad query" } }
        : { status: 429, json: { success: false, error: "Too many" } },
    );
    const backend = publicBackend(testBoot);
    await expect(backend.read("reviews", { select: "*" })).rejects.toThrow("bad query");
    await expect(backend.invoke("submit-contact", {})).rejects.toThrow("answered 429");
  });
});
