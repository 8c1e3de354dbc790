import { StrictMode, startTransition } from "react";
import { createRoot, hydrateRoot } from "react-dom/client";
import { BrowserRouter } from "react-router";
import { App } from "@/app/app";
import { preloadGallery, preloadPage } from "@/app/router";
import { parseBoot } from "@/lib/boot";
import { otherLanguage } from "@/lib/i18n";
import { watchHistory } from "@/lib/leaving";
import { makeQueryClient } from "@/lib/query-client";
import { loadLanguage, loadTexts } from "@/lib/texts";
import "@/styles/site.css";

const root = document.getElementById("root");
if (!root) throw new Error("The page has no root element");
const boot = parseBoot(document.getElementById("boot")?.textContent);
watchHistory();
const ready = Promise.all([
  loadTexts("site"),
  loadLanguage(boot.language),
  preloadPage(window.location.pathname),
]);

// Not awaited on the top level: parts that load later import from this module.
void ready.then(() => {
  const queryClient = makeQueryClient(boot.queries);
  const page = (
    <StrictMode>
      <BrowserRouter>
        <App boot={boot} queryClient={queryClient} />
      </BrowserRouter>
    </StrictMode>
  );
  // Without content the server could not draw the page, or leaves it to the browser, as under /admin.
  if (root.hasChildNodes()) {
    startTransition(() => {
      hydrateRoot(root, page, {
        onRecoverableError: (error) => console.error("The page was drawn anew", error),
      });
      document.dispatchEvent(new Event("taken-over")); // start.ts waits for it
    });
  } else {
    createRoot(root).render(page);
  }
  afterLoad(() => {
    // So that a visitor never waits for either. What fails here is asked for again when it is needed.
    void Promise.allSettled([
      loadLanguage(otherLanguage(boot.language)),
      preloadGallery(queryClient, boot),
    ]);
  });
});

function afterLoad(act: () => void): void {
  if (document.readyState === "complete") act();
  else window.addEventListener("load", act, { once: true });
}
