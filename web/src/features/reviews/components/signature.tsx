import { Picture } from "@/components/media/picture";
import { useT } from "@/lib/i18n";
import { imageInfo, ratioOf } from "@/lib/media";
import type { Review } from "@/lib/types";

/**
 * The author of a review: picture or initial, name and place. All elements are spans, because a review card is a button.
 */
export function Signature({ review }: { review: Review }) {
  const t = useT();
  const name = review.client_name.trim();
  // Array.from splits by code point, because half of a surrogate pair is not a letter.
  const initial = Array.from(name)[0]?.toUpperCase() ?? "";
  const info = imageInfo(review, review.image_url);
  // The square crops the picture (object-fit: cover), so a broad picture is rendered wider than 52 px.
  const shownWidth = 52 * Math.max(1, ratioOf(info));
  const initialSquare = (
    <span
      aria-hidden="true"
      className="bg-indigo-tint text-indigo grid size-full place-items-center text-[1.375rem] font-[430]"
    >
      {initial}
    </span>
  );
  return (
    <span className="flex items-center gap-[13px]">
      <span className="relative block size-[52px] flex-none overflow-hidden rounded-sm">
        {initialSquare}
        {review.image_url && (
          <Picture
            src={review.image_url}
            alt=""
            width={52}
            height={52}
            info={info}
            sizes={[["", `${shownWidth}px`]]}
            bounds={[0, 3 * shownWidth]} // screens have up to three device pixels per CSS pixel
            fit="cover"
            // If the picture cannot be shown, the initial below it is visible.
            onMissing={() => undefined}
            className="absolute inset-0 size-full"
          />
        )}
      </span>
      <span className="-my-[3px] min-w-0 text-sm leading-[1.7]">
        <span className="block font-[570]">{name}</span>
        {review.location && <span className="text-ink2 block">{review.location}</span>}
        {review.from_commission && (
          <span className="text-ink2 block">{t("testimonials.fromCommission")}</span>
        )}
      </span>
    </span>
  );
}
