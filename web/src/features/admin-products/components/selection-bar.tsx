import {
  ArrowLeft,
  ArrowRight,
  ArrowUpToLine,
  PackageCheck,
  PackageX,
  Pencil,
  Star,
  StarOff,
  Trash2,
  X,
} from "lucide-react";
import { Button } from "@/components/ui/button";
import { IconButton } from "@/components/ui/icon-button";
import { useT } from "@/lib/i18n";
import type { Product } from "@/lib/types";
import { MAX_CHANGED, type WorkValues } from "@/features/admin-products/api/change-products";

type SelectionBarProps = {
  /** The selected works that are loaded. */
  works: readonly Product[];
  /** The number of selected works, also of those that are not loaded. */
  count: number;
  /** The number of works in the list. */
  total: number;
  /** Whether the list is in the owner's order, which moves change. */
  canMove: boolean;
  onChange(values: WorkValues): void;
  onEditAll(): void;
  /** Moves the selected works one place back or forward. */
  onStep(step: -1 | 1): void;
  /** Moves the selected works to the beginning of the list. */
  onFirst(): void;
  onDelete(): void;
  onSelectAll(): void;
  onClear(): void;
};

const iconProps = { "aria-hidden": true, size: 20, strokeWidth: 1.75 } as const;

/** The bar at the foot of the window with the actions for the selected works. */
export function SelectionBar({
  works,
  count,
  total,
  canMove,
  onChange,
  onEditAll,
  onStep,
  onFirst,
  onDelete,
  onSelectAll,
  onClear,
}: SelectionBarProps) {
  const t = useT();
  const allFeatured = works.length === count && works.every((work) => work.is_featured);
  const allInStock = works.length === count && works.every((work) => work.in_stock);
  const tooMany = count > MAX_CHANGED;
  const buttonProps = {
    size: "sm",
    variant: "ghost",
    disabled: tooMany,
    className: "flex-none whitespace-nowrap",
  } as const;
  return (
    <section
      data-sticky-foot=""
      aria-label={t("wall.bar")}
      className="bg-pop shadow-pop border-indigo sticky bottom-0 z-20 mt-6 border-b-6 px-2 py-1 sm:px-4"
    >
      <div className="flex items-center gap-x-1 sm:gap-x-4">
        <p role="status" className="label-text py-2 pl-2 lining-nums">
          {t(tooMany ? "wall.tooMany" : "wall.selected", { n: count, most: MAX_CHANGED })}
        </p>
        {count < total && (
          <Button size="sm" variant="ghost" onClick={onSelectAll}>
            {t("wall.selectAll")}
          </Button>
        )}
        <IconButton
          size="iconSm"
          variant="ghost"
          label={t("wall.clear")}
          onClick={onClear}
          className="ml-auto"
        >
          <X {...iconProps} />
        </IconButton>
      </div>
      {/* On a phone the row scrolls sideways, so that the bar covers little of the wall. */}
      <div className="flex gap-1 overflow-x-auto sm:flex-wrap">
        <Button {...buttonProps} onClick={() => onChange({ is_featured: !allFeatured })}>
          {allFeatured ? <StarOff {...iconProps} /> : <Star {...iconProps} />}
          {t(allFeatured ? "wall.unfeature" : "wall.feature")}
        </Button>
        <Button {...buttonProps} onClick={() => onChange({ in_stock: !allInStock })}>
          {allInStock ? <PackageX {...iconProps} /> : <PackageCheck {...iconProps} />}
          {t(allInStock ? "products.outOfStock" : "products.inStock")}
        </Button>
        <Button {...buttonProps} onClick={onEditAll}>
          <Pencil {...iconProps} />
          {t("wall.change")}
        </Button>
        {canMove && (
          <>
            <Button {...buttonProps} onClick={onFirst}>
              <ArrowUpToLine {...iconProps} />
              {t("wall.first")}
            </Button>
            <Button {...buttonProps} onClick={() => onStep(-1)}>
              <ArrowLeft {...iconProps} />
              {t("wall.earlier")}
            </Button>
            <Button {...buttonProps} onClick={() => onStep(1)}>
              <ArrowRight {...iconProps} />
              {t("wall.later")}
            </Button>
          </>
        )}
        <Button {...buttonProps} onClick={onDelete}>
          <Trash2 {...iconProps} />
          {t("common.delete")}
        </Button>
      </div>
    </section>
  );
}
