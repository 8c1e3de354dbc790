import { useMutation } from "@tanstack/react-query";
import { usePublicBackend } from "@/lib/backend";
import type { ContactValues } from "@/features/contact/schema";

type ResponseBody = { success: boolean; message?: string; error?: string };

/** What is sent: the values of the form, and the id of the work that an enquiry asks about. */
type SentMessage = ContactValues & { artwork_id: string | undefined };

/** Sends the values of the contact form to the server's function. */
export function useSubmitContact() {
  const backend = usePublicBackend();
  return useMutation({
    mutationFn: async (values: SentMessage) => {
      const body = (await backend.invoke("submit-contact", values)) as ResponseBody | null;
      // The message counts as accepted only if the response body contains success: true, whatever the HTTP status.
      if (body?.success !== true) throw new Error(body?.error ?? "The message was not accepted");
    },
  });
}
