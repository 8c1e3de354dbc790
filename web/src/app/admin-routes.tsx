import "@/lib/work-texts";
import "@/styles/full.css";
import { Route, Routes } from "react-router";
import { lazyWithTexts } from "@/app/lazy-with-texts";
import { NotFoundRoute } from "@/app/routes/public/not-found";
import { lazyWithPreload } from "@/lib/lazy-with-preload";

// This file is a chunk of its own, so that visitors do not load the admin area. Each page under /admin is a chunk too.

// AdminGuard shows admin pages only to owners. It wraps every admin page, so the texts of the admin area load with it.
const AdminGuard = lazyWithTexts("admin", () =>
  import("@/features/admin-shell/components/admin-guard").then((m) => m.AdminGuard),
);
const AdminLayout = lazyWithPreload(() =>
  import("@/features/admin-shell/components/admin-layout").then((m) => m.AdminLayout),
);
const DashboardRoute = lazyWithPreload(() =>
  import("@/app/routes/admin/dashboard").then((m) => m.DashboardRoute),
);
const ProductsRoute = lazyWithPreload(() =>
  import("@/app/routes/admin/products").then((m) => m.ProductsRoute),
);
const SeriesRoute = lazyWithPreload(() =>
  import("@/app/routes/admin/series").then((m) => m.SeriesRoute),
);
const ReviewsRoute = lazyWithPreload(() =>
  import("@/app/routes/admin/reviews").then((m) => m.ReviewsRoute),
);
const CoversRoute = lazyWithPreload(() =>
  import("@/app/routes/admin/covers").then((m) => m.CoversRoute),
);
const MessagesRoute = lazyWithPreload(() =>
  import("@/app/routes/admin/messages").then((m) => m.MessagesRoute),
);
// The board loads code for dragging, which the list of messages does not need.
const BoardRoute = lazyWithPreload(() =>
  import("@/app/routes/admin/board").then((m) => m.BoardRoute),
);
// The settings form edits the texts of the privacy page, so it needs their default values.
const SettingsRoute = lazyWithTexts("privacy", () =>
  import("@/app/routes/admin/settings").then((m) => m.SettingsRoute),
);
// The guide is in the module of the settings page, because both use the same form fields.
const GuideRoute = lazyWithPreload(() =>
  import("@/app/routes/admin/settings").then((m) => m.GuideRoute),
);
const AccountRoute = lazyWithPreload(() =>
  import("@/app/routes/admin/account").then((m) => m.AccountRoute),
);

/** The routes under /admin, except the sign-in page /admin/auth. */
export function AdminRoutes() {
  return (
    <Routes>
      <Route element={<AdminGuard />}>
        <Route element={<AdminLayout />}>
          <Route index element={<DashboardRoute />} />
          <Route path="products" element={<ProductsRoute />} />
          <Route path="series" element={<SeriesRoute />} />
          <Route path="reviews" element={<ReviewsRoute />} />
          <Route path="cover-images" element={<CoversRoute />} />
          <Route path="contact-messages" element={<MessagesRoute />} />
          <Route path="contact-messages/board" element={<BoardRoute />} />
          <Route path="settings" element={<SettingsRoute />} />
          <Route path="guide" element={<GuideRoute />} />
          <Route path="account" element={<AccountRoute />} />
        </Route>
      </Route>
      <Route path="*" element={<NotFoundRoute />} />
    </Routes>
  );
}
