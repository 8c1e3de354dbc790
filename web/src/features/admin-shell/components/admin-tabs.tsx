import { useEffect, useRef } from "react";
import { useLocation } from "react-router";
import { useT } from "@/lib/i18n";
import { cn } from "@/lib/cn";
import { adminTargets } from "@/components/layout/nav-targets";
import { Badge } from "@/components/ui/badge";
import { Link } from "@/components/ui/link";
import type { Key } from "@/lib/texts";

/** The specification's pages, and apart from them our own two, which the bar's menus leave out. */
const tabs: readonly { key: Key; to: string; apart?: boolean }[] = [
  ...adminTargets,
  { key: "settings.title", to: "/admin/settings", apart: true },
  { key: "account.title", to: "/admin/account" },
];

/** The row under the bar; on phones it scrolls sideways and brings the current tab into view. */
export function AdminTabs({ unread }: { unread: number }) {
  const t = useT();
  const { pathname } = useLocation();
  const place = pathname.replace(/\/$/, "");
  const row = useRef<HTMLUListElement>(null);

  useEffect(() => {
    const list = row.current;
    const current = list?.querySelector<HTMLElement>("[aria-current=page]");
    if (!list || !current) return;
    const left = current.offsetLeft - list.offsetLeft;
    // Not scrollIntoView: that would also move the page.
    if (left < list.scrollLeft || left + current.offsetWidth > list.scrollLeft + list.clientWidth) {
      list.scrollLeft = left - (list.clientWidth - current.offsetWidth) / 2;
    }
  }, [pathname, unread]); // the number makes its tab wider

  return (
    <nav aria-label={t("nav.dashboard")} className="wrap md:pt-1.5">
      <ul
        ref={row}
        className="border-line flex overflow-x-auto border-b [scrollbar-width:none] [&::-webkit-scrollbar]:hidden"
      >
        {tabs.map(({ key, to, apart }) => (
          <li key={to} className={cn("flex-none", apart && "md:ml-auto")}>
            <Link
              to={to}
              aria-current={to === place ? "page" : undefined}
              className={cn(
                "nav-text relative flex h-[52px] items-center border-b-6 px-3.5 pt-1.5 lg:px-[18px] transition-colors duration-200 focus-visible:-outline-offset-3",
                to === place
                  ? "border-barra text-ink"
                  : "text-ink2 hover:text-ink hover:border-anil-tint border-transparent",
              )}
            >
              {t(key)}
              {key === "nav.messages" && unread > 0 && <Unread count={unread} />}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Unread({ count }: { count: number }) {
  const t = useT();
  return (
    <>
      <Badge tone="ocre" aria-hidden="true" className="ml-2 px-2 lining-nums tabular-nums">
        {count > 99 ? "99+" : count}
      </Badge>
      <span className="sr-only">, {t("messages.unread", { n: count })}</span>
    </>
  );
}
