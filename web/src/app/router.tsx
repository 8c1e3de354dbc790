import { Suspense } from "react";
import { Route, Routes } from "react-router";
import { GalleryRoute } from "@/app/routes/public/gallery";
import { HomeRoute } from "@/app/routes/public/home";
import { NotFoundRoute } from "@/app/routes/public/not-found";
import { PrivacyRoute } from "@/app/routes/public/privacy";
import { AdminFallback } from "@/app/admin-fallback";
import { part } from "@/lib/part";

const LoginRoute = part(() => import("@/app/routes/auth/login").then((m) => m.LoginRoute));
const AdminGuard = part(() =>
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

/** The URL map of the site. Public pages are there at once; sign-in and admin load on demand. */
export function Router() {
  return (
    <Suspense fallback={<AdminFallback />}>
      <Routes>
        <Route path="/" element={<HomeRoute />} />
        <Route path="/gallery" element={<GalleryRoute />} />
        <Route path="/gallery/:type" element={<GalleryRoute />} />
        <Route path="/politica-privacidade" element={<PrivacyRoute />} />
        <Route path="/admin/auth" element={<LoginRoute />} />
        <Route path="/admin" element={<AdminGuard />}>
          <Route element={<AdminLayout />}>
            <Route index element={<DashboardRoute />} />
            <Route path="products" element={<ProductsRoute />} />
            <Route path="reviews" element={<ReviewsRoute />} />
            <Route path="cover-images" element={<CoversRoute />} />
            <Route path="contact-messages" element={<MessagesRoute />} />
          </Route>
        </Route>
        <Route path="*" element={<NotFoundRoute />} />
      </Routes>
    </Suspense>
  );
}
