import { useSyncExternalStore } from "react";
import { useQueryClient } from "@tanstack/react-query";
import { sectionLinks } from "@/components/layout/nav-links";
import type { RowsPage } from "@/lib/backend";
import { useBoot } from "@/lib/boot";
import { queryKeys } from "@/lib/query-keys";

/**
 * The header's links to sections of the home page. If there are no reviews, there is no section of testimonials, and the link to it
 * is left out.
 */
export function useSectionLinks() {
  const { hasReviews = true } = useBoot();
  const queryClient = useQueryClient();
  // Reads the number of reviews from the first page (0) of reviews in the query cache, so that the header makes no request.
  // Until the cache has that page, `hasReviews` of the boot data (JSON in the page) is used.
  const readCache = () =>
    queryClient.getQueryData<RowsPage<unknown>>([...queryKeys.reviews.active, 0])?.total;
  const total = useSyncExternalStore(
    (notify) => queryClient.getQueryCache().subscribe(notify),
    readCache,
    readCache,
  );
  const showsReviews = total === undefined ? hasReviews : total > 0;
  return showsReviews ? sectionLinks : sectionLinks.filter(({ id }) => id !== "testimonials");
}
