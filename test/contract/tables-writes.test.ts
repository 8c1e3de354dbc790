// Every write and every function call of supabase-js, on both databases.
import type { SupabaseClient } from "@supabase/supabase-js";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { asAnon, asOwner, asService } from "../harness/clients.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { engines, type Server, startServer } from "../harness/server.ts";

afterAll(stopPostgres);

const id = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;

// The client's types offer maxAffected from PostgREST 13 on. PostgREST 12 understands what it sends, too.
const withMaxAffected = (query: unknown) =>
  query as {
    maxAffected(rows: number): PromiseLike<{ status: number; error: { code: string } | null }>;
  };

describe.each(engines)("writing tables on %s", (engine) => {
  let server: Server;
  let anon: SupabaseClient;
  let owner: SupabaseClient;
  let token: string;
  beforeAll(async () => {
    server = await startServer(engine);
    anon = asAnon(server);
    owner = await asOwner(server);
    token = (await owner.auth.getSession()).data.session!.access_token;
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    expect((await owner.from("products").delete().neq("title", "")).error).toBeNull();
    const rows = [1, 2, 3].map((n) => ({ id: id(n), title: `Work ${n}`, medium: "oil" }));
    expect((await owner.from("products").insert(rows)).error).toBeNull();
  });

  const products = () => owner.from("products");
  const titles = async () =>
    (await products().select("title").order("id")).data!.map((row) => row.title);
  const send = (
    method: string,
    path: string,
    body: string | null,
    headers: Record<string, string> = {},
  ) =>
    fetch(`${server.url}/rest/v1/${path}`, {
      method,
      headers: {
        apikey: server.anonKey,
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        ...headers,
      },
      body,
    });
  const statusAndCode = async (response: Response) => [
    response.status,
    (await response.json()).code,
  ];

  describe("insert", () => {
    it("T-insert-one: one row is inserted, and returned on request", async () => {
      const minimal = await products().insert({ id: id(4), title: "Work 4" });
      expect([minimal.status, minimal.data, minimal.error]).toEqual([201, null, null]);
      const shown = await products()
        .insert({ id: id(5), title: "Work 5" })
        .select("title, stock:in_stock::text")
        .single();
      expect([shown.status, shown.data]).toEqual([201, { title: "Work 5", stock: "true" }]);
    });
    it("T-insert-many: several rows are inserted in the order sent, all or none", async () => {
      const { data, count } = await products()
        .insert(
          [
            { id: id(9), title: "Z" },
            { id: id(8), title: "A" },
          ],
          { count: "exact" },
        )
        .select("title");
      expect([data, count]).toEqual([[{ title: "Z" }, { title: "A" }], 2]);
      const failed = await products().insert([
        { id: id(7), title: "B" },
        { id: id(8), title: "C" },
      ]);
      expect([failed.status, failed.error?.code]).toEqual([409, "23505"]);
      expect((await products().select("id").eq("id", id(7))).data).toEqual([]);
    });
    it("T-insert-missing: a missing value is null, or the default if missing=default is set", async () => {
      const rows = [
        { title: "A", medium: "ink" },
        { title: "B", in_stock: false },
      ];
      const nulls = await products().insert(rows);
      expect([nulls.status, nulls.error?.code]).toEqual([400, "23502"]);
      const defaults = await products()
        .insert(rows, { defaultToNull: false })
        .select("medium, in_stock");
      expect(defaults.data).toEqual([
        { medium: "ink", in_stock: true },
        { medium: null, in_stock: false },
      ]);
    });
    it("T-insert-columns: the parameter columns selects the keys that are used", async () => {
      const response = await send(
        "POST",
        "products?columns=title&select=title,medium",
        '[{"title":"A","medium":"ink","colour":1}]',
        { prefer: "return=representation" },
      );
      expect([response.status, await response.json()]).toEqual([
        201,
        [{ title: "A", medium: null }],
      ]);
      expect(
        await statusAndCode(await send("POST", "products?columns=colour", '{"title":"A"}')),
      ).toEqual([400, "PGRST204"]);
    });
    it("T-insert-headers: return=headers-only gives the URL of the new row", async () => {
      const response = await send("POST", "products", `{"id":"${id(4)}","title":"A"}`, {
        prefer: "return=headers-only",
      });
      expect([response.status, response.headers.get("location"), await response.text()]).toEqual([
        201,
        `/products?id=eq.${id(4)}`,
        "",
      ]);
      expect(response.headers.get("preference-applied")).toBe("return=headers-only");
    });
    it("T-insert-csv: rows are inserted from CSV", async () => {
      const response = await send(
        "POST",
        "products?select=title,tags,medium",
        'title,tags,medium\n"A, ""b""","{x,""y z""}",NULL\nB,{},',
        {
          "content-type": "text/csv",
          prefer: "return=representation",
        },
      );
      expect([response.status, await response.json()]).toEqual([
        201,
        [
          { title: 'A, "b"', tags: ["x", "y z"], medium: null },
          { title: "B", tags: [], medium: "" },
        ],
      ]);
      expect(
        await statusAndCode(
          await send("POST", "products", "title,medium\nA", { "content-type": "text/csv" }),
        ),
      ).toEqual([400, "PGRST102"]);
    });
    it("T-insert-csv: a row is inserted from a form", async () => {
      const response = await send(
        "POST",
        "products?select=title,is_featured",
        "title=a+b%26c&is_featured=on",
        {
          "content-type": "application/x-www-form-urlencoded",
          prefer: "return=representation",
        },
      );
      expect([response.status, await response.json()]).toEqual([
        201,
        [{ title: "a b&c", is_featured: true }],
      ]);
    });
    it("T-accept-csv: the inserted rows are returned as CSV and without nulls", async () => {
      const csv = await products()
        .insert({ id: id(4), title: "A" })
        .select("id,title,medium")
        .csv();
      expect(csv.data).toBe(`id,title,medium\n${id(4)},A,`);
      const stripped = await products()
        .insert({ id: id(5), title: "A" })
        .select("title,medium")
        .stripNulls();
      expect(stripped.data).toEqual([{ title: "A" }]);
    });
    it.each([
      ["another content type", "<a/>", { "content-type": "application/xml" }, 400, "PGRST102"],
      ["rows with different keys", '[{"title":"A"},{"medium":"B"}]', {}, 400, "PGRST102"],
      [
        "more than 1,000 rows",
        JSON.stringify(Array.from({ length: 1001 }, () => ({ title: "A" }))),
        {},
        413,
        "54000",
      ],
      [
        "an unknown preference, strictly",
        '{"title":"A"}',
        { prefer: "handling=strict, colour=red" },
        400,
        "PGRST122",
      ],
    ])("T-limits T-insert-bad: insert refuses %s", async (_name, body, headers, status, want) => {
      expect(
        await statusAndCode(
          await send("POST", "products", body, headers as unknown as Record<string, string>),
        ),
      ).toEqual([status, want]);
      expect(await titles()).toEqual(["Work 1", "Work 2", "Work 3"]);
    });
  });

  describe("upsert", () => {
    it("T-upsert-merge: a row with an existing key is merged", async () => {
      const { data, status } = await products()
        .upsert([
          { id: id(1), title: "New 1" },
          { id: id(4), title: "New 4" },
        ])
        .select("title, medium");
      expect([status, data]).toEqual([
        201,
        [
          { title: "New 1", medium: "oil" },
          { title: "New 4", medium: null },
        ],
      ]);
      expect((await products().upsert({ id: id(1), title: "Again" })).status).toBe(200);
    });
    it("T-upsert-merge: a row with an existing key is ignored", async () => {
      const { data } = await products()
        .upsert(
          [
            { id: id(1), title: "New 1" },
            { id: id(4), title: "New 4" },
          ],
          { ignoreDuplicates: true },
        )
        .select("title");
      expect(data).toEqual([{ title: "New 4" }]);
    });
    it("T-upsert-conflict: onConflict accepts the primary key and no other column", async () => {
      expect(
        (await products().upsert({ id: id(1), title: "New" }, { onConflict: "id" })).error,
      ).toBeNull();
      const other = await products().upsert({ id: id(1), title: "New" }, { onConflict: "title" });
      expect([other.status, other.error?.code]).toEqual([400, "42P10"]);
      const unknown = await products().upsert(
        { id: id(1), title: "New" },
        { onConflict: "colour" },
      );
      expect([unknown.status, unknown.error?.code]).toEqual([400, "42703"]);
    });
    it("T-upsert-conflict: two rows with the same key are rejected", async () => {
      const twice = await products().upsert([
        { id: id(4), title: "A" },
        { id: id(4), title: "B" },
      ]);
      expect([twice.status, twice.error?.code]).toEqual([400, "21000"]);
    });
  });

  describe("put", () => {
    it("T-put: PUT stores the one row whose key the URL has", async () => {
      const path = `products?select=title,medium&id=eq.${id(4)}`;
      const body = (title: string) => JSON.stringify({ id: id(4), title });
      const made = await send("PUT", path, body("A"), { prefer: "return=representation" });
      expect([made.status, await made.json()]).toEqual([201, [{ title: "A", medium: null }]]);
      const replaced = await send("PUT", path, body("B"), { prefer: "return=representation" });
      expect([replaced.status, await replaced.json()]).toEqual([
        200,
        [{ title: "B", medium: null }],
      ]);
      expect((await send("PUT", path, body("C"))).status).toBe(204);
      expect((await titles()).at(-1)).toBe("C");
    });
    it("T-put-bad: PUT with other filters, a range or another key is rejected", async () => {
      const body = JSON.stringify({ id: id(1), title: "X" });
      expect(await statusAndCode(await send("PUT", "products", body))).toEqual([405, "PGRST105"]);
      expect(
        await statusAndCode(await send("PUT", `products?id=eq.${id(1)}&title=eq.A`, body)),
      ).toEqual([405, "PGRST105"]);
      expect(
        await statusAndCode(await send("PUT", `products?id=eq.${id(1)}&limit=1`, body)),
      ).toEqual([400, "PGRST114"]);
      expect(await statusAndCode(await send("PUT", `products?id=eq.${id(2)}`, body))).toEqual([
        400,
        "PGRST115",
      ]);
    });
  });

  describe("update", () => {
    it("T-update: the filtered rows are changed and counted", async () => {
      const { data, count, status } = await products()
        .update({ medium: "ink" }, { count: "exact" })
        .in("id", [id(1), id(2)])
        .select("id, medium")
        .order("id", { ascending: false });
      expect([status, count, data]).toEqual([
        200,
        2,
        [
          { id: id(2), medium: "ink" },
          { id: id(1), medium: "ink" },
        ],
      ]);
      const none = await products().update({ medium: "x" }).eq("id", id(9)).select();
      expect([none.status, none.data]).toEqual([200, []]);
    });
    it("T-update T-prefer-applied: return=minimal returns no body", async () => {
      const response = await send("PATCH", `products?id=eq.${id(1)}`, '{"medium":"x"}', {
        prefer: "return=minimal,count=exact",
      });
      expect([
        response.status,
        await response.text(),
        response.headers.get("content-range"),
        response.headers.get("preference-applied"),
      ]).toEqual([204, "", "0-0/1", "return=minimal, count=exact"]);
    });
    it("T-insert-missing: missing=default sets columns that were not sent to their default", async () => {
      await products().update({ in_stock: false, is_featured: true }).eq("id", id(1));
      const response = await send(
        "PATCH",
        `products?id=eq.${id(1)}&columns=medium,in_stock&select=medium,in_stock,is_featured`,
        '{"medium":"ink"}',
        { prefer: "missing=default,return=representation" },
      );
      expect(await response.json()).toEqual([{ medium: "ink", in_stock: true, is_featured: true }]);
    });
    it("T-update-part: an update with a limit needs an order", async () => {
      expect(
        await statusAndCode(await send("PATCH", "products?limit=1", '{"medium":"x"}')),
      ).toEqual([400, "PGRST109"]);
      const part = await send(
        "PATCH",
        "products?limit=1&offset=1&order=id&select=id",
        '{"medium":"x"}',
        { prefer: "return=representation" },
      );
      expect(await part.json()).toEqual([{ id: id(2) }]);
    });
    it("T-update-single: single() rolls back unless exactly one row is changed", async () => {
      const many = await products().update({ medium: "x" }).neq("title", "").select().single();
      expect([many.status, many.error?.code]).toEqual([406, "PGRST116"]);
      expect((await products().select("id").eq("medium", "x")).data).toEqual([]);
    });
  });

  describe("delete", () => {
    it("T-update: the filtered rows are deleted and returned", async () => {
      const { data, count, status } = await products()
        .delete({ count: "exact" })
        .eq("id", id(2))
        .select("title");
      expect([status, count, data]).toEqual([200, 1, [{ title: "Work 2" }]]);
      const rest = await products().delete().neq("title", "");
      expect([rest.status, rest.data]).toEqual([204, null]);
      expect(await titles()).toEqual([]);
    });
    it("T-update-part: a deletion with a limit needs an order", async () => {
      expect(await statusAndCode(await send("DELETE", "products?limit=1", null))).toEqual([
        400,
        "PGRST109",
      ]);
      expect((await send("DELETE", "products?limit=1&order=id.desc", null)).status).toBe(204);
      expect(await titles()).toEqual(["Work 1", "Work 2"]);
    });
  });

  describe("limits of writes", () => {
    it("T-prefer-affected: maxAffected rejects a write of more rows, and changes nothing", async () => {
      const update = await withMaxAffected(
        products().update({ medium: "x" }).neq("title", ""),
      ).maxAffected(2);
      expect([update.status, update.error?.code]).toEqual([400, "PGRST124"]);
      const removal = await withMaxAffected(products().delete().neq("title", "")).maxAffected(2);
      expect([removal.status, removal.error?.code]).toEqual([400, "PGRST124"]);
      expect((await products().select("id").eq("medium", "oil")).data).toHaveLength(3);
      expect(
        (await withMaxAffected(products().update({ medium: "x" }).neq("title", "")).maxAffected(3))
          .error,
      ).toBeNull();
      const lenient = await send("PATCH", "products", '{"medium":"y"}', {
        prefer: "max-affected=1",
      });
      expect(lenient.status).toBe(204);
    });
    it("T-prefer-tx: tx=rollback is ignored, as by default in PostgREST", async () => {
      expect(
        (await products().update({ medium: "kept" }).eq("id", id(1)).rollback()).error,
      ).toBeNull();
      expect((await products().select("medium").eq("id", id(1)).single()).data).toEqual({
        medium: "kept",
      });
    });
  });

  describe("rpc", () => {
    let ownerId: string;
    beforeAll(async () => {
      ownerId = (await owner.auth.getUser()).data.user!.id;
    });
    it("T-rpc: a function is called by POST, GET and HEAD", async () => {
      expect((await owner.rpc("get_user_role", { user_id: ownerId })).data).toBe("admin");
      expect((await owner.rpc("get_user_role", { user_id: ownerId }, { get: true })).data).toBe(
        "admin",
      );
      const head = await owner.rpc("get_user_role", { user_id: ownerId }, { head: true });
      expect([head.status, head.data, head.error]).toEqual([200, null, null]);
      const counted = await owner.rpc("get_user_role", { user_id: ownerId }, { count: "exact" });
      expect([counted.data, counted.count]).toEqual(["admin", 1]);
    });
    it("T-rpc-body: a function accepts a form and responds with CSV", async () => {
      const form = await send("POST", "rpc/get_user_role", `user_id=${ownerId}`, {
        "content-type": "application/x-www-form-urlencoded",
        accept: "text/csv",
      });
      expect([form.status, await form.text()]).toEqual([200, "pgrst_scalar\nadmin"]);
    });
    it("T-rpc-writes: GET is rejected for a function that writes", async () => {
      const response = await owner.rpc("reorder_reviews", { ids: [] }, { get: true });
      expect([response.status, response.error?.code]).toEqual([405, "25006"]);
      const written = await owner.rpc("reorder_reviews", { ids: [] });
      expect([written.status, written.data]).toEqual([204, null]);
    });
    it("T-rpc-unknown: unknown functions and arguments are rejected", async () => {
      const unknown = await owner.rpc("pg_sleep", { seconds: 1 });
      expect([unknown.status, unknown.error?.code]).toEqual([404, "PGRST202"]);
      const argument = await owner.rpc("get_user_role", { id: ownerId });
      expect([argument.status, argument.error?.code]).toEqual([404, "PGRST202"]);
      const value = await owner.rpc("get_user_role", { user_id: "me" });
      expect([value.status, value.error?.code]).toEqual([400, "22P02"]);
    });
  });

  it("T-write-policy: a forbidden write gets 401 without a sign-in and 403 with one, and hidden rows stay hidden", async () => {
    for (const call of [
      anon.from("products").insert({ title: "A" }),
      anon.from("products").upsert({ id: id(1), title: "A" }),
      anon.from("products").update({ title: "A" }).eq("id", id(1)),
      anon.from("products").delete().eq("id", id(1)),
    ]) {
      const response = await call;
      expect([response.status, response.error?.code]).toEqual([401, "42501"]);
    }
    const put = await send(
      "PUT",
      `contact_submissions?id=eq.${id(1)}`,
      `{"id":"${id(1)}","status":"read"}`,
    );
    expect(await statusAndCode(put)).toEqual([403, "42501"]);
    const role = await asService(server).from("user_roles").select("role");
    expect(role.data).toEqual([{ role: "admin" }]);
    expect(await titles()).toEqual(["Work 1", "Work 2", "Work 3"]);
  });
});
