import { useMutation } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";
import { callFunction } from "@/lib/call-function";

/** Asks for the key that webhooks are signed with; kept nowhere but in the component that asked. */
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
