// Live changes, messages and presence, with supabase-js in both protocol versions, on one node and on two.
import { execFile } from "node:child_process";
import { createHmac, randomUUID } from "node:crypto";
import { promisify } from "node:util";

import {
  createClient,
  REALTIME_SUBSCRIBE_STATES as State,
  type RealtimeChannel,
  RealtimeClient,
  type SupabaseClient,
} from "@supabase/supabase-js";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";

import { asOwner, asService, ownerEmail, ownerPassword } from "../harness/clients.ts";
import { freshPostgres, stopPostgres } from "../harness/postgres.ts";
import { engines, type Server, startServer } from "../harness/server.ts";

afterAll(stopPostgres);

const secret = "a secret that several nodes share, in tests";
const versions = ["2.0.0", "1.0.0"];
const waitOptions = { timeout: 45_000, interval: 20 };

// At the end of each test, removeAllChannels also disconnects the clients.
const openClients: { realtime: RealtimeClient }[] = [];
afterEach(async () => {
  await Promise.all(openClients.splice(0).map(({ realtime }) => realtime.removeAllChannels()));
});

function connect(server: Server, vsn: string, key = server.anonKey): SupabaseClient {
  const client = createClient(server.url, key, {
    auth: { persistSession: false, autoRefreshToken: false },
    // No heartbeatIntervalMs: with a short interval, a late reply on a busy machine would end the connection.
    realtime: { vsn, timeout: waitOptions.timeout, reconnectAfterMs: () => 100 },
  });
  openClients.push(client);
  return client;
}

async function connectOwner(server: Server, vsn: string): Promise<SupabaseClient> {
  const client = connect(server, vsn);
  const { error } = await client.auth.signInWithPassword({
    email: ownerEmail,
    password: ownerPassword,
  });
  if (error) throw error;
  await client.realtime.setAuth();
  return client;
}

/** Subscribes; resolves when the server accepts, rejects with its reason otherwise. */
function subscribe(channel: RealtimeChannel): Promise<RealtimeChannel> {
  return new Promise((done, fail) => {
    channel.subscribe((status, error) => {
      if (status === State.SUBSCRIBED) done(channel);
      if (status === State.CHANNEL_ERROR) fail(error ?? new Error("refused"));
      if (status === State.TIMED_OUT) fail(new Error("timed out"));
    });
  });
}

type Change = {
  eventType: string;
  table: string;
  new: Record<string, unknown>;
  old: Record<string, unknown>;
  commit_timestamp: string;
  errors: unknown;
};

/** Subscribes to changes and appends them to the list. */
async function watch(
  client: SupabaseClient,
  ...filters: { event?: string; table?: string; filter?: string }[]
): Promise<Change[]> {
  const seen: Change[] = [];
  const channel = client.channel(randomUUID());
  for (const filter of filters) {
    channel.on(
      "postgres_changes",
      { event: "*", schema: "public", ...filter } as never,
      (change: unknown) => void seen.push(change as Change),
    );
  }
  await subscribe(channel);
  return seen;
}

function token(claims: Record<string, unknown>, life: number): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const exp = Math.floor(Date.now() / 1000) + life;
  const text = `${encode({ alg: "HS256", typ: "JWT" })}.${encode({ ...claims, exp })}`;
  return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
}

/** A realtime client whose token the test chooses. */
function makeRealtimeClient(server: Server, vsn: string): RealtimeClient {
  const realtime = new RealtimeClient(server.url.replace("http", "ws") + "/realtime/v1", {
    params: { apikey: server.anonKey },
    vsn,
    timeout: waitOptions.timeout,
  });
  openClients.push({ realtime });
  return realtime;
}

const titlesOf = (changes: Change[]) => changes.map((change) => change.new.title ?? change.old.id);

/** An account without a role, signed in, with a channel on products at each of the nodes. */
async function visitorOn(nodes: Server[], vsn: string) {
  const email = `${randomUUID()}@example.com`;
  const admin = asService(nodes[0]!).auth.admin;
  const made = await admin.createUser({ email, password: ownerPassword, email_confirm: true });
  if (made.error) throw made.error;
  const channels = await Promise.all(
    nodes.map(async (node) => {
      const client = connect(node, vsn);
      const signedIn = await client.auth.signInWithPassword({ email, password: ownerPassword });
      if (signedIn.error) throw signedIn.error;
      await client.realtime.setAuth();
      const messages: string[] = [];
      const received: unknown[] = [];
      const channel = client
        .channel("visitors")
        .on(
          "postgres_changes",
          { event: "*", schema: "public", table: "products" },
          () => undefined,
        )
        .on("broadcast", { event: "hello" }, ({ payload }) => void received.push(payload))
        .on("system", {}, (payload: { message: string }) => void messages.push(payload.message));
      await subscribe(channel);
      return {
        client,
        channel,
        messages,
        received,
        accessToken: signedIn.data.session.access_token,
      };
    }),
  );
  return { id: made.data.user.id, email, admin, channels };
}

/** Expects that the end of a session closes its channels on every node, and that it can open no new ones. */
async function expectChannelsEnd(nodes: Server[], vsn: string): Promise<void> {
  const last = nodes.at(-1)!;
  const ways: ((of: Awaited<ReturnType<typeof visitorOn>>) => Promise<unknown>)[] = [
    async ({ email }) => {
      const elsewhere = connect(last, vsn);
      const signedIn = await elsewhere.auth.signInWithPassword({ email, password: ownerPassword });
      if (signedIn.error) throw signedIn.error;
      return (await elsewhere.auth.signOut({ scope: "others" })).error;
    },
    async ({ admin, id }) => (await admin.updateUserById(id, { ban_duration: "1h" })).error,
    async ({ admin, id }) => (await admin.deleteUser(id)).error,
  ];
  const going = await visitorOn(nodes, vsn);
  for (const end of ways) {
    const visitor = await visitorOn(nodes, vsn);
    expect(await end(visitor)).toBeNull();
    for (const [i, { channel, messages, accessToken }] of visitor.channels.entries()) {
      await vi.waitFor(() => expect(messages).toContain("Access was revoked"), waitOptions);
      await vi.waitFor(() => expect(channel.state).toBe("closed"), waitOptions);
      const late = makeRealtimeClient(nodes[i]!, vsn);
      await late.setAuth(accessToken);
      await expect(subscribe(late.channel("t"))).rejects.toThrow("Access was revoked");
    }
  }
  expect(going.channels.map(({ channel }) => channel.state)).toEqual(nodes.map(() => "joined"));
}

/** Expects that a role granted or removed on the command line applies to open channels on every node. */
async function expectRoleApplies(nodes: Server[], vsn: string): Promise<void> {
  const { email, channels } = await visitorOn(nodes, vsn);
  const owner = await connectOwner(nodes[0]!, vsn);
  const sender = owner.channel("visitors");
  await subscribe(sender);
  // Waits until each node has delivered a message to an owner before the role changes.
  const { data } = await owner.auth.getSession();
  const delivered = await Promise.all(
    nodes.map(async (node) => {
      const listener = makeRealtimeClient(node, vsn);
      await listener.setAuth(data.session!.access_token);
      const seen: unknown[] = [];
      const channel = listener.channel("visitors");
      channel.on("broadcast", { event: "hello" }, ({ payload }) => void seen.push(payload));
      await subscribe(channel);
      return seen;
    }),
  );
  await sender.send({ type: "broadcast", event: "hello", payload: { at: "first" } });
  for (const seen of delivered)
    await vi.waitFor(() => expect(seen).toContainEqual({ at: "first" }), waitOptions);
  await nodes[0]!.command(["owner", "add", email]);
  let n = 0;
  for (const { received } of channels) {
    await vi.waitFor(async () => {
      await sender.send({ type: "broadcast", event: "hello", payload: { n: n++ } });
      expect(received.length).toBeGreaterThan(0);
    }, waitOptions);
    expect(received).not.toContainEqual({ at: "first" });
  }
  await nodes[0]!.command(["owner", "remove", email]);
  for (const { channel, messages } of channels) {
    await vi.waitFor(() => expect(messages).toContain("Access was revoked"), waitOptions);
    await vi.waitFor(() => expect(channel.state).toBe("closed"), waitOptions);
  }
}

describe.each(engines)("live changes on %s", (engine) => {
  let server: Server;
  let writer: SupabaseClient;
  beforeAll(async () => {
    server = await startServer(engine, { env: { ATELIE_JWT_SECRET: secret } });
    writer = await asOwner(server);
  });
  afterAll(() => server.stop());

  describe.each(versions)("protocol %s", (vsn) => {
    it("RT-connect-1 RT-join-3 RT-change-1 RT-change-2 RT-change-3: inserts, updates and deletes are sent with the values that the tables API returns", async () => {
      const visitor = await watch(connect(server, vsn), { table: "products" });
      const owner = await watch(await connectOwner(server, vsn), {});
      const { data: row, error } = await writer
        .from("products")
        .insert({
          title: "Romãs, à tarde",
          tags: ["fruit", 'with "quotes", {and} more'],
          creation_date: "2024-03-12",
          artwork_type: "oil",
        })
        .select()
        .single();
      expect(error).toBeNull();
      const { data: changed } = await writer
        .from("products")
        .update({ title: "Romãs" })
        .eq("id", row.id)
        .select()
        .single();
      expect(changed).toEqual({ ...row, title: "Romãs" });
      await writer.from("products").delete().eq("id", row.id);
      for (const seen of [visitor, owner]) {
        await vi.waitFor(() => expect(seen).toHaveLength(3), waitOptions);
        expect(seen.map((change) => change.eventType)).toEqual(["INSERT", "UPDATE", "DELETE"]);
        expect(seen[0]!.new).toEqual(row);
        expect(seen[0]!.old).toEqual({});
        expect(seen[1]!.new).toEqual(changed);
        expect(seen[1]!.old).toEqual({ id: row.id });
        expect(seen[2]!.new).toEqual({});
        expect(seen[2]!.old).toEqual({ id: row.id });
        expect(seen[0]!.commit_timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
        expect(seen[0]!.errors).toBeNull();
      }
    });

    it("RT-change-3 RT-policy-1: visitors get no changes of hidden rows and messages", async () => {
      const tables = [{ table: "reviews" }, { table: "contact_submissions" }];
      const visitor = await watch(connect(server, vsn), ...tables);
      const owner = await watch(await connectOwner(server, vsn), ...tables);
      const review = { client_name: "Rita", message: "Hidden for now.", is_active: false };
      const { data: hidden } = await writer.from("reviews").insert(review).select().single();
      await writer.from("reviews").update({ is_active: true }).eq("id", hidden.id);
      await writer.from("reviews").update({ is_active: false }).eq("id", hidden.id);
      await writer.from("reviews").delete().eq("id", hidden.id);
      const sent = await connect(server, vsn).functions.invoke("submit-contact", {
        body: { name: "Inês", email: "ines@example.com", message: "A mural, please." },
      });
      expect(sent.error).toBeNull();
      const { data: shown } = await writer
        .from("reviews")
        .insert({ ...review, message: "For all.", is_active: true })
        .select()
        .single();
      await vi.waitFor(() => expect(owner).toHaveLength(6), waitOptions);
      expect(owner.map((change) => `${change.table} ${change.eventType}`)).toEqual([
        "reviews INSERT",
        "reviews UPDATE",
        "reviews UPDATE",
        "reviews DELETE",
        "contact_submissions INSERT",
        "reviews INSERT",
      ]);
      expect(owner[4]!.new).toMatchObject({ name: "Inês", message: "A mural, please." });
      await vi.waitFor(() => expect(visitor.at(-1)?.new.id).toBe(shown.id), waitOptions);
      // Of the hidden row the visitor gets only the change that has shown it.
      expect(visitor.map((change) => [change.eventType, change.new.is_active])).toEqual([
        ["UPDATE", true],
        ["INSERT", true],
      ]);
      await writer.from("reviews").delete().eq("id", shown.id);
    });

    it("RT-policy-5: visitors get no changes of an unpublished work until it is published, by hand or at its time", async () => {
      const visitor = await watch(connect(server, vsn), { table: "products" });
      const owner = await watch(await connectOwner(server, vsn), { table: "products" });
      const works = writer.from("products");
      const { data: draft } = await works
        .insert({ title: "Maré", published_at: null })
        .select()
        .single();
      await works.update({ published_at: new Date().toISOString() }).eq("id", draft.id);
      await works.update({ published_at: null }).eq("id", draft.id);
      await works
        .update({ published_at: new Date(Date.now() + 1500).toISOString() })
        .eq("id", draft.id);
      expect(
        (await connect(server, vsn).from("products").select().eq("id", draft.id)).data,
      ).toEqual([]);
      // The program itself makes the last change.
      await vi.waitFor(() => expect(owner).toHaveLength(5), waitOptions);
      await vi.waitFor(() => expect(visitor).toHaveLength(2), waitOptions);
      expect(visitor.map((change) => change.eventType)).toEqual(["UPDATE", "UPDATE"]);
      expect(visitor[1]!.new).toEqual(owner[4]!.new);
      const { data: seen } = await connect(server, vsn)
        .from("products")
        .select()
        .eq("id", draft.id)
        .single();
      expect(seen).toEqual(visitor[1]!.new);
      await works.delete().eq("id", draft.id);
    });

    it("RT-policy-7: visitors get the works of a series only when both are published", async () => {
      const slug = `s-${randomUUID()}`;
      const insert = async (table: string, row: object) =>
        (await writer.from(table).insert(row).select("id").single().throwOnError()).data
          .id as string;
      const series = await insert("series", { slug, title: "Light", is_published: false });
      const work = await insert("products", { title: "Onda", published_at: null });
      const visitor = await watch(
        connect(server, vsn),
        { table: "series_works" },
        { table: "series" },
      );
      // The service key instead of another owner: the sign-ins of all tests would exceed the rate limit.
      const owner = await watch(connect(server, vsn, server.serviceKey), { table: "series_works" });
      const pair = await insert("series_works", { series_id: series, product_id: work });
      const publish = (published_at: string | null) =>
        writer.from("products").update({ published_at }).eq("id", work).throwOnError();
      const publishSeries = (is_published: boolean) =>
        writer.from("series").update({ is_published }).eq("id", series).throwOnError();
      await publish("now");
      await publishSeries(true);
      await publish(null);
      await publish("now");
      await publishSeries(false);
      await vi.waitFor(() => expect(owner).toHaveLength(6), waitOptions);
      expect(owner.map((change) => [change.eventType, change.new.is_visible])).toEqual([
        ["INSERT", false],
        ["UPDATE", false],
        ["UPDATE", true],
        ["UPDATE", false],
        ["UPDATE", true],
        ["UPDATE", false],
      ]);
      await writer.from("series").delete().eq("id", series).throwOnError();
      await vi.waitFor(() => expect(owner).toHaveLength(7), waitOptions);
      const seen = visitor.filter((change) => change.table === "series_works");
      expect(seen.map((change) => [change.eventType, change.new.is_visible])).toEqual([
        ["UPDATE", true],
        ["UPDATE", true],
      ]);
      expect(seen[0]!.new).toEqual(owner[2]!.new);
      expect(seen[0]!.old).toEqual({ id: pair });
      expect(visitor.every((change) => change.new.is_published !== false)).toBe(true);
      await writer.from("products").delete().eq("id", work);
    });

    it("RT-join-1 RT-filter-1: changes are filtered by event and column, with several filters on one channel", async () => {
      const prefix = randomUUID();
      const client = connect(server, vsn);
      const equal = await watch(client, { table: "products", filter: `title=eq.${prefix} b` });
      const several = await watch(
        client,
        { table: "products", event: "INSERT", filter: `title=in.("${prefix} a","${prefix} c")` },
        { table: "products", event: "UPDATE", filter: `title=like.${prefix}%,in_stock=is.false` },
        { table: "products", event: "DELETE" },
      );
      const rows = ["a", "b", "c"].map((name) => ({ title: `${prefix} ${name}` }));
      const { data } = await writer.from("products").insert(rows).select("id,title");
      await writer.from("products").update({ in_stock: false }).eq("title", rows[2]!.title);
      await writer.from("products").update({ in_stock: true }).eq("title", rows[2]!.title);
      await writer.from("products").delete().eq("id", data![0]!.id);
      await vi.waitFor(() => expect(several).toHaveLength(4), waitOptions);
      expect(titlesOf(several)).toEqual([
        rows[0]!.title,
        rows[2]!.title,
        rows[2]!.title,
        data![0]!.id,
      ]);
      expect(titlesOf(equal)).toEqual([rows[1]!.title]);
      await writer.from("products").delete().like("title", `${prefix}%`);
    });

    it("RT-filter-5: the filters match and imatch use regular expressions", async () => {
      const prefix = randomUUID();
      const client = connect(server, vsn);
      const exact = await watch(client, {
        table: "products",
        event: "INSERT",
        filter: `title=match.^${prefix} [a-c]$`,
      });
      const folded = await watch(client, {
        table: "products",
        event: "INSERT",
        filter: `title=imatch.^${prefix} [a-c]$`,
      });
      const rows = ["A", "b", "bb", "d", "c"].map((name) => ({ title: `${prefix} ${name}` }));
      await writer.from("products").insert(rows);
      await vi.waitFor(() => expect(folded).toHaveLength(3), waitOptions);
      expect(titlesOf(folded)).toEqual([0, 1, 4].map((n) => rows[n]!.title));
      await vi.waitFor(() => expect(exact).toHaveLength(2), waitOptions);
      expect(titlesOf(exact)).toEqual([1, 4].map((n) => rows[n]!.title));
      await writer.from("products").delete().like("title", `${prefix}%`);
    });

    it("RT-change-3: merged rows and a new order are sent as changes", async () => {
      const seen = await watch(await connectOwner(server, vsn), { table: "reviews" });
      const rows = [1, 2, 3].map((n) => ({
        id: randomUUID(),
        client_name: `C${n}`,
        message: "Good work indeed.",
        display_order: n,
      }));
      await writer.from("reviews").insert(rows.slice(0, 2));
      await writer
        .from("reviews")
        .upsert(rows.slice(1).map((row) => ({ ...row, location: "Faro" })));
      await writer.rpc("reorder_reviews", { ids: rows.map((row) => row.id).reverse() });
      await vi.waitFor(() => expect(seen).toHaveLength(6), waitOptions);
      expect(seen.map((change) => change.eventType)).toEqual([
        "INSERT",
        "INSERT",
        "UPDATE",
        "INSERT",
        "UPDATE",
        "UPDATE",
      ]);
      await writer
        .from("reviews")
        .delete()
        .in(
          "id",
          rows.map((row) => row.id),
        );
    });

    it("RT-join-2 RT-join-4 RT-filter-2: a subscription that is not possible is rejected with the reason", async () => {
      const client = connect(server, vsn);
      await expect(watch(client, { table: "auth_users" })).rejects.toThrow("there is no table");
      await expect(watch(client, { table: "products", filter: "nope=eq.1" })).rejects.toThrow(
        "which does not exist",
      );
      await expect(watch(client, { table: "products", filter: "title=fts.a" })).rejects.toThrow(
        "is not supported in filters",
      );
      await expect(
        subscribe(client.channel("room", { config: { private: true } })),
      ).rejects.toThrow("Unauthorized");
    });

    it("RT-join-2 RT-token-1: a channel ends when its token expires, and continues with a renewed token", async () => {
      const visitor = {
        role: "authenticated",
        sub: randomUUID(),
        aud: "authenticated",
        iss: `${server.url}/auth/v1`,
      };
      const messages: { message: string; status: string }[] = [];
      const states: string[] = [];
      const [ending, renewed] = [makeRealtimeClient(server, vsn), makeRealtimeClient(server, vsn)];
      // The connections are opened before the tokens are made, because the tokens must be valid until both channels are
      // joined.
      for (const client of [ending, renewed]) {
        client.connect();
        await vi.waitFor(() => expect(client.isConnected()).toBe(true), waitOptions);
      }
      await ending.setAuth(token(visitor, 6));
      await renewed.setAuth(token(visitor, 6));
      const channel = ending.channel("t");
      channel.on(
        "system",
        {},
        (payload: { message: string; status: string }) => void messages.push(payload),
      );
      await new Promise<void>((done) => {
        channel.subscribe((status) => {
          states.push(status);
          if (status === State.SUBSCRIBED) done();
        });
      });
      const going = renewed.channel("t");
      await subscribe(going);
      await renewed.setAuth(token(visitor, 3600));
      await vi.waitFor(() => expect(states).toEqual(["SUBSCRIBED", "CLOSED"]), waitOptions);
      expect(messages).toEqual([
        { extension: "system", status: "error", message: "Token has expired", channel: "t" },
      ]);
      expect(going.state).toBe("joined");
      const late = makeRealtimeClient(server, vsn);
      await late.setAuth(token(visitor, -5));
      await expect(subscribe(late.channel("t"))).rejects.toThrow("Token has expired");
    });

    it("RT-token-3: a channel ends when its session ends", async () => {
      const owner = await connectOwner(server, vsn);
      const seen: Change[] = [];
      const messages: string[] = [];
      const channel = owner
        .channel("messages")
        .on(
          "postgres_changes",
          { event: "*", schema: "public", table: "contact_submissions" },
          (change) => void seen.push(change as never),
        )
        .on("system", {}, (payload: { message: string }) => void messages.push(payload.message));
      await subscribe(channel);
      const { data } = await owner.auth.getSession();
      const ended = await fetch(`${server.url}/auth/v1/logout?scope=local`, {
        method: "POST",
        headers: { apikey: server.anonKey, Authorization: `Bearer ${data.session!.access_token}` },
      });
      expect(ended.status).toBe(204);
      await vi.waitFor(() => expect(messages).toContain("Access was revoked"), waitOptions);
      await vi.waitFor(() => expect(channel.state).toBe("closed"), waitOptions);
      await connect(server, vsn).functions.invoke("submit-contact", {
        body: { name: "Inês", email: "ines@example.com", message: "Too late to be heard." },
      });
      expect(seen).toEqual([]);
    });

    it("RT-connect-3 RT-leave-1: heartbeats get a reply, and a channel that its client leaves is closed", async () => {
      const client = connect(server, vsn);
      const beats: string[] = [];
      client.realtime.onHeartbeat((status) => void beats.push(status));
      const channel = await subscribe(client.channel("room"));
      await client.realtime.sendHeartbeat();
      await vi.waitFor(() => expect(beats).toContain("ok"), waitOptions);
      expect(beats).not.toContain("timeout");
      expect(await channel.unsubscribe()).toBe("ok");
      expect(channel.state).toBe("closed");
    });

    it("RT-broadcast-1 RT-broadcast-2: messages are sent between owners; visitors can neither send nor receive them", async () => {
      const received: unknown[] = [];
      const own: unknown[] = [];
      const none: unknown[] = [];
      const listen = (client: SupabaseClient, list: unknown[], self = false) =>
        subscribe(
          client
            .channel("room", { config: { broadcast: { self, ack: true } } })
            .on("broadcast", { event: "move" }, ({ payload }) => void list.push(payload)),
        );
      const owner = await connectOwner(server, vsn);
      const sender = await listen(owner, own, true);
      await listen(await connectOwner(server, vsn), received);
      const visitor = await listen(connect(server, vsn), none, true);
      const payload = { x: 1, text: "olá 🎨" };
      expect(await sender.send({ type: "broadcast", event: "move", payload })).toBe("ok");
      expect(await visitor.send({ type: "broadcast", event: "move", payload: {} })).toBe("error");
      expect(await sender.httpSend("move", { x: 2 })).toEqual({ success: true });
      await expect(visitor.httpSend("move", { x: 3 })).rejects.toThrow("Only administrators");
      await vi.waitFor(() => expect(own).toEqual([payload, { x: 2 }]), waitOptions);
      await owner.removeChannel(sender);
      const unsubscribed = owner.channel("room");
      const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined); // the client warns of the fallback
      expect(await unsubscribed.send({ type: "broadcast", event: "move", payload: { x: 4 } })).toBe(
        "ok",
      );
      warn.mockRestore();
      await vi.waitFor(() => expect(received).toEqual([payload, { x: 2 }, { x: 4 }]), waitOptions);
      expect(own).toEqual([payload, { x: 2 }]);
      expect(none).toEqual([]);
    });

    it("RT-presence-1: owners see who is present", async () => {
      const join = async (name: string) => {
        const channel = (await connectOwner(server, vsn)).channel("studio", {
          config: { presence: { key: name } },
        });
        channel.on("presence", { event: "sync" }, () => undefined);
        return subscribe(channel);
      };
      const a = await join("a");
      const b = await join("b");
      expect(await a.track({ mood: "calm" })).toBe("ok");
      expect(await b.track({ mood: "busy" })).toBe("ok");
      for (const channel of [a, b]) {
        await vi.waitFor(
          () =>
            expect(channel.presenceState()).toMatchObject({
              a: [{ mood: "calm" }],
              b: [{ mood: "busy" }],
            }),
          waitOptions,
        );
      }
      expect(await a.track({ mood: "wild" })).toBe("ok");
      await vi.waitFor(
        () => expect(b.presenceState()).toMatchObject({ a: [{ mood: "wild" }] }),
        waitOptions,
      );
      expect(await b.untrack()).toBe("ok");
      await vi.waitFor(() => expect(Object.keys(a.presenceState())).toEqual(["a"]), waitOptions);
      await a.unsubscribe();
      await vi.waitFor(() => expect(Object.keys(b.presenceState())).toEqual([]), waitOptions);

      const visitor = connect(server, vsn).channel("studio");
      visitor.on("presence", { event: "sync" }, () => undefined);
      await subscribe(visitor);
      expect(await visitor.track({ mood: "curious" })).toBe("error");
    });
  });

  it("RT-token-5: the channels of a signed-in visitor end with the session: signed out elsewhere, banned or deleted", async () => {
    await expectChannelsEnd([server], "2.0.0");
  });

  it("RT-token-6: open channels follow a role that the command line grants or removes", async () => {
    await expectRoleApplies([server], "2.0.0");
  });

  it("RT-connect-1 RT-connect-2: a connection needs a key and a known protocol version", async () => {
    const address = server.url + "/realtime/v1/websocket";
    expect((await fetch(address)).status).toBe(401);
    expect((await fetch(`${address}?apikey=x.y.z`)).status).toBe(401);
    expect((await fetch(`${address}?apikey=${server.anonKey}`)).status).toBe(426);
    expect((await fetch(`${address}?apikey=${server.anonKey}&vsn=3.0.0`)).status).toBe(400);
  });

  it("RT-connect-5: a connection that sends malformed frames is closed", async () => {
    const socket = new WebSocket(
      `${server.url.replace("http", "ws")}/realtime/v1/websocket?vsn=2.0.0&apikey=${server.anonKey}`,
    );
    const code = new Promise<number>((done) => {
      socket.addEventListener("close", (event) => done(event.code));
    });
    socket.addEventListener("open", () => socket.send("{"));
    expect(await code).toBe(1007);
  });
});

it("RT-connect-4 RT-connect-7: the number of connections of one address is limited, and a stopping server closes connections with a code", async () => {
  const server = await startServer("sqlite", { env: { ATELIE_MAX_SOCKETS_PER_ADDRESS: "2" } });
  const dial = () =>
    new Promise<{ socket: WebSocket; opened: boolean; code: Promise<number> }>((done) => {
      const socket = new WebSocket(
        `${server.url.replace("http", "ws")}/realtime/v1/websocket?vsn=2.0.0&apikey=${server.anonKey}`,
      );
      const code = new Promise<number>((closed) => {
        socket.addEventListener("close", (event) => {
          closed(event.code);
          done({ socket, opened: false, code });
        });
      });
      socket.addEventListener("open", () => done({ socket, opened: true, code }));
    });
  const [first, second, third] = [await dial(), await dial(), await dial()];
  expect([first.opened, second.opened, third.opened]).toEqual([true, true, false]);
  await server.stop();
  expect([await first.code, await second.code]).toEqual([1001, 1001]);
});

describe("two nodes on one PostgreSQL", () => {
  let nodes: Server[];
  let address: string;
  let writers: SupabaseClient[];
  beforeAll(async () => {
    address = await freshPostgres();
    const env = { ATELIE_DATABASE_URL: address, ATELIE_JWT_SECRET: secret };
    nodes = [await startServer("sqlite", { env }), await startServer("sqlite", { env })];
    await asOwner(nodes[0]!);
    writers = await Promise.all(nodes.map((node) => connectOwner(node, "2.0.0")));
  });
  afterAll(async () => {
    for (const node of nodes) await node.stop();
  });

  it("RT-node-1: a change on one node reaches the clients of both", async () => {
    const seen = await Promise.all(
      nodes.flatMap((node) =>
        versions.map(async (vsn) => watch(await connectOwner(node, vsn), { table: "products" })),
      ),
    );
    for (const [i, node] of nodes.entries()) {
      const writer = await connectOwner(node, "2.0.0");
      const { error } = await writer.from("products").insert({ title: `from node ${i}` });
      expect(error).toBeNull();
    }
    for (const changes of seen) {
      await vi.waitFor(
        () => expect(titlesOf(changes)).toEqual(["from node 0", "from node 1"]),
        waitOptions,
      );
    }
  });

  it("RT-token-5 RT-token-6: ended sessions and changed roles on one node affect channels on both", async () => {
    await expectChannelsEnd(nodes, "2.0.0");
    await expectRoleApplies(nodes, "2.0.0");
  });

  it("RT-node-2: messages and presence pass between the nodes", async () => {
    const received: unknown[] = [];
    const channels = await Promise.all(
      nodes.map(async (node, i) => {
        const channel = (await connectOwner(node, "2.0.0")).channel("studio", {
          config: { presence: { key: `node ${i}` } },
        });
        channel.on("presence", { event: "sync" }, () => undefined);
        channel.on("broadcast", { event: "hello" }, ({ payload }) => void received.push(payload));
        return subscribe(channel);
      }),
    );
    await channels[0]!.send({ type: "broadcast", event: "hello", payload: { from: 0 } });
    await vi.waitFor(() => expect(received).toEqual([{ from: 0 }]), waitOptions);
    await channels[1]!.send({ type: "broadcast", event: "hello", payload: { from: 1 } });
    await vi.waitFor(() => expect(received).toEqual([{ from: 0 }, { from: 1 }]), waitOptions);
    await Promise.all(channels.map((channel) => channel.track({})));
    for (const channel of channels) {
      await vi.waitFor(
        () => expect(Object.keys(channel.presenceState()).sort()).toEqual(["node 0", "node 1"]),
        waitOptions,
      );
    }
  });

  it("RT-node-3: no change is lost when the database ends the listening connections", async () => {
    const writer = writers[0]!;
    const seen = await Promise.all(
      nodes.map((node) => watch(connect(node, "2.0.0"), { table: "products", event: "INSERT" })),
    );
    const given = new URL(address.replace("postgres:///", "postgres://socket/"));
    const kill =
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'atelie listen'";
    const [host, database] = [given.searchParams.get("host")!, given.pathname.slice(1)];
    const endConnections = () =>
      promisify(execFile)("psql", ["-h", host, "-U", "postgres", "-d", database, "-Atc", kill]);
    let ended = 0;
    const wanted = Array.from({ length: 60 }, (_, i) => `row ${i}`);
    for (const [i, title] of wanted.entries()) {
      if (i % 20 === 10)
        ended += (await endConnections()).stdout.split("\n").filter((row) => row === "t").length;
      expect((await writer.from("products").insert({ title })).error).toBeNull();
    }
    expect(ended).toBeGreaterThan(0);
    for (const changes of seen) {
      await vi.waitFor(() => expect(titlesOf(changes)).toEqual(wanted), waitOptions);
    }
  });
});
