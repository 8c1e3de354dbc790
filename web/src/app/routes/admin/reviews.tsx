import { ReviewsPage } from "@/features/admin-reviews/components/reviews-page";

export function ReviewsRoute() {
  return <ReviewsPage />;
}
