import { useMutation } from "@tanstack/react-query";
import { usePublicBackend, type PublicBackend } from "@/lib/backend";
import type { ContactValues } from "@/features/contact/schema";

type Answer = { success: boolean; message?: string; error?: string };

/** Any answer but a success is an error, whatever its HTTP status (READING §3.29). */
export async function submitContact(backend: PublicBackend, values: ContactValues): Promise<void> {
  const { data, error } = await backend.functions.invoke<Answer>("submit-contact", {
    body: values,
  });
  if (error) throw error;
  if (data?.success !== true) throw new Error(data?.error ?? "The message was not accepted");
}

export function useSubmitContact() {
  const backend = usePublicBackend();
  return useMutation({
    mutationFn: (values: ContactValues) => submitContact(backend, values),
    // Offline it must fail at once and say so; the default would wait in silence.
    networkMode: "always",
  });
}
