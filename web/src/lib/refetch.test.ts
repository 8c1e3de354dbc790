import { onlineManager, QueryObserver } from "@tanstack/react-query";
import { afterEach, expect, it, vi } from "vitest";
import { makeQueryClient } from "@/lib/query-client";
import { refetch } from "@/lib/refetch";

const key = ["rows"];
let unsubscribe = () => {};

/** Returns a client with one query that is in use. */
function makeQueryInUse(queryFn: () => Promise<string>) {
  const cache = makeQueryClient();
  unsubscribe = new QueryObserver(cache, { queryKey: key, queryFn }).subscribe(() => {});
  return cache;
}

afterEach(() => {
  unsubscribe();
  onlineManager.setOnline(true);
});

it("resolves when the rows have been fetched again", async () => {
  let answer = "old";
  const cache = makeQueryInUse(() => Promise.resolve(answer));
  await vi.waitFor(() => expect(cache.getQueryData(key)).toBe("old"));
  answer = "new";
  await refetch(cache, key);
  expect(cache.getQueryData(key)).toBe("new");
});

it("fetches the rows again if their first fetch began before the change", async () => {
  const answers: ((value: string) => void)[] = [];
  const cache = makeQueryInUse(() => new Promise((done) => answers.push(done)));
  const done = refetch(cache, key);
  answers[0]!("old");
  await vi.waitFor(() => expect(answers).toHaveLength(2));
  answers[1]!("new");
  await done;
  expect(cache.getQueryData(key)).toBe("new");
});

it("does not wait for a fetch that began before the network was lost", async () => {
  const fetchRows = vi.fn<() => Promise<string>>(() => Promise.reject(new TypeError("no network")));
  const cache = makeQueryInUse(fetchRows);
  await vi.waitFor(() => expect(fetchRows).toHaveBeenCalledOnce());
  expect(cache.getQueryState(key)?.fetchStatus).toBe("fetching"); // it retries in a second
  onlineManager.setOnline(false);
  await refetch(cache, key);
  expect(cache.getQueryState(key)).toMatchObject({ status: "pending", isInvalidated: true });
});

it("does not wait when the network is lost during the fetch", async () => {
  const cache = makeQueryInUse(() => new Promise(() => {}));
  const done = refetch(cache, key);
  onlineManager.setOnline(false);
  await done;
  expect(cache.getQueryState(key)?.fetchStatus).toBe("fetching");
});
