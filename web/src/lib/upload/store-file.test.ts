import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { RESUMABLE_FROM_BYTES, UPLOAD_RETRY_DELAYS_MS } from "@/lib/upload/limits";
import { storeFile } from "@/lib/upload/store-file";
import { resumableUploads } from "@/test/resumable";

const apiUrl = window.location.origin;
const address = `${apiUrl}/storage/v1/object/product-images/a.png`;
const endpoint = `${apiUrl}/storage/v1/upload/resumable`;
const stored = new Map<string, number>();
const tokens: (string | null)[] = [];
const server = setupServer(...resumableUploads(apiUrl, (name, length) => stored.set(name, length)));
beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
beforeEach(() => {
  stored.clear();
  tokens.length = 0;
  // A fake clock counts the waits instead of waiting.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
  server.resetHandlers();
});
afterAll(() => server.close());

let issued = 0;
const request = (bytes: number, mime = "image/png") => ({
  apiUrl,
  anonKey: "key",
  token: async () => `token-${++issued}`,
  bucket: "product-images" as const,
  name: mime === "image/png" ? "a.png" : "a.mp4",
  file: new File([new Uint8Array(bytes)], "a.png"),
  mime,
});

/** Advances the clock over the waits between attempts until the upload has ended. */
async function outcome<T>(work: Promise<T>): Promise<T> {
  const decided = Promise.allSettled([work]).then(() => true);
  const aMoment = async () => {
    await vi.advanceTimersByTimeAsync(100);
    await new Promise((resolve) => setImmediate(resolve));
    return false;
  };
  while (!(await Promise.race([decided, aMoment()])));
  return work;
}

/** Sends these responses in order; the last one repeats. */
function answers(...list: (() => Response)[]) {
  let n = 0;
  server.use(
    http.post(address, ({ request: sent }) => {
      tokens.push(sent.headers.get("authorization"));
      return list[Math.min(n++, list.length - 1)]!();
    }),
  );
}
const ok = () => HttpResponse.json({ Id: "1" });
const taken = () => HttpResponse.json({ statusCode: "409", message: "exists" }, { status: 400 });

it("A-up-offline: sends a small file again after a lost connection, with a fresh token, and stores it once", async () => {
  answers(
    () => HttpResponse.error(),
    () => new HttpResponse(null, { status: 503 }),
    taken,
  );
  await expect(outcome(storeFile(request(3)))).resolves.toBe("a.png");
  expect(new Set(tokens).size).toBe(3);
});

it("fails if the name existed before the first attempt", async () => {
  answers(taken);
  await expect(outcome(storeFile(request(3)))).rejects.toMatchObject({ status: 409 });
});

it("fails after the last retry of a lost connection, and immediately if the server rejects the file", async () => {
  answers(() => HttpResponse.error());
  await expect(outcome(storeFile(request(3)))).rejects.toMatchObject({ status: 0 });
  expect(tokens).toHaveLength(1 + UPLOAD_RETRY_DELAYS_MS.length);
  tokens.length = 0;
  answers(() => HttpResponse.json({ statusCode: "413", message: "Too large" }, { status: 400 }));
  await expect(outcome(storeFile(request(3)))).rejects.toMatchObject({
    status: 413,
    message: "Too large",
  });
  expect(tokens).toHaveLength(1);
});

it("A-up-offline: waits without limit while offline, until cancelled or online", async () => {
  const online = vi.spyOn(navigator, "onLine", "get").mockReturnValue(false);
  answers(() => HttpResponse.error(), ok);
  const leave = new AbortController();
  const waiting = storeFile({ ...request(3), signal: leave.signal });
  await vi.waitFor(() => expect(tokens).toHaveLength(1));
  await vi.advanceTimersByTimeAsync(600_000);
  expect(tokens).toHaveLength(1);
  online.mockReturnValue(true);
  window.dispatchEvent(new Event("online"));
  await expect(outcome(waiting)).resolves.toBe("a.png");

  online.mockReturnValue(false);
  answers(() => HttpResponse.error());
  const cancelled = storeFile({ ...request(3), signal: leave.signal });
  await vi.waitFor(() => expect(tokens).toHaveLength(3));
  leave.abort();
  await expect(cancelled).rejects.toMatchObject({ name: "AbortError" });
});

it("uploads large files and all videos in chunks", async () => {
  await outcome(storeFile(request(2 * RESUMABLE_FROM_BYTES + 5)));
  expect([...stored]).toEqual([["a.png", 2 * RESUMABLE_FROM_BYTES + 5]]);
  await outcome(storeFile(request(5, "video/mp4")));
  expect(stored.get("a.mp4")).toBe(5);
});

it("continues with the interrupted chunk, with a new token for each request", async () => {
  let cut = false;
  server.use(
    http.patch(`${endpoint}/:id`, ({ request: sent }) => {
      tokens.push(sent.headers.get("authorization"));
      if (cut) return undefined;
      cut = true;
      return HttpResponse.error();
    }),
  );
  await outcome(storeFile(request(2 * RESUMABLE_FROM_BYTES)));
  expect(stored.get("a.png")).toBe(2 * RESUMABLE_FROM_BYTES);
  expect(tokens).toHaveLength(2);
  expect(new Set(tokens).size).toBe(2);
});

it("continues the same upload if the server cannot tell its offset at first", async () => {
  const created = vi.fn();
  server.use(
    http.post(endpoint, () => {
      created();
      return undefined;
    }),
    http.patch(`${endpoint}/:id`, () => HttpResponse.error(), { once: true }),
    http.head(`${endpoint}/:id`, () => new HttpResponse(null, { status: 429 }), { once: true }),
    http.head(`${endpoint}/:id`, () => new HttpResponse(null, { status: 503 }), { once: true }),
  );
  await expect(outcome(storeFile(request(2 * RESUMABLE_FROM_BYTES)))).resolves.toBe("a.png");
  expect(stored.get("a.png")).toBe(2 * RESUMABLE_FROM_BYTES);
  expect(created).toHaveBeenCalledOnce();
});

it("deletes a cancelled upload on the server", async () => {
  const ended = vi.fn();
  const leave = new AbortController();
  server.use(
    http.patch(`${endpoint}/:id`, () => {
      leave.abort();
      return HttpResponse.error();
    }),
    http.delete(`${endpoint}/:id`, () => {
      ended();
      return new HttpResponse(null, { status: 204, headers: { "Tus-Resumable": "1.0.0" } });
    }),
  );
  await expect(
    storeFile({ ...request(2 * RESUMABLE_FROM_BYTES), signal: leave.signal }),
  ).rejects.toMatchObject({ name: "AbortError" });
  await vi.waitFor(() => expect(ended).toHaveBeenCalledOnce());
});

it("reports the server's message for a rejected chunk", async () => {
  server.use(http.post(endpoint, () => new HttpResponse("mime type not allowed", { status: 415 })));
  await expect(storeFile(request(5, "video/mp4"))).rejects.toMatchObject({
    status: 415,
    message: "mime type not allowed",
  });
});
