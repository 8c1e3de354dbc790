import { QueryClientProvider, type QueryClient } from "@tanstack/react-query";
import { useLocation } from "react-router";
import { ErrorBoundary } from "@/app/error-boundary";
import { LoadError } from "@/app/load-error";
import { RouteEffects } from "@/app/route-effects";
import { Router } from "@/app/router";
import { Header } from "@/components/layout/header";
import { SkipLink } from "@/components/layout/skip-link";
import { Toaster } from "@/components/ui/toaster";
import { AuthProvider } from "@/features/session/components/auth-provider";
import { BootProvider, type Boot } from "@/lib/boot";
import { LanguageProvider } from "@/lib/i18n";

/**
 * The root component of the site: its providers, the header and the current page. The entries render it inside a
 * router: BrowserRouter in the browser, StaticRouter on the server.
 */
export function App({ boot, queryClient }: { boot: Boot; queryClient: QueryClient }) {
  return (
    <BootProvider value={boot}>
      <LanguageProvider initial={boot.language}>
        <QueryClientProvider client={queryClient}>
          <AuthProvider
            // Not among the children: the header may call useAuth on every page, but the page may call useAuth only under /admin.
            header={
              <>
                <SkipLink />
                <Header />
              </>
            }
          >
            <Page />
            <RouteEffects />
            <Toaster />
          </AuthProvider>
        </QueryClientProvider>
      </LanguageProvider>
    </BootProvider>
  );
}

/** The current page, or an error message in its place. */
function Page() {
  const { pathname } = useLocation();
  return (
    // The key is the area of the site, such as "gallery". Another area mounts a new boundary, so that the header's links work
    // after a page has failed.
    <ErrorBoundary key={pathname.split("/")[1]} fallback={<LoadError />}>
      <Router />
    </ErrorBoundary>
  );
}
