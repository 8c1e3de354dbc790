import { expect, test, vi } from "vitest";
import { ABORTED_LOAD_MS, limitPageLoads } from "@/features/artworks/limit-page-loads";

/** Starts loads that end when `end` is called with their number. `started` has the numbers in the order of their start. */
function makeLoads() {
  const started: number[] = [];
  const ends = new Map<number, () => void>();
  const begin = (n: number, signal = new AbortController().signal) =>
    limitPageLoads(() => {
      started.push(n);
      return new Promise<number>((resolve) => ends.set(n, () => resolve(n)));
    }, signal);
  return { started, begin, end: (n: number) => ends.get(n)!() };
}

test("four pages are loaded at a time, and then the newest, but none that was aborted meanwhile", async () => {
  const { started, begin, end } = makeLoads();
  const first = [1, 2, 3, 4].map((n) => begin(n));
  const fifth = begin(5);
  const aborted = new AbortController();
  const sixth = begin(6, aborted.signal);
  const seventh = begin(7);
  expect(started).toEqual([1, 2, 3, 4]);
  aborted.abort(new Error("scrolled past"));
  await expect(sixth).rejects.toThrow("scrolled past");
  end(2);
  expect(await first[1]).toBe(2);
  await expect.poll(() => started).toEqual([1, 2, 3, 4, 7]);
  end(1);
  await expect.poll(() => started).toEqual([1, 2, 3, 4, 7, 5]);
  for (const n of [3, 4, 5, 7]) end(n);
  expect(await Promise.all([...first, fifth, seventh])).toEqual([1, 2, 3, 4, 5, 7]);
});

test("a failed load gives its place to the next one, and an aborted signal starts none", async () => {
  const failed = limitPageLoads(
    () => Promise.reject(new Error("no network")),
    new AbortController().signal,
  );
  await expect(failed).rejects.toThrow("no network");
  const { started, begin, end } = makeLoads();
  await expect(begin(0, AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone");
  const loads = [1, 2, 3, 4].map((n) => begin(n));
  expect(started).toEqual([1, 2, 3, 4]);
  for (const n of started) end(n);
  expect(await Promise.all(loads)).toEqual([1, 2, 3, 4]);
});

test("an aborted load keeps its place while the server may still run its query", async () => {
  vi.useFakeTimers();
  const { started, begin, end } = makeLoads();
  const aborted = new AbortController();
  const first = limitPageLoads(
    () =>
      new Promise((_resolve, reject) =>
        aborted.signal.addEventListener("abort", () => reject(aborted.signal.reason as Error)),
      ),
    aborted.signal,
  );
  const loads = [1, 2, 3, 4].map((n) => begin(n));
  aborted.abort(new Error("scrolled past"));
  await expect(first).rejects.toThrow("scrolled past");
  await vi.advanceTimersByTimeAsync(ABORTED_LOAD_MS - 1);
  expect(started).toEqual([1, 2, 3]);
  await vi.advanceTimersByTimeAsync(1);
  expect(started).toEqual([1, 2, 3, 4]);
  for (const n of started) end(n);
  expect(await Promise.all(loads)).toEqual([1, 2, 3, 4]);
  vi.useRealTimers();
});
