// Every read of supabase-js's query builder, on both databases. The statements are in docs/contracts/tables.md.
import type { SupabaseClient } from "@supabase/supabase-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { asAnon, asOwner } from "../harness/clients.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { engines, type Server, startServer } from "../harness/server.ts";

afterAll(stopPostgres);

const id = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;

const works = [
  {
    title: "Água-forte",
    artwork_type: "digital",
    medium: "Aguarela",
    tags: ["água", "azul"],
    creation_date: "2024-02-29",
    is_featured: true,
  },
  {
    title: 'Mural, "quoted" (and more)',
    artwork_type: "mural",
    medium: null,
    tags: ["a,b", 'c"d'],
    creation_date: null,
    is_featured: false,
  },
  {
    title: "mural do Porto",
    artwork_type: "mural",
    medium: "spray",
    tags: ["azul"],
    creation_date: "2025-01-02",
    is_featured: true,
  },
  {
    title: "100% AÇÃO_1",
    artwork_type: "watercolour",
    medium: "oil",
    tags: [],
    creation_date: null,
    is_featured: false,
  },
  {
    title: "Oil",
    artwork_type: "oil",
    medium: "oil",
    tags: ["b"],
    creation_date: "2023-06-15",
    is_featured: false,
  },
].map((work, i) => ({
  ...work,
  id: id(i + 1),
  created_at: `2026-01-0${i + 1}T10:00:00.25+00:00`,
}));

describe.each(engines)("reading tables on %s", (engine) => {
  let server: Server;
  let anon: SupabaseClient;
  let owner: SupabaseClient;
  beforeAll(async () => {
    server = await startServer(engine);
    anon = asAnon(server);
    owner = await asOwner(server);
    const { error } = await owner.from("products").insert(works);
    expect(error).toBeNull();
  });
  afterAll(() => server.stop());

  const products = (columns = "id") => anon.from("products").select(columns);
  type Query = ReturnType<typeof products>;
  const idsOf = async (query: Query) => {
    const { data, error } = await query.order("id");
    expect(error).toBeNull();
    return (data as unknown as { id: string }[]).map((row) => Number(row.id.slice(-1)));
  };
  const send = (path: string, headers: Record<string, string> = {}, method = "GET") =>
    fetch(`${server.url}/rest/v1/${path}`, {
      method,
      headers: { apikey: server.anonKey, ...headers },
    });

  describe("filters", () => {
    const cases: [string, (query: Query) => Query, number[]][] = [
      ["eq", (q) => q.eq("title", 'Mural, "quoted" (and more)'), [2]],
      ["neq", (q) => q.neq("artwork_type", "mural"), [1, 4, 5]],
      ["gt", (q) => q.gt("created_at", "2026-01-03T10:00:00.25Z"), [4, 5]],
      ["gte", (q) => q.gte("created_at", "2026-01-04T11:00:00.25+01:00"), [4, 5]],
      ["lt", (q) => q.lt("creation_date", "2024-02-29"), [5]],
      ["lte", (q) => q.lte("creation_date", "2024-02-29"), [1, 5]],
      ["like", (q) => q.like("title", "%ural%"), [2, 3]],
      ["like takes * for %", (q) => q.like("title", "*ural*"), [2, 3]],
      ["like escapes", (q) => q.like("title", "100\\%%\\_1"), [4]],
      ["ilike", (q) => q.ilike("title", "%ação%"), [4]],
      ["likeAllOf", (q) => q.likeAllOf("title", ["%ural%", "m%"]), [3]],
      ["likeAnyOf", (q) => q.likeAnyOf("title", ["Oil", "m%"]), [3, 5]],
      ["ilikeAllOf", (q) => q.ilikeAllOf("title", ["MURAL%", "%PORTO"]), [3]],
      ["ilikeAnyOf", (q) => q.ilikeAnyOf("title", ["OIL", "água%"]), [1, 5]],
      ["regexMatch", (q) => q.regexMatch("title", "^[A-Z].*\\)$"), [2]],
      ["regexIMatch", (q) => q.regexIMatch("title", "^(MURAL|água)"), [1, 2, 3]],
      ["is null", (q) => q.is("creation_date", null), [2, 4]],
      ["is true", (q) => q.is("is_featured", true), [1, 3]],
      ["is false", (q) => q.is("is_featured", false), [2, 4, 5]],
      ["isDistinct", (q) => q.isDistinct("medium", "oil"), [1, 2, 3]],
      [
        "in, with commas and quotes",
        (q) => q.in("title", ['Mural, "quoted" (and more)'.replaceAll('"', '\\"'), "Oil"]),
        [2, 5],
      ],
      ["notIn", (q) => q.notIn("artwork_type", ["mural", "oil"]), [1, 4]],
      ["in of nothing", (q) => q.in("id", []), []],
      ["contains", (q) => q.contains("tags", ["azul"]), [1, 3]],
      ["containedBy", (q) => q.containedBy("tags", ["azul", "água"]), [1, 3, 4]],
      ["overlaps", (q) => q.overlaps("tags", ["b", "água"]), [1, 5]],
      ["contains a quoted entry", (q) => q.contains("tags", ['"a,b"', '"c\\"d"']), [2]],
      ["match", (q) => q.match({ artwork_type: "mural", is_featured: true }), [3]],
      ["not eq", (q) => q.not("artwork_type", "eq", "mural"), [1, 4, 5]],
      ["not is null", (q) => q.not("creation_date", "is", null), [1, 3, 5]],
      ["not in", (q) => q.not("artwork_type", "in", "(mural,oil)"), [1, 4]],
      ["or", (q) => q.or("title.eq.Oil,medium.is.null"), [2, 5]],
      [
        "or with and, not and quotes",
        (q) =>
          q.or(
            'and(artwork_type.eq.mural,is_featured.is.true),not.and(title.neq.Oil,id.not.is.null),title.eq."Mural, \\"quoted\\" (and more)"',
          ),
        [2, 3, 5],
      ],
      ["filter by any operator", (q) => q.filter("title", "gte", "m"), [1, 3]],
      ["filter eq(any)", (q) => q.filter("title", "eq(any)", "{Oil,mural do Porto}"), [3, 5]],
      [
        "filter gt(all)",
        (q) => q.filter("creation_date", "gt(all)", "{2023-01-01,2024-01-01}"),
        [1, 3],
      ],
      ["filter match(any)", (q) => q.filter("title", "match(any)", "{^Oil,^100}"), [4, 5]],
      ["lists compare entry by entry", (q) => q.gt("tags", "{b}"), [1]],
      ["an entry of a list", (q) => q.eq("tags->>0", "azul"), [3]],
      [
        "two filters on one column",
        (q) => q.gte("creation_date", "2024-01-01").lt("creation_date", "2025-01-01"),
        [1],
      ],
    ];
    it.each(cases)(
      "T-filter-compare T-filter-like T-filter-match T-filter-in T-filter-any T-filter-path: filter %s",
      async (_name, filter, want) => {
        expect(await idsOf(filter(products()))).toEqual(want);
      },
    );

    const refusals: [string, (query: Query) => Query, number, string][] = [
      ["textSearch", (q) => q.textSearch("title", "oil"), 400, "0A000"],
      [
        "textSearch on a number",
        (q) => q.textSearch("price", "1", { type: "plain" }),
        404,
        "42883",
      ],
      ["rangeGt", (q) => q.rangeGt("created_at", "[2026-01-01,2026-01-02)"), 404, "42883"],
      ["rangeGte", (q) => q.rangeGte("created_at", "[2026-01-01,2026-01-02)"), 404, "42883"],
      ["rangeLt", (q) => q.rangeLt("title", "[a,b)"), 404, "42883"],
      ["rangeLt on a number is a shift", (q) => q.rangeLt("price", "1"), 400, "42804"],
      ["rangeLte", (q) => q.rangeLte("title", "[a,b)"), 404, "42883"],
      ["rangeAdjacent", (q) => q.rangeAdjacent("title", "[a,b)"), 404, "42883"],
      ["contains on a text", (q) => q.contains("title", ["a"]), 404, "42883"],
      ["contains of an object", (q) => q.contains("tags", { a: 1 }), 400, "22P02"],
      ["like on an id", (q) => q.like("id", "0%"), 404, "42883"],
      ["regexMatch on a date", (q) => q.regexMatch("creation_date", "2024"), 404, "42883"],
      ["a broken regular expression", (q) => q.regexMatch("title", "("), 400, "2201B"],
      ["a back reference", (q) => q.regexMatch("title", "(a)\\1"), 400, "0A000"],
      ["is true on a text", (q) => q.filter("title", "is", true), 400, "42804"],
      ["in on a list", (q) => q.filter("tags", "in", "({a})"), 400, "42704"],
      ["JSON compared as JSON", (q) => q.eq("tags->0", '"a"'), 400, "0A000"],
      ["an unknown operator", (q) => q.filter("title", "is_like", "a"), 400, "PGRST100"],
      ["an unknown column", (q) => q.eq("colour", "red"), 400, "42703"],
      ["a value of another kind", (q) => q.eq("price", "free"), 400, "22P02"],
      ["a condition on another table", (q) => q.eq("reviews.message", "x"), 400, "PGRST108"],
      [
        "groups too deep",
        (q) => q.or("and(".repeat(11) + "id.is.null" + ")".repeat(11)),
        400,
        "PGRST100",
      ],
      ["too many conditions", (q) => q.or(Array(201).fill("id.is.null").join()), 400, "PGRST100"],
    ];
    it.each(refusals)(
      "T-filter-match-not T-filter-in T-filter-path T-filter-ranges T-filter-unknown T-filter-embedded: refuses %s",
      async (_name, filter, status, code) => {
        const response = await filter(products());
        expect([response.status, response.error?.code]).toEqual([status, code]);
      },
    );
  });

  describe("select", () => {
    const cases: [string, string, Record<string, unknown>][] = [
      ["columns", "id,title", { id: id(1), title: "Água-forte" }],
      ["a rename", "name:title", { name: "Água-forte" }],
      ["awkward names", '"it\'s, (a:b) \\"c\\"":title', { 'it\'s, (a:b) "c"': "Água-forte" }],
      [
        "casts to text",
        "is_featured::text,price::text,created_at::text,tags::text,creation_date::text,i:id::text",
        {
          is_featured: "true",
          price: "0",
          created_at: "2026-01-01 10:00:00.25+00",
          tags: "{água,azul}",
          creation_date: "2024-02-29",
          i: id(1),
        },
      ],
      [
        "casts between kinds",
        "a:is_featured::int,b:price::bool,c:price::numeric,d:created_at::date,e:created_at::time,f:created_at::timestamp,g:creation_date::timestamptz",
        {
          a: 1,
          b: false,
          c: 0,
          d: "2026-01-01",
          e: "10:00:00.25",
          f: "2026-01-01T10:00:00.25",
          g: "2024-02-29T00:00:00+00:00",
        },
      ],
      [
        "entries of a list",
        "tags->0,last:tags->>-1,none:tags->7",
        { tags: "água", last: "azul", none: null },
      ],
      ["paths into what is no JSON", "title->a,b:title->>0", { a: null, b: "Água-forte" }],
      ["everything and more", "*,again:title", { ...works[0], again: "Água-forte" }],
    ];
    it.each(cases)(
      "T-select-columns T-select-alias T-select-cast T-select-path: select %s",
      async (_name, columns, want) => {
        const { data, error } = await products(columns).eq("id", id(1)).single();
        expect(error).toBeNull();
        expect(data).toMatchObject(want);
        if (!columns.startsWith("*")) expect(data).toEqual(want);
      },
    );

    it.each([
      ["an unknown column", "colour", 400, "42703"],
      ["a cast that no value takes", "id::int", 400, "42846"],
      ["a cast that depends on the row", "title::int", 400, "42846"],
      ["an unknown type", "title::colour", 400, "42704"],
      ["an arrow behind ->>", "tags->>0->1", 404, "42883"],
      ["an empty name", '"":title', 400, "42601"],
      ["embedding", "title,reviews(*)", 400, "PGRST200"],
      ["spreading", "...reviews(message)", 400, "PGRST200"],
      ["aggregates", "price.sum()", 400, "PGRST123"],
      ["a count as an aggregate", "count()", 400, "PGRST123"],
      ["more fields than 60", Array(61).fill("id").join(), 400, "PGRST100"],
      ["broken text", "title,,id", 400, "PGRST100"],
    ])(
      "T-select-cast-other T-select-embed: select refuses %s",
      async (_name, columns, status, code) => {
        const response = await products(columns);
        expect([response.status, response.error?.code]).toEqual([status, code]);
      },
    );
  });

  describe("order", () => {
    const ordered = async (query: Query) =>
      ((await query).data as unknown as { id: string }[]).map((row) => Number(row.id.slice(-1)));

    it("T-order: nulls come last in ascending order, first in descending order, or where the request says", async () => {
      expect(await ordered(products().order("creation_date"))).toEqual([5, 1, 3, 4, 2]);
      expect(await ordered(products().order("creation_date", { ascending: false }))).toEqual([
        4, 2, 3, 1, 5,
      ]);
      expect(await ordered(products().order("creation_date", { nullsFirst: true }))).toEqual([
        4, 2, 5, 1, 3,
      ]);
      expect(
        await ordered(products().order("creation_date", { ascending: false, nullsFirst: false })),
      ).toEqual([3, 1, 5, 4, 2]);
    });
    it("T-order: an order may have several columns, JSON arrays and their elements", async () => {
      expect(await ordered(products().order("artwork_type").order("title"))).toEqual([
        1, 2, 3, 5, 4,
      ]);
      expect(await ordered(products().order("tags"))).toEqual([4, 2, 3, 5, 1]);
      expect(await ordered(products().order("tags->>0", { ascending: false }))).toEqual([
        4, 1, 5, 3, 2,
      ]);
    });
    it("T-order-ties: rows without an order are listed newest first", async () => {
      expect(await ordered(products())).toEqual([5, 4, 3, 2, 1]);
    });
    it.each([
      ["an unknown column", "colour", "42703"],
      ["a direction that is none", "title.up", "PGRST100"],
      ["another table's column", "reviews(message)", "PGRST108"],
      ["JSON", "tags->0", "0A000"],
    ])("T-order-other: order refuses %s", async (_name, order, code) => {
      const response = await send(`products?order=${encodeURIComponent(order)}`);
      expect([response.status, (await response.json()).code]).toEqual([400, code]);
    });
  });

  describe("ranges and counts", () => {
    it("T-limit-offset: limit, range and offset select rows", async () => {
      expect((await products().order("id").limit(2)).data).toEqual([{ id: id(1) }, { id: id(2) }]);
      expect((await products().order("id").range(3, 9)).data).toEqual([
        { id: id(4) },
        { id: id(5) },
      ]);
      expect((await products().limit(0)).data).toEqual([]);
      expect(await (await send("products?select=id&order=id&offset=4")).json()).toEqual([
        { id: id(5) },
      ]);
    });
    it("T-range-header: the Range header selects rows", async () => {
      const response = await send("products?select=id&order=id", {
        Range: "1-2",
        "Range-Unit": "items",
      });
      expect([response.status, response.headers.get("content-range")]).toEqual([200, "1-2/*"]);
      expect(await response.json()).toEqual([{ id: id(2) }, { id: id(3) }]);
      const open = await send("products?select=id&order=id", { Range: "3-" });
      expect(await open.json()).toHaveLength(2);
      const backwards = await send("products", { Range: "2-1" });
      expect([backwards.status, (await backwards.json()).code]).toEqual([416, "PGRST103"]);
    });
    it.each(["exact", "planned", "estimated"] as const)("T-count: count %s", async (count) => {
      const page = await anon
        .from("products")
        .select("id", { count })
        .eq("artwork_type", "mural")
        .limit(1);
      expect([page.count, page.data!.length, page.status]).toEqual([2, 1, 206]);
      const head = await anon.from("products").select("*", { count, head: true });
      expect([head.count, head.data, head.status]).toEqual([5, null, 200]);
      const raw = await send("products?limit=2", { Prefer: `count=${count}` });
      expect(raw.headers.get("preference-applied")).toBe(`count=${count}`);
      expect(raw.headers.get("content-range")).toBe("0-1/5");
    });
    it("T-count-past: a range past the end is an error if a count was requested", async () => {
      const counted = await anon.from("products").select("id", { count: "exact" }).range(10, 20);
      expect([counted.status, counted.error?.code]).toEqual([416, "PGRST103"]);
      const uncounted = await products().range(10, 20);
      expect([uncounted.status, uncounted.data]).toEqual([200, []]);
      expect((await send("products?offset=9")).headers.get("content-range")).toBe("*/*");
    });
    it.each([
      ["limit=-1", 416, "PGRST103"],
      ["limit=many", 400, "PGRST100"],
      ["offset=x", 400, "PGRST100"],
    ])("T-limit-offset: refuses %s", async (query, status, code) => {
      const response = await send(`products?${query}`);
      expect([response.status, (await response.json()).code]).toEqual([status, code]);
    });
    it("T-head: HEAD sends the headers of GET without its body", async () => {
      const get = await send("products?limit=2", { Prefer: "count=exact" });
      const head = await send("products?limit=2", { Prefer: "count=exact" }, "HEAD");
      for (const name of ["content-range", "content-type", "preference-applied"])
        expect(head.headers.get(name)).toBe(get.headers.get(name));
      expect([head.status, await head.text()]).toEqual([get.status, ""]);
    });
  });

  describe("formats of a response", () => {
    it("T-accept-object: single() returns one object, or an error for any other number of rows", async () => {
      expect((await products("title").eq("id", id(5)).single()).data).toEqual({ title: "Oil" });
      const none = await products().eq("id", id(9)).single();
      expect([none.status, none.error?.code, none.error?.details]).toEqual([
        406,
        "PGRST116",
        "The result contains 0 rows",
      ]);
      const many = await products().single();
      expect([many.status, many.error?.code, many.error?.details]).toEqual([
        406,
        "PGRST116",
        "The result contains 5 rows",
      ]);
    });
    it("T-accept-object: maybeSingle() returns one object or null", async () => {
      const none = await products().eq("id", id(9)).maybeSingle();
      expect([none.error, none.data]).toEqual([null, null]);
      expect((await products("title").eq("id", id(5)).maybeSingle()).data).toEqual({
        title: "Oil",
      });
      expect((await products().maybeSingle()).error?.code).toBe("PGRST116");
    });
    it("T-accept-csv: a response in CSV", async () => {
      const { data, error } = await products("id,title,tags,is_featured,medium,created_at")
        .lte("id", id(2))
        .order("id")
        .csv();
      expect(error).toBeNull();
      expect(data).toBe(
        "id,title,tags,is_featured,medium,created_at\n" +
          `${id(1)},Água-forte,"{água,azul}",t,Aguarela,"2026-01-01 10:00:00.25+00"\n` +
          `${id(2)},"Mural, ""quoted"" (and more)","{""a,b"",""c\\\\""d""}",f,,"2026-01-02 10:00:00.25+00"`,
      );
      expect(
        (await send("products?title=eq.none", { Accept: "text/csv" })).headers.get("content-type"),
      ).toBe("text/csv; charset=utf-8");
    });
    it("T-accept-strip: stripNulls() removes keys with null values", async () => {
      expect((await products("id,medium,creation_date").eq("id", id(2)).stripNulls()).data).toEqual(
        [{ id: id(2) }],
      );
      expect((await products("title,medium").eq("id", id(2)).single().stripNulls()).data).toEqual({
        title: works[1]!.title,
      });
    });
    it.each([
      ["a plan", "application/vnd.pgrst.plan+json"],
      ["GeoJSON", "application/geo+json"],
      ["pictures", "image/png"],
    ])("T-accept-other: refuses %s", async (_name, accept) => {
      const response = await send("products", { Accept: accept });
      expect([response.status, (await response.json()).code]).toEqual([406, "PGRST107"]);
    });
    it("T-accept-other: explain() is rejected, as by default in PostgREST", async () => {
      const response = await products().explain();
      expect([response.status, response.error?.code]).toEqual([406, "PGRST107"]);
    });
  });

  describe("headers", () => {
    it("T-profile: only the public schema can be selected", async () => {
      expect((await anon.schema("public").from("products").select("id").limit(1)).error).toBeNull();
      const hidden = await anon.schema("auth").from("products").select("id");
      expect([hidden.status, hidden.error?.code]).toEqual([406, "PGRST106"]);
      const write = await owner.schema("auth").from("products").insert({ title: "A" });
      expect([write.status, write.error?.code]).toEqual([406, "PGRST106"]);
    });
    it("T-prefer-handling: handling=strict rejects unknown preferences, lenient ignores them", async () => {
      const strict = await send("products", { Prefer: "handling=strict, colour=blue" });
      expect([strict.status, (await strict.json()).code]).toEqual([400, "PGRST122"]);
      const lenient = await send("products", { Prefer: "handling=lenient, colour=blue" });
      expect([lenient.status, lenient.headers.get("preference-applied")]).toEqual([
        200,
        "handling=lenient",
      ]);
    });
    it("T-prefer-timezone: UTC is the only time zone", async () => {
      const utc = await send("products?limit=1", { Prefer: "timezone=UTC" });
      expect(utc.headers.get("preference-applied")).toBe("timezone=UTC");
      const other = await send("products?limit=1", { Prefer: "timezone=America/Sao_Paulo" });
      expect([other.status, other.headers.get("preference-applied")]).toEqual([200, null]);
      const strict = await send("products", { Prefer: "handling=strict, timezone=Mars/Base" });
      expect([strict.status, (await strict.json()).code]).toEqual([400, "PGRST122"]);
    });
  });

  describe("URLs and methods", () => {
    it.each([
      ["GET", "", 404, "PGRST126"],
      ["POST", "", 405, "PGRST117"],
      ["LINK", "products", 405, "PGRST117"],
      ["PUT", "rpc/get_user_role", 405, "PGRST101"],
      ["GET", "secrets", 404, "PGRST205"],
      ["GET", "rpc/version", 404, "PGRST202"],
      ["GET", "products/1", 404, "PGRST125"],
    ])(
      "T-method-other T-address-root T-address-unknown: %s /rest/v1/%s",
      async (method, path, status, code) => {
        const response = await send(path, {}, method);
        expect([response.status, (await response.json()).code]).toEqual([status, code]);
      },
    );
    it("T-method-options: OPTIONS lists the methods", async () => {
      const table = await send("products", {}, "OPTIONS");
      expect([table.status, table.headers.get("allow")]).toEqual([
        200,
        "OPTIONS,GET,HEAD,POST,PUT,PATCH,DELETE",
      ]);
      expect((await send("rpc/get_user_role", {}, "OPTIONS")).headers.get("allow")).toBe(
        "OPTIONS,GET,HEAD,POST",
      );
      expect((await send("rpc/reorder_reviews", {}, "OPTIONS")).headers.get("allow")).toBe(
        "OPTIONS,POST",
      );
    });
    it("T-method-options: a preflight of any origin is accepted", async () => {
      const response = await fetch(`${server.url}/rest/v1/products`, {
        method: "OPTIONS",
        headers: {
          Origin: "https://elsewhere.example",
          "Access-Control-Request-Method": "PATCH",
          "Access-Control-Request-Headers": "prefer,apikey",
        },
      });
      expect([response.status, response.headers.get("access-control-allow-headers")]).toEqual([
        204,
        "prefer,apikey",
      ]);
      expect(response.headers.get("access-control-allow-origin")).toBe("*");
    });
  });
});

describe.each(engines)("the most rows of one read on %s", (engine) => {
  it("T-max-rows: ATELIE_MAX_ROWS limits the rows of a response, but not their count", async () => {
    const server = await startServer(engine, { env: { ATELIE_MAX_ROWS: "3" } });
    try {
      const owner = await asOwner(server);
      expect((await owner.from("products").insert(works)).error).toBeNull();
      const page = await asAnon(server)
        .from("products")
        .select("id", { count: "exact" })
        .limit(100);
      expect([page.data!.length, page.count, page.status]).toEqual([3, 5, 206]);
      const written = await owner
        .from("products")
        .update({ medium: "x" })
        .neq("title", "")
        .select("id");
      expect(written.data).toHaveLength(5);
    } finally {
      await server.stop();
    }
  });
});
