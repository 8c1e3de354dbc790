import { Picture } from "@/components/media/picture";
import { imageInfo, ratioOf } from "@/lib/media";
import type { Review } from "@/lib/types";

/** Who wrote it: a square picture or the initial, name and place. Spans, because it also stands in a button. */
export function Signature({ review }: { review: Review }) {
  const name = review.client_name.trim();
  // By code point: the first half of an emoji or of a rare letter is not an initial.
  const initial = Array.from(name)[0]?.toUpperCase() ?? "";
  const info = imageInfo(review, review.image_url);
  const face = (
    <span
      aria-hidden="true"
      className="bg-anil-tint text-anil grid size-full place-items-center text-[1.375rem] font-[430]"
    >
      {initial}
    </span>
  );
  return (
    <span className="flex items-center gap-[13px]">
      <span className="relative block size-[52px] flex-none overflow-hidden rounded-sm">
        {face}
        {review.image_url && (
          <Picture
            src={review.image_url}
            alt=""
            width={52}
            height={52}
            info={info}
            // A face fills the square: what is broader than high must be so much wider.
            sizes={[["", `${52 * Math.max(1, ratioOf(info))}px`]]}
            fit="cover"
            // The initial underneath stays when the picture cannot be shown.
            onMissing={() => undefined}
            className="absolute inset-0 size-full"
          />
        )}
      </span>
      <span className="-my-[3px] min-w-0 text-sm leading-[1.7]">
        <span className="block font-[570]">{name}</span>
        {review.location && <span className="text-ink2 block">{review.location}</span>}
      </span>
    </span>
  );
}
