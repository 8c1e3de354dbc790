import { memo, useId, type KeyboardEvent, type MouseEvent } from "react";
import { Check, GripHorizontal, ImageOff } from "lucide-react";
import { WorkSwitches, type SwitchName } from "@/features/admin-products/components/work-switches";
import { visibilityOf } from "@/features/admin-products/visibility";
import type { Grid } from "@/features/admin-products/wall/geometry";
import { Picture } from "@/components/media/picture";
import { useBoot } from "@/lib/boot";
import { cn } from "@/lib/cn";
import { useT } from "@/lib/i18n";
import { imageInfo, ratioOf } from "@/lib/media";
import type { Product } from "@/lib/types";

type WallTileProps = {
  /** Undefined while the work is loading. */
  work: Product | undefined;
  /** The index of the work among the `total` works of the list. */
  index: number;
  total: number;
  grid: Grid;
  /** The number of the work in the order of selection, from 1. 0 if the work is not selected. */
  selectionNumber: number;
  /** Whether this is the one tile that Tab reaches. Arrow keys move to the others. */
  isCurrent: boolean;
  /** Whether the tile is being dragged. */
  isDragged: boolean;
  /** Whether the owner can move works. If so, selected works show their numbers, because several works are dropped in this order. */
  canMove: boolean;
  onSelect(index: number, event: MouseEvent): void;
  onKeyDown(event: KeyboardEvent, index: number): void;
  onFocus(index: number): void;
  onEdit(work: Product): void;
  onToggle(work: Product, name: SwitchName): void;
};

const iconProps = { "aria-hidden": true, size: 21, strokeWidth: 1.5 } as const;

/**
 * A tile of the wall (the list of works as pictures): one work. A click on the picture selects the work. A click on the title opens its
 * form. The switches below the title change the work immediately.
 */
export const WallTile = memo(function WallTile({
  work,
  index,
  total,
  grid: { columns, cell },
  selectionNumber,
  isCurrent,
  isDragged,
  canMove,
  onSelect,
  onKeyDown,
  onFocus,
  onEdit,
  onToggle,
}: WallTileProps) {
  const t = useT();
  const numberId = useId();
  const { types } = useBoot().site.gallery;
  const tabIndex = isCurrent ? 0 : -1;
  const isSelected = selectionNumber > 0;
  const isNumbered = isSelected && canMove;
  const style = {
    left: (index % columns) * cell.width,
    top: Math.floor(index / columns) * cell.height,
    width: cell.width,
    height: cell.height,
  };
  if (!work) {
    return (
      <li style={style} aria-busy="true" className="absolute p-2" data-index={index}>
        {/* The same button as below, so that the focus stays on it when the work has loaded. */}
        <button
          type="button"
          data-picture=""
          tabIndex={tabIndex}
          aria-label={t("common.loading")}
          onKeyDown={(event) => onKeyDown(event, index)}
          className="bg-neutral block aspect-square w-full"
        />
      </li>
    );
  }
  const { title } = work;
  const visibility = visibilityOf(work);
  const info = imageInfo(work, work.image_url);
  return (
    <li
      style={style}
      data-index={index}
      aria-posinset={index + 1}
      aria-setsize={total}
      onFocus={() => onFocus(index)}
      className={cn("absolute flex flex-col p-2 contain-layout", isDragged && "opacity-40")}
    >
      <button
        type="button"
        data-picture=""
        tabIndex={tabIndex}
        aria-pressed={isSelected}
        aria-label={t("wall.select", { title })}
        aria-describedby={isNumbered ? numberId : undefined}
        onClick={(event) => onSelect(index, event)}
        onKeyDown={(event) => onKeyDown(event, index)}
        className={cn(
          "bg-shade group relative grid aspect-square w-full flex-none place-items-center p-2 select-none",
          isSelected && "bg-indigo-tint outline-indigo outline-3 -outline-offset-3",
        )}
      >
        {work.image_url ? (
          <Picture
            src={work.image_url}
            alt=""
            info={info}
            sizes={[["", "160px"]]}
            style={
              info && {
                width: `min(100%, ${ratioOf(info) * 100}%)`,
                height: "auto",
              }
            }
            className={cn("pointer-events-none", !info && "size-full object-contain")}
          />
        ) : (
          <ImageOff {...iconProps} />
        )}
        <span
          aria-hidden="true"
          className={cn(
            "border-edge bg-field absolute top-2 left-2 grid h-6 min-w-6 place-items-center border",
            isSelected
              ? "bg-indigo border-indigo text-on-indigo"
              : "opacity-0 group-hover:opacity-100 group-focus-visible:opacity-100",
          )}
        >
          {isSelected &&
            (isNumbered ? (
              // Generated content: a text inside the button would have to be part of its name, which must not change with the selection.
              <span
                data-number={selectionNumber}
                className="px-1 text-[.9375rem] leading-none lining-nums before:content-[attr(data-number)]"
              />
            ) : (
              <Check size={18} strokeWidth={2.25} />
            ))}
        </span>
      </button>
      {isNumbered && (
        <span id={numberId} hidden>
          {selectionNumber}
        </span>
      )}
      <button
        type="button"
        tabIndex={tabIndex}
        aria-label={t("products.editNamed", { title })}
        onClick={() => onEdit(work)}
        className="hover:text-indigo mt-1 block min-h-[40px] w-full truncate text-left text-[1.125rem] leading-[1.2] font-[430] italic underline-offset-4 hover:underline"
      >
        {/* A long title is cut off. On the button, the attribute would be read out as its description. */}
        <span title={title}>{title}</span>
      </button>
      <p className="text-ink2 truncate text-[.9375rem] leading-tight">
        {visibility !== "published" && (
          <strong className="text-ink font-[570]">{t(`products.${visibility}`)} · </strong>
        )}
        {t(`type.${work.artwork_type}`)}
        {!types.includes(work.artwork_type) && ` · ${t("products.notInGallery")}`}
      </p>
      <div className="mt-auto flex items-center">
        <WorkSwitches work={work} tabIndex={tabIndex} onToggle={(name) => onToggle(work, name)} />
        {canMove && (
          // Only for pointers: with the keyboard, Alt and the arrow keys move works, and the bar has buttons.
          <span
            data-grip=""
            aria-hidden="true"
            title={t("wall.drag")}
            className="text-ink2 hover:bg-neutral ml-auto grid size-11 cursor-grab touch-none place-items-center"
          >
            <GripHorizontal {...iconProps} />
          </span>
        )}
      </div>
    </li>
  );
});
