import { useMutation } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";
import { callFunction } from "@/lib/call-function";

/**
 * Fetches the secret key with which the server signs webhook requests (requests that report new messages). It is a mutation and not
 * a query, so that the query cache does not keep the key.
 */
export function useWebhookKey() {
  const backend = useOwnerBackend();
  return useMutation({
    mutationFn: async () => {
      const { secret } = await callFunction<{ secret: string }>(backend, "contact-notices", {
        action: "webhook-secret",
      });
      return secret;
    },
  });
}
