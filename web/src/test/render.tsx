import type { ReactElement } from "react";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, type RenderResult } from "@testing-library/react";
import { MemoryRouter } from "react-router";
import { AuthContextProvider, type Auth } from "@/lib/auth";
import { OwnerBackendProvider, type OwnerBackend } from "@/lib/backend";
import { BootProvider, type Boot, type Language } from "@/lib/boot";
import { LanguageProvider } from "@/lib/i18n";

export const testBoot: Boot = {
  apiUrl: "http://backend.test",
  anonKey: "public-key",
  language: "en",
  today: "2026-11-21",
  site: {
    name: "Alvor",
    instagram: "https://www.instagram.com/alvor.atelie",
    facebook: "https://www.facebook.com/alvor.atelie",
    whatsapp: "https://wa.me/351900000000",
    email: "ola@alvor.example",
  },
};

export const visitorAuth: Auth = {
  loading: false,
  session: null,
  user: null,
  role: null,
  signIn: async () => ({}),
  setUp: async () => ({}),
  signOut: async () => undefined,
};

type Options = {
  language?: Language;
  path?: string;
  boot?: Partial<Boot>;
  auth?: Partial<Auth>;
  owner?: OwnerBackend;
  queryClient?: QueryClient;
};

export type RenderedApp = RenderResult & { queryClient: QueryClient };

/** Renders with every context of the site, in memory and without retries. */
export function renderApp(ui: ReactElement, options: Options = {}): RenderedApp {
  const { language = "en", path = "/", boot, auth, owner = null } = options;
  const queryClient =
    options.queryClient ?? new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const result = render(
    <MemoryRouter initialEntries={[path]}>
      <BootProvider value={{ ...testBoot, language, ...boot }}>
        <LanguageProvider initial={language}>
          <QueryClientProvider client={queryClient}>
            <AuthContextProvider value={{ ...visitorAuth, ...auth }}>
              <OwnerBackendProvider value={owner}>{ui}</OwnerBackendProvider>
            </AuthContextProvider>
          </QueryClientProvider>
        </LanguageProvider>
      </BootProvider>
    </MemoryRouter>,
  );
  return { ...result, queryClient };
}
