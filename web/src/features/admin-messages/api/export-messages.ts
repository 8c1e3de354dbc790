import { useMutation } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";
import { callFunction } from "@/lib/call-function";
import { saveFile } from "@/lib/save-file";

/** Saves all messages, those in quarantine too, as a file. */
export function useExportMessages(format: "csv" | "json") {
  const backend = useOwnerBackend();
  return useMutation({
    mutationFn: async () => {
      const data = await callFunction<Blob>(backend, "contact-export", { format });
      saveFile(data, `messages-${new Date().toISOString().slice(0, 10)}.${format}`);
    },
  });
}
