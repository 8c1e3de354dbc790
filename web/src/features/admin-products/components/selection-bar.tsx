import {
  ArrowUpToLine,
  PackageCheck,
  FolderPlus,
  PackageX,
  Pencil,
  Star,
  StarOff,
  Trash2,
} from "lucide-react";
import { BarButton, StepButtons, WallBar } from "@/features/admin-products/components/wall-bar";
import { useT } from "@/lib/i18n";
import type { Product } from "@/lib/types";
import type { WorkValues } from "@/features/admin-products/api/change-products";

type SelectionBarProps = {
  /** The selected works that are loaded. */
  works: readonly Product[];
  /** The number of selected works, including those that are not loaded. */
  count: number;
  /** The number of works in the list. */
  total: number;
  /** Whether the owner can move works. If so, the list is in an order that the owner sets. */
  canMove: boolean;
  /** Sets these values in all selected works. */
  onChange(values: WorkValues): void;
  /** Opens the dialog that changes fields of all selected works. */
  onEditAll(): void;
  /** Opens the dialog that adds the selected works to a series or removes them from it. */
  onSeries(): void;
  /** Moves the selected works by one place: forwards (1) or backwards (-1). */
  onStep(step: -1 | 1): void;
  /** Moves the selected works to the beginning of the list. */
  onFirst(): void;
  onDelete(): void;
  onSelectAll(): void;
  onClear(): void;
};

const iconProps = { "aria-hidden": true, size: 20, strokeWidth: 1.75 } as const;

/**
 * The bar at the foot of the window while works on the wall (the list of works as pictures) are selected. Its buttons change, move or
 * delete all selected works.
 */
export function SelectionBar({
  works,
  count,
  total,
  canMove,
  onChange,
  onEditAll,
  onSeries,
  onStep,
  onFirst,
  onDelete,
  onSelectAll,
  onClear,
}: SelectionBarProps) {
  const t = useT();
  // Both are false while a selected work is not loaded, because its values are unknown.
  const allFeatured = works.length === count && works.every((work) => work.is_featured);
  const allInStock = works.length === count && works.every((work) => work.in_stock);
  return (
    <WallBar count={count} total={total} onSelectAll={onSelectAll} onClear={onClear}>
      <BarButton onClick={() => onChange({ is_featured: !allFeatured })}>
        {allFeatured ? <StarOff {...iconProps} /> : <Star {...iconProps} />}
        {t(allFeatured ? "wall.unfeature" : "wall.feature")}
      </BarButton>
      <BarButton onClick={() => onChange({ in_stock: !allInStock })}>
        {allInStock ? <PackageX {...iconProps} /> : <PackageCheck {...iconProps} />}
        {t(allInStock ? "products.outOfStock" : "products.inStock")}
      </BarButton>
      <BarButton onClick={onEditAll}>
        <Pencil {...iconProps} />
        {t("wall.change")}
      </BarButton>
      <BarButton onClick={onSeries}>
        <FolderPlus {...iconProps} />
        {t("series.choose")}
      </BarButton>
      {canMove && (
        <>
          <BarButton onClick={onFirst}>
            <ArrowUpToLine {...iconProps} />
            {t("wall.first")}
          </BarButton>
          <StepButtons onStep={onStep} />
        </>
      )}
      <BarButton onClick={onDelete}>
        <Trash2 {...iconProps} />
        {t("common.delete")}
      </BarButton>
    </WallBar>
  );
}
