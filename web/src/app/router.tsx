import { Suspense } from "react";
import { matchPath, Route, Routes } from "react-router";
import { HomeRoute } from "@/app/routes/public/home";
import { AdminFallback } from "@/app/admin-fallback";
import { partWithTexts } from "@/app/part-with-texts";
import { part } from "@/lib/part";

const GalleryRoute = part(() => import("@/app/routes/public/gallery").then((m) => m.GalleryRoute));
const PrivacyRoute = partWithTexts("privacy", () =>
  import("@/app/routes/public/privacy").then((m) => m.PrivacyRoute),
);
const NotFoundRoute = part(() =>
  import("@/app/routes/public/not-found").then((m) => m.NotFoundRoute),
);
const LoginRoute = partWithTexts("admin", () =>
  import("@/app/routes/auth/login").then((m) => m.LoginRoute),
);
const AdminRoutes = part(() => import("@/app/admin-routes").then((m) => m.AdminRoutes));

/** What the first drawing of a public page needs besides the entry; other pages have nothing to wait for. */
export async function preloadPage(pathname: string): Promise<void> {
  if (matchPath("/gallery/:type?", pathname)) await GalleryRoute.preload();
  else if (matchPath("/politica-privacidade", pathname)) await PrivacyRoute.preload();
  else if (pathname !== "/" && !matchPath("/admin/*", pathname)) await NotFoundRoute.preload();
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
        <Route path="/admin/*" element={<AdminRoutes />} />
        <Route path="*" element={<NotFoundRoute />} />
      </Routes>
    </Suspense>
  );
}
