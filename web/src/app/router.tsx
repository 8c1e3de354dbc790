import { Suspense, type ComponentType } from "react";
import { matchPath, Route, Routes } from "react-router";
import { HomeRoute } from "@/app/routes/public/home";
import { NotFoundRoute } from "@/app/routes/public/not-found";
import { AdminFallback } from "@/app/admin-fallback";
import { part } from "@/lib/part";
import { loadTexts, type TextPart } from "@/lib/texts";

/** A part of the site that says texts of its own. */
function partWithTexts<P extends object>(texts: TextPart, load: () => Promise<ComponentType<P>>) {
  return part(async () => {
    const [component] = await Promise.all([load(), loadTexts(texts)]);
    return component;
  });
}

const GalleryRoute = part(() => import("@/app/routes/public/gallery").then((m) => m.GalleryRoute));
const PrivacyRoute = partWithTexts("privacy", () =>
  import("@/app/routes/public/privacy").then((m) => m.PrivacyRoute),
);
const LoginRoute = partWithTexts("admin", () =>
  import("@/app/routes/auth/login").then((m) => m.LoginRoute),
);
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

const SettingsRoute = partWithTexts("privacy", () =>
  import("@/app/routes/admin/settings").then((m) => m.SettingsRoute),
);

const AccountRoute = part(() => import("@/app/routes/admin/account").then((m) => m.AccountRoute));

/** What the first drawing of a public page needs besides the entry; other pages have nothing to wait for. */
export async function preloadPage(pathname: string): Promise<void> {
  if (matchPath("/gallery/:type?", pathname)) await GalleryRoute.preload();
  else if (matchPath("/politica-privacidade", pathname)) await PrivacyRoute.preload();
}

/** The URL map of the site. The entry holds the home page; the others load on demand. */
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
            <Route path="settings" element={<SettingsRoute />} />
            <Route path="account" element={<AccountRoute />} />
          </Route>
        </Route>
        <Route path="*" element={<NotFoundRoute />} />
      </Routes>
    </Suspense>
  );
}
