import { LayoutGrid, List } from "lucide-react";
import { LAYOUTS, type ProductView } from "@/features/admin-products/list-view";
import { cn } from "@/lib/cn";
import { useT } from "@/lib/i18n";

type LayoutChoiceProps = {
  layout: ProductView["layout"];
  onChange(layout: ProductView["layout"]): void;
};

const icons = { table: List, wall: LayoutGrid };

/** The buttons that show the list of works as a table or as a wall (a grid of pictures). */
export function LayoutChoice({ layout, onChange }: LayoutChoiceProps) {
  const t = useT();
  return (
    <div role="group" aria-label={t("wall.layout")} className="mb-5 flex">
      {LAYOUTS.map((choice) => {
        const Icon = icons[choice];
        return (
          <button
            key={choice}
            type="button"
            aria-pressed={choice === layout}
            onClick={() => onChange(choice)}
            className={cn(
              "nav-text flex min-h-11 items-center gap-2 border-b-3 px-4",
              choice === layout
                ? "bg-indigo border-indigo text-on-indigo"
                : "border-line hover:border-indigo",
            )}
          >
            <Icon aria-hidden="true" size={20} strokeWidth={1.75} />
            {t(`wall.layout.${choice}`)}
          </button>
        );
      })}
    </div>
  );
}
