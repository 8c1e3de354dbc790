import "@/styles/owner.css";
import { Route, Routes } from "react-router";
import { partWithTexts } from "@/app/part-with-texts";
import { NotFoundRoute } from "@/app/routes/public/not-found";
import { part } from "@/lib/part";

// The guard stands around every admin page, so its texts are theirs.
const AdminGuard = partWithTexts("admin", () =>
  import("@/features/admin-shell/components/admin-guard").then((m) => m.AdminGuard),
);
const AdminLayout = part(() =>
  import("@/features/admin-shell/components/admin-layout").then((m) => m.AdminLayout),
);
const DashboardRoute = part(() =>
  import("@/app/routes/admin/dashboard").then((m) => m.DashboardRoute),
);
const ProductsRoute = part(() =>
  import("@/app/routes/admin/products").then((m) => m.ProductsRoute),
);
const ReviewsRoute = part(() => import("@/app/routes/admin/reviews").then((m) => m.ReviewsRoute));
const CoversRoute = part(() => import("@/app/routes/admin/covers").then((m) => m.CoversRoute));
const MessagesRoute = part(() =>
  import("@/app/routes/admin/messages").then((m) => m.MessagesRoute),
);
// They edit the privacy page's texts.
const SettingsRoute = partWithTexts("privacy", () =>
  import("@/app/routes/admin/settings").then((m) => m.SettingsRoute),
);
const AccountRoute = part(() => import("@/app/routes/admin/account").then((m) => m.AccountRoute));

/** The map of /admin, a download of its own: visitors need no word of it. */
export function AdminRoutes() {
  return (
    <Routes>
      <Route element={<AdminGuard />}>
        <Route element={<AdminLayout />}>
          <Route index element={<DashboardRoute />} />
          <Route path="products" element={<ProductsRoute />} />
          <Route path="reviews" element={<ReviewsRoute />} />
          <Route path="cover-images" element={<CoversRoute />} />
          <Route path="contact-messages" element={<MessagesRoute />} />
          <Route path="settings" element={<SettingsRoute />} />
          <Route path="account" element={<AccountRoute />} />
        </Route>
      </Route>
      <Route path="*" element={<NotFoundRoute />} />
    </Routes>
  );
}
