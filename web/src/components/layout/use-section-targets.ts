import { useSyncExternalStore } from "react";
import { useQueryClient } from "@tanstack/react-query";
import { sectionTargets } from "@/components/layout/nav-targets";
import { useBoot } from "@/lib/boot";
import { queryKeys } from "@/lib/query-keys";

/** The sections that the header links to. Testimonials are omitted while there are no reviews. */
export function useSectionTargets() {
  const { hasReviews = true } = useBoot();
  const client = useQueryClient();
  // Reads the cache only: the header makes no request. `hasReviews` of the boot data is used until reviews are loaded.
  const cached = () => client.getQueryData<unknown[]>(queryKeys.reviews.active);
  const reviews = useSyncExternalStore(
    (notify) => client.getQueryCache().subscribe(notify),
    cached,
    cached,
  );
  const showsReviews = reviews ? reviews.length > 0 : hasReviews;
  return showsReviews ? sectionTargets : sectionTargets.filter(({ id }) => id !== "testimonials");
}
