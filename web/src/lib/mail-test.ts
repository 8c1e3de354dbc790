import { useMutation, useQuery } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";
import { callFunction } from "@/lib/call-function";

/**
 * The result of a test mail, with which the owner checks that the site can send mail. `to` is the owner's address. `result` is one of:
 * - "sent": the mail server has accepted the mail
 * - "kept": the mail was written to a file, because no mail server is configured
 * - "failed": `error` says why
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
