import { reported } from "@/polyfill";
import { StrictMode } from "react";
import { renderToString } from "react-dom/server";
import { StaticRouter } from "react-router";
import { App } from "@/app/app";
import { LANGUAGES } from "@/lib/constants";
import { parseBoot } from "@/lib/boot";
import { makeQueryClient } from "@/lib/query-client";
import { loadLanguage, loadTexts } from "@/lib/texts";

/** What internal/pages/render calls: the path to draw, and the text of the page's boot block. */
function render(path: string, bootText: string): string {
  reported.length = 0;
  const boot = parseBoot(bootText);
  const html = renderToString(
    <StrictMode>
      <StaticRouter location={path}>
        <App boot={boot} queryClient={makeQueryClient(boot.queries)} />
      </StaticRouter>
    </StrictMode>,
  );
  // React goes on where an error boundary could help in a browser, and only reports.
  if (reported.length > 0) throw new Error(reported.join("\n"));
  return html;
}

// Parts load by themselves on the server (lib/part.tsx); all of it is done before the first page is drawn.
void Promise.all([loadTexts("site"), ...LANGUAGES.map(loadLanguage)]);
Object.assign(globalThis, { render });
