import { useEffect, useRef } from "react";
import { useLocation } from "react-router";
import { useT } from "@/lib/i18n";
import { cn } from "@/lib/cn";
import { adminLinks } from "@/components/layout/nav-links";
import { Badge } from "@/components/ui/badge";
import { Link } from "@/components/ui/link";
import { RowEdge } from "@/components/ui/row-edge";
import { useOverflow } from "@/lib/use-overflow";
import type { TextKey } from "@/lib/texts";

/**
 * The tabs: first the admin pages that the header's menu also has, then settings and account. On wide screens a tab with `alignRight`
 * and the tabs after it are at the right edge.
 */
const tabs: readonly { key: TextKey; to: string; alignRight?: boolean }[] = [
  ...adminLinks,
  { key: "settings.title", to: "/admin/settings", alignRight: true },
  { key: "account.title", to: "/admin/account" },
];

/**
 * The navigation of the admin area, a row of tabs under the header. The tab of the messages shows the number of unread ones
 * (`unread`). On narrow screens the row scrolls to the tab of the current page.
 */
export function AdminTabs({ unread }: { unread: number }) {
  const t = useT();
  const { pathname } = useLocation();
  const currentPath = pathname.replace(/\/$/, "");
  // The tab of the messages is also current on a page below its URL, such as /admin/contact-messages/board. The tab of the
  // overview is not, because all admin pages are below /admin.
  const isCurrent = (to: string) =>
    to === currentPath || (to !== "/admin" && currentPath.startsWith(`${to}/`));
  const row = useRef<HTMLUListElement>(null);
  const overflow = useOverflow(row);

  // If the tab of the current page is not visible, scrolls the row to it.
  useEffect(() => {
    const list = row.current;
    const current = list?.querySelector<HTMLElement>("[aria-current=page]");
    if (!list || !current) return;
    const left = current.offsetLeft - list.offsetLeft;
    // scrollIntoView would also scroll the page.
    if (left < list.scrollLeft || left + current.offsetWidth > list.scrollLeft + list.clientWidth) {
      list.scrollLeft = left - (list.clientWidth - current.offsetWidth) / 2;
    }
  }, [pathname, unread]); // `unread` changes the width of a tab

  return (
    <nav aria-label={t("nav.dashboard")} className="page-container relative md:pt-1.5">
      {overflow.left && (
        <RowEdge
          side="left"
          row={row}
          className="from-page left-gutter bottom-px -ml-px h-[51px]"
        />
      )}
      {overflow.right && (
        <RowEdge
          side="right"
          row={row}
          className="from-page right-gutter bottom-px -mr-px h-[51px]"
        />
      )}
      <ul
        ref={row}
        className="border-line flex overflow-x-auto border-b [scrollbar-width:none] [&::-webkit-scrollbar]:hidden"
      >
        {tabs.map(({ key, to, alignRight }) => (
          <li key={to} className={cn("flex-none", alignRight && "md:ml-auto")}>
            <Link
              to={to}
              aria-current={isCurrent(to) ? "page" : undefined}
              className={cn(
                "nav-text relative flex h-[52px] items-center border-b-6 px-3.5 pt-1.5 lg:px-[18px] transition-colors duration-200 focus-visible:-outline-offset-3",
                isCurrent(to)
                  ? "border-indigo text-ink"
                  : "text-ink2 hover:text-ink hover:border-indigo-tint border-transparent",
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

/** The number of unread messages in the tab of messages. */
function Unread({ count }: { count: number }) {
  const t = useT();
  return (
    <>
      <Badge tone="ochre" aria-hidden="true" className="ml-2 px-2 lining-nums tabular-nums">
        {count > 99 ? "99+" : count}
      </Badge>
      <span className="sr-only">, {t("messages.unread", { n: count })}</span>
    </>
  );
}
