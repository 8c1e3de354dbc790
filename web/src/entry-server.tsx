import { reported } from "@/polyfill";
import { StrictMode } from "react";
import { renderToString } from "react-dom/server";
import { StaticRouter } from "react-router";
import { App } from "@/app/app";
import { pageTable } from "@/app/page-table";
import { LANGUAGES } from "@/lib/constants";
import { parseBoot } from "@/lib/boot";
import { pictureLinks, splitLinks, urgentPictures } from "@/lib/head-links";
import { makeQueryClient } from "@/lib/query-client";
import { loadLanguage, loadTexts } from "@/lib/texts";

/**
 * Renders the HTML of one page. internal/pages/render calls this function with the path and the page's boot data as JSON. In the
 * result, `head` has preload links for the head, and `body` is the content of the root element. Throws if any component fails.
 */
function render(path: string, bootText: string): { head: string; body: string } {
  reported.length = 0;
  urgentPictures.length = 0;
  const boot = parseBoot(bootText);
  const html = renderToString(
    <StrictMode>
      <StaticRouter location={path}>
        <App boot={boot} queryClient={makeQueryClient(boot.queries)} />
      </StaticRouter>
    </StrictMode>,
  );
  // React logs an error that an error boundary can handle in the browser, instead of throwing it. polyfill.ts records the log.
  if (reported.length > 0) throw new Error(reported.join("\n"));
  const { head, body } = splitLinks(html);
  return { head: head + urgentPictures.slice(0, 1).map(pictureLinks).join(""), body };
}

// Loads the texts before the first page is rendered. Lazy components load themselves on the server
// (lib/lazy-with-preload.tsx).
void Promise.all([loadTexts("site"), ...LANGUAGES.map(loadLanguage)]);
// The functions are globals for their callers: internal/pages/render calls render, vite.server.config.ts calls pageTable.
Object.assign(globalThis, { render, pageTable });
