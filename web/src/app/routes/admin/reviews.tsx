import { ReviewsPage } from "@/features/admin-reviews/components/reviews-page";

/** The route /admin/reviews: the page for the reviews (what clients have said). */
export function ReviewsRoute() {
  return <ReviewsPage />;
}
