import { Picture } from "@/components/media/picture";
import { imageInfo, ratioStyle } from "@/lib/media";
import type { Product } from "@/lib/types";

/**
 * The small picture of the work that a message asks about, in a row of the list or in the opened message. Screen readers skip the
 * picture, because the opened message has the title of the work.
 */
export function RowArtwork({ work }: { work: Pick<Product, "image_url" | "media"> }) {
  if (!work.image_url) return null;
  const info = imageInfo(work, work.image_url);
  return (
    <span aria-hidden="true" className="grid size-14 flex-none place-items-center">
      <Picture
        src={work.image_url}
        alt=""
        info={info}
        sizes={info && [["", "56px"]]}
        // Renders nothing for a missing file, instead of a placeholder.
        onMissing={() => undefined}
        style={info && ratioStyle(info)}
        className="max-h-full max-w-full"
      />
    </span>
  );
}
