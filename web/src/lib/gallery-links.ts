import { useBoot } from "@/lib/boot";
import { useT } from "@/lib/i18n";

/** The links to the gallery's filters: all works, and each type in the gallery, except the types in the boot data's `empty`. */
export function useGalleryLinks() {
  const t = useT();
  const { site, empty } = useBoot();
  return (["all", ...site.gallery.types] as const)
    .filter((filter) => !empty?.includes(filter))
    .map((filter) => ({ filter, label: t(`type.${filter}`), to: `/gallery/${filter}` }));
}
