import { useBoot } from "@/lib/boot";
import { useT } from "@/lib/i18n";

/** The filters that the site offers: all works, and the types that hang. Each has its name and its path. */
export function useGalleryTargets() {
  const t = useT();
  const { site, empty } = useBoot();
  return (["all", ...site.gallery.types] as const)
    .filter((filter) => !empty?.includes(filter))
    .map((filter) => ({ filter, label: t(`type.${filter}`), to: `/gallery/${filter}` }));
}
