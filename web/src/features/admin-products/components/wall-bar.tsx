import { useRef, type ReactNode } from "react";
import { ArrowLeft, ArrowRight, X } from "lucide-react";
import { Button } from "@/components/ui/button";
import { IconButton } from "@/components/ui/icon-button";
import { RowEdge } from "@/components/ui/row-edge";
import { MAX_CHANGED } from "@/features/admin-products/api/change-products";
import { useT } from "@/lib/i18n";
import { useOverflow } from "@/lib/use-overflow";

type WallBarProps = {
  /** The number of selected works. */
  count: number;
  /** The number of works on the wall. */
  total: number;
  onSelectAll(): void;
  /** Deselects all works. */
  onClear(): void;
  /** The buttons for what can be done with the selected works. */
  children: ReactNode;
};

const iconProps = { "aria-hidden": true, size: 20, strokeWidth: 1.75 } as const;

/**
 * The bar at the foot of the window while works on the wall (the list of works as pictures) are selected. If more works are selected
 * than can be changed at once (MAX_CHANGED), the buttons in `children` are disabled.
 */
export function WallBar({ count, total, onSelectAll, onClear, children }: WallBarProps) {
  const t = useT();
  const row = useRef<HTMLFieldSetElement>(null);
  const overflow = useOverflow(row);
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
          <X {...iconProps} />
        </IconButton>
      </div>
      {/* One row, which scrolls sideways, so that the bar covers little of the wall. */}
      <div className="relative">
        {overflow.left && <RowEdge side="left" row={row} className="from-pop inset-y-0 left-0" />}
        {overflow.right && (
          <RowEdge side="right" row={row} className="from-pop inset-y-0 right-0" />
        )}
        <fieldset
          ref={row}
          disabled={tooMany}
          className="min-w-0 scroll-px-14 overflow-x-auto [scrollbar-width:none] [&::-webkit-scrollbar]:hidden"
        >
          <div className="flex w-max gap-1">{children}</div>
        </fieldset>
      </div>
    </section>
  );
}

type BarButtonProps = { onClick(): void; children: ReactNode };

/** A button in the bar of the wall. */
export function BarButton({ onClick, children }: BarButtonProps) {
  return (
    <Button
      size="sm"
      variant="ghost"
      onClick={onClick}
      className="flex-none whitespace-nowrap focus-visible:-outline-offset-3"
    >
      {children}
    </Button>
  );
}

type StepButtonsProps = { onStep(step: -1 | 1): void };

/** The buttons that move the selected works by one place. */
export function StepButtons({ onStep }: StepButtonsProps) {
  const t = useT();
  return (
    <>
      {([-1, 1] as const).map((step) => (
        <IconButton
          key={step}
          size="iconSm"
          variant="ghost"
          label={t(step < 0 ? "wall.earlier" : "wall.later")}
          onClick={() => onStep(step)}
          className="flex-none focus-visible:-outline-offset-3"
        >
          {step < 0 ? <ArrowLeft {...iconProps} /> : <ArrowRight {...iconProps} />}
        </IconButton>
      ))}
    </>
  );
}
