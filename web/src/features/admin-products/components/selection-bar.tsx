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
  /** The selected works as far as they are loaded. */
  works: readonly Product[];
  count: number;
  total: number;
  canMove: boolean;
  onChange(values: WorkValues): void;
  onEditAll(): void;
  /** Moves the selected works by one place. */
  onStep(step: -1 | 1): void;
  onFirst(): void;
  onDelete(): void;
  onSelectAll(): void;
  onClear(): void;
};

const iconProps = { "aria-hidden": true, size: 20, strokeWidth: 1.75 } as const;

/** What can be done with the selected works, at the foot of the window. */
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
  const button = {
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
        <Button {...button} onClick={() => onChange({ is_featured: !allFeatured })}>
          {allFeatured ? <StarOff {...iconProps} /> : <Star {...iconProps} />}
          {t(allFeatured ? "wall.unfeature" : "wall.feature")}
        </Button>
        <Button {...button} onClick={() => onChange({ in_stock: !allInStock })}>
          {allInStock ? <PackageX {...iconProps} /> : <PackageCheck {...iconProps} />}
          {t(allInStock ? "products.outOfStock" : "products.inStock")}
        </Button>
        <Button {...button} onClick={onEditAll}>
          <Pencil {...iconProps} />
          {t("wall.change")}
        </Button>
        {canMove && (
          <>
            <Button {...button} onClick={onFirst}>
              <ArrowUpToLine {...iconProps} />
              {t("wall.first")}
            </Button>
            <Button {...button} onClick={() => onStep(-1)}>
              <ArrowLeft {...iconProps} />
              {t("wall.earlier")}
            </Button>
            <Button {...button} onClick={() => onStep(1)}>
              <ArrowRight {...iconProps} />
              {t("wall.later")}
            </Button>
          </>
        )}
        <Button {...button} onClick={onDelete}>
          <Trash2 {...iconProps} />
          {t("common.delete")}
        </Button>
      </div>
    </section>
  );
}
