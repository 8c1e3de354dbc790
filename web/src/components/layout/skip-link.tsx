import { useT } from "@/lib/i18n";

/** The first stop of the keyboard; visible only while it has the focus. */
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
