import { Badge } from "@/components/ui/badge";
import { visibilityOf } from "@/features/admin-products/visibility";
import { clockTime, localDay, shortDate } from "@/lib/owner-dates";
import { useLanguage, useT } from "@/lib/i18n";
import type { Product } from "@/lib/types";

/**
 * A badge for a work that visitors do not see. It says that the work is a draft (only the owner sees it), or when a scheduled work is
 * published. Renders nothing for a published work.
 */
export function VisibilityBadge({ product }: { product: Product }) {
  const t = useT();
  const { language } = useLanguage();
  const visibility = visibilityOf(product);
  if (visibility === "published") return null;
  if (visibility === "draft") return <Badge tone="outline">{t("products.draft")}</Badge>;
  const publishedAt = product.published_at!;
  const when = `${shortDate(localDay(publishedAt), language)}, ${clockTime(publishedAt)}`;
  return (
    <>
      <Badge tone="outline">{t("products.scheduled")}</Badge>{" "}
      <span className="text-ink2 text-[.9375rem] leading-[1.4] font-[430]">{when}</span>
    </>
  );
}
