import { PackageCheck, PackageX, Star } from "lucide-react";
import { cn } from "@/lib/cn";
import { useT } from "@/lib/i18n";
import type { Product } from "@/lib/types";

/** The columns of works (rows of products) that have a switch. */
export type SwitchName = "is_featured" | "in_stock";

type WorkSwitchesProps = { work: Product; tabIndex?: number; onToggle(name: SwitchName): void };

/**
 * The two switches of a work in the list of works: whether it is featured, and whether it is in stock. They show only icons. A click
 * changes the work immediately.
 */
export function WorkSwitches({ work, tabIndex, onToggle }: WorkSwitchesProps) {
  return (
    <>
      <WorkSwitch work={work} name="is_featured" tabIndex={tabIndex} onToggle={onToggle} />
      <WorkSwitch work={work} name="in_stock" tabIndex={tabIndex} onToggle={onToggle} />
    </>
  );
}

/** One of the switches of a work. */
function WorkSwitch({ work, name, tabIndex, onToggle }: WorkSwitchesProps & { name: SwitchName }) {
  const t = useT();
  const on = work[name];
  const label = t(name === "in_stock" ? "wall.inStock" : "wall.featured", { title: work.title });
  const Icon = name === "is_featured" ? Star : on ? PackageCheck : PackageX;
  return (
    <button
      type="button"
      role="switch"
      aria-checked={on}
      aria-label={label}
      title={label}
      tabIndex={tabIndex}
      onClick={() => onToggle(name)}
      className={cn(
        "hover:bg-neutral grid size-11 place-items-center",
        on ? "text-indigo" : "text-ink2",
      )}
    >
      <Icon
        aria-hidden="true"
        size={21}
        strokeWidth={1.5}
        fill={name === "is_featured" && on ? "currentColor" : "none"}
      />
    </button>
  );
}
