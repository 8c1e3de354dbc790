import { useEffect, useState } from "react";
import { useQuery } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";

/**
 * Fetches a picture of a conversation, at most `width` pixels wide, with the owner's session, and returns an address that an `img`
 * can show. It is undefined until then.
 */
export function useConversationPicture(name: string, width: number): string | undefined {
  const backend = useOwnerBackend();
  const { data } = useQuery({
    // Not below messageKeys: a change of messages is none of a picture.
    queryKey: ["conversation-pictures", name, width],
    staleTime: Infinity,
    retry: false,
    queryFn: async () => {
      const picture = await backend.storage
        .from("conversation-pictures")
        .download(name, { transform: { width, resize: "contain" } });
      if (picture.error) throw picture.error;
      return picture.data;
    },
  });
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (!data) return undefined;
    const made = URL.createObjectURL(data);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [data]);
  return url;
}
