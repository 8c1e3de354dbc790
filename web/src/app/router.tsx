import { Suspense } from "react";
import type { QueryClient } from "@tanstack/react-query";
import { matchPath, Route, Routes } from "react-router";
import { HomeRoute } from "@/app/routes/public/home";
import { AdminFallback } from "@/app/admin-fallback";
import { partWithTexts } from "@/app/part-with-texts";
import type { Boot } from "@/lib/boot";
import { part } from "@/lib/part";

const gallery = () => import("@/app/routes/public/gallery");
const GalleryRoute = part(() => gallery().then((m) => m.GalleryRoute));
const PrivacyRoute = partWithTexts("privacy", () =>
  import("@/app/routes/public/privacy").then((m) => m.PrivacyRoute),
);
const NotFoundRoute = part(() =>
  import("@/app/routes/public/not-found").then((m) => m.NotFoundRoute),
);
// The server never draws them, and does not even have their code.
const LoginRoute = import.meta.env.SSR
  ? AdminFallback
  : partWithTexts("admin", () => import("@/app/routes/auth/login").then((m) => m.LoginRoute));
const AdminRoutes = import.meta.env.SSR
  ? AdminFallback
  : part(() => import("@/app/admin-routes").then((m) => m.AdminRoutes));

/** What the first drawing of a public page needs besides the entry; other pages have nothing to wait for. */
export async function preloadPage(pathname: string): Promise<void> {
  const at = (path: string) => matchPath({ path, caseSensitive: true }, pathname);
  if (at("/gallery/:type?")) await GalleryRoute.preload();
  else if (at("/politica-privacidade")) await PrivacyRoute.preload();
  else if (pathname !== "/" && !at("/admin/*")) await NotFoundRoute.preload();
}

/** Has the gallery's code here before anybody asks for it, and its walls as soon as somebody is about to. */
export async function preloadGallery(cache: QueryClient, boot: Boot): Promise<void> {
  await GalleryRoute.preload();
  (await gallery()).startNearWalls(cache, boot);
}

/** The URL map of the site, in which capitals count as for the server. The entry holds the home page; the others load on demand. */
export function Router() {
  return (
    <Suspense fallback={<AdminFallback />}>
      <Routes>
        <Route caseSensitive path="/" element={<HomeRoute />} />
        <Route caseSensitive path="/gallery" element={<GalleryRoute />} />
        <Route caseSensitive path="/gallery/:type" element={<GalleryRoute />} />
        <Route caseSensitive path="/politica-privacidade" element={<PrivacyRoute />} />
        <Route caseSensitive path="/admin/auth" element={<LoginRoute />} />
        <Route caseSensitive path="/admin/*" element={<AdminRoutes />} />
        <Route path="*" element={<NotFoundRoute />} />
      </Routes>
    </Suspense>
  );
}
