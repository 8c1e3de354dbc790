import { ArrowRight } from "lucide-react";
import { Link } from "@/components/ui/link";
import { useT } from "@/lib/i18n";

/** The numbers of works (products), covers and reviews. A number is undefined until it is known. */
type ChecklistProps = Record<"products" | "covers" | "reviews", number | undefined>;

/**
 * Reminds the owner of a new site to add the first cover (a picture or video at the top of the home page), the first work and the
 * first review. Renders nothing once there is one of each.
 */
export function Checklist({ products, covers, reviews }: ChecklistProps) {
  const t = useT();
  const missing = [
    { count: covers, to: "/admin/cover-images", text: t("admin.checklistCover") },
    { count: products, to: "/admin/products", text: t("admin.checklistProduct") },
    { count: reviews, to: "/admin/reviews", text: t("admin.checklistReview") },
  ].filter(({ count }) => count === 0);
  if (missing.length === 0) return null;
  return (
    <section aria-labelledby="checklist" className="mt-12 max-w-[40rem]">
      <h2
        id="checklist"
        className="border-ink border-b-2 pb-3 text-[1.5rem] leading-tight font-[350]"
      >
        {t("admin.checklist")}
      </h2>
      <ul>
        {missing.map(({ to, text }) => (
          <li key={to} className="border-line border-b">
            <Link
              to={to}
              className="hover:bg-indigo-tint flex min-h-14 items-center justify-between gap-4 py-2"
            >
              {text}
              <ArrowRight aria-hidden="true" size={20} strokeWidth={1.5} className="flex-none" />
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
