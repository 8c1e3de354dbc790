import { Eye, EyeOff, History, Pencil, Trash2 } from "lucide-react";
import { useReviewVisibility } from "@/features/admin-reviews/hooks/use-review-visibility";
import { Picture } from "@/components/media/picture";
import { Badge } from "@/components/ui/badge";
import { IconButton } from "@/components/ui/icon-button";
import { MoveButtons, SortableRow } from "@/components/ui/sortable";
import { MediaState } from "@/components/upload/media-state";
import { useT } from "@/lib/i18n";
import { imageInfo, ratioOf } from "@/lib/media";
import type { Review } from "@/lib/types";

type ReviewRowProps = {
  review: Review;
  /** The index of the review among the `total` reviews of the list. */
  index: number;
  total: number;
  /** Moves the review to another index. */
  onMove(to: number): void;
  onEdit(): void;
  onHistory(): void;
  onDelete(): void;
};

const iconProps = { "aria-hidden": true, size: 21, strokeWidth: 1.5 } as const;

/**
 * One row of the list of reviews (what clients said), with its drag handle, and with buttons that hide, move, edit and delete the
 * review or open its history.
 */
export function ReviewRow({
  review,
  index,
  total,
  onMove,
  onEdit,
  onHistory,
  onDelete,
}: ReviewRowProps) {
  const t = useT();
  const { isActive, toggleVisibility } = useReviewVisibility(review);
  const name = review.client_name;

  return (
    <SortableRow
      id={review.id}
      index={index}
      dragLabel={t("reviews.drag", { name })}
      className="grid-cols-[44px_52px_minmax(0,1fr)] sm:grid-cols-[44px_52px_minmax(0,1fr)_auto] lg:min-h-[87px] lg:grid-cols-[44px_38px_52px_minmax(0,1fr)_minmax(0,2.2fr)_274px]"
    >
      <span
        aria-hidden="true"
        className="oldstyle hidden text-[1.5rem] leading-none font-[330] lg:block"
      >
        {index + 1}
      </span>
      <Avatar review={review} />
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-x-2.5 leading-[1.4] font-[570] wrap-anywhere">
          {name}
          {!isActive && (
            <Badge tone="neutral" className="font-[430]">
              {t("reviews.hidden")}
            </Badge>
          )}
        </p>
        <p className="text-ink2 text-sm">{review.location || t("reviews.noLocation")}</p>
        {review.from_commission && (
          <p className="text-ink2 text-sm">{t("testimonials.fromCommission")}</p>
        )}
        <MediaState info={imageInfo(review, review.image_url)} brief />
      </div>
      <p className="line-clamp-2 leading-[1.48] max-lg:col-span-2 max-lg:col-start-2 max-lg:row-start-2 sm:max-lg:col-span-3">
        {review.message}
      </p>
      <div className="flex max-sm:col-span-3 max-sm:row-start-3 max-sm:justify-self-end max-lg:-mr-2.5 lg:justify-end lg:gap-0.5">
        <MoveButtons
          index={index}
          total={total}
          upLabel={t("reviews.up")}
          downLabel={t("reviews.down")}
          onMove={onMove}
        />
        <IconButton
          size="iconSm"
          variant="ghost"
          label={t(isActive ? "reviews.hideNamed" : "reviews.showNamed", { name })}
          onClick={toggleVisibility}
        >
          {isActive ? <Eye {...iconProps} /> : <EyeOff {...iconProps} />}
        </IconButton>
        <IconButton
          size="iconSm"
          variant="ghost"
          label={t("reviews.editNamed", { name })}
          onClick={onEdit}
        >
          <Pencil {...iconProps} />
        </IconButton>
        <IconButton
          size="iconSm"
          variant="ghost"
          label={t("history.ofNamed", { name })}
          onClick={onHistory}
        >
          <History {...iconProps} />
        </IconButton>
        <IconButton
          size="iconSm"
          variant="ghost"
          label={t("reviews.deleteNamed", { name })}
          onClick={onDelete}
        >
          <Trash2 {...iconProps} />
        </IconButton>
      </div>
    </SortableRow>
  );
}

/** The avatar, or the first letter of the name. */
function Avatar({ review }: { review: Review }) {
  const info = imageInfo(review, review.image_url);
  if (review.image_url) {
    return (
      <Picture
        src={review.image_url}
        alt=""
        info={info}
        sizes={[["", `${52 * Math.max(1, ratioOf(info))}px`]]}
        fit="cover"
        className="size-[52px]"
      />
    );
  }
  return (
    <span
      aria-hidden="true"
      className="bg-indigo-tint text-indigo grid size-[52px] place-items-center font-[560]"
    >
      {Array.from(review.client_name.trim())[0]?.toUpperCase()}
    </span>
  );
}
