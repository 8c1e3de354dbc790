import { useMessageArtwork } from "@/features/admin-messages/api/get-message-artwork";
import { Picture } from "@/components/media/picture";
import { TextLink } from "@/components/ui/text-link";
import { useT } from "@/lib/i18n";
import { imageInfo, ratioStyle } from "@/lib/media";

/** The work that a message asks about, with a link to it in the list of products. */
export function MessageArtwork({ id }: { id: string }) {
  const t = useT();
  const { data: work } = useMessageArtwork(id);
  if (work === undefined) return null;
  if (work === null) return t("messages.artworkGone");
  const info = imageInfo(work, work.image_url);
  return (
    <span className="flex items-center gap-3 py-1">
      {work.image_url && (
        <span className="grid size-14 flex-none place-items-center">
          <Picture
            src={work.image_url}
            alt=""
            info={info}
            sizes={info && [["", "56px"]]}
            onMissing={() => undefined}
            style={info && ratioStyle(info)}
            className="max-h-full max-w-full"
          />
        </span>
      )}
      <TextLink
        to={`/admin/products?q=${encodeURIComponent(work.title.trim())}`}
        className="min-w-0 break-words italic"
      >
        {work.title.trim() || t("gallery.untitled")}
      </TextLink>
    </span>
  );
}
