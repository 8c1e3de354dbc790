import { localizedUrl } from "@/lib/i18n";
import { textOf } from "@/lib/texts";

/**
 * On an English page, shows visitors whose browser prefers Portuguese one line with a link to the Portuguese page, until they close
 * it or change the language. Nothing is stored. The line stands outside React's root, which may still be hydrating, so that the home
 * page's scripts need no code for it.
 */
export function offerPortuguese(): void {
  const preferred = navigator.languages.find((code) => /^(en|pt)\b/i.test(code));
  const main = document.getElementById("main");
  const { documentElement: html } = document;
  if (html.lang !== "en" || !preferred || !/^pt/i.test(preferred) || !main) return;
  if (location.pathname.startsWith("/admin")) return;

  const line = document.createElement("aside");
  // Above the header's scrim. While the menu is open, which locks the page's scrolling, it is not there.
  line.className =
    "bg-pop text-ink pop-shadow right-gutter fixed top-[73px] z-40 flex items-center rounded-sm pl-4 [html[style*=overflow]_&]:hidden lg:top-[85px]";
  const link = document.createElement("a");
  const setHref = () => {
    link.href = localizedUrl("pt", location.pathname + location.search + location.hash);
  };
  setHref();
  // The visitor may have gone to another page meanwhile.
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
    main.focus({ preventScroll: true });
  });
  line.append(link, close);
  document.body.append(line);
  new MutationObserver((_, observer) => {
    observer.disconnect();
    line.remove();
  }).observe(html, { attributeFilter: ["lang"] });
}
