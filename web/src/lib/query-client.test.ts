import { expect, it } from "vitest";
import { makeQueryClient, retryDelay } from "@/lib/query-client";

it("S9-cache-1: keeps data for five minutes, and retries three times with backoff", () => {
  const { queries } = makeQueryClient().getDefaultOptions();
  expect(queries).toMatchObject({ gcTime: 300_000, retry: 3 });
  expect([0, 1, 2, 3, 4, 5, 9].map(retryDelay)).toEqual([
    1000, 2000, 4000, 8000, 16_000, 30_000, 30_000,
  ]);
});

it("treats the data of the page as fresh, and as stale if rows are missing", () => {
  const client = makeQueryClient([
    [["whole"], 1],
    [["cut"], 2, true],
  ]);
  const isStale = (key: string) =>
    client
      .getQueryCache()
      .find({ queryKey: [key] })
      ?.isStaleByTime(60_000);
  expect([client.getQueryData(["whole"]), isStale("whole")]).toEqual([1, false]);
  expect([client.getQueryData(["cut"]), isStale("cut")]).toEqual([2, true]);
});
