import { usePublicBackend } from "@/lib/backend";
import type { Language } from "@/lib/boot";
import type { ContactValues } from "@/features/contact/schema";

/** The body of the server's response. `error` says why a message was not accepted. */
type ResponseBody = {
  success: boolean;
  message?: string;
  error?: string;
  /** The private link (a URL at which the visitor follows the message), if the owner lets visitors follow their messages. */
  enquiry_url?: string;
  /** Whether the owner lets visitors have a copy by mail. */
  enquiry_copy?: boolean;
};

/**
 * The body of the request: the values of the form, the id of the work that the message is about, and the language of the page.
 * `follow` requests a private link.
 */
type SentMessage = ContactValues & {
  artwork_id: string | undefined;
  language: Language;
  follow: true;
};

/**
 * Returns a function that sends the values of the contact form to the server and returns the body of the response. It is not a
 * mutation of TanStack Query, because visitors would load the code of mutations only for this form.
 */
export function useSubmitContact(): (values: SentMessage) => Promise<ResponseBody> {
  const backend = usePublicBackend();
  return async (values) => {
    const body = (await backend.invoke("submit-contact", values)) as ResponseBody | null;
    // The message counts as accepted only if the response body contains success: true, whatever the HTTP status.
    if (body?.success !== true) throw new Error(body?.error ?? "The message was not accepted");
    return body;
  };
}
