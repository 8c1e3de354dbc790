import { useMutation } from "@tanstack/react-query";
import { usePublicBackend, type PublicBackend } from "@/lib/backend";
import type { ContactValues } from "@/features/contact/schema";

type Answer = { success: boolean; message?: string; error?: string };

/** Any answer but a success is an error, whatever its HTTP status (READING §3.29). */
export async function submitContact(backend: PublicBackend, values: ContactValues): Promise<void> {
  const answer = (await backend.invoke("submit-contact", values)) as Answer | null;
  if (answer?.success !== true) throw new Error(answer?.error ?? "The message was not accepted");
}

export function useSubmitContact() {
  const backend = usePublicBackend();
  return useMutation({
    mutationFn: (values: ContactValues) => submitContact(backend, values),
    // Offline it must fail at once and say so; the default would wait in silence.
    networkMode: "always",
  });
}
