import type { ReactNode } from "react";
import { Checklist } from "@/features/admin-dashboard/components/checklist";
import { DiskNotice } from "@/features/admin-dashboard/components/disk-notice";
import { HealthLine } from "@/features/admin-dashboard/components/health-line";
import { HealthProblems } from "@/features/admin-dashboard/components/health-problems";
import { MissingTexts } from "@/features/admin-dashboard/components/missing-texts";
import { CountCard } from "@/features/admin-dashboard/components/count-card";
import { useRowCount, useUnreadCount } from "@/lib/count-rows";
import { NoMailServer } from "@/components/mail/no-mail-server";
import { AdminPage } from "@/components/layout/admin-page";
import { useT } from "@/lib/i18n";

/**
 * The overview of the admin area. It shows problems, how many works, covers, reviews and messages there are, the health of the
 * site, missing texts, and checklists for a new site. The children are the checklist of the first-run guide, in which the owner
 * replaces the initial settings. They are passed in, because the guide belongs to another feature (admin-settings).
 */
export function DashboardPage({ children }: { children?: ReactNode }) {
  const t = useT();
  const products = useRowCount("products");
  const covers = useRowCount("cover_images");
  const reviews = useRowCount("reviews");
  const messages = useRowCount("contact_submissions");
  const { data: unread } = useUnreadCount();
  return (
    <AdminPage title={t("nav.overview")}>
      <DiskNotice />
      <HealthProblems />
      <NoMailServer className="mb-8" />
      <ul className="grid grid-cols-2 gap-3.5 md:gap-6 xl:grid-cols-4">
        <CountCard to="/admin/products" label={t("nav.products")} countQuery={products} />
        <CountCard to="/admin/cover-images" label={t("nav.coverImages")} countQuery={covers} />
        <CountCard to="/admin/reviews" label={t("nav.reviews")} countQuery={reviews} />
        <CountCard
          to="/admin/contact-messages"
          label={t("admin.contactMessages")}
          countQuery={messages}
          badge={unread ? t("admin.unread", { n: unread }) : undefined}
        />
      </ul>
      <HealthLine />
      {children}
      <MissingTexts />
      <Checklist products={products.data} covers={covers.data} reviews={reviews.data} />
    </AdminPage>
  );
}
