import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { expect, it } from "vitest";
import { invalidateAll } from "@/lib/invalidate-all";

it("fetches a query again whose first fetch began before the change", async () => {
  const cache = new QueryClient();
  const answers: ((value: string) => void)[] = [];
  const observer = new QueryObserver(cache, {
    queryKey: ["messages", "review"],
    queryFn: () => new Promise<string>((done) => answers.push(done)),
  });
  const unsubscribe = observer.subscribe(() => undefined);
  expect(answers).toHaveLength(1);
  const done = invalidateAll(cache, ["messages"]);
  answers[0]!("before");
  await expect.poll(() => answers.length).toBe(2);
  answers[1]!("after");
  await done;
  expect(observer.getCurrentResult().data).toBe("after");
  unsubscribe();
});
