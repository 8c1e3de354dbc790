import { useLocation } from "react-router";
import { Link } from "@/components/ui/link";
import { useBoot } from "@/lib/boot";
import { useT } from "@/lib/i18n";
import { smoothly } from "@/lib/scroll";

/** A whitewashed wall with its band, and the name; leads home and to the top. */
export function Mark({ onNavigate }: { onNavigate?(): void }) {
  const t = useT();
  const { site } = useBoot();
  const { pathname } = useLocation();
  return (
    <Link
      to="/"
      aria-label={t("nav.home", { name: site.name })}
      onClick={() => {
        onNavigate?.();
        if (pathname === "/") window.scrollTo({ top: 0, behavior: smoothly() });
      }}
      className="flex min-h-11 flex-none items-center gap-3 rounded-sm"
    >
      <span aria-hidden="true" className="relative h-[27px] w-[23px] border border-current">
        <span className="bg-anil over-hero:bg-white absolute -inset-x-px -bottom-px h-2.5 transition-colors duration-200" />
      </span>
      {/* Bounded by the window, so that Menu keeps its place beside it when text is large. */}
      <span className="text-[min(1.875rem,12vw)] leading-none font-[330] tracking-[-0.005em]">
        {site.name}
      </span>
    </Link>
  );
}
