import type { ReactNode } from "react";
import { usePageTitle } from "@/lib/use-page-title";

type AdminPageProps = {
  title: string;
  /** The main buttons of the page: beside the heading, or below it if there is no room. Phones show them in the full width. */
  action?: ReactNode;
  children: ReactNode;
};

/**
 * The layout of an admin page: heading, main buttons and content. It also sets the document title. The page ends with empty
 * space, so that a toast at the bottom of the window covers nothing when the page is scrolled to its end (toast-area.tsx).
 */
export function AdminPage({ title, action, children }: AdminPageProps) {
  usePageTitle(title);
  return (
    <div className="page-container pt-8 pb-32 md:pt-12">
      <div className="flex flex-col gap-4 md:flex-row md:flex-wrap md:items-center md:justify-between">
        <h1 className="text-admin wrap-anywhere">{title}</h1>
        {action && <div className="flex flex-col gap-3 md:flex-row md:flex-wrap">{action}</div>}
      </div>
      <div className="mt-5 md:mt-[34px]">{children}</div>
    </div>
  );
}
