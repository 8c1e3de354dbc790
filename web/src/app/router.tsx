import { Suspense } from "react";
import type { QueryClient } from "@tanstack/react-query";
import { matchPath, Route, Routes } from "react-router";
import { HomeRoute } from "@/app/routes/public/home";
import { AdminFallback } from "@/app/admin-fallback";
import { lazyWithTexts } from "@/app/lazy-with-texts";
import type { Boot } from "@/lib/boot";
import { lazyWithPreload } from "@/lib/lazy-with-preload";

const importGallery = () => import("@/app/routes/public/gallery");
const GalleryRoute = lazyWithPreload(() => importGallery().then((m) => m.GalleryRoute));
const PrivacyRoute = lazyWithTexts("privacy", () =>
  import("@/app/routes/public/privacy").then((m) => m.PrivacyRoute),
);
const NotFoundRoute = lazyWithPreload(() =>
  import("@/app/routes/public/not-found").then((m) => m.NotFoundRoute),
);
// The server renders only the fallback of these pages, so that the server's bundle does not contain their code.
const LoginRoute = import.meta.env.SSR
  ? AdminFallback
  : lazyWithTexts("admin", () => import("@/app/routes/auth/login").then((m) => m.LoginRoute));
const AdminRoutes = import.meta.env.SSR
  ? AdminFallback
  : lazyWithPreload(() => import("@/app/admin-routes").then((m) => m.AdminRoutes));

/** Loads the chunk that a public page needs besides the entry chunk, so that the first render does not wait for it. */
export async function preloadPage(pathname: string): Promise<void> {
  const matches = (path: string) => matchPath({ path, caseSensitive: true }, pathname);
  if (matches("/gallery/:type?")) await GalleryRoute.preload();
  else if (matches("/politica-privacidade")) await PrivacyRoute.preload();
  else if (pathname !== "/" && !matches("/admin/*")) await NotFoundRoute.preload();
}

/**
 * Loads the gallery's code in advance. Afterwards the gallery's data are prefetched when a link to the gallery is hovered,
 * touched or focused, and visitors who prefer Portuguese are offered the Portuguese page.
 */
export async function preloadGallery(queryClient: QueryClient, boot: Boot): Promise<void> {
  await GalleryRoute.preload();
  (await importGallery()).startPrefetchAndOffer(queryClient, boot);
}

/**
 * The routes of the site, case-sensitive as on the server. The entry chunk contains the home page; the other pages load on demand.
 */
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
