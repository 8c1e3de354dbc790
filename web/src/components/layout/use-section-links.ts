import { useSyncExternalStore } from "react";
import { useQueryClient } from "@tanstack/react-query";
import { sectionLinks } from "@/components/layout/nav-links";
import type { RowsPage } from "@/lib/backend";
import { useBoot } from "@/lib/boot";
import { queryKeys } from "@/lib/query-keys";

/** The header's links to sections of the home page. Without reviews there is no link to the testimonials (their section). */
export function useSectionLinks() {
  const { hasReviews = true } = useBoot();
  const cache = useQueryClient();
  // Only reads the query cache, so that the header makes no request. Until it contains reviews,
  // `hasReviews` of the boot data is used.
  const readCache = () =>
    cache.getQueryData<RowsPage<unknown>>([...queryKeys.reviews.active, 0])?.total;
  const total = useSyncExternalStore(
    (notify) => cache.getQueryCache().subscribe(notify),
    readCache,
    readCache,
  );
  const showsReviews = total === undefined ? hasReviews : total > 0;
  return showsReviews ? sectionLinks : sectionLinks.filter(({ id }) => id !== "testimonials");
}
