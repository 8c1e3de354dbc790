// Properties of supabase-js that docs/product.md relies on, read from the shipped client.
import { createClient } from "@supabase/supabase-js";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

const url = "http://backend.test";
let refused = 503; // status of the responses to sign-outs and refreshes
let requests: { at: number; url: string; body: unknown }[];

const started = () => requests.map(({ at }) => at - requests[0]!.at);

function client(storage = new Map<string, string>()) {
  return createClient(url, "public-key", {
    auth: {
      autoRefreshToken: false,
      storage: {
        getItem: (key) => storage.get(key) ?? null,
        setItem: (key, value) => void storage.set(key, value),
        removeItem: (key) => void storage.delete(key),
      },
    },
    global: {
      fetch: async (address, init) => {
        const request = new Request(address, init);
        const text = await request.text();
        const body = text ? (JSON.parse(text) as unknown) : undefined;
        requests.push({ at: Date.now(), url: request.url, body });
        if (request.url.includes("/object/list/")) return Response.json([]);
        if (/\/(token|logout)/.test(request.url)) return Response.json({}, { status: refused });
        return Response.json({});
      },
    },
  });
}

function session(secondsLeft: number) {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const expires_at = Math.floor(Date.now() / 1000) + secondsLeft;
  return {
    access_token: `${encode({ alg: "HS256", typ: "JWT" })}.${encode({ sub: "owner", exp: expires_at })}.c2ln`,
    refresh_token: "refresh",
    token_type: "bearer",
    expires_in: secondsLeft,
    expires_at,
    user: {
      id: "owner",
      aud: "authenticated",
      app_metadata: {},
      user_metadata: {},
      created_at: "",
    },
  };
}

beforeEach(() => {
  requests = [];
  vi.useFakeTimers();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe("token refresh", () => {
  const stored = (secondsLeft: number) =>
    new Map([["sb-backend-auth-token", JSON.stringify(session(secondsLeft))]]);
  const refreshes = () => requests.filter((request) => request.url.includes("refresh_token"));

  it("S9-auth-1: the client checks every 30 seconds and refreshes the token when 3 ticks or fewer remain", async () => {
    const { auth } = client(stored(125));
    await auth.initialize();
    await auth.startAutoRefresh();
    await vi.advanceTimersByTimeAsync(29_000);
    expect(refreshes()).toEqual([]);
    // At the next check 95 seconds are left, rounded down to 3 ticks.
    await vi.advanceTimersByTimeAsync(2000);
    expect(refreshes()).not.toEqual([]);
    await auth.stopAutoRefresh();
  });

  it("S9-auth-2: a failed refresh is retried after 200 ms, then with doubled waits, for less than 30 seconds", async () => {
    const { auth } = client(stored(-10));
    vi.spyOn(console, "error").mockImplementation(() => undefined); // the client logs it
    refused = 503;
    const done = auth.getSession();
    await vi.advanceTimersByTimeAsync(60_000);
    expect((await done).data.session).toBeNull();
    expect(started().slice(0, 6)).toEqual([0, 200, 600, 1400, 3000, 6200]);
    expect(started().at(-1)).toBeLessThan(30_000);
  });
});

it("S4-auth-1 S4-session-1: the session is stored under a key of the project and shared with other tabs", async () => {
  const storage = new Map<string, string>([
    ["sb-backend-auth-token", JSON.stringify(session(3600))],
  ]);
  const { data } = await client(storage).auth.getSession();
  expect(data.session?.user.id).toBe("owner");
});

it.each([401, 403, 404])(
  "S8-client-1: a sign-out refused with %i clears the local session",
  async (status) => {
    refused = status;
    const storage = new Map([["sb-backend-auth-token", JSON.stringify(session(3600))]]);
    const { auth } = client(storage);
    expect((await auth.signOut({ scope: "local" })).error).toBeNull();
    expect(requests.map((request) => request.url)).toEqual([`${url}/auth/v1/logout?scope=local`]);
    expect(storage.size).toBe(0);
  },
);

it("S9-client-4: a list of files is requested 100 at a time", async () => {
  await client().storage.from("cover-images").list();
  expect(requests[0]!.body).toMatchObject({ limit: 100 });
});

it("S5-rule-1 S5-rule-5 S8-client-3: the client sends these requests for the calls of the site", async () => {
  const { auth } = client();
  const nothing = { password: "x" } as never;
  expect((await auth.signInWithPassword(nothing)).error?.message).toBe(
    "You must provide either an email or phone number and a password",
  );
  expect((await auth.signUp(nothing)).error?.message).toBe(
    "You must provide either an email or phone number and a password",
  );
  expect((await auth.signInWithOtp({} as never)).error?.message).toBe(
    "You must provide either an email or phone number.",
  );
  expect((await auth.resend({} as never)).error?.message).toBe(
    "You must provide either an email or phone number and a type",
  );
  expect((await auth.setSession({ access_token: "", refresh_token: "" })).error?.name).toBe(
    "AuthSessionMissingError",
  );
  expect((await auth.getUser()).error?.name).toBe("AuthSessionMissingError");
  expect(requests).toEqual([]);
});
