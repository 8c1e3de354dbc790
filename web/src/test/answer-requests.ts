import { onTestFinished, vi } from "vitest";

/** A request that the code under test has sent. `body` is parsed JSON. */
export type SeenRequest = {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: Headers;
  body: unknown;
};
type Answer = { status?: number; headers?: Record<string, string>; json: unknown } | Error;

/** Replaces fetch until the end of the test. `answer` makes each response; an Error rejects. Returns the list of requests. */
export function answerRequests(answer: (request: SeenRequest) => Answer): SeenRequest[] {
  const seen: SeenRequest[] = [];
  vi.stubGlobal("fetch", async (input: RequestInfo | URL, init?: RequestInit) => {
    const sent = new Request(input, init);
    const url = new URL(sent.url);
    const text = await sent.text();
    const request = {
      method: sent.method,
      path: url.pathname,
      query: url.searchParams,
      headers: sent.headers,
      body: text ? (JSON.parse(text) as unknown) : undefined,
    };
    seen.push(request);
    const reply = answer(request);
    if (reply instanceof Error) throw reply;
    return Response.json(reply.json, { status: reply.status ?? 200, headers: reply.headers });
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  return seen;
}
