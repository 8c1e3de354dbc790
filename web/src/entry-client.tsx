import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { BrowserRouter } from "react-router";
import { App } from "@/app/app";
import { preloadPage } from "@/app/router";
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
  createRoot(root).render(
    <StrictMode>
      <BrowserRouter>
        <App boot={boot} queryClient={makeQueryClient()} />
      </BrowserRouter>
    </StrictMode>,
  );
  afterLoad(() => {
    // So that a visitor never waits for either. What fails here is asked for again when it is needed.
    void Promise.allSettled([loadLanguage(otherLanguage(boot.language)), preloadPage("/gallery")]);
  });
});

function afterLoad(act: () => void): void {
  if (document.readyState === "complete") act();
  else window.addEventListener("load", act, { once: true });
}
