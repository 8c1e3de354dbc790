import { useLocation } from "react-router";
import { Link } from "@/components/ui/link";
import { useBoot } from "@/lib/boot";
import { useT } from "@/lib/i18n";
import { cn } from "@/lib/cn";
import { scrollBehavior } from "@/lib/scroll";

/**
 * Whether a name is long. A long name has a smaller font and wraps to two or three lines, so that it fits into the 64 px of
 * the header beside the header's buttons.
 */
const isLong = (name: string) => name.length > 10;
/** The CSS font size of a long name. */
const longNameSize = (name: string) =>
  name.length > 24 ? "min(1.0625rem,5vw)" : "min(1.375rem,6.5vw)";

/**
 * The logo and name of the site, as a link to the home page. On the home page itself, a click scrolls to the top. A click
 * first calls `onNavigate`.
 */
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
        if (pathname === "/") window.scrollTo({ top: 0, behavior: scrollBehavior() });
      }}
      className="flex min-h-11 min-w-0 items-center gap-3 rounded-sm"
    >
      <span
        aria-hidden="true"
        className="relative h-[27px] w-[23px] flex-none border border-current"
      >
        <span className="bg-indigo over-hero:bg-white absolute -inset-x-px -bottom-px h-2.5 transition-colors duration-200" />
      </span>
      <span
        style={
          isLong(site.name) ? { fontSize: longNameSize(site.name), lineHeight: 1.1 } : undefined
        }
        className={cn(
          "font-[330] tracking-[-0.005em]",
          isLong(site.name)
            ? "line-clamp-3 wrap-anywhere text-balance"
            : "text-[min(1.875rem,12vw)] leading-none whitespace-nowrap",
        )}
      >
        {site.name}
      </span>
    </Link>
  );
}
