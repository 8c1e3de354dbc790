import { expect, it, vi } from "vitest";
import { fetchWithRights, onRightsDoubted } from "@/lib/rights";

const rest = "http://backend.test/rest/v1/products";
const asOwner = { headers: { apikey: "public", Authorization: "Bearer old" } };

/** Answers in this order, and notes with which token each was asked. */
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
  return { listener, stop: onRightsDoubted(listener) };
}

it("renews a token that is too old and asks again", async () => {
  const tokens = answer(401, 200);
  const { listener, stop } = doubts();
  const response = await fetchWithRights(async () => "new")(rest, asOwner);
  expect(response.status).toBe(200);
  expect(tokens).toEqual(["Bearer old", "Bearer new"]);
  expect(listener).not.toHaveBeenCalled();
  stop();
});

it("has the role looked up when a fresh token is refused as well", async () => {
  answer(403);
  const { listener, stop } = doubts();
  const response = await fetchWithRights(async () => "new")(rest, asOwner);
  expect(response.status).toBe(403);
  expect(listener).toHaveBeenCalledOnce();
  stop();
  await fetchWithRights(async () => "new")(rest, asOwner);
  expect(listener).toHaveBeenCalledOnce();
});

it("renews once for requests that are refused together", async () => {
  answer(401, 401, 401, 200);
  const renew = vi.fn(async () => "new");
  const ask = fetchWithRights(renew);
  await Promise.all([ask(rest, asOwner), ask(rest, asOwner), ask(rest, asOwner)]);
  expect(renew).toHaveBeenCalledOnce();
});

it.each([
  ["what the service of the tokens refuses", "http://backend.test/auth/v1/token", asOwner],
  [
    "what nobody's session was sent with",
    rest,
    { headers: { apikey: "public", Authorization: "Bearer public" } },
  ],
])("leaves alone %s", async (_, address, init) => {
  const tokens = answer(401);
  const renew = vi.fn(async () => "new");
  expect((await fetchWithRights(renew)(address, init)).status).toBe(401);
  expect(renew).not.toHaveBeenCalled();
  expect(tokens).toHaveLength(1);
});

it("gives back the refusal when the session is over", async () => {
  const tokens = answer(401);
  expect((await fetchWithRights(async () => null)(rest, asOwner)).status).toBe(401);
  expect(tokens).toHaveLength(1);
});
