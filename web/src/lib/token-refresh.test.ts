import { expect, it, vi } from "vitest";
import { fetchWithTokenRefresh, onAccessDenied } from "@/lib/token-refresh";

const rest = "http://backend.test/rest/v1/products";
const asOwner = { headers: { apikey: "public", Authorization: "Bearer old" } };

/** Answers with these statuses in order, and records the token of each request. */
function answer(...statuses: number[]) {
  const tokens: (string | null)[] = [];
  vi.spyOn(globalThis, "fetch").mockImplementation(async (_, init) => {
    tokens.push(new Headers(init?.headers).get("Authorization"));
    return new Response(null, { status: statuses[tokens.length - 1] ?? statuses.at(-1)! });
  });
  return tokens;
}

function doubts() {
  const listener = vi.fn();
  return { listener, stop: onAccessDenied(listener) };
}

it("refreshes a rejected token and retries the request", async () => {
  const tokens = answer(401, 200);
  const { listener, stop } = doubts();
  const response = await fetchWithTokenRefresh(async () => "new")(rest, asOwner);
  expect(response.status).toBe(200);
  expect(tokens).toEqual(["Bearer old", "Bearer new"]);
  expect(listener).not.toHaveBeenCalled();
  stop();
});

it("calls the listeners when a fresh token is rejected too", async () => {
  answer(403);
  const { listener, stop } = doubts();
  const response = await fetchWithTokenRefresh(async () => "new")(rest, asOwner);
  expect(response.status).toBe(403);
  expect(listener).toHaveBeenCalledOnce();
  stop();
  await fetchWithTokenRefresh(async () => "new")(rest, asOwner);
  expect(listener).toHaveBeenCalledOnce();
});

it("refreshes once for requests that are rejected at the same time", async () => {
  answer(401, 401, 401, 200);
  const renew = vi.fn(async () => "new");
  const ask = fetchWithTokenRefresh(renew);
  await Promise.all([ask(rest, asOwner), ask(rest, asOwner), ask(rest, asOwner)]);
  expect(renew).toHaveBeenCalledOnce();
});

it.each([
  ["a request to the auth service", "http://backend.test/auth/v1/token", asOwner],
  [
    "a request without a session",
    rest,
    { headers: { apikey: "public", Authorization: "Bearer public" } },
  ],
])("does not refresh the token after %s is rejected", async (_, address, init) => {
  const tokens = answer(401);
  const renew = vi.fn(async () => "new");
  expect((await fetchWithTokenRefresh(renew)(address, init)).status).toBe(401);
  expect(renew).not.toHaveBeenCalled();
  expect(tokens).toHaveLength(1);
});

it("returns the rejected response when the session has ended", async () => {
  const tokens = answer(401);
  expect((await fetchWithTokenRefresh(async () => null)(rest, asOwner)).status).toBe(401);
  expect(tokens).toHaveLength(1);
});
