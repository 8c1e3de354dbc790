import type { OwnerBackend } from "@/lib/backend";
import { messageOf } from "@/lib/errors";

/**
 * Calls a server function as the signed-in owner and returns its answer. Rejects with an Error that has the function's
 * message.
 */
export async function callFunction<Answer>(
  backend: OwnerBackend,
  name: string,
  body: object,
  signal?: AbortSignal,
): Promise<Answer> {
  const { data, error } = await backend.functions.invoke<Answer>(name, { body, signal });
  if (!error && data !== null) return data;
  const response: unknown = (error as { context?: unknown } | null)?.context;
  // There is no response without a network, and no JSON if a proxy answered instead of the server.
  const answer: unknown =
    response instanceof Response ? await response.json().catch(() => null) : null;
  const message = (answer as { error?: unknown } | null)?.error;
  throw new Error(typeof message === "string" ? message : messageOf(error), { cause: error });
}
