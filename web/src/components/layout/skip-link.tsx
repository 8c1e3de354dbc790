import { useT } from "@/lib/i18n";

/** The link that skips the header by keyboard: the first tab stop of each page, visible only while it has the focus. */
export function SkipLink() {
  const t = useT();
  return (
    <a
      href="#main"
      className="btn btn-primary fixed top-3 left-3 z-[60] -translate-y-24 focus-visible:translate-y-0"
    >
      {t("nav.skip")}
    </a>
  );
}
