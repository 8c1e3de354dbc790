import { localizedUrl } from "@/lib/i18n";
import { textOf } from "@/lib/texts";

/**
 * If the visitor's browser prefers Portuguese, shows a line with a link to the Portuguese page on an English page. The line stays until
 * the visitor closes it or changes the language. Nothing is stored. The line is outside React's root, because React may still be
 * hydrating the page. This code loads with the gallery's chunk, not with the home page.
 */
export function offerPortuguese(): void {
  const preferred = navigator.languages.find((code) => /^(en|pt)\b/i.test(code));
  const { documentElement: html } = document;
  if (html.lang !== "en" || !preferred || !/^pt/i.test(preferred)) return;
  if (location.pathname.startsWith("/admin")) return;

  const line = document.createElement("aside");
  line.className = "bg-pop text-ink pop-shadow fixed z-40 flex items-center rounded-sm";
  // Inline styles, because rules in a style sheet would be downloaded with each page.
  const header = document.querySelector("header")?.offsetHeight ?? 0;
  line.style.cssText = `top:${header + 8}px;right:var(--spacing-gutter);padding-left:1rem`;
  const link = document.createElement("a");
  const setHref = () => {
    link.href = localizedUrl("pt", location.pathname + location.search + location.hash);
  };
  setHref();
  // The visitor may have gone to another page since then.
  for (const event of ["pointerover", "focus", "click"]) link.addEventListener(event, setHref);
  link.lang = link.hreflang = "pt";
  link.className = "text-link inline-flex min-h-11 items-center";
  link.textContent = textOf("en", "nav.switchLanguage");
  const close = document.createElement("button");
  close.type = "button";
  close.className = "btn btn-ghost btn-icon-sm text-xl";
  close.ariaLabel = textOf("en", "nav.close");
  close.textContent = "×";
  close.addEventListener("click", () => {
    line.remove();
    document.getElementById("main")?.focus({ preventScroll: true });
  });
  line.append(link, close);
  document.body.append(line);
  new MutationObserver((_, observer) => {
    line.hidden = html.style.overflow === "hidden"; // the open menu locks the page
    if (html.lang === "en") return; // hydration sets the same language again
    observer.disconnect();
    line.remove();
  }).observe(html, { attributeFilter: ["lang", "style"] });
}
