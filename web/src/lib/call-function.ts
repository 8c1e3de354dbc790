import type { OwnerBackend } from "@/lib/backend";
import { messageOf } from "@/lib/errors";

/**
 * Calls a function of the server (/functions/v1/<name>) as the signed-in owner and returns the JSON of the response. A failed call
 * rejects with an Error that has the message of the response, and the error of supabase-js as its cause.
 */
export async function callFunction<Result>(
  backend: OwnerBackend,
  name: string,
  body: object,
  signal?: AbortSignal,
): Promise<Result> {
  const { data, error } = await backend.functions.invoke<Result>(name, { body, signal });
  if (!error && data !== null) return data;
  // supabase-js puts the Response of a failed call into error.context.
  const response: unknown = (error as { context?: unknown } | null)?.context;
  // There is no response without a network, and no JSON if a proxy responded instead of the server.
  const json: unknown =
    response instanceof Response ? await response.json().catch(() => null) : null;
  const message = (json as { error?: unknown } | null)?.error;
  throw new Error(typeof message === "string" ? message : messageOf(error), { cause: error });
}
