import type { Ref } from "react";
import { Link } from "@/components/ui/link";
import { cn } from "@/lib/cn";
import { useGalleryLinks } from "@/lib/gallery-links";
import type { GalleryFilter } from "@/lib/gallery-settings";
import { useT } from "@/lib/i18n";
import { filterKeys } from "@/features/artworks/gallery-filter";

type GalleryFiltersProps = {
  /** The filter of the page; null if the page shows a series (works that the owner shows together). */
  current: GalleryFilter | null;
  /** Gets the element around the links. */
  ref: Ref<HTMLElement>;
};

/** The links to the filters of the gallery. Each filter has a URL of its own. */
export function GalleryFilters({ current, ref }: GalleryFiltersProps) {
  const t = useT();
  return (
    <nav ref={ref} aria-label={t("gallery.filters")} className="w-full sm:w-auto">
      <ul className="grid grid-cols-2 sm:flex">
        {useGalleryLinks().map(({ filter, to }) => (
          <li key={filter}>
            <Link
              to={to}
              aria-current={filter === current ? "page" : undefined}
              className={cn(
                "nav-text ease-soft flex min-h-12 items-center justify-center border-b-3 px-5 pt-[3px] transition-colors duration-200",
                filter === current
                  ? "bg-indigo border-indigo text-on-indigo"
                  : "border-line hover:border-indigo",
              )}
            >
              {t(filterKeys[filter])}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
