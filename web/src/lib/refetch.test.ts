import { onlineManager, QueryObserver } from "@tanstack/react-query";
import { afterEach, expect, it, vi } from "vitest";
import { makeQueryClient } from "@/lib/query-client";
import { refetch } from "@/lib/refetch";

const key = ["rows"];
let unsubscribe = () => {};

/** Returns a client with one query that is in use. */
function makeQueryInUse(queryFn: () => Promise<string>) {
  const queryClient = makeQueryClient();
  unsubscribe = new QueryObserver(queryClient, { queryKey: key, queryFn }).subscribe(() => {});
  return queryClient;
}

afterEach(() => {
  unsubscribe();
  onlineManager.setOnline(true);
});

it("resolves when the rows have been fetched again", async () => {
  let answer = "old";
  const queryClient = makeQueryInUse(() => Promise.resolve(answer));
  await vi.waitFor(() => expect(queryClient.getQueryData(key)).toBe("old"));
  answer = "new";
  await refetch(queryClient, key);
  expect(queryClient.getQueryData(key)).toBe("new");
});

it("fetches the rows again if their first fetch began before the change", async () => {
  const answers: ((value: string) => void)[] = [];
  const queryClient = makeQueryInUse(() => new Promise((done) => answers.push(done)));
  const done = refetch(queryClient, key);
  answers[0]!("old");
  await vi.waitFor(() => expect(answers).toHaveLength(2));
  answers[1]!("new");
  await done;
  expect(queryClient.getQueryData(key)).toBe("new");
});

it("does not wait for a fetch that began before the network was lost", async () => {
  const fetchRows = vi.fn<() => Promise<string>>(() => Promise.reject(new TypeError("no network")));
  const queryClient = makeQueryInUse(fetchRows);
  await vi.waitFor(() => expect(fetchRows).toHaveBeenCalledOnce());
  expect(queryClient.getQueryState(key)?.fetchStatus).toBe("fetching"); // it retries in a second
  onlineManager.setOnline(false);
  await refetch(queryClient, key);
  expect(queryClient.getQueryState(key)).toMatchObject({ status: "pending", isInvalidated: true });
});

it("does not wait when the network is lost during the fetch", async () => {
  const queryClient = makeQueryInUse(() => new Promise(() => {}));
  const done = refetch(queryClient, key);
  onlineManager.setOnline(false);
  await done;
  expect(queryClient.getQueryState(key)?.fetchStatus).toBe("fetching");
});
