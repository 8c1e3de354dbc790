import { ArrowRight } from "lucide-react";
import { Link } from "@/components/ui/link";
import { useMissingTexts } from "@/features/admin-dashboard/api/missing-texts";
import { useT } from "@/lib/i18n";

/**
 * Lists on the overview of the admin area which texts are missing in one of the two languages, and how many works lack alternative
 * texts (what their pictures show, in words). Each line links to the page where the owner adds the texts. Renders nothing if nothing
 * is missing.
 */
export function MissingTexts() {
  const t = useT();
  const { data } = useMissingTexts();
  if (!data) return null;
  const { works, series, covers, reviews } = data;
  // The list of works, filtered to those that lack a text. features/admin-products/list-view.ts defines the filters.
  const worksUrl = (show: string) => `/admin/products?show=${show}`;
  const missing = [
    { count: works.title, to: worksUrl("one-language-title"), text: t("missing.title") },
    {
      count: works.description,
      to: worksUrl("one-language-description"),
      text: t("missing.description"),
    },
    { count: works.medium, to: worksUrl("one-language-medium"), text: t("missing.medium") },
    { count: works.seo, to: worksUrl("one-language-seo"), text: t("missing.seo") },
    { count: works.alt_texts, to: worksUrl("no-alt-texts"), text: t("missing.altTexts") },
    { count: series, to: "/admin/series", text: t("missing.series") },
    { count: covers, to: "/admin/cover-images", text: t("missing.covers") },
    { count: reviews, to: "/admin/reviews", text: t("missing.reviews") },
  ].filter(({ count }) => count > 0);
  if (missing.length === 0) return null;
  return (
    <section aria-labelledby="missing-texts" className="mt-12 max-w-[40rem]">
      <h2
        id="missing-texts"
        className="border-ink border-b-2 pb-3 text-[1.5rem] leading-tight font-[350]"
      >
        {t("missing.heading")}
      </h2>
      <ul>
        {missing.map(({ count, to, text }) => (
          <li key={to} className="border-line border-b">
            <Link to={to} className="hover:bg-indigo-tint flex min-h-14 items-center gap-4 py-2">
              <span className="flex-1">{text}</span> <span className="oldstyle">{count}</span>
              <ArrowRight aria-hidden="true" size={20} strokeWidth={1.5} className="flex-none" />
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
