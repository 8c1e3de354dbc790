import { useMutation, useQuery } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";
import { callFunction } from "@/lib/call-function";

/**
 * The result of a test mail: "sent" to the mail server, "kept" as a file because no mail server is configured, or
 * "failed". `to` is the owner's address, `error` why the mail failed.
 */
export type MailTest = { result: "sent" | "kept" | "failed"; to: string; error?: string };

/** Whether a mail server is configured. */
export function useMailServer() {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: ["mail", "server"],
    queryFn: async ({ signal }) => {
      const { server } = await callFunction<{ server: boolean }>(
        backend,
        "mail-test",
        { action: "status" },
        signal,
      );
      return server;
    },
  });
}

/** Sends a test mail to the owner's address. */
export function useMailTest() {
  const backend = useOwnerBackend();
  return useMutation({
    mutationFn: () => callFunction<MailTest>(backend, "mail-test", { action: "send" }),
  });
}
