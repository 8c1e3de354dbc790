import { useBoot } from "@/lib/boot";
import { useT } from "@/lib/i18n";

/**
 * The links to the filters of the gallery: all works, and each type that the gallery shows. If the owner has chosen to hide types
 * without works, `empty` of the boot data (JSON in the page) has these types, and their links are omitted.
 */
export function useGalleryLinks() {
  const t = useT();
  const { site, empty } = useBoot();
  return (["all", ...site.gallery.types] as const)
    .filter((filter) => !empty?.includes(filter))
    .map((filter) => ({ filter, label: t(`type.${filter}`), to: `/gallery/${filter}` }));
}
