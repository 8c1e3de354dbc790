// The site's own reads and writes of tables, with supabase-js and each role.
import { randomUUID } from "node:crypto";

import type { SupabaseClient } from "@supabase/supabase-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { asAnon, asOwner, asService } from "../harness/clients.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { engines, type Server, startServer } from "../harness/server.ts";

afterAll(stopPostgres);

const product = {
  title: "Telhados, manhã",
  description: 'Painted "wet", then left alone.',
  artwork_type: "watercolour",
  image_url: "/a.jpg",
  image_gallery: ["/b.jpg", '/c "quoted", {x}.jpg'],
  video_gallery: [],
  is_featured: true,
  in_stock: true,
  dimensions: "46 × 60 cm",
  medium: "Watercolour on cotton paper",
  creation_date: "2024-03-12",
  tags: ["roofs", "city"],
  is_customizable: false,
  seo_meta_title: null,
  seo_meta_desc: null,
  price: 0,
};

describe.each(engines)("tables on %s", (engine) => {
  let server: Server;
  let owner: SupabaseClient;
  let anon: SupabaseClient;
  let service: SupabaseClient;
  beforeAll(async () => {
    server = await startServer(engine);
    owner = await asOwner(server);
    anon = asAnon(server);
    service = asService(server);
  });
  afterAll(() => server.stop());

  it("a product is returned as it was saved", async () => {
    const created = await owner.from("products").insert(product).select().single();
    expect(created.error).toBeNull();
    expect(created.status).toBe(201);
    expect(created.data).toMatchObject(product);
    expect(created.data.id).toMatch(/^[0-9a-f-]{36}$/);
    expect(created.data.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?\+00:00$/);
    const read = await anon.from("products").select("*").eq("id", created.data.id).single();
    expect(read.data).toEqual(created.data);

    const updated = await owner
      .from("products")
      .update({ title: "Telhados", creation_date: null, tags: [] })
      .eq("id", created.data.id)
      .select()
      .single();
    expect(updated.data).toEqual({
      ...created.data,
      title: "Telhados",
      creation_date: null,
      tags: [],
    });

    const deleted = await owner.from("products").delete().eq("id", created.data.id);
    expect([deleted.error, deleted.status]).toEqual([null, 204]);
    expect((await anon.from("products").select("id").eq("id", created.data.id)).data).toEqual([]);
  });

  it("A-prod-7: missing fields of a product get their defaults, and the price is saved as 0", async () => {
    const { data } = await owner
      .from("products")
      .insert({ title: "Romãs", price: 0 })
      .select()
      .single();
    expect(data).toMatchObject({
      in_stock: true,
      is_featured: false,
      is_customizable: false,
      tags: [],
      image_gallery: [],
      price: 0,
      artwork_type: null,
    });
    await owner.from("products").delete().eq("id", data!.id);
  });

  describe("the site's reads", () => {
    const works = ["digital", "mural", "watercolour", "oil", "acrylic", "mural"].map(
      (artwork_type, i) => ({
        id: randomUUID(),
        title: `Work ${i}`,
        artwork_type,
        is_featured: i % 2 === 0,
        created_at: `2026-01-0${i + 1}T00:00:00+00:00`,
      }),
    );
    beforeAll(async () => {
      expect((await service.from("products").insert(works)).error).toBeNull();
      const reviews = [3, 1, 2].map((n) => ({
        client_name: `Client ${n}`,
        message: "Good work indeed.",
        is_active: n !== 2,
        display_order: n,
      }));
      expect((await owner.from("reviews").insert(reviews)).error).toBeNull();
      const covers = [2, 1].map((n) => ({
        image_url: `/cover-${n}.jpg`,
        media_type: "image",
        title: `Cover ${n}`,
        is_active: n === 1,
        display_order: n,
      }));
      expect((await owner.from("cover_images").insert(covers)).error).toBeNull();
    });

    it("S9-art-1: the gallery lists works newest first, without oil and acrylic", async () => {
      const { data } = await anon
        .from("products")
        .select("*")
        .not("artwork_type", "in", "(oil,acrylic)")
        .order("created_at", { ascending: false });
      expect(data!.map((p) => p.title)).toEqual(["Work 5", "Work 2", "Work 1", "Work 0"]);
      const murals = await anon
        .from("products")
        .select("*")
        .eq("artwork_type", "mural")
        .order("created_at", { ascending: false });
      expect(murals.data!.map((p) => p.title)).toEqual(["Work 5", "Work 1"]);
    });

    it("the home page's strip lists the featured works", async () => {
      const { data } = await anon
        .from("products")
        .select("*")
        .eq("is_featured", true)
        .order("created_at", { ascending: false });
      expect(data!.map((p) => p.title)).toEqual(["Work 4", "Work 2", "Work 0"]);
    });

    it("S4-active-1 T-filter-hidden: visitors read only active reviews and covers, the owner all", async () => {
      expect(
        (await anon.from("reviews").select("*").order("display_order")).data!.map(
          (r) => r.client_name,
        ),
      ).toEqual(["Client 1", "Client 3"]);
      expect(
        (
          await anon.from("cover_images").select("*").eq("is_active", true).order("display_order")
        ).data!.map((c) => c.title),
      ).toEqual(["Cover 1"]);
      expect(
        (
          await owner
            .from("reviews")
            .select("*")
            .order("display_order")
            .order("created_at", { ascending: false })
        ).data,
      ).toHaveLength(3);
      expect(
        (await owner.from("cover_images").select("*").order("display_order")).data,
      ).toHaveLength(2);
    });

    it("T-filter-hidden T-head: rows are counted", async () => {
      const { count, data } = await owner
        .from("products")
        .select("*", { count: "exact", head: true });
      expect([count, data]).toEqual([6, null]);
      expect(
        (await anon.from("contact_submissions").select("*", { count: "exact", head: true })).count,
      ).toBe(0);
      const page = await anon.from("products").select("id", { count: "exact" }).range(1, 2);
      expect([page.count, page.data!.length, page.status]).toEqual([6, 2, 206]);
    });

    it("T-rpc-writes: reviews are reordered all at once or not at all", async () => {
      const { data } = await owner.from("reviews").select("id, client_name").order("display_order");
      const ids = data!.map((r) => r.id).reverse();
      expect((await owner.rpc("reorder_reviews", { ids })).error).toBeNull();
      const moved = await owner.from("reviews").select("id, display_order").order("display_order");
      expect(moved.data).toEqual(ids.map((id, i) => ({ id, display_order: i + 1 })));
      const failed = await owner.rpc("reorder_reviews", { ids: [ids[1], randomUUID()] });
      expect(failed.status).toBe(400);
      expect(
        (await owner.from("reviews").select("id, display_order").order("display_order")).data,
      ).toEqual(moved.data);
    });

    it("a new review is added at the end", async () => {
      const { data } = await owner
        .from("reviews")
        .insert({
          client_name: "New",
          location: null,
          message: "Words.",
          image_url: null,
          is_active: true,
        })
        .select()
        .single();
      expect(data).toMatchObject({ display_order: 4, is_active: true });
    });
  });

  it("T-write-policy: forbidden writes are rejected", async () => {
    const written = await anon.from("products").insert({ title: "Mine now" });
    expect([written.status, written.error?.code]).toEqual([401, "42501"]);
    const removed = await anon.from("contact_submissions").delete().neq("id", randomUUID());
    expect([removed.status, removed.error?.code]).toEqual([401, "42501"]);
    const role = await owner.from("user_roles").insert({ user_id: randomUUID(), role: "admin" });
    expect([role.status, role.error?.code]).toEqual([403, "42501"]);
    const wording = await owner
      .from("contact_submissions")
      .update({ message: "changed" })
      .neq("id", randomUUID());
    expect([wording.status, wording.error?.code]).toEqual([403, "42501"]);
    expect((await anon.rpc("get_user_role", { user_id: randomUUID() })).error?.code).toBe("42501");
  });

  it("T-filter-unknown T-address-unknown: bad input gets the error codes of the contract", async () => {
    const unknownTable = await anon.from("secrets").select("*");
    expect([unknownTable.status, unknownTable.error?.code]).toEqual([404, "PGRST205"]);
    const unknownColumn = await anon.from("products").select("id, secret");
    expect([unknownColumn.status, unknownColumn.error?.code]).toEqual([400, "42703"]);
    const unknownField = await owner.from("products").insert({ title: "A", secret: 1 });
    expect([unknownField.status, unknownField.error?.code]).toEqual([400, "PGRST204"]);
    const none = await anon.from("products").select("*").eq("id", randomUUID()).single();
    expect([none.status, none.error?.code]).toEqual([406, "PGRST116"]);
    const noUuid = await anon.from("products").select("*").eq("id", "not-a-uuid");
    expect([noUuid.status, noUuid.error?.code]).toEqual([400, "22P02"]);
    const badType = await owner.from("products").insert({ title: "A", artwork_type: "sculpture" });
    expect([badType.status, badType.error?.code]).toEqual([400, "23514"]);
    const noTitle = await owner.from("products").insert({ description: "x" });
    expect([noTitle.status, noTitle.error?.code]).toEqual([400, "23502"]);
    const range = await anon.from("products").select("*", { count: "exact" }).range(5000, 5010);
    expect([range.status, range.error?.code]).toEqual([416, "PGRST103"]);
    const maybe = await anon.from("products").select("*").eq("id", randomUUID()).maybeSingle();
    expect([maybe.error, maybe.data]).toEqual([null, null]);
  });

  it.each([
    ["malformed JSON", "{", "PGRST102", 400],
    ["a bare word", "title", "PGRST102", 400],
    ["wrong types", '{"title":{"a":1}}', "22P02", 400],
    [
      "an oversize body",
      JSON.stringify({ title: "A", description: "x".repeat(5 << 20) }),
      undefined,
      413,
    ],
  ])("T-insert-bad: refuses %s", async (_name, body, code, status) => {
    const token = (await owner.auth.getSession()).data.session!.access_token;
    const response = await fetch(`${server.url}/rest/v1/products`, {
      method: "POST",
      headers: {
        apikey: server.anonKey,
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
      },
      body,
    });
    expect(response.status).toBe(status);
    const error = await response.json();
    expect(Object.keys(error).sort()).toEqual(["code", "details", "hint", "message"]);
    if (code) expect(error.code).toBe(code);
  });
});
