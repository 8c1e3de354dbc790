import { useMutation } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";
import { callFunction } from "@/lib/call-function";
import { saveFile } from "@/lib/save-file";

/**
 * Exports all messages: saves a file with them on the owner's device. The file also has the messages in quarantine (those that look
 * like spam or are from a flood).
 */
export function useExportMessages(format: "csv" | "json") {
  const backend = useOwnerBackend();
  return useMutation({
    mutationFn: async () => {
      const data = await callFunction<Blob>(backend, "contact-export", { format });
      saveFile(data, `messages-${new Date().toISOString().slice(0, 10)}.${format}`);
    },
  });
}
