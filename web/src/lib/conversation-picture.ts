import { useEffect, useState } from "react";
import { useQuery } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";

/**
 * Fetches a picture of a conversation (a file that belongs to a reply) with the owner's session, at most `width` pixels wide. `name`
 * is the name of the stored file. Returns an object URL for an `img`, or undefined until the picture has loaded.
 */
export function useConversationPicture(name: string, width: number): string | undefined {
  const backend = useOwnerBackend();
  const { data } = useQuery({
    // The key does not begin with messageKeys, because a change of messages does not change pictures.
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
    const objectUrl = URL.createObjectURL(data);
    setUrl(objectUrl);
    return () => URL.revokeObjectURL(objectUrl);
  }, [data]);
  return url;
}
