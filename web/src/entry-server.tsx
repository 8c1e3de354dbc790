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
 * Renders the HTML of one page. internal/pages/render calls it with the path and the JSON text of the page's boot data. In the
 * result, `head` has preload links, and `body` is the content of the root element. Throws if any component fails.
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
  // React does not throw an error that an error boundary could handle in the browser. It logs the error (polyfill.ts).
  if (reported.length > 0) throw new Error(reported.join("\n"));
  const { head, body } = splitLinks(html);
  return { head: head + urgentPictures.slice(0, 1).map(pictureLinks).join(""), body };
}

// Loads the texts before the first page is rendered. Lazy components load themselves on the server
// (lib/lazy-with-preload.tsx).
void Promise.all([loadTexts("site"), ...LANGUAGES.map(loadLanguage)]);
// Globals, because internal/pages/render calls render and the build calls pageTable (vite.server.config.ts).
Object.assign(globalThis, { render, pageTable });
