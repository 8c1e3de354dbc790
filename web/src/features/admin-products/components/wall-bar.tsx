import type { ReactNode } from "react";
import { X } from "lucide-react";
import { Button } from "@/components/ui/button";
import { IconButton } from "@/components/ui/icon-button";
import { MAX_CHANGED } from "@/features/admin-products/api/change-products";
import { useT } from "@/lib/i18n";

type WallBarProps = {
  /** How many works are selected, of `total`. */
  count: number;
  total: number;
  onSelectAll(): void;
  onClear(): void;
  /** The buttons for what can be done with the selected works. */
  children: ReactNode;
};

/** The bar at the foot of the window while works are selected. */
export function WallBar({ count, total, onSelectAll, onClear, children }: WallBarProps) {
  const t = useT();
  const tooMany = count > MAX_CHANGED;
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
          <X aria-hidden="true" size={20} strokeWidth={1.75} />
        </IconButton>
      </div>
      {/* On a phone the row scrolls sideways, so that the bar covers little of the wall. */}
      <fieldset disabled={tooMany} className="flex min-w-0 gap-1 overflow-x-auto sm:flex-wrap">
        {children}
      </fieldset>
    </section>
  );
}

type BarButtonProps = { onClick(): void; children: ReactNode };

/** A button in the bar of the wall. */
export function BarButton({ onClick, children }: BarButtonProps) {
  return (
    <Button size="sm" variant="ghost" onClick={onClick} className="flex-none whitespace-nowrap">
      {children}
    </Button>
  );
}
