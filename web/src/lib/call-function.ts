import type { OwnerBackend } from "@/lib/backend";
import { messageOf } from "@/lib/errors";

/** Calls a server function; an error has the function's own words. */
export async function callFunction<Answer>(
  backend: OwnerBackend,
  name: string,
  body: object,
  signal?: AbortSignal,
): Promise<Answer> {
  const { data, error } = await backend.functions.invoke<Answer>(name, { body, signal });
  if (!error && data !== null) return data;
  const response: unknown = (error as { context?: unknown } | null)?.context;
  // A network that is down has no answer, and a proxy may have answered something else than JSON.
  const answer: unknown =
    response instanceof Response ? await response.json().catch(() => null) : null;
  const told = (answer as { error?: unknown } | null)?.error;
  throw new Error(typeof told === "string" ? told : messageOf(error), { cause: error });
}
