import { useSyncExternalStore } from "react";
import { useQueryClient } from "@tanstack/react-query";
import { sectionTargets } from "@/components/layout/nav-targets";
import type { RowsPage } from "@/lib/backend";
import { useBoot } from "@/lib/boot";
import { queryKeys } from "@/lib/query-keys";

/** The sections of the home page that the header links to. Testimonials are omitted while there are no reviews. */
export function useSectionTargets() {
  const { hasReviews = true } = useBoot();
  const cache = useQueryClient();
  // Only reads the cache, so that the header makes no request. Until reviews are cached, `hasReviews` of the boot data is
  // used.
  const readCache = () =>
    cache.getQueryData<RowsPage<unknown>>([...queryKeys.reviews.active, 0])?.total;
  const total = useSyncExternalStore(
    (notify) => cache.getQueryCache().subscribe(notify),
    readCache,
    readCache,
  );
  const showsReviews = total === undefined ? hasReviews : total > 0;
  return showsReviews ? sectionTargets : sectionTargets.filter(({ id }) => id !== "testimonials");
}
