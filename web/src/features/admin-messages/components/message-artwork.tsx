import { useMessageArtwork } from "@/features/admin-messages/api/get-message-artwork";
import { RowArtwork } from "@/features/admin-messages/components/row-artwork";
import { TextLink } from "@/components/ui/text-link";
import { useT } from "@/lib/i18n";

/** The work that an opened message asks about. Its title is a link to the list of works, filtered by this title. */
export function MessageArtwork({ id }: { id: string }) {
  const t = useT();
  const { data: work } = useMessageArtwork(id);
  if (work === undefined) return null;
  if (work === null) return t("messages.artworkGone");
  return (
    <span className="flex items-center gap-3 py-1">
      <RowArtwork work={work} />
      <TextLink
        to={`/admin/products?q=${encodeURIComponent(work.title.trim())}`}
        className="min-w-0 break-words italic"
      >
        {work.title.trim() || t("gallery.untitled")}
      </TextLink>
    </span>
  );
}
