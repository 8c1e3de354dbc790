import type { ReactElement } from "react";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, type RenderResult } from "@testing-library/react";
import { MemoryRouter } from "react-router";
import { AuthContextProvider, type Auth } from "@/lib/auth";
import { OwnerBackendProvider, type OwnerBackend } from "@/lib/backend";
import { BootProvider, type Boot, type Language } from "@/lib/boot";
import { DEFAULT_GALLERY } from "@/lib/gallery-settings";
import { LanguageProvider } from "@/lib/i18n";

/** The boot data of a site with all its texts. */
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
    privacySince: "2026-11-21",
    gallery: DEFAULT_GALLERY,
    texts: {
      en: {
        "about.title": "I paint for the places people live in",
        "about.description": "Some pictures want a wall.",
        "about.description2": "Every commission starts with a conversation.",
        "about.portraitAlt": "Painted portrait with a straw hat",
        "testimonials.trustedBy": "Trusted by 500+ clients",
        "contact.responseTime": "I usually reply within 24 hours",
        "contact.success.body": "I'll get back to you soon.",
      },
      pt: {
        "about.title": "Pinto para os lugares onde se vive",
        "about.description": "Há imagens que pedem uma parede.",
        "about.description2": "Cada encomenda começa com uma conversa.",
        "about.portraitAlt": "Retrato pintado com chapéu de palha",
        "testimonials.trustedBy": "A confiança de mais de 500 clientes",
        "contact.responseTime": "Costumo responder em menos de 24 horas",
        "contact.success.body": "Respondo em breve.",
      },
    },
  },
};

/** The auth context of a visitor without a session. */
export const visitorAuth: Auth = {
  loading: false,
  session: null,
  user: null,
  role: null,
  pendingFactors: [],
  signIn: async () => ({}),
  setUp: async () => ({}),
  signOut: async () => undefined,
};

/** What surrounds the component. The defaults are a visitor in English at the path /, without an owner's backend. */
type Options = {
  language?: Language;
  path?: string;
  boot?: Partial<Boot>;
  auth?: Partial<Auth>;
  owner?: OwnerBackend;
  queryClient?: QueryClient;
};

export type RenderedApp = RenderResult & { queryClient: QueryClient };

/** Renders a component with all contexts of the site. Its router is in memory, and queries are not retried. */
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
