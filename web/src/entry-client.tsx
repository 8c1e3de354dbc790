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

// This file starts the site in the browser: it loads the texts and the code of the page, and then hydrates the server's HTML, or
// renders the page if there is none.

const root = document.getElementById("root");
if (!root) throw new Error("There is no root element");
const boot = parseBoot(document.getElementById("boot")?.textContent);
watchHistory();
const ready = Promise.all([
  loadTexts("site"),
  loadLanguage(boot.language),
  preloadPage(window.location.pathname),
]);

// A top-level await would block: the bundler puts code that lazy chunks import into this module, so module and chunks would
// wait for each other.
void ready.then(() => {
  const queryClient = makeQueryClient(boot.queries);
  const page = (
    <StrictMode>
      <BrowserRouter>
        <App boot={boot} queryClient={queryClient} />
      </BrowserRouter>
    </StrictMode>
  );
  // The root is empty on admin pages and on pages that the server failed to render.
  if (root.hasChildNodes()) {
    startTransition(() => {
      hydrateRoot(root, page, {
        onRecoverableError: (error) => console.error("The page was rendered again", error),
      });
      document.dispatchEvent(new Event("hydrated")); // start.ts waits for this event
    });
  } else {
    // Counts as the visitor's first move, because such a page has no start.ts, which would detect the move.
    document.documentElement.dataset.moved = "";
    createRoot(root).render(page);
  }
  // Failures are ignored, because the page loads what is missing when it needs it.
  void Promise.all([whenPageLoads(), whenVisitorMoves()]).then(() =>
    Promise.allSettled([
      loadLanguage(otherLanguage(boot.language)),
      preloadGallery(queryClient, boot),
    ]),
  );
});
