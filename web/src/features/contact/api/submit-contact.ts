import { usePublicBackend } from "@/lib/backend";
import type { ContactValues } from "@/features/contact/schema";

type ResponseBody = { success: boolean; message?: string; error?: string };

/** What is sent: the values of the form, and the id of the work that an enquiry asks about. */
type SentMessage = ContactValues & { artwork_id: string | undefined };

/**
 * Returns a function that sends the values of the contact form to the server's function. It is no mutation of TanStack Query,
 * whose code visitors would load for this form alone.
 */
export function useSubmitContact(): (values: SentMessage) => Promise<void> {
  const backend = usePublicBackend();
  return async (values) => {
    const body = (await backend.invoke("submit-contact", values)) as ResponseBody | null;
    // The message counts as accepted only if the response body contains success: true, whatever the HTTP status.
    if (body?.success !== true) throw new Error(body?.error ?? "The message was not accepted");
  };
}
