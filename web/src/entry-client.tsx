import { StrictMode, startTransition } from "react";
import { createRoot, hydrateRoot } from "react-dom/client";
import { BrowserRouter } from "react-router";
import { App } from "@/app/app";
import { preloadGallery, preloadPage } from "@/app/router";
import { parseBoot } from "@/lib/boot";
import { otherLanguage } from "@/lib/i18n";
import { watchHistory } from "@/lib/leave-guard";
import { makeQueryClient } from "@/lib/query-client";
import { loadLanguage, loadTexts } from "@/lib/texts";
import { whenPageLoads, whenVisitorMoves } from "@/lib/visitor-moves";
import "@/styles/site.css";

// This file starts the site in the browser. It loads the texts and the code of the page. Then it hydrates the server's HTML, or
// renders the page if the server has rendered none.

const root = document.getElementById("root");
if (!root) throw new Error("There is no root element");
const boot = parseBoot(document.getElementById("boot")?.textContent);
watchHistory();
const ready = Promise.all([
  loadTexts("site"),
  loadLanguage(boot.language),
  preloadPage(window.location.pathname),
]);

// Not a top-level await: lazy chunks import code that the bundler puts into this module, so this module and a chunk would wait for
// each other for ever.
void ready.then(() => {
  const queryClient = makeQueryClient(boot.queries);
  const app = (
    <BrowserRouter>
      <App boot={boot} queryClient={queryClient} />
    </BrowserRouter>
  );
  const page = import.meta.env.DEV ? <StrictMode>{app}</StrictMode> : app; // in production it does nothing
  // The root is empty on admin pages and on pages that the server failed to render.
  if (root.hasChildNodes()) {
    startTransition(() => {
      hydrateRoot(root, page, {
        onRecoverableError: (error) => console.error("The page was rendered again", error),
      });
      document.dispatchEvent(new Event("hydrated")); // start.ts waits for this event
    });
  } else {
    // Counts as the visitor's first move (lib/visitor-moves.ts), which start.ts would detect. Such a page has no start.ts.
    document.documentElement.dataset.moved = "";
    createRoot(root).render(page);
  }
  // Loads in advance the other language and the gallery. A failure is ignored, because the page tries again when it needs them.
  void Promise.all([whenPageLoads(), whenVisitorMoves()]).then(() =>
    Promise.allSettled([
      loadLanguage(otherLanguage(boot.language)),
      preloadGallery(queryClient, boot),
    ]),
  );
});
