import { ReviewsPage } from "@/features/admin-reviews/components/reviews-page";

/** The route /admin/reviews. */
export function ReviewsRoute() {
  return <ReviewsPage />;
}
